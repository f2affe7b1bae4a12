//! The questions: when each applies, how it is built, what it takes and which arguments it owns.
//!
//! They are told apart by `match` and not by a table of functions: what is called through tables
//! would be in every part of the module.

use super::facts::{
    WizardBranches, WizardFacts, WizardNeed, WizardNeedKind, WizardPlan, WizardProject,
    WizardStage, WizardStages, WizardTask,
};
use super::state::State;
use super::texts::Text;
use super::{QuestionKind, QuestionOption, short, short_path};
use crate::layout::{is_of_other_task, join, task_folder, task_key_parts};
use crate::lead::Language;
use crate::order::sorted;
use crate::printable::{excerpt, printable, steers_terminal};
use crate::run::{HANDOFF, IMPLEMENTATION, Input, PHASES, PROGRAMS, model_of, takes};

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Project,
    Task,
    ProjectId,
    TaskGroup,
    TaskId,
    TaskType,
    Brief,
    BaseBranch,
    ApprovedPlan,
    Approve,
    Stage,
    Executor,
    Workers,
    Critic,
    Models,
    RelatedTasks,
    HandoffStages,
    Confirmation,
}

/// All questions in the order in which they are asked.
pub(super) const STEPS: [Step; 18] = [
    Step::Project,
    Step::Task,
    Step::ProjectId,
    Step::TaskGroup,
    Step::TaskId,
    Step::TaskType,
    Step::Brief,
    Step::BaseBranch,
    Step::ApprovedPlan,
    Step::Approve,
    Step::Stage,
    Step::Executor,
    Step::Workers,
    Step::Critic,
    Step::Models,
    Step::RelatedTasks,
    Step::HandoffStages,
    Step::Confirmation,
];

/// The answers of a question that is answered by yes or no.
const YES: &str = "yes";
pub(super) const NO: &str = "no";

/// The value of what is left out.
const NONE: &str = "none";

/// The value of a task that is not there yet. A key has colons.
const NEW: &str = "new";

/// The value of what is checked out, or of the remote's default branch. No branch is called so.
const HEAD: &str = "@";

/// So many branches are shown; any other can be written.
const MOST_BRANCHES: usize = 50;

/// So much of a title is shown.
const TITLE: usize = 60;

impl Step {
    /// Its name.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Task => "task",
            Self::ProjectId => "project_id",
            Self::TaskGroup => "task_group",
            Self::TaskId => "task_id",
            Self::TaskType => "task_type",
            Self::Brief => "brief",
            Self::BaseBranch => "base_branch",
            Self::ApprovedPlan => "approved_plan",
            Self::Approve => "approve",
            Self::Stage => "stage_pick",
            Self::Executor => "executor",
            Self::Workers => "workers",
            Self::Critic => "critic",
            Self::Models => "models",
            Self::RelatedTasks => "related_tasks",
            Self::HandoffStages => "handoff_stages",
            Self::Confirmation => "confirmation",
        }
    }

    /// The question of a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        STEPS.into_iter().find(|step| step.id() == name)
    }

    /// Its name for people.
    pub(super) fn name(self) -> Text {
        match self {
            Self::Project => Text::Project,
            Self::Task => Text::Task,
            Self::ProjectId => Text::ProjectId,
            Self::TaskGroup => Text::TaskGroup,
            Self::TaskId => Text::TaskId,
            Self::TaskType => Text::TaskType,
            Self::Brief => Text::Brief,
            Self::BaseBranch => Text::BaseBranch,
            Self::ApprovedPlan => Text::ApprovedPlan,
            Self::Approve => Text::Approve,
            Self::Stage => Text::Stage,
            Self::Executor => Text::Executor,
            Self::Workers => Text::Workers,
            Self::Critic => Text::Critic,
            Self::Models => Text::Models,
            Self::RelatedTasks => Text::RelatedTasks,
            Self::HandoffStages => Text::HandoffStages,
            Self::Confirmation => Text::Confirmation,
        }
    }

    /// The arguments of the run that its answer decides.
    #[cfg(test)]
    pub(super) fn owns(self) -> &'static [&'static str] {
        match self {
            Self::Project => &["project-root"],
            Self::Task => &["project-id", "task-group", "task-id"],
            Self::ProjectId => &["project-id"],
            Self::TaskGroup => &["task-group"],
            Self::TaskId => &["task-id"],
            Self::TaskType => &["task-type"],
            Self::Brief => &["brief"],
            Self::BaseBranch => &["base-branch"],
            Self::ApprovedPlan => &["approved-plan"],
            Self::Approve => &["approve"],
            Self::Stage => &["stage"],
            Self::Executor => &["executor"],
            Self::Workers => &["workers"],
            Self::Critic => &["critic"],
            Self::Models => &["models"],
            Self::RelatedTasks => &["related-tasks"],
            Self::HandoffStages => &["stages"],
            Self::Confirmation => &[],
        }
    }

    /// The questions whose answers it is built from.
    pub(super) fn reads(self) -> &'static [Self] {
        match self {
            Self::Project => &[],
            Self::Task => &[Self::Project],
            // A project without tasks has no answer to the one between.
            Self::ProjectId | Self::TaskGroup => &[Self::Project, Self::Task],
            Self::TaskId => &[Self::Project, Self::Task, Self::ProjectId, Self::TaskGroup],
            Self::TaskType | Self::RelatedTasks => &[Self::Project, Self::Task, Self::TaskId],
            Self::Brief
            | Self::BaseBranch
            | Self::ApprovedPlan
            | Self::Executor
            | Self::Workers
            | Self::Critic => &[Self::TaskType],
            Self::Approve | Self::Stage | Self::HandoffStages => &[Self::ApprovedPlan],
            Self::Models => &[Self::Executor, Self::Workers, Self::Critic],
            // Whatever changes is shown again before it counts.
            Self::Confirmation => &STEPS,
        }
    }
}

