//! Where the final reports of a phase lie: always as a pair, the Markdown and its data.

use serde::Serialize;

use super::prepare::next_sequence;
use super::{BundleError, IMPLEMENTATION, PHASES};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::layout::{compare_reports, data_json_of, join, markdown_of, report_sequence};

/// Which reports are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ReportRequest {
    /// The absolute path of the task's folder.
    pub task_root: String,
    /// The phase, one of [`PHASES`].
    pub task_type: String,
    /// The stage; only for `implementation`.
    pub stage: Option<u32>,
    /// The files of the phase's runs, as paths below `runs`.
    pub known: Vec<String>,
}

decode!(optional ReportRequest { task_root, task_type, stage, known });

/// A final report: two files side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportPair {
    /// The Markdown.
    pub markdown: String,
    /// The data.
    pub data: String,
}

/// The reports of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportAnswer {
    /// The latest one there is; `null` where there is none. Numbers are compared as numbers, and
    /// the report of stage 10 is later than that of stage 2.
    pub latest: Option<ReportPair>,
    /// The one that a run beginning now would write; `null` for an implementation of which no
    /// stage is named.
    pub next: Option<ReportPair>,
}

/// The pair that a report belongs to, by the path of either file. Any other suffix is swapped.
pub fn report_pair(path: &str) -> ReportPair {
    ReportPair { markdown: markdown_of(path), data: data_json_of(path) }
}

/// Where the latest and the next report of a phase lie.
pub fn report_paths(request: &ReportRequest) -> Result<ReportAnswer, OkstraError> {
    let task_type = request.task_type.as_str();
    if !PHASES.contains(&task_type) {
        return Err(BundleError::UnknownTaskType { task_type: task_type.to_owned() }.into());
    }
    if request.stage.is_some() && task_type != IMPLEMENTATION {
        return Err(BundleError::StageNotMeant { task_type: task_type.to_owned() }.into());
    }
    let folder = request.stage.map(|stage| format!("{task_type}/stage-{stage}"));
    let runs = join(&request.task_root, "runs");
    let prefix = format!("final-report-{task_type}-");
    let is_report = |path: &&String| {
        let Some((above, name)) = path.rsplit_once('/') else {
            return false;
        };
        let is_there = match &folder {
            Some(folder) => above == format!("{folder}/reports"),
            None if task_type == IMPLEMENTATION => {
                above.starts_with("implementation/stage-") && above.ends_with("/reports")
            }
            None => above == format!("{task_type}/reports"),
        };
        is_there && name.starts_with(&prefix) && report_sequence(name).is_some()
    };
    let latest = request.known.iter().filter(is_report).max_by(|a, b| compare_reports(a, b));
    let folder = folder.or_else(|| (task_type != IMPLEMENTATION).then(|| task_type.to_owned()));
    let next = folder.map(|folder| {
        let sequence = next_sequence(&request.known, &folder, task_type);
        report_pair(&join(&runs, &format!("{folder}/reports/{prefix}{sequence:03}.md")))
    });
    Ok(ReportAnswer { latest: latest.map(|path| report_pair(&join(&runs, path))), next })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(task_type: &str, stage: Option<u32>, known: &[&str]) -> ReportAnswer {
        let request = ReportRequest {
            task_root: String::from("/p/.okstra/tasks/g/t"),
            task_type: task_type.to_owned(),
            stage,
            known: known.iter().map(|path| (*path).to_owned()).collect(),
        };
        report_paths(&request).unwrap_or(ReportAnswer { latest: None, next: None })
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let known = [
            "implementation/stage-2/reports/final-report-implementation-009.md",
            "implementation/stage-10/reports/final-report-implementation-001.md",
            "implementation/stage-10/reports/final-report-other-007.md",
            "implementation/stage-10/prompts/launch-prompt-implementation-011.md",
            "implementation-planning/reports/final-report-implementation-planning-10.md",
            "implementation-planning/reports/final-report-implementation-planning-9.md",
            "implementation-planning/reports/notes-99.md",
            "implementation/stage-11/state/final-report-implementation-005.md",
        ];
        let short = |answer: ReportAnswer| {
            [answer.latest, answer.next].map(|pair| {
                let path = pair.map(|pair| pair.markdown).unwrap_or_default();
                path.strip_prefix("/p/.okstra/tasks/g/t/runs/").unwrap_or_default().to_owned()
            })
        };
        let cases: [(&str, Option<u32>, [&str; 2]); 5] = [
            ("implementation", None, [known[1], ""]),
            (
                "implementation",
                Some(2),
                [known[0], "implementation/stage-2/reports/final-report-implementation-010.md"],
            ),
            (
                "implementation",
                Some(10),
                [known[1], "implementation/stage-10/reports/final-report-implementation-012.md"],
            ),
            (
                "implementation-planning",
                None,
                [
                    known[4],
                    "implementation-planning/reports/final-report-implementation-planning-011.md",
                ],
            ),
            (
                "final-verification",
                None,
                ["", "final-verification/reports/final-report-final-verification-001.md"],
            ),
        ];
        for (task_type, stage, wanted) in cases {
            assert_eq!(short(paths(task_type, stage, &known)), wanted, "{task_type} {stage:?}");
        }
    }

    #[test]
    fn only_phases_have_reports_and_only_an_implementation_has_stages() {
        let request = |task_type: &str, stage| ReportRequest {
            task_type: task_type.to_owned(),
            stage,
            ..ReportRequest::default()
        };
        assert!(report_paths(&request("cooking", None)).is_err());
        assert!(report_paths(&request("final-verification", Some(1))).is_err());
    }
}
