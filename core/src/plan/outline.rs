//! The blocks of a document with their byte ranges, from pulldown-cmark's offset events.
//!
//! Structure is what stands at the level of the document: headings of the document itself, and
//! tables, fences and task items that are not quoted. What stands in block quotes, code and HTML
//! is text. The outline is built in one pass and keeps ranges instead of copies wherever the
//! source already is the plain text.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::front_matter;
use super::number::digit;
use crate::source::ByteRange;

/// The blocks of a document in source order.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) text: &'a str,
    pub(crate) blocks: Vec<Block>,
    cells: Vec<Cell>,
}

/// One block that matters to a plan.
#[derive(Debug)]
pub(crate) enum Block {
    Heading(Heading),
    /// A heading inside a list item: no structure, but perhaps meant as such.
    ListHeading(Heading),
    Table(Table),
    Fence(Fence),
    Paragraph(ByteRange),
    Html(ByteRange),
    Task(Task),
}

/// A heading of the document itself.
#[derive(Debug)]
pub(crate) struct Heading {
    /// 1 to 6.
    pub(crate) level: u8,
    /// From the first `#` (or the first letter of a setext heading) to the end of the line.
    pub(crate) range: ByteRange,
    /// From the beginning of the line, indent included.
    pub(crate) line_start: usize,
    /// The text without markup, and where it came from.
    pub(crate) inline: Inline,
    /// Whether it is a heading because of the rule under it.
    pub(crate) setext: bool,
}

/// A pipe table outside quotes.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) range: ByteRange,
    pub(crate) header: Row,
    pub(crate) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The row without its line end.
    pub(crate) range: ByteRange,
    /// How many cells its source really has; the table's own number may differ.
    pub(crate) written: usize,
    /// Whether its line has a pipe at all.
    piped: bool,
    cells: Range<usize>,
}

impl Row {
    /// Whether it is meant as a row. A line of text right under a table is one to `CommonMark`, but
    /// to no reader.
    pub(crate) fn is_row(&self, columns: usize) -> bool {
        self.piped || columns == 1
    }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The content without the blanks around it; empty at the end of the row where the row has
    /// no such cell.
    pub(crate) range: ByteRange,
    /// Whether the row has this cell.
    pub(crate) written: bool,
    inline: Option<Box<Inline>>,
}

impl Cell {
    /// The text without markup. A `<br>` is a line feed, a comment is nothing.
    pub(crate) fn plain<'t>(&'t self, text: &'t str) -> &'t str {
        match &self.inline {
            Some(inline) => inline.text.trim(),
            None => text.get(self.range.clone()).unwrap_or_default(),
        }
    }

    /// The parts of [`Inline::text`] that are code, where the cell has any.
    pub(crate) fn inline(&self) -> Option<&Inline> {
        self.inline.as_deref()
    }

    /// The source, markup included.
    pub(crate) fn raw<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or_default()
    }

    /// Whether two digits that stand side by side have markup between them (`1**2**`): one number
    /// to a parser, two to a reader.
    pub(crate) fn joins_digits(&self) -> bool {
        let Some(inline) = self.inline.as_ref() else {
            return false;
        };
        let mut before: Option<&Piece> = None;
        for (index, piece) in inline.pieces.iter().enumerate() {
            let end = inline.pieces.get(index + 1).map_or(inline.text.len(), |next| next.at);
            // A tag is no text; what it parts is seen at the next piece.
            if end == piece.at {
                continue;
            }
            let plain = end - piece.at == piece.source.len();
            let (head, tail) = inline.text.split_at_checked(piece.at).unwrap_or_default();
            if before.is_some_and(|before| before.source.end != piece.source.start || !plain)
                && head.chars().next_back().is_some_and(|ch| digit(ch).is_some())
                && tail.chars().next().is_some_and(|ch| digit(ch).is_some())
            {
                return true;
            }
            before = Some(piece);
        }
        false
    }

    /// Whether any of its text is struck out.
    pub(crate) fn is_struck(&self) -> bool {
        self.inline.as_ref().is_some_and(|inline| inline.struck)
    }
}