/// Why a question cannot be judged, or an answer to it does not count.
pub(super) enum Stop {
    /// This has to be looked at first.
    Need(WizardNeed),
    /// It is wrong, for this reason.
    Wrong(String),
}

/// A question as it is built.
pub(super) struct Asked {
    pub(super) kind: QuestionKind,
    pub(super) label: String,
    pub(super) options: Vec<QuestionOption>,
    pub(super) other: bool,
    pub(super) optional: bool,
    pub(super) default: Vec<String>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            kind: QuestionKind::Text,
            label: String::new(),
            options: Vec::new(),
            other: false,
            optional: false,
            default: Vec::new(),
        }
    }
}

/// What a question is judged by.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) facts: &'a WizardFacts,
    pub(super) state: &'a State,
}

impl<'a> Context<'a> {
    /// Whether a question has to be asked.
    pub(super) fn applies(&self, step: Step) -> Result<bool, Stop> {
        let takes = |input| takes(self.task_type(), input);
        let is_new = self.one(Step::Task).is_none_or(|task| task == NEW);
        Ok(match step {
            Step::Project | Step::TaskType | Step::Confirmation => true,
            Step::Task => !self.tasks()?.is_empty(),
            Step::ProjectId => is_new && self.project()?.id.is_none(),
            Step::TaskGroup | Step::TaskId => is_new,
            Step::Brief => takes(Input::Brief),
            Step::BaseBranch => {
                takes(Input::BaseBranch) && {
                    let it = self.branches()?;
                    let is_fixed = it.fixed && self.task_type() == IMPLEMENTATION;
                    !(it.branches.is_empty() || is_fixed)
                }
            }
            Step::ApprovedPlan => takes(Input::Plan),
            Step::Approve => match self.plan_path() {
                Some(path) => !self.plan(path)?.is_some_and(|plan| plan.approved),
                None => false,
            },
            Step::Stage => takes(Input::Executor) && self.plan_path().is_some(),
            Step::Executor => takes(Input::Executor),
            Step::Workers => takes(Input::Workers),
            Step::Critic => takes(Input::Critic),
            Step::Models => takes(Input::Models),
            Step::RelatedTasks => !self.others()?.is_empty(),
            Step::HandoffStages => takes(Input::HandoffStages) && self.plan_path().is_some(),
        })
    }

