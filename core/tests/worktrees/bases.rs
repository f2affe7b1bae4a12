//! The base of a stage, by examples and against a brute force over random histories.
use std::collections::BTreeSet;

use okstra_core::error::ErrorCode;
use okstra_core::worktree::base::{Ancestry, BaseAnswer, BaseRequest, BaseSource, StageHead, base};
use proptest::prelude::*;

fn on(heads: &[(u32, &str)]) -> BaseRequest {
    BaseRequest {
        stage: 9,
        implementation_base: Some("base".into()),
        dependencies: heads
            .iter()
            .map(|(stage, head)| StageHead { stage: *stage, head: Some((*head).into()) })
            .collect(),
        ancestry: Vec::new(),
    }
}

fn fact(older: &str, newer: &str, contained: bool) -> Ancestry {
    Ancestry { older: older.into(), newer: newer.into(), contained }
}

/// An answer in one line.
fn line(request: &BaseRequest) -> String {
    match base(request) {
        Err(error) => error.to_string(),
        Ok(BaseAnswer::Needs { ancestry }) => {
            let each: Vec<_> =
                ancestry.iter().map(|it| format!("{}<{}", it.older, it.newer)).collect();
            format!("needs {}", each.join(" "))
        }
        Ok(BaseAnswer::Commit { commit, from, stages, contains }) => {
            format!("{commit} {from:?} {stages:?} {contains:?}")
        }
        Ok(BaseAnswer::Merge { first, others, dropped, contains }) => {
            let each: Vec<_> =
                others.iter().map(|it| format!("{}{:?}", it.commit, it.stages)).collect();
            format!(
                "{}{:?} + {} without {dropped:?} {contains:?}",
                first.commit,
                first.stages,
                each.join(" + ")
            )
        }
    }
}

