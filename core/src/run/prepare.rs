//! Preparing a run: the one function behind every front.

use serde::Serialize;

use super::{
    Bundle, BundleRequest, BundleStage, Change, DependencyEvidence, IMPLEMENTATION, RunInputs,
    bundle, stage_of_plan,
};
use crate::choose::Refusal;
use crate::decode::decode;
use crate::error::OkstraError;
use crate::layout;
use crate::printable::printable;
use crate::stage::{
    self, ClaimAnswer, ClaimRequest, Decision, Effect, Facts, StageRefusal, task_carry_path,
};

/// What to prepare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct RunRequest {
    /// One of [`super::PHASES`].
    pub task_type: String,
    /// The group of the task.
    pub task_group: String,
    /// The id of the task.
    pub task_id: String,
    /// The id of the project.
    pub project_id: String,
    /// The absolute path of the project's folder.
    pub project_root: String,
    /// The absolute path of the project's folder of okstra.
    pub okstra_root: String,
    /// What to claim; only for an implementation. Its `stage` is `auto` elsewhere.
    pub claim: ClaimRequest,
    /// Whether only to choose and print: then nothing is claimed and nothing written.
    pub render_only: bool,
    /// Whether the claim comes with a worktree of its own, which a preview does not make.
    pub own_worktree: bool,
    /// What the person decided about the run.
    pub inputs: RunInputs,
    /// The files of earlier runs of this phase, as paths below `runs`, for the next number.
    pub known: Vec<String>,
    /// The text of `task-manifest.json` where it exists.
    pub manifest: Option<String>,
    /// The text of `discovery/task-catalog.json` where it exists.
    pub catalog: Option<String>,
    /// The text of `discovery/latest-task.json` where it exists.
    pub latest: Option<String>,
}

decode!(optional RunRequest { task_type, task_group, task_id, project_id, project_root, okstra_root, claim, render_only, own_worktree, inputs, known, manifest, catalog, latest });

/// A prepared run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunAnswer {
    /// The claimed or chosen stage; `null` for a phase without stages.
    pub stage: Option<u32>,
    /// The claim; `null` for a phase without stages. In a preview its `claim_id` is `null`.
    pub claim: Option<ClaimAnswer>,
    /// The number of the run.
    pub sequence: u32,
    /// The files of the task bundle and what becomes of the task's records.
    pub bundle: Bundle,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Checks the plan, chooses and claims the stage, renders the task bundle and updates the records
/// of the task. The files come first, then the claim, then the records: a run that fails half-way
/// has claimed nothing.
///
/// The plan is empty for a phase that has none. Fails with a [`StageRefusal`] or a
/// [`super::BundleError`].
pub fn prepare(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &RunRequest,
) -> Result<Decision<RunAnswer>, OkstraError> {
    let is_implementation = request.task_type == IMPLEMENTATION;
    if !is_implementation && request.claim.stage != "auto" {
        let task_type = request.task_type.clone();
        let reason = Refusal::NotImplementation { task_type };
        return Err(StageRefusal::Choose { reason, help: None }.into());
    }
    request.inputs.check(&request.task_type)?;
    belongs_to_task(facts, request)?;
    let mut effects = Vec::new();
    let mut claimed = None;
    let mut warnings = Vec::new();
    let mut folder = request.task_type.clone();
    let mut built = None;
    if is_implementation && !facts.plan.is_empty() {
        match stage::claim(plan, ledger, facts, &request.claim)? {
            Decision::Needs { needs } => return Ok(Decision::Needs { needs }),
            Decision::Decided { effects: rows, mut answer, warnings: said } => {
                if request.render_only && !answer.already_held {
                    answer.claim_id = None;
                }
                folder = format!("{IMPLEMENTATION}/stage-{}", answer.brief.stage);
                built = Some(bundle_stage(plan, &answer, request)?);
                effects = rows;
                warnings = said;
                claimed = Some(answer);
            }
        }
    }
    let sequence = next_sequence(&request.known, &folder, &request.task_type);
    let plan_path = (!facts.plan.is_empty())
        .then(|| layout::plan_layout(&facts.plan, facts.project_root.as_deref()).plan_path);
    if !is_implementation && plan_path.is_some() {
        stage::valid_plan(plan)?;
    }
    let bundle = bundle(&BundleRequest {
        task_type: request.task_type.clone(),
        task_group: request.task_group.clone(),
        task_id: request.task_id.clone(),
        project_id: request.project_id.clone(),
        project_root: request.project_root.clone(),
        okstra_root: request.okstra_root.clone(),
        plan_path,
        now: facts.now.clone(),
        sequence,
        stage: built,
        lead_session: facts.caller.session.clone(),
        inputs: request.inputs.clone(),
        manifest: request.manifest.clone(),
        catalog: request.catalog.clone(),
        latest: request.latest.clone(),
    })?;
    if request.render_only {
        effects.clear();
    } else {
        let files = bundle
            .files
            .iter()
            .map(|file| Effect::WriteNew { path: file.path.clone(), text: file.text.clone() });
        effects.splice(0..0, files);
        effects.extend(
            [&bundle.manifest, &bundle.catalog, &bundle.latest].into_iter().flatten().map(replace),
        );
    }
    let stage = claimed.as_ref().map(|claim| claim.brief.stage);
    let answer = RunAnswer { stage, claim: claimed, sequence, bundle, warnings: warnings.clone() };
    Ok(Decision::Decided { effects, answer, warnings })
}

