//! okstra's core for JavaScript: decode, call, encode, and nothing else.
//!
//! Plans come in as bytes, so that a file's buffer is copied once and UTF-8 is judged here.
//! Options come in as plain arguments: the shell takes them out of their object and says which
//! field is unknown or of a wrong type. Every answer goes out as one JSON text, either
//! `{"ok": …}` or `{"failure": …}`, in the encoding of `--format json`.
//!
//! The reason is the start of a short-lived process: V8 compiles an adapter for each shape of
//! import and export before the first call, and objects built field by field need many. This way
//! a check loads in a third less time.

pub mod panic;

use okstra_core::check::{self, CheckOptions};
use okstra_core::error::{ErrorInfo, OkstraError};
use okstra_core::render::{self, CheckFormat, CheckRequest, GraphFormat};
use okstra_core::rules::RULES;
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// What every function answers with.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer<T> {
    Ok(T),
    Failure(ErrorInfo),
}

/// Reads a plan without judging it.
#[wasm_bindgen(js_name = parsePlan)]
pub fn parse_plan(source: &[u8]) -> JsValue {
    answer(check::parse_plan(source))
}

/// Checks a plan against every rule.
#[wasm_bindgen(js_name = checkPlan)]
pub fn check_plan(
    source: &[u8],
    strict: Option<bool>,
    max_steps: Option<u32>,
    contract: Option<bool>,
    require_approval: Option<bool>,
) -> JsValue {
    answer(check::check_plan(source, options(strict, max_steps, contract, require_approval)))
}

/// The graph of a plan.
#[wasm_bindgen(js_name = planGraph)]
pub fn plan_graph(source: &[u8]) -> JsValue {
    answer(check::plan_graph(source))
}

/// Applies every repair the findings carry.
#[wasm_bindgen(js_name = fixPlan)]
pub fn fix_plan(
    source: &[u8],
    strict: Option<bool>,
    max_steps: Option<u32>,
    contract: Option<bool>,
    require_approval: Option<bool>,
) -> JsValue {
    answer(check::fix_plan(source, options(strict, max_steps, contract, require_approval)))
}

/// Ticks the approval line.
#[wasm_bindgen(js_name = approvePlan)]
pub fn approve_plan(source: &[u8]) -> JsValue {
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
    color: bool,
    strict: Option<bool>,
    max_steps: Option<u32>,
    contract: Option<bool>,
    require_approval: Option<bool>,
) -> JsValue {
    let request = CheckFormat::from_name(format).map(|format| CheckRequest {
        options: options(strict, max_steps, contract, require_approval),
        format,
        color,
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
pub fn render_graph(source: &[u8], format: &str) -> JsValue {
    let format = GraphFormat::from_name(format);
    answer(format.and_then(|format| render::render_graph(source, format)))
}

/// The table of rules.
#[wasm_bindgen]
pub fn rules() -> JsValue {
    answer(Ok(RULES))
}

/// The version of the core.
#[wasm_bindgen]
pub fn version() -> JsValue {
    answer(Ok(env!("CARGO_PKG_VERSION")))
}

/// Options as arguments; a missing one is the default.
fn options(
    strict: Option<bool>,
    max_steps: Option<u32>,
    contract: Option<bool>,
    require_approval: Option<bool>,
) -> CheckOptions {
    let default = CheckOptions::default();
    CheckOptions {
        strict: strict.unwrap_or(default.strict),
        max_steps: max_steps.unwrap_or(default.max_steps),
        contract: contract.unwrap_or(default.contract),
        require_approval: require_approval.unwrap_or(default.require_approval),
    }
}

fn answer<T: Serialize>(result: Result<T, OkstraError>) -> JsValue {
    let answer = match result {
        Ok(value) => Answer::Ok(value),
        Err(error) => Answer::Failure(error.info()),
    };
    JsValue::from_str(&render::encoded(&answer))
}
