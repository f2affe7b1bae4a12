//! The Stage Map itself: S1, S2, S6, S7.

use std::fmt::Write as _;

use super::{Checker, listed, quoted};
use crate::finding::{Code, Draft, DraftEdit};
use crate::order;
use crate::plan::depends_on::Unreadable;
use crate::plan::heading;
use crate::plan::outline::{Block, lines_at};
use crate::plan::sections::IN_LIST;
use crate::plan::stage_map::{COLUMNS, MapHeading, MapRow};
use crate::source::ByteRange;

impl Checker<'_, '_> {
    /// S1: A plan has one level-2 heading `<section> Stage Map`, and under it one table with the
    /// columns `stage`, `title`, `depends-on`, `step-count` and `exit-contract-summary`, found by
    /// name in any case and order, with at least one row. Two Stage Maps are ambiguous: nothing is
    /// read from either. Headings in code fences, comments and block quotes are text.
    pub(super) fn exactly_one_map(&mut self) {
        match self.doc.maps.as_slice() {
            [only] => self.map_table(&only.range),
            maps => self.not_one_map(maps),
        }
    }

    #[cold]
    #[inline(never)]
    fn not_one_map(&mut self, maps: &[MapHeading]) {
        let draft = |range: ByteRange, message: &str| Draft::new(Code::S1, 0, range, message);
        match maps {
            [] => {
                let mut message = String::from("section '## 4.5 Stage Map' is missing");
                let near = self.map_near_miss();
                if let Some((range, why)) = &near {
                    let _ = write!(message, ": line {} {why}", self.doc.line(range.start));
                }
                let mut missing = draft(0..0, &message).help(format!(
                    "add the level-2 heading `## 4.5 Stage Map` and a table with the columns {}",
                    COLUMNS.join(" | ")
                ));
                if let Some((range, why)) = near {
                    missing = missing.related(format!("this {why}"), range);
                }
                self.add(missing);
            }
            [only] => self.map_table(&only.range),
            [first, .., last] => {
                let lines: Vec<u32> =
                    maps.iter().map(|map| self.doc.line(map.range.start)).collect();
                let message = format!("more than one Stage Map: lines {}", listed(&lines));
                self.add(
                    draft(last.range.clone(), &message)
                        .related("the first one", first.range.clone())
                        .help("keep one heading `Stage Map`; rename the others or put them in a comment"),
                );
            }
        }
    }

    fn map_table(&mut self, heading: &ByteRange) {
        let map = &self.doc.map;
        let whole = map.table.is_some()
            && map.missing_columns.is_empty()
            && map.other_tables.is_empty()
            && !map.rows.is_empty();
        if !whole {
            self.faulty_table(heading.clone());
        }
    }

    #[cold]
    #[inline(never)]
    fn faulty_table(&mut self, heading: ByteRange) {
        let map = &self.doc.map;
        let Some(table) = map.table.clone() else {
            let mut draft = Draft::new(Code::S1, 0, heading, "the Stage Map has no table")
                .help("add a table with the columns ".to_owned() + &COLUMNS.join(" | "));
            if let Some(other) = map.unlike_tables.first() {
                draft = draft
                    .related("this table has no columns `stage` and `depends-on`", other.clone());
            }
            self.add(draft);
            return;
        };
        let mut drafts = Vec::new();
        if !map.missing_columns.is_empty() {
            let message = format!("the Stage Map has no column {}", listed(&map.missing_columns));
            drafts.push(
                Draft::new(Code::S1, 0, table.clone(), message)
                    .help("the columns are ".to_owned() + &COLUMNS.join(" | ")),
            );
        }
        if map.rows.is_empty() {
            drafts.push(
                Draft::new(Code::S1, 0, table.clone(), "the Stage Map has no row")
                    .help("add one row a stage; the first is `| 1 | <title> | (none) | <steps> | <contract> |`"),
            );
        }
        for other in &map.other_tables {
            let message = format!(
                "more than one Stage Map table: lines {} and {}",
                self.doc.line(table.start),
                self.doc.line(other.start)
            );
            drafts.push(
                Draft::new(Code::S1, 0, other.clone(), message)
                    .related("the first one", table.clone())
                    .help("put all rows into one table, without blank lines between them"),
            );
        }
        self.found.extend(drafts);
    }

