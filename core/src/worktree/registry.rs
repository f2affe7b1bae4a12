//! The registry `$OKSTRA_HOME/worktrees/registry.json`: which stage of which task is where.
//!
//! It is read tolerantly, entry by entry, and edited as text, so that what an edit does not name
//! stays byte for byte. A worktree is written down as `provisioning` before anything of it is made;
//! whoever dies in between leaves an entry that tells what to clean away.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::refusal::{WorktreeRefusal, what_of};
use crate::claims::{Needs, ProcessFact, ProcessQuestion, ProcessState};
use crate::decode::{decode, decode_words};
use crate::error::OkstraError;
use crate::json_edit::Segment::{Index, Key};
use crate::json_edit::{JsonText, Segment};
use crate::stage::{Decision, Effect};

/// The registry and what the host knows of those who wrote to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct RegistryFacts {
    /// The absolute path of the registry.
    pub path: String,
    /// Its text; missing where there is no such file.
    pub text: Option<String>,
    /// This host, as claims name it.
    pub host: Option<String>,
    /// The processes that were asked for; missing until the core asks.
    pub processes: Option<Vec<ProcessFact>>,
}

decode!(optional RegistryFacts { path, text, host, processes });

/// What is registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Registry {
    /// The tasks, in the order of the file.
    pub tasks: Vec<RegisteredTask>,
    /// What could not be read of it, one line each.
    pub warnings: Vec<String>,
}

/// A task in the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RegisteredTask {
    /// Its key.
    pub task_key: String,
    /// The folder of its project.
    pub project_root: String,
    /// Its plan, as it was named last.
    pub plan_path: String,
    /// The prefix of its branches.
    pub prefix: String,
    /// The commit its first stage started from; it never changes again.
    pub implementation_base: Option<String>,
    /// The worktree of the task itself.
    pub worktree: Option<TaskWorktree>,
    /// The worktrees of its stages, in the order of the file.
    pub stages: Vec<StageWorktree>,
}

/// The worktree of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TaskWorktree {
    /// Its folder.
    pub path: String,
    /// Its branch.
    pub branch: String,
}

decode!(TaskWorktree { path, branch });

/// The worktree of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageWorktree {
    /// The stage.
    pub stage: u32,
    /// Its folder.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// The commit it started from.
    pub base: Option<String>,
    /// The claim it was made for.
    pub claim_id: Option<String>,
    /// How far it is.
    pub state: WorktreeState,
    /// The process that made it.
    pub by: Option<Maker>,
    /// When it was begun.
    pub created_at: String,
    /// The folders of the project that are linked in.
    pub sync_dirs: Vec<String>,
}

/// How far a worktree is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum WorktreeState {
    /// It is being made.
    Provisioning,
    /// A claim works in it.
    Active,
    /// Nobody works in it any more; what is in it was kept.
    #[default]
    Kept,
}

decode_words!(WorktreeState {
    "provisioning" => Provisioning, "active" => Active, "kept" => Kept
} None);

impl WorktreeState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Provisioning => "provisioning",
            Self::Active => "active",
            Self::Kept => "kept",
        }
    }
}

/// The process that makes a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Maker {
    /// Its host.
    pub host: Option<String>,
    /// Its number.
    pub pid: Option<u32>,
    /// Its start, as the host writes it.
    pub pid_start: Option<String>,
    /// The session it works for: a second claim of that session waits for this one.
    pub session: Option<String>,
}

decode!(optional Maker { host, pid, pid_start, session });

/// Which task, and where it belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TaskIdentity {
    /// Its key `project:group:id`.
    pub task_key: String,
    /// The real absolute path of its project's folder.
    pub project_root: String,
    /// Its plan.
    pub plan_path: String,
    /// The prefix of its branches. The one in the registry stands.
    pub prefix: String,
}

decode!(TaskIdentity { task_key, project_root, plan_path, prefix });

