//! Claims: who holds a stage, whether the session still lives, who may take it, what the host is
//! asked, and what the surfaces say of a plan that changes.
use okstra_core::claims::{
    Caller, Life, Needs, ProcessFact, ProcessQuestion, ProcessState, Sightings, SignOfLife,
};
use okstra_core::error::OkstraError;
use okstra_core::ledger::LedgerState;
use okstra_core::stage::{
    ClaimAnswer, ClaimRequest, Decision, Facts, MOST_BUILT_ON, NextRequest, Recorded,
    ReleaseRequest, StageList, StageState, claim, list, next, release, show,
};
use serde_json::{Value, json};

use crate::support::{
    Disk, LEDGER, NOW, PLAN, PLAN_PATH, Spec, evidence, facts, facts_of, on, plan, refusal, seen,
    session,
};

const T: &str = "2026-03-04T05:06:07Z";

fn row(stage: u32, more: &Value) -> String {
    let mut row = json!({
        "impl_task_key": "p:g:i",
        "stage": stage,
        "status": "started",
        "started_at": T,
    });
    for (name, value) in more.as_object().unwrap() {
        row[name] = value.clone();
    }
    format!("{row}\n")
}

fn done_row(stage: u32, more: &Value) -> String {
    let done = json!({ "status": "done", "completed_at": T, "head_commit": "fffffff" });
    let mut row: Value = serde_json::from_str(&row(stage, &done)).unwrap();
    for (name, value) in more.as_object().unwrap() {
        row[name] = value.clone();
    }
    format!("{row}\n")
}

fn wish(stage: &str) -> ClaimRequest {
    ClaimRequest { stage: stage.into(), claim_id: "fresh".into(), ..ClaimRequest::default() }
}

fn process(pid: u32, start: Option<&str>, state: ProcessState) -> Sightings {
    let fact = ProcessFact { pid, pid_start: start.map(str::to_owned), state };
    Sightings { processes: vec![fact], sessions: Vec::new() }
}

fn sign(session: &str, at: &str) -> Sightings {
    let sign = SignOfLife { session: session.into(), at: at.into(), process: None };
    Sightings { processes: Vec::new(), sessions: vec![sign] }
}

/// The session was heard of at the time of the request, and its process is this.
fn runs(session: &str, state: ProcessState) -> Sightings {
    let mut seen = sign(session, "2026-03-04T05:06:07Z");
    for sign in &mut seen.sessions {
        sign.process = Some(state);
    }
    seen
}

/// The table of a plan of three free stages.
fn table(ledger: &str, facts: &Facts) -> StageList {
    let plan = plan(&[on(&[]), on(&[]), on(&[])]);
    Disk::default().settle(list(plan.as_bytes(), ledger.as_bytes(), facts)).0
}

