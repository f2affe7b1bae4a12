//! The life of stages under any sequence of requests and crashes by several sessions.
//!
//! A crash carries out the effects of a decision only up to a point, and may cut the row that is
//! written last. What must hold is checked after every step on the files alone.
use std::collections::{BTreeMap, BTreeSet};

use okstra_core::choose::{Explanation, Order, Readiness};
use okstra_core::claims::{Caller, Needs, ProcessFact, ProcessState, Sightings, SignOfLife};
use okstra_core::error::OkstraError;
use okstra_core::evidence;
use okstra_core::stage::{
    ClaimAnswer, ClaimRequest, Decision, DoneRequest, Effect, Facts, NextRequest, PrRequest,
    ReleaseRequest, StageState, VerifyRequest, claim, done, list, next, pull_request, release,
    verify,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{CARRY, Disk, Spec, evidence as given, facts, plan, worker_result};

/// What a session does.
#[derive(Clone, Debug)]
enum Step {
    Claim {
        who: usize,
        wish: Option<u32>,
        order: Order,
        reclaim: bool,
    },
    /// `named` gives the id of the claim, as the session knows it; else only the session speaks.
    Done {
        who: usize,
        stage: u32,
        named: bool,
        broken: bool,
        force: bool,
    },
    Release {
        who: usize,
        stage: u32,
        force: bool,
    },
    Verify {
        stage: u32,
        verdict: &'static str,
    },
    Pr {
        stages: Vec<u32>,
    },
    /// The process ends. Its session may act again all the same: a revived agent.
    Kill {
        who: usize,
    },
    Wait {
        minutes: i64,
    },
}

/// How far the effects of a step come: so many, and so much of the line behind them.
type Crash = Option<(usize, usize)>;

/// A session as it sees itself.
#[derive(Clone, Debug)]
struct Session {
    caller: Caller,
    gone: bool,
    /// When it acted last, in minutes.
    acted: i64,
    /// The claims it was told of.
    claims: BTreeMap<u32, String>,
}

struct World {
    specs: Vec<Spec>,
    plan: String,
    disk: Disk,
    sessions: Vec<Session>,
    /// Minutes.
    now: i64,
    ids: u32,
}

fn time(minutes: i64) -> String {
    format!("2026-03-{:02}T{:02}:{:02}:00Z", 1 + minutes / 1440, minutes / 60 % 24, minutes % 60)
}

/// What the rows of the ledger say of a stage, read without the core.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The id and the session of the claim that holds it.
    held: Option<(String, Option<String>)>,
    done: bool,
}

impl World {
    fn new(specs: Vec<Spec>) -> Self {
        let caller = |name: &str, host: &str, pid: Option<u32>| Caller {
            claim_id: None,
            session: Some(name.into()),
            host: Some(host.into()),
            pid,
            pid_start: pid.map(|pid| format!("start-{pid}")),
        };
        let callers = [
            caller("ada", "here", Some(11)),
            caller("bob", "here", Some(12)),
            caller("cy", "there", Some(11)),
            caller("di", "here", None),
        ];
        let session = |caller| Session { caller, gone: false, acted: 0, claims: BTreeMap::new() };
        Self {
            plan: plan(&specs),
            specs,
            disk: Disk::default(),
            sessions: callers.into_iter().map(session).collect(),
            now: 0,
            ids: 0,
        }
    }

    fn facts(&self, caller: &Caller) -> Facts {
        self.disk.facts(Facts { caller: caller.clone(), now: time(self.now), ..facts() })
    }

    /// What the host sees, which is asked for on this host.
    fn look(&self, needs: &Needs) -> Sightings {
        let of = |pid: u32| {
            let session = self
                .sessions
                .iter()
                .find(|it| it.caller.pid == Some(pid) && it.caller.host.as_deref() == Some("here"));
            match session {
                Some(session) if session.gone => ProcessState::Gone,
                Some(_) => ProcessState::Alive,
                None => ProcessState::Unknown,
            }
        };
        let processes = needs.processes.iter().map(|asked| ProcessFact {
            pid: asked.pid,
            pid_start: asked.pid_start.clone(),
            state: of(asked.pid),
        });
        let signs = self.sessions.iter().filter_map(|it| {
            let session = it.caller.session.clone()?;
            let asked = needs.sessions.contains(&session) && it.acted > 0;
            asked.then(|| SignOfLife { session, at: time(it.acted), process: None })
        });
        Sightings { processes: processes.collect(), sessions: signs.collect() }
    }

