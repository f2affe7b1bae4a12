//! Progress lines: the few checkpoints that people who watch a run, and scripts, see.

use serde::Serialize;
use serde_json::{Value, json};

use super::{LeadRefusal, event_log};
use crate::decode::{decode, decode_words};
use crate::error::OkstraError;
use crate::printable::steers_terminal;
use crate::stage::{Decision, Effect};

/// A checkpoint of a run, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Checkpoint {
    /// What the batch of workers before has left behind was cleared away.
    BatchCleanup,
    /// The report is about to be written.
    Synthesis,
    /// The records are about to be updated.
    Persist,
    /// The teammates are about to be dismissed.
    Teardown,
    /// The run is over.
    Complete,
}

decode_words!(Checkpoint {
    "batch-cleanup" => BatchCleanup,
    "synthesis" => Synthesis,
    "persist" => Persist,
    "teardown" => Teardown,
    "complete" => Complete
} None);

impl Checkpoint {
    const ALL: [Self; 5] =
        [Self::BatchCleanup, Self::Synthesis, Self::Persist, Self::Teardown, Self::Complete];

    fn name(self) -> &'static str {
        match self {
            Self::BatchCleanup => "batch-cleanup",
            Self::Synthesis => "synthesis",
            Self::Persist => "persist",
            Self::Teardown => "teardown",
            Self::Complete => "complete",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|checkpoint| checkpoint.name() == name)
    }

    /// Whether it may come after another, or first. Batches may be many or none, a team is
    /// dismissed only where there is one and the person agrees; the others are never skipped.
    fn may_follow(self, last: Option<Self>) -> bool {
        use Checkpoint::{BatchCleanup, Complete, Persist, Synthesis, Teardown};
        match self {
            BatchCleanup | Synthesis => matches!(last, None | Some(BatchCleanup | Complete)),
            Persist => last == Some(Synthesis),
            Teardown => last == Some(Persist),
            Complete => matches!(last, Some(Persist | Teardown)),
        }
    }
}

/// A checkpoint to report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ProgressRequest {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The real absolute path of the run's folder.
    pub run: String,
    /// The number of the run in its folder, where it is known: another number is another run.
    pub sequence: Option<u32>,
    /// How many panes were closed.
    pub panes: Option<u32>,
    /// How many teammates were dismissed.
    pub teammates: Option<u32>,
    /// The final report, relative to the project.
    pub final_report: Option<String>,
    /// Whether there is such a file.
    pub report_exists: bool,
    /// The text of the run's event log where it exists.
    pub log: Option<String>,
    /// Now, in ISO 8601 with its zone.
    pub now: String,
}

decode!(ProgressRequest {
    checkpoint,
    run,
    sequence,
    panes,
    teammates,
    final_report,
    report_exists,
    log,
    now
});

/// A reported checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProgressAnswer {
    /// The line to print.
    pub line: String,
    /// Whether it is new; the last one, said again, is only printed again.
    pub new: bool,
    /// The event log.
    pub log: String,
}

/// Makes the line of a checkpoint and its row in the event log. Only counts are ever in it, no
/// names of panes or agents.
///
/// A checkpoint that comes at the wrong time is refused, so that whoever reads the lines can rely
/// on their order. Rows that cannot be read count as none.
pub fn progress(request: &ProgressRequest) -> Result<Decision<ProgressAnswer>, OkstraError> {
    let line = line_of(request)?;
    let last = last_row(request.log.as_deref().unwrap_or_default(), request.sequence);
    let log = event_log(&request.run);
    let checkpoint = request.checkpoint;
    // A caller that was killed before it saw the answer says it again. Batches are counted.
    let again = checkpoint != Checkpoint::BatchCleanup
        && last.as_ref().is_some_and(|(_, before)| *before == line);
    if again {
        let answer = ProgressAnswer { line, new: false, log };
        return Ok(Decision::Decided { effects: Vec::new(), answer, warnings: Vec::new() });
    }
    let last = last.map(|(checkpoint, _)| checkpoint);
    if !checkpoint.may_follow(last) {
        return Err(out_of_order(checkpoint, last).into());
    }
    if checkpoint == Checkpoint::Complete && !request.report_exists {
        let path = request.final_report.clone().unwrap_or_default();
        return Err(LeadRefusal::NoReport { path }.into());
    }
    let effects = vec![Effect::Append { path: log.clone(), line: row(request, &line) }];
    let answer = ProgressAnswer { line, new: true, log };
    Ok(Decision::Decided { effects, answer, warnings: Vec::new() })
}

