//! The grammar of the two headings a plan is made of: `## 4.5 Stage Map` and
//! `## 4.5.1 Stage 1: <title>`, canonical and careless.

use super::number::{self, digit, is_mark, strip_word};
use super::unicode::decomposed;

/// A heading that begins like a stage section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StageHeading {
    pub(crate) stage: u32,
    /// The dotted number before `Stage`, without zero padding: `[4, 5, 1]`.
    pub(crate) number: Vec<u32>,
    /// Where the title begins in the plain text; `None` where what follows the stage number is
    /// neither a separator nor the end, so that this is another heading.
    pub(crate) title_at: Option<usize>,
    /// The note in parentheses between the stage number and the separator.
    pub(crate) note: Option<String>,
}

/// Reads the plain text of a heading as `[number] Stage <n>[ (note)][: title]`.
pub(crate) fn stage_heading(plain: &str) -> Option<StageHeading> {
    let (number, rest) = section_number(plain);
    let rest = strip_word(rest, "stage")?;
    let spaced = rest.trim_start();
    if spaced.len() == rest.len() || !spaced.starts_with(|ch| digit(ch).is_some()) {
        return None;
    }
    let (stage, rest) = number::leading(spaced)?;
    let (note, rest) = note(rest);
    let marked = rest.trim_start_matches(|ch: char| ch.is_whitespace() || is_mark(ch));
    let rest = if marked.len() < rest.trim_start().len() { marked } else { rest };
    let title_at = separator(rest).map(|title| plain.len() - title.len());
    Some(StageHeading { stage, number, title_at, note })
}

/// A heading that is the Stage Map's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MapTitle {
    /// The number before the words, as it should be written.
    pub(crate) number: Option<String>,
}

/// Reads the plain text of a heading as `[number] Stage Map`, alone or with a note in
/// parentheses.
pub(crate) fn map_heading(plain: &str) -> Option<MapTitle> {
    let (number, rest) = section_number(plain);
    let rest = strip_word(rest, "stage")?;
    let spaced = rest.trim_start();
    if spaced.len() == rest.len() {
        return None;
    }
    let (_, rest) = note(strip_word(spaced, "map")?);
    let rest = rest.trim_matches(|ch: char| ch.is_whitespace() || is_mark(ch));
    (rest.is_empty() || rest == ":" || rest == "：").then(|| MapTitle { number: dotted(&number) })
}

/// Whether a text mentions the Stage Map in a heading-like way: the near miss of an S1.
pub(crate) fn begins_like_map(plain: &str) -> bool {
    let (_, rest) = section_number(plain);
    strip_word(rest, "stage").is_some_and(|rest| {
        let spaced = rest.trim_start();
        spaced.len() < rest.len()
            && strip_word(spaced, "map")
                .is_some_and(|tail| !tail.starts_with(|ch: char| ch.is_alphanumeric()))
    })
}

/// `[4, 5]` as `4.5`; nothing as `None`.
pub(crate) fn dotted(number: &[u32]) -> Option<String> {
    let (first, rest) = number.split_first()?;
    let mut text = first.to_string();
    for part in rest {
        text.push('.');
        text.push_str(&part.to_string());
    }
    Some(text)
}

/// A dotted number before the words, in any digits, zero padded or with a full stop behind;
/// marks and blanks before it are skipped. Empty where there is none.
fn section_number(plain: &str) -> (Vec<u32>, &str) {
    let start = plain.trim_start_matches(|ch: char| ch.is_whitespace() || is_mark(ch));
    let mut parts = Vec::new();
    let mut rest = start;
    while let Some((value, behind)) =
        number::leading(rest).filter(|_| rest.starts_with(|ch| digit(ch).is_some()))
    {
        parts.push(value);
        rest = behind.strip_prefix(['.', '．']).unwrap_or(behind);
        if rest.len() == behind.len() {
            break;
        }
    }
    if parts.is_empty() || !rest.starts_with(|ch: char| ch.is_whitespace()) {
        return (Vec::new(), start);
    }
    (parts, rest.trim_start_matches(|ch: char| ch.is_whitespace() || is_mark(ch)))
}

/// A note in parentheses at the start, and what stands behind it.
fn note(text: &str) -> (Option<String>, &str) {
    let trimmed = text.trim_start();
    let close = match trimmed.chars().next() {
        Some('(') => ')',
        Some('（') => '）',
        _ => return (None, text),
    };
    match trimmed.find(close) {
        Some(end) => {
            let end = end + close.len_utf8();
            let (note, rest) = trimmed.split_at_checked(end).unwrap_or((trimmed, ""));
            (Some(note.to_owned()), rest)
        }
        None => (None, text),
    }
}

