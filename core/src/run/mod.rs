//! The task bundle: everything a run begins with, as texts for the host to write.
//!
//! A run has three new files (its manifest, the prompt that starts the agent, and for a stage the
//! Stage Map as data) and changes three old ones: the task's manifest, the catalog of tasks, and
//! the note of the latest task. Nothing is written here, so that a preview and a real run render
//! the same way.

mod create;
mod inputs;
mod manifest;
mod prepare;
mod prompt;
pub(crate) mod records;
mod report;

use std::fmt::Write as _;

pub use create::{CreateAnswer, CreateRequest, create};
pub(crate) use inputs::{HANDOFF, Input, model_of, takes};
pub use inputs::{PROGRAMS, RunInputs};
pub use prepare::{RunAnswer, RunRequest, prepare};
pub(crate) use prompt::word;
pub use report::{ReportAnswer, ReportPair, ReportRequest, report_pair, report_paths};
use serde::Serialize;
use thiserror::Error;

use crate::check::parse_plan;
use crate::error::OkstraError;
use crate::json_edit::{JsonFault, quoted, set_all};
use crate::layout::{join, relative_inside, task_folder};
use crate::plan::Plan;

/// The phases of a task, in their order: the values of `task_type`.
pub const PHASES: [&str; 7] = [
    "requirements-discovery",
    "improvement-discovery",
    "error-analysis",
    "implementation-planning",
    "implementation",
    "final-verification",
    "release-handoff",
];

/// The phase that builds stages.
pub(crate) const IMPLEMENTATION: &str = "implementation";

/// The phase that writes plans.
pub(crate) const PLANNING: &str = "implementation-planning";

/// The phase that is recommended behind another. Where requirements lead to is decided by a person
/// (`pending-routing-decision`); behind the last phase, and behind what is no phase, is nothing.
pub fn next_phase(phase: &str) -> &'static str {
    match phase {
        "requirements-discovery" => "pending-routing-decision",
        "improvement-discovery" | "error-analysis" => PLANNING,
        PLANNING => IMPLEMENTATION,
        IMPLEMENTATION => "final-verification",
        "final-verification" => "release-handoff",
        _ => "",
    }
}

/// What a bundle is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleRequest {
    /// One of [`PHASES`].
    pub task_type: String,
    /// The group, as the person gave it.
    pub task_group: String,
    /// The task's id, as the person gave it.
    pub task_id: String,
    /// The project's id.
    pub project_id: String,
    /// The project's folder, absolute.
    pub project_root: String,
    /// The okstra folder of the project, absolute.
    pub okstra_root: String,
    /// The approved plan, relative to the project; a run of `implementation` has to have one.
    pub plan_path: Option<String>,
    /// The time, ISO 8601 with a zone.
    pub now: String,
    /// The number of the run within its folder, from 1; no earlier run has it.
    pub sequence: u32,
    /// The stage: for `implementation`, and only there.
    pub stage: Option<BundleStage>,
    /// The session that leads the run, where it is known.
    pub lead_session: Option<String>,
    /// What the person decided about the run.
    pub inputs: RunInputs,
    /// The text of `task-manifest.json` where it exists.
    pub manifest: Option<String>,
    /// The text of `discovery/task-catalog.json` where it exists.
    pub catalog: Option<String>,
    /// The text of `discovery/latest-task.json` where it exists.
    pub latest: Option<String>,
}

/// The stage a run builds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleStage {
    /// Its number.
    pub stage_number: u32,
    /// Its title in the Stage Map.
    pub title: String,
    /// The stages it depends on.
    pub depends_on: Vec<u32>,
    /// The effective steps.
    pub steps: Vec<BundleStep>,
    /// The Markdown of `Carry-In`.
    pub carry_in: Option<String>,
    /// The Markdown of `Stage Exit Contract`.
    pub exit_contract: Option<String>,
    /// The Markdown of `Stage Validation`.
    pub validation: Option<String>,
    /// What the stages it depends on promise: the Markdown of their `Stage Exit Contract`.
    pub contracts: Vec<DependencyContract>,
    /// What the stages it depends on left.
    pub evidence: Vec<DependencyEvidence>,
    /// The worktree, absolute; `None` in a preview.
    pub worktree: Option<String>,
    /// The branch; `None` in a preview.
    pub branch: Option<String>,
    /// The commit the branch began at; `None` in a preview.
    pub base_commit: Option<String>,
    /// The claim; `None` in a preview.
    pub claim_id: Option<String>,
    /// The whole Stage Map, see [`stage_map`].
    pub stage_map: Vec<StageMapEntry>,
}

/// One step of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleStep {
    /// The text of the `step` cell.
    pub step: String,
    /// The text of the `action` cell.
    pub action: String,
    /// The project-relative paths of the `files` cell.
    pub files: Vec<String>,
    /// The text of the `command` cell.
    pub command: String,
    /// The text of the `expected` cell.
    pub expected: String,
}

