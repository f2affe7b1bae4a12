//! What has become of a dispatch: every change of its status file, and how it has ended.

use serde::Serialize;
use serde_json::Value;

use super::refusal::DispatchRefusal;
use super::status::{DispatchState, DispatchStatus, MissingPath, ProcessRef};
use crate::claims::ProcessState;
use crate::decode::{decode, decode_words};
use crate::error::{ExitStatus, OkstraError};
use crate::layout::relative_inside;
use crate::lead::event_log;
use crate::stage::{Decision, Effect};
use crate::time;

/// What has happened to a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum DispatchEventKind {
    /// It is asked for.
    Begin,
    /// Its worker was started, or was found by who takes it over.
    Running,
    /// Another supervisor looks after it.
    Adopt,
    /// Its worker was asked to end.
    Stopping,
    /// Its worker has ended.
    Ended,
    /// Its worker could not be started.
    Unstartable,
    /// Nothing: somebody looks.
    Look,
}

decode_words!(DispatchEventKind {
    "begin" => Begin,
    "running" => Running,
    "adopt" => Adopt,
    "stopping" => Stopping,
    "ended" => Ended,
    "unstartable" => Unstartable,
    "look" => Look
} None);

/// What lies at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum PathKind {
    /// Nothing.
    #[default]
    Missing,
    /// A regular file.
    File,
    /// A regular file with nothing in it.
    Empty,
    /// A folder.
    Folder,
    /// Something else.
    Other,
}

decode_words!(PathKind {
    "missing" => Missing,
    "file" => File,
    "empty" => Empty,
    "folder" => Folder,
    "other" => Other
} Some(Self::Missing));

/// What the host has seen at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathFacts {
    /// The path as it was asked for.
    pub path: String,
    /// The same without links.
    pub real: String,
    /// What lies there.
    pub kind: PathKind,
    /// What tells a file from what it was before: it differs once somebody has written to it.
    pub mark: Option<String>,
}

decode!(optional PathFacts { path, real, kind, mark });

/// What has happened to a dispatch, with what the host knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct DispatchEvent {
    /// What has happened.
    pub kind: DispatchEventKind,
    /// The status file.
    pub path: String,
    /// Its text; missing where there is none.
    pub text: Option<String>,
    /// Now, in ISO 8601 with its zone.
    pub now: String,
    /// What it is to begin with: the record of the launch.
    pub record: Option<DispatchStatus>,
    /// Whether a complete one is dispatched once more.
    pub again: bool,
    /// The supervisor that begins or adopts it, or the worker that runs.
    pub process: Option<ProcessRef>,
    /// What has become of the supervisor in the file.
    pub supervisor: Option<ProcessState>,
    /// What has become of the worker in the file.
    pub worker: Option<ProcessState>,
    /// Why the worker is asked to end (`time-limit`, `request`) or could not be started.
    pub reason: Option<String>,
    /// Whether its end was seen.
    pub observed: bool,
    /// The status that the worker ended with.
    pub exit_code: Option<u32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// The number of that signal on the host's system.
    pub signal_number: Option<u32>,
    /// What lies at the paths that have to be there.
    pub seen: Vec<PathFacts>,
    /// Processes of the worker that could not be ended.
    pub left: Vec<u32>,
    /// The text of the run's event log, empty where there is none; missing where its rows are
    /// not wanted now.
    pub log: Option<String>,
}

decode!(DispatchEvent {
    kind,
    path,
    text,
    now,
    record,
    again,
    process,
    supervisor,
    worker,
    reason,
    observed,
    exit_code,
    signal,
    signal_number,
    seen,
    left,
    log
});

/// How a dispatch stands, as somebody sees it who looks from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Standing {
    /// It is over.
    Ended,
    /// Its supervisor looks after it.
    Running,
    /// Its supervisor is gone, and its worker works on.
    Orphaned,
    /// Both are gone, and nobody has said how it ended.
    Unseen,
    /// It cannot be judged from here.
    Unknown,
}

/// A dispatch as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DispatchAnswer {
    /// The status.
    pub status: DispatchStatus,
    /// How it stands.
    pub standing: Standing,
    /// How a command ends that has waited for it alone.
    pub exit_status: u32,
    /// How it stands, in words.
    pub words: String,
    /// The title of its trace pane, once the worker is known.
    pub title: Option<String>,
}

