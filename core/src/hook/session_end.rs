//! A session ends: what it has not finished is given back.

use super::answer::HookAnswer;
use super::event::Event;
use crate::error::OkstraError;
use crate::printable::excerpt;
use crate::stage::{Decision, Facts, release_own};

pub(super) fn react(
    event: &Event,
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
) -> Result<Decision<HookAnswer>, OkstraError> {
    let reason = match event.cause.as_str() {
        "" => String::from("the session ended"),
        cause => format!("the session ended ({})", excerpt(cause, 60)),
    };
    let decision = release_own(plan, ledger, facts, &reason)?;
    Ok(decision.map(|ended| HookAnswer { ended, ..HookAnswer::default() }))
}
