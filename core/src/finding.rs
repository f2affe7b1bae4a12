//! What a check says: code, severity, place, message, help and repair.

use serde::Serialize;

use crate::source::{ByteRange, LineIndex, SourceRange};

/// The stable name of a rule. The table of all rules with their texts is [`crate::rules::RULES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Code {
    /// There is exactly one Stage Map, with a table and at least one row.
    S1,
    /// Stages are numbered 1..N in order.
    S2,
    /// Each row has exactly one section, each section a row.
    S3,
    /// Each section has its four subsections.
    S4,
    /// A stage has no more than the allowed number of steps.
    S5,
    /// Each dependency exists and can be read.
    S6,
    /// The announced step count is the real one.
    S7,
    /// The dependencies have no cycle.
    S8,
    /// Stages that may run in parallel share no file, and no file is outside the project.
    S9,
    /// The plan is approved.
    A1,
    /// No clarification blocks the approval.
    A2,
    /// The report has the headings of its contract.
    C1,
    /// No dependency is implied by the others.
    W1,
    /// Writing is canonical.
    W2,
    /// A stage has steps.
    W3,
    /// The Markdown has no structural trap.
    W4,
    /// The title in the map is the title of the section.
    W5,
}

impl Code {
    /// The code as it is printed: `S1`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::S1 => "S1",
            Self::S2 => "S2",
            Self::S3 => "S3",
            Self::S4 => "S4",
            Self::S5 => "S5",
            Self::S6 => "S6",
            Self::S7 => "S7",
            Self::S8 => "S8",
            Self::S9 => "S9",
            Self::A1 => "A1",
            Self::A2 => "A2",
            Self::C1 => "C1",
            Self::W1 => "W1",
            Self::W2 => "W2",
            Self::W3 => "W3",
            Self::W4 => "W4",
            Self::W5 => "W5",
        }
    }

    /// The severity the rule has unless an option raises it.
    pub const fn severity(self) -> Severity {
        match self {
            Self::S9 | Self::W1 | Self::W2 | Self::W3 | Self::W4 | Self::W5 => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// How much a finding weighs: an error makes the plan unusable, a warning does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Severity {
    /// The plan cannot be used before this is mended.
    Error,
    /// The plan can be used; somebody should look.
    Warning,
}

/// One fault of a plan at its exact place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// The rule.
    pub code: Code,
    /// The rule's weight under the options of this check.
    pub severity: Severity,
    /// The stage it concerns; 0 is the whole plan.
    pub stage: u32,
    /// What is wrong, in one line, without a final full stop.
    pub message: String,
    /// Where.
    pub range: SourceRange,
    /// How to mend it, or `null`.
    pub help: Option<String>,
    /// The mechanical repair, or `null`.
    pub fix: Option<Fix>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
}

/// Another place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Related {
    /// What stands there, in one line.
    pub message: String,
    /// Where.
    pub range: SourceRange,
}

/// A repair: edits that belong together. Applying them leaves every other byte alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Fix {
    /// What the repair does, in one line.
    pub title: String,
    /// The edits, in source order, not overlapping.
    pub edits: Vec<Edit>,
}

/// Replaces one range of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Edit {
    /// What is replaced; an empty range inserts.
    pub range: SourceRange,
    /// The new text.
    pub text: String,
}

/// A finding while rules run: byte offsets only. [`Draft::resolve`] gives it its positions.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) code: Code,
    pub(crate) stage: u32,
    pub(crate) message: String,
    pub(crate) range: ByteRange,
    pub(crate) help: Option<String>,
    pub(crate) fix: Option<DraftFix>,
    pub(crate) related: Vec<(String, ByteRange)>,
}

/// A repair while rules run.
#[derive(Clone, Debug)]
pub(crate) struct DraftFix {
    pub(crate) title: String,
    pub(crate) edits: Vec<DraftEdit>,
}

/// One edit while rules run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DraftEdit {
    pub(crate) range: ByteRange,
    pub(crate) text: String,
}

impl Draft {
    pub(crate) fn new(
        code: Code,
        stage: u32,
        range: ByteRange,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            stage,
            message: message.into(),
            range,
            help: None,
            fix: None,
            related: Vec::new(),
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn related(mut self, message: impl Into<String>, range: ByteRange) -> Self {
        self.related.push((message.into(), range));
        self
    }

    pub(crate) fn fix(mut self, title: impl Into<String>, edits: Vec<DraftEdit>) -> Self {
        self.fix = Some(DraftFix { title: title.into(), edits });
        self
    }

    pub(crate) fn replace(
        self,
        title: impl Into<String>,
        range: ByteRange,
        text: impl Into<String>,
    ) -> Self {
        self.fix(title, vec![DraftEdit { range, text: text.into() }])
    }

    pub(crate) fn resolve(self, index: &LineIndex<'_>, severity: Severity) -> Finding {
        Finding {
            code: self.code,
            severity,
            stage: self.stage,
            message: self.message,
            range: index.range(&self.range),
            help: self.help,
            fix: self.fix.map(|fix| Fix {
                title: fix.title,
                edits: fix
                    .edits
                    .into_iter()
                    .map(|edit| Edit { range: index.range(&edit.range), text: edit.text })
                    .collect(),
            }),
            related: self
                .related
                .into_iter()
                .map(|(message, range)| Related { message, range: index.range(&range) })
                .collect(),
        }
    }
}
