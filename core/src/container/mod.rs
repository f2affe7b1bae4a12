//! What the finished stages make together, started in containers: which engine, which compose
//! file, under which name, and the record of what is up.
//!
//! The host looks for engines, assembles the worktree, runs compose and asks it for its state. What
//! it runs is decided here, as words.

mod engine;
mod files;
mod record;
mod refusal;
mod show;
mod up;

pub use engine::{EngineAnswer, EngineRequest, ProbeOutcome, Probed, container_engine};
pub use files::ComposeCandidate;
pub use record::{ContainerRecord, ContainerState};
pub use refusal::ContainerRefusal;
pub use show::{ContainerHealth, ContainerService, ContainerView, ShowRequest, container_show};
pub use up::{DownAnswer, DownRequest, Phase, UpAnswer, UpRequest, container_down, container_up};

use serde::Serialize;

use crate::decode::decode;
use crate::digest::sha256_hex;
use crate::error::OkstraError;
use crate::layout::{join, task_key_parts};
use crate::worktree::base::StageHead;

/// What is known of a task and its containers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ContainerFacts {
    /// `$OKSTRA_HOME`, its real path.
    pub home: String,
    /// The key of the task.
    pub task_key: String,
    /// The project's folder.
    pub project_root: String,
    /// The folder that stands for the project's in the assembled worktree.
    pub worktree: String,
    /// The branch that is checked out there.
    pub branch: String,
    /// The commit that the task started from.
    pub base: String,
    /// The commit with all finished stages.
    pub head: String,
    /// The finished stages with the commits that they ended with.
    pub stages: Vec<StageHead>,
    /// The text of the record, where there is one.
    pub record: Option<String>,
    /// What became of the process that a record names which says `starting`: `alive`, `gone` or
    /// `unknown`.
    pub starter: Option<String>,
    /// Those of the recorded files that are gone, the one with variables included.
    pub gone: Vec<String>,
    /// The time.
    pub now: String,
}

decode!(optional ContainerFacts {
    home, task_key, project_root, worktree, branch, base, head, stages, record, starter, gone,
    now
});

/// Where the containers of a task are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContainerPlace {
    /// The name of the compose project: no other task has it, nor this one with another folder of
    /// okstra.
    pub project: String,
    /// The file of the record.
    pub path: String,
    /// What is recorded.
    pub record: Option<ContainerRecord>,
    /// The files to look for in the commit, relative to the project's folder.
    pub files: Vec<String>,
    /// What asks the engine for the state of what is recorded.
    pub ps: Option<Vec<String>>,
}

/// Where the containers of a task are known, and what is recorded of them.
pub fn container_place(facts: &ContainerFacts) -> Result<ContainerPlace, OkstraError> {
    let project = project_name(&facts.home, &facts.task_key)?;
    let path = record_path(&facts.home, &project);
    let record = record::read(&path, facts)?;
    let ps = record.as_ref().and_then(|record| up::ps_words(facts, record));
    Ok(ContainerPlace { files: files::names(), project, path, record, ps })
}

/// The longest part of a project's name that a person recognises. It also goes into the names of
/// containers, which are host names of at most 63 characters.
const MOST_NAME: usize = 28;

/// The name of the compose project of a task. Compose takes lower-case letters, digits, `-` and `_`
/// only, so a hash tells the tasks apart whose names become the same by that.
fn project_name(home: &str, task_key: &str) -> Result<String, OkstraError> {
    let (_, group, id) = task_key_parts(task_key)?;
    let mut name = String::new();
    for ch in group.chars().chain(['-']).chain(id.chars()) {
        let ch = ch.to_ascii_lowercase();
        let plain = ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '_';
        if plain && name.len() < MOST_NAME {
            name.push(ch);
        } else if !plain && !name.ends_with('-') && !name.is_empty() {
            name.push('-');
        }
    }
    let name = name.trim_end_matches('-');
    let digest = sha256_hex(format!("{task_key}\0{home}").as_bytes());
    let hash = digest.get(..12).unwrap_or_default();
    let name = if name.is_empty() { "task" } else { name };
    Ok(format!("okstra-{name}-{hash}"))
}

fn record_path(home: &str, project: &str) -> String {
    join(home, &format!("containers/{project}.json"))
}

#[cfg(test)]
mod tests {
    use super::{ContainerFacts, container_place, project_name};

    fn name(key: &str) -> String {
        project_name("/h", key).unwrap_or_default()
    }

    #[test]
    fn names_that_compose_takes() {
        for (key, start) in [
            ("shop:web:login", "okstra-web-login-"),
            ("Shop:Web:LOGIN", "okstra-web-login-"),
            ("shop:web:로그인", "okstra-web-"),
            ("shop:결제:로그인", "okstra-task-"),
            ("s:-:_x", "okstra-_x-"),
            ("s:a..b:c d/e:f", "okstra-a-b-c-d-e-f-"),
            (
                "s:a:0123456789012345678901234567890123456789",
                "okstra-a-01234567890123456789012345-",
            ),
        ] {
            let name = name(key);
            let hash = name.strip_prefix(start).unwrap_or_else(|| panic!("{key}: {name}"));
            assert!(hash.len() == 12 && hash.bytes().all(|it| it.is_ascii_hexdigit()), "{name}");
            assert!(name.bytes().all(|it| it.is_ascii_lowercase()
                || it.is_ascii_digit()
                || it == b'-'
                || it == b'_'));
            assert!(name.len() <= 63);
        }
    }

    #[test]
    fn no_two_tasks_have_one_name() {
        let keys = ["s:web:login", "s:Web:login", "s:web:Login", "s:web-login:x", "s:web:login-x"];
        let mut names: Vec<String> = keys.iter().map(|key| name(key)).collect();
        names.push(project_name("/other", "s:web:login").unwrap_or_default());
        names.sort();
        names.dedup();
        assert_eq!(names.len(), keys.len() + 1);
        assert!(project_name("/h", "web:login").is_err());
    }

    #[test]
    fn the_place_of_the_record() {
        let facts = ContainerFacts {
            home: String::from("/h"),
            task_key: String::from("s:web:login"),
            ..ContainerFacts::default()
        };
        let place = container_place(&facts).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(place.path, format!("/h/containers/{}.json", place.project));
        assert_eq!((place.record, place.ps), (None, None));
    }
}
