//! Whole outputs, byte for byte: `fixtures/rendered/plan.md` in every format.
//!
//! With `UPDATE_FIXTURES=1` the files are written instead of compared; look at the difference
//! before it is committed.
use std::{env, fs};

use crate::support::fixtures;
use okstra_core::check::{CheckOptions, fix_plan};
use okstra_core::render::{CheckFormat, CheckRequest, GraphFormat, render_check, render_graph};

fn compare(name: &str, got: &str) {
    let path = fixtures().join("rendered").join(name);
    if env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&path, got).unwrap();
        return;
    }
    let wanted = fs::read_to_string(&path).unwrap();
    assert!(got == wanted, "{name} is different; it is now:\n{got}");
}

fn plan() -> Vec<u8> {
    fs::read(fixtures().join("rendered/plan.md")).unwrap()
}

#[test]
fn findings_in_every_format() {
    let formats = [
        (CheckFormat::Text, false, "check.txt"),
        (CheckFormat::Pretty, false, "check.pretty.txt"),
        (CheckFormat::Pretty, true, "check.pretty.ansi"),
        (CheckFormat::Json, false, "check.json"),
        (CheckFormat::Sarif, false, "check.sarif"),
        (CheckFormat::Github, false, "check.github.txt"),
    ];
    for (format, color, name) in formats {
        let request = CheckRequest {
            format,
            color,
            paths: vec!["plans/tea shop.md".into()],
            ..CheckRequest::default()
        };
        let output = render_check(&request, &[&plan()]).unwrap();
        assert_eq!(output.exit_code, 1, "{name}");
        compare(name, &format!("{}{}", output.stderr, output.stdout));
    }
}

#[test]
fn the_graph_in_every_format() {
    for (format, name) in [
        (GraphFormat::Json, "graph.json"),
        (GraphFormat::Mermaid, "graph.mmd"),
        (GraphFormat::Dot, "graph.dot"),
    ] {
        compare(name, &render_graph(&plan(), format).unwrap());
    }
}

#[test]
fn the_repaired_plan() {
    compare("fixed.md", &fix_plan(&plan(), CheckOptions::default()).unwrap().text);
}

#[test]
fn a_plan_without_findings_says_nothing_as_text() {
    let source = fs::read(fixtures().join("plans/valid_three_stage_parallel.md")).unwrap();
    let request = CheckRequest { paths: vec!["p.md".into()], ..CheckRequest::default() };
    let output = render_check(&request, &[&source]).unwrap();
    assert_eq!((output.stderr.as_str(), output.exit_code), ("", 0));
}
