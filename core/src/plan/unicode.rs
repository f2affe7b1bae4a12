//! Unicode forms: how texts are compared, and how they should be written.
//!
//! The mappings come from the crate unicode-normalization, packed by `build.rs` and unpacked here
//! when the first text that is not ASCII is compared.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::order::{order, sorted};

static MAPPINGS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mappings.bin"));
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.bin"));

/// Canonical decomposition (NFD): the form in which texts are compared.
pub(crate) fn decomposed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(decompose(text)) }
}

/// Canonical composition (NFC): the form in which texts should be written.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(compose(text)) }
}

#[inline(never)]
fn decompose(text: &str) -> String {
    Tables::get().parts(text).into_iter().filter_map(|(_, _, code)| char::from_u32(code)).collect()
}

#[inline(never)]
fn compose(text: &str) -> String {
    let tables = Tables::get();
    let mut done: Vec<u32> = Vec::with_capacity(text.len());
    // Where the last base stands, and the class of what stands behind it and did not join it.
    let mut base: Option<usize> = None;
    let mut blocked: Option<u64> = None;
    for (_, class, code) in tables.parts(text) {
        if blocked.is_none_or(|last| last < class)
            && let Some(slot) = base.and_then(|at| done.get_mut(at))
            && let Some(joined) = tables.join(*slot, code)
        {
            *slot = joined;
            continue;
        }
        if class == 0 {
            base = Some(done.len());
            blocked = None;
        } else {
            blocked = Some(class);
        }
        done.push(code);
    }
    done.into_iter().filter_map(char::from_u32).collect()
}

/// A canonical mapping: a character and the one or two it stands for.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    code: u32,
    first: u32,
    /// 0 where there is none.
    second: u32,
}

/// The unpacked tables.
#[derive(Debug)]
struct Tables {
    /// By [`Mapping::code`].
    mappings: Vec<Mapping>,
    /// Those that compose again, by their parts.
    pairs: Vec<Mapping>,
    /// Start, end and class of runs of combining marks.
    classes: Vec<(u32, u32, u64)>,
}

/// Hangul syllables are arithmetic: their beginnings, and how many there are of each part.
const SYLLABLE: u32 = 0xAC00;
const LEAD: u32 = 0x1100;
const VOWEL: u32 = 0x1161;
const TAIL: u32 = 0x11A7;
const VOWELS: u32 = 21;
const TAILS: u32 = 28;
const SYLLABLES: u32 = 19 * VOWELS * TAILS;

