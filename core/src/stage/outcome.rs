//! Whether an implementation is complete, and what the task's records have to say then.

use serde::Serialize;

use super::board::{self, Board};
use super::effect::{Decision, Effect};
use super::facts::Facts;
use super::stale::Stale;
use crate::check::{self, CheckOptions};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::finding::Severity;
use crate::layout;
use crate::ledger::StageRecord;
use crate::plan::Document;
use crate::render::finding_line;
use crate::rules;
use crate::run::records::{self, Completed, Records};
use crate::run::{IMPLEMENTATION, next_phase};

/// The records of the task, and what lies in its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct OutcomeRequest {
    /// The absolute path of the task's folder; missing for a plan that belongs to no task. Such a
    /// plan has no phases: its outcome depends on its stages alone.
    pub task_root: Option<String>,
    /// The absolute path of the project's folder of okstra.
    pub okstra_root: String,
    /// Whether `runs/implementation-planning` is there.
    pub planning: bool,
    /// The text of `task-manifest.json` where it exists.
    pub manifest: Option<String>,
    /// The text of `discovery/task-catalog.json` where it exists.
    pub catalog: Option<String>,
    /// The names of the reports of stages, as paths below `runs/implementation`.
    pub reports: Vec<String>,
    /// Whether to record a completed outcome.
    pub reconcile: bool,
}

decode!(optional OutcomeRequest { task_root, okstra_root, planning, manifest, catalog, reports, reconcile });

/// Why an implementation is complete or not: the first condition that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum OutcomeReason {
    /// Every condition holds.
    Complete,
    /// `workflow.currentPhase` of the manifest is another one, or missing.
    NotInImplementation,
    /// The folder of the planning's runs is missing.
    NoPlanningRoot,
    /// The plan is missing, has no Stage Map, or has errors.
    NoStageMap,
    /// A stage is not done, or there is none.
    NotAllDone,
    /// A done stage has no evidence that can be read.
    EvidenceMissing,
    /// The evidence of a done stage says that it did not pass.
    EvidenceFailed,
}

impl OutcomeReason {
    /// The reason in the words that the records carry.
    pub fn words(self) -> &'static str {
        match self {
            Self::Complete => "all implementation stages have pass-grade carry and done rows",
            Self::NotInImplementation => "current phase is not implementation",
            Self::NoPlanningRoot => "implementation-planning run root missing",
            Self::NoStageMap => "stage map unavailable",
            Self::NotAllDone => "not all stages are done",
            Self::EvidenceMissing => "carry sidecar missing",
            Self::EvidenceFailed => "carry sidecar is not pass-grade",
        }
    }
}

/// What a stage's evidence is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum EvidenceGrade {
    /// It says that the stage passed.
    Pass,
    /// It says that the stage did not.
    Failed,
    /// It cannot be used: no JSON, or evidence of another stage or plan.
    Unusable,
    /// There is none.
    Missing,
}

/// A stage that has to be done, and what it has and lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageOutcome {
    /// The stage.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// Whether it is started and not given back.
    pub started: bool,
    /// Whether the ledger has a `done` row of it.
    pub done: bool,
    /// Its evidence.
    pub evidence: EvidenceGrade,
    /// Why the evidence is no pass; `null` where it is, and where there is none.
    pub why: Option<String>,
    /// Where its evidence lies or will lie.
    pub carry_path: String,
    /// The commit it ended with.
    pub head: Option<String>,
    /// Why its evidence is not true any more, and who built on it; `null` where it is. It does not
    /// keep an implementation from being complete: whether the stage is built again is decided by
    /// people.
    pub stale: Option<Stale>,
}

/// The outcome of an implementation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OutcomeAnswer {
    /// Whether it is complete.
    pub completed: bool,
    /// Why, or why not.
    pub code: OutcomeReason,
    /// The same in words.
    pub reason: String,
    /// The stages that the reason is about, ascending; none where it is not about stages.
    pub lacking: Vec<u32>,
    /// The key of the task, as its manifest says.
    pub task_key: Option<String>,
    /// The phase the task is in.
    pub phase: Option<String>,
    /// The plan, relative to the project where it can be; `null` where none was found.
    pub plan_path: Option<String>,
    /// The errors of the plan, one line each.
    pub plan_errors: Vec<String>,
    /// Every stage that has to be done, ascending; cancelled ones are none of them.
    pub stages: Vec<StageOutcome>,
    /// The commit that the last stage ended with; empty where it is not complete or not known.
    pub head_commit: String,
    /// The latest report of a stage, relative to the project; empty where it is not complete or
    /// there is none.
    pub report_path: String,
    /// The phase that comes next; empty where it is not complete.
    pub next_phase: String,
    /// Whether the task's records changed.
    pub recorded: bool,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Derives whether an implementation is complete, and records it where that is asked for and true.