    /// Builds a question. That of the confirmation gets its summary from the machine.
    pub(super) fn ask(&self, step: Step) -> Result<Asked, Stop> {
        let asked = |text: Text| Asked { label: self.say(text), ..Asked::default() };
        let pick = |text: Text| Asked { kind: QuestionKind::Pick, ..asked(text) };
        let multi = |text: Text| Asked { kind: QuestionKind::Multi, ..asked(text) };
        Ok(match step {
            Step::Project => {
                let options: Vec<_> = self.proposed()?.map(project_option).collect();
                let default = options.iter().take(1).map(|it| it.value.clone()).collect();
                Asked { options, default, other: true, ..pick(Text::AskProject) }
            }
            Step::Task => {
                let mut options: Vec<_> = self.tasks()?.into_iter().map(task_option).collect();
                let default = options.iter().take(1).map(|it| it.value.clone()).collect();
                options.push(option(NEW, self.say(Text::NewTask)));
                Asked { options, default, ..pick(Text::AskTask) }
            }
            Step::ProjectId => {
                let name = self.root().rsplit('/').next().unwrap_or_default();
                let default = vec![printable(&name.replace(':', "-")).into_owned()];
                Asked { default, ..asked(Text::AskProjectId) }
            }
            Step::TaskGroup => {
                let latest = self.tasks()?.into_iter().next();
                let parts = latest.and_then(|task| task_key_parts(&task.task_key).ok());
                let default = parts.map(|(_, group, _)| group.to_owned()).into_iter().collect();
                Asked { default, ..asked(Text::AskTaskGroup) }
            }
            Step::TaskId => asked(Text::AskTaskId),
            Step::TaskType => self.ask_task_type()?,
            Step::Brief => {
                let mut options = vec![option(NONE, self.say(Text::NoBrief))];
                let report = self.task()?.and_then(|task| task.latest_report.as_deref());
                if let Some(path) = report.filter(|path| !path.is_empty()) {
                    let label = self.with(Text::LatestReport, &[("path", &*short_path(path))]);
                    options.push(option(path, label));
                }
                let default = vec![NONE.to_owned()];
                Asked { options, default, other: true, ..pick(Text::AskBrief) }
            }
            Step::BaseBranch => self.ask_base_branch()?,
            Step::ApprovedPlan => self.ask_plan()?,
            Step::Approve => {
                let plan = short_path(self.plan_path().unwrap_or_default());
                let label = self.with(Text::AskApprove, &[("plan", &*plan)]);
                Asked { label, default: vec![YES.to_owned()], ..self.confirm() }
            }
            Step::Stage => self.ask_stage()?,
            Step::Executor => {
                Asked { options: programs(), default: claude(), ..pick(Text::AskExecutor) }
            }
            Step::Workers => {
                Asked { options: programs(), default: claude(), ..multi(Text::AskWorkers) }
            }
            Step::Critic => {
                let mut options = vec![option(NONE, self.say(Text::NoCritic))];
                options.extend(programs());
                Asked { options, default: vec![NONE.to_owned()], ..pick(Text::AskCritic) }
            }
            Step::Models => Asked { optional: true, ..asked(Text::AskModels) },
            Step::RelatedTasks => {
                let others = self.others()?.into_iter();
                let options = others.map(task_option).collect();
                Asked { options, optional: true, ..multi(Text::AskRelated) }
            }
            Step::HandoffStages => {
                let stages = self.stages()?.iter();
                let options: Vec<_> = stages
                    .map(|stage| QuestionOption {
                        disabled: stage.not_eligible.clone(),
                        ..stage_option(stage, stage.not_eligible.as_deref())
                    })
                    .collect();
                let default: Vec<_> = selectable(&options).map(|it| it.value.clone()).collect();
                let none = default.is_empty();
                let text = if none { Text::AskHandoffNone } else { Text::AskHandoff };
                Asked { options, default, ..multi(text) }
            }
            Step::Confirmation => Asked { default: vec![YES.to_owned()], ..self.confirm() },
        })
    }

    fn confirm(&self) -> Asked {
        let options = vec![option(YES, self.say(Text::Yes)), option(NO, self.say(Text::No))];
        Asked { kind: QuestionKind::Confirm, options, ..Asked::default() }
    }

