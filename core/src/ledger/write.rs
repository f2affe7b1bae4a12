//! The rows that are appended. Each is one line of JSON with the fields in the order of the
//! specification; fields without a value are left out.

use serde::Serialize;

use super::read::Row;
use super::state::LedgerState;
use super::{Status, Verdict, read};
use crate::render::encoded;

/// A `started` row.
#[expect(clippy::struct_field_names, reason = "the fields are named as in the row")]
#[derive(Debug, Default, Serialize)]
pub(crate) struct Started<'a> {
    pub(crate) impl_task_key: &'a str,
    pub(crate) stage: u32,
    pub(crate) status: &'static str,
    pub(crate) started_at: &'a str,
    pub(crate) head_commit: &'a str,
    pub(crate) claim_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid_start: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_commit: Option<&'a str>,
    pub(crate) plan_digest: &'a str,
}

/// A `done` row.
#[derive(Debug, Serialize)]
pub(crate) struct DoneRow<'a> {
    pub(crate) impl_task_key: &'a str,
    pub(crate) stage: u32,
    pub(crate) status: &'static str,
    pub(crate) completed_at: &'a str,
    pub(crate) carry_path: &'a str,
    pub(crate) head_commit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claim_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan_digest: Option<&'a str>,
}

/// A `verified` row.
#[derive(Debug, Serialize)]
pub(crate) struct VerifiedRow<'a> {
    pub(crate) impl_task_key: &'a str,
    pub(crate) stage: u32,
    pub(crate) status: &'static str,
    pub(crate) verified_at: &'a str,
    pub(crate) verdict: Verdict,
    pub(crate) report_path: &'a str,
}

/// A `pr` row. Its `stage` is the lowest of those it covers.
#[derive(Debug, Serialize)]
pub(crate) struct PrRow<'a> {
    pub(crate) impl_task_key: &'a str,
    pub(crate) stage: u32,
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pr_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pr_number: Option<u64>,
    pub(crate) stages: &'a [u32],
    pub(crate) opened_at: &'a str,
}

/// A `released` row.
#[derive(Debug, Serialize)]
pub(crate) struct ReleasedRow<'a> {
    pub(crate) impl_task_key: &'a str,
    pub(crate) stage: u32,
    pub(crate) status: &'static str,
    pub(crate) released_at: &'a str,
    pub(crate) reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claim_id: Option<&'a str>,
}

/// Rows to append, in order. Each is applied to the state at once, so that what is decided next
/// sees it.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The lines, without their ends.
    pub(crate) lines: Vec<String>,
}

impl Rows {
    /// Adds a row, unless its triple stands already; `force` adds it all the same. Answers whether
    /// it was added.
    pub(crate) fn add(
        &mut self,
        state: &mut LedgerState,
        row: &impl Serialize,
        force: bool,
    ) -> bool {
        // A document ends its last line; who appends a row ends its line.
        self.push(state, encoded(row).trim_end().to_owned(), force)
    }

    #[inline(never)]
    fn push(&mut self, state: &mut LedgerState, line: String, force: bool) -> bool {
        // Reading it back is what every later reader does: a row they could not use is never
        // written.
        let Ok(row) = read::row(line.as_bytes()) else {
            return false;
        };
        if !force && repeats(state, &row) {
            return false;
        }
        state.apply(row);
        self.lines.push(line);
        true
    }
}

/// Whether the row's triple (`impl_task_key`, `stage`, `status`) stands already. A `released` row
/// takes a claim away, so there can be one for every claim.
fn repeats(state: &LedgerState, row: &Row<'_>) -> bool {
    let Some(status) = row.status.filter(|status| *status != Status::Released) else {
        return false;
    };
    state.stage(row.stage).is_some_and(|record| record.is_taken(&row.impl_task_key, status))
}
