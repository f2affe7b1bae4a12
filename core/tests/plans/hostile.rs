//! Plans made to hurt: every one of them ends, without a panic, with the right answer.
//!
//! `fixtures/hostile/seeds.json` holds small texts that are repeated here; the maps with very many
//! stages are made in this file. Every seed that ever showed a fault stays. How the time grows is
//! measured in the module `growth`, of optimised code only.

use std::fmt::Write as _;
use std::fs;

use crate::support::{Stages, codes, fixtures, stages};
use okstra_core::check::{
    CheckOptions, CheckReport, approve_plan, check_plan, fix_plan, parse_plan, plan_graph,
};
use okstra_core::render::{CheckFormat, CheckRequest, GraphFormat, render_check, render_graph};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seed {
    pub(crate) name: String,
    pub(crate) before: String,
    /// `{i}` is the number of the repetition, `{indent}` two blanks for each before it.
    pub(crate) repeat: String,
    after: String,
    /// Repeated once, twice, three times … with a blank between.
    #[serde(default)]
    grows: bool,
    /// Each line is longer than the one before.
    #[serde(default)]
    indent: bool,
    /// A table of as many rows as columns.
    #[serde(default)]
    pub(crate) square: bool,
}

impl Seed {
    /// The text of about `size` bytes.
    pub(crate) fn text(&self, size: usize) -> String {
        let mut text = self.before.clone();
        if self.square {
            // As many rows as columns, and nearly all of the cells missing.
            let columns = size / (2 * self.repeat.len() + 6) + 1;
            let _ = writeln!(text, "{}|", self.repeat.repeat(columns));
            let _ = writeln!(text, "{}|", "|---".repeat(columns));
            text.push_str(&format!("{}|\n", self.repeat).repeat(columns));
            return text;
        }
        for i in 1.. {
            if text.len() >= size {
                break;
            }
            if self.grows {
                let _ = write!(text, "{} ", self.repeat.repeat(i));
            } else if self.indent {
                text.push_str(&self.repeat.replace("{indent}", &"  ".repeat(i)));
            } else if self.repeat.contains("{i}") {
                text.push_str(&self.repeat.replace("{i}", &i.to_string()));
            } else {
                text.push_str(&self.repeat);
            }
        }
        text.push_str(&self.after);
        text
    }
}

pub(crate) fn seeds() -> Vec<Seed> {
    serde_json::from_slice(&fs::read(fixtures().join("hostile/seeds.json")).unwrap()).unwrap()
}

/// Everything that can be asked of a plan.
pub(crate) fn everything(text: &str) {
    let bytes = text.as_bytes();
    let options = CheckOptions {
        strict: true,
        contract: true,
        require_approval: true,
        ..CheckOptions::default()
    };
    parse_plan(bytes).unwrap();
    check_plan(bytes, options).unwrap();
    plan_graph(bytes).unwrap();
    fix_plan(bytes, options).unwrap();
    // An approval that would stand inside a fence is refused; that is an answer too.
    let _ = approve_plan(bytes);
    for format in [
        CheckFormat::Text,
        CheckFormat::Pretty,
        CheckFormat::Json,
        CheckFormat::Sarif,
        CheckFormat::Github,
    ] {
        let request = CheckRequest { options, format, color: true, paths: vec!["p.md".into()] };
        render_check(&request, &[bytes]).unwrap();
    }
    for format in [GraphFormat::Json, GraphFormat::Mermaid, GraphFormat::Dot] {
        render_graph(bytes, format).unwrap();
    }
}

const MAP: &str = "## 4.5 Stage Map\n\n\
    | stage | title | depends-on | step-count | exit-contract-summary |\n\
    |---|---|---|---|---|\n";

/// A Stage Map whose rows depend on what `depends` says of each.
pub(crate) fn map(stages: usize, depends: impl Fn(usize, &mut String)) -> String {
    let mut text = String::from(MAP);
    for stage in 1..=stages {
        let _ = write!(text, "| {stage} | part {stage} | ");
        depends(stage, &mut text);
        text.push_str(" | 1 | done |\n");
    }
    text
}

