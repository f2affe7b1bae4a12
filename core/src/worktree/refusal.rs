//! Why a request about worktrees, their registry or the hand-over is refused.

use thiserror::Error;

use crate::error::{ErrorCode, ErrorDetails, ErrorInfo, ExitStatus};
use crate::json_edit::JsonFault;
use crate::printable::printable;

/// Why a request about worktrees, their registry or the hand-over is refused. Nothing was changed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorktreeRefusal {
    /// A dependency has no commit to start from.
    #[error("--stage {stage} cannot start from stage {dependency}, which is done without a commit")]
    NoHead {
        /// The stage; 0 for a hand-over.
        stage: u32,
        /// The stage without a commit.
        dependency: u32,
    },
    /// The task has no commit to start from.
    #[error("--stage {stage} has nothing to start from: the task has no implementation base")]
    NoBase {
        /// The stage; 0 for a hand-over.
        stage: u32,
    },
    /// Two heads that have to be merged change the same places.
    #[error("{} conflict in {}", between(.stages), .files.join(", "))]
    MergeConflict {
        /// The stage that needs the merge; 0 for a hand-over.
        stage: u32,
        /// The stages whose heads conflict.
        stages: Vec<u32>,
        /// The files.
        files: Vec<String>,
    },
    /// The registry is not the JSON it has to be. It is left as it is.
    #[error("{path}:{line}:{column}: not usable as JSON: {reason}")]
    Broken {
        /// The registry.
        path: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong.
        reason: String,
    },
    /// The registry was written by a later okstra. It is left as it is.
    #[error("{path} has schemaVersion {version}, and this okstra knows 1")]
    NewerRegistry {
        /// The registry.
        path: String,
        /// Its version.
        version: String,
    },
    /// The task is registered for another project folder.
    #[error("the task '{task_key}' is registered for {found}, not for {wanted}")]
    OtherProject {
        /// The task.
        task_key: String,
        /// The folder in the registry.
        found: String,
        /// The folder of the request.
        wanted: String,
    },
    /// A stage, path or branch is somebody else's in the registry.
    #[error("{what} is registered for {by}")]
    Taken {
        /// The stage that was asked for; 0 for the task's own worktree.
        stage: u32,
        /// What is taken.
        what: String,
        /// By whom.
        by: String,
    },
    /// The registry has no such worktree.
    #[error("the registry has no worktree of {} of '{task_key}'", what_of(*.stage))]
    NotRegistered {
        /// The task.
        task_key: String,
        /// The stage; 0 for the task's own worktree.
        stage: u32,
    },
    /// Removing a worktree would lose work.
    #[error("removing {path} would lose {what}")]
    WouldLose {
        /// The stage; 0 for the task's own worktree.
        stage: u32,
        /// The worktree.
        path: String,
        /// What would be lost.
        what: String,
    },
    /// Only a person can say whether a worktree is needed.
    #[error("{path} is not removed: {why}")]
    Unjudged {
        /// The stage; 0 for the task's own worktree.
        stage: u32,
        /// The worktree.
        path: String,
        /// Why, and what forcing does.
        why: String,
    },
    /// A worktree is never removed as it stands, also when forced.
    #[error("{path} is not removed: {why}")]
    InUse {
        /// The stage; 0 for the task's own worktree.
        stage: u32,
        /// The worktree.
        path: String,
        /// Why.
        why: String,
    },
    /// A stage cannot be handed over.
    #[error("--stage {stage} cannot be handed over: {why}")]
    NotEligible {
        /// The stage.
        stage: u32,
        /// Why.
        why: String,
    },
    /// No stage can be handed over.
    #[error("no stage can be handed over")]
    NothingEligible {
        /// One line a stage: why.
        lines: Vec<String>,
    },
    /// The push would go where okstra never pushes.
    #[error("okstra never pushes to '{branch}'")]
    ForbiddenPush {
        /// The branch.
        branch: String,
    },
}

/// Stages that conflict, in words.
fn between(stages: &[u32]) -> String {
    let list: Vec<String> = stages.iter().map(|stage| format!("stage {stage}")).collect();
    list.join(" and ")
}

