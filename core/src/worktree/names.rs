//! The names of branches and the places of worktrees.
//!
//! A name is made once, when the worktree is; from then on the registry says it. Two tasks never
//! share a branch because of a character that git does not take: an id that had to be changed
//! carries a hash of what it was.

use std::fmt::Write as _;

use crate::digest::sha256_hex;
use serde::Serialize;

use crate::decode::decode;
use crate::layout::{join, sanitised, task_key_parts};
use crate::order;
use crate::printable::steers_terminal;

/// The prefix of a task whose category is not known.
pub const DEFAULT_PREFIX: &str = "feat";

/// The most bytes of an id in a branch. Git keeps a branch in a file of that name, and files have
/// names of at most 255 bytes.
const MOST_ID: usize = 160;

/// The most bytes of the list of stages in a collector's name.
const MOST_STAGES: usize = 40;

/// The digits of the hash behind a changed id.
const HASH: usize = 8;

/// The prefix of a task's branches, by its work category in any case.
pub fn branch_prefix(category: Option<&str>) -> &'static str {
    let category = category.unwrap_or_default().trim().to_ascii_lowercase();
    match category.as_str() {
        "bugfix" | "fix" => "fix",
        "refactor" => "refactor",
        "ops" | "chore" | "infra" => "ops",
        "improvement" | "improve" => "improve",
        _ => DEFAULT_PREFIX,
    }
}

/// The branch of a task.
pub fn task_branch(prefix: &str, task_id: &str) -> String {
    format!("{prefix}-{}", branch_part(task_id))
}

/// The branch of a stage.
pub fn stage_branch(prefix: &str, task_id: &str, stage: u32) -> String {
    format!("{}-s{stage}", task_branch(prefix, task_id))
}

/// The branch on which finished stages are put together: all of them, or the ones of a group in
/// ascending order.
pub fn collector_branch(prefix: &str, task_id: &str, group: &[u32]) -> String {
    let mut stages = group.to_vec();
    order::sort(&mut stages);
    stages.dedup();
    let mut list = String::new();
    for stage in &stages {
        // Writing to a string cannot fail.
        let _ = write!(list, "-s{stage}");
    }
    if list.len() > MOST_STAGES {
        list = format!("-{}", short_hash(&list));
    }
    format!("{}-collect{list}", task_branch(prefix, task_id))
}

/// The folder of a task's worktree under `$OKSTRA_HOME`.
pub fn task_worktree(home: &str, project: &str, group: &str, id: &str) -> String {
    join(home, &format!("worktrees/{}/{}/{}", sanitised(project), sanitised(group), sanitised(id)))
}

/// The folder of a stage's worktree.
pub fn stage_worktree(home: &str, project: &str, group: &str, id: &str, stage: u32) -> String {
    format!("{}.stages/stage-{stage}", task_worktree(home, project, group, id))
}

/// The registry of all worktrees.
pub fn registry_file(home: &str) -> String {
    join(home, "worktrees/registry.json")
}

/// Whether a path lies in the folder where worktrees are made.
pub(crate) fn is_ours(home: &str, path: &str) -> bool {
    path.strip_prefix(&join(home, "worktrees/")).is_some_and(|rest| !rest.is_empty())
}

/// The stage of a worktree by the end of its path, `<id>.stages/stage-<N>`, with the path of its
/// task's worktree.
pub(crate) fn stage_of_worktree(path: &str) -> Option<(&str, u32)> {
    let (folder, name) = path.rsplit_once('/')?;
    let digits = name.strip_prefix("stage-")?;
    let canonical = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !canonical {
        return None;
    }
    Some((folder.strip_suffix(".stages")?, digits.parse().ok()?))
}

/// An id as a part of a branch, by the rules of `git check-ref-format`: of one component, so that
/// no branch is a folder of another. An id that needs no change stays as it is.
fn branch_part(id: &str) -> String {
    let mut part = String::with_capacity(id.len());
    for ch in id.chars() {
        let bad = matches!(ch, '/' | '\\' | '~' | '^' | ':' | '?' | '*' | '[')
            || ch.is_whitespace()
            || steers_terminal(ch)
            || (ch == '.' && part.ends_with('.'))
            || (ch == '{' && part.ends_with('@'));
        if part.len() + ch.len_utf8() > MOST_ID {
            break;
        }
        part.push(if bad { '-' } else { ch });
    }
    let mut name = part.trim_start_matches(['-', '.']);
    // What ends so in any case is the same file as a lock of git's on some disks.
    loop {
        let shorter = name.trim_end_matches('.');
        let cut = shorter.len().saturating_sub(".lock".len());
        let is_lock = shorter.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(".lock"));
        let shorter = if is_lock { shorter.get(..cut).unwrap_or_default() } else { shorter };
        if shorter.len() == name.len() {
            break;
        }
        name = shorter;
    }
    if name == id && !name.is_empty() {
        return part;
    }
    let name = if name.is_empty() { "task" } else { name };
    format!("{name}-{}", short_hash(id))
}

fn short_hash(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(HASH).collect()
}
/// Of which task and stage the places are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct PlacesRequest {
    /// `$OKSTRA_HOME`, absolute.
    pub home: String,
    /// The key of the task. One that is not `project:group:id` is an id of the group `plans`.
    pub task_key: String,
    /// The project's folder, whose name is the project of such a key.
    pub project_root: String,
    /// The work category of the task.
    pub category: Option<String>,
    /// The prefix that is registered; it stands.
    pub prefix: Option<String>,
    /// The stage; 0 for the task itself.
    pub stage: u32,
}

decode!(PlacesRequest { home, task_key, project_root, category, prefix, stage });

/// Where the worktrees of a task and a stage lie, and what their branches are called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Places {
    /// The registry of all worktrees.
    pub registry: String,
    /// The prefix of the branches.
    pub prefix: String,
    /// The folder of the worktree.
    pub path: String,
    /// Its branch.
    pub branch: String,
}

/// Where the worktree of a stage lies, or that of the task for stage 0.
pub fn places(request: &PlacesRequest) -> Places {
    let home = &request.home;
    let (project, group, id) = task_key_parts(&request.task_key).unwrap_or_else(|_| {
        let project = request.project_root.rsplit('/').next().unwrap_or_default();
        (project, "plans", &request.task_key)
    });
    let given = request.prefix.as_deref().filter(|prefix| !prefix.is_empty());
    let prefix = given.unwrap_or_else(|| branch_prefix(request.category.as_deref()));
    let (path, branch) = match request.stage {
        0 => (task_worktree(home, project, group, id), task_branch(prefix, id)),
        stage => (stage_worktree(home, project, group, id, stage), stage_branch(prefix, id, stage)),
    };
    Places { registry: registry_file(home), prefix: prefix.to_owned(), path, branch }
}
