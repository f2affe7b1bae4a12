//! The records of a task: made, kept, refused.
use okstra_core::run::{Bundle, BundleError, BundleRequest, Change, PHASES, bundle, next_phase};
use serde_json::{Value, json};

use crate::support::{claimed, given, request, stage_request, with_records};

fn text(change: Option<&Change>) -> String {
    change.map(|change| change.text.clone()).unwrap()
}

fn parsed(change: Option<&Change>) -> Value {
    serde_json::from_str(&text(change)).unwrap()
}

#[test]
fn records_are_made_where_they_are_missing() {
    let made = bundle(&request("error-analysis")).unwrap();
    assert_eq!(
        parsed(made.manifest.as_ref()),
        json!({
            "schemaVersion": 1,
            "taskKey": "tea:shop:OK-7",
            "projectId": "tea",
            "taskGroup": "shop",
            "taskId": "OK-7",
            "taskType": "error-analysis",
            "createdAt": "2026-03-04T05:06:07+01:00",
            "updatedAt": "2026-03-04T05:06:07+01:00",
            "workflow": {
                "currentPhase": "error-analysis",
                "currentPhaseState": "in-progress",
                "phaseStates": {
                    "requirements-discovery": "not-started",
                    "improvement-discovery": "not-started",
                    "error-analysis": "in-progress",
                    "implementation-planning": "not-started",
                    "implementation": "not-started",
                    "final-verification": "not-started",
                    "release-handoff": "not-started",
                },
                "lastCompletedPhase": "",
                "nextRecommendedPhase": "implementation-planning",
            },
            "latestRunPath": ".okstra/tasks/shop/OK-7/runs/error-analysis",
            "latestRunStatus": "prepared",
            "currentStatus": "in-progress",
        })
    );
    assert_eq!(
        parsed(made.catalog.as_ref()),
        json!({
            "schemaVersion": 1,
            "tasks": [{
                "taskKey": "tea:shop:OK-7",
                "projectId": "tea",
                "taskGroup": "shop",
                "taskId": "OK-7",
                "taskRoot": ".okstra/tasks/shop/OK-7",
                "currentPhase": "error-analysis",
                "currentPhaseState": "in-progress",
                "lastCompletedPhase": "",
                "nextRecommendedPhase": "implementation-planning",
                "latestReportPath": "",
                "latestRunStatus": "prepared",
                "currentStatus": "in-progress",
                "updatedAt": "2026-03-04T05:06:07+01:00",
            }],
        })
    );
    let latest = made.latest.unwrap();
    assert_eq!(
        (latest.path.as_str(), latest.before),
        ("/home/ada/tea/.okstra/discovery/latest-task.json", None)
    );
    assert_eq!(
        latest.text,
        "{\n  \"taskKey\": \"tea:shop:OK-7\",\n  \"taskRoot\": \".okstra/tasks/shop/OK-7\",\n  \
         \"updatedAt\": \"2026-03-04T05:06:07+01:00\"\n}\n"
    );
}

#[test]
fn what_is_not_ours_stays_byte_for_byte() {
    let changed = bundle(&claimed()).unwrap();
    let manifest = text(changed.manifest.as_ref());
    for kept in [
        "{\n    \"taskKey\" : \"tea:shop:OK-7\",\n    \"owner\": { \"name\": \"Ada\", \"since\": 1.50 },\n",
        "    \"createdAt\": \"2026-01-02T03:04:05Z\",\n",
        "{\"requirements-discovery\": \"skipped\", \"implementation-planning\": \"completed\", ",
        "    \"z\": [1,2,   3],\n",
    ] {
        assert!(manifest.contains(kept), "{kept}\n{manifest}");
    }
    let catalog = text(changed.catalog.as_ref());
    for kept in [
        "{\"schemaVersion\": 1, \"generator\": \"older\",\n \"tasks\": [\n",
        "  {\"taskKey\": \"tea:shop:OK-1\", \"currentPhase\": \"error-analysis\", \"extra\": 1e3},\n",
        "  {\"taskKey\": \"tea:shop:OK-7\", \"pinned\": true, \"currentPhase\": \"implementation\", ",
        "}\n ]}\n",
    ] {
        assert!(catalog.contains(kept), "{kept}\n{catalog}");
    }
    assert!(
        text(changed.latest.as_ref())
            .starts_with("{\"taskKey\":\"tea:shop:OK-7\",\"by\":\"hand\",\"")
    );
    assert_eq!(changed.manifest.unwrap().before, Some(given("task-manifest.json")));
}