/// A worktree by its stage, in words.
pub(crate) fn what_of(stage: u32) -> String {
    if stage == 0 { String::from("the task") } else { format!("stage {stage}") }
}

impl WorktreeRefusal {
    pub(crate) fn broken(path: &str, fault: JsonFault) -> Self {
        let JsonFault { line, column, reason } = fault;
        Self::Broken { path: path.to_owned(), line, column, reason }
    }

    /// How a command ends with it.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::Broken { .. } | Self::NewerRegistry { .. } => ExitStatus::Usage,
            _ => ExitStatus::Refused,
        }
    }

    /// Its stable name and how to mend it.
    fn code_and_help(&self) -> (ErrorCode, &'static str) {
        match self {
            Self::NoHead { .. } => (
                ErrorCode::NoHead,
                "claim it with --no-worktree, or correct the head of that stage with 'okstra \
                 stage done --force-reappend'",
            ),
            Self::NoBase { .. } => (
                ErrorCode::NoBase,
                "commit something in the project first, or claim it with --no-worktree",
            ),
            Self::MergeConflict { stage: 0, .. } => (
                ErrorCode::MergeConflict,
                "merge one of the stages into the other by hand, verify it and hand over again; \
                 nothing was left behind",
            ),
            Self::MergeConflict { .. } => (
                ErrorCode::MergeConflict,
                "add --resolve to claim it all the same and settle the conflict in the new \
                 worktree; nothing was left behind",
            ),
            Self::Broken { .. } => (ErrorCode::BrokenJson, "mend the file; it was left as it is"),
            Self::NewerRegistry { .. } => {
                (ErrorCode::NewerRegistry, "use the okstra that wrote it")
            }
            Self::OtherProject { .. } => (
                ErrorCode::OtherProject,
                "work in that folder, give this project another id, or, where the project was \
                 moved, run 'okstra worktree repair'",
            ),
            Self::Taken { .. } => (
                ErrorCode::WorktreeTaken,
                "'okstra worktree list' shows the worktrees, 'okstra worktree repair' mends the \
                 registry",
            ),
            Self::NotRegistered { .. } => {
                (ErrorCode::NotRegistered, "'okstra worktree list' shows the worktrees")
            }
            Self::WouldLose { .. } => (
                ErrorCode::WouldLose,
                "commit or hand over what is worth keeping, or add --force to lose it",
            ),
            Self::Unjudged { .. } => (
                ErrorCode::WouldLose,
                "bring back what is gone; where nobody needs it, add --force",
            ),
            Self::InUse { .. } => (ErrorCode::InUse, "it stays also with --force"),
            Self::NotEligible { .. } | Self::NothingEligible { .. } => {
                (ErrorCode::NotEligible, "'okstra handoff show' says it of every stage")
            }
            Self::ForbiddenPush { .. } => (
                ErrorCode::ForbiddenPush,
                "push the collector branch and merge it through a pull request",
            ),
        }
    }

    /// The fields that cross the border.
    pub(crate) fn info(&self) -> ErrorInfo {
        let (code, help) = self.code_and_help();
        let mut details = ErrorDetails::default();
        let stage = match self {
            Self::NoHead { stage, .. }
            | Self::NoBase { stage }
            | Self::MergeConflict { stage, .. }
            | Self::Taken { stage, .. }
            | Self::NotRegistered { stage, .. }
            | Self::WouldLose { stage, .. }
            | Self::Unjudged { stage, .. }
            | Self::InUse { stage, .. }
            | Self::NotEligible { stage, .. } => *stage,
            _ => 0,
        };
        details.stage = (stage > 0).then_some(stage);
        match self {
            Self::Broken { line, .. } => details.line = Some(*line),
            Self::MergeConflict { files: lines, .. } | Self::NothingEligible { lines } => {
                details.lines = Some(lines.clone());
            }
            _ => {}
        }
        ErrorInfo {
            code,
            // Paths and ids are others' words.
            message: printable(&self.to_string()).into_owned(),
            help: Some(help.to_owned()),
            exit_code: self.status().code(),
            details,
        }
    }
}
