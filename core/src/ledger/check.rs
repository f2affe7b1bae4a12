//! Checking and repairing a ledger.

use serde::Serialize;

use super::read::{self, BadLine};
use super::state::LedgerState;
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
    let mut state = LedgerState::default();
    for row in read::rows(ledger) {
        match row {
            Ok((line, row)) => {
                report.rows = report.rows.saturating_add(1);
                let mut note =
                    |note: String| report.notes.push(LedgerNote { line, note });
                match row.status {
                    None => note(String::from("a status of a later version; ignored")),
                    Some(status) => {
                        let word = status.as_str();
                        if row.at.as_deref().is_none_or(|at| time::epoch_ms(at).is_none()) {
                            note(format!("the time of this {word} row cannot be read"));
                        }
                        let record = state.stage(row.stage);
                        let taken =
                            record.is_some_and(|it| it.is_taken(&row.impl_task_key, status));
                        let held = record.is_some_and(|it| !it.claims.is_empty());
                        if taken && status == super::Status::Started {
                            note(String::from("repeats a claim that stands; the first counts"));
                        } else if taken && status == super::Status::Done {
                            note(String::from("corrects an earlier done row; the latest counts"));
                        } else if !held && status == super::Status::Released {
                            note(String::from("releases a claim that there is not; ignored"));
                        }
                    }
                }
                state.apply(row);
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
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
}
