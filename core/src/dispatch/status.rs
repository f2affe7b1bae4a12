//! The status file of a dispatch.

use serde::Serialize;
use serde_json::Value;

use super::refusal::DispatchRefusal;
use crate::decode::{Decode, decode, decode_words};
use crate::render::encoded;

/// How far a dispatch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum DispatchState {
    /// Its supervisor is there, its worker not yet.
    Starting,
    /// Its worker works.
    Running,
    /// Its worker was asked to end.
    Stopping,
    /// The worker ended with 0, and everything that has to be there is there.
    Complete,
    /// The worker ended with 0, and something that has to be there is not.
    Incomplete,
    /// The worker ended with another status, or could not be started.
    Failed,
    /// A signal ended the worker that was not okstra's.
    Killed,
    /// The time was up.
    TimedOut,
    /// A person has stopped it.
    Stopped,
    /// The worker ended when nobody looked, and something that has to be there is not.
    Lost,
}

decode_words!(DispatchState {
    "starting" => Starting,
    "running" => Running,
    "stopping" => Stopping,
    "complete" => Complete,
    "incomplete" => Incomplete,
    "failed" => Failed,
    "killed" => Killed,
    "timed-out" => TimedOut,
    "stopped" => Stopped,
    "lost" => Lost
} None);

impl DispatchState {
    /// Whether it is over.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Starting | Self::Running | Self::Stopping)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::TimedOut => "timed-out",
            Self::Stopped => "stopped",
            Self::Lost => "lost",
        }
    }
}

/// A process and what tells it from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessRef {
    /// Its number.
    pub pid: u32,
    /// Its start, as the host writes it; `null` where the system does not tell.
    pub pid_start: Option<String>,
}

decode!(ProcessRef { pid, pid_start });

/// A file that has to be there when the worker has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Completion {
    /// Its real absolute path.
    pub path: String,
    /// What told it apart before the start; `null` where it was not there. A file that is still
    /// the same was not written by this worker.
    pub before: Option<String>,
}

decode!(Completion { path, before });

/// A file that is not as it has to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MissingPath {
    /// Its path.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

decode!(MissingPath { path, reason });

/// What is known of a dispatch: the status file beside its prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DispatchStatus {
    /// 1.
    pub schema_version: u32,
    /// What tells this dispatch from others of the same prompt. Its processes carry it in their
    /// environment, as `OKSTRA_DISPATCH`.
    pub id: String,
    /// How far it is.
    pub state: DispatchState,
    /// The worker's name.
    pub cli: String,
    /// What the worker is there for.
    pub role: String,
    /// The model; `null` for the worker's own choice.
    pub model: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// What the worker has written to its standard streams.
    pub log: String,
    /// The project's folder.
    pub project: String,
    /// The folder that the worker works in.
    pub worktree: String,
    /// The run's folder, where it belongs to one.
    pub run: Option<String>,
    /// The number of the run in its folder, where it is known.
    pub sequence: Option<u32>,
    /// How often the prompt was dispatched, this time included.
    pub attempt: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What has to be there in the end; the worker's result comes first.
    pub completion: Vec<Completion>,
    /// How long the worker may work, in seconds.
    pub time_limit_s: u32,
    /// How long it may take to end when it is asked to, in seconds.
    pub grace_s: u32,
    /// The process that looks after the worker.
    pub supervisor: Option<ProcessRef>,
    /// The worker, which leads a group of processes of its own.
    pub worker: Option<ProcessRef>,
    /// When the worker was started.
    pub started_at: Option<String>,
    /// When it was seen to have ended.
    pub ended_at: Option<String>,
    /// The status the worker ended with; `null` where a signal ended it or nobody saw it.
    pub exit_code: Option<u32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// The number of that signal on the system where it ended.
    pub signal_number: Option<u32>,
    /// Why okstra has asked it to end: `time-limit` or `request`.
    pub stopped_by: Option<String>,
    /// What is missing in the end.
    pub missing: Vec<MissingPath>,
    /// Processes of the worker that could not be ended.
    pub left: Vec<u32>,
    /// Why it could not be started.
    pub reason: Option<String>,
}

decode!(DispatchStatus {
    schema_version,
    id,
    state,
    cli,
    role,
    model,
    prompt,
    log,
    project,
    worktree,
    run,
    sequence,
    attempt,
    command,
    completion,
    time_limit_s,
    grace_s,
    supervisor,
    worker,
    started_at,
    ended_at,
    exit_code,
    signal,
    signal_number,
    stopped_by,
    missing,
    left,
    reason
});

impl DispatchStatus {
    /// Reads a status file.
    pub(super) fn read(text: &str, path: &str) -> Result<Self, DispatchRefusal> {
        let broken = |reason| DispatchRefusal::BrokenStatus { path: path.to_owned(), reason };
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| broken(format!("no JSON: {error}")))?;
        match value.get("schema_version").and_then(Value::as_u64) {
            Some(1) => Self::decode(&value).map_err(broken),
            Some(version) => Err(broken(format!("version {version} is of a newer okstra"))),
            None => Err(broken(String::from("it has no schema_version"))),
        }
    }

    /// The text of the status file.
    pub(super) fn text(&self) -> String {
        // By way of a value: a second writer for the structure would be compiled otherwise.
        let plain = encoded(self);
        let pretty = serde_json::from_str(&plain).map(|value: Value| format!("{value:#}"));
        format!("{}\n", pretty.unwrap_or(plain))
    }
}
