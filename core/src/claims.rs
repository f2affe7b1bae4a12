//! Claims that live and die, and the fence.
//!
//! A claim belongs to a session: a name, a host and a process with its start. Nobody sends
//! heartbeats; what the host sees of processes and of the signs of life that hooks leave is enough
//! to tell a live claim from a quiet or a dead one. Nothing live is ever taken.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::decode::{decode, decode_words};
use crate::ledger::Claim;
use crate::time;

/// Who calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Caller {
    /// The claim it speaks for.
    pub claim_id: Option<String>,
    /// Its session.
    pub session: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// The process of the session.
    pub pid: Option<u32>,
    /// The start of that process, as the host writes it.
    pub pid_start: Option<String>,
}

decode!(optional Caller { claim_id, session, host, pid, pid_start });

/// What the host saw of the sessions that hold claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Sightings {
    /// The processes that were asked for.
    pub processes: Vec<ProcessFact>,
    /// The last signs of life of the sessions that were asked for and have left any.
    pub sessions: Vec<SignOfLife>,
}

decode!(optional Sightings { processes, sessions });

/// What became of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessFact {
    /// Its number.
    pub pid: u32,
    /// Its start, as the claim names it.
    pub pid_start: Option<String>,
    /// What was seen.
    pub state: ProcessState,
}

decode!(ProcessFact { pid, pid_start, state });

/// What the host can say of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum ProcessState {
    /// It runs.
    Alive,
    /// It has ended; its number may be another's by now.
    Gone,
    /// It cannot be judged from here.
    Unknown,
}

decode_words!(ProcessState { "alive" => Alive, "gone" => Gone, "unknown" => Unknown } None);

/// The last time a session showed that it works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct SignOfLife {
    /// The session.
    pub session: String,
    /// When, with its zone.
    pub at: String,
    /// What became of the process it runs in now; missing where nobody knows of one. A session that
    /// was resumed runs in another than its claims name.
    pub process: Option<ProcessState>,
}

decode!(SignOfLife { session, at, process });

/// What the host has to look at before the core can answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Needs {
    /// Processes on this host.
    pub processes: Vec<ProcessQuestion>,
    /// Sessions whose last sign of life counts.
    pub sessions: Vec<String>,
    /// Worktrees whose state in git counts.
    pub git: Vec<String>,
}

/// A process to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessQuestion {
    /// Its number.
    pub pid: u32,
    /// Its start, as the claim names it.
    pub pid_start: Option<String>,
}

/// Whether the session of a claim still works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Life {
    /// It showed itself lately, or nothing speaks against it.
    Live,
    /// No sign of it for the quiet time.
    Quiet,
    /// Its process is gone on this host.
    Dead,
}

/// A claim as people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClaimView {
    /// The claim.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", ts(flatten))]
    pub claim: Claim,
    /// Whether its session still works.
    pub life: Life,
    /// Milliseconds since it was started; `null` where the row's time cannot be read.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub age_ms: Option<u64>,
    /// Milliseconds since the last sign of it.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub quiet_ms: Option<u64>,
    /// The command that frees it, for a quiet or a dead one.
    pub free_with: Option<String>,
}

/// Minutes without a sign after which a claim is quiet, where nothing else is configured.
pub const QUIET_MINUTES: u32 = 30;

/// What has to be looked at to judge claims, seen from `host`.
pub(crate) fn questions<'c>(claims: impl Iterator<Item = &'c Claim>, host: Option<&str>) -> Needs {
    // A session that holds several stages is looked at once.
    let (mut processes, mut sessions) = (BTreeSet::new(), BTreeSet::new());
    for claim in claims {
        if let (Some(pid), true) = (claim.pid, is_here(claim, host)) {
            processes.insert((pid, claim.pid_start.as_deref()));
        }
        sessions.extend(claim.session.as_deref());
    }
    let question = |(pid, start): (u32, Option<&str>)| ProcessQuestion {
        pid,
        pid_start: start.map(str::to_owned),
    };
    Needs {
        processes: processes.into_iter().map(question).collect(),
        sessions: sessions.into_iter().map(str::to_owned).collect(),
        git: Vec::new(),
    }
}

