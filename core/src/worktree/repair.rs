//! The registry against what git, the disk, the ledgers and the processes say.
//!
//! A finding says what disagrees and what repairing does about it. Nothing that could hold work is
//! ever taken away here: what is cleaned away has no commit and no claim, and git itself refuses to
//! remove a worktree with changes.

use serde::Serialize;

use super::names;
use super::refusal::what_of;
use super::registry::{
    self, RegisteredTask, Registry, RegistryFacts, StageWorktree, TaskWorktree, WorktreeState,
};
use crate::claims::ProcessState;
use crate::decode::decode;
use crate::error::OkstraError;
use crate::ledger::LedgerState;
use crate::printable::printable;
use crate::stage::Decision;

/// What a repair looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RepairFacts {
    /// The registry.
    pub registry: RegistryFacts,
    /// `$OKSTRA_HOME`, its real absolute path.
    pub home: String,
    /// The repositories of the projects in the registry that could be asked.
    pub repositories: Vec<Repository>,
    /// The ledgers of the tasks in the registry that could be read.
    pub ledgers: Vec<TaskLedger>,
    /// The folders of the registry and of git's lists that are on the disk.
    pub folders: Vec<String>,
}

decode!(optional RepairFacts { registry, home, repositories, ledgers, folders });

/// What git says of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Repository {
    /// The project's folder, as the registry names it.
    pub project_root: String,
    /// Its worktrees.
    pub worktrees: Vec<GitWorktree>,
    /// Its branches.
    pub branches: Vec<GitBranch>,
}

decode!(Repository { project_root, worktrees, branches });

/// A worktree in git's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct GitWorktree {
    /// Its folder.
    pub path: String,
    /// The commit it is at.
    pub head: Option<String>,
    /// The branch that is checked out; missing for a detached head.
    pub branch: Option<String>,
}

decode!(GitWorktree { path, head, branch });

/// A branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GitBranch {
    /// Its name, without `refs/heads/`.
    pub name: String,
    /// Its commit.
    pub head: String,
}

decode!(GitBranch { name, head });

/// The ledger of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TaskLedger {
    /// The key of the task.
    pub task_key: String,
    /// Its text; empty where there is no ledger.
    pub text: String,
}

decode!(TaskLedger { task_key, text });

/// What is repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct RepairRequest {
    /// Only this task.
    pub task_key: Option<String>,
}

decode!(optional RepairRequest { task_key });

/// What disagrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum RepairKind {
    /// Whoever made the worktree is gone, and nobody claimed it.
    HalfProvisioned,
    /// A worktree is being made, and it cannot be said whether anybody still does.
    MakerUnknown,
    /// The claim of the worktree stands, only the registry still calls it begun.
    NotActivated,
    /// The folder is not there.
    FolderMissing,
    /// The folder is there, and git does not know it as a worktree.
    NotInGit,
    /// Another branch, or none, is checked out in it.
    OtherBranch,
    /// Its branch does not exist.
    BranchMissing,
    /// Its stage is done or was given back, and it still counts as worked in.
    StillActive,
    /// It counts as worked in, and no claim was ever made of its stage.
    NeverClaimed,
    /// Git has a worktree in okstra's folder that the registry does not know.
    Unregistered,
    /// The project cannot be asked.
    ProjectMissing,
}

/// Something that disagrees, with what is done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RepairFinding {
    /// What it is.
    pub kind: RepairKind,
    /// The task, or `null` where none is known.
    pub task_key: Option<String>,
    /// The stage; `null` for the worktree of the task itself.
    pub stage: Option<u32>,
    /// The worktree.
    pub path: String,
    /// What is wrong, in one line.
    pub message: String,
    /// What repairing does, or what a person has to do.
    pub repair: String,
    /// What the host does, in order; empty where a person has to decide.
    pub actions: Vec<WorktreeAction>,
}

