//! Which running and finished stages will conflict when they are put together.
//!
//! The host tries merges without touching any worktree (`git merge-tree`); here is decided which
//! pairs are worth the try, and what the results mean.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::base::{Ancestry, Known};
use super::refusal::WorktreeRefusal;
use crate::choose::StageFacts;
use crate::decode::decode;
use crate::error::OkstraError;

/// A stage as the forecast takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForecastStage {
    /// The stage.
    pub stage: u32,
    /// The stages it depends on.
    pub depends_on: Vec<u32>,
    /// The commit it is at; `None` where it is neither running nor finished, or has none.
    pub head: Option<String>,
    /// Whether it is finished: then a stage that builds on it has merged it.
    pub done: bool,
}

/// Two stages whose heads may conflict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ForecastPair {
    /// The stage that comes first in the plan.
    pub first: u32,
    /// The other.
    pub second: u32,
    /// The commit of the first.
    pub first_head: String,
    /// The commit of the other.
    pub second_head: String,
}

/// The result of trying to merge two heads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MergeResult {
    /// One commit.
    pub first_head: String,
    /// The other.
    pub second_head: String,
    /// The files with conflicts; empty where they merge cleanly.
    pub files: Vec<String>,
}

decode!(MergeResult { first_head, second_head, files });

/// Two stages that will conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conflict {
    /// The stage that comes first in the plan.
    pub first: u32,
    /// The other.
    pub second: u32,
    /// The files, ascending.
    pub files: Vec<String>,
}

decode!(Conflict { first, second, files });

impl Conflict {
    /// Whether it concerns a stage: it is one of the two, or builds on both.
    pub(crate) fn concerns(&self, facts: &StageFacts<'_>) -> bool {
        let on = |stage: &u32| facts.depends_on.contains(stage);
        facts.stage == self.first
            || facts.stage == self.second
            || (on(&self.first) && on(&self.second))
    }
}

/// The merge of a stage's dependencies that was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MergeCheck {
    /// The stage that builds on them.
    pub stage: u32,
    /// What came of it; without files it merges cleanly.
    pub conflict: Conflict,
}

decode!(MergeCheck { stage, conflict });

/// What the host knows besides the plan and the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ForecastRequest {
    /// The commits that the worktrees of running stages are at.
    pub heads: Vec<super::base::StageHead>,
    /// What is known of the history; what is not known need not be asked.
    pub ancestry: Vec<Ancestry>,
    /// The merges that were tried.
    pub merges: Vec<MergeResult>,
}

decode!(optional ForecastRequest { heads, ancestry, merges });

/// What is foreseen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Forecast {
    /// The merges worth trying that were not, sorted: try them and ask again.
    pub ask: Vec<ForecastPair>,
    /// The stages that will conflict, sorted.
    pub conflicts: Vec<Conflict>,
    /// How many pairs merge cleanly.
    pub clean: u32,
    /// The running and finished stages without a commit, about which nothing is known.
    pub unknown: Vec<u32>,
}

/// Foresees conflicts. Worth trying is a pair of which neither builds on the other, neither head is
/// known to contain the other, and no finished stage has put the two together already.
pub fn forecast(stages: &[ForecastStage], request: &ForecastRequest) -> Forecast {
    let known = Known::new(&request.ancestry);
    let below = below(stages);
    let tried: BTreeMap<(&str, &str), &MergeResult> =
        request.merges.iter().map(|it| (ordered(&it.first_head, &it.second_head), it)).collect();
    let with_head: Vec<(&ForecastStage, &str)> = stages
        .iter()
        .filter_map(|it| Some((it, it.head.as_deref().filter(|head| !head.is_empty())?)))
        .collect();
    let builds_on = |stage: u32, on: u32| below.get(&stage).is_some_and(|set| set.contains(&on));
    let joined = |one: u32, other: u32| {
        let mut done = with_head.iter().filter(|(it, _)| it.done);
        done.any(|(it, _)| builds_on(it.stage, one) && builds_on(it.stage, other))
    };
    let mut found =
        Forecast { ask: Vec::new(), conflicts: Vec::new(), clean: 0, unknown: Vec::new() };
    for (at, (first, first_head)) in with_head.iter().enumerate() {
        for (second, second_head) in with_head.iter().skip(at + 1) {
            let (one, other) = (first.stage, second.stage);
            if first_head == second_head
                || builds_on(one, other)
                || builds_on(other, one)
                || known.contains(first_head, second_head)
                || known.contains(second_head, first_head)
                || joined(one, other)
            {
                continue;
            }
            match tried.get(&ordered(first_head, second_head)) {
                None => found.ask.push(ForecastPair {
                    first: one,
                    second: other,
                    first_head: (*first_head).to_owned(),
                    second_head: (*second_head).to_owned(),
                }),
                Some(result) if result.files.is_empty() => {
                    found.clean = found.clean.saturating_add(1);
                }
                Some(result) => {
                    let files: BTreeSet<&String> = result.files.iter().collect();
                    let files = files.into_iter().cloned().collect();
                    found.conflicts.push(Conflict { first: one, second: other, files });
                }
            }
        }
    }
    found
}

/// Refuses a merge that was tried and conflicts, naming the stages and the files. `stage` is the
/// one that needs it; 0 for a hand-over.
pub fn check_merge(stage: u32, conflict: &Conflict) -> Result<(), OkstraError> {
    if conflict.files.is_empty() {
        return Ok(());
    }
    let stages = vec![conflict.first, conflict.second];
    Err(WorktreeRefusal::MergeConflict { stage, stages, files: conflict.files.clone() }.into())
}

/// Two commits as a key: a merge conflicts in either direction.
fn ordered<'c>(one: &'c str, other: &'c str) -> (&'c str, &'c str) {
    if one <= other { (one, other) } else { (other, one) }
}

/// For each stage with a commit, everything it builds on.
fn below(stages: &[ForecastStage]) -> BTreeMap<u32, BTreeSet<u32>> {
    let of: BTreeMap<u32, &ForecastStage> = stages.iter().map(|it| (it.stage, it)).collect();
    let mut all = BTreeMap::new();
    for stage in stages.iter().filter(|it| it.head.is_some()) {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let mut open: Vec<u32> = stage.depends_on.clone();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(of.get(&next).into_iter().flat_map(|it| &it.depends_on));
            }
        }
        all.insert(stage.stage, seen);
    }
    all
}
