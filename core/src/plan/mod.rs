//! Markdown to [`Plan`]: outline → stage map → sections → steps → approval.

use serde::Serialize;

use crate::source::SourceRange;

/// A plan as it reads, with the place of everything in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Plan {
    /// The number before `Stage Map` in its heading (`4.5`), or `null` where it has none.
    pub section: Option<String>,
    /// The rows of the Stage Map, in source order.
    pub stages: Vec<Stage>,
    /// Whether the plan is approved.
    pub approval: Approval,
    /// The rows of every `Clarification Items` table.
    pub clarifications: Vec<Clarification>,
}

/// One row of the Stage Map with the section that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stage {
    /// The number in the row; `null` where it cannot be read (then there is an S2).
    pub stage_number: Option<u32>,
    /// The title in the row, without markup.
    pub title: String,
    /// The stages it depends on, ascending, each once. What could not be read is missing here
    /// and is an S6.
    pub depends_on: Vec<u32>,
    /// Whether its `depends-on` cell cannot be read for sure (S6), so that it may depend on more.
    pub unclear: bool,
    /// The announced number of steps; `null` where it is no number (then there is an S7).
    pub step_count: Option<u32>,
    /// The exit contract in one line, without markup.
    pub exit_contract_summary: String,
    /// Whether the number is struck out: such a stage is never chosen.
    pub cancelled: bool,
    /// The row in the Stage Map.
    pub range: SourceRange,
    /// The stage's section, or `null` where it has none.
    pub section: Option<StageSection>,
}

/// The section `## <section>.<i> Stage <i>: <title>` of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageSection {
    /// The title in the heading, without markup.
    pub title: String,
    /// The heading line.
    pub heading: SourceRange,
    /// The whole section, heading included.
    pub range: SourceRange,
    /// The effective steps.
    pub steps: Vec<Step>,
    /// The Markdown of `Carry-In`, or `null`.
    pub carry_in: Option<String>,
    /// The Markdown of `Stage Exit Contract`, or `null`.
    pub exit_contract: Option<String>,
    /// The Markdown of `Stage Validation`, or `null`.
    pub validation: Option<String>,
}

/// One effective row of a step table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Step {
    /// The text of the `step` cell.
    pub step: String,
    /// The text of the `action` cell.
    pub action: String,
    /// The project-relative paths of the `files` cell, in order, each once.
    pub files: Vec<String>,
    /// The text of the `command` cell.
    pub command: String,
    /// The text of the `expected` cell.
    pub expected: String,
    /// The row.
    pub range: SourceRange,
}

/// Whether the task-list line `- [x] Approved` is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Approval {
    /// The state.
    pub state: ApprovalState,
    /// The line that says so, or `null` where there is none.
    pub range: Option<SourceRange>,
}

/// The state of the approval line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ApprovalState {
    /// `- [x] Approved`.
    Approved,
    /// `- [ ] Approved`.
    Pending,
    /// No such line.
    Missing,
}

/// One row of a `Clarification Items` table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Clarification {
    /// The text of the first cell.
    pub id: String,
    /// The text of the `Status` cell, as written.
    pub status: String,
    /// The text of the `Blocks` cell, as written.
    pub blocks: String,
    /// Whether it holds the approval back: `Blocks` is `approval` and `Status` is neither
    /// `resolved` nor `obsolete`.
    pub open: bool,
    /// The row.
    pub range: SourceRange,
}

pub(crate) mod approval;
pub(crate) mod depends_on;
pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod front_matter;
pub(crate) mod heading;
pub(crate) mod number;
pub(crate) mod outline;
pub(crate) mod sections;
pub(crate) mod stage_map;
pub(crate) mod unicode;

use std::cell::OnceCell;

use approval::{ApprovalLines, ClarificationRow};
use files::StepFile;
use outline::Outline;
use sections::{Section, Sections, StepRow, Subsection};
use stage_map::{MapHeading, MapRow, StageMap};

use crate::order::{self, FirstOf};
use crate::source::{ByteRange, LineIndex};

