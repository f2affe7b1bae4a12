//! The records of a task: its manifest, its entry in the catalog, the latest task, and the
//! manifest of the run itself.

use serde_json::{Value, json};

use super::{
    BundleError, BundleRequest, Change, IMPLEMENTATION, PHASES, PLANNING, Places, next_phase,
    set_all,
};
use crate::json_edit::Segment::{Index, Key};
use crate::json_edit::{JsonFault, JsonText, Segment};
use crate::layout::join;

/// The task's manifest, in its folder.
pub(crate) const MANIFEST: &str = "task-manifest.json";

/// The catalog, in the project's folder of okstra.
pub(crate) const CATALOG: &str = "discovery/task-catalog.json";

/// The note of the latest task, in the same folder.
pub(crate) const LATEST: &str = "discovery/latest-task.json";

/// A document before its first member.
pub(super) const EMPTY: &str = "{}\n";

/// The changes of the task's manifest, the catalog and the note of the latest task.
pub(super) fn changes(
    request: &BundleRequest,
    places: &Places<'_>,
) -> Result<[Option<Change>; 3], BundleError> {
    let path = join(&places.task_root, MANIFEST);
    let mut manifest = read(&path, request.manifest.as_deref())?;
    same_task(&path, &manifest, places)?;
    of_task(&mut manifest, request, places).map_err(|fault| BundleError::json(&path, fault))?;

    let catalog_path = join(&request.okstra_root, CATALOG);
    let mut catalog = read(&catalog_path, request.catalog.as_deref())?;
    in_catalog(&mut catalog, &manifest, request, places)
        .map_err(|fault| BundleError::json(&catalog_path, fault))?;

    let latest_path = join(&request.okstra_root, LATEST);
    let mut latest = read(&latest_path, request.latest.as_deref())?;
    as_latest(&mut latest, request, places)
        .map_err(|fault| BundleError::json(&latest_path, fault))?;

    Ok([
        change(path, request.manifest.as_ref(), manifest),
        change(catalog_path, request.catalog.as_ref(), catalog),
        change(latest_path, request.latest.as_ref(), latest),
    ])
}

/// Refuses a manifest of another task: two ids can have one folder name.
pub(super) fn same_task(
    path: &str,
    manifest: &JsonText,
    places: &Places<'_>,
) -> Result<(), BundleError> {
    match manifest.get_str(&[Key("taskKey")]) {
        Some(found) if !found.is_empty() && found != places.task_key => {
            let wanted = places.task_key.clone();
            Err(BundleError::OtherTask { path: path.to_owned(), found, wanted })
        }
        _ => Ok(()),
    }
}

/// The note of the latest task.
pub(super) fn as_latest(
    json: &mut JsonText,
    request: &BundleRequest,
    places: &Places<'_>,
) -> Result<(), JsonFault> {
    let members = [
        ("taskKey", Value::from(places.task_key.as_str())),
        ("taskRoot", Value::from(places.short(&places.task_root))),
        ("updatedAt", Value::from(request.now.as_str())),
    ];
    set_all(json, &[], &members)
}

/// The manifest of a task that nothing was done for yet.
pub(super) fn of_new_task(
    json: &mut JsonText,
    request: &BundleRequest,
    places: &Places<'_>,
) -> Result<(), JsonFault> {
    identity(json, request, places)?;
    let text = |text: &str| Value::from(text);
    let none = [("currentPhase", text("")), ("currentPhaseState", text("not-started"))];
    set_all(json, &[Key("workflow")], &none)?;
    for phase in PHASES {
        json.set(&[Key("workflow"), Key("phaseStates"), Key(phase)], &text("not-started"))?;
    }
    let ends =
        [("lastCompletedPhase", text("")), ("nextRecommendedPhase", text(&request.task_type))];
    set_all(json, &[Key("workflow")], &ends)?;
    set_all(json, &[], &[("currentStatus", text("created"))])
}

fn read(path: &str, text: Option<&str>) -> Result<JsonText, BundleError> {
    JsonText::read(text.unwrap_or(EMPTY)).map_err(|fault| BundleError::json(path, fault))
}

fn change(path: String, before: Option<&String>, json: JsonText) -> Option<Change> {
    let text = json.into_text();
    let before = before.cloned();
    (before.as_ref() != Some(&text)).then_some(Change { path, before, text })
}

