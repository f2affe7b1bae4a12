//! Where a plan stands for one session: what hooks look at.

use std::collections::BTreeMap;

use super::board::{self, Board};
use super::effect::Decision;
use super::facts::Facts;
use crate::choose::{self, Explanation, Order};
use crate::claims::{self, Fence, Life, ProcessState};
use crate::error::OkstraError;
use crate::layout::{self, PlanLayout};
use crate::ledger::state::LedgerState;
use crate::ledger::write::ReleasedRow;
use crate::ledger::{Claim, Released, Status};
use crate::numbers::Numbers;
use crate::plan::Document;
use crate::printable::printable;

/// A stage that somebody builds.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// Its number.
    pub(crate) stage: u32,
    /// The claim that holds it.
    pub(crate) claim: Claim,
    /// Whether that is the calling session's.
    pub(crate) own: bool,
    /// Whether its session still works; only with [`Depth::Overview`], and of other sessions.
    pub(crate) life: Option<Life>,
    /// The files its steps name, relative to the project.
    pub(crate) files: Vec<String>,
}

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What is running.
    Running,
    /// Also what is ready, what waits, and whether the sessions still work.
    Overview,
}

/// Where a plan stands.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    /// Where its things lie.
    pub(crate) layout: PlanLayout,
    /// The stages that somebody builds, ascending.
    pub(crate) running: Vec<Running>,
    /// Every stage, in row order; only with [`Depth::Overview`].
    pub(crate) stages: Vec<Explanation>,
    /// The stages that are done.
    pub(crate) done: Numbers,
    /// The titles of the stages.
    pub(crate) titles: BTreeMap<u32, String>,
    /// The claims of the calling session that were taken from it or ended with it, on stages that
    /// are still to be built.
    pub(crate) lost: Vec<(u32, Released)>,
    /// Why nothing can be claimed; only with [`Depth::Overview`].
    pub(crate) unclaimable: Option<String>,
}

impl Survey {
    /// The stages that the calling session builds.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Running> {
        self.running.iter().filter(|it| it.own)
    }

    /// A stage with its title.
    pub(crate) fn named(&self, stage: u32) -> String {
        match self.titles.get(&stage) {
            Some(title) => format!("{stage} '{}'", crate::printable::excerpt(title, 80)),
            None => stage.to_string(),
        }
    }
}

/// Looks at a plan for the calling session. Nothing is refused and nothing is changed; where rows
/// were lost in a crash, the answer knows of them.
pub(crate) fn survey(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    depth: Depth,
) -> Result<Decision<Survey>, OkstraError> {
    let doc = board::document(plan)?;
    let board = Board::new(&doc, ledger, facts)?;
    let overview = depth == Depth::Overview;
    // The session that asks works, whatever its process looks like.
    if overview && let Some(needs) = board.needs_of(|claim| !is_own(facts, claim)) {
        return Ok(needs);
    }
    let mut answer = seen(&doc, &board.state, facts, board.layout.clone());
    if overview {
        for it in answer.running.iter_mut().filter(|it| !it.own) {
            it.life = Some(board.view(&it.claim).life);
        }
        answer.stages = choose::overview(&board.choose_request("auto", Order::Number));
        answer.unclaimable = board::valid(&doc).err().map(|error| {
            let info = error.info();
            info.details.lines.and_then(|lines| lines.into_iter().next()).unwrap_or(info.message)
        });
    }
    Ok(Decision::Decided { effects: Vec::new(), answer, warnings: board.warnings })
}

/// What is running, from plan and ledger alone: for whoever asks at every edit. Evidence whose row
/// was lost in a crash counts for nothing here.
pub(crate) fn glance(plan: &[u8], ledger: &[u8], facts: &Facts) -> Result<Survey, OkstraError> {
    let doc = board::document(plan)?;
    let layout = layout::without_lock(&facts.plan, facts.project_root.as_deref());
    Ok(seen(&doc, &LedgerState::read(ledger), facts, layout))
}

fn seen(doc: &Document<'_>, state: &LedgerState, facts: &Facts, layout: PlanLayout) -> Survey {
    let files = |stage| {
        let row = doc.map.rows.get(doc.row_of.get(stage)?)?;
        Some(board::files_of(doc.section(row)).into_iter().map(str::to_owned).collect())
    };
    let running = state.holders().map(|claim| Running {
        stage: claim.stage,
        own: is_own(facts, claim),
        life: None,
        files: files(claim.stage).unwrap_or_default(),
        claim: claim.clone(),
    });
    let rows = doc.map.rows.iter();
    let session = facts.caller.session.as_deref();
    let open = state.stages.iter().filter(|(_, it)| it.done.is_none() && it.holder().is_none());
    let lost = open.filter_map(|(stage, record)| {
        let last = record.released.last()?;
        (session.is_some() && last.session.as_deref() == session).then(|| (*stage, last.clone()))
    });
    Survey {
        layout,
        running: running.collect(),
        stages: Vec::new(),
        done: state.done(),
        titles: rows.filter_map(|row| Some((row.stage?, row.title.clone()))).collect(),
        lost: lost.collect(),
        unclaimable: None,
    }
}

/// Whether a claim is the caller's beyond doubt: a row that names nobody is nobody's here.
fn is_own(facts: &Facts, claim: &Claim) -> bool {
    let caller = &facts.caller;
    let named = caller.claim_id.is_some() || claims::is_of_session(caller, claim);
    named && claims::fence(caller, claim) == Fence::Own
}

/// Gives back every stage the calling session still builds, as the session ends.
///
/// A session that was resumed twice, or forked by a client that keeps its name, runs in two
/// processes; what the other one works on stays its own.
pub(crate) fn release_own(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    reason: &str,
) -> Result<Decision<Vec<u32>>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let caller = &facts.caller;
    let elsewhere =
        |claim: &Claim| claim.host == caller.host && claim.pid.is_some() && claim.pid != caller.pid;
    let holders = board.state.stages.values().filter_map(|record| record.holder());
    let own: Vec<Claim> = holders.filter(|claim| is_own(facts, claim)).cloned().collect();
    if own.iter().any(elsewhere)
        && let Some(needs) = board.needs()
    {
        return Ok(needs);
    }
    let lives_elsewhere = |claim: &Claim| {
        let seen = facts.sightings.iter().flat_map(|it| &it.processes);
        elsewhere(claim)
            && seen.into_iter().any(|process| {
                Some(process.pid) == claim.pid
                    && process.pid_start == claim.pid_start
                    && process.state == ProcessState::Alive
            })
    };
    let reason = printable(reason).into_owned();
    let mut ended = Vec::new();
    for claim in own.iter().filter(|claim| !lives_elsewhere(claim)) {
        let row = ReleasedRow {
            impl_task_key: &claim.impl_task_key,
            stage: claim.stage,
            status: Status::Released.as_str(),
            released_at: &facts.now,
            reason: &reason,
            claim_id: claim.claim_id.as_deref(),
        };
        let Board { state, rows, .. } = &mut board;
        if rows.add(state, &row, true) {
            ended.push(claim.stage);
        }
    }
    Ok(board.decided(Vec::new(), ended))
}