/// A plan as it was read, in byte ranges: what the rules work on.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    index: OnceCell<LineIndex<'a>>,
    pub(crate) outline: Outline<'a>,
    /// Every Stage Map heading; only a single one counts.
    pub(crate) maps: Vec<MapHeading>,
    pub(crate) map: StageMap,
    pub(crate) sections: Sections,
    /// The first section of each stage.
    pub(crate) section_of: FirstOf,
    /// The first row of each stage.
    pub(crate) row_of: FirstOf,
    /// Whether any row is struck out.
    pub(crate) has_cancelled: bool,
    /// For each row, the stages it depends on; see [`Document::dependencies`].
    dependencies: Vec<Vec<u32>>,
    /// The first row whose dependencies went over [`MOST_DEPENDENCIES`].
    pub(crate) overflow: Option<usize>,
    pub(crate) approval: ApprovalLines,
    pub(crate) clarifications: Vec<ClarificationRow>,
}

/// The most dependencies a plan may name when its ranges are written out: far above any real
/// plan, and low enough that `1-99999` in every row cannot exhaust the memory.
pub(crate) const MOST_DEPENDENCIES: usize = 2_000_000;

impl<'a> Document<'a> {
    /// Reads a plan. Near-linear in its length.
    pub(crate) fn read(text: &'a str) -> Self {
        let outline = Outline::new(text);
        let maps = stage_map::headings(&outline);
        let (map, number) = match maps.as_slice() {
            [only] => (stage_map::read(&outline, only), only.number.clone()),
            _ => (StageMap::default(), maps.first().and_then(|map| map.number.clone())),
        };
        let sections = sections::read(&outline, number.as_deref());
        let section_of = FirstOf::new(
            sections.found.iter().enumerate().map(|(at, section)| (section.stage, at)),
        );
        let row_of = FirstOf::new(
            map.rows.iter().enumerate().filter_map(|(at, row)| Some((row.stage?, at))),
        );
        let (dependencies, overflow) = dependencies(&map.rows, &row_of);
        let approval = approval::read(&outline);
        let clarifications = approval::clarifications(&outline);
        Self {
            text,
            index: OnceCell::new(),
            has_cancelled: map.rows.iter().any(|row| row.cancelled),
            outline,
            maps,
            map,
            sections,
            section_of,
            row_of,
            dependencies,
            overflow,
            approval,
            clarifications,
        }
    }

