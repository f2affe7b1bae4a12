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
