//! Starting and stopping: the words for compose, and what is recorded.

use serde::Serialize;

use super::engine::{self, Engine};
use super::files::{self, ComposeCandidate};
use super::record::{self, ContainerRecord, ContainerState, RecordedStage};
use super::{ContainerFacts, ContainerRefusal, project_name, record_path};
use crate::decode::{decode, decode_words};
use crate::error::OkstraError;
use crate::layout::join;
use crate::stage::{Decision, Effect};

/// What is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum Phase {
    /// Nothing: it is only asked what would.
    Plan,
    /// Compose is started.
    Starting,
    /// Compose has ended well.
    Up,
    /// Compose has failed.
    Failed,
}

decode_words!(Phase {
    "plan" => Plan, "starting" => Starting, "up" => Up, "failed" => Failed
} Some(Self::Plan));

/// How it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct UpRequest {
    /// What is about to happen.
    pub phase: Phase,
    /// The engine.
    pub engine: String,
    /// The compose file that a person has named.
    pub file: Option<String>,
    /// The files of such names that are there.
    pub found: Vec<ComposeCandidate>,
    /// A file with variables for compose, absolute.
    pub env_file: Option<String>,
    /// The process of compose, once it is known.
    pub pid: Option<u32>,
    /// What tells it from a later one.
    pub pid_start: Option<String>,
    /// This machine.
    pub host: Option<String>,
    /// How compose ended.
    pub exit_code: Option<u32>,
}

decode!(UpRequest { phase, engine, file, found, env_file, pid, pid_start, host, exit_code });

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UpAnswer {
    /// The name of the compose project.
    pub project: String,
    /// The compose files, relative to the project's folder.
    pub files: Vec<String>,
    /// The program with its arguments.
    pub words: Vec<String>,
    /// The folder to start it in.
    pub folder: String,
    /// The variables that it gets, for the compose file.
    pub environment: Vec<(String, String)>,
    /// The file of the record.
    pub record: String,
}

/// Decides what is started and what is recorded of it. Fails with a [`ContainerRefusal`] where no
/// stage is finished, it is not certain which file is meant, or an earlier start is still at work.
pub fn container_up(
    facts: &ContainerFacts,
    request: &UpRequest,
) -> Result<Decision<UpAnswer>, OkstraError> {
    let project = project_name(&facts.home, &facts.task_key)?;
    let path = record_path(&facts.home, &project);
    let before = record::read(&path, facts)?;
    if matches!(request.phase, Phase::Plan | Phase::Starting) {
        not_starting(facts, before.as_ref())?;
    }
    let stages = stages(facts);
    if stages.is_empty() {
        return Err(ContainerRefusal::NothingFinished.into());
    }
    let engine = engine::named(&request.engine).ok_or_else(|| OkstraError::BadOptions {
        reason: format!("no engine is called '{}'", request.engine),
    })?;
    let files = files::choose(&facts.worktree, request.file.as_deref(), &request.found)?;
    let absolute: Vec<String> = files.iter().map(|file| join(&facts.worktree, file)).collect();
    let mut words = begin(engine, &project, &absolute, request.env_file.as_deref());
    // Images are made of the stages' files, so those of an earlier start are not these; what an
    // earlier compose file had and this one has not is stopped.
    words.extend(["up", "--detach", "--build", "--remove-orphans"].map(str::to_owned));
    let state = match request.phase {
        Phase::Plan => None,
        Phase::Starting => Some(ContainerState::Starting),
        Phase::Up => Some(ContainerState::Up),
        Phase::Failed => Some(ContainerState::Failed),
    };
    let effects = state.map(|state| {
        let starting = state == ContainerState::Starting;
        let record = ContainerRecord {
            task_key: facts.task_key.clone(),
            state,
            project: project.clone(),
            engine: engine.name.to_owned(),
            worktree: facts.worktree.clone(),
            branch: facts.branch.clone(),
            files: absolute,
            env_file: request.env_file.clone(),
            base: facts.base.clone(),
            head: facts.head.clone(),
            stages: stages.clone(),
            started_at: facts.now.clone(),
            pid: request.pid.filter(|_| starting),
            pid_start: request.pid_start.clone().filter(|_| starting),
            host: request.host.clone().filter(|_| starting),
            exit_code: request.exit_code.filter(|_| state == ContainerState::Failed),
        };
        record::write(path.clone(), facts, &record)
    });
    let answer = UpAnswer {
        project,
        files,
        words,
        folder: facts.worktree.clone(),
        environment: environment(facts, &stages),
        record: path,
    };
    let effects = effects.into_iter().collect();
    Ok(Decision::Decided { effects, answer, warnings: Vec::new() })
}

