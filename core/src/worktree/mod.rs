//! A worktree for every stage: names, bases, the registry, and what may be removed.
//!
//! Everything here is a decision about facts. The host asks git and the disk, holds the registry's
//! lock from reading it to carrying out the effects, and does what the answer says.

pub mod base;
pub mod forecast;
pub mod history;
pub mod names;
pub mod prune;
mod refusal;
pub mod registry;
pub mod repair;

pub use refusal::WorktreeRefusal;