    fn ask_task_type(&self) -> Result<Asked, Stop> {
        let next = self.task()?.and_then(|task| task.next_phase.as_deref());
        let next = next.filter(|next| PHASES.contains(next)).unwrap_or(PHASES[0]);
        let what = [
            Text::Requirements,
            Text::Improvement,
            Text::ErrorAnalysis,
            Text::Planning,
            Text::Implementation,
            Text::Verification,
            Text::Handoff,
        ];
        let options = PHASES.iter().zip(what).map(|(phase, what)| {
            let mark = (*phase == next).then(|| self.say(Text::Recommended));
            option(phase, marked(format!("{phase}: {}", self.say(what)), mark.as_deref()))
        });
        Ok(Asked {
            kind: QuestionKind::Pick,
            label: self.say(Text::AskTaskType),
            options: options.collect(),
            default: vec![next.to_owned()],
            ..Asked::default()
        })
    }

    fn ask_base_branch(&self) -> Result<Asked, Stop> {
        let it = self.branches()?;
        let is_target = self.task_type() == HANDOFF;
        let head = match (&it.current, is_target) {
            (_, true) => self.say(Text::RemoteDefault),
            (Some(branch), _) => self.with(Text::CheckedOut, &[("branch", &*short(branch))]),
            (None, _) => self.say(Text::CheckedOutCommit),
        };
        let mut options = vec![option(HEAD, head)];
        let others =
            it.branches.iter().filter(|name| is_target || Some(*name) != it.current.as_ref());
        options.extend(others.take(MOST_BRANCHES).map(|name| option(name, short(name))));
        let text = if is_target { Text::AskTargetBranch } else { Text::AskStartBranch };
        Ok(Asked {
            kind: QuestionKind::Pick,
            label: self.say(text),
            options,
            other: true,
            default: vec![HEAD.to_owned()],
            ..Asked::default()
        })
    }

    fn ask_plan(&self) -> Result<Asked, Stop> {
        let key = self.key()?;
        let plans = self.facts.plans.iter().find(|it| it.root == self.root() && it.about == key);
        let plans = &plans.ok_or_else(|| self.need(WizardNeedKind::Plans, &key))?.plans;
        let mut options = Vec::new();
        for plan in plans {
            let disabled = self.plan_refused(plan)?;
            let approved = if plan.approved { Text::Approved } else { Text::NotApproved };
            let mark = disabled.clone().unwrap_or_else(|| self.say(approved));
            options.push(QuestionOption {
                disabled,
                ..option(&plan.path, marked(short_path(&plan.path), Some(&mark)))
            });
        }
        if self.task_type() != IMPLEMENTATION {
            options.push(option(NONE, self.say(Text::NoPlan)));
        }
        let text = if plans.is_empty() { Text::AskPlanPath } else { Text::AskPlan };
        Ok(Asked {
            kind: QuestionKind::Pick,
            label: self.say(text),
            default: selectable(&options).take(1).map(|it| it.value.clone()).collect(),
            options,
            other: true,
            ..Asked::default()
        })
    }

    /// Why a plan cannot be chosen.
    fn plan_refused(&self, plan: &WizardPlan) -> Result<Option<String>, Stop> {
        let key = self.key()?;
        let (_, group, id) = task_key_parts(&key).unwrap_or_default();
        let task = task_folder(&self.project()?.okstra_root, group, id);
        let root = plan.task_root.as_deref();
        if is_of_other_task(root, &task) {
            let folder = short_path(root.unwrap_or_default());
            return Ok(Some(self.with(Text::PlanOfOther, &[("folder", &*folder)])));
        }
        if plan.errors > 0 {
            return Ok(Some(self.with(Text::Errors, &[("count", &*plan.errors.to_string())])));
        }
        Ok((plan.held && !plan.approved).then(|| self.say(Text::Held)))
    }

    fn ask_stage(&self) -> Result<Asked, Stop> {
        let stages = self.stages()?;
        let numbered = stages.iter().map(|stage| {
            let why = match stage.state.as_str() {
                "ready" => None,
                "running" => Some(self.say(Text::StageRunning)),
                "reserved" => Some(self.say(Text::StageReserved)),
                "waiting" => {
                    Some(self.with(Text::StageWaits, &[("stages", &*numbers(&stage.waits_for))]))
                }
                "done" | "verified" | "pr" => Some(self.say(Text::StageDone)),
                "cancelled" => Some(self.say(Text::StageCancelled)),
                _ => Some(self.say(Text::StageBroken)),
            };
            QuestionOption { disabled: why.clone(), ..stage_option(stage, why.as_deref()) }
        });
        let mut options = vec![option("auto", self.say(Text::Auto))];
        options.extend(numbered);
        let is_any_ready = selectable(&options).count() > 1;
        if let (Some(auto), false) = (options.first_mut(), is_any_ready) {
            auto.disabled = Some(self.say(Text::StageNone));
        }
        Ok(Asked {
            kind: QuestionKind::Pick,
            label: self.say(if is_any_ready { Text::AskStage } else { Text::AskStageNone }),
            options,
            default: vec![String::from("auto")],
            ..Asked::default()
        })
    }