    /// Something that was meant as the Stage Map heading: another level, a line that is no
    /// heading, or a heading inside a code fence.
    fn map_near_miss(&self) -> Option<(ByteRange, String)> {
        let text = self.doc.text;
        let mut fenced = None;
        for block in &self.doc.outline.blocks {
            match block {
                Block::Heading(heading) if heading::begins_like_map(&heading.inline.text) => {
                    let why = if heading.level == 2 {
                        String::from("is another heading: a note belongs in parentheses")
                    } else {
                        format!("is a heading of level {}, not 2", heading.level)
                    };
                    return Some((heading.range.clone(), why));
                }
                Block::ListHeading(heading) if heading::begins_like_map(&heading.inline.text) => {
                    return Some((heading.range.clone(), String::from(IN_LIST)));
                }
                Block::Paragraph(range) | Block::Html(range) => {
                    if let Some(line) = map_line(text, range) {
                        return Some((
                            line,
                            String::from(
                                "is no heading: it needs `## ` at the beginning of the line",
                            ),
                        ));
                    }
                }
                Block::Fence(fence) if fenced.is_none() => {
                    fenced = map_line(text, &fence.range).map(|line| {
                        (line, String::from("stands inside a code fence, so it is text"))
                    });
                }
                _ => {}
            }
        }
        fenced
    }

    /// S2: Stages are numbered 1, 2, 3 … in the order of their rows; a struck out row keeps its
    /// number. A number that cannot be read is a finding at its cell, never a row that vanishes.
    /// The repair renumbers the rows and everything that refers to them: `depends-on`, section
    /// headings, and mentions such as `Stage 2` and `stage-2.json` all over the plan. It is withheld
    /// where a row is cut off or has cells too many or too few (W4), where a number stands twice or cannot be read, and where a dependency names a number that no
    /// row has, since renumbering could then connect the wrong stages.
    pub(super) fn numbered_in_order(&mut self) {
        let doc = self.doc;
        let mut misnumbered = false;
        for (at, row) in doc.map.rows.iter().enumerate() {
            let expected = u32::try_from(at + 1).unwrap_or(u32::MAX);
            if row.stage == Some(expected) {
                continue;
            }
            let first = !misnumbered;
            misnumbered = true;
            self.misnumbered(row, expected, first);
        }
    }

    #[cold]
    #[inline(never)]
    fn misnumbered(&mut self, row: &MapRow, expected: u32, first: bool) {
        let got = row
            .stage
            .map_or_else(|| cell_text(self.doc.text, &row.stage_cell), |stage| stage.to_string());
        let message = format!("stage numbers must be 1..N monotonic, got {got} at row {expected}");
        let mut draft = Draft::new(Code::S2, row.number(), row.stage_cell.clone(), message)
            .help(format!("this row is stage {expected}"));
        // The whole repair hangs on the first finding: it mends all of them at once.
        if first {
            let edits = crate::fix::renumber(self.doc);
            if !edits.is_empty() {
                draft = draft.fix("renumber the stages and every reference to them", edits);
            }
        }
        self.found.push(draft);
    }

