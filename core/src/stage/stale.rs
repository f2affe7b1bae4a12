//! Evidence that is not true any more.

use serde::Serialize;

use super::board::Board;
use crate::ledger::StageRecord;
use crate::order;
use crate::worktree::base::same_commit;

/// Why the evidence of a done stage is stale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StaleReason {
    /// The stage's text in the plan is another than the one it was built against.
    Text,
    /// A stage it depends on ends with another commit than the one it was built upon.
    Dependency {
        /// The stage it depends on.
        stage: u32,
        /// The commit it was built upon.
        was: String,
        /// The commit that the dependency ends with now.
        now: String,
    },
}

/// So many stages that were built upon another are listed: with many stale stages the lists of all
/// would grow with the square of their number.
pub const MOST_BUILT_ON: usize = 40;

/// A done stage whose evidence is stale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stale {
    /// The reasons, the text first, then the dependencies in their order.
    pub reasons: Vec<StaleReason>,
    /// The reasons in words, as tables and warnings show them.
    pub why: String,
    /// The running and done stages that were built upon it, directly or not, ascending; at most
    /// [`MOST_BUILT_ON`], the nearest.
    pub built_on: Vec<u32>,
}

impl StaleReason {
    fn words(&self) -> String {
        let short = |commit: &str| commit.get(..7).unwrap_or(commit).to_owned();
        match self {
            Self::Text => String::from("its text in the plan changed"),
            Self::Dependency { stage, was, now } => {
                format!("stage {stage} ended with {}, now with {}", short(was), short(now))
            }
        }
    }
}

/// The commit that a dependency ended with when a stage was built upon it, and the one it ends with
/// now, where they differ.
///
/// A stage is built upon what its dependencies were when it was started. A further `done` row of
/// the stage itself says that it was looked at again, and counts from there.
fn moved(stage: &StageRecord, dependency: &StageRecord) -> Option<(String, String)> {
    let done = stage.done.as_ref()?;
    let started = stage
        .claims
        .iter()
        .find(|claim| claim.claim_id == done.claim_id && claim.impl_task_key == done.impl_task_key);
    let built = started.filter(|_| stage.looks < 2).map_or(stage.looked_at, |claim| claim.at);
    let now = &dependency.heads.last()?.head;
    // A dependency that was done only afterwards has not moved since.
    let was = dependency.heads.iter().rev().find(|head| head.at < built)?;
    (!same_commit(&was.head, now)).then(|| (was.head.clone(), now.clone()))
}

impl Board<'_, '_> {
    /// What makes the evidence of a stage stale; nothing for one that is not done.
    fn stale_reasons(&self, stage: u32) -> Vec<StaleReason> {
        let mut reasons = Vec::new();
        let Some(record) = self.state.stage(stage) else {
            return reasons;
        };
        let built = record.done.as_ref().and_then(|done| done.plan_digest.as_deref());
        if let Some(built) = built
            && self.digest(stage).is_some_and(|now| now != built)
        {
            reasons.push(StaleReason::Text);
        }
        let at = self.doc.row_of.get(stage);
        let dependencies = at.map(|at| self.doc.dependencies(at)).unwrap_or_default();
        for dependency in dependencies {
            let known = self.state.stage(*dependency);
            if let Some((was, now)) = known.and_then(|known| moved(record, known)) {
                reasons.push(StaleReason::Dependency { stage: *dependency, was, now });
            }
        }
        reasons
    }

    /// The done stages whose evidence is stale, ascending.
    pub(super) fn find_stale(&self) -> Vec<(u32, Stale)> {
        let done = self.state.stages.iter().filter(|(_, record)| record.done.is_some());
        let found: Vec<(u32, Vec<StaleReason>)> = done
            .map(|(stage, _)| (*stage, self.stale_reasons(*stage)))
            .filter(|(_, reasons)| !reasons.is_empty())
            .collect();
        if found.is_empty() {
            return Vec::new();
        }
        let dependents = self.dependents();
        let stale = |(stage, reasons): (u32, Vec<StaleReason>)| {
            let words: Vec<String> = reasons.iter().map(StaleReason::words).collect();
            let built_on = self.built_on(stage, &dependents);
            (stage, Stale { reasons, why: words.join("; "), built_on })
        };
        found.into_iter().map(stale).collect()
    }

    /// Why the evidence of a stage is stale.
    pub(super) fn stale_of(&self, stage: u32) -> Option<&Stale> {
        let at = self.stale.binary_search_by_key(&stage, |(stage, _)| *stage).ok()?;
        self.stale.get(at).map(|(_, stale)| stale)
    }

    /// The rows that depend on each row.
    fn dependents(&self) -> Vec<Vec<usize>> {
        let doc = self.doc;
        let mut dependents = vec![Vec::new(); doc.map.rows.len()];
        for at in 0..doc.map.rows.len() {
            for on in doc.dependencies(at).iter().filter_map(|on| doc.row_of.get(*on)) {
                if let Some(list) = dependents.get_mut(on) {
                    list.push(at);
                }
            }
        }
        dependents
    }

    /// The running and done stages that depend on a stage, directly or through others, as far as
    /// they are listed. What was never begun has nothing built upon it.
    fn built_on(&self, stage: u32, dependents: &[Vec<usize>]) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut next = 0;
        let mut at = self.doc.row_of.get(stage);
        while let Some(row) = at {
            for on in dependents.get(row).into_iter().flatten() {
                if found.len() == MOST_BUILT_ON {
                    break;
                }
                let number = self.doc.map.rows.get(*on).and_then(|row| row.stage);
                let is_new = |number: &u32| *number != stage && !found.contains(number);
                found.extend(number.filter(is_new).filter(|number| self.is_begun(*number)));
            }
            at = found.get(next).and_then(|number| self.doc.row_of.get(*number));
            next += 1;
        }
        order::sort(&mut found);
        found
    }

    /// Whether a stage is running or done.
    fn is_begun(&self, stage: u32) -> bool {
        let begun = |record: &StageRecord| record.done.is_some() || record.holder().is_some();
        self.state.stage(stage).is_some_and(begun)
    }
}
