//! The core without wasm: what `npm run bench` compares the module with.
//!
//! `cargo bench -p okstra-core --bench native -- PLAN.md ROUNDS` prints, as JSON, the median
//! milliseconds of reading and of checking a plan.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads a file and a clock")]
#![expect(clippy::disallowed_types, reason = "a benchmark reads a file and a clock")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use okstra_core::check::{CheckOptions, check_plan, parse_plan};

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench` to the arguments.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (Some(path), Some(rounds)) = (arguments.next(), arguments.next()) else {
        return Err("usage: cargo bench --bench native -- PLAN.md ROUNDS".into());
    };
    let rounds: usize = rounds.parse()?;
    let source = fs::read(path)?;
    let parse = median(rounds, || drop(black_box(parse_plan(black_box(&source)))));
    let check = median(rounds, || {
        drop(black_box(check_plan(black_box(&source), CheckOptions::default())));
    });
    let bytes = source.len();
    let line = serde_json::json!({ "bytes": bytes, "parse_ms": parse, "check_ms": check });
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

fn median(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
