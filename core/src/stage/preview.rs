//! Everything a person looks at in a preview, in one answer.

use serde::Serialize;
use serde_json::Value;

use super::board::Board;
use super::brief::{ValidationCommand, commands};
use super::facts::{EvidenceFile, Facts};
use super::list::{StageLine, lines};
use crate::check::{self, CheckOptions};
use crate::claims::Sightings;
use crate::decode::decode;
use crate::error::OkstraError;
use crate::evidence::Sidecar;
use crate::finding::Finding;
use crate::graph::Graph;
use crate::layout;
use crate::order::FirstOf;
use crate::plan::outline::Block;
use crate::plan::{Approval, Clarification, Document, Stage};
use crate::printable::printable;
use crate::rules;

/// What a preview shows: the files as they are now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PreviewFacts {
    /// The plan; `null` where there is none.
    pub plan: Option<PreviewFile>,
    /// The ledger; `null` where there is none.
    pub ledger: Option<PreviewFile>,
    /// The sidecars. Only those named `stage-<N>.json` count.
    pub evidence: Vec<PreviewFile>,
    /// Now, in ISO 8601 with its zone.
    pub now: String,
    /// What keeps the files from being read at this moment; `null` where nothing does.
    pub fault: Option<String>,
}

decode!(optional PreviewFacts { plan, ledger, evidence, now, fault });

/// A file that a preview shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PreviewFile {
    /// Its path with `/`, as far as it is known: at least the name.
    pub path: String,
    /// Its text.
    pub text: String,
}

decode!(optional PreviewFile { path, text });

/// A plan as people look at it: what it says, what is wrong with it, and where its stages stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Preview {
    /// The first heading of level 1, or `null` where there is none.
    pub title: Option<String>,
    /// Whether the plan is approved.
    pub approval: Approval,
    /// The clarifications that hold the approval back.
    pub clarifications: Vec<Clarification>,
    /// Every row of the Stage Map, in its order.
    pub stages: Vec<PreviewStage>,
    /// The graph of the stages that are not cancelled.
    pub graph: Graph,
    /// Every finding, in source order.
    pub findings: Vec<Finding>,
    /// What is to be known of ledger and evidence.
    pub warnings: Vec<String>,
}

/// A row of the Stage Map with everything about its stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PreviewStage {
    /// What the plan says.
    pub plan: Stage,
    /// Where it stands; `null` for a row whose number cannot be read or is another row's. Nobody
    /// has looked at processes and sessions, so no claim is called quiet or dead.
    pub line: Option<StageLine>,
    /// The commands of its `Stage Validation`.
    pub validation_commands: Vec<ValidationCommand>,
    /// Its evidence, or `null` where there is no file.
    pub evidence: Option<PreviewEvidence>,
}

/// Evidence as a person reads it. What is of another kind than it should be is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PreviewEvidence {
    /// The file.
    pub path: String,
    /// Why it counts for nothing, as the end of a sentence that begins with the file; `null` where
    /// it says that the stage passed.
    pub fault: Option<String>,
    /// When the stage was completed, as written.
    pub completed_at: Option<String>,
    /// The commit it began from.
    pub base: Option<String>,
    /// The commit it ended with.
    pub head: Option<String>,
    /// The files it changed.
    pub files_changed: Vec<String>,
    /// The names it introduced.
    pub new_identifiers: Vec<String>,
    /// The steps, as they went.
    pub step_results: Vec<PreviewStepResult>,
    /// The validations that passed, as the worker says.
    pub validations_passed: Vec<String>,
    /// What okstra saw when it ran the stage's commands.
    pub observed: Vec<PreviewObserved>,
    /// What okstra noted about it.
    pub warnings: Vec<String>,
    /// Anything else the next stage should know.
    pub notes: Vec<String>,
}

/// How a step went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PreviewStepResult {
    /// The step.
    pub step: String,
    /// How it went.
    pub status: String,
    /// The commit it ended with; empty where there is none.
    pub commit: String,
}

/// A command that okstra ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PreviewObserved {
    /// The command.
    pub command: String,
    /// Its exit code; `null` where a signal ended it.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub exit_code: Option<i64>,
    /// How long it ran.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub duration_ms: Option<u64>,
}