/// The same with a section of one step for every stage; `files` says what it touches.
fn plan(
    stages: usize,
    depends: impl Fn(usize, &mut String),
    files: impl Fn(usize) -> String,
) -> String {
    let mut text = map(stages, depends);
    for stage in 1..=stages {
        let _ = write!(
            text,
            "\n## 4.5.{stage} Stage {stage}: part {stage}\n\n### Carry-In\n\nNothing.\n\n\
             ### Stepwise Execution Order\n\n| step | action | files | command | expected |\n\
             |---|---|---|---|---|\n| 1 | write it | {} | `make` | ok |\n\n\
             ### Stage Exit Contract\n\nDone.\n\n### Stage Validation\n\n`make`\n",
            files(stage)
        );
    }
    text
}

pub(crate) fn list(stages: impl Iterator<Item = usize>, text: &mut String) {
    let mut first = true;
    for stage in stages {
        let _ = write!(text, "{}{stage}", if first { "" } else { ", " });
        first = false;
    }
    if first {
        text.push_str("(none)");
    }
}

fn none(_: usize, text: &mut String) {
    text.push_str("(none)");
}

/// The same numbers on every machine: xorshift.
fn pseudo_random(seed: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ ((seed as u64 + 1) << 17);
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    })
}

/// A random graph in layers of about a hundred: each stage depends on three of the layer before.
fn layered(stage: usize, text: &mut String) {
    let layer = (stage - 1) / 100;
    let before = pseudo_random(stage).take(3).map(|at| (layer.max(1) - 1) * 100 + at % 100 + 1);
    let mut before: Vec<usize> = before.filter(|_| layer > 0).collect();
    before.sort_unstable();
    before.dedup();
    list(before.into_iter(), text);
}

/// Three stages anywhere before.
fn anywhere(stage: usize, text: &mut String) {
    let before = pseudo_random(stage).take(3).filter(|_| stage > 3).map(|at| at % (stage - 1) + 1);
    let mut before: Vec<usize> = before.collect();
    before.sort_unstable();
    before.dedup();
    list(before.into_iter(), text);
}

fn own_file(stage: usize) -> String {
    format!("`src/part{stage}.rs`")
}

/// Plans with very many stages, by the number of stages.
pub(crate) fn many(name: &str, stages: usize) -> String {
    let say = |what: &'static str| move |_: usize, text: &mut String| text.push_str(what);
    match name {
        "independent" => plan(stages, none, own_file),
        "chain" => {
            plan(stages, |stage, text| list(stage - 1..stage.min(stage * 2 - 1), text), own_file)
                .replacen("| 0 |", "| (none) |", 1)
        }
        "layers" => plan(stages, layered, own_file),
        "anywhere before" => plan(stages, anywhere, own_file),
        "layers that share files" => {
            plan(stages, layered, |stage| format!("src/{}.rs", stage % (stages / 8)))
        }
        "one file" => plan(stages, none, |_| String::from("src/one.rs")),
        "few files" => {
            plan(stages, anywhere, |stage| format!("src/{}.rs, src/x{}.rs", stage % 5, stage / 12))
        }
        "all" => map(stages, say("all")),
        "words" => map(stages, say("the others")),
        "huge range" => map(stages, say("1-4000000000")),
        "wide range" => map(stages, say("1-99999")),
        "every stage before" => map(stages, |stage, text| {
            if stage == 1 {
                none(1, text);
            } else {
                let _ = write!(text, "1-{}", stage - 1);
            }
        }),
        "circle" => map(stages, |stage, text| list(std::iter::once(stage % stages + 1), text)),
        "circles of two" => map(stages, |stage, text| {
            list(
                std::iter::once(if stage % 2 == 0 { stage - 1 } else { (stage + 1).min(stages) }),
                text,
            );
        }),
        "circle with chords" => map(stages, |stage, text| {
            let mut on = vec![stage % stages + 1, (stage * 7) % stages + 1];
            on.sort_unstable();
            on.dedup();
            list(on.into_iter(), text);
        }),
        "itself" => map(stages, |stage, text| list(std::iter::once(stage), text)),
        "cancelled" => map(stages, say("1")).replace("| 1 | part 1 |", "| ~~1~~ | part 1 |"),
        "all cancelled and depended on" => {
            let half = stages / 2;
            let mut text = map(stages, |_, text| {
                let _ = write!(text, "1-{half}");
            });
            for stage in 1..=half.min(2_000) {
                text = text.replacen(&format!("\n| {stage} |"), &format!("\n| ~~{stage}~~ |"), 1);
            }
            text
        }
        "numbers that start at two" => {
            plan(stages, none, own_file).replacen("| 1 |", "| 100000000 |", 1)
        }
        "gap" => {
            let text = plan(stages, anywhere, own_file);
            text.replacen("\n| 1 | part 1 |", "\n| 4000001 | part 1 |", 1).replacen(
                "## 4.5.1 Stage 1:",
                "## 4.5.4000001 Stage 4000001:",
                1,
            )
        }
        "one number" => map(stages, none).replace("| part", "| 7 | part"),
        "huge numbers" => {
            let mut text = String::from(MAP);
            for stage in 0..stages {
                let _ = writeln!(
                    text,
                    "| {} | a | {}999 | 99999999999 | b |",
                    4_294_967_295 - stage,
                    stage
                );
            }
            text
        }
        other => unreachable!("{other}"),
    }
}