impl Tables {
    fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Self::unpack)
    }

    fn unpack() -> Self {
        let mut tables = Self { mappings: Vec::new(), pairs: Vec::new(), classes: Vec::new() };
        let mut bytes = MAPPINGS.iter();
        let (mut code, mut first) = (0_u32, 0_u32);
        while let Some(distance) = read(&mut bytes) {
            code = code.wrapping_add(distance);
            let zigzag = read(&mut bytes).unwrap_or_default();
            first = first.wrapping_add((zigzag >> 1) ^ (zigzag & 1).wrapping_neg());
            let second = read(&mut bytes).unwrap_or_default();
            let mapping = Mapping { code, first, second: second >> 1 };
            tables.mappings.push(mapping);
            if second & 1 == 1 {
                tables.pairs.push(mapping);
            }
        }
        tables.pairs = sorted(tables.pairs, |pair| (u64::from(pair.first), u64::from(pair.second)));
        let mut bytes = CLASSES.iter();
        let mut end = 0;
        while let Some(distance) = read(&mut bytes) {
            let start = end + distance;
            end = start + read(&mut bytes).unwrap_or_default();
            tables.classes.push((start, end, u64::from(read(&mut bytes).unwrap_or_default())));
        }
        tables
    }

    /// The parts of a text in canonical order, each with the number of its base and its class.
    fn parts(&self, text: &str) -> Vec<(u64, u64, u32)> {
        let mut codes = Vec::with_capacity(text.len());
        for ch in text.chars() {
            self.split(u32::from(ch), &mut codes);
        }
        // Marks stand in the order of their classes behind their base, whose class is 0.
        let mut base = 0;
        let keys: Vec<(u64, u64)> = codes
            .iter()
            .map(|code| {
                let class = self.class(*code);
                base += u64::from(class == 0);
                (base, class)
            })
            .collect();
        order(keys.len(), &|at| keys.get(at).copied().unwrap_or_default())
            .into_iter()
            .filter_map(|at| Some((keys.get(at)?.0, keys.get(at)?.1, *codes.get(at)?)))
            .collect()
    }

    /// Writes the full decomposition of a character.
    fn split(&self, code: u32, parts: &mut Vec<u32>) {
        let syllable = code.wrapping_sub(SYLLABLE);
        if syllable < SYLLABLES {
            parts.push(LEAD + syllable / (VOWELS * TAILS));
            parts.push(VOWEL + syllable % (VOWELS * TAILS) / TAILS);
            if !syllable.is_multiple_of(TAILS) {
                parts.push(TAIL + syllable % TAILS);
            }
            return;
        }
        let at = self.mappings.partition_point(|mapping| mapping.code < code);
        match self.mappings.get(at).filter(|mapping| mapping.code == code) {
            Some(mapping) => {
                // The second part never decomposes further.
                self.split(mapping.first, parts);
                if mapping.second != 0 {
                    parts.push(mapping.second);
                }
            }
            None => parts.push(code),
        }
    }

    /// The character two others compose to.
    fn join(&self, first: u32, second: u32) -> Option<u32> {
        let (lead, vowel) = (first.wrapping_sub(LEAD), second.wrapping_sub(VOWEL));
        if lead < SYLLABLES / (VOWELS * TAILS) && vowel < VOWELS {
            return Some(SYLLABLE + (lead * VOWELS + vowel) * TAILS);
        }
        let (syllable, tail) = (first.wrapping_sub(SYLLABLE), second.wrapping_sub(TAIL));
        if syllable < SYLLABLES && syllable.is_multiple_of(TAILS) && (1..TAILS).contains(&tail) {
            return Some(first + tail);
        }
        let wanted = (first, second);
        let at = self.pairs.partition_point(|pair| (pair.first, pair.second) < wanted);
        let pair = self.pairs.get(at)?;
        ((pair.first, pair.second) == wanted).then_some(pair.code)
    }

    /// The canonical combining class: 0 for a base.
    fn class(&self, code: u32) -> u64 {
        let after = self.classes.partition_point(|(start, ..)| *start <= code);
        let run = after.checked_sub(1).and_then(|at| self.classes.get(at));
        run.filter(|(_, end, _)| code < *end).map_or(0, |(.., class)| *class)
    }
}

/// The next number in groups of seven bits, the lowest first; `None` at the end.
fn read(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u32> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let byte = bytes.next()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::{composed, decomposed};

    fn same_as_the_library(text: &str) {
        assert_eq!(composed(text), text.nfc().collect::<String>(), "{text:?}");
        assert_eq!(decomposed(text), text.nfd().collect::<String>(), "{text:?}");
    }

    #[test]
    fn texts() {
        for text in [
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
        ] {
            same_as_the_library(text);
        }
    }

    #[test]
    fn every_character_beside_its_neighbours_and_between_marks() {
        let all: Vec<char> = ('\u{80}'..=char::MAX).collect();
        for some in all.chunks(512) {
            same_as_the_library(&some.iter().collect::<String>());
        }
        let decomposing = all.iter().filter(|ch| {
            let text = ch.to_string();
            !('\u{AC00}'..='\u{D7A3}').contains(*ch) && text.nfd().ne(text.chars())
        });
        for ch in decomposing {
            let parts: String = ch.nfd().collect();
            same_as_the_library(&format!("{parts}\u{323}\u{301}{ch}\u{345}"));
        }
    }
}
