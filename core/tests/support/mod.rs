//! What the tests of the core share: where the fixtures lie, and how a report reads in one line.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::path::{Path, PathBuf};

use okstra_core::check::CheckReport;
use okstra_core::source::SourceRange;

/// The folder `fixtures` of the project.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// `S5:1` for each finding, in source order.
pub(crate) fn codes(report: &CheckReport) -> Vec<String> {
    let findings = report.findings.iter();
    findings.map(|finding| format!("{}:{}", finding.code.as_str(), finding.stage)).collect()
}

/// The number and the dependencies of each row.
pub(crate) fn stages(report: &CheckReport) -> Vec<(Option<u32>, Vec<u32>)> {
    report.stages.iter().map(|stage| (stage.stage_number, stage.depends_on.clone())).collect()
}

/// `12:3-12:20`: line and column of both ends, columns in Unicode scalar values.
pub(crate) fn place(range: &SourceRange) -> String {
    let (start, end) = (range.start, range.end);
    format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}
