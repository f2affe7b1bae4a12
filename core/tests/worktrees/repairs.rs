//! The registry against git, the disk, the ledger and the processes.
use okstra_core::claims::{ProcessFact, ProcessState};
use okstra_core::stage::Decision;
use okstra_core::worktree::repair::{
    GitBranch, GitWorktree, RepairFacts, RepairKind, RepairReport, RepairRequest, Repository,
    TaskLedger, WorktreeAction, repair,
};

use crate::registries::{facts, fixture};

const STAGES: &str = "/h/worktrees/tea/shop/OK-7.stages";
const KEY: &str = "tea:shop:OK-7";

fn path(stage: u32) -> String {
    format!("{STAGES}/stage-{stage}")
}

fn listed(stage: u32, branch: Option<&str>) -> GitWorktree {
    GitWorktree { path: path(stage), head: Some("aaaa".into()), branch: branch.map(Into::into) }
}

fn branch(name: &str, head: &str) -> GitBranch {
    GitBranch { name: name.into(), head: head.into() }
}

fn row(stage: u32, status: &str, more: &str) -> String {
    format!("{{\"impl_task_key\":\"k\",\"stage\":{stage},\"status\":\"{status}\"{more}}}\n")
}

fn started(claim: &str) -> String {
    row(
        2,
        "started",
        &format!(
            ",\"started_at\":\"2026-03-04T05:06:07Z\",\"head_commit\":\"a\",\"claim_id\":\"{claim}\",\
             \"worktree\":\"{}\",\"base_commit\":\"bbbb\"",
            path(2)
        ),
    )
}

fn done() -> String {
    row(2, "done", ",\"completed_at\":\"2026-03-04T06:06:07Z\",\"head_commit\":\"c\"")
}

/// A registry whose stage 2 has a state, and a world that agrees with it.
fn world(state: &str, ledger: &str) -> RepairFacts {
    let text = fixture("made/begun.json").replace("\"provisioning\"", &format!("\"{state}\""));
    let mut registry = facts(Some(&text));
    registry.processes = Some(vec![ProcessFact {
        pid: 7,
        pid_start: Some("boot-7".into()),
        state: ProcessState::Gone,
    }]);
    RepairFacts {
        registry,
        home: "/h".into(),
        repositories: vec![Repository {
            project_root: "/p/tea".into(),
            worktrees: vec![listed(2, Some("feat-OK-7-s2"))],
            branches: vec![branch("main", "aaaa"), branch("feat-OK-7-s2", "aaaa")],
        }],
        ledgers: vec![TaskLedger { task_key: KEY.into(), text: ledger.into() }],
        folders: vec![path(2)],
    }
}

fn report(facts: &RepairFacts) -> RepairReport {
    match repair(facts, &RepairRequest::default()) {
        Ok(Decision::Decided { answer, effects, .. }) => {
            assert!(effects.is_empty());
            answer
        }
        other => panic!("{other:?}"),
    }
}

/// The kinds with the kinds of their actions.
fn kinds(facts: &RepairFacts) -> Vec<(RepairKind, Vec<String>)> {
    let name = |action: &WorktreeAction| {
        serde_json::to_value(action).unwrap()["kind"].as_str().unwrap().to_owned()
    };
    let of = |report: RepairReport| {
        report
            .findings
            .into_iter()
            .map(|it| {
                assert!(!it.message.is_empty() && !it.repair.is_empty());
                (it.kind, it.actions.iter().map(name).collect::<Vec<_>>())
            })
            .collect()
    };
    of(report(facts))
}

#[test]
fn what_agrees_has_no_finding() {
    assert_eq!(kinds(&world("active", &started("c1"))), []);
    assert_eq!(kinds(&world("kept", &(started("c1") + &done()))), []);
    assert_eq!(kinds(&world("kept", "")), []);
    // A ledger that cannot be read tells nothing.
    let mut unread = world("active", "");
    unread.ledgers.clear();
    assert_eq!(kinds(&unread), []);
}

