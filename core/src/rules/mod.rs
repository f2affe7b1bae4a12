//! The rules: one file a family, one function a rule.

use serde::Serialize;

use crate::finding::{Code, Severity};

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

/// Every rule, in the order of its code.
pub const RULES: &[Rule] = &[];
