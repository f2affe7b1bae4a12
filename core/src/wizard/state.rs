//! What was answered so far, and the text it is kept as.

use serde_json::{Map, Value};

use super::steps::{STEPS, Step};
use crate::decode::{Decode, field, members};
use crate::lead::Language;

/// The version of the text. Another one is refused: an answer must never be taken for one to
/// another question.
const VERSION: u32 = 1;

/// What was answered so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) language: Language,
    answers: [Option<Vec<String>>; STEPS.len()],
    /// The question that somebody went back to.
    pub(super) at: Option<Step>,
    /// Whether the questions behind that one are gone through again, too.
    pub(super) in_order: bool,
}

impl State {
    pub(super) fn new(language: Language) -> Self {
        Self { language, answers: [const { None }; STEPS.len()], at: None, in_order: false }
    }

    /// The answer to a question.
    pub(super) fn answer(&self, step: Step) -> Option<&[String]> {
        self.answers.get(step as usize)?.as_deref()
    }

    /// The one value of an answer.
    pub(super) fn one(&self, step: Step) -> Option<&str> {
        self.answer(step)?.first().map(String::as_str)
    }

    /// Keeps an answer. Whatever depends on it is cleared where it is another one.
    pub(super) fn set(&mut self, step: Step, values: Vec<String>) {
        match self.answer(step) {
            Some(before) if before == values => return,
            Some(_) => self.clear(step),
            // What was given at the beginning, before any question, stays.
            None => {}
        }
        if let Some(place) = self.answers.get_mut(step as usize) {
            *place = Some(values);
        }
    }

    /// Takes an answer away, with whatever depends on it.
    pub(super) fn clear(&mut self, step: Step) {
        if let Some(place) = self.answers.get_mut(step as usize) {
            *place = None;
        }
        for other in STEPS {
            if self.answer(other).is_some() && other.reads().contains(&step) {
                self.clear(other);
            }
        }
        // Not every step names all that leads to it.
        if step != Step::Confirmation {
            self.clear(Step::Confirmation);
        }
    }

    /// Reads a state.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
        match value.get("version") {
            Some(version) if *version == VERSION => {}
            Some(version) => {
                return Err(format!("it is of version {version}, this is for version {VERSION}"));
            }
            None => return Err(String::from("it does not say its version")),
        }
        let known = ["version", "language", "answers", "at", "in_order"];
        let map = members(&value, &known)?;
        let mut state = Self::new(field(map, "language")?);
        state.in_order = field(map, "in_order")?;
        if let Some(name) = field::<Option<String>>(map, "at")? {
            state.at = Some(step_of(&name)?);
        }
        let answers =
            map.get("answers").and_then(Value::as_object).ok_or("answers must be an object")?;
        for (name, values) in answers {
            let step = step_of(name)?;
            let values = Vec::decode(values).map_err(|reason| format!("{name}: {reason}"))?;
            if let Some(place) = state.answers.get_mut(step as usize) {
                *place = Some(values);
            }
        }
        Ok(state)
    }

    /// The state as it is kept.
    pub(super) fn text(&self) -> String {
        let mut answers = Map::new();
        for step in STEPS {
            if let Some(values) = self.answer(step) {
                answers.insert(step.id().to_owned(), Value::from(values));
            }
        }
        let language = match self.language {
            Language::En => "en",
            Language::Ko => "ko",
        };
        let mut map = Map::new();
        map.insert(String::from("version"), Value::from(VERSION));
        map.insert(String::from("language"), Value::from(language));
        map.insert(String::from("answers"), answers.into());
        map.insert(String::from("at"), Value::from(self.at.map(Step::id)));
        map.insert(String::from("in_order"), Value::from(self.in_order));
        format!("{:#}\n", Value::from(map))
    }
}

fn step_of(name: &str) -> Result<Step, String> {
    Step::of(name).ok_or_else(|| format!("there is no question '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::{Language, STEPS, State, Step};

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let mut state = State::new(Language::Ko);
        state.set(Step::Project, vec![String::from("/p")]);
        state.set(Step::RelatedTasks, Vec::new());
        state.at = Some(Step::TaskType);
        assert_eq!(State::read(&state.text()), Ok(state));
    }

    #[test]
    fn another_state_is_refused() {
        let refused = |text: &str| State::read(text).err().unwrap_or_default();
        for (text, wanted) in [
            ("", "no JSON: EOF while parsing a value at line 1 column 0"),
            ("[]", "it does not say its version"),
            ("{\"answers\":{}}", "it does not say its version"),
            ("{\"version\":0}", "it is of version 0, this is for version 1"),
            ("{\"version\":2,\"new\":1}", "it is of version 2, this is for version 1"),
            ("{\"version\":1}", "answers must be an object"),
            (
                "{\"version\":1,\"x\":1}",
                "unknown field `x`, expected one of `version`, `language`, `answers`, `at`, `in_order`",
            ),
            ("{\"version\":1,\"answers\":{\"x\":[]}}", "there is no question 'x'"),
            ("{\"version\":1,\"answers\":{\"task\":7}}", "task: must be a list"),
            ("{\"version\":1,\"answers\":{},\"at\":\"x\"}", "there is no question 'x'"),
        ] {
            assert_eq!(refused(text), wanted);
        }
    }

    #[test]
    fn an_answer_takes_along_what_depends_on_it() {
        let all = || {
            let mut state = State::new(Language::En);
            for step in STEPS {
                state.answers[step as usize] = Some(vec![String::from("x")]);
            }
            state
        };
        let left = |step: Step, value: &str| {
            let mut state = all();
            state.set(step, vec![String::from(value)]);
            STEPS
                .iter()
                .filter(|it| state.answer(**it).is_some())
                .map(|it| it.id())
                .collect::<Vec<_>>()
        };
        let everything: Vec<&str> = STEPS.iter().map(|step| step.id()).collect();
        for step in STEPS {
            assert_eq!(left(step, "x"), everything, "the same answer changes nothing");
        }
        assert_eq!(left(Step::Project, "y"), ["project"]);
        assert_eq!(
            left(Step::TaskType, "y"),
            [
                "project",
                "task",
                "project_id",
                "task_group",
                "task_id",
                "task_type",
                "related_tasks"
            ]
        );
        let but = |cleared: &[&str]| {
            everything.iter().copied().filter(|id| !cleared.contains(id)).collect::<Vec<_>>()
        };
        assert_eq!(
            left(Step::ApprovedPlan, "y"),
            but(&["approve", "stage_pick", "handoff_stages", "confirmation"])
        );
        assert_eq!(left(Step::Critic, "y"), but(&["models", "confirmation"]));
        assert_eq!(left(Step::Stage, "y"), but(&["confirmation"]));
    }
}
