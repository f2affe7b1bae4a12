//! Whatever happens to a task, its outcome is what its evidence says.
use okstra_core::stage::{
    ClaimRequest, Decision, DoneRequest, Effect, OutcomeAnswer, OutcomeRequest, claim, done,
    outcome,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{CARRY, Disk, LEDGER, evidence, facts_of, on, plan, seen, worker_result};

const TASK: &str = "/p/.okstra/tasks/g/i";
const MANIFEST: &str = "/p/.okstra/tasks/g/i/task-manifest.json";
const CATALOG: &str = "/p/.okstra/discovery/task-catalog.json";
const STAGES: u32 = 3;

/// Something that happens.
#[derive(Clone, Debug)]
enum Step {
    Claim,
    Done(u32),
    /// The evidence says from now on that the stage failed.
    Fail(u32),
    /// The evidence is gone.
    Lose(u32),
    /// A row says that the stage is done.
    Row(u32),
    /// Half a row at the end of the ledger.
    Torn,
    /// The ledger is gone.
    NoLedger,
    Reconcile,
}

fn any_step() -> impl Strategy<Value = Step> {
    let stage = || 1..=STAGES;
    prop_oneof![
        4 => Just(Step::Claim),
        6 => stage().prop_map(Step::Done),
        1 => stage().prop_map(Step::Fail),
        1 => stage().prop_map(Step::Lose),
        1 => stage().prop_map(Step::Row),
        1 => Just(Step::Torn),
        1 => Just(Step::NoLedger),
        3 => Just(Step::Reconcile),
    ]
}

struct World {
    disk: Disk,
    plan: String,
}

impl World {
    fn new() -> Self {
        let mut disk = Disk::default();
        let manifest =
            json!({ "taskKey": "p:g:i", "workflow": { "currentPhase": "implementation" } });
        let catalog = json!({ "tasks": [{ "taskKey": "p:g:i" }] });
        disk.files.insert(MANIFEST.into(), manifest.to_string().into_bytes());
        disk.files.insert(CATALOG.into(), catalog.to_string().into_bytes());
        Self { disk, plan: plan(&[on(&[]), on(&[1]), on(&[1])]) }
    }

    fn text(&self, path: &str) -> Option<String> {
        self.disk.files.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Carries out the first of the effects: the rest is lost in a crash.
    fn carry_out(&mut self, effects: &[Effect], most: usize) {
        for effect in effects.iter().take(most) {
            if let Effect::Replace { path, text, if_unchanged } = effect {
                assert_eq!(self.text(path), *if_unchanged);
                self.disk.files.insert(path.clone(), text.clone().into_bytes());
            } else {
                self.disk.carry_out(effect, None);
            }
        }
    }

    fn outcome(&self, reconcile: bool) -> (Vec<Effect>, OutcomeAnswer) {
        let facts = self.disk.facts(facts_of("a"));
        let request = OutcomeRequest {
            task_root: Some(TASK.into()),
            okstra_root: "/p/.okstra".into(),
            planning: true,
            manifest: self.text(MANIFEST),
            catalog: self.text(CATALOG),
            reports: Vec::new(),
            reconcile,
        };
        match outcome(self.plan.as_bytes(), &self.disk.ledger(), &facts, &request).unwrap() {
            Decision::Decided { effects, answer, .. } => (effects, answer),
            Decision::Needs { needs } => panic!("asks for {needs:?}"),
        }
    }

    fn step(&mut self, step: &Step, most: usize) {
        let mut facts = self.disk.facts(facts_of("a"));
        facts.sightings = Some(seen());
        let (text, ledger) = (self.plan.clone(), self.disk.ledger());
        let file = |stage: &u32| format!("{CARRY}/stage-{stage}.json");
        match step {
            Step::Claim => {
                let count = self.disk.ledger().len();
                let request = ClaimRequest {
                    stage: "auto".into(),
                    claim_id: format!("c{count}"),
                    ..ClaimRequest::default()
                };
                if let Ok(Decision::Decided { effects, .. }) =
                    claim(text.as_bytes(), &ledger, &facts, &request)
                {
                    self.carry_out(&effects, most);
                }
            }
            Step::Done(stage) => {
                let request = DoneRequest {
                    stage: Some(*stage),
                    name: "result.md".into(),
                    evidence: worker_result(&evidence(*stage)),
                    ..DoneRequest::default()
                };
                if let Ok(Decision::Decided { effects, .. }) =
                    done(text.as_bytes(), &ledger, &facts, &request)
                {
                    self.carry_out(&effects, most);
                }
            }
            Step::Fail(stage) => {
                if let Some(bytes) = self.disk.files.get_mut(&file(stage)) {
                    let mut value = evidence(*stage);
                    value["status"] = Value::from("failed");
                    *bytes = value.to_string().into_bytes();
                }
            }
            Step::Lose(stage) => {
                self.disk.files.remove(&file(stage));
            }
            Step::Row(stage) => {
                let row = json!({
                    "impl_task_key": "p:g:i", "stage": stage, "status": "done",
                    "head_commit": "bbbbbbb", "completed_at": "2026-03-01T00:00:00Z",
                });
                let effect = Effect::Append { path: LEDGER.into(), line: row.to_string() };
                self.disk.carry_out(&effect, None);
            }
            Step::Torn => {
                let row = String::from("{\"impl_task_key\":\"p:g:i\",\"stage\":1,\"sta");
                let half = Effect::Append { path: LEDGER.into(), line: row };
                self.disk.carry_out(&half, Some(20));
            }
            Step::NoLedger => {
                self.disk.files.remove(LEDGER);
            }
            Step::Reconcile => {
                let (effects, _) = self.outcome(true);
                self.carry_out(&effects, most);
            }
        }
    }

    /// The stages whose evidence says that they passed.
    fn passed(&self) -> Vec<u32> {
        let is_pass = |stage: &u32| {
            self.text(&format!("{CARRY}/stage-{stage}.json"))
                .is_some_and(|text| !text.contains("\"failed\""))
        };
        (1..=STAGES).filter(is_pass).collect()
    }

    /// The state of the implementation by the records.
    fn recorded(&self) -> [Option<String>; 2] {
        let state = |value: &Value| {
            Some(
                value
                    .get("phaseOutcome")?
                    .get("implementation")?
                    .get("state")?
                    .as_str()?
                    .to_owned(),
            )
        };
        let json = |path| serde_json::from_str::<Value>(&self.text(path).unwrap()).unwrap();
        [state(&json(MANIFEST)), state(&json(CATALOG)["tasks"][0])]
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn it_is_complete_exactly_when_every_stage_has_pass_grade_evidence(
        steps in proptest::collection::vec((any_step(), prop_oneof![3 => Just(usize::MAX), 1 => 0_usize..4]), 1..40),
    ) {
        let mut world = World::new();
        for (step, most) in &steps {
            let before = world.recorded();
            world.step(step, *most);
            let all = world.passed().len() == STAGES as usize;
            let (_, answer) = world.outcome(false);
            prop_assert_eq!(answer.completed, all, "{:?}", &answer);
            prop_assert!(!answer.recorded);
            // Nothing is recorded that does not hold in that moment.
            for (was, is) in before.iter().zip(world.recorded()) {
                prop_assert!(*was == is || all);
            }
        }
        // Once all have their evidence, it is complete, and one call records it.
        for stage in 1..=STAGES {
            let text = evidence(stage).to_string().into_bytes();
            world.disk.files.insert(format!("{CARRY}/stage-{stage}.json"), text);
        }
        world.step(&Step::Reconcile, usize::MAX);
        prop_assert_eq!(world.recorded(), [Some("completed".to_owned()), Some("completed".to_owned())]);
        let (effects, answer) = world.outcome(true);
        prop_assert!(answer.completed && effects.is_empty(), "{:?}", effects);
    }
}
