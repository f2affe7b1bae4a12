//! Which engine starts the containers, and why the others cannot.

use serde::Serialize;

use super::ContainerRefusal;
use crate::decode::decode;
use crate::error::OkstraError;
use crate::printable::excerpt;

/// A program that starts what a compose file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Engine {
    /// What people call it here.
    pub name: &'static str,
    /// The words that every call begins with.
    pub compose: &'static [&'static str],
    /// What is not there when these words fail.
    part: &'static str,
    /// What answers only where the engine behind it can be reached.
    reach: &'static [&'static str],
    /// Whether it may be there without the program that asks.
    alone: bool,
    /// Whether it is told its project's folder, and knows a project without its file.
    pub docker: bool,
}

const DOCKER: &[&str] = &["docker", "version", "--format", "{{.Server.Version}}"];
const PODMAN: &[&str] = &["podman", "info", "--format", "{{.Version.Version}}"];

/// The engines, in the order in which they are tried.
const ENGINES: [Engine; 4] = [
    Engine {
        name: "docker",
        compose: &["docker", "compose"],
        part: "it has no compose plugin",
        reach: DOCKER,
        alone: false,
        docker: true,
    },
    Engine {
        name: "docker-compose",
        compose: &["docker-compose"],
        part: "it does not work",
        reach: DOCKER,
        alone: true,
        docker: true,
    },
    Engine {
        name: "podman",
        compose: &["podman", "compose"],
        part: "it has no compose provider",
        reach: PODMAN,
        alone: false,
        docker: false,
    },
    Engine {
        name: "podman-compose",
        compose: &["podman-compose"],
        part: "it does not work",
        reach: PODMAN,
        alone: false,
        docker: false,
    },
];

/// The engine of a name.
pub(super) fn named(name: &str) -> Option<Engine> {
    ENGINES.into_iter().find(|engine| engine.name == name)
}

/// What came of starting a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ProbeOutcome {
    /// Why there is no end of it: `missing`, `timeout`, or the system's code.
    pub fault: Option<String>,
    /// How it ended; missing where a signal ended it.
    pub status: Option<u32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

decode!(optional ProbeOutcome { fault, status, stdout, stderr });

/// An engine that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Probed {
    /// Its name.
    pub engine: String,
    /// What came of each of the words, in their order.
    pub outcomes: Vec<ProbeOutcome>,
}

decode!(Probed { engine, outcomes });

/// What is known of the engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct EngineRequest {
    /// The engine that a person asks for.
    pub engine: Option<String>,
    /// The engine that the record names.
    pub recorded: Option<String>,
    /// Those that were asked already.
    pub probed: Vec<Probed>,
    /// How many seconds each had.
    pub limit: u32,
}

decode!(EngineRequest { engine, recorded, probed, limit });

/// The engine to use, or the one to ask for next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum EngineAnswer {
    /// Start these programs and say what came of each.
    Probe {
        /// The engine.
        engine: String,
        /// The programs with their arguments.
        words: Vec<Vec<String>>,
    },
    /// This one.
    Use {
        /// The engine.
        engine: String,
        /// What it says of its version.
        version: String,
        /// Why the ones before it cannot be used, one line each.
        others: Vec<String>,
    },
}

/// The engine to use: the first that answers. What is recorded stays with its engine. Fails with a
/// [`ContainerRefusal`] where none answers, with the reason of each.
pub fn container_engine(request: &EngineRequest) -> Result<EngineAnswer, OkstraError> {
    let recorded = request.recorded.as_deref();
    let wanted = request.engine.as_deref().or(recorded);
    if let (Some(asked), Some(found)) = (request.engine.as_deref(), recorded)
        && asked != found
    {
        let (asked, found) = (asked.to_owned(), found.to_owned());
        return Err(ContainerRefusal::OtherEngine { asked, found }.into());
    }
    let mut reasons = Vec::new();
    for engine in ENGINES.iter().filter(|it| wanted.is_none_or(|wanted| wanted == it.name)) {
        let Some(probed) = request.probed.iter().find(|it| it.engine == engine.name) else {
            let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
            let mut version: Vec<String> = owned(engine.compose);
            version.push(String::from("version"));
            return Ok(EngineAnswer::Probe {
                engine: engine.name.to_owned(),
                words: vec![version, owned(engine.reach)],
            });
        };
        match judge(engine, &probed.outcomes, request.limit) {
            Ok(version) => {
                let engine = engine.name.to_owned();
                return Ok(EngineAnswer::Use { engine, version, others: reasons });
            }
            Err(reason) => reasons.push(format!("{}: {reason}", engine.name)),
        }
    }
    Err(ContainerRefusal::NoEngine { reasons, recorded: recorded.is_some() }.into())
}

/// What an engine says of its version, or why it cannot be used.
fn judge(engine: &Engine, outcomes: &[ProbeOutcome], limit: u32) -> Result<String, String> {
    let none = ProbeOutcome::default();
    let (version, reach) = (outcomes.first().unwrap_or(&none), outcomes.get(1).unwrap_or(&none));
    let fault = |outcome: &ProbeOutcome, words: String| match outcome.fault.as_deref() {
        Some("missing") => {
            let program = words.split(' ').next().unwrap_or_default().to_owned();
            let it = if program == engine.name { String::from("it") } else { program };
            Err(format!("{it} is not on the PATH"))
        }
        Some("timeout") => Err(format!("`{words}` did not answer within {limit} s")),
        Some(code) => Err(format!("`{words}` cannot be started ({code})")),
        None => Ok(()),
    };
    fault(version, format!("{} version", engine.compose.join(" ")))?;
    if version.status != Some(0) {
        return Err(format!("{}: {}", engine.part, said(version)));
    }
    let unknown = engine.alone && reach.fault.as_deref() == Some("missing");
    if !unknown {
        fault(reach, engine.reach.get(..2).unwrap_or_default().join(" "))?;
        if reach.status != Some(0) {
            return Err(format!("its daemon cannot be reached: {}", said(reach)));
        }
    }
    Ok(excerpt(first_line(&version.stdout), 80))
}

