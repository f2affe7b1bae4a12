//! The base of a stage: the commit its worktree starts from, or the merge that is made in it.
//!
//! A stage sees the code of every stage it depends on. Where one of their heads contains the
//! others it is the base; else the heads are merged in the new worktree, in the order of the
//! dependencies. Whether a commit contains another is a fact that the host asks git for.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::refusal::WorktreeRefusal;
use crate::decode::decode;
use crate::error::OkstraError;

/// What is known of the history between two commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ancestry {
    /// The commit that may be contained.
    pub older: String,
    /// The commit that may contain it.
    pub newer: String,
    /// Whether `newer` contains `older` (`git merge-base --is-ancestor older newer`).
    pub contained: bool,
}

decode!(Ancestry { older, newer, contained });

/// A question: does `newer` contain `older`?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AncestryQuestion {
    /// The commit that may be contained.
    pub older: String,
    /// The commit that may contain it.
    pub newer: String,
}

/// A stage with the commit it ended with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct StageHead {
    /// The stage.
    pub stage: u32,
    /// Its commit; missing or empty in a project without git.
    pub head: Option<String>,
}

decode!(StageHead { stage, head });

/// What a base is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct BaseRequest {
    /// The stage.
    pub stage: u32,
    /// The commit that the task started from.
    pub implementation_base: Option<String>,
    /// The stages it depends on, in their order, with their done heads. Full ids: a short one is
    /// another text for the same commit.
    pub dependencies: Vec<StageHead>,
    /// What is known of their history.
    pub ancestry: Vec<Ancestry>,
}

decode!(BaseRequest { stage, implementation_base, dependencies, ancestry });

/// A commit with the stages that ended with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MergeHead {
    /// The commit.
    pub commit: String,
    /// The stages whose head it is; the first is the one it is told by.
    pub stages: Vec<u32>,
}

/// Where a base comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum BaseSource {
    /// The commit that the task started from: nothing is depended on.
    ImplementationBase,
    /// The head of a dependency that contains all others.
    Dependency,
}

/// The base of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum BaseAnswer {
    /// The history between these commits has to be looked at first.
    Needs {
        /// The questions, sorted.
        ancestry: Vec<AncestryQuestion>,
    },
    /// A commit that is there.
    Commit {
        /// The commit.
        commit: String,
        /// Where it comes from.
        from: BaseSource,
        /// The dependencies whose head it is.
        stages: Vec<u32>,
        /// The commits that the worktree has to contain afterwards.
        contains: Vec<String>,
    },
    /// A merge to make in the new worktree.
    Merge {
        /// The commit to check out.
        first: MergeHead,
        /// The commits to merge into it, one after the other.
        others: Vec<MergeHead>,
        /// The dependencies that are left out because one of those contains them.
        dropped: Vec<u32>,
        /// The commits that the worktree has to contain afterwards.
        contains: Vec<String>,
    },
}

/// The base of a stage. Fails with a [`WorktreeRefusal`] where a dependency has no commit.
pub fn base(request: &BaseRequest) -> Result<BaseAnswer, OkstraError> {
    let stage = request.stage;
    if request.dependencies.is_empty() {
        let commit = request.implementation_base.clone().filter(|commit| !commit.is_empty());
        let commit = commit.ok_or(WorktreeRefusal::NoBase { stage })?;
        return Ok(BaseAnswer::Commit {
            contains: vec![commit.clone()],
            commit,
            from: BaseSource::ImplementationBase,
            stages: Vec::new(),
        });
    }
    let heads = heads(stage, &request.dependencies)?;
    let (heads, dropped) = match independent(&heads, &request.ancestry) {
        Independent::Unknown(ancestry) => return Ok(BaseAnswer::Needs { ancestry }),
        Independent::Known { heads, dropped } => (heads, dropped),
    };
    let contains = heads.iter().map(|head| head.commit.clone()).collect();
    let mut heads = heads.into_iter();
    let Some(first) = heads.next() else {
        return Err(WorktreeRefusal::NoBase { stage }.into());
    };
    if heads.len() == 0 {
        return Ok(BaseAnswer::Commit {
            commit: first.commit,
            from: BaseSource::Dependency,
            stages: first.stages,
            contains,
        });
    }
    Ok(BaseAnswer::Merge { first, others: heads.collect(), dropped, contains })
}

