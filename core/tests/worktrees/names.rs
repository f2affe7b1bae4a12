//! The names of branches and the places of worktrees.
use std::collections::BTreeMap;

use okstra_core::worktree::names::{
    branch_prefix, collector_branch, stage_branch, stage_worktree, task_branch, task_worktree,
};
use proptest::prelude::*;

#[test]
fn the_prefix_comes_from_the_category() {
    let table = [
        (Some("feature"), "feat"),
        (Some("feat"), "feat"),
        (Some("bugfix"), "fix"),
        (Some(" Fix "), "fix"),
        (Some("refactor"), "refactor"),
        (Some("ops"), "ops"),
        (Some("chore"), "ops"),
        (Some("infra"), "ops"),
        (Some("improvement"), "improve"),
        (Some("IMPROVE"), "improve"),
        (Some("docs"), "feat"),
        (Some(""), "feat"),
        (None, "feat"),
    ];
    for (category, prefix) in table {
        assert_eq!(branch_prefix(category), prefix, "{category:?}");
    }
}

#[test]
fn an_id_that_git_takes_stays() {
    for id in ["OK-7", "a.b", "a_b", "고객-주문", "größe", "a@b", "a{b}", "x.lock.y", "-", "v1.2"]
    {
        let branch = task_branch("feat", id);
        let wanted =
            if id == "-" { format!("feat-task-{}", hash(&branch)) } else { format!("feat-{id}") };
        assert_eq!(branch, wanted, "{id}");
    }
    assert_eq!(stage_branch("fix", "OK-7", 12), "fix-OK-7-s12");
    assert_eq!(collector_branch("fix", "OK-7", &[]), "fix-OK-7-collect");
    assert_eq!(collector_branch("fix", "OK-7", &[2, 1, 2]), "fix-OK-7-collect-s1-s2");
    let many: Vec<u32> = (1..200).collect();
    let long = collector_branch("fix", "OK-7", &many);
    assert!(long.len() < 40 && long.starts_with("fix-OK-7-collect-"), "{long}");
    assert_ne!(long, collector_branch("fix", "OK-7", &many[1..]));
}

fn hash(branch: &str) -> &str {
    let hash = branch.rsplit('-').next().unwrap();
    assert!(hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{branch}");
    hash
}

#[test]
fn an_id_that_git_does_not_take_is_changed_and_marked() {
    let table = [
        ("a b", "a-b"),
        ("a/b", "a-b"),
        ("a//b", "a--b"),
        ("a..b", "a.-b"),
        ("a...b", "a.-.b"),
        ("a@{1}", "a@-1}"),
        ("~^:?*[\\", "task"),
        ("x~^:?*[\\", "x-------"),
        ("--force", "force"),
        (".hidden", "hidden"),
        ("end.", "end"),
        ("end.lock", "end"),
        ("end.LOCK.lock.", "end"),
        (".lock", "lock"),
        ("a\u{7f}\u{1b}b", "a--b"),
        ("a\u{202e}b", "a-b"),
        ("a\u{3000}b", "a-b"),
        ("", "task"),
        ("..", "task"),
    ];
    for (id, wanted) in table {
        let branch = task_branch("feat", id);
        assert_eq!(branch, format!("feat-{wanted}-{}", hash(&branch)), "{id:?}");
    }
    assert_ne!(task_branch("feat", "a b"), task_branch("feat", "a/b"));
    assert_ne!(task_branch("feat", "a b"), task_branch("feat", "a-b"));
    let long = "é".repeat(300);
    assert!(stage_branch("improve", &long, u32::MAX).len() < 200);
    assert_ne!(task_branch("feat", &long), task_branch("feat", &format!("{long}é")));
}

#[test]
fn worktrees_lie_under_the_home() {
    let path = stage_worktree("/h/.okstra", "tea", "shop", "OK-7", 3);
    assert_eq!(path, "/h/.okstra/worktrees/tea/shop/OK-7.stages/stage-3");
    assert_eq!(task_worktree("/h/", "tea", "a/b", ".."), "/h/worktrees/tea/a-b/--");
    assert_eq!(
        task_worktree("C:/Users/Ada Byron/.okstra", "차", "shop", "OK-7"),
        "C:/Users/Ada Byron/.okstra/worktrees/차/shop/OK-7"
    );
}

/// The rules of `git check-ref-format --branch`.
fn git_takes(branch: &str) -> bool {
    let bad = |ch: char| (ch as u32) < 32 || ch == '\u{7f}' || " ~^:?*[\\".contains(ch);
    !branch.is_empty()
        && !branch.starts_with('-')
        && branch != "@"
        && !branch.chars().any(bad)
        && !branch.contains("..")
        && !branch.contains("@{")
        && !branch.ends_with('.')
        && branch.split('/').all(|part| {
            !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_branch_is_one_and_no_two_ids_share_it(
        ids in proptest::collection::vec("[-a./@{ :lock~^?*\\[\\\\é\u{1b}]{0,6}|\\PC{0,8}", 1..6),
        stage in any::<u32>(),
    ) {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for id in ids {
            for branch in [
                task_branch("feat", &id), stage_branch("feat", &id, stage), collector_branch("feat", &id, &[stage]),
            ] {
                prop_assert!(git_takes(&branch), "{id:?} -> {branch:?}");
                prop_assert!(!branch.contains('/'));
            }
            let branch = task_branch("feat", &id);
            if let Some(other) = seen.insert(branch.clone(), id.clone()) {
                prop_assert_eq!(other, id, "{}", branch);
            }
        }
    }
}
