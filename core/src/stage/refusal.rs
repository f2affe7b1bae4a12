//! Why a request about a stage is refused.

use thiserror::Error;

use crate::choose::Refusal;
use crate::error::{ErrorCode, ErrorDetails, ErrorInfo, ExitStatus};
use crate::printable::printable;

/// Why a request about a stage is refused. Nothing was written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StageRefusal {
    /// The selector says no.
    #[error("{reason}")]
    Choose {
        /// Its words.
        reason: Refusal,
        /// What may help: how to free a dead or quiet claim.
        help: Option<String>,
    },
    /// The plan has errors or is not approved.
    #[error("approved plan failed stage validation:")]
    PlanInvalid {
        /// One line a finding, as the text format prints it.
        lines: Vec<String>,
        /// What to do.
        help: String,
    },
    /// Nobody has claimed the stage.
    #[error("--stage {stage} is not claimed")]
    NotClaimed {
        /// The stage.
        stage: u32,
    },
    /// It cannot be said which stage is meant.
    #[error("which stage? {why}")]
    WhichStage {
        /// Why it cannot be said.
        why: String,
    },
    /// The caller's claim was given back or never was.
    #[error("the claim of stage {stage} is not yours any more: {what}")]
    ClaimLost {
        /// The stage.
        stage: u32,
        /// What became of it, and who holds the stage now.
        what: String,
    },
    /// The stage is somebody's, and the caller does not say who it is.
    #[error("stage {stage} is claimed by {holder}, and nothing says that this is you")]
    WhoAreYou {
        /// The stage.
        stage: u32,
        /// Whose it is.
        holder: String,
    },
    /// The claim is live, or quiet and not forced.
    #[error(
        "the claim of stage {stage} by {holder} is {life}; it is not taken from a session that may still work"
    )]
    StillAlive {
        /// The stage.
        stage: u32,
        /// Whose it is.
        holder: String,
        /// `live` or `quiet`.
        life: &'static str,
    },
    /// The stage is not done.
    #[error("--stage {stage} is not done")]
    NotDone {
        /// The stage.
        stage: u32,
    },
    /// A row like this stands already.
    #[error("stage {stage} is {what} already")]
    Stands {
        /// The stage.
        stage: u32,
        /// As what.
        what: String,
    },
    /// There is evidence on disk that okstra would have to replace.
    #[error("{path} is there already and cannot be used: {why}")]
    EvidenceExists {
        /// The sidecar.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The stage's worktree has changes that no commit has.
    #[error("stage {stage} has uncommitted changes in {worktree}: {}", some_of(.files))]
    Uncommitted {
        /// The stage.
        stage: u32,
        /// Its worktree.
        worktree: String,
        /// The files.
        files: Vec<String>,
    },
    /// The stage's work does not build on what it started from.
    #[error("the head {head} of stage {stage} does not contain its base {base}")]
    BaseLost {
        /// The stage.
        stage: u32,
        /// The commit its worktree is at.
        head: String,
        /// The commit it started from.
        base: String,
    },
    /// The evidence tells of another commit than the worktree's.
    #[error(
        "the evidence of stage {stage} ends with {evidence}, its worktree {worktree} is at {head}"
    )]
    HeadDiffers {
        /// The stage.
        stage: u32,
        /// The commit in the evidence.
        evidence: String,
        /// The worktree.
        worktree: String,
        /// The commit it is at.
        head: String,
    },
    /// A path leaves the project.
    #[error("{path} leaves the project")]
    OutsideProject {
        /// The path.
        path: String,
    },
    /// There is no evidence in the worker result, or it cannot be read.
    #[error("{name}: {what}")]
    EvidenceMissing {
        /// The file.
        name: String,
        /// What is wrong.
        what: String,
        /// The place in the file.
        line: Option<u32>,
        /// What to do.
        help: String,
    },
    /// The evidence breaks its contract.
    #[error("{name}: the evidence of stage {stage} breaks its contract:")]
    EvidenceWrong {
        /// The file.
        name: String,
        /// The stage.
        stage: u32,
        /// One line a finding.
        lines: Vec<String>,
    },
    /// An argument cannot be followed.
    #[error("{0}")]
    BadArgument(String),
}

/// The files of a refusal are listed up to this many.
const MOST_FILES: usize = 10;