/// Puts plan, ledger and evidence together. Faults of the plan are findings, and a plan that has
/// no readable Stage Map has no stages; only what cannot be worked with at all fails.
pub fn preview_plan(facts: &PreviewFacts) -> Result<Preview, OkstraError> {
    let plan = facts.plan.as_ref();
    let doc = Document::read(check::text(plan.map_or("", |plan| &plan.text).as_bytes())?);
    let options = CheckOptions::default();
    let mut checker = check::checker(&doc, options)?;
    let findings = rules::resolve(&doc, checker.run(), options);
    let graph = checker.graph();
    let about = doc.plan();
    let mut answer = Preview {
        title: title(&doc),
        approval: about.approval,
        clarifications: about.clarifications.into_iter().filter(|it| it.open).collect(),
        stages: Vec::new(),
        findings,
        warnings: Vec::new(),
        graph,
    };
    if doc.maps.len() != 1 {
        return Ok(answer);
    }
    let around = around(facts);
    let ledger = facts.ledger.as_ref().map_or("", |file| &file.text);
    let board = Board::loose(&doc, ledger.as_bytes(), &around)?;
    let files = evidence_files(&facts.evidence);
    let mut known = lines(&board, &answer.graph).into_iter();
    for (at, plan) in about.stages.into_iter().enumerate() {
        let line = plan.stage_number.and_then(|_| known.next());
        // What a number means is said by its first row.
        let line = line.filter(|line| doc.row_of.get(line.stage) == Some(at));
        let stage = line.as_ref().map(|line| line.stage);
        let evidence = stage.and_then(|stage| {
            let file = facts.evidence.get(files.get(stage)?)?;
            Some(evidence(&board, stage, file))
        });
        let validation = plan.section.as_ref().and_then(|section| section.validation.as_deref());
        answer.stages.push(PreviewStage {
            validation_commands: validation.map(commands).unwrap_or_default(),
            line,
            evidence,
            plan,
        });
    }
    answer.warnings = board.warnings;
    Ok(answer)
}

/// The first heading of level 1.
fn title(doc: &Document<'_>) -> Option<String> {
    let headings = doc.outline.blocks.iter().filter_map(|block| match block {
        Block::Heading(heading) if heading.level == 1 => Some(heading.inline.text.trim()),
        _ => None,
    });
    headings.filter(|text| !text.is_empty()).map(str::to_owned).next()
}

