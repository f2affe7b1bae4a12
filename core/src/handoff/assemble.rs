//! Putting finished stages together on one branch, and what is never done with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::OkstraError;
use crate::worktree::WorktreeRefusal;
use crate::worktree::base::{self, Ancestry, AncestryQuestion, Independent, MergeHead, StageHead};
use crate::worktree::names;

/// A stage to put together with others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The stage.
    pub stage: u32,
    /// The stages it depends on.
    pub depends_on: Vec<u32>,
    /// The commit it ended with.
    pub head: String,
}

/// Where and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssembleRequest<'a> {
    /// The prefix of the task's branches.
    pub prefix: &'a str,
    /// The id of the task.
    pub task_id: &'a str,
    /// Whether the stages are a part of the task; then their numbers are in the branch's name.
    pub group: bool,
    /// Whether they come together on the branch of the task itself.
    pub finished: bool,
    /// The commit that the task started from.
    pub implementation_base: Option<&'a str>,
    /// The branch that the pull request goes to.
    pub base_branch: &'a str,
    /// What is known of the history.
    pub ancestry: &'a [Ancestry],
}

/// How stages are put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AssemblePlan {
    /// The branch.
    pub branch: String,
    /// The commit it starts from.
    pub base: String,
    /// The commits to merge into it, one after the other; one that contains the base is taken over
    /// as it is.
    pub merges: Vec<MergeHead>,
    /// The stages that are left out because one of those commits contains them.
    pub dropped: Vec<u32>,
    /// The commits that the branch has to contain afterwards.
    pub contains: Vec<String>,
    /// What is pushed: `refs/heads/<branch>:refs/heads/<branch>`, nothing else, and never with
    /// force.
    pub refspec: String,
    /// What the host must never do.
    pub forbidden: Vec<Forbidden>,
}

/// Something that is never done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Forbidden {
    /// Pushing with force, by an option or by a `+` in the refspec.
    ForcePush {
        /// The options that would do it.
        options: Vec<&'static str>,
    },
    /// Pushing to a branch.
    PushTo {
        /// The branch, without `refs/heads/`.
        branch: String,
    },
}

/// What comes of assembling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Assembling {
    /// The history between these commits has to be looked at first.
    Needs {
        /// The questions, sorted.
        ancestry: Vec<AncestryQuestion>,
    },
    /// What to do.
    Plan {
        /// It.
        plan: AssemblePlan,
    },
}

/// Plans the collector branch of some stages, given in row order. Fails with a [`WorktreeRefusal`]
/// where one has no commit, where the task has no base, and where the branch would be the one that
/// the pull request goes to.
pub fn assemble(parts: &[Part], request: &AssembleRequest<'_>) -> Result<Assembling, OkstraError> {
    let base = request.implementation_base.filter(|base| !base.is_empty());
    let base = base.ok_or(WorktreeRefusal::NoBase { stage: 0 })?;
    let ordered: Vec<StageHead> = in_order(parts)
        .into_iter()
        .map(|part| StageHead { stage: part.stage, head: Some(part.head.clone()) })
        .collect();
    let heads = base::heads(0, &ordered)?;
    let (merges, dropped) = match base::independent(&heads, request.ancestry) {
        Independent::Unknown(ancestry) => return Ok(Assembling::Needs { ancestry }),
        Independent::Known { heads, dropped } => (heads, dropped),
    };
    let stages: Vec<u32> = parts.iter().map(|part| part.stage).collect();
    let group = if request.group { stages.as_slice() } else { &[] };
    let branch = if request.finished {
        names::task_branch(request.prefix, request.task_id)
    } else {
        names::collector_branch(request.prefix, request.task_id, group)
    };
    let refspec = refspec(&branch, request.base_branch)?;
    let plan = AssemblePlan {
        contains: merges.iter().map(|head| head.commit.clone()).collect(),
        branch,
        base: base.to_owned(),
        merges,
        dropped,
        refspec,
        forbidden: forbidden(request.base_branch),
    };
    Ok(Assembling::Plan { plan })
}

/// What is never done on the way to a base branch.
pub fn forbidden(base_branch: &str) -> Vec<Forbidden> {
    let options = vec!["--force", "-f", "--force-with-lease", "--force-if-includes", "--mirror"];
    let mut list = vec![Forbidden::ForcePush { options }];
    if !base_branch.is_empty() {
        list.push(Forbidden::PushTo { branch: base_branch.to_owned() });
    }
    list
}

/// The only thing that is ever pushed for a branch. Fails with a [`WorktreeRefusal`] where that is
/// the base branch, or no name of a branch.
pub fn refspec(branch: &str, base_branch: &str) -> Result<String, OkstraError> {
    let name = |branch: &str| branch.strip_prefix("refs/heads/").unwrap_or(branch).to_lowercase();
    let plain = !branch.is_empty() && !branch.starts_with(['-', '+']) && !branch.contains(':');
    // Some disks hold branches whose names differ in case alone in one file.
    if !plain || name(branch) == name(base_branch) {
        return Err(WorktreeRefusal::ForbiddenPush { branch: branch.to_owned() }.into());
    }
    Ok(format!("refs/heads/{branch}:refs/heads/{branch}"))
}

/// The parts, dependencies first, else in the given order. What stands in a circle keeps its place
/// at the end.
fn in_order(parts: &[Part]) -> Vec<&Part> {
    let place: BTreeMap<u32, usize> =
        parts.iter().enumerate().map(|(at, part)| (part.stage, at)).collect();
    let mut dependents: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut open: Vec<usize> = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let on: BTreeSet<usize> =
            part.depends_on.iter().filter_map(|on| place.get(on).copied()).collect();
        open.push(on.len());
        for on in on {
            dependents.entry(on).or_default().push(at);
        }
    }
    let mut ready: BTreeSet<usize> =
        open.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| at).collect();
    let mut order: Vec<usize> = Vec::with_capacity(parts.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for dependent in dependents.get(&at).into_iter().flatten() {
            if let Some(count) = open.get_mut(*dependent) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*dependent);
                }
            }
        }
    }
    order.extend((0..parts.len()).filter(|at| open.get(*at).is_some_and(|count| *count > 0)));
    order.into_iter().filter_map(|at| parts.get(at)).collect()
}
