//! From a prompt to the command that works on it.

use serde::Serialize;

use super::headers::{DispatchHeaders, NO_WORD, dispatch_headers, header_line, is_word, quoted};
use super::judge::{PathFacts, PathKind};
use super::refusal::DispatchRefusal;
use super::status::{Completion, DispatchState, DispatchStatus};
use super::workers::{self, Worker, duration, fill};
use super::{log_path, status_path};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::layout::relative_inside;

/// A prompt to dispatch, and what the host has seen of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct DispatchRequest {
    /// The prompt's name in messages.
    pub name: String,
    /// Its real absolute path.
    pub prompt: String,
    /// The id of this dispatch.
    pub id: String,
    /// The worker, before what the prompt says.
    pub cli: Option<String>,
    /// The role, before what the prompt says.
    pub role: Option<String>,
    /// How long the worker may work, such as `90m`.
    pub time_limit: Option<String>,
    /// How long it may take to end when it is asked to.
    pub grace: Option<String>,
    /// The real folder of the run it belongs to, where it is named.
    pub run: Option<String>,
    /// The number of the run in its folder, where it is known.
    pub sequence: Option<u32>,
    /// The JSON text of `workers` in the person's settings; empty where nothing is set.
    pub workers: String,
    /// The file of the settings.
    pub config: String,
    /// The real folder of okstra's own worktrees.
    pub worktrees: String,
    /// What lies at the paths that the headers name.
    pub seen: Vec<PathFacts>,
}

decode!(optional DispatchRequest {
    name, prompt, id, cli, role, time_limit, grace, run, sequence, workers, config, worktrees, seen
});

/// How a worker is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DispatchLaunch {
    /// What the status file begins with.
    pub record: DispatchStatus,
    /// The status file.
    pub status: String,
    /// Variables that are set in the worker's environment.
    pub environment: Vec<(String, String)>,
    /// Variables that are taken out of it.
    pub without: Vec<String>,
    /// What to do where there is no such program.
    pub help: String,
}

/// What belongs to the session that dispatches. A worker that had it would speak for that session:
/// its hooks would keep and give back the session's stage, Claude Code refuses to start inside
/// itself, and the pane of tmux is the lead's.
const SESSIONS: [&str; 7] = [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "OKSTRA_CLAIM_ID",
    "OKSTRA_SESSION",
    "TMUX",
    "TMUX_PANE",
];

/// Decides how a prompt is worked on. Nothing is started where anything about it is wrong.
pub fn plan_dispatch(
    source: &[u8],
    request: &DispatchRequest,
) -> Result<DispatchLaunch, OkstraError> {
    let headers = dispatch_headers(source, &request.name)?;
    let bad = |fault: String| DispatchRefusal::BadPrompt {
        prompt: request.name.clone(),
        lines: vec![format!("{}: {fault}", request.name)],
    };
    let cli = request.cli.as_ref().or(headers.cli.as_ref()).map_or("claude", String::as_str);
    let role = request.role.as_ref().or(headers.role.as_ref()).map_or("worker", String::as_str);
    if !is_word(role) {
        return Err(bad(format!("the role {} {NO_WORD}", quoted(role))).into());
    }
    let worker = workers::find(cli, &request.workers, &request.config)?;
    let time_limit = request.time_limit.as_deref().unwrap_or(&worker.time_limit);
    let time_limit_s =
        duration(time_limit).map_err(|fault| bad(format!("the time limit {fault}")))?;
    let grace = request.grace.as_deref().unwrap_or(&worker.grace);
    let grace_s = duration(grace).map_err(|fault| bad(format!("the grace {fault}")))?;

    let places = places(source, &headers, request)?;
    let value = |name: &str| {
        Some(match name {
            "worktree" => places.worktree.clone(),
            "project" => places.project.clone(),
            "result" => places.result.clone(),
            "result_folder" => folder_of(&places.result).to_owned(),
            "prompt" => request.prompt.clone(),
            "model" => headers.model.clone().unwrap_or_default(),
            "time_limit" => format!("{time_limit_s}s"),
            _ => return None,
        })
    };
    let Worker { command, model_arguments, environment, .. } = worker;
    let model_arguments = if headers.model.is_some() { model_arguments } else { Vec::new() };
    let command = command
        .iter()
        .chain(&model_arguments)
        .map(|word| fill(word, &value))
        .collect::<Result<Vec<String>, String>>()
        .map_err(bad)?;

    let mut environment = environment;
    environment.push((String::from("OKSTRA_DISPATCH"), request.id.clone()));
    let program = command.first().map_or("", String::as_str);
    let help = format!(
        "install it, or name another command as workers.{cli}.command in {}",
        request.config
    );
    Ok(DispatchLaunch {
        status: status_path(&request.prompt),
        without: SESSIONS.iter().map(|name| (*name).to_owned()).collect(),
        environment,
        help: if program.contains('/') {
            format!("correct workers.{cli}.command in {}", request.config)
        } else {
            help
        },
        record: DispatchStatus {
            schema_version: 1,
            id: request.id.clone(),
            state: DispatchState::Starting,
            cli: cli.to_owned(),
            role: role.to_owned(),
            model: headers.model,
            prompt: request.prompt.clone(),
            log: log_path(&request.prompt),
            project: places.project,
            worktree: places.worktree,
            run: request.run.clone(),
            sequence: request.sequence,
            attempt: 1,
            command,
            completion: places.completion,
            time_limit_s,
            grace_s,
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
        },
    })
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| if folder.is_empty() { "/" } else { folder })
}

