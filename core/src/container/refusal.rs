//! Why nothing is started or stopped.

use thiserror::Error;

use crate::error::{ErrorCode, ErrorDetails, ErrorInfo, ExitStatus};
use crate::printable::printable;

/// Why a request about containers is refused. Nothing was started, stopped or recorded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainerRefusal {
    /// No engine answers.
    #[error("no container engine: {}", .reasons.join("; "))]
    NoEngine {
        /// Why, one line an engine.
        reasons: Vec<String>,
        /// Whether a record names the only engine that would do.
        recorded: bool,
    },
    /// What is recorded was started by another engine.
    #[error("it was started with {found}, not with {asked}")]
    OtherEngine {
        /// The engine that is asked for.
        asked: String,
        /// The engine of the record.
        found: String,
    },
    /// No stage is finished.
    #[error("no stage is finished yet, so there is nothing to start")]
    NothingFinished,
    /// The finished stages have no compose file.
    #[error("{}", no_file(.wanted.as_deref()))]
    NoFile {
        /// The file that a person has named.
        wanted: Option<String>,
    },
    /// It cannot be told which file is meant.
    #[error("several compose files: {}", .paths.join(", "))]
    SeveralFiles {
        /// The files.
        paths: Vec<String>,
    },
    /// A compose file is not in the assembled worktree.
    #[error("the compose file {path} leads out of the worktree{}", leads_to(.path, .to))]
    FileOutside {
        /// The file.
        path: String,
        /// Where it leads.
        to: String,
    },
    /// The compose that an okstra started which is gone still runs.
    #[error("compose is still starting it{}", process(*.pid))]
    StillStarting {
        /// Its process.
        pid: Option<u32>,
    },
    /// An engine that knows a project only by its file does not find it.
    #[error("{path} is gone, and {engine} cannot stop anything without it")]
    FileGone {
        /// The file.
        path: String,
        /// The engine.
        engine: String,
    },
    /// The record is not the JSON it has to be. It is left as it is.
    #[error("{path}: not usable: {reason}")]
    Broken {
        /// The record.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The record was written by a newer okstra.
    #[error("{path} is of version {version}, which this okstra does not know")]
    NewerRecord {
        /// The record.
        path: String,
        /// Its version.
        version: String,
    },
}

fn no_file(wanted: Option<&str>) -> String {
    match wanted {
        Some(path) => format!("no compose file {path} in the finished stages"),
        None => String::from("no compose file in the finished stages"),
    }
}

fn leads_to(path: &str, to: &str) -> String {
    if path == to { String::new() } else { format!(", to {to}") }
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

impl ContainerRefusal {
    /// The fields that cross the border.
    pub(crate) fn info(&self) -> ErrorInfo {
        let mut details = ErrorDetails::default();
        let (code, help) = match self {
            Self::NoEngine { reasons, recorded } => {
                details.lines = Some(reasons.clone());
                let help = if *recorded {
                    "make the engine answer that it was started with; where it is gone for good, remove \
                     the record in $OKSTRA_HOME/containers"
                } else {
                    "install Docker or Podman with compose, or start its daemon"
                };
                (ErrorCode::NoEngine, help)
            }
            Self::OtherEngine { .. } => {
                (ErrorCode::OtherEngine, "stop it first: okstra container down")
            }
            Self::NothingFinished => (ErrorCode::NotDone, "see 'okstra stage list'"),
            Self::NoFile { .. } => (
                ErrorCode::NoComposeFile,
                "commit one in a stage, such as compose.yaml, or name it with --file",
            ),
            Self::SeveralFiles { .. } => (ErrorCode::SeveralFiles, "name one with --file"),
            Self::FileOutside { .. } => {
                (ErrorCode::OutsideProject, "give a file that the stages themselves contain")
            }
            Self::StillStarting { .. } => {
                (ErrorCode::InUse, "wait for it, or end that process and try again")
            }
            Self::FileGone { .. } => {
                (ErrorCode::NoComposeFile, "make the worktree again: okstra worktree task")
            }
            Self::Broken { .. } => (
                ErrorCode::BrokenJson,
                "mend it, or stop the containers by hand and remove the file; it was left as it is",
            ),
            Self::NewerRecord { .. } => (ErrorCode::NewerRecord, "use the newer okstra"),
        };
        // Where each engine has a line of its own, the first line need not hold them all.
        let message = match self {
            Self::NoEngine { .. } => String::from("no container engine"),
            _ => self.to_string(),
        };
        ErrorInfo {
            code,
            // Paths and what programs say are others' words.
            message: printable(&message).into_owned(),
            help: Some(String::from(help)),
            exit_code: self.status().code(),
            details,
        }
    }

    /// How a command ends with it.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::NoEngine { .. } | Self::StillStarting { .. } => ExitStatus::Fault,
            Self::Broken { .. } | Self::NewerRecord { .. } => ExitStatus::Usage,
            _ => ExitStatus::Refused,
        }
    }
}
