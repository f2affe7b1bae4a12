//! Claiming a stage: choosing and recording in one step.

use serde::Serialize;

use super::board::{self, Board, holder_name};
use super::brief::StageBrief;
use super::effect::Decision;
use super::facts::Facts;
use super::refusal::StageRefusal;
use crate::choose::{self, Order, Refusal, Share, Wish};
use crate::claims::{self, Life};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::ledger::write::{ReleasedRow, Started};
use crate::ledger::{Claim, Status};
use crate::numbers::Numbers;

/// What to claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ClaimRequest {
    /// `auto` or a number, as it was given.
    pub stage: String,
    /// Which of several ready stages comes first.
    pub order: Order,
    /// Whether a stage of a dead session may be taken.
    pub reclaim: bool,
    /// A fresh id for the claim.
    pub claim_id: String,
    /// The worktree that was made for it; missing in the project folder.
    pub worktree: Option<String>,
    /// The branch of that worktree.
    pub branch: Option<String>,
    /// The commit it starts from, where it is another than the project's.
    pub base_commit: Option<String>,
}

decode!(optional ClaimRequest { stage, order, reclaim, claim_id, worktree, branch, base_commit });

/// A claimed stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClaimAnswer {
    /// What to build.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", ts(flatten))]
    pub brief: StageBrief,
    /// The id of the claim.
    pub claim_id: Option<String>,
    /// Whether the session held the stage before.
    pub already_held: bool,
    /// The order by which the stage came first; `null` where it was asked for by number.
    pub order: Option<Order>,
    /// Where to work; `null` for the project folder.
    pub worktree: Option<String>,
    /// The branch to work on.
    pub branch: Option<String>,
    /// The commit to start from.
    pub base_commit: Option<String>,
    /// The other stages that are being built now.
    pub concurrent_stages: Vec<u32>,
    /// The running stages that touch a file of its steps.
    pub shares: Vec<Share>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Claims a stage: the one the caller's session holds already, or the one that is chosen.
///
/// Choosing and recording are one step as long as the host holds the ledger's lock from reading
/// it to carrying out the effects. Fails with a [`StageRefusal`].
pub fn claim(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &ClaimRequest,
) -> Result<Decision<ClaimAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    board::valid(&doc)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    if let Some(held) = held(&board, &request.stage) {
        if let (Some(needs), false) = (board.needs(), is_same_process(facts, &held)) {
            return Ok(needs);
        }
        let held = moved(&mut board, held, request);
        let answer = answer(&mut board, &held, None, Vec::new(), true);
        return Ok(board.decided(Vec::new(), answer));
    }
    if request.claim_id.is_empty() {
        let reason = String::from("claim_id must be a fresh id");
        return Err(OkstraError::BadOptions { reason });
    }
    if request.reclaim
        && let Some(needs) = board.needs()
    {
        return Ok(needs);
    }
    let mut wish = board.choose_request(&request.stage, request.order);
    if request.reclaim {
        wish.reclaim = board.state.running();
        // Two claims of one stage can only come from another tool; both have to be dead.
        wish.reclaim.retain(|stage| {
            let claims = board.state.stage(stage).map(|record| record.claims.as_slice());
            let mut claims = claims.unwrap_or_default().iter();
            claims.all(|claim| board.view(claim).life == Life::Dead)
        });
    }
    let choice = match choose::choose(&wish) {
        Ok(choice) => choice,
        Err(reason) => {
            // Whoever is refused is told which claims are dead; that has to be looked at first.
            if let (Some(needs), true) = (board.needs(), concerns_claims(&board, &reason)) {
                return Ok(needs);
            }
            return Err(refused(&board, reason).into());
        }
    };
    drop(wish);
    let stage = choice.stage;
    let key = board.impl_task_key();
    let now = &facts.now;
    let digest = board.digest(stage).unwrap_or_default();
    let Board { state, rows, .. } = &mut board;
    let dead = state.stage(stage).map(|record| record.claims.clone()).unwrap_or_default();
    for dead in &dead {
        let reason = format!("reclaimed: the process of {} is gone", holder_name(dead));
        let row = ReleasedRow {
            impl_task_key: &dead.impl_task_key,
            stage,
            status: Status::Released.as_str(),
            released_at: now,
            reason: &reason,
            claim_id: dead.claim_id.as_deref(),
        };
        rows.add(state, &row, true);
    }
    let base_commit = request.base_commit.as_ref().or(facts.head_commit.as_ref());
    let row = Started {
        impl_task_key: &key,
        stage,
        status: Status::Started.as_str(),
        started_at: now,
        head_commit: facts.head_commit.as_deref().unwrap_or_default(),
        claim_id: &request.claim_id,
        session: facts.caller.session.as_deref(),
        host: facts.caller.host.as_deref(),
        pid: facts.caller.pid,
        pid_start: facts.caller.pid_start.as_deref(),
        worktree: request.worktree.as_deref(),
        branch: request.branch.as_deref(),
        base_commit: base_commit.map(String::as_str),
        plan_digest: &digest,
    };
    rows.add(state, &row, false);
    let Some(made) = state.stage(stage).and_then(|record| record.holder()).cloned() else {
        let reason = format!("the claim of stage {stage} cannot be written down");
        return Err(OkstraError::BadOptions { reason });
    };
    let answer = answer(&mut board, &made, choice.order, choice.shares, false);
    Ok(board.decided(Vec::new(), answer))
}

