//! The grammar of the `depends-on` cell.
//!
//! Canonical are `(none)` and numbers separated by commas (`1, 2`). Careless forms whose meaning
//! is beyond doubt are read as well and reported with the canonical form (W2); everything else is
//! an S6. No text ever turns into "no dependencies" by accident: only the listed none-words do.

use super::number::{self, digit, leading};
use super::outline::Cell;
use super::unicode::decomposed;

/// What a `depends-on` cell says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DependsOn {
    /// Single stages and ranges, in the order written.
    pub(crate) items: Vec<Item>,
    /// Why the cell, or a part of it, cannot be read.
    pub(crate) unreadable: Option<Unreadable>,
    /// Whether the cell is written canonically.
    pub(crate) canonical: bool,
}

/// One item of the list: a stage, or the first and last of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// Why a cell cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The row has no such cell.
    Missing,
    /// There is only a comment.
    OnlyComment,
    /// Some of it is struck out, so that it is unclear whether it holds.
    Struck,
    /// `all`: the help lists the earlier stages.
    All,
    /// A range from high to low.
    Reversed(String),
    /// A range without one of its ends.
    Open(String),
    /// Numbers joined by something that is no list, such as a slash.
    Ambiguous(String),
    /// Words.
    Words(String),
}

/// Words that mean "no dependencies". ASCII letters are compared without case, others as they stand.
const NONE_WORDS: &[&str] = &[
    "none", "-", "--", "–", "—", "n/a", "없음", "无", "無", "なし", "keine", "aucune", "нет",
    "Нет", "НЕТ", "Нет", "НЕТ",
];

/// Reads a cell.
pub(crate) fn read(text: &str, cell: Option<&Cell>) -> DependsOn {
    let Some(cell) = cell.filter(|cell| cell.written) else {
        return unreadable(Unreadable::Missing);
    };
    let raw = cell.raw(text);
    match canonical(raw) {
        Some(items) => DependsOn { canonical: true, items, unreadable: None },
        None => read_careless(text, cell, raw),
    }
}

#[inline(never)]
fn read_careless(text: &str, cell: &Cell, raw: &str) -> DependsOn {
    if cell.is_struck() {
        return unreadable(Unreadable::Struck);
    }
    let plain = cell.plain(text);
    if cell.joins_digits() {
        return unreadable(Unreadable::Words(raw.to_owned()));
    }
    if plain.trim().is_empty() && !raw.is_empty() {
        return unreadable(Unreadable::OnlyComment);
    }
    read_plain(plain)
}

/// Reads the plain text of a cell; `\n` stands for `<br>`.
fn read_plain(text: &str) -> DependsOn {
    let text = text.trim();
    if is_none(text) {
        return DependsOn::default();
    }
    let Some(bare) = without_notes(text) else {
        return unreadable(Unreadable::Words(text.to_owned()));
    };
    let mut result = DependsOn::default();
    for piece in split(&bare) {
        match item(&piece) {
            Ok(found) => result.items.push(found),
            Err(why) => result.unreadable = result.unreadable.or(Some(why)),
        }
    }
    result
}

fn unreadable(why: Unreadable) -> DependsOn {
    DependsOn { unreadable: Some(why), ..DependsOn::default() }
}

/// The items of a canonical cell: `(none)`, or plain numbers separated by commas, each once. Blanks
/// do not matter.
fn canonical(raw: &str) -> Option<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    if raw == "(none)" {
        return Some(items);
    }
    for piece in raw.split(',') {
        let piece = piece.trim_matches(' ');
        if piece.len() > 1 && piece.starts_with('0') {
            return None;
        }
        let stage = number::count(piece).filter(|_| piece.is_ascii())?;
        items.push(Item { first: stage, last: stage });
    }
    (!has_duplicates(&items)).then_some(items)
}

fn has_duplicates(items: &[Item]) -> bool {
    // Ascending, as nearly always, needs no sorting.
    if items.windows(2).all(|pair| matches!(pair, [a, b] if a.first < b.first)) {
        return false;
    }
    let mut numbers: Vec<u32> = items.iter().map(|item| item.first).collect();
    crate::order::sort(&mut numbers);
    numbers.windows(2).any(|pair| matches!(pair, [a, b] if a == b))
}

/// A none-word, alone, in parentheses, or with a note in parentheses behind it.
fn is_none(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    if is_none_word(inner) {
        return true;
    }
    let Some(open) = text.find(['(', '（']) else {
        return false;
    };
    let (word, note) = text.split_at_checked(open).unwrap_or((text, ""));
    is_none_word(word) && without_notes(note).is_some_and(|rest| rest.trim().is_empty())
}

/// Whether a text is a word that means "none", with or without a full stop.
pub(crate) fn is_none_word(text: &str) -> bool {
    let word = text.trim().to_ascii_lowercase();
    let word = word.strip_suffix('.').filter(|word| !word.is_empty()).unwrap_or(&word);
    NONE_WORDS.contains(&word)
        || !word.is_ascii() && NONE_WORDS.iter().any(|none| decomposed(none) == decomposed(word))
}

/// The text without its notes in parentheses; `None` where parentheses do not match.
fn without_notes(text: &str) -> Option<String> {
    let mut bare = String::with_capacity(text.len());
    let mut depth = 0_u32;
    for ch in text.chars() {
        match ch {
            '(' | '（' => depth += 1,
            ')' | '）' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => bare.push(ch),
            _ => {}
        }
    }
    (depth == 0).then_some(bare)
}