/// A worktree that is about to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct BeginRequest {
    /// Its task.
    pub task: TaskIdentity,
    /// Its stage.
    pub stage: u32,
    /// The folder to be.
    pub path: String,
    /// The branch to be.
    pub branch: String,
    /// The commit it starts from; missing where the merge that it starts from is yet to be made.
    pub base: Option<String>,
    /// The commit that the task starts from, if none is fixed yet.
    pub implementation_base: Option<String>,
    /// The claim it is made for.
    pub claim_id: String,
    /// The process that makes it.
    pub by: Maker,
    /// Now, in ISO 8601 with its zone.
    pub now: String,
    /// The folders of the project that will be linked in.
    pub sync_dirs: Vec<String>,
}

decode!(BeginRequest {
    task,
    stage,
    path,
    branch,
    base,
    implementation_base,
    claim_id,
    by,
    now,
    sync_dirs
});

/// A worktree of a stage in the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct EntryRequest {
    /// The key of its task.
    pub task_key: String,
    /// Its stage; 0 for the worktree of the task itself.
    pub stage: u32,
    /// The claim that acts; an entry of another claim is left alone.
    pub claim_id: Option<String>,
    /// The commit it started from, where that is known only now.
    pub base: Option<String>,
    /// Whether what the claim fixed for the whole task is taken back too, where nothing else of the
    /// task is registered: it never began.
    pub undo: Option<bool>,
}

decode!(EntryRequest { task_key, stage, claim_id, base, undo });

/// The worktree of a task that is about to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TaskWorktreeRequest {
    /// The task.
    pub task: TaskIdentity,
    /// The worktree.
    pub worktree: TaskWorktree,
}

decode!(TaskWorktreeRequest { task, worktree });

/// The commit that a task starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BaseFixRequest {
    /// The task.
    pub task: TaskIdentity,
    /// The commit.
    pub commit: String,
}

decode!(BaseFixRequest { task, commit });

/// Which reservations are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ReservedRequest {
    /// The key of the task.
    pub task_key: String,
    /// The claim that asks: its own entry reserves nothing against it.
    pub claim_id: Option<String>,
}

decode!(ReservedRequest { task_key, claim_id });

/// The task as it is registered after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RegistryAnswer {
    /// The task; `null` where it is not registered.
    pub task: Option<RegisteredTask>,
    /// Whether the registry changes.
    pub changed: bool,
}

/// The stages that somebody is about to build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Reserved {
    /// The stages, ascending.
    pub stages: Vec<u32>,
    /// Those of them of whose maker nothing can be known, ascending.
    pub unknown: Vec<u32>,
    /// The stages whose worktree was begun by a process that is gone, ascending.
    pub abandoned: Vec<u32>,
}

/// Reads the registry. What cannot be read of it is a warning; only what is no JSON, or of a later
/// version, fails.
pub fn read(facts: &RegistryFacts) -> Result<Registry, OkstraError> {
    let json = open(facts)?;
    Ok(registry_of(&json, &facts.path)?)
}

