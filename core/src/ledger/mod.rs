//! The ledger of a plan, `consumers.jsonl`: one JSON object a line, only ever appended to.
//!
//! [`read`](read::rows) goes over the bytes once and keeps nothing; [`LedgerState`] is what the
//! rows add up to; [`write`](write) makes the lines that are appended.

pub mod check;
pub(crate) mod read;
pub(crate) mod state;
pub(crate) mod write;

use serde::Serialize;

pub use read::BadLine;
pub use state::{Claim, Done, DoneHead, LedgerState, PullRequest, Released, StageRecord, Verified};

/// What a row says about its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Status {
    /// A session builds it.
    Started,
    /// It is built and has evidence.
    Done,
    /// Somebody verified it.
    Verified,
    /// It is part of a pull request.
    Pr,
    /// The claim before it was given back.
    Released,
}

impl Status {
    /// The word in the row.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Done => "done",
            Self::Verified => "verified",
            Self::Pr => "pr",
            Self::Released => "released",
        }
    }

    /// The status with a name; `None` for one of a later version, which is ignored.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Started, Self::Done, Self::Verified, Self::Pr, Self::Released]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

/// What a verification found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Verdict {
    /// Nothing is missing.
    Accepted,
    /// Accepted once what the report names is mended.
    ConditionalAccept,
    /// Not accepted.
    Blocked,
}

impl Verdict {
    /// Every verdict, in the order of the specification.
    pub const ALL: [Self; 3] = [Self::Accepted, Self::ConditionalAccept, Self::Blocked];

    /// The word in the row.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::ConditionalAccept => "conditional-accept",
            Self::Blocked => "blocked",
        }
    }

    /// The verdict with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }
}