/// How it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct DownRequest {
    /// Whether the volumes go too, with what is in them.
    pub volumes: bool,
}

decode!(optional DownRequest { volumes });

/// What is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DownAnswer {
    /// What was started; `null` where nothing was.
    pub record: Option<ContainerRecord>,
    /// The program with its arguments; empty where there is nothing to stop.
    pub words: Vec<String>,
    /// The variables that it gets, for the compose file.
    pub environment: Vec<(String, String)>,
}

/// Decides how containers are stopped; the effects are for when that is done. Fails with a
/// [`ContainerRefusal`] where compose is still starting them, or cannot stop them without its file.
pub fn container_down(
    facts: &ContainerFacts,
    request: &DownRequest,
) -> Result<Decision<DownAnswer>, OkstraError> {
    let project = project_name(&facts.home, &facts.task_key)?;
    let path = record_path(&facts.home, &project);
    let (Some(record), Some(text)) = (record::read(&path, facts)?, facts.record.clone()) else {
        let answer = DownAnswer { record: None, words: Vec::new(), environment: Vec::new() };
        return Ok(Decision::Decided { effects: Vec::new(), answer, warnings: Vec::new() });
    };
    not_starting(facts, Some(&record))?;
    let engine = known(&path, &record)?;
    if let (Some(file), false) = (gone_file(facts, &record), engine.docker) {
        let (path, engine) = (file.clone(), engine.name.to_owned());
        return Err(ContainerRefusal::FileGone { path, engine }.into());
    }
    let mut words = begin_again(facts, engine, &record);
    words.extend(["down", "--remove-orphans"].map(str::to_owned));
    if request.volumes {
        words.push(String::from("--volumes"));
    }
    let started = ContainerFacts {
        worktree: record.worktree.clone(),
        base: record.base.clone(),
        head: record.head.clone(),
        ..facts.clone()
    };
    let environment = environment(&started, &record.stages);
    let effects = vec![Effect::Remove { path, if_unchanged: text }];
    let answer = DownAnswer { record: Some(record), words, environment };
    Ok(Decision::Decided { effects, answer, warnings: Vec::new() })
}

/// What asks the engine for the state of what is recorded.
pub(super) fn ps_words(facts: &ContainerFacts, record: &ContainerRecord) -> Option<Vec<String>> {
    let engine = engine::named(&record.engine)?;
    let mut words = begin_again(facts, engine, record);
    words.push(String::from("ps"));
    if engine.docker {
        // What has ended is shown as well; podman-compose shows it always, and does not know this.
        words.push(String::from("--all"));
    }
    words.extend(["--format", "json"].map(str::to_owned));
    Some(words)
}

/// A recorded compose file that is gone.
fn gone_file<'a>(facts: &ContainerFacts, record: &'a ContainerRecord) -> Option<&'a String> {
    record.files.iter().find(|file| facts.gone.contains(file))
}

/// The words that a call about what was started begins with, made of what is still there.
fn begin_again(facts: &ContainerFacts, engine: Engine, record: &ContainerRecord) -> Vec<String> {
    // Docker knows the containers of a project by its name.
    let is_needless = engine.docker && gone_file(facts, record).is_some();
    let files = if is_needless { &[][..] } else { record.files.as_slice() };
    let env_file = record.env_file.as_ref().filter(|file| !facts.gone.contains(file));
    begin(engine, &record.project, files, env_file.map(String::as_str))
}

/// The words that every call about a project begins with. No files are named where there are none.
fn begin(engine: Engine, project: &str, files: &[String], env_file: Option<&str>) -> Vec<String> {
    let mut words: Vec<String> = engine.compose.iter().map(|&word| word.to_owned()).collect();
    words.extend([String::from("-p"), project.to_owned()]);
    for file in files {
        words.extend([String::from("-f"), file.clone()]);
    }
    // The folder of the first file, as without the option. Podman's programs do not all know it.
    let folder = files.first().and_then(|file| Some(file.rsplit_once('/')?.0));
    if let (Some(folder), true) = (folder, engine.docker) {
        words.extend([String::from("--project-directory"), folder.to_owned()]);
    }
    if let (Some(file), false) = (env_file, files.is_empty()) {
        words.extend([String::from("--env-file"), file.to_owned()]);
    }
    words
}

