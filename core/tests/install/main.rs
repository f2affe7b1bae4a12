//! Installing into settings of every kind and taking out again: nothing of others ever changes.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]

use okstra_core::error::OkstraError;
use okstra_core::install::{
    InstallAnswer, InstallFacts, InstallFile, InstallRequest, InstalledFile, RecordFacts,
    UninstallFacts, UninstallRequest, install, read_installed, uninstall,
};
use okstra_core::stage::{Decision, Effect};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SETTINGS: &str = "/h/.claude/settings.json";
const RECORD: &str = "/h/.okstra/installed.json";
const SKILL: &str = "/h/.claude/skills/okstra-run/SKILL.md";

/// Files by path, as a disk.
type Disk = BTreeMap<String, String>;

fn hooks(timeout: u32) -> String {
    let handler = json!({"type": "command", "command": "node",
        "args": ["${CLAUDE_PLUGIN_ROOT}/okstra/hook.cjs"], "timeout": timeout});
    json!({"description": "x", "hooks": {
        "PreToolUse": [{"matcher": "Edit|Write", "hooks": [handler]}],
        "Stop": [{"hooks": [handler]}],
    }})
    .to_string()
}

fn carry_out(disk: &mut Disk, effects: &[Effect], most: usize) {
    for effect in effects.iter().take(most) {
        match effect {
            Effect::Replace { path, text, if_unchanged } => {
                assert_eq!(disk.get(path), if_unchanged.as_ref(), "{path}");
                disk.insert(path.clone(), text.clone());
            }
            Effect::Remove { path, if_unchanged } => {
                assert_eq!(disk.remove(path).as_ref(), Some(if_unchanged), "{path}");
            }
            Effect::RemoveFolder { .. } => {}
            other => panic!("unexpected {other:?}"),
        }
    }
}

/// The effects, and the answer.
type Decided = (Vec<Effect>, InstallAnswer);

fn parts(decision: Decision<InstallAnswer>) -> Decided {
    match decision {
        Decision::Decided { effects, answer, .. } => (effects, answer),
        Decision::Needs { .. } => panic!("nothing is needed"),
    }
}

fn plan_install(disk: &Disk, timeout: u32, force: bool) -> Result<Decided, OkstraError> {
    let at = |path: &str| disk.get(path).cloned();
    let facts = InstallFacts {
        version: String::from("1"),
        package: String::from("/p"),
        root: String::from("/h/.claude"),
        launcher: String::from("/h/.claude/okstra/hook.cjs"),
        hooks: hooks(timeout),
        files: vec![InstallFile {
            path: SKILL.to_owned(),
            text: Some(format!("skill {timeout}\n")),
            found: at(SKILL),
        }],
        settings: InstalledFile { path: SETTINGS.to_owned(), found: at(SETTINGS) },
        record: RecordFacts { path: RECORD.to_owned(), text: at(RECORD) },
        missing_folders: vec![String::from("/h/.okstra"), String::from("/h/.claude/skills")],
    };
    install(&facts, &InstallRequest { force, ..InstallRequest::default() }).map(parts)
}

fn plan_uninstall(disk: &Disk, force: bool) -> Result<Decided, OkstraError> {
    let at = |path: &str| disk.get(path).cloned();
    let file = |path: &str| InstalledFile { path: path.to_owned(), found: at(path) };
    let facts = UninstallFacts {
        root: String::from("/h/.claude"),
        files: vec![file(SKILL)],
        settings: file(SETTINGS),
        record: RecordFacts { path: RECORD.to_owned(), text: at(RECORD) },
    };
    uninstall(&facts, &UninstallRequest { force, ..UninstallRequest::default() }).map(parts)
}

fn do_install(disk: &mut Disk, timeout: u32) -> usize {
    let (effects, _) = plan_install(disk, timeout, false).expect("installs");
    carry_out(disk, &effects, usize::MAX);
    effects.len()
}

fn do_uninstall(disk: &mut Disk) {
    let (effects, _) = plan_uninstall(disk, false).expect("uninstalls");
    carry_out(disk, &effects, usize::MAX);
}

