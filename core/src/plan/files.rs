//! The paths of a step's `files` cell.

use super::depends_on::is_none_word;
use super::outline::Cell;
use crate::order::order_by;

/// A path as a cell names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StepFile {
    /// A path relative to the project, normalised.
    Inside(String),
    /// A path that leaves the project, as written.
    Outside(String),
}

/// Most paths one pair of braces may stand for; more is taken as a plain name.
const MOST_ALTERNATIVES: usize = 256;

/// Reads a `files` cell: paths in backticks, or separated by commas, semicolons or `<br>`.
/// `b.rs:10-20` is `b.rs`, `{c,d}.rs` is two, `none` and dashes are none.
pub(crate) fn read(text: &str, cell: &Cell) -> Vec<StepFile> {
    let mut files = read_all(text, cell);
    if files.len() > 1 {
        let twice = repeated(&files);
        let mut at = 0;
        files.retain(|_| {
            at += 1;
            twice.get(at - 1) != Some(&true)
        });
    }
    files
}

/// For each file, whether it stood before.
fn repeated(files: &[StepFile]) -> Vec<bool> {
    let order = order_by(files.len(), &|a, b| files.get(a).cmp(&files.get(b)));
    let mut twice = vec![false; files.len()];
    for pair in order.windows(2) {
        if let [first, second] = pair
            && files.get(*first) == files.get(*second)
            && let Some(slot) = twice.get_mut(*second)
        {
            *slot = true;
        }
    }
    twice
}

fn read_all(text: &str, cell: &Cell) -> Vec<StepFile> {
    let plain = cell.plain(text);
    let mut files = Vec::new();
    let code = cell.inline().map(|inline| inline.code.as_slice()).unwrap_or_default();
    if code.is_empty() {
        read_list(plain, &mut files);
        return files;
    }
    // Ranges of code are counted in the untrimmed text.
    let whole = cell.inline().map_or(plain, |inline| inline.text.as_str());
    let mut at = 0;
    for span in code {
        read_between(whole.get(at..span.start).unwrap_or_default(), &mut files);
        read_list(whole.get(span.clone()).unwrap_or_default(), &mut files);
        at = span.end;
    }
    read_between(whole.get(at..).unwrap_or_default(), &mut files);
    files
}

/// Text beside code spans: line numbers that belong to the code, notes, or more paths.
fn read_between(text: &str, files: &mut Vec<StepFile>) {
    if text.chars().all(|ch| ch.is_whitespace() || ch == ',') {
        return;
    }
    for piece in pieces(text) {
        let piece = piece.trim();
        // Only what looks like a path counts here: prose between ticked paths is common.
        let looks_like_path = piece.contains(['/', '.']) && !piece.contains(char::is_whitespace);
        if looks_like_path && !piece.starts_with([':', '.', '(']) {
            add(piece, files);
        }
    }
}

fn read_list(text: &str, files: &mut Vec<StepFile>) {
    if !text.contains([',', ';', '，', '；', '、', '\n']) {
        return add(text, files);
    }
    for piece in pieces(text) {
        add(&piece, files);
    }
}

/// Splits at separators outside braces and parentheses.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut depth = 0_u32;
    for ch in text.chars() {
        match ch {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let separates = match ch {
            ',' | ';' | '，' | '；' | '、' => depth == 0,
            '\n' => true,
            _ => false,
        };
        if separates {
            if ch == '\n' {
                depth = 0;
            }
            pieces.push(std::mem::take(&mut piece));
        } else {
            piece.push(ch);
        }
    }
    pieces.push(piece);
    pieces
}

fn add(piece: &str, files: &mut Vec<StepFile>) {
    let name = piece.trim();
    // Most paths need no reading at all.
    let plain = name.starts_with(|ch: char| ch.is_ascii_alphanumeric())
        && name.contains('.')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-'))
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if plain {
        files.push(StepFile::Inside(name.to_owned()));
    } else {
        add_decorated(name, files);
    }
}

#[inline(never)]
fn add_decorated(piece: &str, files: &mut Vec<StepFile>) {
    // `a.rs and b.rs` and `a.rs b.rs`: a blank in a path is rarer than a missing comma, as long as
    // every word is a path.
    let joins = |word: &str| matches!(word, "and" | "&" | "+");
    if piece.contains(char::is_whitespace)
        && piece.split_whitespace().all(|word| joins(word) || is_path(word))
    {
        for word in piece.split_whitespace().filter(|word| !joins(word)) {
            add_one(word, files);
        }
    } else {
        add_one(piece, files);
    }
}

/// Whether a word has a slash or an extension.
fn is_path(word: &str) -> bool {
    let extension = word.rsplit_once('.').map_or("", |(_, extension)| extension);
    word.contains('/') || extension.starts_with(|ch: char| ch.is_ascii_alphanumeric())
}

fn add_one(piece: &str, files: &mut Vec<StepFile>) {
    let name = without_lines(piece);
    if is_none(name) {
        return;
    }
    for path in expanded(name) {
        let file = match normalised(&path) {
            Some(inside) if inside.is_empty() => continue,
            Some(inside) => StepFile::Inside(inside),
            None => StepFile::Outside(path),
        };
        files.push(file);
    }
}