#[test]
fn a_task_that_is_not_in_the_catalog_is_appended() {
    let catalogs = [
        ("{}", ""),
        ("{\"tasks\":[]}", ""),
        ("{\"tasks\":[{\"taskKey\":\"x:y:z\"}]}", "{\"tasks\":[{\"taskKey\":\"x:y:z\"},{"),
        (
            "\u{feff}{\r\n\t\"tasks\": [\r\n\t\t{\r\n\t\t\t\"a\": 0.10\r\n\t\t}\r\n\t]\r\n}\r\n",
            "\u{feff}{\r\n\t\"tasks\": [\r\n\t\t{\r\n\t\t\t\"a\": 0.10\r\n\t\t},\r\n\t\t{\r\n\t\t\t\"taskKey\": \"tea:shop:OK-7\",\r\n",
        ),
        ("{\"tasks\":[3,null,\"tea:shop:OK-7\"]}", "{\"tasks\":[3,null,\"tea:shop:OK-7\",{"),
    ];
    for (before, beginning) in catalogs {
        let mut request = request("error-analysis");
        request.catalog = Some(before.into());
        let after = text(bundle(&request).unwrap().catalog.as_ref());
        assert!(after.starts_with(beginning), "{after}");
        let parsed: Value = serde_json::from_str(after.trim_start_matches('\u{feff}')).unwrap();
        let last = parsed["tasks"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["taskKey"], "tea:shop:OK-7", "{after}");
        assert_eq!(last["updatedAt"], "2026-03-04T05:06:07+01:00", "{after}");
    }
}

/// The request of the same run once more, over what the first one wrote.
fn again(request: &BundleRequest, first: &Bundle, now: &str) -> BundleRequest {
    BundleRequest {
        manifest: Some(text(first.manifest.as_ref())),
        catalog: Some(text(first.catalog.as_ref())),
        latest: Some(text(first.latest.as_ref())),
        now: now.into(),
        ..request.clone()
    }
}

