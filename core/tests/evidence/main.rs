//! The tests of evidence: one program, so that it is linked once.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops where they or its own arithmetic are wrong"
)]

mod fields;
mod fixtures;
mod properties;
mod sidecars;
mod support;
