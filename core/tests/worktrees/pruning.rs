//! What may be removed, and that nothing is lost by it.
use std::collections::BTreeSet;

use okstra_core::error::ErrorCode;
use okstra_core::worktree::prune::{
    Fate, PruneEntry, PruneLine, PruneRequest, StageLife, prune, remove,
};
use okstra_core::worktree::repair::WorktreeAction;
use proptest::prelude::*;

fn entry(stage: u32) -> PruneEntry {
    PruneEntry {
        task_key: "tea:shop:OK-7".into(),
        stage,
        project_root: "/p/tea".into(),
        path: format!("/h/w/stage-{stage}"),
        branch: format!("feat-OK-7-s{stage}"),
        state: StageLife::Done,
        exists: true,
        head: Some(format!("h{stage}")),
        dirty: Some(Vec::new()),
        commits: Some(2),
        bytes: Some(1000),
        ..PruneEntry::default()
    }
}

fn one(entry: &PruneEntry, force: bool) -> PruneLine {
    let plan = prune(std::slice::from_ref(entry), &PruneRequest { force }).unwrap();
    plan.lines.into_iter().next().unwrap()
}

/// Worktrees with what becomes of each, why, and why when forced; empty where forcing changes
/// nothing.
fn cases() -> Vec<(PruneEntry, Fate, &'static str, &'static str)> {
    let files = |count: usize| Some((0..count).map(|at| format!("f{at}")).collect::<Vec<_>>());
    let base = || PruneEntry { kept_in: Some("origin/main".into()), ..entry(1) };
    let in_main = "everything in it is in origin/main";
    vec![
        (base(), Fate::Remove, in_main, ""),
        (
            PruneEntry { stages: vec![3], ..entry(1) },
            Fate::Remove,
            "everything in it is in stage 3",
            "",
        ),
        (
            PruneEntry { commits: Some(0), ..entry(1) },
            Fate::Remove,
            "it has no commit of its own",
            "",
        ),
        (PruneEntry { head: None, ..entry(1) }, Fate::Remove, "its branch is not there", ""),
        (PruneEntry { exists: false, dirty: None, ..base() }, Fate::Remove, in_main, ""),
        (
            entry(1),
            Fate::Keep,
            "would lose 2 commits that are nowhere else",
            "forced: loses 2 commits that are nowhere else",
        ),
        (
            PruneEntry { stages: vec![1], commits: Some(1), ..entry(1) },
            Fate::Keep,
            "would lose 1 commit that is nowhere else",
            "forced: loses 1 commit that is nowhere else",
        ),
        (
            PruneEntry { dirty: files(1), ..base() },
            Fate::Keep,
            "would lose 1 uncommitted file (f0)",
            "forced: loses 1 uncommitted file (f0)",
        ),
        (
            PruneEntry { dirty: files(12), ..entry(1) },
            Fate::Keep,
            "would lose 12 uncommitted files (f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, …) and 2 \
             commits that are nowhere else",
            "forced: loses 12 uncommitted files (f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, …) and 2 \
             commits that are nowhere else",
        ),
        (
            PruneEntry { state: StageLife::Running, ..base() },
            Fate::Keep,
            "stage 1 is being built in it",
            "",
        ),
        (
            PruneEntry { state: StageLife::Unknown, ..base() },
            Fate::Keep,
            "its plan and its ledger are gone, so nobody can say whether stage 1 is being built; 'okstra worktree remove' with --force takes it away alone",
            "",
        ),
        (
            PruneEntry { current: true, ..base() },
            Fate::Keep,
            "you stand in it; go elsewhere first, for example to the project",
            "",
        ),
        (
            PruneEntry { locked: true, ..base() },
            Fate::Keep,
            "git has it locked; 'git worktree unlock /h/w/stage-1' opens it",
            "",
        ),
        (
            PruneEntry { dirty: None, ..base() },
            Fate::Keep,
            "git cannot say what is in it; 'okstra worktree repair' looks into it",
            "",
        ),
        (
            PruneEntry { commits: None, ..entry(1) },
            Fate::Keep,
            "git cannot say which of its commits are elsewhere",
            "",
        ),
    ]
}

#[test]
fn every_reason_to_keep_or_to_remove() {
    for (entry, fate, why, forced) in cases() {
        let line = one(&entry, false);
        assert_eq!((line.fate, line.why.as_str()), (fate, why), "{entry:?}");
        assert_eq!(line.actions.is_empty(), fate == Fate::Keep);
        let with = one(&entry, true);
        if forced.is_empty() {
            assert_eq!(with, line);
        } else {
            assert_eq!((with.fate, with.why.as_str()), (Fate::Remove, forced));
            assert_eq!(with.loss, line.loss);
        }
        // One alone says the same.
        match remove(&entry, &PruneRequest::default()) {
            Ok(removed) => assert_eq!(removed, line),
            Err(error) => {
                let trusted = entry.state == StageLife::Unknown;
                let code =
                    if line.fixed && !trusted { ErrorCode::InUse } else { ErrorCode::WouldLose };
                assert_eq!(
                    (error.info().code, error.info().exit_code, fate),
                    (code, 3, Fate::Keep)
                );
            }
        }
    }
}

