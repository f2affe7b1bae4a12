//! Stage sections, their subsections, and the steps in them.

use std::ops::Range;

use super::files::{self, StepFile};
use super::heading::{self, folded, is_name};
use super::outline::{Block, Cell, Heading, Outline, Table, lines_at};
use super::unicode::composed;
use crate::source::ByteRange;

/// The subsections of a stage, in canonical order.
pub(crate) const SUBSECTIONS: [&str; 4] =
    ["Carry-In", "Stepwise Execution Order", "Stage Exit Contract", "Stage Validation"];

/// [`SUBSECTIONS`] as names are compared.
const FOLDED: [&str; 4] =
    ["carry-in", "stepwise execution order", "stage exit contract", "stage validation"];

/// The place of `Stepwise Execution Order` in [`SUBSECTIONS`].
pub(crate) const STEPWISE: usize = 1;

/// The columns of a step table, in canonical order.
pub(crate) const STEP_COLUMNS: [&str; 5] = ["step", "action", "files", "command", "expected"];

/// A level-2 heading `<section>.<i> Stage <i>: <title>` with what belongs to it.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) stage: u32,
    pub(crate) title: String,
    /// The heading from its first character to the end of its line.
    pub(crate) heading: ByteRange,
    /// The title in the heading; empty at the end of the line where there is none.
    pub(crate) title_range: ByteRange,
    /// The heading's whole source, from the beginning of its line.
    pub(crate) source: ByteRange,
    /// The number before `Stage` without its last part: the Stage Map's number, or the heading's
    /// own where that has none.
    base: Option<String>,
    /// The title as written, markup included, with the note that belongs behind it.
    written_title: String,
    /// The whole section.
    pub(crate) range: ByteRange,
    /// The four subsections.
    pub(crate) subsections: [Option<Subsection>; 4],
    /// For each subsection that may be missing: a heading that comes close, and why it is none.
    pub(crate) near: [Option<NearMiss>; 4],
    pub(crate) steps: Vec<StepRow>,
    /// Whether there is a step table.
    pub(crate) has_step_table: bool,
    /// Where a table stands that is no step table.
    pub(crate) unlike_table: Option<ByteRange>,
}

impl Section {
    /// The heading as it should be written, for any stage number; `title` stands in where the
    /// heading has none.
    pub(crate) fn canonical_heading(&self, stage: u32, title: &str) -> String {
        let number = match &self.base {
            Some(base) if base.is_empty() => format!("{stage} "),
            Some(base) => format!("{base}.{stage} "),
            None => String::new(),
        };
        let title = if self.written_title.is_empty() { title } else { &self.written_title };
        let heading = format!("## {number}Stage {stage}: {title}");
        composed(heading.trim_end()).into_owned()
    }
}

/// One of the four subsections.
#[derive(Debug)]
pub(crate) struct Subsection {
    pub(crate) level: u8,
    /// The heading line.
    pub(crate) heading: ByteRange,
    /// What is under it.
    pub(crate) body: ByteRange,
}

/// Something that comes close to what is missing.
#[derive(Clone, Debug)]
pub(crate) struct NearMiss {
    pub(crate) range: ByteRange,
    /// Why it does not count, as the end of a sentence that begins with the line.
    pub(crate) why: String,
}

/// An effective row of a step table.
#[derive(Debug)]
pub(crate) struct StepRow {
    pub(crate) range: ByteRange,
    /// The cells of `step`, `action`, `command`, `expected`.
    pub(crate) cells: [Option<Cell>; 4],
    pub(crate) files: Vec<StepFile>,
    pub(crate) files_cell: ByteRange,
}

/// The stage sections of a document, and what only comes close to one.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) found: Vec<Section>,
    /// In source order, with the stage they seem to be meant for.
    pub(crate) near: Vec<(u32, NearMiss)>,
}