/// The variables for the compose file.
fn environment(facts: &ContainerFacts, stages: &[RecordedStage]) -> Vec<(String, String)> {
    let list: Vec<String> = stages.iter().map(|it| it.stage.to_string()).collect();
    let pairs = [
        ("OKSTRA_TASK_KEY", facts.task_key.clone()),
        ("OKSTRA_PROJECT_ROOT", facts.project_root.clone()),
        ("OKSTRA_WORKTREE", facts.worktree.clone()),
        ("OKSTRA_BASE", facts.base.clone()),
        ("OKSTRA_HEAD", facts.head.clone()),
        ("OKSTRA_STAGES", list.join(",")),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The finished stages that have a commit.
pub(super) fn stages(facts: &ContainerFacts) -> Vec<RecordedStage> {
    let with_head = |it: &crate::worktree::base::StageHead| {
        let head = it.head.clone().filter(|head| !head.is_empty())?;
        Some(RecordedStage { stage: it.stage, head })
    };
    facts.stages.iter().filter_map(with_head).collect()
}

/// Refuses while the compose of an earlier start is at work: two of them would undo each other.
fn not_starting(
    facts: &ContainerFacts,
    record: Option<&ContainerRecord>,
) -> Result<(), ContainerRefusal> {
    match record {
        Some(record)
            if record.state == ContainerState::Starting
                && facts.starter.as_deref() == Some("alive") =>
        {
            Err(ContainerRefusal::StillStarting { pid: record.pid })
        }
        _ => Ok(()),
    }
}

fn known(path: &str, record: &ContainerRecord) -> Result<Engine, ContainerRefusal> {
    engine::named(&record.engine).ok_or_else(|| ContainerRefusal::Broken {
        path: path.to_owned(),
        reason: format!("no engine is called '{}'", record.engine),
    })
}

#[cfg(test)]
mod tests {
    use super::{DownRequest, Phase, UpRequest, container_down, container_up};
    use crate::container::{ComposeCandidate, ContainerFacts, ContainerState, container_place};
    use crate::stage::{Decision, Effect};
    use crate::worktree::base::StageHead;

    fn facts() -> ContainerFacts {
        let text = str::to_owned;
        ContainerFacts {
            home: text("/h"),
            task_key: text("s:web:login"),
            project_root: text("/p"),
            worktree: text("/w"),
            branch: text("feat-login"),
            base: text("b0"),
            head: text("h0"),
            stages: vec![StageHead { stage: 1, head: Some(text("c1")) }],
            record: None,
            starter: None,
            gone: Vec::new(),
            now: text("2026-01-02T03:04:05.000Z"),
        }
    }

    fn request(engine: &str, phase: Phase) -> UpRequest {
        UpRequest {
            phase,
            engine: engine.to_owned(),
            file: None,
            found: vec![ComposeCandidate {
                path: String::from("compose.yaml"),
                link: None,
                real: None,
            }],
            env_file: None,
            pid: Some(7),
            pid_start: Some(String::from("9")),
            host: Some(String::from("here")),
            exit_code: Some(1),
        }
    }

    /// The words, and the text that is recorded.
    fn up(facts: &ContainerFacts, request: &UpRequest) -> Result<(Vec<String>, String), String> {
        match container_up(facts, request).map_err(|error| error.to_string())? {
            Decision::Decided { effects, answer, .. } => {
                let text = effects.into_iter().next().map_or_else(String::new, |it| match it {
                    Effect::Replace { text, .. } => text,
                    other => panic!("{other:?}"),
                });
                Ok((answer.words, text))
            }
            Decision::Needs { .. } => panic!("nothing has to be looked at"),
        }
    }

    #[test]
    fn the_words() {
        let project = container_place(&facts()).map(|it| it.project).unwrap_or_default();
        let tail = "up --detach --build --remove-orphans";
        for (engine, wanted) in [
            (
                "docker",
                format!(
                    "docker compose -p {project} -f /w/compose.yaml --project-directory /w {tail}"
                ),
            ),
            (
                "docker-compose",
                format!(
                    "docker-compose -p {project} -f /w/compose.yaml --project-directory /w {tail}"
                ),
            ),
            ("podman", format!("podman compose -p {project} -f /w/compose.yaml {tail}")),
            ("podman-compose", format!("podman-compose -p {project} -f /w/compose.yaml {tail}")),
        ] {
            let (words, text) = up(&facts(), &request(engine, Phase::Plan)).unwrap_or_default();
            assert_eq!((words.join(" "), text), (wanted, String::new()));
        }
        let mut named = request("docker", Phase::Plan);
        named.env_file = Some(String::from("/p/.env"));
        let (words, _) = up(&facts(), &named).unwrap_or_default();
        assert!(words.join(" ").contains("--env-file /p/.env up"), "{words:?}");
    }

    #[test]
    fn from_start_to_end() {
        let mut facts = facts();
        for (phase, state, pid, exit) in [
            (Phase::Starting, ContainerState::Starting, Some(7), None),
            (Phase::Failed, ContainerState::Failed, None, Some(1)),
            (Phase::Up, ContainerState::Up, None, None),
        ] {
            let (_, text) = up(&facts, &request("podman-compose", phase)).unwrap_or_default();
            facts.record = Some(text);
            let place = container_place(&facts).unwrap_or_else(|error| panic!("{error}"));
            let record = place.record.unwrap_or_else(|| panic!("a record"));
            assert_eq!((record.state, record.pid, record.exit_code), (state, pid, exit));
            assert!(
                place.ps.unwrap_or_default().join(" ").ends_with("compose.yaml ps --format json")
            );
        }
        let down = |gone: &[&str], volumes| {
            let gone = gone.iter().map(|&it| it.to_owned()).collect();
            let facts = ContainerFacts { gone, ..facts.clone() };
            match container_down(&facts, &DownRequest { volumes }) {
                Ok(Decision::Decided { effects, answer, .. }) => {
                    assert!(matches!(effects.as_slice(), [Effect::Remove { .. }]));
                    Ok(answer.words.join(" "))
                }
                Ok(Decision::Needs { .. }) => panic!("nothing has to be looked at"),
                Err(error) => Err(error.to_string()),
            }
        };
        let words = down(&[], true).unwrap_or_default();
        assert!(words.ends_with("-f /w/compose.yaml down --remove-orphans --volumes"), "{words}");
        let refused = down(&["/w/compose.yaml"], false);
        assert!(refused.is_err_and(|it| it.contains("cannot stop anything without it")));
    }

    #[test]
    fn what_is_gone_is_not_named() {
        let mut facts = facts();
        let mut named = request("docker", Phase::Up);
        named.env_file = Some(String::from("/p/.env"));
        let (_, text) = up(&facts, &named).unwrap_or_default();
        facts.record = Some(text);
        let file = "-f /w/compose.yaml --project-directory /w";
        for (gone, wanted) in [
            (vec![], format!("{file} --env-file /p/.env ")),
            (vec!["/p/.env"], format!("{file} ")),
            (vec!["/w/compose.yaml"], String::new()),
        ] {
            facts.gone = gone.into_iter().map(str::to_owned).collect();
            let Ok(Decision::Decided { answer, .. }) =
                container_down(&facts, &DownRequest::default())
            else {
                panic!("decided");
            };
            let place = container_place(&facts).unwrap_or_else(|error| panic!("{error}"));
            let start = format!("docker compose -p {} {wanted}", place.project);
            assert_eq!(answer.words.join(" "), format!("{start}down --remove-orphans"));
            let ps = place.ps.unwrap_or_default().join(" ");
            assert_eq!(ps, format!("{start}ps --all --format json"));
        }
    }

    #[test]
    fn an_earlier_start_is_not_disturbed() {
        let mut facts = facts();
        let (_, text) = up(&facts, &request("docker", Phase::Starting)).unwrap_or_default();
        facts.record = Some(text);
        for (state, fine) in [("alive", false), ("gone", true), ("unknown", true)] {
            facts.starter = Some(state.to_owned());
            assert_eq!(up(&facts, &request("docker", Phase::Starting)).is_ok(), fine);
            assert_eq!(container_down(&facts, &DownRequest::default()).is_ok(), fine);
            // The start itself goes on.
            assert!(up(&facts, &request("docker", Phase::Up)).is_ok());
        }
    }

    #[test]
    fn records_that_cannot_be_used() {
        let mut facts = facts();
        let (_, text) = up(&facts, &request("docker", Phase::Up)).unwrap_or_default();
        for (text, says) in [
            (String::from("{"), "not usable"),
            (String::from("{}"), "no schema_version"),
            (text.replace("\"schema_version\": 1", "\"schema_version\": 2"), "of version 2"),
            (text.replace("s:web:login", "s:web:other"), "of the task s:web:other"),
            (text.replace("\"up\"", "\"sideways\""), "must be one of"),
        ] {
            facts.record = Some(text);
            let refused = container_place(&facts).err().map(|it| it.to_string());
            assert!(refused.clone().is_some_and(|it| it.contains(says)), "{refused:?}");
        }
    }

    #[test]
    fn nothing_is_finished() {
        let mut facts = facts();
        facts.stages = vec![StageHead { stage: 1, head: None }];
        let refused = up(&facts, &request("docker", Phase::Plan)).err().unwrap_or_default();
        assert!(refused.contains("no stage is finished"), "{refused}");
    }
}