fn said(outcome: &ProbeOutcome) -> String {
    let text = [&outcome.stderr, &outcome.stdout].map(|text| first_line(text));
    match text.into_iter().find(|line| !line.is_empty()) {
        Some(line) => excerpt(line, 200),
        None => match outcome.status {
            Some(status) => format!("it ended with {status}"),
            None => String::from("a signal ended it"),
        },
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{EngineAnswer, EngineRequest, ProbeOutcome, Probed, container_engine};
    use crate::container::ContainerRefusal;
    use crate::error::OkstraError;

    fn ended(status: u32, stdout: &str, stderr: &str) -> ProbeOutcome {
        let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
        ProbeOutcome { fault: None, status: Some(status), stdout, stderr }
    }

    fn fault(name: &str) -> ProbeOutcome {
        ProbeOutcome { fault: Some(name.to_owned()), ..ProbeOutcome::default() }
    }

    /// Asks until it is decided; engines that are not listed are missing.
    fn asked(
        mut request: EngineRequest,
        there: &[(&str, ProbeOutcome, ProbeOutcome)],
    ) -> Result<(String, usize), OkstraError> {
        request.limit = 10;
        loop {
            match container_engine(&request)? {
                EngineAnswer::Use { engine, others, .. } => return Ok((engine, others.len())),
                EngineAnswer::Probe { engine, words } => {
                    assert_eq!(words.len(), 2);
                    let found = there.iter().find(|(name, ..)| *name == engine);
                    let outcomes = found.map_or_else(
                        || vec![fault("missing"), fault("missing")],
                        |(_, version, reach)| vec![version.clone(), reach.clone()],
                    );
                    request.probed.push(Probed { engine, outcomes });
                }
            }
        }
    }

    fn reasons(there: &[(&str, ProbeOutcome, ProbeOutcome)]) -> Vec<String> {
        match asked(EngineRequest::default(), there) {
            Err(OkstraError::Container(ContainerRefusal::NoEngine { reasons, .. })) => reasons,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_that_answers() {
        let fine = || ended(0, "Docker Compose version v2.29.1\n", "");
        for (there, wanted) in [
            (vec![("docker", fine(), fine())], ("docker", 0)),
            (vec![("docker-compose", fine(), fault("missing"))], ("docker-compose", 1)),
            (vec![("podman", fine(), fine()), ("podman-compose", fine(), fine())], ("podman", 2)),
            (
                vec![
                    ("podman", ended(125, "", "Error: looking up"), fine()),
                    ("podman-compose", fine(), fine()),
                ],
                ("podman-compose", 3),
            ),
        ] {
            let found = asked(EngineRequest::default(), &there).map_err(|it| it.to_string());
            assert_eq!(found, Ok((wanted.0.to_owned(), wanted.1)));
        }
    }

    #[test]
    fn every_reason_is_told() {
        let fine = || ended(0, "27.0\n", "");
        assert_eq!(reasons(&[])[0], "docker: it is not on the PATH");
        let plugin = "\ndocker: 'compose' is not a docker command.\nSee 'docker --help'\n";
        let found = reasons(&[
            ("docker", ended(1, "", plugin), fine()),
            ("docker-compose", fine(), ended(1, "\n", "Cannot connect to the \x1b[1mDocker")),
            ("podman", fine(), fault("timeout")),
            ("podman-compose", fault("EACCES"), fine()),
        ]);
        let wanted = [
            "docker: it has no compose plugin: docker: 'compose' is not a docker command.",
            "docker-compose: its daemon cannot be reached: Cannot connect to the  [1mDocker",
            "podman: `podman info` did not answer within 10 s",
            "podman-compose: `podman-compose version` cannot be started (EACCES)",
        ];
        for (found, wanted) in found.iter().zip(wanted) {
            assert_eq!(found.replace("  ", " "), wanted.replace("  ", " "));
        }
        let found = reasons(&[("podman-compose", fine(), fault("missing"))]);
        assert_eq!(found[3], "podman-compose: podman is not on the PATH");
    }

    #[test]
    fn what_is_up_stays_with_its_engine() {
        let fine = || ended(0, "v", "");
        let there = [("docker", fine(), fine()), ("podman", fine(), fine())];
        let recorded = |engine: Option<&str>| EngineRequest {
            engine: engine.map(str::to_owned),
            recorded: Some(String::from("podman")),
            ..EngineRequest::default()
        };
        let found = asked(recorded(None), &there).map_err(|it| it.to_string());
        assert_eq!(found, Ok((String::from("podman"), 0)));
        let refused = asked(recorded(Some("docker")), &there);
        assert!(matches!(
            refused,
            Err(OkstraError::Container(ContainerRefusal::OtherEngine { .. }))
        ));
    }
}
