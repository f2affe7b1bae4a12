//! The wasm-bindgen step, as a library call: the tool cannot drift from the crate.

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

use crate::Outcome;

/// Writes `okstra.js` and `okstra_bg.wasm` into `out`.
///
/// The glue is for the web target without a default path, so that it names no file: each entry
/// of the package brings the module its own way. It can make a fresh instance of its module
/// (`__wbg_reset_state`), which is what saves a caller after a panic.
pub(crate) fn run(input: &Path, out: &Path, keep_names: bool) -> Outcome {
    Bindgen::new()
        .input_path(input)
        .out_name("okstra")
        .web(true)?
        .omit_default_module_path(true)
        .reset_state_function(true)
        .typescript(true)
        .remove_name_section(!keep_names)
        .remove_producers_section(true)
        .generate(out)?;
    Ok(())
}
