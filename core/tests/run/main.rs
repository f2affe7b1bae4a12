//! The tests of the core on runs: one program, so that it is linked once.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops where they or its own arithmetic are wrong"
)]

mod bundles;
mod records;
mod support;