/// Finds every stage section. `map_number` is the number of the Stage Map heading.
#[inline(never)]
pub(crate) fn read(outline: &Outline<'_>, map_number: Option<&str>) -> Sections {
    let mut sections = Sections::default();
    let mut open: Option<(Section, Range<usize>)> = None;
    let mut orphan_of: Option<usize> = None;
    for (index, block) in outline.blocks.iter().enumerate() {
        match block {
            Block::Heading(heading) => {
                if heading.level <= 2 {
                    orphan_of =
                        close(outline, &mut sections, open.take(), index, heading.line_start)
                            .or(orphan_of);
                }
                match recognise(outline.text, heading, map_number) {
                    Recognised::Section(section) => {
                        orphan_of = None;
                        open = Some((*section, index + 1..index + 1));
                    }
                    Recognised::Near(stage, why) => {
                        sections.near.push((stage, NearMiss { range: heading.range.clone(), why }));
                    }
                    Recognised::No => {
                        if open.is_none() {
                            orphan(&mut sections, orphan_of, heading);
                        }
                    }
                }
            }
            Block::ListHeading(heading) => {
                in_list(outline.text, heading, map_number, &mut sections.near);
            }
            Block::Paragraph(range) => {
                near_lines(outline.text, range, map_number, &mut sections.near);
            }
            _ => {}
        }
    }
    close(outline, &mut sections, open, outline.blocks.len(), outline.text.len());
    sections
}

enum Recognised {
    Section(Box<Section>),
    Near(u32, String),
    No,
}

#[inline(never)]
fn recognise(text: &str, heading: &Heading, map_number: Option<&str>) -> Recognised {
    let plain = heading.inline.text.as_str();
    let Some(found) = heading::stage_heading(plain) else {
        return Recognised::No;
    };
    let stage = found.stage;
    if let Some(why) = misnumbered(&found, map_number) {
        return Recognised::Near(stage, why);
    }
    if heading.level != 2 {
        return Recognised::Near(stage, format!("is a heading of level {}, not 2", heading.level));
    }
    let Some(title_at) = found.title_at else {
        return Recognised::Near(stage, String::from("has no colon behind the stage number"));
    };
    let title = plain.get(title_at..).unwrap_or_default().trim().to_owned();
    let source = heading.inline.source_from(title_at).filter(|_| !title.is_empty());
    let end = heading.range.end..heading.range.end;
    let title_range = source.clone().unwrap_or_else(|| {
        if title.is_empty() || heading.setext { end } else { heading.range.clone() }
    });
    // A setext heading may run over several lines; the canonical form has one.
    let as_written = source.clone().and_then(|range| text.get(range)).map(str::trim);
    let written = match as_written.filter(|written| !written.contains(['\n', '\r'])) {
        Some(written) => written.to_owned(),
        None => escaped(&title),
    };
    let base = match map_number {
        Some(map) => Some(map.to_owned()),
        None => {
            found.number.split_last().map(|(_, base)| heading::dotted(base).unwrap_or_default())
        }
    };
    let note = found.note.map(|note| format!(" {note}")).unwrap_or_default();
    Recognised::Section(Box::new(Section {
        stage,
        title,
        heading: heading.range.clone(),
        title_range,
        source: heading.line_start..heading.range.end,
        base,
        written_title: format!("{written}{note}"),
        range: heading.line_start..heading.range.end,
        subsections: [const { None }; 4],
        near: [const { None }; 4],
        steps: Vec::new(),
        has_step_table: false,
        unlike_table: None,
    }))
}

/// Why the number before `Stage` makes this another heading, if it does.
fn misnumbered(found: &heading::StageHeading, map_number: Option<&str>) -> Option<String> {
    let (last, base) = found.number.split_last()?;
    if *last != found.stage {
        return Some(format!("has the number {last} in front and {} behind `Stage`", found.stage));
    }
    let map = map_number?;
    let base = heading::dotted(base).unwrap_or_default();
    (base != map).then(|| format!("does not begin with the Stage Map's number {map}"))
}

/// Plain text as Markdown that reads as that text.
#[cold]
#[inline(never)]
fn escaped(plain: &str) -> String {
    let mut text = String::with_capacity(plain.len());
    for ch in plain.chars() {
        // A heading is one line, whatever `<br>` or `&#10;` made of it.
        let ch = if matches!(ch, '\n' | '\r') { ' ' } else { ch };
        if matches!(ch, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '&') {
            text.push('\\');
        }
        text.push(ch);
    }
    text
}

