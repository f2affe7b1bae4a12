//! The hand-over: who may go, the verification of the whole task, and the collector branch.
use okstra_core::error::{ErrorCode, OkstraError};
use okstra_core::handoff::assemble::{Assembling, Forbidden, refspec};
use okstra_core::handoff::eligible::NotEligible;
use okstra_core::handoff::verification::{ReportFile, latest_whole_task};
use okstra_core::ledger::Verdict;
use okstra_core::stage::{
    AssembleAnswer, Decision, HandoffAnswer, HandoffRequest, assemble, hand_over,
};
use okstra_core::worktree::base::Ancestry;

use crate::support::{Spec, facts, on, plan};

fn row(stage: u32, status: &str, more: &str) -> String {
    format!("{{\"impl_task_key\":\"k\",\"stage\":{stage},\"status\":\"{status}\"{more}}}\n")
}

fn done(stage: u32) -> String {
    row(stage, "started", ",\"started_at\":\"t\"")
        + &row(stage, "done", &format!(",\"completed_at\":\"t\",\"head_commit\":\"h{stage}\""))
}

fn verified(stage: u32, verdict: &str) -> String {
    row(
        stage,
        "verified",
        &format!(",\"verified_at\":\"t\",\"verdict\":\"{verdict}\",\"report_path\":\"r\""),
    )
}

fn report(name: &str, text: &str) -> ReportFile {
    ReportFile {
        path: format!("runs/final-verification/reports/{name}.data.json"),
        text: text.into(),
    }
}

fn whole(number: u32, verdict: &str) -> ReportFile {
    report(
        &format!("final-report-final-verification-{number}"),
        &format!(
            r#"{{"header":{{"taskType":"final-verification"}},"verificationScope":"whole-task","verdict":{verdict}}}"#
        ),
    )
}