pub(crate) const MANY: [&str; 22] = [
    "independent",
    "chain",
    "layers",
    "anywhere before",
    "layers that share files",
    "one file",
    "few files",
    "all",
    "words",
    "huge range",
    "wide range",
    "every stage before",
    "circle",
    "circles of two",
    "circle with chords",
    "itself",
    "cancelled",
    "all cancelled and depended on",
    "numbers that start at two",
    "gap",
    "one number",
    "huge numbers",
];

#[test]
fn every_seed_and_every_map_is_read_in_every_way() {
    for seed in seeds() {
        assert!(seed.text(3_000).len() > 2_900, "{}", seed.name);
        everything(&seed.text(3_000));
    }
    for name in MANY {
        everything(&many(name, 20));
    }
}

#[test]
fn the_answers_for_very_many_stages_are_right() {
    let checked = |name: &str, stages: usize| {
        check_plan(many(name, stages).as_bytes(), CheckOptions::default()).unwrap()
    };
    let count = |report: &CheckReport, code: &str| {
        codes(report).iter().filter(|each| each.starts_with(code)).count()
    };
    let independent = checked("independent", 20_000);
    assert!(independent.findings.is_empty());
    assert_eq!(independent.graph.waves.len(), 1);
    let chain = checked("chain", 20_000);
    assert!(chain.findings.is_empty());
    assert_eq!(chain.graph.waves.len(), 20_000);
    assert_eq!(chain.graph.critical_path.steps, 20_000);
    let circle = checked("circle", 20_000);
    assert_eq!(count(&circle, "S8"), 1);
    assert_eq!(circle.graph.cycles.first().map(Vec::len), Some(20_000));
    assert_eq!(count(&checked("circles of two", 20_000), "S8"), 10_000);
    assert_eq!(count(&checked("all", 20_000), "S6"), 20_000);
    assert_eq!(count(&checked("huge range", 1_000), "S6"), 1_000);
    // Everyone against everyone would be two hundred million lines; one a stage is told.
    assert_eq!(count(&checked("one file", 20_000), "S9"), 19_999);
}

/// A plan of two stages, the second of which has a careless cell.
fn small() -> String {
    plan(2, |stage, text| text.push_str(["none", "Stage 1"][stage - 1]), own_file)
}

fn answer(text: &str) -> (Vec<String>, Stages) {
    let report = check_plan(text.as_bytes(), CheckOptions::default()).unwrap();
    (codes(&report), stages(&report))
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    let text = small();
    let wanted = answer(&text);
    assert_eq!(wanted.0, ["W2:1", "W2:2"]);
    let mut mixed = String::new();
    for (line, end) in text.lines().zip(["\n", "\r\n", "\r"].into_iter().cycle()) {
        mixed.push_str(line);
        mixed.push_str(end);
    }
    let variants = [
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        mixed,
        format!("\u{feff}{text}"),
        format!("\u{feff}{}", text.replace('\n', "\r\n")),
        text.trim_end().to_owned(),
        format!("\u{feff}---\r\ntitle: x\r\n---\r\n{}", text.replace('\n', "\r\n")),
    ];
    for variant in variants {
        assert_eq!(answer(&variant), wanted, "{:?}", variant.get(..40));
        everything(&variant);
    }
}

#[test]
fn marks_that_end_no_line_end_no_row() {
    for mark in ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"] {
        let text = small().replace("| part 2 |", &format!("| part{mark}2 |"));
        assert_eq!(answer(&text).0, ["W2:1", "W2:2"], "{mark:?}");
        everything(&text);
    }
}

