//! The stage selector: which stage a session builds next.
//!
//! A wave is a picture, never a barrier: a stage is ready the moment its own dependencies are
//! done. The same request gives the same answer, and every front asks here.

use std::fmt::Write as _;

use serde::Serialize;
use thiserror::Error;

use crate::decode::decode_words;
use crate::numbers::{ByNumber, Numbers};
use crate::order::{FirstOf, order_by, sorted};
use crate::printable::printable;
use crate::worktree::forecast::Conflict;

/// What the selector is asked.
#[derive(Clone, Debug, Default)]
pub struct ChooseRequest<'a> {
    /// The stages of the plan, in row order.
    pub stages: Vec<StageFacts<'a>>,
    /// The stages that are done.
    pub done: Numbers,
    /// The stages that are running, with whose they are.
    pub running: ByNumber<Holder>,
    /// The stages that the worktree registry reserves.
    pub reserved: Numbers,
    /// The running stages that may be taken all the same, because their session is dead.
    pub reclaim: Numbers,
    /// What is wished: `auto` or a number, as it was given.
    pub wish: &'a str,
    /// Which of several ready stages comes first.
    pub order: Order,
    /// The conflicts that were foreseen between running and finished stages.
    pub conflicts: &'a [Conflict],
}

/// A stage as the selector takes it.
#[derive(Clone, Debug, Default)]
pub struct StageFacts<'a> {
    /// Its number.
    pub stage: u32,
    /// The stages it depends on.
    pub depends_on: &'a [u32],
    /// The files its steps name, sorted, each once.
    pub files: Vec<&'a str>,
    /// The number of its steps.
    pub steps: u32,
    /// Whether it is struck out.
    pub cancelled: bool,
    /// Whether its dependencies cannot be read, so that it may wait for more than they say.
    pub unclear: bool,
}

/// Whose a running stage is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The key of the implementation task.
    pub impl_task_key: String,
    /// Since when, as the ledger says.
    pub started_at: String,
}

/// Which of several ready stages comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Order {
    /// The lowest number.
    #[default]
    Number,
    /// The longest chain of steps behind it, then the most stages it unlocks, then row order.
    CriticalPath,
}

decode_words!(Order { "number" => Number, "critical-path" => CriticalPath } Some(Self::default()));

/// Why a stage is not given.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The wish is neither `auto` nor a whole number.
    #[error("--stage must be 'auto' or an integer, got '{wish}'")]
    NotAStage {
        /// What was given.
        wish: String,
    },
    /// The plan has no such stage.
    #[error("--stage {wish} not in Stage Map (have [{}])", listed(.have))]
    NotInMap {
        /// What was given.
        wish: String,
        /// The stages there are.
        have: Vec<u32>,
    },
    /// The stage is struck out.
    #[error("--stage {stage} is cancelled in the Stage Map")]
    Cancelled {
        /// The stage.
        stage: u32,
    },
    /// The stage is done.
    #[error("--stage {stage} already completed (consumers.jsonl status:done exists)")]
    AlreadyCompleted {
        /// The stage.
        stage: u32,
    },
    /// The stage is taken.
    #[error("--stage {stage} already started by {key} at {at}")]
    AlreadyStarted {
        /// The stage.
        stage: u32,
        /// Whose it is.
        key: String,
        /// Since when.
        at: String,
    },
    /// The worktree registry keeps the stage for somebody.
    #[error("--stage {stage} is reserved in the worktree registry")]
    Reserved {
        /// The stage.
        stage: u32,
    },
    /// The stage's dependencies are not done.
    #[error("--stage {stage} waits for {}", waits_on(.on))]
    Waits {
        /// The stage.
        stage: u32,
        /// What it waits for.
        on: Vec<u32>,
    },
    /// Nothing can be started now.
    #[error(
        "no stage is ready: every remaining stage has unsatisfied depends-on{}",
        remaining(.running, .reserved, .waiting)
    )]
    NoneReady {
        /// The stages that run.
        running: Vec<u32>,
        /// The stages that are reserved.
        reserved: Vec<u32>,
        /// The stages that wait, with what each waits for.
        waiting: Vec<(u32, Vec<u32>)>,
    },
    /// There is nothing left to do.
    #[error("every stage is already done")]
    AllDone,
    /// Only implementation runs have stages.
    #[error("--stage is only meaningful with --task-type implementation; got {task_type}")]
    NotImplementation {
        /// The task type.
        task_type: String,
    },
}

