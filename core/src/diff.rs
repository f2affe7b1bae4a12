//! Two plans compared as plans: by stage, not by line.
//!
//! Which stage of the old plan became which of the new one is told by what stays the same, the
//! surest first: title and number, then the title alone, then the steps, then the number where the
//! two have something in common. What is left was removed or added.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::evidence::plain_title;
use crate::order::{FirstOf, sort};
use crate::plan::{ApprovalState, Plan, Stage, Step};

/// A stage of one of the two plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageName {
    /// Its number; `null` where it cannot be read.
    pub stage: Option<u32>,
    /// Its title.
    pub title: String,
}

/// One field of a step that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FieldChange {
    /// The column of the step table.
    pub field: &'static str,
    /// What it was.
    pub from: String,
    /// What it is.
    pub to: String,
}

/// A step that is new, gone, or other than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StepChange {
    /// It is new.
    Added {
        /// The text of its `step` cell.
        step: String,
        /// The text of its `action` cell.
        action: String,
    },
    /// It is gone.
    Removed {
        /// The text of its `step` cell.
        step: String,
        /// The text of its `action` cell.
        action: String,
    },
    /// Some of its cells are other ones.
    Changed {
        /// The text of its `step` cell now.
        step: String,
        /// The cells.
        fields: Vec<FieldChange>,
    },
}

/// What happened to a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StageChange {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another title.
    Renamed {
        /// The title before.
        from: String,
        /// The title now.
        to: String,
    },
    /// It has another number, because stages were put into another order.
    Reordered {
        /// The number before.
        from: Option<u32>,
        /// The number now.
        to: Option<u32>,
    },
    /// It depends on other stages. A stage that only got another number is the same one.
    Rewired {
        /// The dependencies it has more, by the numbers of the new plan.
        added: Vec<u32>,
        /// The dependencies it has no more, by the numbers of the old plan.
        removed: Vec<u32>,
    },
    /// It was struck out.
    Cancelled,
    /// It is no longer struck out.
    Restored,
    /// Its steps changed.
    Steps {
        /// How, in the order of the new steps, those that are gone last.
        steps: Vec<StepChange>,
    },
    /// Its steps name other files.
    Files {
        /// The files named only now, sorted.
        added: Vec<String>,
        /// The files named no more, sorted.
        removed: Vec<String>,
    },
    /// One of its texts changed.
    Text {
        /// Which one.
        part: StagePart,
        /// The Markdown before; `null` where it was missing.
        from: Option<String>,
        /// The Markdown now; `null` where it is missing.
        to: Option<String>,
    },
}

/// A text of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StagePart {
    /// The cell `exit-contract-summary` of the Stage Map.
    ExitContractSummary,
    /// `Stage Exit Contract`.
    ExitContract,
    /// `Stage Validation`.
    Validation,
    /// `Carry-In`.
    CarryIn,
    /// Anything else in the row or the section, which evidence is held to as well.
    Wording,
}

/// What became of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageDiff {
    /// It in the old plan; `null` for one that is new.
    pub old: Option<StageName>,
    /// It in the new plan; `null` for one that is gone.
    pub new: Option<StageName>,
    /// What happened; empty where nothing did.
    pub changes: Vec<StageChange>,
}

/// What became of the plan itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApprovalChange {
    /// The approval before.
    pub from: ApprovalState,
    /// The approval now.
    pub to: ApprovalState,
}

/// Two plans compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PlanDiff {
    /// Every stage, in the order of the new plan, those that are gone last.
    pub stages: Vec<StageDiff>,
    /// What became of the approval; `null` where it is the same.
    pub approval: Option<ApprovalChange>,
}

