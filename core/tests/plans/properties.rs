//! Properties that hold for every plan: what is written from a model reads back as that model,
//! repairs touch nothing but their own places, and the graph agrees with the slow way to it.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use okstra_core::check::{
    CheckOptions, CheckReport, approve_plan, check_plan, fix_plan, parse_plan, plan_graph,
};
use okstra_core::error::OkstraError;
use okstra_core::finding::{Code, Finding};
use okstra_core::graph::Graph;
use okstra_core::plan::ApprovalState;
use okstra_core::render::{CheckFormat, CheckRequest, GraphFormat, render_check, render_graph};
use okstra_core::source::{LineIndex, SourceRange};
use proptest::prelude::*;

/// A failure is shown with its smallest input; it becomes a fixture by hand, not a file of seeds.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

// ---- the model

#[derive(Clone, Debug)]
struct StageModel {
    title: String,
    /// Lower stages only, so that there is no cycle.
    depends_on: BTreeSet<u32>,
    /// For each step its files.
    steps: Vec<Vec<String>>,
    cancelled: bool,
    /// Which careless spelling the cell and the heading have; 0 is canonical.
    cell: usize,
    heading: usize,
}

#[derive(Clone, Debug)]
struct PlanModel {
    stages: Vec<StageModel>,
    number: &'static str,
    columns: usize,
    line_end: &'static str,
    bom: bool,
    final_newline: bool,
}

fn title() -> impl Strategy<Value = String> {
    // Words only: white space at the ends and doubled is the writer's, not the title's.
    proptest::collection::vec(
        prop_oneof![
            "[a-zA-Z][a-z0-9]{0,8}",
            Just("한글".to_owned()),
            Just("naïve".to_owned()),
            Just("日本".to_owned()),
            Just("a|b".to_owned()),
            Just("x-y".to_owned()),
            Just("Größe".to_owned()),
            Just("\u{1f9c0}x".to_owned()),
        ],
        1..5,
    )
    .prop_map(|words| words.join(" "))
}

fn file() -> impl Strategy<Value = String> {
    "[a-d]{1,2}(/[a-f]{1,3}){0,2}\\.(rs|ts|md)"
}

fn stage(at: usize, acyclic: bool) -> impl Strategy<Value = StageModel> {
    let before = if acyclic { u32::try_from(at).unwrap() } else { 8 };
    (
        title(),
        proptest::collection::btree_set(1..=before.max(1), 0..4),
        proptest::collection::vec(proptest::collection::vec(file(), 0..4), 1..7),
        proptest::bool::weighted(0.1),
        0_usize..12,
        0_usize..8,
    )
        .prop_map(move |(title, depends_on, steps, cancelled, cell, heading)| StageModel {
            title,
            depends_on: if acyclic && at == 0 { BTreeSet::new() } else { depends_on },
            steps,
            cancelled,
            cell,
            heading,
        })
}

fn stages() -> impl Strategy<Value = Vec<StageModel>> {
    (1_usize..9)
        .prop_flat_map(|count| (0..count).map(|at| stage(at, true).boxed()).collect::<Vec<_>>())
}

fn plan() -> impl Strategy<Value = PlanModel> {
    (
        stages(),
        prop_oneof![Just("4.5"), Just("5.5"), Just("")],
        0_usize..3,
        prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(mut stages, number, columns, line_end, bom, final_newline)| {
            // Nothing may depend on a cancelled stage.
            let cancelled: BTreeSet<u32> =
                (1..).zip(&stages).filter(|(_, each)| each.cancelled).map(|(n, _)| n).collect();
            for stage in &mut stages {
                stage.depends_on.retain(|on| !cancelled.contains(on));
                if stage.cancelled {
                    stage.depends_on.clear();
                }
            }
            PlanModel { stages, number, columns, line_end, bom, final_newline }
        })
}

// ---- writing it

fn joined(numbers: &BTreeSet<u32>, with: &str, decorate: impl Fn(u32) -> String) -> String {
    numbers.iter().map(|number| decorate(*number)).collect::<Vec<_>>().join(with)
}

