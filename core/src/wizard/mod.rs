//! The wizard: one machine of questions behind every front.
//!
//! A question applies or not, is built from what was answered and from what the host has seen,
//! takes certain answers and owns arguments of the run (`steps.rs`). The state is the answers and
//! nothing else (`state.rs`); each time all of them are held against the facts again, from the
//! first, and the first question without an answer that holds is the one to ask. So going back
//! can lead nowhere, and what others change meanwhile is asked anew.

mod facts;
#[cfg(test)]
mod model;
mod state;
mod steps;
mod texts;

use serde::Serialize;
use serde_json::{Map, Value};

pub use facts::{
    WizardBranches, WizardFacts, WizardFile, WizardNeed, WizardNeedKind, WizardPlan, WizardPlans,
    WizardProject, WizardStage, WizardStages, WizardTask, WizardTasks,
};

use self::state::State;
use self::steps::{Asked, Context, STEPS, Step, Stop};
use self::texts::Text;
use crate::decode::decode;
use crate::error::OkstraError;
use crate::lead::Language;
use crate::printable::{excerpt, printable};
use crate::run::word;

/// What to do with the wizard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WizardRequest {
    /// The state as it was answered last; missing at the beginning.
    pub state: Option<String>,
    /// The language, at the beginning. Default: English.
    pub language: Language,
    /// The project's folder, where it is given at the beginning.
    pub project_root: Option<String>,
    /// The project's id, where it is given at the beginning.
    pub project_id: Option<String>,
    /// The answer to the question.
    pub answer: Option<Vec<String>>,
    /// The question that the answer is meant for, where that is to be made sure.
    pub step: Option<String>,
    /// Whether to go back to the question before.
    pub back: bool,
    /// The answered question to go back to.
    pub to: Option<String>,
    /// Whether it is an error that questions are left.
    pub finish: bool,
}

decode!(WizardRequest {
    state,
    language,
    project_root,
    project_id,
    answer,
    step,
    back,
    to,
    finish
});

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum QuestionKind {
    /// By one of the options, or a text of one's own where `other` says so.
    Pick,
    /// By any number of the options.
    Multi,
    /// By a text.
    Text,
    /// By `yes` or `no`.
    Confirm,
    /// Not at all: nothing is left to ask.
    Done,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct QuestionOption {
    /// What to answer.
    pub value: String,
    /// What to show.
    pub label: String,
    /// Why it cannot be chosen; missing where it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Question {
    /// Its name.
    pub step: String,
    /// How it is answered.
    pub kind: QuestionKind,
    /// What to ask.
    pub label: String,
    /// What can be chosen.
    pub options: Vec<QuestionOption>,
    /// Whether a text that is none of the options is an answer, too.
    pub other: bool,
    /// Whether nothing is an answer, too.
    pub optional: bool,
    /// What was answered before, or else what is proposed.
    pub default: Vec<String>,
    /// What to say once it is answered; `{value}` is the answer.
    pub echo_template: String,
    /// What is wrong with the last answer; missing where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Something that was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SummaryLine {
    /// The question.
    pub step: String,
    /// Its name for people.
    pub label: String,
    /// The answer.
    pub value: String,
}

/// How the run is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardRun {
    /// The arguments of `okstra run` by their names; a flag is `true`.
    #[cfg_attr(feature = "typescript", ts(type = "Record<string, string | boolean>"))]
    pub args: Map<String, Value>,
    /// The same as the words of a command line, from `run` on.
    pub argv: Vec<String>,
    /// The same as a line for a shell.
    pub command: String,
}

/// What a terminal shows around the questions, in the person's language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WizardWords {
    /// Before what is searched for.
    pub search: &'static str,
    /// The option that leads to a text of one's own.
    pub other: &'static str,
    /// Where the search finds nothing.
    pub no_match: &'static str,
    /// The keys of a question with options.
    pub pick_hint: &'static str,
    /// The keys of a question with several answers.
    pub multi_hint: &'static str,
    /// The keys of a question for a text.
    pub text_hint: &'static str,
    /// Starts the run.
    pub start: &'static str,
    /// Prints its command.
    pub print: &'static str,
    /// Goes back to an answer.
    pub change: &'static str,
    /// Starts nothing.
    pub stop: &'static str,
    /// Asks for the answer to go back to.
    pub which_change: &'static str,
    /// Says that nothing was started.
    pub stopped: &'static str,
}