/// Writes a worktree down before it is made.
///
/// Fails with a [`WorktreeRefusal`] where the task belongs to another project folder, where the
/// path, the branch or the stage is another's, and where a process that may still run is making
/// the worktree of the stage.
pub fn begin(
    facts: &RegistryFacts,
    request: &BeginRequest,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    let mut json = open(facts)?;
    let registry = registry_of(&json, &facts.path)?;
    let BeginRequest { task, stage, path, branch, .. } = request;
    same_project(&registry, task)?;
    not_taken(&registry, task, *stage, path, branch)?;
    if let Some(entry) = registry.stage(&task.task_key, *stage)
        && entry.claim_id.as_deref() != Some(&request.claim_id)
    {
        let what = || format!("the worktree of {}", what_of(*stage));
        if entry.state == WorktreeState::Provisioning {
            match state_of(facts, entry.by.as_ref()) {
                None => return Ok(asks([entry].into_iter(), facts)),
                Some(ProcessState::Gone) => {}
                Some(_) => {
                    let by = maker_name(entry);
                    return Err(WorktreeRefusal::Taken { stage: *stage, what: what(), by }.into());
                }
            }
        } else if entry.path != *path {
            let by = entry.path.clone();
            return Err(WorktreeRefusal::Taken { stage: *stage, what: what(), by }.into());
        }
    }
    let broken = |fault| WorktreeRefusal::broken(&facts.path, fault);
    let at = task_place(&mut json, task).map_err(broken)?;
    if let Some(commit) = &request.implementation_base
        && !registry.has_base(&task.task_key)
    {
        json.set(&base_of(at), &Value::from(commit.as_str())).map_err(broken)?;
    }
    let place = stage_place(&mut json, at, *stage).map_err(broken)?;
    let text = |text: &str| Value::from(text);
    let maker = &request.by;
    let members: [(&[&str], Option<Value>); 12] = [
        (&["stage"], Some(Value::from(*stage))),
        (&["path"], Some(text(path))),
        (&["branch"], Some(text(branch))),
        (&["base"], request.base.as_deref().map(text)),
        (&["claimId"], Some(text(&request.claim_id))),
        (&["state"], Some(text(WorktreeState::Provisioning.as_str()))),
        (&["by", "host"], maker.host.as_deref().map(text)),
        (&["by", "pid"], maker.pid.map(Value::from)),
        (&["by", "pidStart"], maker.pid_start.as_deref().map(text)),
        (&["by", "session"], maker.session.as_deref().map(text)),
        (&["createdAt"], Some(text(&request.now))),
        (&["syncDirs"], Some(Value::from(request.sync_dirs.as_slice()))),
    ];
    without_null(&mut json, &member(&place, "by"));
    for (keys, value) in members {
        let mut to = place.to_vec();
        to.extend(keys.iter().map(|key| Key(key)));
        match value {
            Some(value) => json.set(&to, &value).map_err(broken)?,
            None => {
                json.remove(&to);
            }
        }
    }
    changed(facts, json, &task.task_key)
}

/// Says that a worktree is ready to be worked in. Fails with a [`WorktreeRefusal`] where it is not
/// registered, or for another claim.
pub fn activate(
    facts: &RegistryFacts,
    request: &EntryRequest,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    set_state(facts, request, WorktreeState::Active)
}

/// Says that nobody works in a worktree any more, which stays with what is in it. Fails as
/// [`activate`] does.
pub fn keep(
    facts: &RegistryFacts,
    request: &EntryRequest,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    set_state(facts, request, WorktreeState::Kept)
}

fn set_state(
    facts: &RegistryFacts,
    request: &EntryRequest,
    state: WorktreeState,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    let mut json = open(facts)?;
    let registry = registry_of(&json, &facts.path)?;
    let EntryRequest { task_key, stage, .. } = request;
    let Some(entry) = registry.stage(task_key, *stage) else {
        let task_key = task_key.clone();
        return Err(WorktreeRefusal::NotRegistered { task_key, stage: *stage }.into());
    };
    of_claim(entry, request)?;
    // Whoever ends a claim and does not say which means the one before, if this one is being made.
    let begun = entry.state == WorktreeState::Provisioning
        && state == WorktreeState::Kept
        && request.claim_id.is_none();
    let being_made = match state_of(facts, entry.by.as_ref()) {
        None if begun => return Ok(asks([entry].into_iter(), facts)),
        found => begun && found != Some(ProcessState::Gone),
    };
    let broken = |fault| WorktreeRefusal::broken(&facts.path, fault);
    let place = find(&json, task_key, Some(*stage)).filter(|_| !being_made);
    let Some(place) = place else {
        return changed(facts, json, task_key);
    };
    if let Some(base) = &request.base {
        json.set(&member(&place, "base"), &Value::from(base.as_str())).map_err(broken)?;
    }
    json.set(&member(&place, "state"), &Value::from(state.as_str())).map_err(broken)?;
    changed(facts, json, task_key)
}

/// Takes a worktree out of the registry; nothing changes where it is not in it. The task stays, for
/// its implementation base. Fails with a [`WorktreeRefusal`] where it is another claim's.
pub fn forget(
    facts: &RegistryFacts,
    request: &EntryRequest,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    let mut json = open(facts)?;
    let registry = registry_of(&json, &facts.path)?;
    let EntryRequest { task_key, stage, .. } = request;
    if let Some(entry) = registry.stage(task_key, *stage) {
        of_claim(entry, request)?;
    }
    if *stage == 0 {
        if let Some(place) = find(&json, task_key, None) {
            json.remove(&member(&place, "worktree"));
        }
    } else if let Some(place) = find(&json, task_key, Some(*stage)) {
        json.remove(&place);
    }
    if request.undo == Some(true)
        && let Some(task) = registry.task(task_key)
        && task.worktree.is_none()
        && task.stages.iter().all(|entry| entry.stage == *stage)
        && let Some(place) = find(&json, task_key, None)
    {
        json.remove(&member(&place, "implementationBase"));
    }
    changed(facts, json, task_key)
}

