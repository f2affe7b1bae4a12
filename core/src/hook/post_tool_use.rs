//! A session wrote a plan: what is wrong with it goes back to it.

use std::fmt::Write as _;

use super::answer::{HookAnswer, HookOutput};
use super::event::Event;
use super::{answered, nothing};
use crate::check::{CheckOptions, check_plan};
use crate::error::OkstraError;
use crate::finding::Severity;
use crate::printable::{excerpt, printable};
use crate::render::finding_line;
use crate::stage::{Decision, Facts, shell_word};

/// How many findings are told. A plan with more has one fault that causes most of them.
const MOST: usize = 30;

pub(super) fn react(
    _event: &Event,
    plan: &[u8],
    facts: &Facts,
) -> Result<Decision<HookAnswer>, OkstraError> {
    let report = check_plan(plan, CheckOptions::default())?;
    if report.findings.is_empty() {
        return Ok(nothing());
    }
    let count = |wanted| report.findings.iter().filter(|it| it.severity == wanted).count();
    let mut text = format!(
        "okstra plan check: {} errors and {} warnings in {}",
        count(Severity::Error),
        count(Severity::Warning),
        excerpt(&facts.plan, 300)
    );
    // Errors first, should there be too many; each group stays in source order.
    let of = |wanted| report.findings.iter().filter(move |it| it.severity == wanted);
    for finding in of(Severity::Error).chain(of(Severity::Warning)).take(MOST) {
        let line = finding_line(finding.code, finding.stage, &excerpt(&finding.message, 300));
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{line} (line {}", finding.range.start.line);
        if let Some(help) = &finding.help {
            let _ = write!(text, "; {}", excerpt(&printable(help), 200));
        }
        text.push(')');
    }
    let hidden = report.findings.len().saturating_sub(MOST);
    if hidden > 0 {
        let _ =
            write!(text, "\n… and {hidden} more: okstra plan check {}", shell_word(&facts.plan));
    }
    let output = HookOutput::context("PostToolUse", &text);
    Ok(answered(HookAnswer { output, concerned: true, ..HookAnswer::default() }))
}