    /// S6: The `depends-on` cell is `(none)` or names stages of this plan. Careless forms are read
    /// too (see W2); what cannot be read beyond doubt is an error that quotes the text, and never
    /// counts as "no dependencies". A cancelled stage cannot be depended on.
    pub(super) fn readable_dependencies(&mut self) {
        let doc = self.doc;
        let mut known = None;
        for (at, row) in doc.map.rows.iter().enumerate().filter(|(_, row)| !row.cancelled) {
            let plain = row.depends_on.unreadable.is_none()
                && doc.overflow != Some(at)
                && row.depends_on.items.iter().all(|item| {
                    item.first == item.last && doc.row_of.contains(item.first) && !doc.has_cancelled
                });
            if !plain {
                self.careful_dependencies(at, row, &mut known);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn careful_dependencies(&mut self, at: usize, row: &MapRow, known: &mut Option<Known>) {
        let known = known.get_or_insert_with(|| Known::new(&self.doc.map.rows));
        let mut drafts = Vec::new();
        if let Some(why) = &row.depends_on.unreadable {
            drafts.push(self.unreadable(row, why));
        }
        let items = row.depends_on.items.as_slice();
        let mut missing: Vec<u32> =
            items.iter().filter_map(|item| known.first_missing(item.first, item.last)).collect();
        order::sort(&mut missing);
        missing.dedup();
        for stage in missing {
            let message = format!("depends-on {stage} does not exist");
            drafts.push(at_dependencies(row, message).help(known.extent()));
        }
        let cancelled = items.iter().filter_map(|item| {
            let (first, others) = known.cancelled_in(item.first, item.last).split_first()?;
            Some((*first, others.len()))
        });
        let mut cancelled = order::sorted(cancelled.collect(), |(stage, others)| {
            (u64::from(*stage), u64::MAX - *others as u64)
        });
        cancelled.dedup_by_key(|(stage, _)| *stage);
        for (stage, others) in cancelled {
            drafts.extend(self.cancelled(row, stage, others));
        }
        if self.doc.overflow == Some(at) {
            let message =
                format!("the plan names more than {} dependencies", crate::plan::MOST_DEPENDENCIES);
            let help = "name only the stages a stage builds on directly";
            drafts.push(at_dependencies(row, message).help(help));
        }
        self.found.extend(drafts);
    }

    fn unreadable(&self, row: &MapRow, why: &Unreadable) -> Draft {
        let reason = match why {
            Unreadable::Missing => {
                let message = String::from("depends-on is missing: the row has no such cell");
                return at_dependencies(row, message).help(FORMS);
            }
            Unreadable::OnlyComment => String::from("it holds only a comment"),
            Unreadable::Struck => String::from("some of it is struck out"),
            Unreadable::All => String::from("it names no stage"),
            Unreadable::Reversed(text) => format!("the range {} runs backwards", quoted(text)),
            Unreadable::Open(text) => format!("the range {} has no end", quoted(text)),
            Unreadable::Ambiguous(text) => {
                format!("{} may mean both stages or either", quoted(text))
            }
            Unreadable::Words(text) if text.is_empty() => {
                String::from("an entry of the list is empty")
            }
            Unreadable::Words(text) => format!("{} is no stage", quoted(text)),
        };
        let help =
            if *why == Unreadable::All { self.earlier_stages(row) } else { FORMS.to_owned() };
        let message = format!("depends-on {} cannot be read: {reason}", self.cell_quoted(row));
        at_dependencies(row, message).help(help)
    }

    fn cell_quoted(&self, row: &MapRow) -> String {
        quoted(self.doc.text.get(row.depends_on_cell.clone()).unwrap_or_default())
    }

    fn earlier_stages(&self, row: &MapRow) -> String {
        let rows = &self.doc.map.rows;
        let at = rows.partition_point(|other| other.range.start < row.range.start);
        if at > MOST_LISTED {
            return String::from("write the earlier stages out, as numbers");
        }
        let earlier: Vec<String> = rows
            .iter()
            .take(at)
            .filter(|other| !other.cancelled)
            .filter_map(|other| other.stage.map(|stage| stage.to_string()))
            .collect();
        if earlier.is_empty() {
            String::from("no stage stands before this one: write `(none)`")
        } else {
            format!("write the earlier stages out: `{}`", earlier.join(", "))
        }
    }

    /// A dependency on a cancelled stage; of a range, the first and how many more.
    fn cancelled(&self, row: &MapRow, stage: u32, others: usize) -> Option<Draft> {
        let other = self.doc.map.rows.get(self.doc.row_of.get(stage)?)?;
        let more = match others {
            0 => String::new(),
            count => format!(", like {count} more of the range"),
        };
        Some(
            at_dependencies(row, format!("depends-on {stage} is cancelled{more}"))
                .related("struck out here", other.stage_cell.clone())
                .help("depend on the stage that does its work now, or on none"),
        )
    }

    /// S7: The `step-count` cell is the number of effective steps of the stage's section. Without a
    /// section there is nothing to compare, unless the announced number is over the limit, which no
    /// section could make right.
    pub(super) fn true_step_count(&mut self) {
        // Without the column there is one S1, not a finding a row.
        if self.doc.map.missing_columns.contains(&"step-count") {
            return;
        }
        let doc = self.doc;
        for row in doc.map.rows.iter().filter(|row| !row.cancelled) {
            let real = match doc.section(row) {
                // A subsection without a table of steps is an S4; counting it as 0 would only
                // repeat that.
                Some(section)
                    if !section.has_step_table
                        && section.subsections.get(1).is_some_and(Option::is_some) =>
                {
                    continue;
                }
                Some(section) => section.steps.len(),
                None if row.step_count.is_some_and(|count| count > self.options.max_steps) => 0,
                None => continue,
            };
            if row.step_count.map(|count| count as usize) == Some(real) {
                continue;
            }
            self.wrong_step_count(row, real);
        }
    }

    #[cold]
    #[inline(never)]
    fn wrong_step_count(&mut self, row: &MapRow, real: usize) {
        let announced = match row.step_count {
            Some(count) => count.to_string(),
            None if row.step_count_text.is_empty() => String::from("''"),
            None => quoted(&row.step_count_text),
        };
        let message = format!("Stage Map step-count={announced} but real count={real}");
        let mut draft = Draft::new(Code::S7, row.number(), row.step_count_cell.clone(), message);
        // Without any step the table is more likely at fault than the number.
        if row.step_count_written
            && real > 0
            && self.doc.section(row).is_some_and(|section| section.has_step_table)
        {
            draft = draft.replace(
                format!("write the real count, {real}"),
                row.step_count_cell.clone(),
                padded(self.doc.text, &row.step_count_cell, &real.to_string()),
            );
        } else {
            draft = draft.help("add the stage's section with its steps, or correct the number");
        }
        self.found.push(draft);
    }
}

/// A finding at the `depends-on` cell of a row.
fn at_dependencies(row: &MapRow, message: String) -> Draft {
    Draft::new(Code::S6, row.number(), row.depends_on_cell.clone(), message)
}

/// The canonical forms of `depends-on`, for help texts.
const FORMS: &str = "write `(none)`, or stage numbers separated by commas such as `1, 2`";

/// Up to this many earlier rows a help text lists.
const MOST_LISTED: usize = 50;

/// The stage numbers of a map, prepared for looking ranges up.
struct Known {
    /// Ascending, each with the last number of the unbroken run it begins or continues.
    runs: Vec<(u32, u32)>,
    cancelled: Vec<u32>,
}

impl Known {
    fn new(rows: &[MapRow]) -> Self {
        let mut numbers: Vec<u32> = rows.iter().filter_map(|row| row.stage).collect();
        order::sort(&mut numbers);
        numbers.dedup();
        let mut runs: Vec<(u32, u32)> = Vec::with_capacity(numbers.len());
        for &number in numbers.iter().rev() {
            let end = runs
                .last()
                .filter(|(next, _)| number.checked_add(1) == Some(*next))
                .map_or(number, |run| run.1);
            runs.push((number, end));
        }
        runs.reverse();
        let mut cancelled: Vec<u32> =
            rows.iter().filter(|row| row.cancelled).filter_map(|row| row.stage).collect();
        order::sort(&mut cancelled);
        cancelled.dedup();
        Self { runs, cancelled }
    }

    fn first_missing(&self, first: u32, last: u32) -> Option<u32> {
        let at = self.runs.partition_point(|(number, _)| *number < first);
        match self.runs.get(at) {
            Some(&(number, end)) if number == first => {
                end.checked_add(1).filter(|next| *next <= last)
            }
            _ => Some(first),
        }
    }

    fn cancelled_in(&self, first: u32, last: u32) -> &[u32] {
        let from = self.cancelled.partition_point(|stage| *stage < first);
        let to = self.cancelled.partition_point(|stage| *stage <= last);
        self.cancelled.get(from..to).unwrap_or_default()
    }

    fn extent(&self) -> String {
        match self.runs.as_slice() {
            [] => String::from("no stage can be depended on"),
            [(only, _)] => format!("the plan has stage {only}"),
            [(first, _), .., (last, _)] => {
                format!("the plan has {} stages, {first} to {last}", self.runs.len())
            }
        }
    }
}

/// New text for a cell; an empty cell gets the blanks it needs to stand apart from its pipes.
pub(super) fn padded(text: &str, cell: &ByteRange, new: &str) -> String {
    if !cell.is_empty() {
        return new.to_owned();
    }
    let before = text.get(..cell.start).is_some_and(|before| before.ends_with('|'));
    let after = text.get(cell.end..).is_some_and(|after| after.starts_with('|'));
    format!("{}{new}{}", if before { " " } else { "" }, if after { " " } else { "" })
}

/// The source of a cell for a message.
fn cell_text(text: &str, cell: &ByteRange) -> String {
    quoted(text.get(cell.clone()).unwrap_or_default())
}

fn map_line(text: &str, range: &ByteRange) -> Option<ByteRange> {
    let source = text.get(range.clone())?;
    lines_at(source).find_map(|(at, line)| {
        let plain =
            line.trim_start_matches(|ch: char| ch.is_whitespace() || matches!(ch, '#' | '*' | '_'));
        // Prose may speak of the Stage Map; a heading is short and has nothing behind it.
        let bare =
            plain.trim_end_matches(|ch: char| ch.is_whitespace() || matches!(ch, '*' | '_' | '#'));
        heading::map_heading(bare)?;
        let start = range.start + at;
        Some(start..start + line.trim_end().len())
    })
}

/// An edit of one cell.
pub(super) fn cell_edit(text: &str, cell: &ByteRange, new: &str) -> DraftEdit {
    DraftEdit { range: cell.clone(), text: padded(text, cell, new) }
}