/// Writes down the worktree of a task. Fails with a [`WorktreeRefusal`] as [`begin`] does.
pub fn set_task_worktree(
    facts: &RegistryFacts,
    request: &TaskWorktreeRequest,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    let mut json = open(facts)?;
    let registry = registry_of(&json, &facts.path)?;
    let TaskWorktreeRequest { task, worktree } = request;
    same_project(&registry, task)?;
    not_taken(&registry, task, 0, &worktree.path, &worktree.branch)?;
    let broken = |fault| WorktreeRefusal::broken(&facts.path, fault);
    let at = task_place(&mut json, task).map_err(broken)?;
    without_null(&mut json, &[Key("tasks"), Index(at), Key("worktree")]);
    for (key, value) in [("path", &worktree.path), ("branch", &worktree.branch)] {
        let to = [Key("tasks"), Index(at), Key("worktree"), Key(key)];
        json.set(&to, &Value::from(value.as_str())).map_err(broken)?;
    }
    changed(facts, json, &task.task_key)
}

/// Fixes the commit that a task starts from, if none is fixed. The answer says which one stands.
/// Fails with a [`WorktreeRefusal`] where the task belongs to another project folder.
pub fn set_implementation_base(
    facts: &RegistryFacts,
    request: &BaseFixRequest,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    let mut json = open(facts)?;
    let registry = registry_of(&json, &facts.path)?;
    let BaseFixRequest { task, commit } = request;
    same_project(&registry, task)?;
    if !registry.has_base(&task.task_key) {
        let broken = |fault| WorktreeRefusal::broken(&facts.path, fault);
        let at = task_place(&mut json, task).map_err(broken)?;
        json.set(&base_of(at), &Value::from(commit.as_str())).map_err(broken)?;
    }
    changed(facts, json, &task.task_key)
}

fn base_of(task: usize) -> [Segment<'static>; 3] {
    [Key("tasks"), Index(task), Key("implementationBase")]
}

/// The stages of a task that somebody is about to build: those whose worktree is being made by a
/// process that is not known to be gone. A worktree that is ready belongs to a claim, and the
/// ledger tells of that one.
pub fn reserved_stages(
    facts: &RegistryFacts,
    request: &ReservedRequest,
) -> Result<Decision<Reserved>, OkstraError> {
    let json = open(facts)?;
    let registry = registry_of(&json, &facts.path)?;
    let entries = registry.task(&request.task_key).map(|task| task.stages.as_slice());
    let begun = entries.unwrap_or_default().iter().filter(|entry| {
        let own = request.claim_id.is_some() && entry.claim_id == request.claim_id;
        entry.state == WorktreeState::Provisioning && !own
    });
    let (mut stages, mut abandoned) = (BTreeSet::new(), BTreeSet::new());
    let mut unknown = BTreeSet::new();
    for entry in begun.clone() {
        match state_of(facts, entry.by.as_ref()) {
            None => return Ok(asks(begun, facts)),
            Some(ProcessState::Gone) => {
                abandoned.insert(entry.stage);
            }
            Some(state) => {
                stages.insert(entry.stage);
                if state == ProcessState::Unknown {
                    unknown.insert(entry.stage);
                }
            }
        }
    }
    let answer = Reserved {
        stages: stages.into_iter().collect(),
        unknown: unknown.into_iter().collect(),
        abandoned: abandoned.into_iter().collect(),
    };
    Ok(Decision::Decided { effects: Vec::new(), answer, warnings: registry.warnings })
}

impl Registry {
    /// The entry of a task; of several with one key the first counts.
    pub fn task(&self, key: &str) -> Option<&RegisteredTask> {
        self.tasks.iter().find(|task| task.task_key == key)
    }

