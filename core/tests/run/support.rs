//! What the tests of runs share: the files in `fixtures/bundles/given` and requests made of them.
use std::fs;
use std::path::{Path, PathBuf};

use okstra_core::run::{BundleRequest, DependencyEvidence, stage_of_plan};

/// The folder of the bundles.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/bundles")
}

/// A file that a bundle is made from.
pub(crate) fn given(name: &str) -> String {
    fs::read_to_string(fixtures().join("given").join(name)).unwrap()
}

/// A run of a task that has no records yet.
pub(crate) fn request(task_type: &str) -> BundleRequest {
    BundleRequest {
        task_type: task_type.into(),
        task_group: "shop".into(),
        task_id: "OK-7".into(),
        project_id: "tea".into(),
        project_root: "/home/ada/tea".into(),
        okstra_root: "/home/ada/tea/.okstra".into(),
        now: "2026-03-04T05:06:07+01:00".into(),
        sequence: 1,
        ..BundleRequest::default()
    }
}

/// A preview of a stage.
pub(crate) fn stage_request(stage: u32) -> BundleRequest {
    let plan = ".okstra/tasks/shop/OK-7/runs/implementation-planning/reports/final-report-implementation-planning-002.md";
    BundleRequest {
        plan_path: Some(plan.into()),
        stage: stage_of_plan(given("plan.md").as_bytes(), stage).unwrap(),
        ..request("implementation")
    }
}

/// The same with the records of the task as they are.
pub(crate) fn with_records(mut request: BundleRequest) -> BundleRequest {
    request.manifest = Some(given("task-manifest.json"));
    request.catalog = Some(given("task-catalog.json"));
    request.latest = Some(given("latest-task.json"));
    request
}

/// Stage 4, claimed, with the evidence of one of its two dependencies.
pub(crate) fn claimed() -> BundleRequest {
    let mut request = with_records(stage_request(4));
    request.sequence = 12;
    let stage = request.stage.as_mut().unwrap();
    stage.worktree = Some("/home/ada/.okstra/worktrees/tea/shop/OK-7.stages/stage-4".into());
    stage.branch = Some("okstra/shop/OK-7/stage-4".into());
    stage.base_commit = Some("3333333333333333333333333333333333333333".into());
    stage.claim_id = Some("c-81f2".into());
    stage.evidence.push(DependencyEvidence {
        stage: 1,
        path: ".okstra/tasks/shop/OK-7/runs/implementation/carry/stage-1.json".into(),
        text: given("stage-1.json"),
    });
    request
}
