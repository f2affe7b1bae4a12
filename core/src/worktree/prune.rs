//! What may be removed: nothing that would lose work, unless a person says so and is told what.

use std::collections::BTreeSet;

use serde::Serialize;

use super::refusal::{WorktreeRefusal, what_of};
use super::repair::WorktreeAction;
use crate::decode::{decode, decode_words};
use crate::error::OkstraError;
use crate::printable::printable;

/// What is known of a registered worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on one another")]
pub struct PruneEntry {
    /// Its task.
    pub task_key: String,
    /// Its stage; 0 for the worktree of the task itself.
    pub stage: u32,
    /// The repository.
    pub project_root: String,
    /// The folder.
    pub path: String,
    /// The branch.
    pub branch: String,
    /// What its stage does.
    pub state: StageLife,
    /// Whether the folder is there.
    pub exists: bool,
    /// The commit of its branch; missing where the branch is not there.
    pub head: Option<String>,
    /// The paths with changes that no commit has; missing where git could not say it.
    pub dirty: Option<Vec<String>>,
    /// How many of its commits are neither in the base branch, nor in a collector, nor on a remote;
    /// missing where git could not say it.
    pub commits: Option<u32>,
    /// A branch that stays and contains its head: the base branch, a collector, a remote.
    pub kept_in: Option<String>,
    /// The other stages of the task whose branch, which is still there, contains its head.
    pub stages: Vec<u32>,
    /// Whether the repository of the project is not there to be asked.
    pub project_missing: bool,
    /// Whether git has it locked.
    pub locked: bool,
    /// Whether the caller stands in it.
    pub current: bool,
    /// Its size.
    #[cfg_attr(feature = "typescript", ts(type = "number", optional))]
    pub bytes: Option<u64>,
}

decode!(PruneEntry {
    task_key,
    stage,
    project_root,
    path,
    branch,
    state,
    exists,
    head,
    dirty,
    commits,
    kept_in,
    stages,
    project_missing,
    locked,
    current,
    bytes
});

/// What the stage of a worktree does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum StageLife {
    /// A claim works on it, or a worktree is being made for one.
    Running,
    /// It is done.
    Done,
    /// Nobody works on it and it is not done.
    Free,
    /// The ledger cannot be read.
    #[default]
    Unknown,
}

decode_words!(StageLife {
    "running" => Running, "done" => Done, "free" => Free, "unknown" => Unknown
} None);

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PruneRequest {
    /// Whether to remove what would lose work.
    pub force: bool,
}

decode!(optional PruneRequest { force });

/// What becomes of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Fate {
    /// It is removed.
    Remove,
    /// It stays.
    Keep,
}

/// Work that is nowhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Loss {
    /// The files with changes that no commit has.
    pub files: Vec<String>,
    /// The commits that no branch besides its own has.
    pub commits: u32,
}

/// A worktree with what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PruneLine {
    /// Its task.
    pub task_key: String,
    /// Its stage; `null` for the worktree of the task itself.
    pub stage: Option<u32>,
    /// The folder.
    pub path: String,
    /// The branch.
    pub branch: String,
    /// What becomes of it.
    pub fate: Fate,
    /// Why, in one line: why it is safe, what would be lost, or what is in the way.
    pub why: String,
    /// What would be, or is, lost; `null` where nothing is.
    pub loss: Option<Loss>,
    /// Whether it stays also with `--force`.
    pub fixed: bool,
    /// Its size.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub bytes: Option<u64>,
    /// What the host does, in order; empty where it stays.
    pub actions: Vec<WorktreeAction>,
}

/// What may be removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PrunePlan {
    /// Every worktree, in the given order.
    pub lines: Vec<PruneLine>,
    /// How many are removed.
    pub removed: u32,
    /// The size of those whose size is known.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub bytes: u64,
}