///
/// It is complete where the task is in its implementation, its planning is there, the Stage Map can
/// be read and has no errors, every stage that is not cancelled is done, and every one of them has
/// pass-grade evidence. Rows lost in a crash are restored first. `plan` is empty where no plan was
/// found.
///
/// Records are the task's manifest and its entry in the catalog. They are changed together, only
/// where something is new, and everything they hold besides keeps its bytes. A record that is no
/// JSON is an error that says where.
pub fn outcome(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &OutcomeRequest,
) -> Result<Decision<OutcomeAnswer>, OkstraError> {
    let records = Records::read(
        request.task_root.as_deref(),
        &request.okstra_root,
        request.manifest.as_deref(),
        request.catalog.as_deref(),
    )?;
    records.belong_to(facts.task_key.as_deref())?;
    let mut answer = OutcomeAnswer {
        completed: false,
        code: OutcomeReason::NoStageMap,
        reason: String::new(),
        lacking: Vec::new(),
        task_key: records.task_key().or_else(|| facts.task_key.clone()),
        phase: records.phase(),
        plan_path: None,
        plan_errors: Vec::new(),
        stages: Vec::new(),
        head_commit: String::new(),
        report_path: String::new(),
        next_phase: String::new(),
        recorded: false,
        warnings: Vec::new(),
    };
    let doc = if facts.plan.is_empty() { None } else { Some(board::document(plan)?) };
    let board = match &doc {
        Some(doc) => {
            answer.plan_errors = errors(doc)?;
            // Without one Stage Map there is nothing that rows and evidence could belong to.
            if doc.maps.len() == 1 { Some(Board::new(doc, ledger, facts)?) } else { None }
        }
        None => None,
    };
    if let Some(board) = &board {
        answer.stages = stages(board);
        answer.warnings.clone_from(&board.warnings);
    }
    if !facts.plan.is_empty() {
        let layout = layout::plan_layout(&facts.plan, facts.project_root.as_deref());
        answer.plan_path = Some(layout.plan_path);
    }
    (answer.code, answer.lacking) = judge(&answer, board.is_some(), request);
    answer.code.words().clone_into(&mut answer.reason);
    answer.completed = answer.code == OutcomeReason::Complete;
    let mut effects = Vec::new();
    if answer.completed {
        let last = answer.stages.last();
        answer.head_commit = last.and_then(|last| last.head.clone()).unwrap_or_default();
        answer.report_path = latest_report(facts, request);
        next_phase(IMPLEMENTATION).clone_into(&mut answer.next_phase);
        if request.reconcile {
            effects = record(&records, &mut answer, request)?;
        }
    } else if records.says_completed() {
        let warning = format!("the task's manifest says completed, but {}", answer.reason);
        answer.warnings.push(warning);
    }
    answer.recorded = !effects.is_empty();
    Ok(match board {
        Some(board) => match board.decided(Vec::new(), answer) {
            Decision::Decided { effects: mut rows, answer, .. } => {
                // First what was lost, then what follows from it.
                rows.extend(effects);
                let warnings = answer.warnings.clone();
                Decision::Decided { effects: rows, answer, warnings }
            }
            needs @ Decision::Needs { .. } => needs,
        },
        None => Decision::Decided { effects, warnings: answer.warnings.clone(), answer },
    })
}

/// The errors of a plan, as a check lists them.
fn errors(doc: &Document<'_>) -> Result<Vec<String>, OkstraError> {
    let options = CheckOptions::default();
    if doc.maps.len() == 1 && check::checker(doc, options)?.run_errors().is_empty() {
        return Ok(Vec::new());
    }
    let drafts = check::checker(doc, options)?.run();
    let errors =
        drafts.iter().filter(|draft| rules::severity(draft.code, options) == Severity::Error);
    Ok(errors.map(|draft| finding_line(draft.code, draft.stage, &draft.message)).collect())
}

/// The stages that have to be done, ascending.
fn stages(board: &Board<'_, '_>) -> Vec<StageOutcome> {
    let rows = board.doc.map.rows.iter().filter(|row| !row.cancelled);
    let mut numbers: Vec<u32> = rows.filter_map(|row| row.stage).collect();
    crate::order::sort(&mut numbers);
    numbers.dedup();
    numbers.into_iter().map(|stage| of_stage(board, stage)).collect()
}

