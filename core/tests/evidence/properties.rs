//! Properties that hold for every text and for every change of right evidence.
use std::collections::BTreeMap;

use crate::support::{STAGE_2, checked, valid};
use okstra_core::evidence::{check, extract, read, with_records};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// How many lines a text has, where a lone carriage return ends one too, as in `CommonMark`.
fn lines(text: &str) -> usize {
    text.replace("\r\n", "\n").split(['\n', '\r']).count()
}

/// Everything there is to ask about a text.
fn ask(source: &[u8]) {
    if let Ok(block) = extract(source, Some(2)) {
        let lines = lines(&String::from_utf8_lossy(source));
        let checked = check(&block, &STAGE_2);
        for finding in checked.errors.iter().chain(&checked.warnings) {
            assert!(finding.line >= block.line && finding.line as usize <= lines);
        }
        let value: Value = serde_json::from_str(&block.text).unwrap();
        assert!(value.is_object());
    }
    if let Ok(sidecar) = read(source) {
        let _ = (sidecar.pass_grade(), sidecar.head(), sidecar.completed_ms());
        let _ = (sidecar.new_identifiers(), sidecar.record("observed"));
    }
    let text = String::from_utf8_lossy(source);
    let _ = (checked(&text, &STAGE_2), with_records(&text, &[("observed", json!(1))]));
}

/// Worker results made of what they are usually made of, in any order.
fn worker_result() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("### Stage Carry Evidence\n".to_owned()),
        Just("## Other\n".to_owned()),
        Just("```json\n".to_owned()),
        Just("  ```json\r\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~ json\n".to_owned()),
        Just("> ".to_owned()),
        Just("- ".to_owned()),
        Just("\t".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        Just("<!--\n".to_owned()),
        Just("-->\n".to_owned()),
        Just("{\"stageNumber\": 2}\n".to_owned()),
        Just(format!("{}\n", valid())),
        Just(format!("{:#}\n", valid())),
        "\\PC{0,8}",
    ];
    proptest::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
}

/// Any JSON value, not very deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i16>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
        "[\\PC\n\t\"\\\\]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any_key(), inner, 0..4).prop_map(object),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("warnings".to_owned()),
        Just("observed".to_owned()),
        Just("okstra:observed".to_owned()),
        "[\\PC\"\\\\]{0,6}",
    ]
}

fn object(members: BTreeMap<String, Value>) -> Value {
    Value::Object(Map::from_iter(members))
}

/// The JSON type.
fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// Every required field as a JSON pointer.
const FIELDS: [(&str, &str); 16] = [
    ("/schemaVersion", "schemaVersion"),
    ("/sourcePlanPath", "sourcePlanPath"),
    ("/stageNumber", "stageNumber"),
    ("/stageTitle", "stageTitle"),
    ("/completedAt", "completedAt"),
    ("/stageCommitRange", "stageCommitRange"),
    ("/stageCommitRange/base", "stageCommitRange.base"),
    ("/stageCommitRange/head", "stageCommitRange.head"),
    ("/filesChanged", "filesChanged"),
    ("/filesChanged/0", "filesChanged[0]"),
    ("/newIdentifiers", "newIdentifiers"),
    ("/stepResults", "stepResults"),
    ("/stepResults/0", "stepResults[0]"),
    ("/stepResults/0/step", "stepResults[0].step"),
    ("/validationsPassed/0", "validationsPassed[0]"),
    ("/notes/0", "notes[0]"),
];