/// Whether the team may be dismissed now, as far as the event log knows.
pub(super) fn teardown_is_next(log: &str, sequence: Option<u32>) -> bool {
    let last = last_row(log, sequence).map(|(checkpoint, _)| checkpoint);
    Checkpoint::Teardown.may_follow(last)
}

fn out_of_order(checkpoint: Checkpoint, last: Option<Checkpoint>) -> LeadRefusal {
    let allowed = Checkpoint::ALL.into_iter().filter(|each| each.may_follow(last));
    LeadRefusal::OutOfOrder {
        checkpoint: checkpoint.name().to_owned(),
        last: last.map(|last| last.name().to_owned()),
        allowed: allowed.map(|each| each.name().to_owned()).collect(),
    }
}

fn line_of(request: &ProgressRequest) -> Result<String, OkstraError> {
    Ok(match request.checkpoint {
        Checkpoint::BatchCleanup => {
            let [panes, teammates] =
                [request.panes, request.teammates].map(Option::unwrap_or_default);
            format!("PROGRESS: phase-batch-cleanup panes={panes} teammates={teammates}")
        }
        Checkpoint::Synthesis => {
            String::from("PROGRESS: phase-6-synthesis dispatching report-writer-worker")
        }
        Checkpoint::Persist => String::from("PROGRESS: phase-7-persist updating manifests"),
        Checkpoint::Teardown => String::from("PROGRESS: phase-7-teardown dismissing teammates"),
        Checkpoint::Complete => {
            let path = request.final_report.as_deref().unwrap_or_default();
            let inside = !path.is_empty()
                && !path.starts_with('/')
                && !path.contains('\\')
                && !path.chars().any(steers_terminal)
                && !path.split('/').any(|part| matches!(part, "" | "." | ".."));
            if !inside {
                return Err(LeadRefusal::ReportOutside { path: path.to_owned() }.into());
            }
            format!("PROGRESS: complete final-report={path}")
        }
    })
}

fn row(request: &ProgressRequest, line: &str) -> String {
    let mut row = json!({
        "at": request.now,
        "event": "progress",
        "checkpoint": request.checkpoint.name(),
        "line": line,
    });
    if let (Some(sequence), Some(row)) = (request.sequence, row.as_object_mut()) {
        row.insert(String::from("sequence"), Value::from(sequence));
    }
    row.to_string()
}