    /// Where the lines are, worked out when it is first asked for.
    pub(crate) fn index(&self) -> &LineIndex<'a> {
        self.index.get_or_init(|| LineIndex::new(self.text))
    }

    /// The number of the Stage Map heading.
    pub(crate) fn number(&self) -> Option<&str> {
        self.maps.first().and_then(|map| map.number.as_deref())
    }

    /// The stages a row depends on, ascending, each once; those that do not exist included where
    /// they are named singly.
    #[inline(never)]
    pub(crate) fn dependencies(&self, row: usize) -> &[u32] {
        self.dependencies.get(row).map(Vec::as_slice).unwrap_or_default()
    }

    /// The section of the Stage Map, from its heading to the next of level 1 or 2; empty where
    /// there is not one Stage Map.
    pub(crate) fn map_range(&self) -> ByteRange {
        let [map] = self.maps.as_slice() else {
            return 0..0;
        };
        let behind = self.outline.blocks.iter().skip(map.block + 1);
        let next = behind.filter_map(|block| match block {
            outline::Block::Heading(heading) if heading.level <= 2 => Some(heading.line_start),
            _ => None,
        });
        map.line_start..next.min().unwrap_or(self.text.len())
    }

    /// The section of a row.
    pub(crate) fn section(&self, row: &MapRow) -> Option<&Section> {
        self.sections.found.get(self.section_of.get(row.stage?)?)
    }

    /// The heading of a stage's section as it should be written, without its title.
    pub(crate) fn section_heading(&self, stage: u32) -> String {
        match self.number() {
            Some(number) => format!("## {number}.{stage} Stage {stage}:"),
            None => format!("## Stage {stage}:"),
        }
    }

    /// The stage whose section holds an offset; 0 outside every section.
    pub(crate) fn stage_at(&self, offset: usize) -> u32 {
        let after = self.sections.found.partition_point(|section| section.range.start <= offset);
        after
            .checked_sub(1)
            .and_then(|at| self.sections.found.get(at))
            .filter(|section| offset < section.range.end)
            .map_or(0, |section| section.stage)
    }

    /// Where a new approval line belongs: at the end of the section `User Approval Request`, else
    /// before the Stage Map. Behind it, the line would be part of a stage.
    pub(crate) fn approval_place(&self) -> usize {
        let mut inside: Option<u8> = None;
        for block in &self.outline.blocks {
            if let outline::Block::Heading(heading) = block {
                if inside.is_some_and(|level| heading.level <= level) {
                    return heading.line_start;
                }
                if heading::folded(&heading.inline.text).contains("user approval request") {
                    inside = Some(heading.level);
                }
            }
        }
        let map = if inside.is_some() { None } else { self.maps.first() };
        map.map_or(self.text.len(), |map| map.line_start)
    }

    /// The line of an offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        self.index().line(offset)
    }

    /// The plan as its readers get it.
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            section: self.number().map(str::to_owned),
            stages: self.stages(),
            approval: Approval {
                state: self.approval.state(),
                range: self.approval.range().map(|range| self.index().range(&range)),
            },
            clarifications: self
                .clarifications
                .iter()
                .map(|row| Clarification {
                    id: row.id.clone(),
                    status: row.status.clone(),
                    blocks: row.blocks.clone(),
                    open: row.open,
                    range: self.index().range(&row.range),
                })
                .collect(),
        }
    }

    /// The stages, in row order.
    pub(crate) fn stages(&self) -> Vec<Stage> {
        let rows = self.map.rows.iter().enumerate();
        rows.map(|(at, row)| Stage {
            stage_number: row.stage,
            title: row.title.clone(),
            depends_on: self.dependencies(at).to_vec(),
            unclear: row.depends_on.unreadable.is_some(),
            step_count: row.step_count,
            exit_contract_summary: row.summary.clone(),
            cancelled: row.cancelled,
            range: self.index().range(&row.range),
            section: self.section(row).map(|section| self.stage_section(section)),
        })
        .collect()
    }

    pub(crate) fn stage_section(&self, section: &Section) -> StageSection {
        let [carry_in, _, exit_contract, validation] = &section.subsections;
        StageSection {
            title: section.title.clone(),
            heading: self.index().range(&section.heading),
            range: self.index().range(&section.range),
            steps: section.steps.iter().map(|step| self.step(step)).collect(),
            carry_in: self.body(carry_in.as_ref()),
            exit_contract: self.body(exit_contract.as_ref()),
            validation: self.body(validation.as_ref()),
        }
    }

    fn body(&self, subsection: Option<&Subsection>) -> Option<String> {
        let text = self.text.get(subsection?.body.clone())?;
        Some(text.trim_matches(['\n', '\r']).trim_end().to_owned())
    }

    fn step(&self, row: &StepRow) -> Step {
        let [step, action, command, expected] = row.cells.each_ref().map(|cell| {
            cell.as_ref().map(|cell| cell.plain(self.text).replace('\n', " ")).unwrap_or_default()
        });
        let inside = row.files.iter().filter_map(|file| match file {
            StepFile::Inside(path) => Some(path.clone()),
            StepFile::Outside(_) => None,
        });
        Step {
            step,
            action,
            files: inside.collect(),
            command,
            expected,
            range: self.index().range(&row.range),
        }
    }
}

/// Writes the dependencies of every row out.
fn dependencies(rows: &[MapRow], row_of: &FirstOf) -> (Vec<Vec<u32>>, Option<usize>) {
    let known: Vec<u32> = row_of.numbers().collect();
    let mut all = Vec::with_capacity(rows.len());
    let mut budget = MOST_DEPENDENCIES;
    let mut overflow = None;
    for (at, row) in rows.iter().enumerate() {
        let mut stages = Vec::new();
        for item in &row.depends_on.items {
            if item.first == item.last {
                stages.push(item.first);
            } else {
                let from = known.partition_point(|stage| *stage < item.first);
                let to = known.partition_point(|stage| *stage <= item.last);
                let within = known.get(from..to).unwrap_or_default();
                if within.len() > budget {
                    overflow = overflow.or(Some(at));
                    continue;
                }
                stages.extend_from_slice(within);
            }
        }
        if !stages.is_sorted_by(|a, b| a < b) {
            order::sort(&mut stages);
            stages.dedup();
        }
        budget = budget.saturating_sub(stages.len());
        all.push(stages);
    }
    (all, overflow)
}