/// The exit contract of a stage that another depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyContract {
    /// The stage that promises it.
    pub stage: u32,
    /// The Markdown.
    pub text: String,
}

/// The evidence of a stage that another depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyEvidence {
    /// The stage that left it.
    pub stage: u32,
    /// Its file, relative to the project.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One row of the Stage Map as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageMapEntry {
    /// The stage.
    pub stage_number: u32,
    /// Its title.
    pub title: String,
    /// The stages it depends on, ascending.
    pub depends_on: Vec<u32>,
    /// The announced number of steps; `null` where it is no number.
    pub step_count: Option<u32>,
    /// The exit contract in one line.
    pub exit_contract_summary: String,
}

/// Everything a run begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Bundle {
    /// The folder of the run, absolute.
    pub run_folder: String,
    /// The new files.
    pub files: Vec<BundleFile>,
    /// The change of `task-manifest.json`, or `null`.
    pub manifest: Option<Change>,
    /// The change of `discovery/task-catalog.json`, or `null`.
    pub catalog: Option<Change>,
    /// The change of `discovery/latest-task.json`, or `null`.
    pub latest: Option<Change>,
}

/// A new file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BundleFile {
    /// Its path, absolute.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A change of a file that may exist. It holds only for the text it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Change {
    /// The file, absolute.
    pub path: String,
    /// The text it was made from, or `null` where there was no file.
    pub before: Option<String>,
    /// The text it gets.
    pub text: String,
}

/// Why a bundle cannot be made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleError {
    /// The task type is none of [`PHASES`].
    #[error("there is no task type '{task_type}'; it is one of {}", PHASES.join(", "))]
    UnknownTaskType {
        /// What was given.
        task_type: String,
    },
    /// A run of `implementation` without a stage.
    #[error("--task-type implementation needs a stage")]
    MissingStage,
    /// A run of `implementation` without a plan.
    #[error("--task-type implementation needs an approved plan")]
    MissingPlan,
    /// A stage for another phase.
    #[error("--stage is only meaningful with --task-type implementation; got {task_type}")]
    StageNotMeant {
        /// The phase.
        task_type: String,
    },
    /// A decision about the run that the phase has no use for, or that is no value.
    #[error("{0}")]
    BadInput(String),
    /// A file that is there is not the JSON it has to be. It is left as it is.
    #[error("{path}:{line}:{column}: not usable as JSON: {reason}")]
    Json {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong.
        reason: String,
    },
    /// The task's folder belongs to a task with another key: two ids can have one folder name.
    #[error("{path} belongs to the task '{found}', not to '{wanted}'")]
    OtherTask {
        /// The manifest.
        path: String,
        /// The key in it.
        found: String,
        /// The key of the request.
        wanted: String,
    },
}

impl BundleError {
    pub(crate) fn json(path: &str, fault: JsonFault) -> Self {
        Self::Json {
            path: path.to_owned(),
            line: fault.line,
            column: fault.column,
            reason: fault.reason,
        }
    }
}

/// The Stage Map of a plan, without the cancelled rows and those whose number cannot be read.
pub fn stage_map(source: &[u8]) -> Result<Vec<StageMapEntry>, OkstraError> {
    Ok(map_of(&parse_plan(source)?))
}

/// What a plan says about a stage; `None` where it has no such stage or cancelled it. The evidence,
/// the worktree and the claim are left for the caller.
pub fn stage_of_plan(source: &[u8], stage_number: u32) -> Result<Option<BundleStage>, OkstraError> {
    let plan = parse_plan(source)?;
    let stage_map = map_of(&plan);
    let contracts: Vec<DependencyContract> = plan
        .stages
        .iter()
        .filter_map(|stage| {
            let text = stage.section.as_ref()?.exit_contract.clone()?;
            Some(DependencyContract { stage: stage.stage_number?, text })
        })
        .collect();
    let mut stages = plan.stages.into_iter();
    let is_it =
        |stage: &crate::plan::Stage| stage.stage_number == Some(stage_number) && !stage.cancelled;
    let Some(stage) = stages.find(is_it) else {
        return Ok(None);
    };
    let mut found = BundleStage {
        stage_number,
        title: stage.title,
        contracts: contracts
            .into_iter()
            .filter(|contract| stage.depends_on.contains(&contract.stage))
            .collect(),
        depends_on: stage.depends_on,
        stage_map,
        ..BundleStage::default()
    };
    if let Some(section) = stage.section {
        found.carry_in = section.carry_in;
        found.exit_contract = section.exit_contract;
        found.validation = section.validation;
        for step in section.steps {
            found.steps.push(BundleStep {
                step: step.step,
                action: step.action,
                files: step.files,
                command: step.command,
                expected: step.expected,
            });
        }
    }
    Ok(Some(found))
}

