//! The registry: reading, and edits that leave everything else as it is.
use std::fs;
use std::path::{Path, PathBuf};

use okstra_core::claims::{ProcessFact, ProcessState};
use okstra_core::error::{ErrorCode, OkstraError};
use okstra_core::stage::{Decision, Effect};
use okstra_core::worktree::registry::{
    BaseFixRequest, BeginRequest, EntryRequest, Maker, RegistryAnswer, RegistryFacts,
    ReservedRequest, TaskIdentity, TaskWorktree, TaskWorktreeRequest, WorktreeState, activate,
    begin, forget, keep, read, reserved_stages, set_implementation_base, set_task_worktree,
};
use proptest::prelude::*;
use serde_json::Value;

pub(crate) const REGISTRY: &str = "/h/worktrees/registry.json";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/registries")
}

pub(crate) fn fixture(name: &str) -> String {
    fs::read_to_string(fixtures().join(name)).unwrap()
}

pub(crate) fn facts(text: Option<&str>) -> RegistryFacts {
    RegistryFacts {
        path: REGISTRY.into(),
        text: text.map(str::to_owned),
        host: Some("here".into()),
        processes: None,
    }
}

fn identity() -> TaskIdentity {
    TaskIdentity {
        task_key: "tea:shop:OK-7".into(),
        project_root: "/p/tea".into(),
        plan_path: ".okstra/plan.md".into(),
        prefix: "feat".into(),
    }
}

fn beginning(stage: u32, claim: &str) -> BeginRequest {
    BeginRequest {
        task: identity(),
        stage,
        path: format!("/h/worktrees/tea/shop/OK-7.stages/stage-{stage}"),
        branch: format!("feat-OK-7-s{stage}"),
        base: Some("aaaa".into()),
        implementation_base: None,
        claim_id: claim.into(),
        by: Maker {
            host: Some("here".into()),
            pid: Some(7),
            pid_start: Some("boot-7".into()),
            session: None,
        },
        now: "2026-03-04T05:06:07Z".into(),
        sync_dirs: vec!["node_modules".into()],
    }
}

fn entry(stage: u32, claim: Option<&str>) -> EntryRequest {
    EntryRequest {
        task_key: "tea:shop:OK-7".into(),
        stage,
        claim_id: claim.map(Into::into),
        base: None,
        undo: None,
    }
}

