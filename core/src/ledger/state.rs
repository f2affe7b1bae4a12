//! What the rows of a ledger add up to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::read::{self, BadLine, Row};
use super::{Status, Verdict};
use crate::numbers::Numbers;

/// A claim: a `started` row that nothing has cancelled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Claim {
    /// The stage.
    pub stage: u32,
    /// The key of the implementation task.
    pub impl_task_key: String,
    /// When it was started, as the row says; empty where it does not.
    pub started_at: String,
    /// The commit the project was at; empty where the row does not say.
    pub head_commit: String,
    /// The id that fences it; `null` in rows of older tools.
    pub claim_id: Option<String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// The host of that session.
    pub host: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// The start of that process, as the host writes it.
    pub pid_start: Option<String>,
    /// The worktree it works in; `null` in the project folder.
    pub worktree: Option<String>,
    /// The branch of the worktree.
    pub branch: Option<String>,
    /// The commit it started from.
    pub base_commit: Option<String>,
    /// The digest of the stage's text when it was started.
    pub plan_digest: Option<String>,
    /// The number of its row among the usable ones, from 1: what came before and what after.
    #[serde(skip)]
    pub at: u32,
}

/// The latest `done` row of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Done {
    /// The key of the implementation task.
    pub impl_task_key: String,
    /// When it was completed.
    pub completed_at: String,
    /// Where its evidence lies; empty where the row does not say.
    pub carry_path: String,
    /// The commit it ended with; empty where the row does not say.
    pub head_commit: String,
    /// The claim it was done under.
    pub claim_id: Option<String>,
    /// The digest of the stage's text it was built against.
    pub plan_digest: Option<String>,
    /// The number of its row among the usable ones, from 1.
    #[serde(skip)]
    pub at: u32,
}

/// A commit that a stage ended with, by the `done` row that first said so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoneHead {
    /// The number of the row among the usable ones, from 1.
    pub at: u32,
    /// The commit.
    pub head: String,
}

/// The latest `verified` row of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Verified {
    /// When.
    pub verified_at: String,
    /// What was found; `null` where the word is unknown, which counts as not accepted.
    pub verdict: Option<Verdict>,
    /// The report.
    pub report_path: String,
}

/// The latest `pr` row of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PullRequest {
    /// Its address.
    pub pr_url: Option<String>,
    /// Its number.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub pr_number: Option<u64>,
    /// When it was opened.
    pub opened_at: String,
    /// Every stage it covers.
    pub stages: Vec<u32>,
}

impl PullRequest {
    /// Its number, from the row or from the end of its address.
    pub fn number(&self) -> Option<u64> {
        let from_url =
            || self.pr_url.as_deref()?.trim_end_matches('/').rsplit('/').next()?.parse().ok();
        self.pr_number.or_else(from_url)
    }
}

/// A claim that was given back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Released {
    /// The claim.
    pub claim_id: Option<String>,
    /// Its session.
    pub session: Option<String>,
    /// When.
    pub released_at: String,
    /// Why.
    pub reason: String,
}

/// Everything a ledger says about one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageRecord {
    /// The `started` rows that nothing cancelled, in order; the first holds the stage.
    pub claims: Vec<Claim>,
    /// The latest `done` row.
    pub done: Option<Done>,
    /// How many `done` rows there are.
    pub done_rows: u32,
    /// The commits it ended with, in order; more than one where it was done again. A row that
    /// repeats when the stage was completed only says what its commit is called since history was
    /// rewritten: it takes the place of the one before.
    pub heads: Vec<DoneHead>,
    /// How many `done` rows say that the stage was looked at: all but those that only say what its
    /// commit is called since history was rewritten.
    pub looks: u32,
    /// The number of the last of these rows among the usable ones, from 1; 0 without one.
    pub looked_at: u32,
    /// The latest `verified` row.
    pub verified: Option<Verified>,
    /// The latest `pr` row. The stages it covers share it: a copy for each would grow with the
    /// square of their number.
    pub pr: Option<Arc<PullRequest>>,
    /// The claims that were given back, in order.
    pub released: Vec<Released>,
    /// The triples that are taken: a key with the statuses it has rows of, as bits.
    taken: BTreeMap<String, u8>,
}