/// Settings as they are met: none, empty ones, those with hooks of others in every place.
const SETTINGS_MET: &[Option<&str>] = &[
    None,
    Some(""),
    Some("\n"),
    Some("{}"),
    Some("{ }\n"),
    Some("{\n\n}\n"),
    Some("\u{feff}{\"model\": \"x\"}"),
    Some("{\r\n\t\"model\": \"x\",\r\n\t\"env\": { \"A\": \"é😀\" }\r\n}\r\n"),
    Some("{\"hooks\":{}}"),
    Some("{\n  \"hooks\": {\n  }\n}"),
    Some("{\"hooks\":{\"Stop\":[]}}\n"),
    Some(
        "{\n  \"hooks\": {\n    \"Stop\": [ ],\n    \"PreToolUse\": []\n  },\n  \"model\": \"x\"\n}\n",
    ),
    Some(
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say é\"}]}]},\"z\":1.50}",
    ),
    Some(
        "{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Bash\",\n                \"hooks\": [{ \"type\": \"command\", \"command\": \"audit\", \"args\": [\"/okstra/other.cjs\"] }]\n            }\n        ]\n    }\n}",
    ),
];

#[test]
fn whatever_the_settings_are_they_come_back_byte_for_byte() {
    for settings in SETTINGS_MET {
        let mut disk = Disk::new();
        if let Some(text) = settings {
            disk.insert(SETTINGS.to_owned(), (*text).to_owned());
        }
        let before = disk.clone();
        assert!(do_install(&mut disk, 5) > 0);
        let text = disk.get(SETTINGS).cloned().unwrap_or_default();
        assert_eq!(text.matches("okstra/hook.cjs").count(), 2, "{text}");
        let parsed: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).expect("JSON");
        assert!(parsed["hooks"]["Stop"].as_array().is_some_and(|list| !list.is_empty()));
        assert_eq!(do_install(&mut disk, 5), 0, "twice changes nothing: {settings:?}");
        do_uninstall(&mut disk);
        assert_eq!(disk, before, "{settings:?}");
    }
}

#[test]
fn a_newer_version_replaces_its_own_and_still_leaves_nothing() {
    for settings in SETTINGS_MET {
        for edit in [false, true] {
            let mut disk = Disk::new();
            if let Some(text) = settings {
                disk.insert(SETTINGS.to_owned(), (*text).to_owned());
            }
            let before = disk.clone();
            do_install(&mut disk, 5);
            if edit {
                // Somebody adds a setting of their own meanwhile.
                let text = disk.get(SETTINGS).cloned().unwrap_or_default();
                let (head, tail) = text.rsplit_once('}').expect("an object");
                let text = format!("{head}, \"mine\": 1}}{tail}");
                disk.insert(SETTINGS.to_owned(), text);
            }
            do_install(&mut disk, 7);
            let text = disk.get(SETTINGS).cloned().unwrap_or_default();
            assert_eq!(text.matches("okstra/hook.cjs").count(), 2, "{text}");
            assert_eq!(
                text.matches(": 5").count() + text.matches(":5").count(),
                0,
                "{edit} {text}"
            );
            assert_eq!(do_install(&mut disk, 7), 0);
            do_uninstall(&mut disk);
            if edit {
                let text = disk.get(SETTINGS).cloned().unwrap_or_default();
                let value: Value =
                    serde_json::from_str(text.trim_start_matches('\u{feff}')).expect("JSON");
                let mut wanted: Value = settings
                    .map(|text| text.trim_start_matches('\u{feff}').trim())
                    .filter(|text| !text.is_empty())
                    .map_or(json!({}), |text| serde_json::from_str(text).expect("JSON"));
                wanted["mine"] = json!(1);
                assert_eq!(value, wanted, "{settings:?}");
            } else {
                assert_eq!(disk, before, "{settings:?}");
            }
        }
    }
}

#[test]
fn a_kill_after_any_step_can_be_gone_on_from() {
    for settings in SETTINGS_MET {
        let mut whole = Disk::new();
        if let Some(text) = settings {
            whole.insert(SETTINGS.to_owned(), (*text).to_owned());
        }
        let before = whole.clone();
        do_install(&mut whole, 5);
        for most in 0..4 {
            let mut disk = before.clone();
            let (effects, _) = plan_install(&disk, 5, false).expect("installs");
            carry_out(&mut disk, &effects, most);
            let half = disk.clone();
            do_install(&mut disk, 5);
            assert_eq!(disk, whole, "installed after {most} steps");
            disk = half;
            do_uninstall(&mut disk);
            assert_eq!(disk, before, "taken out after {most} steps");
            disk = whole.clone();
            let (effects, _) = plan_uninstall(&disk, false).expect("uninstalls");
            carry_out(&mut disk, &effects, most);
            do_uninstall(&mut disk);
            assert_eq!(disk, before, "taken out after {most} steps of it: {settings:?}");
        }
    }
}

