//! The whole check of one plan: read, run the rules, derive the graph.

use serde::{Deserialize, Serialize};

use crate::error::OkstraError;
use crate::finding::Finding;
use crate::graph::Graph;
use crate::plan::{Plan, Stage};

/// What a check asks for beyond the rules that always hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
        Self {
            strict: false,
            max_steps: 6,
            contract: false,
            require_approval: false,
        }
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
}

/// Reads a plan without judging it.
pub fn parse_plan(source: &[u8]) -> Result<Plan, OkstraError> {
    let _ = source;
    Err(OkstraError::BadOptions {
        reason: String::from("not built yet"),
    })
}

/// Checks a plan against every rule.
pub fn check_plan(source: &[u8], options: CheckOptions) -> Result<CheckReport, OkstraError> {
    let _ = (source, options);
    Err(OkstraError::BadOptions {
        reason: String::from("not built yet"),
    })
}

/// The graph of a plan.
pub fn plan_graph(source: &[u8]) -> Result<Graph, OkstraError> {
    Ok(check_plan(source, CheckOptions::default())?.graph)
}

/// Applies every repair the findings carry.
pub fn fix_plan(source: &[u8], options: CheckOptions) -> Result<FixResult, OkstraError> {
    let _ = (source, options);
    Err(OkstraError::BadOptions {
        reason: String::from("not built yet"),
    })
}

/// Ticks the approval line.
pub fn approve_plan(source: &[u8]) -> Result<ApproveResult, OkstraError> {
    let _ = source;
    Err(OkstraError::BadOptions {
        reason: String::from("not built yet"),
    })
}