    /// Whether the commit that a task starts from is fixed.
    fn has_base(&self, key: &str) -> bool {
        self.task(key).is_some_and(|task| task.implementation_base.is_some())
    }

    /// The entry of a stage.
    pub fn stage(&self, key: &str, stage: u32) -> Option<&StageWorktree> {
        self.task(key)?.stages.iter().find(|entry| entry.stage == stage)
    }
}

/// What became of the process that began a worktree; `None` where the host has to look first.
/// Where nobody can say it, it is unknown.
pub(crate) fn state_of(facts: &RegistryFacts, by: Option<&Maker>) -> Option<ProcessState> {
    let Some((pid, start)) = question(facts, by) else {
        return Some(ProcessState::Unknown);
    };
    let seen = facts.processes.as_ref()?.iter();
    let mut of = seen.filter(|fact| fact.pid == pid && fact.pid_start.as_deref() == start);
    Some(of.next().map_or(ProcessState::Unknown, |fact| fact.state))
}

/// The process to look at, where it can be looked at from this host.
fn question<'m>(facts: &RegistryFacts, by: Option<&'m Maker>) -> Option<(u32, Option<&'m str>)> {
    let by = by.filter(|by| by.host.is_some() && by.host == facts.host)?;
    Some((by.pid?, by.pid_start.as_deref()))
}

/// Asks for the processes that begun worktrees.
pub(crate) fn asks<'e, T>(
    entries: impl Iterator<Item = &'e StageWorktree>,
    facts: &RegistryFacts,
) -> Decision<T> {
    let asked: BTreeSet<(u32, Option<&str>)> =
        entries.filter_map(|entry| question(facts, entry.by.as_ref())).collect();
    let processes = asked
        .into_iter()
        .map(|(pid, start)| ProcessQuestion { pid, pid_start: start.map(str::to_owned) })
        .collect();
    Decision::Needs { needs: Needs { processes, ..Needs::default() } }
}

/// Who makes a worktree, in words.
pub(crate) fn maker_name(entry: &StageWorktree) -> String {
    let by = entry.by.clone().unwrap_or_default();
    let mut name = match (by.pid, &entry.claim_id) {
        (Some(pid), _) => format!("process {pid}"),
        (None, Some(claim)) => format!("claim {claim}"),
        (None, None) => String::from("somebody"),
    };
    if let Some(host) = by.host {
        name = format!("{name} on {host}");
    }
    if entry.created_at.is_empty() { name } else { format!("{name} since {}", entry.created_at) }
}

// ---- reading

/// The document, if it can be used at all. A missing file is an empty registry.
fn open(facts: &RegistryFacts) -> Result<JsonText, OkstraError> {
    let broken = |fault| WorktreeRefusal::broken(&facts.path, fault);
    let json = JsonText::read(facts.text.as_deref().unwrap_or("{}\n")).map_err(broken)?;
    // Whatever cannot take a task is no registry; nothing is ever written into it.
    json.clone().push(&[Key("tasks")], &Value::Null).map_err(broken)?;
    let version = json.get(&[Key("schemaVersion")]).map_err(broken)?;
    match version {
        Some(version) if version.as_f64() != Some(1.0) => {
            let (path, version) = (facts.path.clone(), version.to_string());
            Err(WorktreeRefusal::NewerRegistry { path, version }.into())
        }
        _ => Ok(json),
    }
}