    /// Judges an answer; answers it as it is kept.
    pub(super) fn accept(&self, step: Step, values: &[String]) -> Result<Vec<String>, Stop> {
        let asked = self.ask(step)?;
        if asked.kind == QuestionKind::Multi {
            return self.accept_multi(&asked, values);
        }
        let value = match values {
            [value] => value.as_str(),
            [] if asked.kind == QuestionKind::Text => "",
            _ => return Err(self.wrong(Text::OneAnswer, &[])),
        };
        match asked.kind {
            QuestionKind::Confirm => match value.trim().to_lowercase().as_str() {
                YES | "y" | "예" | "네" => Ok(vec![YES.to_owned()]),
                NO | "n" | "아니오" | "아니요" => Ok(vec![NO.to_owned()]),
                _ => Err(self.wrong(Text::YesOrNo, &[])),
            },
            QuestionKind::Pick => match asked.options.iter().find(|it| it.value == value) {
                Some(option) => self.selected(option).map(|value| vec![value]),
                None if asked.other => self.written(step, value).map(|value| vec![value]),
                None => Err(self.wrong(Text::NotAnOption, &[("value", &*short(value))])),
            },
            _ if asked.optional && value.trim().is_empty() => Ok(vec![String::new()]),
            _ => self.written(step, value).map(|value| vec![value]),
        }
    }

    fn selected(&self, option: &QuestionOption) -> Result<String, Stop> {
        match &option.disabled {
            None => Ok(option.value.clone()),
            Some(why) => {
                let values = [("value", &*short(&option.value)), ("why", why)];
                Err(self.wrong(Text::NotSelectable, &values))
            }
        }
    }

    /// Several answers, in the order of the options whatever order they were given in.
    fn accept_multi(&self, asked: &Asked, values: &[String]) -> Result<Vec<String>, Stop> {
        for (at, value) in values.iter().enumerate() {
            let shown = short(value);
            let Some(option) = asked.options.iter().find(|it| it.value == *value) else {
                return Err(self.wrong(Text::NotAnOption, &[("value", &*shown)]));
            };
            self.selected(option)?;
            if values.iter().take(at).any(|before| before == value) {
                return Err(self.wrong(Text::Twice, &[("value", &*shown)]));
            }
        }
        if values.is_empty() && !asked.optional {
            return Err(self.wrong(Text::AtLeastOne, &[]));
        }
        let options = asked.options.iter().map(|it| &it.value);
        Ok(options.filter(|value| values.contains(value)).cloned().collect())
    }

