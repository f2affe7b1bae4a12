//! What the session that leads a run does around it: progress lines, panes, the team of agents, and
//! the wrap-up at its end.

mod panes;
mod progress;
mod refusal;
mod team;
mod wrap_up;

pub use panes::{
    Listing, Pane, PaneRole, PaneTags, PanesAnswer, TagRequest, list_panes, pane_tags, reap_panes,
};
pub use progress::{Checkpoint, ProgressAnswer, ProgressRequest, progress};
pub use refusal::LeadRefusal;
pub use team::{MemberState, TeamAnswer, TeamFile, Teammate, reconcile_team};
pub use wrap_up::{
    Language, ShutdownMessage, ShutdownRequest, WrapUpAnswer, WrapUpRequest, wrap_up,
};

use crate::decode::decode;
use crate::layout::join;

/// What the host has seen around a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct LeadFacts {
    /// The real absolute path of the run's folder; empty where no run is meant.
    pub run: String,
    /// The session that leads the run, where it is known.
    pub lead_session: Option<String>,
    /// The session that asks.
    pub caller_session: Option<String>,
    /// The pane that asks, on the server it runs in.
    pub caller_pane: Option<String>,
    /// The team configs, read before the panes were listed: what appears in between would look
    /// gone otherwise.
    pub teams: Vec<TeamFile>,
    /// The panes of each server of tmux that could be asked.
    pub servers: Vec<Listing>,
}

decode!(optional LeadFacts { run, lead_session, caller_session, caller_pane, teams, servers });

/// The log of a run's events.
pub(crate) fn event_log(run: &str) -> String {
    join(run, "logs/lead-events.jsonl")
}
