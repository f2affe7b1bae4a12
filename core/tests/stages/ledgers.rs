//! The ledgers in `fixtures/ledgers` against the answers beside them, and what holds for every
//! ledger.
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use okstra_core::ledger::LedgerState;
use okstra_core::ledger::check::{check_ledger, repair_ledger, show_ledger};
use okstra_core::stage::{ClaimRequest, Decision, Effect, claim};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{NOW, facts_of, on, plan};

fn ledgers() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ledgers");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    found.sort();
    found
}

/// What the core says about a ledger.
fn answer(ledger: &[u8]) -> Value {
    let state = LedgerState::read(ledger);
    let report = check_ledger(ledger);
    let repair = repair_ledger(ledger);
    assert_eq!(repair.bad.len(), report.bad.len());
    let heads: BTreeMap<String, &str> = state
        .stages
        .iter()
        .filter_map(|(stage, record)| {
            Some((stage.to_string(), record.done.as_ref()?.head_commit.as_str()))
        })
        .collect();
    let holders: BTreeMap<String, Option<&str>> =
        state.holders().map(|claim| (claim.stage.to_string(), claim.claim_id.as_deref())).collect();
    json!({
        "rows": state.rows,
        "done": state.done(),
        "started": state.started(),
        "running": state.running(),
        "verified_accepted": state.verified_accepted(),
        "pr_covered": state.pr_covered(),
        "heads": heads,
        "holders": holders,
        "bad": report.bad,
        "notes": report.notes,
        "repair": {
            "changed": repair.changed,
            "text": repair.text,
            "rejected": repair.rejected,
        },
    })
}

