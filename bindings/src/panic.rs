//! What a panic said, kept for the shell.
//!
//! A panic here ends in a trap: JavaScript sees only `unreachable`, and the instance is of no
//! further use. The hook writes down the message before that; the shell reads it with
//! [`take_panic`], throws the instance away and makes a fresh one.

use std::any::Any;
use std::cell::RefCell;
use std::panic;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::text::{Place, handed_over};

/// The words of a panic and where it happened.
#[derive(Serialize)]
struct Panic {
    message: String,
    /// `file:line:column`.
    location: Option<String>,
}

thread_local! {
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// Runs once for each instance, before any call.
#[wasm_bindgen(start)]
pub fn start() {
    panic::set_hook(Box::new(|info| {
        if cfg!(debug_assertions) {
            console_error_panic_hook::hook(info);
        }
        let last = Panic {
            message: words(info.payload()).to_owned(),
            location: info.location().map(ToString::to_string),
        };
        LAST.with(|slot| slot.replace(Some(last)));
    }));
}

/// The text a panic was raised with.
fn words(payload: &dyn Any) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// The last panic as the JSON text of `{ message, location }`, once; empty where none happened.
#[wasm_bindgen(js_name = takePanic)]
pub fn take_panic() -> Place {
    let text = LAST.take().map(|last| okstra_core::render::encoded(&last));
    handed_over(text.unwrap_or_default())
}

/// Panics on purpose, so that tests of the package can see what a caller gets.
///
/// # Panics
///
/// Always.
#[wasm_bindgen(js_name = provokePanic)]
#[expect(clippy::panic, reason = "a panic is what this function is for")]
pub fn provoke_panic() {
    panic!("provoked by a test");
}
