//! What a decision asks the host to do.

use serde::Serialize;

use crate::claims::Needs;

/// Something to do outside. The host carries effects out in order and stops at the first that
/// fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Effect {
    /// Append one line to a file and sync it.
    Append {
        /// The file.
        path: String,
        /// The line, without its end.
        line: String,
    },
    /// Write a file that must not be there yet, all or nothing.
    WriteNew {
        /// The file.
        path: String,
        /// Its text.
        text: String,
    },
    /// Replace a file, all or nothing, if it still holds what was read.
    Replace {
        /// The file.
        path: String,
        /// Its new text.
        text: String,
        /// What it was read as; `null` where it was not there.
        if_unchanged: Option<String>,
    },
    /// Take a file away, if it still holds what was read.
    Remove {
        /// The file.
        path: String,
        /// What it was read as.
        if_unchanged: String,
    },
    /// Take a folder away, if nothing is in it.
    RemoveFolder {
        /// The folder.
        path: String,
    },
}

/// The answer to a request: what has to be looked at first, or what was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Decision<T> {
    /// The core needs more facts: look, and ask again with them in `sightings`.
    Needs {
        /// What to look at.
        needs: Needs,
    },
    /// What to do and what to print.
    Decided {
        /// What to do, in order.
        effects: Vec<Effect>,
        /// What was decided.
        answer: T,
        /// What the person should know, one line each.
        warnings: Vec<String>,
    },
}

impl<T> Decision<T> {
    /// The same decision with another answer.
    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> Decision<U> {
        match self {
            Self::Needs { needs } => Decision::Needs { needs },
            Self::Decided { effects, answer, warnings } => {
                Decision::Decided { effects, answer: with(answer), warnings }
            }
        }
    }
}
