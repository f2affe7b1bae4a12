//! Two plans compared by stage, and what the difference touches.
use okstra_core::stage::{BuiltAgainst, Decision, DiffAnswer, Facts, plan_diff};
use serde_json::{Value, json};

use crate::support::{Disk, facts, on, plan, seen};

fn compare(old: &str, new: &str, ledger: &str) -> (DiffAnswer, Vec<String>) {
    let facts = Facts { sightings: Some(seen()), ..facts() };
    let decision = plan_diff(old.as_bytes(), new.as_bytes(), ledger.as_bytes(), &facts);
    assert!(matches!(&decision, Ok(Decision::Decided { effects, .. }) if effects.is_empty()));
    Disk::default().settle(decision)
}

/// A comparison in short: a line for each stage that changed.
fn short(answer: &DiffAnswer) -> Vec<String> {
    let number = |name: Option<&okstra_core::diff::StageName>| {
        name.and_then(|name| name.stage).map_or_else(|| "-".to_owned(), |stage| stage.to_string())
    };
    let changed = answer.stages.iter().filter(|stage| !stage.diff.changes.is_empty());
    changed
        .map(|stage| {
            let kinds: Vec<String> = stage.diff.changes.iter().map(kind).collect();
            let (old, new) = (number(stage.diff.old.as_ref()), number(stage.diff.new.as_ref()));
            format!("{old}>{new} {}", kinds.join(" "))
        })
        .collect()
}

fn kind(change: &okstra_core::diff::StageChange) -> String {
    let value = serde_json::to_value(change).unwrap();
    let list = |name: &str| -> String {
        let items = value[name].as_array().unwrap();
        let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
        items.iter().map(text).collect::<Vec<_>>().join(",")
    };
    match value["kind"].as_str().unwrap() {
        "rewired" => format!("rewired+{}-{}", list("added"), list("removed")),
        "files" => format!("files+{}-{}", list("added"), list("removed")),
        "reordered" => format!("reordered:{}>{}", value["from"], value["to"]),
        "renamed" => format!("renamed:{}", value["to"].as_str().unwrap()),
        "text" => format!("text:{}", value["part"].as_str().unwrap()),
        "steps" => {
            let steps = value["steps"].as_array().unwrap().iter().map(|step| {
                let fields = step["fields"].as_array().into_iter().flatten();
                let fields: Vec<&str> = fields.filter_map(|it| it["field"].as_str()).collect();
                let name = (step["kind"].as_str().unwrap(), step["step"].as_str().unwrap());
                format!("{}:{}[{}]", name.0, name.1, fields.join(","))
            });
            format!("steps({})", steps.collect::<Vec<_>>().join(" "))
        }
        other => other.to_owned(),
    }
}

#[test]
fn plans_are_compared_by_stage() {
    let base = plan(&[on(&[]), on(&[1]), on(&[1])]);
    let with = |from: &str, to: &str| {
        assert!(base.contains(from), "{from}");
        base.replace(from, to)
    };
    // Stage 2 and 3 change places; stage 2 goes before stage 1 into the map.
    let swap = |text: &str| {
        text.replace("Part 2", "Part X")
            .replace("Part 3", "Part 2")
            .replace("Part X", "Part 3")
            .replace("part2", "partX")
            .replace("part3", "part2")
            .replace("partX", "part3")
    };
    let without_second =
        plan(&[on(&[]), on(&[1])]).replace("Part 2", "Part 3").replace("part2", "part3");
    let cases: Vec<(&str, String, Vec<&str>)> = vec![
        ("nothing", base.clone(), vec![]),
        ("white space", with("| 1 | do |", "|  1  |  do  |"), vec![]),
        ("a title in bold", with("| 2 | Part 2 |", "| 2 | **Part 2** |"), vec!["2>2 text:wording"]),
        (
            "a title",
            with("Part 2", "Second part"),
            vec!["2>2 renamed:Second part text:exit-contract"],
        ),
        (
            "a dependency more",
            with("| 3 | Part 3 | 1 |", "| 3 | Part 3 | 1, 2 |"),
            vec!["3>3 rewired+2-"],
        ),
        (
            "another dependency",
            with("| 3 | Part 3 | 1 |", "| 3 | Part 3 | 2 |"),
            vec!["3>3 rewired+2-1"],
        ),
        ("struck out", with("| 3 | Part 3 |", "| ~~3~~ | Part 3 |"), vec!["3>3 cancelled"]),
        (
            "a command",
            with("| 1 | do | `src/part2.rs` | `true` |", "| 1 | do | `src/part2.rs` | `false` |"),
            vec!["2>2 steps(changed:1[command])"],
        ),
        (
            "a file",
            with("`src/part2.rs`", "`src/part2.rs`, `src/more.rs`"),
            vec!["2>2 steps(changed:1[files]) files+src/more.rs-"],
        ),
        (
            "a step in front",
            with(
                "| 1 | do | `src/part2.rs`",
                "| 1 | think | none | `true` | ok |\n| 2 | do | `src/part2.rs`",
            ),
            vec!["2>2 steps(added:1[])"],
        ),
        ("the exit contract", with("Part 2 works", "Part 2 sings"), vec!["2>2 text:exit-contract"]),
        ("the validation", with("cargo test part2", "make part2"), vec!["2>2 text:validation"]),
        (
            "its summary",
            with("| 1 | 1 | it works |\n| 3", "| 1 | 1 | it sings |\n| 3"),
            vec!["2>2 text:exit-contract-summary"],
        ),
        ("two change places", swap(&base), vec!["3>2 reordered:3>2", "2>3 reordered:2>3"]),
        ("one is gone", without_second.clone(), vec!["3>2 reordered:3>2", "2>- removed"]),
        ("one more at the end", plan(&[on(&[]), on(&[1]), on(&[1]), on(&[3])]), vec!["->4 added"]),
        (
            "another plan",
            base.replace("Part", "Teil").replace("part", "teil"),
            vec![
                "->1 added",
                "->2 added",
                "->3 added",
                "1>- removed",
                "2>- removed",
                "3>- removed",
            ],
        ),
        ("no Stage Map", "# Plan\n".to_owned(), vec!["1>- removed", "2>- removed", "3>- removed"]),
    ];
    for (what, new, wanted) in cases {
        let (answer, _) = compare(&base, &new, "");
        assert_eq!(short(&answer), wanted, "{what}");
        assert_eq!(answer.same, wanted.is_empty() && !what.contains("Map"), "{what}");
        // The way back has as many changes.
        let (back, _) = compare(&new, &base, "");
        assert_eq!(short(&back).len(), wanted.len(), "{what} back");
    }
    // A plan with faults compared with itself is the same.
    let twice = plan(&[on(&[]), on(&[9]), on(&[1])]).replace("Part 3", "Part 2");
    let twice = twice.replace("| 3 |", "| 2 |");
    assert!(compare(&twice, &twice, "").0.same);
    let (answer, _) = compare(&base, &base.replace("### Carry-In", "A word.\n\n### Carry-In"), "");
    assert_eq!(short(&answer).len(), 3);
    // A dependency on a stage with another number is the same one.
    let (answer, _) = compare(&plan(&[on(&[]), on(&[]), on(&[2])]), &without_second, "");
    assert_eq!(short(&answer), ["3>2 reordered:3>2 rewired+1-2", "2>- removed"]);
    let (answer, _) = compare(&base, &base.replace("[x] Approved", "[ ] Approved"), "");
    assert!(!answer.same && answer.approval.is_some() && short(&answer).is_empty());
}

