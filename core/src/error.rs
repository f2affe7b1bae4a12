//! Failures: input or arguments that cannot be worked with. A bad plan is never one of them.

use serde::Serialize;
use thiserror::Error;

#[cfg(doc)]
use crate::choose::Refusal;
use crate::container::ContainerRefusal;
use crate::dispatch::DispatchRefusal;
use crate::install::InstallRefusal;
use crate::lead::LeadRefusal;
use crate::run::BundleError;
use crate::stage::StageRefusal;
use crate::worktree::WorktreeRefusal;

/// Why a function could not answer at all.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OkstraError {
    /// The bytes are not UTF-8.
    #[error("not UTF-8: invalid byte sequence at byte {offset} (line {line})")]
    NotUtf8 {
        /// The first invalid byte.
        offset: usize,
        /// Its line, from 1.
        line: u32,
    },
    /// The bytes are no text.
    #[error("a binary file: NUL byte at byte {offset} (line {line})")]
    Binary {
        /// The first NUL byte.
        offset: usize,
        /// Its line, from 1.
        line: u32,
    },
    /// The text is larger than 32-bit offsets can address.
    #[error("too large: {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// The size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The approval line would be text where it has to stand.
    #[error("cannot be approved: line {line} is inside a code fence, a comment or other text")]
    NotApprovable {
        /// The line where the approval would stand, from 1.
        line: u32,
    },
    /// What is to be approved has no Stage Map.
    #[error("no plan: it has no Stage Map")]
    NoStageMap,
    /// An option has a value it cannot have.
    #[error("bad options: {reason}")]
    BadOptions {
        /// What is wrong with them.
        reason: String,
    },
    /// The wizard's state is not one that it can go on from.
    #[error("the state of the wizard cannot be used: {reason}")]
    WizardState {
        /// What is wrong with it.
        reason: String,
    },
    /// A request about a stage is refused.
    #[error(transparent)]
    Stage(#[from] StageRefusal),
    /// A run cannot be prepared.
    #[error(transparent)]
    Run(#[from] BundleError),
    /// A request about worktrees or the hand-over is refused.
    #[error(transparent)]
    Worktree(#[from] WorktreeRefusal),
    /// Nothing is installed or taken out.
    #[error(transparent)]
    Install(#[from] InstallRefusal),
    /// A request of a leading session is refused.
    #[error(transparent)]
    Lead(#[from] LeadRefusal),
    /// A request about containers is refused.
    #[error(transparent)]
    Container(#[from] ContainerRefusal),
    /// A prompt is not dispatched.
    #[error(transparent)]
    Dispatch(#[from] DispatchRefusal),
}

/// A failure as it crosses the border: the fields of the JavaScript class `OkstraError`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorInfo {
    /// The stable name of the reason.
    pub code: ErrorCode,
    /// What is wrong, in one line.
    pub message: String,
    /// How to mend it, or `null`.
    pub help: Option<String>,
    /// The exit status of a command that ends with it.
    pub exit_code: u8,
    /// Facts for programs: numbers and names the message was made from.
    pub details: ErrorDetails,
}

/// The numbers and names a failure's message was made from; each reason has its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ErrorDetails {
    /// The byte offset of the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// The line of the place, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// A size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The most there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The stage it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// One line each: what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<String>>,
    /// What a panic said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panic: Option<String>,
    /// Where it was: `file:line:column`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// The stable name of a failure's reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum ErrorCode {
    /// [`OkstraError::NotUtf8`].
    NotUtf8,
    /// [`OkstraError::Binary`].
    Binary,
    /// [`OkstraError::TooLarge`].
    TooLarge,
    /// [`OkstraError::NotApprovable`].
    NotApprovable,
    /// [`OkstraError::NoStageMap`].
    NoStageMap,
    /// [`OkstraError::BadOptions`] or [`BundleError::BadInput`].
    BadOptions,
    /// [`OkstraError::WizardState`].
    WizardState,
    /// [`Refusal::NotAStage`].
    NotAStage,
    /// [`Refusal::NotInMap`].
    NotInMap,
    /// [`Refusal::Cancelled`].
    Cancelled,
    /// [`Refusal::AlreadyCompleted`].
    AlreadyCompleted,
    /// [`Refusal::AlreadyStarted`].
    AlreadyStarted,
    /// [`Refusal::Reserved`].
    Reserved,
    /// [`Refusal::Waits`].
    Waits,
    /// [`Refusal::NoneReady`].
    NoneReady,
    /// [`Refusal::AllDone`].
    AllDone,
    /// [`Refusal::NotImplementation`].
    NotImplementation,
    /// [`StageRefusal::PlanInvalid`].
    PlanInvalid,
    /// [`StageRefusal::NotClaimed`].
    NotClaimed,
    /// [`StageRefusal::WhichStage`].
    WhichStage,
    /// [`StageRefusal::ClaimLost`].
    ClaimLost,
    /// [`StageRefusal::WhoAreYou`].
    WhoAreYou,
    /// [`StageRefusal::StillAlive`].
    StillAlive,
    /// [`StageRefusal::NotDone`].
    NotDone,
    /// [`StageRefusal::Stands`].
    Stands,
    /// [`StageRefusal::EvidenceExists`].
    EvidenceExists,
    /// [`StageRefusal::OutsideProject`].
    OutsideProject,
    /// [`StageRefusal::Uncommitted`].
    Uncommitted,
    /// [`StageRefusal::BaseLost`].
    BaseLost,
    /// [`StageRefusal::HeadDiffers`].
    HeadDiffers,
    /// [`WorktreeRefusal::NoHead`].
    NoHead,
    /// [`WorktreeRefusal::NoBase`].
    NoBase,
    /// [`WorktreeRefusal::MergeConflict`].
    MergeConflict,
    /// [`WorktreeRefusal::NewerRegistry`].
    NewerRegistry,
    /// [`WorktreeRefusal::OtherProject`].
    OtherProject,
    /// [`WorktreeRefusal::Taken`].
    WorktreeTaken,
    /// [`WorktreeRefusal::NotRegistered`].
    NotRegistered,
    /// [`WorktreeRefusal::WouldLose`].
    WouldLose,
    /// [`WorktreeRefusal::InUse`].
    InUse,
    /// [`WorktreeRefusal::NotEligible`] or [`WorktreeRefusal::NothingEligible`].
    NotEligible,
    /// [`WorktreeRefusal::ForbiddenPush`].
    ForbiddenPush,
    /// [`BundleError::UnknownTaskType`].
    UnknownTaskType,
    /// [`BundleError::MissingStage`] or [`BundleError::MissingPlan`].
    MissingPlan,
    /// [`InstallRefusal::NewerRecord`].
    NewerRecord,
    /// [`InstallRefusal::Taken`].
    FileTaken,
    /// [`BundleError::Json`], [`WorktreeRefusal::Broken`], [`InstallRefusal::Broken`],
    /// [`InstallRefusal::Comment`], [`LeadRefusal::BrokenTeam`] or [`DispatchRefusal::BrokenStatus`].
    BrokenJson,
    /// [`BundleError::OtherTask`].
    OtherTask,
    /// [`LeadRefusal::OutOfOrder`].
    OutOfOrder,
    /// [`LeadRefusal::NoReport`].
    NoReport,
    /// [`LeadRefusal::NoLeadSession`].
    NoLeadSession,
    /// [`LeadRefusal::SeveralTeams`].
    SeveralTeams,
    /// [`LeadRefusal::NotAnAnswer`].
    NotAnAnswer,
    /// [`ContainerRefusal::NoEngine`].
    NoEngine,
    /// [`ContainerRefusal::OtherEngine`].
    OtherEngine,
    /// [`ContainerRefusal::NoFile`] or [`ContainerRefusal::FileGone`].
    NoComposeFile,
    /// [`ContainerRefusal::SeveralFiles`].
    SeveralFiles,
    /// [`DispatchRefusal::BadPrompt`].
    BadPrompt,
    /// [`DispatchRefusal::BadWorkers`] or [`DispatchRefusal::NoWorker`].
    BadWorkers,
    /// [`DispatchRefusal::Running`].
    DispatchRunning,
    /// [`DispatchRefusal::AlreadyComplete`].
    DispatchComplete,
    /// [`DispatchRefusal::NoDispatch`].
    NoDispatch,
    /// [`StageRefusal::EvidenceMissing`] or [`StageRefusal::EvidenceWrong`].
    ContractViolated,
    /// The browser entry was called before its `init()` had finished.
    NotInitialised,
    /// A fault of okstra: the core panicked. The next call works on a fresh instance.
    Panic,
}

impl OkstraError {
    /// The fields that cross the border.
    pub fn info(&self) -> ErrorInfo {
        let none = ErrorDetails::default();
        let (code, help, details) = match self {
            Self::Stage(refusal) => return refusal.info(),
            Self::Run(fault) => return run_info(fault),
            Self::Worktree(refusal) => return refusal.info(),
            Self::Install(refusal) => return refusal.info(),
            Self::Lead(refusal) => return refusal.info(),
            Self::Container(refusal) => return refusal.info(),
            Self::Dispatch(refusal) => return refusal.info(),
            Self::NotUtf8 { offset, line } => (
                ErrorCode::NotUtf8,
                Some("save the file as UTF-8"),
                ErrorDetails { offset: Some(*offset), line: Some(*line), ..none },
            ),
            Self::Binary { offset, line } => (
                ErrorCode::Binary,
                Some("give a Markdown file saved as UTF-8; UTF-16 has such bytes"),
                ErrorDetails { offset: Some(*offset), line: Some(*line), ..none },
            ),
            Self::TooLarge { bytes, limit } => (
                ErrorCode::TooLarge,
                Some("split the plan"),
                ErrorDetails { bytes: Some(*bytes), limit: Some(*limit), ..none },
            ),
            Self::NotApprovable { line } => (
                ErrorCode::NotApprovable,
                Some("close the code fence or comment that reaches the end of the plan"),
                ErrorDetails { line: Some(*line), ..none },
            ),
            Self::NoStageMap => (
                ErrorCode::NoStageMap,
                Some("give the file with the stages; 'okstra plan check' says what a plan needs"),
                none,
            ),
            Self::WizardState { reason } => (
                ErrorCode::WizardState,
                Some("begin again with 'okstra wizard init' and another file"),
                ErrorDetails { reason: Some(reason.clone()), ..none },
            ),
            Self::BadOptions { reason } => {
                (ErrorCode::BadOptions, None, ErrorDetails { reason: Some(reason.clone()), ..none })
            }
        };
        let status = match self {
            Self::NotApprovable { .. } | Self::NoStageMap => ExitStatus::Refused,
            _ => ExitStatus::Usage,
        };
        ErrorInfo {
            code,
            message: self.to_string(),
            help: help.map(str::to_owned),
            exit_code: status.code(),
            details,
        }
    }
}

/// Why a run cannot be prepared, as it crosses the border.
fn run_info(fault: &BundleError) -> ErrorInfo {
    let mut details = ErrorDetails::default();
    let (code, help, status) = match fault {
        BundleError::UnknownTaskType { .. } => {
            (ErrorCode::UnknownTaskType, None, ExitStatus::Usage)
        }
        BundleError::MissingStage | BundleError::MissingPlan => {
            (ErrorCode::MissingPlan, Some("give --approved-plan PLAN"), ExitStatus::Usage)
        }
        BundleError::BadInput(_) => (ErrorCode::BadOptions, None, ExitStatus::Usage),
        BundleError::StageNotMeant { .. } => {
            (ErrorCode::NotImplementation, None, ExitStatus::Refused)
        }
        BundleError::Json { line, .. } => {
            details.line = Some(*line);
            let help = "mend the file; it was left as it is";
            (ErrorCode::BrokenJson, Some(help), ExitStatus::Usage)
        }
        BundleError::OtherTask { .. } => {
            let help = "two ids lead to one folder; rename one of the tasks";
            (ErrorCode::OtherTask, Some(help), ExitStatus::Refused)
        }
    };
    ErrorInfo {
        code,
        message: fault.to_string(),
        help: help.map(str::to_owned),
        exit_code: status.code(),
        details,
    }
}

/// How a command ends. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitStatus {
    /// Everything is fine; warnings alone keep it.
    Ok = 0,
    /// A plan has errors.
    Findings = 1,
    /// The arguments are wrong or an input cannot be read.
    Usage = 2,
    /// The request is refused.
    Refused = 3,
    /// A contract is violated.
    ContractViolated = 4,
    /// A lock or another thing outside failed.
    Fault = 5,
}

impl ExitStatus {
    /// The process exit code.
    pub fn code(self) -> u8 {
        self as u8
    }
}
