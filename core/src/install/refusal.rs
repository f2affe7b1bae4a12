//! Why nothing is installed or taken out.

use thiserror::Error;

use crate::error::{ErrorCode, ErrorDetails, ErrorInfo, ExitStatus};
use crate::json_edit::JsonFault;
use crate::printable::printable;

/// Why nothing is installed or taken out. Nothing was changed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallRefusal {
    /// A file of settings or okstra's record is not the JSON it has to be.
    #[error("{path}:{line}:{column}: not usable as JSON: {reason}")]
    Broken {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong.
        reason: String,
    },
    /// The settings have comments, which an edit of JSON would have to guess about.
    #[error(
        "{path}:{line}: the settings have a comment, and Claude Code's settings are plain JSON"
    )]
    Comment {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u32,
    },
    /// The record was written by a later okstra.
    #[error("{path} has schema_version {version}, and this okstra knows 1")]
    NewerRecord {
        /// The record.
        path: String,
        /// Its version.
        version: String,
    },
    /// Files of somebody else are where okstra's would be.
    #[error("{} of somebody else {} where okstra's would be", files(.lines.len()), are(.lines.len()))]
    Taken {
        /// The files.
        lines: Vec<String>,
    },
}

fn files(count: usize) -> String {
    if count == 1 { String::from("a file") } else { format!("{count} files") }
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

impl InstallRefusal {
    pub(super) fn broken(path: &str, text: &str, fault: JsonFault) -> Self {
        let JsonFault { line, column, reason } = fault;
        let path = path.to_owned();
        let at = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let behind: String = at
            .trim_start_matches('\u{feff}')
            .chars()
            .skip(column.saturating_sub(1) as usize)
            .collect();
        // The parser stops at the stroke, or behind it.
        if behind.starts_with("//") || behind.starts_with("/*") {
            return Self::Comment { path, line };
        }
        Self::Broken { path, line, column, reason }
    }

    /// How a command ends with it.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::Taken { .. } => ExitStatus::Refused,
            _ => ExitStatus::Usage,
        }
    }

    /// The fields that cross the border.
    pub(crate) fn info(&self) -> ErrorInfo {
        let mut details = ErrorDetails::default();
        let (code, help) = match self {
            Self::Broken { line, .. } => {
                details.line = Some(*line);
                (ErrorCode::BrokenJson, "mend the file; nothing was written")
            }
            Self::Comment { line, .. } => {
                details.line = Some(*line);
                (ErrorCode::BrokenJson, "take the comments out; nothing was written")
            }
            Self::NewerRecord { .. } => (ErrorCode::NewerRecord, "use the okstra that wrote it"),
            Self::Taken { lines } => {
                details.lines = Some(lines.clone());
                (ErrorCode::FileTaken, "move them away, or add --force to replace them")
            }
        };
        ErrorInfo {
            code,
            message: printable(&self.to_string()).into_owned(),
            help: Some(help.to_owned()),
            exit_code: self.status().code(),
            details,
        }
    }
}