    /// Asks, looks where the core wants to know more, and asks once more.
    fn ask<T>(
        &self,
        caller: &Caller,
        request: &dyn Fn(&Facts) -> Result<Decision<T>, OkstraError>,
    ) -> Result<(Vec<Effect>, T), OkstraError> {
        let mut facts = self.facts(caller);
        let first = request(&facts)?;
        let second = match first {
            Decision::Needs { needs } => {
                facts.sightings = Some(self.look(&needs));
                request(&facts)?
            }
            decided @ Decision::Decided { .. } => decided,
        };
        match second {
            Decision::Decided { effects, answer, .. } => Ok((effects, answer)),
            Decision::Needs { needs } => panic!("asked twice: {needs:?}"),
        }
    }

    /// Whether the process of a session can be seen to be gone from where a caller is.
    fn is_gone(&self, session: Option<&str>, caller: &Caller) -> bool {
        let holder =
            self.sessions.iter().find(|it| it.caller.session.as_deref() == session).unwrap();
        holder.gone && holder.caller.pid.is_some() && holder.caller.host == caller.host
    }

    fn carry_out(&mut self, effects: &[Effect], crash: Crash) {
        let (whole, torn) = crash.unwrap_or((effects.len(), 0));
        for effect in effects.iter().take(whole) {
            self.disk.carry_out(effect, None);
        }
        if let Some(effect @ Effect::Append { .. }) = effects.get(whole) {
            self.disk.carry_out(effect, Some(torn));
        }
    }

    /// What the rows say, if they break no rule.
    fn known(&self) -> BTreeMap<u32, Known> {
        let mut known: BTreeMap<u32, Known> = BTreeMap::new();
        let ledger = self.disk.ledger();
        for line in ledger.split(|byte| *byte == b'\n') {
            let Ok(row) = serde_json::from_slice::<Value>(line) else { continue };
            let stage = u32::try_from(row["stage"].as_u64().unwrap()).unwrap();
            let id = row["claim_id"].as_str().unwrap_or_default().to_owned();
            let done: BTreeSet<u32> =
                known.iter().filter(|(_, it)| it.done).map(|(stage, _)| *stage).collect();
            let it = known.entry(stage).or_default();
            match row["status"].as_str().unwrap() {
                "started" => {
                    let spec = &self.specs[stage as usize - 1];
                    assert!(it.held.is_none() && !it.done, "stage {stage} is started twice");
                    assert!(!spec.cancelled, "stage {stage} is cancelled");
                    assert!(
                        spec.depends_on.iter().all(|on| done.contains(on)),
                        "{stage} too early"
                    );
                    it.held = Some((id, row["session"].as_str().map(str::to_owned)));
                }
                "released" => {
                    assert!(!it.done, "stage {stage} is done");
                    assert_eq!(it.held.take().unwrap().0, id, "another claim is released");
                }
                "done" => {
                    // Its evidence comes first.
                    let path = format!("{CARRY}/stage-{stage}.json");
                    let sidecar = self.disk.files.get(&path).map(|text| evidence::read(text));
                    let sidecar = sidecar.unwrap().unwrap();
                    assert_eq!(sidecar.pass_grade(), Ok(()));
                    let held = it.held.as_ref().map(|(id, _)| id.as_str()).unwrap_or_default();
                    assert!(it.done || held == id, "stage {stage} is finished by another");
                    it.done = true;
                }
                "verified" | "pr" => assert!(it.done),
                other => panic!("{other}"),
            }
        }
        known
    }

    /// Every stage with evidence is done by the rows.
    fn is_healed(&self) {
        let known = self.known();
        for file in self.disk.evidence() {
            let stage = file.name.trim_start_matches("stage-").trim_end_matches(".json");
            let stage = stage.parse().unwrap();
            assert!(known.get(&stage).is_some_and(|it| it.done), "stage {stage} is not healed");
        }
    }

    fn claim_request(&mut self, wish: Option<u32>, order: Order, reclaim: bool) -> ClaimRequest {
        self.ids += 1;
        ClaimRequest {
            stage: wish.map_or_else(|| String::from("auto"), |stage| stage.to_string()),
            order,
            reclaim,
            claim_id: format!("c{}", self.ids),
            ..ClaimRequest::default()
        }
    }