fn is_here(claim: &Claim, host: Option<&str>) -> bool {
    claim.host.is_some() && claim.host.as_deref() == host
}

/// A day, in milliseconds.
const DAY_MS: i64 = 86_400_000;

/// Judges a claim. `command` makes the command that frees a quiet or a dead one.
pub(crate) fn judge(
    claim: &Claim,
    sightings: &Sightings,
    host: Option<&str>,
    now: i64,
    quiet_minutes: u32,
    command: impl Fn(Life) -> String,
) -> ClaimView {
    // A time far ahead is no time of a clock that is a little wrong: it says nothing.
    let plausible = |at: &i64| *at <= now.saturating_add(DAY_MS);
    let started = time::epoch_ms(&claim.started_at).filter(plausible);
    let sign = claim.session.as_ref().and_then(|session| {
        let of = sightings.sessions.iter().filter(|sign| sign.session == *session);
        of.filter_map(|sign| time::epoch_ms(&sign.at)).filter(plausible).max()
    });
    // A clock that went backwards makes nothing older than now.
    let since = |at: Option<i64>| at.map(|at| u64::try_from(now.saturating_sub(at)).unwrap_or(0));
    let quiet_ms = since(started.max(sign));
    let resumed = claim.session.as_ref().is_some_and(|session| {
        let mut of = sightings.sessions.iter().filter(|sign| sign.session == *session);
        of.any(|sign| sign.process == Some(ProcessState::Alive))
    });
    let gone = is_here(claim, host)
        && !resumed
        && sightings.processes.iter().any(|fact| {
            Some(fact.pid) == claim.pid
                && fact.pid_start == claim.pid_start
                && fact.state == ProcessState::Gone
        });
    let life = if gone {
        Life::Dead
    } else if quiet_ms.is_none_or(|quiet| quiet >= u64::from(quiet_minutes) * 60_000) {
        Life::Quiet
    } else {
        Life::Live
    };
    ClaimView {
        claim: claim.clone(),
        life,
        age_ms: since(started),
        quiet_ms,
        free_with: (life != Life::Live).then(|| command(life)),
    }
}

/// How a caller stands to the claim of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// It is the caller's, or nobody can say whose it is.
    Own,
    /// The caller names another claim or session: its own was lost.
    Lost,
    /// The caller names neither a claim nor a session, and its process is another.
    Unknown,
}

/// Whether a caller may act for a claim. The id decides where the caller gives one, then the
/// session, then the process.
pub(crate) fn fence(caller: &Caller, claim: &Claim) -> Fence {
    if let Some(id) = &caller.claim_id {
        let own = claim.claim_id.as_ref() == Some(id);
        return if own { Fence::Own } else { Fence::Lost };
    }
    if let (Some(session), Some(held)) = (&caller.session, &claim.session) {
        return if same_session(caller, claim, session, held) { Fence::Own } else { Fence::Lost };
    }
    // A row of an older tool says nothing of its owner.
    if claim.claim_id.is_none() && claim.session.is_none() && claim.pid.is_none() {
        return Fence::Own;
    }
    let same_process = claim.pid.is_some()
        && claim.pid == caller.pid
        && claim.pid_start == caller.pid_start
        && claim.host == caller.host;
    if same_process {
        Fence::Own
    } else if caller.session.is_some() {
        Fence::Lost
    } else {
        Fence::Unknown
    }
}

/// Whether the claim is the caller's session's. Names of sessions are told apart by their host.
pub(crate) fn is_of_session(caller: &Caller, claim: &Claim) -> bool {
    match (&caller.session, &claim.session) {
        (Some(session), Some(held)) => same_session(caller, claim, session, held),
        _ => false,
    }
}

fn same_session(caller: &Caller, claim: &Claim, session: &str, held: &str) -> bool {
    let same_host = match (&caller.host, &claim.host) {
        (Some(here), Some(there)) => here == there,
        _ => true,
    };
    session == held && same_host
}
