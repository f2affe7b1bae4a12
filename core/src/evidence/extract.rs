//! The evidence block in a worker result.

use serde_json::Value;

use super::json;
use super::{Block, EvidenceError};
use crate::check;
use crate::plan::heading::{folded, is_name};
use crate::plan::outline::{self, Fence, Outline, fence_run, lines_at};
use crate::printable::excerpt;
use crate::source::LineIndex;

/// [`HEADING`] as names are compared.
const FOLDED: &str = "stage carry evidence";

/// Finds the evidence in a worker result and makes sure that it is a JSON object.
///
/// It is the fenced block marked `json`, whatever the case, under the heading `Stage Carry
/// Evidence`: a heading of any level, compared without case, markup and Unicode form, to which
/// everything up to the next heading of the same or a higher level belongs. What stands in code
/// fences, comments or quotes is text. Where no block is marked `json`, one without any mark whose
/// text begins with `{` counts. Several blocks with the same text are one; of several different
/// ones the one counts that alone names `stage` in `stageNumber`.
///
/// A file that is JSON itself, after a byte order mark or blanks, is taken whole, without the mark.
pub fn extract(source: &[u8], stage: Option<u32>) -> Result<Block, EvidenceError> {
    let text = check::text(source)
        .map_err(|error| EvidenceError::NotText { reason: error.to_string() })?;
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !bare.trim_start().starts_with(['{', '[']) {
        return from_markdown(text, stage);
    }
    let whole = Found { text: bare.to_owned(), line: 1, fence: 1, raw: bare, closed: true };
    match whole.judged() {
        Ok(block) => Ok(block),
        // Markdown may begin with a brace or a link too: then it has the heading.
        Err(broken) => match from_markdown(text, stage) {
            Err(EvidenceError::NoHeading { .. })
                if bare.trim_start().starts_with('{')
                    || matches!(broken, EvidenceError::NotObject { .. }) =>
            {
                Err(broken)
            }
            answer => answer,
        },
    }
}

/// A block that may be the evidence.
struct Found<'a> {
    text: String,
    /// Its first line.
    line: u32,
    /// The line of the opening fence.
    fence: u32,
    /// The lines of the block as they are in the file.
    raw: &'a str,
    closed: bool,
}

fn from_markdown(text: &str, stage: Option<u32>) -> Result<Block, EvidenceError> {
    let outline = Outline::new(text);
    let index = LineIndex::new(text);
    let mut heading: Option<usize> = None;
    let mut inside: Option<u8> = None;
    let mut marked = Vec::new();
    let mut unmarked = Vec::new();
    let mut foreign: Option<(u32, String)> = None;
    for block in &outline.blocks {
        match block {
            outline::Block::Heading(found) => {
                if inside.is_some_and(|level| found.level > level) {
                    continue;
                }
                inside = is_name(&found.inline.text, FOLDED).then_some(found.level);
                if inside.is_some() {
                    heading = heading.or(Some(found.range.start));
                }
            }
            outline::Block::Fence(fence) if inside.is_some() => {
                let (mark, found) = read_fence(text, fence, &index);
                let bare = mark.is_empty() && found.text.trim_start().starts_with('{');
                if mark.eq_ignore_ascii_case("json") {
                    marked.push(found);
                } else if bare {
                    unmarked.push(found);
                } else if foreign.is_none() {
                    foreign = Some((found.fence, excerpt(mark, 20)));
                }
            }
            _ => {}
        }
    }
    let Some(heading) = heading else {
        return Err(EvidenceError::NoHeading { near: near(text, &index) });
    };
    let blocks = if marked.is_empty() { unmarked } else { marked };
    if let Some(open) = blocks.iter().find(|found| !found.closed) {
        return Err(EvidenceError::Unclosed { line: open.fence });
    }
    match chosen(&blocks, stage) {
        Some(found) => found.judged(),
        None if blocks.is_empty() => {
            Err(EvidenceError::NoBlock { line: index.line(heading), found: foreign })
        }
        None => {
            Err(EvidenceError::Several { lines: blocks.iter().map(|each| each.fence).collect() })
        }
    }
}

/// The only block, or the only one of its stage; blocks with the same text are one.
fn chosen<'b, 'a>(blocks: &'b [Found<'a>], stage: Option<u32>) -> Option<&'b Found<'a>> {
    let only = |mut blocks: Vec<&'b Found<'a>>| {
        let first = blocks.first().copied()?;
        blocks.retain(|other| other.text != first.text);
        blocks.is_empty().then_some(first)
    };
    only(blocks.iter().collect()).or_else(|| {
        let of_stage = |found: &&Found<'_>| {
            let value = serde_json::from_str::<Value>(&found.text).unwrap_or_default();
            let number = value.get("stageNumber").and_then(Value::as_u64);
            number.is_some() && number == stage.map(u64::from)
        };
        only(blocks.iter().filter(of_stage).collect())
    })
}

