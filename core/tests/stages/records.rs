//! Verifications, pull requests and their texts, and the table of stages.
use okstra_core::error::OkstraError;
use okstra_core::ledger::{LedgerState, Status};
use okstra_core::stage::{
    Decision, Facts, PrRequest, Recorded, StageState, VerifyRequest, list, pull_request, show,
    verify,
};
use serde_json::{Value, json};

use crate::support::{CARRY, Disk, LEDGER, NOW, Spec, evidence, facts, on, plan, refusal, seen};

/// A disk with evidence and rows of done stages.
fn done(stages: &[u32]) -> Disk {
    let mut disk = Disk::default();
    let mut rows = String::new();
    for stage in stages {
        let row = json!({
            "impl_task_key": format!("key-{stage}"), "stage": stage, "status": "done",
            "completed_at": NOW, "head_commit": format!("{stage}bcdef0123456789"),
        });
        rows.push_str(&row.to_string());
        rows.push('\n');
        let path = format!("{CARRY}/stage-{stage}.json");
        disk.files.insert(path, evidence(*stage).to_string().into());
    }
    disk.files.insert(LEDGER.into(), rows.into());
    disk
}

fn four() -> String {
    plan(&[on(&[]), on(&[1]), Spec { cancelled: true, ..on(&[]) }, on(&[1, 2])])
}

fn verifying(disk: &Disk, request: &VerifyRequest) -> Result<Decision<Recorded>, OkstraError> {
    verify(four().as_bytes(), &disk.ledger(), &disk.facts(facts()), request)
}

fn opening(disk: &Disk, request: &PrRequest) -> Result<Decision<Recorded>, OkstraError> {
    pull_request(four().as_bytes(), &disk.ledger(), &disk.facts(facts()), request)
}

fn last_row(disk: &Disk) -> Value {
    let ledger = String::from_utf8(disk.ledger()).unwrap();
    serde_json::from_str(ledger.lines().last().unwrap()).unwrap()
}

fn accepted(stage: u32) -> VerifyRequest {
    VerifyRequest {
        stage,
        verdict: "accepted".into(),
        report_path: "reports/v.md".into(),
        report_missing: false,
        force_reappend: false,
    }
}

#[test]
fn a_verification_is_recorded_once() {
    let mut disk = done(&[1]);
    let (answer, _) = disk.settle(verifying(&disk, &accepted(1)));
    assert_eq!((answer.stage, answer.status, answer.recorded), (1, Status::Verified, true));
    assert_eq!(
        last_row(&disk).to_string(),
        json!({
            "impl_task_key": "key-1", "stage": 1, "status": "verified", "verified_at": NOW,
            "verdict": "accepted", "report_path": "reports/v.md",
        })
        .to_string()
    );
    let rows = disk.ledger();
    let (answer, _) = disk.settle(verifying(&disk, &accepted(1)));
    assert!(!answer.recorded);
    assert_eq!(disk.ledger(), rows);

    let blocked = VerifyRequest { verdict: "blocked".into(), ..accepted(1) };
    let stands = "stage 1 is verified as accepted already";
    assert_eq!(refusal(verifying(&disk, &blocked)), (stands.into(), 3));
    let forced = VerifyRequest { force_reappend: true, ..blocked };
    assert!(disk.settle(verifying(&disk, &forced)).0.recorded);
    assert!(LedgerState::read(&disk.ledger()).verified_accepted().is_empty());
}

#[test]
fn a_report_that_is_not_there_is_warned_of() {
    let mut disk = done(&[1]);
    let missing = VerifyRequest { report_missing: true, ..accepted(1) };
    let (answer, _) = disk.settle(verifying(&disk, &missing));
    let warning = "there is no report reports/v.md yet; write it before the hand-over";
    assert_eq!((answer.recorded, answer.warnings), (true, vec![warning.to_owned()]));
    assert_eq!(disk.settle(verifying(&disk, &accepted(1))).0.warnings, Vec::<String>::new());
}

#[test]
fn what_cannot_be_verified() {
    let disk = done(&[1]);
    let inside = |path: &str| VerifyRequest { report_path: path.into(), ..accepted(1) };
    let verdict = |word: &str| VerifyRequest { verdict: word.into(), ..accepted(1) };
    let known = "the verdict must be one of accepted, conditional-accept, blocked; got";
    let table = [
        (accepted(2), "--stage 2 is not done".to_owned(), 3),
        (accepted(3), "--stage 3 is not done".to_owned(), 3),
        (accepted(9), "--stage 9 not in Stage Map (have [1, 2, 3, 4])".to_owned(), 3),
        (verdict("splendid"), format!("{known} 'splendid'"), 2),
        (verdict("Accepted"), format!("{known} 'Accepted'"), 2),
        (verdict(""), format!("{known} ''"), 2),
        (inside("../r.md"), "../r.md leaves the project".to_owned(), 3),
        (inside("/q/r.md"), "/q/r.md leaves the project".to_owned(), 3),
        (inside(" "), "the report must be a path".to_owned(), 2),
    ];
    for (request, words, status) in table {
        assert_eq!(refusal(verifying(&disk, &request)), (words, status), "{request:?}");
    }
    for (path, kept) in [("/p/a/../r.md", "r.md"), ("./r.md", "r.md"), ("한글.md", "한글.md")] {
        let mut disk = disk.clone();
        disk.settle(verifying(&disk, &inside(path)));
        assert_eq!(last_row(&disk)["report_path"], json!(kept));
    }
}