fn registry_of(json: &JsonText, path: &str) -> Result<Registry, WorktreeRefusal> {
    let tasks = json.get(&[Key("tasks")]).map_err(|fault| WorktreeRefusal::broken(path, fault))?;
    let mut registry = Registry::default();
    let mut warn = |what: String| registry.warnings.push(format!("{path}: {what}"));
    for (at, value) in tasks.as_ref().and_then(Value::as_array).into_iter().flatten().enumerate() {
        let task_key = text_of(value, "taskKey").unwrap_or_default();
        if task_key.is_empty() {
            warn(format!("task {} has no taskKey and is left out", at + 1));
            continue;
        }
        if registry.tasks.iter().any(|task| task.task_key == task_key) {
            warn(format!("the task '{task_key}' is there twice; the first entry counts"));
            continue;
        }
        let mut stages: Vec<StageWorktree> = Vec::new();
        for entry in value.get("stages").and_then(Value::as_array).into_iter().flatten() {
            match stage_of(entry) {
                Ok(entry) if stages.iter().any(|other| other.stage == entry.stage) => {
                    let stage = entry.stage;
                    warn(format!("stage {stage} of '{task_key}' is there twice; the first counts"));
                }
                Ok(entry) => stages.push(entry),
                Err(why) => warn(format!("a stage of '{task_key}' {why} and is left out")),
            }
        }
        let worktree = value.get("worktree").filter(|value| value.is_object());
        registry.tasks.push(RegisteredTask {
            task_key,
            project_root: text_of(value, "projectRoot").unwrap_or_default(),
            plan_path: text_of(value, "planPath").unwrap_or_default(),
            prefix: text_of(value, "prefix").unwrap_or_default(),
            implementation_base: text_of(value, "implementationBase"),
            worktree: worktree.map(|value| TaskWorktree {
                path: text_of(value, "path").unwrap_or_default(),
                branch: text_of(value, "branch").unwrap_or_default(),
            }),
            stages,
        });
    }
    Ok(registry)
}

fn stage_of(value: &Value) -> Result<StageWorktree, &'static str> {
    let number = value.get("stage").and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
    let by = value.get("by").filter(|value| value.is_object());
    let number_of = |value: &Value, key| value.get(key)?.as_u64().and_then(|it| it.try_into().ok());
    let state = match value.get("state").and_then(Value::as_str) {
        Some("provisioning") => WorktreeState::Provisioning,
        Some("active") => WorktreeState::Active,
        Some("kept") => WorktreeState::Kept,
        _ => return Err("has a state that is none"),
    };
    Ok(StageWorktree {
        stage: number.filter(|stage| *stage > 0).ok_or("has no number")?,
        path: text_of(value, "path").ok_or("has no path")?,
        branch: text_of(value, "branch").unwrap_or_default(),
        base: text_of(value, "base"),
        claim_id: text_of(value, "claimId"),
        state,
        by: by.map(|by| Maker {
            host: text_of(by, "host"),
            pid: number_of(by, "pid"),
            pid_start: text_of(by, "pidStart"),
            session: text_of(by, "session"),
        }),
        created_at: text_of(value, "createdAt").unwrap_or_default(),
        sync_dirs: value
            .get("syncDirs")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|dir| dir.as_str().map(str::to_owned))
            .collect(),
    })
}

/// The text of a member; an empty one says as much as a missing one.
fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

// ---- writing

fn same_project(registry: &Registry, task: &TaskIdentity) -> Result<(), WorktreeRefusal> {
    match registry.task(&task.task_key) {
        Some(known)
            if !known.project_root.is_empty() && known.project_root != task.project_root =>
        {
            Err(WorktreeRefusal::OtherProject {
                task_key: task.task_key.clone(),
                found: known.project_root.clone(),
                wanted: task.project_root.clone(),
            })
        }
        _ => Ok(()),
    }
}

/// A folder belongs to one entry, and so does a branch within a project.
fn not_taken(
    registry: &Registry,
    task: &TaskIdentity,
    stage: u32,
    path: &str,
    branch: &str,
) -> Result<(), WorktreeRefusal> {
    for known in &registry.tasks {
        let own = known.worktree.iter().map(|it| (0, &it.path, &it.branch));
        let stages = known.stages.iter().map(|it| (it.stage, &it.path, &it.branch));
        for (other, its_path, its_branch) in own.chain(stages) {
            if known.task_key == task.task_key && other == stage {
                continue;
            }
            let what = if its_path == path {
                format!("the folder {path}")
            } else if its_branch == branch && known.project_root == task.project_root {
                format!("the branch {branch}")
            } else {
                continue;
            };
            let by = format!("{} of '{}'", what_of(other), known.task_key);
            return Err(WorktreeRefusal::Taken { stage, what, by });
        }
    }
    Ok(())
}

