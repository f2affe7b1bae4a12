//! Single fields of evidence, right and wrong.
use crate::support::{PLAN, STAGE_2, checked, lines, valid};
use okstra_core::evidence::{Expected, with_records};
use serde_json::{Value, json};

/// Evidence in which the value of a field is written as given, so that `1.0` stays `1.0`.
fn with(field: &str, raw: &str) -> String {
    let mut evidence = valid();
    let pointer = format!("/{}", field.replace('.', "/"));
    *evidence.pointer_mut(&pointer).unwrap() = json!("@@");
    evidence.to_string().replace("\"@@\"", raw)
}

/// The end of a long path, as messages show it.
fn ending(path: &str) -> String {
    let skipped = path.chars().count() - 80;
    format!("…{}", path.chars().skip(skipped).collect::<String>())
}

#[test]
fn the_model_is_right() {
    let checked = checked(&valid().to_string(), &STAGE_2);
    assert_eq!((checked.errors.len(), checked.warnings.len()), (0, 0));
    let evidence = checked.evidence.unwrap();
    assert_eq!((evidence.stage, evidence.title.as_str()), (2, "Price table"));
    assert_eq!((evidence.base.as_str(), evidence.head.as_str()), ("1f0c9a2", "9b3d5e7f"));
    assert_eq!(evidence.completed_at, "2026-03-04T05:06:07+09:00");
    assert_eq!(evidence.source_plan_path, PLAN);
    assert_eq!(evidence.files_changed, ["src/price.rs"]);
    assert_eq!(evidence.new_identifiers, ["PriceTable"]);
    assert_eq!(evidence.validations_passed, ["cargo test"]);
    assert_eq!(evidence.notes, ["none"]);
}

#[test]
fn one_value_one_error() {
    let schema = "must be the whole number 1, got";
    let positive = "must be a whole number from 1 on, got";
    let fraction = "(number with a fraction or exponent)";
    let commit = "must be a string of 7 to 64 hexadecimal digits, got";
    let table = [
        ("schemaVersion", "1.0", format!("{schema} 1.0 {fraction}")),
        ("schemaVersion", "1e0", format!("{schema} 1e0 {fraction}")),
        ("schemaVersion", "\"1\"", format!("{schema} \"1\" (string)")),
        ("schemaVersion", "true", format!("{schema} true (boolean)")),
        ("schemaVersion", "-1", format!("{schema} -1 (number)")),
        ("schemaVersion", "2", "must be 1, the version this okstra reads, got 2 (number)".into()),
        ("schemaVersion", "0", "must be 1, the version this okstra reads, got 0 (number)".into()),
        ("stageNumber", "0", format!("{positive} 0 (number)")),
        ("stageNumber", "-2", format!("{positive} -2 (number)")),
        ("stageNumber", "2.0", format!("{positive} 2.0 {fraction}")),
        ("stageNumber", "\"2\"", format!("{positive} \"2\" (string)")),
        ("stageNumber", "[2]", format!("{positive} [2] (array)")),
        ("stageNumber", "20", "is evidence for another stage: got 20, expected 2".into()),
        (
            "stageNumber",
            "99999999999999999999999",
            "is evidence for another stage: got 99999999999999999999999, expected 2".into(),
        ),
        ("sourcePlanPath", "\" \"", "is empty".into()),
        (
            "sourcePlanPath",
            "\"/plan.md\"",
            format!("names another plan: got \"/plan.md\", expected \"{}\"", ending(PLAN)),
        ),
        ("stageTitle", "\"\"", "is empty".into()),
        ("completedAt", "\"today\"", "is no ISO 8601 date and time: got \"today\" (string)".into()),
        (
            "completedAt",
            "\"2026-03-04T05:06:07\"",
            "has no time zone: got \"2026-03-04T05:06:07\" (string)".into(),
        ),
        (
            "stageCommitRange",
            "[]",
            "must be an object with `base` and `head`, got [] (array)".into(),
        ),
        ("stageCommitRange.base", "\"\"", format!("{commit} \"\" (string)")),
        ("stageCommitRange.head", "\"HEAD\"", format!("{commit} \"HEAD\" (string)")),
        ("stageCommitRange.head", "\"123456\"", format!("{commit} \"123456\" (string)")),
        ("stageCommitRange.head", "1234567", format!("{commit} 1234567 (number)")),
        ("notes", "null", "must be an array, got null".into()),
        ("validationsPassed", "{}", "must be an array, got {} (object)".into()),
    ];
    for (field, raw, message) in table {
        let found = checked(&with(field, raw), &STAGE_2);
        assert_eq!(lines(&found.errors), [format!("1 {field}: {message}")], "{field} {raw}");
        assert!(found.warnings.is_empty() && found.evidence.is_none());
    }
    let long = with("stageCommitRange.head", &format!("\"{}\"", "a".repeat(64)));
    assert!(checked(&long, &STAGE_2).errors.is_empty());
    let longer = with("stageCommitRange.head", &format!("\"{}\"", "a".repeat(65)));
    assert_eq!(checked(&longer, &STAGE_2).errors.len(), 1);
}