/// The real paths of what the headers name.
struct Places {
    project: String,
    worktree: String,
    result: String,
    completion: Vec<Completion>,
}

fn places(
    source: &[u8],
    headers: &DispatchHeaders,
    request: &DispatchRequest,
) -> Result<Places, DispatchRefusal> {
    let mut lines = Vec::new();
    let mut fault = |header: &str, path: &str, what: &str| {
        let line = header_line(source, header, path);
        lines.push(format!("{}:{line}: {} {what}", request.name, quoted(path)));
    };
    let nowhere = PathFacts::default();
    let seen = |path: &str| request.seen.iter().find(|it| it.path == path).unwrap_or(&nowhere);

    let project = seen(&headers.project);
    if project.kind != PathKind::Folder {
        fault("Project Root", &headers.project, "is no folder");
    }
    let worktree = seen(&headers.worktree);
    let inside =
        |folder: &str, path: &str| !folder.is_empty() && relative_inside(folder, path).is_some();
    if worktree.kind != PathKind::Folder {
        fault("Worktree", &headers.worktree, "is no folder");
    } else if !inside(&project.real, &worktree.real) && !inside(&request.worktrees, &worktree.real)
    {
        fault(
            "Worktree",
            &headers.worktree,
            "lies outside of the project and is no worktree of okstra",
        );
    }
    let mut completion: Vec<Completion> = Vec::new();
    let own = [request.prompt.clone(), log_path(&request.prompt), status_path(&request.prompt)];
    let all = std::iter::once(("Result Path", &headers.result))
        .chain(headers.completion.iter().map(|path| ("Completion Path", path)));
    for (header, path) in all {
        let place = seen(path);
        // Of the real path: a link must not lead out of the project where its name does not.
        let is_inside = inside(&project.real, &place.real) || inside(&worktree.real, &place.real);
        if place.real.is_empty() || !is_inside {
            fault(header, path, "lies outside of the project and of the worktree");
        } else if !matches!(place.kind, PathKind::Missing | PathKind::File | PathKind::Empty)
            || path.ends_with('/')
        {
            fault(header, path, "is no file");
        } else if own.contains(&place.real) {
            fault(header, path, "is kept by okstra itself; name another file");
        } else if !completion.iter().any(|it| it.path == place.real) {
            completion.push(Completion { path: place.real.clone(), before: place.mark.clone() });
        }
    }
    if !lines.is_empty() {
        return Err(DispatchRefusal::BadPrompt { prompt: request.name.clone(), lines });
    }
    Ok(Places {
        project: project.real.clone(),
        worktree: worktree.real.clone(),
        result: seen(&headers.result).real.clone(),
        completion,
    })
}

#[cfg(test)]
mod tests {
    use super::{DispatchRequest, PathFacts, PathKind, plan_dispatch};

