//! The digest of a stage's text, by which a later reader sees that the plan has changed.

use super::stage_map::MapRow;
use super::{Document, Section};
use crate::digest::sha256_hex;

/// The digest of a row and its section: `sha256:` and 64 hexadecimal digits.
///
/// White space and line ends are normalised, and so is what a formatter changes in tables: the
/// space around pipes and the dashes under the header.
pub(crate) fn of_stage(doc: &Document<'_>, row: &MapRow, section: Option<&Section>) -> String {
    let mut text = String::new();
    add(doc.text.get(row.range.clone()).unwrap_or_default(), &mut text);
    if let Some(section) = section {
        add(doc.text.get(section.range.clone()).unwrap_or_default(), &mut text);
    }
    format!("sha256:{}", sha256_hex(text.as_bytes()))
}

fn add(part: &str, out: &mut String) {
    for line in part.split(['\n', '\r']) {
        let line = line.trim();
        if line.is_empty() || is_delimiter(line) {
            continue;
        }
        let in_table = line.starts_with('|');
        let start = out.len();
        let mut gap = false;
        for ch in line.chars() {
            if ch.is_whitespace() {
                gap = true;
                continue;
            }
            let beside_pipe = in_table && (ch == '|' || out.ends_with('|'));
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
    line.starts_with('|')
        && line.contains('-')
        && line.chars().all(|ch| matches!(ch, '|' | '-' | ':') || ch.is_whitespace())
}
