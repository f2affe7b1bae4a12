//! A task's folder: which plan it is built by.

use crate::decode::decode;
use crate::evidence;
use crate::layout;
use crate::order::sorted;
use crate::stage::EvidenceFile;

/// What a task's folder holds, as far as its plan is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TaskFacts {
    /// The absolute path of the project's folder.
    pub project_root: String,
    /// The absolute path of the task's folder.
    pub task_root: String,
    /// The sidecars.
    pub evidence: Vec<EvidenceFile>,
    /// The manifest's `latestReportPath`; empty where it has none.
    pub latest_report_path: String,
    /// The names in the folder of the planning reports.
    pub reports: Vec<String>,
}

decode!(optional TaskFacts { project_root, task_root, evidence, latest_report_path, reports });

/// The absolute paths at which the plan of a task may lie, best first: what the evidence names
/// (lowest stage first), the latest report where it is one of planning, then the planning reports
/// from the newest. Relative paths are tried from the project and from the task. A path that
/// leaves the project is left out.
pub fn plan_candidates(task: &TaskFacts) -> Vec<String> {
    let mut candidates = Vec::new();
    let mut add = |path: &str| {
        let bases: &[&str] =
            if path.starts_with('/') { &[""] } else { &[&task.project_root, &task.task_root] };
        for base in bases {
            let full = if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") };
            if let Some(inside) = layout::relative_inside(&task.project_root, &full) {
                let full = layout::join(&task.project_root, &inside);
                if !path.is_empty() && !candidates.contains(&full) {
                    candidates.push(full);
                }
            }
        }
    };
    let numbered = task
        .evidence
        .iter()
        .filter_map(|file| Some((layout::stage_of_carry_file(&file.name)?, file.text.as_str())));
    for (_, text) in sorted(numbered.collect(), |(stage, _)| (u64::from(*stage), 0)) {
        if let Ok(sidecar) = evidence::read(text.as_bytes())
            && let Some(path) = sidecar.source_plan_path()
        {
            add(path);
        }
    }
    if task.latest_report_path.contains("implementation-planning") {
        add(&layout::markdown_of(&task.latest_report_path));
    }
    let plans = task.reports.iter().filter_map(|name| {
        // A sequence has only a name that ends in `.md`.
        let known = name.starts_with("final-report-implementation-planning-");
        Some((layout::report_sequence(name).filter(|_| known)?, name.as_str()))
    });
    let plans = sorted(plans.collect(), |(sequence, _)| (u64::MAX - *sequence, 0));
    for (_, name) in plans {
        add(&format!("{}/runs/implementation-planning/reports/{name}", task.task_root));
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::{TaskFacts, plan_candidates};
    use crate::stage::EvidenceFile;

    #[test]
    fn the_plan_of_the_evidence_comes_first() {
        let file = |name: &str, path: &str| EvidenceFile {
            name: name.to_owned(),
            text: format!("{{\"sourcePlanPath\":\"{path}\"}}"),
        };
        let report = |number: u32| format!("final-report-implementation-planning-{number:03}.md");
        let task = TaskFacts {
            project_root: String::from("/p"),
            task_root: String::from("/p/.okstra/tasks/g/t"),
            evidence: vec![file("stage-10.json", "b.md"), file("stage-2.json", "../out.md")],
            latest_report_path: String::from("x/implementation-planning-1.data.json"),
            reports: vec![report(9), report(10), String::from("notes.md")],
        };
        assert_eq!(
            plan_candidates(&task),
            [
                "/p/.okstra/tasks/g/out.md",
                "/p/b.md",
                "/p/.okstra/tasks/g/t/b.md",
                "/p/x/implementation-planning-1.md",
                "/p/.okstra/tasks/g/t/x/implementation-planning-1.md",
                "/p/.okstra/tasks/g/t/runs/implementation-planning/reports/final-report-implementation-planning-010.md",
                "/p/.okstra/tasks/g/t/runs/implementation-planning/reports/final-report-implementation-planning-009.md",
            ]
        );
    }
}