/// Decides what an event makes of a dispatch. The effects replace the status file and append to
/// the run's event log; each row is written once, whoever asks and however often.
pub fn judge_dispatch(event: &DispatchEvent) -> Result<Decision<DispatchAnswer>, OkstraError> {
    let before = match &event.text {
        Some(text) => Some(DispatchStatus::read(text, &event.path)?),
        None => None,
    };
    let status = match (event.kind, before) {
        (DispatchEventKind::Begin, before) => begin(event, before.as_ref())?,
        (_, None) => return Err(DispatchRefusal::NoDispatch { path: event.path.clone() }.into()),
        (_, Some(before)) => changed(event, before),
    };
    let mut effects = Vec::new();
    let text = status.text();
    if event.kind != DispatchEventKind::Look && event.text.as_ref() != Some(&text) {
        effects.push(Effect::Replace {
            path: event.path.clone(),
            text,
            if_unchanged: event.text.clone(),
        });
    }
    effects.extend(rows(event, &status));
    let standing = standing(event, &status);
    let answer = DispatchAnswer {
        exit_status: exit_status(&status, standing),
        words: words(&status, standing),
        title: status
            .worker
            .as_ref()
            .map(|worker| format!("{}-{}-{}-trace", status.cli, status.role, worker.pid)),
        standing,
        status,
    };
    Ok(Decision::Decided { effects, answer, warnings: Vec::new() })
}

/// What an event makes of a status.
fn changed(event: &DispatchEvent, mut status: DispatchStatus) -> DispatchStatus {
    match event.kind {
        DispatchEventKind::Running => {
            status.state = DispatchState::Running;
            status.worker.clone_from(&event.process);
            status.started_at.get_or_insert_with(|| event.now.clone());
        }
        DispatchEventKind::Adopt => status.supervisor.clone_from(&event.process),
        DispatchEventKind::Stopping => {
            status.state = DispatchState::Stopping;
            // The first reason is the one.
            if status.stopped_by.is_none() {
                status.stopped_by.clone_from(&event.reason);
            }
        }
        DispatchEventKind::Ended => end(event, &mut status),
        DispatchEventKind::Unstartable => {
            status.state = DispatchState::Failed;
            status.ended_at = Some(event.now.clone());
            status.reason.clone_from(&event.reason);
        }
        DispatchEventKind::Begin | DispatchEventKind::Look => {}
    }
    status
}

fn begin(
    event: &DispatchEvent,
    before: Option<&DispatchStatus>,
) -> Result<DispatchStatus, OkstraError> {
    let mut record = event.record.clone().ok_or_else(|| OkstraError::BadOptions {
        reason: String::from("the record of the launch is missing"),
    })?;
    record.attempt = before.map_or(1, |before| before.attempt.saturating_add(1));
    record.supervisor.clone_from(&event.process);
    if let Some(before) = before {
        let prompt = record.prompt.clone();
        let running = |by: String, orphaned| DispatchRefusal::Running {
            prompt: prompt.clone(),
            by,
            orphaned,
        };
        let worker = format!("by {}-{}", before.cli, before.role);
        match standing(event, before) {
            Standing::Running => return Err(running(worker, false).into()),
            Standing::Orphaned => {
                let by = format!("{worker}, whose supervisor is gone");
                return Err(running(by, true).into());
            }
            Standing::Unknown => {
                return Err(
                    running(format!("{worker}, as far as can be told from here"), false).into()
                );
            }
            Standing::Ended if before.state == DispatchState::Complete && !event.again => {
                let since = before.ended_at.clone().unwrap_or_default();
                return Err(DispatchRefusal::AlreadyComplete { prompt, since }.into());
            }
            Standing::Ended | Standing::Unseen => {}
        }
    }
    Ok(record)
}

