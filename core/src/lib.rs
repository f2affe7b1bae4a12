//! The pure core of okstra: text and values in, decisions out.
//!
//! Nothing here reads a file, a clock, the environment or the network: the host gathers facts,
//! the core decides, the host carries out. The same input gives the same output, byte for byte.

pub mod check;
pub mod choose;
pub mod claims;
pub mod container;
pub mod decode;
pub mod diff;
mod digest;
pub mod dispatch;
pub mod error;
pub mod evidence;
pub mod finding;
mod fix;
pub mod graph;
pub mod handoff;
pub mod hook;
pub mod install;
mod json_edit;
pub mod layout;
pub mod lead;
pub mod ledger;
pub mod numbers;
mod order;
pub mod plan;
mod printable;
pub mod render;
pub mod rules;
pub mod run;
pub mod source;
pub mod stage;
pub mod task;
mod time;
pub mod tokens;
pub mod wizard;
pub mod worktree;
