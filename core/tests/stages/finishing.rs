//! Finishing a stage: which evidence is taken, what is written, and who may.
use okstra_core::claims::Caller;
use okstra_core::error::OkstraError;
use okstra_core::evidence::read;
use okstra_core::ledger::LedgerState;
use okstra_core::stage::{
    ClaimRequest, Decision, DoneAnswer, DoneRequest, Effect, Facts, ReleaseRequest, claim, done,
    list, release,
};
use serde_json::{Value, json};

use crate::support::{
    CARRY, Disk, LEDGER, NOW, Spec, evidence, facts, facts_of, on, plan, refusal, seen, session,
    worker_result,
};

fn two() -> String {
    plan(&[on(&[]), on(&[1])])
}

/// A disk on which a session has claimed a stage.
fn claimed(by: &str, stage: u32, id: &str) -> Disk {
    let mut disk = Disk::default();
    take(&mut disk, by, stage, id);
    disk
}

fn take(disk: &mut Disk, by: &str, stage: u32, id: &str) {
    let request =
        ClaimRequest { stage: stage.to_string(), claim_id: id.into(), ..ClaimRequest::default() };
    let facts = Facts { sightings: Some(seen()), ..disk.facts(facts_of(by)) };
    disk.settle(claim(two().as_bytes(), &disk.ledger(), &facts, &request));
}

fn result(stage: u32, evidence: &str) -> DoneRequest {
    DoneRequest {
        stage: Some(stage),
        name: "result.md".into(),
        evidence: evidence.into(),
        ..DoneRequest::default()
    }
}

fn good(stage: u32) -> DoneRequest {
    result(stage, &worker_result(&evidence(stage)))
}

fn finish(
    disk: &Disk,
    by: Caller,
    request: &DoneRequest,
) -> Result<Decision<DoneAnswer>, OkstraError> {
    let facts = Facts { caller: by, ..facts() };
    done(two().as_bytes(), &disk.ledger(), &disk.facts(facts), request)
}

fn sidecar(disk: &Disk, stage: u32) -> String {
    String::from_utf8(disk.files[&format!("{CARRY}/stage-{stage}.json")].clone()).unwrap()
}

fn last_row(disk: &Disk) -> Value {
    let ledger = String::from_utf8(disk.ledger()).unwrap();
    serde_json::from_str(ledger.lines().last().unwrap()).unwrap()
}

