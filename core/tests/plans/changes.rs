//! One careless change each to a plan without a fault: what the check says, and what `--fix` makes
//! of it. `fixtures/changes/changes.json` holds the changes with the answers a careful person
//! expects; where a repair would only write the mistake down for good there is none.
use std::fs;

use crate::support::{codes, fixtures};
use okstra_core::check::{
    ApproveResult, CheckOptions, approve_plan, check_plan, fix_plan, parse_plan, plan_graph,
};
use okstra_core::error::OkstraError;
use okstra_core::plan::Stage;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    name: String,
    /// Text of the plan, and what stands there instead.
    old: String,
    new: String,
    /// `S6:3` for each finding.
    codes: Vec<String>,
    /// What `--fix` replaces in the careless plan, and with what.
    repaired: Vec<(String, String)>,
}

fn plan() -> String {
    fs::read_to_string(fixtures().join("plans/valid_three_stage_parallel.md")).unwrap()
}

#[test]
fn every_change_is_seen_and_only_sure_repairs_are_made() {
    let changes = fs::read(fixtures().join("changes/changes.json")).unwrap();
    let changes: Vec<Change> = serde_json::from_slice(&changes).unwrap();
    let mut wrong = Vec::new();
    for change in changes {
        let plan = plan();
        assert!(plan.contains(&change.old), "{}: the plan has no such text", change.name);
        let careless = plan.replacen(&change.old, &change.new, 1);
        let report = check_plan(careless.as_bytes(), CheckOptions::default()).unwrap();
        if codes(&report) != change.codes {
            let said: Vec<_> = report.findings.iter().map(|each| &each.message).collect();
            wrong.push(format!("{}: {:?} {said:#?}", change.name, codes(&report)));
        }
        let mut wanted = careless.clone();
        for (old, new) in &change.repaired {
            assert!(wanted.contains(old), "{}: nothing to repair", change.name);
            wanted = wanted.replacen(old, new, 1);
        }
        let fixed = fix_plan(careless.as_bytes(), CheckOptions::default()).unwrap();
        if fixed.text != wanted {
            let applied: Vec<_> = fixed.applied.iter().map(|each| &each.fix).collect();
            wrong.push(format!("{}: repaired otherwise: {applied:#?}", change.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn approve(end: &str) -> Result<ApproveResult, OkstraError> {
    approve_plan(format!("{}\n{end}", plan()).as_bytes())
}

#[test]
fn an_approval_is_taken_as_one_only_beyond_doubt() {
    let taken =
        ["Approved", "approved.", "Approved ✅", "Approved (by Kim, 3 May)", "Approved by Kim"];
    for text in taken {
        let answer = approve(&format!("- [x] {text}\n")).unwrap();
        assert!(!answer.changed, "{text} is no approval");
    }
    for text in [
        "Approved: no",
        "Approved? not yet",
        "Approved - pending",
        "~~Approved~~",
        "<del>Approved</del>",
        "Approval",
    ] {
        let answer = approve(&format!("- [x] {text}\n")).unwrap();
        assert!(answer.changed, "{text} counts as an approval");
    }
}

#[test]
fn a_new_approval_line_is_part_of_no_stage() {
    let plan = plan();
    let before = parse_plan(plan.as_bytes()).unwrap();
    let answer = approve_plan(plan.as_bytes()).unwrap();
    let after = parse_plan(answer.text.as_bytes()).unwrap();
    let (line, map) = (answer.text.find("- [x] Approved").unwrap(), answer.text.find("## 4.5 "));
    assert!(map.is_some_and(|map| line < map));
    assert_eq!(answer.errors, 0);
    for (stage, was) in after.stages.iter().zip(&before.stages) {
        let texts = |stage: &Stage| {
            let section = stage.section.as_ref().unwrap();
            (section.validation.clone(), section.exit_contract.clone(), section.steps.len())
        };
        assert_eq!(texts(stage), texts(was));
    }
    // The place that a plan has for it is taken all the same.
    let request = format!("{plan}\n## User Approval Request\n\nPlease.\n");
    let text = approve_plan(request.as_bytes()).unwrap().text;
    assert!(text.ends_with("Please.\n\n- [x] Approved\n"));
}

#[test]
fn what_is_no_plan_is_not_approved_and_errors_are_counted() {
    for text in ["", "# Shopping list\n\n- [ ] milk\n", "- [ ] Approved\n"] {
        assert_eq!(approve_plan(text.as_bytes()), Err(OkstraError::NoStageMap), "{text:?}");
    }
    let careless = plan().replacen("| 1, 2 |", "| 1, 7 |", 1);
    assert!(careless != plan() && approve_plan(careless.as_bytes()).unwrap().errors > 0);
}

#[test]
fn an_approval_that_would_take_a_heading_in_is_refused() {
    let end = "## User Approval Request\n\nPlease.\n\n  ## 4.5.4 Stage 4: More\n";
    assert!(matches!(approve(end), Err(OkstraError::NotApprovable { .. })));
    assert!(approve(&end.replace("  ##", "##")).unwrap().changed);
}

#[test]
fn renumbering_reaches_the_whole_plan() {
    let (abroad, note) = ("Customers abroad", "Stage 3, carry/stage-3.json; stage 4/5, #stage-4-x");
    let wanted = plan().replacen(abroad, note, 1);
    let mut careless = wanted.clone();
    for (old, new) in [
        ("| 3 | Prices", "| 4 | Prices"),
        ("4.5.3 Stage 3:", "4.5.4 Stage 4:"),
        ("Stage 3, carry/stage-3.json", "Stage 4, carry/stage-4.json"),
    ] {
        assert!(careless.contains(old), "{old}");
        careless = careless.replacen(old, new, 1);
    }
    let fixed = fix_plan(careless.as_bytes(), CheckOptions::default()).unwrap();
    assert_eq!(fixed.text, wanted);
}

#[test]
fn a_stage_that_waits_for_nobody_knows_what_is_in_no_wave() {
    let careless = plan().replacen(
        "| Price list per country | (none) |",
        "| Price list per country | TBD |",
        1,
    );
    let graph = plan_graph(careless.as_bytes()).unwrap();
    assert_eq!(graph.unclear, [2]);
    assert_eq!(graph.waves, [[1]]);
    assert_eq!(graph.nodes.iter().map(|node| node.wave).collect::<Vec<_>>(), [Some(1), None, None]);
    assert_eq!(graph.cycles, Vec::<Vec<u32>>::new());
}