/// Compares two plans. Near-linear in their length.
pub fn diff(old: &Plan, new: &Plan) -> PlanDiff {
    let became = matched(&old.stages, &new.stages);
    let mut origin = vec![None; new.stages.len()];
    for (from, to) in became.iter().enumerate() {
        if let Some(slot) = to.and_then(|to| origin.get_mut(to)) {
            *slot = Some(from);
        }
    }
    // What a number of the old plan is in the new one.
    let number_now: BTreeMap<u32, u32> = became
        .iter()
        .zip(&old.stages)
        .filter_map(|(to, was)| Some((was.stage_number?, new.stages.get((*to)?)?.stage_number?)))
        .collect();
    // A dependency on what is no stage stays what it is.
    let is_stage = FirstOf::new(
        old.stages.iter().enumerate().filter_map(|(at, stage)| Some((stage.stage_number?, at))),
    );
    let now_of = |stage: u32| {
        number_now.get(&stage).copied().or_else(|| (!is_stage.contains(stage)).then_some(stage))
    };
    let mut stages: Vec<StageDiff> = new
        .stages
        .iter()
        .zip(&origin)
        .map(|(now, from)| match from.and_then(|from| old.stages.get(from)) {
            Some(was) => StageDiff {
                old: Some(name(was)),
                new: Some(name(now)),
                changes: changes(was, now, &now_of),
            },
            None => {
                StageDiff { old: None, new: Some(name(now)), changes: vec![StageChange::Added] }
            }
        })
        .collect();
    let gone = became.iter().zip(&old.stages).filter(|(to, _)| to.is_none());
    stages.extend(gone.map(|(_, was)| StageDiff {
        old: Some(name(was)),
        new: None,
        changes: vec![StageChange::Removed],
    }));
    let (from, to) = (old.approval.state, new.approval.state);
    PlanDiff { stages, approval: (from != to).then_some(ApprovalChange { from, to }) }
}

fn name(stage: &Stage) -> StageName {
    StageName { stage: stage.stage_number, title: stage.title.clone() }
}

/// For each old stage the new one it became.
fn matched(old: &[Stage], new: &[Stage]) -> Vec<Option<usize>> {
    let mut pairs = Pairs { became: vec![None; old.len()], taken: vec![false; new.len()] };
    let number = |stage: &Stage| stage.stage_number.unwrap_or_default().to_string();
    let title = |stage: &Stage| plain_title(&stage.title);
    let both = |stage: &Stage| Some(format!("{}\n{}", number(stage), title(stage)));
    pairs.match_by(old, new, true, &both);
    pairs.match_by(old, new, false, &|stage| Some(title(stage)));
    pairs.match_by(old, new, false, &|stage| {
        let steps = &stage.section.as_ref()?.steps;
        let text: Vec<String> = steps.iter().map(content).collect();
        (!text.is_empty()).then(|| text.join("\n"))
    });
    // A new title under an old number: the same stage only where something else is the same.
    let by_number = FirstOf::new(
        new.iter().enumerate().filter_map(|(at, stage)| Some((stage.stage_number?, at))),
    );
    for (at, was) in old.iter().enumerate() {
        let to = was.stage_number.and_then(|number| by_number.get(number));
        let like = |to: &usize| new.get(*to).is_some_and(|now| is_alike(was, now));
        if let Some(to) = to.filter(like) {
            pairs.pair(at, to);
        }
    }
    pairs.became
}

