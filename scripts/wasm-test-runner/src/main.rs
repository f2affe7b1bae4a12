//! Runs wasm tests in Node or a headless browser, as `cargo test`'s runner for wasm32.
//!
//! It is wasm-bindgen's own runner as a library call, so that the lock file pins it together
//! with the crate and nothing has to be installed by hand.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::env::args_os()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do when even stderr is closed.
            drop(writeln!(std::io::stderr(), "wasm-test-runner: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
