//! Structural traps: W4.

use std::fmt::Write as _;

use super::{Checker, listed, quoted};
use crate::finding::{Code, Draft};
use crate::order::order;
use crate::plan::outline::{
    Block, Fence, Heading, Outline, Row, Table, fence_run, lines_at, written_cells,
};
use crate::source::ByteRange;

/// The most headings a message names.
const MOST_NAMED: usize = 3;

impl Checker<'_, '_> {
    /// W4: The Markdown says what it seems to say: no code fence that is never closed, or closed
    /// early by a nested one of the same length (the finding names what it swallowed); no comment
    /// or front matter that is never closed; no text turned into a heading by the rule under it; no
    /// table row cut off by a blank line or by other text, with too many or too few cells, or split by an unescaped
    /// pipe in a code span; no table that is none because its delimiter row has another number of
    /// cells.
    pub(super) fn no_trap(&mut self) {
        let doc = self.doc;
        let outline = &doc.outline;
        let mut drafts = Vec::new();
        let mut after_table: Option<&Table> = None;
        // The last table of this section, and up to where the text behind it was looked at.
        let mut behind: Option<(&Table, usize)> = None;
        let mut early: Option<usize> = None;
        if doc.text.trim_start_matches('\u{feff}').starts_with("---") {
            drafts.extend(self.front_matter());
        }
        for (at, block) in outline.blocks.iter().enumerate() {
            let mut table_here = None;
            if let Some((table, from)) = behind
                && !matches!(block, Block::Paragraph(_) | Block::Task(_))
            {
                let next = start_of(block);
                self.hidden_rows(table, from..next, &mut drafts);
                behind = match block {
                    Block::Heading(_) | Block::ListHeading(_) => None,
                    _ => Some((table, end_of(block))),
                };
            }
            match block {
                Block::Fence(fence) => {
                    // The fence that was closed early opens another one with its own end; that
                    // one is part of the same trap.
                    let part_of_early = early.take().is_some() && fence.closed;
                    if !fence.closed {
                        drafts.push(self.never_closed(fence));
                    } else if !part_of_early
                        && let Some(draft) = self.closed_early(fence, outline.blocks.get(at + 1..))
                    {
                        drafts.push(draft);
                        early = Some(at);
                    }
                }
                Block::Html(range) => drafts.extend(self.comment(range)),
                Block::Heading(heading) if heading.setext => drafts.extend(self.setext(heading)),
                Block::Table(table) => {
                    table_rows(outline, table, &mut drafts);
                    table_here = Some(table);
                    behind = Some((table, table.range.end));
                }
                Block::Paragraph(range)
                    if doc.text.get(range.clone()).is_some_and(|text| text.starts_with('|')) =>
                {
                    let stray = self.stray_row(range, after_table);
                    if let (Some((table, from)), true) = (behind, stray.is_some()) {
                        self.hidden_rows(table, from..range.start, &mut drafts);
                        behind = Some((table, range.end));
                    }
                    drafts.extend(stray);
                }
                _ => {}
            }
            after_table = table_here;
        }
        if let Some((table, from)) = behind {
            self.hidden_rows(table, from..doc.text.len(), &mut drafts);
        }
        for draft in &mut drafts {
            draft.stage = doc.stage_at(draft.range.start);
        }
        self.found.extend(drafts);
    }

    /// A first line `---` with metadata under it and no end: to Markdown a rule and text.
    #[inline(never)]
    fn front_matter(&self) -> Option<Draft> {
        let open = crate::plan::front_matter::unclosed(self.doc.text)?;
        Some(
            Draft::new(
                Code::W4,
                0,
                open,
                "the front matter is never closed, so it is read as text",
            )
            .help("close it with a line `---` behind its last entry"),
        )
    }

