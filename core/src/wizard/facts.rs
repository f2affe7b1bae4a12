//! What the host has looked at for the wizard.

use serde::Serialize;

use crate::decode::decode;

/// What is known so far. The wizard says what it has to know beside it (`needs`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardFacts {
    /// Projects, and folders that may be some.
    pub projects: Vec<WizardProject>,
    /// The tasks of projects.
    pub tasks: Vec<WizardTasks>,
    /// The branches of projects.
    pub branches: Vec<WizardBranches>,
    /// The plans of tasks.
    pub plans: Vec<WizardPlans>,
    /// The stages of plans.
    pub stages: Vec<WizardStages>,
    /// Files that somebody named.
    pub files: Vec<WizardFile>,
}

decode!(optional WizardFacts { projects, tasks, branches, plans, stages, files });

/// A folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardProject {
    /// What was asked about; empty for a project that is proposed.
    pub asked: String,
    /// The real absolute path, with `/`.
    pub root: String,
    /// The project's id, where it has one.
    pub id: Option<String>,
    /// Whether the folder is there.
    pub there: bool,
    /// Its folder of okstra.
    pub okstra_root: String,
}

decode!(WizardProject { asked, root, id, there, okstra_root });

/// The tasks of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardTasks {
    /// The project's folder.
    pub root: String,
    /// Its tasks.
    pub tasks: Vec<WizardTask>,
}

decode!(WizardTasks { root, tasks });

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardTask {
    /// `project:group:id`.
    pub task_key: String,
    /// Its title.
    pub title: Option<String>,
    /// Its phase.
    pub phase: Option<String>,
    /// The phase that is recommended behind it.
    pub next_phase: Option<String>,
    /// Its latest report, relative to the project.
    pub latest_report: Option<String>,
    /// When it was changed, in ISO 8601 in UTC.
    pub updated_at: Option<String>,
}

decode!(WizardTask { task_key, title, phase, next_phase, latest_report, updated_at });

/// The branches of a project, and what a task starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardBranches {
    /// The project's folder.
    pub root: String,
    /// The key of the task.
    pub about: String,
    /// The local branches, newest first; none without git.
    pub branches: Vec<String>,
    /// The one that is checked out.
    pub current: Option<String>,
    /// Whether it is fixed what the task starts from.
    pub fixed: bool,
}

decode!(WizardBranches { root, about, branches, current, fixed });

/// The plans of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardPlans {
    /// The project's folder.
    pub root: String,
    /// The key of the task, or the path that was asked about.
    pub about: String,
    /// The plans, newest first.
    pub plans: Vec<WizardPlan>,
}

decode!(WizardPlans { root, about, plans });

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardPlan {
    /// Relative to the project where it is inside.
    pub path: String,
    /// Whether it is approved.
    pub approved: bool,
    /// Whether open clarifications hold the approval back.
    pub held: bool,
    /// How many errors it has beside a missing approval.
    pub errors: u32,
    /// The folder of the task that it is in, where it is in one.
    pub task_root: Option<String>,
}

decode!(WizardPlan { path, approved, held, errors, task_root });

/// The stages of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardStages {
    /// The project's folder.
    pub root: String,
    /// The plan.
    pub about: String,
    /// The key of the task that they are built for.
    pub task_key: String,
    /// The stages, in row order.
    pub stages: Vec<WizardStage>,
}

decode!(WizardStages { root, about, task_key, stages });

/// A stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardStage {
    /// Its number.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// What it depends on.
    pub depends_on: Vec<u32>,
    /// Its steps.
    pub steps: u32,
    /// Where it stands, a word of `StageState`.
    pub state: String,
    /// The dependencies it waits for.
    pub waits_for: Vec<u32>,
    /// Why it cannot be handed over; missing where it can.
    pub not_eligible: Option<String>,
}

decode!(WizardStage { stage, title, depends_on, steps, state, waits_for, not_eligible });

/// A file that somebody named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardFile {
    /// The project's folder.
    pub root: String,
    /// The path, relative to the project unless it is absolute.
    pub about: String,
    /// Whether it is there.
    pub there: bool,
}

decode!(WizardFile { root, about, there });

/// Something to look at before the wizard can go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardNeed {
    /// What kind of thing.
    pub kind: WizardNeedKind,
    /// The project's folder; empty before it is known.
    pub root: String,
    /// Which one: a folder, the key of a task, a plan, a file.
    pub about: String,
    /// The key of the task, where it matters.
    pub task_key: String,
}

/// A kind of things to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum WizardNeedKind {
    /// A folder, or with an empty `about` the projects to propose.
    Project,
    /// The tasks of a project.
    Tasks,
    /// The branches of a project, and what the task starts from.
    Branches,
    /// The plans of a task.
    Plans,
    /// A plan that somebody named.
    Plan,
    /// The stages of a plan.
    Stages,
    /// A file that somebody named.
    File,
}
