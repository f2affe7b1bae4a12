//! What the tests of stages share: plans, facts and evidence without a fault, and a disk in memory
//! that carries out effects.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use okstra_core::claims::{Caller, Sightings};
use okstra_core::error::OkstraError;
use okstra_core::stage::{Decision, Effect, EvidenceFile, Facts};
use serde_json::{Value, json};

/// Where the plan lies.
pub(crate) const PLAN: &str = "/p/.okstra/tasks/g/i/runs/implementation-planning/reports/\
                               final-report-implementation-planning-1.md";
/// The plan relative to the project.
pub(crate) const PLAN_PATH: &str = ".okstra/tasks/g/i/runs/implementation-planning/reports/\
                                    final-report-implementation-planning-1.md";
/// The ledger of the plan.
pub(crate) const LEDGER: &str = "/p/.okstra/tasks/g/i/runs/implementation-planning/consumers.jsonl";
/// The folder of its evidence.
pub(crate) const CARRY: &str = "/p/.okstra/tasks/g/i/runs/implementation/carry";
/// The time of every request that gives no other.
pub(crate) const NOW: &str = "2026-03-04T05:06:07Z";

/// A stage of a plan in short.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) depends_on: Vec<u32>,
    pub(crate) files: Vec<&'static str>,
    pub(crate) steps: u32,
    pub(crate) cancelled: bool,
}

/// A stage that depends on others.
pub(crate) fn on(depends_on: &[u32]) -> Spec {
    Spec { depends_on: depends_on.to_vec(), steps: 1, ..Spec::default() }
}

/// An approved plan without errors.
pub(crate) fn plan(stages: &[Spec]) -> String {
    let mut text = String::from(
        "# Plan\n\n- [x] Approved\n\n## 5.5 Stage Map\n\n| stage | title | depends-on | \
         step-count | exit-contract-summary |\n|---|---|---|---|---|\n",
    );
    for (at, spec) in stages.iter().enumerate() {
        let number = at + 1;
        let stage = if spec.cancelled { format!("~~{number}~~") } else { number.to_string() };
        let list: Vec<String> = spec.depends_on.iter().map(ToString::to_string).collect();
        let list = if list.is_empty() { String::from("(none)") } else { list.join(", ") };
        writeln!(text, "| {stage} | Part {number} | {list} | {} | it works |", spec.steps).unwrap();
    }
    for (at, spec) in stages.iter().enumerate().filter(|(_, spec)| !spec.cancelled) {
        let number = at + 1;
        write!(
            text,
            "\n## 5.5.{number} Stage {number}: Part {number}\n\n### Carry-In\n\nNothing.\n\n\
             ### Stepwise Execution Order\n\n| step | action | files | command | expected |\n\
             |---|---|---|---|---|\n"
        )
        .unwrap();
        for step in 1..=spec.steps {
            let files = match (step, spec.files.as_slice()) {
                (1, []) => format!("`src/part{number}.rs`"),
                (1, files) => files.join(", "),
                _ => String::from("none"),
            };
            writeln!(text, "| {step} | do | {files} | `true` | ok |").unwrap();
        }
        write!(
            text,
            "\n### Stage Exit Contract\n\nPart {number} works.\n\n### Stage Validation\n\n\
             - post: `cargo test part{number}`\n"
        )
        .unwrap();
    }
    text
}

/// The facts of a request by nobody in particular.
pub(crate) fn facts() -> Facts {
    Facts {
        plan: PLAN.into(),
        project_root: Some("/p".into()),
        carry_folder: Some(CARRY.into()),
        task_key: Some("p:g:i".into()),
        now: NOW.into(),
        head_commit: Some("aaaaaaa".into()),
        branch: Some("main".into()),
        ..Facts::default()
    }
}

/// A session on this host.
pub(crate) fn session(name: &str) -> Caller {
    let pid = 100 + u32::from(name.bytes().last().unwrap_or_default());
    Caller {
        session: Some(name.into()),
        host: Some("here".into()),
        pid: Some(pid),
        pid_start: Some(format!("boot-{pid}")),
        ..Caller::default()
    }
}

