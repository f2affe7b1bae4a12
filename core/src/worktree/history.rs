//! Recorded heads after somebody rewrote history.
//!
//! A rebase or squash leaves the head in the ledger unreachable. A commit with the same tree, or
//! with the same patch, is the same work: where there is exactly one such, the head is corrected.

use serde::Serialize;

use crate::decode::{decode, decode_words};

/// What git says of the recorded head of a finished stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HeadFact {
    /// The stage.
    pub stage: u32,
    /// The head that was looked for, as the ledger has it: a correction since then makes the fact
    /// void.
    pub head: String,
    /// Whether a branch or a remote still contains it.
    pub reachable: bool,
    /// The commits that may be it, found in what is reachable.
    pub candidates: Vec<Candidate>,
}

decode!(HeadFact { stage, head, reachable, candidates });

/// A commit that may be the same work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Candidate {
    /// The commit.
    pub commit: String,
    /// What it has in common with the recorded one.
    pub same: Sameness,
}

decode!(Candidate { commit, same });

/// What two commits have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Sameness {
    /// Every file: the tree.
    Tree,
    /// What they change: the patch.
    Patch,
}

decode_words!(Sameness { "tree" => Tree, "patch" => Patch } None);

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryRequest {
    /// What git says of the finished stages; the others are left alone.
    pub heads: Vec<HeadFact>,
}

decode!(optional HistoryRequest { heads });

/// What became of a recorded head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum HeadFate {
    /// It is where it was.
    Intact,
    /// It is another commit now; a row with it follows.
    Corrected {
        /// The commit.
        commit: String,
        /// What it has in common with the recorded one.
        same: Sameness,
    },
    /// Several commits could be it: a person has to say which.
    Ambiguous {
        /// The commits, each once, in the given order.
        commits: Vec<String>,
    },
    /// Nothing like it is there.
    Lost,
}

/// A finished stage with what became of its head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryLine {
    /// The stage.
    pub stage: u32,
    /// The head in the ledger.
    pub head: String,
    /// What became of it.
    pub fate: HeadFate,
}

/// What became of the recorded heads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryAnswer {
    /// The stages that were looked at, ascending.
    pub stages: Vec<HistoryLine>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Decides what became of a head. The same tree says more than the same patch: only where no tree
/// is the same do patches count.
pub fn fate(fact: &HeadFact) -> HeadFate {
    if fact.reachable {
        return HeadFate::Intact;
    }
    for same in [Sameness::Tree, Sameness::Patch] {
        let mut commits: Vec<String> = Vec::new();
        for candidate in fact.candidates.iter().filter(|it| it.same == same) {
            if !candidate.commit.is_empty() && !commits.contains(&candidate.commit) {
                commits.push(candidate.commit.clone());
            }
        }
        match commits.as_slice() {
            [] => {}
            [commit] => return HeadFate::Corrected { commit: commit.clone(), same },
            _ => return HeadFate::Ambiguous { commits },
        }
    }
    HeadFate::Lost
}