impl WizardWords {
    fn of(language: Language) -> Self {
        let say = |text: Text| text.of(language);
        Self {
            search: say(Text::Search),
            other: say(Text::Other),
            no_match: say(Text::NoMatch),
            pick_hint: say(Text::PickHint),
            multi_hint: say(Text::MultiHint),
            text_hint: say(Text::WriteHint),
            start: say(Text::Start),
            print: say(Text::Print),
            change: say(Text::Change),
            stop: say(Text::Stop),
            which_change: say(Text::WhichChange),
            stopped: say(Text::Stopped),
        }
    }
}

/// What the wizard answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::large_enum_variant, reason = "it is made once a call and written out at once")]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum WizardAnswer {
    /// Something has to be looked at first; then the same is asked again.
    Needs {
        /// What.
        need: WizardNeed,
    },
    /// The question to ask now.
    Asked {
        /// The state to keep.
        state: String,
        /// The question.
        question: Question,
        /// What to say about the answer that was taken.
        echo: Option<String>,
        /// What was decided so far.
        summary: Vec<SummaryLine>,
        /// How to start the run; missing before everything is confirmed.
        run: Option<WizardRun>,
        /// What a terminal shows around the question.
        words: WizardWords,
    },
}

/// Takes an answer, or goes back, and says what to ask next. A wrong answer is no failure: the
/// question is asked again, with what is wrong in its `error`. Fails only for a state that cannot
/// be used.
pub fn ask_wizard(
    facts: &WizardFacts,
    request: &WizardRequest,
) -> Result<WizardAnswer, OkstraError> {
    let state = match &request.state {
        Some(text) => State::read(text).map_err(|reason| OkstraError::WizardState { reason })?,
        None => begun(request),
    };
    let mut machine = Machine { facts, state, echo: None, note: None };
    Ok(match machine.go(request) {
        Ok(question) => machine.answer(question),
        Err(need) => WizardAnswer::Needs { need },
    })
}

fn begun(request: &WizardRequest) -> State {
    let mut state = State::new(request.language);
    let given = [(Step::Project, &request.project_root), (Step::ProjectId, &request.project_id)];
    for (step, value) in given {
        if let Some(value) = value {
            state.set(step, vec![value.clone()]);
        }
    }
    state
}

struct Machine<'a> {
    facts: &'a WizardFacts,
    state: State,
    echo: Option<String>,
    /// What the person should know beside the question.
    note: Option<String>,
}

/// The question to ask, `None` where nothing is left, with the answer that does not hold any more.
struct Current {
    step: Option<Step>,
    lapsed: Option<String>,
}

