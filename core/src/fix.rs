//! Repairs: edits, what they may touch, and how they are applied.

use crate::finding::{Draft, DraftEdit};
use crate::order::{self, FirstOf};
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
    for row in rows {
        let readable = row.stage.is_some()
            && row.depends_on.unreadable.is_none()
            && row.depends_on.items.iter().all(|item| {
                (item.first..=item.last)
                    .take(rows.len() + 1)
                    .all(|stage| doc.row_of.contains(stage))
            });
        if !readable {
            return Vec::new();
        }
    }
    let new = &doc.row_of;
    if new.len() != rows.len()
        || doc.sections.found.iter().any(|section| !new.contains(section.stage))
        || doc.sections.found.len() != doc.section_of.len()
    {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let number = number_of(at);
        if row.stage != Some(number) {
            let text = if row.cancelled { format!("~~{number}~~") } else { number.to_string() };
            edits.push(DraftEdit { range: row.stage_cell.clone(), text });
        }
        let old = doc.dependencies(at);
        let mut moved: Vec<u32> =
            old.iter().filter_map(|stage| new.get(*stage)).map(number_of).collect();
        order::sort(&mut moved);
        if moved != old {
            edits.push(DraftEdit {
                range: row.depends_on_cell.clone(),
                text: canonical_dependencies(&moved),
            });
        }
    }
    for section in &doc.sections.found {
        let Some(number) = new.get(section.stage).map(number_of) else {
            continue;
        };
        if number != section.stage {
            let text = section.canonical_heading(number, &section.title);
            edits.push(DraftEdit { range: section.source.clone(), text });
        }
    }
    mentions(doc.text, &(0..doc.text.len()), new, &mut edits);
    let edits = order::sorted(edits, |edit| (edit.range.start as u64, edit.range.end as u64));
    // A mention inside a cell or a heading that is rewritten anyway is part of that edit. Of two
    // edits that begin together the longer one comes last and counts.
    let mut kept: Vec<DraftEdit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match kept.last_mut() {
            Some(last) if last.range.start == edit.range.start => *last = edit,
            Some(last) if last.range.end > edit.range.start => {}
            _ => kept.push(edit),
        }
    }
    kept
}

/// `Stage 3`, `stage-3.json` and the like inside a range: edits for the numbers that move.
fn mentions(text: &str, range: &ByteRange, new: &FirstOf, edits: &mut Vec<DraftEdit>) {
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
            // `stage 2/1` is a part of something, `#452-stage-2-price` a link to a heading.
            Some(ch) => !ch.is_alphanumeric() && !matches!(ch, '_' | '/' | '-'),
            None => true,
        };
        if let (true, true, Some((old, number))) = (
            begins_word,
            ends,
            digits.parse().ok().and_then(|old: u32| Some((old, number_of(new.get(old)?)))),
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
    // An edit that is no range of this text could only do harm; its repair is left out.
    let edits_of = |at: usize| {
        let edits = drafts.get(at)?.fix.as_ref()?.edits.as_slice();
        edits.iter().all(|edit| text.get(edit.range.clone()).is_some()).then_some(edits)
    };
    // A repair with many edits goes first: it must be whole or not at all.
    let many = |at: usize| u64::from(edits_of(at).is_none_or(|edits| edits.len() < 2));
    let mut applied = Vec::new();
    let mut taken: Vec<&DraftEdit> = Vec::new();
    let (whole, single): (Vec<usize>, Vec<usize>) =
        order::order(drafts.len(), &|at| (many(at), 0)).into_iter().partition(|at| many(*at) == 0);
    for at in whole {
        let edits = edits_of(at).unwrap_or_default();
        if !edits.iter().any(|edit| taken.iter().any(|other| overlap(&edit.range, &other.range))) {
            taken.extend(edits);
            applied.push(at);
        }
    }
    // The others come in source order, so that each can only meet the one before it and those of
    // the repairs above.
    let first = order::sorted(taken.clone(), |edit| start_of(edit));
    let mut last: Option<&ByteRange> = None;
    for at in single {
        let [edit] = edits_of(at).unwrap_or_default() else { continue };
        let near = first.partition_point(|other| other.range.end < edit.range.start);
        let met = first.iter().skip(near).take(2).any(|other| overlap(&edit.range, &other.range));
        if !met && last.is_none_or(|last| !overlap(&edit.range, last)) {
            taken.push(edit);
            applied.push(at);
            last = Some(&edit.range);
        }
    }
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for edit in order::sorted(taken, |edit| start_of(edit)) {
        new.push_str(text.get(at..edit.range.start).unwrap_or_default());
        new.push_str(&edit.text);
        at = edit.range.end;
    }
    new.push_str(text.get(at..).unwrap_or_default());
    (new, order::sorted(applied, |at| (*at as u64, 0)))
}

fn start_of(edit: &DraftEdit) -> (u64, u64) {
    (edit.range.start as u64, edit.range.end as u64)
}

/// Whether two edits meet. Edits that begin together do even when one is empty: the order of two
/// insertions at one place would be anybody's guess.
fn overlap(a: &ByteRange, b: &ByteRange) -> bool {
    a.start == b.start || a.start < b.end && b.start < a.end
}

/// The number of the row at an index.
fn number_of(row: usize) -> u32 {
    u32::try_from(row + 1).unwrap_or(u32::MAX)
}