    fn claim(
        &mut self,
        who: usize,
        request: &ClaimRequest,
    ) -> Result<(Vec<Effect>, ClaimAnswer), OkstraError> {
        let caller = self.sessions[who].caller.clone();
        let plan = self.plan.clone();
        self.ask(&caller, &|facts| claim(plan.as_bytes(), &self.disk.ledger(), facts, request))
    }

    /// Every surface says the same.
    fn surfaces_agree(&self) -> Vec<Explanation> {
        let ledger = self.disk.ledger();
        let plan = self.plan.as_bytes();
        let nobody = Caller { host: Some("here".into()), ..Caller::default() };
        let (_, table) = self.ask(&nobody, &|facts| list(plan, &ledger, facts)).unwrap();
        let request = NextRequest { stage: "auto".into(), explain: true, ..NextRequest::default() };
        let (_, answer) = self.ask(&nobody, &|facts| next(plan, &ledger, facts, &request)).unwrap();
        assert_eq!(table.stages.len(), answer.stages.len());
        for (line, it) in table.stages.iter().zip(&answer.stages) {
            let fits = match line.state {
                StageState::Ready => it.readiness == Readiness::Ready,
                StageState::Running => it.readiness == Readiness::Running,
                StageState::Reserved => it.readiness == Readiness::Reserved,
                StageState::Waiting => it.readiness == Readiness::Waiting,
                StageState::Done | StageState::Verified | StageState::Pr => {
                    it.readiness == Readiness::Done
                }
                StageState::Cancelled => it.readiness == Readiness::Cancelled,
                StageState::Broken => it.readiness == Readiness::Broken,
            };
            assert!(fits && line.stage == it.stage, "{line:?} {it:?}");
            assert_eq!(line.waits_for, it.waits_for);
            assert_eq!(line.claim.is_some(), it.readiness == Readiness::Running);
            assert!(line.stale.is_none());
        }
        let ready = answer.stages.iter().any(|it| it.readiness == Readiness::Ready);
        assert_eq!(ready, answer.choice.is_some());
        answer.stages
    }

