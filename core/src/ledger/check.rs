//! Checking and repairing a ledger.

use std::fmt::Write as _;

use serde::Serialize;

use super::read::{self, BadLine};
use super::state::{self, LedgerState};
use crate::time;

/// What a check of a ledger found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LedgerReport {
    /// How many rows can be used.
    pub rows: u32,
    /// Every line that cannot be used, in order.
    pub bad: Vec<BadLine>,
    /// Rows that are read and ignored, or that say something odd, in order.
    pub notes: Vec<LedgerNote>,
}

/// A row that can be read, but about which one should know something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LedgerNote {
    /// Its line, from 1.
    pub line: u32,
    /// What there is to know.
    pub note: String,
}

/// The rows of a ledger as people read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LedgerView {
    /// The rows, in order; those of a later version too.
    pub rows: Vec<LedgerRow>,
    /// Every line that cannot be used, in order.
    pub bad: Vec<BadLine>,
}

/// A row as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LedgerRow {
    /// Its line, from 1.
    pub line: u32,
    /// The stages it is about; empty for one of a later version.
    pub stages: Vec<u32>,
    /// Its status; `null` for one of a later version.
    pub status: Option<super::Status>,
    /// Its time, as it stands there.
    pub at: Option<String>,
    /// The key of the implementation task.
    pub impl_task_key: String,
    /// Who, or what it says beyond that: session, commit, verdict, address, reason.
    pub says: String,
}

/// Reads the rows of a ledger.
pub fn show_ledger(ledger: &[u8]) -> LedgerView {
    let mut view = LedgerView { rows: Vec::new(), bad: Vec::new() };
    for row in read::rows(ledger) {
        match row {
            Ok((line, row)) => view.rows.push(ledger_row(line, row)),
            Err(bad) => view.bad.push(bad),
        }
    }
    view
}

fn ledger_row(line: u32, row: read::Row<'_>) -> LedgerRow {
    use super::Status;
    let number = row.pr_number.map(|number| format!("#{number}"));
    let says = [
        row.session.as_deref().map(|session| format!("session {session}")),
        row.host.as_deref().map(|host| format!("on {host}")),
        row.claim_id.as_deref().map(|id| format!("claim {id}")),
        row.head_commit.as_deref().filter(|it| !it.is_empty()).map(|head| format!("head {head}")),
        row.verdict.as_deref().map(str::to_owned),
        row.report_path.as_deref().map(str::to_owned),
        row.pr_url.as_deref().map(str::to_owned).or(number),
        row.reason.as_deref().map(str::to_owned),
    ];
    let says: Vec<String> = says.into_iter().flatten().collect();
    LedgerRow {
        line,
        stages: match row.status {
            Some(Status::Pr) => row.stages,
            Some(_) => vec![row.stage],
            None => Vec::new(),
        },
        status: row.status,
        at: row.at.map(std::borrow::Cow::into_owned),
        impl_task_key: row.impl_task_key.into_owned(),
        says: says.join(", "),
    }
}

/// A ledger without its bad lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LedgerRepair {
    /// The ledger with the good lines only, byte for byte as they were, each with its end.
    pub text: String,
    /// The bad lines as they were, each with its end, for `consumers.jsonl.rejected`. Bytes that
    /// are not UTF-8 are written as `\xNN`.
    pub rejected: String,
    /// The bad lines with their reasons.
    pub bad: Vec<BadLine>,
    /// Whether the ledger changes.
    pub changed: bool,
}

/// Lists what is wrong with a ledger.
pub fn check_ledger(ledger: &[u8]) -> LedgerReport {
    let mut report = LedgerReport { rows: 0, bad: Vec::new(), notes: Vec::new() };
    let mut sum = LedgerState::default();
    for row in read::rows(ledger) {
        match row {
            Ok((line, row)) => {
                report.rows = report.rows.saturating_add(1);
                let mut note = |note: String| report.notes.push(LedgerNote { line, note });
                match row.status {
                    None => note(String::from("a status of a later version; ignored")),
                    Some(status) => {
                        let word = status.as_str();
                        if row.at.as_deref().is_none_or(|at| time::epoch_ms(at).is_none()) {
                            note(format!("the time of this {word} row cannot be read"));
                        }
                        let record = sum.stage(row.stage);
                        let taken =
                            record.is_some_and(|it| it.is_taken(&row.impl_task_key, status));
                        let frees = || {
                            record.is_some_and(|it| {
                                it.claims.iter().any(|claim| state::is_released(claim, &row))
                            })
                        };
                        if taken && status == super::Status::Started {
                            note(String::from("repeats a claim that stands; the first counts"));
                        } else if taken && status == super::Status::Done {
                            note(String::from("corrects an earlier done row; the latest counts"));
                        } else if status == super::Status::Released && !frees() {
                            note(String::from("releases a claim that there is not; ignored"));
                        }
                    }
                }
                sum.apply(row);
            }
            Err(bad) => report.bad.push(bad),
        }
    }
    report
}

/// Takes the bad lines out of a ledger; both halves together hold every byte but blank lines.
pub fn repair_ledger(ledger: &[u8]) -> LedgerRepair {
    let mut repair = LedgerRepair {
        text: String::new(),
        rejected: String::new(),
        bad: Vec::new(),
        changed: false,
    };
    for line in read::lines(ledger) {
        let fault = read::row(line.bytes).err();
        match (fault, std::str::from_utf8(line.bytes)) {
            (None, Ok(text)) => {
                repair.text.push_str(text);
                repair.text.push('\n');
            }
            (fault, _) => {
                repair.changed = true;
                readable(line.bytes, &mut repair.rejected);
                repair.rejected.push('\n');
                let reason = fault.unwrap_or_default();
                repair.bad.push(BadLine { line: line.number, reason, torn: !line.ended });
            }
        }
    }
    if !repair.changed {
        // Nothing to mend: the file stays as it is, blank lines and byte order mark included.
        repair.text = String::from_utf8_lossy(ledger).into_owned();
    }
    repair
}

fn readable(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
}
