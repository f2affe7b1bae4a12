//! Every path through the machine, in a small world that has one of everything.

use std::collections::{BTreeMap, BTreeSet};

use super::steps::{STEPS, Step};
use super::{
    Question, QuestionKind, WizardAnswer, WizardBranches, WizardFacts, WizardFile, WizardNeed,
    WizardNeedKind, WizardPlan, WizardPlans, WizardProject, WizardRequest, WizardStage,
    WizardStages, WizardTask, WizardTasks, ask_wizard,
};
use crate::lead::Language;

fn request() -> WizardRequest {
    WizardRequest {
        state: None,
        language: Language::En,
        project_root: None,
        project_id: None,
        answer: None,
        step: None,
        back: false,
        to: None,
        finish: false,
    }
}

fn text(text: &str) -> String {
    text.to_owned()
}

const REPORT: &str = "final-report-implementation-planning";

/// A host: `/shop` has two tasks, plans of every kind and git; `/new` has nothing at all.
fn look(facts: &mut WizardFacts, need: &WizardNeed) {
    let (root, about) = (need.root.clone(), need.about.clone());
    match need.kind {
        WizardNeedKind::Project => {
            let known = |asked: &str, root: &str, id: Option<&str>| WizardProject {
                asked: text(asked),
                root: text(root),
                id: id.map(text),
                there: ["/shop", "/new"].contains(&root),
                okstra_root: format!("{root}/.okstra"),
            };
            if about.is_empty() {
                facts.projects.push(known("", "/shop", Some("shop")));
                facts.projects.push(known("", "/new", None));
            } else {
                facts.projects.push(known(&about, &about, None));
            }
        }
        WizardNeedKind::Tasks => {
            let task = |key: &str, next: &str, day: u32| WizardTask {
                task_key: text(key),
                title: Some(text("\u{1b}[31m로그인 🔑")),
                phase: Some(text("implementation-planning")),
                next_phase: Some(text(next)),
                latest_report: Some(text("r.md")),
                updated_at: Some(format!("2026-01-0{day}T00:00:00.000Z")),
            };
            let tasks = [
                task("shop:web:logout", "pending-routing-decision", 1),
                task("shop:web:login", "implementation", 2),
            ];
            let tasks = if root == "/shop" { tasks.to_vec() } else { Vec::new() };
            facts.tasks.push(WizardTasks { root, tasks });
        }
        WizardNeedKind::Branches => {
            let has_git = root == "/shop";
            let branches = if has_git { vec![text("main"), text("-odd")] } else { Vec::new() };
            let current = has_git.then(|| text("main"));
            let fixed = about == "shop:web:logout";
            facts.branches.push(WizardBranches { root, about, branches, current, fixed });
        }
        WizardNeedKind::Plans => {
            let plan = |number: u32, approved, held, errors| WizardPlan {
                path: format!("{REPORT}-{number}.md"),
                approved,
                held,
                errors,
                task_root: Some(text("/shop/.okstra/tasks/web/login")),
            };
            let others = text("/shop/.okstra/tasks/web/logout");
            let all = [
                WizardPlan { task_root: Some(others), ..plan(5, true, false, 0) },
                plan(4, true, false, 0),
                plan(3, false, false, 0),
                plan(2, false, true, 0),
                plan(1, true, false, 2),
            ];
            let plans = if about == "shop:web:login" { all.to_vec() } else { Vec::new() };
            facts.plans.push(WizardPlans { root, about, plans });
        }
        WizardNeedKind::Plan => {
            let plan = WizardPlan { path: about.clone(), approved: true, ..WizardPlan::default() };
            let plans = if about == "own.md" { vec![plan] } else { Vec::new() };
            facts.plans.push(WizardPlans { root, about, plans });
        }
        WizardNeedKind::Stages => {
            let stage = |number: u32, state: &str, why: Option<&str>| WizardStage {
                stage: number,
                title: format!("Stage\u{7} {number}"),
                depends_on: (1..number).collect(),
                steps: 2,
                state: text(state),
                waits_for: vec![1],
                not_eligible: why.map(text),
            };
            let stages = if about == "own.md" {
                // Nothing of it is left to do, and nothing may be handed over.
                vec![stage(1, "pr", Some("it is in pull request #7"))]
            } else {
                vec![
                    stage(1, "done", None),
                    stage(2, "running", Some("it is being built")),
                    stage(3, "ready", Some("it is not done")),
                    stage(4, "waiting", Some("it is not done")),
                ]
            };
            let task_key = need.task_key.clone();
            facts.stages.push(WizardStages { root, about, task_key, stages });
        }
        WizardNeedKind::File => {
            let there = about == "brief.md";
            facts.files.push(WizardFile { root, about, there });
        }
    }
}