    /// Judges a text of one's own.
    fn written(&self, step: Step, value: &str) -> Result<String, Stop> {
        let value = value.trim();
        if value.is_empty() {
            return Err(self.wrong(Text::Empty, &[]));
        }
        if value.chars().any(steers_terminal) {
            return Err(self.wrong(Text::Controls, &[]));
        }
        let path = [("path", value)];
        match step {
            Step::Project => match self.project_of(value) {
                Some(it) if it.there => Ok(it.root.clone()),
                Some(_) => Err(self.wrong(Text::NoFolder, &path)),
                None => Err(need(WizardNeedKind::Project, "", value)),
            },
            Step::ProjectId | Step::TaskGroup if value.contains(':') => {
                Err(self.wrong(Text::NoColon, &[]))
            }
            Step::TaskId => {
                let group = self.one(Step::TaskGroup).unwrap_or_default();
                let key = format!("{}:{group}:{value}", self.project_id()?);
                // Two ids can have one folder, and so can two projects by name.
                let folder = task_folder("", group, value);
                for task in self.tasks()? {
                    let there = short(&task.task_key);
                    if task.task_key == key {
                        return Err(self.wrong(Text::TaskThere, &[("task", &*there)]));
                    }
                    let (_, group, id) = task_key_parts(&task.task_key).unwrap_or_default();
                    if task_folder("", group, id) == folder {
                        return Err(self.wrong(Text::FolderTaken, &[("task", &*there)]));
                    }
                }
                Ok(value.to_owned())
            }
            Step::Brief => {
                let is_it = |it: &&super::WizardFile| it.root == self.root() && it.about == value;
                match self.facts.files.iter().find(is_it) {
                    Some(file) if file.there => Ok(value.to_owned()),
                    Some(_) => Err(self.wrong(Text::NoFile, &path)),
                    None => Err(self.need(WizardNeedKind::File, value)),
                }
            }
            Step::BaseBranch => {
                if self.branches()?.branches.iter().any(|name| name == value) {
                    return Ok(value.to_owned());
                }
                Err(self.wrong(Text::NotAnOption, &[("value", &*short(value))]))
            }
            Step::ApprovedPlan => {
                let Some(plan) = self.plan(value)? else {
                    return Err(self.wrong(Text::NoFile, &path));
                };
                match self.plan_refused(plan)? {
                    None => Ok(plan.path.clone()),
                    Some(why) => {
                        let values = [("value", &*short(value)), ("why", &*why)];
                        Err(self.wrong(Text::NotSelectable, &values))
                    }
                }
            }
            Step::Models => self.models(value),
            _ => Ok(value.to_owned()),
        }
    }

    /// Judges a list of models: each of a program that works on the run, each program once.
    fn models(&self, value: &str) -> Result<String, Stop> {
        let steps = [Step::Executor, Step::Workers, Step::Critic];
        let answers = steps.iter().filter_map(|step| self.state.answer(*step)).flatten();
        let mut free: Vec<&str> = answers.map(String::as_str).filter(|it| *it != NONE).collect();
        free.sort_unstable();
        free.dedup();
        let programs = free.join(", ");
        let mut models = Vec::new();
        for text in value.split(',').map(str::trim) {
            let values = [("value", &*short(text)), ("programs", &*programs)];
            let known = model_of(text).ok().map(|(program, _)| program);
            let Some(at) = free.iter().position(|program| Some(*program) == known) else {
                return Err(self.wrong(Text::NotAModel, &values));
            };
            free.remove(at);
            models.push(text);
        }
        Ok(models.join(","))
    }

    /// An answer as it is shown.
    pub(super) fn shown(&self, step: Step, values: &[String]) -> String {
        let shown = values.iter().map(|value| match (step, value.as_str()) {
            (Step::Task, NEW) => self.say(Text::NewTask),
            (Step::Brief, NONE) => self.say(Text::NoBrief),
            (Step::ApprovedPlan, NONE) => self.say(Text::NoPlan),
            (Step::Critic, NONE) => self.say(Text::NoCritic),
            (Step::Approve | Step::Confirmation, YES) => self.say(Text::Yes),
            (Step::Approve | Step::Confirmation, NO) => self.say(Text::No),
            (Step::BaseBranch, HEAD) if self.task_type() == HANDOFF => {
                self.say(Text::RemoteDefault)
            }
            (Step::BaseBranch, HEAD) => self.say(Text::CheckedOutCommit),
            (Step::Project | Step::Brief | Step::ApprovedPlan, path) => short_path(path),
            (_, value) => short(value),
        });
        shown.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// The arguments of the run in their order; one without a value is a flag.
    pub(super) fn args(&self) -> Vec<(&'static str, Option<String>)> {
        let text = |text: &str| Some(text.to_owned());
        let mut args = vec![("task-type", text(self.task_type()))];
        let key = self.key().unwrap_or_default();
        let (project, group, id) = task_key_parts(&key).unwrap_or_default();
        args.push(("task-group", text(group)));
        args.push(("task-id", text(id)));
        args.push(("project-root", text(self.root())));
        args.push(("project-id", text(project)));
        if let Some(plan) = self.plan_path() {
            args.push(("approved-plan", Some(self.absolute(plan))));
        }
        if self.one(Step::Approve) == Some(YES) {
            args.push(("approve", None));
        }
        let given = |step, none: &str| self.one(step).filter(|it| *it != none && !it.is_empty());
        let mut add = |name, value: Option<String>| {
            if value.is_some() {
                args.push((name, value));
            }
        };
        add("stage", given(Step::Stage, "").and_then(text));
        add("brief", given(Step::Brief, NONE).map(|path| self.absolute(path)));
        add("base-branch", given(Step::BaseBranch, HEAD).and_then(text));
        add("executor", given(Step::Executor, NONE).and_then(text));
        add("workers", self.list(Step::Workers));
        add("critic", given(Step::Critic, NONE).and_then(text));
        add("models", given(Step::Models, "").and_then(text));
        add("related-tasks", self.list(Step::RelatedTasks));
        add("stages", self.list(Step::HandoffStages));
        args
    }

    /// Several values as one argument: with commas between, or as a JSON list where that could be
    /// misread.
    fn list(&self, step: Step) -> Option<String> {
        let values = self.state.answer(step).filter(|values| !values.is_empty())?;
        if values.iter().any(|value| value.contains([',', '[']) || value.trim() != value) {
            return Some(serde_json::Value::from(values).to_string());
        }
        Some(values.join(","))
    }

    // ---- what was answered

    fn one(&self, step: Step) -> Option<&'a str> {
        self.state.one(step)
    }