/// The stages of a refusal are listed up to this many.
const MOST_LISTED: usize = 40;

fn listed(stages: &[u32]) -> String {
    let mut out = String::new();
    for (at, stage) in stages.iter().take(MOST_LISTED).enumerate() {
        let _ = write!(out, "{}{stage}", if at == 0 { "" } else { ", " });
    }
    if stages.len() > MOST_LISTED {
        let _ = write!(out, ", … {} in all", stages.len());
    }
    out
}

/// What a stage waits for, in words.
fn waits_on(stages: &[u32]) -> String {
    match stages {
        [] => String::from("what its depends-on says, which cannot be read"),
        [stage] => format!("stage {stage}"),
        several => format!("stages {}", listed(several)),
    }
}

fn remaining(running: &[u32], reserved: &[u32], waiting: &[(u32, Vec<u32>)]) -> String {
    let mut parts = Vec::new();
    if !running.is_empty() {
        parts.push(format!("running: {}", listed(running)));
    }
    if !reserved.is_empty() {
        parts.push(format!("reserved: {}", listed(reserved)));
    }
    if !waiting.is_empty() {
        let each: Vec<String> = waiting
            .iter()
            .take(MOST_LISTED)
            .map(|(stage, on)| match on.as_slice() {
                [] => format!("{stage} for {}", waits_on(on)),
                on => format!("{stage} for {}", listed(on)),
            })
            .collect();
        let more = if waiting.len() > MOST_LISTED { "; …" } else { "" };
        parts.push(format!("waiting: {}{more}", each.join("; ")));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(" · ")) }
}

/// The chosen stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Choice {
    /// The stage.
    pub stage: u32,
    /// The order by which it came first; `null` where it was asked for by number.
    pub order: Option<Order>,
    /// The running stages that touch a file of its steps, with the files.
    pub shares: Vec<Share>,
}

/// Files that a stage has in common with a running one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Share {
    /// The running stage.
    pub stage: u32,
    /// The files, ascending.
    pub files: Vec<String>,
}

/// Why a stage is ready or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Readiness {
    /// It can be claimed now.
    Ready,
    /// A session builds it.
    Running,
    /// The worktree registry reserves it.
    Reserved,
    /// Its dependencies are not done.
    Waiting,
    /// It is done.
    Done,
    /// It is struck out.
    Cancelled,
    /// What it depends on cannot be read, or is a circle: it can never be ready.
    Broken,
}

/// A stage with everything the choice looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Explanation {
    /// The stage.
    pub stage: u32,
    /// Why it is ready, taken or waiting.
    pub readiness: Readiness,
    /// The dependencies that are not done, ascending.
    pub waits_for: Vec<u32>,
    /// The steps of the longest chain of stages that wait for this one, its own not included.
    pub steps_behind: u32,
    /// How many stages depend on it directly, without those that are struck out.
    pub unlocks: u32,
    /// The running stages that touch a file of its steps.
    pub shares: Vec<Share>,
    /// The foreseen conflicts that concern it: of a running or finished stage those it is part of,
    /// of another those between two stages it depends on. Empty where nobody foresaw any.
    pub conflicts: Vec<Conflict>,
}

/// Chooses a stage.
pub fn choose(request: &ChooseRequest<'_>) -> Result<Choice, Refusal> {
    let field = Field::new(request);
    match Wish::of(request.wish) {
        Wish::Auto => field.auto(),
        Wish::Number(number) => field.by_number(number),
        Wish::Other => Err(Refusal::NotAStage { wish: printable(request.wish).into_owned() }),
    }
}

/// What is wished, as it reads.
pub(crate) enum Wish {
    Auto,
    /// A whole number; `None` where no stage can have it.
    Number(Option<u32>),
    Other,
}

impl Wish {
    pub(crate) fn of(wish: &str) -> Self {
        let given = wish.trim();
        if given == "auto" {
            return Self::Auto;
        }
        let digits = given.strip_prefix('-').unwrap_or(given);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Other;
        }
        Self::Number(given.parse().ok())
    }
}

/// Explains every stage, in row order.
pub fn explain(request: &ChooseRequest<'_>) -> Vec<Explanation> {
    explained(request, true)
}

/// The same without the files that stages share, which can be many times the plan.
pub(crate) fn overview(request: &ChooseRequest<'_>) -> Vec<Explanation> {
    explained(request, false)
}

