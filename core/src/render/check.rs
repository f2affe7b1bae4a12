//! The output of a check, in each format.

use std::fmt::Write as _;

use serde::Serialize;

use super::{CheckFormat, CheckRequest, CommandOutput, pretty, printable, sarif, text};
use crate::check::{CheckReport, check_plan};
use crate::error::{ExitStatus, OkstraError};
use crate::finding::{Finding, Severity};
use crate::graph::Graph;
use crate::plan::Stage;

/// A plan that was checked.
pub(super) struct Checked<'a> {
    pub(super) path: &'a str,
    pub(super) source: &'a str,
    pub(super) report: CheckReport,
}

/// The document of `--format json`.
#[derive(Serialize)]
struct Document<'a> {
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
            reason: format!(
                "{} paths for {} sources",
                request.paths.len(),
                sources.len()
            ),
        });
    }
    let mut stderr = String::new();
    let mut status = ExitStatus::Ok;
    let mut plans = Vec::with_capacity(sources.len());
    for (path, bytes) in request.paths.iter().zip(sources) {
        match check_plan(bytes, request.options) {
            Ok(report) => {
                if report
                    .findings
                    .iter()
                    .any(|finding| finding.severity == Severity::Error)
                {
                    status = status.max(ExitStatus::Findings);
                }
                let source = std::str::from_utf8(bytes).unwrap_or_default();
                plans.push(Checked {
                    path,
                    source,
                    report,
                });
            }
            Err(error @ OkstraError::BadOptions { .. }) => return Err(error),
            Err(error) => {
                status = status.max(ExitStatus::Usage);
                let help = error
                    .info()
                    .help
                    .map(|help| format!("; {help}"))
                    .unwrap_or_default();
                let _ = writeln!(stderr, "{}: {error}{help}", printable(path));
            }
        }
    }
    let mut stdout = String::new();
    match request.format {
        CheckFormat::Text => {
            for plan in &plans {
                // With one plan every line is the finding alone; with several it names its plan.
                let name = if sources.len() > 1 {
                    format!("{}: ", printable(plan.path))
                } else {
                    String::new()
                };
                for finding in &plan.report.findings {
                    let _ = writeln!(stderr, "{name}{}", text::line(finding));
                }
            }
        }
        CheckFormat::Pretty => pretty::write(&plans, request.color, &mut stderr),
        CheckFormat::Json => stdout = json(&plans),
        CheckFormat::Sarif => stdout = sarif::document(&plans),
        CheckFormat::Github => {
            for plan in &plans {
                for finding in &plan.report.findings {
                    text::github(plan.path, finding, &mut stdout);
                }
            }
        }
    }
    Ok(CommandOutput {
        stdout,
        stderr,
        exit_code: status.code(),
    })
}

fn json(plans: &[Checked<'_>]) -> String {
    let plans = plans
        .iter()
        .map(|plan| PlanEntry {
            path: plan.path,
            findings: &plan.report.findings,
            stages: &plan.report.stages,
            graph: &plan.report.graph,
        })
        .collect();
    encoded(&Document { plans })
}

/// A value as one line of JSON.
pub(super) fn encoded<T: Serialize>(value: &T) -> String {
    // Our types have string keys and no maps of their own, so that encoding cannot fail.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}
