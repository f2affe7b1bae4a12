//! Unicode forms: how texts are compared, and how they should be written.
//!
//! The crate's own iterators bring the compatibility tables with them, which nothing here needs;
//! its functions for single characters do not.

use std::borrow::Cow;

use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};

use crate::order::sorted;

/// Canonical decomposition (NFD): the form in which texts are compared.
pub(crate) fn decomposed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(decompose(text).into_iter().map(|(_, _, ch)| ch).collect())
}

/// Canonical composition (NFC): the form in which texts should be written.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(recompose(text)) }
}

/// The parts of a text in canonical order, each with the number of its base and its class.
#[inline(never)]
fn decompose(text: &str) -> Vec<(u64, u64, char)> {
    // Combining marks stand in the order of their classes behind their base, whose class is 0.
    let mut base = 0;
    let mut parts: Vec<(u64, u64, char)> = Vec::with_capacity(text.len());
    for ch in text.chars() {
        decompose_canonical(ch, |part| {
            let class = u64::from(canonical_combining_class(part));
            base += u64::from(class == 0);
            parts.push((base, class, part));
        });
    }
    sorted(parts, |(base, class, _)| (*base, *class))
}

#[inline(never)]
fn recompose(text: &str) -> String {
    let mut done: Vec<char> = Vec::with_capacity(text.len());
    // Where the last base stands, and the class of what stands behind it and did not join it.
    let mut starter: Option<usize> = None;
    let mut blocked: Option<u64> = None;
    for (_, class, ch) in decompose(text) {
        let base = starter.and_then(|at| done.get_mut(at));
        let free = blocked.is_none_or(|last| last < class);
        if let Some(base) = base.filter(|_| free)
            && let Some(joined) = compose(*base, ch)
        {
            *base = joined;
            continue;
        }
        if class == 0 {
            starter = Some(done.len());
            blocked = None;
        } else {
            blocked = Some(class);
        }
        done.push(ch);
    }
    done.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::{composed, decomposed};

    #[test]
    fn both_forms_are_those_of_the_standard() {
        let texts = [
            "plain",
            "é",
            "e\u{301}",
            "ệ",
            "e\u{302}\u{323}",
            "ê\u{323}",
            "없음",
            "\u{1100}\u{1161}\u{11a8}",
            "\u{212b}",
            "a\u{315}\u{300}\u{5ae}\u{300}b",
            "\u{301}x",
            "ｱﾞ",
            "क\u{93c}",
            "\u{f900}",
            "q\u{307}\u{323}",
            "\u{1100}\u{300}\u{1161}",
            "日本語",
            "😀\u{301}",
        ];
        for text in texts {
            assert_eq!(composed(text), text.nfc().collect::<String>(), "{text:?}");
            assert_eq!(decomposed(text), text.nfd().collect::<String>(), "{text:?}");
        }
    }
}
