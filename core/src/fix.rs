//! Repairs: edits, what they may touch, and how they are applied.

use std::collections::HashMap;

use crate::finding::{Draft, DraftEdit};
use crate::plan::Document;
use crate::plan::number::{digit, strip_word};
use crate::rules::canonical_dependencies;
use crate::source::ByteRange;

/// The edits that renumber the stages 1..N and everything that refers to them. Empty where
/// nothing needs it or where it could connect the wrong stages: see the rule S2.
pub(crate) fn renumber(doc: &Document<'_>) -> Vec<DraftEdit> {
    let rows = &doc.map.rows;
    if doc.overflow.is_some() {
        return Vec::new();
    }
    let mut new = HashMap::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let (Some(old), Ok(number)) = (row.stage, u32::try_from(at + 1)) else {
            return Vec::new();
        };
        let readable = row.depends_on.unreadable.is_none()
            && row.depends_on.items.iter().all(|item| {
                (item.first..=item.last)
                    .take(rows.len() + 1)
                    .all(|stage| doc.row_of.contains_key(&stage))
            });
        if !readable || new.insert(old, number).is_some() {
            return Vec::new();
        }
    }
    if new.iter().all(|(old, number)| old == number)
        || doc.sections.found.iter().any(|section| !new.contains_key(&section.stage))
        || doc.sections.found.len() != doc.section_of.len()
    {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let number = row.stage.and_then(|old| new.get(&old)).copied().unwrap_or_default();
        if row.stage != Some(number) {
            let text = if row.cancelled { format!("~~{number}~~") } else { number.to_string() };
            edits.push(DraftEdit { range: row.stage_cell.clone(), text });
        }
        let old = doc.dependencies(at);
        let mut moved: Vec<u32> = old.iter().filter_map(|stage| new.get(stage)).copied().collect();
        moved.sort_unstable();
        if moved != old {
            edits.push(DraftEdit {
                range: row.depends_on_cell.clone(),
                text: canonical_dependencies(&moved),
            });
        }
        mentions(doc.text, &row.range, &new, &mut edits);
    }
    for section in &doc.sections.found {
        let Some(&number) = new.get(&section.stage) else {
            continue;
        };
        if number != section.stage {
            let text = section.canonical_heading(number, &section.title);
            edits.push(DraftEdit { range: section.source.clone(), text });
        }
        mentions(doc.text, &(section.source.end..section.range.end), &new, &mut edits);
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    // A mention inside a cell that is rewritten anyway is part of that edit.
    let mut kept: Vec<DraftEdit> = Vec::with_capacity(edits.len());
    for edit in edits {
        if kept.last().is_none_or(|last| last.range.end <= edit.range.start) {
            kept.push(edit);
        }
    }
    kept
}

/// `Stage 3`, `stage-3.json` and the like inside a range: edits for the numbers that move.
fn mentions(text: &str, range: &ByteRange, new: &HashMap<u32, u32>, edits: &mut Vec<DraftEdit>) {
    let source = text.get(range.clone()).unwrap_or_default();
    let mut at = 0;
    while let Some(found) = source.get(at..).and_then(find_stage) {
        let word_at = at + found;
        at = word_at + "stage".len();
        let begins_word = source
            .get(..word_at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(|ch| !ch.is_alphanumeric());
        let rest = source.get(at..).unwrap_or_default();
        let Some(joint) = rest.chars().next().filter(|ch| matches!(ch, ' ' | '-' | '\u{a0}'))
        else {
            continue;
        };
        let digits_at = at + joint.len_utf8();
        let digits: String = source
            .get(digits_at..)
            .unwrap_or_default()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let behind = source.get(digits_at + digits.len()..).unwrap_or_default();
        // `Stage 1.5` and `stage-1a` are no stages of this plan.
        let mut behind = behind.chars();
        let ends = match behind.next() {
            Some('.') => behind.next().is_none_or(|ch| digit(ch).is_none()),
            Some(ch) => !ch.is_alphanumeric() && ch != '_',
            None => true,
        };
        if let (true, true, Some((old, number))) = (
            begins_word,
            ends,
            digits.parse().ok().and_then(|old: u32| new.get(&old).map(|number| (old, *number))),
        ) && old != number
        {
            let start = range.start + digits_at;
            edits.push(DraftEdit { range: start..start + digits.len(), text: number.to_string() });
        }
    }
}

fn find_stage(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|&at| {
        matches!(bytes.get(at), Some(b's' | b'S'))
            && text.get(at..).is_some_and(|rest| strip_word(rest, "stage").is_some())
    })
}

/// Applies the repairs of findings that do not overlap, in source order; returns the new text and
/// which findings were repaired. Repairs left out are for the next round.
pub(crate) fn apply(text: &str, drafts: &[Draft]) -> (String, Vec<usize>) {
    let mut taken: Vec<(ByteRange, &str)> = Vec::new();
    let mut applied = Vec::new();
    // A repair with many edits goes first: it must be whole or not at all.
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    order.sort_by_key(|&at| {
        let edits =
            drafts.get(at).and_then(|draft| draft.fix.as_ref()).map_or(0, |fix| fix.edits.len());
        std::cmp::Reverse(usize::from(edits > 1))
    });
    let mut claimed = std::collections::BTreeMap::new();
    for at in order {
        let Some(fix) = drafts.get(at).and_then(|draft| draft.fix.as_ref()) else {
            continue;
        };
        if fix.edits.iter().any(|edit| overlaps(&claimed, &edit.range)) {
            continue;
        }
        for edit in &fix.edits {
            claimed.insert(edit.range.start, edit.range.end);
            taken.push((edit.range.clone(), &edit.text));
        }
        applied.push(at);
    }
    taken.sort_by_key(|(range, _)| range.start);
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in taken {
        new.push_str(text.get(at..range.start).unwrap_or_default());
        new.push_str(replacement);
        at = range.end;
    }
    new.push_str(text.get(at..).unwrap_or_default());
    applied.sort_unstable();
    (new, applied)
}

/// Whether a range touches one that is claimed. Ranges that begin together overlap even when one
/// is empty: the order of two insertions at one place would be anybody's guess.
fn overlaps(claimed: &std::collections::BTreeMap<usize, usize>, range: &ByteRange) -> bool {
    let before = claimed
        .range(..=range.start)
        .next_back()
        .is_some_and(|(start, end)| *end > range.start || *start == range.start);
    before || claimed.range(range.start..range.end).next().is_some()
}
