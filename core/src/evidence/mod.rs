//! Evidence: what a finished stage leaves behind for the stages that build on it, and for whoever
//! asks whether the work is done.
//!
//! A worker writes it as a JSON block into its result ([`extract`]), it is checked strictly before
//! anything is recorded ([`check`]), and becomes a file `stage-<N>.json`, byte for byte as given,
//! with okstra's own members behind ([`with_records`]). Files that lie there already, whoever wrote
//! them, are read tolerantly ([`read`]).

mod extract;
mod json;
pub(crate) mod plan_path;
mod records;
mod strict;
mod tolerant;

use std::fmt::Write as _;

use serde::Serialize;
use thiserror::Error;

pub use extract::extract;
pub use records::with_records;
pub use strict::check;
pub(crate) use strict::plain as plain_title;
pub use tolerant::{Sidecar, read};

/// The heading of the evidence block in a worker result.
pub const HEADING: &str = "Stage Carry Evidence";

/// The evidence block of a worker result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The JSON, byte for byte as in the source; without the indent of the fence where that has
    /// one.
    pub text: String,
    /// The line of the file where it begins, from 1.
    pub line: u32,
}

/// What evidence has to be about.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The plan, relative to the project, with `/`.
    pub plan_path: &'a str,
    /// The same file as an absolute path.
    pub plan_absolute: &'a str,
    /// The folder of the task, relative to the project; `None` for a plan outside every task.
    pub task_root: Option<&'a str>,
    /// The stage that is done, from 1.
    pub stage: u32,
    /// Its title in the Stage Map, without markup.
    pub title: &'a str,
    /// Whether the work happened in a git repository. Without one, commits may be empty.
    pub has_git: bool,
}

/// What a strict check says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Checked {
    /// Every fault, in the order of the fields; evidence with one is not recorded. Of more than a
    /// thousand the last says how many are not listed.
    pub errors: Vec<EvidenceFinding>,
    /// What somebody should look at.
    pub warnings: Vec<EvidenceFinding>,
    /// What the evidence says; `null` where it has an error.
    pub evidence: Option<Evidence>,
}

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvidenceFinding {
    /// Where in the JSON: `stageCommitRange.head`, `stepResults[2].step` with the first item as
    /// 0; empty for the whole block.
    pub field: String,
    /// What is wrong with it, as the end of a sentence that begins with the field; one line
    /// without a final full stop.
    pub message: String,
    /// The line of the file, from 1: that of the key, or of the object that lacks it.
    pub line: u32,
    /// What to write instead.
    pub help: String,
}

/// What evidence says once it is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Evidence {
    /// The stage.
    pub stage: u32,
    /// Its title, as written.
    pub title: String,
    /// The path of its plan, as written.
    pub source_plan_path: String,
    /// When it was completed, as written: ISO 8601 with a zone.
    pub completed_at: String,
    /// The commit it began from; may be empty outside git.
    pub base: String,
    /// The commit it ended with; may be empty outside git.
    pub head: String,
    /// The files it changed, relative to the project and normalised, in the order given.
    pub files_changed: Vec<String>,
    /// The names it introduced.
    pub new_identifiers: Vec<String>,
    /// The validations that passed.
    pub validations_passed: Vec<String>,
    /// Anything else the next stage should know.
    pub notes: Vec<String>,
}

