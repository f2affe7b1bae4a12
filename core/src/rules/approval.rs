//! Approval: A1, A2.

use super::{Checker, quoted};
use crate::finding::{Code, Draft};
use crate::plan::ApprovalState;

impl Checker<'_, '_> {
    /// A1: Where approval is required (`--require-approval`), the plan has a task-list line `- [x]
    /// Approved` outside code, and none that is still open.
    #[inline(never)]
    pub(super) fn approved(&mut self) {
        let lines = &self.doc.approval;
        let end = self.doc.text.len();
        let (message, help) = match lines.state() {
            ApprovalState::Approved => return,
            ApprovalState::Pending => {
                ("the approval is pending", "tick the line: `- [x] Approved`")
            }
            ApprovalState::Missing => ("the plan is not approved", "add the line `- [x] Approved`"),
        };
        let range = lines.range().unwrap_or(end..end);
        self.add(Draft::new(Code::A1, 0, range, message).help(help));
    }

    /// A2: Where approval is required, no row of a `Clarification Items` table with `Blocks` =
    /// `approval` is open: its `Status` is `resolved` or `obsolete`.
    #[inline(never)]
    pub(super) fn nothing_blocks_approval(&mut self) {
        let doc = self.doc;
        for row in doc.clarifications.iter().filter(|row| row.open) {
            let status =
                if row.status.is_empty() { String::from("no status") } else { row.status.clone() };
            let message = format!(
                "clarification {} blocks the approval ({})",
                quoted(&row.id),
                quoted(&status).trim_matches('\'')
            );
            self.add(
                Draft::new(Code::A2, 0, row.range.clone(), message)
                    .help("answer it and set its Status to `resolved`, or to `obsolete`"),
            );
        }
    }
}
