//! A session begins: what it holds, what is ready, what waits.

use std::fmt::Write as _;

use super::answer::{HookAnswer, HookOutput};
use super::event::Event;
use super::{HookRequest, answered};
use crate::choose::Readiness;
use crate::claims::Life;
use crate::error::OkstraError;
use crate::printable::excerpt;
use crate::stage::{Decision, Depth, Facts, Survey, shell_word, survey};

/// How many stages a line names.
const MOST_NAMED: usize = 12;

pub(super) fn react(
    _event: &Event,
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HookRequest,
) -> Result<Decision<HookAnswer>, OkstraError> {
    let survey = match survey(plan, ledger, facts, Depth::Overview)? {
        Decision::Needs { needs } => return Ok(Decision::Needs { needs }),
        Decision::Decided { answer, .. } => answer,
    };
    let count = |wanted| survey.stages.iter().filter(|it| it.readiness == wanted).count();
    let (done, struck) = (count(Readiness::Done), count(Readiness::Cancelled));
    let all = survey.stages.len() - struck;
    // A plan that is built says nothing to a new session.
    let concerned = survey.own().next().is_some() || !survey.lost.is_empty();
    if done == all && !concerned {
        return Ok(answered(HookAnswer::default()));
    }
    let output = HookOutput::context("SessionStart", &told(&survey, facts, request, done, all));
    Ok(answered(HookAnswer { output, concerned, ..HookAnswer::default() }))
}

fn told(survey: &Survey, facts: &Facts, request: &HookRequest, done: usize, all: usize) -> String {
    let plan = shell_word(&facts.plan);
    let mut text = format!(
        "okstra: the plan {} has {done} of {all} stages done.",
        excerpt(&survey.layout.plan_path, 300)
    );
    // Writing to a string cannot fail.
    for it in survey.own() {
        let _ = write!(text, "\nYou hold stage {}", survey.named(it.stage));
        if let Some(worktree) = &it.claim.worktree {
            let _ = write!(text, "; work in its worktree {worktree}");
        }
        let _ = write!(
            text,
            ". What it asks for: okstra stage show --plan {plan} --stage {}. To finish it: okstra \
             stage done --plan {plan} --stage {0} --evidence FILE.",
            it.stage
        );
    }
    for (stage, released) in survey.lost.iter().take(MOST_NAMED) {
        let _ = write!(
            text,
            "\nYou do not hold stage {} any more ({}). To go on with it: okstra stage claim --plan \
             {plan} --stage {stage}.",
            survey.named(*stage),
            excerpt(&released.reason, 200)
        );
    }
    // Somebody else's stage whose folder this is.
    let mut is_placed = false;
    for folder in &request.worktrees {
        let here = request
            .cwd
            .as_deref()
            .is_some_and(|cwd| crate::layout::relative_inside(&folder.path, cwd).is_some());
        is_placed |= here;
        if here && !survey.own().any(|it| it.stage == folder.stage) {
            let _ = write!(
                text,
                "\nThis folder is the worktree of stage {}",
                survey.named(folder.stage)
            );
            match survey.running.iter().find(|it| it.stage == folder.stage) {
                Some(_) => text.push_str(", which another session claimed."),
                None => text.push_str(", which nobody holds now."),
            }
        }
    }
    let of = |wanted: Readiness| -> Vec<String> {
        let found = survey.stages.iter().filter(|it| it.readiness == wanted);
        found.map(|it| survey.named(it.stage)).collect()
    };
    line(&mut text, "Ready", of(Readiness::Ready));
    let others = survey.running.iter().filter(|it| !it.own).map(|it| {
        let state = match it.life {
            Some(Life::Dead) => " (its session is gone)",
            Some(Life::Quiet) => " (its session has been quiet for long)",
            _ => "",
        };
        format!("{}{state}", survey.named(it.stage))
    });
    line(&mut text, "Built by other sessions", others.collect());
    let waiting = survey.stages.iter().filter(|it| it.readiness == Readiness::Waiting).map(|it| {
        let on: Vec<String> = it.waits_for.iter().take(MOST_NAMED).map(u32::to_string).collect();
        format!("{} for {}", it.stage, on.join(" and "))
    });
    line(&mut text, "Waiting", waiting.collect());
    if let Some(why) = &survey.unclaimable {
        let _ = write!(
            text,
            "\nNothing can be claimed while the plan is as it is: {}",
            excerpt(why, 300)
        );
    } else if !is_placed && survey.own().next().is_none() && !of(Readiness::Ready).is_empty() {
        let _ = write!(text, "\nTo take one: okstra stage claim --plan {plan}.");
    }
    text
}

fn line(text: &mut String, name: &str, mut all: Vec<String>) {
    if all.is_empty() {
        return;
    }
    let hidden = all.len().saturating_sub(MOST_NAMED);
    all.truncate(MOST_NAMED);
    let _ = write!(text, "\n{name}: {}", all.join(", "));
    if hidden > 0 {
        let _ = write!(text, " and {hidden} more");
    }
    text.push('.');
}
