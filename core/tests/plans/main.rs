//! The tests of the core on whole plans: one program, so that it is linked once.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops where they or its own arithmetic are wrong"
)]

mod changes;
mod fixtures;
#[cfg(not(debug_assertions))]
mod growth;
mod hostile;
mod pitfalls;
mod properties;
mod rendered;
mod support;