/// Text without markup, with what its markup meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
    /// Ranges of `text` that are code spans.
    pub(crate) code: Vec<Range<usize>>,
    /// Whether some of it is struck out.
    pub(crate) struck: bool,
    /// For each piece of `text`: where it begins in `text`, and where it came from.
    pub(crate) pieces: Vec<Piece>,
    /// Markup around stretches of text: where it begins in `text`, and its whole source.
    containers: Vec<(usize, ByteRange)>,
}

/// A stretch of plain text and its source.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) at: usize,
    pub(crate) source: ByteRange,
}

/// A fenced code block outside quotes.
#[derive(Debug)]
pub(crate) struct Fence {
    pub(crate) range: ByteRange,
    pub(crate) closed: bool,
}

/// A task-list item outside quotes.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) checked: bool,
    /// The brackets.
    pub(crate) marker: ByteRange,
    /// The item's own first line, without markup.
    pub(crate) text: String,
    /// Whether some of it is struck out.
    pub(crate) struck: bool,
    /// From the brackets to the end of that line.
    pub(crate) range: ByteRange,
}

impl<'a> Outline<'a> {
    /// Reads a document. Linear in its length.
    pub(crate) fn new(text: &'a str) -> Self {
        let start = front_matter::end(text);
        let body = text.get(start..).unwrap_or_default();
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
        let mut reader = Reader {
            outline: Outline { text, blocks: Vec::new(), cells: Vec::new() },
            shift: start,
            quotes: 0,
            lists: 0,
            open: Open::Nothing,
        };
        for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
            reader.event(event, range.start + start..range.end + start);
        }
        reader.outline
    }

    /// The cells of a row, as many as the table has columns.
    pub(crate) fn cells(&self, row: &Row) -> &[Cell] {
        self.cells.get(row.cells.clone()).unwrap_or_default()
    }

    /// The column whose header reads `name`, whatever its case, blanks or underscores.
    pub(crate) fn column(&self, table: &Table, name: &str) -> Option<usize> {
        self.cells(&table.header).iter().position(|cell| is_column(cell.plain(self.text), name))
    }
}

/// Whether a column header reads `name`, whatever its case, with `-` for blanks and underscores.
fn is_column(header: &str, name: &str) -> bool {
    let unified = header
        .chars()
        .map(|ch| if ch.is_whitespace() || ch == '_' { '-' } else { ch.to_ascii_lowercase() });
    unified.eq(name.chars())
}

/// What the events read at the moment belong to.
enum Open {
    Nothing,
    Heading { level: u8, range: ByteRange, inline: Inline },
    Cell { content: CellText },
    Task { checked: bool, marker: ByteRange, inline: Inline, end: usize },
    Quoted,
}

/// The text of a cell while it is read: a range of the source as long as it is one.
enum CellText {
    Empty,
    Slice(ByteRange),
    Inline(Box<Inline>),
}

struct Reader<'a> {
    outline: Outline<'a>,
    shift: usize,
    quotes: usize,
    lists: usize,
    open: Open,
}