fn of(stages: &[u32]) -> PrRequest {
    PrRequest { stages: stages.to_vec(), ..PrRequest::default() }
}

#[test]
fn a_pull_request_is_recorded_once_under_the_key_of_its_lowest_stage() {
    let mut disk = done(&[1, 2]);
    let rows = disk.ledger();
    let (answer, _) = disk.settle(opening(&disk, &of(&[2, 1, 2])));
    assert_eq!((answer.stage, answer.recorded), (1, false));
    assert_eq!(disk.ledger(), rows);

    let request = PrRequest { pr_url: Some("https://x.test/r/pull/12".into()), ..of(&[2, 1, 2]) };
    assert!(disk.settle(opening(&disk, &request)).0.recorded);
    assert_eq!(
        last_row(&disk),
        json!({
            "impl_task_key": "key-1", "stage": 1, "status": "pr", "stages": [1, 2],
            "pr_url": "https://x.test/r/pull/12", "opened_at": NOW,
        })
    );
    let state = LedgerState::read(&disk.ledger());
    let pr = state.stage(2).unwrap().pr.clone().unwrap();
    assert_eq!((pr.number(), pr.stages.as_slice()), (Some(12), &[1, 2][..]));

    assert!(!disk.settle(opening(&disk, &request)).0.recorded);
    let other = PrRequest { pr_number: Some(13), ..of(&[1]) };
    let stands = "stage 1 is in a pull request already";
    assert_eq!(refusal(opening(&disk, &other)), (stands.into(), 3));
    let forced = PrRequest { force_reappend: true, ..other };
    assert!(disk.settle(opening(&disk, &forced)).0.recorded);
    let state = LedgerState::read(&disk.ledger());
    assert_eq!(state.stage(1).unwrap().pr.clone().unwrap().number(), Some(13));
    assert_eq!(state.stage(2).unwrap().pr.clone().unwrap().number(), Some(12));
}

#[test]
fn what_cannot_be_a_pull_request() {
    let disk = done(&[1]);
    let url = |url: &str| PrRequest { pr_url: Some(url.into()), ..of(&[1]) };
    let web = "the address of a pull request must begin with https:// or http://";
    let table = [
        (of(&[]), "which stage? none is given", 2),
        (of(&[1, 2]), "--stage 2 is not done", 3),
        (of(&[9]), "--stage 9 not in Stage Map (have [1, 2, 3, 4])", 3),
        (url(""), web, 2),
        (url("javascript:alert(1)"), web, 2),
        (url("https://"), web, 2),
        (url("https://x.test/a b"), web, 2),
        (url("https://x.test/\u{1b}[1m"), web, 2),
    ];
    for (request, words, status) in table {
        assert_eq!(refusal(opening(&disk, &request)), (words.into(), status), "{request:?}");
    }
}

#[test]
fn the_texts_of_pull_requests() {
    let mut disk = done(&[1, 2, 4]);
    let text = |disk: &Disk, stages: &[u32]| {
        let (answer, _) = disk.clone().settle(opening(disk, &of(stages)));
        let text = answer.pull_request.unwrap();
        (text.title, text.body)
    };
    assert_eq!(
        text(&disk, &[1]),
        ("Stage 1: Part 1".into(), "## Stage\n\n1: Part 1\n\n## Next stage\n\n2: Part 2\n".into())
    );
    assert_eq!(
        text(&disk, &[4]),
        (
            "Stage 4: Part 4".into(),
            "## Stage\n\n4: Part 4\n\n## Carry-In summary\n\n- Stage 1: Part 1 — `part1` \
             (1bcdef0)\n- Stage 2: Part 2 — `part2` (2bcdef0)\n\n## Next stage\n\n(last stage)\n"
                .into()
        )
    );
    // The next stage is the next that is not struck out, and what is in the same request is not
    // carried in.
    assert_eq!(
        text(&disk, &[1, 2]),
        (
            "Stages 1, 2".into(),
            "## Stage\n\n1: Part 1\n2: Part 2\n\n## Next stage\n\n4: Part 4\n".into()
        )
    );
    for (stage, number) in [(1, 7), (4, 9)] {
        let request = PrRequest { pr_number: Some(number), ..of(&[stage]) };
        let decision = opening(&disk, &request);
        disk.settle(decision);
    }
    let (_, body) = text(&disk, &[2]);
    assert!(body.ends_with("## Next stage\n\n4: Part 4\n\nPrevious: #7, Next: #9\n"), "{body}");
}