#[test]
fn what_somebody_changed_stays_and_is_named() {
    let mut disk = Disk::new();
    do_install(&mut disk, 5);
    disk.insert(SKILL.to_owned(), String::from("mine\n"));
    let (effects, answer) = plan_install(&disk, 7, false).expect("installs");
    assert_eq!(answer.kept, [SKILL]);
    carry_out(&mut disk, &effects, usize::MAX);
    assert_eq!(disk.get(SKILL).map(String::as_str), Some("mine\n"));
    let (effects, answer) = plan_uninstall(&disk, false).expect("uninstalls");
    assert_eq!(answer.kept, [SKILL]);
    carry_out(&mut disk, &effects, usize::MAX);
    assert_eq!(disk.keys().collect::<Vec<_>>(), [SKILL, RECORD]);
    let (effects, _) = plan_uninstall(&disk, true).expect("uninstalls");
    carry_out(&mut disk, &effects, usize::MAX);
    assert_eq!(disk, Disk::new());
}

#[test]
fn a_hook_somebody_changed_stays_unless_forced() {
    let mut disk = Disk::new();
    do_install(&mut disk, 5);
    let text = disk.get(SETTINGS).cloned().unwrap_or_default().replacen(
        "\"timeout\": 5",
        "\"timeout\": 99",
        1,
    );
    disk.insert(SETTINGS.to_owned(), text);
    do_install(&mut disk, 7);
    let count =
        |disk: &Disk, what: &str| disk.get(SETTINGS).map_or(0, |text| text.matches(what).count());
    assert_eq!((count(&disk, ": 99"), count(&disk, ": 7"), count(&disk, "hook.cjs")), (1, 1, 2));
    assert_eq!(do_install(&mut disk, 7), 0);
    let (effects, _) = plan_install(&disk, 7, true).expect("installs");
    carry_out(&mut disk, &effects, usize::MAX);
    assert_eq!((count(&disk, ": 99"), count(&disk, ": 7"), count(&disk, "hook.cjs")), (0, 2, 2));
    do_uninstall(&mut disk);
    assert_eq!(disk, Disk::new());
}

#[test]
fn what_cannot_be_read_is_named_with_its_line_and_nothing_is_decided() {
    for (text, line, word) in [
        ("{\n  // mine\n  \"a\": 1\n}", 2, "comment"),
        ("{\n  \"a\": 1 /* x */\n}", 2, "comment"),
        ("{\n  \"a\": 1,\n}", 3, "must be a string"),
        ("{\"hooks\": []}", 1, "not an object"),
        ("{\n\"hooks\": {\"Stop\": {}}}", 2, "not an array"),
        ("[]", 1, "not an object"),
    ] {
        let disk = Disk::from([(SETTINGS.to_owned(), text.to_owned())]);
        let error = plan_install(&disk, 5, false).expect_err(text).info();
        assert!(error.message.contains(&format!("{SETTINGS}:{line}")), "{}", error.message);
        assert!(error.message.contains(word), "{}", error.message);
    }
    let disk = Disk::from([(SKILL.to_owned(), String::from("theirs"))]);
    let error = plan_install(&disk, 5, false).expect_err("theirs").info();
    assert_eq!(error.details.lines, Some(vec![SKILL.to_owned()]));
    let newer = RecordFacts {
        path: RECORD.to_owned(),
        text: Some(String::from("{\"schema_version\": 2}")),
    };
    assert!(read_installed(&newer).is_err());
}

/// JSON that a person may have, with keys that meet ours.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<i32>().prop_map(Value::from),
        "[a-e\"é]{0,3}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[ab]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_come_back(
        other in value(),
        stop in proptest::option::of(proptest::collection::vec(value(), 0..3)),
        pre in proptest::option::of(proptest::collection::vec(value(), 0..3)),
        pretty in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let mut hooks = serde_json::Map::new();
        hooks.extend(stop.map(|list| (String::from("Stop"), Value::from(list))));
        hooks.extend(pre.map(|list| (String::from("PreToolUse"), Value::from(list))));
        let settings = json!({"a": other, "hooks": hooks});
        let mut text = if pretty { format!("{settings:#}\n") } else { settings.to_string() };
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let mut disk = Disk::from([(SETTINGS.to_owned(), text)]);
        let before = disk.clone();
        do_install(&mut disk, 5);
        prop_assert_eq!(do_install(&mut disk, 5), 0);
        do_install(&mut disk, 6);
        do_uninstall(&mut disk);
        prop_assert_eq!(disk, before);
    }
}
