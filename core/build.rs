//! Packs the canonical mappings of Unicode into the few bytes that `src/plan/unicode.rs` unpacks.
//!
//! The library's own tables are made for speed; they would be a tenth of the module that browsers
//! load, and what they are asked here is asked of a handful of titles.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads its environment and writes files"
)]

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};

/// Hangul syllables decompose by arithmetic and need no entries.
const HANGUL: std::ops::RangeInclusive<char> = '\u{AC00}'..='\u{D7A3}';

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("mappings.bin"), mappings())?;
    std::fs::write(Path::new(&out).join("classes.bin"), classes())?;
    Ok(())
}

/// For each character with a canonical decomposition: the distance from the one before, the first
/// part relative to that of the one before, the second part (0 where there is none), and whether
/// the pair composes to it again.
fn mappings() -> Vec<u8> {
    let all: Vec<(char, Vec<char>)> = ('\0'..=char::MAX)
        .filter(|ch| !HANGUL.contains(ch))
        .map(|ch| (ch, full(ch)))
        .filter(|(ch, parts)| parts != &[*ch])
        .collect();
    // Of several with one decomposition the lowest is the letter, the others are copies of it.
    let whole: HashMap<&[char], char> =
        all.iter().rev().map(|(ch, parts)| (parts.as_slice(), *ch)).collect();
    let mut bytes = Vec::new();
    let (mut last, mut last_first) = (0, 0_i64);
    for (ch, parts) in &all {
        // Every mapping is a single character, or one that may decompose further and a last part.
        let (first, second) = match parts.split_last() {
            Some((only, [])) => (*only, None),
            Some((second, [first])) => (*first, Some(*second)),
            Some((second, before)) => {
                (whole.get(before).copied().unwrap_or_default(), Some(*second))
            }
            None => continue,
        };
        let again = second.is_some_and(|second| compose(first, second) == Some(*ch));
        let code = u32::from(*ch);
        write(&mut bytes, u64::from(code - last));
        let distance = i64::from(u32::from(first)) - last_first;
        // Zigzag: small numbers stay small whatever their sign.
        write(&mut bytes, ((distance << 1) ^ (distance >> 63)).cast_unsigned());
        write(&mut bytes, (u64::from(second.map_or(0, u32::from)) << 1) | u64::from(again));
        last = code;
        last_first = i64::from(u32::from(first));
    }
    bytes
}

/// The full canonical decomposition.
fn full(ch: char) -> Vec<char> {
    let mut parts = Vec::new();
    decompose_canonical(ch, |part| parts.push(part));
    parts
}

/// Runs of characters with one combining class: distance from the run before, length, class.
fn classes() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut end = 0;
    let mut run: Option<(u32, u32, u8)> = None;
    for ch in '\0'..=char::MAX {
        let code = u32::from(ch);
        let class = canonical_combining_class(ch);
        match &mut run {
            Some((start, length, of)) if *of == class && *start + *length == code => *length += 1,
            _ => {
                if let Some((start, length, of)) = run.take() {
                    flush(&mut bytes, &mut end, start, length, of);
                }
                run = (class > 0).then_some((code, 1, class));
            }
        }
    }
    if let Some((start, length, of)) = run {
        flush(&mut bytes, &mut end, start, length, of);
    }
    bytes
}

fn flush(bytes: &mut Vec<u8>, end: &mut u32, start: u32, length: u32, class: u8) {
    write(bytes, u64::from(start - *end));
    write(bytes, u64::from(length));
    write(bytes, u64::from(class));
    *end = start + length;
}

/// A number in groups of seven bits, the lowest first (LEB128).
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low & 0x7f);
        }
        bytes.push(low | 0x80);
    }
}
