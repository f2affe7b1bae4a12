//! The whole check of one plan: read, run the rules, derive the graph.

use serde::Serialize;

use crate::error::OkstraError;
use crate::finding::{Code, Draft, Finding, Severity};
use crate::fix;
use crate::graph::Graph;
use crate::plan::outline::Block;
use crate::plan::{ApprovalState, Document, Plan, Stage};
use crate::rules::{self, Checker};

/// What a check asks for beyond the rules that always hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct CheckOptions {
    /// S9 is an error. Default `false`.
    pub strict: bool,
    /// The most effective steps a stage may have (S5), at least 1. Default 6.
    pub max_steps: u32,
    /// The report has to keep the heading contract (C1). Default `false`.
    pub contract: bool,
    /// The plan has to be approved (A1, A2). Default `false`.
    pub require_approval: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { strict: false, max_steps: 6, contract: false, require_approval: false }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CheckReport {
    /// Every finding, in source order.
    pub findings: Vec<Finding>,
    /// The stages, in the order of the Stage Map.
    pub stages: Vec<Stage>,
    /// The graph of the stages that are not cancelled.
    pub graph: Graph,
}

/// A repaired plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FixResult {
    /// The plan after the repairs; every byte that no repair names is as it was.
    pub text: String,
    /// Whether anything changed.
    pub changed: bool,
    /// The findings that were repaired, with the places they had.
    pub applied: Vec<Finding>,
    /// What a check of the new text still finds.
    pub remaining: Vec<Finding>,
}

/// The answer to an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApproveResult {
    /// The plan with the tick; the same text where it was approved already or is held back.
    pub text: String,
    /// Whether the text changed.
    pub changed: bool,
    /// The clarifications (A2) that hold the approval back; not empty means: not approved.
    pub held_by: Vec<Finding>,
    /// How many errors the plan has beside them, each of which keeps its stages from being built.
    pub errors: usize,
}

/// The most bytes of a plan, 64 MiB: reading takes about fifteen times a plan's size, and a module
/// has no more than 4 GiB.
const MOST_BYTES: usize = 1 << 26;

/// Repairs can make each other possible (a renumbered stage, then a redundant dependency), so they
/// are applied in rounds; a plan settles after two or three.
const MOST_ROUNDS: usize = 8;

/// The bytes as text.
pub(crate) fn text(source: &[u8]) -> Result<&str, OkstraError> {
    let line = |offset: usize| {
        let before = source.get(..offset).unwrap_or_default();
        let ends = memchr::memchr_iter(b'\n', before).count();
        u32::try_from(ends + 1).unwrap_or(u32::MAX)
    };
    if source.len() > MOST_BYTES {
        return Err(OkstraError::TooLarge { bytes: source.len(), limit: MOST_BYTES });
    }
    if let Some(offset) = source.iter().position(|byte| *byte == 0) {
        return Err(OkstraError::Binary { offset, line: line(offset) });
    }
    std::str::from_utf8(source).map_err(|error| {
        let offset = error.valid_up_to();
        OkstraError::NotUtf8 { offset, line: line(offset) }
    })
}

/// Reads a plan without judging it.
pub fn parse_plan(source: &[u8]) -> Result<Plan, OkstraError> {
    Ok(Document::read(text(source)?).plan())
}

/// Checks a plan against every rule. A bad plan is no error: its faults are the findings.
pub fn check_plan(source: &[u8], options: CheckOptions) -> Result<CheckReport, OkstraError> {
    let doc = Document::read(text(source)?);
    let mut checker = checker(&doc, options)?;
    let findings = rules::resolve(&doc, checker.run(), options);
    Ok(CheckReport { findings, stages: doc.stages(), graph: checker.graph() })
}

/// The rules over a plan that was read.
pub(crate) fn checker<'d, 'a>(
    doc: &'d Document<'a>,
    options: CheckOptions,
) -> Result<Checker<'d, 'a>, OkstraError> {
    if options.max_steps == 0 {
        return Err(OkstraError::BadOptions {
            reason: String::from("max_steps must be at least 1"),
        });
    }
    Ok(Checker::new(doc, options))
}