fn explained(request: &ChooseRequest<'_>, with_shares: bool) -> Vec<Explanation> {
    let field = Field::new(request);
    request
        .stages
        .iter()
        .enumerate()
        .map(|(at, facts)| {
            let readiness = field.readiness(at, facts);
            let open = with_shares && matches!(readiness, Readiness::Ready | Readiness::Waiting);
            Explanation {
                stage: facts.stage,
                readiness,
                waits_for: if readiness == Readiness::Waiting {
                    field.waits_for(facts)
                } else {
                    Vec::new()
                },
                steps_behind: field.behind.get(at).copied().unwrap_or_default(),
                unlocks: field.unlocks.get(at).copied().unwrap_or_default(),
                shares: if open { field.shares(facts) } else { Vec::new() },
                conflicts: request
                    .conflicts
                    .iter()
                    .filter(|it| it.concerns(facts))
                    .cloned()
                    .collect(),
            }
        })
        .collect()
}

/// The request with what is worked out from it once.
struct Field<'r, 'a> {
    request: &'r ChooseRequest<'a>,
    /// For each stage, the steps of the longest chain behind it; 0 in a circle.
    behind: Vec<u32>,
    /// For each stage, how many depend on it.
    unlocks: Vec<u32>,
    /// The files of the running stages: file and stage, sorted.
    busy: Vec<(&'a str, u32)>,
    /// For each stage, whether it stands in or behind a circle, or behind what cannot be read.
    broken: Vec<bool>,
}

impl<'r, 'a> Field<'r, 'a> {
    fn new(request: &'r ChooseRequest<'a>) -> Self {
        let stages = &request.stages;
        let index = FirstOf::new(stages.iter().enumerate().map(|(at, facts)| (facts.stage, at)));
        let mut open = Vec::with_capacity(stages.len());
        let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
        for (at, facts) in stages.iter().enumerate() {
            let mut count = usize::from(facts.unclear);
            for on in facts.depends_on {
                count += 1;
                if let Some(list) = index.get(*on).and_then(|on| dependents.get_mut(on)) {
                    list.push(at);
                }
            }
            open.push(count);
        }
        let mut order: Vec<usize> =
            open.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| at).collect();
        let mut broken = vec![true; stages.len()];
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            if let Some(flag) = broken.get_mut(at) {
                *flag = false;
            }
            for &dependent in dependents.get(at).map(Vec::as_slice).unwrap_or_default() {
                if let Some(count) = open.get_mut(dependent) {
                    *count -= 1;
                    if *count == 0 {
                        order.push(dependent);
                    }
                }
            }
        }
        let mut behind = vec![0_u32; stages.len()];
        for &at in order.iter().rev() {
            let longest = dependents
                .get(at)
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .filter_map(|&on| {
                    let facts = stages.get(on).filter(|facts| !facts.cancelled)?;
                    Some(behind.get(on)?.saturating_add(facts.steps))
                })
                .max();
            if let Some(slot) = behind.get_mut(at) {
                *slot = longest.unwrap_or_default();
            }
        }
        let live = |at: &&usize| stages.get(**at).is_some_and(|facts| !facts.cancelled);
        let unlocks = dependents
            .iter()
            .map(|list| u32::try_from(list.iter().filter(live).count()).unwrap_or(u32::MAX))
            .collect();
        let mut files: Vec<(&'a str, u32)> = Vec::new();
        for facts in stages.iter().filter(|facts| request.running.get(facts.stage).is_some()) {
            files.extend(facts.files.iter().map(|file| (*file, facts.stage)));
        }
        let sorted = order_by(files.len(), &|a, b| files.get(a).cmp(&files.get(b)));
        let busy = sorted.into_iter().filter_map(|at| files.get(at).copied()).collect();
        Self { request, behind, unlocks, busy, broken }
    }

    fn readiness(&self, at: usize, facts: &StageFacts<'_>) -> Readiness {
        let request = self.request;
        let stage = facts.stage;
        if facts.cancelled {
            Readiness::Cancelled
        } else if request.done.contains(stage) {
            Readiness::Done
        } else if request.running.get(stage).is_some() && !request.reclaim.contains(stage) {
            Readiness::Running
        } else if request.reserved.contains(stage) {
            Readiness::Reserved
        } else if facts.unclear {
            Readiness::Broken
        } else if facts.depends_on.iter().all(|on| request.done.contains(*on)) {
            Readiness::Ready
        } else if self.broken.get(at).copied().unwrap_or(true) {
            Readiness::Broken
        } else {
            Readiness::Waiting
        }
    }

