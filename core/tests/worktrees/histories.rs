//! Recorded heads after history was rewritten.
use okstra_core::ledger::LedgerState;
use okstra_core::stage::{Decision, Effect, history};
use okstra_core::worktree::history::{
    Candidate, HeadFact, HeadFate, HistoryRequest, Sameness, fate,
};

use crate::support::{facts, on, plan};

fn fact(stage: u32, candidates: &[(&str, Sameness)]) -> HeadFact {
    HeadFact {
        stage,
        head: format!("h{stage}"),
        reachable: false,
        candidates: candidates
            .iter()
            .map(|(commit, same)| Candidate { commit: (*commit).into(), same: *same })
            .collect(),
    }
}

#[test]
fn one_commit_that_is_the_same_is_it() {
    use Sameness::{Patch, Tree};
    let corrected = |commit: &str, same| HeadFate::Corrected { commit: commit.into(), same };
    let several = |commits: &[&str]| HeadFate::Ambiguous {
        commits: commits.iter().map(|it| (*it).to_owned()).collect(),
    };
    let table = [
        (fact(1, &[]), HeadFate::Lost),
        (HeadFact { reachable: true, ..fact(1, &[("x", Tree)]) }, HeadFate::Intact),
        (fact(1, &[("x", Tree)]), corrected("x", Tree)),
        (fact(1, &[("x", Patch)]), corrected("x", Patch)),
        (fact(1, &[("p", Patch), ("q", Patch), ("x", Tree), ("x", Tree)]), corrected("x", Tree)),
        (fact(1, &[("x", Tree), ("y", Tree), ("p", Patch)]), several(&["x", "y"])),
        (fact(1, &[("p", Patch), ("q", Patch)]), several(&["p", "q"])),
        (fact(1, &[("", Tree)]), HeadFate::Lost),
    ];
    for (fact, wanted) in table {
        assert_eq!(fate(&fact), wanted, "{fact:?}");
    }
}

#[test]
fn a_correction_is_a_further_row() {
    let text = plan(&[on(&[]), on(&[]), on(&[]), on(&[])]);
    let row = |stage: u32| {
        format!(
            "{{\"impl_task_key\":\"k\",\"stage\":{stage},\"status\":\"done\",\"completed_at\":\
             \"2026-01-02T03:04:05Z\",\"carry_path\":\"c\",\"head_commit\":\"h{stage}\",\
             \"claim_id\":\"c{stage}\"}}\n"
        )
    };
    let mut ledger = [row(1), row(2), row(3)].concat();
    let request = HistoryRequest {
        heads: vec![
            fact(1, &[("new", Sameness::Patch)]),
            fact(2, &[]),
            HeadFact { head: "corrected-since".into(), ..fact(3, &[("x", Sameness::Tree)]) },
            fact(4, &[("x", Sameness::Tree)]),
        ],
    };
    let decide =
        |ledger: &str| match history(text.as_bytes(), ledger.as_bytes(), &facts(), &request) {
            Ok(Decision::Decided { effects, answer, .. }) => (effects, answer),
            other => panic!("{other:?}"),
        };
    let (effects, answer) = decide(&ledger);
    let [Effect::Append { line, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        line,
        "{\"impl_task_key\":\"k\",\"stage\":1,\"status\":\"done\",\"completed_at\":\
         \"2026-01-02T03:04:05Z\",\"carry_path\":\"c\",\"head_commit\":\"new\",\"claim_id\":\"c1\"}"
    );
    let stages: Vec<_> = answer.stages.iter().map(|it| it.stage).collect();
    assert_eq!(stages, [1, 2]);
    assert_eq!(
        answer.warnings,
        [
            "the head h1 of stage 1 is not reachable any more; new has the same patch and is its \
             head now",
            "the head h2 of stage 2 is not reachable any more, and no commit has its tree or patch",
        ]
    );
    ledger.push_str(line);
    let state = LedgerState::read(ledger.as_bytes());
    assert_eq!(state.stage(1).unwrap().done.as_ref().unwrap().head_commit, "new");
    // The fact is about the head of before: once more changes nothing.
    assert!(decide(&ledger).0.is_empty());
}
