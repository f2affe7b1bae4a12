//! Which stages will conflict, and what of it an explanation tells.
use okstra_core::choose::Order;
use okstra_core::error::ErrorCode;
use okstra_core::stage::{Decision, Facts, NextRequest, forecast as of_plan, next};
use okstra_core::worktree::base::{Ancestry, StageHead};
use okstra_core::worktree::forecast::{
    Conflict, Forecast, ForecastRequest, ForecastStage, MergeResult, check_merge, forecast,
};

use crate::support::{facts, on, plan, seen};

fn stage(stage: u32, depends_on: &[u32], head: &str, done: bool) -> ForecastStage {
    let head = (!head.is_empty()).then(|| head.to_owned());
    ForecastStage { stage, depends_on: depends_on.to_vec(), head, done }
}

fn asked(found: &Forecast) -> Vec<(u32, u32)> {
    found.ask.iter().map(|pair| (pair.first, pair.second)).collect()
}

#[test]
fn only_what_can_conflict_is_tried() {
    let stages = [
        stage(1, &[], "a", true),
        stage(2, &[], "b", true),
        stage(3, &[1], "c", false),
        stage(4, &[2], "d", false),
        stage(5, &[], "", false),
        stage(6, &[3, 5], "f", false),
        stage(7, &[], "a", true),
    ];
    let found = forecast(&stages, &ForecastRequest::default());
    // Neither what builds on the other nor what is one commit.
    assert_eq!(
        asked(&found),
        [(1, 2), (1, 4), (2, 3), (2, 6), (2, 7), (3, 4), (3, 7), (4, 6), (4, 7), (6, 7)]
    );
    let known = Ancestry { older: "a".into(), newer: "d".into(), contained: true };
    let request = ForecastRequest { ancestry: vec![known], ..ForecastRequest::default() };
    assert!(!asked(&forecast(&stages, &request)).contains(&(1, 4)));
    // A finished stage on both has settled it; a running one may not have.
    let mut joined = stages.to_vec();
    joined.push(stage(8, &[1, 2], "h", true));
    assert!(!asked(&forecast(&joined, &ForecastRequest::default())).contains(&(1, 2)));
    joined[7].done = false;
    assert!(asked(&forecast(&joined, &ForecastRequest::default())).contains(&(1, 2)));
}

#[test]
fn results_are_conflicts_or_clean_in_either_direction() {
    let stages = [stage(1, &[], "a", true), stage(2, &[], "b", false), stage(3, &[], "c", false)];
    let tried = |first: &str, second: &str, files: &[&str]| MergeResult {
        first_head: first.into(),
        second_head: second.into(),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
    };
    let request = ForecastRequest {
        merges: vec![tried("b", "a", &["z", "a", "z"]), tried("a", "c", &[])],
        ..ForecastRequest::default()
    };
    let found = forecast(&stages, &request);
    assert_eq!((asked(&found), found.clean), (vec![(2, 3)], 1));
    let conflict = Conflict { first: 1, second: 2, files: vec!["a".into(), "z".into()] };
    assert_eq!(found.conflicts, std::slice::from_ref(&conflict));
    let error = check_merge(9, &conflict).unwrap_err();
    assert_eq!(error.to_string(), "stage 1 and stage 2 conflict in a, z");
    let info = error.info();
    assert_eq!((info.code, info.exit_code), (ErrorCode::MergeConflict, 3));
    assert_eq!(info.details.lines, Some(conflict.files.clone()));
    assert!(info.help.unwrap().contains("--resolve"));
    assert!(!check_merge(0, &conflict).unwrap_err().info().help.unwrap().contains("--resolve"));
    assert!(check_merge(9, &Conflict { files: Vec::new(), ..conflict }).is_ok());
}

fn row(stage: u32, status: &str, more: &str) -> String {
    format!("{{\"impl_task_key\":\"k\",\"stage\":{stage},\"status\":\"{status}\"{more}}}\n")
}

#[test]
fn the_forecast_of_a_plan() {
    let text = plan(&[on(&[]), on(&[]), on(&[]), on(&[1, 2]), on(&[])]);
    let ledger = row(1, "started", ",\"started_at\":\"t\"")
        + &row(1, "done", ",\"completed_at\":\"t\",\"head_commit\":\"a\"")
        + &row(2, "started", ",\"started_at\":\"t\"")
        + &row(3, "started", ",\"started_at\":\"t\"");
    let facts = Facts { sightings: Some(seen()), ..facts() };
    let request = ForecastRequest {
        heads: vec![StageHead { stage: 2, head: Some("b".into()) }],
        ..ForecastRequest::default()
    };
    let Ok(Decision::Decided { answer, .. }) =
        of_plan(text.as_bytes(), ledger.as_bytes(), &facts, &request)
    else {
        panic!("not decided");
    };
    assert_eq!((asked(&answer), answer.unknown), (vec![(1, 2)], vec![3]));
    // What was foreseen is told of the two and of what builds on both.
    let conflict = Conflict { first: 1, second: 2, files: vec!["x".into()] };
    let explain = |conflicts: Vec<Conflict>| {
        let request =
            NextRequest { stage: "auto".into(), order: Order::Number, explain: true, conflicts };
        match next(text.as_bytes(), ledger.as_bytes(), &facts, &request) {
            Ok(Decision::Decided { answer, .. }) => answer
                .stages
                .into_iter()
                .filter(|it| !it.conflicts.is_empty())
                .map(|it| it.stage)
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(explain(vec![conflict]), [1, 2, 4]);
    assert_eq!(explain(Vec::new()), Vec::<u32>::new());
}
