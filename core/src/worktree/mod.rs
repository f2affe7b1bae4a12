//! A worktree for every stage: names, bases, the registry, and what may be removed.
//!
//! Everything here is a decision about facts. The host asks git and the disk, holds the registry's
//! lock from reading it to carrying out the effects, and does what the answer says.

pub mod base;
pub mod names;
mod refusal;
pub mod registry;

pub use refusal::WorktreeRefusal;
