//! What is up, as the record and the engine say it, and whether it is still what is finished.

use serde::Serialize;
use serde_json::Value;

use super::record::{self, ContainerRecord, ContainerState, RecordedStage};
use super::{ContainerFacts, project_name, record_path, up};
use crate::decode::decode;
use crate::error::OkstraError;

/// What the engine answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ShowRequest {
    /// What `ps` printed; missing where it could not be asked.
    pub ps: Option<String>,
    /// Whether nothing could be found out about the finished stages.
    pub without_plan: bool,
}

decode!(optional ShowRequest { ps, without_plan });

/// How the containers of a task are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ContainerHealth {
    /// Nothing was started.
    Down,
    /// Compose is at work.
    Starting,
    /// Whoever started them was killed meanwhile.
    Interrupted,
    /// Compose has failed.
    Failed,
    /// All of them run, or have ended well.
    Up,
    /// Some of them do not run.
    Partly,
    /// None of them is there any more.
    Gone,
    /// The engine could not be asked.
    Unknown,
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContainerService {
    /// The service of the compose file.
    pub service: String,
    /// The name of the container.
    pub name: String,
    /// What the engine says: `running`, `exited` …
    pub state: String,
    /// What its own check says, where it has one.
    pub health: Option<String>,
    /// How it ended, where it has.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub exit_code: Option<i64>,
    /// The ports of this machine that lead to it, as `8080->80/tcp`.
    pub ports: Vec<String>,
}

/// What is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContainerView {
    /// The task.
    pub task_key: String,
    /// How the containers are.
    pub health: ContainerHealth,
    /// What was started.
    pub record: Option<ContainerRecord>,
    /// The containers, by service.
    pub services: Vec<ContainerService>,
    /// Why they are not what is finished now, one line each.
    pub stale: Vec<String>,
}

/// Says what is up and whether it is what is finished now.
pub fn container_show(
    facts: &ContainerFacts,
    request: &ShowRequest,
) -> Result<ContainerView, OkstraError> {
    let project = project_name(&facts.home, &facts.task_key)?;
    let record = record::read(&record_path(&facts.home, &project), facts)?;
    let ps = request.ps.as_deref();
    let services = ps.map(services).unwrap_or_default();
    let health = match &record {
        None => ContainerHealth::Down,
        Some(record) => match record.state {
            ContainerState::Starting if facts.starter.as_deref() == Some("gone") => {
                ContainerHealth::Interrupted
            }
            ContainerState::Starting => ContainerHealth::Starting,
            ContainerState::Failed => ContainerHealth::Failed,
            ContainerState::Up if ps.is_none() => ContainerHealth::Unknown,
            ContainerState::Up if services.is_empty() => ContainerHealth::Gone,
            ContainerState::Up if services.iter().all(is_fine) => ContainerHealth::Up,
            ContainerState::Up => ContainerHealth::Partly,
        },
    };
    let mut stale = match &record {
        Some(record) if !request.without_plan => stale(record, &up::stages(facts)),
        _ => Vec::new(),
    };
    if let Some(record) = &record {
        if facts.head.is_empty() {
            stale.push(String::from("its worktree is gone"));
        } else if facts.head != record.head {
            let at = facts.head.get(..7).unwrap_or(&facts.head);
            stale.push(format!("its worktree is at {at} since"));
        }
    }
    Ok(ContainerView { task_key: facts.task_key.clone(), health, record, services, stale })
}

/// A container that is for one task only, as a migration of a database, may have ended.
fn is_fine(it: &ContainerService) -> bool {
    match it.state.as_str() {
        "running" => it.health.as_deref() != Some("unhealthy"),
        "exited" => it.exit_code == Some(0),
        _ => false,
    }
}

fn stale(record: &ContainerRecord, now: &[RecordedStage]) -> Vec<String> {
    let of = |list: &[RecordedStage], stage: u32| -> Option<String> {
        list.iter().find(|it| it.stage == stage).map(|it| it.head.clone())
    };
    let mut lines = Vec::new();
    for it in now {
        match of(&record.stages, it.stage) {
            None => lines.push(format!("stage {} is finished since", it.stage)),
            Some(head) if head != it.head => {
                lines.push(format!("stage {} has another commit since", it.stage));
            }
            Some(_) => {}
        }
    }
    for it in &record.stages {
        if of(now, it.stage).is_none() {
            lines.push(format!("stage {} is not finished any more", it.stage));
        }
    }
    lines
}