#[test]
fn bases_by_example() {
    let known = |heads: &[(u32, &str)], ancestry: &[Ancestry]| BaseRequest {
        ancestry: ancestry.to_vec(),
        ..on(heads)
    };
    let apart = [fact("a", "b", false), fact("b", "a", false)];
    let table = [
        (on(&[]), r#"base ImplementationBase [] ["base"]"#),
        (on(&[(1, "a")]), r#"a Dependency [1] ["a"]"#),
        (on(&[(1, "a"), (2, "a")]), r#"a Dependency [1, 2] ["a"]"#),
        (on(&[(2, "b"), (1, "a")]), "needs a<b b<a"),
        (known(&[(2, "b"), (1, "a")], &[fact("a", "b", true)]), r#"b Dependency [2] ["b"]"#),
        // One answer of two is not enough, unless it is yes.
        (known(&[(2, "b"), (1, "a")], &[fact("a", "b", false)]), "needs b<a"),
        (known(&[(2, "b"), (1, "a")], &apart), r#"b[2] + a[1] without [] ["b", "a"]"#),
        (known(&[(1, "a"), (2, "b")], &apart), r#"a[1] + b[2] without [] ["a", "b"]"#),
        // What follows is not asked.
        (
            known(&[(1, "a"), (2, "b"), (3, "c")], &[fact("a", "b", true), fact("b", "c", true)]),
            r#"c Dependency [3] ["c"]"#,
        ),
        (
            known(
                &[(1, "a"), (2, "b"), (3, "c")],
                &[fact("a", "c", true), fact("b", "c", false), fact("c", "b", false)],
            ),
            r#"b[2] + c[3] without [1] ["b", "c"]"#,
        ),
        // Facts that contradict each other are one commit.
        (
            known(&[(1, "a"), (2, "b")], &[fact("a", "b", true), fact("b", "a", true)]),
            r#"a Dependency [1] ["a"]"#,
        ),
    ];
    for (request, wanted) in table {
        assert_eq!(line(&request), wanted, "{request:?}");
    }
}

#[test]
fn without_a_commit_there_is_no_base() {
    let mut request = on(&[(1, "a"), (4, "")]);
    let error = base(&request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--stage 9 cannot start from stage 4, which is done without a commit"
    );
    let info = error.info();
    assert_eq!((info.code, info.exit_code, info.details.stage), (ErrorCode::NoHead, 3, Some(9)));
    request.dependencies[1].head = None;
    assert_eq!(base(&request).unwrap_err().info().code, ErrorCode::NoHead);
    request = BaseRequest { implementation_base: None, ..on(&[]) };
    assert_eq!(base(&request).unwrap_err().info().code, ErrorCode::NoBase);
    request.implementation_base = Some(String::new());
    assert_eq!(base(&request).unwrap_err().info().code, ErrorCode::NoBase);
    assert_eq!(from_of(&on(&[])), Some(BaseSource::ImplementationBase));
}

fn from_of(request: &BaseRequest) -> Option<BaseSource> {
    match base(request) {
        Ok(BaseAnswer::Commit { from, .. }) => Some(from),
        _ => None,
    }
}

/// For each commit of a history, every commit it contains, itself included.
fn closure(parents: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
    let mut all: Vec<BTreeSet<usize>> = Vec::new();
    for (at, of) in parents.iter().enumerate() {
        let mut set: BTreeSet<usize> = of.iter().flat_map(|parent| all[*parent].clone()).collect();
        set.insert(at);
        all.push(set);
    }
    all
}

/// A history: the parents of each commit are commits before it.
fn history() -> impl Strategy<Value = Vec<Vec<usize>>> {
    proptest::collection::vec(proptest::collection::vec(any::<prop::sample::Index>(), 0..3), 1..12)
        .prop_map(|list| {
            let of = |(at, picks): (usize, Vec<prop::sample::Index>)| {
                if at == 0 { Vec::new() } else { picks.iter().map(|pick| pick.index(at)).collect() }
            };
            list.into_iter().enumerate().map(of).collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_base_is_what_looking_at_the_whole_history_gives(
        parents in history(),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..6),
        told in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..8),
    ) {
        let contains = closure(&parents);
        let name = |at: usize| format!("c{at}");
        let commits: Vec<usize> = picks.iter().map(|pick| pick.index(parents.len())).collect();
        let truth = |older: usize, newer: usize| contains[newer].contains(&older);
        let mut request = on(&[]);
        for (at, commit) in commits.iter().enumerate() {
            let stage = u32::try_from(at).unwrap() + 1;
            request.dependencies.push(StageHead { stage, head: Some(name(*commit)) });
        }
        for (older, newer) in told {
            let (older, newer) = (older.index(parents.len()), newer.index(parents.len()));
            if older != newer {
                request.ancestry.push(fact(&name(older), &name(newer), truth(older, newer)));
            }
        }
        let number = |text: &str| text.trim_start_matches('c').parse::<usize>().unwrap();
        let mut answer = base(&request).unwrap();
        if let BaseAnswer::Needs { ancestry } = &answer {
            for question in ancestry {
                let asked = fact(&question.older, &question.newer, true);
                let known = request.ancestry.iter().any(|it| it.older == asked.older && it.newer == asked.newer);
                prop_assert!(!known, "asked twice: {:?}", asked);
                let contained = truth(number(&question.older), number(&question.newer));
                request.ancestry.push(Ancestry { contained, ..asked });
            }
            // One round is enough.
            answer = base(&request).unwrap();
        }
        // The heads that no other contains, each once, in the order of the dependencies.
        let mut wanted: Vec<usize> = Vec::new();
        for &commit in &commits {
            let inside = commits.iter().any(|other| *other != commit && truth(commit, *other));
            if !inside && !wanted.contains(&commit) {
                wanted.push(commit);
            }
        }
        let (got, told) = match answer {
            BaseAnswer::Commit { commit, contains, .. } => (vec![number(&commit)], contains),
            BaseAnswer::Merge { first, others, dropped, contains } => {
                let mut list = vec![number(&first.commit)];
                list.extend(others.iter().map(|it| number(&it.commit)));
                let stages: usize = first.stages.len() + others.iter().map(|it| it.stages.len()).sum::<usize>();
                prop_assert_eq!(stages + dropped.len(), commits.len());
                (list, contains)
            }
            BaseAnswer::Needs { ancestry } => panic!("asked again: {ancestry:?}"),
        };
        prop_assert_eq!(&got, &wanted);
        prop_assert_eq!(told, wanted.iter().map(|at| name(*at)).collect::<Vec<_>>());
    }
}