/// The cell in one of its spellings.
fn cell(on: &BTreeSet<u32>, spelling: usize) -> String {
    if on.is_empty() {
        return [
            "(none)",
            "none",
            "—",
            "-",
            "n/a",
            "",
            "없음",
            "keine",
            "None (see 3)",
            "無",
            "(none)",
            "なし",
        ][spelling]
            .to_owned();
    }
    let plain = |n: u32| n.to_string();
    match spelling {
        1 => joined(on, ", ", |n| format!("Stage {n}")),
        2 => joined(on, " and ", plain),
        3 => joined(on, "<br>", |n| format!("#{n}")),
        4 => joined(on, "; ", |n| format!("S{n}")),
        5 => joined(on, "、", |n| format!("0{n}")),
        6 => joined(on, ", ", |n| format!("**{n}**")),
        7 => joined(on, " & ", |n| format!("{n} (part 9)")),
        8 => joined(on, " + ", |n| format!("`{n}`")),
        9 => joined(on, ", ", |n| format!("{n} ✅")),
        10 => joined(on, ",", |n| {
            n.to_string().chars().map(|ch| char::from_u32(ch as u32 + 0xFEE0).unwrap()).collect()
        }),
        11 => {
            // As ranges.
            let mut ranges: Vec<(u32, u32)> = Vec::new();
            for &n in on {
                match ranges.last_mut() {
                    Some(last) if last.1 + 1 == n => last.1 = n,
                    _ => ranges.push((n, n)),
                }
            }
            let words: Vec<String> = ranges
                .iter()
                .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}–{b}") })
                .collect();
            words.join(", ")
        }
        _ => joined(on, ", ", plain),
    }
}

fn heading(number: &str, n: usize, title: &str, spelling: usize) -> String {
    let dotted = if number.is_empty() { String::new() } else { format!("{number}.{n} ") };
    match spelling {
        1 => format!("## **{dotted}Stage {n}: {title}**"),
        2 => format!("## {dotted}Stage {n} — {title}"),
        3 => format!("## {dotted}stage {n}: {title} ##"),
        4 => format!("## {dotted}Stage {n}：{title}"),
        // Two blanks would make it a part of a list item before it.
        5 => format!(" ## ✅ {dotted}Stage 0{n}: {title}"),
        6 => format!("{dotted}Stage {n}: {title}\n-----------"),
        7 => format!("## Stage {n}: {title}"),
        _ => format!("## {dotted}Stage {n}: {title}"),
    }
}