/// The title behind a separator: a colon of any width, or a dash with a blank before it. Nothing
/// at all is an empty title.
fn separator(text: &str) -> Option<&str> {
    let trimmed = text.trim_start();
    if trimmed.is_empty() {
        return Some(trimmed);
    }
    if let Some(title) = trimmed.strip_prefix([':', '：']) {
        return Some(title.trim_start());
    }
    let title = trimmed
        .strip_prefix(['—', '–'])
        .or_else(|| trimmed.strip_prefix('-').filter(|_| trimmed.len() < text.len()))?;
    Some(title.trim_start())
}

/// Whether a heading's text is one of our names (given in lower case), compared without case,
/// markup, white space, Unicode form and a closing colon.
pub(crate) fn is_name(plain: &str, name: &str) -> bool {
    if plain.is_ascii() {
        let bare = plain.trim().trim_end_matches(':').trim_end();
        return bare.split_ascii_whitespace().map(str::len).sum::<usize>()
            == name.split(' ').map(str::len).sum::<usize>()
            && bare
                .split_ascii_whitespace()
                .zip(name.split(' '))
                .all(|(a, b)| a.eq_ignore_ascii_case(b));
    }
    folded(plain) == name
}

/// A heading's text as names are compared: decomposed, lower case, single blanks, no closing colon.
pub(crate) fn folded(plain: &str) -> String {
    let lower = decomposed(plain).to_ascii_lowercase();
    let mut name = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    let end = name.trim_end_matches([':', '：']).trim_end().len();
    name.truncate(end);
    name
}

#[cfg(test)]
mod tests {
    use super::{MapTitle, map_heading, stage_heading};

    #[test]
    fn stage_headings() {
        let table: &[(&str, u32, &[u32], Option<&str>)] = &[
            ("4.5.1 Stage 1: part", 1, &[4, 5, 1], Some("part")),
            ("4.5.1. Stage 1: part", 1, &[4, 5, 1], Some("part")),
            ("4.5.1 Stage 1 — part", 1, &[4, 5, 1], Some("part")),
            ("4.5.1 Stage 1 - part", 1, &[4, 5, 1], Some("part")),
            ("4.5.1 Stage 1：part", 1, &[4, 5, 1], Some("part")),
            ("4.5.1 stage 1: part", 1, &[4, 5, 1], Some("part")),
            ("4.5.01 Stage 01: part", 1, &[4, 5, 1], Some("part")),
            ("✅ 4.5.1 Stage 1: part", 1, &[4, 5, 1], Some("part")),
            ("Stage 1: part", 1, &[], Some("part")),
            ("4.5.2 Stage 2 (optional): part", 2, &[4, 5, 2], Some("part")),
            ("4.5.1 Stage 1", 1, &[4, 5, 1], Some("")),
            ("4.5.1 Stage 1 🚀: part", 1, &[4, 5, 1], Some("part")),
            ("4.5.1 Stage 1 ✅", 1, &[4, 5, 1], Some("")),
            ("4.5.1 Stage 1 overview", 1, &[4, 5, 1], None),
            ("4.5.1 Stage 12-part", 12, &[4, 5, 1], None),
        ];
        for (plain, stage, number, title) in table {
            let found = stage_heading(plain).unwrap_or_else(|| panic!("{plain}"));
            assert_eq!((found.stage, found.number.as_slice()), (*stage, *number), "{plain}");
            assert_eq!(found.title_at.and_then(|at| plain.get(at..)), *title, "{plain}");
        }
        for plain in [
            "Stages 1-3 recap",
            "Stage Map",
            "4.5 Stage Map",
            "Staged 1: x",
            "Stage one: x",
            "4.5.1Stage 1: x",
        ] {
            assert_eq!(stage_heading(plain), None, "{plain}");
        }
    }

    #[test]
    fn map_headings() {
        assert_eq!(map_heading("4.5 Stage Map"), Some(MapTitle { number: Some("4.5".into()) }));
        assert_eq!(map_heading("Stage Map"), Some(MapTitle { number: None }));
        assert_eq!(
            map_heading("05.5. stage  map (old)"),
            Some(MapTitle { number: Some("5.5".into()) })
        );
        assert_eq!(map_heading("4.5 Stage Mapping"), None);
        assert_eq!(map_heading("4.5 Stage Map overview"), None);
    }
}
