//! What a change of the plan touches: claims, worktrees and finished stages.

use serde::Serialize;

use super::board::{self, Board};
use super::effect::Decision;
use super::facts::Facts;
use crate::claims::ClaimView;
use crate::diff::{self, ApprovalChange, StageChange, StageDiff, StagePart};
use crate::error::OkstraError;
use crate::ledger::{PullRequest, StageRecord, Verdict};
use crate::plan::{Document, digest};
use crate::printable::printable;

/// Which of the two texts a finished stage was built against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum BuiltAgainst {
    /// That of the old plan.
    Old,
    /// That of the new plan, or one that is the same in both.
    New,
    /// A third one.
    Other,
}

/// A finished stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TouchedDone {
    /// When it was completed.
    pub completed_at: String,
    /// The commit it ended with.
    pub head_commit: String,
    /// The text it was built against; `null` where its row does not say.
    pub built_against: Option<BuiltAgainst>,
    /// The latest verification.
    pub verdict: Option<Verdict>,
    /// The latest pull request.
    pub pull_request: Option<PullRequest>,
}

/// What has been made of a stage that changed, by the rows of the ledger under its old number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Touches {
    /// The finished stage; `null` where it is not finished.
    pub done: Option<TouchedDone>,
    /// The claims of sessions that build it; none of a finished one.
    pub claims: Vec<ClaimView>,
    /// The worktrees that it is or was built in.
    pub worktrees: Vec<String>,
}

/// A stage that was compared, with what its change touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TouchingDiff {
    /// What became of it.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", ts(flatten))]
    pub diff: StageDiff,
    /// What that touches; `null` where nothing changed, or nothing was made of it yet.
    pub touches: Option<Touches>,
}

/// Two plans compared, and what the difference touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffAnswer {
    /// Every stage, in the order of the new plan, those that are gone last.
    pub stages: Vec<TouchingDiff>,
    /// What became of the approval; `null` where it is the same.
    pub approval: Option<ApprovalChange>,
    /// Whether nothing changed.
    pub same: bool,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Compares two plans by stage and says which claims, worktrees and finished stages each change
/// touches. The ledger's rows are those of the old plan's stages, whose numbers they carry; the
/// ledger may be empty. Nothing is written.
pub fn plan_diff(
    old: &[u8],
    new: &[u8],
    ledger: &[u8],
    facts: &Facts,
) -> Result<Decision<DiffAnswer>, OkstraError> {
    let (old, new) = (board::document(old)?, board::document(new)?);
    let compared = diff::diff(&old.plan(), &new.plan());
    // A plan without one Stage Map has no stages that anything could have been made of.
    let board = if old.maps.len() == 1 { Some(Board::new(&old, ledger, facts)?) } else { None };
    if let Some(needs) = board.as_ref().and_then(Board::needs) {
        return Ok(needs);
    }
    let mut warnings: Vec<String> = Vec::new();
    let mut stages = Vec::new();
    for mut diff in compared.stages {
        if diff.changes.is_empty() && is_reworded(&diff, &old, &new) {
            let part = StagePart::Wording;
            diff.changes.push(StageChange::Text { part, from: None, to: None });
        }
        let number = diff.old.as_ref().and_then(|old| old.stage);
        let record = board.as_ref().zip(number).and_then(|(board, stage)| {
            let record = board.state.stage(stage)?;
            let is_begun = record.done.is_some() || !record.claims.is_empty();
            is_begun.then_some((board, stage, record))
        });
        let touches = record.filter(|_| !diff.changes.is_empty()).map(|(board, stage, record)| {
            let now = diff.new.as_ref().and_then(|new| new.stage);
            warnings.extend(misread(&diff, stage, now));
            touches(board, &new, record, stage, now)
        });
        stages.push(TouchingDiff { diff, touches });
    }
    let same = compared.approval.is_none() && stages.iter().all(|it| it.diff.changes.is_empty());
    let answer =
        DiffAnswer { stages, approval: compared.approval, same, warnings: warnings.clone() };
    Ok(Decision::Decided { effects: Vec::new(), answer, warnings })
}

/// Whether the text that evidence is held to is another, though nothing else of the stage is.
fn is_reworded(diff: &StageDiff, old: &Document<'_>, new: &Document<'_>) -> bool {
    let text = |doc: &Document<'_>, name: Option<&diff::StageName>| {
        let row = doc.map.rows.get(doc.row_of.get(name?.stage?)?)?;
        Some(digest::of_stage(doc, row, doc.section(row)))
    };
    text(old, diff.old.as_ref()) != text(new, diff.new.as_ref())
}

/// The rows of a stage that has another number now, or none, would be read as those of another.
fn misread(diff: &StageDiff, stage: u32, now: Option<u32>) -> Option<String> {
    let title = diff.old.as_ref().map(|old| printable(&old.title)).unwrap_or_default();
    let moved = diff
        .changes
        .iter()
        .any(|change| matches!(change, StageChange::Removed | StageChange::Reordered { .. }));
    let what = match now {
        _ if !moved => return None,
        Some(now) => format!("which is stage {now} in the new plan"),
        None => String::from("which the new plan does not have"),
    };
    Some(format!(
        "the ledger's rows of stage {stage} are those of '{title}', {what}; with the new plan they \
         would count for another stage"
    ))
}

fn touches(
    board: &Board<'_, '_>,
    new: &Document<'_>,
    record: &StageRecord,
    stage: u32,
    now: Option<u32>,
) -> Touches {
    let mut worktrees: Vec<String> =
        record.claims.iter().filter_map(|claim| claim.worktree.clone()).collect();
    worktrees.dedup();
    let done = record.done.as_ref().map(|done| TouchedDone {
        completed_at: done.completed_at.clone(),
        head_commit: done.head_commit.clone(),
        built_against: done.plan_digest.as_ref().map(|built| {
            let text = now.and_then(|now| {
                let row = new.map.rows.get(new.row_of.get(now)?)?;
                Some(digest::of_stage(new, row, new.section(row)))
            });
            if text.as_ref() == Some(built) {
                BuiltAgainst::New
            } else if board.digest(stage).as_ref() == Some(built) {
                BuiltAgainst::Old
            } else {
                BuiltAgainst::Other
            }
        }),
        verdict: record.verified.as_ref().and_then(|it| it.verdict),
        pull_request: record.pr.as_deref().cloned(),
    });
    let running = if done.is_some() { &[] } else { record.claims.as_slice() };
    Touches { claims: running.iter().map(|claim| board.view(claim)).collect(), done, worktrees }
}