#[test]
fn a_second_run_changes_only_the_times() {
    let first_time = "2026-03-04T05:06:07+01:00";
    let requests = [
        claimed(),
        stage_request(1),
        request("error-analysis"),
        with_records(request("final-verification")),
    ];
    for request in requests {
        let first = bundle(&request).unwrap();
        let second = bundle(&again(&request, &first, first_time)).unwrap();
        assert_eq!((second.manifest, second.catalog, second.latest), (None, None, None));
        let later = "2027-01-01T00:00:00Z";
        let third = bundle(&again(&request, &first, later)).unwrap();
        let created = parsed(first.manifest.as_ref())["createdAt"].clone();
        assert_eq!(parsed(third.manifest.as_ref())["createdAt"], created);
        let pairs = [
            (&first.manifest, &third.manifest),
            (&first.catalog, &third.catalog),
            (&first.latest, &third.latest),
        ];
        for (first, third) in pairs {
            let (first, third) = (text(first.as_ref()), text(third.as_ref()));
            assert_eq!(first, third.replace(later, first_time));
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    let cases: [(&str, &str, &str); 9] = [
        (
            "manifest",
            "",
            "tasks/shop/OK-7/task-manifest.json:1:1: not usable as JSON: EOF while parsing a value",
        ),
        (
            "manifest",
            "{\n  \"a\": 1,\n}\n",
            "tasks/shop/OK-7/task-manifest.json:3:1: not usable as JSON: key must be a string",
        ),
        (
            "manifest",
            "[]",
            "tasks/shop/OK-7/task-manifest.json:1:1: not usable as JSON: not an object",
        ),
        (
            "manifest",
            "{\"workflow\": null}",
            "tasks/shop/OK-7/task-manifest.json:1:14: not usable as JSON: not an object",
        ),
        (
            "manifest",
            "{\"taskKey\": \"tea:shop:ok-7\"}",
            "tasks/shop/OK-7/task-manifest.json belongs to the task 'tea:shop:ok-7', not to 'tea:shop:OK-7'",
        ),
        (
            "catalog",
            "{\"tasks\": [",
            "discovery/task-catalog.json:1:11: not usable as JSON: EOF while parsing a list",
        ),
        (
            "catalog",
            "{\"tasks\": {}}",
            "discovery/task-catalog.json:1:11: not usable as JSON: not an array",
        ),
        ("catalog", "[]", "discovery/task-catalog.json:1:1: not usable as JSON: not an object"),
        ("latest", "\"x\"", "discovery/latest-task.json:1:1: not usable as JSON: not an object"),
    ];
    for (which, broken, message) in cases {
        let mut request = request("error-analysis");
        let slot = match which {
            "manifest" => &mut request.manifest,
            "catalog" => &mut request.catalog,
            _ => &mut request.latest,
        };
        *slot = Some(broken.into());
        let error = bundle(&request).unwrap_err();
        assert_eq!(error.to_string(), format!("/home/ada/tea/.okstra/{message}"), "{broken}");
    }
}

#[test]
fn requests_that_make_no_sense() {
    let unknown = bundle(&request("deployment")).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no task type 'deployment'; it is one of requirements-discovery, \
         improvement-discovery, error-analysis, implementation-planning, implementation, \
         final-verification, release-handoff"
    );
    assert_eq!(bundle(&request("implementation")).unwrap_err(), BundleError::MissingStage);
    let no_plan = BundleRequest { plan_path: None, ..stage_request(1) };
    assert_eq!(bundle(&no_plan).unwrap_err(), BundleError::MissingPlan);
    let stage = BundleRequest { task_type: "error-analysis".into(), ..stage_request(1) };
    assert_eq!(
        bundle(&stage).unwrap_err().to_string(),
        "--stage is only meaningful with --task-type implementation; got error-analysis"
    );
}

#[test]
fn ids_stay_in_their_folders() {
    let mut hostile = request("error-analysis");
    hostile.task_group = "..".into();
    hostile.task_id = "a/../../b".into();
    let made = bundle(&hostile).unwrap();
    assert_eq!(made.run_folder, "/home/ada/tea/.okstra/tasks/--/a-..-..-b/runs/error-analysis");
    assert_eq!(parsed(made.manifest.as_ref())["taskId"], "a/../../b");
}

#[test]
fn the_workflow_of_a_task() {
    // The phase states and last phase before, the phase that begins; its state, the state of the
    // planning, and the last phase after.
    let cases = [
        (json!({}), "", "implementation", "in-progress", "completed", "implementation-planning"),
        (
            json!({"implementation": "in-progress"}),
            "implementation-planning",
            "implementation",
            "in-progress",
            "completed",
            "implementation-planning",
        ),
        // A stage once more: what is completed stays so.
        (
            json!({"implementation": "completed"}),
            "implementation",
            "implementation",
            "completed",
            "completed",
            "implementation",
        ),
        (
            json!({"implementation": "completed"}),
            "final-verification",
            "implementation",
            "completed",
            "completed",
            "final-verification",
        ),
        (
            json!({"error-analysis": "completed"}),
            "error-analysis",
            "implementation",
            "in-progress",
            "completed",
            "implementation-planning",
        ),
        (
            json!({"implementation-planning": "completed"}),
            "implementation-planning",
            "implementation-planning",
            "in-progress",
            "in-progress",
            "implementation-planning",
        ),
        (
            json!({"error-analysis": "completed"}),
            "",
            "implementation-planning",
            "in-progress",
            "in-progress",
            "error-analysis",
        ),
        (
            json!({"implementation": "completed", "implementation-planning": "completed"}),
            "implementation",
            "final-verification",
            "in-progress",
            "completed",
            "implementation",
        ),
        (json!({}), "", "requirements-discovery", "in-progress", "not-started", ""),
    ];
    for (states, last, phase, state, planning, last_after) in cases {
        let mut request = if phase == "implementation" { stage_request(1) } else { request(phase) };
        let before =
            json!({"workflow": {"phaseStates": states, "lastCompletedPhase": last, "mine": 1}});
        request.manifest = Some(before.to_string());
        let made = bundle(&request).unwrap();
        let workflow = &parsed(made.manifest.as_ref())["workflow"];
        let context = format!("{before} {phase} {workflow}");
        assert_eq!(workflow["currentPhase"], phase, "{context}");
        assert_eq!(workflow["currentPhaseState"], state, "{context}");
        assert_eq!(workflow["phaseStates"][phase], state, "{context}");
        assert_eq!(workflow["phaseStates"]["implementation-planning"], planning, "{context}");
        assert_eq!(workflow["lastCompletedPhase"], last_after, "{context}");
        assert_eq!(workflow["nextRecommendedPhase"], next_phase(phase), "{context}");
        assert_eq!(workflow["mine"], 1, "{context}");
        assert_eq!(workflow["phaseStates"].as_object().unwrap().len(), PHASES.len(), "{context}");
    }
}