fn is_none(name: &str) -> bool {
    let word = name.trim_matches(['(', ')']);
    word.is_empty() || word == "." || is_none_word(word)
}

/// Strips what points into a file: `:10-20`, `:10:5`, `::test_name`, `#L10`, ` (lines 3–9)`.
fn without_lines(name: &str) -> &str {
    let mut name = name;
    if let Some(open) = name.rfind(" (")
        && name.ends_with(')')
    {
        name = name.get(..open).unwrap_or(name).trim_end();
    }
    if let Some(at) = name.find("::") {
        name = name.get(..at).unwrap_or(name);
    }
    if let Some(at) = name.rfind("#L") {
        name = name.get(..at).unwrap_or(name);
    }
    while let Some(at) = name.rfind(':') {
        let tail = name.get(at + 1..).unwrap_or_default();
        let is_lines = !tail.is_empty()
            && tail
                .chars()
                .all(|ch| ch.is_ascii_digit() || matches!(ch, '-' | '–' | ',' | ' ' | 'L'));
        if !is_lines {
            break;
        }
        name = name.get(..at).unwrap_or(name);
    }
    name
}

/// The longest name whose braces are looked at, in bytes: what systems allow a path.
const LONGEST_PATH: usize = 4096;

/// `src/{a,b}.rs` as two names; braces may nest and repeat.
fn expanded(name: &str) -> Vec<String> {
    if name.len() > LONGEST_PATH {
        return vec![name.to_owned()];
    }
    let mut done = Vec::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        if done.len() + open.len() > MOST_ALTERNATIVES {
            return vec![name.to_owned()];
        }
        match braces(&next) {
            Some((before, alternatives, after)) => {
                for choice in alternatives.iter().rev() {
                    open.push(format!("{before}{choice}{after}"));
                }
            }
            None => done.push(next),
        }
    }
    done
}

/// The first innermost-closing pair of braces with a comma in it: before, choices, after.
fn braces(name: &str) -> Option<(&str, Vec<&str>, &str)> {
    let close = name.find('}')?;
    let open = name.get(..close)?.rfind('{')?;
    let inner = name.get(open + 1..close)?;
    if !inner.contains(',') {
        return None;
    }
    let choices = inner.split(',').map(str::trim).collect();
    Some((name.get(..open)?, choices, name.get(close + 1..)?))
}

/// A project-relative path without `.` and `..`; `None` where it leaves the project.
pub(crate) fn normalised(path: &str) -> Option<String> {
    let path = path.trim().replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && matches!(path.as_bytes().get(2), Some(b'/'));
    if path.starts_with(['/', '~']) || drive {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::outline::{Block, Outline};

    fn files(cell: &str) -> Vec<String> {
        let text = format!("| files |\n|--|\n| {cell} |\n");
        let outline = Outline::new(&text);
        let Some(Block::Table(table)) = outline.blocks.first() else { panic!("no table: {cell}") };
        let cell = &outline.cells(&table.rows[0])[0];
        read(&text, cell)
            .into_iter()
            .map(|file| match file {
                StepFile::Inside(path) => path,
                StepFile::Outside(path) => format!("!{path}"),
            })
            .collect()
    }

    #[test]
    fn cells() {
        let table: &[(&str, &[&str])] = &[
            ("src/a.rs", &["src/a.rs"]),
            ("`src/a.rs`, `src/b.rs:10-20`", &["src/a.rs", "src/b.rs"]),
            ("src/a.rs, src/b.rs:10<br>src/c.rs", &["src/a.rs", "src/b.rs", "src/c.rs"]),
            ("src/{c,d}.rs", &["src/c.rs", "src/d.rs"]),
            ("`src/{c,d}/{e,f}.rs`", &["src/c/e.rs", "src/c/f.rs", "src/d/e.rs", "src/d/f.rs"]),
            ("none", &[]),
            ("(none)", &[]),
            ("-", &[]),
            ("—", &[]),
            ("", &[]),
            ("src/no ticks.rs (lines 3–9)", &["src/no ticks.rs"]),
            ("`tests/t.rs::case`", &["tests/t.rs"]),
            ("`a.rs` (new), `b.rs`", &["a.rs", "b.rs"]),
            ("`a.rs` and `b.rs`", &["a.rs", "b.rs"]),
            ("`a.rs`, src/b.rs", &["a.rs", "src/b.rs"]),
            ("src/x/../a.rs, ./b.rs", &["src/a.rs", "b.rs"]),
            ("../outside.txt", &["!../outside.txt"]),
            ("src/../../x", &["!src/../../x"]),
            ("/etc/passwd, ~/x, C:\\\\x", &["!/etc/passwd", "!~/x", "!C:\\x"]),
            ("a.rs, a.rs", &["a.rs"]),
            ("src\\\\win.rs", &["src/win.rs"]),
            ("a.rs#L10", &["a.rs"]),
        ];
        for (cell, expected) in table {
            assert_eq!(files(cell), *expected, "{cell}");
        }
    }
}
