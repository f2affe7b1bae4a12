//! okstra's core for JavaScript: decode, call, encode, and nothing else.
//!
//! Plans come in as bytes, so that a file's buffer is copied once and UTF-8 is judged here.
//! Values go out as plain objects with `null` for what is missing; text for people goes out as
//! one string, rendered in Rust.

pub mod panic;

use js_sys::{Array, Error, JSON, Reflect, Uint8Array};
use okstra_core::check::{self, CheckOptions};
use okstra_core::error::OkstraError;
use okstra_core::render::{self, CheckFormat, CheckRequest, GraphFormat};
use okstra_core::rules::RULES;
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// Reads a plan without judging it.
#[wasm_bindgen(js_name = parsePlan)]
pub fn parse_plan(source: &[u8]) -> Result<JsValue, JsValue> {
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
) -> Result<JsValue, JsValue> {
    answer(check::check_plan(source, options(strict, max_steps, contract, require_approval)))
}

/// The graph of a plan.
#[wasm_bindgen(js_name = planGraph)]
pub fn plan_graph(source: &[u8]) -> Result<JsValue, JsValue> {
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
) -> Result<JsValue, JsValue> {
    answer(check::fix_plan(source, options(strict, max_steps, contract, require_approval)))
}

/// Ticks the approval line.
#[wasm_bindgen(js_name = approvePlan)]
pub fn approve_plan(source: &[u8]) -> Result<JsValue, JsValue> {
    answer(check::approve_plan(source))
}

/// Checks plans and writes what was found, as text.
#[wasm_bindgen(js_name = renderCheck)]
#[expect(clippy::too_many_arguments, reason = "one for each field of the request: see `options`")]
pub fn render_check(
    sources: &Array,
    paths: Vec<String>,
    format: Option<String>,
    color: Option<bool>,
    strict: Option<bool>,
    max_steps: Option<u32>,
    contract: Option<bool>,
    require_approval: Option<bool>,
) -> Result<JsValue, JsValue> {
    let format = name(format, CheckFormat::from_name)?;
    let options = options(strict, max_steps, contract, require_approval);
    let request = CheckRequest { options, format, color: color.unwrap_or_default(), paths };
    let sources: Vec<Vec<u8>> =
        sources.iter().map(|source| Uint8Array::new(&source).to_vec()).collect();
    let sources: Vec<&[u8]> = sources.iter().map(Vec::as_slice).collect();
    answer(render::render_check(&request, &sources))
}

/// Writes the graph of a plan, as text.
#[wasm_bindgen(js_name = renderGraph)]
pub fn render_graph(source: &[u8], format: Option<String>) -> Result<String, JsValue> {
    let format = name(format, GraphFormat::from_name)?;
    render::render_graph(source, format).map_err(|error| failure(&error))
}

/// The table of rules.
#[wasm_bindgen]
pub fn rules() -> Result<JsValue, JsValue> {
    answer(Ok(RULES))
}

/// The version of the core.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Options as arguments, a missing one is the default. The shell takes them out of their object
/// and says which field is unknown or of a wrong type; reading the object here would be a third
/// of the module.
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

/// The format of a name; no name is the default.
fn name<T: Default>(name: Option<String>, from: fn(&str) -> Option<T>) -> Result<T, JsValue> {
    let Some(name) = name else {
        return Ok(T::default());
    };
    from(&name).ok_or_else(|| {
        failure(&OkstraError::BadOptions { reason: format!("there is no format '{name}'") })
    })
}

/// A value as a plain object with `null` for what is missing, by way of the JSON that
/// `--format json` prints: one encoding, and one encoder to load.
fn answer<T: Serialize>(result: Result<T, OkstraError>) -> Result<JsValue, JsValue> {
    JSON::parse(&render::encoded(&result.map_err(|error| failure(&error))?))
}

/// A failure as a JavaScript `Error` that carries [`okstra_core::error::ErrorInfo`]; the shell
/// turns it into its one error class.
#[cold]
fn failure(error: &OkstraError) -> JsValue {
    let thrown = Error::new(&error.to_string());
    match JSON::parse(&render::encoded(&error.info())) {
        // Setting a property on a fresh Error cannot fail.
        Ok(info) => drop(Reflect::set(&thrown, &JsValue::from_str("info"), &info)),
        Err(other) => return other,
    }
    thrown.into()
}