#[test]
fn good_evidence_is_written_byte_for_byte_before_its_row() {
    let disk = claimed("ada", 1, "c1");
    let given = format!("{:#}\n", evidence(1)).replace('\n', "\r\n");
    let source = format!("### Stage Carry Evidence\r\n\r\n```json\r\n{given}```\r\n");
    let Ok(Decision::Decided { effects, answer, warnings }) =
        finish(&disk, session("ada"), &result(1, &source))
    else {
        panic!("refused");
    };
    let row = format!(
        "{{\"impl_task_key\":\"p:g:i\",\"stage\":1,\"status\":\"done\",\"completed_at\":\"{NOW}\",\
         \"carry_path\":\".okstra/tasks/g/i/runs/implementation/carry/stage-1.json\",\
         \"head_commit\":\"0000001\",\"claim_id\":\"c1\",\"plan_digest\":{}}}",
        last_row(&disk)["plan_digest"]
    );
    assert_eq!(
        effects,
        [
            Effect::WriteNew { path: format!("{CARRY}/stage-1.json"), text: given },
            Effect::Append { path: LEDGER.into(), line: row },
        ]
    );
    assert_eq!((answer.stage, answer.title.as_str(), answer.already_done), (1, "Part 1", false));
    assert_eq!((answer.head_commit.as_str(), answer.ready.as_slice()), ("0000001", &[2][..]));
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// Evidence with one field changed.
fn changed(stage: u32, field: &str, value: Value) -> DoneRequest {
    let mut evidence = evidence(stage);
    evidence[field] = value;
    result(stage, &worker_result(&evidence))
}

#[test]
fn evidence_that_is_not_taken_ends_with_four_and_writes_nothing() {
    let wrong = "result.md: the evidence of stage 1 breaks its contract:";
    let two_blocks = format!(
        "### Stage Carry Evidence\n\n```json\n{}\n```\n\n```json\n{}\n```\n",
        evidence(1),
        changed_json(1, "notes", &json!(["other"])),
    );
    let table = [
        (changed(1, "stageNumber", json!(2)), wrong),
        (result(1, &worker_result(&evidence(2))), wrong),
        (changed(1, "sourcePlanPath", json!("docs/other.md")), wrong),
        (changed(1, "status", json!("FAILED")), wrong),
        (changed(1, "conformance", json!({ "overall": "PARTIAL" })), wrong),
        (changed(1, "unverified", json!(["a test"])), wrong),
        (changed(1, "completedAt", json!("today")), wrong),
        (changed(1, "filesChanged", json!(["../../etc/passwd"])), wrong),
        (result(1, ""), "result.md: the heading '### Stage Carry Evidence' is missing"),
        (
            result(1, "# Result\n\nAll is well.\n"),
            "result.md: the heading '### Stage Carry Evidence' is missing",
        ),
        (
            result(1, "### Stage Carry Evidence\n\nnone\n"),
            "result.md: no `json` block under 'Stage Carry Evidence' (line 1)",
        ),
        (
            result(1, "### Stage Carry Evidence\n\n```json\n{,}\n```\n"),
            "result.md: the evidence is no JSON: key must be a string (line 4, column 2)",
        ),
        (
            result(1, "### Stage Carry Evidence\n\n```json\n[1]\n```\n"),
            "result.md: the evidence must be a JSON object, got array (line 4)",
        ),
        (
            result(1, "### Stage Carry Evidence\n\n```json\n{}\n"),
            "result.md: the evidence block that begins at line 3 is never closed",
        ),
        (result(1, &two_blocks), "result.md: several different evidence blocks: lines 3 and 7"),
        (
            result(1, "{\"stageNumber\": 1"),
            "result.md: the evidence is no JSON: EOF while parsing an object (line 1, column 18)",
        ),
    ];
    for (request, expected) in table {
        let disk = claimed("ada", 1, "c1");
        let error = finish(&disk, session("ada"), &request).unwrap_err();
        assert_eq!(error.to_string(), expected, "{}", request.evidence);
        let info = error.info();
        assert_eq!(info.exit_code, 4, "{expected}");
        assert!(info.help.unwrap().contains("nothing was written"), "{expected}");
    }
}

fn changed_json(stage: u32, field: &str, value: &Value) -> Value {
    let mut evidence = evidence(stage);
    evidence[field] = value.clone();
    evidence
}

#[test]
fn every_fault_of_the_evidence_is_a_line_with_its_place() {
    let disk = claimed("ada", 1, "c1");
    let request =
        result(1, "### Stage Carry Evidence\n\n```json\n{\n  \"stageNumber\": 2\n}\n```\n");
    let info = finish(&disk, session("ada"), &request).unwrap_err().info();
    let lines = info.details.lines.unwrap();
    assert_eq!(lines.len(), 11);
    assert!(lines.contains(&"result.md:4: schemaVersion: is missing".to_owned()), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("result.md:5: stageNumber: ")), "{lines:?}");
    assert_eq!(info.details.stage, Some(1));
}

