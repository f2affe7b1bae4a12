//! The record of what was started: `$OKSTRA_HOME/containers/<project>.json`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{ContainerFacts, ContainerRefusal};
use crate::decode::{decode, decode_words, decoded};
use crate::stage::Effect;

/// How far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ContainerState {
    /// Compose was being started, or was at work.
    Starting,
    /// Compose has ended well.
    Up,
    /// Compose has failed.
    Failed,
}

decode_words!(ContainerState { "starting" => Starting, "up" => Up, "failed" => Failed } None);

/// A finished stage in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RecordedStage {
    /// The stage.
    pub stage: u32,
    /// The commit it ended with.
    pub head: String,
}

decode!(RecordedStage { stage, head });

/// What was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContainerRecord {
    /// The task.
    pub task_key: String,
    /// How far it got.
    pub state: ContainerState,
    /// The name of the compose project.
    pub project: String,
    /// The engine.
    pub engine: String,
    /// The folder that stands for the project's in the worktree.
    pub worktree: String,
    /// The branch that is checked out there.
    pub branch: String,
    /// The compose files, absolute.
    pub files: Vec<String>,
    /// The file with variables that a person has named, absolute.
    pub env_file: Option<String>,
    /// The commit that the task started from.
    pub base: String,
    /// The commit that was started.
    pub head: String,
    /// The stages in it.
    pub stages: Vec<RecordedStage>,
    /// When.
    pub started_at: String,
    /// The process of compose, while it says `starting`.
    pub pid: Option<u32>,
    /// What tells that process from a later one of its number.
    pub pid_start: Option<String>,
    /// The machine of that process.
    pub host: Option<String>,
    /// How compose ended, where it failed; `null` where a signal ended it.
    pub exit_code: Option<u32>,
}

decode!(ContainerRecord {
    task_key,
    state,
    project,
    engine,
    worktree,
    branch,
    files,
    env_file,
    base,
    head,
    stages,
    started_at,
    pid,
    pid_start,
    host,
    exit_code,
});

const VERSION: u64 = 1;

/// Reads the record of a task.
pub(super) fn read(
    path: &str,
    facts: &ContainerFacts,
) -> Result<Option<ContainerRecord>, ContainerRefusal> {
    let Some(text) = &facts.record else {
        return Ok(None);
    };
    let broken = |reason: String| ContainerRefusal::Broken { path: path.to_owned(), reason };
    let file: Value = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
    match file.get("schema_version") {
        Some(version) if version.as_u64() == Some(VERSION) => {}
        None => return Err(broken(String::from("it has no schema_version"))),
        Some(version) => {
            let version = version.to_string();
            return Err(ContainerRefusal::NewerRecord { path: path.to_owned(), version });
        }
    }
    let container = file.get("container").map(Value::to_string).unwrap_or_default();
    let record: ContainerRecord =
        decoded(&container, "container").map_err(|error| broken(error.to_string()))?;
    if record.task_key != facts.task_key {
        return Err(broken(format!("it is of the task {}", record.task_key)));
    }
    Ok(Some(record))
}

/// Writes the record of a task.
pub(super) fn write(path: String, facts: &ContainerFacts, record: &ContainerRecord) -> Effect {
    let file = json!({ "schema_version": VERSION, "container": record });
    let text = format!("{file:#}\n");
    Effect::Replace { path, text, if_unchanged: facts.record.clone() }
}
