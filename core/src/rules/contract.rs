//! The heading contract of a planning report: C1.

use super::Checker;
use crate::finding::{Code, Draft};
use crate::plan::outline::Block;

/// What the headings of a planning report must contain.
const HEADINGS: [&str; 10] = [
    "Option Candidates",
    "Trade-off",
    "Recommended Option",
    "Stage Map",
    "Stage Exit Contract",
    "Stage Validation",
    "Dependency",
    "Validation Checklist",
    "Rollback",
    "User Approval Request",
];

impl Checker<'_, '_> {
    /// C1: With `--contract`, the report has, at any level, headings that contain `Option
    /// Candidates`, `Trade-off`, `Recommended Option`, `Stage Map`, `Stage Exit Contract`, `Stage
    /// Validation`, `Dependency`, `Validation Checklist`, `Rollback` and `User Approval Request`.
    #[inline(never)]
    pub(super) fn contract_headings(&mut self) {
        let headings: Vec<_> = self
            .doc
            .outline
            .blocks
            .iter()
            .filter_map(
                |block| {
                    if let Block::Heading(heading) = block { Some(heading) } else { None }
                },
            )
            .collect();
        let end = self.doc.text.len();
        for wanted in HEADINGS {
            if headings.iter().any(|heading| heading.inline.text.contains(wanted)) {
                continue;
            }
            let mut draft =
                Draft::new(Code::C1, 0, end..end, format!("no heading contains '{wanted}'"))
                    .help(format!("add a heading with the words `{wanted}`"));
            let lower = wanted.to_ascii_lowercase();
            if let Some(near) = headings
                .iter()
                .find(|heading| heading.inline.text.to_ascii_lowercase().contains(&lower))
            {
                draft = draft.related("this one has another case", near.range.clone());
            }
            self.found.push(draft);
        }
    }
}