/// Something to do to a worktree or its entry. The host carries actions out in order and stops
/// with the finding at the first that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum WorktreeAction {
    /// Remove a worktree through git, then its branch, if that is still at the expected commit.
    RemoveWorktree {
        /// The repository.
        project_root: String,
        /// The folder.
        path: String,
        /// The branch to delete; `null` to keep it.
        branch: Option<String>,
        /// The commit the branch has to be at.
        expected_head: Option<String>,
        /// Whether git may throw away changes; only where a person said so.
        discard: bool,
    },
    /// Make the folder of a branch again.
    RestoreWorktree {
        /// The repository.
        project_root: String,
        /// The folder.
        path: String,
        /// The branch to check out.
        branch: String,
    },
    /// Let git find a folder again (`git worktree repair`).
    Reconnect {
        /// The repository.
        project_root: String,
        /// The folder.
        path: String,
    },
    /// Take it out of the registry.
    Forget {
        /// The task.
        task_key: String,
        /// The stage; 0 for the worktree of the task itself.
        stage: u32,
    },
    /// Call it ready in the registry.
    Activate {
        /// The task.
        task_key: String,
        /// The stage.
        stage: u32,
    },
    /// Call it kept in the registry.
    Keep {
        /// The task.
        task_key: String,
        /// The stage.
        stage: u32,
        /// The claim it was made for.
        claim_id: Option<String>,
    },
    /// Put it into the registry: as active for the claim, or as kept without one.
    Adopt {
        /// The task.
        task_key: String,
        /// The stage; 0 for the worktree of the task itself.
        stage: u32,
        /// The folder.
        path: String,
        /// The branch.
        branch: String,
        /// The commit it started from, where the ledger says it.
        base: Option<String>,
        /// The running claim it belongs to.
        claim_id: Option<String>,
    },
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RepairReport {
    /// By task and stage in the order of the registry, what the registry does not know at the end.
    pub findings: Vec<RepairFinding>,
}

/// Compares the registry with everything else. Fails with a
/// [`WorktreeRefusal`](super::WorktreeRefusal) where the registry cannot be used.
pub fn repair(
    facts: &RepairFacts,
    request: &RepairRequest,
) -> Result<Decision<RepairReport>, OkstraError> {
    let registry = registry::read(&facts.registry)?;
    let wanted = |key: &str| request.task_key.as_deref().is_none_or(|wanted| wanted == key);
    let begun = registry
        .tasks
        .iter()
        .filter(|task| wanted(&task.task_key))
        .flat_map(|task| &task.stages)
        .filter(|entry| entry.state == WorktreeState::Provisioning);
    if begun.clone().any(|it| registry::state_of(&facts.registry, it.by.as_ref()).is_none()) {
        return Ok(registry::asks(begun, &facts.registry));
    }
    let mut findings = Vec::new();
    for task in registry.tasks.iter().filter(|task| wanted(&task.task_key)) {
        let git = facts.repositories.iter().find(|it| it.project_root == task.project_root);
        let Some(git) = git else {
            let empty = task.stages.is_empty() && task.worktree.is_none();
            findings.extend((!empty).then(|| project_missing(task)));
            continue;
        };
        let ledger = facts.ledgers.iter().find(|it| it.task_key == task.task_key);
        let ledger = ledger.map(|ledger| LedgerState::read(ledger.text.as_bytes()));
        let place = Place { facts, git, task, ledger };
        findings.extend(task.worktree.as_ref().and_then(|worktree| place.of_task(worktree)));
        findings.extend(task.stages.iter().filter_map(|entry| place.of_stage(entry)));
    }
    findings.extend(unregistered(facts, &registry, request));
    let report = RepairReport { findings };
    Ok(Decision::Decided { effects: Vec::new(), answer: report, warnings: registry.warnings })
}

/// What is known around the worktrees of one task.
struct Place<'f> {
    facts: &'f RepairFacts,
    git: &'f Repository,
    task: &'f RegisteredTask,
    /// Missing where the ledger cannot be read: then nothing is concluded from it.
    ledger: Option<LedgerState>,
}

