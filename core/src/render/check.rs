//! The output of a check, in each format.

use std::fmt::Write as _;

use serde::Serialize;

use super::{CheckFormat, CheckRequest, CommandOutput, pretty, sarif, text};
use crate::check::{checker, text as text_of};
use crate::error::{ExitStatus, OkstraError};
use crate::finding::{Finding, Severity};
use crate::graph::Graph;
use crate::plan::{Document, Stage};
use crate::printable::{printable_path, steers_terminal};
use crate::rules;

/// A plan that was checked.
pub(super) struct Checked<'a> {
    pub(super) path: &'a str,
    pub(super) source: &'a str,
    pub(super) findings: Vec<Finding>,
    pub(super) stage_count: usize,
    pub(super) wave_count: usize,
    /// Written out only for the format that shows them, like the stages: they are most of a large
    /// plan.
    graph: Graph,
    stages: Vec<Stage>,
}

impl<'a> Checked<'a> {
    fn new(path: &'a str, bytes: &'a [u8], request: &CheckRequest) -> Result<Self, OkstraError> {
        let source = text_of(bytes)?;
        let doc = Document::read(source);
        let mut checker = checker(&doc, request.options)?;
        let findings = rules::resolve(&doc, checker.run(), request.options);
        let mut plan = Self {
            path,
            source,
            findings,
            stage_count: doc.map.rows.len(),
            wave_count: checker.waves(),
            graph: Graph::default(),
            stages: Vec::new(),
        };
        if request.format == CheckFormat::Json {
            plan.stages = doc.stages();
            plan.graph = checker.graph();
        }
        Ok(plan)
    }
}

/// The document of `--format json`.
#[derive(Serialize)]
struct JsonDocument<'a> {
    plans: Vec<PlanEntry<'a>>,
}

#[derive(Serialize)]
struct PlanEntry<'a> {
    path: &'a str,
    findings: &'a [Finding],
    stages: &'a [Stage],
    graph: &'a Graph,
}

/// Checks plans and writes what was found. Findings go to stderr as text and pretty, to stdout as
/// data in the other formats. A source that is no text is a line on stderr and exit status 2; the
/// other plans are checked all the same.
pub fn render_check(
    request: &CheckRequest,
    sources: &[&[u8]],
) -> Result<CommandOutput, OkstraError> {
    if request.paths.len() != sources.len() {
        return Err(OkstraError::BadOptions {
            reason: format!("{} paths for {} sources", request.paths.len(), sources.len()),
        });
    }
    let mut stderr = String::new();
    let mut status = ExitStatus::Ok;
    let mut plans = Vec::with_capacity(sources.len());
    for (path, bytes) in request.paths.iter().zip(sources) {
        match Checked::new(path, bytes, request) {
            Ok(plan) => {
                if plan.findings.iter().any(|finding| finding.severity == Severity::Error) {
                    status = status.max(ExitStatus::Findings);
                }
                plans.push(plan);
            }
            Err(error @ OkstraError::BadOptions { .. }) => return Err(error),
            Err(error) => {
                status = status.max(ExitStatus::Usage);
                unreadable(path, &error, &mut stderr);
            }
        }
    }
    let mut stdout = String::new();
    match request.format {
        CheckFormat::Text => lines(&plans, sources.len() > 1, &mut stderr, &mut stdout),
        CheckFormat::Pretty => pretty::write(&plans, request.color, &mut stderr, &mut stdout),
        CheckFormat::Json => stdout = json(&plans),
        CheckFormat::Sarif => stdout = sarif::document(&plans),
        CheckFormat::Github => commands(&plans, &mut stdout),
    }
    Ok(CommandOutput { stdout, stderr, exit_code: status.code() })
}

#[cold]
#[inline(never)]
fn unreadable(path: &str, error: &OkstraError, talk: &mut String) {
    let help = error.info().help.map(|help| format!("; {help}")).unwrap_or_default();
    let _ = writeln!(talk, "{}: {error}{help}", printable_path(path));
}

/// The text format. With one plan every line is the finding alone; with several it names its plan.
fn lines(plans: &[Checked<'_>], named: bool, talk: &mut String, data: &mut String) {
    for plan in plans {
        for finding in &plan.findings {
            if named {
                let _ = write!(talk, "{}: ", printable_path(plan.path));
            }
            let _ = writeln!(talk, "{}", text::line(finding));
        }
        let _ = writeln!(data, "{}: {}", printable_path(plan.path), pretty::summary(plan));
    }
}

#[inline(never)]
fn commands(plans: &[Checked<'_>], out: &mut String) {
    for plan in plans {
        for finding in &plan.findings {
            text::github(plan.path, finding, out);
        }
    }
}

#[inline(never)]
fn json(plans: &[Checked<'_>]) -> String {
    let plans = plans
        .iter()
        .map(|plan| PlanEntry {
            path: plan.path,
            findings: &plan.findings,
            stages: &plan.stages,
            graph: &plan.graph,
        })
        .collect();
    encoded(&JsonDocument { plans })
}

/// A value as one line of JSON: the one encoding of `--format json` and of the API. Characters
/// that could steer a terminal are written as escapes.
pub fn encoded<T: Serialize>(value: &T) -> String {
    // Our types have string keys and no maps of their own, so that encoding cannot fail.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    if !line.is_ascii() || line.contains('\u{7f}') {
        line = escaped(&line);
    }
    line.push('\n');
    line
}

/// JSON with every character that is no plain text escaped; outside strings there is none.
#[inline(never)]
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for ch in json.chars() {
        if steers_terminal(ch) {
            // All of them are in the basic plane: four digits say them.
            let _ = write!(text, "\\u{:04x}", u32::from(ch));
        } else {
            text.push(ch);
        }
    }
    text
}
