//! The approval line and the clarifications that may hold it back.

use super::ApprovalState;
use super::heading::folded;
use super::number::{is_mark, strip_word};
use super::outline::{Block, Outline, Table, Task};
use crate::source::ByteRange;

/// What the document says about its approval.
#[derive(Debug, Default)]
pub(crate) struct ApprovalLines {
    /// `- [x] Approved`.
    pub(crate) ticked: Vec<Line>,
    /// `- [ ] Approved`.
    pub(crate) open: Vec<Line>,
}

/// A task-list line `Approved`.
#[derive(Debug)]
pub(crate) struct Line {
    /// The brackets.
    pub(crate) marker: ByteRange,
    pub(crate) range: ByteRange,
}

impl ApprovalLines {
    /// An open line outweighs a ticked one: nothing counts as approved by accident.
    pub(crate) fn state(&self) -> ApprovalState {
        if !self.open.is_empty() {
            ApprovalState::Pending
        } else if self.ticked.is_empty() {
            ApprovalState::Missing
        } else {
            ApprovalState::Approved
        }
    }

    /// The line that decides.
    pub(crate) fn range(&self) -> Option<ByteRange> {
        self.open.first().or(self.ticked.first()).map(|line| line.range.clone())
    }
}

/// A row of a `Clarification Items` table.
#[derive(Debug)]
pub(crate) struct ClarificationRow {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) blocks: String,
    pub(crate) open: bool,
    pub(crate) range: ByteRange,
}

/// Finds the approval lines.
#[inline(never)]
pub(crate) fn read(outline: &Outline<'_>) -> ApprovalLines {
    let mut lines = ApprovalLines::default();
    for block in &outline.blocks {
        if let Block::Task(task) = block
            && is_approval(task)
        {
            let line = Line { marker: task.marker.clone(), range: task.range.clone() };
            if task.checked { lines.ticked.push(line) } else { lines.open.push(line) }
        }
    }
    lines
}

/// `Approved`, alone or with a mark or a note behind it (`Approved (by Kim, 3 May)`). Of an open
/// line more is taken: it only ever holds back. `Approved: no` with a tick is no approval, and so
/// is one struck out.
fn is_approval(task: &Task) -> bool {
    let Some(rest) = strip_word(task.text.trim(), "approved") else {
        return false;
    };
    if !task.checked {
        return !rest.starts_with(|ch: char| ch.is_alphanumeric());
    }
    let rest = rest.trim_start_matches(|ch: char| {
        ch.is_whitespace() || is_mark(ch) || matches!(ch, '.' | '!')
    });
    let noted = rest.starts_with(['(', '（']) || strip_word(rest, "by ").is_some();
    !task.struck && (rest.is_empty() || noted)
}

/// Reads every `Clarification Items` table.
#[inline(never)]
pub(crate) fn clarifications(outline: &Outline<'_>) -> Vec<ClarificationRow> {
    let mut rows = Vec::new();
    let mut inside: Option<u8> = None;
    for block in &outline.blocks {
        match block {
            Block::Heading(heading) => {
                if is_clarifications(&heading.inline.text) {
                    inside = Some(heading.level);
                } else if inside.is_some_and(|level| heading.level <= level) {
                    inside = None;
                }
            }
            Block::Table(table) if inside.is_some() => read_table(outline, table, &mut rows),
            _ => {}
        }
    }
    rows
}

/// Headings are many and folding them all is slow, so a part of the words is looked for first.
fn is_clarifications(plain: &str) -> bool {
    const WORD: &[u8] = b"clarification";
    plain.as_bytes().windows(WORD.len()).any(|part| part.eq_ignore_ascii_case(WORD))
        && folded(plain).contains("clarification items")
}

#[inline(never)]
fn read_table(outline: &Outline<'_>, table: &Table, rows: &mut Vec<ClarificationRow>) {
    let Some(blocks_at) = outline.column(table, "blocks") else {
        return;
    };
    let status_at = outline.column(table, "status");
    for row in &table.rows {
        let cells = outline.cells(row);
        let plain = |at: Option<usize>| {
            at.and_then(|at| cells.get(at))
                .map(|cell| cell.plain(outline.text).replace('\n', " "))
                .unwrap_or_default()
        };
        let (status, blocks) = (plain(status_at), plain(Some(blocks_at)));
        let settled = matches!(folded(&status).as_str(), "resolved" | "obsolete");
        rows.push(ClarificationRow {
            id: plain(Some(0)),
            open: folded(&blocks) == "approval" && !settled,
            status,
            blocks,
            range: row.range.clone(),
        });
    }
}
