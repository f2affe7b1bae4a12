//! The rules: one file a family, one function a rule. The doc comment of a rule's function is its
//! text in the rules page.

mod approval;
mod contract;
mod graph;
mod map;
mod safety;
mod sections;
mod traps;
mod writing;

use serde::Serialize;
pub(crate) use writing::canonical_dependencies;

use crate::check::CheckOptions;
use crate::finding::{Code, Draft, Finding, Severity};
use crate::graph::{Graph, StageGraph, Vertex};
use crate::order::{FirstOf, sorted};
use crate::plan::Document;
use crate::plan::sections::Section;
use crate::printable::steers_terminal;
use crate::source::ByteRange;

/// A rule as its documentation tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rule {
    /// The code.
    pub code: Code,
    /// What holds when the rule is kept, in one line.
    pub summary: &'static str,
    /// The severity without options.
    pub severity: Severity,
}

/// Every rule, in the order of its code. The long text of each is the doc comment of its
/// function; the rules page puts both together.
pub const RULES: &[Rule] = &[
    rule(Code::S1, "there is exactly one Stage Map, with a table and at least one row"),
    rule(Code::S2, "the rows of the Stage Map are numbered 1..N in order"),
    rule(Code::S3, "each row has exactly one section, each section a row"),
    rule(Code::S4, "each section has its four subsections"),
    rule(Code::S5, "a stage has at most 6 effective steps"),
    rule(Code::S6, "each dependency exists and can be read"),
    rule(Code::S7, "the step count in the map is the real one"),
    rule(Code::S8, "no stage depends on itself, and no stages wait for each other in a circle"),
    rule(
        Code::S9,
        "stages that may run in parallel share no file, and no file is outside the project",
    ),
    rule(Code::A1, "the plan is approved"),
    rule(Code::A2, "no open clarification blocks the approval"),
    rule(Code::C1, "the report has the headings of its contract"),
    rule(Code::W1, "no dependency is implied by the others"),
    rule(Code::W2, "headings, subsections and depends-on are written canonically"),
    rule(Code::W3, "a stage has steps"),
    rule(Code::W4, "the Markdown says what it seems to say"),
    rule(Code::W5, "the title in the map is the title of the section"),
];

const fn rule(code: Code, summary: &'static str) -> Rule {
    Rule { code, summary, severity: code.severity() }
}

/// A plan under check: what was read, the graph of it, and what was found so far.
pub(crate) struct Checker<'d, 'a> {
    doc: &'d Document<'a>,
    options: CheckOptions,
    stage_graph: StageGraph,
    /// For each vertex of the graph, its row.
    rows: Vec<usize>,
    found: Vec<Draft>,
}

impl<'d, 'a> Checker<'d, 'a> {
    pub(crate) fn new(doc: &'d Document<'a>, options: CheckOptions) -> Self {
        let (vertices, rows) = vertices(doc);
        Self { doc, options, stage_graph: StageGraph::new(vertices), rows, found: Vec::new() }
    }

    /// Runs the rules whose findings are always errors, for who only asks whether there are any.
    pub(crate) fn run_errors(mut self) -> Vec<Draft> {
        self.errors();
        self.found
    }

    fn errors(&mut self) {
        self.exactly_one_map();
        self.numbered_in_order();
        self.row_and_section();
        self.four_subsections();
        self.few_steps();
        self.readable_dependencies();
        self.true_step_count();
        self.no_cycle();
        if self.options.require_approval {
            self.approved();
            self.nothing_blocks_approval();
        }
    }

    /// Runs every rule; the findings come in source order.
    pub(crate) fn run(&mut self) -> Vec<Draft> {
        self.errors();
        self.parallel_stages_share_no_file();
        if self.options.contract {
            self.contract_headings();
        }
        self.no_transitive_edge();
        self.canonical_writing();
        self.has_steps();
        self.no_trap();
        self.same_title();
        self.withhold_repairs();
        let found = std::mem::take(&mut self.found);
        if found.len() < 2 {
            return found;
        }
        // Two findings at one place come in the order of their codes.
        sorted(found, |draft| {
            let end = (draft.range.end as u64) << 8;
            (draft.range.start as u64, end | draft.code as u64)
        })
    }