/// The text after a change, and the answer.
fn changed(
    facts: &RegistryFacts,
    decision: Result<Decision<RegistryAnswer>, OkstraError>,
) -> (String, RegistryAnswer) {
    let Ok(Decision::Decided { effects, answer, .. }) = decision else {
        panic!("not decided: {decision:?}");
    };
    let text = match effects.as_slice() {
        [] => facts.text.clone().unwrap_or_default(),
        [Effect::Replace { path, text, if_unchanged }] => {
            assert_eq!((path.as_str(), if_unchanged), (REGISTRY, &facts.text));
            text.clone()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(answer.changed, !effects.is_empty());
    (text, answer)
}

fn code(decision: Result<Decision<RegistryAnswer>, OkstraError>) -> (ErrorCode, String) {
    let info = decision.unwrap_err().info();
    (info.code, info.message)
}

#[test]
fn every_registry_is_read_as_expected() {
    let mut read_one = 0;
    for file in fs::read_dir(fixtures()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(stem) = name.strip_suffix(".json").filter(|stem| !stem.contains('.')) else {
            continue;
        };
        let got = match read(&facts(Some(&fixture(&name)))) {
            Ok(registry) => serde_json::to_value(registry).unwrap(),
            Err(error) => serde_json::to_value(error.info()).unwrap(),
        };
        let expected = fixture(&format!("{stem}.expected.json"));
        let expected: Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(got, expected, "{name}: {got:#}");
        read_one += 1;
    }
    assert!(read_one >= 6);
    assert_eq!(read(&facts(None)).unwrap(), okstra_core::worktree::registry::Registry::default());
}

#[test]
fn a_worktree_begins_is_ready_is_kept_and_is_forgotten() {
    let new = facts(None);
    let (text, answer) = changed(&new, begin(&new, &beginning(2, "c1")));
    assert_eq!(text, fixture("made/begun.json"));
    assert_eq!(answer.task.unwrap().stages[0].state, WorktreeState::Provisioning);
    // Beginning again for the same claim is nothing new, although its process runs.
    let begun = facts(Some(&text));
    let (again, answer) = changed(&begun, begin(&begun, &beginning(2, "c1")));
    assert!(!answer.changed && again == text);
    let ready = EntryRequest { base: Some("bbbb".into()), ..entry(2, Some("c1")) };
    let (text, answer) = changed(&begun, activate(&begun, &ready));
    let stage = answer.task.unwrap().stages[0].clone();
    assert_eq!((stage.state, stage.base.as_deref()), (WorktreeState::Active, Some("bbbb")));
    let active = facts(Some(&text));
    let (text, answer) = changed(&active, keep(&active, &entry(2, None)));
    assert_eq!(answer.task.unwrap().stages[0].state, WorktreeState::Kept);
    let kept = facts(Some(&text));
    let (text, answer) = changed(&kept, forget(&kept, &entry(2, Some("c1"))));
    assert_eq!(text, fixture("made/forgotten.json"));
    assert!(answer.task.unwrap().stages.is_empty());
    let gone = facts(Some(&text));
    assert!(!changed(&gone, forget(&gone, &entry(2, None))).1.changed);
    let none = facts(None);
    assert!(!changed(&none, forget(&none, &entry(2, None))).1.changed);
    assert_eq!(
        code(activate(&gone, &entry(2, None))),
        (
            ErrorCode::NotRegistered,
            "the registry has no worktree of stage 2 of 'tea:shop:OK-7'".into()
        )
    );
}

#[test]
fn what_failed_at_its_beginning_leaves_nothing() {
    let new = facts(None);
    let first = BeginRequest { implementation_base: Some("eeee".into()), ..beginning(2, "c1") };
    let (text, answer) = changed(&new, begin(&new, &first));
    assert_eq!(answer.task.unwrap().implementation_base.as_deref(), Some("eeee"));
    let begun = facts(Some(&text));
    // The base stands, whoever comes later.
    let later = BeginRequest { implementation_base: Some("ffff".into()), ..beginning(3, "c2") };
    let (two, answer) = changed(&begun, begin(&begun, &later));
    assert_eq!(answer.task.unwrap().implementation_base.as_deref(), Some("eeee"));
    let undo = EntryRequest { undo: Some(true), ..entry(2, Some("c1")) };
    let both = facts(Some(&two));
    let (_, answer) = changed(&both, forget(&both, &undo));
    let task = answer.task.unwrap();
    assert_eq!((task.stages.len(), task.implementation_base.as_deref()), (1, Some("eeee")));
    let (_, answer) = changed(&begun, forget(&begun, &undo));
    let task = answer.task.unwrap();
    assert_eq!((task.stages.len(), task.implementation_base), (0, None));
    // A plain removal keeps it: the stages to come start from it.
    let (_, answer) = changed(&begun, forget(&begun, &entry(2, Some("c1"))));
    assert_eq!(answer.task.unwrap().implementation_base.as_deref(), Some("eeee"));
}

#[test]
fn who_ends_an_older_claim_does_not_end_one_that_has_begun() {
    let new = facts(None);
    let (text, _) = changed(&new, begin(&new, &beginning(2, "c1")));
    let begun = facts(Some(&text));
    assert!(matches!(keep(&begun, &entry(2, None)), Ok(Decision::Needs { .. })));
    let with = |state| RegistryFacts { processes: Some(seen(state)), ..begun.clone() };
    for (state, is_kept) in
        [(ProcessState::Alive, false), (ProcessState::Unknown, false), (ProcessState::Gone, true)]
    {
        let (_, answer) = changed(&with(state), keep(&with(state), &entry(2, None)));
        assert_eq!(answer.changed, is_kept);
    }
    let (_, answer) = changed(&begun, keep(&begun, &entry(2, Some("c1"))));
    assert_eq!(answer.task.unwrap().stages[0].state, WorktreeState::Kept);
}

#[test]
fn everything_else_keeps_its_bytes() {
    let before = fixture("odd.json");
    let odd = facts(Some(&before));
    let (text, _) = changed(&odd, begin(&odd, &beginning(3, "c3")));
    assert_eq!(text, fixture("made/odd-begun.json"));
    let after = facts(Some(&text));
    assert_eq!(changed(&after, forget(&after, &entry(3, Some("c3")))).0, before);
    let request =
        EntryRequest { task_key: "tea:shop:OK-7".into(), stage: 1, ..EntryRequest::default() };
    let (text, _) = changed(&odd, keep(&odd, &request));
    assert_eq!(text, before.replace("\"active\"", "\"kept\""));
}

#[test]
fn the_implementation_base_is_fixed_once() {
    let new = facts(None);
    let request = BaseFixRequest { task: identity(), commit: "aaaa".into() };
    let (text, answer) = changed(&new, set_implementation_base(&new, &request));
    assert_eq!(answer.task.unwrap().implementation_base.as_deref(), Some("aaaa"));
    let fixed = facts(Some(&text));
    let other = BaseFixRequest { commit: "bbbb".into(), ..request.clone() };
    let (_, answer) = changed(&fixed, set_implementation_base(&fixed, &other));
    assert!(!answer.changed);
    assert_eq!(answer.task.unwrap().implementation_base.as_deref(), Some("aaaa"));
    // `null` is none.
    let null = facts(Some(
        r#"{"tasks":[{"taskKey":"tea:shop:OK-7","implementationBase":null,"worktree":null}]}"#,
    ));
    let (text, _) = changed(&null, set_implementation_base(&null, &request));
    assert_eq!(
        text,
        r#"{"tasks":[{"taskKey":"tea:shop:OK-7","implementationBase":"aaaa","worktree":null,"projectRoot":"/p/tea","planPath":".okstra/plan.md","prefix":"feat"}],"schemaVersion":1}"#
    );
    let with = facts(Some(&text));
    let worktree = TaskWorktree { path: "/h/w".into(), branch: "feat-OK-7".into() };
    let request = TaskWorktreeRequest { task: identity(), worktree: worktree.clone() };
    let (text, answer) = changed(&with, set_task_worktree(&with, &request));
    assert_eq!(answer.task.unwrap().worktree, Some(worktree));
    let with = facts(Some(&text));
    assert_eq!(changed(&with, forget(&with, &entry(0, None))).1.task.unwrap().worktree, None);
}

#[test]
fn what_is_anothers_is_refused() {
    let new = facts(None);
    let (text, _) = changed(&new, begin(&new, &beginning(2, "c1")));
    let begun = facts(Some(&text));
    let elsewhere = TaskIdentity { project_root: "/p/copy".into(), ..identity() };
    let request = BeginRequest { task: elsewhere.clone(), ..beginning(3, "c2") };
    let words = "the task 'tea:shop:OK-7' is registered for /p/tea, not for /p/copy".to_owned();
    assert_eq!(code(begin(&begun, &request)), (ErrorCode::OtherProject, words.clone()));
    let request = BaseFixRequest { task: elsewhere, commit: "x".into() };
    assert_eq!(code(set_implementation_base(&begun, &request)), (ErrorCode::OtherProject, words));
    let other = TaskIdentity { task_key: "tea:shop:OK 7".into(), ..identity() };
    let request = BeginRequest { task: other.clone(), ..beginning(2, "c2") };
    assert_eq!(
        code(begin(&begun, &request)),
        (
            ErrorCode::WorktreeTaken,
            "the folder /h/worktrees/tea/shop/OK-7.stages/stage-2 is registered for stage 2 of \
             'tea:shop:OK-7'"
                .into()
        )
    );
    let request = BeginRequest { task: other.clone(), path: "/h/x".into(), ..beginning(2, "c2") };
    assert_eq!(
        code(begin(&begun, &request)).1,
        "the branch feat-OK-7-s2 is registered for stage 2 of 'tea:shop:OK-7'"
    );
    // Another project has its own branches.
    let other = TaskIdentity { project_root: "/p/other".into(), ..other };
    let request = BeginRequest { task: other, ..request };
    assert!(begin(&begun, &request).is_ok());
    let stranger = entry(2, Some("c9"));
    let words = "the worktree of stage 2 is registered for claim c1".to_owned();
    for decision in
        [activate(&begun, &stranger), keep(&begun, &stranger), forget(&begun, &stranger)]
    {
        assert_eq!(code(decision), (ErrorCode::WorktreeTaken, words.clone()));
    }
}

fn seen(state: ProcessState) -> Vec<ProcessFact> {
    vec![ProcessFact { pid: 7, pid_start: Some("boot-7".into()), state }]
}

#[test]
fn a_begun_worktree_is_reserved_until_its_process_is_gone() {
    let new = facts(None);
    let (text, _) = changed(&new, begin(&new, &beginning(2, "c1")));
    let begun = facts(Some(&text));
    let ask = ReservedRequest { task_key: "tea:shop:OK-7".into(), claim_id: None };
    let Ok(Decision::Needs { needs }) = reserved_stages(&begun, &ask) else {
        panic!("decided without looking");
    };
    assert_eq!((needs.processes.len(), needs.processes[0].pid), (1, 7));
    let with = |processes| RegistryFacts { processes: Some(processes), ..begun.clone() };
    let reserved = |facts: &RegistryFacts, ask: &ReservedRequest| match reserved_stages(facts, ask)
    {
        Ok(Decision::Decided { answer, .. }) => (answer.stages, answer.abandoned),
        other => panic!("{other:?}"),
    };
    for state in [ProcessState::Alive, ProcessState::Unknown] {
        assert_eq!(reserved(&with(seen(state)), &ask), (vec![2], vec![]));
        let Ok(Decision::Decided { answer, .. }) = reserved_stages(&with(seen(state)), &ask) else {
            panic!("not decided");
        };
        assert_eq!(answer.unknown.is_empty(), state == ProcessState::Alive);
        let taken = code(begin(&with(seen(state)), &beginning(2, "c2"))).1;
        assert_eq!(
            taken,
            "the worktree of stage 2 is registered for process 7 on here since 2026-03-04T05:06:07Z"
        );
    }
    assert!(matches!(begin(&begun, &beginning(2, "c2")), Ok(Decision::Needs { .. })));
    // Asked for and not answered is unknown.
    assert_eq!(reserved(&with(Vec::new()), &ask), (vec![2], vec![]));
    let gone = with(seen(ProcessState::Gone));
    assert_eq!(reserved(&gone, &ask), (vec![], vec![2]));
    let (text, _) = changed(&gone, begin(&gone, &beginning(2, "c2")));
    assert!(text.contains("\"claimId\": \"c2\"") && !text.contains("c1"));
    // Another host's process cannot be judged, and a claim's own entry is nothing to it.
    let elsewhere = RegistryFacts { host: Some("there".into()), ..begun.clone() };
    assert_eq!(reserved(&elsewhere, &ask), (vec![2], vec![]));
    let own = ReservedRequest { claim_id: Some("c1".into()), ..ask.clone() };
    assert_eq!(reserved(&begun, &own), (vec![], vec![]));
    // A ready one belongs to the ledger; a kept one is taken over where it lies.
    let (text, _) = changed(&begun, activate(&begun, &entry(2, Some("c1"))));
    let active = facts(Some(&text));
    assert_eq!(reserved(&active, &ask), (vec![], vec![]));
    assert!(begin(&active, &beginning(2, "c2")).is_ok());
    let moved = BeginRequest { path: "/elsewhere".into(), ..beginning(2, "c2") };
    assert_eq!(code(begin(&active, &moved)).0, ErrorCode::WorktreeTaken);
}

/// One edit of a random history of edits.
#[derive(Clone, Debug)]
enum Edit {
    Begin(u32),
    Activate(u32),
    Keep(u32),
    Forget(u32),
    Base,
    Task,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1_u32..5).prop_map(Edit::Begin),
        (1_u32..5).prop_map(Edit::Activate),
        (1_u32..5).prop_map(Edit::Keep),
        (0_u32..5).prop_map(Edit::Forget),
        Just(Edit::Base),
        Just(Edit::Task),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_change_what_they_name_and_nothing_else(edits in proptest::collection::vec(edit(), 0..12), compact in any::<bool>()) {
        let other = r#"{"taskKey":"a:b:c" , "extra":[1,2.50],"stages":[{"stage":1,"path":"/x","state":"kept","n":1e2}]}"#;
        let start = if compact {
            format!(r#"{{"x":0,"tasks":[{other}]}}"#)
        } else {
            format!("{{\n  \"x\": 0,\n  \"tasks\": [\n    {other}\n  ]\n}}\n")
        };
        let mut text = start;
        for edit in edits {
            let now = RegistryFacts { processes: Some(seen(ProcessState::Alive)), ..facts(Some(&text)) };
            let before = read(&now).unwrap();
            let stage = |stage: u32| before.stage("tea:shop:OK-7", stage).cloned();
            let decision = match edit {
                Edit::Begin(number) => begin(&now, &beginning(number, "c1")),
                Edit::Activate(number) | Edit::Keep(number) if stage(number).is_none() => continue,
                Edit::Activate(number) => activate(&now, &entry(number, Some("c1"))),
                Edit::Keep(number) => keep(&now, &entry(number, Some("c1"))),
                Edit::Forget(number) => forget(&now, &entry(number, Some("c1"))),
                Edit::Base => set_implementation_base(&now, &BaseFixRequest { task: identity(), commit: "f".into() }),
                Edit::Task => set_task_worktree(&now, &TaskWorktreeRequest {
                    task: identity(),
                    worktree: TaskWorktree { path: "/h/t".into(), branch: "feat-OK-7".into() },
                }),
            };
            let (after, answer) = changed(&now, decision);
            prop_assert!(after.contains(other), "{after}");
            let registry = read(&facts(Some(&after))).unwrap();
            prop_assert_eq!(registry.tasks.first(), before.tasks.first());
            prop_assert_eq!(registry.task("tea:shop:OK-7").cloned(), answer.task);
            match edit {
                Edit::Begin(number) => prop_assert_eq!(registry.stage("tea:shop:OK-7", number).map(|it| it.state), Some(WorktreeState::Provisioning)),
                Edit::Activate(number) => prop_assert_eq!(registry.stage("tea:shop:OK-7", number).map(|it| it.state), Some(WorktreeState::Active)),
                Edit::Keep(number) => prop_assert_eq!(registry.stage("tea:shop:OK-7", number).map(|it| it.state), Some(WorktreeState::Kept)),
                Edit::Forget(number) => prop_assert!(registry.stage("tea:shop:OK-7", number).is_none()),
                Edit::Base | Edit::Task => {}
            }
            text = after;
        }
    }
}