/// An answer of the machine, in the parts that tests look at.
#[derive(Clone)]
struct Turn {
    state: String,
    question: Question,
    summary: Vec<(String, String)>,
    argv: Vec<String>,
}

fn turn(facts: &mut WizardFacts, request: &WizardRequest) -> Turn {
    for _ in 0..100 {
        match ask_wizard(facts, request) {
            Ok(WizardAnswer::Needs { need }) => look(facts, &need),
            Ok(WizardAnswer::Asked { state, question, summary, run, .. }) => {
                let summary = summary.into_iter().map(|line| (line.step, line.value)).collect();
                let argv = run.map(|run| run.argv).unwrap_or_default();
                return Turn { state, question, summary, argv };
            }
            Err(error) => unreachable!("{error}"),
        }
    }
    unreachable!("the same is asked for again and again")
}

fn on(state: &str) -> WizardRequest {
    WizardRequest { state: Some(text(state)), ..request() }
}

fn answering(state: &str, answer: &[String]) -> WizardRequest {
    WizardRequest { answer: Some(answer.to_vec()), ..on(state) }
}

/// Answers that a question takes: few of each kind, so that the paths can be counted.
fn answers(turn: &Turn) -> Vec<Vec<String>> {
    let question = &turn.question;
    let has = |step: &str, value: &str| {
        turn.summary.iter().any(|(of, answer)| of == step && answer == value)
    };
    let one = |value: &str| vec![text(value)];
    let free = || question.options.iter().filter(|it| it.disabled.is_none());
    match (question.kind, question.step.as_str()) {
        (QuestionKind::Done, _) => Vec::new(),
        (QuestionKind::Confirm, _) => vec![one("yes"), one("no")],
        (QuestionKind::Multi, "related_tasks") if has("critic", "codex") => vec![Vec::new()],
        (QuestionKind::Multi, _) => {
            let mut all: Vec<Vec<String>> = free().take(1).map(|it| one(&it.value)).collect();
            if question.optional {
                all.push(Vec::new());
            }
            all
        }
        (QuestionKind::Text, "models") if has("critic", "codex") => vec![one("codex=gpt-5")],
        (QuestionKind::Text, "models") => vec![one(""), one("claude=opus")],
        (QuestionKind::Text, _) => vec![one("a b")],
        (QuestionKind::Pick, "approved_plan") => {
            let mut all: Vec<_> = free().map(|it| one(&it.value)).collect();
            all.push(one("own.md"));
            all
        }
        (QuestionKind::Pick, "brief") => vec![one("brief.md")],
        (QuestionKind::Pick, "executor") => vec![one("claude")],
        (QuestionKind::Pick, "critic") => vec![one("none"), one("codex")],
        (QuestionKind::Pick, _) => free().map(|it| one(&it.value)).collect(),
    }
}

/// The state without where one has gone back to.
fn answered(turn: &Turn) -> &[(String, String)] {
    &turn.summary
}