#[test]
fn what_nobody_can_judge_goes_alone_and_by_force() {
    let unknown = PruneEntry { state: StageLife::Unknown, ..entry(1) };
    let gone = "its plan and its ledger are gone, so nobody can say whether stage 1 is being built";
    let away = PruneEntry {
        project_missing: true,
        head: None,
        dirty: None,
        commits: None,
        ..unknown.clone()
    };
    let stay = "its folder and its branch stay where they are, only the note of them is lost";
    let cases = [
        (
            unknown.clone(),
            format!("{gone}; --force loses 2 commits that are nowhere else"),
            "forced: loses 2 commits that are nowhere else".to_owned(),
            2,
        ),
        (
            PruneEntry { kept_in: Some("main".into()), ..unknown.clone() },
            format!("{gone}; --force removes it, and nothing in it is lost"),
            "forced: removes it, and nothing in it is lost".to_owned(),
            2,
        ),
        (
            away,
            format!("its project /p/tea cannot be asked; --force forgets it; {stay}"),
            format!("forced: forgets it; {stay}"),
            1,
        ),
    ];
    for (entry, why, forced, actions) in cases {
        let error = remove(&entry, &PruneRequest::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("/h/w/stage-1 is not removed: {why}"));
        let line = remove(&entry, &PruneRequest { force: true }).unwrap();
        assert_eq!((line.why, line.actions.len()), (forced, actions));
        // Not with all others at once.
        assert_eq!(one(&entry, true).fate, Fate::Keep);
    }
    let locked = PruneEntry { locked: true, ..unknown };
    assert!(remove(&locked, &PruneRequest { force: true }).is_err());
}

#[test]
fn a_removal_says_what_git_has_to_check() {
    let dirty =
        PruneEntry { dirty: Some(vec!["x".into()]), kept_in: Some("main".into()), ..entry(2) };
    let line = one(&dirty, true);
    assert_eq!(
        line.actions,
        [
            WorktreeAction::RemoveWorktree {
                project_root: "/p/tea".into(),
                path: "/h/w/stage-2".into(),
                branch: Some("feat-OK-7-s2".into()),
                expected_head: Some("h2".into()),
                discard: true,
            },
            WorktreeAction::Forget { task_key: "tea:shop:OK-7".into(), stage: 2 },
        ]
    );
    let error = remove(&dirty, &PruneRequest::default()).unwrap_err().to_string();
    assert_eq!(error, "removing /h/w/stage-2 would lose 1 uncommitted file (x)");
    let plan =
        prune(&[entry(1), PruneEntry { commits: Some(0), ..entry(2) }], &PruneRequest::default());
    let plan = plan.unwrap();
    assert_eq!((plan.removed, plan.bytes), (1, 1000));
}

#[test]
fn two_stages_do_not_keep_each_other() {
    let entries =
        [PruneEntry { stages: vec![2], ..entry(1) }, PruneEntry { stages: vec![1], ..entry(2) }];
    let plan = prune(&entries, &PruneRequest::default()).unwrap();
    let fates: Vec<_> = plan.lines.iter().map(|line| line.fate).collect();
    assert_eq!(fates, [Fate::Remove, Fate::Keep]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random histories: each commit has parents before it, stages have heads, some commits are in
    /// the base branch. Whatever was in a worktree's branch is still somewhere afterwards.
    #[test]
    fn no_commit_is_lost_without_a_word(
        parents in proptest::collection::vec(proptest::collection::vec(any::<prop::sample::Index>(), 0..3), 2..10),
        heads in proptest::collection::vec(any::<prop::sample::Index>(), 1..6),
        base in any::<prop::sample::Index>(),
        free in any::<bool>(),
    ) {
        let mut contains: Vec<BTreeSet<usize>> = Vec::new();
        for (at, picks) in parents.iter().enumerate() {
            let mut set: BTreeSet<usize> = BTreeSet::from([at]);
            if at > 0 {
                set.extend(picks.iter().flat_map(|pick| contains[pick.index(at)].clone()));
            }
            contains.push(set);
        }
        let heads: Vec<usize> = heads.iter().map(|pick| pick.index(parents.len())).collect();
        let base = &contains[base.index(parents.len())];
        let entries: Vec<PruneEntry> = heads.iter().enumerate().map(|(at, head)| {
            let others = heads.iter().enumerate().filter(|(other, it)| *other != at && contains[**it].contains(head));
            PruneEntry {
                state: if free { StageLife::Free } else { StageLife::Done },
                kept_in: base.contains(head).then(|| "main".to_owned()),
                commits: Some(u32::try_from(contains[*head].difference(base).count()).unwrap()),
                stages: others.map(|(other, _)| u32::try_from(other).unwrap() + 1).collect(),
                ..entry(u32::try_from(at).unwrap() + 1)
            }
        }).collect();
        let plan = prune(&entries, &PruneRequest::default()).unwrap();
        let mut left: BTreeSet<usize> = base.clone();
        for (line, head) in plan.lines.iter().zip(&heads) {
            if line.fate == Fate::Keep {
                left.extend(&contains[*head]);
            }
        }
        for head in &heads {
            prop_assert!(contains[*head].is_subset(&left), "{:?}", plan.lines);
        }
    }
}