impl Machine<'_> {
    fn context(&self) -> Context<'_> {
        Context { facts: self.facts, state: &self.state }
    }

    /// Does what is asked for; answers the question to ask then.
    fn go(&mut self, request: &WizardRequest) -> Result<Question, WizardNeed> {
        let language = self.state.language;
        let current = self.settle()?;
        let id = current.step.map_or(DONE, Step::id);
        let error = match (&current, request) {
            (Current { lapsed: Some(reason), .. }, _) => Some(reason.clone()),
            (_, WizardRequest { step: Some(meant), .. }) if meant != id => {
                let values = [("step", id), ("value", &short(meant))];
                Some(Text::OtherQuestion.with(language, &values))
            }
            (_, WizardRequest { back: true, .. }) => self.back(current.step)?,
            (_, WizardRequest { to: Some(to), .. }) => self.go_to(to)?,
            (Current { step, .. }, WizardRequest { answer: Some(values), .. }) => match step {
                Some(step) => self.take(*step, values)?,
                None => Some(Text::Finished.of(language).to_owned()),
            },
            (Current { step: Some(_), .. }, WizardRequest { finish: true, .. }) => {
                Some(Text::NotFinished.of(language).to_owned())
            }
            _ => None,
        };
        let now = self.settle()?;
        let mut question = self.question(now.step)?;
        question.error = now.lapsed.or(error).or_else(|| self.note.take());
        Ok(question)
    }

    /// The question to ask. Answers that do not hold any more are taken away.
    fn settle(&mut self) -> Result<Current, WizardNeed> {
        if let Some(step) = self.state.at {
            if applies(&self.context(), step)? {
                return Ok(Current { step: Some(step), lapsed: None });
            }
            self.state.at = None;
        }
        for step in STEPS {
            if step == Step::Task {
                self.check_id()?;
            }
            if !applies(&self.context(), step)? {
                if self.state.answer(step).is_some() {
                    self.state.clear(step);
                }
                continue;
            }
            let Some(values) = self.state.answer(step).map(<[String]>::to_vec) else {
                return Ok(Current { step: Some(step), lapsed: None });
            };
            match self.context().accept(step, &values) {
                Ok(_) => {}
                Err(Stop::Need(need)) => return Err(need),
                Err(Stop::Wrong(why)) => {
                    let language = self.state.language;
                    let name = step.name().of(language);
                    let values =
                        [("name", name), ("value", &short(&values.join(", "))), ("why", &why)];
                    self.state.clear(step);
                    let lapsed = Some(Text::Lapsed.with(language, &values));
                    return Ok(Current { step: Some(step), lapsed });
                }
            }
        }
        Ok(Current { step: None, lapsed: None })
    }

    /// An id that was given at the beginning is not quietly left out where the project has another.
    fn check_id(&mut self) -> Result<(), WizardNeed> {
        let Some(given) = self.state.one(Step::ProjectId).map(str::to_owned) else { return Ok(()) };
        let own = match self.context().own_id() {
            Ok(own) => own.filter(|own| **own != given).map(short),
            Err(Stop::Need(need)) => return Err(need),
            Err(Stop::Wrong(_)) => None,
        };
        if let Some(own) = own {
            self.state.clear(Step::ProjectId);
            let values = [("id", &*own), ("value", &*short(&given))];
            self.note = Some(Text::OtherProject.with(self.state.language, &values));
        }
        Ok(())
    }

    /// Takes an answer; what is wrong with it is answered.
    fn take(&mut self, step: Step, values: &[String]) -> Result<Option<String>, WizardNeed> {
        let values = match self.context().accept(step, values) {
            Ok(values) => values,
            Err(Stop::Need(need)) => return Err(need),
            Err(Stop::Wrong(why)) => return Ok(Some(why)),
        };
        let language = self.state.language;
        let said = self.context().shown(step, &values);
        self.echo = Some(echo_template(step, language).replacen("{value}", &said, 1));
        let refused = values.first().is_some_and(|value| value == steps::NO);
        match step {
            Step::Approve if refused => {
                self.state.at = None;
                self.state.clear(Step::ApprovedPlan);
                return Ok(None);
            }
            Step::Confirmation if refused => return self.back(Some(step)),
            _ => self.state.set(step, values),
        }
        let went_back = self.state.at.take().is_some() && self.state.in_order;
        if went_back {
            self.state.at = self.answered_behind(step)?;
        }
        self.state.in_order = self.state.at.is_some();
        Ok(None)
    }

    /// The next question, if it has an answer already.
    fn answered_behind(&self, step: Step) -> Result<Option<Step>, WizardNeed> {
        for next in STEPS.into_iter().filter(|next| *next as usize > step as usize) {
            if applies(&self.context(), next)? {
                return Ok(Some(next).filter(|next| self.state.answer(*next).is_some()));
            }
        }
        Ok(None)
    }

    /// Goes back to the answered question before.
    fn back(&mut self, from: Option<Step>) -> Result<Option<String>, WizardNeed> {
        let from = from.map_or(STEPS.len(), |step| step as usize);
        for step in STEPS.into_iter().filter(|step| (*step as usize) < from).rev() {
            if self.state.answer(step).is_some() && applies(&self.context(), step)? {
                self.state.at = Some(step);
                self.state.in_order = true;
                return Ok(None);
            }
        }
        Ok(Some(Text::FirstQuestion.of(self.state.language).to_owned()))
    }

    /// Goes back to an answered question; the ones behind it are asked again only where its new
    /// answer takes theirs along.
    fn go_to(&mut self, name: &str) -> Result<Option<String>, WizardNeed> {
        let step = Step::of(name).filter(|step| self.state.answer(*step).is_some());
        if let Some(step) = step
            && applies(&self.context(), step)?
        {
            self.state.at = Some(step);
            self.state.in_order = false;
            return Ok(None);
        }
        let values = [("value", &*short(name))];
        Ok(Some(Text::NoQuestion.with(self.state.language, &values)))
    }

    fn question(&self, step: Option<Step>) -> Result<Question, WizardNeed> {
        let language = self.state.language;
        let Some(step) = step else {
            let values = [("command", &*self.run().command)];
            return Ok(Question {
                step: DONE.to_owned(),
                kind: QuestionKind::Done,
                label: Text::Done.with(language, &values),
                options: Vec::new(),
                other: false,
                optional: false,
                default: Vec::new(),
                echo_template: String::new(),
                error: None,
            });
        };
        let Asked { kind, mut label, options, other, optional, default } =
            match self.context().ask(step) {
                Ok(asked) => asked,
                Err(Stop::Need(need)) => return Err(need),
                Err(Stop::Wrong(_)) => Asked::default(),
            };
        if step == Step::Confirmation {
            let lines: Vec<String> = self
                .summary()
                .iter()
                .map(|line| format!("{}: {}", line.label, line.value))
                .collect();
            let summary = lines.join("\n");
            label = Text::AskConfirmation.with(language, &[("summary", &*summary)]);
        }
        Ok(Question {
            step: step.id().to_owned(),
            kind,
            label,
            options,
            other,
            optional,
            default: self.state.answer(step).map_or(default, <[String]>::to_vec),
            echo_template: echo_template(step, language),
            error: None,
        })
    }

    fn answer(self, question: Question) -> WizardAnswer {
        let run = (question.kind == QuestionKind::Done).then(|| self.run());
        let summary = self.summary();
        let words = WizardWords::of(self.state.language);
        WizardAnswer::Asked {
            state: self.state.text(),
            question,
            echo: self.echo,
            summary,
            run,
            words,
        }
    }

    fn summary(&self) -> Vec<SummaryLine> {
        let context = self.context();
        let answered = STEPS.into_iter().filter(|step| *step != Step::Confirmation);
        answered
            .filter_map(|step| {
                let values = self.state.answer(step)?;
                Some(SummaryLine {
                    step: step.id().to_owned(),
                    label: step.name().of(self.state.language).to_owned(),
                    value: context.shown(step, values),
                })
            })
            .collect()
    }

    fn run(&self) -> WizardRun {
        let mut run =
            WizardRun { args: Map::new(), argv: vec![String::from("run")], command: String::new() };
        for (name, value) in self.context().args() {
            let option = format!("--{name}");
            let key = name.replace('-', "_");
            match value {
                None => {
                    run.args.insert(key, Value::Bool(true));
                    run.argv.push(option);
                }
                Some(value) => {
                    // A value that looks like an option has to be tied to its own.
                    if value.starts_with('-') {
                        run.argv.push(format!("{option}={value}"));
                    } else {
                        run.argv.extend([option, value.clone()]);
                    }
                    run.args.insert(key, Value::from(value));
                }
            }
        }
        let words: Vec<String> = run.argv.iter().map(|argument| word(argument)).collect();
        run.command = format!("okstra {}", words.join(" "));
        run
    }
}

/// The name of the end, where a question has its own.
const DONE: &str = "done";

fn echo_template(step: Step, language: Language) -> String {
    format!("{}: {{value}}", step.name().of(language))
}

fn applies(context: &Context<'_>, step: Step) -> Result<bool, WizardNeed> {
    match context.applies(step) {
        Ok(applies) => Ok(applies),
        Err(Stop::Need(need)) => Err(need),
        // Nothing is wrong with an answer before it is looked at.
        Err(Stop::Wrong(_)) => Ok(false),
    }
}

/// So much of a text of somebody else is shown.
const MOST: usize = 72;

/// A text of somebody else in a message or a label.
fn short(text: &str) -> String {
    excerpt(text, MOST)
}

/// A path in a label. What tells long paths apart is at their end.
fn short_path(path: &str) -> String {
    let path = printable(path);
    let cut = path.chars().count().saturating_sub(MOST);
    if cut == 0 {
        return path.into_owned();
    }
    let end: String = path.chars().skip(cut).collect();
    // A folder's name is shown whole or not at all, unless it is longer than all there is room for.
    let end = end.split_once('/').map_or(end.as_str(), |(_, end)| end);
    format!("…/{end}")
}