/// Splits a list at commas, semicolons, `&`, `+`, line breaks and the word `and`.
fn split(text: &str) -> Vec<String> {
    let mut unified = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            ';' | '、' | '，' | '；' | '&' | '+' | '\n' => unified.push(','),
            _ => unified.push(ch),
        }
    }
    let mut pieces: Vec<String> = Vec::new();
    for piece in unified.split(',') {
        let mut rest = piece.trim();
        // `1, 2, and 3`: the comma before the word has split already.
        if let Some(after) = number::strip_word(rest, "and ")
            && !pieces.is_empty()
        {
            rest = after.trim_start();
        }
        while let Some(at) = find_and(rest) {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            pieces.push(before.trim().to_owned());
            rest = after.get(" and ".len()..).unwrap_or_default();
        }
        pieces.push(rest.trim().to_owned());
    }
    pieces
}

fn find_and(text: &str) -> Option<usize> {
    text.as_bytes().windows(5).position(|window| window.eq_ignore_ascii_case(b" and "))
}

/// One item: a decorated number or a range of two.
fn item(text: &str) -> Result<Item, Unreadable> {
    if let Some(single) = number::read(text) {
        return Ok(Item { first: single.value, last: single.value });
    }
    if text.eq_ignore_ascii_case("all") {
        return Err(Unreadable::All);
    }
    let words = || Unreadable::Words(text.to_owned());
    let (first, rest) = leading(text).ok_or_else(words)?;
    let Some(rest) = range_mark(rest) else {
        let joined = rest.trim_start().starts_with(['/', '|']);
        return Err(if joined { Unreadable::Ambiguous(text.to_owned()) } else { words() });
    };
    if rest.trim().is_empty() {
        return Err(Unreadable::Open(text.to_owned()));
    }
    let last = number::read(rest).ok_or_else(words)?.value;
    if last < first {
        return Err(Unreadable::Reversed(text.to_owned()));
    }
    Ok(Item { first, last })
}

/// Strips the mark between the two ends of a range.
fn range_mark(text: &str) -> Option<&str> {
    let trimmed = text.trim_start();
    for mark in ["..", "-", "–", "~", "〜", "～"] {
        if let Some(rest) = trimmed.strip_prefix(mark) {
            return Some(rest.trim_start());
        }
    }
    let rest = number::strip_word(trimmed, "to")?;
    (trimmed.len() < text.len()
        && (rest.is_empty()
            || rest.starts_with(|ch: char| ch.is_whitespace() || digit(ch).is_some())))
    .then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::{Unreadable, read_plain};

    fn numbers(text: &str) -> Vec<u32> {
        let read = read_plain(text);
        assert_eq!(read.unreadable, None, "{text}");
        read.items.iter().flat_map(|item| item.first..=item.last).collect()
    }

    #[test]
    fn none_words() {
        for text in [
            "",
            "none",
            "None",
            "NONE.",
            "(none)",
            "( none )",
            "-",
            "--",
            "–",
            "—",
            "n/a",
            "N/A",
            "없음",
            "无",
            "無",
            "なし",
            "keine",
            "Aucune",
            "нет",
            "Нет",
            "НЕТ",
            "НЕТ",
            "none (can run beside stage 2)",
            "— (parallel with 2)",
        ] {
            assert_eq!(numbers(text), Vec::<u32>::new(), "{text}");
        }
    }

    #[test]
    fn lists_and_ranges() {
        let table: &[(&str, &[u32])] = &[
            ("1", &[1]),
            ("1, 2", &[1, 2]),
            ("Stage 1, Stage 2", &[1, 2]),
            ("S1, S2", &[1, 2]),
            ("#1, #2", &[1, 2]),
            ("1., 2.", &[1, 2]),
            ("01, 02", &[1, 2]),
            ("１，２", &[1, 2]),
            ("1 and 2", &[1, 2]),
            ("1, 2, and 3", &[1, 2, 3]),
            ("1 & 2", &[1, 2]),
            ("1 + 2", &[1, 2]),
            ("1; 2", &[1, 2]),
            ("1、2", &[1, 2]),
            ("1，2", &[1, 2]),
            ("1\n2", &[1, 2]),
            ("1-3", &[1, 2, 3]),
            ("1–3", &[1, 2, 3]),
            ("1~3", &[1, 2, 3]),
            ("1〜3", &[1, 2, 3]),
            ("1..3", &[1, 2, 3]),
            ("1 to 3", &[1, 2, 3]),
            ("Stages 1-2", &[1, 2]),
            ("S1–S3", &[1, 2, 3]),
            ("1 (needs 2 reviewers)", &[1]),
            ("1 ✅", &[1]),
            ("1, 1", &[1, 1]),
            ("1, 2.", &[1, 2]),
        ];
        for (text, expected) in table {
            assert_eq!(numbers(text), *expected, "{text}");
        }
    }

    #[test]
    fn everything_else_is_unreadable() {
        for text in [
            "all",
            "1/2",
            "3-1",
            "1-",
            "-1",
            "1_0",
            "1, not 2",
            "1, owner approval",
            "nothing",
            "1,,2",
            "1,",
            "(1)",
            "(1",
            "1 2",
            "1-2-3",
            "none, 1",
            "none or 1",
            "1, none",
            "1..",
            "to 3",
            "1.5",
            "99999999999",
            "the others",
            "?",
            "TBD",
            "()",
            "~",
            "--- ",
        ] {
            assert!(read_plain(text).unreadable.is_some(), "{text}");
        }
        assert_eq!(read_plain("all").unreadable, Some(Unreadable::All));
        assert_eq!(read_plain("3-1").unreadable, Some(Unreadable::Reversed("3-1".into())));
        assert_eq!(read_plain("1-").unreadable, Some(Unreadable::Open("1-".into())));
        assert_eq!(read_plain("1/2").unreadable, Some(Unreadable::Ambiguous("1/2".into())));
        // What could be read stays, so that the stage never looks free.
        assert_eq!(read_plain("1, not 2").items.len(), 1);
    }
}