/// The worker has ended: how.
fn end(event: &DispatchEvent, status: &mut DispatchStatus) {
    status.missing = missing(event, status);
    let is_whole = status.missing.is_empty();
    status.state = match status.stopped_by.as_deref() {
        Some("time-limit") => DispatchState::TimedOut,
        Some(_) => DispatchState::Stopped,
        // Nobody can say with which status. What it has left says whether it was done.
        None if !event.observed && is_whole => DispatchState::Complete,
        None if !event.observed => DispatchState::Lost,
        None if event.signal.is_some() => DispatchState::Killed,
        None if event.exit_code != Some(0) => DispatchState::Failed,
        None if is_whole => DispatchState::Complete,
        None => DispatchState::Incomplete,
    };
    status.ended_at = Some(event.now.clone());
    status.exit_code = event.exit_code;
    status.signal.clone_from(&event.signal);
    status.signal_number = event.signal_number;
    status.left.clone_from(&event.left);
}

/// What is not there, or not by this worker.
fn missing(event: &DispatchEvent, status: &DispatchStatus) -> Vec<MissingPath> {
    let nothing = PathFacts::default();
    status
        .completion
        .iter()
        .filter_map(|wanted| {
            let seen = event.seen.iter().find(|it| it.path == wanted.path).unwrap_or(&nothing);
            let reason = match seen.kind {
                PathKind::Missing => "is missing",
                PathKind::Empty => "is empty",
                PathKind::Folder | PathKind::Other => "is no file",
                // A link that somebody has put there since.
                PathKind::File if seen.real != wanted.path => "leads to another file",
                PathKind::File if wanted.before.is_some() && seen.mark == wanted.before => {
                    "is as it was before the start"
                }
                PathKind::File => return None,
            };
            Some(MissingPath { path: wanted.path.clone(), reason: reason.to_owned() })
        })
        .collect()
}

fn standing(event: &DispatchEvent, status: &DispatchStatus) -> Standing {
    use ProcessState::{Alive, Gone, Unknown};
    // Whoever reports what has happened is the supervisor.
    if status.state.is_final() {
        return Standing::Ended;
    }
    if !matches!(event.kind, DispatchEventKind::Look | DispatchEventKind::Begin) {
        return Standing::Running;
    }
    match (event.supervisor, event.worker) {
        (Some(Alive), _) => Standing::Running,
        (Some(Gone), Some(Alive)) => Standing::Orphaned,
        (Some(Gone), Some(Gone) | None) => Standing::Unseen,
        (Some(Gone), Some(Unknown)) | (Some(Unknown) | None, _) => Standing::Unknown,
    }
}

/// The rows of the event log that are due and not in it.
fn rows(event: &DispatchEvent, status: &DispatchStatus) -> Vec<Effect> {
    let (Some(log), Some(run)) = (&event.log, &status.run) else {
        return Vec::new();
    };
    let has = |name: &str| {
        log.lines().any(|line| {
            line.contains(&status.id)
                && serde_json::from_str::<Value>(line).is_ok_and(|row| {
                    row.get("event").and_then(Value::as_str) == Some(name)
                        && row.get("id").and_then(Value::as_str) == Some(status.id.as_str())
                })
        })
    };
    let text = |text: Option<&String>| text.cloned().map_or(Value::Null, Value::String);
    let number = |number: Option<u32>| number.map_or(Value::Null, Value::from);
    let prompt = relative_inside(&status.project, &status.prompt);
    let row = |at: &String, name: &str, more: Vec<(&str, Value)>| {
        let mut fields = vec![
            ("at", text(Some(at))),
            ("event", Value::from(name)),
            ("id", text(Some(&status.id))),
            ("cli", text(Some(&status.cli))),
            ("role", text(Some(&status.role))),
            ("model", text(status.model.as_ref())),
            ("prompt", text(prompt.as_ref().or(Some(&status.prompt)))),
            ("attempt", Value::from(status.attempt)),
        ];
        fields.extend(more);
        if let Some(sequence) = status.sequence {
            fields.push(("sequence", Value::from(sequence)));
        }
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        Effect::Append { path: event_log(run), line: Value::Object(fields.collect()).to_string() }
    };
    let mut rows = Vec::new();
    if let (Some(at), Some(worker)) = (&status.started_at, &status.worker)
        && !has(STARTED)
    {
        rows.push(row(at, STARTED, vec![("pid", Value::from(worker.pid))]));
    }
    if let (true, Some(at)) = (status.state.is_final(), &status.ended_at)
        && !has(ENDED)
    {
        let missing = status.missing.iter().map(|it| text(Some(&it.path))).collect();
        let more = vec![
            ("state", Value::from(status.state.name())),
            ("exit_code", number(status.exit_code)),
            ("signal", text(status.signal.as_ref())),
            ("missing", Value::Array(missing)),
        ];
        rows.push(row(at, ENDED, more));
    }
    rows
}