#[test]
fn every_ledger_gives_the_answer_beside_it() {
    let ledgers = ledgers();
    assert!(ledgers.len() >= 45, "{}", ledgers.len());
    let mut wrong = Vec::new();
    for path in ledgers {
        let got = answer(&fs::read(&path).unwrap());
        let beside = path.with_extension("expected.json");
        let expected: Value = serde_json::from_slice(&fs::read(beside).unwrap()).unwrap();
        if got != expected {
            let fields = expected.as_object().unwrap().keys();
            let differ = fields.filter(|field| got[*field] != expected[*field]);
            let each = differ.map(|field| {
                format!("  {field}\n    got    {}\n    wanted {}", got[field], expected[field])
            });
            let each: Vec<String> = each.collect();
            wrong.push(format!("{}\n{}", path.display(), each.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A row as the core writes it.
fn core_row() -> String {
    let decision = claim(
        plan(&[on(&[])]).as_bytes(),
        b"",
        &facts_of("s1"),
        &ClaimRequest { stage: "auto".into(), claim_id: "c1".into(), ..ClaimRequest::default() },
    );
    match decision {
        Ok(Decision::Decided { effects, .. }) => match effects.as_slice() {
            [Effect::Append { line, .. }] => line.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Everything there is to ask about a ledger, and what holds for any.
fn ask(ledger: &[u8]) {
    let state = LedgerState::read(ledger);
    let report = check_ledger(ledger);
    let view = show_ledger(ledger);
    let repair = repair_ledger(ledger);
    assert_eq!(state.bad_count as usize, report.bad.len());
    assert_eq!(state.rows, report.rows);
    assert_eq!(view.rows.len(), state.rows as usize);
    assert_eq!(view.bad, report.bad);
    assert_eq!(repair.changed, !report.bad.is_empty());
    for (at, bad) in report.bad.iter().enumerate() {
        assert!(!bad.reason.contains(char::is_control) && bad.reason.chars().count() < 250);
        assert!(!bad.torn || at + 1 == report.bad.len());
    }

    // The running stages are the started ones that are not done.
    let mut expected = state.started().into_vec();
    expected.retain(|stage| !state.done().contains(*stage));
    assert_eq!(state.running().into_vec(), expected);

    // What is left has no fault and means the same.
    let after = LedgerState::read(repair.text.as_bytes());
    assert!(check_ledger(repair.text.as_bytes()).bad.is_empty());
    assert_eq!(after.stages, state.stages);
    assert_eq!(after.rows, state.rows);
    assert!(!repair_ledger(repair.text.as_bytes()).changed);

    // Every line that is not blank is in one half, in its order and byte for byte.
    let body = ledger.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(ledger);
    let lines = body.split(|byte| *byte == b'\n').zip(1_u32..);
    let lines = lines.filter(|(line, _)| !line.iter().all(u8::is_ascii_whitespace));
    let is_bad = |number: u32| report.bad.iter().any(|bad| bad.line == number);
    let (bad, good): (Vec<_>, Vec<_>) = lines.partition(|(_, number)| is_bad(*number));
    let kept = repair.text.strip_prefix('\u{feff}').unwrap_or(&repair.text);
    let kept = kept.as_bytes().split(|byte| *byte == b'\n');
    let kept = kept.filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    assert!(kept.eq(good.iter().map(|(line, _)| *line)));
    let rejected = repair.rejected.split_terminator('\n').map(unescaped);
    assert!(rejected.eq(bad.iter().map(|(line, _)| if std::str::from_utf8(line).is_ok() {
        unescaped(std::str::from_utf8(line).unwrap())
    } else {
        line.to_vec()
    })));
}

/// The bytes of a rejected line: `\xNN` is a byte.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.strip_prefix(b"x").and_then(|digits| digits.get(..2));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

/// Rows that can be used, of few stages, keys and claims.
fn good_row() -> impl Strategy<Value = String> {
    let key = prop_oneof![4 => Just("p:g:i"), 1 => Just("한글")];
    let claim = prop_oneof![Just(None), Just(Some("c1")), Just(Some("c2"))];
    (0..6_u8, 1..4_u32, key, claim, "[a-z\u{2028}é\"\\\\]{0,4}").prop_map(
        |(kind, stage, key, claim, text)| {
            let row = match kind {
                0 => json!({ "status": "started", "started_at": NOW, "session": text }),
                1 => json!({ "status": "done", "completed_at": NOW, "head_commit": text }),
                2 => json!({ "status": "verified", "verified_at": NOW, "verdict": "accepted" }),
                3 => json!({ "status": "pr", "opened_at": NOW, "stages": [1, 2], "pr_url": text }),
                4 => json!({ "status": "released", "released_at": NOW, "reason": text }),
                _ => json!({ "status": "later", "x": [text, { "y": 1.5 }] }),
            };
            let mut row = row;
            row["stage"] = stage.into();
            row["impl_task_key"] = key.into();
            if let Some(claim) = claim {
                row["claim_id"] = claim.into();
            }
            row.to_string()
        },
    )
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => good_row().prop_map(String::into_bytes),
        1 => "[{}\\[\\]\":,a1 \t\0]{0,12}".prop_map(String::into_bytes),
        1 => Just(Vec::new()),
        1 => Just(b" \t\r".to_vec()),
        1 => Just(b"\xEF\xBB\xBF{}".to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
        1 => (good_row(), any::<prop::sample::Index>()).prop_map(|(row, at)| {
            let row = row.into_bytes();
            row[..at.index(row.len())].to_vec()
        }),
        1 => good_row().prop_map(|row| format!("{row}\r").into_bytes()),
    ]
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn any_bytes_are_answered(ledger in proptest::collection::vec(any::<u8>(), 0..120)) {
        ask(&ledger);
    }

    #[test]
    fn any_lines_are_answered(
        lines in proptest::collection::vec(any_line(), 0..12),
        bom in any::<bool>(),
        ended in any::<bool>(),
    ) {
        let mut ledger = if bom { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        ledger.extend(lines.join(&b'\n'));
        if ended {
            ledger.push(b'\n');
        }
        ask(&ledger);
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn a_ledger_that_is_cut_anywhere_reads_as_its_rows_before(
        rows in proptest::collection::vec(good_row(), 1..7),
        end in prop_oneof![Just("\n"), Just("\r\n")],
        bom in any::<bool>(),
    ) {
        let core_row = core_row();
        let mut ledger = if bom { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        let mut ends = Vec::new();
        for row in &rows {
            ledger.extend(row.bytes());
            ends.push(ledger.len());
            ledger.extend(end.bytes());
        }
        for at in 0..=ledger.len() {
            let cut = &ledger[..at];
            let state = LedgerState::read(cut);
            let whole = ends.iter().filter(|end| **end <= at).count();
            prop_assert_eq!(state.rows as usize, whole, "at {}", at);
            prop_assert!(state.bad_count <= 1 && state.bad.iter().all(|bad| bad.torn));

            // What the rows before say is all it says.
            let before = &ledger[..whole.checked_sub(1).map_or(0, |last| ends[last])];
            prop_assert_eq!(&LedgerState::read(before).stages, &state.stages);

            // A row behind it, on a line of its own, is one more row.
            let mut more = cut.to_vec();
            if more.last().is_some_and(|last| *last != b'\n') {
                more.push(b'\n');
            }
            more.extend(core_row.bytes());
            more.push(b'\n');
            let after = LedgerState::read(&more);
            prop_assert_eq!(after.rows as usize, whole + 1, "at {}", at);
            prop_assert!(after.bad_count <= 1 && after.bad.iter().all(|bad| !bad.torn));
        }
    }
}

#[test]
fn the_order_of_the_fields_of_a_row_is_that_of_the_specification() {
    let row = core_row();
    let found: Value = serde_json::from_str(&row).unwrap();
    assert_eq!(found["plan_digest"].as_str().unwrap().len(), "sha256:".len() + 64);
    let digest = &found["plan_digest"];
    let expected = format!(
        "{{\"impl_task_key\":\"p:g:i\",\"stage\":1,\"status\":\"started\",\"started_at\":\"{NOW}\",\
         \"head_commit\":\"aaaaaaa\",\"claim_id\":\"c1\",\"session\":\"s1\",\"host\":\"here\",\
         \"pid\":149,\"pid_start\":\"boot-149\",\"base_commit\":\"aaaaaaa\",\
         \"plan_digest\":{digest}}}"
    );
    assert_eq!(row, expected);
}