fn of_stage(board: &Board<'_, '_>, stage: u32) -> StageOutcome {
    let record = board.state.stage(stage);
    let done = record.and_then(|record| record.done.as_ref());
    let sidecar = board.sidecars.get(stage);
    let (evidence, why) = match (sidecar.map(evidence_grade), board.unusable.get(stage)) {
        (Some(Ok(())), _) => (EvidenceGrade::Pass, None),
        (Some(Err(why)), _) => (EvidenceGrade::Failed, Some(why)),
        (None, Some(why)) => (EvidenceGrade::Unusable, Some(why.clone())),
        (None, None) => (EvidenceGrade::Missing, None),
    };
    let head = done.map(|done| done.head_commit.as_str()).filter(|head| !head.is_empty());
    let named = || sidecar.and_then(|sidecar| sidecar.head());
    StageOutcome {
        stage,
        title: board.row(stage).map(|row| row.title.clone()).unwrap_or_default(),
        started: record.and_then(StageRecord::holder).is_some(),
        done: done.is_some(),
        evidence,
        why,
        carry_path: board.carry_path(stage),
        head: head.or_else(named).map(str::to_owned),
        stale: board.stale_of(stage).cloned(),
    }
}

fn evidence_grade(sidecar: &crate::evidence::Sidecar) -> Result<(), String> {
    sidecar.pass_grade()
}

/// The first condition that does not hold, and the stages it is about.
fn judge(
    answer: &OutcomeAnswer,
    has_map: bool,
    request: &OutcomeRequest,
) -> (OutcomeReason, Vec<u32>) {
    let of = |lacks: &dyn Fn(&StageOutcome) -> bool| -> Vec<u32> {
        answer.stages.iter().filter(|stage| lacks(stage)).map(|stage| stage.stage).collect()
    };
    if request.task_root.is_some() {
        if answer.phase.as_deref() != Some(IMPLEMENTATION) {
            return (OutcomeReason::NotInImplementation, Vec::new());
        }
        if !request.planning {
            return (OutcomeReason::NoPlanningRoot, Vec::new());
        }
    }
    if !has_map || !answer.plan_errors.is_empty() {
        return (OutcomeReason::NoStageMap, Vec::new());
    }
    let open = of(&|stage| !stage.done);
    if answer.stages.is_empty() || !open.is_empty() {
        return (OutcomeReason::NotAllDone, open);
    }
    let without =
        of(&|stage| matches!(stage.evidence, EvidenceGrade::Missing | EvidenceGrade::Unusable));
    if !without.is_empty() {
        return (OutcomeReason::EvidenceMissing, without);
    }
    let failed = of(&|stage| stage.evidence == EvidenceGrade::Failed);
    if !failed.is_empty() {
        return (OutcomeReason::EvidenceFailed, failed);
    }
    (OutcomeReason::Complete, Vec::new())
}

/// The latest report of a stage, relative to the project; empty where there is none. Stages and
/// numbers are compared as numbers: the report of stage 10 is later than that of stage 2.
fn latest_report(facts: &Facts, request: &OutcomeRequest) -> String {
    let (Some(root), Some(task)) = (&facts.project_root, &request.task_root) else {
        return String::new();
    };
    let prefix = format!("final-report-{IMPLEMENTATION}-");
    let is_report = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with(&prefix) && layout::report_sequence(name).is_some()
    };
    let reports = request.reports.iter().filter(is_report);
    let latest = reports.max_by(|a, b| layout::compare_reports(a, b));
    latest
        .and_then(|latest| {
            let whole = layout::join(task, &format!("runs/{IMPLEMENTATION}/{latest}"));
            layout::relative_inside(root, &whole)
        })
        .unwrap_or_default()
}

/// The changes of the records.
fn record(
    records: &Records,
    answer: &mut OutcomeAnswer,
    request: &OutcomeRequest,
) -> Result<Vec<Effect>, OkstraError> {
    if request.task_root.is_none() {
        let words = "the plan belongs to no task, so there are no records to change";
        answer.warnings.push(words.to_owned());
        return Ok(Vec::new());
    }
    let stages: Vec<u32> = answer.stages.iter().map(|stage| stage.stage).collect();
    let task_key = answer.task_key.clone();
    let completed = Completed {
        task_key: task_key.as_deref(),
        stages: &stages,
        head_commit: &answer.head_commit,
        report_path: &answer.report_path,
        reason: &answer.reason,
    };
    let (changes, warning) = records::complete(records, &completed)?;
    answer.warnings.extend(warning);
    let effect = |change: crate::run::Change| Effect::Replace {
        path: change.path,
        text: change.text,
        if_unchanged: change.before,
    };
    Ok(changes.into_iter().map(effect).collect())
}
