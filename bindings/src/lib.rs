//! okstra's core for JavaScript: decode, call, encode, and nothing else.
//!
//! Plans come in as bytes, so that a file's buffer is copied once and UTF-8 is judged here.
//! Options come in as plain arguments: the shell takes them out of their object and says which
//! field is unknown or of a wrong type. Every argument is bytes, a text or a number, so that one
//! function of the shell can hand over any of them. Every answer goes out as one JSON text, either
//! `{"ok": …}` or `{"failure": …}`, in the encoding of `--format json`.
//!
//! The reason is the start of a short-lived process: V8 compiles an adapter for each shape of
//! import and export before the first call, and objects built field by field need many. This way
//! a check loads in a third less time, and the module has no import at all (see [`text`]).

pub mod panic;
pub mod text;

use okstra_core::check::{self, CheckOptions};
use okstra_core::container;
use okstra_core::decode::{Decode, decoded};
use okstra_core::dispatch;
use okstra_core::error::{ErrorInfo, OkstraError};
use okstra_core::hook;
use okstra_core::install;
use okstra_core::layout;
use okstra_core::lead;
use okstra_core::ledger::check as ledger;
use okstra_core::render::{self, CheckFormat, CheckRequest, GraphFormat};
use okstra_core::rules::RULES;
use okstra_core::run;
use okstra_core::stage::{self, Facts};
use okstra_core::{task, tokens, wizard, worktree};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::text::Place;

/// What every function answers with.
#[derive(Serialize)]
#[cfg_attr(
    target_pointer_width = "64",
    expect(clippy::large_enum_variant, reason = "it is made once a call and written out at once")
)]
#[serde(rename_all = "lowercase")]
enum Answer<T> {
    Ok(T),
    Failure(ErrorInfo),
}

/// Reads a plan without judging it.
#[wasm_bindgen(js_name = parsePlan)]
pub fn parse_plan(source: &[u8]) -> Place {
    answer(check::parse_plan(source))
}

/// Checks a plan against every rule.
#[wasm_bindgen(js_name = checkPlan)]
pub fn check_plan(
    source: &[u8],
    strict: u32,
    max_steps: u32,
    contract: u32,
    require_approval: u32,
) -> Place {
    answer(check::check_plan(source, options(strict, max_steps, contract, require_approval)))
}

/// The graph of a plan.
#[wasm_bindgen(js_name = planGraph)]
pub fn plan_graph(source: &[u8]) -> Place {
    answer(check::plan_graph(source))
}

/// Applies every repair the findings carry.
#[wasm_bindgen(js_name = fixPlan)]
pub fn fix_plan(
    source: &[u8],
    strict: u32,
    max_steps: u32,
    contract: u32,
    require_approval: u32,
) -> Place {
    answer(check::fix_plan(source, options(strict, max_steps, contract, require_approval)))
}

/// Ticks the approval line.
#[wasm_bindgen(js_name = approvePlan)]
pub fn approve_plan(source: &[u8]) -> Place {
    answer(check::approve_plan(source))
}

/// Checks plans and writes what was found, as text.
///
/// `sources` holds the plans one behind the other, `ends` where each ends, and `paths` their
/// names with a NUL behind each.
#[wasm_bindgen(js_name = renderCheck)]
#[expect(clippy::too_many_arguments, reason = "one for each field of the request: see `options`")]
pub fn render_check(
    sources: &[u8],
    ends: &[u32],
    paths: &str,
    format: &str,
    color: u32,
    strict: u32,
    max_steps: u32,
    contract: u32,
    require_approval: u32,
) -> Place {
    let request = CheckFormat::from_name(format).map(|format| CheckRequest {
        options: options(strict, max_steps, contract, require_approval),
        format,
        color: color == YES,
        paths: paths.split_terminator('\0').map(str::to_owned).collect(),
    });
    let mut plans = Vec::with_capacity(ends.len());
    let mut start = 0;
    for &end in ends {
        plans.push(sources.get(start..end as usize).unwrap_or_default());
        start = end as usize;
    }
    answer(request.and_then(|request| render::render_check(&request, &plans)))
}

/// Writes the graph of a plan, as text.
#[wasm_bindgen(js_name = renderGraph)]
pub fn render_graph(source: &[u8], format: &str) -> Place {
    let format = GraphFormat::from_name(format);
    answer(format.and_then(|format| render::render_graph(source, format)))
}

/// The table of rules.
#[wasm_bindgen]
pub fn rules() -> Place {
    answer(Ok(RULES))
}

/// The version of the core.
#[wasm_bindgen]
pub fn version() -> Place {
    answer(Ok(env!("CARGO_PKG_VERSION")))
}