#[test]
fn what_lies_there_and_cannot_count_is_never_written_over() {
    let path = ".okstra/tasks/g/i/runs/implementation/carry/stage-1.json";
    let table = [
        ("", "is empty"),
        ("{", "is no JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "is no JSON object"),
        ("{\"status\":\"failed\"}", "status is failed"),
        ("{\"status\":\" Aborted \"}", "status is aborted"),
        ("{\"unverified\":[1]}", "unverified lists 1 item"),
        ("{\"conformance\":{\"overall\":\"no\"}}", "conformance.overall is no, not PASS"),
        ("{\"stageNumber\":7}", "it is evidence for stage 7"),
        ("{\"sourcePlanPath\":\"docs/other.md\"}", "it is evidence of another plan"),
    ];
    for (text, why) in table {
        let mut disk = claimed("ada", 1, "c1");
        disk.files.insert(format!("{CARRY}/stage-1.json"), text.into());
        let found = refusal(finish(&disk, session("ada"), &good(1)));
        let expected = format!("{path} is there already and cannot be used: {why}");
        assert_eq!(found, (expected, 3), "{text}");
    }
}

#[test]
fn evidence_without_its_row_is_success_for_its_own_session() {
    let mut disk = claimed("ada", 1, "c1");
    let Ok(Decision::Decided { effects, .. }) = finish(&disk, session("ada"), &good(1)) else {
        panic!("refused");
    };
    // Killed between evidence and row.
    disk.carry_out(&effects[0], None);
    let (message, status) = refusal(finish(&disk, session("bob"), &good(1)));
    assert_eq!(
        (message.as_str(), status),
        ("--stage 1 already completed (consumers.jsonl status:done exists)", 3)
    );
    let (answer, warnings) = disk.settle(finish(&disk, session("ada"), &good(1)));
    assert!(answer.already_done);
    assert_eq!(
        warnings,
        ["stage 1 is done by its evidence; its lost row in the ledger is restored"]
    );
    let row = last_row(&disk);
    assert_eq!((&row["claim_id"], &row["head_commit"]), (&json!("c1"), &json!("0000001")));
    assert_eq!(row["completed_at"], json!(NOW));
}

#[test]
fn done_again() {
    let mut disk = claimed("ada", 1, "c1");
    disk.settle(finish(&disk, session("ada"), &good(1)));
    let rows = disk.ledger();

    // By the same session with the same evidence: nothing happens.
    let (answer, warnings) = disk.settle(finish(&disk, session("ada"), &good(1)));
    assert!(answer.already_done && warnings.is_empty(), "{warnings:?}");
    assert_eq!(disk.ledger(), rows);
    let by_id = Caller { claim_id: Some("c1".into()), ..Caller::default() };
    assert!(disk.settle(finish(&disk, by_id, &good(1))).0.already_done);

    // With other evidence: a warning, and what is there stays.
    let other = changed(1, "notes", json!(["other"]));
    let (answer, warnings) = disk.settle(finish(&disk, session("ada"), &other));
    assert!(answer.already_done);
    assert_eq!(
        warnings,
        ["stage 1 is done already with other evidence, which stays: \
          .okstra/tasks/g/i/runs/implementation/carry/stage-1.json"]
    );
    assert_eq!(disk.ledger(), rows);

    // By a stranger: refused.
    let completed = "--stage 1 already completed (consumers.jsonl status:done exists)";
    let strangers = [
        session("bob"),
        Caller::default(),
        Caller { claim_id: Some("c9".into()), ..session("ada") },
        Caller { session: Some("ada".into()), host: Some("there".into()), ..Caller::default() },
    ];
    for stranger in strangers {
        let found = refusal(finish(&disk, stranger.clone(), &good(1)));
        assert_eq!(found, (completed.into(), 3), "{stranger:?}");
    }
    let giving_back = release(
        two().as_bytes(),
        &disk.ledger(),
        &disk.facts(facts_of("ada")),
        &ReleaseRequest { stage: Some(1), ..ReleaseRequest::default() },
    );
    assert_eq!(refusal(giving_back), (completed.into(), 3));
}

/// The same without force.
fn request_of(forced: &DoneRequest) -> DoneRequest {
    DoneRequest { force_reappend: false, ..forced.clone() }
}

#[test]
fn a_correction_appends_a_row_with_the_new_head_and_leaves_the_evidence() {
    let mut disk = claimed("ada", 1, "c1");
    disk.settle(finish(&disk, session("ada"), &good(1)));
    let kept = sidecar(&disk, 1);
    let range = json!({ "base": "aaaaaaa", "head": "fffffff" });
    let mut request = changed(1, "stageCommitRange", range);
    request.force_reappend = true;
    let (answer, _) = disk.settle(finish(&disk, Caller::default(), &request));
    assert_eq!((answer.already_done, answer.head_commit.as_str()), (false, "fffffff"));
    assert_eq!(sidecar(&disk, 1), kept);
    let state = LedgerState::read(&disk.ledger());
    let record = state.stage(1).unwrap();
    assert_eq!(
        (record.done_rows, record.done.as_ref().unwrap().head_commit.as_str()),
        (2, "fffffff")
    );
    assert_eq!(last_row(&disk)["head_commit"], json!("fffffff"));

    // Its own session is still known.
    assert!(disk.settle(finish(&disk, session("ada"), &request_of(&request))).0.already_done);

    // What breaks its contract is no correction.
    request.evidence = String::from("nothing");
    assert_eq!(refusal(finish(&disk, Caller::default(), &request)).1, 4);
    // Of a stage that is not done it is an ordinary end.
    let request = DoneRequest { force_reappend: true, ..good(2) };
    assert_eq!(
        refusal(finish(&disk, session("ada"), &request)),
        ("--stage 2 is not claimed".into(), 3)
    );
}

#[test]
fn who_may_finish() {
    let mut disk = claimed("ada", 1, "c1");
    let id = |id: &str| Caller { claim_id: Some(id.into()), ..Caller::default() };
    let lost = "the claim of stage 1 is not yours any more: session ada on here since \
                2026-03-04T05:06:07Z holds it now";
    let who = "stage 1 is claimed by session ada on here since 2026-03-04T05:06:07Z, and nothing \
               says that this is you";
    let process = |pid: u32, start: &str, host: &str| Caller {
        pid: Some(pid),
        pid_start: Some(start.into()),
        host: Some(host.into()),
        ..Caller::default()
    };
    let ada = session("ada").pid.unwrap();
    let table = [
        (session("ada"), "decided"),
        (id("c1"), "decided"),
        // The id decides, whatever else is said.
        (Caller { claim_id: Some("c1".into()), ..session("bob") }, "decided"),
        (Caller { claim_id: Some("c0".into()), ..session("ada") }, lost),
        (id("c0"), lost),
        (session("bob"), lost),
        (Caller { host: Some("there".into()), ..session("ada") }, lost),
        (process(ada, &format!("boot-{ada}"), "here"), "decided"),
        (process(ada, "later", "here"), who),
        (process(ada, &format!("boot-{ada}"), "there"), who),
        (Caller::default(), who),
    ];
    for (caller, expected) in table {
        let found = refusal(finish(&disk, caller.clone(), &good(1))).0;
        assert_eq!(found, expected, "{caller:?}");
    }

    // Nobody's stage, and one that was given back.
    let found = refusal(finish(&disk, session("ada"), &good(2)));
    assert_eq!(found, ("--stage 2 is not claimed".into(), 3));
    let giving = ReleaseRequest { stage: Some(1), reason: "lunch".into(), force: false };
    let facts = disk.facts(facts_of("ada"));
    disk.settle(release(two().as_bytes(), &disk.ledger(), &facts, &giving));
    let gone = "the claim of stage 1 is not yours any more: it was released at \
                2026-03-04T05:06:07Z (lunch) and nobody holds the stage";
    for caller in [session("ada"), id("c1")] {
        assert_eq!(refusal(finish(&disk, caller, &good(1))), (gone.into(), 3));
    }
    let found = refusal(finish(&disk, session("bob"), &good(1)));
    assert_eq!(found, ("--stage 1 is not claimed".into(), 3));

    // Its successor is named, and is never overwritten, not even on purpose.
    take(&mut disk, "bob", 1, "c2");
    let now = "the claim of stage 1 is not yours any more: session bob on here since \
               2026-03-04T05:06:07Z holds it now";
    for caller in [session("ada"), id("c1")] {
        assert_eq!(refusal(finish(&disk, caller, &good(1))), (now.into(), 3));
    }
    disk.settle(finish(&disk, session("bob"), &good(1)));
    let over = "the claim of stage 1 is not yours any more: it was released at \
                2026-03-04T05:06:07Z (lunch) and session bob on here since 2026-03-04T05:06:07Z \
                finished the stage";
    let forced = DoneRequest { force_reappend: true, ..good(1) };
    for caller in [session("ada"), id("c1")] {
        assert_eq!(refusal(finish(&disk, caller, &forced)), (over.into(), 3));
    }
    for caller in [session("bob"), id("c2"), Caller::default()] {
        assert_eq!(refusal(finish(&disk, caller, &forced)).0, "decided");
    }
    // A session that had nothing to do with the stage.
    let (words, status) = refusal(finish(&disk, session("cy"), &forced));
    assert!(words.starts_with("stage 1 is claimed by session bob") && status == 3, "{words}");
}

#[test]
fn a_session_that_claims_again_is_not_fenced_off() {
    let mut disk = claimed("ada", 1, "c1");
    let giving = ReleaseRequest { stage: Some(1), ..ReleaseRequest::default() };
    let facts = disk.facts(facts_of("ada"));
    disk.settle(release(two().as_bytes(), &disk.ledger(), &facts, &giving));
    take(&mut disk, "ada", 1, "c2");
    let old = Caller { claim_id: Some("c1".into()), ..session("ada") };
    assert_eq!(refusal(finish(&disk, old, &good(1))).1, 3);
    disk.settle(finish(&disk, session("ada"), &good(1)));
    let forced = DoneRequest { force_reappend: true, ..good(1) };
    assert_eq!(refusal(finish(&disk, session("ada"), &forced)).0, "decided");
}

#[test]
fn which_stage_is_meant_without_a_number() {
    let plan = plan(&[on(&[]), on(&[]), on(&[])]);
    let ask = |disk: &Disk, caller: Caller, evidence: u32| {
        let request = DoneRequest { stage: None, ..good(evidence) };
        let facts = disk.facts(Facts { caller, ..facts() });
        done(plan.as_bytes(), &disk.ledger(), &facts, &request)
    };
    let claiming = |disk: &mut Disk, by: &str, stage: u32, id: &str| {
        let request = ClaimRequest {
            stage: stage.to_string(),
            claim_id: id.into(),
            ..ClaimRequest::default()
        };
        let facts = disk.facts(facts_of(by));
        disk.settle(claim(plan.as_bytes(), &disk.ledger(), &facts, &request));
    };
    let mut disk = Disk::default();
    let none = ("which stage? no claim is known to be yours".to_owned(), 2);
    assert_eq!(refusal(ask(&disk, session("ada"), 1)), none);
    claiming(&mut disk, "ada", 2, "c2");
    claiming(&mut disk, "bob", 1, "c1");
    assert_eq!(refusal(ask(&disk, session("cy"), 1)), none);
    assert_eq!(refusal(ask(&disk, Caller::default(), 1)), none);
    assert_eq!(refusal(ask(&disk, session("ada"), 2)).0, "decided");
    claiming(&mut disk, "ada", 3, "c3");
    let several = ("which stage? several claims are yours: 2, 3".to_owned(), 2);
    assert_eq!(refusal(ask(&disk, session("ada"), 2)), several);
    let by_id = Caller { claim_id: Some("c3".into()), ..session("ada") };
    assert_eq!(disk.settle(ask(&disk, by_id, 3)).0.stage, 3);
    // Of a done and an open one the open one is meant; of done ones alone the only one.
    assert_eq!(disk.settle(ask(&disk, session("ada"), 2)).0.stage, 2);
    assert_eq!(refusal(ask(&disk, session("ada"), 2)), none);
    assert_eq!(disk.settle(ask(&disk, session("bob"), 1)).0.stage, 1);
    assert!(disk.settle(ask(&disk, session("bob"), 1)).0.already_done);
}

#[test]
fn warnings_and_what_was_observed_are_recorded_and_nobody_else_can_write_them() {
    let null = || Some(Value::Null);
    let none = || None::<Value>;
    let own = json!("is a name that okstra writes itself");
    let warn = |field: &str| format!("{field}: {}", own.as_str().unwrap());
    let outside = String::from("files outside the stage's list: docs/x.md");
    // Members the worker wrote, what was observed, and the records of okstra that are read back.
    let table = [
        (json!({}), none(), None, none()),
        (json!({}), Some(json!({ "ok": 1 })), None, Some(json!({ "ok": 1 }))),
        (json!({ "observed": [1] }), none(), Some(json!([warn("observed")])), null()),
        (
            json!({ "observed": [1] }),
            Some(json!([2])),
            Some(json!([warn("observed")])),
            Some(json!([2])),
        ),
        (json!({ "warnings": [] }), none(), Some(json!([warn("warnings")])), none()),
        (json!({ "okstra:observed": [1] }), none(), None, null()),
        (json!({ "okstra:okstra:observed": [1] }), Some(json!(2)), None, Some(json!(2))),
        (json!({ "okstra:warnings": ["all is well"] }), none(), Some(json!([])), none()),
        (json!({ "filesChanged": ["docs/x.md"] }), none(), Some(json!([outside])), none()),
        (json!({ "filesChanged": ["src/part1.rs/deeper.rs"] }), none(), None, none()),
    ];
    for (members, observed, warnings, record) in table {
        let mut disk = claimed("ada", 1, "c1");
        let mut value = evidence(1);
        for (name, member) in members.as_object().unwrap() {
            value[name] = member.clone();
        }
        let mut request = result(1, &worker_result(&value));
        request.observed.clone_from(&observed);
        let (answer, _) = disk.settle(finish(&disk, session("ada"), &request));
        let text = sidecar(&disk, 1);
        let kept = read(text.as_bytes()).unwrap();
        assert_eq!(kept.record("warnings"), warnings.as_ref(), "{members}");
        assert_eq!(kept.record("observed"), record.as_ref(), "{members}");
        // What the worker wrote stays as it is.
        for (name, member) in value.as_object().unwrap() {
            assert_eq!(kept.value.get(name), Some(member), "{members}");
        }
        let said = warnings.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        let said: Vec<&str> = said.iter().filter_map(Value::as_str).collect();
        assert_eq!(answer.warnings, said);
        // And the same again is no other evidence.
        let (again, warned) = disk.settle(finish(&disk, session("ada"), &request));
        assert!(again.already_done && warned.is_empty(), "{warned:?}");
    }
}

#[test]
fn a_stage_without_files_has_no_list_and_an_empty_range_is_noted() {
    let spec = Spec { files: vec!["none"], steps: 1, ..Spec::default() };
    let plan = plan(&[spec]);
    let mut disk = Disk::default();
    let request =
        ClaimRequest { stage: "1".into(), claim_id: "c1".into(), ..ClaimRequest::default() };
    disk.settle(claim(plan.as_bytes(), b"", &facts_of("ada"), &request));
    let range = json!({ "base": "aaaaaaa", "head": "aaaaaaa" });
    let request = changed(1, "stageCommitRange", range);
    let facts = disk.facts(facts_of("ada"));
    let (answer, _) = disk.settle(done(plan.as_bytes(), &disk.ledger(), &facts, &request));
    assert_eq!(answer.warnings.len(), 1, "{:?}", answer.warnings);
    assert!(answer.warnings[0].starts_with("stageCommitRange"), "{:?}", answer.warnings);
}

#[test]
fn a_plan_that_got_errors_does_not_keep_work_from_being_recorded() {
    let mut disk = claimed("ada", 1, "c1");
    let broken = two()
        .replace("- [x] Approved", "- [ ] Approved")
        .replace("| 2 | Part 2 | 1 |", "| 2 | Part 2 | 9 |");
    let facts = disk.facts(facts_of("ada"));
    disk.settle(done(broken.as_bytes(), &disk.ledger(), &facts, &good(1)));
    let request =
        ClaimRequest { stage: "2".into(), claim_id: "c2".into(), ..ClaimRequest::default() };
    let facts = disk.facts(facts_of("ada"));
    let refused = claim(broken.as_bytes(), &disk.ledger(), &facts, &request).unwrap_err().info();
    assert_eq!(refused.message, "approved plan failed stage validation:");
    assert_eq!(refused.exit_code, 1);
    let lines = refused.details.lines.unwrap();
    assert!(lines.iter().any(|line| line.starts_with("S6 stage=2: depends-on 9")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("A1")), "{lines:?}");
}

#[test]
fn what_counts_as_lost_rows() {
    let good = |stage: u32| format!("{}", evidence(stage));
    let restored = |stage: u32| {
        format!("stage {stage} is done by its evidence; its lost row in the ledger is restored")
    };
    let carry = ".okstra/tasks/g/i/runs/implementation/carry";
    let table = [
        ("stage-1.json", good(1), vec![restored(1)], vec![1]),
        // Older tools say less.
        ("stage-1.json", String::from("{\"head_sha\":\"abc1234\"}"), vec![restored(1)], vec![1]),
        ("stage-1.json", String::from("\u{feff}{}"), vec![restored(1)], vec![1]),
        ("stage-01.json", good(1), vec![], vec![]),
        ("stage-1.json~", good(1), vec![], vec![]),
        ("Stage-1.json", good(1), vec![], vec![]),
        (
            "stage-7.json",
            good(7),
            vec![format!("{carry}/stage-7.json: the plan has no stage 7 to be done")],
            vec![],
        ),
        ("stage-1.json", String::from("{\"status\":\"failed\"}"), vec![], vec![]),
        (
            "stage-1.json",
            String::from("{\"stageNumber\":2}"),
            vec![format!("{carry}/stage-1.json: it is evidence for stage 2")],
            vec![],
        ),
        (
            "stage-1.json",
            String::from("{\"stageTitle\":\"Another\"}"),
            vec![
                restored(1),
                String::from("the evidence of stage 1 is titled 'Another', the plan says 'Part 1'"),
            ],
            vec![1],
        ),
        ("stage-1.json", String::from("{\"stageTitle\":\" part  1\"}"), vec![restored(1)], vec![1]),
    ];
    for (name, text, warnings, expected) in table {
        let mut disk = Disk::default();
        disk.files.insert(format!("{CARRY}/{name}"), text.clone().into_bytes());
        let facts = disk.facts(facts());
        let (answer, said) = disk.settle(list(two().as_bytes(), b"", &facts));
        assert_eq!((&said, &answer.warnings), (&warnings, &warnings), "{name} {text}");
        let found: Vec<u32> = LedgerState::read(&disk.ledger()).done().into_vec();
        assert_eq!(found, expected, "{name} {text}");
    }
}