/// Why a worker result has no evidence that could be checked. Lines and columns are those of the
/// file, from 1; columns count Unicode scalar values.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The worker result is no text.
    #[error("the worker result cannot be read: {reason}")]
    NotText {
        /// What the bytes are instead.
        reason: String,
    },
    /// The heading is missing.
    #[error("the heading '### Stage Carry Evidence' is missing{}", named(*near))]
    NoHeading {
        /// The first line that has these words all the same.
        near: Option<u32>,
    },
    /// There is no JSON block under the heading.
    #[error("no `json` block under '{HEADING}' (line {line}){}", other(found.as_ref()))]
    NoBlock {
        /// The heading.
        line: u32,
        /// The line and the mark of a code block of another language that stands there.
        found: Option<(u32, String)>,
    },
    /// The block reaches the end of the file: the result may be cut off.
    #[error("the evidence block that begins at line {line} is never closed")]
    Unclosed {
        /// The opening fence.
        line: u32,
    },
    /// Several blocks differ, and the stage number does not decide between them.
    #[error("several different evidence blocks: {}", listed(lines))]
    Several {
        /// Their opening fences.
        lines: Vec<u32>,
    },
    /// The block is no JSON.
    #[error("the evidence is no JSON: {reason} (line {line}, column {column})")]
    BrokenJson {
        /// The line where that shows.
        line: u32,
        /// The column where that shows.
        column: u32,
        /// What the reader of JSON says.
        reason: String,
    },
    /// The block is JSON, but no object.
    #[error("the evidence must be a JSON object, got {found} (line {line})")]
    NotObject {
        /// The line of the block.
        line: u32,
        /// The JSON type that stands there.
        found: &'static str,
    },
}

impl EvidenceError {
    /// The stable name of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotText { .. } => "evidence-not-text",
            Self::NoHeading { .. } => "evidence-no-heading",
            Self::NoBlock { .. } => "evidence-no-block",
            Self::Unclosed { .. } => "evidence-unclosed",
            Self::Several { .. } => "evidence-several",
            Self::BrokenJson { .. } => "evidence-broken-json",
            Self::NotObject { .. } => "evidence-not-object",
        }
    }

    /// How to mend it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotText { .. } => "give a Markdown or JSON file saved as UTF-8",
            Self::NoHeading { near: None } => {
                "add the heading and under it a fenced `json` block with the evidence"
            }
            Self::NoHeading { near: Some(_) } => {
                "write it as a heading of its own, outside code fences, comments, quotes and lists"
            }
            Self::NoBlock { .. } => {
                "put the evidence into a fenced block marked `json` before the next heading"
            }
            Self::Unclosed { .. } => {
                "end the block with a line of the same fence characters, and check that the file \
                 is complete"
            }
            Self::Several { .. } => {
                "keep one block, or let exactly one of them name this stage in `stageNumber`"
            }
            Self::BrokenJson { .. } => {
                "JSON has double quotes, no comments and no comma before a closing bracket; \
                 replace every placeholder"
            }
            Self::NotObject { .. } => "write one object: `{\"schemaVersion\": 1, …}`",
        }
    }

    /// The line of the file it is about, where there is one.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::NotText { .. } => None,
            Self::NoHeading { near } => *near,
            Self::Several { lines } => lines.first().copied(),
            Self::NoBlock { line, .. }
            | Self::Unclosed { line }
            | Self::BrokenJson { line, .. }
            | Self::NotObject { line, .. } => Some(*line),
        }
    }
}

/// The end of a sentence: a line that only looks like the heading.
fn named(near: Option<u32>) -> String {
    near.map_or_else(String::new, |line| format!("; line {line} has the words but is no heading"))
}

/// The end of a sentence: a block that only looks like the evidence.
fn other(found: Option<&(u32, String)>) -> String {
    match found {
        Some((line, mark)) if mark.is_empty() => {
            format!("; the block at line {line} is not marked and is no JSON object")
        }
        Some((line, mark)) => format!("; the block at line {line} is marked `{mark}`"),
        None => String::new(),
    }
}

/// `lines 3, 9 and 20`; of many the first.
fn listed(lines: &[u32]) -> String {
    const MOST: usize = 12;
    let mut text = String::from("lines ");
    for (at, line) in lines.iter().take(MOST).enumerate() {
        let gap = match at {
            0 => "",
            _ if at + 1 == lines.len() => " and ",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{gap}{line}");
    }
    if lines.len() > MOST {
        let _ = write!(text, " and {} more", lines.len() - MOST);
    }
    text
}
