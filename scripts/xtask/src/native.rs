//! The core without wasm: what the benchmarks compare with.

use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use okstra_core::check::{CheckOptions, check_plan, parse_plan};

use crate::Outcome;

/// Prints, as JSON, the median milliseconds of reading and of checking a plan.
pub(crate) fn run(input: &str, rounds: &str) -> Outcome {
    let rounds = rounds.parse()?;
    let source = fs::read(input)?;
    let parse = median(rounds, || drop(black_box(parse_plan(black_box(&source)))));
    let check =
        median(rounds, || drop(black_box(check_plan(black_box(&source), CheckOptions::default()))));
    let line = serde_json::json!({ "bytes": source.len(), "parse_ms": parse, "check_ms": check });
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
