//! A new task: its manifest, its entry in the catalog, and the note of the latest task.

use serde::Serialize;
use serde_json::Value;

use super::manifest::{self, CATALOG, EMPTY, LATEST, MANIFEST};
use super::{BundleError, BundleRequest, PHASES, Places, set_all};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::json_edit::JsonText;
use crate::json_edit::Segment::Key;
use crate::layout::{join, task_key_parts};
use crate::stage::{Decision, Effect};

/// A task to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct CreateRequest {
    /// The id of the project.
    pub project_id: String,
    /// The group of the task.
    pub task_group: String,
    /// The id of the task.
    pub task_id: String,
    /// The absolute path of the project's folder.
    pub project_root: String,
    /// The absolute path of the project's folder of okstra.
    pub okstra_root: String,
    /// The phase it begins with, one of [`PHASES`]. Default `requirements-discovery`.
    pub task_type: Option<String>,
    /// What it is about, in one line.
    pub title: Option<String>,
    /// The work category, which the names of its branches begin with.
    pub work_category: Option<String>,
    /// Now, in ISO 8601 with its zone.
    pub now: String,
    /// The text of `project.json` where it exists.
    pub project: Option<String>,
    /// The text of the task's manifest where it exists.
    pub manifest: Option<String>,
    /// The text of `discovery/task-catalog.json` where it exists.
    pub catalog: Option<String>,
    /// The text of `discovery/latest-task.json` where it exists.
    pub latest: Option<String>,
}

decode!(optional CreateRequest { project_id, task_group, task_id, project_root, okstra_root, task_type, title, work_category, now, project, manifest, catalog, latest });

/// A task that was made, or was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CreateAnswer {
    /// Its key.
    pub task_key: String,
    /// Its folder, absolute.
    pub task_root: String,
    /// Whether it is new.
    pub created: bool,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Makes a task: `project.json` where the project has none, the manifest, the entry in the catalog
/// and the note of the latest task. A task that is there keeps its manifest; only a missing entry
/// in the catalog is added. Files that cannot be read are errors and stay as they are.
pub fn create(request: &CreateRequest) -> Result<Decision<CreateAnswer>, OkstraError> {
    let key = format!("{}:{}:{}", request.project_id, request.task_group, request.task_id);
    task_key_parts(&key)?;
    let task_type = request.task_type.as_deref().unwrap_or(PHASES[0]);
    if !PHASES.contains(&task_type) {
        return Err(BundleError::UnknownTaskType { task_type: task_type.to_owned() }.into());
    }
    let bundle = BundleRequest {
        task_type: task_type.to_owned(),
        task_group: request.task_group.clone(),
        task_id: request.task_id.clone(),
        project_id: request.project_id.clone(),
        project_root: request.project_root.clone(),
        okstra_root: request.okstra_root.clone(),
        now: request.now.clone(),
        ..BundleRequest::default()
    };
    let places = Places::new(&bundle);
    let mut effects = Vec::new();
    let mut warnings = Vec::new();
    if request.project.is_none() {
        let path = join(&request.okstra_root, "project.json");
        let members = [
            ("projectId", Value::from(request.project_id.as_str())),
            ("projectRoot", Value::from(request.project_root.as_str())),
        ];
        let mut json = read(&path, None)?;
        set_all(&mut json, &[], &members).map_err(|fault| BundleError::json(&path, fault))?;
        effects.push(Effect::WriteNew { path, text: json.into_text() });
    }
    let path = join(&places.task_root, MANIFEST);
    let mut json = read(&path, request.manifest.as_deref())?;
    let created = request.manifest.is_none();
    if created {
        manifest::of_new_task(&mut json, &bundle, &places)
            .map_err(|fault| BundleError::json(&path, fault))?;
        let more = [("title", &request.title), ("workCategory", &request.work_category)];
        for (name, value) in more {
            if let Some(value) = value {
                json.set(&[Key(name)], &Value::from(value.as_str()))
                    .map_err(|fault| BundleError::json(&path, fault))?;
            }
        }
    } else {
        manifest::same_task(&path, &json, &places)?;
        warnings.push(String::from("the task is there already; its manifest stays as it is"));
    }
    let manifest_path = path;
    let path = join(&request.okstra_root, CATALOG);
    let mut catalog = read(&path, request.catalog.as_deref())?;
    manifest::in_catalog(&mut catalog, &json, &bundle, &places)
        .map_err(|fault| BundleError::json(&path, fault))?;
    effects.extend(replace(path, request.catalog.as_ref(), catalog));
    if created {
        let path = join(&request.okstra_root, LATEST);
        let mut latest = read(&path, request.latest.as_deref())?;
        manifest::as_latest(&mut latest, &bundle, &places)
            .map_err(|fault| BundleError::json(&path, fault))?;
        effects.extend(replace(path, request.latest.as_ref(), latest));
        // The manifest last: a task that is half made is made again from the beginning.
        effects.push(Effect::WriteNew { path: manifest_path, text: json.into_text() });
    }
    let answer = CreateAnswer {
        task_key: places.task_key,
        task_root: places.task_root,
        created,
        warnings: warnings.clone(),
    };
    Ok(Decision::Decided { effects, answer, warnings })
}

fn read(path: &str, text: Option<&str>) -> Result<JsonText, BundleError> {
    let json =
        JsonText::read(text.unwrap_or(EMPTY)).map_err(|fault| BundleError::json(path, fault))?;
    if json.is_object() {
        return Ok(json);
    }
    let reason = String::from("not an object");
    Err(BundleError::Json { path: path.to_owned(), line: 1, column: 1, reason })
}

fn replace(path: String, before: Option<&String>, json: JsonText) -> Option<Effect> {
    let text = json.into_text();
    let before = before.cloned();
    (before.as_ref() != Some(&text)).then_some(Effect::Replace { path, text, if_unchanged: before })
}