fn replace(change: &Change) -> Effect {
    Effect::Replace {
        path: change.path.clone(),
        text: change.text.clone(),
        if_unchanged: change.before.clone(),
    }
}

/// Refuses the plan of another task.
fn belongs_to_task(facts: &Facts, request: &RunRequest) -> Result<(), OkstraError> {
    let root = layout::plan_layout(&facts.plan, None).task_root;
    let task = layout::task_folder(&request.okstra_root, &request.task_group, &request.task_id);
    match root.filter(|root| layout::is_of_other_task(Some(root), &task)) {
        Some(other) => Err(StageRefusal::BadArgument(format!(
            "the plan belongs to another task, the one in {}",
            printable(&other)
        ))
        .into()),
        None => Ok(()),
    }
}

/// The stage of a bundle from its claim.
fn bundle_stage(
    plan: &[u8],
    claim: &ClaimAnswer,
    request: &RunRequest,
) -> Result<BundleStage, OkstraError> {
    let mut stage = stage_of_plan(plan, claim.brief.stage)?.unwrap_or_default();
    // A preview makes no worktree; only without one the project's folder is worked in.
    let is_unmade = request.render_only && request.own_worktree;
    let folder = (!is_unmade).then(|| request.project_root.clone());
    stage.worktree = claim.worktree.clone().or(folder);
    if claim.worktree.is_some() || !is_unmade {
        stage.branch.clone_from(&claim.branch);
    }
    stage.base_commit.clone_from(&claim.base_commit);
    stage.claim_id.clone_from(&claim.claim_id);
    stage.evidence = claim
        .brief
        .carry_in
        .iter()
        .filter_map(|carry| {
            let text = serde_json::to_string_pretty(carry.evidence.as_ref()?).ok()?;
            let path = task_carry_path(&claim.brief.carry_path, carry.stage);
            Some(DependencyEvidence { stage: carry.stage, path, text })
        })
        .collect();
    Ok(stage)
}

/// The number behind the highest that any file of this folder has: a report, a prompt or a result of
/// an older tool counts as well as a manifest.
pub(super) fn next_sequence(known: &[String], folder: &str, task_type: &str) -> u32 {
    let number = |path: &String| {
        let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
        let (_, name) = rest.split_once('/').filter(|(_, name)| !name.contains('/'))?;
        let stem = name.split('.').next()?;
        let (kind, digits) = stem.rsplit_once('-')?;
        let of_phase = kind.ends_with(task_type) || kind == "stage-map";
        digits.parse::<u32>().ok().filter(|_| of_phase)
    };
    known.iter().filter_map(number).max().unwrap_or(0).saturating_add(1)
}