    #[cold]
    #[inline(never)]
    fn never_closed(&self, fence: &Fence) -> Draft {
        let text = self.doc.text;
        let source = text.get(fence.range.clone()).unwrap_or_default();
        let line = first_line(source);
        let lines = lines_at(source).count().saturating_sub(1);
        let message = format!(
            "the code fence is never closed: it swallows {}{}",
            counted(lines),
            self.headings_in(&fence.range)
        );
        let (mark, length) = fence_run(line).unwrap_or(('`', 3));
        let close: String = std::iter::repeat_n(mark, length).collect();
        Draft::new(Code::W4, 0, fence.range.start..fence.range.start + line.len(), message)
            .help(format!("close it with a line {close} where the code ends"))
    }

    /// A closed fence that holds a line which opens another fence of the same mark: the author
    /// nested two, and the inner end closed the outer.
    #[inline(never)]
    fn closed_early(&self, fence: &Fence, rest: Option<&[Block]>) -> Option<Draft> {
        let text = self.doc.text;
        let source = text.get(fence.range.clone()).unwrap_or_default();
        let opening = first_line(source);
        let (mark, length) = fence_run(opening)?;
        let (at, inner) = lines_at(source).skip(1).find(|(_, line)| {
            let info = line.trim_start().trim_start_matches(mark);
            fence_run(line).is_some_and(|(other, run)| other == mark && run >= length)
                && !info.trim().is_empty()
                && !info.contains(mark)
        })?;
        let end = self.doc.line(fence.range.end.saturating_sub(1));
        let mut message = format!(
            "the code fence is closed early, at line {end}, by the end of the one nested in it"
        );
        // What the author's own end then opens: the next fence without a word behind it.
        let opened = rest.unwrap_or_default().iter().find_map(|block| match block {
            Block::Fence(next) => Some(next),
            _ => None,
        });
        if let Some(next) = opened {
            let line = first_line(text.get(next.range.clone()).unwrap_or_default());
            if line.trim().chars().all(|ch| ch == mark) {
                let _ = write!(
                    message,
                    "; line {} then opens a fence that swallows what follows{}",
                    self.doc.line(next.range.start),
                    self.headings_in(&next.range)
                );
            }
        }
        let longer: String = std::iter::repeat_n(mark, length + 1).collect();
        let start = fence.range.start;
        Some(
            Draft::new(Code::W4, 0, start..start + opening.len(), message)
                .related("the nested fence", start + at..start + at + inner.len())
                .help(format!("write the outer fence longer: {longer} at both ends")),
        )
    }

    /// ` and the headings '…' (line 7)`: what a fence swallowed.
    fn headings_in(&self, range: &ByteRange) -> String {
        let source = self.doc.text.get(range.clone()).unwrap_or_default();
        let mut names = Vec::new();
        let mut more = 0;
        for (at, line) in lines_at(source).skip(1) {
            let title = line.trim_start_matches('#');
            let hashes = line.len() - title.len();
            // One `#` is a comment in most languages.
            if (2..=6).contains(&hashes) && title.starts_with(' ') {
                if names.len() < MOST_NAMED {
                    names.push(format!(
                        "{} (line {})",
                        quoted(line),
                        self.doc.line(range.start + at)
                    ));
                } else {
                    more += 1;
                }
            }
        }
        if names.is_empty() {
            return String::new();
        }
        if more > 0 {
            names.push(format!("{more} more"));
        }
        format!(", with the headings {}", listed(&names))
    }

    #[cold]
    #[inline(never)]
    fn comment(&self, range: &ByteRange) -> Option<Draft> {
        let source = self.doc.text.get(range.clone()).unwrap_or_default();
        if !source.trim_start().starts_with("<!--") || source.contains("-->") {
            return None;
        }
        let lines = lines_at(source).count().saturating_sub(1);
        let message = format!(
            "the comment is never closed: it swallows {}{}",
            counted(lines),
            self.headings_in(range)
        );
        Some(
            Draft::new(Code::W4, 0, range.start..range.start + first_line(source).len(), message)
                .help("close it with `-->` where the comment ends"),
        )
    }

