//! The Stage Map: its heading, its table, its rows.

use super::depends_on::{self, DependsOn};
use super::number;
use super::outline::{Block, Cell, Heading, Outline, Row, Table};
use super::{heading, outline};
use crate::source::ByteRange;

/// The columns of the Stage Map, in canonical order.
pub(crate) const COLUMNS: [&str; 5] =
    ["stage", "title", "depends-on", "step-count", "exit-contract-summary"];

/// A level-2 heading `<section> Stage Map`.
#[derive(Debug)]
pub(crate) struct MapHeading {
    /// Its index in [`Outline::blocks`].
    pub(crate) block: usize,
    pub(crate) range: ByteRange,
    pub(crate) line_start: usize,
    /// The number before the words, canonical.
    pub(crate) number: Option<String>,
}

/// The Stage Map that counts.
#[derive(Debug, Default)]
pub(crate) struct StageMap {
    /// The table with the columns `stage` and `depends-on`, or `None`.
    pub(crate) table: Option<ByteRange>,
    /// Columns the table lacks.
    pub(crate) missing_columns: Vec<&'static str>,
    /// Where another such table begins in the same section.
    pub(crate) other_tables: Vec<ByteRange>,
    /// Tables of the section that are no Stage Map: the near miss of an S1.
    pub(crate) unlike_tables: Vec<ByteRange>,
    pub(crate) rows: Vec<MapRow>,
}

/// A row of the Stage Map.
#[derive(Debug)]
pub(crate) struct MapRow {
    pub(crate) range: ByteRange,
    /// The number; `None` where the cell is no number.
    pub(crate) stage: Option<u32>,
    pub(crate) cancelled: bool,
    pub(crate) title: String,
    pub(crate) depends_on: DependsOn,
    pub(crate) step_count: Option<u32>,
    /// The text of the step-count cell.
    pub(crate) step_count_text: String,
    pub(crate) summary: String,
    pub(crate) stage_cell: ByteRange,
    pub(crate) title_cell: ByteRange,
    pub(crate) depends_on_cell: ByteRange,
    pub(crate) step_count_cell: ByteRange,
    /// Whether the step-count cell is there to be repaired.
    pub(crate) step_count_written: bool,
}

impl MapRow {
    /// The number for findings: 0 where it cannot be read.
    pub(crate) fn number(&self) -> u32 {
        self.stage.unwrap_or(0)
    }
}

/// The Stage Map headings of a document, in order.
#[inline(never)]
pub(crate) fn headings(outline: &Outline<'_>) -> Vec<MapHeading> {
    let mut found = Vec::new();
    for (block, each) in outline.blocks.iter().enumerate() {
        if let Block::Heading(Heading { level: 2, range, line_start, inline, .. }) = each
            && let Some(heading::MapTitle { number }) = heading::map_heading(&inline.text)
        {
            found.push(MapHeading { block, range: range.clone(), line_start: *line_start, number });
        }
    }
    found
}

/// Reads the table under a Stage Map heading. The section ends at the next heading of level 1
/// or 2; a table under a deeper heading still belongs to it.
#[inline(never)]
pub(crate) fn read(outline: &Outline<'_>, heading: &MapHeading) -> StageMap {
    let mut map = StageMap::default();
    for block in outline.blocks.iter().skip(heading.block + 1) {
        match block {
            Block::Heading(heading) if heading.level <= 2 => break,
            Block::Table(table) => {
                if outline.column(table, "stage").is_none()
                    || outline.column(table, "depends-on").is_none()
                {
                    map.unlike_tables.push(table.range.clone());
                } else if map.table.is_some() {
                    map.other_tables.push(table.header.range.clone());
                } else {
                    read_table(outline, table, &mut map);
                }
            }
            _ => {}
        }
    }
    map
}

#[inline(never)]
fn read_table(outline: &Outline<'_>, table: &Table, map: &mut StageMap) {
    map.table = Some(table.header.range.clone());
    let columns = COLUMNS.map(|name| outline.column(table, name));
    for (name, column) in COLUMNS.iter().zip(columns) {
        if column.is_none() {
            map.missing_columns.push(name);
        }
    }
    let width = outline.cells(&table.header).len();
    for row in &table.rows {
        if row.is_row(width) && !is_blank(outline, row) {
            map.rows.push(read_row(outline, row, columns));
        }
    }
}

/// A row whose cells are all empty or dashes: a spare line or a second delimiter, no stage.
fn is_blank(outline: &Outline<'_>, row: &Row) -> bool {
    outline.cells(row).iter().all(|cell| {
        cell.plain(outline.text).chars().all(|ch| matches!(ch, '-' | ':') || ch.is_whitespace())
    })
}

#[inline(never)]
fn read_row(outline: &Outline<'_>, row: &Row, columns: [Option<usize>; 5]) -> MapRow {
    let text = outline.text;
    let cells = outline.cells(row);
    let [stage, title, depends, steps, summary] =
        columns.map(|column| column.and_then(|at| cells.get(at)));
    let end = row.range.end..row.range.end;
    let place = |cell: Option<&Cell>| cell.map_or_else(|| end.clone(), |cell| cell.range.clone());
    let plain =
        |cell: Option<&Cell>| cell.map(|cell| single_line(cell.plain(text))).unwrap_or_default();
    let sure = |cell: Option<&Cell>| !cell.is_some_and(Cell::joins_digits);
    let stage_text = plain(stage);
    let step_count_text = plain(steps);
    MapRow {
        range: row.range.clone(),
        stage: number::read(&stage_text).map(|number| number.value).filter(|_| sure(stage)),
        cancelled: stage.is_some_and(Cell::is_struck),
        title: plain(title),
        depends_on: depends_on::read(text, depends),
        step_count: number::count(&step_count_text)
            .filter(|_| sure(steps) && !steps.is_some_and(Cell::is_struck)),
        step_count_text,
        summary: plain(summary),
        stage_cell: place(stage),
        title_cell: place(title),
        depends_on_cell: place(depends),
        step_count_cell: place(steps),
        step_count_written: steps.is_some_and(|cell| cell.written),
    }
}

/// Text of a cell in one line: `<br>` becomes a blank.
fn single_line(text: &str) -> String {
    if text.contains('\n') {
        outline::lines(text).collect::<Vec<_>>().join(" ")
    } else {
        text.to_owned()
    }
}
