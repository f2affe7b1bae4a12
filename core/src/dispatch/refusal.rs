//! Why a prompt is not dispatched.

use thiserror::Error;

use crate::error::{ErrorCode, ErrorDetails, ErrorInfo, ExitStatus};
use crate::printable::printable;

/// Why a prompt is not dispatched. Nothing was started.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DispatchRefusal {
    /// The prompt's headers, or what they lead to, cannot be worked with.
    #[error("{prompt} cannot be dispatched")]
    BadPrompt {
        /// The prompt.
        prompt: String,
        /// What is wrong, each with its place.
        lines: Vec<String>,
    },
    /// The setting of a worker is wrong.
    #[error("{path}: {reason}")]
    BadWorkers {
        /// The file of the settings.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no worker of this name.
    #[error("there is no worker '{name}'")]
    NoWorker {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The prompt's worker runs.
    #[error("{prompt} is being worked on {by}")]
    Running {
        /// The prompt.
        prompt: String,
        /// By whom.
        by: String,
        /// Whether its supervisor is gone.
        orphaned: bool,
    },
    /// The prompt is done.
    #[error("{prompt} is complete since {since}")]
    AlreadyComplete {
        /// The prompt.
        prompt: String,
        /// Since when.
        since: String,
    },
    /// The status file is not what okstra writes.
    #[error("{path}: not usable: {reason}")]
    BrokenStatus {
        /// The status file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no dispatch of the prompt.
    #[error("{path} is not there: the prompt was never dispatched")]
    NoDispatch {
        /// The status file.
        path: String,
    },
}

impl DispatchRefusal {
    /// The fields that cross the border.
    pub(crate) fn info(&self) -> ErrorInfo {
        let mut details = ErrorDetails::default();
        let (code, help, status) = match self {
            Self::BadPrompt { lines, .. } => {
                details.lines =
                    Some(lines.iter().map(|line| printable(line).into_owned()).collect());
                let help = "mend the prompt's headers; nothing was started";
                (ErrorCode::BadPrompt, help.to_owned(), ExitStatus::Usage)
            }
            Self::BadWorkers { .. } => {
                let help = "mend the file; nothing was started";
                (ErrorCode::BadWorkers, help.to_owned(), ExitStatus::Usage)
            }
            Self::NoWorker { known, .. } => (
                ErrorCode::BadWorkers,
                format!(
                    "there is {}; others can be added as 'workers' in config.json",
                    known.join(", ")
                ),
                ExitStatus::Usage,
            ),
            Self::Running { orphaned, .. } => {
                let help = if *orphaned {
                    "go on with it by 'okstra dispatch resume', or end it by 'okstra dispatch stop'"
                } else {
                    "wait for it by 'okstra dispatch resume', or end it by 'okstra dispatch stop'"
                };
                (ErrorCode::DispatchRunning, help.to_owned(), ExitStatus::Refused)
            }
            Self::AlreadyComplete { .. } => (
                ErrorCode::DispatchComplete,
                String::from("with --again it is dispatched once more"),
                ExitStatus::Refused,
            ),
            Self::BrokenStatus { .. } => (
                ErrorCode::BrokenJson,
                String::from("move it away once no worker runs; it was left as it is"),
                ExitStatus::Usage,
            ),
            Self::NoDispatch { .. } => (
                ErrorCode::NoDispatch,
                String::from("start it by 'okstra dispatch start'"),
                ExitStatus::Usage,
            ),
        };
        ErrorInfo {
            code,
            // Prompts and settings are others' words.
            message: printable(&self.to_string()).into_owned(),
            help: Some(printable(&help).into_owned()),
            exit_code: status.code(),
            details,
        }
    }
}
