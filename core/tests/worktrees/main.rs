//! The tests of worktrees and of the hand-over: one program, so that it is linked once.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops where they or its own arithmetic are wrong"
)]

mod bases;
mod finishing;
mod forecasts;
mod handing_over;
mod histories;
mod names;
mod pruning;
mod registries;
mod repairs;
#[path = "../stages/support.rs"]
#[expect(dead_code, reason = "the tests of stages use the rest of it")]
mod support;