fn shown(specs: &[Spec], ledger: &str, request: &HandoffRequest) -> HandoffAnswer {
    match hand_over(plan(specs).as_bytes(), ledger.as_bytes(), &facts(), request) {
        Ok(Decision::Decided { answer, .. }) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_stage_has_its_reason() {
    let cancelled = Spec { cancelled: true, ..Spec::default() };
    let specs = [
        on(&[]),
        on(&[]),
        on(&[]),
        on(&[]),
        on(&[]),
        on(&[]),
        on(&[]),
        on(&[3, 7]),
        on(&[8]),
        cancelled,
        on(&[]),
        on(&[6]),
    ];
    let ledger = [
        done(1) + &verified(1, "blocked") + &verified(1, "accepted"),
        row(2, "started", ",\"started_at\":\"t\""),
        done(3),
        done(4) + &verified(4, "conditional-accept"),
        done(5) + &verified(5, "splendid"),
        done(6)
            + &verified(6, "accepted")
            + &row(6, "pr", ",\"pr_number\":12,\"stages\":[6],\"opened_at\":\"t\""),
        done(7) + &verified(7, "accepted"),
        done(8) + &verified(8, "accepted"),
        done(9) + &verified(9, "accepted"),
        row(11, "done", ",\"completed_at\":\"t\",\"head_commit\":\"\""),
        done(12) + &verified(12, "accepted"),
    ]
    .concat();
    let answer = shown(&specs, &ledger, &HandoffRequest::default());
    assert_eq!(answer.eligible, [1, 7, 12]);
    let not = |verdict| NotEligible::NotAccepted { verdict, report_path: "r".into() };
    let reasons: Vec<_> = answer.stages.iter().filter_map(|it| it.reason.clone()).collect();
    assert_eq!(
        reasons,
        [
            NotEligible::Running,
            NotEligible::NotVerified,
            not(Some(Verdict::ConditionalAccept)),
            not(None),
            NotEligible::InPullRequest { url: None, number: Some(12) },
            NotEligible::BuiltOn { stages: vec![3] },
            NotEligible::BuiltOn { stages: vec![8] },
            NotEligible::Cancelled,
            NotEligible::NoCommit,
        ]
    );
    let why = |stage: u32| {
        let found = answer.stages.iter().find(|it| it.stage == stage);
        found.and_then(|it| it.why.clone()).unwrap_or_default()
    };
    assert_eq!(why(4), "its latest verification is conditional-accept");
    assert_eq!(why(6), "it is in pull request #12");
    assert_eq!(why(8), "it builds on stage 3, which cannot be handed over");
    // The whole task accepted is every done stage accepted, and a pull request may be asked for again.
    let request = HandoffRequest {
        again: true,
        reports: vec![whole(1, "\"accepted\"")],
        ..HandoffRequest::default()
    };
    assert_eq!(shown(&specs, &ledger, &request).eligible, [1, 3, 4, 5, 6, 7, 8, 9, 12]);
}

#[test]
fn the_newest_verification_of_the_whole_task_decides() {
    let stage = report(
        "final-report-final-verification-99",
        r#"{"header":{"taskType":"final-verification"},"verificationScope":"stage","verdict":"blocked"}"#,
    );
    let table = [
        (Vec::new(), None, 0),
        (vec![whole(1, "\"accepted\"")], Some((1, Some(Verdict::Accepted))), 0),
        (vec![whole(1, r#"{"token":" ACCEPTED "}"#), stage], Some((1, Some(Verdict::Accepted))), 0),
        (
            vec![whole(10, "\"blocked\""), whole(9, "\"accepted\"")],
            Some((10, Some(Verdict::Blocked))),
            0,
        ),
        (
            vec![whole(2, "\"blocked\""), whole(10, "\"accepted\"")],
            Some((10, Some(Verdict::Accepted))),
            0,
        ),
        (
            vec![whole(1, r#"{"token":"conditional_accept"}"#)],
            Some((1, Some(Verdict::ConditionalAccept))),
            0,
        ),
        (vec![whole(1, "\"accepted\""), whole(2, "7")], Some((2, None)), 1),
        (vec![whole(1, "\"accepted\""), whole(2, "\"fine\"")], Some((2, None)), 1),
        (
            vec![whole(1, "\"accepted\""), report("final-report-final-verification-2", "{")],
            Some((1, Some(Verdict::Accepted))),
            1,
        ),
    ];
    for (reports, wanted, warned) in table {
        let (found, warnings) = latest_whole_task(&reports);
        let brief = found.as_ref().map(|it| (it.data_path.clone(), it.verdict));
        let wanted = wanted.map(|(number, verdict)| {
            (format!("runs/final-verification/reports/final-report-final-verification-{number}.data.json"), verdict)
        });
        assert_eq!(brief, wanted, "{reports:?}");
        assert_eq!(warnings.len(), warned, "{warnings:?}");
        if let Some(found) = found {
            assert_eq!(found.report_path, found.data_path.replace(".data.json", ".md"));
        }
    }
}

fn planned(
    specs: &[Spec],
    ledger: &str,
    request: &HandoffRequest,
) -> Result<AssembleAnswer, OkstraError> {
    match assemble(plan(specs).as_bytes(), ledger.as_bytes(), &facts(), request) {
        Ok(Decision::Decided { answer, .. }) => Ok(answer),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error),
    }
}

fn request(stages: &[u32], ancestry: &[(&str, &str, bool)]) -> HandoffRequest {
    HandoffRequest {
        stages: stages.to_vec(),
        prefix: "fix".into(),
        implementation_base: Some("base".into()),
        base_branch: "main".into(),
        ancestry: ancestry
            .iter()
            .map(|(older, newer, contained)| Ancestry {
                older: (*older).into(),
                newer: (*newer).into(),
                contained: *contained,
            })
            .collect(),
        ..HandoffRequest::default()
    }
}

#[test]
fn the_chosen_heads_come_together_in_dependency_order() {
    // Stage 1 builds on stage 3; stage 4 on stage 2.
    let specs = [on(&[3]), on(&[]), on(&[]), on(&[2])];
    let ledger: String = (1..=4).map(|stage| done(stage) + &verified(stage, "accepted")).collect();
    let answer = planned(&specs, &ledger, &request(&[], &[])).unwrap();
    let Assembling::Needs { ancestry } = answer.assembling else {
        panic!("planned without looking");
    };
    assert_eq!(ancestry.len(), 12);
    let facts = [("h3", "h1", true), ("h2", "h4", true), ("h1", "h4", false), ("h4", "h1", false)];
    let answer = planned(&specs, &ledger, &request(&[], &facts)).unwrap();
    let Assembling::Plan { plan } = answer.assembling else {
        panic!("asked again");
    };
    let merged: Vec<_> =
        plan.merges.iter().map(|it| (it.commit.as_str(), it.stages.clone())).collect();
    // Row order among the free, a dependency before what builds on it.
    assert_eq!(merged, [("h1", vec![1]), ("h4", vec![4])]);
    assert_eq!((plan.branch.as_str(), plan.base.as_str()), ("fix-i-collect", "base"));
    assert_eq!((plan.dropped, plan.contains), (vec![2, 3], vec!["h1".to_owned(), "h4".to_owned()]));
    assert_eq!(plan.refspec, "refs/heads/fix-i-collect:refs/heads/fix-i-collect");
    assert!(plan.forbidden.contains(&Forbidden::PushTo { branch: "main".into() }));
    assert!(
        matches!(&plan.forbidden[0], Forbidden::ForcePush { options } if options.contains(&"--force"))
    );
    assert!(answer.whole);
    assert_eq!(answer.pull_request.title, "i: all stages");
    assert_eq!(answer.pull_request.body.matches("\n- ").count(), 4);
    // A group says its stages.
    let answer = planned(&specs, &ledger, &request(&[4, 2, 4], &facts)).unwrap();
    let Assembling::Plan { plan } = answer.assembling else {
        panic!("asked again");
    };
    assert_eq!((plan.branch.as_str(), plan.merges.len()), ("fix-i-collect-s2-s4", 1));
    assert_eq!((answer.stages, answer.whole), (vec![2, 4], false));
    assert_eq!(answer.pull_request.title, "i: stages 2, 4");
}

#[test]
fn what_may_not_go_is_refused() {
    let specs = [on(&[]), on(&[])];
    let ledger = done(1) + &verified(1, "accepted") + &done(2);
    let code = |request: &HandoffRequest| {
        let info = planned(&specs, &ledger, request).unwrap_err().info();
        assert!(info.help.is_some() || info.code == ErrorCode::NotInMap);
        (info.code, info.exit_code, info.message)
    };
    assert_eq!(
        code(&request(&[1, 2], &[])),
        (ErrorCode::NotEligible, 3, "--stage 2 cannot be handed over: it is not verified".into())
    );
    assert_eq!(code(&request(&[7], &[])).0, ErrorCode::NotInMap);
    let baseless = HandoffRequest { implementation_base: None, ..request(&[1], &[]) };
    assert_eq!(code(&baseless).0, ErrorCode::NoBase);
    let onto_itself =
        HandoffRequest { base_branch: "FIX-i-collect-s1".into(), ..request(&[1], &[]) };
    assert_eq!(code(&onto_itself).0, ErrorCode::ForbiddenPush);
    let info = planned(&specs, "", &request(&[], &[])).unwrap_err().info();
    assert_eq!(info.details.lines.unwrap(), ["stage 1: it is not done", "stage 2: it is not done"]);
    for branch in ["main", "refs/heads/main", "+x", "", "-f", "x:main", "MAIN"] {
        let refused = refspec(branch, "main");
        assert_eq!(refused.unwrap_err().info().code, ErrorCode::ForbiddenPush, "{branch}");
    }
}

#[test]
fn what_is_finished_comes_together_whether_verified_or_not() {
    // Stage 5 is done although what it builds on is being built again.
    let specs = [on(&[]), on(&[]), on(&[]), on(&[]), on(&[4])];
    let ledger = [
        done(1) + &verified(1, "blocked"),
        done(2) + &row(2, "pr", ",\"pr_number\":12,\"stages\":[2],\"opened_at\":\"t\""),
        row(3, "done", ",\"completed_at\":\"t\",\"head_commit\":\"\""),
        row(4, "started", ",\"started_at\":\"t\""),
        done(5),
    ]
    .concat();
    let facts = [("h1", "h2"), ("h1", "h5"), ("h2", "h5")];
    let facts: Vec<_> = facts.iter().flat_map(|&(a, b)| [(a, b, false), (b, a, false)]).collect();
    let finished =
        HandoffRequest { finished: true, base_branch: String::new(), ..request(&[], &facts) };
    assert_eq!(shown(&specs, &ledger, &finished).eligible, [1, 2, 5]);
    let answer = planned(&specs, &ledger, &finished).unwrap();
    let Assembling::Plan { plan } = answer.assembling else {
        panic!("asked again");
    };
    assert_eq!((answer.stages, plan.branch.as_str()), (vec![1, 2, 5], "fix-i"));
    assert_eq!(plan.contains, ["h1", "h2", "h5"]);
    // Nothing is no fault here.
    let answer = planned(&specs, "", &finished).unwrap();
    assert!(matches!(answer.assembling, Assembling::Plan { plan } if plan.merges.is_empty()));
}