/// Reads what is inside a section that ends at `end`; returns its place in `sections.found`.
fn close(
    outline: &Outline<'_>,
    sections: &mut Sections,
    open: Option<(Section, Range<usize>)>,
    end_block: usize,
    end: usize,
) -> Option<usize> {
    let (mut section, mut blocks) = open?;
    blocks.end = end_block;
    section.range.end = end;
    // Behind a heading that was meant as another stage's section, a second table of steps is that
    // stage's.
    let foreign = sections.near.partition_point(|(_, near)| near.range.start < section.range.start);
    let foreign = sections.near.get(foreign..).unwrap_or_default().iter();
    let mut foreign = foreign.filter(|(stage, _)| *stage != section.stage);
    let own_until = foreign.next().map_or(end, |(_, near)| near.range.start);
    read_subsections(outline, &mut section, blocks, own_until);
    sections.found.push(section);
    Some(sections.found.len() - 1)
}

fn read_subsections(
    outline: &Outline<'_>,
    section: &mut Section,
    blocks: Range<usize>,
    mut own_until: usize,
) {
    let mut current: Option<(usize, u8)> = None;
    for block in outline.blocks.get(blocks).unwrap_or_default() {
        match block {
            Block::Heading(heading) => {
                if let Some((which, level)) = current
                    && heading.level <= level
                {
                    end_body(section, which, heading.line_start);
                    current = None;
                }
                if let Some(which) = subsection(section, heading, &mut own_until) {
                    current = Some((which, heading.level));
                }
            }
            Block::Table(table) if current.is_some_and(|(which, _)| which == STEPWISE) => {
                read_steps(outline, table, section);
            }
            _ => {}
        }
    }
    if let Some((which, _)) = current {
        let end = section.range.end;
        end_body(section, which, end);
    }
}

fn end_body(section: &mut Section, which: usize, end: usize) {
    if let Some(Some(subsection)) = section.subsections.get_mut(which) {
        subsection.body.end = end;
    }
}

/// Takes a heading as one of the four subsections, or remembers it as a near miss.
fn subsection(section: &mut Section, heading: &Heading, own_until: &mut usize) -> Option<usize> {
    for (which, wanted) in FOLDED.iter().enumerate() {
        let slot = section.subsections.get_mut(which)?;
        if is_name(&heading.inline.text, wanted) {
            let taken = slot.as_ref().is_some_and(|taken| taken.level <= heading.level);
            if heading.level > 4 {
                remember(
                    section,
                    which,
                    heading,
                    format!("is a heading of level {}, not 3", heading.level),
                );
            } else if !taken {
                *slot = Some(Subsection {
                    level: heading.level,
                    heading: heading.line_start..heading.range.end,
                    body: heading.range.end..heading.range.end,
                });
                return Some(which);
            } else if which == STEPWISE
                && heading.range.start < *own_until
                && slot.as_ref().is_some_and(|taken| taken.level == heading.level)
            {
                // A second table of steps counts too: no step is ever lost.
                return Some(which);
            } else if which == 0 {
                // The subsections begin anew: those of a stage whose heading is missing.
                *own_until = heading.range.start;
            }
            return None;
        }
        if slot.is_none() && comes_close(&heading.inline.text, wanted) {
            remember(section, which, heading, String::from("is another heading"));
        }
    }
    None
}

/// A longer heading, or the same words joined otherwise.
fn comes_close(plain: &str, wanted: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|ch| ch.is_alphanumeric()).collect::<String>();
    let name = folded(plain);
    name.contains(wanted) || letters(&name) == letters(wanted)
}

#[cold]
#[inline(never)]
fn remember(section: &mut Section, which: usize, heading: &Heading, why: String) {
    if let Some(slot @ None) = section.near.get_mut(which) {
        *slot = Some(NearMiss { range: heading.range.clone(), why });
    }
}