/// The heads of stages, each commit once, in the order of the stages. `stage` is the one that
/// needs them.
pub(crate) fn heads(stage: u32, given: &[StageHead]) -> Result<Vec<MergeHead>, WorktreeRefusal> {
    let mut heads: Vec<MergeHead> = Vec::new();
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    for dependency in given {
        let Some(commit) = dependency.head.as_deref().filter(|head| !head.is_empty()) else {
            return Err(WorktreeRefusal::NoHead { stage, dependency: dependency.stage });
        };
        let at = *place.entry(commit).or_insert(heads.len());
        if let Some(head) = heads.get_mut(at) {
            if !head.stages.contains(&dependency.stage) {
                head.stages.push(dependency.stage);
            }
        } else {
            heads.push(MergeHead { commit: commit.to_owned(), stages: vec![dependency.stage] });
        }
    }
    Ok(heads)
}

/// The heads that no other contains.
pub(crate) enum Independent {
    /// It cannot be said before this is known.
    Unknown(Vec<AncestryQuestion>),
    /// They are these.
    Known {
        /// In the given order.
        heads: Vec<MergeHead>,
        /// The stages of the others.
        dropped: Vec<u32>,
    },
}

/// Drops the heads that another contains. Everything that has to be asked is asked at once.
///
/// What follows from what is known is not asked: containing is transitive, and of two commits only
/// one can contain the other. Should the facts say that both do, they are one commit, and the first
/// stays.
pub(crate) fn independent(heads: &[MergeHead], facts: &[Ancestry]) -> Independent {
    let known = Known::new(facts);
    let above: Vec<BTreeSet<&str>> = heads.iter().map(|head| known.above(&head.commit)).collect();
    let contained = |older: usize, newer: usize| {
        let commit = heads.get(newer).map(|head| head.commit.as_str()).unwrap_or_default();
        above.get(older).is_some_and(|above| above.contains(commit))
    };
    let kept = |at: usize| {
        (0..heads.len()).all(|other| {
            other == at || !contained(at, other) || (contained(other, at) && at < other)
        })
    };
    let kept: Vec<usize> = (0..heads.len()).filter(|at| kept(*at)).collect();
    let mut questions = BTreeSet::new();
    for &older in &kept {
        for &newer in &kept {
            if older == newer || contained(newer, older) || contained(older, newer) {
                continue;
            }
            if let (Some(older), Some(newer)) = (heads.get(older), heads.get(newer))
                && !known.denied(&older.commit, &newer.commit)
            {
                let (older, newer) = (older.commit.clone(), newer.commit.clone());
                questions.insert(AncestryQuestion { older, newer });
            }
        }
    }
    if !questions.is_empty() {
        return Independent::Unknown(questions.into_iter().collect());
    }
    let (mut stay, mut dropped) = (Vec::new(), Vec::new());
    for (at, head) in heads.iter().enumerate() {
        if kept.contains(&at) {
            stay.push(head.clone());
        } else {
            dropped.extend(head.stages.iter().copied());
        }
    }
    Independent::Known { heads: stay, dropped }
}

/// Facts about history, for looking up.
pub(crate) struct Known<'f> {
    newer: BTreeMap<&'f str, Vec<&'f str>>,
    denied: BTreeSet<(&'f str, &'f str)>,
}

impl<'f> Known<'f> {
    pub(crate) fn new(facts: &'f [Ancestry]) -> Self {
        let mut known = Self { newer: BTreeMap::new(), denied: BTreeSet::new() };
        for fact in facts {
            if fact.contained {
                known.newer.entry(&fact.older).or_default().push(&fact.newer);
            } else {
                known.denied.insert((&fact.older, &fact.newer));
            }
        }
        known
    }

    /// The commits that are known to contain one, as far as the facts lead.
    fn above(&self, commit: &str) -> BTreeSet<&'f str> {
        let mut above = BTreeSet::new();
        let mut open: Vec<&'f str> = self.newer.get(commit).cloned().unwrap_or_default();
        while let Some(next) = open.pop() {
            if above.insert(next) {
                open.extend(self.newer.get(next).into_iter().flatten());
            }
        }
        above
    }

    /// Whether one commit is known to contain another.
    pub(crate) fn contains(&self, newer: &str, older: &str) -> bool {
        self.above(older).contains(newer)
    }

    fn denied(&self, older: &str, newer: &str) -> bool {
        self.denied.contains(&(older, newer))
    }
}

/// Whether two ids mean one commit: the shorter may be the beginning of the longer. Without a
/// commit they mean none.
pub(crate) fn same_commit(a: &str, b: &str) -> bool {
    let length = a.len().min(b.len());
    let head = |id: &str| id.get(..length).map(str::to_ascii_lowercase);
    length > 0 && head(a) == head(b)
}