/// The task's manifest.
fn of_task(
    json: &mut JsonText,
    request: &BundleRequest,
    places: &Places<'_>,
) -> Result<(), JsonFault> {
    identity(json, request, places)?;
    let text = |text: &str| Value::from(text);
    workflow(json, &request.task_type)?;
    let run = [
        ("latestRunPath", text(&places.short(&places.run))),
        ("latestRunStatus", text("prepared")),
        ("currentStatus", text("in-progress")),
    ];
    set_all(json, &[], &run)?;
    if let Some(plan) = &request.plan_path {
        set_all(json, &[], &[("approvedPlanPath", text(plan))])?;
    }
    Ok(())
}

/// Who the task is, and since when.
fn identity(
    json: &mut JsonText,
    request: &BundleRequest,
    places: &Places<'_>,
) -> Result<(), JsonFault> {
    let text = |text: &str| Value::from(text);
    keep(json, "schemaVersion", &Value::from(1))?;
    let identity = [
        ("taskKey", text(&places.task_key)),
        ("projectId", text(&request.project_id)),
        ("taskGroup", text(&request.task_group)),
        ("taskId", text(&request.task_id)),
        ("taskType", text(&request.task_type)),
    ];
    set_all(json, &[], &identity)?;
    keep(json, "createdAt", &text(&request.now))?;
    set_all(json, &[], &[("updatedAt", text(&request.now))])
}

/// Sets a member that is not there.
fn keep(json: &mut JsonText, key: &str, value: &Value) -> Result<(), JsonFault> {
    if json.has(&[Key(key)]) { Ok(()) } else { json.set(&[Key(key)], value) }
}

/// Where the task stands when a run of a phase begins.
///
/// - The phase becomes the current one and is in progress; its state is the same in
///   `currentPhaseState` and `phaseStates`. Phases that have no state are not started.
/// - `implementation` is many runs, one a stage, and whether it is over is told by the ledger and
///   the evidence, never by a run that begins. So a stage that is prepared once more leaves a
///   completed implementation completed. It becomes the current phase all the same, so that its
///   outcome is derived again and a verification that has seen less is recommended again. Any
///   other phase is one run: beginning it again opens it again.
/// - A stage is built from an approved plan: with it the planning is completed, and the last
///   completed phase, unless a later one was.
fn workflow(json: &mut JsonText, phase: &str) -> Result<(), JsonFault> {
    const WORKFLOW: Segment<'static> = Key("workflow");
    const STATES: Segment<'static> = Key("phaseStates");
    const COMPLETED: &str = "completed";
    let is_stage = phase == IMPLEMENTATION;
    let done = |json: &JsonText, phase: &str| {
        json.get_str(&[WORKFLOW, STATES, Key(phase)]).is_some_and(|state| state == COMPLETED)
    };
    let state = if is_stage && done(json, phase) { COMPLETED } else { "in-progress" };
    let now = [("currentPhase", Value::from(phase)), ("currentPhaseState", Value::from(state))];
    set_all(json, &[WORKFLOW], &now)?;
    for each in PHASES {
        let path = [WORKFLOW, STATES, Key(each)];
        let new = if each == phase {
            state
        } else if is_stage && each == PLANNING {
            COMPLETED
        } else if json.has(&path) {
            continue;
        } else {
            "not-started"
        };
        json.set(&path, &Value::from(new))?;
    }
    let last = json.get_str(&[WORKFLOW, Key("lastCompletedPhase")]).unwrap_or_default();
    let rank = |phase: &str| PHASES.iter().position(|each| *each == phase);
    let last = if is_stage && (last.is_empty() || rank(&last) < rank(PLANNING)) {
        PLANNING
    } else if last.is_empty() {
        PHASES.into_iter().rev().find(|each| done(json, each)).unwrap_or_default()
    } else {
        &last
    };
    let ends = [
        ("lastCompletedPhase", Value::from(last)),
        ("nextRecommendedPhase", Value::from(next_phase(phase))),
    ];
    set_all(json, &[WORKFLOW], &ends)
}