/// Says of every worktree whether it may be removed. Never fails; it is a `Result` as every entry
/// of the core is.
pub fn prune(entries: &[PruneEntry], request: &PruneRequest) -> Result<PrunePlan, OkstraError> {
    // A stage whose branch goes keeps nothing for another. Whatever is removed before that one was
    // contained in something that stays, so that what it contained is contained there too.
    let mut gone: BTreeSet<(&str, u32)> = BTreeSet::new();
    let mut lines = Vec::with_capacity(entries.len());
    let (mut removed, mut bytes) = (0_u32, 0_u64);
    for entry in entries {
        let line =
            judge(entry, request.force, &|stage| !gone.contains(&(entry.task_key.as_str(), stage)));
        if line.fate == Fate::Remove {
            gone.insert((&entry.task_key, entry.stage));
            removed = removed.saturating_add(1);
            bytes = bytes.saturating_add(entry.bytes.unwrap_or_default());
        }
        lines.push(line);
    }
    Ok(PrunePlan { lines, removed, bytes })
}

/// The removal of one worktree. Fails with a [`WorktreeRefusal`] where it stays, naming what would
/// be words.
pub fn remove(entry: &PruneEntry, request: &PruneRequest) -> Result<PruneLine, OkstraError> {
    let force = request.force;
    // What nobody can judge is given up one by one, by a person who knows.
    let line = match (in_the_way(entry), on_trust(entry)) {
        (None, Some((why, forced))) => {
            let fate = if force { Fate::Remove } else { Fate::Keep };
            let loss = safe(entry, &|_| true).err().filter(|_| !entry.project_missing);
            let words = loss.as_ref().map(|loss| format!("loses {}", loss_words(loss)));
            let words = words.as_deref().unwrap_or(forced);
            let why =
                if force { format!("forced: {words}") } else { format!("{why}; --force {words}") };
            decided(entry, fate, &why, loss, false)
        }
        _ => judge(entry, force, &|_| true),
    };
    if line.fate == Fate::Remove {
        return Ok(line);
    }
    let (stage, path) = (entry.stage, entry.path.clone());
    Err(match line.loss {
        _ if !line.fixed && on_trust(entry).is_some() => {
            WorktreeRefusal::Unjudged { stage, path, why: line.why }
        }
        Some(loss) if !line.fixed => {
            WorktreeRefusal::WouldLose { stage, path, what: loss_words(&loss) }
        }
        _ => WorktreeRefusal::InUse { stage, path, why: line.why },
    }
    .into())
}

fn judge(entry: &PruneEntry, force: bool, stays: &dyn Fn(u32) -> bool) -> PruneLine {
    if let Some(why) = in_the_way(entry) {
        return decided(entry, Fate::Keep, &why, None, true);
    }
    if let Some((why, _)) = on_trust(entry) {
        let why = format!("{why}; 'okstra worktree remove' with --force takes it away alone");
        return decided(entry, Fate::Keep, &why, None, true);
    }
    match safe(entry, stays) {
        Ok(why) => decided(entry, Fate::Remove, &why, None, false),
        Err(loss) => {
            let words = loss_words(&loss);
            let (fate, why) = if force {
                (Fate::Remove, format!("forced: loses {words}"))
            } else {
                (Fate::Keep, format!("would lose {words}"))
            };
            decided(entry, fate, &why, Some(loss), false)
        }
    }
}

fn decided(
    entry: &PruneEntry,
    fate: Fate,
    why: &str,
    loss: Option<Loss>,
    fixed: bool,
) -> PruneLine {
    let mut actions = Vec::new();
    if fate == Fate::Remove {
        // Without its repository nothing but the note of it can be taken away.
        if !entry.project_missing {
            actions.push(WorktreeAction::RemoveWorktree {
                project_root: entry.project_root.clone(),
                path: entry.path.clone(),
                branch: entry.head.as_ref().map(|_| entry.branch.clone()),
                expected_head: entry.head.clone(),
                discard: loss.as_ref().is_some_and(|loss| !loss.files.is_empty()),
            });
        }
        let task_key = entry.task_key.clone();
        actions.push(WorktreeAction::Forget { task_key, stage: entry.stage });
    }
    PruneLine {
        task_key: entry.task_key.clone(),
        stage: (entry.stage > 0).then_some(entry.stage),
        path: entry.path.clone(),
        branch: entry.branch.clone(),
        fate,
        why: printable(why).into_owned(),
        loss,
        fixed,
        bytes: entry.bytes,
        actions,
    }
}