#[test]
fn live_quiet_and_dead() {
    let ada =
        json!({ "session": "ada", "host": "here", "pid": 7, "pid_start": "s", "claim_id": "c" });
    let gone = process(7, Some("s"), ProcessState::Gone);
    let without = |names: &[&str]| {
        let mut claim = ada.clone();
        for name in names {
            claim.as_object_mut().unwrap().remove(*name);
        }
        claim
    };
    let with = |name: &str, value: Value| {
        let mut claim = ada.clone();
        claim[name] = value;
        claim
    };
    let both = |mut of: Sightings, more: Sightings| {
        of.sessions.extend(more.sessions);
        of
    };
    let none = Sightings::default;
    let at = |minute: &str| format!("2026-03-04T{minute}:07Z");
    let table_of_lives = [
        (ada.clone(), none(), at("05:06"), Life::Live),
        (ada.clone(), none(), at("05:35"), Life::Live),
        (ada.clone(), none(), at("05:36"), Life::Quiet),
        (ada.clone(), process(7, Some("s"), ProcessState::Alive), at("05:36"), Life::Quiet),
        (ada.clone(), process(7, Some("s"), ProcessState::Unknown), at("05:10"), Life::Live),
        (ada.clone(), gone.clone(), at("05:06"), Life::Dead),
        // A process with the number of the dead one says nothing of this claim.
        (ada.clone(), process(7, Some("t"), ProcessState::Gone), at("05:06"), Life::Live),
        (ada.clone(), process(7, None, ProcessState::Gone), at("05:06"), Life::Live),
        (ada.clone(), process(8, Some("s"), ProcessState::Gone), at("05:06"), Life::Live),
        (without(&["pid_start"]), process(7, None, ProcessState::Gone), at("05:06"), Life::Dead),
        // Another host's processes cannot be seen from here.
        (with("host", json!("there")), gone.clone(), at("05:06"), Life::Live),
        (with("host", json!("there")), gone.clone(), at("05:40"), Life::Quiet),
        (without(&["host"]), gone.clone(), at("05:06"), Life::Live),
        (without(&["pid"]), gone.clone(), at("05:06"), Life::Live),
        // Signs of life.
        (ada.clone(), sign("ada", &at("05:30")), at("05:59"), Life::Live),
        (ada.clone(), sign("ada", &at("05:30")), at("06:00"), Life::Quiet),
        (ada.clone(), sign("bob", &at("05:59")), at("05:59"), Life::Quiet),
        (ada.clone(), sign("ada", "yesterday"), at("05:10"), Life::Live),
        (ada.clone(), both(gone.clone(), sign("ada", &at("05:06"))), at("05:06"), Life::Dead),
        // A session that was resumed lives in another process than its claim names.
        (
            ada.clone(),
            both(gone.clone(), runs("ada", ProcessState::Alive)),
            at("05:06"),
            Life::Live,
        ),
        (
            ada.clone(),
            both(gone.clone(), runs("ada", ProcessState::Alive)),
            at("05:40"),
            Life::Quiet,
        ),
        (ada.clone(), both(gone.clone(), runs("ada", ProcessState::Gone)), at("05:06"), Life::Dead),
        (
            ada.clone(),
            both(gone.clone(), runs("bob", ProcessState::Alive)),
            at("05:06"),
            Life::Dead,
        ),
        (without(&["session"]), sign("ada", &at("05:59")), at("05:59"), Life::Quiet),
        // A clock that went backwards ages nothing.
        (ada.clone(), none(), at("04:00"), Life::Live),
        (ada.clone(), sign("ada", &at("09:00")), at("05:06"), Life::Live),
        // Rows of older tools.
        (json!({}), none(), at("05:10"), Life::Live),
        (json!({}), none(), at("05:36"), Life::Quiet),
        (json!({ "started_at": "yesterday" }), none(), at("05:06"), Life::Quiet),
        (with("started_at", json!("?")), sign("ada", &at("05:06")), at("05:06"), Life::Live),
    ];
    for (claim, sightings, now, expected) in table_of_lives {
        let facts = Facts {
            now: now.clone(),
            sightings: Some(sightings.clone()),
            caller: Caller { host: Some("here".into()), ..Caller::default() },
            ..facts()
        };
        let list = table(&row(1, &claim), &facts);
        let view = list.stages[0].claim.clone().unwrap();
        assert_eq!(view.life, expected, "{claim} {sightings:?} at {now}");
        let plan = PLAN;
        let command = match expected {
            Life::Live => None,
            Life::Quiet => Some(format!("okstra stage release --plan {plan} --stage 1 --force")),
            Life::Dead => {
                Some(format!("okstra stage claim --plan {plan} --stage 1 --no-worktree --reclaim"))
            }
        };
        assert_eq!(view.free_with, command);
    }
}

#[test]
fn the_quiet_time_can_be_set() {
    for (minutes, expected) in [(None, Life::Live), (Some(3), Life::Quiet), (Some(0), Life::Quiet)]
    {
        let facts = Facts {
            now: "2026-03-04T05:09:07Z".into(),
            sightings: Some(seen()),
            quiet_minutes: minutes,
            ..facts()
        };
        let view = table(&row(1, &json!({})), &facts).stages[0].claim.clone().unwrap();
        assert_eq!(view.life, expected, "{minutes:?}");
        assert_eq!((view.age_ms, view.quiet_ms), (Some(180_000), Some(180_000)));
    }
}

/// Three free stages; 1 is held by `ada`, who is on this host.
fn held_by_ada() -> String {
    row(
        1,
        &json!({ "claim_id": "c1", "session": "ada", "host": "here", "pid": 7, "pid_start": "s" }),
    )
}