#[test]
fn without_git_commits_may_be_empty() {
    let expected = Expected { has_git: false, ..STAGE_2 };
    let empty = with("stageCommitRange", r#"{"base": "", "head": ""}"#);
    let found = checked(&empty, &expected);
    assert_eq!((found.errors.len(), found.warnings.len()), (0, 0));
    assert_eq!(checked(&empty, &STAGE_2).errors.len(), 2);
    assert!(checked(&valid().to_string(), &expected).errors.is_empty());
    assert_eq!(checked(&with("stageCommitRange.base", "\"x\""), &expected).errors.len(), 1);
}

#[test]
fn titles_differ_in_writing_only() {
    let table = [
        ("`parse` & *run*: a_b", "parse & run: a_b", true),
        ("PARSE  &\nrun: a\\_b", "parse & run: a_b", true),
        ("Caf\u{e9}", "Cafe\u{301}", true),
        ("Vec<T>", "Vec<T>", true),
        ("parse", "parse & run", false),
        ("1", "2", false),
    ];
    for (given, title, same) in table {
        let text = with("stageTitle", &json!(given).to_string());
        let found = checked(&text, &Expected { title, ..STAGE_2 });
        assert!(found.errors.is_empty());
        assert_eq!(found.warnings.is_empty(), same, "{given:?} {title:?}");
    }
}

#[test]
fn a_text_that_is_no_object_is_one_error() {
    for text in ["", "[]", "{", "null", "{\"a\": 1e999}"] {
        let found = checked(text, &STAGE_2);
        assert_eq!(found.errors.len(), 1, "{text}");
        assert_eq!(found.errors[0].field, "");
    }
}

#[test]
fn what_okstra_adds_changes_no_finding_but_its_own() {
    let text = format!("{:#}", valid());
    let records = [("warnings", json!(["empty range"])), ("observed", json!([{ "exit": 0 }]))];
    let written = with_records(&text, &records);
    let found = checked(&written, &STAGE_2);
    assert!(found.errors.is_empty());
    let fields: Vec<_> = found.warnings.iter().map(|each| each.field.as_str()).collect();
    assert_eq!(fields, ["warnings", "observed"]);
    let read: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(read["observed"], records[1].1);
}

#[test]
fn of_very_many_faults_the_first_are_listed() {
    let items = vec!["0"; 2_000_000].join(",");
    let found = checked(&with("filesChanged", &format!("[{items}]")), &STAGE_2);
    assert_eq!(found.errors.len(), 1001);
    assert_eq!(found.errors[1000].message, "has 1999000 more faults");
    let deep = format!("{}{}{}", "{\"key\":[".repeat(60), "{\"a\":1,\"a\":1}", "]}".repeat(60));
    let found = checked(&with("notes", &format!("[\"x\"], \"extra\": {deep}")), &STAGE_2);
    assert_eq!(found.errors.len(), 1);
    assert!(found.errors[0].field.starts_with("extra.key[0].key[0]."));
    assert!(found.errors[0].field.chars().count() < 200);
}