/// The first word behind the opening fence, and the block.
fn read_fence<'a>(text: &'a str, fence: &Fence, index: &LineIndex<'_>) -> (&'a str, Found<'a>) {
    let source = text.get(fence.range.clone()).unwrap_or_default();
    let indent = source.len() - source.trim_start().len();
    let start = fence.range.start + indent;
    let opening = source.lines_end(indent);
    let (opening, raw) = source.split_at_checked(opening).unwrap_or((source, ""));
    let marks = fence_run(opening).map_or(0, |(_, length)| length);
    let info = opening.trim_start().get(marks..).unwrap_or_default();
    let mark = info.split_whitespace().next().unwrap_or_default();
    let raw = match raw.rfind(['\n', '\r']) {
        Some(end) if fence.closed => raw.get(..=end).unwrap_or_default(),
        None if fence.closed => "",
        _ => raw,
    };
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let lead = before.get(line_start..).unwrap_or_default().trim_start_matches('\u{feff}');
    let columns = lead.chars().fold(0, column_after);
    let mut content = String::with_capacity(raw.len());
    if columns == 0 {
        content.push_str(raw);
    } else {
        for line in raw.lines_with_ends() {
            push_without_indent(&mut content, line, columns);
        }
    }
    let fence_line = index.line(start);
    let found =
        Found { text: content, line: fence_line + 1, fence: fence_line, raw, closed: fence.closed };
    (mark, found)
}

/// The column behind a character; a tab goes to the next multiple of four.
fn column_after(column: usize, ch: char) -> usize {
    if ch == '\t' { column + 4 - column % 4 } else { column + 1 }
}

/// Takes up to `columns` columns of white space away, as `CommonMark` does for the lines of an
/// indented fence and of a list item. Of a tab that reaches further its rest stays, as blanks.
fn push_without_indent(content: &mut String, line: &str, columns: usize) {
    let mut column = 0;
    let mut rest = line.chars();
    while column < columns {
        let mut ahead = rest.clone();
        let Some(ch @ (' ' | '\t')) = ahead.next() else { break };
        column = column_after(column, ch);
        rest = ahead;
    }
    for _ in columns..column {
        content.push(' ');
    }
    content.push_str(rest.as_str());
}

/// Lines as `CommonMark` counts them, for slicing.
trait Lines {
    /// The offset behind the line that holds the offset `from`, its end included.
    fn lines_end(&self, from: usize) -> usize;
    /// The lines with their ends.
    fn lines_with_ends(&self) -> impl Iterator<Item = &str>;
}

impl Lines for str {
    fn lines_end(&self, from: usize) -> usize {
        let line = lines_at(self.get(from..).unwrap_or_default()).nth(1);
        line.map_or(self.len(), |(at, _)| from + at)
    }

    fn lines_with_ends(&self) -> impl Iterator<Item = &str> {
        let starts = lines_at(self).map(|(at, _)| at);
        let ends = lines_at(self).skip(1).map(|(at, _)| at).chain([self.len()]);
        starts.zip(ends).map(|(start, end)| self.get(start..end).unwrap_or_default())
    }
}

impl Found<'_> {
    /// The block, if it is a JSON object.
    fn judged(&self) -> Result<Block, EvidenceError> {
        match json::parse(&self.text) {
            Ok((_, node)) if node.members().is_some() => {
                Ok(Block { text: self.text.clone(), line: self.line })
            }
            Ok((_, node)) => {
                let line = self.line + LineIndex::new(&self.text).line(node.at) - 1;
                Err(EvidenceError::NotObject { line, found: node.kind() })
            }
            Err(fault) => {
                let place = LineIndex::new(&self.text).position(fault.offset);
                let at = usize::try_from(place.line).unwrap_or(usize::MAX).saturating_sub(1);
                let length = |text: &str| {
                    let line = outline::lines(text).nth(at).unwrap_or_default();
                    u32::try_from(line.chars().count()).unwrap_or(u32::MAX)
                };
                // The columns of the file: with the indent that the block does not have.
                let indent = length(self.raw).saturating_sub(length(&self.text));
                Err(EvidenceError::BrokenJson {
                    line: self.line + place.line - 1,
                    column: place.column.saturating_add(indent),
                    reason: fault.reason,
                })
            }
        }
    }
}

/// The first line with the words of the heading, wherever it stands.
fn near(text: &str, index: &LineIndex<'_>) -> Option<u32> {
    let has_words = |line: &str| folded(line).contains(FOLDED);
    let (at, _) = lines_at(text).find(|(_, line)| has_words(line))?;
    Some(index.line(at))
}

#[cfg(test)]
mod tests {
    use super::super::HEADING;
    use super::*;

    #[test]
    fn the_heading_is_its_folded_form() {
        assert_eq!(folded(HEADING), FOLDED);
    }

    #[test]
    fn indent_goes_by_columns() {
        let table = [
            ("   a\n", 2, " a\n"),
            (" a\n", 2, "a\n"),
            ("\ta\r\n", 2, "  a\r\n"),
            ("\t\ta", 4, "\ta"),
            (" \ta", 4, "a"),
            ("\n", 4, "\n"),
        ];
        for (line, columns, expected) in table {
            let mut content = String::new();
            push_without_indent(&mut content, line, columns);
            assert_eq!(content, expected, "{line:?}");
        }
    }
}
