//! Handing finished stages over: which may go, how they are put together, and the text of their
//! pull request.

pub mod assemble;
pub mod eligible;
pub mod text;
pub mod verification;

pub use text::{HandOverStage, PullRequestText, pull_request_text};
