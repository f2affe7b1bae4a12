//! A session or its subagent stops: evidence in its last words is kept, missing evidence is
//! pointed out once.

use serde_json::Value;

use super::answer::{HookAnswer, HookOutput};
use super::event::Event;
use super::{HookRequest, answered, nothing};
use crate::error::OkstraError;
use crate::evidence::{self, EvidenceError, plan_path};
use crate::layout::relative_inside;
use crate::ledger::Claim;
use crate::printable::excerpt;
use crate::stage::{
    Decision, Depth, DoneAnswer, DoneRequest, Facts, Running, Survey, done, shell_word, survey,
};

/// What the evidence is called in messages.
const NAME: &str = "your last message";

pub(super) fn react(
    event: &Event,
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HookRequest,
) -> Result<Decision<HookAnswer>, OkstraError> {
    let survey = match survey(plan, ledger, facts, Depth::Running)? {
        Decision::Needs { needs } => return Ok(Decision::Needs { needs }),
        Decision::Decided { answer, .. } => answer,
    };
    if survey.own().next().is_none() {
        return Ok(nothing());
    }
    match handed_in(&survey, facts, &event.last_message) {
        HandedIn::Nothing => Ok(answered(missing(event, &survey, facts, request))),
        HandedIn::Wrong(why) => {
            let why = format!("the evidence in {NAME} cannot be kept: {why}");
            Ok(answered(wrong(event, &why)))
        }
        // Of a stage that the session does not build: another plan of the session may have it.
        HandedIn::Other => Ok(nothing()),
        HandedIn::Of(stages) => {
            let Some(stage) = stages.into_iter().find(|it| !request.judged.contains(it)) else {
                return Ok(nothing());
            };
            let wanted = DoneRequest {
                stage: Some(stage),
                name: String::from(NAME),
                evidence: event.last_message.clone(),
                git: request.git.clone(),
                ..DoneRequest::default()
            };
            match done(plan, ledger, facts, &wanted) {
                Ok(decision) => Ok(decision.map(|answer| HookAnswer {
                    output: HookOutput::message(&finished(&survey, stage, &answer)),
                    concerned: true,
                    ended: vec![stage],
                    judged: Some(stage),
                    ..HookAnswer::default()
                })),
                Err(refused) => {
                    let info = refused.info();
                    let mut why = format!("stage {stage} is not done yet: {}", info.message);
                    let lines = info.details.lines.unwrap_or_default();
                    for line in lines.into_iter().chain(info.help) {
                        why = format!("{why}\n{line}");
                    }
                    Ok(answered(HookAnswer { judged: Some(stage), ..wrong(event, &why) }))
                }
            }
        }
    }
}

fn finished(survey: &Survey, stage: u32, answer: &DoneAnswer) -> String {
    let mut text = format!("okstra: stage {} is done", survey.named(stage));
    if !answer.ready.is_empty() {
        let ready: Vec<String> = answer.ready.iter().take(12).map(u32::to_string).collect();
        text = format!("{text}; ready now: {}", ready.join(", "));
    }
    if let Some(warning) = answer.warnings.first() {
        text = format!("{text}; warning: {}", excerpt(warning, 300));
    }
    text
}

/// What the last words hold.
enum HandedIn {
    /// No evidence.
    Nothing,
    /// Evidence that cannot be read.
    Wrong(String),
    /// Evidence that does not concern this plan.
    Other,
    /// Evidence of these stages, at least one; all are the session's.
    Of(Vec<u32>),
}