#[test]
fn every_path_leads_to_the_end_and_back() {
    let mut facts = WizardFacts::default();
    let start = turn(&mut facts, &request());
    let mut seen: BTreeMap<String, Turn> = BTreeMap::new();
    let mut leads_to: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut open = vec![start];
    let mut runs: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut stuck = BTreeSet::new();
    while let Some(now) = open.pop() {
        if seen.contains_key(&now.state) {
            continue;
        }
        seen.insert(now.state.clone(), now.clone());
        // Asking again changes nothing.
        let again = turn(&mut facts, &on(&now.state));
        assert_eq!((&again.state, &again.question), (&now.state, &now.question));
        assert!(again.question.error.is_none());

        let mut next: Vec<Turn> = Vec::new();
        let taken = answers(&now);
        for answer in &taken {
            let then = turn(&mut facts, &answering(&now.state, answer));
            assert_eq!(then.question.error, None, "{:?} {answer:?}", now.question);
            next.push(then);
        }
        // Only an end, and a plan without a stage to choose, take no answer.
        if taken.is_empty() && now.question.kind != QuestionKind::Done {
            stuck.insert(now.question.step.clone());
            assert!(now.question.label.contains("Go back"), "{:?}", now.question);
        }
        let back = turn(&mut facts, &WizardRequest { back: true, ..on(&now.state) });
        if now.question.step == "project" {
            assert!(back.question.error.is_some());
        } else {
            assert_eq!(back.question.error, None, "{:?}", now.question);
            assert_eq!(answered(&back), answered(&now), "going back changes no answer");
            let forth = turn(&mut facts, &answering(&back.state, &back.question.default));
            assert_eq!(forth.question, now.question, "from {:?}", back.question);
            assert_eq!(answered(&forth), answered(&now));
            next.push(back);
        }
        // Whoever comes back here from the end has confirmed already.
        if now.question.step == "confirmation" && !now.state.contains("\"confirmation\": [") {
            for (step, _) in answered(&now) {
                let to = WizardRequest { to: Some(step.clone()), ..on(&now.state) };
                let to = turn(&mut facts, &to);
                assert_eq!(&to.question.step, step);
                let same = turn(&mut facts, &answering(&to.state, &to.question.default));
                assert_eq!(same.state, now.state, "the same answer to {step} changes nothing");
            }
        }
        // What cannot be chosen, or is nothing at all, is refused and changes nothing.
        let disabled = now.question.options.iter().filter(|it| it.disabled.is_some());
        let wrong = disabled.map(|it| it.value.clone()).chain([text("\u{7}")]);
        for value in wrong {
            let refused = turn(&mut facts, &answering(&now.state, std::slice::from_ref(&value)));
            assert!(refused.question.error.is_some(), "{value:?} to {:?}", now.question);
            let repeated = Question { error: None, ..refused.question };
            assert_eq!((&refused.state, &repeated), (&now.state, &now.question));
        }
        // Nothing that steers a terminal is shown.
        let shown = now.question.options.iter().map(|it| &it.label).chain([&now.question.label]);
        for label in shown {
            assert!(!label.chars().any(|ch| ch.is_control() && ch != '\n'), "{label:?}");
        }
        if now.question.kind == QuestionKind::Done {
            check_run(&now);
            runs.insert(now.argv.clone());
        }
        leads_to.insert(now.state.clone(), next.iter().map(|it| it.state.clone()).collect());
        open.extend(next);
    }

    // Backwards from the ends: whatever is not met leads to none of them.
    let mut met: BTreeSet<&String> = BTreeSet::new();
    let ends = seen.values().filter(|it| it.question.kind == QuestionKind::Done);
    let mut edge: Vec<&String> = ends.map(|it| &it.state).collect();
    let mut comes_from: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
    for (from, all) in &leads_to {
        for to in all {
            comes_from.entry(to).or_default().push(from);
        }
    }
    while let Some(state) = edge.pop() {
        if met.insert(state) {
            edge.extend(comes_from.get(state).into_iter().flatten());
        }
    }
    let lost: Vec<&String> = seen.keys().filter(|state| !met.contains(state)).collect();
    assert!(lost.is_empty(), "{} of {} lead nowhere: {lost:#?}", lost.len(), seen.len());
    assert_eq!(stuck, BTreeSet::from([text("stage_pick"), text("handoff_stages")]));
    let asked: BTreeSet<&str> = seen.values().map(|it| it.question.step.as_str()).collect();
    assert_eq!(asked.len(), STEPS.len() + 1, "every question is asked: {asked:?}");
    assert!(seen.len() > 1000 && runs.len() > 100, "{} states, {} runs", seen.len(), runs.len());
}

/// Every argument of a run is owned by a question that was answered.
fn check_run(turn: &Turn) {
    let steps: Vec<Step> = turn.summary.iter().filter_map(|(step, _)| Step::of(step)).collect();
    let mut words = turn.argv.iter();
    assert_eq!(words.next().map(String::as_str), Some("run"));
    let mut names = BTreeSet::new();
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").unwrap_or_else(|| unreachable!("{:?}", turn.argv));
        let (name, tied) = name.split_once('=').map_or((name, false), |(name, _)| (name, true));
        assert!(names.insert(name), "{name} twice");
        // The project's own id is nobody's answer.
        let owned = name == "project-id" || steps.iter().any(|step| step.owns().contains(&name));
        assert!(owned, "{name} belongs to no answer of {:?}", turn.summary);
        if name != "approve" && !tied {
            assert!(words.next().is_some_and(|value| !value.starts_with('-')), "{:?}", turn.argv);
        }
    }
    for needed in ["task-type", "task-group", "task-id", "project-root", "project-id"] {
        assert!(names.contains(needed), "{needed} is missing from {:?}", turn.argv);
    }
}

