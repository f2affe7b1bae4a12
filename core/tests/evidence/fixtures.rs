//! The worker results and sidecars in `fixtures/evidence` against the answers beside them.
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{STAGE_2, lines};
use okstra_core::evidence::{check, extract, read};
use serde_json::{Value, json};

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/evidence");
    let is_input = |path: &PathBuf| !path.to_string_lossy().ends_with(".expected.json");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(is_input).collect();
    found.sort();
    found
}

/// What the core says about a file.
fn answer(path: &Path) -> Value {
    let source = fs::read(path).unwrap();
    let mut answer = match extract(&source, Some(STAGE_2.stage)) {
        Err(error) => {
            assert!(!error.help().is_empty() && !error.to_string().contains('\n'));
            json!({ "code": error.code(), "error": error.to_string(), "line": error.line() })
        }
        Ok(block) => {
            let checked = check(&block, &STAGE_2);
            for finding in checked.errors.iter().chain(&checked.warnings) {
                assert!(!finding.help.is_empty() && !finding.message.ends_with('.'));
                assert!(!finding.message.contains(char::is_control), "{}", finding.message);
                assert!(finding.message.chars().count() < 300, "{}", finding.message);
            }
            assert_eq!(checked.evidence.is_some(), checked.errors.is_empty());
            json!({
                "line": block.line,
                "verbatim": String::from_utf8_lossy(&source).contains(&block.text),
                "errors": lines(&checked.errors),
                "warnings": lines(&checked.warnings),
            })
        }
    };
    if path.extension().is_some_and(|end| end == "json") {
        answer["sidecar"] = match read(&source) {
            Err(why) => json!({ "error": why }),
            Ok(sidecar) => json!({
                "fails": sidecar.pass_grade().err(),
                "head": sidecar.head(),
                "stage": sidecar.stage_number(),
                "title": sidecar.title(),
                "completed_ms": sidecar.completed_ms(),
                "identifiers": sidecar.new_identifiers(),
            }),
        };
    }
    answer
}

#[test]
fn every_file_gives_the_answer_beside_it() {
    let inputs = inputs();
    assert!(inputs.len() >= 60, "{}", inputs.len());
    let mut wrong = Vec::new();
    for path in inputs {
        let got = answer(&path);
        let beside = path.with_extension("expected.json");
        let expected: Value = serde_json::from_slice(&fs::read(beside).unwrap()).unwrap();
        if got != expected {
            wrong.push(format!("{}\n   got {got:#}\nwanted {expected:#}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_name_says_what_the_answer_is() {
    for path in inputs() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let got = answer(&path);
        let none = |list: &str| got[list].as_array().is_some_and(Vec::is_empty);
        let fits = match name.split('_').next().unwrap() {
            "valid" => none("errors") && none("warnings"),
            "warned" => none("errors") && !none("warnings"),
            "wrong" => got["errors"].is_array() && !none("errors"),
            "invalid" => got["code"].is_string(),
            "old" => got["sidecar"].is_object(),
            _ => false,
        };
        assert!(fits, "{name}: {got:#}");
    }
}
