//! Canonical writing: W2, W5.

use super::Checker;
use super::map::cell_edit;
use crate::finding::{Code, Draft, DraftEdit};
use crate::plan::number;
use crate::plan::sections::{SUBSECTIONS, Section};
use crate::plan::stage_map::MapRow;
use crate::plan::unicode::decomposed;

impl Checker<'_, '_> {
    /// W2: Everything is written in its canonical form: the headings `## 4.5 Stage Map` and `##
    /// 4.5.1 Stage 1: <title>` (not bold, not as a link, no closing `#`s, no zero padding, a colon
    /// before the title), the subsections at level 3, stage numbers as plain digits, and
    /// `depends-on` as `(none)` or `1, 2`. What is careless but beyond doubt is read all the same;
    /// the finding names the canonical form and carries the edit. Notes in a `depends-on` cell are
    /// dropped by the edit, a note in a heading moves behind the title.
    pub(super) fn canonical_writing(&mut self) {
        let mut drafts = Vec::new();
        self.careless_map_heading(&mut drafts);
        self.careless_sections(&mut drafts);
        self.careless_rows(&mut drafts);
        self.found.extend(drafts);
    }

    fn careless_map_heading(&self, drafts: &mut Vec<Draft>) {
        let [map] = self.doc.maps.as_slice() else {
            return;
        };
        let source = map.line_start..map.range.end;
        let number = map.number.as_ref().map(|number| format!("{number} ")).unwrap_or_default();
        let canonical = format!("## {number}Stage Map");
        let written = self.doc.text.get(source.clone()).unwrap_or_default();
        // A note in parentheses is the author's; it stays without a finding.
        let bare = written.strip_prefix(&canonical).map(str::trim_start);
        if bare.is_some_and(|rest| rest.is_empty() || rest.starts_with('(') && rest.ends_with(')'))
        {
            return;
        }
        drafts.push(
            Draft::new(Code::W2, 0, map.range.clone(), format!("canonical form is '{canonical}'"))
                .replace("write the heading canonically", source, canonical),
        );
    }

    fn careless_sections(&self, drafts: &mut Vec<Draft>) {
        for section in &self.doc.sections.found {
            let row = self.doc.row_of.get(section.stage).and_then(|at| self.doc.map.rows.get(at));
            let title = row.map(|row| row.title.as_str()).unwrap_or_default();
            let canonical = section.canonical_heading(section.stage, title);
            if self.doc.text.get(section.source.clone()) != Some(canonical.as_str()) {
                let message = format!("canonical form is '{canonical}'");
                drafts.push(
                    Draft::new(Code::W2, section.stage, section.heading.clone(), message).replace(
                        "write the heading canonically",
                        section.source.clone(),
                        canonical,
                    ),
                );
            }
            for (subsection, name) in section.subsections.iter().zip(SUBSECTIONS) {
                let Some(subsection) =
                    subsection.as_ref().filter(|subsection| subsection.level != 3)
                else {
                    continue;
                };
                let canonical = format!("### {name}");
                drafts.push(
                    Draft::new(
                        Code::W2,
                        section.stage,
                        subsection.heading.clone(),
                        format!(
                            "canonical form is '{canonical}', this is level {}",
                            subsection.level
                        ),
                    )
                    .replace(
                        "write the heading at level 3",
                        subsection.heading.clone(),
                        canonical,
                    ),
                );
            }
        }
    }

    fn careless_rows(&self, drafts: &mut Vec<Draft>) {
        let text = self.doc.text;
        for (at, row) in self.doc.map.rows.iter().enumerate() {
            if let Some(stage) = row.stage
                && !row.cancelled
                && text.get(row.stage_cell.clone()) != Some(stage.to_string().as_str())
            {
                drafts.push(
                    Draft::new(
                        Code::W2,
                        stage,
                        row.stage_cell.clone(),
                        format!("canonical form is '{stage}'"),
                    )
                    .replace(
                        "write the number alone",
                        row.stage_cell.clone(),
                        stage.to_string(),
                    ),
                );
            }
            if row.cancelled || row.depends_on.canonical || row.depends_on.unreadable.is_some() {
                continue;
            }
            self.careless_dependencies(at, row, drafts);
        }
    }

    #[cold]
    #[inline(never)]
    fn careless_dependencies(&self, at: usize, row: &MapRow, drafts: &mut Vec<Draft>) {
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
        drafts.push(
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
