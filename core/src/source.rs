//! Text, byte ranges, lines and columns.
//!
//! The core works in byte offsets. [`LineIndex`] turns an offset into the [`Position`] people
//! and editors use; this happens once, at the border, never while rules run.

use std::ops::Range;

use serde::Serialize;

/// A half-open range of byte offsets into the plan text.
pub type ByteRange = Range<usize>;

/// One place in a text, in every unit a consumer may need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Position {
    /// Byte offset into the UTF-8 text, from 0. A byte order mark counts its three bytes.
    pub offset: u32,
    /// Line, from 1. A line ends at LF, CRLF or a lone CR, as in `CommonMark`.
    pub line: u32,
    /// Column in Unicode scalar values, from 1.
    pub column: u32,
    /// Offset in UTF-16 code units, from 0: the index into a JavaScript string.
    pub offset_utf16: u32,
    /// Column in UTF-16 code units, from 1: what editors count.
    pub column_utf16: u32,
}

/// A half-open range of places: `end` is the place behind the last character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceRange {
    /// The first character.
    pub start: Position,
    /// Behind the last character.
    pub end: Position,
}

/// Where each line of a text begins, for turning offsets into positions.
///
/// Building it is linear in the text; a look-up is a binary search plus the length of one
/// line. Lines longer than [`CHECKPOINT`] bytes get checkpoints on the way, so that thousands
/// of findings on one line of ten megabytes stay cheap.
#[derive(Debug)]
pub struct LineIndex<'a> {
    text: &'a str,
    marks: Vec<Mark>,
}

/// A known place: the start of a line, or a checkpoint inside a long one.
#[derive(Clone, Copy, Debug)]
struct Mark {
    offset: usize,
    line: u32,
    column: u32,
    offset_utf16: u32,
    column_utf16: u32,
}

/// Distance in bytes between the checkpoints of one long line.
const CHECKPOINT: usize = 1024;

impl<'a> LineIndex<'a> {
    /// Reads the text once and remembers where its lines begin.
    pub fn new(text: &'a str) -> Self {
        let mut marks = Vec::with_capacity(text.len() / 32 + 1);
        let mut line = 1;
        let mut offset_utf16 = 0;
        for (offset, piece) in lines_with_ends(text) {
            let mut here = Mark { offset, line, column: 1, offset_utf16, column_utf16: 1 };
            marks.push(here);
            offset_utf16 += utf16_len(piece);
            line += 1;
            // Checkpoints on a long line.
            let mut rest = piece;
            while rest.len() > CHECKPOINT {
                let mut cut = CHECKPOINT;
                while !rest.is_char_boundary(cut) {
                    cut += 1;
                }
                let (head, tail) = rest.split_at_checked(cut).unwrap_or((rest, ""));
                let units = utf16_len(head);
                here.offset += head.len();
                here.column += chars(head);
                here.offset_utf16 += units;
                here.column_utf16 += units;
                marks.push(here);
                rest = tail;
            }
        }
        // A text that ends with a line end has an empty last line.
        if text.is_empty() || text.ends_with(['\n', '\r']) {
            marks.push(Mark { offset: text.len(), line, column: 1, offset_utf16, column_utf16: 1 });
        }
        Self { text, marks }
    }

    /// The position of a byte offset. An offset behind the text is the end of the text; one
    /// inside a character is the start of that character.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let after = self.marks.partition_point(|mark| mark.offset <= offset);
        let Some(mark) = self.marks.get(after.saturating_sub(1)) else {
            return Position::default();
        };
        let mut end = offset;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text.get(mark.offset..end).unwrap_or_default();
        let units = utf16_len(before);
        Position {
            offset: saturate(end),
            line: mark.line,
            column: mark.column + chars(before),
            offset_utf16: mark.offset_utf16 + units,
            column_utf16: mark.column_utf16 + units,
        }
    }

    /// The positions of both ends of a byte range.
    pub fn range(&self, range: &ByteRange) -> SourceRange {
        SourceRange { start: self.position(range.start), end: self.position(range.end) }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        let after = self.marks.partition_point(|mark| mark.offset <= offset);
        self.marks.get(after.saturating_sub(1)).map_or(1, |mark| mark.line)
    }
}

/// The lines of a text with their ends and offsets.
fn lines_with_ends(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        at += match memchr::memchr2(b'\n', b'\r', rest) {
            None => rest.len(),
            Some(end) if rest.get(end..end + 2) == Some(b"\r\n") => end + 2,
            Some(end) => end + 1,
        };
        Some((start, text.get(start..at).unwrap_or_default()))
    })
}

/// The length of a text in UTF-16 code units.
fn utf16_len(text: &str) -> u32 {
    let units = if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() };
    saturate(units)
}

/// The length of a text in Unicode scalar values.
fn chars(text: &str) -> u32 {
    saturate(if text.is_ascii() { text.len() } else { text.chars().count() })
}

/// An offset as the 32-bit number that crosses the border; larger texts are refused before.
fn saturate(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_scalars_and_utf16_units() {
        let text = "a\u{1F600}b\r\nc\rd\ne";
        let index = LineIndex::new(text);
        let at = |needle: char| {
            let p = text.find(needle).map(|offset| index.position(offset))?;
            Some((p.line, p.column, p.column_utf16, p.offset_utf16))
        };
        assert_eq!(at('a'), Some((1, 1, 1, 0)));
        assert_eq!(at('b'), Some((1, 3, 4, 3)));
        assert_eq!(at('c'), Some((2, 1, 1, 6)));
        assert_eq!(at('d'), Some((3, 1, 1, 8)));
        assert_eq!(at('e'), Some((4, 1, 1, 10)));
        assert_eq!(index.position(999).offset as usize, text.len());
    }

    #[test]
    fn a_long_line_is_looked_up_through_checkpoints() {
        let text = "é".repeat(5000);
        let index = LineIndex::new(&text);
        let p = index.position(4001 * 2);
        assert_eq!((p.line, p.column, p.offset_utf16), (1, 4002, 4001));
    }
}
