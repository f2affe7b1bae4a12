//! The time that hostile plans take grows with their size.
//!
//! It is measured at one size and at four times that size: the second may take less than eight
//! times as long, so that quadratic work is seen and a busy machine is not. Only of optimised
//! code: `cargo test --release -p okstra-core --test plans growth`. Stages to choose from and the
//! rows of ledgers are measured in the same way.
#![expect(
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a test takes the time and says what it measured"
)]

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use okstra_core::check::{CheckOptions, check_plan};
use okstra_core::choose::{ChooseRequest, Holder, Order, StageFacts, choose, explain};
use okstra_core::ledger::LedgerState;
use okstra_core::ledger::check::{check_ledger, repair_ledger};
use okstra_core::numbers::Numbers;

use crate::hostile::{MANY, Seed, everything, list, many, map, seeds};

/// A plan of about a size.
type Make = Box<dyn Fn(usize) -> String>;

/// Four times the size may take this many times as long; linear is 4, quadratic 16.
const MOST_RATIO: u32 = 8;

/// What a machine that is busy with something else may add.
const SLACK: Duration = Duration::from_millis(25);

/// No single piece of work here may take longer, on any machine.
const MOST_TIME: Duration = Duration::from_secs(20);

/// How often a time is taken again before a ratio counts as wrong.
const ROUNDS: usize = 5;

/// Times are taken one after the other.
static ALONE: Mutex<()> = Mutex::new(());

fn check(text: &str) {
    check_plan(text.as_bytes(), CheckOptions::default()).unwrap();
}

fn time(work: fn(&str), text: &str) -> Duration {
    let start = Instant::now();
    work(text);
    start.elapsed()
}

/// Whether the work on texts of `sizes`, each four times the one before, grows near-linearly:
/// the first pair that does not is the answer.
fn growth(make: &dyn Fn(usize) -> String, sizes: &[usize], work: fn(&str)) -> Option<String> {
    let texts: Vec<String> = sizes.iter().map(|size| make(*size)).collect();
    for (pair, size) in texts.windows(2).zip(sizes) {
        let [small, large] = pair else { continue };
        let (mut best_small, mut best_large) = (Duration::MAX, Duration::MAX);
        let mut good = false;
        for _ in 0..ROUNDS {
            best_small = best_small.min(time(work, small));
            best_large = best_large.min(time(work, large));
            good = best_large < best_small * MOST_RATIO + SLACK && best_large < MOST_TIME;
            if good || best_large > MOST_TIME {
                break;
            }
        }
        if !good {
            return Some(format!("{size}: {best_small:?}, four times that: {best_large:?}"));
        }
    }
    None
}

fn expect_growth(cases: &[(String, Make)], sizes: &[usize], work: fn(&str)) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = Vec::new();
    for (name, make) in cases {
        let start = Instant::now();
        if let Some(answer) = growth(make, sizes, work) {
            wrong.push(format!("{name}: {answer}"));
        }
        if start.elapsed() > Duration::from_secs(1) {
            eprintln!("{name}: {:?}", start.elapsed());
        }
    }
    assert!(wrong.is_empty(), "not near-linear:\n{}", wrong.join("\n"));
}

#[test]
fn repeated_texts_grow_near_linearly() {
    let makers = seeds().into_iter().map(|seed| {
        let name = seed.name.clone();
        let make: Make = Box::new(move |size| seed.text(size));
        (name, make)
    });
    let cases: Vec<(String, Make)> = makers.collect();
    expect_growth(&cases, &[16_000, 64_000, 256_000], everything);
}

#[test]
fn ten_megabytes_on_one_line_are_read() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let one_line = |seed: &Seed| {
        !seed.square && !seed.repeat.contains(['\n', '\r']) && seed.before.lines().count() < 2
    };
    for seed in seeds().iter().filter(|seed| one_line(seed)) {
        let text = seed.text(10_000_000);
        let took = time(check, &text);
        assert!(took < MOST_TIME, "{}: {took:?}", seed.name);
        if took > Duration::from_secs(1) {
            eprintln!("10 MB of {}: {took:?}", seed.name);
        }
    }
}

#[test]
fn many_stages_grow_near_linearly() {
    // These name the square of their stages in few words; see `dense_graphs_grow_with_their_edges`.
    // The search for the shortest of very many circles stops at a budget.
    let quadratic_by_nature = [
        "every stage before",
        "wide range",
        "huge range",
        "all cancelled and depended on",
        "circle with chords",
    ];
    let makers = MANY.into_iter().filter(|name| !quadratic_by_nature.contains(name));
    let makers = makers.map(|name| {
        let make: Make = Box::new(move |stages| many(name, stages));
        (name.to_owned(), make)
    });
    let cases: Vec<(String, Make)> = makers.collect();
    expect_growth(&cases, &[250, 1_000, 4_000], everything);
    expect_growth(&cases, &[4_000, 16_000], check);
}

#[test]
fn dense_graphs_grow_with_their_edges() {
    let before = |stages: usize| map(stages, |stage, text| list(1..stage, text));
    let everyone = |stages: usize| map(stages, |_, text| list(1..=stages, text));
    let ranges = |stages: usize| many("every stage before", stages);
    let wide = |stages: usize| map(stages, |_, text| text.push_str("1-99999"));
    // Twice the stages are four times the edges.
    let sizes = [150, 300, 600];
    let named = |name: &str, make: Make| (name.to_owned(), make);
    let cases = [
        named("each on all before it", Box::new(before)),
        named("each on all", Box::new(everyone)),
        named("each on all before it, as ranges", Box::new(ranges)),
        named("each on more than there are", Box::new(wide)),
    ];
    expect_growth(&cases, &sizes, everything);
}

