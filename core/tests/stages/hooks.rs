//! What hooks answer: the table `fixtures/hooks/cases.json`, which the package's tests read too.
use std::path::PathBuf;

use okstra_core::decode::decoded;
use okstra_core::hook::{HookRequest, react};
use okstra_core::stage::{Decision, Effect, Facts};
use serde_json::{Map, Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/hooks")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

fn table() -> Value {
    serde_json::from_str(&read("cases.json")).unwrap()
}

/// The members of the second object instead of those of the first.
fn over(base: &Value, more: &Value) -> Value {
    let mut all: Map<String, Value> = base.as_object().cloned().unwrap_or_default();
    all.extend(more.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

fn event(case: &Value) -> String {
    let Some(name) = case["recorded"].as_str() else {
        return case["event"].to_string();
    };
    let recorded = serde_json::from_str(&read(&format!("recorded/{name}"))).unwrap();
    over(&recorded, &case["with"]).to_string()
}

fn plan(case: &Value) -> String {
    let mut text = read("plan.md");
    for (from, to) in case["plan"].as_object().into_iter().flatten() {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to.as_str().unwrap());
    }
    text
}

fn ledger(table: &Value, case: &Value) -> String {
    let rows = &table["ledgers"][case["ledger"].as_str().unwrap()];
    let lines: Vec<String> = rows.as_array().unwrap().iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

fn answer(table: &Value, case: &Value) -> Value {
    let facts = over(&table["facts"], &case["facts"]).to_string();
    let facts: Facts = decoded(&facts, "facts").unwrap();
    let request: HookRequest =
        decoded(&over(&Value::Null, &case["request"]).to_string(), "request").unwrap();
    let event = event(case);
    let (plan, ledger) = (plan(case), ledger(table, case));
    match react(event.as_bytes(), plan.as_bytes(), ledger.as_bytes(), &facts, &request) {
        Err(error) => json!({ "failure": error.to_string() }),
        Ok(Decision::Needs { needs }) => json!({ "needs": needs }),
        Ok(Decision::Decided { effects, answer, .. }) => {
            let written = effects.iter().map(|effect| match effect {
                Effect::Append { line, .. } => {
                    let row: Value = serde_json::from_str(line).unwrap();
                    format!("append {} {}", row["status"].as_str().unwrap(), row["stage"])
                }
                Effect::WriteNew { path, .. } => {
                    format!("write {}", path.rsplit('/').next().unwrap())
                }
                Effect::Replace { path, .. } => format!("replace {path}"),
                Effect::Remove { path, .. } | Effect::RemoveFolder { path, .. } => {
                    format!("remove {path}")
                }
            });
            let written: Vec<String> = written.collect();
            over(&serde_json::to_value(&answer).unwrap(), &json!({ "effects": written }))
        }
    }
}

#[test]
fn every_case_is_answered_as_the_table_says() {
    let mut table = table();
    if std::env::var_os("UPDATE_HOOKS").is_some() {
        let answers: Vec<Value> =
            table["cases"].as_array().unwrap().iter().map(|case| answer(&table, case)).collect();
        for (case, answer) in table["cases"].as_array_mut().unwrap().iter_mut().zip(answers) {
            case["answer"] = answer;
        }
        let text = format!("{table:#}\n");
        std::fs::write(folder().join("cases.json"), text).unwrap();
        return;
    }
    for case in table["cases"].as_array().unwrap() {
        assert_eq!(answer(&table, case), case["answer"], "{}", case["name"]);
    }
}

#[test]
fn every_recorded_event_is_answered() {
    let table = table();
    for entry in std::fs::read_dir(folder().join("recorded")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for ledger in ["nothing", "ours"] {
            let facts = json!({ "sightings": { "processes": [], "sessions": [] } });
            let case = json!({ "recorded": name, "ledger": ledger, "facts": facts });
            let answer = answer(&table, &case);
            assert!(answer["output"].is_object(), "{name}: {answer}");
        }
    }
}

#[test]
fn what_is_no_event_is_refused_and_nothing_panics() {
    let facts = Facts::default();
    for bytes in [
        b"".as_slice(),
        b"{",
        b"null",
        b"[]",
        b"\"Stop\"",
        b"7",
        b"\xff\xfe",
        b"{\"hook_event_name\": \"Stop\"",
        "[".repeat(100_000).as_bytes(),
    ] {
        let answer = react(bytes, b"", b"", &facts, &HookRequest::default());
        assert!(answer.is_err(), "{}", String::from_utf8_lossy(bytes.get(..9).unwrap_or(bytes)));
    }
}