#[test]
fn every_control_character_is_read_and_none_reaches_a_terminal() {
    let bidi = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}";
    let controls = (1..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).chain(bidi.chars());
    for mark in controls {
        let cell = format!("Stage{mark} 7{mark}");
        let text = map(2, |_, text| text.push_str(&cell)).replace("part 1", &format!("a{mark}b"))
            + &format!("\n## 4.5.9 Stage 9: c{mark}[31md\n\n```{mark}\n## x{mark}\n");
        everything(&text);
        for format in [CheckFormat::Text, CheckFormat::Pretty] {
            let request = CheckRequest {
                format,
                paths: vec![format!("p{mark}.md")],
                ..CheckRequest::default()
            };
            let output = render_check(&request, &[text.as_bytes()]).unwrap();
            let shown = format!("{}{}", output.stdout, output.stderr);
            let bad = shown.chars().find(|ch| ch.is_control() && *ch != '\n' || bidi.contains(*ch));
            assert_eq!(bad, None, "{mark:?} {format:?}: {shown:?}");
        }
        for format in [GraphFormat::Mermaid, GraphFormat::Dot] {
            let shown = render_graph(text.as_bytes(), format).unwrap();
            assert_eq!(shown.chars().find(|ch| ch.is_control() && *ch != '\n'), None, "{mark:?}");
        }
    }
}

#[test]
fn a_nul_byte_is_no_text() {
    let text = small().replace("part 2", "part\0 2");
    let error = check_plan(text.as_bytes(), CheckOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("a binary file: NUL byte at byte {} (line 6)", text.find('\0').unwrap())
    );
}

#[test]
fn bytes_that_are_no_utf8_are_refused_at_their_place() {
    for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"] {
        let mut bytes = b"# a\n\nb ".to_vec();
        bytes.extend_from_slice(bad);
        let error = check_plan(&bytes, CheckOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "not UTF-8: invalid byte sequence at byte 7 (line 3)");
    }
}

#[test]
fn escapes_of_lone_surrogates_are_text() {
    let text = small().replace("part 2", "part \\ud800 &#xD800; &#55296; 2");
    assert_eq!(answer(&text).0, ["W2:1", "W2:2"]);
    everything(&text);
}

#[test]
fn decomposed_text_reads_like_composed_text() {
    // Korean as macOS writes it into file names.
    let none = "\u{110b}\u{1165}\u{11b9}\u{110b}\u{1173}\u{11b7}";
    let (title, decomposed) = (
        "한글 제목",
        "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} \u{110c}\u{1166}\u{1106}\u{1169}\u{11a8}",
    );
    let text = plan(1, |_, text| text.push_str(none), own_file)
        .replace("| part 1 |", &format!("| {title} |"))
        .replace(": part 1", &format!(": {decomposed}"));
    let (codes, stages) = answer(&text);
    assert_eq!(stages, [(Some(1), vec![])]);
    // The cell is careless, and the heading may be called so.
    assert!(codes.iter().all(|code| code == "W2:1") && !codes.is_empty(), "{codes:?}");
    everything(&text);
}

#[test]
fn full_width_digits_are_digits_and_others_are_not() {
    let text =
        plan(3, |stage, text| text.push_str(["(none)", "１", "１、２"][stage - 1]), own_file)
            .replace("\n| 2 |", "\n| ２ |");
    let stages = vec![(Some(1), vec![]), (Some(2), vec![1]), (Some(3), vec![1, 2])];
    let (codes, found) = answer(&text);
    assert_eq!(found, stages);
    // W1: stage 3 depends on 1 by way of 2.
    assert_eq!(codes, ["W2:2", "W2:2", "W1:3", "W2:3"]);
    for digits in ["١", "१", "¹", "①", "Ⅰ", "𝟏"] {
        let text = plan(2, |stage, text| text.push_str(["(none)", digits][stage - 1]), own_file);
        assert_eq!(answer(&text).0, ["S6:2"], "{digits}");
    }
}

#[test]
fn deep_nesting_is_read() {
    for (open, close) in
        [("> ", ""), ("- ", ""), ("*", "*"), ("[", "](a)"), ("<b>", "</b>"), ("(", ")")]
    {
        for depth in [1_000, 100_000] {
            let text = format!("{}x{}\n\n{}", open.repeat(depth), close.repeat(depth), small());
            check_plan(text.as_bytes(), CheckOptions::default()).unwrap();
        }
        let cell = format!("{}1{}", open.repeat(3_000), close.repeat(3_000));
        everything(&map(2, |_, text| text.push_str(&cell)));
    }
}