#[test]
fn the_table_of_stages() {
    let specs = [
        on(&[]),
        on(&[]),
        on(&[]),
        on(&[1, 6]),
        Spec { cancelled: true, ..on(&[]) },
        on(&[]),
        on(&[]),
        Spec { steps: 3, ..on(&[4]) },
    ];
    let plan = plan(&specs);
    let row = |stage: u32, status: &str, more: Value| {
        let mut row = json!({ "impl_task_key": "k", "stage": stage, "status": status });
        for (name, value) in more.as_object().unwrap() {
            row[name] = value.clone();
        }
        format!("{row}\n")
    };
    let at = |minute: u32| format!("2026-03-04T05:{minute:02}:07Z");
    let ledger = [
        row(1, "started", json!({ "started_at": at(0), "session": "ada", "host": "here" })),
        row(1, "done", json!({ "completed_at": at(1), "head_commit": "1111111" })),
        row(2, "done", json!({ "completed_at": at(1), "head_commit": "" })),
        row(2, "verified", json!({ "verified_at": at(2), "verdict": "accepted" })),
        row(3, "done", json!({ "completed_at": at(1) })),
        row(3, "verified", json!({ "verified_at": at(2), "verdict": "blocked" })),
        row(3, "pr", json!({ "opened_at": at(3), "stages": [3], "pr_number": 5 })),
        row(
            6,
            "started",
            json!({
                "started_at": at(4), "head_commit": "6666666", "session": "bob\u{1b}", "host": "there",
            }),
        ),
    ];
    let mut facts = Facts { reserved: vec![7], sightings: Some(seen()), ..facts() };
    facts.caller.host = Some("here".into());
    let ledger = ledger.concat();
    let (answer, _) = Disk::default().settle(list(plan.as_bytes(), ledger.as_bytes(), &facts));
    let found: Vec<String> = answer
        .stages
        .iter()
        .map(|it| {
            format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}+{}",
                it.stage,
                it.state,
                it.wave,
                it.waits_for,
                it.by,
                it.since.as_deref().map(|since| since.get(14..16).unwrap()),
                it.age_ms.map(|age| age / 60_000),
                it.head,
                it.steps,
                it.steps_behind
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "1 Done Some(1) [] Some(\"session ada\") Some(\"01\") Some(5) Some(\"1111111\") 1+4",
            "2 Verified Some(1) [] None Some(\"02\") Some(4) None 1+0",
            "3 Pr Some(1) [] None Some(\"03\") Some(3) None 1+0",
            "4 Waiting Some(2) [6] None None None None 1+3",
            "5 Cancelled None [] None None None None 0+0",
            "6 Running Some(1) [] Some(\"session bob on there\") Some(\"04\") Some(2) \
             Some(\"6666666\") 1+4",
            "7 Reserved Some(1) [] None None None None 1+0",
            "8 Waiting Some(3) [4] None None None None 3+0",
        ]
    );
    for it in &answer.stages {
        let decision = show(plan.as_bytes(), ledger.as_bytes(), &facts, it.stage);
        let (shown, _) = Disk::default().settle(decision);
        assert_eq!(&shown.line, it);
        assert_eq!(shown.brief.title, format!("Part {}", it.stage));
    }
    let unknown = refusal(show(plan.as_bytes(), b"", &facts, 9));
    assert_eq!(unknown, ("--stage 9 not in Stage Map (have [1, 2, 3, 4, 5, 6, 7, 8])".into(), 3));
}

#[test]
fn a_plan_with_errors_is_listed_and_one_without_a_map_is_not() {
    let broken = four().replace("| 4 | Part 4 | 1, 2 |", "| 4 | Part 4 | 1, all |");
    let (answer, _) = Disk::default().settle(list(broken.as_bytes(), b"", &facts()));
    let states: Vec<StageState> = answer.stages.iter().map(|it| it.state).collect();
    assert_eq!(
        states,
        [StageState::Ready, StageState::Waiting, StageState::Cancelled, StageState::Broken]
    );
    for text in ["", "# Plan\n", "## 4.5 Stage Map\n\n## 4.5 Stage Map\n"] {
        let error = list(text.as_bytes(), b"", &facts()).unwrap_err().info();
        assert_eq!(error.message, "approved plan failed stage validation:");
        assert_eq!(error.exit_code, 1);
        let lines = error.details.lines.unwrap();
        assert!(lines.iter().all(|line| line.starts_with("S1")) && !lines.is_empty(), "{lines:?}");
    }
    assert_eq!(refusal(list(b"\xff", b"", &facts())).1, 2);
}