/// A state, a ledger, what differs from a world that agrees, and what is found.
type Case = (&'static str, String, fn(&mut RepairFacts), RepairKind, &'static [&'static str]);

/// Worktrees that are being made, or whose folder or branch is not as it should be.
fn disagreements() -> Vec<Case> {
    use RepairKind as K;
    vec![
        ("provisioning", String::new(), |_| {}, K::HalfProvisioned, &["remove-worktree", "forget"]),
        (
            "provisioning",
            String::new(),
            |world| world.repositories[0].branches[1].head = "dddd".into(),
            K::HalfProvisioned,
            &["keep"],
        ),
        (
            "provisioning",
            String::new(),
            |world| world.repositories[0].worktrees.clear(),
            K::HalfProvisioned,
            &[],
        ),
        (
            "provisioning",
            String::new(),
            |world| {
                world.repositories[0].worktrees.clear();
                world.repositories[0].branches.pop();
                world.folders.clear();
            },
            K::HalfProvisioned,
            &["forget"],
        ),
        ("provisioning", started("c1"), |_| {}, K::NotActivated, &["activate"]),
        (
            "provisioning",
            String::new(),
            |world| world.registry.host = Some("there".into()),
            K::MakerUnknown,
            &[],
        ),
        (
            "active",
            started("c1"),
            |world| world.folders.clear(),
            K::FolderMissing,
            &["restore-worktree"],
        ),
        (
            "active",
            started("c1"),
            |world| {
                world.folders.clear();
                world.repositories[0].branches.pop();
            },
            K::FolderMissing,
            &[],
        ),
        (
            "kept",
            String::new(),
            |world| world.folders.clear(),
            K::FolderMissing,
            &["remove-worktree", "forget"],
        ),
        (
            "kept",
            String::new(),
            |world| world.repositories[0].worktrees.clear(),
            K::NotInGit,
            &["reconnect"],
        ),
        (
            "active",
            started("c1"),
            |world| world.repositories[0].worktrees[0].branch = Some("main".into()),
            K::OtherBranch,
            &[],
        ),
        (
            "active",
            started("c1"),
            |world| world.repositories[0].worktrees[0].branch = None,
            K::OtherBranch,
            &[],
        ),
        (
            "active",
            started("c1"),
            |world| {
                world.repositories[0].worktrees[0].branch = None;
                world.repositories[0].branches.pop();
            },
            K::BranchMissing,
            &[],
        ),
    ]
}

/// Worktrees that are as they should be, only the ledger or the project is not.
fn left_overs() -> Vec<Case> {
    use RepairKind as K;
    vec![
        ("active", started("c1") + &done(), |_| {}, K::StillActive, &["keep"]),
        (
            "active",
            started("c1") + &row(2, "released", ",\"released_at\":\"t\",\"claim_id\":\"c1\""),
            |_| {},
            K::StillActive,
            &["keep"],
        ),
        ("active", String::new(), |_| {}, K::NeverClaimed, &["keep"]),
        ("active", String::new(), |world| world.repositories.clear(), K::ProjectMissing, &[]),
    ]
}

#[test]
fn every_disagreement_has_its_kind() {
    let cases = disagreements().into_iter().chain(left_overs());
    for (at, (state, ledger, change, kind, actions)) in cases.enumerate() {
        let mut world = world(state, &ledger);
        change(&mut world);
        let wanted: Vec<String> = actions.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(kinds(&world), [(kind, wanted)], "case {at}");
    }
}

#[test]
fn nothing_with_a_commit_is_cleaned_away() {
    let found = report(&world("provisioning", ""));
    assert_eq!(
        found.findings[0].actions[0],
        WorktreeAction::RemoveWorktree {
            project_root: "/p/tea".into(),
            path: path(2),
            branch: Some("feat-OK-7-s2".into()),
            expected_head: Some("aaaa".into()),
            discard: false,
        }
    );
    assert_eq!(
        found.findings[0].message,
        "the worktree of stage 2 was begun by process 7 on here since 2026-03-04T05:06:07Z, which \
         is gone"
    );
    // A folder that is gone leaves the branch alone.
    let mut missing = world("kept", "");
    missing.folders.clear();
    let WorktreeAction::RemoveWorktree { branch, .. } = &report(&missing).findings[0].actions[0]
    else {
        panic!("not removed");
    };
    assert_eq!(*branch, None);
}

#[test]
fn a_process_is_looked_at_before_it_counts_as_gone() {
    let mut world = world("provisioning", "");
    world.registry.processes = None;
    let asked = repair(&world, &RepairRequest::default());
    assert!(matches!(asked, Ok(Decision::Needs { needs }) if needs.processes[0].pid == 7));
    world.registry.processes = Some(vec![ProcessFact {
        pid: 7,
        pid_start: Some("boot-7".into()),
        state: ProcessState::Alive,
    }]);
    assert_eq!(kinds(&world), []);
    world.registry.processes = None;
    let other = RepairRequest { task_key: Some("a:b:c".into()) };
    assert!(matches!(
        repair(&world, &other),
        Ok(Decision::Decided { answer, .. }) if answer.findings.is_empty()
    ));
}

#[test]
fn what_is_not_registered_is_adopted_or_told() {
    let mut found = world("active", &started("c1"));
    let git = &mut found.repositories[0];
    git.worktrees.push(listed(3, Some("feat-OK-7-s3")));
    git.worktrees.push(listed(4, None));
    for path in
        ["/elsewhere", "/h/worktrees/tea/shop/other.stages/stage-1", "/h/worktrees/tea/shop/OK-7"]
    {
        git.worktrees.push(GitWorktree {
            path: path.into(),
            head: None,
            branch: Some("feat-x".into()),
        });
    }
    let findings = report(&found).findings;
    let brief: Vec<_> = findings
        .iter()
        .map(|it| (it.task_key.as_deref(), it.stage, it.actions.len(), it.kind))
        .collect();
    assert_eq!(
        brief,
        [
            (Some(KEY), Some(3), 1, RepairKind::Unregistered),
            (Some(KEY), Some(4), 0, RepairKind::Unregistered),
            (None, None, 0, RepairKind::Unregistered),
            (Some(KEY), None, 1, RepairKind::Unregistered),
        ]
    );
    assert_eq!(
        findings[0].actions[0],
        WorktreeAction::Adopt {
            task_key: KEY.into(),
            stage: 3,
            path: path(3),
            branch: "feat-OK-7-s3".into(),
            base: None,
            claim_id: None,
        }
    );
    // The claim in the ledger comes along.
    let mut lost = world("active", &started("c1"));
    lost.registry.text = Some(fixture("made/forgotten.json"));
    assert_eq!(
        report(&lost).findings[0].actions[0],
        WorktreeAction::Adopt {
            task_key: KEY.into(),
            stage: 2,
            path: path(2),
            branch: "feat-OK-7-s2".into(),
            base: Some("bbbb".into()),
            claim_id: Some("c1".into()),
        }
    );
}
