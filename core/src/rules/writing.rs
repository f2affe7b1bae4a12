//! Canonical writing: W2, W5.

use super::Checker;
use super::map::cell_edit;
use crate::finding::{Code, Draft, DraftEdit};
use crate::plan::number;
use crate::plan::sections::{SUBSECTIONS, Section};
use crate::plan::stage_map::MapRow;
use crate::plan::unicode::decomposed;
use crate::source::ByteRange;

/// What the repair of a heading does.
const HEADING: &str = "write the heading canonically";

impl Checker<'_, '_> {
    /// W2: Everything is written in its canonical form: the headings `## 4.5 Stage Map` and `##
    /// 4.5.1 Stage 1: <title>` (not bold, not as a link, no closing `#`s, no zero padding, a colon
    /// before the title), the subsections at level 3, stage numbers as plain digits, and
    /// `depends-on` as `(none)` or `1, 2`. What is careless but beyond doubt is read all the same;
    /// the finding names the canonical form and carries the edit. Notes in a `depends-on` cell are
    /// dropped by the edit, a note in a heading moves behind the title.
    pub(super) fn canonical_writing(&mut self) {
        self.careless_map_heading();
        self.careless_sections();
        self.careless_rows();
    }

    fn careless_map_heading(&mut self) {
        let [map] = self.doc.maps.as_slice() else {
            return;
        };
        let source = map.line_start..map.range.end;
        let number = map.number.as_ref().map(|number| format!("{number} ")).unwrap_or_default();
        let canonical = format!("## {number}Stage Map");
        let written = self.doc.text.get(source.clone()).unwrap_or_default();
        // A note in parentheses is the author's; it stays without a finding.
        let bare = written.strip_prefix(&canonical).map(str::trim_start);
        if !bare.is_some_and(|rest| rest.is_empty() || rest.starts_with('(') && rest.ends_with(')'))
        {
            self.careless(0, map.range.clone(), HEADING, source, canonical);
        }
    }

    fn careless_sections(&mut self) {
        let doc = self.doc;
        for section in &doc.sections.found {
            let row = doc.row_of.get(section.stage).and_then(|at| doc.map.rows.get(at));
            let title = row.map(|row| row.title.as_str()).unwrap_or_default();
            let canonical = section.canonical_heading(section.stage, title);
            let source = section.source.clone();
            if doc.text.get(source.clone()) != Some(canonical.as_str()) {
                self.careless(section.stage, section.heading.clone(), HEADING, source, canonical);
            }
            if section.subsections.iter().flatten().any(|subsection| subsection.level != 3) {
                self.careless_subsections(section);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn careless_subsections(&mut self, section: &Section) {
        for (subsection, name) in section.subsections.iter().zip(SUBSECTIONS) {
            if let Some(subsection) = subsection.as_ref().filter(|subsection| subsection.level != 3)
            {
                let canonical = format!("### {name}");
                let level = subsection.level;
                let message = format!("canonical form is '{canonical}', this is level {level}");
                let place = subsection.heading.clone();
                self.add(Draft::new(Code::W2, section.stage, place.clone(), message).replace(
                    "write the heading at level 3",
                    place,
                    canonical,
                ));
            }
        }
    }

    fn careless_rows(&mut self) {
        let doc = self.doc;
        for (at, row) in doc.map.rows.iter().enumerate() {
            if let Some(stage) = row.stage.filter(|_| !row.cancelled) {
                let canonical = stage.to_string();
                let cell = row.stage_cell.clone();
                if doc.text.get(cell.clone()) != Some(canonical.as_str()) {
                    self.careless(stage, cell.clone(), "write the number alone", cell, canonical);
                }
            }
            if row.cancelled || row.depends_on.canonical || row.depends_on.unreadable.is_some() {
                continue;
            }
            self.careless_dependencies(at, row);
        }
    }

    /// Something at `place` that should be written otherwise.
    #[cold]
    #[inline(never)]
    fn careless(
        &mut self,
        stage: u32,
        place: ByteRange,
        fix: &str,
        source: ByteRange,
        canonical: String,
    ) {
        let message = format!("canonical form is '{canonical}'");
        self.add(Draft::new(Code::W2, stage, place, message).replace(fix, source, canonical));
    }

    #[cold]
    #[inline(never)]
    fn careless_dependencies(&mut self, at: usize, row: &MapRow) {
        let text = self.doc.text;
        let canonical = canonical_dependencies(self.doc.dependencies(at));
        let edit: DraftEdit = cell_edit(text, &row.depends_on_cell, &canonical);
        let twice = repeated(&row.depends_on.items);
        let message = match twice {
            Some(stage) => {
                format!("canonical form is '{canonical}': {stage} stands twice")
            }
            None => format!("canonical form is '{canonical}'"),
        };
        self.add(
            Draft::new(Code::W2, row.number(), row.depends_on_cell.clone(), message)
                .fix("write depends-on canonically", vec![edit]),
        );
    }

    /// W5: The title in the map is the title of the section, compared without markup, white space,
    /// Unicode form, and a note in parentheses behind it.
    pub(super) fn same_title(&mut self) {
        let doc = self.doc;
        for row in doc.map.rows.iter().filter(|row| !row.cancelled) {
            if let Some(section) = doc.section(row)
                && row.title != section.title
            {
                self.compare_titles(row, section);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn compare_titles(&mut self, row: &MapRow, section: &Section) {
        let (map, own) = (bare_title(&row.title), bare_title(&section.title));
        if map == own || map == without_note(&own) || without_note(&map) == own {
            return;
        }
        let message = format!("the title in the Stage Map is {}", super::quoted(&row.title));
        self.found.push(
            Draft::new(Code::W5, row.number(), section.title_range.clone(), message)
                .related("the title in the map", row.title_cell.clone())
                .help("give the stage one title"),
        );
    }
}

/// `(none)` or `1, 2`.
pub(crate) fn canonical_dependencies(stages: &[u32]) -> String {
    if stages.is_empty() {
        return String::from("(none)");
    }
    stages.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// The first number that single items name twice.
fn repeated(items: &[crate::plan::depends_on::Item]) -> Option<u32> {
    let mut single: Vec<u32> =
        items.iter().filter(|item| item.first == item.last).map(|item| item.first).collect();
    crate::order::sort(&mut single);
    single.windows(2).find_map(|pair| match pair {
        [a, b] if a == b => Some(*a),
        _ => None,
    })
}

/// A title as titles are compared. U+2028 and the like are blanks here.
fn bare_title(title: &str) -> String {
    decomposed(title)
        .split_whitespace()
        .map(|word| word.trim_matches(|ch: char| number::is_mark(ch)))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn without_note(title: &str) -> &str {
    if !title.ends_with(')') {
        return title;
    }
    title.rfind(" (").and_then(|at| title.get(..at)).unwrap_or(title).trim_end()
}
