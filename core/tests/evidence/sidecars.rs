//! Sidecars as other tools wrote them.
use okstra_core::evidence::{Sidecar, read, with_records};
use serde_json::{Value, json};

fn sidecar(value: &Value) -> Sidecar {
    read(value.to_string().as_bytes()).unwrap()
}

#[test]
fn what_fails() {
    let table = [
        (json!({}), None),
        (json!({"status": "done"}), None),
        (json!({"status": 3, "conformance": "PARTIAL", "unverified": "x"}), None),
        (json!({"status": " FAILED "}), Some("status is failed")),
        (json!({"status": "Fail"}), Some("status is fail")),
        (json!({"status": "blocked"}), Some("status is blocked")),
        (json!({"status": "ERROR"}), Some("status is error")),
        (json!({"status": "aborted"}), Some("status is aborted")),
        (json!({"status": "failing"}), None),
        (json!({"conformance": {"overall": "pass "}}), None),
        (json!({"conformance": {"overall": ""}}), None),
        (json!({"conformance": {"overall": null}}), None),
        (json!({"conformance": {"overall": false}}), None),
        (
            json!({"conformance": {"overall": "PART\nIAL"}}),
            Some("conformance.overall is PART IAL, not PASS"),
        ),
        (json!({"conformance": {"overall": true}}), Some("conformance.overall is true, not PASS")),
        (
            json!({"conformance": {"overall": ["PASS"]}}),
            Some("conformance.overall is [\"PASS\"], not PASS"),
        ),
        (json!({"unverified": []}), None),
        (json!({"unverified": ["a"]}), Some("unverified lists 1 item")),
        (json!({"unverified": [null, 0]}), Some("unverified lists 2 items")),
        (json!({"status": "failed", "unverified": [1]}), Some("status is failed")),
    ];
    for (value, why) in table {
        assert_eq!(sidecar(&value).pass_grade().err().as_deref(), why, "{value}");
    }
}

#[test]
fn which_head() {
    let table = [
        (json!({"stageCommitRange": {"head": "a"}, "head_sha": "b"}), Some("a")),
        (json!({"stageCommitRange": {"head": " "}, "head_sha": "b", "head": "d"}), Some("b")),
        (
            json!({"stageCommitRange": "x", "head_sha": 4, "head_commit": "c", "head": "d"}),
            Some("c"),
        ),
        (json!({"head": {"sha": "x"}, "commits": [{"sha": "e"}, {"sha": "f"}]}), Some("f")),
        (json!({"head": " d "}), Some("d")),
        (json!({"commits": [{"sha": "e"}, {"sha": ""}]}), None),
        (json!({"commits": [{"sha": "e"}, "f"]}), None),
        (json!({"commits": {"sha": "e"}}), None),
        (json!({}), None),
    ];
    for (value, head) in table {
        assert_eq!(sidecar(&value).head(), head, "{value}");
    }
}

#[test]
fn what_cannot_be_read() {
    let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
    let table: [(&[u8], &str); 6] = [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        (b"[]", "is no JSON object"),
        (b"{", "is no JSON: EOF while parsing an object at line 1 column 1"),
        (b"{\"a\": \"\xff\"}", "is no JSON: invalid unicode code point at line 1 column 8"),
        (deep.as_bytes(), "is no JSON: recursion limit exceeded at line 1 column 132"),
    ];
    for (text, why) in table {
        assert_eq!(read(text).err().as_deref(), Some(why));
    }
    let read = read(b"\xef\xbb\xbf{\"stageTitle\": \"x\", \"stageTitle\": \" y \"}").unwrap();
    assert_eq!(read.title(), Some("y"));
}

#[test]
fn records_are_found_under_the_name_they_got() {
    let forged = r#"{"observed": 1, "okstra:okstra:observed": 2}"#;
    assert_eq!(read(forged.as_bytes()).unwrap().record("observed"), Some(&json!(2)));
    let written = with_records(forged, &[("observed", json!([])), ("warnings", json!(["w"]))]);
    let sidecar = read(written.as_bytes()).unwrap();
    assert_eq!(sidecar.record("observed"), Some(&json!([])));
    assert_eq!(sidecar.record("warnings"), Some(&json!(["w"])));
    assert_eq!(sidecar.record("other"), None);
}