#[test]
fn a_lone_carriage_return_ends_a_line_of_a_finding_too() {
    ask(b"### Stage Carry Evidence\n\r\r\r\r```json\n{\"stageNumber\": 2}\n```\n");
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn any_bytes_are_answered(source in proptest::collection::vec(any::<u8>(), 0..200)) {
        ask(&source);
    }

    #[test]
    fn any_worker_result_is_answered(source in worker_result()) {
        ask(source.as_bytes());
    }

    #[test]
    fn any_change_of_right_evidence_is_answered(
        at in any::<prop::sample::Index>(),
        length in 0_usize..20,
        new in "\\PC{0,4}",
        pretty in any::<bool>(),
    ) {
        let json = if pretty { format!("{:#}", valid()) } else { valid().to_string() };
        let source = format!("# r\n\n### Stage Carry Evidence\n\n```json\n{json}\n```\n");
        let mut chars: Vec<char> = source.chars().collect();
        let start = at.index(chars.len());
        let end = (start + length).min(chars.len());
        chars.splice(start..end, new.chars());
        ask(String::from_iter(&chars).as_bytes());
        ask(json.as_bytes());
    }

    #[test]
    fn a_wrong_type_is_an_error_at_exactly_that_field(
        at in 0..FIELDS.len(),
        value in any_json(),
        pretty in any::<bool>(),
    ) {
        let (pointer, field) = FIELDS[at];
        let mut evidence = valid();
        let slot = evidence.pointer_mut(pointer).unwrap();
        prop_assume!(kind(slot) != kind(&value));
        *slot = value;
        let text = if pretty { format!("{evidence:#}") } else { evidence.to_string() };
        let found = checked(&text, &STAGE_2);
        let fields: Vec<_> = found.errors.iter().map(|each| each.field.as_str()).collect();
        prop_assert_eq!(fields, [field]);
        prop_assert!(found.evidence.is_none());
    }

    #[test]
    fn a_missing_field_is_an_error_at_exactly_that_field(at in 0..FIELDS.len()) {
        let (pointer, field) = FIELDS[at];
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let mut evidence = valid();
        let Some(members) = evidence.pointer_mut(parent).and_then(Value::as_object_mut) else {
            return Ok(());
        };
        members.remove(key);
        let found = checked(&evidence.to_string(), &STAGE_2);
        prop_assert_eq!(found.errors.len(), 1);
        prop_assert_eq!(&found.errors[0].field, field);
        prop_assert_eq!(&found.errors[0].message, "is missing");
    }

    #[test]
    fn the_findings_of_a_block_move_with_it(before in 0_usize..5, indent in 0_usize..4) {
        let json = format!("{:#}", valid()).replace("\"Price table\"", "7");
        let pad = " ".repeat(indent);
        let body = format!("{pad}{}\n", json.replace('\n', &format!("\n{pad}")));
        let source = format!(
            "{}### Stage Carry Evidence\n{pad}```json\n{body}{pad}```\n",
            "text\n\n".repeat(before),
        );
        let block = extract(source.as_bytes(), None).unwrap();
        prop_assert_eq!(&block.text, &format!("{json}\n"));
        let found = check(&block, &STAGE_2);
        let line = source.lines().position(|line| line.contains("stageTitle")).unwrap() + 1;
        prop_assert_eq!(found.errors[0].line as usize, line);
    }

    #[test]
    fn records_are_inserted_and_nothing_else(
        given in proptest::collection::btree_map(any_key(), any_json(), 0..4),
        records in proptest::collection::vec((any_key(), any_json()), 0..3),
        layout in 0_usize..4,
        around in "[ \n\t]{0,3}",
    ) {
        let given = object(given);
        let text = match layout {
            0 => given.to_string(),
            1 => format!("{given:#}"),
            2 => format!("{given:#}").replace('\n', "\r\n"),
            _ => format!("{given:#}").replace("\n  ", "\n\t"),
        };
        let text = format!("{around}{text}{around}");
        let members: Vec<(&str, Value)> =
            records.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let written = with_records(&text, &members);

        // The text without one inserted slice is the given one.
        let same = text.bytes().zip(written.bytes()).take_while(|(a, b)| a == b).count();
        let tail = text.bytes().rev().zip(written.bytes().rev()).take_while(|(a, b)| a == b).count();
        prop_assert!(same + tail >= text.len());

        // It reads as the given members and one more for each record, of the same value.
        let read: Value = serde_json::from_str(&written).unwrap();
        let mut rest = read.as_object().unwrap().clone();
        for (key, value) in given.as_object().unwrap() {
            prop_assert_eq!(rest.remove(key), Some(value.clone()));
        }
        prop_assert_eq!(rest.len(), members.len());
        for (key, value) in &members {
            let name = rest.iter().find(|(name, kept)| name.ends_with(key) && *kept == value);
            let name = name.map(|(name, _)| name.clone());
            prop_assert!(name.is_some());
            rest.remove(&name.unwrap());
        }
    }
}
