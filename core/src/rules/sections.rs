//! Stage sections: S3, S4, S5, W3.

use std::fmt::Write as _;

use super::{Checker, listed};
use crate::finding::{Code, Draft};
use crate::order::FirstOf;
use crate::plan::sections::{NearMiss, STEP_COLUMNS, STEPWISE, SUBSECTIONS, Section};
use crate::plan::stage_map::MapRow;
use crate::source::ByteRange;

impl Checker<'_, '_> {
    /// S3: Each stage of the map has one level-2 section `## <section>.<i> Stage <i>: <title>`, and
    /// each such section a row. What comes close (another level, a line that is no heading) is
    /// named where it stands. A cancelled stage needs no section.
    pub(super) fn row_and_section(&mut self) {
        let doc = self.doc;
        if doc.map.rows.is_empty() {
            return;
        }
        let mut near = None;
        for row in doc.map.rows.iter().filter(|row| !row.cancelled) {
            let Some(stage) = row.stage.filter(|stage| !doc.section_of.contains(*stage)) else {
                continue;
            };
            self.section_missing(row, stage, &mut near);
        }
        for (at, section) in doc.sections.found.iter().enumerate() {
            let stage = section.stage;
            if doc.section_of.get(stage) != Some(at) || !doc.row_of.contains(stage) {
                self.section_too_many(at, section);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn section_missing(&mut self, row: &MapRow, stage: u32, near: &mut Option<FirstOf>) {
        let doc = self.doc;
        let near = near.get_or_insert_with(|| {
            let all = doc.sections.near.iter().enumerate();
            FirstOf::new(all.map(|(at, (stage, _))| (*stage, at)))
        });
        let heading = doc.section_heading(stage);
        let message = format!("stage section '{heading}' missing");
        let mut draft = Draft::new(Code::S3, stage, row.stage_cell.clone(), message)
            .help(format!("write its heading as `{heading} {}`", row.title));
        if let Some((_, miss)) = near.get(stage).and_then(|at| doc.sections.near.get(at)) {
            draft = self.with_near_miss(draft, miss);
        }
        self.add(draft);
    }

    #[cold]
    #[inline(never)]
    fn section_too_many(&mut self, at: usize, section: &Section) {
        let doc = self.doc;
        let stage = section.stage;
        if let Some(first) = doc.section_of.get(stage)
            && first != at
            && let Some(original) = doc.sections.found.get(first)
        {
            let lines = [doc.line(original.heading.start), doc.line(section.heading.start)];
            let message = format!(
                "stage section '{}' stands twice: lines {}",
                doc.section_heading(stage),
                listed(&lines)
            );
            self.add(
                Draft::new(Code::S3, stage, section.heading.clone(), message)
                    .related("the first one", original.heading.clone())
                    .help("keep one section a stage"),
            );
        } else if !doc.row_of.contains(stage) {
            let message = format!(
                "stage section '{}' has no row in the Stage Map",
                doc.section_heading(stage)
            );
            self.add(
                Draft::new(Code::S3, stage, section.heading.clone(), message)
                    .help("add the row, or make this another heading"),
            );
        }
    }

    /// S4: Each section has the level-3 subsections `Carry-In`, `Stepwise Execution Order`, `Stage
    /// Exit Contract` and `Stage Validation`, compared without case, markup and Unicode form. A
    /// longer heading is another heading; one under another level-2 heading belongs to that.
    /// `Stepwise Execution Order` holds a table with a column `step` or `action`.
    pub(super) fn four_subsections(&mut self) {
        let doc = self.doc;
        for section in &doc.sections.found {
            if !section.has_step_table || section.subsections.iter().any(Option::is_none) {
                self.subsection_missing(section);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn subsection_missing(&mut self, section: &Section) {
        let mut drafts = Vec::new();
        for (which, name) in SUBSECTIONS.iter().enumerate() {
            if section.subsections.get(which).is_some_and(Option::is_some) {
                continue;
            }
            let message = format!("required subsection '### {name}' missing");
            let mut draft = Draft::new(Code::S4, section.stage, section.heading.clone(), message)
                .help(format!("give this section the heading `### {name}`"));
            if let Some(Some(near)) = section.near.get(which) {
                draft = self.with_near_miss(draft, near);
            }
            drafts.push(draft);
        }
        if let Some(Some(stepwise)) = section.subsections.get(STEPWISE)
            && !section.has_step_table
        {
            let name = SUBSECTIONS.get(STEPWISE).copied().unwrap_or_default();
            let message = format!("required subsection '### {name}' missing its table of steps");
            let mut draft = Draft::new(Code::S4, section.stage, stepwise.heading.clone(), message)
                .help(format!("add a table with the columns {}", STEP_COLUMNS.join(" | ")));
            if let Some(other) = &section.unlike_table {
                draft = draft
                    .related("this table has neither a column `step` nor `action`", other.clone());
            }
            drafts.push(draft);
        }
        self.found.extend(drafts);
    }

    /// Says in the message, and shows, what comes close to what is missing.
    fn with_near_miss(&self, mut draft: Draft, near: &NearMiss) -> Draft {
        let _ = write!(draft.message, ": line {} {}", self.doc.line(near.range.start), near.why);
        draft.related(format!("this line {}", near.why), near.range.clone())
    }

    /// S5: A stage has at most 6 effective steps (`--max-steps` sets another limit). A row is a
    /// step when it has some text that is not only a comment or dashes.
    pub(super) fn few_steps(&mut self) {
        let doc = self.doc;
        for section in &doc.sections.found {
            if section.steps.len() > self.options.max_steps as usize {
                self.too_many_steps(section);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn too_many_steps(&mut self, section: &Section) {
        let (real, most) = (section.steps.len(), self.options.max_steps);
        if let Some(surplus) = section.steps.get(most as usize)
            && let Some(last) = section.steps.last()
        {
            let place = surplus.range.start..last.range.end;
            let message = format!("effective step count {real} exceeds {most}");
            self.add(
                Draft::new(Code::S5, section.stage, place, message)
                    .help("split the stage: the steps from here on become a stage of their own"),
            );
        }
    }

    /// W3: A stage has at least one step.
    pub(super) fn has_steps(&mut self) {
        let doc = self.doc;
        for section in doc.sections.found.iter().filter(|section| section.has_step_table) {
            if section.steps.is_empty()
                && let Some(Some(stepwise)) = section.subsections.get(STEPWISE)
            {
                self.no_steps(section.stage, stepwise.heading.clone());
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn no_steps(&mut self, stage: u32, heading: ByteRange) {
        self.add(
            Draft::new(Code::W3, stage, heading, "the stage has no steps")
                .help("add its steps, or strike the stage out in the Stage Map"),
        );
    }
}
