//! What a person decides about a run beside its stage: who works on it and with what.

use serde_json::{Map, Value};

use super::{BundleError, IMPLEMENTATION, PHASES};
use crate::decode::decode;

/// The programs that okstra brings workers for.
pub const PROGRAMS: [&str; 3] = ["claude", "codex", "gemini"];

/// The phase that hands work over.
pub(crate) const HANDOFF: &str = "release-handoff";

/// The phase that judges the whole implementation.
const VERIFICATION: &str = "final-verification";

/// What a person decides about a run; all of it may be left open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct RunInputs {
    /// The file with what is wanted, relative to the project where it is inside.
    pub brief: Option<String>,
    /// The branch that the task starts from, or that its work is handed over to.
    pub base_branch: Option<String>,
    /// The program that builds the stage, one of [`PROGRAMS`].
    pub executor: Option<String>,
    /// The programs that work on a phase without stages.
    pub workers: Vec<String>,
    /// Which model a program uses, as `program=model`.
    pub models: Vec<String>,
    /// The program that reviews the result.
    pub critic: Option<String>,
    /// The keys of tasks that have to do with this one.
    pub related_tasks: Vec<String>,
    /// The stages to hand over.
    pub handoff_stages: Vec<u32>,
}

decode!(optional RunInputs { brief, base_branch, executor, workers, models, critic, related_tasks, handoff_stages });

/// One of the decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// [`RunInputs::brief`].
    Brief,
    /// [`RunInputs::base_branch`].
    BaseBranch,
    /// The approved plan.
    Plan,
    /// [`RunInputs::executor`].
    Executor,
    /// [`RunInputs::workers`].
    Workers,
    /// [`RunInputs::models`].
    Models,
    /// [`RunInputs::critic`].
    Critic,
    /// [`RunInputs::handoff_stages`].
    HandoffStages,
}

/// Whether a run of a phase takes it. This is the only place that says so.
pub(crate) fn takes(task_type: &str, input: Input) -> bool {
    let builds = task_type == IMPLEMENTATION;
    let hands_over = task_type == HANDOFF;
    match input {
        Input::Executor => builds,
        Input::HandoffStages => hands_over,
        Input::BaseBranch => builds || hands_over,
        Input::Plan => builds || hands_over || task_type == VERIFICATION,
        Input::Brief => !(builds || hands_over || task_type == VERIFICATION),
        Input::Workers => !(builds || hands_over),
        Input::Models | Input::Critic => !hands_over,
    }
}

/// The program and the model of `program=model`.
pub(crate) fn model_of(text: &str) -> Result<(&str, &str), String> {
    let (program, model) = text.split_once('=').unwrap_or((text, ""));
    let is_word = |ch: char| ch.is_ascii_alphanumeric() || "-_.:/@[]".contains(ch);
    if !PROGRAMS.contains(&program) || model.is_empty() || !model.chars().all(is_word) {
        let programs = PROGRAMS.join(", ");
        return Err(format!("a model is program=model with one of {programs}, got '{text}'"));
    }
    Ok((program, model))
}

impl RunInputs {
    /// Refuses what the phase has no use for and what is no value.
    pub(super) fn check(&self, task_type: &str) -> Result<(), BundleError> {
        let given = [
            ("brief", Input::Brief, self.brief.is_some()),
            ("base-branch", Input::BaseBranch, self.base_branch.is_some()),
            ("executor", Input::Executor, self.executor.is_some()),
            ("workers", Input::Workers, !self.workers.is_empty()),
            ("models", Input::Models, !self.models.is_empty()),
            ("critic", Input::Critic, self.critic.is_some()),
            ("stages", Input::HandoffStages, !self.handoff_stages.is_empty()),
        ];
        for (option, input, is_given) in given {
            if is_given && !takes(task_type, input) {
                let types: Vec<&str> =
                    PHASES.into_iter().filter(|phase| takes(phase, input)).collect();
                return Err(BundleError::BadInput(format!(
                    "--{option} is only meaningful with --task-type {}; got {task_type}",
                    types.join(" or ")
                )));
            }
        }
        let programs = self.executor.iter().chain(&self.workers).chain(&self.critic);
        for program in programs {
            if !PROGRAMS.contains(&program.as_str()) {
                let programs = PROGRAMS.join(", ");
                return Err(BundleError::BadInput(format!(
                    "there is no program '{program}'; it is one of {programs}"
                )));
            }
        }
        let mut named = Vec::new();
        for text in &self.models {
            let (program, _) = model_of(text).map_err(BundleError::BadInput)?;
            if named.contains(&program) {
                let twice = format!("--models names {program} twice");
                return Err(BundleError::BadInput(twice));
            }
            named.push(program);
        }
        Ok(())
    }