/// The facts of a request about stages. Nobody looked at processes, so there is nothing to ask for
/// and no time after which a claim would be called quiet.
fn around(facts: &PreviewFacts) -> Facts {
    let named = |file: &PreviewFile| EvidenceFile {
        name: file_name(&file.path).to_owned(),
        text: file.text.clone(),
    };
    Facts {
        plan: facts.plan.as_ref().map(|plan| plan.path.clone()).unwrap_or_default(),
        now: facts.now.clone(),
        evidence: facts.evidence.iter().map(named).collect(),
        sightings: Some(Sightings::default()),
        quiet_minutes: Some(u32::MAX),
        ..Facts::default()
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The place of each stage's sidecar among the files.
fn evidence_files(files: &[PreviewFile]) -> FirstOf {
    let numbered = files
        .iter()
        .enumerate()
        .filter_map(|(at, file)| Some((layout::stage_of_carry_file(file_name(&file.path))?, at)));
    FirstOf::new(numbered)
}

fn evidence(board: &Board<'_, '_>, stage: u32, file: &PreviewFile) -> PreviewEvidence {
    let path = printable(&file.path).into_owned();
    let Some(sidecar) = board.sidecars.get(stage) else {
        let fault = board.unusable.get(stage).cloned();
        return PreviewEvidence { path, fault, ..PreviewEvidence::default() };
    };
    let value = &sidecar.value;
    let texts = |key| value.get(key).map(texts).unwrap_or_default();
    let base = value.get("stageCommitRange").and_then(|range| range.get("base"));
    PreviewEvidence {
        path,
        fault: sidecar.pass_grade().err(),
        completed_at: sidecar.completed_at().map(str::to_owned),
        base: base.and_then(Value::as_str).filter(|base| !base.is_empty()).map(str::to_owned),
        head: sidecar.head().map(str::to_owned),
        files_changed: texts("filesChanged"),
        new_identifiers: sidecar.new_identifiers(),
        step_results: list(value.get("stepResults")).iter().map(step_result).collect(),
        validations_passed: texts("validationsPassed"),
        observed: observed(sidecar),
        warnings: sidecar.record("warnings").map(self::texts).unwrap_or_default(),
        notes: texts("notes"),
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The strings of a list.
fn texts(value: &Value) -> Vec<String> {
    list(Some(value)).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A text or a number, as text.
fn word(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn step_result(value: &Value) -> PreviewStepResult {
    PreviewStepResult {
        step: word(value, "step"),
        status: word(value, "status"),
        commit: word(value, "commit"),
    }
}

fn observed(sidecar: &Sidecar) -> Vec<PreviewObserved> {
    let commands = sidecar.record("observed").and_then(|observed| observed.get("commands"));
    let commands = list(commands).iter();
    let each = commands.map(|it| PreviewObserved {
        command: word(it, "command"),
        exit_code: it.get("exit_code").and_then(Value::as_i64),
        duration_ms: it.get("duration_ms").and_then(Value::as_u64),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::StageState;

    const PLAN: &str = include_str!("../../../fixtures/plans/valid_three_stage_parallel.md");

    fn file(path: &str, text: &str) -> PreviewFile {
        PreviewFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn facts(path: &str, plan: &str) -> PreviewFacts {
        PreviewFacts {
            plan: Some(file(path, plan)),
            now: String::from("2026-11-30T12:00:00Z"),
            ..PreviewFacts::default()
        }
    }

    fn states(preview: &Preview) -> Vec<Option<StageState>> {
        preview.stages.iter().map(|it| it.line.as_ref().map(|line| line.state)).collect()
    }

    #[test]
    fn ledger_and_evidence_are_those_of_the_plan() {
        use StageState::{Done, Ready, Waiting};
        let evidence = |path: &str| {
            let value = serde_json::json!({
                "sourcePlanPath": path,
                "stageNumber": 2,
                "filesChanged": ["a.rs", 7],
                "stepResults": [{ "step": 1, "status": "done" }],
                "observed": { "commands": [{ "command": "x", "exit_code": 0, "duration_ms": 5 }] },
            });
            value.to_string()
        };
        // How the plan is named, how evidence names it, and whether it is evidence of it.
        let table = [
            ("plan.md", "plan.md", true),
            ("plan.md", "docs/plan.md", true),
            ("17/reports/plan.md", "/w/shop/17/reports/plan.md", true),
            ("/p/docs/plan.md", "docs/plan.md", true),
            ("docs/plan.md", "other/plan.md", false),
            ("plan.md", "docs/a-plan.md", false),
        ];
        for (path, named, counts) in table {
            let mut facts = facts(path, PLAN);
            facts.evidence = vec![file("carry/stage-2.json", &evidence(named))];
            let preview = preview_plan(&facts).unwrap();
            let second = if counts { Done } else { Ready };
            assert_eq!(states(&preview), [Some(Ready), Some(second), Some(Waiting)], "{named}");
            let shown = preview.stages[1].evidence.clone().unwrap();
            assert_eq!(shown.fault.is_none(), counts, "{named}");
            if counts {
                assert_eq!(shown.files_changed, ["a.rs"]);
                assert_eq!(shown.step_results[0].step, "1");
                assert_eq!(shown.observed[0].duration_ms, Some(5));
            }
        }
    }

    #[test]
    fn rows_that_cannot_be_placed_are_shown_all_the_same() {
        let plan = "# A plan\n\n## Stage Map\n\n\
            | stage | title | depends-on | step-count |\n|--|--|--|--|\n\
            | 1 | a | (none) | 0 |\n| x | b | 1 | 0 |\n| 1 | c | (none) | 0 |\n| ~~2~~ | d | 1 | 0 |\n";
        let preview = preview_plan(&facts("plan.md", plan)).unwrap();
        assert_eq!(preview.title.as_deref(), Some("A plan"));
        let titles: Vec<&str> = preview.stages.iter().map(|it| it.plan.title.as_str()).collect();
        assert_eq!(titles, ["a", "b", "c", "d"]);
        let cancelled = Some(StageState::Cancelled);
        assert_eq!(states(&preview), [Some(StageState::Ready), None, None, cancelled]);
    }

    #[test]
    fn without_a_stage_map_there_are_findings_and_no_stages() {
        for plan in ["", "# Nothing\n", "## Stage Map\n\n## Stage Map\n"] {
            let mut facts = facts("plan.md", plan);
            facts.ledger = Some(file("consumers.jsonl", "{"));
            let preview = preview_plan(&facts).unwrap();
            assert!(preview.stages.is_empty() && !preview.findings.is_empty(), "{plan:?}");
        }
        assert!(preview_plan(&facts("plan.md", "a\0b")).is_err());
    }
}
