//! The latest verification of a whole task, out of the data of reports.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use crate::decode::decode;
use crate::layout;
use crate::ledger::Verdict;
use crate::printable::excerpt;

/// The data file of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportFile {
    /// Its path, relative to the project.
    pub path: String,
    /// Its text.
    pub text: String,
}

decode!(ReportFile { path, text });

/// The verification of a whole task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WholeTask {
    /// The data file of the report.
    pub data_path: String,
    /// The Markdown beside it, whether or not it is there.
    pub report_path: String,
    /// What was found; `null` where the word is none of the known, which counts as not accepted.
    pub verdict: Option<Verdict>,
}

impl WholeTask {
    /// Whether it accepts the task.
    pub fn is_accepted(&self) -> bool {
        self.verdict == Some(Verdict::Accepted)
    }
}

/// The most characters of a word in a warning.
const WORD: usize = 40;

/// The newest verification of the whole task, which decides alone: a later one that blocks makes an
/// earlier acceptance not count. Reports that are no JSON are warnings; other reports are passed
/// over.
pub fn latest_whole_task(reports: &[ReportFile]) -> (Option<WholeTask>, Vec<String>) {
    let mut warnings = Vec::new();
    let mut newest: Option<(&ReportFile, Value)> = None;
    for report in reports {
        let text = report.text.strip_prefix('\u{feff}').unwrap_or(&report.text);
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                warnings.push(format!("{}: no JSON: {error}; it counts for nothing", report.path));
                continue;
            }
        };
        let is_whole = word(&value, "taskType").as_deref() == Some("final-verification")
            && word(&value, "verificationScope").as_deref() == Some("whole-task");
        let newer = newest
            .as_ref()
            .is_none_or(|(than, _)| compare(&report.path, &than.path) != Ordering::Less);
        if is_whole && newer {
            newest = Some((report, value));
        }
    }
    let latest = newest.map(|(report, value)| {
        let token = verdict(&value);
        let known = token.as_deref().and_then(Verdict::from_name);
        if known.is_none() {
            let what = match token {
                Some(token) => format!("its verdict '{}' is unknown", excerpt(&token, WORD)),
                None => String::from("it has no verdict"),
            };
            warnings.push(format!("{}: {what}; it counts as not accepted", report.path));
        }
        WholeTask {
            data_path: report.path.clone(),
            report_path: layout::markdown_of(&report.path),
            verdict: known,
        }
    });
    (latest, warnings)
}

/// The age of two reports: by number, then as reports are ordered everywhere.
fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (layout::markdown_of(a), layout::markdown_of(b));
    let number = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        layout::report_sequence(name).unwrap_or_default()
    };
    number(&a).cmp(&number(&b)).then_with(|| layout::compare_reports(&a, &b))
}

/// A member of the header, or of the report itself, as a plain word.
fn word(report: &Value, key: &str) -> Option<String> {
    let of = |value: &Value| Some(folded(value.get(key)?.as_str()?));
    report.get("header").and_then(of).or_else(|| of(report))
}

/// The verdict: a word, or an object with a `token`; in the report or its header.
fn verdict(report: &Value) -> Option<String> {
    let of = |value: &Value| {
        let verdict = value.get("verdict")?;
        let token = ["token", "value", "verdict"].into_iter().find_map(|key| verdict.get(key));
        Some(folded(token.unwrap_or(verdict).as_str()?))
    };
    of(report).or_else(|| report.get("header").and_then(of))
}

/// A word whatever its case and its blanks.
fn folded(word: &str) -> String {
    word.trim().to_lowercase().replace(['_', ' '], "-")
}