impl StageRecord {
    /// The claim that holds the stage while it is not done.
    pub fn holder(&self) -> Option<&Claim> {
        if self.done.is_some() { None } else { self.claims.first() }
    }

    /// Whether a row with this key and status would repeat one that stands.
    pub(crate) fn is_taken(&self, key: &str, status: Status) -> bool {
        self.taken.get(key).is_some_and(|bits| bits & bit(status) != 0)
    }

    /// Notes that a `done` row looks at the stage, and the commit it names.
    fn ends_with(&mut self, at: u32, row: &Row<'_>) {
        let is_renamed = self.done.as_ref().is_some_and(|done| {
            !done.completed_at.is_empty() && Some(done.completed_at.as_str()) == row.at.as_deref()
        });
        if !is_renamed {
            self.looks = self.looks.saturating_add(1);
            self.looked_at = at;
        }
        let Some(head) = row.head_commit.as_deref().filter(|head| !head.is_empty()) else {
            return;
        };
        match self.heads.last_mut() {
            Some(last) if is_renamed || last.head == head => head.clone_into(&mut last.head),
            _ => self.heads.push(DoneHead { at, head: head.to_owned() }),
        }
    }

    fn take(&mut self, key: &str, status: Status) {
        if let Some(bits) = self.taken.get_mut(key) {
            *bits |= bit(status);
        } else {
            self.taken.insert(key.to_owned(), bit(status));
        }
    }

    fn free(&mut self, key: &str, status: Status) {
        if let Some(bits) = self.taken.get_mut(key) {
            *bits &= !bit(status);
        }
    }
}

fn bit(status: Status) -> u8 {
    1 << (status as u8)
}

/// What a ledger says, by stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerState {
    /// The stages with rows.
    pub stages: BTreeMap<u32, StageRecord>,
    /// How many rows could be used.
    pub rows: u32,
    /// How many rows were taken, those about to be appended among them.
    taken: u32,
    /// The first bad lines; see [`MOST_BAD`].
    pub bad: Vec<BadLine>,
    /// How many bad lines there are.
    pub bad_count: u32,
}

/// So many bad lines are kept for messages; `ledger check` lists all.
pub(crate) const MOST_BAD: usize = 20;

impl LedgerState {
    /// Reads a ledger; linear in its length, and keeps no more than the stages need.
    pub fn read(ledger: &[u8]) -> Self {
        let mut state = Self::default();
        for row in read::rows(ledger) {
            match row {
                Ok((_, row)) => {
                    state.rows = state.rows.saturating_add(1);
                    state.apply(row);
                }
                Err(bad) => {
                    state.bad_count = state.bad_count.saturating_add(1);
                    if state.bad.len() < MOST_BAD {
                        state.bad.push(bad);
                    }
                }
            }
        }
        state
    }

    /// The record of a stage.
    pub fn stage(&self, stage: u32) -> Option<&StageRecord> {
        self.stages.get(&stage)
    }

    /// The stages with a `done` row.
    pub fn done(&self) -> Numbers {
        self.numbers(|record| record.done.is_some())
    }

    /// The stages that were started and not given back; a done stage stays among them.
    pub fn started(&self) -> Numbers {
        self.numbers(|record| !record.claims.is_empty())
    }

    /// The stages that are started and not done.
    pub fn running(&self) -> Numbers {
        self.numbers(|record| record.holder().is_some())
    }

    /// The stages whose latest verification accepted them.
    pub fn verified_accepted(&self) -> Numbers {
        self.numbers(|record| {
            record.verified.as_ref().is_some_and(|row| row.verdict == Some(Verdict::Accepted))
        })
    }

    /// The stages that a pull request covers.
    pub fn pr_covered(&self) -> Numbers {
        self.numbers(|record| record.pr.is_some())
    }

    /// The claims of the running stages, by stage.
    pub fn holders(&self) -> impl Iterator<Item = &Claim> {
        self.stages.values().filter_map(StageRecord::holder)
    }