/// Where the things around a plan lie. An empty `project_root` says that none is known.
#[wasm_bindgen(js_name = planLayout)]
pub fn plan_layout(plan: &str, project_root: &str) -> Place {
    let root = Some(project_root).filter(|root| !root.is_empty());
    answer(Ok(layout::plan_layout(plan, root)))
}

/// The name of a ledger's lock.
#[wasm_bindgen(js_name = lockName)]
pub fn lock_name(ledger: &str) -> Place {
    answer(Ok(layout::lock_name(ledger)))
}

/// The folder of a task.
#[wasm_bindgen(js_name = taskFolder)]
pub fn task_folder(okstra_root: &str, task_key: &str) -> Place {
    answer(
        layout::task_key_parts(task_key)
            .map(|(_, group, id)| layout::task_folder(okstra_root, group, id)),
    )
}

/// Where the plan of a task may lie.
#[wasm_bindgen(js_name = planCandidates)]
pub fn plan_candidates(task: &str) -> Place {
    answer(decoded::<task::TaskFacts>(task, "task").map(|task| task::plan_candidates(&task)))
}

/// Which stage would be given now.
#[wasm_bindgen(js_name = stageNext)]
pub fn stage_next(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::next(plan, ledger, facts, &request))
}

/// Claims a stage.
#[wasm_bindgen(js_name = stageClaim)]
pub fn stage_claim(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::claim(plan, ledger, facts, &request))
}

/// Finishes a stage.
#[wasm_bindgen(js_name = stageDone)]
pub fn stage_done(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::done(plan, ledger, facts, &request))
}

/// Gives a stage back.
#[wasm_bindgen(js_name = stageRelease)]
pub fn stage_release(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::release(plan, ledger, facts, &request))
}

/// Records the verification of a stage.
#[wasm_bindgen(js_name = stageVerify)]
pub fn stage_verify(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::verify(plan, ledger, facts, &request))
}

/// Makes the text of a pull request, and records it.
#[wasm_bindgen(js_name = stagePr)]
pub fn stage_pr(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::pull_request(plan, ledger, facts, &request))
}

/// The stages with their states.
#[wasm_bindgen(js_name = stageList)]
pub fn stage_list(plan: &[u8], ledger: &[u8], facts: &str) -> Place {
    decided(facts, "null", |facts, (): ()| stage::list(plan, ledger, facts))
}

/// One stage in full.
#[wasm_bindgen(js_name = stageShow)]
pub fn stage_show(plan: &[u8], ledger: &[u8], facts: &str, number: u32) -> Place {
    decided(facts, "null", |facts, (): ()| stage::show(plan, ledger, facts, number))
}

/// Everything a preview shows.
#[wasm_bindgen(js_name = previewPlan)]
pub fn preview_plan(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| stage::preview_plan(&facts)))
}

/// Prepares a run.
#[wasm_bindgen(js_name = prepareRun)]
pub fn prepare_run(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| run::prepare(plan, ledger, facts, &request))
}

/// Where the worktree of a stage lies, and what its branch is called.
#[wasm_bindgen(js_name = worktreePlaces)]
pub fn worktree_places(request: &str) -> Place {
    answer(decoded(request, "request").map(|request| worktree::names::places(&request)))
}

/// The commit a stage starts from, or the merge to make in its worktree.
#[wasm_bindgen(js_name = stageBase)]
pub fn stage_base(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request| worktree::base::base(&request)))
}

/// Writes a worktree down before it is made.
#[wasm_bindgen(js_name = registryBegin)]
pub fn registry_begin(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::registry::begin(&facts, &request))
}

/// Notes that a worktree is made and a claim works in it.
#[wasm_bindgen(js_name = registryActivate)]
pub fn registry_activate(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::registry::activate(&facts, &request))
}

/// Notes that nobody works in a worktree any more.
#[wasm_bindgen(js_name = registryKeep)]
pub fn registry_keep(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::registry::keep(&facts, &request))
}

/// Takes a worktree out of the registry.
#[wasm_bindgen(js_name = registryForget)]
pub fn registry_forget(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::registry::forget(&facts, &request))
}

/// Writes the worktree of a task down.
#[wasm_bindgen(js_name = registryTaskWorktree)]
pub fn registry_task_worktree(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::registry::set_task_worktree(&facts, &request))
}

/// Fixes the commit that a task starts from, once.
#[wasm_bindgen(js_name = registryBase)]
pub fn registry_base(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| {
        worktree::registry::set_implementation_base(&facts, &request)
    })
}

/// The stages that somebody is about to build.
#[wasm_bindgen(js_name = reservedStages)]
pub fn reserved_stages(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::registry::reserved_stages(&facts, &request))
}

/// Where registry, git, disk and ledgers disagree, and what mends it.
#[wasm_bindgen(js_name = repairWorktrees)]
pub fn repair_worktrees(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| worktree::repair::repair(&facts, &request))
}