struct Pairs {
    became: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Pairs {
    fn is_free(&self, old: usize, new: usize) -> bool {
        self.became.get(old).is_some_and(Option::is_none)
            && self.taken.get(new).is_some_and(|taken| !taken)
    }

    fn pair(&mut self, old: usize, new: usize) {
        if !self.is_free(old, new) {
            return;
        }
        if let (Some(slot), Some(taken)) = (self.became.get_mut(old), self.taken.get_mut(new)) {
            *slot = Some(new);
            *taken = true;
        }
    }

    /// Pairs stages whose key is in both plans exactly once among those without a partner; where
    /// `many`, also keys that are in both equally often, in their order.
    fn match_by(
        &mut self,
        old: &[Stage],
        new: &[Stage],
        many: bool,
        key: &dyn Fn(&Stage) -> Option<String>,
    ) {
        let mut found: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (at, stage) in old.iter().enumerate() {
            if self.became.get(at).is_some_and(Option::is_none)
                && let Some(key) = key(stage)
            {
                found.entry(key).or_default().0.push(at);
            }
        }
        for (at, stage) in new.iter().enumerate() {
            if self.taken.get(at).is_some_and(|taken| !taken)
                && let Some(key) = key(stage)
            {
                found.entry(key).or_default().1.push(at);
            }
        }
        for pair in found.into_values() {
            let (old, new) = pair;
            if old.len() == new.len() && (many || old.len() == 1) {
                for (old, new) in old.into_iter().zip(new) {
                    self.pair(old, new);
                }
            }
        }
    }
}

/// Whether two stages have a step, a file or their exit contract in common.
fn is_alike(was: &Stage, now: &Stage) -> bool {
    let (Some(old), Some(new)) = (&was.section, &now.section) else {
        return was.section.is_none() && now.section.is_none();
    };
    let contract =
        |text: &Option<String>| text.as_deref().map(squeezed).filter(|it| !it.is_empty());
    if contract(&old.exit_contract).is_some()
        && contract(&old.exit_contract) == contract(&new.exit_contract)
    {
        return true;
    }
    let marks = |steps: &[Step]| -> std::collections::BTreeSet<String> {
        let contents = steps.iter().map(content);
        let files = steps.iter().flat_map(|step| &step.files).map(|file| format!("file {file}"));
        contents.chain(files).collect()
    };
    let old = marks(&old.steps);
    marks(&new.steps).iter().any(|mark| old.contains(mark))
}

/// A step without its number, as a text.
fn content(step: &Step) -> String {
    [
        squeezed(&step.action),
        step.files.join(" "),
        squeezed(&step.command),
        squeezed(&step.expected),
    ]
    .join("\u{1f}")
}

/// A text with its white space made equal.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What happened to a stage that is in both plans.
fn changes(was: &Stage, now: &Stage, now_of: &dyn Fn(u32) -> Option<u32>) -> Vec<StageChange> {
    let mut changes = Vec::new();
    if was.stage_number != now.stage_number {
        changes.push(StageChange::Reordered { from: was.stage_number, to: now.stage_number });
    }
    if plain_title(&was.title) != plain_title(&now.title) {
        changes.push(StageChange::Renamed { from: was.title.clone(), to: now.title.clone() });
    }
    match (was.cancelled, now.cancelled) {
        (false, true) => changes.push(StageChange::Cancelled),
        (true, false) => changes.push(StageChange::Restored),
        _ => {}
    }
    changes.extend(rewired(was, now, now_of));
    let none = Vec::new();
    let steps = |stage: &'_ Stage| stage.section.as_ref().map(|it| it.steps.clone());
    let (old_steps, new_steps) = (steps(was), steps(now));
    let (old_steps, new_steps) =
        (old_steps.as_ref().unwrap_or(&none), new_steps.as_ref().unwrap_or(&none));
    let steps = step_changes(old_steps, new_steps);
    if !steps.is_empty() {
        changes.push(StageChange::Steps { steps });
    }
    let (old_files, new_files) = (files(old_steps), files(new_steps));
    let only = |these: &[String], others: &[String]| -> Vec<String> {
        these.iter().filter(|file| others.binary_search(file).is_err()).cloned().collect()
    };
    let (added, removed) = (only(&new_files, &old_files), only(&old_files, &new_files));
    if !(added.is_empty() && removed.is_empty()) {
        changes.push(StageChange::Files { added, removed });
    }
    let texts = |stage: &Stage| {
        let section = stage.section.as_ref();
        let of = |part: fn(&crate::plan::StageSection) -> &Option<String>| {
            section.and_then(|section| part(section).clone())
        };
        [
            (StagePart::ExitContractSummary, Some(stage.exit_contract_summary.clone())),
            (StagePart::ExitContract, of(|it| &it.exit_contract)),
            (StagePart::Validation, of(|it| &it.validation)),
            (StagePart::CarryIn, of(|it| &it.carry_in)),
        ]
    };
    for ((part, from), (_, to)) in texts(was).into_iter().zip(texts(now)) {
        let plain = |text: &Option<String>| text.as_deref().map(squeezed).unwrap_or_default();
        if plain(&from) != plain(&to) {
            changes.push(StageChange::Text { part, from, to });
        }
    }
    changes
}

fn rewired(was: &Stage, now: &Stage, now_of: &dyn Fn(u32) -> Option<u32>) -> Option<StageChange> {
    let mut kept: Vec<u32> = Vec::new();
    let mut removed = Vec::new();
    for old in &was.depends_on {
        match now_of(*old).filter(|new| now.depends_on.binary_search(new).is_ok()) {
            Some(new) => kept.push(new),
            None => removed.push(*old),
        }
    }
    sort(&mut kept);
    let is_new = |new: &&u32| kept.binary_search(new).is_err();
    let added: Vec<u32> = now.depends_on.iter().filter(is_new).copied().collect();
    (!(added.is_empty() && removed.is_empty())).then_some(StageChange::Rewired { added, removed })
}

/// The files that steps name, sorted, each once.
fn files(steps: &[Step]) -> Vec<String> {
    let files: std::collections::BTreeSet<&String> =
        steps.iter().flat_map(|step| &step.files).collect();
    files.into_iter().cloned().collect()
}

/// How steps changed. A step that only got another number is the same one.
fn step_changes(old: &[Step], new: &[Step]) -> Vec<StepChange> {
    let mut free: Vec<bool> = vec![true; old.len()];
    let mut origin: Vec<Option<usize>> = vec![None; new.len()];
    let mut pair = |key: &dyn Fn(&Step) -> String, origin: &mut Vec<Option<usize>>| {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, step) in old.iter().enumerate().rev() {
            if free.get(at) == Some(&true) {
                places.entry(key(step)).or_default().push(at);
            }
        }
        for (step, slot) in new.iter().zip(origin.iter_mut()) {
            if slot.is_none()
                && let Some(at) = places.get_mut(&key(step)).and_then(Vec::pop)
                && let Some(free) = free.get_mut(at)
            {
                *free = false;
                *slot = Some(at);
            }
        }
    };
    pair(&content, &mut origin);
    pair(&|step| squeezed(&step.step), &mut origin);
    let mut changes = Vec::new();
    for (step, from) in new.iter().zip(&origin) {
        match from.and_then(|at| old.get(at)) {
            None => changes
                .push(StepChange::Added { step: step.step.clone(), action: step.action.clone() }),
            Some(was) => {
                let fields = fields(was, step);
                if !fields.is_empty() {
                    changes.push(StepChange::Changed { step: step.step.clone(), fields });
                }
            }
        }
    }
    let gone = old.iter().zip(&free).filter(|(_, free)| **free);
    changes.extend(gone.map(|(step, _)| StepChange::Removed {
        step: step.step.clone(),
        action: step.action.clone(),
    }));
    changes
}

/// The cells of a step that changed, without its number.
fn fields(was: &Step, now: &Step) -> Vec<FieldChange> {
    let cells = |step: &Step| {
        [
            ("action", step.action.clone()),
            ("files", step.files.join(", ")),
            ("command", step.command.clone()),
            ("expected", step.expected.clone()),
        ]
    };
    let pairs = cells(was).into_iter().zip(cells(now));
    pairs
        .filter(|((_, from), (_, to))| squeezed(from) != squeezed(to))
        .map(|((field, from), (_, to))| FieldChange { field, from, to })
        .collect()
}