#[test]
fn hosts_are_asked_once_and_only_where_it_matters() {
    let free = plan(&[on(&[]), on(&[]), on(&[])]);
    let chain = plan(&[on(&[]), on(&[1]), on(&[2])]);
    let asked = "asks for Needs { processes: [ProcessQuestion { pid: 7, pid_start: Some(\"s\") }], \
                 sessions: [\"ada\"], git: [] }";
    let facts = facts_of("bob");
    let ledger = held_by_ada();
    let ledger = ledger.as_bytes();
    let claiming = |plan: &str, request: &ClaimRequest| {
        refusal(claim(plan.as_bytes(), ledger, &facts, request)).0
    };
    let reclaim = |stage: &str| ClaimRequest { reclaim: true, ..wish(stage) };
    // What can be given is given at once.
    assert_eq!(claiming(&free, &wish("auto")), "decided");
    assert_eq!(claiming(&free, &wish("2")), "decided");
    // What cannot be helped by freeing a claim is refused at once.
    assert_eq!(claiming(&free, &wish("x")), "--stage must be 'auto' or an integer, got 'x'");
    assert_eq!(claiming(&free, &wish("9")), "--stage 9 not in Stage Map (have [1, 2, 3])");
    assert_eq!(claiming(&chain, &wish("3")), "--stage 3 waits for stage 2");
    // What can be is looked at.
    assert_eq!(claiming(&free, &wish("1")), asked);
    assert_eq!(claiming(&chain, &wish("2")), asked);
    assert_eq!(claiming(&chain, &wish("auto")), asked);
    assert_eq!(claiming(&free, &reclaim("auto")), asked);
    let mine = |pid: u32| {
        let caller = Caller { pid: Some(pid), pid_start: Some("s".into()), ..session("ada") };
        let facts = Facts { caller, ..facts.clone() };
        refusal(claim(free.as_bytes(), ledger, &facts, &reclaim("auto"))).0
    };
    assert_eq!(mine(7), "decided");
    // A session that goes on in another process: is its old one gone?
    assert_eq!(mine(8), asked);

    let offered = |plan: &str, stage: &str, explain: bool| {
        let request = NextRequest { stage: stage.into(), explain, ..NextRequest::default() };
        refusal(next(plan.as_bytes(), ledger, &facts, &request)).0
    };
    assert_eq!(offered(&free, "auto", false), "decided");
    assert_eq!(offered(&free, "x", false), "--stage must be 'auto' or an integer, got 'x'");
    assert_eq!(offered(&chain, "3", false), "--stage 3 waits for stage 2");
    assert_eq!(offered(&chain, "auto", false), asked);
    assert_eq!(offered(&chain, "auto", true), "decided");

    let giving = |caller: Caller| {
        let facts = Facts { caller, ..facts.clone() };
        let request = ReleaseRequest { stage: Some(1), ..ReleaseRequest::default() };
        refusal(release(free.as_bytes(), ledger, &facts, &request)).0
    };
    assert_eq!(giving(Caller { claim_id: Some("c1".into()), ..Caller::default() }), "decided");
    assert_eq!(giving(facts.caller.clone()), asked);

    assert_eq!(refusal(list(free.as_bytes(), ledger, &facts)).0, asked);
    assert_eq!(refusal(list(free.as_bytes(), b"", &facts)).0, "decided");
    assert_eq!(refusal(show(free.as_bytes(), ledger, &facts, 1)).0, asked);

    // Answers that lack something are taken as they are.
    let looked = Facts { sightings: Some(seen()), ..facts.clone() };
    assert_eq!(refusal(list(free.as_bytes(), ledger, &looked)).0, "decided");

    // One session with several claims is looked at once; other hosts' processes are not.
    let several = [
        row(1, &json!({ "claim_id": "a", "session": "ada", "host": "here", "pid": 7 })),
        row(2, &json!({ "claim_id": "b", "session": "ada", "host": "here", "pid": 7 })),
        row(3, &json!({ "claim_id": "c", "session": "cy", "host": "there", "pid": 7 })),
        row(3, &json!({ "claim_id": "d", "impl_task_key": "other", "session": "di" })),
    ];
    match list(free.as_bytes(), several.concat().as_bytes(), &facts) {
        Ok(Decision::Needs { needs }) => assert_eq!(
            needs,
            Needs {
                processes: vec![ProcessQuestion { pid: 7, pid_start: None }],
                sessions: vec!["ada".into(), "cy".into(), "di".into()],
                git: Vec::new(),
            }
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_says_how_to_free_what_is_dead_or_quiet() {
    let plan = plan(&[on(&[]), on(&[1])]);
    let ledger = held_by_ada();
    let ask = |now: &str, sightings: Sightings| {
        let facts = Facts { now: now.into(), sightings: Some(sightings), ..facts_of("bob") };
        let error = claim(plan.as_bytes(), ledger.as_bytes(), &facts, &wish("1")).unwrap_err();
        assert_eq!(error.to_string(), format!("--stage 1 already started by p:g:i at {T}"));
        let request = NextRequest { stage: "1".into(), ..NextRequest::default() };
        let offered = next(plan.as_bytes(), ledger.as_bytes(), &facts, &request).unwrap_err();
        assert_eq!(offered.info(), error.info());
        assert_eq!(error.info().exit_code, 3);
        error.info().help
    };
    let who = format!("the claim of stage 1 by session ada on here since {T} is");
    assert_eq!(ask(NOW, Sightings::default()), None);
    assert_eq!(
        ask("2026-03-04T06:06:07Z", Sightings::default()),
        Some(format!("{who} quiet: okstra stage release --plan {PLAN} --stage 1 --force"))
    );
    assert_eq!(
        ask(NOW, process(7, Some("s"), ProcessState::Gone)),
        Some(format!(
            "{who} dead: okstra stage claim --plan {PLAN} --stage 1 --no-worktree --reclaim"
        ))
    );
}

#[test]
fn a_dead_claim_is_taken_with_its_reason_and_nothing_else_is() {
    let plan = plan(&[on(&[]), on(&[])]);
    let gone = || Some(process(7, Some("s"), ProcessState::Gone));
    let taking = |ledger: &str, stage: &str, sightings| {
        let facts = Facts { sightings, ..facts_of("bob") };
        let request = ClaimRequest { reclaim: true, ..wish(stage) };
        claim(plan.as_bytes(), ledger.as_bytes(), &facts, &request)
    };
    let mut disk = Disk::default();
    let (answer, _) = disk.settle(taking(&held_by_ada(), "1", gone()));
    assert_eq!((answer.brief.stage, answer.already_held), (1, false));
    let rows = String::from_utf8(disk.ledger()).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(
        rows[0],
        json!({
            "impl_task_key": "p:g:i",
            "stage": 1,
            "status": "released",
            "released_at": NOW,
            "reason": format!("reclaimed: the process of session ada on here since {T} is gone"),
            "claim_id": "c1",
        })
    );
    assert_eq!((&rows[1]["status"], &rows[1]["claim_id"]), (&json!("started"), &json!("fresh")));
    assert_eq!(rows.len(), 2);

    let started = format!("--stage 1 already started by p:g:i at {T}");
    assert_eq!(refusal(taking(&held_by_ada(), "1", Some(seen()))).0, started);
    // Quiet is not dead.
    let quiet = held_by_ada().replace(T, "2026-03-03T05:06:07Z");
    let refused = refusal(taking(&quiet, "1", Some(seen()))).0;
    assert_eq!(refused, "--stage 1 already started by p:g:i at 2026-03-03T05:06:07Z");

    // Two claims of one stage come from another tool: both have to be dead.
    let second = |host: &str| {
        let more = json!({
            "impl_task_key": "other", "claim_id": "c2", "host": host, "pid": 7, "pid_start": "s",
        });
        format!("{}{}", held_by_ada(), row(1, &more))
    };
    assert_eq!(refusal(taking(&second("there"), "1", gone())).0, started);
    let (answer, _) = Disk::default().settle(taking(&second("there"), "auto", gone()));
    assert_eq!(answer.brief.stage, 2);
    let mut disk = Disk::default();
    disk.files.insert(LEDGER.into(), second("here").into());
    let (answer, _) = disk.settle(taking(&second("here"), "auto", gone()));
    assert_eq!(answer.brief.stage, 1);
    let state = LedgerState::read(&disk.ledger());
    let claims = &state.stage(1).unwrap().claims;
    assert_eq!((claims.len(), claims[0].claim_id.as_deref()), (1, Some("fresh")));
}

#[test]
fn a_session_that_goes_on_in_another_process_keeps_its_claim() {
    let plan = plan(&[on(&[]), on(&[])]);
    let caller = Caller { pid: Some(8), pid_start: Some("t".into()), ..session("ada") };
    let going_on = |state| {
        let sightings = Some(process(7, Some("s"), state));
        let facts = Facts { sightings, caller: caller.clone(), ..facts() };
        let mut disk = Disk::default();
        disk.files.insert(LEDGER.into(), held_by_ada().into());
        let decision = claim(plan.as_bytes(), &disk.ledger(), &facts, &wish("auto"));
        let (answer, _) = disk.settle(decision);
        assert_eq!((answer.brief.stage, answer.already_held), (1, true));
        assert_eq!(answer.claim_id.as_deref(), Some("c1"));
        let state = LedgerState::read(&disk.ledger());
        let claims = state.stage(1).unwrap().claims.clone();
        assert_eq!((claims.len(), claims[0].claim_id.as_deref()), (1, Some("c1")));
        claims[0].pid
    };
    assert_eq!(going_on(ProcessState::Gone), Some(8));
    assert_eq!(going_on(ProcessState::Alive), Some(7));
    assert_eq!(going_on(ProcessState::Unknown), Some(7));
}

#[test]
fn giving_back() {
    let plan = plan(&[on(&[]), on(&[])]);
    let hour = "2026-03-04T06:06:07Z";
    let gone = || process(7, Some("s"), ProcessState::Gone);
    let ada =
        || Caller { session: Some("ada".into()), host: Some("here".into()), ..Caller::default() };
    let who = format!("session ada on here since {T}");
    let alive = |life: &str| {
        format!(
            "the claim of stage 1 by {who} is {life}; it is not taken from a session that may \
             still work"
        )
    };
    let none = Sightings::default;
    // Who, when, what was seen, force, the given reason; the refusal or the recorded reason.
    let table = [
        (ada(), NOW, none(), false, "", Ok(String::from("given back"))),
        (ada(), NOW, none(), true, "too \u{1b}[1mhard\n", Ok(String::from("too [1mhard"))),
        (session("bob"), NOW, none(), false, "", Err(alive("live"))),
        (session("bob"), NOW, none(), true, "", Err(alive("live"))),
        (session("bob"), hour, none(), false, "", Err(alive("quiet"))),
        (session("bob"), hour, none(), true, "", Ok(format!("taken from {who}, which was quiet"))),
        (session("bob"), NOW, gone(), false, "", Ok(format!("taken from {who}, which was dead"))),
        (session("bob"), NOW, gone(), false, "mine", Ok(String::from("mine"))),
        (Caller::default(), NOW, gone(), true, "", Err(alive("live"))),
    ];
    for (caller, now, sightings, force, reason, expected) in table {
        let facts = Facts {
            caller: caller.clone(),
            now: now.into(),
            sightings: Some(sightings),
            ..facts()
        };
        let request = ReleaseRequest { stage: Some(1), reason: reason.into(), force };
        let ledger = held_by_ada();
        let mut disk = Disk::default();
        disk.files.insert(LEDGER.into(), ledger.clone().into());
        let decision = release(plan.as_bytes(), ledger.as_bytes(), &facts, &request);
        match expected {
            Err(words) => assert_eq!(refusal(decision), (words, 3), "{caller:?}"),
            Ok(words) => {
                let (answer, _): (Recorded, _) = disk.settle(decision);
                assert!(answer.recorded);
                let state = LedgerState::read(&disk.ledger());
                let record = state.stage(1).unwrap();
                assert!(record.claims.is_empty());
                assert_eq!(record.released[0].reason, words, "{caller:?}");
                assert_eq!(record.released[0].session.as_deref(), Some("ada"));
            }
        }
    }
    let request = ReleaseRequest { stage: Some(2), ..ReleaseRequest::default() };
    let found = refusal(release(plan.as_bytes(), b"", &facts_of("ada"), &request));
    assert_eq!(found, ("--stage 2 is not claimed".into(), 3));
    let request = ReleaseRequest { stage: Some(3), ..ReleaseRequest::default() };
    let found = refusal(release(plan.as_bytes(), b"", &facts_of("ada"), &request));
    assert_eq!(found, ("--stage 3 not in Stage Map (have [1, 2])".into(), 3));
}

fn claiming(
    plan: &str,
    ledger: &str,
    by: &str,
    stage: &str,
) -> Result<Decision<ClaimAnswer>, OkstraError> {
    let facts = Facts { sightings: Some(seen()), ..facts_of(by) };
    claim(plan.as_bytes(), ledger.as_bytes(), &facts, &wish(stage))
}

#[test]
fn claiming_again_answers_with_the_claim() {
    let plan = plan(&[on(&[]), on(&[]), on(&[])]);
    let row_of = |stage, session: &str, host: &str| {
        row(stage, &json!({ "claim_id": format!("c{stage}"), "session": session, "host": host }))
    };
    let ledger = format!("{}{}", row_of(1, "ada", "there"), row_of(3, "ada", "here"));
    // Sessions of a name on two hosts are two.
    let table = [
        ("ada", "auto", (3, true)),
        ("ada", "3", (3, true)),
        ("ada", " 03 ", (3, true)),
        ("ada", "2", (2, false)),
        ("bob", "auto", (2, false)),
    ];
    for (by, stage, expected) in table {
        let (answer, _) = Disk::default().settle(claiming(&plan, &ledger, by, stage));
        assert_eq!((answer.brief.stage, answer.already_held), expected, "{by} {stage}");
        let concurrent: Vec<u32> = [1, 3].into_iter().filter(|it| *it != expected.0).collect();
        assert_eq!(answer.concurrent_stages, concurrent);
    }
    for (stage, words) in [
        ("+3", "--stage must be 'auto' or an integer, got '+3'"),
        ("1", "--stage 1 already started by p:g:i at 2026-03-04T05:06:07Z"),
    ] {
        assert_eq!(refusal(claiming(&plan, &ledger, "ada", stage)).0, words);
    }
    let request = ClaimRequest { claim_id: String::new(), ..wish("2") };
    let refused = claim(plan.as_bytes(), b"", &facts_of("ada"), &request);
    assert_eq!(refusal(refused), ("bad options: claim_id must be a fresh id".into(), 2));
}

#[test]
fn what_a_claim_carries_in() {
    let mut disk = Disk::default();
    let spec = Spec { files: vec!["`src/part2.rs`"], ..on(&[1]) };
    let plan = plan(&[on(&[]), on(&[]), spec]);
    for stage in ["stage-1.json", "stage-2.json"] {
        let number = if stage == "stage-1.json" { 1 } else { 2 };
        if number == 1 {
            disk.files.insert(
                format!("{}/{stage}", crate::support::CARRY),
                evidence(1).to_string().into(),
            );
        }
    }
    let ledger = row(2, &json!({ "claim_id": "c2", "session": "bob" }));
    let facts = Facts { reserved: vec![9], ..disk.facts(facts_of("ada")) };
    let request = ClaimRequest {
        worktree: Some("/w/3".into()),
        branch: Some("okstra/3".into()),
        base_commit: Some("bbbbbbb".into()),
        ..wish("3")
    };
    let decision = claim(plan.as_bytes(), ledger.as_bytes(), &facts, &request);
    let (answer, warnings) = disk.settle(decision);
    assert_eq!(
        (answer.brief.title.as_str(), answer.brief.plan_path.as_str()),
        ("Part 3", PLAN_PATH)
    );
    assert_eq!(answer.brief.carry_in.len(), 1);
    assert_eq!(
        answer.brief.carry_in[0].exit_contract.as_deref().map(str::trim),
        Some("Part 1 works.")
    );
    assert_eq!(answer.brief.carry_in[0].evidence, Some(evidence(1)));
    assert_eq!(answer.brief.validation_commands[0].command, "cargo test part3");
    assert_eq!(answer.concurrent_stages, [2, 9]);
    assert_eq!(
        (answer.worktree.as_deref(), answer.branch.as_deref(), answer.base_commit.as_deref()),
        (Some("/w/3"), Some("okstra/3"), Some("bbbbbbb"))
    );
    assert_eq!(
        warnings,
        [
            "stage 1 is done by its evidence; its lost row in the ledger is restored",
            "stage 3 shares files with running stage 2: src/part2.rs",
        ]
    );
    // A done stage without evidence that can be read.
    let ledger = done_row(1, &json!({}));
    let decision = claim(plan.as_bytes(), ledger.as_bytes(), &facts_of("ada"), &wish("3"));
    let (_, warnings) = Disk::default().settle(decision);
    assert_eq!(
        warnings,
        ["stage 1 is done, but its evidence cannot be read: \
          .okstra/tasks/g/i/runs/implementation/carry/stage-1.json"]
    );
}

#[test]
fn the_folder_of_the_evidence_stays_in_the_project() {
    let plan = plan(&[on(&[])]);
    for (real, inside) in [
        ("/p/elsewhere/carry", true),
        ("/p", true),
        ("/q/carry", false),
        ("/pp/carry", false),
        ("/p/../q", false),
        ("/", false),
    ] {
        let facts = Facts { carry_folder: Some(real.into()), ..facts() };
        let found = refusal(list(plan.as_bytes(), b"", &facts));
        let expected = if inside {
            (String::from("decided"), 0)
        } else {
            (format!("{real} leaves the project"), 3)
        };
        assert_eq!(found, expected, "{real}");
    }
}

#[test]
fn a_ledger_of_another_plan_is_not_taken_silently() {
    let plan = plan(&[on(&[]), on(&[])]);
    let ledger = [row(7, &json!({})), done_row(9, &json!({})), row(1, &json!({}))].concat();
    let facts = Facts { sightings: Some(seen()), ..facts() };
    let (answer, warnings) =
        Disk::default().settle(list(plan.as_bytes(), ledger.as_bytes(), &facts));
    let words = "the ledger has rows of stages that this plan has not: 7, 9; does it belong to \
                 another plan?";
    assert_eq!(
        (warnings.as_slice(), answer.warnings.as_slice()),
        (&[words.into()][..], &[words.into()][..])
    );
    let states: Vec<StageState> = answer.stages.iter().map(|line| line.state).collect();
    assert_eq!(states, [StageState::Running, StageState::Ready]);
}

#[test]
fn bad_lines_are_warned_of_and_a_few_suffice() {
    let plan = plan(&[on(&[])]);
    let (_, warnings) = Disk::default().settle(list(plan.as_bytes(), b"x\n\n{\"stage", &facts()));
    assert_eq!(
        warnings,
        [
            format!("{LEDGER}:1: no JSON object: expected value at column 1"),
            format!(
                "{LEDGER}:3: cut off while it was written: no JSON object: EOF while parsing a \
                 string at column 7"
            ),
        ]
    );
    let many = "x\n".repeat(1_000);
    let (_, warnings) = Disk::default().settle(list(plan.as_bytes(), many.as_bytes(), &facts()));
    assert_eq!(warnings.len(), 21);
    let last = format!("{LEDGER}: 980 more lines cannot be used; 'okstra ledger check' lists them");
    assert_eq!(warnings[20], last);
}

/// The digest that a claim of a stage of a plan records.
fn digest(plan: &str, stage: u32) -> String {
    let mut disk = Disk::default();
    // Every stage before it is done.
    let done: Vec<String> = (1..stage).map(|stage| done_row(stage, &json!({}))).collect();
    disk.settle(claiming(plan, &done.concat(), "ada", &stage.to_string()));
    LedgerState::read(&disk.ledger()).stage(stage).unwrap().claims[0].plan_digest.clone().unwrap()
}

#[test]
fn what_changes_the_digest_of_a_stage() {
    let base = plan(&[on(&[]), Spec { steps: 2, ..on(&[1]) }]);
    let replaced = |from: &str, to: &str| {
        assert!(base.contains(from), "{from}");
        base.replace(from, to)
    };
    let moved = base.replace("- [x] Approved\n\n", "");
    let same = [
        ("line ends", base.replace('\n', "\r\n")),
        ("a byte order mark", format!("\u{feff}{base}")),
        ("blank lines", base.replace("\n\n", "\n\n\n")),
        ("blanks at line ends", base.replace(".\n", ".  \n")),
        ("wide tables", base.replace(" | ", "    |   ")),
        ("narrow tables", base.replace(" | ", "|").replace("| ", "|").replace(" |", "|")),
        ("long delimiters", base.replace("|---", "|:--------")),
        ("tabs", base.replace("works.", "\tworks.\t")),
        ("the plan's own text", base.replace("# Plan", "# Another plan")),
        ("another stage", replaced("Part 1 works", "Part 1 rests")),
        ("its approval at the end", format!("{moved}\n- [x] Approved\n")),
        ("its approval noted", format!("{moved}\n* [X] **Approved** (by Kim, 3 May)\n")),
        ("its approval twice", format!("{base}\n- [x] Approved by Kim\n- [x] Approved by Lee\n")),
        ("its approval in a list", format!("{base}\n1. [x] Approved")),
    ];
    let slim = base
        .replace("\n| ", "\n")
        .replace(" |\n", "\n")
        .replace("|---|---|---|---|---|", "---|---|---|---|---");
    let spread = slim.replace(" | ", "  |  ").replace("---|", "------ | ");
    assert_ne!(spread, slim);
    assert_eq!(digest(&spread, 2), digest(&slim, 2));
    let of = digest(&base, 2);
    for (what, text) in same {
        assert_eq!(digest(&text, 2), of, "{what}");
    }
    let other = [
        ("the title", replaced("Part 2", "Piece 2")),
        ("a step", replaced("| 2 | do |", "| 2 | undo |")),
        ("the files", replaced("`src/part2.rs`", "`src/part3.rs`")),
        ("the exit contract", replaced("Part 2 works", "Part 2 rests")),
        ("the validation", replaced("cargo test part2", "cargo test")),
        (
            "its row",
            replaced("| 2 | Part 2 | 1 | 2 | it works |", "| 2 | Part 2 | 1 | 2 | it runs |"),
        ),
        ("the dependencies", replaced("| 2 | Part 2 | 1 |", "| 2 | Part 2 | (none) |")),
        ("a line behind", format!("{base}\nOne more thing.\n")),
        ("another task", format!("{base}\n- [x] Approved\n- [ ] Deployed\n")),
        ("an approval that is text", format!("{base}\n`- [x] Approved`\n")),
        ("joined words", replaced("Part 2 works", "Part2 works")),
    ];
    for (what, text) in other {
        assert_ne!(digest(&text, 2), of, "{what}");
    }
}

#[test]
fn an_approval_at_the_end_can_be_ticked_at_any_time() {
    let base = plan(&[on(&[])]).replace("- [x] Approved\n\n", "");
    let ticked = format!("{base}\n- [x] Approved\n");
    let open = format!("{base}\n- [ ] Approved\n");
    let ledger = done_row(1, &json!({ "plan_digest": digest(&ticked, 1) }));
    for text in [&base, &ticked, &open] {
        let (answer, warnings) =
            Disk::default().settle(list(text.as_bytes(), ledger.as_bytes(), &facts()));
        assert!(answer.stages[0].stale.is_none() && warnings.is_empty(), "{warnings:?}");
    }
}

#[test]
fn a_done_stage_whose_text_changed_is_stale() {
    let before = plan(&[on(&[]), on(&[1])]);
    let ledger = [
        done_row(1, &json!({ "plan_digest": digest(&before, 1) })),
        done_row(2, &json!({ "plan_digest": digest(&before, 2) })),
    ];
    let ledger = ledger.concat();
    let after = before.replace("Part 1 works", "Part 1 rests");
    let words = "stage 1 is done, evidence stale: its text in the plan changed; built on it: 2";
    for (text, stale) in [(&before, [false, false]), (&after, [true, false])] {
        let decision = list(text.as_bytes(), ledger.as_bytes(), &facts());
        let (answer, warnings) = Disk::default().settle(decision);
        let found: Vec<bool> = answer.stages.iter().map(|line| line.stale.is_some()).collect();
        assert_eq!(found, stale);
        assert_eq!(warnings.iter().any(|line| line == words), stale[0], "{warnings:?}");
        let decision = show(text.as_bytes(), ledger.as_bytes(), &facts(), 1);
        assert_eq!(Disk::default().settle(decision).0.line.stale.is_some(), stale[0]);
    }
    // A row of an older tool says nothing of the text it was built against.
    let old = done_row(1, &json!({}));
    let (answer, _) = Disk::default().settle(list(after.as_bytes(), old.as_bytes(), &facts()));
    assert!(answer.stages[0].stale.is_none());
}

/// What happens behind the first rows, and what is stale then: the stage, why, and who built on it.
type Case<'a> = (&'a str, Vec<String>, Vec<(u32, &'a str, Vec<u32>)>);

/// Evidence is stale where a dependency ends with another commit than the stage was built upon.
#[test]
fn a_done_stage_whose_dependency_moved_is_stale() {
    let facts = Facts { sightings: Some(Sightings::default()), ..facts() };
    let plan = plan(&[on(&[]), on(&[1]), on(&[2]), on(&[3])]);
    let started = |stage: u32| {
        format!(
            "{}\n",
            json!({"impl_task_key": "k", "stage": stage, "status": "started",
                "started_at": "2026-03-01T00:00:00Z", "head_commit": "0000000", "claim_id": format!("c{stage}")})
        )
    };
    let done = |stage: u32, head: &str, at: &str| {
        done_row(
            stage,
            &json!({"impl_task_key": "k", "head_commit": head, "completed_at": at, "claim_id": format!("c{stage}")}),
        )
    };
    let (first, again) = ("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z");
    let base = [done(1, "aaaaaaaaa", first), started(2), done(2, "bbbbbbbbb", first), started(3)];
    let moved = "stage 1 ended with aaaaaaa, now with ccccccc";
    let cases: Vec<Case<'_>> = vec![
        ("nothing", vec![], vec![]),
        ("the same head again", vec![done(1, "aaaaaaaaa", again)], vec![]),
        ("its whole name", vec![done(1, "aaaaaaaaaffff", again)], vec![]),
        ("another head", vec![done(1, "ccccccccc", again)], vec![(2, moved, vec![3])]),
        (
            "another head, and the stage was done again upon it",
            vec![done(1, "ccccccccc", again), done(2, "ddddddddd", again)],
            vec![],
        ),
        (
            "there and back",
            vec![done(1, "ccccccccc", again), done(1, "aaaaaaaaa", "2026-03-04T00:00:00Z")],
            vec![],
        ),
        ("history was rewritten: only its name is new", vec![done(1, "ccccccccc", first)], vec![]),
        ("no head", vec![done(1, "", again)], vec![]),
        (
            "another head, and the stage was looked at again as it is",
            vec![done(1, "ccccccccc", again), done(2, "bbbbbbbbb", again)],
            vec![],
        ),
        (
            "history was rewritten after the dependency moved",
            vec![
                done(2, "ddddddddd", again),
                done(1, "ccccccccc", "2026-03-04T00:00:00Z"),
                done(2, "eeeeeeeee", again),
            ],
            vec![(2, moved, vec![3])],
        ),
    ];
    for (what, more, wanted) in cases {
        let ledger = [base.concat(), more.concat()].concat();
        let (answer, warnings) =
            Disk::default().settle(list(plan.as_bytes(), ledger.as_bytes(), &facts));
        let found: Vec<(u32, &str, Vec<u32>)> = answer
            .stages
            .iter()
            .filter_map(|line| {
                let stale = line.stale.as_ref()?;
                Some((line.stage, stale.why.as_str(), stale.built_on.clone()))
            })
            .collect();
        assert_eq!(found, wanted, "{what}");
        let said = warnings.iter().filter(|line| line.contains("evidence stale")).count();
        assert_eq!(said, wanted.len(), "{what}: {warnings:?}");
    }
    // A dependency that moves while the stage is built: it began upon the old one.
    let rows = [
        done(1, "aaaaaaaaa", first),
        started(2),
        done(1, "ccccccccc", again),
        done(2, "bbbbbbbbb", again),
    ];
    let decision = list(plan.as_bytes(), rows.concat().as_bytes(), &facts);
    let (answer, _) = Disk::default().settle(decision);
    let why = answer.stages[1].stale.as_ref().map(|stale| stale.why.as_str());
    assert_eq!(why, Some(moved));
}

/// Lists of what was built upon what, and warnings, do not grow with the square of a long plan.
#[test]
fn a_long_chain_of_stale_stages_is_listed_in_short() {
    let count = 3000;
    let specs: Vec<Spec> =
        (1..=count).map(|n| if n == 1 { on(&[]) } else { on(&[n - 1]) }).collect();
    let plan = plan(&specs);
    let ledger: String = (1..=count)
        .map(|stage| done_row(stage, &json!({ "plan_digest": "sha256:other" })))
        .collect();
    let decision = list(plan.as_bytes(), ledger.as_bytes(), &facts());
    let (answer, warnings) = Disk::default().settle(decision);
    let stale = answer.stages.iter().filter_map(|line| line.stale.as_ref());
    assert_eq!(stale.clone().count(), count as usize);
    assert!(stale.clone().all(|stale| stale.built_on.len() <= MOST_BUILT_ON));
    let nearest: Vec<u32> = (2..=41).collect();
    assert_eq!(stale.clone().next().map(|stale| stale.built_on.clone()), Some(nearest));
    let said = warnings.iter().filter(|line| line.contains("stale")).count();
    assert_eq!(said, 21, "{}", warnings.len());
}

#[test]
fn now_must_be_a_time_with_its_zone() {
    let plan = plan(&[on(&[])]);
    for now in ["", "yesterday", "2026-03-04", "2026-03-04T05:06:07"] {
        let facts = Facts { now: now.into(), ..facts() };
        let found = refusal(list(plan.as_bytes(), b"", &facts));
        let words = "bad options: now must be a time in ISO 8601 with its zone";
        assert_eq!(found, (words.into(), 2), "{now}");
    }
}
