//! Findings and graphs as text: the one renderer for terminal, hooks and previewer.

mod check;
mod graph;
mod pretty;
mod sarif;
mod text;

use serde::Serialize;

use crate::check::CheckOptions;
use crate::error::OkstraError;

pub use check::{encoded, render_check};
pub use graph::render_graph;
pub(crate) use text::finding_line;

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum CheckFormat {
    /// One line a finding on stderr: `S5 stage=1: effective step count 7 exceeds 6`.
    #[default]
    Text,
    /// With the lines of the plan and carets under the place.
    Pretty,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands that annotate a pull request.
    Github,
}

impl CheckFormat {
    /// The format with a name, as it is given on the command line.
    pub fn from_name(name: &str) -> Result<Self, OkstraError> {
        Ok(match name {
            "text" => Self::Text,
            "pretty" => Self::Pretty,
            "json" => Self::Json,
            "sarif" => Self::Sarif,
            "github" => Self::Github,
            _ => return Err(unknown_format(name)),
        })
    }
}

impl GraphFormat {
    /// The format with a name, as it is given on the command line.
    pub fn from_name(name: &str) -> Result<Self, OkstraError> {
        Ok(match name {
            "json" => Self::Json,
            "mermaid" => Self::Mermaid,
            "dot" => Self::Dot,
            _ => return Err(unknown_format(name)),
        })
    }
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum GraphFormat {
    /// [`crate::graph::Graph`] as JSON.
    #[default]
    Json,
    /// A Mermaid flowchart.
    Mermaid,
    /// Graphviz.
    Dot,
}

fn unknown_format(name: &str) -> OkstraError {
    OkstraError::BadOptions { reason: format!("there is no format '{name}'") }
}

/// What to check and how to write it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct CheckRequest {
    /// The rules' options.
    pub options: CheckOptions,
    /// How findings are written. Default `text`.
    pub format: CheckFormat,
    /// Whether `pretty` may use colour. Default `false`.
    pub color: bool,
    /// The names of the plans as the person gave them, one a source, in the same order.
    pub paths: Vec<String>,
}

/// What a command prints and how it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommandOutput {
    /// Data.
    pub stdout: String,
    /// Talk.
    pub stderr: String,
    /// The number of the exit status.
    pub exit_code: u8,
}