    /// A paragraph that became a heading by the `---` under it. A heading written so on purpose is
    /// one line, and its rule is about as long as the line.
    #[inline(never)]
    fn setext(&self, heading: &Heading) -> Option<Draft> {
        let source = self.doc.text.get(heading.range.clone())?;
        let lines: Vec<(usize, &str)> = lines_at(source).collect();
        let (&(at, rule), above) = lines.split_last()?;
        let (_, first) = above.first()?;
        let rule_length = rule.trim().len();
        let meant = above.len() == 1
            && (rule_length > 3 || first.trim().chars().count() <= rule_length + 2);
        if meant
            || heading.level != 2
            || crate::plan::heading::stage_heading(&heading.inline.text).is_some()
        {
            return None;
        }
        let start = heading.range.start;
        Some(
            Draft::new(
                Code::W4,
                0,
                start + at..start + at + rule.len(),
                format!("the rule turns the text above it into a heading: {}", quoted(first)),
            )
            .help("put a blank line before the rule"),
        )
    }

    /// Rows of a table that something else swallowed: a list item or a quote that begins above
    /// them, a line of text, a lone pipe. One finding for rows in a row; a table of its own in a
    /// quote is none.
    #[inline(never)]
    fn hidden_rows(&self, table: &Table, range: ByteRange, drafts: &mut Vec<Draft>) {
        let source = self.doc.text.get(range.clone()).unwrap_or_default();
        if !source.contains('|') {
            return;
        }
        let mut run: Option<ByteRange> = None;
        let mut quoted_table = false;
        let mut runs = Vec::new();
        for (at, line) in lines_at(source) {
            let indent = line.len() - line.trim_start().len();
            let row = line.trim_start_matches([' ', '\t', '>', '*', '+', '-']);
            if indent < 4 && row.starts_with('|') && written_cells(row) >= 2 {
                quoted_table |= is_delimiter(row);
                let end = range.start + at + line.trim_end().len();
                run.get_or_insert(range.start + at + indent..end);
            } else if let Some(first) = run.take() {
                runs.extend((!quoted_table).then_some(first));
                quoted_table = false;
            }
        }
        runs.extend(run.filter(|_| !quoted_table));
        for place in runs {
            let message = format!(
                "the row is no part of the table of line {}: what stands before it cuts it off",
                self.doc.line(table.range.start)
            );
            drafts.push(
                Draft::new(Code::W4, 0, place, message).help(
                    "put it right under the table's last row, without anything before its `|`",
                ),
            );
        }
    }

    /// A paragraph that looks like a row of a table.
    #[inline(never)]
    fn stray_row(&self, range: &ByteRange, after_table: Option<&Table>) -> Option<Draft> {
        let source = self.doc.text.get(range.clone())?;
        let mut lines = lines_at(source);
        let (_, first) = lines.next()?;
        let cells = written_cells(first);
        if !first.trim_start().starts_with('|') || cells < 2 {
            return None;
        }
        let place = range.start..range.start + first.trim_end().len();
        let delimiter = lines.next().map(|(_, line)| line).filter(|line| is_delimiter(line));
        let draft = |message: String, help: &str| {
            Some(Draft::new(Code::W4, 0, place.clone(), message).help(help))
        };
        if let Some(delimiter) = delimiter {
            return draft(
                format!(
                    "this is no table: its header has {cells} cells, the row under it {}",
                    written_cells(delimiter)
                ),
                "give both rows the same number of cells",
            );
        }
        match after_table {
            Some(table) => draft(
                format!(
                    "the row is cut off from the table of line {} by a blank line",
                    self.doc.line(table.range.start)
                ),
                "take the blank line out",
            ),
            None => draft(
                String::from("the row stands outside a table"),
                "put it under a header row and a delimiter row",
            ),
        }
    }
}

/// Where a block begins.
fn start_of(block: &Block) -> usize {
    match block {
        Block::Heading(heading) | Block::ListHeading(heading) => heading.line_start,
        Block::Table(table) => table.range.start,
        Block::Fence(fence) => fence.range.start,
        Block::Task(task) => task.range.start,
        Block::Paragraph(range) | Block::Html(range) => range.start,
    }
}

