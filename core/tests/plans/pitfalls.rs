//! Traps that plans fall into: `fixtures/pitfalls/base.md` with the changes of each case in
//! `cases.json`.
use std::fs;

use crate::support::{Stages, codes, fixtures, stages};
use okstra_core::check::{CheckOptions, check_plan};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// What the case shows, for its reader.
    #[serde(rename = "why")]
    _why: String,
    /// Texts that stand in the base exactly once, and what stands there instead.
    #[serde(default)]
    replace: Vec<(String, String)>,
    line_ends: Option<String>,
    #[serde(default = "yes")]
    final_newline: bool,
    codes: Vec<String>,
    stages: Stages,
    /// Texts that must stand in the messages.
    #[serde(default)]
    says: Vec<String>,
}

fn yes() -> bool {
    true
}

fn cases() -> (String, Vec<Case>) {
    let folder = fixtures().join("pitfalls");
    let base = fs::read_to_string(folder.join("base.md")).unwrap();
    let cases = fs::read(folder.join("cases.json")).unwrap();
    (base, serde_json::from_slice(&cases).unwrap())
}

fn text(base: &str, case: &Case) -> String {
    let mut text = base.to_owned();
    for (old, new) in &case.replace {
        assert_eq!(text.matches(old).count(), 1, "{}: {old}", case.name);
        text = text.replacen(old, new, 1);
    }
    if !case.final_newline {
        text.truncate(text.trim_end().len());
    }
    match &case.line_ends {
        Some(end) => text.replace('\n', end),
        None => text,
    }
}

#[test]
fn every_pitfall_gives_its_answer() {
    let (base, cases) = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let text = text(&base, case);
        let report = check_plan(text.as_bytes(), CheckOptions::default()).unwrap();
        let messages: Vec<&str> =
            report.findings.iter().map(|each| each.message.as_str()).collect();
        let said = case.says.iter().all(|part| messages.iter().any(|all| all.contains(part)));
        if codes(&report) != case.codes || stages(&report) != case.stages || !said {
            wrong.push(format!(
                "{}\n  got {:?} {:?} {messages:#?}\n  wanted {:?} {:?} {:?}",
                case.name,
                codes(&report),
                stages(&report),
                case.codes,
                case.stages,
                case.says
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_base_has_no_finding() {
    let (base, _) = cases();
    let report = check_plan(base.as_bytes(), CheckOptions::default()).unwrap();
    assert_eq!(codes(&report), Vec::<String>::new());
}
