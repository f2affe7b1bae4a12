//! The plans in `fixtures/plans` against the answers written beside them.
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Stages, codes, fixtures, place, stages};
use okstra_core::check::{CheckOptions, check_plan};
use okstra_core::finding::{Code, Severity};
use okstra_core::rules::RULES;
use serde::Deserialize;

/// The options of a check as an `X.expected.json` writes them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    strict: bool,
    max_steps: Option<u32>,
    contract: bool,
    require_approval: bool,
}

impl Options {
    fn of_check(&self) -> CheckOptions {
        let default = CheckOptions::default();
        CheckOptions {
            strict: self.strict,
            max_steps: self.max_steps.unwrap_or(default.max_steps),
            contract: self.contract,
            require_approval: self.require_approval,
        }
    }
}

/// What stands in an `X.expected.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default)]
    options: Options,
    codes: Vec<String>,
    stages: Stages,
    messages: Vec<String>,
    places: Vec<String>,
}

fn plans() -> Vec<PathBuf> {
    let folder = fixtures().join("plans");
    let mut found: Vec<PathBuf> = [folder.clone(), folder.join("rules")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_plan_gives_the_answer_beside_it() {
    let mut wrong = Vec::new();
    for path in plans() {
        let expected = fs::read(path.with_extension("expected.json")).unwrap();
        let expected: Expected = serde_json::from_slice(&expected).unwrap();
        let report = check_plan(&fs::read(&path).unwrap(), expected.options.of_check()).unwrap();
        let messages: Vec<_> = report.findings.iter().map(|each| each.message.clone()).collect();
        let places: Vec<_> = report.findings.iter().map(|each| place(&each.range)).collect();
        let mut compare = |what: &str, got: String, wanted: String| {
            if got != wanted {
                wrong.push(format!("{} {what}\n   got {got}\nwanted {wanted}", name(&path)));
            }
        };
        compare("codes", format!("{:?}", codes(&report)), format!("{:?}", expected.codes));
        compare("stages", format!("{:?}", stages(&report)), format!("{:?}", expected.stages));
        compare("messages", format!("{messages:#?}"), format!("{:#?}", expected.messages));
        compare("places", format!("{places:?}"), format!("{:?}", expected.places));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_rule_has_a_valid_and_an_invalid_plan() {
    let names: Vec<String> = plans().iter().map(|path| name(path)).collect();
    for rule in RULES {
        let code = rule.code.as_str();
        let has = |end: &str| {
            names.iter().any(|name| name.starts_with(&format!("{code}_")) && name.ends_with(end))
        };
        assert!(has("_valid"), "no valid plan for {code}");
        assert!(has("_invalid"), "no invalid plan for {code}");
    }
}

#[test]
fn a_valid_plan_has_no_finding_and_an_invalid_one_its_own() {
    for path in plans() {
        let name = name(&path);
        let expected = fs::read(path.with_extension("expected.json")).unwrap();
        let expected: Expected = serde_json::from_slice(&expected).unwrap();
        let (first, _) = name.split_once('_').unwrap();
        if name.contains("invalid") {
            assert!(!expected.codes.is_empty(), "{name}");
            if first != "invalid" {
                let own = format!("{first}:");
                assert!(expected.codes.iter().any(|code| code.starts_with(&own)), "{name}");
            }
        } else {
            assert!(expected.codes.is_empty(), "{name}");
        }
    }
}

#[test]
fn severities_follow_the_table_and_strict_raises_s9() {
    let warnings = [Code::S9, Code::W1, Code::W2, Code::W3, Code::W4, Code::W5];
    for path in plans() {
        let source = fs::read(&path).unwrap();
        for strict in [false, true] {
            let options = CheckOptions {
                strict,
                contract: true,
                require_approval: true,
                ..CheckOptions::default()
            };
            for finding in check_plan(&source, options).unwrap().findings {
                let warning =
                    warnings.contains(&finding.code) && !(strict && finding.code == Code::S9);
                let wanted = if warning { Severity::Warning } else { Severity::Error };
                assert_eq!(finding.severity, wanted, "{} {:?}", name(&path), finding);
            }
        }
    }
}
