//! Giving a stage back, and recording its verification and its pull request.

use serde::Serialize;

use super::board::{self, Board, holder_name};
use super::done;
use super::effect::Decision;
use super::facts::Facts;
use super::refusal::StageRefusal;
use crate::claims::{self, Fence, Life};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::handoff::{self, PullRequestText};
use crate::layout;
use crate::ledger::write::{PrRow, ReleasedRow, VerifiedRow};
use crate::ledger::{Status, Verdict};
use crate::printable::printable;

/// What to give back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ReleaseRequest {
    /// The stage; missing where the caller's claim says it.
    pub stage: Option<u32>,
    /// Why.
    pub reason: String,
    /// Whether a quiet claim of somebody else may be taken away.
    pub force: bool,
}

decode!(optional ReleaseRequest { stage, reason, force });

/// What to record of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct VerifyRequest {
    /// The stage.
    pub stage: u32,
    /// `accepted`, `conditional-accept` or `blocked`.
    pub verdict: String,
    /// The report, relative to the project or absolute.
    pub report_path: String,
    /// Whether there is nothing at that path.
    pub report_missing: bool,
    /// Whether to correct a verification that stands.
    pub force_reappend: bool,
}

decode!(optional VerifyRequest { stage, verdict, report_path, report_missing, force_reappend });

/// What to record of a pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct PrRequest {
    /// The stages it covers, at least one.
    pub stages: Vec<u32>,
    /// Its address; without address and number only the text is made.
    pub pr_url: Option<String>,
    /// Its number.
    #[cfg_attr(feature = "typescript", ts(type = "number", optional))]
    pub pr_number: Option<u64>,
    /// Whether to correct a pull request that stands.
    pub force_reappend: bool,
}

decode!(optional PrRequest { stages, pr_url, pr_number, force_reappend });

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Recorded {
    /// The stage, the lowest of several.
    pub stage: u32,
    /// As what.
    pub status: Status,
    /// Whether a row was appended; `false` where only a text was asked for.
    pub recorded: bool,
    /// The text of the pull request, for `pr`.
    pub pull_request: Option<PullRequestText>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Gives a claimed stage back. Its holder may always; others only where the session is dead, or
/// quiet and they insist. Fails with a [`StageRefusal`].
pub fn release(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &ReleaseRequest,
) -> Result<Decision<Recorded>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let stage = done::meant(&board, request.stage)?;
    let record = board.state.stage(stage);
    let Some(claim) = record.and_then(|record| record.holder()).cloned() else {
        if record.is_some_and(|record| record.done.is_some()) {
            return Err(done::completed(stage).into());
        }
        return Err(StageRefusal::NotClaimed { stage }.into());
    };
    let mut reason = printable(&request.reason).into_owned();
    if claims::fence(&facts.caller, &claim) != Fence::Own {
        if let Some(needs) = board.needs() {
            return Ok(needs);
        }
        let life = board.view(&claim).life;
        match life {
            Life::Dead => {}
            Life::Quiet if request.force => {}
            _ => {
                let life = if life == Life::Quiet { "quiet" } else { "live" };
                let holder = holder_name(&claim);
                return Err(StageRefusal::StillAlive { stage, holder, life }.into());
            }
        }
        if reason.is_empty() {
            let life = if life == Life::Dead { "dead" } else { "quiet" };
            reason = format!("taken from {}, which was {life}", holder_name(&claim));
        }
    } else if reason.is_empty() {
        reason = String::from("given back");
    }
    let row = ReleasedRow {
        impl_task_key: &claim.impl_task_key,
        stage,
        status: Status::Released.as_str(),
        released_at: &facts.now,
        reason: &reason,
        claim_id: claim.claim_id.as_deref(),
    };
    let Board { state, rows, .. } = &mut board;
    let recorded = rows.add(state, &row, true);
    Ok(recorded_as(board, stage, Status::Released, recorded, None))
}