fn map_of(plan: &Plan) -> Vec<StageMapEntry> {
    let mut entries = Vec::new();
    for stage in plan.stages.iter().filter(|stage| !stage.cancelled) {
        if let Some(stage_number) = stage.stage_number {
            entries.push(StageMapEntry {
                stage_number,
                title: stage.title.clone(),
                depends_on: stage.depends_on.clone(),
                step_count: stage.step_count,
                exit_contract_summary: stage.exit_contract_summary.clone(),
            });
        }
    }
    entries
}

/// The places of a run. The short paths are relative to the project where it holds them.
struct Places<'a> {
    task_key: String,
    task_root: String,
    run: String,
    /// `<task-type>-<seq>`, which the names of the run's files end with.
    suffix: String,
    project_root: &'a str,
}

impl<'a> Places<'a> {
    fn new(request: &'a BundleRequest) -> Self {
        let BundleRequest { project_id, task_group, task_id, task_type, .. } = request;
        let task_root = task_folder(&request.okstra_root, task_group, task_id);
        let mut run = join(&task_root, &format!("runs/{task_type}"));
        if let Some(stage) = &request.stage {
            run = join(&run, &format!("stage-{}", stage.stage_number));
        }
        Self {
            task_key: format!("{project_id}:{task_group}:{task_id}"),
            task_root,
            run,
            suffix: format!("{task_type}-{:03}", request.sequence),
            project_root: &request.project_root,
        }
    }

    fn run_manifest(&self) -> String {
        join(&self.run, &format!("manifests/run-manifest-{}.json", self.suffix))
    }

    fn prompt(&self) -> String {
        join(&self.run, &format!("prompts/launch-prompt-{}.md", self.suffix))
    }

    fn report(&self) -> String {
        join(&self.run, &format!("reports/final-report-{}.md", self.suffix))
    }

    fn worker_result(&self) -> String {
        join(&self.run, &format!("worker-results/worker-result-{}.md", self.suffix))
    }

    fn stage_map(&self, sequence: u32) -> String {
        join(&self.run, &format!("state/stage-map-{sequence:03}.json"))
    }

    /// A path as records have it: they survive a project that is moved.
    fn short(&self, path: &str) -> String {
        relative_inside(self.project_root, path).unwrap_or_else(|| path.to_owned())
    }
}

/// Renders the bundle of a run.
///
/// A stage's run has its own folder, `runs/implementation/stage-<N>`, and any other phase
/// `runs/<task-type>`. Files of the task that exist are edited, never made anew: what they hold
/// beside the fields of okstra stays byte for byte, and one that cannot be read is an error.
pub fn bundle(request: &BundleRequest) -> Result<Bundle, BundleError> {
    let task_type = request.task_type.as_str();
    if !PHASES.contains(&task_type) {
        return Err(BundleError::UnknownTaskType { task_type: task_type.to_owned() });
    }
    if task_type == IMPLEMENTATION {
        if request.stage.is_none() {
            return Err(BundleError::MissingStage);
        }
        if request.plan_path.is_none() {
            return Err(BundleError::MissingPlan);
        }
    } else if request.stage.is_some() {
        return Err(BundleError::StageNotMeant { task_type: task_type.to_owned() });
    }
    request.inputs.check(task_type)?;
    let places = Places::new(request);
    let [manifest, catalog, latest] = manifest::changes(request, &places)?;
    let mut files = vec![
        BundleFile {
            path: places.run_manifest(),
            text: manifest::of_run(request, &places)
                .map_err(|fault| BundleError::json(&places.run_manifest(), fault))?,
        },
        BundleFile { path: places.prompt(), text: prompt::write(request, &places) },
    ];
    if let Some(stage) = &request.stage {
        files.push(BundleFile {
            path: places.stage_map(request.sequence),
            text: stage_map_json(&stage.stage_map),
        });
    }
    Ok(Bundle { run_folder: places.run, files, manifest, catalog, latest })
}

/// The Stage Map as a JSON list with one stage a line, so that two of them compare line by line.
fn stage_map_json(entries: &[StageMapEntry]) -> String {
    let mut text = String::from("[");
    for (at, entry) in entries.iter().enumerate() {
        let depends_on: Vec<String> = entry.depends_on.iter().map(u32::to_string).collect();
        let steps = entry.step_count.map_or_else(|| "null".to_owned(), |count| count.to_string());
        text += if at == 0 { "\n" } else { ",\n" };
        let _ = write!(
            text,
            "  {{\"stage_number\": {}, \"title\": {}, \"depends_on\": [{}], \"step_count\": {steps}, \
             \"exit_contract_summary\": {}}}",
            entry.stage_number,
            quoted(&entry.title),
            depends_on.join(", "),
            quoted(&entry.exit_contract_summary),
        );
    }
    text + if entries.is_empty() { "]\n" } else { "\n]\n" }
}
