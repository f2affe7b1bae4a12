//! What the tests of the core share: where the fixtures lie, and how a report reads in one line.
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

/// The number of each row and the stages it depends on.
pub(crate) type Stages = Vec<(Option<u32>, Vec<u32>)>;

/// The stages of a report.
pub(crate) fn stages(report: &CheckReport) -> Stages {
    report.stages.iter().map(|stage| (stage.stage_number, stage.depends_on.clone())).collect()
}

/// `12:3-12:20`: line and column of both ends, columns in Unicode scalar values.
pub(crate) fn place(range: &SourceRange) -> String {
    let (start, end) = (range.start, range.end);
    format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}
