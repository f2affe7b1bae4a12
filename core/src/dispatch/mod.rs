//! Worker programs on prompt files: what a prompt asks for, which command runs it, and what has
//! become of it.
//!
//! A dispatch belongs to its prompt: the log and the status file lie beside it. A supervisor, a
//! process of its own, starts the worker, keeps the status file and outlives whoever asked for it.
//! Both processes are written down with their start, so that a later process with a reused number
//! is never taken for them. How a dispatch has ended is decided here and nowhere else: by how the
//! worker ended and by the files that have to be there, whoever asks.

mod headers;
mod judge;
mod launch;
mod refusal;
mod status;
mod workers;

pub use headers::{DispatchHeaders, dispatch_headers};
pub use judge::{
    DispatchAnswer, DispatchEvent, DispatchEventKind, PathFacts, PathKind, Standing, judge_dispatch,
};
pub use launch::{DispatchLaunch, DispatchRequest, plan_dispatch};
pub use refusal::DispatchRefusal;
pub use status::{Completion, DispatchState, DispatchStatus, MissingPath, ProcessRef};

/// The status file of a prompt.
pub(crate) fn status_path(prompt: &str) -> String {
    format!("{prompt}.status.json")
}

/// The log of a prompt.
pub(crate) fn log_path(prompt: &str) -> String {
    format!("{prompt}.log")
}