impl<'a> Reader<'a> {
    #[inline(never)]
    fn event(&mut self, event: Event<'a>, range: ByteRange) {
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag, &range),
            Event::Text(text) => self.text(&text, range),
            Event::Code(text) => self.markup(range, |inline, range| inline.push_code(&text, range)),
            Event::InlineHtml(html) | Event::Html(html) => {
                let name = tag_name(&html);
                let text = if name.eq_ignore_ascii_case("br") { "\n" } else { "" };
                let strikes =
                    ["del", "s", "strike"].iter().any(|tag| name.eq_ignore_ascii_case(tag));
                // A tag is no text, but a part of the source that belongs to what is around it.
                self.markup(range, |inline, range| {
                    inline.struck |= strikes;
                    inline.push(text, range);
                });
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Open::Task { .. } = self.open {
                    self.close_task();
                } else {
                    self.markup(range, |inline, range| inline.push(" ", range));
                }
            }
            Event::TaskListMarker(checked) if self.quotes == 0 => {
                self.open = Open::Task {
                    checked,
                    end: range.end,
                    marker: range,
                    inline: Inline::default(),
                };
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn start(&mut self, tag: &Tag<'a>, range: ByteRange) {
        match tag {
            Tag::BlockQuote(_) => {
                self.close_task();
                self.quotes += 1;
            }
            Tag::List(_) => {
                self.close_task();
                self.lists += 1;
            }
            Tag::Item => self.close_task(),
            _ if self.quotes > 0 => {}
            Tag::Heading { level, .. } => {
                self.close_task();
                let (level, inline) = (level_number(*level), Inline::default());
                self.open = Open::Heading { level, range, inline };
            }
            Tag::Table(_) => {
                self.close_task();
                let header =
                    Row { range: range.start..range.start, written: 0, piped: true, cells: 0..0 };
                self.outline.blocks.push(Block::Table(Table { range, header, rows: Vec::new() }));
            }
            Tag::TableHead | Tag::TableRow => {
                let first = self.outline.cells.len();
                let range = trim_line_end(self.outline.text, range);
                let source = self.outline.text.get(range.clone()).unwrap_or_default();
                let (written, piped) = (written_cells(source), source.contains('|'));
                let row = Row { range, written, piped, cells: first..first };
                if let Some(Block::Table(table)) = self.outline.blocks.last_mut() {
                    if matches!(tag, Tag::TableHead) {
                        table.header = row;
                    } else {
                        table.rows.push(row);
                    }
                }
            }
            Tag::TableCell => {
                self.open = Open::Cell { content: CellText::Empty };
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                self.close_task();
                let closed = fence_is_closed(self.outline.text, &range);
                let range = trim_line_end(self.outline.text, range);
                self.outline.blocks.push(Block::Fence(Fence { range, closed }));
                self.open = Open::Quoted;
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => {
                self.close_task();
                self.open = Open::Quoted;
            }
            Tag::HtmlBlock => {
                self.close_task();
                self.outline.blocks.push(Block::Html(range));
                self.open = Open::Quoted;
            }
            Tag::Paragraph
                // A task item of a loose list has its text in a paragraph behind the marker.
                if !matches!(self.open, Open::Task { .. }) && self.lists == 0 => {
                    self.outline.blocks.push(Block::Paragraph(range));
                }
            Tag::Strikethrough => self.markup(range, |inline, range| {
                inline.struck = true;
                inline.containers.push((inline.text.len(), range));
            }),
            Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. } => {
                self.markup(range, |inline, range| {
                    inline.containers.push((inline.text.len(), range));
                });
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn end(&mut self, tag: TagEnd, range: &ByteRange) {
        match tag {
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::List(_) => {
                self.close_task();
                self.lists = self.lists.saturating_sub(1);
            }
            TagEnd::Item => self.close_task(),
            _ if self.quotes > 0 => {}
            TagEnd::Heading(_) => {
                if let Open::Heading { level, range, inline } =
                    std::mem::replace(&mut self.open, Open::Nothing)
                {
                    self.heading(level, range, inline);
                }
            }
            TagEnd::TableCell => self.cell(range),
            TagEnd::TableHead | TagEnd::TableRow => {
                let end = self.outline.cells.len();
                if let Some(Block::Table(table)) = self.outline.blocks.last_mut() {
                    let row = if matches!(tag, TagEnd::TableHead) {
                        Some(&mut table.header)
                    } else {
                        table.rows.last_mut()
                    };
                    if let Some(row) = row {
                        row.cells.end = end;
                    }
                }
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => self.open = Open::Nothing,
            TagEnd::Paragraph => self.close_task(),
            _ => {}
        }
    }

    /// Plain text. A cell stays a slice of the source as long as its text is one.
    #[inline(never)]
    fn text(&mut self, text: &str, range: ByteRange) {
        if let Open::Cell { content } = &mut self.open
            && text.len() == range.len()
        {
            match content {
                CellText::Empty => {
                    *content = CellText::Slice(range);
                    return;
                }
                CellText::Slice(slice) if slice.end == range.start => {
                    slice.end = range.end;
                    return;
                }
                _ => {}
            }
        }
        self.markup(range, |inline, range| inline.push(text, range));
    }

    /// Adds something that is not a plain slice of the source to whatever is open.
    fn markup(&mut self, range: ByteRange, add: impl FnOnce(&mut Inline, ByteRange)) {
        if let Open::Task { end, .. } = &mut self.open {
            *end = (*end).max(range.end);
        }
        if let Some(inline) = self.inline() {
            add(inline, range);
        }
    }

    /// The inline text that is open, if any.
    fn inline(&mut self) -> Option<&mut Inline> {
        match &mut self.open {
            Open::Heading { inline, .. } | Open::Task { inline, .. } => Some(inline),
            Open::Cell { content } => {
                if !matches!(content, CellText::Inline(_)) {
                    let mut inline = Box::<Inline>::default();
                    if let CellText::Slice(slice) = content {
                        let text = self.outline.text.get(slice.clone()).unwrap_or_default();
                        inline.push(text, slice.clone());
                    }
                    *content = CellText::Inline(inline);
                }
                match content {
                    CellText::Inline(inline) => Some(inline),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn heading(&mut self, level: u8, range: ByteRange, inline: Inline) {
        let text = self.outline.text;
        let range = trim_line_end(text, range);
        let setext = !text.get(range.clone()).unwrap_or_default().starts_with('#');
        let body_start = self.shift;
        let before = text.get(body_start..range.start).unwrap_or_default();
        let line_start = before.rfind(['\n', '\r']).map_or(body_start, |at| body_start + at + 1);
        let heading = Heading { level, range, line_start, inline, setext };
        self.outline.blocks.push(if self.lists == 0 {
            Block::Heading(heading)
        } else {
            Block::ListHeading(heading)
        });
    }

    #[inline(never)]
    fn cell(&mut self, range: &ByteRange) {
        let text = self.outline.text;
        let Open::Cell { content } = std::mem::replace(&mut self.open, Open::Nothing) else {
            return;
        };
        let source = text.get(range.clone()).unwrap_or_default();
        let lead = source.len() - source.trim_start().len();
        let trimmed = source.trim();
        let content_range = if trimmed.is_empty() {
            // Behind the first blank, which need not be one byte long.
            let at = range.start + source.chars().next().map_or(0, char::len_utf8);
            at..at
        } else {
            range.start + lead..range.start + lead + trimmed.len()
        };
        let inline = match content {
            CellText::Inline(inline) => Some(inline),
            CellText::Slice(slice) if slice == content_range => None,
            CellText::Slice(slice) => {
                let mut inline = Box::<Inline>::default();
                inline.push(text.get(slice.clone()).unwrap_or_default(), slice);
                Some(inline)
            }
            CellText::Empty if trimmed.is_empty() => None,
            CellText::Empty => Some(Box::default()),
        };
        // A cell that the row does not have is an empty range at the row's end.
        let (written, row_end) = match self.outline.blocks.last() {
            Some(Block::Table(table)) => {
                let row = table.rows.last().unwrap_or(&table.header);
                (self.outline.cells.len() - row.cells.start < row.written, row.range.end)
            }
            _ => (false, range.end),
        };
        let range = if written { content_range } else { row_end..row_end };
        self.outline.cells.push(Cell { range, written, inline });
    }

    fn close_task(&mut self) {
        if let Open::Task { .. } = self.open
            && let Open::Task { checked, marker, inline, end } =
                std::mem::replace(&mut self.open, Open::Nothing)
        {
            let range = marker.start..end;
            self.outline.blocks.push(Block::Task(Task {
                checked,
                marker,
                text: inline.text,
                struck: inline.struck,
                range,
            }));
        }
    }
}

impl Inline {
    fn push(&mut self, text: &str, source: ByteRange) {
        self.pieces.push(Piece { at: self.text.len(), source });
        self.text.push_str(text);
    }

    fn push_code(&mut self, text: &str, source: ByteRange) {
        let start = self.text.len();
        self.push(text, source);
        self.code.push(start..self.text.len());
    }

    /// The source of everything from `at` in the plain text on, markup that begins there
    /// included; `None` where markup that began before closes in the middle of it.
    pub(crate) fn source_from(&self, at: usize) -> Option<ByteRange> {
        // Of pieces that begin together the first: those before the last are markup without text.
        let index = self.pieces.partition_point(|piece| piece.at < at);
        let begins = self.pieces.get(index).is_some_and(|piece| piece.at == at);
        let index = if begins { index } else { index.checked_sub(1)? };
        let first = self.pieces.get(index)?;
        let mut start = first.source.start + (at - first.at);
        let mut end = self.pieces.get(index..)?.iter().map(|piece| piece.source.end).max()?;
        let (within, before): (Vec<_>, Vec<_>) =
            self.containers.iter().partition(|(begin, _)| *begin >= at);
        for (begin, source) in within {
            end = end.max(source.end);
            if *begin == at {
                start = start.min(source.start);
            }
        }
        let broken = before.iter().any(|(_, source)| source.end > start && source.end < end);
        (start <= end && !broken).then_some(start..end)
    }
}

/// The name of an opening tag; empty for a closing one and for a comment.
fn tag_name(html: &str) -> &str {
    let name = html.trim_start().strip_prefix('<').unwrap_or_default();
    let end = name.find(|ch: char| !ch.is_ascii_alphanumeric()).unwrap_or(name.len());
    name.get(..end).unwrap_or_default()
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// A range without the line end and the blanks before it.
fn trim_line_end(text: &str, range: ByteRange) -> ByteRange {
    let source = text.get(range.clone()).unwrap_or_default();
    range.start..range.start + source.trim_end_matches([' ', '\t', '\n', '\r']).len()
}

/// How many cells the source of a row has, whatever its table says. A pipe splits cells unless a
/// backslash stands before it, in code spans too (GFM).
pub(crate) fn written_cells(row: &str) -> usize {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = 1;
    let mut ends_with_pipe = false;
    let mut escaped = false;
    for byte in row.bytes() {
        ends_with_pipe = byte == b'|' && !escaped;
        if ends_with_pipe {
            cells += 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    if ends_with_pipe && cells > 1 { cells - 1 } else { cells }
}

/// Whether the last line of a fenced block is its closing fence.
#[inline(never)]
fn fence_is_closed(text: &str, range: &ByteRange) -> bool {
    let source = text.get(range.clone()).unwrap_or_default();
    let Some((ch, length)) = fence_run(source) else {
        return false;
    };
    let mut lines = lines(source);
    lines.next();
    lines.last().is_some_and(|line| {
        // In a list item the closing line keeps its indent, in a nested list any depth of it.
        let line = line.trim();
        line.len() >= length && line.chars().all(|other| other == ch)
    })
}

/// The fence character and the length of its run at the start of a line.
pub(crate) fn fence_run(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let ch = line.chars().next().filter(|ch| matches!(ch, '`' | '~'))?;
    let length = line.chars().take_while(|other| *other == ch).count();
    (length >= 3).then_some((ch, length))
}

/// The lines of a text without their ends: LF, CRLF or a lone CR, as `CommonMark` counts them.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    lines_at(text).map(|(_, line)| line)
}

/// The same with the offset of each line.
pub(crate) fn lines_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        at +=
            end + if rest.get(end..).is_some_and(|tail| tail.starts_with("\r\n")) { 2 } else { 1 };
        Some((start, line))
    })
}