impl Place<'_> {
    fn of_task(&self, worktree: &TaskWorktree) -> Option<RepairFinding> {
        self.on_disk(0, &worktree.path, &worktree.branch, false)
    }

    fn of_stage(&self, entry: &StageWorktree) -> Option<RepairFinding> {
        let stage = entry.stage;
        let running = self.running(entry);
        if entry.state == WorktreeState::Provisioning {
            return self.begun(entry, running);
        }
        if let Some(finding) = self.on_disk(stage, &entry.path, &entry.branch, running) {
            return Some(finding);
        }
        let record = self.ledger.as_ref()?.stage(stage).cloned().unwrap_or_default();
        if entry.state != WorktreeState::Active || record.holder().is_some() {
            return None;
        }
        let keep = || vec![self.keep(entry)];
        let repair = "calls it kept; 'okstra worktree prune' says what may be removed";
        let over = if record.done.is_some() {
            "is done"
        } else if record.released.is_empty() {
            let words =
                format!("stage {stage} is worked in by nobody: no claim of it was recorded");
            return Some(self.finding(
                RepairKind::NeverClaimed,
                stage,
                &entry.path,
                &words,
                repair,
                keep(),
            ));
        } else {
            "was given back"
        };
        let words = format!("stage {stage} {over}, and its worktree still counts as worked in");
        Some(self.finding(RepairKind::StillActive, stage, &entry.path, &words, repair, keep()))
    }

    /// Whether the ledger has a running claim of this entry.
    fn running(&self, entry: &StageWorktree) -> bool {
        let holder = self.ledger.as_ref().and_then(|ledger| ledger.stage(entry.stage)?.holder());
        holder.is_some_and(|holder| match (&holder.claim_id, &entry.claim_id) {
            (Some(held), Some(of)) => held == of,
            _ => holder.worktree.as_ref().is_none_or(|path| *path == entry.path),
        })
    }

    /// A worktree that was begun and is not ready.
    fn begun(&self, entry: &StageWorktree, running: bool) -> Option<RepairFinding> {
        let StageWorktree { stage, path, branch, .. } = entry;
        let stage = *stage;
        let (task_key, maker) = (self.task.task_key.clone(), registry::maker_name(entry));
        let process = registry::state_of(&self.facts.registry, entry.by.as_ref());
        if process == Some(ProcessState::Alive) {
            return None;
        }
        if running {
            let words = format!("stage {stage} is claimed, and its worktree still counts as begun");
            let actions = vec![WorktreeAction::Activate { task_key, stage }];
            let kind = RepairKind::NotActivated;
            return Some(self.finding(kind, stage, path, &words, "calls it ready", actions));
        }
        if process != Some(ProcessState::Gone) {
            let words = format!(
                "the worktree of stage {stage} is being made by {maker}, which cannot be judged \
                 from here"
            );
            let repair = "nothing; where nobody makes it, 'okstra worktree remove' takes it away";
            return Some(self.finding(
                RepairKind::MakerUnknown,
                stage,
                path,
                &words,
                repair,
                Vec::new(),
            ));
        }
        let words = format!("the worktree of stage {stage} was begun by {maker}, which is gone");
        let head = self.branch(branch);
        let listed = self.listed(path);
        // A branch that left its base may have somebody's work.
        if head.is_some() && head != entry.base.as_deref() {
            let repair = "calls it kept, for its branch has commits of its own";
            let actions = vec![self.keep(entry)];
            return Some(self.finding(
                RepairKind::HalfProvisioned,
                stage,
                path,
                &words,
                repair,
                actions,
            ));
        }
        if self.there(path) && listed.is_none() {
            let repair = "nothing: the folder is there and git does not know it; look at it, move \
                          it away and repair again";
            return Some(self.finding(
                RepairKind::HalfProvisioned,
                stage,
                path,
                &words,
                repair,
                Vec::new(),
            ));
        }
        let mut actions = Vec::new();
        if listed.is_some() || head.is_some() {
            actions.push(WorktreeAction::RemoveWorktree {
                project_root: self.git.project_root.clone(),
                path: path.clone(),
                branch: head.map(|_| branch.clone()),
                expected_head: head.map(str::to_owned),
                discard: false,
            });
        }
        actions.push(WorktreeAction::Forget { task_key, stage });
        let repair = "takes away what there is of it; it has no commit of its own";
        Some(self.finding(RepairKind::HalfProvisioned, stage, path, &words, repair, actions))
    }

    /// A worktree against git and the disk.
    fn on_disk(
        &self,
        stage: u32,
        path: &str,
        branch: &str,
        running: bool,
    ) -> Option<RepairFinding> {
        let of = what_of(stage);
        let listed = self.listed(path);
        let head = self.branch(branch);
        let project_root = self.git.project_root.clone();
        if !self.there(path) {
            let words = format!("the folder of {of} is not there");
            let kind = RepairKind::FolderMissing;
            if running && head.is_some() && self.held_elsewhere(path, branch).is_none() {
                let (path_text, branch) = (path.to_owned(), branch.to_owned());
                let restore =
                    WorktreeAction::RestoreWorktree { project_root, path: path_text, branch };
                let repair = "makes it again from its branch; what was in no commit is lost";
                return Some(self.finding(kind, stage, path, &words, repair, vec![restore]));
            }
            if running {
                let repair = "nothing: a claim works in it; release the stage, then repair again";
                return Some(self.finding(kind, stage, path, &words, repair, Vec::new()));
            }
            let mut actions = Vec::new();
            if listed.is_some() {
                actions.push(WorktreeAction::RemoveWorktree {
                    project_root,
                    path: path.to_owned(),
                    branch: None,
                    expected_head: None,
                    discard: false,
                });
            }
            actions.push(WorktreeAction::Forget { task_key: self.task.task_key.clone(), stage });
            let repair = if head.is_some() {
                format!("forgets it; the branch {branch} stays")
            } else {
                String::from("forgets it")
            };
            return Some(self.finding(kind, stage, path, &words, &repair, actions));
        }
        let Some(listed) = listed else {
            let words = format!("the folder of {of} is no worktree of {project_root}");
            let actions = vec![WorktreeAction::Reconnect { project_root, path: path.to_owned() }];
            let repair = "lets git look for the connection; the folder stays in any case";
            return Some(self.finding(RepairKind::NotInGit, stage, path, &words, repair, actions));
        };
        if listed.branch.as_deref() == Some(branch) || branch.is_empty() {
            return None;
        }
        if head.is_none() {
            let words = format!("the branch {branch} of {of} does not exist");
            let repair = format!(
                "nothing; 'git switch -c {branch}' in the worktree makes it at the commit it is at"
            );
            let kind = RepairKind::BranchMissing;
            return Some(self.finding(kind, stage, path, &words, &repair, Vec::new()));
        }
        let found = match &listed.branch {
            Some(found) => format!("the branch {found}"),
            None => String::from("no branch"),
        };
        let words = format!("the worktree of {of} has {found} checked out instead of {branch}");
        let repair = format!("nothing; 'git switch {branch}' in the worktree goes back to it");
        Some(self.finding(RepairKind::OtherBranch, stage, path, &words, &repair, Vec::new()))
    }

    fn keep(&self, entry: &StageWorktree) -> WorktreeAction {
        WorktreeAction::Keep {
            task_key: self.task.task_key.clone(),
            stage: entry.stage,
            claim_id: entry.claim_id.clone(),
        }
    }

    fn there(&self, path: &str) -> bool {
        self.facts.folders.iter().any(|folder| folder == path)
    }

    fn listed(&self, path: &str) -> Option<&GitWorktree> {
        self.git.worktrees.iter().find(|worktree| worktree.path == path)
    }

    /// The commit of a branch.
    fn branch(&self, name: &str) -> Option<&str> {
        self.git.branches.iter().find(|it| it.name == name).map(|it| it.head.as_str())
    }

    /// Another worktree that has the branch checked out: git gives a branch to one only.
    fn held_elsewhere(&self, path: &str, branch: &str) -> Option<&GitWorktree> {
        let mut all = self.git.worktrees.iter();
        all.find(|it| it.path != path && it.branch.as_deref() == Some(branch))
    }

    fn finding(
        &self,
        kind: RepairKind,
        stage: u32,
        path: &str,
        message: &str,
        repair: &str,
        actions: Vec<WorktreeAction>,
    ) -> RepairFinding {
        RepairFinding {
            kind,
            task_key: Some(self.task.task_key.clone()),
            stage: (stage > 0).then_some(stage),
            path: path.to_owned(),
            message: printable(message).into_owned(),
            repair: printable(repair).into_owned(),
            actions,
        }
    }
}

