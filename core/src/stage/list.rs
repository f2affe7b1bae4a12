//! The table of all stages.

use serde::Serialize;

use super::board::{self, Board, holder_name};
use super::effect::Decision;
use super::facts::Facts;
use super::stale::Stale;
use crate::check::{self, CheckOptions};
use crate::choose::{self, Explanation, Order, Readiness};
use crate::claims::ClaimView;
use crate::error::OkstraError;
use crate::graph::Graph;
use crate::ledger::{Claim, PullRequest, Verdict};
use crate::order::FirstOf;
use crate::time;

/// Where a stage stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StageState {
    /// It can be claimed.
    Ready,
    /// A session builds it.
    Running,
    /// The worktree registry reserves it.
    Reserved,
    /// Its dependencies are not done.
    Waiting,
    /// It is done.
    Done,
    /// It is done, and a verification accepted it.
    Verified,
    /// It is done and part of a pull request.
    Pr,
    /// It is struck out.
    Cancelled,
    /// It can never be ready as the plan stands.
    Broken,
}

/// A stage in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageLine {
    /// The stage.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// Its wave, from 1; `null` for one that is cancelled or broken.
    pub wave: Option<u32>,
    /// Where it stands.
    pub state: StageState,
    /// The dependencies it still waits for.
    pub waits_for: Vec<u32>,
    /// Its steps.
    pub steps: u32,
    /// The steps of the longest chain behind it.
    pub steps_behind: u32,
    /// Who builds it or built it.
    pub by: Option<String>,
    /// Since when it is in this state, as the ledger says.
    pub since: Option<String>,
    /// Milliseconds since then.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub age_ms: Option<u64>,
    /// The commit it ended with, or started from while it is running.
    pub head: Option<String>,
    /// The claim of a running stage.
    pub claim: Option<ClaimView>,
    /// Why its evidence is not true any more, and who built on it; `null` where it is.
    pub stale: Option<Stale>,
    /// The latest verification.
    pub verdict: Option<Verdict>,
    /// The latest pull request.
    pub pull_request: Option<PullRequest>,
}

/// The stages of a plan with their states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageList {
    /// The plan, relative to the project where it can be.
    pub plan_path: String,
    /// The stages, in row order.
    pub stages: Vec<StageLine>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Lists the stages of a plan with their states. A plan with errors is listed as far as it can be
/// read; only a plan without a Stage Map fails.
pub fn list(plan: &[u8], ledger: &[u8], facts: &Facts) -> Result<Decision<StageList>, OkstraError> {
    let doc = board::document(plan)?;
    let graph = check::checker(&doc, CheckOptions::default())?.graph();
    let board = Board::new(&doc, ledger, facts)?;
    if let Some(needs) = board.needs() {
        return Ok(needs);
    }
    let answer = StageList {
        plan_path: board.layout.plan_path.clone(),
        stages: lines(&board, &graph),
        warnings: board.warnings.clone(),
    };
    Ok(board.decided(Vec::new(), answer))
}

/// A line for every row with a number, in row order.
pub(super) fn lines(board: &Board<'_, '_>, graph: &Graph) -> Vec<StageLine> {
    let explained = choose::overview(&board.choose_request("auto", Order::Number));
    let nodes = FirstOf::new(graph.nodes.iter().enumerate().map(|(at, it)| (it.stage, at)));
    explained
        .iter()
        .map(|it| {
            let node = nodes.get(it.stage).and_then(|at| graph.nodes.get(at));
            line(board, it.stage, node.and_then(|node| node.wave), Some(it))
        })
        .collect()
}

pub(super) fn line(
    board: &Board<'_, '_>,
    stage: u32,
    wave: Option<u32>,
    explained: Option<&Explanation>,
) -> StageLine {
    let record = board.state.stage(stage).cloned().unwrap_or_default();
    let accepted = record.verified.as_ref().is_some_and(|it| it.verdict == Some(Verdict::Accepted));
    let stands = match explained.map(|it| it.readiness) {
        Some(Readiness::Ready) => StageState::Ready,
        Some(Readiness::Running) => StageState::Running,
        Some(Readiness::Reserved) => StageState::Reserved,
        Some(Readiness::Waiting) => StageState::Waiting,
        Some(Readiness::Cancelled) => StageState::Cancelled,
        Some(Readiness::Done) if record.pr.is_some() => StageState::Pr,
        Some(Readiness::Done) if accepted => StageState::Verified,
        Some(Readiness::Done) => StageState::Done,
        Some(Readiness::Broken) | None => StageState::Broken,
    };
    let since = match stands {
        StageState::Pr => record.pr.as_ref().map(|it| &it.opened_at),
        StageState::Verified => record.verified.as_ref().map(|it| &it.verified_at),
        StageState::Done => record.done.as_ref().map(|it| &it.completed_at),
        StageState::Running => record.holder().map(|it| &it.started_at),
        _ => None,
    }
    .filter(|since| !since.is_empty())
    .cloned();
    let age = since.as_deref().and_then(time::epoch_ms).map(|at| board.now_ms.saturating_sub(at));
    let head = match (&record.done, record.holder()) {
        (Some(done), _) => Some(&done.head_commit),
        (None, Some(claim)) => Some(&claim.head_commit),
        (None, None) => None,
    };
    StageLine {
        stage,
        title: board.row(stage).map(|row| row.title.clone()).unwrap_or_default(),
        wave,
        state: stands,
        waits_for: explained.map(|it| it.waits_for.clone()).unwrap_or_default(),
        steps: board
            .section(stage)
            .map(|section| u32::try_from(section.steps.len()).unwrap_or(u32::MAX))
            .unwrap_or_default(),
        steps_behind: explained.map(|it| it.steps_behind).unwrap_or_default(),
        by: record.claims.first().map(|claim| by(claim, board.facts.caller.host.as_deref())),
        age_ms: age.map(|age| u64::try_from(age).unwrap_or(0)),
        since,
        head: head.filter(|head| !head.is_empty()).cloned(),
        claim: record.holder().map(|claim| board.view(claim)),
        stale: board.stale_of(stage).cloned(),
        verdict: record.verified.and_then(|it| it.verdict),
        pull_request: record.pr.as_deref().cloned(),
    }
}

/// Who holds a claim, without since when, and without the host where it is this one.
fn by(claim: &Claim, here: Option<&str>) -> String {
    let host = claim.host.clone().filter(|host| Some(host.as_str()) != here);
    holder_name(&Claim { started_at: String::new(), host, ..claim.clone() })
}
