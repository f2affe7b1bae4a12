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
    /// Line, from 1. A line ends at LF, CRLF or a lone CR, as in CommonMark.
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
        let mut here = Mark {
            offset: 0,
            line: 1,
            column: 1,
            offset_utf16: 0,
            column_utf16: 1,
        };
        let mut marks = vec![here];
        let mut last = 0;
        let mut chars = text.char_indices().peekable();
        while let Some((offset, ch)) = chars.next() {
            if offset - last >= CHECKPOINT {
                here.offset = offset;
                marks.push(here);
                last = offset;
            }
            let units = u32::from(ch.len_utf16() == 2) + 1;
            here.offset_utf16 += units;
            let ends_line = match ch {
                '\n' => true,
                '\r' => !matches!(chars.peek(), Some((_, '\n'))),
                _ => false,
            };
            if ends_line {
                here.line += 1;
                here.column = 1;
                here.column_utf16 = 1;
                here.offset = offset + 1;
                marks.push(here);
                last = here.offset;
            } else {
                here.column += 1;
                here.column_utf16 += units;
            }
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
        let mut column = mark.column;
        let mut units = 0;
        let mut end = mark.offset;
        for ch in self.text.get(mark.offset..).unwrap_or_default().chars() {
            if end + ch.len_utf8() > offset {
                break;
            }
            end += ch.len_utf8();
            column += 1;
            units += u32::from(ch.len_utf16() == 2) + 1;
        }
        Position {
            offset: saturate(end),
            line: mark.line,
            column,
            offset_utf16: mark.offset_utf16 + units,
            column_utf16: mark.column_utf16 + units,
        }
    }

    /// The positions of both ends of a byte range.
    pub fn range(&self, range: &ByteRange) -> SourceRange {
        SourceRange {
            start: self.position(range.start),
            end: self.position(range.end),
        }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        let after = self.marks.partition_point(|mark| mark.offset <= offset);
        self.marks
            .get(after.saturating_sub(1))
            .map_or(1, |mark| mark.line)
    }
}

/// An offset as the 32-bit number that crosses the border; texts over 4 GiB are refused before.
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
            let p = index.position(text.find(needle).unwrap());
            (p.line, p.column, p.column_utf16, p.offset_utf16)
        };
        assert_eq!(at('a'), (1, 1, 1, 0));
        assert_eq!(at('b'), (1, 3, 4, 3));
        assert_eq!(at('c'), (2, 1, 1, 6));
        assert_eq!(at('d'), (3, 1, 1, 8));
        assert_eq!(at('e'), (4, 1, 1, 10));
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