fn write_plan(model: &PlanModel) -> String {
    let order: [usize; 5] = [[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [1, 0, 3, 4, 2]][model.columns];
    let names = ["stage", "Title", "depends-on", "Step-Count", "exit-contract-summary"];
    let row = |cells: [String; 5]| {
        let cells: Vec<&str> = order.iter().map(|at| cells[*at].as_str()).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let number = if model.number.is_empty() { String::new() } else { format!("{} ", model.number) };
    let mut text = format!("# A plan\n\nSome words.\n\n## {number}Stage Map\n\n");
    text += &row(names.map(str::to_owned));
    text += "|---|---|---|---|---|\n";
    for (n, stage) in (1..).zip(&model.stages) {
        text += &row([
            if stage.cancelled { format!("~~{n}~~") } else { n.to_string() },
            stage.title.replace('|', "\\|"),
            cell(&stage.depends_on, if stage.cancelled { 0 } else { stage.cell }),
            stage.steps.len().to_string(),
            format!("part {n} \\| done"),
        ]);
    }
    for (n, stage) in (1..).zip(&model.stages).filter(|(_, stage)| !stage.cancelled) {
        let _ = write!(
            text,
            "\n{}\n\n### Carry-In\n\nWhat was before {n}.\n\n### Stepwise Execution Order\n\n\
             | step | action | files | command | expected |\n|---|---|---|---|---|\n",
            heading(model.number, n, &stage.title, stage.heading)
        );
        for (at, files) in (1..).zip(&stage.steps) {
            let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
            let _ = writeln!(
                text,
                "| {at} | do {n}.{at} | {} | `make a \\| b` | ok |",
                files.join(", ")
            );
        }
        text += "\n### Stage Exit Contract\n\nDone.\n\n### Stage Validation\n\n- `make`\n";
    }
    if !model.final_newline {
        text.truncate(text.trim_end().len());
    }
    let text = text.replace('\n', model.line_end);
    if model.bom { format!("\u{feff}{text}") } else { text }
}

// ---- help

fn check(text: &str) -> CheckReport {
    check_plan(text.as_bytes(), CheckOptions::default()).unwrap()
}

fn errors(report: &CheckReport) -> Vec<&Finding> {
    let errors = |each: &&Finding| each.code.severity() == okstra_core::finding::Severity::Error;
    report.findings.iter().filter(errors).collect()
}

/// Every range of a finding is a piece of the text.
fn ranges_are_sound(text: &str, findings: &[Finding]) {
    let naive = |range: &SourceRange| {
        let (start, end) = (range.start.offset as usize, range.end.offset as usize);
        assert!(start <= end && end <= text.len(), "{range:?}");
        assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{range:?}");
    };
    for finding in findings {
        naive(&finding.range);
        finding.related.iter().for_each(|related| naive(&related.range));
        assert!(!finding.message.contains(['\n', '\r']), "{:?}", finding.message);
        let Some(fix) = &finding.fix else { continue };
        let mut last = 0;
        for edit in &fix.edits {
            naive(&edit.range);
            assert!(edit.range.start.offset >= last, "edits overlap: {fix:?}");
            last = edit.range.end.offset;
        }
    }
    let starts: Vec<u32> = findings.iter().map(|each| each.range.start.offset).collect();
    assert!(starts.is_sorted(), "not in source order: {starts:?}");
}

fn everything(text: &str) {
    let bytes = text.as_bytes();
    let options = CheckOptions {
        strict: true,
        contract: true,
        require_approval: true,
        ..CheckOptions::default()
    };
    let report = match check_plan(bytes, options) {
        Err(OkstraError::Binary { offset, .. }) => {
            assert_eq!(Some(offset), text.find('\0'));
            return;
        }
        other => other.unwrap(),
    };
    ranges_are_sound(text, &report.findings);
    parse_plan(bytes).unwrap();
    assert_eq!(plan_graph(bytes).unwrap(), report.graph);
    graph_is_sound(&report.graph);
    fix_is_sound(text, options);
    approval_is_sound(text);
    for format in [
        CheckFormat::Text,
        CheckFormat::Pretty,
        CheckFormat::Json,
        CheckFormat::Sarif,
        CheckFormat::Github,
    ] {
        for color in [false, true] {
            let request = CheckRequest { options, format, color, paths: vec!["p.md".into()] };
            let output = render_check(&request, &[bytes]).unwrap();
            let shown = format!("{}{}", output.stdout, output.stderr);
            if matches!(format, CheckFormat::Json | CheckFormat::Sarif) {
                serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap();
                // Data, not talk: JSON escapes only what it has to.
                assert!(!shown.contains(|ch: char| ch < ' ' && ch != '\n'), "{shown:?}");
                continue;
            }
            let control = |ch: char| ch.is_control() && ch != '\n' && !(color && ch == '\u{1b}');
            assert!(!shown.contains(control), "{format:?} {shown:?}");
        }
    }
    for format in [GraphFormat::Json, GraphFormat::Mermaid, GraphFormat::Dot] {
        render_graph(bytes, format).unwrap();
    }
}

/// Repairs are made once, leave nothing to repair, and change only what they name.
fn fix_is_sound(text: &str, options: CheckOptions) -> String {
    let fixed = fix_plan(text.as_bytes(), options).unwrap();
    assert_eq!(fixed.changed, fixed.text != text);
    assert_eq!(fixed.changed, !fixed.applied.is_empty());
    ranges_are_sound(&fixed.text, &fixed.remaining);
    let again = fix_plan(fixed.text.as_bytes(), options).unwrap();
    assert_eq!(again.text, fixed.text, "a second repair changes something");
    let left: Vec<&Finding> = fixed.remaining.iter().filter(|each| each.fix.is_some()).collect();
    assert!(left.is_empty(), "still to be repaired: {left:#?}");
    fixed.text
}

fn approval_is_sound(text: &str) {
    let approved = match approve_plan(text.as_bytes()) {
        Err(OkstraError::NotApprovable { .. } | OkstraError::NoStageMap) => return,
        other => other.unwrap(),
    };
    if !approved.held_by.is_empty() {
        assert_eq!(approved.text, text);
        return;
    }
    let plan = parse_plan(approved.text.as_bytes()).unwrap();
    assert_eq!(plan.approval.state, ApprovalState::Approved);
    assert_eq!(approved.changed, approved.text != text);
    let again = approve_plan(approved.text.as_bytes()).unwrap();
    assert!(!again.changed);
}

// ---- the graph, the slow way

type Edges = BTreeMap<u32, BTreeSet<u32>>;

fn edges(graph: &Graph) -> Edges {
    let mut edges: Edges = graph.nodes.iter().map(|node| (node.stage, BTreeSet::new())).collect();
    for edge in &graph.edges {
        assert!(edges.get_mut(&edge.stage).unwrap().insert(edge.depends_on), "{edge:?} twice");
    }
    edges
}

/// Everything each stage waits for, directly or not; itself too where it is in a cycle.
fn reachable(edges: &Edges) -> Edges {
    let mut all = edges.clone();
    loop {
        let mut grew = false;
        for stage in edges.keys() {
            let more: BTreeSet<u32> =
                all[stage].iter().flat_map(|on| all[on].iter().copied()).collect();
            let set = all.get_mut(stage).unwrap();
            let before = set.len();
            set.extend(more);
            grew |= set.len() > before;
        }
        if !grew {
            return all;
        }
    }
}

/// The number of stages on the longest chain that ends with each stage outside cycles.
fn longest(edges: &Edges, weight: &BTreeMap<u32, u32>, reach: &Edges) -> BTreeMap<u32, u32> {
    fn of(
        stage: u32,
        edges: &Edges,
        weight: &BTreeMap<u32, u32>,
        done: &mut BTreeMap<u32, u32>,
    ) -> u32 {
        if let Some(known) = done.get(&stage) {
            return *known;
        }
        let before = edges[&stage].iter().map(|on| of(*on, edges, weight, done)).max().unwrap_or(0);
        done.insert(stage, before + weight[&stage]);
        before + weight[&stage]
    }
    let cyclic = |stage: &u32| {
        reach[stage].contains(stage) || reach[stage].iter().any(|on| reach[on].contains(on))
    };
    let mut done = BTreeMap::new();
    for stage in edges.keys().filter(|stage| !cyclic(stage)) {
        of(*stage, edges, weight, &mut done);
    }
    done
}

/// The length of the shortest cycle through stages that all wait for each other, longer than one.
fn shortest_cycle(edges: &Edges, knot: &BTreeSet<u32>) -> usize {
    let from = |start: u32| {
        let mut ring: BTreeSet<u32> = [start].into();
        for length in 1..=knot.len() {
            ring = ring
                .iter()
                .flat_map(|stage| {
                    edges[stage].iter().filter(move |on| *on != stage && knot.contains(on))
                })
                .copied()
                .collect();
            if ring.contains(&start) {
                return length;
            }
        }
        usize::MAX
    };
    knot.iter().map(|start| from(*start)).min().unwrap()
}

fn graph_is_sound(graph: &Graph) {
    let edges = edges(graph);
    if edges.len() > 40 {
        return;
    }
    let reach = reachable(&edges);
    let ones: BTreeMap<u32, u32> = edges.keys().map(|stage| (*stage, 1)).collect();
    let steps: BTreeMap<u32, u32> =
        graph.nodes.iter().map(|each| (each.stage, each.steps)).collect();
    let (mut waves, mut chains) = (longest(&edges, &ones, &reach), longest(&edges, &steps, &reach));
    // Nobody knows what these wait for, and so when what is behind them can start.
    let unclear = |stage: &u32| graph.unclear.contains(stage);
    let known = |stage: &u32| !unclear(stage) && !reach[stage].iter().any(unclear);
    waves.retain(|stage, _| known(stage));
    chains.retain(|stage, _| known(stage));
    for node in &graph.nodes {
        assert_eq!(node.wave, waves.get(&node.stage).copied(), "wave of {}", node.stage);
        if node.wave.is_some() {
            assert_eq!(node.chain_steps, chains[&node.stage], "chain of {}", node.stage);
        }
        assert_eq!(node.waits_for, edges[&node.stage].iter().copied().collect::<Vec<_>>());
        let unlocks: Vec<u32> = edges
            .iter()
            .filter(|(_, on)| on.contains(&node.stage))
            .map(|(stage, _)| *stage)
            .collect();
        assert_eq!(node.unlocks, unlocks);
    }
    for (at, wave) in graph.waves.iter().enumerate() {
        let members: Vec<u32> = waves
            .iter()
            .filter(|(_, wave)| **wave as usize == at + 1)
            .map(|(stage, _)| *stage)
            .collect();
        assert_eq!(*wave, members);
    }
    let widest = graph.waves.iter().map(Vec::len).max();
    assert_eq!(
        graph.widest_wave as usize,
        widest
            .map_or(0, |most| graph.waves.iter().position(|wave| wave.len() == most).unwrap() + 1)
    );
    // The critical path is a chain, from a stage without dependencies, with the most steps.
    let path = &graph.critical_path;
    assert_eq!(path.steps, chains.values().copied().max().unwrap_or(0));
    assert_eq!(path.steps, path.stages.iter().map(|stage| steps[stage]).sum::<u32>());
    assert!(path.stages.first().is_none_or(|first| edges[first].is_empty()));
    assert!(path.stages.windows(2).all(|pair| edges[&pair[1]].contains(&pair[0])));
    assert_eq!(path.stages.is_empty(), waves.is_empty());
    for node in &graph.nodes {
        assert_eq!(node.critical, path.stages.contains(&node.stage));
    }
    for edge in &graph.edges {
        let on_path = path.stages.windows(2).any(|pair| pair == [edge.depends_on, edge.stage]);
        assert_eq!(edge.critical, on_path);
        if waves.contains_key(&edge.stage) {
            let others = edges[&edge.stage].iter().filter(|on| **on != edge.depends_on);
            let implied = others.into_iter().any(|on| reach[on].contains(&edge.depends_on));
            assert_eq!(edge.transitive, implied, "{edge:?}");
        }
    }
    // Each knot has its shortest cycle, and so has each stage that depends on itself.
    let mut knots: Vec<BTreeSet<u32>> = Vec::new();
    for stage in edges.keys() {
        let mut knot: BTreeSet<u32> =
            reach[stage].iter().filter(|on| reach[on].contains(stage)).copied().collect();
        knot.insert(*stage);
        if knot.len() > 1 && !knots.contains(&knot) {
            knots.push(knot);
        }
    }
    let mut selves: BTreeSet<u32> =
        edges.iter().filter(|(stage, on)| on.contains(stage)).map(|(stage, _)| *stage).collect();
    for cycle in &graph.cycles {
        if let [only] = cycle.as_slice() {
            assert!(selves.remove(only), "{cycle:?}");
            continue;
        }
        let closed = cycle.iter().zip(cycle.iter().cycle().skip(1));
        assert!(closed.clone().all(|(stage, on)| edges[stage].contains(on)), "{cycle:?}");
        assert_eq!(cycle.iter().min(), cycle.first());
        let at = knots.iter().position(|knot| knot.contains(&cycle[0])).unwrap();
        let knot = knots.swap_remove(at);
        assert_eq!(cycle.len(), shortest_cycle(&edges, &knot), "{cycle:?}");
    }
    assert!(knots.is_empty() && selves.is_empty(), "no cycle told for {knots:?} {selves:?}");
}

fn map_of(rows: &[BTreeSet<u32>]) -> String {
    let mut text = String::from(
        "## 4.5 Stage Map\n\n| stage | title | depends-on | step-count | exit-contract-summary |\n\
         |---|---|---|---|---|\n",
    );
    for (n, on) in (1..).zip(rows) {
        let _ = writeln!(text, "| {n} | a | {} | {} | b |", cell(on, 0), (n * 7) % 5 + 1);
    }
    text
}

/// Text that looks like a plan that somebody dropped.
fn markdownish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[|`#*_~\\[\\]()<>!&\\\\ \t\n-]{1,6}",
        2 => "[0-9]{1,3}",
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        2 => Just("| ".to_owned()),
        1 => Just("\n## 4.5 Stage Map\n\n| stage | title | depends-on | step-count | exit-contract-summary |\n|---|---|---|---|---|\n".to_owned()),
        2 => "\n\\| [0-9~#]{1,3} \\| [a|`*]{1,4} \\| [0-9, a–-]{0,5} \\| [0-9]{0,2} \\| x \\|\n",
        1 => "\n## 4.5.[1-4] Stage [1-4]: [a*`\\[]{1,4}\n",
        1 => Just("\n### Stepwise Execution Order\n\n| step | action | files | command | expected |\n|---|---|---|---|---|\n".to_owned()),
        1 => Just("\n### Stage Validation\n".to_owned()),
        1 => Just("\n- [ ] Approved\n".to_owned()),
        1 => Just("\n- [x] Approved\n".to_owned()),
        1 => Just("\n```\n".to_owned()),
        1 => Just("<!--".to_owned()),
        1 => Just("-->".to_owned()),
        1 => Just("\n---\n".to_owned()),
        1 => Just("\u{301}\u{1f469}\u{200d}한\u{2028}\u{202e}\u{feff}".to_owned()),
        1 => "\\PC{0,4}",
        1 => "[\u{1}-\u{1f}]{1,2}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(config(250))]

    #[test]
    fn a_plan_reads_back_as_its_model(model in plan()) {
        let text = write_plan(&model);
        let report = check(&text);
        prop_assert!(errors(&report).is_empty(), "{:#?}\n{text}", errors(&report));
        let found: BTreeSet<Code> = report.findings.iter().map(|each| each.code).collect();
        prop_assert!(found.is_subset(&[Code::W1, Code::W2, Code::S9].into()), "{:#?}", report.findings);
        prop_assert_eq!(report.stages.len(), model.stages.len());
        for ((n, stage), wanted) in (1..).zip(&report.stages).zip(&model.stages) {
            prop_assert_eq!(stage.stage_number, Some(n));
            prop_assert_eq!(&stage.title, &wanted.title);
            prop_assert_eq!(stage.cancelled, wanted.cancelled);
            prop_assert_eq!(&stage.depends_on, &wanted.depends_on.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(stage.step_count, u32::try_from(wanted.steps.len()).ok());
            prop_assert_eq!(&stage.exit_contract_summary, &format!("part {n} | done"));
            prop_assert_eq!(stage.section.is_none(), wanted.cancelled);
            let Some(section) = &stage.section else { continue };
            prop_assert_eq!(&section.title, &wanted.title);
            prop_assert_eq!(section.steps.len(), wanted.steps.len());
            prop_assert_eq!(section.validation.as_deref(), Some("- `make`"));
            for ((at, step), files) in (1..).zip(&section.steps).zip(&wanted.steps) {
                prop_assert_eq!(&step.step, &format!("{at}"));
                prop_assert_eq!(&step.action, &format!("do {n}.{at}"));
                prop_assert_eq!(&step.command, "make a | b");
                let mut once: Vec<&String> = Vec::new();
                for file in files {
                    if !once.contains(&file) { once.push(file); }
                }
                prop_assert_eq!(step.files.iter().collect::<Vec<_>>(), once);
            }
        }
        // A careless cell is called so, and a canonical one is not.
        let rows: BTreeSet<u32> = report.findings.iter()
            .filter(|each| each.code == Code::W2 && each.message.starts_with("canonical form is '")
                && !each.message.contains("## "))
            .map(|each| each.stage).collect();
        for (n, stage) in (1..).zip(&model.stages) {
            let canonical = stage.cancelled
                || cell(&stage.depends_on, stage.cell) == cell(&stage.depends_on, 0)
                || !stage.depends_on.is_empty() && stage.cell == 0;
            prop_assert_eq!(rows.contains(&n), !canonical, "stage {}", n);
        }
        everything(&text);
    }

    #[test]
    fn shared_files_agree_with_brute_force(model in plan()) {
        let text = write_plan(&model);
        let report = check(&text);
        let reach = reachable(&edges(&report.graph));
        let files = |stage: &StageModel| -> BTreeSet<String> {
            stage.steps.iter().flatten().cloned().collect()
        };
        let mut wanted = BTreeSet::new();
        let live: Vec<(u32, &StageModel)> =
            (1..).zip(&model.stages).filter(|(_, stage)| !stage.cancelled).collect();
        for (a, first) in &live {
            for (b, second) in live.iter().filter(|(b, _)| b > a) {
                if !reach[a].contains(b) && !reach[b].contains(a) {
                    for file in files(first).intersection(&files(second)) {
                        wanted.insert(format!("stage {a} and stage {b} may run in parallel and both touch {file}"));
                    }
                }
            }
        }
        let found: Vec<&String> = report.findings.iter()
            .filter(|each| each.code == Code::S9).map(|each| &each.message).collect();
        prop_assert_eq!(found.len(), wanted.len());
        prop_assert_eq!(found.into_iter().cloned().collect::<BTreeSet<_>>(), wanted);
    }

    #[test]
    fn a_repair_changes_only_what_it_names(model in plan()) {
        let text = write_plan(&model);
        let first = check(&text);
        // Apply by hand the edits of the findings of one check that have a single edit.
        let mut edits: Vec<_> = first.findings.iter()
            .filter_map(|each| each.fix.as_ref()).flat_map(|fix| fix.edits.iter()).collect();
        edits.sort_by_key(|edit| (edit.range.start.offset, edit.range.end.offset));
        edits.dedup_by_key(|edit| edit.range.start.offset);
        let fixed = fix_plan(text.as_bytes(), CheckOptions::default()).unwrap();
        // What stands between the places of the edits stands there still, in the same order.
        let mut at = 0;
        let mut rest = fixed.text.as_str();
        for edit in &edits {
            let between = &text[at..edit.range.start.offset as usize];
            let place = rest.find(between);
            prop_assert!(place.is_some(), "{between:?} is gone");
            rest = &rest[place.unwrap() + between.len()..];
            at = edit.range.end.offset as usize;
        }
        prop_assert!(rest.ends_with(&text[at..]));
        if edits.is_empty() {
            prop_assert_eq!(&fixed.text, &text);
        }
        // Line ends stay, and the graph stays but for edges that others imply.
        let ends = |text: &str| (text.matches('\r').count(), text.matches('\n').count());
        let setext = model.stages.iter().any(|stage| stage.heading == 6 && !stage.cancelled);
        if !setext {
            prop_assert_eq!(ends(&fixed.text), ends(&text));
        }
        let after = check(&fixed.text);
        prop_assert_eq!(&after.graph.waves, &first.graph.waves);
        prop_assert_eq!(reachable(&edges_of(&after)), reachable(&edges_of(&first)));
        prop_assert!(after.findings.iter().all(|each| each.code == Code::S9), "{:#?}", after.findings);
    }

    #[test]
    fn renumbering_keeps_the_graph(model in plan(), gaps in proptest::collection::vec(1_u32..4, 9)) {
        let model = PlanModel { number: "4.5", ..model };
        let canonical = PlanModel {
            stages: model.stages.iter()
                .map(|stage| StageModel { cell: 0, heading: 0, ..stage.clone() }).collect(),
            ..model
        };
        let mut numbers = BTreeMap::new();
        let mut next = 0;
        for (n, gap) in (1..).zip(&gaps) {
            next += gap;
            numbers.insert(n, next);
        }
        let moved = renumbered(&canonical, &numbers);
        let text = write_plan(&canonical);
        let fixed = fix_plan(moved.as_bytes(), CheckOptions::default()).unwrap();
        let wanted = fix_plan(text.as_bytes(), CheckOptions::default()).unwrap();
        prop_assert_eq!(&fixed.text, &wanted.text);
        prop_assert!(fixed.remaining.iter().all(|each| each.code == Code::S9), "{:#?}", fixed.remaining);
    }

    #[test]
    fn a_wrong_step_count_is_repaired(model in plan(), wrong in 0_u32..50) {
        let text = write_plan(&model);
        let Some((at, stage)) = model.stages.iter().enumerate().find(|(_, stage)| !stage.cancelled)
            else { return Ok(()) };
        let old = check(&text).stages[at].clone();
        let row = &text[old.range.start.offset as usize..old.range.end.offset as usize];
        let changed = row.replacen(
            &format!("| {} |", stage.steps.len()), &format!("| {wrong} |"), 1);
        prop_assume!(wrong as usize != stage.steps.len());
        let broken = text.replacen(row, &changed, 1);
        let report = check(&broken);
        prop_assume!(report.stages[at].step_count == Some(wrong));
        prop_assert!(report.findings.iter().any(|each| each.code == Code::S7));
        let fixed = fix_is_sound(&broken, CheckOptions::default());
        prop_assert_eq!(fixed, fix_is_sound(&text, CheckOptions::default()));
    }

    #[test]
    fn graphs_agree_with_the_slow_way(
        rows in proptest::collection::vec(proptest::collection::btree_set(1_u32..10, 0..4), 9)
    ) {
        let report = check(&map_of(&rows));
        prop_assert_eq!(report.graph.nodes.len(), 9);
        graph_is_sound(&report.graph);
        let told = report.findings.iter().filter(|each| each.code == Code::S8).count();
        prop_assert_eq!(told, report.graph.cycles.len());
        let implied: BTreeSet<u32> = report.graph.edges.iter()
            .filter(|edge| edge.transitive).map(|edge| edge.stage).collect();
        let w1: BTreeSet<u32> = report.findings.iter()
            .filter(|each| each.code == Code::W1).map(|each| each.stage).collect();
        prop_assert_eq!(w1, implied);
    }

    #[test]
    fn dense_graphs_without_cycles_agree_with_the_slow_way(
        rows in proptest::collection::vec(proptest::collection::btree_set(0_u32..20, 0..20), 20)
    ) {
        let rows: Vec<BTreeSet<u32>> = (1..).zip(rows)
            .map(|(n, row)| row.into_iter().filter(|on| *on > 0 && *on < n).collect()).collect();
        let report = check(&map_of(&rows));
        graph_is_sound(&report.graph);
        prop_assert!(report.graph.cycles.is_empty());
    }

    #[test]
    fn positions_agree_with_counting(text in markdownish(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 8)) {
        let index = LineIndex::new(&text);
        for cut in cuts {
            let mut offset = cut.index(text.len() + 1);
            let asked = offset;
            while !text.is_char_boundary(offset) { offset -= 1; }
            let before = &text[..offset];
            // CR LF is one end, and it ends behind the LF.
            let flat = before.replace("\r\n", "\n\n");
            let ends = before.replace("\r\n", "\n").replace('\r', "\n");
            let inside_crlf = before.ends_with('\r') && text[offset..].starts_with('\n');
            let line = ends.matches('\n').count() + 1 - usize::from(inside_crlf);
            let start = if inside_crlf {
                flat[..flat.len() - 1].rfind(['\n', '\r']).map_or(0, |at| at + 1)
            } else {
                flat.rfind(['\n', '\r']).map_or(0, |at| at + 1)
            };
            let column = &before[start..];
            let got = index.position(asked);
            prop_assert_eq!(got.offset as usize, offset);
            prop_assert_eq!(got.line as usize, line);
            prop_assert_eq!(got.column as usize, column.chars().count() + 1);
            prop_assert_eq!(got.column_utf16 as usize, column.encode_utf16().count() + 1);
            prop_assert_eq!(got.offset_utf16 as usize, before.encode_utf16().count());
            prop_assert_eq!(index.line(offset) as usize, line);
        }
    }
}

proptest! {
    #![proptest_config(config(800))]

    #[test]
    fn no_text_makes_it_panic(text in markdownish()) {
        everything(&text);
    }

    #[test]
    fn no_change_of_a_plan_makes_it_panic(
        model in plan(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..6, markdownish()), 1..4),
    ) {
        let mut text = write_plan(&model);
        for (at, length, new) in cuts {
            let mut start = at.index(text.len() + 1);
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            let new: String = new.chars().take(12).collect();
            text.replace_range(start..end, &new);
        }
        everything(&text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        match std::str::from_utf8(&bytes) {
            Ok(text) => everything(text),
            Err(error) => {
                let nul = bytes.iter().position(|byte| *byte == 0);
                match check_plan(&bytes, CheckOptions::default()).unwrap_err() {
                    OkstraError::NotUtf8 { offset, .. } => prop_assert_eq!(offset, error.valid_up_to()),
                    OkstraError::Binary { offset, .. } => prop_assert_eq!(Some(offset), nul),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }
}

fn edges_of(report: &CheckReport) -> Edges {
    edges(&report.graph)
}

/// The plan with other stage numbers everywhere.
fn renumbered(model: &PlanModel, numbers: &BTreeMap<u32, u32>) -> String {
    let text = write_plan(model);
    let mut lines: Vec<String> = Vec::new();
    let mut rows = model.stages.iter().zip(1..);
    let order: [usize; 5] = [[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [1, 0, 3, 4, 2]][model.columns];
    let mut in_map = false;
    for line in text.split(model.line_end) {
        let mut line = line.to_owned();
        if line.starts_with("|---") && lines.len() < 8 {
            in_map = true;
        } else if in_map {
            if let Some((stage, n)) = rows.next() {
                let on = stage.depends_on.iter().map(|on| numbers[on]).collect();
                let number = numbers[&n];
                let cells = [
                    if stage.cancelled { format!("~~{number}~~") } else { number.to_string() },
                    stage.title.replace('|', "\\|"),
                    cell(&on, 0),
                    stage.steps.len().to_string(),
                    format!("part {n} \\| done"),
                ];
                let cells: Vec<&str> = order.iter().map(|at| cells[*at].as_str()).collect();
                line = format!("| {} |", cells.join(" | "));
            } else {
                in_map = false;
            }
        }
        if let Some(rest) = line.strip_prefix("## 4.5.")
            && let Some((n, rest)) = rest.split_once(" Stage ")
            && let Some((_, title)) = rest.split_once(": ")
        {
            let number = numbers[&n.parse::<u32>().unwrap()];
            line = format!("## 4.5.{number} Stage {number}: {title}");
        }
        lines.push(line);
    }
    lines.join(model.line_end)
}
