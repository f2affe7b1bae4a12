//! Stage numbers as people write them: `1`, `Stage 1`, `S1`, `#1`, `1.`, `01`, `１`.

/// A number and whether it stood there in its canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) value: u32,
    pub(crate) canonical: bool,
}

/// Reads one decorated number that fills `text`. Anything else is `None`.
pub(crate) fn read(text: &str) -> Option<Number> {
    let written = text.trim();
    let (value, rest) = leading(without_marks(written))?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    if !rest.trim().is_empty() {
        return None;
    }
    Some(Number { value, canonical: written == value.to_string() })
}

/// Reads a decorated number at the start of `text`; returns it and what stands behind it.
pub(crate) fn leading(text: &str) -> Option<(u32, &str)> {
    let digits = undecorated(text);
    let mut value: u32 = 0;
    let mut end = 0;
    for ch in digits.chars() {
        let Some(digit) = digit(ch) else { break };
        value = value.checked_mul(10)?.checked_add(digit)?;
        end += ch.len_utf8();
    }
    if end == 0 {
        return None;
    }
    Some((value, digits.get(end..)?))
}

/// Reads a plain count: digits only, of any width.
pub(crate) fn count(text: &str) -> Option<u32> {
    let mut value: u32 = 0;
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    for ch in text.chars() {
        value = value.checked_mul(10)?.checked_add(digit(ch)?)?;
    }
    Some(value)
}

/// The value of an ASCII or full-width digit.
pub(crate) fn digit(ch: char) -> Option<u32> {
    match ch {
        '0'..='9' => Some(u32::from(ch) - u32::from('0')),
        '\u{FF10}'..='\u{FF19}' => Some(u32::from(ch) - 0xFF10),
        _ => None,
    }
}

/// Strips `Stage `, `S` or `#` before a number.
fn undecorated(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('#') {
        return rest;
    }
    for word in ["stages", "stage"] {
        if let Some(rest) = strip_word(text, word) {
            let number = rest.trim_start();
            if number.len() < rest.len() {
                return number;
            }
        }
    }
    match strip_word(text, "s") {
        Some(rest) if rest.starts_with(|ch| digit(ch).is_some()) => rest,
        _ => text,
    }
}

/// Strips an ASCII word, whatever its case.
pub(crate) fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| text.get(word.len()..)).flatten()
}

/// Strips done marks and other pictures behind a number.
fn without_marks(text: &str) -> &str {
    text.trim_end_matches(|ch: char| ch.is_whitespace() || is_mark(ch))
}

/// A mark that decorates: a tick, a dingbat, an emoji or a joiner of one.
pub(crate) fn is_mark(ch: char) -> bool {
    matches!(ch,
        '\u{200D}' | '\u{FE0E}' | '\u{FE0F}'
        | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}'
        | '\u{2600}'..='\u{27BF}'
        | '\u{2B00}'..='\u{2BFF}'
        | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use super::{Number, read};

    #[test]
    fn decorated_numbers() {
        let yes = [
            ("1", 1, true),
            ("12", 12, true),
            ("Stage 1", 1, false),
            ("stages 2", 2, false),
            ("S3", 3, false),
            ("#4", 4, false),
            ("5.", 5, false),
            ("06", 6, false),
            ("７", 7, false),
            ("8 ✅", 8, false),
        ];
        for (text, value, canonical) in yes {
            assert_eq!(read(text), Some(Number { value, canonical }), "{text}");
        }
        for text in ["", "-1", "1_0", "1-2", "one", "1 2", "Stage", "Stage1", "99999999999", "1.5"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
