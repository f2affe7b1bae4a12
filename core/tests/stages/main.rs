//! The tests of ledgers and of a stage's life: one program, so that it is linked once.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops where they or its own arithmetic are wrong"
)]

mod claims;
mod diffs;
mod finishing;
mod hooks;
mod ledgers;
mod life;
mod outcomes;
mod records;
mod selector;
mod support;
