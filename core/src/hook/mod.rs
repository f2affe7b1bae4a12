//! What okstra answers to the events of a coding agent's session.
//!
//! An event comes in as the bytes the client writes to a hook's standard input, with the plan it
//! concerns and the facts around it; the answer holds the one document for the client's standard
//! output and what the host has to do. The documents are those of the client's contract, so their
//! members are named as there. One file an event.

mod answer;
mod event;
mod post_tool_use;
mod pre_tool_use;
mod session_end;
mod session_start;
mod stop;

pub use answer::{HookAnswer, HookOutput, HookSpecificOutput};
pub use event::Event;

use crate::decode::{decode, decode_words};
use crate::error::OkstraError;
use crate::stage::{Decision, Facts, GitFacts};

/// What happens when a session edits a file that its stage does not cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum Guard {
    /// Nothing.
    Off,
    /// It is told.
    #[default]
    Warn,
    /// The person is asked.
    Ask,
    /// It is kept from it.
    Deny,
}

decode_words!(Guard {
    "off" => Off, "warn" => Warn, "ask" => Ask, "deny" => Deny
} Some(Self::default()));

/// What the host found out about an event. Paths are real, absolute and written with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct HookRequest {
    /// What to do about edits that the stage does not cover. Default `warn`.
    pub guard: Guard,
    /// The file that the tool works on.
    pub file: Option<String>,
    /// The folder the session is in.
    pub cwd: Option<String>,
    /// The worktrees that are registered for the plan's task.
    pub worktrees: Vec<StageFolder>,
    /// The claims whose missing evidence was pointed out already.
    pub told: Vec<String>,
    /// The stages whose evidence was judged already.
    pub judged: Vec<u32>,
    /// The state of the claim's worktree; missing until the core asks for it.
    pub git: Option<GitFacts>,
}

decode!(optional HookRequest { guard, file, cwd, worktrees, told, judged, git });

/// The worktree of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageFolder {
    /// The stage.
    pub stage: u32,
    /// Its folder.
    pub path: String,
}

decode!(StageFolder { stage, path });

/// Reacts to an event of a session. An event that okstra has nothing to say to is answered with an
/// empty document.
///
/// Fails where the event is no JSON object, and where the plan cannot be worked with; a hook then
/// says so on standard error and lets the session go on.
pub fn react(
    event: &[u8],
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HookRequest,
) -> Result<Decision<HookAnswer>, OkstraError> {
    let event = Event::read(event)?;
    match event.name.as_str() {
        "SessionStart" => session_start::react(&event, plan, ledger, facts, request),
        "PreToolUse" => pre_tool_use::react(&event, plan, ledger, facts, request),
        "PostToolUse" => post_tool_use::react(&event, plan, facts),
        "Stop" | "SubagentStop" => stop::react(&event, plan, ledger, facts, request),
        "SessionEnd" => session_end::react(&event, plan, ledger, facts),
        _ => Ok(nothing()),
    }
}

/// Nothing to say and nothing to do.
fn nothing() -> Decision<HookAnswer> {
    answered(HookAnswer::default())
}

/// An answer that changes no file.
fn answered(answer: HookAnswer) -> Decision<HookAnswer> {
    Decision::Decided { effects: Vec::new(), answer, warnings: Vec::new() }
}