/// The task's entry in the catalog: it mirrors the manifest. The other entries stay.
pub(super) fn in_catalog(
    json: &mut JsonText,
    manifest: &JsonText,
    request: &BundleRequest,
    places: &Places<'_>,
) -> Result<(), JsonFault> {
    const TASKS: Segment<'static> = Key("tasks");
    keep(json, "schemaVersion", &Value::from(1))?;
    let is_it =
        |entry: &Value| entry.get("taskKey").and_then(Value::as_str) == Some(&places.task_key);
    let at = match json.find_in_array(&[TASKS], &is_it) {
        Some(at) => at,
        None => json.push(&[TASKS], &json!({}))?,
    };
    let entry = [TASKS, Index(at)];
    let text = |text: &str| Value::from(text);
    let identity = [
        ("taskKey", text(&places.task_key)),
        ("projectId", text(&request.project_id)),
        ("taskGroup", text(&request.task_group)),
        ("taskId", text(&request.task_id)),
        ("taskRoot", text(&places.short(&places.task_root))),
    ];
    set_all(json, &entry, &identity)?;
    mirror(json, manifest, at)
}

/// Repeats in an entry of the catalog what the manifest says of the task's standing.
pub(super) fn mirror(json: &mut JsonText, manifest: &JsonText, at: usize) -> Result<(), JsonFault> {
    const TASKS: Segment<'static> = Key("tasks");
    let mirrored = [
        (Some(Key("workflow")), "currentPhase"),
        (Some(Key("workflow")), "currentPhaseState"),
        (Some(Key("workflow")), "lastCompletedPhase"),
        (Some(Key("workflow")), "nextRecommendedPhase"),
        (None, "latestReportPath"),
        (None, "latestRunStatus"),
        (None, "currentStatus"),
        (None, "updatedAt"),
    ];
    for (group, name) in mirrored {
        let from: Vec<Segment<'_>> = group.into_iter().chain([Key(name)]).collect();
        let to = [TASKS, Index(at), Key(name)];
        match manifest.get_str(&from) {
            Some(value) => json.set(&to, &Value::from(value))?,
            // What the manifest does not say, the catalog may know from before.
            None if json.has(&to) || name == "updatedAt" => {}
            None => json.set(&to, &Value::from(""))?,
        }
    }
    Ok(())
}

/// The manifest of the run.
pub(super) fn of_run(request: &BundleRequest, places: &Places<'_>) -> Result<String, JsonFault> {
    let text = |text: &str| Value::from(text);
    let mut json = JsonText::read(EMPTY)?;
    let members = [
        ("schemaVersion", Value::from(1)),
        ("taskKey", text(&places.task_key)),
        ("projectId", text(&request.project_id)),
        ("taskGroup", text(&request.task_group)),
        ("taskId", text(&request.task_id)),
        ("taskType", text(&request.task_type)),
        ("sequence", Value::from(request.sequence)),
        ("createdAt", text(&request.now)),
        ("runPath", text(&places.short(&places.run))),
        ("launchPromptPath", text(&places.short(&places.prompt()))),
        ("reportPath", text(&places.short(&places.report()))),
        ("approvedPlanPath", Value::from(request.plan_path.clone())),
    ];
    set_all(&mut json, &[], &members)?;
    if let Some(session) = &request.lead_session {
        set_all(&mut json, &[Key("lead")], &[("sessionId", text(session))])?;
    }
    set_all(&mut json, &[Key("inputs")], &request.inputs.members())?;
    if let Some(stage) = &request.stage {
        let members = [
            ("stageNumber", Value::from(stage.stage_number)),
            ("stageTitle", text(&stage.title)),
            ("dependsOn", Value::from(stage.depends_on.clone())),
            ("claimId", Value::from(stage.claim_id.clone())),
            ("worktree", Value::from(stage.worktree.clone())),
            ("branch", Value::from(stage.branch.clone())),
            ("baseCommit", Value::from(stage.base_commit.clone())),
            ("stageMapPath", text(&places.short(&places.stage_map(request.sequence)))),
            ("workerResultPath", text(&places.short(&places.worker_result()))),
            ("carryIn", json!([])),
        ];
        set_all(&mut json, &[Key("stage")], &members)?;
        for evidence in &stage.evidence {
            let path = [Key("stage"), Key("carryIn")];
            let at = json.push(&path, &json!({}))?;
            let members = [("stage", Value::from(evidence.stage)), ("path", text(&evidence.path))];
            set_all(&mut json, &[Key("stage"), Key("carryIn"), Index(at)], &members)?;
        }
    }
    Ok(json.into_text())
}