/// Records the verification of a done stage. Fails with a [`StageRefusal`].
pub fn verify(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &VerifyRequest,
) -> Result<Decision<Recorded>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let stage = done::meant(&board, Some(request.stage))?;
    let Some(verdict) = Verdict::from_name(&request.verdict) else {
        let known = Verdict::ALL.map(Verdict::as_str).join(", ");
        return Err(StageRefusal::BadArgument(format!(
            "the verdict must be one of {known}; got '{}'",
            printable(&request.verdict)
        ))
        .into());
    };
    let report = inside(&board, &request.report_path)?;
    if request.report_missing {
        let path = printable(&report);
        // Some write it after their verdict, so it is no reason to refuse.
        board
            .warnings
            .push(format!("there is no report {path} yet; write it before the hand-over"));
    }
    let key = done_key(&board, stage)?;
    let row = VerifiedRow {
        impl_task_key: &key,
        stage,
        status: Status::Verified.as_str(),
        verified_at: &facts.now,
        verdict,
        report_path: &report,
    };
    let Board { state, rows, .. } = &mut board;
    if !rows.add(state, &row, request.force_reappend) {
        let stands = state.stage(stage).and_then(|record| record.verified.as_ref());
        if stands.is_none_or(|it| it.verdict != Some(verdict) || it.report_path != report) {
            let verdict = stands.and_then(|it| it.verdict).map_or("something", Verdict::as_str);
            let what = format!("verified as {verdict}");
            return Err(StageRefusal::Stands { stage, what }.into());
        }
        return Ok(recorded_as(board, stage, Status::Verified, false, None));
    }
    Ok(recorded_as(board, stage, Status::Verified, true, None))
}

/// Makes the text of a pull request and, where its address or number is given, records it. Fails
/// with a [`StageRefusal`].
pub fn pull_request(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &PrRequest,
) -> Result<Decision<Recorded>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let mut stages = request.stages.clone();
    crate::order::sort(&mut stages);
    stages.dedup();
    let Some(&lowest) = stages.first() else {
        return Err(StageRefusal::WhichStage { why: String::from("none is given") }.into());
    };
    for stage in &stages {
        done::meant(&board, Some(*stage))?;
        done_key(&board, *stage)?;
    }
    // The row stands for the lowest stage, so its key is the row's.
    let key = done_key(&board, lowest)?;
    let url = request.pr_url.as_deref();
    if url.is_some_and(|url| !is_web_address(url)) {
        return Err(StageRefusal::BadArgument(String::from(
            "the address of a pull request must begin with https:// or http://",
        ))
        .into());
    }
    let text = handoff::pull_request_text(&board.hand_over(), &stages);
    let mut recorded = false;
    if url.is_some() || request.pr_number.is_some() {
        let row = PrRow {
            impl_task_key: &key,
            stage: lowest,
            status: Status::Pr.as_str(),
            pr_url: url,
            pr_number: request.pr_number,
            stages: &stages,
            opened_at: &facts.now,
        };
        let Board { state, rows, .. } = &mut board;
        recorded = rows.add(state, &row, request.force_reappend);
        if !recorded {
            let stands = state.stage(lowest).and_then(|record| record.pr.as_ref());
            let same = stands.is_some_and(|it| {
                it.pr_url.as_deref() == url
                    && it.pr_number == request.pr_number
                    && it.stages == stages
            });
            if !same {
                let what = String::from("in a pull request");
                return Err(StageRefusal::Stands { stage: lowest, what }.into());
            }
        }
    }
    Ok(recorded_as(board, lowest, Status::Pr, recorded, Some(text)))
}

fn is_web_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty())
        && !url.chars().any(|ch| ch.is_whitespace() || ch.is_control())
}

/// The key under which a stage is done.
fn done_key(board: &Board<'_, '_>, stage: u32) -> Result<String, OkstraError> {
    let done = board.state.stage(stage).and_then(|record| record.done.as_ref());
    let done = done.ok_or(StageRefusal::NotDone { stage })?;
    Ok(done.impl_task_key.clone())
}

/// A path of an argument relative to the project, if it stays in it.
fn inside(board: &Board<'_, '_>, path: &str) -> Result<String, OkstraError> {
    if path.trim().is_empty() {
        let reason = String::from("the report must be a path");
        return Err(StageRefusal::BadArgument(reason).into());
    }
    let outside = || StageRefusal::OutsideProject { path: printable(path).into_owned() };
    let Some(root) = &board.layout.project_root else {
        return Err(outside().into());
    };
    let full = if path.starts_with('/') { path.to_owned() } else { format!("{root}/{path}") };
    layout::relative_inside(root, &full).ok_or_else(|| outside().into())
}

fn recorded_as(
    board: Board<'_, '_>,
    stage: u32,
    status: Status,
    recorded: bool,
    pull_request: Option<PullRequestText>,
) -> Decision<Recorded> {
    let warnings = board.warnings.clone();
    board.decided(Vec::new(), Recorded { stage, status, recorded, pull_request, warnings })
}
