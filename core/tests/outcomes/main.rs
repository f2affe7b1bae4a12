//! `fixtures/outcomes`: a task's files and the outcome a careful person derives from them. The
//! built command is held to the same files by `tests/fixtures/outcomes.test.ts`.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops where they or its own arithmetic are wrong"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use okstra_core::layout::plan_layout;
use okstra_core::stage::{
    Decision, Effect, EvidenceFile, Facts, OutcomeAnswer, OutcomeRequest, outcome,
};
use okstra_core::task::{TaskFacts, plan_candidates};
use serde_json::Value;

type Files = BTreeMap<String, String>;

const ROOT: &str = "/project";
const OKSTRA: [&str; 2] = [".okstra", ".project-docs/okstra"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/outcomes")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The files of a case: those of the base with its own over them.
fn files_of(case: &Value) -> Files {
    let mut files = Files::new();
    for source in [&read(&folder().join("base.json")), case] {
        for (path, content) in source["files"].as_object().unwrap() {
            match content {
                Value::Null => files.remove(path),
                Value::String(text) => files.insert(path.clone(), text.clone()),
                json => files.insert(
                    path.clone(),
                    format!("{}\n", serde_json::to_string_pretty(json).unwrap()),
                ),
            };
        }
    }
    files
}

fn in_folder(files: &Files, folder: &str) -> Vec<String> {
    let start = format!("{folder}/");
    files.keys().filter_map(|path| path.strip_prefix(&start)).map(str::to_owned).collect()
}

/// Asks as the host does, and carries the effects out on the files.
fn reconcile(files: &mut Files) -> Result<OutcomeAnswer, String> {
    let okstra =
        OKSTRA.into_iter().find(|folder| !in_folder(files, folder).is_empty()).unwrap_or(OKSTRA[0]);
    let task = format!("{okstra}/tasks/web/login");
    let manifest = files.get(&format!("{task}/task-manifest.json")).cloned();
    let latest = manifest
        .as_deref()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .and_then(|json| Some(json.get("latestReportPath")?.as_str()?.to_owned()));
    let evidence = |files: &Files| -> Vec<EvidenceFile> {
        let carry = format!("{task}/runs/implementation/carry");
        in_folder(files, &carry)
            .into_iter()
            .map(|name| EvidenceFile { text: files[&format!("{carry}/{name}")].clone(), name })
            .collect()
    };
    let candidates = plan_candidates(&TaskFacts {
        project_root: ROOT.into(),
        task_root: format!("{ROOT}/{task}"),
        evidence: evidence(files),
        latest_report_path: latest.unwrap_or_default(),
        reports: in_folder(files, &format!("{task}/runs/implementation-planning/reports")),
    });
    let short = |path: &str| path.strip_prefix("/project/").unwrap_or_default().to_owned();
    let plan = candidates.into_iter().find(|path| files.contains_key(&short(path)));
    let facts = Facts {
        plan: plan.clone().unwrap_or_default(),
        project_root: Some(ROOT.into()),
        task_key: Some("shop:web:login".into()),
        now: "2026-03-06T00:00:00Z".into(),
        evidence: evidence(files),
        ..Facts::default()
    };
    let text = plan.as_deref().map(|plan| files[&short(plan)].clone()).unwrap_or_default();
    let ledger = plan
        .as_deref()
        .and_then(|plan| files.get(&short(&plan_layout(plan, Some(ROOT)).ledger)).cloned())
        .unwrap_or_default();
    let request = OutcomeRequest {
        task_root: Some(format!("{ROOT}/{task}")),
        okstra_root: format!("{ROOT}/{okstra}"),
        planning: !in_folder(files, &format!("{task}/runs/implementation-planning")).is_empty(),
        manifest,
        catalog: files.get(&format!("{okstra}/discovery/task-catalog.json")).cloned(),
        reports: in_folder(files, &format!("{task}/runs/implementation")),
        reconcile: true,
    };
    match outcome(text.as_bytes(), ledger.as_bytes(), &facts, &request) {
        Err(error) => Err(error.to_string().replace("/project/", "")),
        Ok(Decision::Needs { needs }) => Err(format!("needs {needs:?}")),
        Ok(Decision::Decided { effects, answer, .. }) => {
            for effect in effects {
                match effect {
                    Effect::Append { path, line } => {
                        files.entry(short(&path)).or_default().extend([line.as_str(), "\n"]);
                    }
                    Effect::Replace { path, text, if_unchanged } => {
                        assert_eq!(files.get(&short(&path)), if_unchanged.as_ref(), "{path}");
                        files.insert(short(&path), text);
                    }
                    Effect::WriteNew { path, .. } => panic!("{path} is new"),
                    Effect::Remove { path, .. } | Effect::RemoveFolder { path } => {
                        panic!("{path} goes")
                    }
                }
            }
            Ok(answer)
        }
    }
}

/// Whether a value has every member that is asked for.
fn has(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(members) => {
            members.iter().all(|(key, wanted)| value.get(key).is_some_and(|it| has(it, wanted)))
        }
        other => value == other,
    }
}

#[test]
fn every_task_has_the_outcome_a_careful_person_derives() {
    let mut cases = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "base" || path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        cases += 1;
        let case = read(&path);
        let expect = &case["expect"];
        let before = files_of(&case);
        let mut files = before.clone();
        let answer = reconcile(&mut files);
        match (&answer, expect.get("error")) {
            (Err(found), Some(wanted)) => {
                assert!(found.starts_with(wanted.as_str().unwrap()), "{name}: {found}");
            }
            (Ok(answer), None) => {
                let json = serde_json::to_value(answer).unwrap();
                assert!(has(&json, &expect["answer"]), "{name}: {json:#}");
                if let Some(warning) = expect.get("warning").and_then(Value::as_str) {
                    assert!(
                        answer.warnings.iter().any(|line| line.contains(warning)),
                        "{name}: {:?}",
                        answer.warnings
                    );
                }
            }
            (found, wanted) => panic!("{name}: {found:?}, wanted {wanted:?}"),
        }
        if expect.get("unchanged").is_some() {
            assert_eq!(files, before, "{name}");
        }
        for (path, wanted) in expect["json"].as_object().into_iter().flatten() {
            let found: Value = serde_json::from_str(&files[path]).unwrap();
            assert_eq!(&found, wanted, "{name}: {path}");
        }
        for (path, wanted) in expect["text"].as_object().into_iter().flatten() {
            assert_eq!(Some(files[path].as_str()), wanted.as_str(), "{name}: {path}");
        }
        for (path, pieces) in expect["contains"].as_object().into_iter().flatten() {
            for piece in pieces.as_array().unwrap() {
                let text = &files[path];
                assert!(text.contains(piece.as_str().unwrap()), "{name}: {path}: {text}");
            }
        }
        // Once more changes nothing: neither of what was recorded nor of what was not.
        if let Ok(first) = answer {
            let after = files.clone();
            let again = reconcile(&mut files).unwrap();
            assert_eq!(files, after, "{name}");
            assert_eq!((first.completed, again.recorded), (again.completed, false), "{name}");
        }
    }
    assert!(cases >= 30, "only {cases} cases were found");
}