/// Answers one question after the other.
fn walk(facts: &mut WizardFacts, all: &[(&str, &str)]) -> Turn {
    let mut now = turn(facts, &request());
    for (step, answer) in all {
        assert_eq!((now.question.step.as_str(), &now.question.error), (*step, &None));
        let values: Vec<String> =
            if answer.is_empty() { Vec::new() } else { answer.split(',').map(text).collect() };
        now = turn(facts, &answering(&now.state, &values));
    }
    now
}

const TO_THE_STAGE: [(&str, &str); 6] = [
    ("project", "/shop"),
    ("task", "shop:web:login"),
    ("task_type", "implementation"),
    ("base_branch", "-odd"),
    ("approved_plan", "final-report-implementation-planning-3.md"),
    ("approve", "yes"),
];

#[test]
fn the_stages_and_what_comes_of_them() {
    let mut facts = WizardFacts::default();
    let now = walk(&mut facts, &TO_THE_STAGE);
    let Question { step, kind, label, options, .. } = &now.question;
    assert_eq!((step.as_str(), *kind), ("stage_pick", QuestionKind::Pick));
    assert_eq!(label, "Which stage is to be built?");
    let options: Vec<_> = options
        .iter()
        .map(|it| (it.value.as_str(), it.label.as_str(), it.disabled.as_deref()))
        .collect();
    assert_eq!(
        options,
        [
            ("auto", "auto: the first stage that is ready", None),
            ("1", "1: Stage 1  [depends-on: (none) | steps: 2]  (done)", Some("done")),
            ("2", "2: Stage 2  [depends-on: 1 | steps: 2]  (running)", Some("running")),
            ("3", "3: Stage 3  [depends-on: 1, 2 | steps: 2]", None),
            (
                "4",
                "4: Stage 4  [depends-on: 1, 2, 3 | steps: 2]  (waits for 1)",
                Some("waits for 1")
            ),
        ]
    );
    let rest = [("stage_pick", "3"), ("executor", "codex"), ("critic", "claude")];
    let rest = [
        ("models", "claude=opus, codex=gpt-5"),
        ("related_tasks", "shop:web:logout"),
        ("confirmation", "Yes"),
    ]
    .iter()
    .fold(rest.to_vec(), |mut all, it| {
        all.push(*it);
        all
    });
    let mut now = now;
    for (step, answer) in rest {
        assert_eq!((now.question.step.as_str(), &now.question.error), (step, &None));
        now = turn(&mut facts, &answering(&now.state, &[text(answer)]));
    }
    assert_eq!(now.question.kind, QuestionKind::Done);
    assert_eq!(
        now.argv.join(" "),
        "run --task-type implementation --task-group web --task-id login --project-root /shop \
         --project-id shop --approved-plan /shop/final-report-implementation-planning-3.md \
         --approve --stage 3 --base-branch=-odd --executor codex --critic claude \
         --models claude=opus,codex=gpt-5 --related-tasks shop:web:logout"
    );
}

#[test]
fn what_others_do_meanwhile_is_asked_anew() {
    let mut facts = WizardFacts::default();
    let now = walk(&mut facts, &TO_THE_STAGE);
    let now = turn(&mut facts, &answering(&now.state, &[text("3")]));
    assert_eq!(now.question.step, "executor");
    // Somebody else takes the stage.
    for stage in facts.stages.iter_mut().flat_map(|it| &mut it.stages) {
        if stage.stage == 3 {
            stage.state = text("running");
        }
    }
    let now = turn(&mut facts, &answering(&now.state, &[text("codex")]));
    assert_eq!(now.question.step, "stage_pick");
    assert_eq!(
        now.question.error.as_deref(),
        Some("Stage: '3' does not hold any more: '3' cannot be chosen: running")
    );
    let again = turn(&mut facts, &on(&now.state));
    assert_eq!(again.question.error, None, "it is said once");
}

#[test]
fn an_answer_is_for_its_question() {
    let mut facts = WizardFacts::default();
    let now = turn(&mut facts, &request());
    let late =
        WizardRequest { step: Some(text("task")), ..answering(&now.state, &[text("/shop")]) };
    let refused = turn(&mut facts, &late);
    assert_eq!(refused.question.error.as_deref(), Some("the question is 'project', not 'task'"));
    assert_eq!(refused.state, now.state);
    let unfinished = turn(&mut facts, &WizardRequest { finish: true, ..on(&now.state) });
    assert_eq!(unfinished.question.error.as_deref(), Some("this is to be answered first"));
}