    fn numbers(&self, keep: impl Fn(&StageRecord) -> bool) -> Numbers {
        self.stages.iter().filter(|(_, record)| keep(record)).map(|(stage, _)| *stage).collect()
    }

    /// Takes one more row: one that was read, or one about to be appended.
    pub(crate) fn apply(&mut self, row: Row<'_>) {
        self.taken = self.taken.saturating_add(1);
        let at = self.taken;
        let Some(status) = row.status else {
            return;
        };
        if status == Status::Pr {
            let pr = Arc::new(PullRequest {
                pr_url: owned(row.pr_url),
                pr_number: row.pr_number,
                opened_at: text(row.at),
                stages: row.stages,
            });
            let lowest = pr.stages.iter().min().copied().unwrap_or_default();
            let first = if row.stage > 0 { row.stage } else { lowest };
            self.stages.entry(first).or_default().take(&row.impl_task_key, status);
            for stage in &pr.stages {
                self.stages.entry(*stage).or_default().pr = Some(Arc::clone(&pr));
            }
            return;
        }
        let record = self.stages.entry(row.stage).or_default();
        match status {
            Status::Started => {
                // The first of identical triples stands.
                if record.is_taken(&row.impl_task_key, status) {
                    return;
                }
                record.take(&row.impl_task_key, status);
                record.claims.push(Claim { at, ..claim(row) });
            }
            Status::Done => {
                record.take(&row.impl_task_key, status);
                record.done_rows = record.done_rows.saturating_add(1);
                record.ends_with(at, &row);
                record.done = Some(Done {
                    impl_task_key: row.impl_task_key.into_owned(),
                    completed_at: text(row.at),
                    carry_path: text(row.carry_path),
                    head_commit: text(row.head_commit),
                    claim_id: owned(row.claim_id),
                    plan_digest: owned(row.plan_digest),
                    at,
                });
            }
            Status::Verified => {
                record.take(&row.impl_task_key, status);
                record.verified = Some(Verified {
                    verified_at: text(row.at),
                    verdict: row.verdict.as_deref().and_then(Verdict::from_name),
                    report_path: text(row.report_path),
                });
            }
            Status::Released => release(record, row),
            Status::Pr => {}
        }
    }
}

/// A `released` row cancels the claim it names, or every claim of its key where it names none.
fn release(record: &mut StageRecord, row: Row<'_>) {
    // The claim's own id and session: an older tool's row names neither.
    let (mut claim_id, mut session) = (None, None);
    let mut freed = false;
    record.claims.retain(|claim| {
        let goes = is_released(claim, &row);
        if goes {
            freed = true;
            claim_id.clone_from(&claim.claim_id);
            session.clone_from(&claim.session);
        }
        !goes
    });
    if freed {
        record.free(&row.impl_task_key, Status::Started);
        record.released.push(Released {
            claim_id: claim_id.or(owned(row.claim_id)),
            session,
            released_at: text(row.at),
            reason: text(row.reason),
        });
    }
}

/// Whether a `released` row cancels a claim.
pub(super) fn is_released(claim: &Claim, row: &Row<'_>) -> bool {
    let same_claim = match (&row.claim_id, &claim.claim_id) {
        (Some(released), Some(held)) => released == held,
        _ => true,
    };
    same_claim && claim.impl_task_key == row.impl_task_key
}

fn claim(row: Row<'_>) -> Claim {
    Claim {
        stage: row.stage,
        impl_task_key: row.impl_task_key.into_owned(),
        started_at: text(row.at),
        head_commit: text(row.head_commit),
        claim_id: owned(row.claim_id),
        session: owned(row.session),
        host: owned(row.host),
        pid: row.pid,
        pid_start: owned(row.pid_start),
        worktree: owned(row.worktree),
        branch: owned(row.branch),
        base_commit: owned(row.base_commit),
        plan_digest: owned(row.plan_digest),
        at: 0,
    }
}

fn text(value: Option<Cow<'_, str>>) -> String {
    value.map(Cow::into_owned).unwrap_or_default()
}

/// An empty text says as much as a missing one.
fn owned(value: Option<Cow<'_, str>>) -> Option<String> {
    value.map(Cow::into_owned).filter(|text| !text.is_empty())
}