    #[expect(clippy::too_many_lines, reason = "one arm a step, with what must hold for it")]
    fn step(&mut self, step: &Step, crash: Crash) {
        self.now += 1;
        let plan = self.plan.clone();
        let plan = plan.as_bytes();
        let before = self.known();
        let ledger = self.disk.ledger();
        let explained = self.surfaces_agree();
        let readiness =
            |stage: u32| explained.iter().find(|it| it.stage == stage).map(|it| it.readiness);
        let nobody = Caller::default();
        let outcome = match step {
            Step::Kill { who } => {
                self.sessions[*who].gone = true;
                return;
            }
            Step::Wait { minutes } => {
                self.now += minutes;
                return;
            }
            Step::Claim { who, wish, order, reclaim } => {
                let request = self.claim_request(*wish, *order, *reclaim);
                let caller = self.sessions[*who].caller.clone();
                let answer = self.claim(*who, &request);

                // What is offered is what is given.
                let asked = NextRequest {
                    stage: request.stage.clone(),
                    order: *order,
                    explain: false,
                    conflicts: Vec::new(),
                };
                let offered = self.ask(&caller, &|facts| next(plan, &ledger, facts, &asked));
                match (&answer, &offered) {
                    (Ok((_, given)), _) if given.already_held => {
                        let held = &before[&given.brief.stage].held;
                        assert_eq!(held.as_ref().unwrap().1, caller.session);
                    }
                    (Ok((_, given)), offered) if *reclaim => {
                        // A dead claim is taken, or else it is what is offered.
                        let stage = given.brief.stage;
                        let ready = readiness(stage) == Some(Readiness::Ready);
                        if !ready {
                            assert_eq!(readiness(stage), Some(Readiness::Running));
                            let (_, session) = before[&stage].held.clone().unwrap();
                            assert!(
                                self.is_gone(session.as_deref(), &caller),
                                "{session:?} is taken"
                            );
                        }
                        assert!(!ready || offered.is_ok());
                    }
                    (Ok((_, given)), Ok((_, offered))) => {
                        let choice = offered.choice.as_ref().unwrap();
                        assert_eq!(given.brief.stage, choice.stage);
                        assert_eq!(given.shares, choice.shares);
                        assert_eq!(given.order, choice.order);
                        assert_eq!(readiness(choice.stage), Some(Readiness::Ready));
                    }
                    (Err(refused), Err(why)) => assert_eq!(refused.info(), why.info()),
                    (given, offered) => assert!(*reclaim, "{given:?} {offered:?}"),
                }
                answer.map(|(effects, answer)| {
                    if crash.is_none() {
                        let id = answer.claim_id.clone().unwrap();
                        self.sessions[*who].claims.insert(answer.brief.stage, id);
                    }
                    (effects, Some((*who, answer)))
                })
            }
            Step::Done { who, stage, named, broken, force } => {
                let mut caller = self.sessions[*who].caller.clone();
                if *named {
                    caller.claim_id = self.sessions[*who].claims.get(stage).cloned();
                }
                let mut value = given(*stage);
                if *broken {
                    value["stepResults"] = Value::Null;
                }
                let request = DoneRequest {
                    stage: Some(*stage),
                    name: String::from("result.md"),
                    evidence: worker_result(&value),
                    force_reappend: *force,
                    observed: None,
                    git: None,
                };
                let answer = self.ask(&caller, &|facts| done(plan, &ledger, facts, &request));
                if let Ok((effects, answer)) = &answer {
                    let was = before.get(stage).cloned().unwrap_or_default();
                    let healed =
                        self.disk.files.contains_key(&format!("{CARRY}/stage-{stage}.json"));
                    if answer.already_done {
                        assert!(was.done || healed);
                    } else if !was.done && !healed {
                        // Only who holds it finishes it, and only with evidence.
                        let (id, session) = was.held.unwrap();
                        let own = match &caller.claim_id {
                            Some(mine) => *mine == id,
                            None => caller.session == session,
                        };
                        assert!(own && !broken, "{caller:?} is not {id} of {session:?}");
                        assert!(matches!(effects[0], Effect::WriteNew { .. }));
                    } else {
                        assert!(*force && !broken);
                    }
                }
                answer.map(|(effects, _)| (effects, None))
            }
            Step::Release { who, stage, force } => {
                let caller = self.sessions[*who].caller.clone();
                let request =
                    ReleaseRequest { stage: Some(*stage), reason: String::new(), force: *force };
                let answer = self.ask(&caller, &|facts| release(plan, &ledger, facts, &request));
                if answer.is_ok() {
                    // Nothing live is ever taken.
                    let (_, session) = before[stage].held.clone().unwrap();
                    let gone = self.is_gone(session.as_deref(), &caller);
                    let holder = self.sessions.iter().find(|it| it.caller.session == session);
                    let quiet = self.now - holder.unwrap().acted >= 30;
                    assert!(session == caller.session || gone || (quiet && *force));
                }
                answer.map(|(effects, _)| (effects, None))
            }
            Step::Verify { stage, verdict } => {
                let request = VerifyRequest {
                    stage: *stage,
                    verdict: (*verdict).into(),
                    report_path: "r.md".into(),
                    report_missing: false,
                    force_reappend: false,
                };
                let answer = self.ask(&nobody, &|facts| verify(plan, &ledger, facts, &request));
                answer.map(|(effects, _)| (effects, None))
            }
            Step::Pr { stages } => {
                let request = PrRequest {
                    stages: stages.clone(),
                    pr_number: Some(7),
                    ..PrRequest::default()
                };
                let answer =
                    self.ask(&nobody, &|facts| pull_request(plan, &ledger, facts, &request));
                answer.map(|(effects, _)| (effects, None))
            }
        };
        if let Step::Claim { who, .. } | Step::Done { who, .. } | Step::Release { who, .. } = step {
            self.sessions[*who].acted = self.now;
        }
        let Ok((effects, claimed)) = outcome else {
            // A refusal is an error: there is nothing that could be carried out.
            return;
        };
        self.carry_out(&effects, crash);
        self.known();
        if crash.is_some() {
            return;
        }
        self.is_healed();
        self.surfaces_agree();
        if let Some((who, claimed)) = claimed {
            // Claiming again answers with the same stage and writes nothing.
            let stage = claimed.brief.stage;
            let request = self.claim_request(Some(stage), Order::Number, false);
            let (effects, again) = self.claim(who, &request).unwrap();
            assert_eq!((effects.len(), again.already_held), (0, true));
            assert_eq!((again.brief.stage, &again.claim_id), (stage, &claimed.claim_id));
            let request = self.claim_request(None, Order::CriticalPath, true);
            let (effects, again) = self.claim(who, &request).unwrap();
            assert_eq!((effects.len(), again.already_held), (0, true));
        }
    }