fn handed_in(survey: &Survey, facts: &Facts, message: &str) -> HandedIn {
    let only = || {
        let mut own = survey.own();
        own.next().filter(|_| own.next().is_none()).map(|it| it.stage)
    };
    match evidence::extract(message.as_bytes(), None) {
        Ok(block) => {
            let value: Value = serde_json::from_str(&block.text).unwrap_or_default();
            let named = value.get("stageNumber").and_then(Value::as_u64);
            // A message that is nothing but JSON is evidence only where it says so.
            if named.is_none() && block.text.len() == message.trim().len() {
                return HandedIn::Nothing;
            }
            match named.and_then(|named| u32::try_from(named).ok()).or_else(only) {
                Some(stage) if survey.own().any(|it| it.stage == stage) => {
                    HandedIn::Of(vec![stage])
                }
                Some(stage) if survey.done.contains(stage) => HandedIn::Nothing,
                Some(stage) if is_of_plan(survey, facts, &value) => {
                    let held: Vec<String> = survey.own().map(|it| it.stage.to_string()).collect();
                    let held = held.join(" and ");
                    HandedIn::Wrong(format!(
                        "it is of stage {stage}, and the stage you hold is {held}"
                    ))
                }
                _ => HandedIn::Other,
            }
        }
        Err(EvidenceError::NoHeading { .. } | EvidenceError::NotText { .. }) => HandedIn::Nothing,
        Err(EvidenceError::Several { .. }) => {
            let has = |it: &&Running| {
                evidence::extract(message.as_bytes(), Some(it.stage)).is_ok_and(|block| {
                    let value: Value = serde_json::from_str(&block.text).unwrap_or_default();
                    value.get("stageNumber").and_then(Value::as_u64) == Some(it.stage.into())
                })
            };
            let found: Vec<u32> = survey.own().filter(has).map(|it| it.stage).collect();
            if found.is_empty() { HandedIn::Other } else { HandedIn::Of(found) }
        }
        Err(_) if message.trim_start().starts_with(['{', '[']) => HandedIn::Nothing,
        Err(error) => HandedIn::Wrong(format!("{error}; {}", error.help())),
    }
}

/// Whether evidence says that it is of this plan.
fn is_of_plan(survey: &Survey, facts: &Facts, evidence: &Value) -> bool {
    let layout = &survey.layout;
    let root = layout.project_root.as_deref();
    let task_root = root.zip(layout.task_root.as_deref());
    let task_root = task_root.and_then(|(root, task)| relative_inside(root, task));
    evidence.get("sourcePlanPath").and_then(Value::as_str).is_some_and(|path| {
        plan_path::names_this_plan(path, &layout.plan_path, &facts.plan, task_root.as_deref())
    })
}

/// Says what is wrong with evidence: to the session, unless it goes on for that reason already.
fn wrong(event: &Event, why: &str) -> HookAnswer {
    let text = format!("okstra: {why}");
    let output =
        if event.stop_hook_active { HookOutput::message(&text) } else { HookOutput::block(&text) };
    HookAnswer { output, concerned: true, ..HookAnswer::default() }
}

/// Points out, once for each claim, that a stage has no evidence yet.
fn missing(event: &Event, survey: &Survey, facts: &Facts, request: &HookRequest) -> HookAnswer {
    // What still works in the background may be what builds the stage.
    if event.stop_hook_active || event.background {
        return HookAnswer::default();
    }
    let is_new = |it: &&Running| !request.told.contains(&name_of(&it.claim));
    // Many subagents only look something up. One that builds a stage is in its worktree.
    let builds = |it: &&Running| {
        event.name == "Stop"
            || it.claim.worktree.as_deref().is_some_and(|folder| {
                request.cwd.as_deref().is_some_and(|cwd| relative_inside(folder, cwd).is_some())
            })
    };
    let open: Vec<&Running> = survey.own().filter(is_new).filter(builds).collect();
    let Some(first) = open.first() else {
        return HookAnswer::default();
    };
    let names: Vec<String> = open.iter().take(12).map(|it| survey.named(it.stage)).collect();
    let plan = shell_word(&facts.plan);
    let stage = first.stage;
    let text = format!(
        "okstra: you hold stage {} and have handed in no evidence. If it is finished: commit, and \
         end your answer with the heading '### {}' and under it the evidence as a fenced json \
         block, or run: okstra stage done --plan {plan} --stage {stage} --evidence FILE. If it is \
         not, say so and stop; you keep it while this session lasts. To give it back: okstra \
         stage release --plan {plan} --stage {stage}. This is said once.",
        names.join(" and "),
        evidence::HEADING
    );
    HookAnswer {
        output: HookOutput::block(&text),
        concerned: true,
        told: open.iter().map(|it| name_of(&it.claim)).collect(),
        ..HookAnswer::default()
    }
}

/// What a claim is known by.
fn name_of(claim: &Claim) -> String {
    let by_start = || format!("{}:{}", claim.stage, claim.started_at);
    claim.claim_id.clone().unwrap_or_else(by_start)
}