/// The claim that the caller names or its session holds: of the stage that is wished, or its first.
fn held(board: &Board<'_, '_>, wish: &str) -> Option<Claim> {
    let caller = &board.facts.caller;
    let wish = Wish::of(wish);
    let fits = |claim: &&Claim| {
        let wished = match wish {
            Wish::Auto => true,
            Wish::Number(number) => number == Some(claim.stage),
            Wish::Other => false,
        };
        let named = caller.claim_id.is_some() && caller.claim_id == claim.claim_id;
        wished && (named || claims::is_of_session(caller, claim))
    };
    board.state.holders().find(fits).cloned()
}

fn is_same_process(facts: &Facts, held: &Claim) -> bool {
    (facts.caller.pid, &facts.caller.pid_start) == (held.pid, &held.pid_start)
}

/// The claim of a session that goes on in another process, as an agent does that was resumed: with
/// its old process it would count as dead, and anybody could take it. It keeps its id.
fn moved(board: &mut Board<'_, '_>, held: Claim, request: &ClaimRequest) -> Claim {
    let facts = board.facts;
    if is_same_process(facts, &held) || board.view(&held).life != Life::Dead {
        return held;
    }
    let stage = held.stage;
    let released = ReleasedRow {
        impl_task_key: &held.impl_task_key,
        stage,
        status: Status::Released.as_str(),
        released_at: &facts.now,
        reason: "its session goes on in another process",
        claim_id: held.claim_id.as_deref(),
    };
    let started = Started {
        impl_task_key: &held.impl_task_key,
        stage,
        status: Status::Started.as_str(),
        started_at: &facts.now,
        head_commit: &held.head_commit,
        claim_id: held.claim_id.as_deref().unwrap_or(&request.claim_id),
        session: facts.caller.session.as_deref(),
        host: facts.caller.host.as_deref(),
        pid: facts.caller.pid,
        pid_start: facts.caller.pid_start.as_deref(),
        worktree: held.worktree.as_deref(),
        branch: held.branch.as_deref(),
        base_commit: held.base_commit.as_deref(),
        plan_digest: held.plan_digest.as_deref().unwrap_or_default(),
    };
    let Board { state, rows, .. } = board;
    rows.add(state, &released, true);
    rows.add(state, &started, false);
    state.stage(stage).and_then(|record| record.holder()).cloned().unwrap_or(held)
}

/// Whether a refusal is about a stage: whose claim, if it is freed, may end it.
fn is_about(reason: &Refusal, stage: u32) -> bool {
    match reason {
        Refusal::AlreadyStarted { stage: asked, .. } => *asked == stage,
        Refusal::Waits { on, .. } => on.contains(&stage),
        Refusal::NoneReady { .. } => true,
        _ => false,
    }
}

/// Whether a refusal could end by a claim being freed.
pub(super) fn concerns_claims(board: &Board<'_, '_>, reason: &Refusal) -> bool {
    board.state.holders().any(|claim| is_about(reason, claim.stage))
}

/// The refusal with the commands that free dead and quiet claims.
pub(super) fn refused(board: &Board<'_, '_>, reason: Refusal) -> StageRefusal {
    let hints: Vec<String> = board
        .state
        .holders()
        .filter(|claim| is_about(&reason, claim.stage))
        .map(|claim| board.view(claim))
        .filter_map(|view| {
            let life = match view.life {
                Life::Live => return None,
                Life::Quiet => "quiet",
                Life::Dead => "dead",
            };
            Some(format!(
                "the claim of stage {} by {} is {life}: {}",
                view.claim.stage,
                holder_name(&view.claim),
                view.free_with.unwrap_or_default()
            ))
        })
        .take(8)
        .collect();
    StageRefusal::Choose { reason, help: (!hints.is_empty()).then(|| hints.join("; ")) }
}

fn answer(
    board: &mut Board<'_, '_>,
    claim: &Claim,
    order: Option<Order>,
    shares: Vec<Share>,
    already_held: bool,
) -> ClaimAnswer {
    let stage = claim.stage;
    for share in &shares {
        board.warnings.push(format!(
            "stage {stage} shares files with running stage {}: {}",
            share.stage,
            share.files.join(", ")
        ));
    }
    let mut brief = board.brief(stage);
    brief.impl_task_key.clone_from(&claim.impl_task_key);
    for carry in &brief.carry_in {
        if carry.evidence.is_none() {
            board.warnings.push(format!(
                "stage {} is done, but its evidence cannot be read: {}",
                carry.stage,
                board.carry_path(carry.stage)
            ));
        }
    }
    let running = board.state.running();
    let taken = running.as_slice().iter().chain(&board.facts.reserved).copied();
    let done = board.state.done();
    let concurrent: Numbers =
        taken.filter(|other| *other != stage && !done.contains(*other)).collect();
    ClaimAnswer {
        brief,
        claim_id: claim.claim_id.clone(),
        already_held,
        order,
        worktree: claim.worktree.clone(),
        branch: claim.branch.clone().or_else(|| board.facts.branch.clone()),
        base_commit: claim.base_commit.clone(),
        concurrent_stages: concurrent.into_vec(),
        shares,
        warnings: board.warnings.clone(),
    }
}