    /// A new session finishes the plan.
    fn finish(&mut self) {
        self.now += 60;
        let caller =
            Caller { session: Some("eve".into()), host: Some("here".into()), ..Caller::default() };
        let eve = Session { caller, gone: false, acted: self.now, claims: BTreeMap::new() };
        self.sessions.push(eve);
        let who = self.sessions.len() - 1;
        for it in self.surfaces_agree() {
            if it.readiness == Readiness::Running {
                self.step(&Step::Release { who, stage: it.stage, force: true }, None);
            }
        }
        for _ in 0..self.specs.len() {
            let request = self.claim_request(None, Order::Number, false);
            match self.claim(who, &request) {
                Ok((effects, answer)) => {
                    self.carry_out(&effects, None);
                    let stage = answer.brief.stage;
                    let step = Step::Done { who, stage, named: false, broken: false, force: false };
                    self.step(&step, None);
                }
                Err(error) => assert_eq!(error.to_string(), "every stage is already done"),
            }
        }
        let left = self.surfaces_agree();
        let over =
            |it: &Explanation| matches!(it.readiness, Readiness::Done | Readiness::Cancelled);
        assert!(left.iter().all(over), "{left:?}");
    }
}

fn any_plan() -> impl Strategy<Value = Vec<Spec>> {
    let files = proptest::sample::subsequence(vec!["`a.rs`", "`b.rs`", "`c.rs`"], 0..3);
    let row = (
        proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
        files,
        1..4_u32,
        prop::bool::weighted(0.1),
    );
    proptest::collection::vec(row, 1..5).prop_map(|rows| {
        let mut specs: Vec<Spec> = Vec::new();
        for (at, (on, files, steps, cancelled)) in rows.into_iter().enumerate() {
            let usable: Vec<u32> = (0..at)
                .filter(|at| !specs[*at].cancelled)
                .map(|at| u32::try_from(at + 1).unwrap())
                .collect();
            let mut depends_on: Vec<u32> = on
                .into_iter()
                .filter(|_| !usable.is_empty() && !cancelled)
                .map(|index| usable[index.index(usable.len())])
                .collect();
            depends_on.sort_unstable();
            depends_on.dedup();
            specs.push(Spec { depends_on, files, steps, cancelled });
        }
        specs
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let who = 0..4_usize;
    let stage = prop_oneof![4 => Just(1), 3 => Just(2), 2 => Just(3), 1 => Just(4)];
    let order = prop_oneof![Just(Order::Number), Just(Order::CriticalPath)];
    prop_oneof![
        6 => (who.clone(), prop::option::weighted(0.4, stage.clone()), order, any::<bool>())
            .prop_map(|(who, wish, order, reclaim)| Step::Claim { who, wish, order, reclaim }),
        6 => (
            who.clone(),
            stage.clone(),
            any::<bool>(),
            prop::bool::weighted(0.1),
            prop::bool::weighted(0.2),
        )
            .prop_map(|(who, stage, named, broken, force)| {
                Step::Done { who, stage, named, broken, force }
            }),
        2 => (who.clone(), stage.clone(), any::<bool>())
            .prop_map(|(who, stage, force)| Step::Release { who, stage, force }),
        1 => (stage.clone(), prop_oneof![Just("accepted"), Just("blocked")])
            .prop_map(|(stage, verdict)| Step::Verify { stage, verdict }),
        1 => proptest::collection::vec(stage, 1..3).prop_map(|stages| Step::Pr { stages }),
        1 => who.prop_map(|who| Step::Kill { who }),
        1 => (0..40_i64).prop_map(|minutes| Step::Wait { minutes }),
    ]
}

fn any_crash() -> impl Strategy<Value = Crash> {
    prop::option::weighted(0.15, (0..3_usize, prop_oneof![0..5_usize, any::<usize>()]))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 160,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_sequence_of_requests_and_crashes_breaks_a_plan(
        specs in any_plan(),
        steps in proptest::collection::vec((any_step(), any_crash()), 1..32),
    ) {
        let mut world = World::new(specs);
        for (step, crash) in &steps {
            world.step(step, *crash);
        }
        world.finish();
    }
}