#[test]
fn a_change_names_what_it_touches() {
    let old = plan(&[on(&[]), on(&[1]), on(&[1])]);
    let digest = |text: &str, stage: u32| {
        let request = okstra_core::stage::ClaimRequest {
            stage: stage.to_string(),
            claim_id: "x".into(),
            ..okstra_core::stage::ClaimRequest::default()
        };
        let done = json!({"impl_task_key": "k", "stage": 1, "status": "done"});
        let ledger = if stage > 1 { format!("{done}\n") } else { String::new() };
        let decision =
            okstra_core::stage::claim(text.as_bytes(), ledger.as_bytes(), &facts(), &request);
        match decision {
            Ok(Decision::Decided { effects, .. }) => {
                let row = serde_json::to_value(&effects[0]).unwrap();
                let row: Value = serde_json::from_str(row["line"].as_str().unwrap()).unwrap();
                row["plan_digest"].as_str().unwrap().to_owned()
            }
            other => panic!("{:?}", other.err()),
        }
    };
    let ledger: String = [
        json!({"impl_task_key": "k", "stage": 1, "status": "done", "head_commit": "abc1234",
            "completed_at": "2026-03-01T00:00:00Z", "plan_digest": digest(&old, 1)}),
        json!({"impl_task_key": "k", "stage": 1, "status": "verified", "verdict": "accepted",
            "verified_at": "2026-03-01T00:00:00Z", "report_path": "r.md"}),
        json!({"impl_task_key": "k", "stage": 2, "status": "started", "claim_id": "c", "session": "bob",
            "started_at": "2026-03-01T00:00:00Z", "head_commit": "abc1234", "worktree": "/w/stage-2"}),
    ]
    .iter()
    .flat_map(|row| [row.to_string(), String::from("\n")])
    .collect();
    let new = old.replace("Part 1 works", "Part 1 sings").replace("cargo test part2", "make");
    let (answer, warnings) = compare(&old, &new, &ledger);
    let touches: Vec<_> = answer.stages.iter().map(|stage| stage.touches.clone()).collect();
    let done = touches[0].as_ref().unwrap().done.as_ref().unwrap();
    assert_eq!(done.built_against, Some(BuiltAgainst::Old));
    assert_eq!((done.head_commit.as_str(), done.verdict.is_some()), ("abc1234", true));
    let running = touches[1].as_ref().unwrap();
    assert_eq!(running.claims[0].claim.session.as_deref(), Some("bob"));
    assert_eq!(running.worktrees, ["/w/stage-2"]);
    assert!(running.done.is_none() && touches[2].is_none() && warnings.is_empty());
    // What did not change touches nothing.
    let (answer, _) = compare(&old, &old, &ledger);
    assert!(answer.stages.iter().all(|stage| stage.touches.is_none()));
    // Built against the new text already.
    let (answer, _) = compare(&new, &old, &ledger);
    let done = answer.stages[0].touches.as_ref().unwrap().done.as_ref().unwrap();
    assert_eq!(done.built_against, Some(BuiltAgainst::New));
    // Rows go by numbers: a stage with rows that gets another number is said.
    let moved = plan(&[on(&[]), on(&[1])]).replace("Part 2", "Part 3").replace("part2", "part3");
    let (_, warnings) = compare(&old, &moved, &ledger);
    assert_eq!(
        warnings,
        ["the ledger's rows of stage 2 are those of 'Part 2', which the new plan does not have; \
         with the new plan they would count for another stage"]
    );
}