/// Refuses a stage whose dependencies cannot be merged.
#[wasm_bindgen(js_name = checkMerge)]
pub fn check_merge(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request: worktree::forecast::MergeCheck| {
        worktree::forecast::check_merge(request.stage, &request.conflict)
    }))
}

/// The registry of worktrees.
#[wasm_bindgen(js_name = readRegistry)]
pub fn read_registry(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| worktree::registry::read(&facts)))
}

/// Which worktrees may be removed.
#[wasm_bindgen(js_name = pruneWorktrees)]
pub fn prune_worktrees(entries: &str, request: &str) -> Place {
    judged(entries, request, |entries: Vec<_>, request| worktree::prune::prune(&entries, &request))
}

/// Whether one worktree may be removed.
#[wasm_bindgen(js_name = removeWorktree)]
pub fn remove_worktree(entry: &str, request: &str) -> Place {
    judged(entry, request, |entry, request| worktree::prune::remove(&entry, &request))
}

/// Which stages will conflict.
#[wasm_bindgen(js_name = stageForecast)]
pub fn stage_forecast(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::forecast(plan, ledger, facts, &request))
}

/// Which stages can be handed over, and why others cannot.
#[wasm_bindgen(js_name = handOver)]
pub fn hand_over(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::hand_over(plan, ledger, facts, &request))
}

/// What to merge into the collector branch.
#[wasm_bindgen(js_name = assembleHandOver)]
pub fn assemble_hand_over(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::assemble(plan, ledger, facts, &request))
}

/// What became of the commits of done stages whose history was rewritten.
#[wasm_bindgen(js_name = stageHistory)]
pub fn stage_history(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::history(plan, ledger, facts, &request))
}

/// Compares two plans by stage.
#[wasm_bindgen(js_name = planDiff)]
pub fn plan_diff(old: &[u8], new: &[u8], ledger: &[u8], facts: &str) -> Place {
    decided(facts, "null", |facts, (): ()| stage::plan_diff(old, new, ledger, facts))
}

/// Whether an implementation is complete.
#[wasm_bindgen(js_name = taskOutcome)]
pub fn task_outcome(plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| stage::outcome(plan, ledger, facts, &request))
}

/// Makes a task.
#[wasm_bindgen(js_name = createTask)]
pub fn create_task(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request| run::create(&request)))
}

/// Where the reports of a phase lie.
#[wasm_bindgen(js_name = reportPaths)]
pub fn report_paths(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request| run::report_paths(&request)))
}

/// The two files of a report, by the path of either.
#[wasm_bindgen(js_name = reportPair)]
pub fn report_pair(path: &str) -> Place {
    answer(Ok(run::report_pair(path)))
}

/// What a hook answers to an event of a session.
#[wasm_bindgen(js_name = hookEvent)]
pub fn hook_event(event: &[u8], plan: &[u8], ledger: &[u8], facts: &str, request: &str) -> Place {
    decided(facts, request, |facts, request| hook::react(event, plan, ledger, facts, &request))
}

/// Where the containers of a task are known.
#[wasm_bindgen(js_name = containerPlace)]
pub fn container_place(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| container::container_place(&facts)))
}

/// The engine to use, or the one to ask for next.
#[wasm_bindgen(js_name = containerEngine)]
pub fn container_engine(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request| container::container_engine(&request)))
}

/// What starts the containers of a task.
#[wasm_bindgen(js_name = containerUp)]
pub fn container_up(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| container::container_up(&facts, &request))
}

/// What stops the containers of a task.
#[wasm_bindgen(js_name = containerDown)]
pub fn container_down(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| container::container_down(&facts, &request))
}

/// What is up of a task.
#[wasm_bindgen(js_name = containerShow)]
pub fn container_show(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| container::container_show(&facts, &request))
}

/// The panes of a run that are left.
#[wasm_bindgen(js_name = listPanes)]
pub fn list_panes(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| lead::list_panes(&facts)))
}

/// The trace panes of a session.
#[wasm_bindgen(js_name = reapPanes)]
pub fn reap_panes(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| lead::reap_panes(&facts)))
}

/// The options that tag a pane.
#[wasm_bindgen(js_name = paneTags)]
pub fn pane_tags(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request| lead::pane_tags(&request)))
}

/// Marks the members of a team whose panes are gone.
#[wasm_bindgen(js_name = reconcileTeam)]
pub fn reconcile_team(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| lead::reconcile_team(&facts)))
}

/// What is left of a run, and what to do about it.
#[wasm_bindgen(js_name = wrapUp)]
pub fn wrap_up(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| lead::wrap_up(&facts, &request))
}

/// A progress line and its row.
#[wasm_bindgen(js_name = reportProgress)]
pub fn report_progress(request: &str) -> Place {
    answer(decoded(request, "request").and_then(|request| lead::progress(&request)))
}