/// The first of some files, and how many there are besides.
fn some_of(files: &[String]) -> String {
    let first: Vec<_> = files.iter().take(MOST_FILES).map(|file| printable(file)).collect();
    let more = files.len().saturating_sub(MOST_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

impl StageRefusal {
    /// How a command ends with it.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::PlanInvalid { .. } => ExitStatus::Findings,
            Self::EvidenceMissing { .. } | Self::EvidenceWrong { .. } => {
                ExitStatus::ContractViolated
            }
            Self::WhichStage { .. } | Self::BadArgument(_) => ExitStatus::Usage,
            _ => ExitStatus::Refused,
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::Choose { reason, .. } => match reason {
                Refusal::NotAStage { .. } => ErrorCode::NotAStage,
                Refusal::NotInMap { .. } => ErrorCode::NotInMap,
                Refusal::Cancelled { .. } => ErrorCode::Cancelled,
                Refusal::AlreadyCompleted { .. } => ErrorCode::AlreadyCompleted,
                Refusal::AlreadyStarted { .. } => ErrorCode::AlreadyStarted,
                Refusal::Reserved { .. } => ErrorCode::Reserved,
                Refusal::Waits { .. } => ErrorCode::Waits,
                Refusal::NoneReady { .. } => ErrorCode::NoneReady,
                Refusal::AllDone => ErrorCode::AllDone,
                Refusal::NotImplementation { .. } => ErrorCode::NotImplementation,
            },
            Self::PlanInvalid { .. } => ErrorCode::PlanInvalid,
            Self::NotClaimed { .. } => ErrorCode::NotClaimed,
            Self::WhichStage { .. } => ErrorCode::WhichStage,
            Self::ClaimLost { .. } => ErrorCode::ClaimLost,
            Self::WhoAreYou { .. } => ErrorCode::WhoAreYou,
            Self::StillAlive { .. } => ErrorCode::StillAlive,
            Self::NotDone { .. } => ErrorCode::NotDone,
            Self::Stands { .. } => ErrorCode::Stands,
            Self::EvidenceExists { .. } => ErrorCode::EvidenceExists,
            Self::Uncommitted { .. } => ErrorCode::Uncommitted,
            Self::BaseLost { .. } => ErrorCode::BaseLost,
            Self::HeadDiffers { .. } => ErrorCode::HeadDiffers,
            Self::OutsideProject { .. } => ErrorCode::OutsideProject,
            Self::EvidenceMissing { .. } | Self::EvidenceWrong { .. } => {
                ErrorCode::ContractViolated
            }
            Self::BadArgument(_) => ErrorCode::BadOptions,
        }
    }

    /// The fields that cross the border.
    pub(crate) fn info(&self) -> ErrorInfo {
        let mut details = ErrorDetails { stage: self.stage(), ..ErrorDetails::default() };
        let help = match self {
            Self::Choose { help, .. } => help.clone(),
            Self::PlanInvalid { lines, help } => {
                details.lines = Some(lines.clone());
                Some(help.clone())
            }
            Self::EvidenceWrong { lines, .. } => {
                details.lines = Some(lines.clone());
                Some(String::from("nothing was written; mend the evidence and run it again"))
            }
            Self::EvidenceMissing { help, line, .. } => {
                details.line = *line;
                Some(format!("{help}; nothing was written"))
            }
            Self::NotClaimed { stage } => {
                Some(format!("claim it first: okstra stage claim --stage {stage}"))
            }
            Self::WhichStage { .. } => Some(String::from("give --stage N")),
            Self::ClaimLost { .. } => Some(String::from(
                "stop working on it; what you built is still in your files and commits",
            )),
            Self::WhoAreYou { .. } => Some(String::from(
                "give --claim-id or --session of the claim; 'okstra stage list --json' shows them",
            )),
            Self::StillAlive { life: "quiet", .. } => {
                Some(String::from("if you know that nobody works on it, add --force"))
            }
            Self::StillAlive { .. } => Some(String::from(
                "let its session release it, or give its --claim-id; it counts as quiet without a \
                 sign of life for some time",
            )),
            Self::NotDone { .. } => {
                Some(String::from("a stage is done when 'okstra stage done' has its evidence"))
            }
            Self::Stands { .. } => {
                Some(String::from("to correct it on purpose, add --force-reappend"))
            }
            Self::EvidenceExists { .. } => {
                Some(String::from("move that file away and run it again"))
            }
            Self::Uncommitted { files, .. } => {
                details.lines = Some(files.clone());
                Some(String::from(
                    "commit what belongs to the stage, remove what does not, and say the new head \
                     in the evidence; nothing was written",
                ))
            }
            Self::BaseLost { base, .. } => Some(format!(
                "rebase the stage's commits onto {base}, or merge that commit, and say the new head \
                 in the evidence; nothing was written"
            )),
            Self::HeadDiffers { head, .. } => Some(format!(
                "check out the commit that the evidence tells of, or correct the evidence's head \
                 to {head}; nothing was written"
            )),
            Self::OutsideProject { .. } => Some(String::from("give a path inside the project")),
            Self::BadArgument(_) => None,
        };
        ErrorInfo {
            code: self.code(),
            message: self.to_string(),
            help,
            exit_code: self.status().code(),
            details,
        }
    }

    fn stage(&self) -> Option<u32> {
        match self {
            Self::NotClaimed { stage }
            | Self::ClaimLost { stage, .. }
            | Self::WhoAreYou { stage, .. }
            | Self::StillAlive { stage, .. }
            | Self::NotDone { stage }
            | Self::Stands { stage, .. }
            | Self::Uncommitted { stage, .. }
            | Self::BaseLost { stage, .. }
            | Self::HeadDiffers { stage, .. }
            | Self::EvidenceWrong { stage, .. }
            | Self::Choose {
                reason:
                    Refusal::Cancelled { stage }
                    | Refusal::AlreadyCompleted { stage }
                    | Refusal::AlreadyStarted { stage, .. }
                    | Refusal::Reserved { stage }
                    | Refusal::Waits { stage, .. },
                ..
            } => Some(*stage),
            _ => None,
        }
    }
}