/// The containers in what `ps` printed: one list, or one object a line. What is neither is skipped.
fn services(text: &str) -> Vec<ContainerService> {
    let whole: Result<Value, _> = serde_json::from_str(text);
    let values: Vec<Value> = match whole {
        Ok(Value::Array(list)) => list,
        Ok(value) => vec![value],
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    let mut services: Vec<ContainerService> = values.iter().filter_map(service).collect();
    services.sort_by(|a, b| (&a.service, &a.name).cmp(&(&b.service, &b.name)));
    services
}

fn service(value: &Value) -> Option<ContainerService> {
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let label = |key: &str| value.get("Labels").and_then(|labels| text(labels, key));
    // Podman has a list of names, Docker one.
    let name = text(value, "Name").or_else(|| {
        let names = value.get("Names")?;
        names.as_str().or_else(|| names.get(0)?.as_str()).map(str::to_owned)
    })?;
    let service = text(value, "Service")
        .or_else(|| label("com.docker.compose.service"))
        .or_else(|| label("io.podman.compose.service"))
        .unwrap_or_else(|| name.clone());
    let state = text(value, "State").unwrap_or_default().to_lowercase();
    let ended = state == "exited" || state == "dead";
    Some(ContainerService {
        service,
        name,
        health: text(value, "Health").filter(|it| !it.is_empty()),
        exit_code: value.get("ExitCode").and_then(Value::as_i64).filter(|_| ended),
        ports: ports(value),
        state,
    })
}

/// The published ports; one that is published for IPv4 and IPv6 is named once.
fn ports(value: &Value) -> Vec<String> {
    let mut ports = Vec::new();
    let list = value.get("Publishers").or_else(|| value.get("Ports")).and_then(Value::as_array);
    for port in list.into_iter().flatten() {
        let number = |one: &str, other: &str| {
            port.get(one).or_else(|| port.get(other)).and_then(Value::as_u64).filter(|it| *it > 0)
        };
        let word = |one: &str, other: &str| {
            port.get(one).or_else(|| port.get(other)).and_then(Value::as_str)
        };
        let from = number("PublishedPort", "host_port");
        let (Some(from), Some(to)) = (from, number("TargetPort", "container_port")) else {
            continue;
        };
        let line = format!("{from}->{to}/{}", word("Protocol", "protocol").unwrap_or("tcp"));
        if !ports.contains(&line) {
            ports.push(line);
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::{ContainerHealth, is_fine, services, stale};
    use crate::container::record::{ContainerRecord, ContainerState, RecordedStage};

    #[test]
    fn what_engines_print() {
        // One object a line, one list, and podman's own list.
        let lines = concat!(
            r#"{"Name":"p-web-1","Service":"web","State":"running","Health":"healthy","ExitCode":0,"#,
            r#""Publishers":[{"URL":"0.0.0.0","TargetPort":80,"PublishedPort":8080,"Protocol":"tcp"},"#,
            r#"{"URL":"::","TargetPort":80,"PublishedPort":8080,"Protocol":"tcp"},"#,
            r#"{"URL":"","TargetPort":9000,"PublishedPort":0,"Protocol":"tcp"}]}"#,
            "\n",
            r#"{"Name":"p-db-1","Service":"db","State":"exited","Health":"","ExitCode":137}"#,
            "\n"
        );
        let list = format!("[{}]", lines.trim_end().replace('\n', ","));
        let podman = concat!(
            r#"[{"Names":["p_web_1"],"Labels":{"io.podman.compose.service":"web"},"#,
            r#""State":"running","ExitCode":0,"#,
            r#""Ports":[{"host_ip":"","container_port":80,"host_port":8080,"range":1,"protocol":"tcp"}]},"#,
            r#"{"Names":["p_db_1"],"Labels":{"io.podman.compose.service":"db"},"#,
            r#""State":"Exited","ExitCode":137,"Ports":null}]"#
        );
        for text in [lines, &list, podman] {
            let found = services(text);
            let short: Vec<(&str, &str, Option<i64>, String)> = found
                .iter()
                .map(|it| (&*it.service, &*it.state, it.exit_code, it.ports.join(" ")))
                .collect();
            assert_eq!(
                short,
                [
                    ("db", "exited", Some(137), String::new()),
                    ("web", "running", None, String::from("8080->80/tcp"))
                ]
            );
            assert_eq!(found.iter().map(is_fine).collect::<Vec<_>>(), [false, true]);
        }
        for nothing in ["", "[]", "no such thing", "null", "{}"] {
            assert_eq!(services(nothing), []);
        }
        let one = services(r#"{"Name":"p-migrate-1","State":"exited","ExitCode":0}"#);
        assert_eq!((one.len(), one.first().is_some_and(is_fine)), (1, true));
        assert_ne!(ContainerHealth::Up, ContainerHealth::Partly);
    }

    #[test]
    fn what_is_not_what_is_finished() {
        let at = |stage, head: &str| RecordedStage { stage, head: head.to_owned() };
        let record = ContainerRecord {
            task_key: String::new(),
            state: ContainerState::Up,
            project: String::new(),
            engine: String::new(),
            worktree: String::new(),
            branch: String::new(),
            files: Vec::new(),
            env_file: None,
            base: String::new(),
            head: String::new(),
            stages: vec![at(1, "a"), at(2, "b"), at(3, "c")],
            started_at: String::new(),
            pid: None,
            pid_start: None,
            host: None,
            exit_code: None,
        };
        assert_eq!(stale(&record, &[at(1, "a"), at(2, "b"), at(3, "c")]), [""; 0]);
        assert_eq!(
            stale(&record, &[at(1, "a"), at(2, "x"), at(4, "d")]),
            [
                "stage 2 has another commit since",
                "stage 4 is finished since",
                "stage 3 is not finished any more"
            ]
        );
    }
}