const STARTED: &str = "dispatch-started";
const ENDED: &str = "dispatch-ended";

/// Signals with the numbers they have everywhere.
const SIGNALS: [(&str, u32); 12] = [
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGILL", 4),
    ("SIGTRAP", 5),
    ("SIGABRT", 6),
    ("SIGFPE", 8),
    ("SIGKILL", 9),
    ("SIGSEGV", 11),
    ("SIGPIPE", 13),
    ("SIGALRM", 14),
    ("SIGTERM", 15),
];

/// A worker's own status is kept. The others are those that shells and `timeout` have.
fn exit_status(status: &DispatchStatus, standing: Standing) -> u32 {
    match status.state {
        DispatchState::Complete => 0,
        DispatchState::Starting | DispatchState::Running | DispatchState::Stopping => {
            match standing {
                Standing::Running => 0,
                // Nobody says how it goes on, which is no success.
                _ => u32::from(ExitStatus::Fault.code()),
            }
        }
        DispatchState::Incomplete => u32::from(ExitStatus::ContractViolated.code()),
        DispatchState::Failed => match status.exit_code {
            Some(code @ 1..=255) => code,
            _ => u32::from(ExitStatus::Fault.code()),
        },
        DispatchState::Killed => {
            let signal = status.signal.as_deref().unwrap_or_default();
            let known = SIGNALS.iter().find(|(name, _)| *name == signal).map(|(_, number)| *number);
            // An exit status is one byte.
            128 + status.signal_number.or(known).filter(|number| *number < 128).unwrap_or_default()
        }
        DispatchState::TimedOut => 124,
        DispatchState::Stopped => 143,
        DispatchState::Lost => u32::from(ExitStatus::Fault.code()),
    }
}

fn words(status: &DispatchStatus, standing: Standing) -> String {
    match standing {
        Standing::Ended => {}
        Standing::Running => return status.state.name().to_owned(),
        Standing::Orphaned => {
            return String::from("orphaned: the worker works on, its supervisor is gone");
        }
        Standing::Unseen => return String::from("ended while nobody looked"),
        Standing::Unknown => {
            return String::from("on another machine, or not to be judged from here");
        }
    }
    let mut words = match (status.state, &status.reason) {
        (DispatchState::Failed, Some(reason)) => format!("failed: {reason}"),
        (DispatchState::Failed, None) => {
            format!("failed: it ended with {}", status.exit_code.unwrap_or_default())
        }
        (DispatchState::Killed, _) => {
            format!("killed by {}", status.signal.as_deref().unwrap_or("a signal"))
        }
        (DispatchState::TimedOut, _) => String::from("timed out"),
        (DispatchState::Incomplete, _) => String::from("incomplete: it ended with 0"),
        (DispatchState::Complete, _) if status.exit_code.is_none() => {
            String::from("complete, by what it has left: nobody saw how it ended")
        }
        (DispatchState::Lost, _) => String::from("lost: nobody saw how it ended"),
        (state, _) => state.name().to_owned(),
    };
    if let (Some(from), Some(to)) = (
        status.started_at.as_deref().and_then(time::epoch_ms),
        status.ended_at.as_deref().and_then(time::epoch_ms),
    ) {
        words.push_str(" after ");
        words.push_str(&span(u64::try_from(to - from).unwrap_or_default() / 1000));
    }
    for path in &status.missing {
        let shown = relative_inside(&status.project, &path.path);
        let shown = shown.as_deref().unwrap_or(&path.path);
        words.extend(["; ", shown, " ", path.reason.as_str()]);
    }
    if !status.left.is_empty() {
        let left: Vec<String> = status.left.iter().map(u32::to_string).collect();
        words.extend(["; still there: process ", left.join(", ").as_str()]);
    }
    words
}