    fn waits_for(&self, facts: &StageFacts<'_>) -> Vec<u32> {
        facts.depends_on.iter().copied().filter(|on| !self.request.done.contains(*on)).collect()
    }

    /// The running stages that touch a file of this one.
    fn shares(&self, facts: &StageFacts<'_>) -> Vec<Share> {
        let mut found: Vec<(u32, &str)> = Vec::new();
        for file in &facts.files {
            let from = self.busy.partition_point(|(busy, _)| busy < file);
            for (_, stage) in self.busy.iter().skip(from).take_while(|(busy, _)| busy == file) {
                if *stage != facts.stage {
                    found.push((*stage, file));
                }
            }
        }
        let mut shares: Vec<Share> = Vec::new();
        for (stage, file) in sorted(found, |(stage, _)| (u64::from(*stage), 0)) {
            match shares.last_mut() {
                Some(share) if share.stage == stage => share.files.push(file.to_owned()),
                _ => shares.push(Share { stage, files: vec![file.to_owned()] }),
            }
        }
        shares
    }

    /// Whether a running stage touches a file of this one. Listing all of them for every stage
    /// would grow with the square of the stages.
    fn shares_any(&self, facts: &StageFacts<'_>) -> bool {
        facts.files.iter().any(|file| {
            let from = self.busy.partition_point(|(busy, _)| busy < file);
            let mut of = self.busy.iter().skip(from).take_while(|(busy, _)| busy == file);
            of.any(|(_, stage)| *stage != facts.stage)
        })
    }

    fn auto(&self) -> Result<Choice, Refusal> {
        let stages = &self.request.stages;
        let ready = stages
            .iter()
            .enumerate()
            .filter(|(at, facts)| self.readiness(*at, facts) == Readiness::Ready);
        let order = self.request.order;
        // Fewer is better in every place of the key.
        let key = |(at, facts): &(usize, &StageFacts<'_>)| {
            let rank = match order {
                Order::Number => (facts.stage, 0),
                Order::CriticalPath => {
                    let most = |list: &[u32]| u32::MAX - list.get(*at).copied().unwrap_or(0);
                    (most(&self.behind), most(&self.unlocks))
                }
            };
            (self.shares_any(facts), rank, *at)
        };
        match ready.min_by_key(key) {
            Some((_, facts)) => {
                Ok(Choice { stage: facts.stage, order: Some(order), shares: self.shares(facts) })
            }
            None => Err(self.nothing()),
        }
    }

    /// Why `auto` finds nothing.
    fn nothing(&self) -> Refusal {
        let (mut running, mut reserved, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for (at, facts) in self.request.stages.iter().enumerate() {
            match self.readiness(at, facts) {
                Readiness::Running => running.push(facts.stage),
                Readiness::Reserved => reserved.push(facts.stage),
                Readiness::Waiting | Readiness::Broken => {
                    waiting.push((facts.stage, self.waits_for(facts)));
                }
                Readiness::Ready | Readiness::Done | Readiness::Cancelled => {}
            }
        }
        if running.is_empty() && reserved.is_empty() && waiting.is_empty() {
            return Refusal::AllDone;
        }
        Refusal::NoneReady { running, reserved, waiting }
    }

    fn by_number(&self, number: Option<u32>) -> Result<Choice, Refusal> {
        let request = self.request;
        let found =
            request.stages.iter().enumerate().find(|(_, facts)| Some(facts.stage) == number);
        let Some((at, facts)) = found else {
            let have = request.stages.iter().map(|facts| facts.stage).collect();
            return Err(Refusal::NotInMap { wish: request.wish.trim().to_owned(), have });
        };
        let stage = facts.stage;
        match self.readiness(at, facts) {
            Readiness::Ready => Ok(Choice { stage, order: None, shares: self.shares(facts) }),
            Readiness::Cancelled => Err(Refusal::Cancelled { stage }),
            Readiness::Done => Err(Refusal::AlreadyCompleted { stage }),
            Readiness::Running => {
                let holder = request.running.get(stage).cloned().unwrap_or_default();
                Err(Refusal::AlreadyStarted {
                    stage,
                    key: printable(&holder.impl_task_key).into_owned(),
                    at: printable(&holder.started_at).into_owned(),
                })
            }
            Readiness::Reserved => Err(Refusal::Reserved { stage }),
            Readiness::Waiting | Readiness::Broken => {
                Err(Refusal::Waits { stage, on: self.waits_for(facts) })
            }
        }
    }
}