/// The graph of a plan.
pub fn plan_graph(source: &[u8]) -> Result<Graph, OkstraError> {
    let doc = Document::read(text(source)?);
    Ok(Checker::new(&doc, CheckOptions::default()).graph())
}

/// Applies every repair the findings carry, until none is left that can be applied.
pub fn fix_plan(source: &[u8], options: CheckOptions) -> Result<FixResult, OkstraError> {
    let original = text(source)?;
    let mut fixed = original.to_owned();
    let mut applied = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let doc = Document::read(&fixed);
        let drafts = checker(&doc, options)?.run();
        let (next, done) = fix::apply(&fixed, &drafts);
        if next == fixed {
            break;
        }
        let repaired =
            drafts.into_iter().enumerate().filter(|(at, _)| done.binary_search(at).is_ok());
        applied.extend(rules::resolve(&doc, repaired.map(|(_, draft)| draft).collect(), options));
        drop(doc);
        fixed = next;
    }
    let doc = Document::read(&fixed);
    let rest = checker(&doc, options)?.run();
    let remaining = rules::resolve(&doc, rest, options);
    drop(doc);
    Ok(FixResult { changed: fixed != original, text: fixed, applied, remaining })
}

/// Ticks the approval line, or adds one where there is none: under the heading `User Approval
/// Request`, else before the Stage Map. While a clarification blocks the approval nothing changes
/// and the answer says which. What has no Stage Map is refused.
pub fn approve_plan(source: &[u8]) -> Result<ApproveResult, OkstraError> {
    let original = text(source)?;
    let doc = Document::read(original);
    if doc.maps.is_empty() {
        return Err(OkstraError::NoStageMap);
    }
    let options = CheckOptions { require_approval: true, ..CheckOptions::default() };
    let drafts = checker(&doc, options)?.run();
    let errors = drafts
        .iter()
        .filter(|draft| !matches!(draft.code, Code::A1 | Code::A2))
        .filter(|draft| rules::severity(draft.code, options) == Severity::Error)
        .count();
    let blocking: Vec<Draft> = drafts.into_iter().filter(|draft| draft.code == Code::A2).collect();
    if !blocking.is_empty() || doc.approval.state() == ApprovalState::Approved {
        let held_by = rules::resolve(&doc, blocking, options);
        return Ok(ApproveResult { text: original.to_owned(), changed: false, held_by, errors });
    }
    let approved = approved(&doc);
    let after = Document::read(&approved);
    // The new line must not take a heading behind it into its list.
    let headings = |doc: &Document<'_>| {
        doc.outline.blocks.iter().filter(|block| matches!(block, Block::Heading(_))).count()
    };
    if after.approval.state() != ApprovalState::Approved || headings(&after) != headings(&doc) {
        let line = doc.line(original.len());
        return Err(OkstraError::NotApprovable { line });
    }
    drop(after);
    Ok(ApproveResult { text: approved, changed: true, held_by: Vec::new(), errors })
}

/// The plan with its approval lines ticked, or one more line; every other byte stays.
fn approved(doc: &Document<'_>) -> String {
    let mut text = doc.text.to_owned();
    for line in &doc.approval.open {
        text.replace_range(line.marker.clone(), "[x]");
    }
    if !doc.approval.open.is_empty() {
        return text;
    }
    let (before, after) = text.split_at_checked(doc.approval_place()).unwrap_or((&text, ""));
    let end = line_end(&text);
    // A blank line on both sides, so that the line joins neither a paragraph nor a list.
    let ends = before.len() - before.trim_end_matches(['\n', '\r']).len();
    let gap = match (before.trim().is_empty(), ends / end.len()) {
        (true, _) | (_, 2..) => String::new(),
        (_, 1) => end.to_owned(),
        _ => format!("{end}{end}"),
    };
    let rest = if after.is_empty() { "" } else { end };
    format!("{before}{gap}- [x] Approved{end}{rest}{after}")
}

/// The line end a text uses: that of its first line.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']).and_then(|at| text.get(at..)) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}
