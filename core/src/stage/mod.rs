//! A stage's life: next, claim, done, release, verify, pull request, and the table of all.
//!
//! Each function takes the plan, the ledger as it is under the lock, and the facts the host has
//! gathered; it answers with a [`Decision`]: the effects to carry out and what to print. A refusal
//! is an error and has no effects, so a refused request changes no file.

mod board;
mod brief;
mod claim;
mod done;
mod effect;
mod facts;
mod give;
mod list;
mod next;
mod refusal;

pub(crate) use brief::task_carry_path;
pub use brief::{CarryIn, StageBrief, ValidationCommand};
pub use claim::{ClaimAnswer, ClaimRequest, claim};
pub use done::{DoneAnswer, DoneRequest, GitFacts, done};
pub use effect::{Decision, Effect};
pub use facts::{EvidenceFile, Facts};
pub use give::{PrRequest, Recorded, ReleaseRequest, VerifyRequest, pull_request, release, verify};
pub use list::{StageLine, StageList, StageState, list};
pub use next::{NextAnswer, NextRequest, ShowAnswer, next, show};
pub use refusal::StageRefusal;