/// The facts of a request by a session.
pub(crate) fn facts_of(name: &str) -> Facts {
    Facts { caller: session(name), ..facts() }
}

/// Evidence for a stage of [`plan`] without a fault.
pub(crate) fn evidence(stage: u32) -> Value {
    json!({
        "schemaVersion": 1,
        "sourcePlanPath": PLAN_PATH,
        "stageNumber": stage,
        "stageTitle": format!("Part {stage}"),
        "completedAt": NOW,
        "stageCommitRange": { "base": "aaaaaaa", "head": format!("{stage:07}") },
        "filesChanged": [format!("src/part{stage}.rs")],
        "newIdentifiers": [format!("part{stage}")],
        "stepResults": [{ "step": 1, "status": "done", "commit": "4a5b6c7" }],
        "validationsPassed": ["cargo test"],
        "notes": [],
    })
}

/// A worker result with that evidence in it.
pub(crate) fn worker_result(evidence: &Value) -> String {
    format!("# Result\n\n### Stage Carry Evidence\n\n```json\n{evidence:#}\n```\n")
}

/// Files by their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Disk {
    /// The bytes of the ledger.
    pub(crate) fn ledger(&self) -> Vec<u8> {
        self.files.get(LEDGER).cloned().unwrap_or_default()
    }

    /// The sidecars.
    pub(crate) fn evidence(&self) -> Vec<EvidenceFile> {
        let inside = self.files.iter().filter_map(|(path, bytes)| {
            let name = path.strip_prefix(CARRY)?.strip_prefix('/')?.to_owned();
            Some(EvidenceFile { name, text: String::from_utf8_lossy(bytes).into_owned() })
        });
        inside.collect()
    }

    /// The given facts and what is on this disk.
    pub(crate) fn facts(&self, facts: Facts) -> Facts {
        Facts { evidence: self.evidence(), ..facts }
    }

    /// Carries out an effect. `torn` says how much of an appended line comes to the disk.
    pub(crate) fn carry_out(&mut self, effect: &Effect, torn: Option<usize>) {
        match effect {
            Effect::Append { path, line } => {
                let file = self.files.entry(path.clone()).or_default();
                // What the host does: a row never continues a line that was cut off.
                if file.last().is_some_and(|last| *last != b'\n') {
                    file.push(b'\n');
                }
                let row = format!("{line}\n");
                let most = torn.map_or(row.len(), |torn| torn % row.len());
                file.extend_from_slice(&row.as_bytes()[..most]);
            }
            Effect::WriteNew { path, text } => {
                let before = self.files.insert(path.clone(), text.clone().into_bytes());
                assert!(before.is_none(), "{path} was there");
            }
            Effect::Replace { .. } => panic!("no stage replaces a file"),
            Effect::Remove { .. } | Effect::RemoveFolder { .. } => panic!("no stage removes one"),
        }
    }

    /// Carries out everything a decision asks for, and gives its answer.
    pub(crate) fn settle<T>(
        &mut self,
        decision: Result<Decision<T>, OkstraError>,
    ) -> (T, Vec<String>) {
        match decision {
            Ok(Decision::Decided { effects, answer, warnings }) => {
                for effect in &effects {
                    self.carry_out(effect, None);
                }
                (answer, warnings)
            }
            Ok(Decision::Needs { needs }) => panic!("asks for {needs:?}"),
            Err(error) => panic!("refused: {error}"),
        }
    }
}

/// A refusal as its message and its exit status.
pub(crate) fn refusal<T>(decision: Result<Decision<T>, OkstraError>) -> (String, u8) {
    match decision {
        Err(error) => (error.to_string(), error.info().exit_code),
        Ok(Decision::Needs { needs }) => (format!("asks for {needs:?}"), 0),
        Ok(Decision::Decided { .. }) => (String::from("decided"), 0),
    }
}

/// Nothing was seen of anybody.
pub(crate) fn seen() -> Sightings {
    Sightings::default()
}
