//! okstra's core for JavaScript: decode, call, encode, and nothing else.
//!
//! Plans come in as bytes, so that a file's buffer is copied once and UTF-8 is judged here.
//! Values go out as plain objects with `null` for what is missing; text for people goes out as
//! one string, rendered in Rust.

pub mod panic;

use js_sys::{Array, Error, JSON, Reflect, Uint8Array};
use okstra_core::check::{self, CheckOptions};
use okstra_core::error::OkstraError;
use okstra_core::render::{self, CheckRequest, GraphFormat};
use okstra_core::rules::RULES;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

/// Reads a plan without judging it.
#[wasm_bindgen(js_name = parsePlan)]
pub fn parse_plan(source: &[u8]) -> Result<JsValue, JsValue> {
    answer(check::parse_plan(source))
}

/// Checks a plan against every rule.
#[wasm_bindgen(js_name = checkPlan)]
pub fn check_plan(source: &[u8], options: &JsValue) -> Result<JsValue, JsValue> {
    answer(check::check_plan(source, arguments(options)?))
}

/// The graph of a plan.
#[wasm_bindgen(js_name = planGraph)]
pub fn plan_graph(source: &[u8]) -> Result<JsValue, JsValue> {
    answer(check::plan_graph(source))
}

/// Applies every repair the findings carry.
#[wasm_bindgen(js_name = fixPlan)]
pub fn fix_plan(source: &[u8], options: &JsValue) -> Result<JsValue, JsValue> {
    answer(check::fix_plan(source, arguments::<CheckOptions>(options)?))
}

/// Ticks the approval line.
#[wasm_bindgen(js_name = approvePlan)]
pub fn approve_plan(source: &[u8]) -> Result<JsValue, JsValue> {
    answer(check::approve_plan(source))
}

/// Checks plans and writes what was found, as text.
#[wasm_bindgen(js_name = renderCheck)]
pub fn render_check(request: &JsValue, sources: &Array) -> Result<JsValue, JsValue> {
    let request: CheckRequest = arguments(request)?;
    let sources: Vec<Vec<u8>> =
        sources.iter().map(|source| Uint8Array::new(&source).to_vec()).collect();
    let sources: Vec<&[u8]> = sources.iter().map(Vec::as_slice).collect();
    answer(render::render_check(&request, &sources))
}

/// Writes the graph of a plan, as text.
#[wasm_bindgen(js_name = renderGraph)]
pub fn render_graph(source: &[u8], format: &JsValue) -> Result<String, JsValue> {
    let format: GraphFormat = arguments(format)?;
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

/// Options from JavaScript: a missing value is the default, an unknown field an error.
///
/// They come through JSON: reading the object itself would only ask for the fields it should
/// have, and never see a misspelt one.
fn arguments<T: DeserializeOwned + Default>(value: &JsValue) -> Result<T, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok(T::default());
    }
    let bad = |reason: String| failure(&OkstraError::BadOptions { reason });
    let json = JSON::stringify(value)
        .ok()
        .and_then(|json| json.as_string())
        .ok_or_else(|| bad(String::from("they cannot be written as JSON")))?;
    serde_json::from_str(&json).map_err(|_| bad(reason::<T>(&json)))
}

/// Why options cannot be read, by way of a value: the place in that JSON would tell nobody
/// anything.
#[cold]
#[inline(never)]
fn reason<T: DeserializeOwned>(json: &str) -> String {
    let read =
        serde_json::from_str::<serde_json::Value>(json).and_then(serde_json::from_value::<T>);
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

/// A value as a plain object: `null` for what is missing, objects for maps.
fn plain<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    value.serialize(&Serializer::json_compatible()).map_err(JsValue::from)
}

fn answer<T: Serialize>(result: Result<T, OkstraError>) -> Result<JsValue, JsValue> {
    plain(&result.map_err(|error| failure(&error))?)
}

/// A failure as a JavaScript `Error` that carries [`okstra_core::error::ErrorInfo`]; the shell
/// turns it into its one error class.
fn failure(error: &OkstraError) -> JsValue {
    let thrown = Error::new(&error.to_string());
    match plain(&error.info()) {
        // Setting a property on a fresh Error cannot fail.
        Ok(info) => drop(Reflect::set(&thrown, &JsValue::from_str("info"), &info)),
        Err(other) => return other,
    }
    thrown.into()
}
