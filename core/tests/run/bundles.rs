//! Whole bundles, byte for byte: `fixtures/bundles`.
//!
//! With `UPDATE_FIXTURES=1` the files are written instead of compared; look at the difference
//! before it is committed.
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use okstra_core::check::{CheckOptions, check_plan};
use okstra_core::finding::Severity;
use okstra_core::run::{Bundle, BundleRequest, RunInputs, bundle, stage_map, stage_of_plan};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::support::{claimed, fixtures, given, request, stage_request, with_records};

/// Compares every file of a bundle with the fixture of its name.
fn compare(case: &str, bundle: &Bundle) {
    let folder = fixtures().join(case);
    let update = env::var_os("UPDATE_FIXTURES").is_some();
    if update {
        fs::create_dir_all(&folder).unwrap();
    }
    let records = [&bundle.manifest, &bundle.catalog, &bundle.latest];
    let records = records.into_iter().flatten().map(|change| (&change.path, &change.text));
    let new = bundle.files.iter().map(|file| (&file.path, &file.text));
    let mut names = BTreeSet::new();
    for (path, text) in new.chain(records) {
        let name = path.rsplit('/').next().unwrap();
        assert!(names.insert(name.to_owned()), "{name} twice");
        if update {
            fs::write(folder.join(name), text).unwrap();
        }
        let wanted = fs::read_to_string(folder.join(name)).unwrap();
        assert!(*text == wanted, "{case}/{name} is different; it is now:\n{text}");
        if Path::new(name).extension().is_some_and(|kind| kind == "json") {
            serde_json::from_str::<serde_json::Value>(text).unwrap();
        }
    }
    let there = fs::read_dir(&folder).unwrap();
    let there = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names, there.collect(), "{case}");
}

fn paths(bundle: &Bundle) -> Vec<&str> {
    bundle.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn the_given_plan_is_sound() {
    let report = check_plan(given("plan.md").as_bytes(), CheckOptions::default()).unwrap();
    let errors = |finding: &&okstra_core::finding::Finding| finding.severity == Severity::Error;
    let errors: Vec<_> = report.findings.iter().filter(errors).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_claimed_stage_of_a_task_with_records() {
    let bundle = bundle(&claimed()).unwrap();
    let run = "/home/ada/tea/.okstra/tasks/shop/OK-7/runs/implementation/stage-4";
    assert_eq!(bundle.run_folder, run);
    assert_eq!(
        paths(&bundle),
        [
            format!("{run}/manifests/run-manifest-implementation-012.json"),
            format!("{run}/prompts/launch-prompt-implementation-012.md"),
            format!("{run}/state/stage-map-012.json"),
        ]
    );
    compare("claimed", &bundle);
}

#[test]
fn a_preview_of_a_stage_of_a_new_task() {
    compare("preview", &bundle(&stage_request(1)).unwrap());
}

#[test]
fn other_phases() {
    let bundle_of = |request: &BundleRequest| bundle(request).unwrap();
    let analysis = bundle_of(&request("error-analysis"));
    assert_eq!(analysis.run_folder, "/home/ada/tea/.okstra/tasks/shop/OK-7/runs/error-analysis");
    compare("error-analysis", &analysis);
    let mut agreed = request("release-handoff");
    agreed.inputs = RunInputs {
        base_branch: Some("main".into()),
        related_tasks: vec!["tea:shop:OK-1".into(), "tea:shop:`x`\u{1b}".into()],
        handoff_stages: vec![1, 4],
        ..RunInputs::default()
    };
    compare("release-handoff", &bundle_of(&agreed));
    let mut verification = with_records(request("final-verification"));
    verification.plan_path = stage_request(1).plan_path;
    compare("final-verification", &bundle_of(&verification));
    for phase in [
        "requirements-discovery",
        "improvement-discovery",
        "release-handoff",
        "implementation-planning",
    ] {
        let bundle = bundle_of(&request(phase));
        assert_eq!(bundle.files.len(), 2, "{phase}");
        assert!(bundle.files[1].text.contains(&format!("final-report-{phase}-001.data.json")));
    }
}

#[test]
fn what_was_agreed_about_a_stage() {
    let mut request = claimed();
    let before = bundle(&request).unwrap();
    let text = |text: &str| Some(String::from(text));
    request.inputs = RunInputs {
        base_branch: text("release/2"),
        executor: text("codex"),
        critic: text("claude"),
        models: vec!["claude=opus[1m]".into()],
        ..RunInputs::default()
    };
    let agreed = bundle(&request).unwrap();
    let prompt = &agreed.files[1].text;
    let (_, section) = prompt.split_once("\n## What was agreed\n\n").unwrap();
    let (section, _) = section.split_once("\n## How to end\n").unwrap();
    assert_eq!(
        section,
        "- Base branch: `release/2`\n- Executor: `codex`; it builds the stage\n\
         - Critic: `claude` with the model `opus[1m]`; it reviews the result before it is recorded, \
         and its findings are answered\n"
    );
    // Without it the page is as it was.
    let rest = prompt.replace(&format!("\n## What was agreed\n\n{section}"), "");
    assert_eq!(rest, before.files[1].text);
    let manifest: serde_json::Value = serde_json::from_str(&agreed.files[0].text).unwrap();
    assert_eq!(
        manifest["inputs"],
        serde_json::json!({
            "baseBranch": "release/2", "executor": "codex", "critic": "claude",
            "models": { "claude": "opus[1m]" },
        })
    );
    request.inputs.executor = text("emacs");
    assert!(bundle(&request).is_err());
}

#[test]
fn the_stage_map_as_data() {
    let map = stage_map(given("plan.md").as_bytes()).unwrap();
    let rows: Vec<_> = map.iter().map(|row| (row.stage_number, row.depends_on.clone())).collect();
    assert_eq!(rows, [(1, vec![]), (2, vec![]), (4, vec![1, 2])]);
    let file = &bundle(&stage_request(4)).unwrap().files[2].text;
    let parsed: serde_json::Value = serde_json::from_str(file).unwrap();
    assert_eq!(parsed, serde_json::to_value(&map).unwrap());
    for none in [0, 3, 5] {
        assert_eq!(stage_of_plan(given("plan.md").as_bytes(), none).unwrap(), None, "{none}");
    }
}

/// The headings of a page that a reader sees.
fn headings(page: &str) -> Vec<String> {
    let mut headings = Vec::new();
    let mut open = false;
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                open = true;
                headings.push(String::new());
            }
            Event::End(TagEnd::Heading(_)) => open = false,
            Event::Text(text) | Event::Code(text) if open => {
                headings.last_mut().unwrap().push_str(&text);
            }
            Event::Html(html) | Event::InlineHtml(html) => assert!(html.is_empty(), "{html}"),
            _ => {}
        }
    }
    headings
}

