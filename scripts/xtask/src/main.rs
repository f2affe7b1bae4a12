//! Build tools in Rust. `scripts/build.mjs` calls them; people rarely need to.
//!
//! - `xtask bindgen IN.wasm OUT_DIR [--keep-names]`: wasm-bindgen's glue and module.
//! - `xtask types OUT.ts`: the TypeScript of the core's types.
//! - `xtask rules OUT.md`: the page of the rules.

mod bindgen;
mod docs;
mod rules;
mod types;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

/// The answer of a verb: what went wrong, in one line.
pub(crate) type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str =
    "usage: xtask bindgen IN.wasm OUT_DIR [--keep-names] | xtask types OUT.ts | xtask rules OUT.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["bindgen", input, out] => bindgen::run(input.as_ref(), out.as_ref(), false),
        ["bindgen", input, out, "--keep-names"] => bindgen::run(input.as_ref(), out.as_ref(), true),
        ["types", out] => types::run(out.as_ref()),
        ["rules", out] => rules::run(out.as_ref()),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do when even stderr is closed.
            drop(writeln!(std::io::stderr(), "xtask: {error}"));
            ExitCode::FAILURE
        }
    }
}