    fn root(&self) -> &'a str {
        self.one(Step::Project).unwrap_or_default()
    }

    fn task_type(&self) -> &'a str {
        self.one(Step::TaskType).unwrap_or_default()
    }

    fn plan_path(&self) -> Option<&'a str> {
        self.one(Step::ApprovedPlan).filter(|path| *path != NONE)
    }

    /// The key of the task.
    fn key(&self) -> Result<String, Stop> {
        match self.one(Step::Task) {
            Some(key) if key != NEW => Ok(key.to_owned()),
            _ => {
                let group = self.one(Step::TaskGroup).unwrap_or_default();
                let id = self.one(Step::TaskId).unwrap_or_default();
                Ok(format!("{}:{group}:{id}", self.project_id()?))
            }
        }
    }

    fn project_id(&self) -> Result<&'a str, Stop> {
        Ok(self.own_id()?.or_else(|| self.one(Step::ProjectId)).unwrap_or_default())
    }

    /// The id that the project has.
    pub(super) fn own_id(&self) -> Result<Option<&'a str>, Stop> {
        Ok(self.project()?.id.as_deref())
    }

    fn absolute(&self, path: &str) -> String {
        let mut chars = path.chars();
        let first = chars.next();
        let has_drive =
            first.is_some_and(|ch| ch.is_ascii_alphabetic()) && chars.next() == Some(':');
        if first == Some('/') || has_drive { path.to_owned() } else { join(self.root(), path) }
    }

    // ---- what the host has seen

    fn need(&self, kind: WizardNeedKind, about: &str) -> Stop {
        need(kind, self.root(), about)
    }

    fn proposed(&self) -> Result<impl Iterator<Item = &'a WizardProject>, Stop> {
        let projects = &self.facts.projects;
        if !projects.iter().any(|it| it.asked.is_empty()) {
            return Err(need(WizardNeedKind::Project, "", ""));
        }
        Ok(projects.iter().filter(|it| it.asked.is_empty() && it.there))
    }

    fn project_of(&self, path: &str) -> Option<&'a WizardProject> {
        self.facts.projects.iter().find(|it| it.root == path || it.asked == path)
    }

    fn project(&self) -> Result<&'a WizardProject, Stop> {
        let root = self.root();
        self.project_of(root).ok_or_else(|| need(WizardNeedKind::Project, "", root))
    }

    /// The tasks of the project, the latest first.
    fn tasks(&self) -> Result<Vec<&'a WizardTask>, Stop> {
        let root = self.root();
        let found = self.facts.tasks.iter().find(|it| it.root == root);
        let tasks = &found.ok_or_else(|| self.need(WizardNeedKind::Tasks, ""))?.tasks;
        let time = |task: &WizardTask| {
            let at = task.updated_at.as_deref().and_then(crate::time::epoch_ms).unwrap_or(0);
            u64::try_from(at).unwrap_or(0)
        };
        let timed: Vec<_> = tasks.iter().map(|task| (u64::MAX - time(task), task)).collect();
        Ok(sorted(timed, |(time, _)| (*time, 0)).into_iter().map(|(_, task)| task).collect())
    }

    fn task(&self) -> Result<Option<&'a WizardTask>, Stop> {
        let key = self.one(Step::Task).unwrap_or(NEW);
        Ok(self.tasks()?.into_iter().find(|task| task.task_key == key))
    }

    /// The tasks beside the one that is meant.
    fn others(&self) -> Result<Vec<&'a WizardTask>, Stop> {
        let key = self.key()?;
        Ok(self.tasks()?.into_iter().filter(|task| task.task_key != key).collect())
    }

    fn branches(&self) -> Result<&'a WizardBranches, Stop> {
        let key = self.key()?;
        let found = self.facts.branches.iter().find(|it| it.root == self.root() && it.about == key);
        found.ok_or_else(|| self.need(WizardNeedKind::Branches, &key))
    }

    /// A plan by its path; `None` where there is none.
    fn plan(&self, path: &str) -> Result<Option<&'a WizardPlan>, Stop> {
        let root = self.root();
        let here = || self.facts.plans.iter().filter(move |it| it.root == root);
        if let Some(plan) = here().flat_map(|it| &it.plans).find(|plan| plan.path == path) {
            return Ok(Some(plan));
        }
        match here().find(|it| it.about == path) {
            Some(it) => Ok(it.plans.first()),
            None => Err(self.need(WizardNeedKind::Plan, path)),
        }
    }

    fn stages(&self) -> Result<&'a [WizardStage], Stop> {
        let plan = self.plan_path().unwrap_or_default();
        let task_key = self.key()?;
        let is_it = |it: &&WizardStages| {
            it.root == self.root() && it.about == plan && it.task_key == task_key
        };
        if let Some(found) = self.facts.stages.iter().find(is_it) {
            return Ok(&found.stages);
        }
        let (root, about) = (self.root().to_owned(), plan.to_owned());
        Err(Stop::Need(WizardNeed { kind: WizardNeedKind::Stages, root, about, task_key }))
    }

    // ---- words

    fn language(&self) -> Language {
        self.state.language
    }

    fn say(&self, text: Text) -> String {
        text.of(self.language()).to_owned()
    }

    fn with(&self, text: Text, values: &[(&str, &str)]) -> String {
        text.with(self.language(), values)
    }

    fn wrong(&self, text: Text, values: &[(&str, &str)]) -> Stop {
        Stop::Wrong(self.with(text, values))
    }
}

