//! The records of a task when its implementation is complete: the manifest, and the entry in the
//! catalog that mirrors it.

use serde_json::{Value, json};

use super::manifest::{self, CATALOG, MANIFEST};
use super::{BundleError, Change, IMPLEMENTATION, PHASES, next_phase, set_all};
use crate::json_edit::Segment::{Index, Key};
use crate::json_edit::{JsonFault, JsonText};
use crate::layout::join;

/// The records of a task as they were read.
pub(crate) struct Records {
    manifest: Option<Record>,
    catalog: Option<Record>,
}

/// One file.
struct Record {
    path: String,
    text: String,
    json: JsonText,
}

/// What a completed implementation says of itself.
pub(crate) struct Completed<'a> {
    /// The key of the task.
    pub(crate) task_key: Option<&'a str>,
    pub(crate) stages: &'a [u32],
    pub(crate) head_commit: &'a str,
    pub(crate) report_path: &'a str,
    pub(crate) reason: &'a str,
}

impl Records {
    /// Takes the texts. What is no JSON is an error that names file, line and column.
    pub(crate) fn read(
        task_root: Option<&str>,
        okstra_root: &str,
        manifest: Option<&str>,
        catalog: Option<&str>,
    ) -> Result<Self, BundleError> {
        let record = |path: String, text: Option<&str>| {
            let Some(text) = text else {
                return Ok(None);
            };
            let json = JsonText::read(text).map_err(|fault| BundleError::json(&path, fault))?;
            if !json.is_object() {
                let reason = String::from("not an object");
                return Err(BundleError::Json { path, line: 1, column: 1, reason });
            }
            Ok(Some(Record { path, text: text.to_owned(), json }))
        };
        let task = task_root.filter(|_| manifest.is_some()).map(|root| join(root, MANIFEST));
        Ok(Self {
            manifest: task.map_or(Ok(None), |path| record(path, manifest))?,
            catalog: record(join(okstra_root, CATALOG), catalog)?,
        })
    }

    /// The key of the task.
    pub(crate) fn task_key(&self) -> Option<String> {
        let key = self.manifest.as_ref()?.json.get_str(&[Key("taskKey")]);
        key.filter(|key| !key.is_empty())
    }

    /// Refuses the records of another task: two ids can have one folder name.
    pub(crate) fn belong_to(&self, key: Option<&str>) -> Result<(), BundleError> {
        match (&self.manifest, self.task_key(), key) {
            (Some(manifest), Some(found), Some(wanted)) if found != wanted => {
                let (path, wanted) = (manifest.path.clone(), wanted.to_owned());
                Err(BundleError::OtherTask { path, found, wanted })
            }
            _ => Ok(()),
        }
    }

    /// The phase the task is in.
    pub(crate) fn phase(&self) -> Option<String> {
        let json = &self.manifest.as_ref()?.json;
        json.get_str(&[Key("workflow"), Key("currentPhase")]).filter(|phase| !phase.is_empty())
    }

    /// Whether the manifest says that the implementation is completed.
    pub(crate) fn says_completed(&self) -> bool {
        let path = [Key("phaseOutcome"), Key(IMPLEMENTATION), Key("state")];
        let state = self.manifest.as_ref().and_then(|manifest| manifest.json.get_str(&path));
        state.is_some_and(|state| state == COMPLETED)
    }
}

const COMPLETED: &str = "completed";

/// The changes that a completed implementation makes of the records, none where they say so
/// already; and what the person should know.
pub(crate) fn complete(
    records: &Records,
    completed: &Completed<'_>,
) -> Result<(Vec<Change>, Option<String>), BundleError> {
    let Some(manifest) = &records.manifest else {
        return Ok((Vec::new(), None));
    };
    let mut json = manifest.json.clone();
    in_manifest(&mut json, completed).map_err(|fault| BundleError::json(&manifest.path, fault))?;
    let mut warning = None;
    let mut changed = Vec::new();
    if let Some(catalog) = &records.catalog {
        let mut mirrored = catalog.json.clone();
        let is_there = in_catalog(&mut mirrored, &json, completed.task_key)
            .map_err(|fault| BundleError::json(&catalog.path, fault))?;
        if !is_there {
            warning = Some(format!(
                "{} has no entry of this task; 'okstra task create' adds it",
                catalog.path
            ));
        }
        changed.extend(change(catalog, mirrored));
    }
    // The manifest first: the catalog only repeats it.
    changed.splice(0..0, change(manifest, json));
    Ok((changed, warning))
}

fn change(record: &Record, json: JsonText) -> Option<Change> {
    let text = json.into_text();
    let path = record.path.clone();
    (text != record.text).then(|| Change { path, before: Some(record.text.clone()), text })
}

fn in_manifest(json: &mut JsonText, completed: &Completed<'_>) -> Result<(), JsonFault> {
    let text = |text: &str| Value::from(text);
    for phase in PHASES {
        let path = [Key("workflow"), Key("phaseStates"), Key(phase)];
        if !json.has(&path) {
            json.set(&path, &text("not-started"))?;
        }
    }
    let now = [
        ("currentPhase", text(IMPLEMENTATION)),
        ("currentPhaseState", text(COMPLETED)),
        ("lastCompletedPhase", text(IMPLEMENTATION)),
        ("nextRecommendedPhase", text(next_phase(IMPLEMENTATION))),
    ];
    set_all(json, &[Key("workflow")], &now)?;
    json.set(&[Key("workflow"), Key("phaseStates"), Key(IMPLEMENTATION)], &text(COMPLETED))?;
    let contract = json.get_str(&[Key("contractValidation"), Key("status")]).unwrap_or_default();
    let outcome = [
        ("state", text(COMPLETED)),
        ("source", text("implementation-carry")),
        ("stages", json!(completed.stages)),
        ("headCommit", text(completed.head_commit)),
        ("reportPath", text(completed.report_path)),
        ("contractValidationStatus", text(&contract)),
        ("reason", text(completed.reason)),
    ];
    set_all(json, &[Key("phaseOutcome"), Key(IMPLEMENTATION)], &outcome)
}

/// Mirrors the manifest in the task's entry. Answers whether there is one.
fn in_catalog(
    json: &mut JsonText,
    manifest: &JsonText,
    key: Option<&str>,
) -> Result<bool, JsonFault> {
    let is_it =
        |entry: &Value| key.is_some() && entry.get("taskKey").and_then(Value::as_str) == key;
    let Some(at) = json.find_in_array(&[Key("tasks")], &is_it) else {
        return Ok(false);
    };
    manifest::mirror(json, manifest, at)?;
    if let Some(outcome) = manifest.get(&[Key("phaseOutcome")])? {
        json.set(&[Key("tasks"), Index(at), Key("phaseOutcome")], &outcome)?;
    }
    Ok(true)
}