/// A time as people say it.
fn span(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Decision, DispatchAnswer, DispatchEvent, DispatchEventKind as Kind, DispatchState as State,
        DispatchStatus, Effect, PathFacts, PathKind, ProcessRef, ProcessState, Standing,
        judge_dispatch,
    };
    use crate::dispatch::Completion;

    fn record() -> DispatchStatus {
        DispatchStatus {
            schema_version: 1,
            id: String::from("abc"),
            state: State::Starting,
            cli: String::from("codex"),
            role: String::from("executor"),
            model: None,
            prompt: String::from("/p/runs/x/prompts/o.md"),
            log: String::from("/p/runs/x/prompts/o.md.log"),
            project: String::from("/p"),
            worktree: String::from("/p"),
            run: Some(String::from("/p/runs/x")),
            sequence: Some(2),
            attempt: 1,
            command: vec![String::from("codex")],
            completion: vec![Completion {
                path: String::from("/p/r.md"),
                before: Some(String::from("old")),
            }],
            time_limit_s: 60,
            grace_s: 10,
            supervisor: None,
            worker: None,
            started_at: None,
            ended_at: None,
            exit_code: None,
            signal: None,
            signal_number: None,
            stopped_by: None,
            missing: Vec::new(),
            left: Vec::new(),
            reason: None,
        }
    }

    fn process(pid: u32) -> ProcessRef {
        ProcessRef { pid, pid_start: Some(format!("start-{pid}")) }
    }

    fn event(kind: Kind, text: Option<String>) -> DispatchEvent {
        DispatchEvent {
            kind,
            path: String::from("/p/runs/x/prompts/o.md.status.json"),
            text,
            now: String::from("2026-01-01T00:01:05Z"),
            record: None,
            again: false,
            process: None,
            supervisor: None,
            worker: None,
            reason: None,
            observed: false,
            exit_code: None,
            signal: None,
            signal_number: None,
            seen: Vec::new(),
            left: Vec::new(),
            log: None,
        }
    }

    fn ask(event: &DispatchEvent) -> Result<(DispatchAnswer, Vec<Effect>), String> {
        match judge_dispatch(event) {
            Ok(Decision::Decided { answer, effects, .. }) => Ok((answer, effects)),
            Ok(Decision::Needs { .. }) => Err(String::from("needs")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn running() -> DispatchStatus {
        DispatchStatus {
            state: State::Running,
            supervisor: Some(process(1)),
            worker: Some(process(2)),
            started_at: Some(String::from("2026-01-01T00:00:00Z")),
            ..record()
        }
    }

    fn result(kind: PathKind, real: &str, mark: &str) -> Vec<PathFacts> {
        vec![PathFacts {
            path: String::from("/p/r.md"),
            real: real.to_owned(),
            kind,
            mark: Some(mark.to_owned()),
        }]
    }

    #[test]
    fn an_end_is_judged_by_status_and_files() {
        let fresh = || result(PathKind::File, "/p/r.md", "new");
        let none = Vec::new;
        for (stopped_by, code, signal, seen, wanted, status, words) in [
            (None, Some(0), None, fresh(), State::Complete, 0, "complete after 1 min 5 s"),
            (
                None,
                Some(0),
                None,
                none(),
                State::Incomplete,
                4,
                "incomplete: it ended with 0 after 1 min 5 s; r.md is missing",
            ),
            (
                None,
                Some(0),
                None,
                result(PathKind::File, "/p/r.md", "old"),
                State::Incomplete,
                4,
                "incomplete: it ended with 0 after 1 min 5 s; r.md is as it was before the start",
            ),
            (
                None,
                Some(0),
                None,
                result(PathKind::Empty, "/p/r.md", "new"),
                State::Incomplete,
                4,
                "incomplete: it ended with 0 after 1 min 5 s; r.md is empty",
            ),
            (
                None,
                Some(0),
                None,
                result(PathKind::File, "/etc/passwd", "new"),
                State::Incomplete,
                4,
                "incomplete: it ended with 0 after 1 min 5 s; r.md leads to another file",
            ),
            (
                None,
                Some(3),
                None,
                fresh(),
                State::Failed,
                3,
                "failed: it ended with 3 after 1 min 5 s",
            ),
            (
                None,
                None,
                Some("SIGSEGV"),
                fresh(),
                State::Killed,
                139,
                "killed by SIGSEGV after 1 min 5 s",
            ),
            (
                Some("time-limit"),
                Some(0),
                None,
                fresh(),
                State::TimedOut,
                124,
                "timed out after 1 min 5 s",
            ),
            (
                Some("request"),
                None,
                Some("SIGKILL"),
                fresh(),
                State::Stopped,
                143,
                "stopped after 1 min 5 s",
            ),
        ] {
            let before = DispatchStatus { stopped_by: stopped_by.map(String::from), ..running() };
            let ended = DispatchEvent {
                observed: true,
                exit_code: code,
                signal: signal.map(String::from),
                seen,
                ..event(Kind::Ended, Some(before.text()))
            };
            let (answer, effects) = ask(&ended).unwrap();
            assert_eq!(
                (answer.status.state, answer.exit_status, answer.words.as_str()),
                (wanted, status, words)
            );
            assert_eq!(answer.standing, Standing::Ended);
            // What was written is what is read.
            let [Effect::Replace { text, if_unchanged, .. }] = effects.as_slice() else {
                panic!("{effects:?}");
            };
            assert_eq!(if_unchanged.as_deref(), Some(before.text().as_str()));
            assert_eq!(DispatchStatus::read(text, "s"), Ok(answer.status));
        }
    }

    #[test]
    fn a_signal_is_told_by_its_number() {
        for (signal, signal_number, wanted) in [
            ("SIGPIPE", None, 141),
            ("SIGALRM", Some(14), 142),
            ("SIGUSR1", Some(10), 138),
            ("SIGUSR1", Some(30), 158),
            ("SIGUSR1", None, 128),
        ] {
            let ended = DispatchEvent {
                observed: true,
                signal: Some(signal.to_owned()),
                signal_number,
                ..event(Kind::Ended, Some(running().text()))
            };
            let (answer, _) = ask(&ended).unwrap();
            assert_eq!(answer.exit_status, wanted, "{signal} {signal_number:?}");
        }
    }

    #[test]
    fn an_unseen_end_is_judged_by_files_alone() {
        for (seen, wanted, status) in [
            (result(PathKind::File, "/p/r.md", "new"), State::Complete, 0),
            (Vec::new(), State::Lost, 5),
        ] {
            let ended = DispatchEvent { seen, ..event(Kind::Ended, Some(running().text())) };
            let (answer, _) = ask(&ended).unwrap();
            assert_eq!((answer.status.state, answer.exit_status), (wanted, status));
        }
    }

    #[test]
    fn who_looks_sees_what_is_alive() {
        use ProcessState::{Alive, Gone, Unknown};
        for (supervisor, worker, wanted) in [
            (Some(Alive), Some(Alive), Standing::Running),
            (Some(Alive), None, Standing::Running),
            (Some(Gone), Some(Alive), Standing::Orphaned),
            (Some(Gone), Some(Gone), Standing::Unseen),
            (Some(Gone), None, Standing::Unseen),
            (Some(Gone), Some(Unknown), Standing::Unknown),
            (Some(Unknown), Some(Gone), Standing::Unknown),
            (None, None, Standing::Unknown),
        ] {
            let look =
                DispatchEvent { supervisor, worker, ..event(Kind::Look, Some(running().text())) };
            let (answer, effects) = ask(&look).unwrap();
            assert_eq!(answer.standing, wanted, "{supervisor:?} {worker:?}");
            assert_eq!(answer.exit_status == 0, wanted == Standing::Running);
            assert!(effects.is_empty());
            assert_eq!(answer.title.as_deref(), Some("codex-executor-2-trace"));
            // The same says whether it may begin anew.
            let begin = DispatchEvent {
                kind: Kind::Begin,
                record: Some(record()),
                process: Some(process(9)),
                ..look
            };
            assert_eq!(ask(&begin).is_ok(), wanted == Standing::Unseen);
        }
    }

    #[test]
    fn a_prompt_is_dispatched_once_at_a_time() {
        let begin = |before: Option<DispatchStatus>, again| DispatchEvent {
            record: Some(record()),
            process: Some(process(9)),
            again,
            ..event(Kind::Begin, before.map(|before| before.text()))
        };
        let (answer, effects) = ask(&begin(None, false)).unwrap();
        assert_eq!((answer.status.attempt, answer.status.supervisor), (1, Some(process(9))));
        assert!(matches!(effects.as_slice(), [Effect::Replace { if_unchanged: None, .. }]));
        let ended = |state| DispatchStatus {
            state,
            ended_at: Some(String::from("2026-01-01T00:00:00Z")),
            ..running()
        };
        for (state, again, wanted) in [
            (
                State::Complete,
                false,
                Err("/p/runs/x/prompts/o.md is complete since 2026-01-01T00:00:00Z"),
            ),
            (State::Complete, true, Ok(2)),
            (State::Failed, false, Ok(2)),
            (State::Lost, false, Ok(2)),
        ] {
            let asked = ask(&begin(Some(ended(state)), again)).map(|(it, _)| it.status.attempt);
            assert_eq!(asked.as_ref().copied().map_err(String::as_str), wanted);
        }
    }

    #[test]
    fn rows_are_written_once() {
        let whole = DispatchEvent {
            log: Some(String::new()),
            observed: true,
            exit_code: Some(0),
            ..event(Kind::Ended, Some(running().text()))
        };
        let lines = |event: &DispatchEvent| -> Vec<String> {
            let (_, effects) = ask(event).unwrap();
            effects
                .into_iter()
                .filter_map(|effect| match effect {
                    Effect::Append { path, line } => {
                        assert_eq!(path, "/p/runs/x/logs/lead-events.jsonl");
                        Some(line)
                    }
                    _ => None,
                })
                .collect()
        };
        let rows = lines(&whole);
        assert_eq!(
            rows,
            [
                r#"{"at":"2026-01-01T00:00:00Z","attempt":1,"cli":"codex","event":"dispatch-started","id":"abc","model":null,"pid":2,"prompt":"runs/x/prompts/o.md","role":"executor","sequence":2}"#,
                r#"{"at":"2026-01-01T00:01:05Z","attempt":1,"cli":"codex","event":"dispatch-ended","exit_code":0,"id":"abc","missing":["/p/r.md"],"model":null,"prompt":"runs/x/prompts/o.md","role":"executor","sequence":2,"signal":null,"state":"incomplete"}"#,
            ]
        );
        for (log, wanted) in
            [(Some(rows.join("\n")), 0), (Some(format!("torn\n{}", rows[0])), 1), (None, 0)]
        {
            assert_eq!(lines(&DispatchEvent { log, ..whole.clone() }).len(), wanted);
        }
    }

    #[test]
    fn the_first_reason_to_stop_stays() {
        let stop = |text: String, reason: &str| DispatchEvent {
            reason: Some(reason.to_owned()),
            ..event(Kind::Stopping, Some(text))
        };
        let (first, _) = ask(&stop(running().text(), "time-limit")).unwrap();
        let (second, effects) = ask(&stop(first.status.text(), "request")).unwrap();
        assert_eq!(second.status.stopped_by.as_deref(), Some("time-limit"));
        assert!(effects.is_empty());
    }

    #[test]
    fn a_status_file_of_somebody_else_is_refused() {
        for (text, wanted) in [
            (
                "{",
                "/p/runs/x/prompts/o.md.status.json: not usable: no JSON: EOF while parsing an object at line 1 column 1",
            ),
            ("{}", "/p/runs/x/prompts/o.md.status.json: not usable: it has no schema_version"),
            (
                r#"{"schema_version":2}"#,
                "/p/runs/x/prompts/o.md.status.json: not usable: version 2 is of a newer okstra",
            ),
            (
                r#"{"schema_version":1,"id":"a"}"#,
                "/p/runs/x/prompts/o.md.status.json: not usable: the field `state` is missing",
            ),
        ] {
            let look = ask(&event(Kind::Look, Some(text.to_owned())));
            assert_eq!(look.map(|_| ()), Err(wanted.to_owned()));
        }
        assert_eq!(
            ask(&event(Kind::Look, None)).map(|_| ()),
            Err(String::from(
                "/p/runs/x/prompts/o.md.status.json is not there: the prompt was never dispatched"
            ))
        );
    }
}