/// Where a block ends.
fn end_of(block: &Block) -> usize {
    match block {
        Block::Heading(heading) | Block::ListHeading(heading) => heading.range.end,
        Block::Table(table) => table.range.end,
        Block::Fence(fence) => fence.range.end,
        Block::Task(task) => task.range.end,
        Block::Paragraph(range) | Block::Html(range) => range.end,
    }
}

fn is_delimiter(line: &str) -> bool {
    line.contains('-') && line.chars().all(|ch| matches!(ch, '|' | '-' | ':' | ' ' | '\t'))
}

fn table_rows(outline: &Outline<'_>, table: &Table, drafts: &mut Vec<Draft>) {
    let width = outline.cells(&table.header).len();
    for row in &table.rows {
        let source = outline.text.get(row.range.clone()).unwrap_or_default();
        if row.written != width || !row.is_row(width) || source.contains('`') {
            drafts.extend(table_row(source, row, width));
        }
    }
}

#[inline(never)]
fn table_row(source: &str, row: &Row, width: usize) -> Option<Draft> {
    let draft = |message: String| Draft::new(Code::W4, 0, row.range.clone(), message);
    if !row.is_row(width) {
        let message = format!("the text {} is read as a row of the table above", quoted(source));
        return Some(draft(message).help("put a blank line before it"));
    }
    if splits_code(source) {
        return Some(
            draft(String::from("an unescaped pipe in a code span splits the cell"))
                .help("write the pipe as `\\|`"),
        );
    }
    if row.written == width {
        return None;
    }
    let message = format!(
        "the row has {} cell{}, the table {width}",
        row.written,
        if row.written == 1 { "" } else { "s" }
    );
    Some(draft(message).help(if row.written > width {
        "the cells over it are lost: escape a pipe that is text as `\\|`"
    } else {
        "add the missing cells"
    }))
}

/// Whether an unescaped pipe stands inside what was meant as a code span: between two runs of
/// backticks of the same length, the first with code right behind it. Linear in the row.
fn splits_code(row: &str) -> bool {
    if !row.contains('`') {
        return false;
    }
    let runs = backtick_runs(row);
    // For each run the next one of the same length.
    let by_length =
        order(runs.len(), &|at| runs.get(at).map_or((0, 0), |run| (run.length as u64, 0)));
    let mut next = vec![None; runs.len()];
    for pair in by_length.windows(2) {
        if let [first, second] = pair
            && runs.get(*first).map(|run| run.length) == runs.get(*second).map(|run| run.length)
            && let Some(slot) = next.get_mut(*first)
        {
            *slot = Some(*second);
        }
    }
    let mut at = 0;
    while let Some(run) = runs.get(at) {
        let end = next.get(at).copied().flatten();
        at = match end.and_then(|end| Some((end, runs.get(end)?))) {
            Some((end, closing)) if closing.pipes == run.pipes => end + 1,
            Some(_) if !run.blank_behind => return true,
            // A blank behind the backtick: two lone ones as often as a span.
            _ => at + 1,
        };
    }
    false
}

/// A run of backticks in a row.
struct Run {
    length: usize,
    /// Unescaped pipes before it.
    pipes: usize,
    blank_behind: bool,
}

fn backtick_runs(row: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut pipes = 0;
    let mut previous = None;
    for byte in row.bytes() {
        match (byte, previous) {
            (b'`', Some(b'`')) => {
                if let Some(run) = runs.last_mut() {
                    run.length += 1;
                }
            }
            (b'`', _) => runs.push(Run { length: 1, pipes, blank_behind: false }),
            (b' ', Some(b'`')) => {
                if let Some(run) = runs.last_mut() {
                    run.blank_behind = true;
                }
            }
            (b'|', Some(b'\\')) => {}
            (b'|', _) => pipes += 1,
            _ => {}
        }
        previous = Some(byte);
    }
    runs
}

fn first_line(source: &str) -> &str {
    lines_at(source).next().map_or("", |(_, line)| line)
}

/// `1 line`, `2 lines`.
fn counted(lines: usize) -> String {
    format!("{lines} line{}", if lines == 1 { "" } else { "s" })
}
