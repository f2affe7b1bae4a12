//! A session is about to edit a file: whether its stage covers it.

use super::answer::{HookAnswer, HookOutput};
use super::event::Event;
use super::{Guard, HookRequest, answered, nothing};
use crate::error::OkstraError;
use crate::layout::relative_inside;
use crate::printable::excerpt;
use crate::stage::{Decision, Facts, Running, Survey, glance, is_listed, shell_word};

/// The tools that edit a file.
const EDITS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

pub(super) fn react(
    event: &Event,
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HookRequest,
) -> Result<Decision<HookAnswer>, OkstraError> {
    let Some(file) = &request.file else {
        return Ok(nothing());
    };
    if request.guard == Guard::Off || !EDITS.contains(&event.tool.as_str()) {
        return Ok(nothing());
    }
    let found = judge(&glance(plan, ledger, facts)?, facts, request, file);
    let concerned = !matches!(found, Found::Elsewhere(_) | Found::Nothing);
    let output = match found {
        Found::Covered | Found::Nothing => HookOutput::default(),
        Found::Uncovered(text) | Found::Elsewhere(text) => said(request.guard, &text),
    };
    Ok(answered(HookAnswer { output, concerned, ..HookAnswer::default() }))
}

fn said(guard: Guard, text: &str) -> HookOutput {
    let text = format!("okstra: {text}");
    match guard {
        Guard::Off => HookOutput::default(),
        Guard::Warn => HookOutput {
            system_message: HookOutput::message(&text).system_message,
            ..HookOutput::context("PreToolUse", &text)
        },
        Guard::Ask => HookOutput::permission("ask", &text),
        Guard::Deny => HookOutput::permission("deny", &text),
    }
}

/// How an edit stands to the stages of a plan.
enum Found {
    /// It has nothing to do with them.
    Nothing,
    /// A stage covers it.
    Covered,
    /// It is in a stage's folder, and the stage does not cover it.
    Uncovered(String),
    /// The session builds a stage, and it is in no folder of any.
    Elsewhere(String),
}

fn judge(survey: &Survey, facts: &Facts, request: &HookRequest, file: &str) -> Found {
    let shown = excerpt(file, 300);
    let layout = &survey.layout;
    let kept = |path: &str| relative_inside(path, file).is_some();
    if kept(&layout.ledger) || kept(&layout.carry_folder) {
        return Found::Uncovered(format!(
            "{shown} is kept by okstra: 'okstra stage done' and its like write it, and a text \
             written by hand breaks it"
        ));
    }
    // Results, reports and notes of the run belong there, whoever writes them.
    if kept(&layout.run_root) || layout.task_root.as_deref().is_some_and(kept) {
        return if survey.running.is_empty() { Found::Nothing } else { Found::Covered };
    }
    let root = layout.project_root.as_deref().unwrap_or_default();
    // Of folders inside one another the innermost is meant. A stage that is built in the project's
    // own folder has no folder of its own, so only its session is held to it.
    let claimed = survey.running.iter().filter_map(|it| {
        let folder = match &it.claim.worktree {
            Some(worktree) => worktree.as_str(),
            None if it.own => root,
            None => return None,
        };
        Some((folder, it.stage, Some(it)))
    });
    let registered = request.worktrees.iter().map(|it| (it.path.as_str(), it.stage, None));
    let folders: Vec<(&str, u32, Option<&Running>)> = registered.chain(claimed).collect();
    let inside = folders.iter().filter(|(folder, ..)| relative_inside(folder, file).is_some());
    let innermost = inside.clone().map(|(folder, ..)| folder.len()).max();
    let mut meant: Vec<&(&str, u32, Option<&Running>)> =
        inside.filter(|(folder, ..)| Some(folder.len()) == innermost).collect();
    // A claim knows more than the registry.
    if meant.iter().any(|(_, _, running)| running.is_some()) {
        meant.retain(|(_, _, running)| running.is_some());
    }
    let plan = shell_word(&facts.plan);
    let Some((_, first, _)) = meant.first() else {
        return outside(survey, request, &shown);
    };
    let held: Vec<&Running> = meant.iter().filter_map(|(_, _, running)| *running).collect();
    if held.is_empty() {
        let running = survey.running.iter().any(|it| it.stage == *first);
        return if running {
            // The registry names the whole worktree; the claim names the project's part of it.
            Found::Uncovered(format!(
                "{shown} is outside the project's part of the worktree of stage {}",
                survey.named(*first)
            ))
        } else {
            Found::Uncovered(format!(
                "this is the worktree of stage {}, which nobody has claimed; take it with 'okstra \
                 stage claim --plan {plan} --stage {first}' before you work in it",
                survey.named(*first)
            ))
        };
    }
    let covers = |it: &&Running| {
        let folder = it.claim.worktree.as_deref().unwrap_or(root);
        let listed = &it.files;
        listed.is_empty()
            || relative_inside(folder, file).is_some_and(|file| is_listed(&file, listed))
    };
    if held.iter().any(covers) {
        return Found::Covered;
    }
    let names: Vec<String> = held.iter().take(3).map(|it| survey.named(it.stage)).collect();
    let listed: Vec<&str> =
        held.iter().flat_map(|it| &it.files).take(12).map(String::as_str).collect();
    Found::Uncovered(format!(
        "{shown} is not among the files of stage {} ({}); other stages may rely on it as it is",
        names.join(" and "),
        excerpt(&listed.join(", "), 600)
    ))
}

/// A file in no stage's folder.
fn outside(survey: &Survey, request: &HookRequest, shown: &str) -> Found {
    let here = |folder: &str| {
        request.cwd.as_deref().is_some_and(|cwd| relative_inside(folder, cwd).is_some())
    };
    let folder_of = |it: &Running| it.claim.worktree.clone();
    let from_own = survey.own().find_map(|it| Some((it.stage, folder_of(it)?)));
    let from_cwd = || {
        let entry = request.worktrees.iter().find(|it| here(&it.path))?;
        Some((entry.stage, entry.path.clone()))
    };
    match from_own.or_else(from_cwd) {
        Some((stage, folder)) => Found::Elsewhere(format!(
            "{shown} is outside the worktree of stage {}, {folder}; work there",
            survey.named(stage)
        )),
        None if survey.own().next().is_some() => {
            Found::Elsewhere(format!("{shown} is outside the project, in which you hold a stage"))
        }
        None => Found::Nothing,
    }
}