#[test]
fn a_plan_stays_inside_its_quotes() {
    let nasty = [
        "# out",
        "```\n# out\n```",
        "````\n\n# out",
        "</details>\n\n# out",
        "`` ` ``\r\n# out",
        "x\n===\n",
        "a\r# out\r",
        "\u{2028}# out",
        "* * *\n- [ ] x\n   # out",
    ];
    for text in nasty {
        let mut request = claimed();
        let stage = request.stage.as_mut().unwrap();
        text.clone_into(&mut stage.title);
        stage.carry_in = Some(text.into());
        stage.exit_contract = Some(text.into());
        stage.validation = Some(text.into());
        stage.branch = Some(text.into());
        stage.claim_id = Some(text.into());
        stage.evidence[0].text = text.into();
        stage.evidence[0].path = text.into();
        for step in &mut stage.steps {
            for cell in [&mut step.step, &mut step.action, &mut step.command, &mut step.expected] {
                text.clone_into(cell);
            }
            step.files = vec![text.into(), text.into()];
        }
        let page = &bundle(&request).unwrap().files[1].text;
        let found = headings(page);
        assert!(found[0].starts_with("Stage 4: "), "{text:?} {found:?}");
        let ours =
            ["Where to work", "Carry-In", "Steps", "Exit contract", "Validation", "How to end"];
        assert_eq!(found[1..], ours, "{text:?}\n{page}");
    }
}

#[test]
fn the_evidence_to_fill_in_is_json() {
    let page = &bundle(&claimed()).unwrap().files[1].text;
    let (_, rest) = page.split_once("### Stage Carry Evidence\n\n```json\n").unwrap();
    let (block, _) = rest.split_once("\n```\n").unwrap();
    let evidence: serde_json::Value = serde_json::from_str(block).unwrap();
    assert_eq!(evidence["stageNumber"], 4);
    assert_eq!(evidence["stageCommitRange"]["base"], "3333333333333333333333333333333333333333");
    let steps = evidence["stepResults"].as_array().unwrap();
    assert_eq!(
        steps.iter().map(|step| step["step"].clone()).collect::<Vec<_>>(),
        [serde_json::json!(1), serde_json::json!("b"),]
    );
}
