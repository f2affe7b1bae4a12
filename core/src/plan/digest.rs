//! The digest of a stage's text, by which a later reader sees that the plan has changed.

use super::stage_map::MapRow;
use super::{Document, Section};
use crate::digest::sha256_hex;
use crate::order::sorted;
use crate::source::ByteRange;

/// The digest of a row and its section: `sha256:` and 64 hexadecimal digits.
///
/// White space and line ends are normalised, and so is what a formatter changes in tables: the
/// space around pipes and the dashes under the header. Approval lines do not count: at the end of
/// a plan they stand in the last stage's section, and approving a plan changes no stage.
pub(crate) fn of_stage(doc: &Document<'_>, row: &MapRow, section: Option<&Section>) -> String {
    let mut text = String::new();
    add(doc.text.get(row.range.clone()).unwrap_or_default(), &mut text);
    if let Some(section) = section {
        let mut from = section.range.start;
        for line in approval_lines(doc, &section.range) {
            // The list mark before the brackets goes with them.
            add(without_mark(doc.text.get(from..line.start).unwrap_or_default()), &mut text);
            from = line.end;
        }
        add(doc.text.get(from..section.range.end).unwrap_or_default(), &mut text);
    }
    format!("sha256:{}", sha256_hex(text.as_bytes()))
}

/// The approval lines in a section in source order, each from its brackets to its end.
fn approval_lines(doc: &Document<'_>, section: &ByteRange) -> Vec<ByteRange> {
    let mut lines = Vec::new();
    for list in [&doc.approval.ticked, &doc.approval.open] {
        // Each list is in source order, and is asked for once a stage.
        let from = list.partition_point(|line| line.range.start < section.start);
        let inside = list.iter().skip(from).take_while(|line| line.range.end <= section.end);
        lines.extend(inside.map(|line| line.range.clone()));
    }
    sorted(lines, |line| (line.start as u64, 0))
}

/// A text without the beginning of its last line, which it does not end.
fn without_mark(text: &str) -> &str {
    text.rfind(['\n', '\r']).and_then(|at| text.get(..at)).unwrap_or_default()
}

fn add(part: &str, out: &mut String) {
    for line in part.split(['\n', '\r']) {
        let line = line.trim();
        if line.is_empty() || is_delimiter(line) {
            continue;
        }
        let start = out.len();
        let mut gap = false;
        for ch in line.chars() {
            if ch.is_whitespace() {
                gap = true;
                continue;
            }
            // Tables may go without pipes at their ends, so every line is taken for a row.
            let beside_pipe = ch == '|' || out.ends_with('|');
            if gap && out.len() > start && !beside_pipe {
                out.push(' ');
            }
            gap = false;
            out.push(ch);
        }
        out.push('\n');
    }
}

/// Whether a line is the row of dashes under a table's header.
fn is_delimiter(line: &str) -> bool {
    line.contains('|')
        && line.contains('-')
        && line.chars().all(|ch| matches!(ch, '|' | '-' | ':') || ch.is_whitespace())
}