fn project_option(it: &WizardProject) -> QuestionOption {
    let id = it.id.as_deref().map(short);
    option(&it.root, marked(short_path(&it.root), id.as_deref()))
}

fn task_option(task: &WizardTask) -> QuestionOption {
    let mut label = short(&task.task_key);
    if let Some(title) = &task.title {
        label += "  ";
        label += &excerpt(title, TITLE);
    }
    option(&task.task_key, marked(label, task.phase.as_deref().map(short).as_deref()))
}

fn need(kind: WizardNeedKind, root: &str, about: &str) -> Stop {
    let (root, about, task_key) = (root.to_owned(), about.to_owned(), String::new());
    Stop::Need(WizardNeed { kind, root, about, task_key })
}

fn option(value: &str, label: String) -> QuestionOption {
    QuestionOption { value: value.to_owned(), label, disabled: None }
}

fn selectable(options: &[QuestionOption]) -> impl Iterator<Item = &QuestionOption> {
    options.iter().filter(|it| it.disabled.is_none())
}

fn programs() -> Vec<QuestionOption> {
    PROGRAMS.iter().map(|name| option(name, (*name).to_owned())).collect()
}

fn claude() -> Vec<String> {
    vec![PROGRAMS[0].to_owned()]
}

/// A label with a mark behind it.
fn marked(mut label: String, mark: Option<&str>) -> String {
    if let Some(mark) = mark {
        label += "  (";
        label += mark;
        label.push(')');
    }
    label
}

fn stage_option(stage: &WizardStage, mark: Option<&str>) -> QuestionOption {
    let depends_on = if stage.depends_on.is_empty() {
        String::from("(none)")
    } else {
        numbers(&stage.depends_on)
    };
    let (number, title) = (stage.stage.to_string(), excerpt(&stage.title, TITLE));
    let label = format!("{number}: {title}  [depends-on: {depends_on} | steps: {}]", stage.steps);
    option(&number, marked(label, mark))
}

fn numbers(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