/// A subsection name outside any stage section: a near miss of the section before it.
#[cold]
#[inline(never)]
fn orphan(sections: &mut Sections, orphan_of: Option<usize>, heading: &Heading) {
    let Some(which) = FOLDED.iter().position(|name| is_name(&heading.inline.text, name)) else {
        return;
    };
    if let Some(section) = orphan_of.and_then(|at| sections.found.get_mut(at)) {
        let why = if heading.level <= 2 {
            format!("is a heading of level {} and ends the section", heading.level)
        } else {
            String::from("stands under another level-2 heading")
        };
        remember(section, which, heading, why);
    }
}

#[inline(never)]
fn read_steps(outline: &Outline<'_>, table: &Table, section: &mut Section) {
    let columns = STEP_COLUMNS.map(|name| outline.column(table, name));
    let [step, action, files, command, expected] = columns;
    if step.is_none() && action.is_none() {
        section.unlike_table.get_or_insert(table.range.clone());
        return;
    }
    section.has_step_table = true;
    let text = outline.text;
    let width = outline.cells(&table.header).len();
    for row in &table.rows {
        let cells = outline.cells(row);
        let effective = row.is_row(width)
            && cells
                .iter()
                .any(|cell| !cell.plain(text).chars().all(|ch| ch.is_whitespace() || is_dash(ch)));
        if !effective {
            continue;
        }
        let cell = |column: Option<usize>| column.and_then(|at| cells.get(at)).cloned();
        let files = files.and_then(|at| cells.get(at));
        section.steps.push(StepRow {
            range: row.range.clone(),
            cells: [cell(step), cell(action), cell(command), cell(expected)],
            files: files.map(|cell| files::read(text, cell)).unwrap_or_default(),
            files_cell: files.map_or(row.range.end..row.range.end, |cell| cell.range.clone()),
        });
    }
}

fn is_dash(ch: char) -> bool {
    matches!(ch, '-' | '–' | '—' | ':')
}

/// A heading inside a list item that was meant as a stage's.
#[cold]
#[inline(never)]
fn in_list(
    text: &str,
    heading: &Heading,
    map_number: Option<&str>,
    near: &mut Vec<(u32, NearMiss)>,
) {
    let stage = match recognise(text, heading, map_number) {
        Recognised::Section(section) => section.stage,
        Recognised::Near(stage, _) => stage,
        Recognised::No => return,
    };
    near.push((stage, NearMiss { range: heading.range.clone(), why: String::from(IN_LIST) }));
}

/// Why a heading in a list item does not count.
pub(crate) const IN_LIST: &str = "belongs to the list above it: begin it at the edge of the page";

/// Lines of a paragraph that were meant as stage headings.
#[cold]
#[inline(never)]
fn near_lines(
    text: &str,
    range: &ByteRange,
    map_number: Option<&str>,
    near: &mut Vec<(u32, NearMiss)>,
) {
    let source = text.get(range.clone()).unwrap_or_default();
    for (at, line) in lines_at(source) {
        let trimmed = line.trim_start();
        let unhashed = trimmed.trim_start_matches('#');
        let hashes = trimmed.len() - unhashed.len();
        let plain =
            unhashed.trim_start_matches(|ch: char| ch.is_whitespace() || matches!(ch, '*' | '_'));
        let Some(found) = heading::stage_heading(plain) else {
            continue;
        };
        // Prose may begin with `Stage 2`; without hashes only a numbered line is meant as a heading.
        if hashes == 0 && (found.number.is_empty() || found.title_at.is_none())
            || misnumbered(&found, map_number).is_some()
        {
            continue;
        }
        let why = match (hashes, unhashed.chars().next()) {
            (0, _) => String::from("is text: a heading begins with `## `"),
            (_, Some(blank)) if blank.is_whitespace() => {
                format!(
                    "has U+{:04X} instead of a blank behind the `#`s, so it is no heading",
                    u32::from(blank)
                )
            }
            _ => String::from("has no blank behind the `#`s, so it is no heading"),
        };
        let start = range.start + at;
        near.push((found.stage, NearMiss { range: start..start + line.trim_end().len(), why }));
    }
}
