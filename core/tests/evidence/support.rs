//! What the tests of evidence share: the plan it is about, and evidence without a fault.
use okstra_core::evidence::{Block, Checked, EvidenceFinding, Expected, check};
use serde_json::{Value, json};

/// The plan that the evidence in the fixtures is about.
pub(crate) const PLAN: &str = ".okstra/tasks/web/17/runs/implementation-planning/reports/\
                               final-report-implementation-planning-2.md";

/// Stage 2 of that plan.
pub(crate) const STAGE_2: Expected<'static> = Expected {
    plan_path: PLAN,
    plan_absolute: "/home/me/shop/.okstra/tasks/web/17/runs/implementation-planning/reports/\
                    final-report-implementation-planning-2.md",
    task_root: Some(".okstra/tasks/web/17"),
    stage: 2,
    title: "Price table",
    has_git: true,
};

/// Evidence for it without a fault.
pub(crate) fn valid() -> Value {
    json!({
        "schemaVersion": 1,
        "sourcePlanPath": PLAN,
        "stageNumber": 2,
        "stageTitle": "Price table",
        "completedAt": "2026-03-04T05:06:07+09:00",
        "stageCommitRange": { "base": "1f0c9a2", "head": "9b3d5e7f" },
        "filesChanged": ["src/price.rs"],
        "newIdentifiers": ["PriceTable"],
        "stepResults": [{ "step": 1, "status": "done", "commit": "4a5b6c7" }],
        "validationsPassed": ["cargo test"],
        "notes": ["none"],
    })
}

/// The strict check of a text that begins at line 1.
pub(crate) fn checked(text: &str, expected: &Expected<'_>) -> Checked {
    check(&Block { text: text.to_owned(), line: 1 }, expected)
}

/// `12 stageNumber: must be …` for each finding.
pub(crate) fn lines(findings: &[EvidenceFinding]) -> Vec<String> {
    let line = |each: &EvidenceFinding| format!("{} {}: {}", each.line, each.field, each.message);
    findings.iter().map(line).collect()
}
