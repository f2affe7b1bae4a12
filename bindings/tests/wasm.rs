//! The bindings as JavaScript sees them. Runs in Node, and in a browser where
//! `WASM_BINDGEN_USE_BROWSER` is set.
#![cfg(target_arch = "wasm32")]
#![expect(clippy::unwrap_used, reason = "in a test, a value that is missing is a failure")]

use js_sys::{Array, JSON, Reflect};
use okstra_wasm as bindings;
use okstra_wasm::text::{Place, last};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

/// A flag that is not given.
const DEFAULT: u32 = 2;

/// One stage that announces two steps and has one.
const PLAN: &str = "\
## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
| --- | --- | --- | --- | --- |
| 1 | Käse 🧀 | (none) | 2 | done |

## 4.5.1 Stage 1: Käse 🧀

### Carry-In

None.

### Stepwise Execution Order

| step | action | files | command | expected |
| --- | --- | --- | --- | --- |
| 1 | do it | `a.rs` | cargo test | passes |

### Stage Exit Contract

Done.

### Stage Validation

cargo test
";

fn at(value: &JsValue, path: &str) -> JsValue {
    path.split('.')
        .fold(value.clone(), |value, key| Reflect::get(&value, &JsValue::from_str(key)).unwrap())
}

/// What a function answered, taken out of its JSON text.
fn answer(place: Place) -> JsValue {
    assert_ne!(place, 0);
    JSON::parse(&last()).unwrap()
}

/// The value of an answer.
fn ok(place: Place) -> JsValue {
    at(&answer(place), "ok")
}

/// The facts of a failure.
fn failure(place: Place) -> JsValue {
    at(&answer(place), "failure")
}

fn json(value: &JsValue) -> String {
    JSON::stringify(value).unwrap().into()
}

#[wasm_bindgen_test]
fn a_report_is_plain_objects_with_null_for_what_is_missing() {
    let report = ok(bindings::check_plan(PLAN.as_bytes(), DEFAULT, 0, DEFAULT, DEFAULT));
    assert_eq!(at(&report, "findings.length"), 1);
    assert_eq!(at(&report, "findings.0.code"), "S7");
    assert_eq!(at(&report, "findings.0.stage"), 1);
    assert_eq!(at(&report, "stages.0.title"), "Käse 🧀");
    let waves: Vec<Vec<u32>> = serde_wasm_bindgen::from_value(at(&report, "graph.waves")).unwrap();
    assert_eq!(waves, [[1]]);
    assert!(at(&report, "graph.nodes.0").is_object());
    let plan = ok(bindings::parse_plan(b"# nothing\n"));
    assert!(at(&plan, "section").is_null());
    assert!(Array::is_array(&at(&plan, "stages")));
}

#[wasm_bindgen_test]
fn offsets_in_utf16_index_into_a_javascript_string() {
    let report = ok(bindings::check_plan(PLAN.as_bytes(), DEFAULT, 0, DEFAULT, DEFAULT));
    let range = at(&report, "findings.0.range");
    let offset = |path| at(&range, path).as_f64().unwrap();
    let text = js_sys::JsString::from(PLAN);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "offsets are small whole numbers"
    )]
    let cut =
        text.substring(offset("start.offset_utf16") as u32, offset("end.offset_utf16") as u32);
    assert_eq!(String::from(cut), "2");
    assert!(offset("start.offset") > offset("start.offset_utf16"));
}

#[wasm_bindgen_test]
fn every_function_answers() {
    let source = PLAN.as_bytes();
    let fixed = ok(bindings::fix_plan(source, DEFAULT, 0, DEFAULT, DEFAULT));
    assert_eq!(at(&fixed, "changed"), true);
    assert_eq!(at(&fixed, "remaining.length"), 0);
    let pending = format!("- [ ] Approved\n\n{PLAN}");
    let approved = ok(bindings::approve_plan(pending.as_bytes()));
    assert_eq!(at(&approved, "text"), pending.replacen("[ ]", "[x]", 1));
    let graph = ok(bindings::plan_graph(source));
    assert_eq!(json(&at(&graph, "critical_path.stages")), "[1]");
    let drawn = ok(bindings::render_graph(source, "dot"));
    assert!(drawn.as_string().unwrap().contains("digraph"));
    // Two plans, one behind the other.
    let both = [source, b"# nothing\n"].concat();
    let ends = [u32::try_from(source.len()).unwrap(), u32::try_from(both.len()).unwrap()];
    let output = ok(bindings::render_check(
        &both,
        &ends,
        "a.md\0b.md\0",
        "json",
        0,
        DEFAULT,
        0,
        DEFAULT,
        DEFAULT,
    ));
    assert_eq!(at(&output, "exit_code"), 1);
    let printed = JSON::parse(&at(&output, "stdout").as_string().unwrap()).unwrap();
    assert_eq!(at(&printed, "plans.0.findings.0.code"), "S7");
    assert_eq!(at(&printed, "plans.1.findings.0.code"), "S1");
    assert_eq!(at(&printed, "plans.1.path"), "b.md");
    assert_eq!(at(&ok(bindings::rules()), "0.code"), "S1");
    assert_eq!(ok(bindings::version()), env!("CARGO_PKG_VERSION"));
}

#[wasm_bindgen_test]
fn each_option_reaches_its_rule() {
    let codes = |source: &str, max_steps, contract, approval| {
        let report =
            ok(bindings::check_plan(source.as_bytes(), DEFAULT, max_steps, contract, approval));
        json(&at(&report, "findings"))
    };
    assert!(codes(PLAN, 0, DEFAULT, 1).contains(r#""code":"A1""#));
    assert!(codes(PLAN, 0, 1, DEFAULT).contains(r#""code":"C1""#));
    let two_steps = PLAN.replace("| passes |", "| passes |\n| 2 | b | `b` | c | d |");
    assert!(codes(&two_steps, 1, DEFAULT, DEFAULT).contains(r#""code":"S5""#));
    assert_eq!(codes(&two_steps, 0, DEFAULT, DEFAULT), "[]");
}

#[wasm_bindgen_test]
fn an_unknown_format_is_an_error_that_quotes_it() {
    let check =
        failure(bindings::render_check(&[], &[], "", "xml", 0, DEFAULT, 0, DEFAULT, DEFAULT));
    let graph = failure(bindings::render_graph(b"", "xml"));
    for failure in [check, graph] {
        assert_eq!(at(&failure, "code"), "bad-options");
        assert!(at(&failure, "message").as_string().unwrap().contains("'xml'"));
    }
}

#[wasm_bindgen_test]
fn a_failure_is_an_error_with_its_facts() {
    let failed = failure(bindings::parse_plan(b"# caf\xe9\n"));
    assert_eq!(at(&failed, "code"), "not-utf8");
    assert_eq!(at(&failed, "details.offset"), 5);
    assert!(at(&failed, "help").is_string());
    assert_eq!(at(&failure(bindings::plan_graph(b"\0")), "code"), "binary");
}

#[wasm_bindgen_test]
fn no_panic_is_remembered_where_none_happened() {
    assert_ne!(bindings::panic::take_panic(), 0);
    assert_eq!(last(), "");
}
