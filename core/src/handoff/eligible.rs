//! Which stages may be handed over, and why the others may not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ledger::{StageRecord, Verdict};

/// A stage as it stands for the hand-over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The stage.
    pub stage: u32,
    /// The stages it depends on.
    pub depends_on: &'a [u32],
    /// Whether it is struck out.
    pub cancelled: bool,
    /// What the ledger says of it.
    pub record: Option<&'a StageRecord>,
}

/// Why a stage cannot be handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum NotEligible {
    /// It is struck out.
    Cancelled,
    /// Nobody builds it yet.
    NotStarted,
    /// It is being built.
    Running,
    /// It is done without a commit.
    NoCommit,
    /// Nobody has verified it.
    NotVerified,
    /// Its latest verification did not accept it.
    NotAccepted {
        /// What it found; `null` for an unknown word.
        verdict: Option<Verdict>,
        /// The report.
        report_path: String,
    },
    /// It is in a pull request already.
    InPullRequest {
        /// Its address.
        url: Option<String>,
        /// Its number.
        #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
        number: Option<u64>,
    },
    /// It builds on stages that cannot be handed over: its commits contain theirs.
    BuiltOn {
        /// Those stages, ascending.
        stages: Vec<u32>,
    },
}

impl NotEligible {
    /// The reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::Cancelled => String::from("it is cancelled"),
            Self::NotStarted => String::from("it is not done"),
            Self::Running => String::from("it is being built"),
            Self::NoCommit => String::from("it is done without a commit"),
            Self::NotVerified => String::from("it is not verified"),
            Self::NotAccepted { verdict, .. } => {
                let verdict = verdict.map_or("of an unknown word", Verdict::as_str);
                format!("its latest verification is {verdict}")
            }
            Self::InPullRequest { url, number } => match (number, url) {
                (Some(number), _) => format!("it is in pull request #{number}"),
                (None, Some(url)) => format!("it is in {url}"),
                (None, None) => String::from("it is in a pull request"),
            },
            Self::BuiltOn { stages } => {
                let list: Vec<String> = stages.iter().map(ToString::to_string).collect();
                let s = if list.len() == 1 { "" } else { "s" };
                format!("it builds on stage{s} {}, which cannot be handed over", list.join(", "))
            }
        }
    }
}

/// A stage with whether it may be handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Eligibility {
    /// The stage.
    pub stage: u32,
    /// Why not; `null` where it may.
    pub reason: Option<NotEligible>,
}

/// Says of every stage whether it may be handed over, in the given order.
///
/// A stage may that is done with a commit, accepted by its latest verification or by the one of the
/// whole task (`whole_task`), and in no pull request, unless `again` is asked for. What it builds
/// on comes along with its commits, so that has to be fit for it too, or in a pull request before.
pub fn eligible(stages: &[Candidate<'_>], whole_task: bool, again: bool) -> Vec<Eligibility> {
    let mut reasons: Vec<Option<NotEligible>> =
        stages.iter().map(|stage| own_reason(stage, whole_task, again)).collect();
    let place: BTreeMap<u32, usize> =
        stages.iter().enumerate().map(|(at, it)| (it.stage, at)).collect();
    // What cannot go, or builds on such; what is in a pull request is on its way.
    let mut held: BTreeSet<u32> = stages
        .iter()
        .zip(&reasons)
        .filter(|(_, reason)| {
            !matches!(
                reason,
                None | Some(NotEligible::InPullRequest { .. } | NotEligible::Cancelled)
            )
        })
        .map(|(stage, _)| stage.stage)
        .collect();
    let mut dependents: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for stage in stages {
        for on in stage.depends_on {
            dependents.entry(*on).or_default().push(stage.stage);
        }
    }
    let mut open: Vec<u32> = held.iter().copied().collect();
    while let Some(on) = open.pop() {
        for dependent in dependents.get(&on).into_iter().flatten() {
            let at = place.get(dependent).copied();
            let free = at.and_then(|at| reasons.get(at)).is_some_and(Option::is_none);
            if free && held.insert(*dependent) {
                open.push(*dependent);
            }
        }
    }
    for (stage, reason) in stages.iter().zip(&mut reasons) {
        if reason.is_none() && held.contains(&stage.stage) {
            let on: BTreeSet<u32> =
                stage.depends_on.iter().copied().filter(|on| held.contains(on)).collect();
            *reason = Some(NotEligible::BuiltOn { stages: on.into_iter().collect() });
        }
    }
    let both = stages.iter().zip(reasons);
    both.map(|(stage, reason)| Eligibility { stage: stage.stage, reason }).collect()
}

/// Says of every stage whether it is finished, in the given order: done with a commit. Whether
/// anybody has verified it, and where it is on its way to, does not matter.
pub fn finished(stages: &[Candidate<'_>]) -> Vec<Eligibility> {
    let judged = stages.iter().map(|it| (it.stage, own_reason(it, true, true)));
    judged.map(|(stage, reason)| Eligibility { stage, reason }).collect()
}

/// Why a stage by itself cannot be handed over.
fn own_reason(stage: &Candidate<'_>, whole_task: bool, again: bool) -> Option<NotEligible> {
    if stage.cancelled {
        return Some(NotEligible::Cancelled);
    }
    let Some((record, done)) =
        stage.record.and_then(|record| Some((record, record.done.as_ref()?)))
    else {
        let running = stage.record.is_some_and(|record| record.holder().is_some());
        return Some(if running { NotEligible::Running } else { NotEligible::NotStarted });
    };
    if let (Some(pr), false) = (&record.pr, again) {
        return Some(NotEligible::InPullRequest { url: pr.pr_url.clone(), number: pr.number() });
    }
    if done.head_commit.is_empty() {
        return Some(NotEligible::NoCommit);
    }
    match &record.verified {
        _ if whole_task => None,
        None => Some(NotEligible::NotVerified),
        Some(row) if row.verdict == Some(Verdict::Accepted) => None,
        Some(row) => Some(NotEligible::NotAccepted {
            verdict: row.verdict,
            report_path: row.report_path.clone(),
        }),
    }
}
