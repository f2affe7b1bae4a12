//! Why a request of a leading session is refused.

use thiserror::Error;

use crate::error::{ErrorCode, ErrorDetails, ErrorInfo, ExitStatus};
use crate::json_edit::JsonFault;
use crate::printable::{excerpt, printable};

/// Why a request of a leading session is refused. Nothing was changed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeadRefusal {
    /// A checkpoint is reported at the wrong time.
    #[error("{checkpoint} cannot be reported {}", when(.last.as_deref()))]
    OutOfOrder {
        /// The checkpoint.
        checkpoint: String,
        /// The last one of the run, if there is one.
        last: Option<String>,
        /// Those that may come now.
        allowed: Vec<String>,
    },
    /// The final report is not a path within the project.
    #[error("the final report '{path}' is not in the project")]
    ReportOutside {
        /// The path as given.
        path: String,
    },
    /// There is no final report.
    #[error("there is no final report {path}")]
    NoReport {
        /// The path, relative to the project.
        path: String,
    },
    /// Nobody knows which session leads the run.
    #[error("the run {run} names no leading session")]
    NoLeadSession {
        /// The run's folder.
        run: String,
    },
    /// Several configs name the same leading session.
    #[error("{} team configs name the session {session}", .paths.len())]
    SeveralTeams {
        /// The session.
        session: String,
        /// The configs.
        paths: Vec<String>,
    },
    /// The config of the team is not the JSON it has to be. It is left as it is.
    #[error("{path}:{line}:{column}: not usable as JSON: {reason}")]
    BrokenTeam {
        /// The config.
        path: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong.
        reason: String,
    },
    /// The answer is neither yes nor no.
    #[error("'{}' is neither yes nor no", excerpt(.answer, 40))]
    NotAnAnswer {
        /// The answer.
        answer: String,
    },
}

fn when(last: Option<&str>) -> String {
    match last {
        Some(last) => format!("after {last}"),
        None => String::from("first"),
    }
}

impl LeadRefusal {
    pub(crate) fn broken(path: &str, fault: JsonFault) -> Self {
        let JsonFault { line, column, reason } = fault;
        Self::BrokenTeam { path: path.to_owned(), line, column, reason }
    }

    /// The fields that cross the border.
    pub(crate) fn info(&self) -> ErrorInfo {
        let mut details = ErrorDetails::default();
        let (code, help) = match self {
            Self::OutOfOrder { allowed, .. } => {
                details.reason = Some(format!("now: {}", allowed.join(", ")));
                (ErrorCode::OutOfOrder, format!("what may come now: {}", allowed.join(", ")))
            }
            Self::ReportOutside { .. } => (
                ErrorCode::OutsideProject,
                String::from("give its path relative to the project's folder"),
            ),
            Self::NoReport { .. } => (
                ErrorCode::NoReport,
                String::from("write the report first; a run is complete when it is there"),
            ),
            Self::NoLeadSession { .. } => (
                ErrorCode::NoLeadSession,
                String::from("name the session with --session, or run it from that session"),
            ),
            Self::SeveralTeams { paths, .. } => {
                details.lines = Some(paths.clone());
                (
                    ErrorCode::SeveralTeams,
                    String::from("remove the folder of the team that is over"),
                )
            }
            Self::BrokenTeam { line, .. } => {
                details.line = Some(*line);
                (ErrorCode::BrokenJson, String::from("mend the file; it was left as it is"))
            }
            Self::NotAnAnswer { .. } => (
                ErrorCode::NotAnAnswer,
                String::from("answer for all of it: --answer yes or --answer no"),
            ),
        };
        ErrorInfo {
            code,
            // Paths and answers are others' words.
            message: printable(&self.to_string()).into_owned(),
            help: Some(printable(&help).into_owned()),
            exit_code: self.status().code(),
            details,
        }
    }

    /// How a command ends with it.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::BrokenTeam { .. } | Self::NotAnAnswer { .. } => ExitStatus::Usage,
            _ => ExitStatus::Refused,
        }
    }
}