    /// The decisions as the run's manifest has them.
    pub(super) fn members(&self) -> Vec<(&'static str, Value)> {
        let mut members = Vec::new();
        let mut text = |name, value: &Option<String>| {
            if let Some(value) = value {
                members.push((name, Value::from(value.as_str())));
            }
        };
        text("briefPath", &self.brief);
        text("baseBranch", &self.base_branch);
        text("executor", &self.executor);
        text("critic", &self.critic);
        if !self.workers.is_empty() {
            members.push(("workers", Value::from(self.workers.clone())));
        }
        if !self.models.is_empty() {
            let models = self.models.iter().filter_map(|text| model_of(text).ok());
            let models = models.map(|(program, model)| (program.to_owned(), Value::from(model)));
            members.push(("models", models.collect::<Map<_, _>>().into()));
        }
        if !self.related_tasks.is_empty() {
            members.push(("relatedTasks", Value::from(self.related_tasks.clone())));
        }
        if !self.handoff_stages.is_empty() {
            members.push(("handoffStages", Value::from(self.handoff_stages.clone())));
        }
        members
    }

    /// The model that a program is to use.
    pub(super) fn model(&self, program: &str) -> Option<&str> {
        let mut models = self.models.iter().filter_map(|text| model_of(text).ok());
        models.find(|(of, _)| *of == program).map(|(_, model)| model)
    }
}

#[cfg(test)]
mod tests {
    use super::{PHASES, RunInputs};

    fn refusal(task_type: &str, inputs: &RunInputs) -> String {
        inputs.check(task_type).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_a_phase_has_no_use_for_is_refused() {
        let text = |text: &str| Some(String::from(text));
        let list = |text: &str| vec![String::from(text)];
        let none = RunInputs::default;
        let cases = [
            (RunInputs { brief: text("a.md"), ..none() }, "1111..."),
            (RunInputs { base_branch: text("main"), ..none() }, "....1.1"),
            (RunInputs { executor: text("codex"), ..none() }, "....1.."),
            (RunInputs { workers: list("gemini"), ..none() }, "1111.1."),
            (RunInputs { models: list("claude=opus"), ..none() }, "111111."),
            (RunInputs { critic: text("claude"), ..none() }, "111111."),
            (RunInputs { related_tasks: list("a:b:c"), ..none() }, "1111111"),
            (RunInputs { handoff_stages: vec![1], ..none() }, "......1"),
        ];
        for (inputs, wanted) in cases {
            let taken: String = PHASES
                .map(|phase| if inputs.check(phase).is_ok() { '1' } else { '.' })
                .iter()
                .collect();
            assert_eq!(taken, wanted, "{inputs:?}");
        }
        assert_eq!(
            refusal("error-analysis", &RunInputs { executor: text("codex"), ..none() }),
            "--executor is only meaningful with --task-type implementation; got error-analysis"
        );
    }

    #[test]
    fn what_is_no_value_is_named() {
        let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let models = |texts| RunInputs { models: list(texts), ..RunInputs::default() };
        let cases = [
            (
                models(&["claude"]),
                "a model is program=model with one of claude, codex, gemini, got 'claude'",
            ),
            (
                models(&["x=y"]),
                "a model is program=model with one of claude, codex, gemini, got 'x=y'",
            ),
            (
                models(&["codex=a b"]),
                "a model is program=model with one of claude, codex, gemini, got 'codex=a b'",
            ),
            (models(&["codex=a", "codex=b"]), "--models names codex twice"),
            (
                RunInputs { critic: Some(String::from("x")), ..RunInputs::default() },
                "there is no program 'x'; it is one of claude, codex, gemini",
            ),
        ];
        for (inputs, wanted) in cases {
            assert_eq!(refusal("error-analysis", &inputs), wanted);
        }
        assert_eq!(
            refusal("error-analysis", &models(&["codex=gpt-5.1:high", "claude=opus[1m]"])),
            ""
        );
    }
}