fn project_missing(task: &RegisteredTask) -> RepairFinding {
    let message = format!(
        "the project of '{}' cannot be asked: {} is no repository",
        task.task_key, task.project_root
    );
    RepairFinding {
        kind: RepairKind::ProjectMissing,
        task_key: Some(task.task_key.clone()),
        stage: None,
        path: task.project_root.clone(),
        message: printable(&message).into_owned(),
        repair: printable(&format!(
            "nothing; bring the project back to that folder and repair again, or forget its \
             worktrees: 'okstra worktree remove --task-key {} --stage N --force'",
            task.task_key
        ))
        .into_owned(),
        actions: Vec::new(),
    }
}

/// The worktrees in okstra's folder that no entry has.
fn unregistered(
    facts: &RepairFacts,
    registry: &Registry,
    request: &RepairRequest,
) -> Vec<RepairFinding> {
    let known = |path: &str| {
        registry.tasks.iter().any(|task| {
            task.worktree.as_ref().is_some_and(|it| it.path == path)
                || task.stages.iter().any(|it| it.path == path)
        })
    };
    let mut findings = Vec::new();
    for git in &facts.repositories {
        for worktree in &git.worktrees {
            if !names::is_ours(&facts.home, &worktree.path) || known(&worktree.path) {
                continue;
            }
            let owner = owner(facts, registry, git, &worktree.path);
            let key = owner.map(|(task, _)| task.task_key.clone());
            if request.task_key.is_some() && key != request.task_key {
                continue;
            }
            let free = owner.filter(|(task, stage)| match stage {
                0 => task.worktree.is_none(),
                stage => task.stages.iter().all(|entry| entry.stage != *stage),
            });
            let adopt = free.zip(worktree.branch.clone()).map(|((task, stage), branch)| {
                let ledger = facts.ledgers.iter().find(|it| it.task_key == task.task_key);
                let state = ledger.map(|it| LedgerState::read(it.text.as_bytes()));
                let holder = state.as_ref().and_then(|state| state.stage(stage)?.holder());
                let holder =
                    holder.filter(|it| it.worktree.as_deref() == Some(worktree.path.as_str()));
                WorktreeAction::Adopt {
                    task_key: task.task_key.clone(),
                    stage,
                    path: worktree.path.clone(),
                    branch,
                    base: holder.and_then(|holder| holder.base_commit.clone()),
                    claim_id: holder.and_then(|holder| holder.claim_id.clone()),
                }
            });
            let repair = match (&adopt, owner) {
                (Some(_), _) => "takes it into the registry",
                (None, Some((_, 1..))) if worktree.branch.is_some() => {
                    "nothing: the stage has another worktree; look at it and remove it with git"
                }
                _ => "nothing: it cannot be said whose it is; look at it and remove it with git",
            };
            let message = format!("git has a worktree that is not registered: {}", worktree.path);
            findings.push(RepairFinding {
                kind: RepairKind::Unregistered,
                task_key: key,
                stage: owner.map(|(_, stage)| stage).filter(|stage| *stage > 0),
                path: worktree.path.clone(),
                message: printable(&message).into_owned(),
                repair: repair.to_owned(),
                actions: adopt.into_iter().collect(),
            });
        }
    }
    findings
}

/// The registered task and the stage that a folder belongs to by its path.
fn owner<'r>(
    facts: &RepairFacts,
    registry: &'r Registry,
    git: &Repository,
    path: &str,
) -> Option<(&'r RegisteredTask, u32)> {
    let (folder, stage) = names::stage_of_worktree(path).unwrap_or((path, 0));
    let task = registry.tasks.iter().find(|task| {
        let parts = crate::layout::task_key_parts(&task.task_key);
        task.project_root == git.project_root
            && parts.is_ok_and(|(project, group, id)| {
                names::task_worktree(&facts.home, project, group, id) == folder
            })
    })?;
    Some((task, stage))
}