#[test]
fn lists_that_could_be_misread_are_written_as_json() {
    let mut facts = WizardFacts::default();
    walk(&mut facts, &TO_THE_STAGE[..2]);
    if let Some(task) = facts.tasks.iter_mut().flat_map(|it| &mut it.tasks).next() {
        task.task_key = text("shop:web:log,out");
    }
    let now = walk(
        &mut facts,
        &[
            ("project", "/shop"),
            ("task", "shop:web:login"),
            ("task_type", "error-analysis"),
            ("brief", "none"),
            ("workers", "gemini,claude"),
            ("critic", "none"),
            ("models", ""),
        ],
    );
    let now = turn(&mut facts, &answering(&now.state, &[text("shop:web:log,out")]));
    let now = turn(&mut facts, &answering(&now.state, &[text("yes")]));
    assert_eq!(
        now.argv.join(" "),
        "run --task-type error-analysis --task-group web --task-id login --project-root /shop \
         --project-id shop --workers claude,gemini --related-tasks [\"shop:web:log,out\"]"
    );
}

#[test]
fn what_is_given_at_the_beginning() {
    let mut facts = WizardFacts::default();
    let begin = |root: &str, id: &str| WizardRequest {
        project_root: Some(text(root)),
        project_id: Some(text(id)),
        ..request()
    };
    let same = turn(&mut facts, &begin("/shop", "shop"));
    assert_eq!((same.question.step.as_str(), same.question.error), ("task", None));
    let other = turn(&mut facts, &begin("/shop", "tea"));
    assert_eq!(other.question.step, "task");
    assert_eq!(other.question.error.as_deref(), Some("this project is 'shop', not 'tea'"));
    let new = turn(&mut facts, &begin("/new", "tea"));
    assert_eq!((new.question.step.as_str(), new.question.error), ("task_group", None));
    // Also where the project is asked for.
    let id = WizardRequest { project_id: Some(text("tea")), ..request() };
    let first = turn(&mut facts, &id);
    let new = turn(&mut facts, &answering(&first.state, &[text("/new")]));
    assert_eq!((new.question.step.as_str(), new.question.error), ("task_group", None));
    let nowhere = turn(&mut facts, &begin("/nowhere", "tea"));
    assert_eq!(nowhere.question.step, "project");
    assert_eq!(
        nowhere.question.error.as_deref(),
        Some("Project: '/nowhere' does not hold any more: there is no folder /nowhere")
    );
}

#[test]
fn what_belongs_to_another_task_is_refused_at_once() {
    let mut facts = WizardFacts::default();
    let now = walk(&mut facts, &TO_THE_STAGE[..4]);
    let first = now.question.options.first().and_then(|it| it.disabled.as_deref());
    assert_eq!(
        first,
        Some("it belongs to another task, the one in /shop/.okstra/tasks/web/logout")
    );
    let own = format!("{REPORT}-5.md");
    let refused = turn(&mut facts, &answering(&now.state, &[own]));
    assert!(refused.question.error.is_some_and(|error| error.contains("another task")));
    // Two ids with one folder.
    if let Some(task) = facts.tasks.iter_mut().flat_map(|it| &mut it.tasks).next() {
        task.task_key = text("shop:web:log/out");
    }
    let mut now = turn(&mut facts, &request());
    for answer in ["/shop", "new", "web"] {
        now = turn(&mut facts, &answering(&now.state, &[text(answer)]));
    }
    for (id, error) in [
        (
            "log-out",
            Some("its folder would be that of the task shop:web:log/out; give it another name"),
        ),
        ("login", Some("the task shop:web:login is there already; go back and choose it")),
        ("logoff", None),
    ] {
        let next = turn(&mut facts, &answering(&now.state, &[text(id)]));
        assert_eq!(next.question.error.as_deref(), error, "{id}");
    }
}

#[test]
fn long_paths_keep_their_end() {
    let long = format!("{}/reports/plan-002.md", "a/".repeat(60));
    assert_eq!(super::short_path("/a/b\u{1b}.md"), "/a/b.md");
    let short = super::short_path(&long);
    assert!(short.starts_with("…/a/") && short.ends_with("/reports/plan-002.md"), "{short}");
    assert!(short.chars().count() <= 74, "{short}");
    let wide = "한".repeat(100);
    assert_eq!(super::short_path(&wide), format!("…/{}", "한".repeat(72)));
}