fn of_claim(entry: &StageWorktree, request: &EntryRequest) -> Result<(), WorktreeRefusal> {
    match (&entry.claim_id, &request.claim_id) {
        (Some(held), Some(asked)) if held != asked => Err(WorktreeRefusal::Taken {
            stage: entry.stage,
            what: format!("the worktree of {}", what_of(entry.stage)),
            by: format!("claim {held}"),
        }),
        _ => Ok(()),
    }
}

/// Where a task stands in the list, made where it is missing. Its plan is the one named last.
fn task_place(
    json: &mut JsonText,
    task: &TaskIdentity,
) -> Result<usize, crate::json_edit::JsonFault> {
    if !json.has(&[Key("schemaVersion")]) {
        json.set(&[Key("schemaVersion")], &Value::from(1))?;
    }
    let text = |text: &str| Value::from(text);
    let found = task_index(json, &task.task_key);
    let at = match found {
        Some(at) => at,
        None => json.push(&[Key("tasks")], &Value::Object(serde_json::Map::new()))?,
    };
    let members = [
        ("taskKey", &task.task_key, false),
        ("projectRoot", &task.project_root, true),
        ("planPath", &task.plan_path, true),
        ("prefix", &task.prefix, false),
    ];
    for (key, value, renewed) in members {
        let to = [Key("tasks"), Index(at), Key(key)];
        let stands = json.get_str(&to).is_some_and(|stands| !stands.is_empty());
        if !stands || (renewed && !value.is_empty()) {
            json.set(&to, &text(value))?;
        }
    }
    Ok(at)
}

/// Where a stage stands, made where it is missing.
fn stage_place(
    json: &mut JsonText,
    task: usize,
    stage: u32,
) -> Result<[Segment<'static>; 4], crate::json_edit::JsonFault> {
    let list = [Key("tasks"), Index(task), Key("stages")];
    without_null(json, &list);
    let at = match json.find_in_array(&list, &is_stage(stage)) {
        Some(at) => at,
        None => json.push(&list, &Value::Object(serde_json::Map::new()))?,
    };
    Ok([Key("tasks"), Index(task), Key("stages"), Index(at)])
}

/// A member that says nothing is as good as missing.
fn without_null(json: &mut JsonText, place: &[Segment<'_>]) {
    if json.get(place).is_ok_and(|value| value == Some(Value::Null)) {
        json.remove(place);
    }
}

fn is_stage(stage: u32) -> impl Fn(&Value) -> bool {
    move |value| stage_of(value).is_ok_and(|entry| entry.stage == stage)
}

fn task_index(json: &JsonText, key: &str) -> Option<usize> {
    json.find_in_array(&[Key("tasks")], &|value| text_of(value, "taskKey").as_deref() == Some(key))
}

/// Where the entry of a task, or of one of its stages, stands.
fn find(json: &JsonText, key: &str, stage: Option<u32>) -> Option<Vec<Segment<'static>>> {
    let mut place = vec![Key("tasks"), Index(task_index(json, key)?)];
    if let Some(stage) = stage {
        place.push(Key("stages"));
        let at = json.find_in_array(&place, &is_stage(stage))?;
        place.push(Index(at));
    }
    Some(place)
}

fn member<'k>(place: &[Segment<'k>], key: &'k str) -> Vec<Segment<'k>> {
    let mut to = place.to_vec();
    to.push(Key(key));
    to
}

/// Ends a change: replaces the registry if its text is another.
fn changed(
    facts: &RegistryFacts,
    json: JsonText,
    task_key: &str,
) -> Result<Decision<RegistryAnswer>, OkstraError> {
    let registry = registry_of(&json, &facts.path)?;
    let text = json.into_text();
    // A file is not made to say nothing.
    let changed = !registry.tasks.is_empty() || facts.text.is_some();
    let changed = changed && facts.text.as_ref() != Some(&text);
    let path = facts.path.clone();
    let if_unchanged = facts.text.clone();
    let replace = changed.then_some(Effect::Replace { path, text, if_unchanged });
    Ok(Decision::Decided {
        effects: replace.into_iter().collect(),
        answer: RegistryAnswer { task: registry.task(task_key).cloned(), changed },
        warnings: registry.warnings,
    })
}