    /// Takes the repairs away that build on something doubtful. Where a trap (W4) hides or shifts
    /// cells, a repair would write down for good what the author did not mean: a number from the
    /// wrong cell, a count without the rows that were cut off.
    fn withhold_repairs(&mut self) {
        let doc = self.doc;
        self.keep_doubtful_edges();
        let trap = |draft: &Draft| draft.code == Code::W4;
        if !self.found.iter().any(trap) {
            return;
        }
        let traps: Vec<ByteRange> = self
            .found
            .iter()
            .filter(|draft| trap(draft))
            .map(|draft| draft.range.clone())
            .collect();
        let traps = sorted(traps, |range| (range.start as u64, range.end as u64));
        let traps_in = |range: &ByteRange| {
            let first = traps.partition_point(|trap| trap.start < range.start);
            let end = traps.partition_point(|trap| trap.start < range.end);
            traps.get(first..end).unwrap_or_default()
        };
        let map_is_whole = traps_in(&doc.map_range()).is_empty();
        // A step with cells too many or too few is a step all the same.
        let hides_steps = |section: &Section| {
            let is_step = |trap: &ByteRange| {
                section.steps.binary_search_by_key(&trap.start, |step| step.range.start).is_ok()
            };
            !traps_in(&section.range).iter().all(is_step)
        };
        let rows = &doc.map.rows;
        for draft in &mut self.found {
            let Some(fix) = &draft.fix else { continue };
            let doubtful = fix.edits.iter().any(|edit| {
                let row = rows.partition_point(|row| row.range.end < edit.range.start);
                rows.get(row).is_some_and(|row| {
                    row.range.start <= edit.range.start && !traps_in(&row.range).is_empty()
                })
            }) || draft.code == Code::S2 && !map_is_whole
                || draft.code == Code::S7
                    && doc
                        .section_of
                        .get(draft.stage)
                        .and_then(|at| doc.sections.found.get(at))
                        .is_some_and(hides_steps);
            if doubtful {
                draft.fix = None;
                draft.help.get_or_insert_with(|| String::from(MEND_FIRST));
            }
        }
    }

    /// Takes W1's repairs away where the numbers do not say for sure which stages are meant: beside
    /// an S6 in the same row, and everywhere while rows cannot be numbered by a repair.
    fn keep_doubtful_edges(&mut self) {
        let renumbers =
            self.found.iter().any(|draft| draft.code == Code::S2 && draft.fix.is_some());
        let misnumbered = self.found.iter().any(|draft| draft.code == Code::S2) && !renumbers;
        // One row after the other, so in source order.
        let doubtful: Vec<usize> = self
            .found
            .iter()
            .filter(|draft| draft.code == Code::S6)
            .map(|draft| draft.range.start)
            .collect();
        if !misnumbered && doubtful.is_empty() {
            return;
        }
        for draft in self.found.iter_mut().filter(|draft| draft.code == Code::W1) {
            if misnumbered || doubtful.binary_search(&draft.range.start).is_ok() {
                draft.fix = None;
            }
        }
    }

    /// The number of waves.
    pub(crate) fn waves(&self) -> usize {
        self.stage_graph.wave_count()
    }

    /// The graph.
    pub(crate) fn graph(&mut self) -> Graph {
        self.stage_graph.graph()
    }

    fn add(&mut self, draft: Draft) {
        self.found.push(draft);
    }
}

/// What to do where a repair is withheld.
const MEND_FIRST: &str = "mend what the W4 beside it shows first; then `--fix` can repair this";

/// The severity of a code under the options of a check.
pub(crate) fn severity(code: Code, options: CheckOptions) -> Severity {
    if code == Code::S9 && options.strict { Severity::Error } else { code.severity() }
}

/// The findings with their positions.
pub(crate) fn resolve(
    doc: &Document<'_>,
    drafts: Vec<Draft>,
    options: CheckOptions,
) -> Vec<Finding> {
    drafts
        .into_iter()
        .map(|draft| {
            let severity = severity(draft.code, options);
            draft.resolve(doc.index(), severity)
        })
        .collect()
}

/// The stages of the graph: rows with a number of their own that are not cancelled.
fn vertices(doc: &Document<'_>) -> (Vec<Vertex>, Vec<usize>) {
    let mut rows = Vec::with_capacity(doc.map.rows.len());
    let mut numbers = Vec::with_capacity(doc.map.rows.len());
    for (at, row) in doc.map.rows.iter().enumerate() {
        if let Some(stage) = row.stage
            && !row.cancelled
            && doc.row_of.get(stage) == Some(at)
        {
            numbers.push((stage, rows.len()));
            rows.push(at);
        }
    }
    let vertex_of = FirstOf::new(numbers.into_iter());
    let vertices = rows
        .iter()
        .filter_map(|&at| {
            let row = doc.map.rows.get(at)?;
            let steps = match doc.section(row) {
                Some(section) => u32::try_from(section.steps.len()).unwrap_or(u32::MAX),
                None => row.step_count.unwrap_or(0),
            };
            let depends_on =
                doc.dependencies(at).iter().filter_map(|stage| vertex_of.get(*stage)).collect();
            let unclear = row.depends_on.unreadable.is_some();
            Some(Vertex {
                stage: row.number(),
                title: row.title.clone(),
                steps,
                depends_on,
                unclear,
            })
        })
        .collect();
    (vertices, rows)
}

/// `1, 2 and 3`, for people; of many the first.
fn listed<T: ToString>(items: &[T]) -> String {
    const MOST: usize = 12;
    let mut words: Vec<String> = items.iter().take(MOST).map(T::to_string).collect();
    if items.len() > MOST {
        words.push(format!("{} more", items.len() - MOST));
    }
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Text of the plan inside a message: one line, no control characters, not too long.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String =
        text.chars().map(|ch| if steers_terminal(ch) { ' ' } else { ch }).take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    format!("'{}'", short.trim())
}