/// What a prompt says of itself.
#[wasm_bindgen(js_name = dispatchHeaders)]
pub fn dispatch_headers(source: &[u8], name: &str) -> Place {
    answer(dispatch::dispatch_headers(source, name))
}

/// How a prompt is worked on.
#[wasm_bindgen(js_name = planDispatch)]
pub fn plan_dispatch(source: &[u8], request: &str) -> Place {
    answer(
        decoded(request, "request").and_then(|request| dispatch::plan_dispatch(source, &request)),
    )
}

/// What has become of a dispatch.
#[wasm_bindgen(js_name = judgeDispatch)]
pub fn judge_dispatch(event: &str) -> Place {
    answer(decoded(event, "event").and_then(|event| dispatch::judge_dispatch(&event)))
}

/// What lines of a session file say of usage.
#[wasm_bindgen(js_name = readUsage)]
pub fn read_usage(lines: &[u8]) -> Place {
    answer(Ok(tokens::read_usage(lines)))
}

/// The tokens of a run and what they cost.
#[wasm_bindgen(js_name = tokenReport)]
pub fn token_report(request: &str) -> Place {
    answer(decoded(request, "request").map(|request| tokens::token_report(&request)))
}

/// The next question of the wizard.
#[wasm_bindgen(js_name = askWizard)]
pub fn ask_wizard(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| wizard::ask_wizard(&facts, &request))
}

/// The rows of a ledger.
#[wasm_bindgen(js_name = showLedger)]
pub fn show_ledger(source: &[u8]) -> Place {
    answer(Ok(ledger::show_ledger(source)))
}

/// What is wrong with a ledger.
#[wasm_bindgen(js_name = checkLedger)]
pub fn check_ledger(source: &[u8]) -> Place {
    answer(Ok(ledger::check_ledger(source)))
}

/// A ledger without its bad lines.
#[wasm_bindgen(js_name = repairLedger)]
pub fn repair_ledger(source: &[u8]) -> Place {
    answer(Ok(ledger::repair_ledger(source)))
}

/// What is installed.
#[wasm_bindgen(js_name = readInstalled)]
pub fn read_installed(facts: &str) -> Place {
    answer(decoded(facts, "facts").and_then(|facts| install::read_installed(&facts)))
}

/// What to write so that okstra is installed.
#[wasm_bindgen(js_name = planInstall)]
pub fn plan_install(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| install::install(&facts, &request))
}

/// What to take away again.
#[wasm_bindgen(js_name = planUninstall)]
pub fn plan_uninstall(facts: &str, request: &str) -> Place {
    judged(facts, request, |facts, request| install::uninstall(&facts, &request))
}

/// What is wrong with okstra on this machine.
#[wasm_bindgen]
pub fn diagnose(facts: &str) -> Place {
    answer(decoded(facts, "facts").map(|facts| install::doctor::diagnose(&facts)))
}

/// Decodes facts and a request, both JSON texts, and answers with what is decided.
fn decided<R: Decode, T: Serialize>(
    facts: &str,
    request: &str,
    decide: impl FnOnce(&Facts, R) -> Result<T, OkstraError>,
) -> Place {
    answer(decoded::<Facts>(facts, "facts").and_then(|facts| {
        let request = decoded(request, "request")?;
        decide(&facts, request)
    }))
}

/// The same for facts that are not those of a plan.
fn judged<F: Decode, R: Decode, T: Serialize>(
    facts: &str,
    request: &str,
    judge: impl FnOnce(F, R) -> Result<T, OkstraError>,
) -> Place {
    answer(decoded::<F>(facts, "facts").and_then(|facts| {
        let request = decoded(request, "request")?;
        judge(facts, request)
    }))
}

/// A flag that is set, as an argument.
const YES: u32 = 1;

/// A flag that is not set. Any other number is a flag that was not given.
const NO: u32 = 0;

/// Options as arguments; a missing one is the default. A number of steps is at least 1, so 0 says
/// that there is none.
fn options(strict: u32, max_steps: u32, contract: u32, require_approval: u32) -> CheckOptions {
    let default = CheckOptions::default();
    let flag = |given, default| match given {
        YES => true,
        NO => false,
        _ => default,
    };
    CheckOptions {
        strict: flag(strict, default.strict),
        max_steps: if max_steps == 0 { default.max_steps } else { max_steps },
        contract: flag(contract, default.contract),
        require_approval: flag(require_approval, default.require_approval),
    }
}

fn answer<T: Serialize>(result: Result<T, OkstraError>) -> Place {
    let answer = match result {
        Ok(value) => Answer::Ok(value),
        Err(error) => Answer::Failure(error.info()),
    };
    text::handed_over(render::encoded(&answer))
}