    fn place(path: &str, real: &str, kind: PathKind) -> PathFacts {
        PathFacts {
            path: path.to_owned(),
            real: real.to_owned(),
            kind,
            mark: (kind == PathKind::File).then(|| String::from("1")),
        }
    }

    fn request(more: Vec<PathFacts>) -> DispatchRequest {
        let mut seen = more;
        seen.extend([
            place("/p", "/p", PathKind::Folder),
            place("/p/w", "/p/w", PathKind::Folder),
            place("/p/r.md", "/p/r.md", PathKind::Missing),
        ]);
        DispatchRequest {
            name: String::from("o.md"),
            prompt: String::from("/p/.okstra/tasks/g/t/runs/implementation/stage-1/prompts/o.md"),
            id: String::from("abc"),
            config: String::from("/h/config.json"),
            worktrees: String::from("/h/worktrees"),
            seen,
            ..DispatchRequest::default()
        }
    }

    fn prompt(result: &str, worktree: &str, model: &str) -> String {
        format!(
            "**Project Root:** /p\n**Result Path:** {result}\n**Model:** {model}\n**Worktree:** {worktree}\n"
        )
    }

    #[test]
    fn a_command_is_a_list_of_words() {
        let launch = plan_dispatch(
            prompt("r.md", "w", "o 3").as_bytes(),
            &DispatchRequest {
                cli: Some(String::from("codex")),
                run: Some(String::from("/p/.okstra/tasks/g/t/runs/implementation/stage-1")),
                ..request(Vec::new())
            },
        )
        .unwrap();
        let record = launch.record;
        let wanted = "codex|exec|--cd|/p/w|--sandbox|workspace-write|--add-dir|/p|-|--model|o 3";
        assert_eq!(record.command.join("|"), wanted);
        assert_eq!(record.run.as_deref(), Some("/p/.okstra/tasks/g/t/runs/implementation/stage-1"));
        assert_eq!((record.time_limit_s, record.grace_s), (14_400, 10));
        assert!(launch.without.contains(&String::from("OKSTRA_SESSION")));
        let own = plan_dispatch(prompt("r.md", "w", "default").as_bytes(), &request(Vec::new()));
        assert!(!own.unwrap().record.command.contains(&String::from("--model")));
    }

    #[test]
    fn what_lies_elsewhere_is_refused() {
        let w = "w";
        for (result, worktree, seen, wanted) in [
            (
                "/etc/x",
                w,
                vec![place("/etc/x", "/etc/x", PathKind::Missing)],
                "o.md:2: '/etc/x' lies outside of the project and of the worktree",
            ),
            (
                "../x",
                w,
                vec![place("/p/../x", "/x", PathKind::Missing)],
                "o.md:2: '/p/../x' lies outside of the project and of the worktree",
            ),
            (
                "link/x",
                w,
                vec![place("/p/link/x", "/elsewhere/x", PathKind::File)],
                "o.md:2: '/p/link/x' lies outside of the project and of the worktree",
            ),
            (
                "dir",
                w,
                vec![place("/p/dir", "/p/dir", PathKind::Folder)],
                "o.md:2: '/p/dir' is no file",
            ),
            (
                "log",
                w,
                vec![place(
                    "/p/log",
                    "/p/.okstra/tasks/g/t/runs/implementation/stage-1/prompts/o.md.log",
                    PathKind::Missing,
                )],
                "o.md:2: '/p/log' is kept by okstra itself; name another file",
            ),
            (
                "r.md",
                "/o",
                vec![place("/o", "/o", PathKind::Folder)],
                "o.md:4: '/o' lies outside of the project and is no worktree of okstra",
            ),
            ("r.md", "none", Vec::new(), "o.md:4: '/p/none' is no folder"),
        ] {
            let error = plan_dispatch(prompt(result, worktree, "-").as_bytes(), &request(seen));
            let lines = error.unwrap_err().info().details.lines.unwrap_or_default();
            assert_eq!(lines.join("\n"), wanted);
        }
        let seen = vec![place("/h/worktrees/a/b", "/h/worktrees/a/b", PathKind::Folder)];
        assert!(
            plan_dispatch(prompt("r.md", "/h/worktrees/a/b", "-").as_bytes(), &request(seen))
                .is_ok()
        );
    }
}