#[test]
fn a_hundred_thousand_stages_are_checked() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for name in MANY {
        let text = many(name, 100_000);
        let start = Instant::now();
        let report = check_plan(text.as_bytes(), CheckOptions::default()).unwrap();
        let took = start.elapsed();
        assert_eq!(report.stages.len(), 100_000, "{name}");
        assert!(took < MOST_TIME, "{name}: {took:?}");
        if took > Duration::from_secs(2) {
            eprintln!("100,000 stages, {name}: {took:?}");
        }
        drop(report);
    }
    for (stages, name) in [(2_000, "each on all before it"), (300, "each on all")] {
        let text = map(stages, |stage, text| {
            list(1..if stages == 300 { stages + 1 } else { stage }, text);
        });
        let took = time(check, &text);
        assert!(took < MOST_TIME, "{name}: {took:?}");
        eprintln!("{name}: {took:?}");
    }
}

/// Work on stages or rows at a size. The work is made first, so that only it is timed.
type Work = Box<dyn Fn()>;

fn expect_growth_of(name: &str, sizes: &[usize], make: &dyn Fn(usize) -> Work) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let works: Vec<Work> = sizes.iter().map(|size| make(*size)).collect();
    let timed = |work: &Work| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    for (pair, size) in works.windows(2).zip(sizes) {
        let [small, large] = pair else { continue };
        let (mut best_small, mut best_large) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            best_small = best_small.min(timed(small));
            best_large = best_large.min(timed(large));
            if best_large < best_small * MOST_RATIO + SLACK {
                break;
            }
        }
        assert!(
            best_large < best_small * MOST_RATIO + SLACK && best_large < MOST_TIME,
            "{name} of {size}: {best_small:?}, four times that: {best_large:?}"
        );
    }
}

#[test]
fn the_choice_among_many_stages_grows_near_linearly() {
    /// What each stage depends on, and the file it names.
    type Shape = fn(u32, u32) -> (Vec<u32>, String);
    let one_file: Shape = |_, _| (Vec::new(), String::from("src/lib.rs"));
    let chain: Shape =
        |stage, _| ((stage > 1).then(|| stage - 1).into_iter().collect(), stage.to_string());
    let fan: Shape = |stage, _| ((stage > 1).then_some(1).into_iter().collect(), stage.to_string());
    let join: Shape = |stage, count| {
        let on = if stage == count { (1..count).collect() } else { Vec::new() };
        (on, stage.to_string())
    };
    let circle: Shape = |stage, count| (vec![stage % count + 1], stage.to_string());
    let shapes = [
        ("one file", one_file),
        ("chain", chain),
        ("fan", fan),
        ("join", join),
        ("circle", circle),
    ];
    for (name, shape) in shapes {
        expect_growth_of(name, &[2_500, 10_000, 40_000], &|size| {
            let count = u32::try_from(size).unwrap();
            let rows: Vec<(Vec<u32>, String)> =
                (1..=count).map(|stage| shape(stage, count)).collect();
            Box::new(move || {
                let stages =
                    rows.iter().zip(1_u32..).map(|((depends_on, file), stage)| StageFacts {
                        stage,
                        depends_on,
                        files: vec![file],
                        steps: 1,
                        ..StageFacts::default()
                    });
                let stages: Vec<StageFacts<'_>> = stages.collect();
                let running = (1..count / 2).map(|stage| (stage * 2, Holder::default()));
                let mut request = ChooseRequest {
                    stages,
                    running: running.collect(),
                    done: (1..count / 2).map(|stage| stage * 2 + 1).collect(),
                    wish: "auto",
                    ..ChooseRequest::default()
                };
                for order in [Order::Number, Order::CriticalPath] {
                    request.order = order;
                    drop(choose(&request));
                }
                drop(explain(&request));
                // Every ready stage shares its file with every running one: only a choice need not
                // list them.
                request.done = Numbers::default();
                drop(choose(&request));
            })
        });
    }
}

/// The rows that a ledger repeats.
type Rows<'r> = &'r dyn Fn(usize) -> String;

#[test]
fn ledgers_are_read_near_linearly() {
    let row = |stage: usize, key: usize, status: &str, more: &str| {
        format!(
            "{{\"impl_task_key\":\"k{key}\",\"stage\":{stage},\"status\":\"{status}\"{more}}}\n"
        )
    };
    let many_stages: Rows<'_> =
        &|at| row(at + 1, 0, "started", ",\"claim_id\":\"c\"") + &row(at + 1, 0, "done", "");
    let one_stage: Rows<'_> = &|_| row(1, 0, "started", "") + &row(1, 0, "released", "");
    let many_keys: Rows<'_> = &|at| row(1, at, "started", "") + &row(1, at, "done", "");
    let bad: Rows<'_> = &|_| String::from("{\"stage\":\n");
    let shapes = [
        ("many stages", many_stages),
        ("one stage", one_stage),
        ("many keys", many_keys),
        ("bad lines", bad),
    ];
    let read = |ledger: String| -> Work {
        Box::new(move || {
            drop(LedgerState::read(ledger.as_bytes()));
            drop(check_ledger(ledger.as_bytes()));
            drop(repair_ledger(ledger.as_bytes()));
        })
    };
    for (name, rows) in shapes {
        expect_growth_of(name, &[5_000, 20_000, 80_000], &|size| {
            read((0..size).map(rows).collect())
        });
    }
    expect_growth_of("one pull request", &[5_000, 20_000, 80_000], &|size| {
        let stages: Vec<String> = (1..=size).map(|stage| stage.to_string()).collect();
        read(row(1, 0, "pr", &format!(",\"stages\":[{}]", stages.join(","))))
    });
}
