//! A stage's life: next, claim, done, release, verify, pull request, and the table of all.
//!
//! Each function takes the plan, the ledger as it is under the lock, and the facts the host has
//! gathered; it answers with a [`Decision`]: the effects to carry out and what to print. A refusal
//! is an error and has no effects, so a refused request changes no file.

mod board;
mod brief;
mod claim;
mod diff;
mod done;
mod effect;
mod facts;
mod forecast;
mod give;
mod hand_over;
mod history;
mod list;
mod next;
mod outcome;
mod preview;
mod refusal;
mod stale;
mod survey;

pub(crate) use board::{shell_word, valid_plan};
pub(crate) use brief::task_carry_path;
pub use brief::{CarryIn, StageBrief, ValidationCommand};
pub use claim::{ClaimAnswer, ClaimRequest, claim};
pub use diff::{BuiltAgainst, DiffAnswer, TouchedDone, Touches, TouchingDiff, plan_diff};
pub(crate) use done::is_listed;
pub use done::{DoneAnswer, DoneRequest, GitFacts, done};
pub use effect::{Decision, Effect};
pub use facts::{EvidenceFile, Facts};
pub use forecast::forecast;
pub use give::{PrRequest, Recorded, ReleaseRequest, VerifyRequest, pull_request, release, verify};
pub use hand_over::{
    AssembleAnswer, HandoffAnswer, HandoffRequest, HandoffStage, assemble, hand_over,
};
pub use history::history;
pub use list::{StageLine, StageList, StageState, list};
pub use next::{NextAnswer, NextRequest, ShowAnswer, next, show};
pub use outcome::{
    EvidenceGrade, OutcomeAnswer, OutcomeReason, OutcomeRequest, StageOutcome, outcome,
};
pub use preview::{
    Preview, PreviewEvidence, PreviewFacts, PreviewFile, PreviewObserved, PreviewStage,
    PreviewStepResult, preview_plan,
};
pub use refusal::StageRefusal;
pub use stale::{MOST_BUILT_ON, Stale, StaleReason};
pub(crate) use survey::{Depth, Running, Survey, glance, release_own, survey};