/// The last checkpoint of this run with its line.
fn last_row(log: &str, sequence: Option<u32>) -> Option<(Checkpoint, String)> {
    log.lines().rev().find_map(|line| {
        let row: Value = serde_json::from_str(line.trim_start_matches('\u{feff}')).ok()?;
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        if text("event") != Some("progress") {
            return None;
        }
        let checkpoint = Checkpoint::named(text("checkpoint")?)?;
        let of = row.get("sequence").and_then(Value::as_u64);
        (of == sequence.map(u64::from))
            .then(|| (checkpoint, text("line").unwrap_or_default().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Checkpoint, ProgressRequest, progress};
    use crate::stage::{Decision, Effect};

    fn ask(
        log: &str,
        checkpoint: Checkpoint,
        sequence: Option<u32>,
    ) -> Result<(String, Option<String>), String> {
        let request = ProgressRequest {
            checkpoint,
            run: String::from("/p/run"),
            sequence,
            panes: Some(2),
            teammates: None,
            final_report: Some(String::from("reports/final.md")),
            report_exists: true,
            log: Some(log.to_owned()),
            now: String::from("2026-01-01T00:00:00Z"),
        };
        match progress(&request) {
            Ok(Decision::Decided { effects, answer, .. }) => {
                let row = effects.into_iter().find_map(|effect| match effect {
                    Effect::Append { path, line } => {
                        assert_eq!(path, "/p/run/logs/lead-events.jsonl");
                        Some(line)
                    }
                    _ => None,
                });
                assert_eq!(answer.new, row.is_some());
                Ok((answer.line, row))
            }
            Ok(Decision::Needs { .. }) => Err(String::from("needs")),
            Err(error) => Err(format!("{error}; {}", error.info().help.unwrap_or_default())),
        }
    }

    use Checkpoint::{BatchCleanup, Complete, Persist, Synthesis, Teardown};

    #[test]
    fn the_lines_are_what_they_are_and_in_order() {
        let mut log = String::from("{\"event\":\"other\"}\ntorn {\n");
        for (checkpoint, wanted) in [
            (BatchCleanup, "PROGRESS: phase-batch-cleanup panes=2 teammates=0"),
            (BatchCleanup, "PROGRESS: phase-batch-cleanup panes=2 teammates=0"),
            (Synthesis, "PROGRESS: phase-6-synthesis dispatching report-writer-worker"),
            (Persist, "PROGRESS: phase-7-persist updating manifests"),
            (Teardown, "PROGRESS: phase-7-teardown dismissing teammates"),
            (Complete, "PROGRESS: complete final-report=reports/final.md"),
        ] {
            let (line, row) = ask(&log, checkpoint, Some(1)).unwrap();
            assert_eq!(line, wanted);
            log.push_str(&row.unwrap());
            log.push('\n');
        }
        // Said again by whoever did not see the answer; another run in the folder begins anew.
        assert_eq!(ask(&log, Complete, Some(1)).unwrap().1, None);
        assert!(ask(&log, Synthesis, Some(2)).is_ok());
        assert!(ask(&log, Synthesis, Some(1)).is_ok());
    }

    #[test]
    fn what_comes_at_the_wrong_time_is_refused() {
        let row = |name: &str| {
            format!("{{\"event\":\"progress\",\"checkpoint\":\"{name}\",\"line\":\"\"}}\n")
        };
        for (last, checkpoint, wanted) in [
            (
                "",
                Persist,
                "persist cannot be reported first; what may come now: batch-cleanup, synthesis",
            ),
            (
                "",
                Complete,
                "complete cannot be reported first; what may come now: batch-cleanup, synthesis",
            ),
            (
                "batch-cleanup",
                Teardown,
                "teardown cannot be reported after batch-cleanup; what may come now: batch-cleanup, synthesis",
            ),
            (
                "synthesis",
                BatchCleanup,
                "batch-cleanup cannot be reported after synthesis; what may come now: persist",
            ),
            (
                "synthesis",
                Synthesis,
                "synthesis cannot be reported after synthesis; what may come now: persist",
            ),
            (
                "synthesis",
                Complete,
                "complete cannot be reported after synthesis; what may come now: persist",
            ),
            (
                "persist",
                Synthesis,
                "synthesis cannot be reported after persist; what may come now: teardown, complete",
            ),
            (
                "teardown",
                Persist,
                "persist cannot be reported after teardown; what may come now: complete",
            ),
            (
                "complete",
                Complete,
                "complete cannot be reported after complete; what may come now: batch-cleanup, synthesis",
            ),
        ] {
            let log = if last.is_empty() { String::new() } else { row(last) };
            assert_eq!(ask(&log, checkpoint, None), Err(wanted.to_owned()), "{last}");
        }
    }

    #[test]
    fn a_report_is_in_the_project_and_there() {
        for (path, exists, wanted) in [
            (Some("../x.md"), true, "the final report '../x.md' is not in the project"),
            (Some("/etc/x.md"), true, "the final report '/etc/x.md' is not in the project"),
            (
                Some("a\nPROGRESS: b"),
                true,
                "the final report 'a\nPROGRESS: b' is not in the project",
            ),
            (Some(""), true, "the final report '' is not in the project"),
            (None, true, "the final report '' is not in the project"),
            (Some("a/b.md"), false, "there is no final report a/b.md"),
        ] {
            let request = ProgressRequest {
                checkpoint: Complete,
                run: String::from("/p/run"),
                sequence: None,
                panes: None,
                teammates: None,
                final_report: path.map(str::to_owned),
                report_exists: exists,
                log: Some(String::from("{\"event\":\"progress\",\"checkpoint\":\"persist\"}")),
                now: String::new(),
            };
            assert_eq!(progress(&request).unwrap_err().to_string(), wanted);
        }
    }
}
