//! Handing the finished stages of a plan over.

use std::collections::BTreeSet;

use serde::Serialize;

use super::board::{self, Board};
use super::done;
use super::effect::Decision;
use super::facts::Facts;
use crate::decode::decode;
use crate::error::OkstraError;
use crate::handoff::assemble::{AssembleRequest, Assembling, Part};
use crate::handoff::eligible::{self, Candidate, NotEligible};
use crate::handoff::text::{PullRequestText, collector_text};
use crate::handoff::verification::{ReportFile, WholeTask, latest_whole_task};
use crate::handoff::{HandOverStage, assemble as assembling};
use crate::layout;
use crate::worktree::WorktreeRefusal;
use crate::worktree::base::Ancestry;

/// What to hand over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct HandoffRequest {
    /// The stages; empty for all that may.
    pub stages: Vec<u32>,
    /// Whether stages that are in a pull request may go into another.
    pub again: bool,
    /// Whether it is not handed over but only put together, on the branch of the task: then every
    /// finished stage may, verified or not, and it is no fault if there is none.
    pub finished: bool,
    /// The data files of the task's verification reports.
    pub reports: Vec<ReportFile>,
    /// The prefix of the task's branches.
    pub prefix: String,
    /// The commit that the task started from.
    pub implementation_base: Option<String>,
    /// The branch that the pull request goes to.
    pub base_branch: String,
    /// What is known of the history between the heads.
    pub ancestry: Vec<Ancestry>,
}

decode!(optional HandoffRequest {
    stages, again, finished, reports, prefix, implementation_base, base_branch, ancestry
});

/// A stage as it stands for the hand-over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HandoffStage {
    /// The stage.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// The commit it ended with; empty where it is not known.
    pub head: String,
    /// Why it cannot be handed over; `null` where it can.
    pub reason: Option<NotEligible>,
    /// The same in words.
    pub why: Option<String>,
}

/// What may be handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HandoffAnswer {
    /// The latest verification of the whole task.
    pub whole_task: Option<WholeTask>,
    /// The stages, in row order.
    pub stages: Vec<HandoffStage>,
    /// The stages that may be handed over, in row order.
    pub eligible: Vec<u32>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// How the chosen stages are put together, and the text of their pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AssembleAnswer {
    /// The chosen stages, in row order.
    pub stages: Vec<u32>,
    /// Whether they are all stages of the plan.
    pub whole: bool,
    /// What to look at first, or what to do.
    pub assembling: Assembling,
    /// The text of the pull request.
    pub pull_request: PullRequestText,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Says which stages may be handed over, and of every other why not.
pub fn hand_over(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HandoffRequest,
) -> Result<Decision<HandoffAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let answer = shown(&mut board, request);
    Ok(board.decided(Vec::new(), answer))
}

/// Plans the collector branch of the chosen stages. Fails with a [`WorktreeRefusal`] where one of
/// them cannot be handed over, or none can.
pub fn assemble(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HandoffRequest,
) -> Result<Decision<AssembleAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let shown = shown(&mut board, request);
    let mut chosen: BTreeSet<u32> = BTreeSet::new();
    for stage in &request.stages {
        chosen.insert(done::meant(&board, Some(*stage))?);
    }
    for it in shown.stages.iter().filter(|it| chosen.contains(&it.stage)) {
        if let Some(why) = it.why.clone() {
            return Err(WorktreeRefusal::NotEligible { stage: it.stage, why }.into());
        }
    }
    if request.stages.is_empty() {
        chosen.extend(&shown.eligible);
    }
    if chosen.is_empty() && !request.finished {
        let line = |it: &HandoffStage| {
            format!("stage {}: {}", it.stage, it.why.as_deref().unwrap_or_default())
        };
        let lines = shown.stages.iter().map(line).collect();
        return Err(WorktreeRefusal::NothingEligible { lines }.into());
    }
    let all = board.hand_over();
    let picked: Vec<HandOverStage> =
        all.iter().filter(|it| chosen.contains(&it.stage)).cloned().collect();
    let whole = picked.len() == all.len();
    let part = |it: &HandOverStage| Part {
        stage: it.stage,
        // Also through stages that are not chosen.
        depends_on: below(&all, it),
        head: it.head.clone(),
    };
    let parts: Vec<Part> = picked.iter().map(part).collect();
    let task_id = task_id(&board);
    let assembling = assembling::assemble(
        &parts,
        &AssembleRequest {
            prefix: &request.prefix,
            task_id: &task_id,
            group: !whole,
            finished: request.finished,
            implementation_base: request.implementation_base.as_deref(),
            base_branch: &request.base_branch,
            ancestry: &request.ancestry,
        },
    )?;
    let report = shown.whole_task.filter(WholeTask::is_accepted).map(|it| it.report_path);
    let pull_request = collector_text(&task_id, &picked, whole, report.as_deref());
    let answer = AssembleAnswer {
        stages: picked.iter().map(|it| it.stage).collect(),
        whole,
        assembling,
        pull_request,
        warnings: board.warnings.clone(),
    };
    Ok(board.decided(Vec::new(), answer))
}

fn shown(board: &mut Board<'_, '_>, request: &HandoffRequest) -> HandoffAnswer {
    let (whole_task, warnings) = latest_whole_task(&request.reports);
    board.warnings.extend(warnings);
    let doc = board.doc;
    let rows = doc.map.rows.iter().enumerate();
    let candidates: Vec<Candidate<'_>> = rows
        .filter_map(|(at, row)| {
            let stage = row.stage?;
            Some(Candidate {
                stage,
                depends_on: doc.dependencies(at),
                cancelled: row.cancelled,
                record: board.state.stage(stage),
            })
        })
        .collect();
    let accepted = whole_task.as_ref().is_some_and(WholeTask::is_accepted);
    let judged = if request.finished {
        eligible::finished(&candidates)
    } else {
        eligible::eligible(&candidates, accepted, request.again)
    };
    let stages: Vec<HandoffStage> = candidates
        .iter()
        .zip(judged)
        .map(|(candidate, it)| HandoffStage {
            stage: it.stage,
            title: board.row(it.stage).map(|row| row.title.clone()).unwrap_or_default(),
            head: candidate
                .record
                .and_then(|record| Some(record.done.as_ref()?.head_commit.clone()))
                .unwrap_or_default(),
            why: it.reason.as_ref().map(NotEligible::words),
            reason: it.reason,
        })
        .collect();
    HandoffAnswer {
        whole_task,
        eligible: stages.iter().filter(|it| it.reason.is_none()).map(|it| it.stage).collect(),
        stages,
        warnings: board.warnings.clone(),
    }
}

/// Everything a stage builds on.
fn below(all: &[HandOverStage], stage: &HandOverStage) -> Vec<u32> {
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let mut open = stage.depends_on.clone();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            let of = all.iter().find(|it| it.stage == next);
            open.extend(of.into_iter().flat_map(|it| &it.depends_on));
        }
    }
    seen.into_iter().collect()
}

/// The id of the task: of its key, else of its folder, else the plan's name.
fn task_id(board: &Board<'_, '_>) -> String {
    let key = board.facts.task_key.as_deref();
    let of_key = key.and_then(|key| layout::task_key_parts(key).ok()).map(|(_, _, id)| id);
    let id = of_key.or(board.layout.task_id.as_deref()).map(str::to_owned);
    id.unwrap_or_else(|| board.impl_task_key())
}