/// Why only a person can say whether a worktree is needed, and what forcing does where nothing in it
/// is lost.
fn on_trust(entry: &PruneEntry) -> Option<(String, &'static str)> {
    if entry.project_missing {
        let why = format!("its project {} cannot be asked", entry.project_root);
        let forced = "forgets it; its folder and its branch stay where they are, only the note of \
                      them is lost";
        return Some((why, forced));
    }
    if entry.state != StageLife::Unknown {
        return None;
    }
    let of = what_of(entry.stage);
    let why =
        format!("its plan and its ledger are gone, so nobody can say whether {of} is being built");
    Some((why, "removes it, and nothing in it is lost"))
}

/// Why a worktree stays whatever a person says.
fn in_the_way(entry: &PruneEntry) -> Option<String> {
    let of = what_of(entry.stage);
    let words = match entry.state {
        StageLife::Running => format!("{of} is being built in it"),
        _ if entry.project_missing => return None,
        _ if entry.current => {
            String::from("you stand in it; go elsewhere first, for example to the project")
        }
        _ if entry.locked => {
            format!("git has it locked; 'git worktree unlock {}' opens it", entry.path)
        }
        _ if entry.exists && entry.dirty.is_none() => {
            String::from("git cannot say what is in it; 'okstra worktree repair' looks into it")
        }
        _ if entry.head.is_some() && entry.commits.is_none() && entry.kept_in.is_none() => {
            String::from("git cannot say which of its commits are elsewhere")
        }
        _ => return None,
    };
    Some(words)
}

/// Why nothing is lost, or what is.
fn safe(entry: &PruneEntry, stays: &dyn Fn(u32) -> bool) -> Result<String, Loss> {
    let files = entry.dirty.clone().unwrap_or_default();
    let keeper = entry.stages.iter().find(|stage| **stage != entry.stage && stays(**stage));
    let elsewhere = match (&entry.kept_in, keeper) {
        _ if entry.head.is_none() => Some(String::from("its branch is not there")),
        (Some(branch), _) => Some(format!("everything in it is in {branch}")),
        (None, Some(stage)) => Some(format!("everything in it is in stage {stage}")),
        (None, None) if entry.commits == Some(0) => {
            Some(String::from("it has no commit of its own"))
        }
        (None, None) => None,
    };
    match elsewhere {
        Some(why) if files.is_empty() => Ok(why),
        Some(_) => Err(Loss { files, commits: 0 }),
        None => Err(Loss { files, commits: entry.commits.unwrap_or_default() }),
    }
}

/// The files of a loss are named up to this many.
const MOST_FILES: usize = 10;

fn loss_words(loss: &Loss) -> String {
    let count = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let mut words = Vec::new();
    if !loss.files.is_empty() {
        let first: Vec<_> = loss.files.iter().take(MOST_FILES).map(|it| printable(it)).collect();
        let more = if loss.files.len() > MOST_FILES { ", …" } else { "" };
        let files = count(loss.files.len(), "uncommitted file");
        words.push(format!("{files} ({}{more})", first.join(", ")));
    }
    match usize::try_from(loss.commits) {
        Ok(0) => {}
        commits => {
            let commits = commits.unwrap_or(usize::MAX);
            let are = if commits == 1 { "is" } else { "are" };
            words.push(format!("{} that {are} nowhere else", count(commits, "commit")));
        }
    }
    words.join(" and ")
}
