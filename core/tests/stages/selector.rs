//! The selector: tables of what is given and what is refused with which words, and what holds for
//! every graph.
use std::collections::{BTreeMap, BTreeSet};

use okstra_core::choose::{
    ChooseRequest, Explanation, Holder, Order, Readiness, Refusal, StageFacts, choose, explain,
};
use proptest::prelude::*;

/// A field of stages that owns what a request borrows.
#[derive(Clone, Debug, Default)]
struct Field {
    stages: Vec<Row>,
    done: Vec<u32>,
    running: Vec<u32>,
    reserved: Vec<u32>,
    reclaim: Vec<u32>,
    order: Order,
}

#[derive(Clone, Debug, Default)]
struct Row {
    stage: u32,
    depends_on: Vec<u32>,
    files: Vec<&'static str>,
    steps: u32,
    cancelled: bool,
    unclear: bool,
}

impl Field {
    /// `1 2:1 3:1,2`, each with one step; `~` before a number strikes it out, `?` makes it unclear.
    fn new(text: &str) -> Self {
        let rows = text.split_whitespace().map(|word| {
            let (name, list) = word.split_once(':').unwrap_or((word, ""));
            let list = list.split(',').filter(|on| !on.is_empty());
            Row {
                stage: name.trim_start_matches(['~', '?']).parse().unwrap(),
                depends_on: list.map(|on| on.parse().unwrap()).collect(),
                steps: 1,
                cancelled: name.starts_with('~'),
                unclear: name.starts_with('?'),
                ..Row::default()
            }
        });
        Self { stages: rows.collect(), ..Self::default() }
    }

    fn done(mut self, stages: &[u32]) -> Self {
        self.done = stages.to_vec();
        self
    }

    fn running(mut self, stages: &[u32]) -> Self {
        self.running = stages.to_vec();
        self
    }

    fn reserved(mut self, stages: &[u32]) -> Self {
        self.reserved = stages.to_vec();
        self
    }

    fn reclaim(mut self, stages: &[u32]) -> Self {
        self.reclaim = stages.to_vec();
        self
    }

    fn files(mut self, stage: u32, files: &[&'static str]) -> Self {
        self.row(stage).files = files.to_vec();
        self
    }

    fn steps(mut self, stage: u32, steps: u32) -> Self {
        self.row(stage).steps = steps;
        self
    }

    fn critical(mut self) -> Self {
        self.order = Order::CriticalPath;
        self
    }

    fn row(&mut self, stage: u32) -> &mut Row {
        self.stages.iter_mut().find(|row| row.stage == stage).unwrap()
    }

    fn request<'a>(&'a self, wish: &'a str) -> ChooseRequest<'a> {
        let holder = |stage: &u32| {
            let at = format!("2026-03-04T05:0{}:00Z", stage % 10);
            (*stage, Holder { impl_task_key: format!("p:g:{stage}"), started_at: at })
        };
        ChooseRequest {
            stages: self.stages.iter().map(Row::facts).collect(),
            done: self.done.iter().copied().collect(),
            running: self.running.iter().map(holder).collect(),
            reserved: self.reserved.iter().copied().collect(),
            reclaim: self.reclaim.iter().copied().collect(),
            wish,
            order: self.order,
            conflicts: &[],
        }
    }

    /// The stage that is given, or the words of the refusal.
    fn choose(&self, wish: &str) -> String {
        match choose(&self.request(wish)) {
            Ok(choice) => choice.stage.to_string(),
            Err(refusal) => refusal.to_string(),
        }
    }

    fn explain(&self) -> Vec<Explanation> {
        explain(&self.request("auto"))
    }
}

impl Row {
    fn facts(&self) -> StageFacts<'_> {
        StageFacts {
            stage: self.stage,
            depends_on: &self.depends_on,
            files: self.files.clone(),
            steps: self.steps,
            cancelled: self.cancelled,
            unclear: self.unclear,
        }
    }
}

#[test]
fn every_refusal_has_the_words_of_the_specification() {
    let three = || Field::new("1 2:1 3:1,2");
    let table = [
        (three(), "x", "--stage must be 'auto' or an integer, got 'x'"),
        (three(), "", "--stage must be 'auto' or an integer, got ''"),
        (three(), "1.5", "--stage must be 'auto' or an integer, got '1.5'"),
        (three(), "+1", "--stage must be 'auto' or an integer, got '+1'"),
        (three(), "-", "--stage must be 'auto' or an integer, got '-'"),
        (three(), "--1", "--stage must be 'auto' or an integer, got '--1'"),
        (three(), "1e0", "--stage must be 'auto' or an integer, got '1e0'"),
        (three(), "0x1", "--stage must be 'auto' or an integer, got '0x1'"),
        (three(), "１", "--stage must be 'auto' or an integer, got '１'"),
        (three(), "1 2", "--stage must be 'auto' or an integer, got '1 2'"),
        (three(), "AUTO", "--stage must be 'auto' or an integer, got 'AUTO'"),
        (three(), "a\u{1b}[31m\nb", "--stage must be 'auto' or an integer, got 'a[31mb'"),
        (three(), "9", "--stage 9 not in Stage Map (have [1, 2, 3])"),
        (three(), "0", "--stage 0 not in Stage Map (have [1, 2, 3])"),
        (three(), "-1", "--stage -1 not in Stage Map (have [1, 2, 3])"),
        (three(), " -1 ", "--stage -1 not in Stage Map (have [1, 2, 3])"),
        (three(), "999999999999", "--stage 999999999999 not in Stage Map (have [1, 2, 3])"),
        (
            three().done(&[1]),
            "1",
            "--stage 1 already completed (consumers.jsonl status:done exists)",
        ),
        // A done stage stays started.
        (
            three().done(&[1]).running(&[1]),
            "1",
            "--stage 1 already completed (consumers.jsonl status:done exists)",
        ),
        (three().running(&[1]), "1", "--stage 1 already started by p:g:1 at 2026-03-04T05:01:00Z"),
        (three().reserved(&[1]), "1", "--stage 1 is reserved in the worktree registry"),
        (three(), "2", "--stage 2 waits for stage 1"),
        (three(), "3", "--stage 3 waits for stages 1, 2"),
        (three().done(&[1]), "3", "--stage 3 waits for stage 2"),
        (Field::new("1 ~2 3:1"), "2", "--stage 2 is cancelled in the Stage Map"),
        (Field::new("1 ~2 3:1").done(&[2]), "2", "--stage 2 is cancelled in the Stage Map"),
        (
            Field::new("1 ?2"),
            "2",
            "--stage 2 waits for what its depends-on says, which cannot be read",
        ),
        (Field::new("1 ?2:1"), "2", "--stage 2 waits for stage 1"),
        (Field::new("1:2 2:1"), "1", "--stage 1 waits for stage 2"),
        (
            three().running(&[1]),
            "auto",
            "no stage is ready: every remaining stage has unsatisfied depends-on (running: 1 · \
             waiting: 2 for 1; 3 for 1, 2)",
        ),
        (
            three().done(&[1]).reserved(&[2]),
            "auto",
            "no stage is ready: every remaining stage has unsatisfied depends-on (reserved: 2 · \
             waiting: 3 for 2)",
        ),
        (
            Field::new("1 2 3:1,2").running(&[1]).reserved(&[2]),
            "auto",
            "no stage is ready: every remaining stage has unsatisfied depends-on (running: 1 · \
             reserved: 2 · waiting: 3 for 1, 2)",
        ),
        (
            Field::new("1 2").done(&[1]).running(&[2]),
            "auto",
            "no stage is ready: every remaining stage has unsatisfied depends-on (running: 2)",
        ),
        (
            Field::new("1:2 2:1 ?3"),
            "auto",
            "no stage is ready: every remaining stage has unsatisfied depends-on (waiting: 1 for \
             2; 2 for 1; 3 for what its depends-on says, which cannot be read)",
        ),
        (three().done(&[1, 2, 3]), "auto", "every stage is already done"),
        (Field::new("1 ~2").done(&[1]), "auto", "every stage is already done"),
        (Field::new(""), "auto", "every stage is already done"),
    ];
    for (field, wish, expected) in table {
        assert_eq!(field.choose(wish), expected, "{wish:?} of {field:?}");
    }
    let refusal = Refusal::NotImplementation { task_type: String::from("error-analysis") };
    assert_eq!(
        refusal.to_string(),
        "--stage is only meaningful with --task-type implementation; got error-analysis"
    );
}

#[test]
fn a_long_list_is_cut() {
    let rows: Vec<String> = (1..=100).map(|stage| format!("{stage}:{}", stage % 100 + 1)).collect();
    let field = Field::new(&rows.join(" "));
    let words = field.choose("auto");
    assert!(words.ends_with("39 for 40; 40 for 41; …)"), "{words}");
    let words = field.choose("101");
    assert!(words.ends_with("39, 40, … 100 in all])"), "{words}");
}

#[test]
fn what_is_given() {
    let three = || Field::new("1 2 3:1");
    let table = [
        (three(), "auto", "1"),
        (three(), " auto\n", "1"),
        (three(), "1", "1"),
        (three(), "2", "2"),
        (three(), "01", "1"),
        (three(), " 2 ", "2"),
        (three(), "0000000000000000000002", "2"),
        (three().running(&[1]), "auto", "2"),
        (three().reserved(&[1]), "auto", "2"),
        (three().done(&[1]), "auto", "2"),
        (three().done(&[1, 2]), "auto", "3"),
        // A wave is a picture: 3 is ready although 2 is not done.
        (three().done(&[1]).running(&[2]), "auto", "3"),
        (three().running(&[1]).reclaim(&[1]), "auto", "1"),
        (three().running(&[1]).reclaim(&[1]), "1", "1"),
        // Whoever takes over from the dead one came first.
        (
            three().running(&[1]).reserved(&[1]).reclaim(&[1]),
            "1",
            "--stage 1 is reserved in the worktree registry",
        ),
        (three().running(&[1]).reserved(&[1]).reclaim(&[1]), "auto", "2"),
        (three().running(&[1, 2]).reclaim(&[2]), "auto", "2"),
        // What is done stays done, and what waits still waits.
        (three().done(&[1]).running(&[1]).reclaim(&[1]), "auto", "2"),
        (three().running(&[3]).reclaim(&[3]), "3", "--stage 3 waits for stage 1"),
        (Field::new("~1 2"), "auto", "2"),
        (Field::new("?1 2"), "auto", "2"),
        (Field::new("1:2 2:1 3"), "auto", "3"),
        // Numbers count, not rows.
        (Field::new("3 2 1"), "auto", "1"),
        // Of two rows with a number the first counts.
        (Field::new("1 1:2 2"), "1", "1"),
        // Shared files move a stage back, and a stage that shares is better than none.
        (Field::new("1 2 3").running(&[1]).files(1, &["a"]).files(2, &["a"]), "auto", "3"),
        (
            Field::new("1 2 3").running(&[1]).files(1, &["a"]).files(2, &["a"]).files(3, &["a"]),
            "auto",
            "2",
        ),
        (Field::new("1 2 3").running(&[1]).files(1, &["a"]).files(2, &["a"]), "2", "2"),
        (Field::new("1 2 3").done(&[1]).files(1, &["a"]).files(2, &["a"]), "auto", "2"),
        (Field::new("1 2 3").reserved(&[1]).files(1, &["a"]).files(2, &["a"]), "auto", "2"),
        // A stage that is reclaimed shares nothing with itself.
        (
            Field::new("1 2").running(&[1]).reclaim(&[1]).files(1, &["a"]).files(2, &["a"]),
            "auto",
            "1",
        ),
        // The longest chain of steps behind a stage, its own not counted.
        (Field::new("1 2 3:2 4:3").critical(), "auto", "2"),
        (Field::new("1 2 3:2").steps(1, 9).critical(), "auto", "2"),
        (Field::new("1 2 3:1 4:2").steps(4, 2).critical(), "auto", "2"),
        // Then the one that unlocks more, then row order.
        (Field::new("1 2 3:1 4:2 5:2").critical(), "auto", "2"),
        (Field::new("2 1 3:1 4:2").critical(), "auto", "2"),
        // What is struck out is no work and unlocks nothing.
        (Field::new("1 2 ~3:1 4:2").critical(), "auto", "2"),
        (Field::new("1 2 ~3:1 ~4:1 5:2 6:1").critical(), "auto", "1"),
        (Field::new("1 2 3:1 4:2 ~5:2").critical(), "auto", "1"),
        // Shared files count before the chain.
        (
            Field::new("1 2 3 4:3").running(&[1]).files(1, &["a"]).files(3, &["a"]).critical(),
            "auto",
            "2",
        ),
    ];
    for (field, wish, expected) in table {
        assert_eq!(field.choose(wish), expected, "{wish:?} of {field:?}");
    }
}

#[test]
fn an_explanation_says_why() {
    let field = Field::new("1 2:1 3:1,2 ~4 ?5 6:7 7:6 8 9 10:6 11:9")
        .done(&[1])
        .running(&[8])
        .reserved(&[9])
        .files(8, &["a", "b"])
        .files(2, &["a", "b", "c"])
        .steps(3, 5);
    let found: Vec<String> = field
        .explain()
        .iter()
        .map(|it| {
            let shares: Vec<String> = it
                .shares
                .iter()
                .map(|share| format!("{}:{}", share.stage, share.files.join("+")))
                .collect();
            format!(
                "{} {:?} {:?} {} {} {shares:?}",
                it.stage, it.readiness, it.waits_for, it.steps_behind, it.unlocks
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "1 Done [] 6 2 []",
            "2 Ready [] 5 1 [\"8:a+b\"]",
            "3 Waiting [2] 0 0 []",
            "4 Cancelled [] 0 0 []",
            "5 Broken [] 0 0 []",
            "6 Broken [] 0 2 []",
            "7 Broken [] 0 1 []",
            "8 Running [] 0 0 []",
            "9 Reserved [] 1 1 []",
            "10 Broken [] 0 0 []",
            "11 Waiting [9] 0 0 []",
        ]
    );
}

#[test]
fn the_answer_names_its_order_and_what_is_shared() {
    let field = Field::new("1 2").running(&[1]).files(1, &["a"]).files(2, &["a", "b"]);
    let choice = choose(&field.request("auto")).unwrap();
    assert_eq!((choice.stage, choice.order), (2, Some(Order::Number)));
    assert_eq!((choice.shares[0].stage, choice.shares[0].files.as_slice()), (1, &["a".into()][..]));
    assert_eq!(choose(&field.request("2")).unwrap().order, None);
    let field = field.critical();
    assert_eq!(choose(&field.request("auto")).unwrap().order, Some(Order::CriticalPath));
}

#[test]
fn ten_thousand_stages_are_one_moment() {
    let rows: Vec<String> = (1..=10_000_u32)
        .map(|stage| match stage {
            1 => String::from("1"),
            _ => format!("{stage}:{},{}", stage / 2, stage - 1),
        })
        .collect();
    let mut field = Field::new(&rows.join(" "));
    field.done = (1..5_000).collect();
    assert_eq!(field.choose("auto"), "5000");
    assert_eq!(field.choose("10000"), "--stage 10000 waits for stages 5000, 9999");
    assert_eq!(field.explain().len(), 10_000);
}

/// Stages that depend on lower numbers only, in any row order, with sets over them.
fn any_field() -> impl Strategy<Value = Field> {
    let files = proptest::sample::subsequence(vec!["a", "b", "c", "d"], 0..3);
    let row = (
        proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
        files,
        0..4_u32,
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        0..8_u8,
    );
    let order = prop_oneof![Just(Order::Number), Just(Order::CriticalPath)];
    (proptest::collection::vec(row, 1..9), order, any::<bool>(), any::<u64>()).prop_map(
        |(rows, order, acyclic, shuffle)| {
            let mut field = Field { order, ..Field::default() };
            let count = rows.len();
            for (at, (on, files, steps, cancelled, unclear, state)) in rows.into_iter().enumerate()
            {
                let stage = u32::try_from(at + 1).unwrap();
                let most = if acyclic { at } else { count };
                let mut depends_on: Vec<u32> = on
                    .into_iter()
                    .filter(|_| most > 0)
                    .map(|index| u32::try_from(index.index(most) + 1).unwrap())
                    .collect();
                depends_on.sort_unstable();
                depends_on.dedup();
                match state {
                    0 | 1 => field.done.push(stage),
                    2 => field.running.push(stage),
                    3 => field.reserved.push(stage),
                    4 => {
                        field.running.push(stage);
                        field.reclaim.push(stage);
                    }
                    5 => {
                        field.running.push(stage);
                        field.done.push(stage);
                    }
                    _ => {}
                }
                let row = Row { stage, depends_on, files, steps, cancelled, unclear };
                let place = usize::try_from(shuffle).unwrap_or(0) >> at & 3;
                let place = field.stages.len().saturating_sub(place);
                field.stages.insert(place, row);
            }
            field
        },
    )
}

/// The steps of the longest chain behind a stage, worked out in the plainest way; `None` where a
/// circle is behind it.
fn behind(field: &Field, stage: u32, depth: usize) -> Option<u32> {
    if depth > field.stages.len() {
        return None;
    }
    let mut most = 0;
    for row in field.stages.iter().filter(|row| row.depends_on.contains(&stage)) {
        let chain = behind(field, row.stage, depth + 1)?;
        if !row.cancelled {
            most = most.max(chain + row.steps);
        }
    }
    Some(most)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn choosing_and_explaining_agree(field in any_field()) {
        let explained = field.explain();
        let ready: Vec<&Explanation> =
            explained.iter().filter(|it| it.readiness == Readiness::Ready).collect();
        let done: BTreeSet<u32> = field.done.iter().copied().collect();
        let taken: BTreeSet<u32> =
            field.running.iter().chain(&field.reserved).copied().collect();

        // Ready is exactly what the specification calls so.
        for (row, it) in field.stages.iter().zip(&explained) {
            let free = !taken.contains(&row.stage) || field.reclaim.contains(&row.stage);
            let expected = !row.cancelled
                && !row.unclear
                && !done.contains(&row.stage)
                && free
                && row.depends_on.iter().all(|on| done.contains(on));
            prop_assert_eq!(it.stage, row.stage);
            prop_assert_eq!(it.readiness == Readiness::Ready, expected, "{}", row.stage);
            if it.readiness == Readiness::Waiting {
                prop_assert!(!it.waits_for.is_empty());
                prop_assert!(it.waits_for.iter().all(|on| !done.contains(on)));
            }
        }

        // A number is given exactly where it is ready.
        for it in &explained {
            let chosen = choose(&field.request(&it.stage.to_string())).ok();
            prop_assert_eq!(chosen.is_some(), it.readiness == Readiness::Ready);
            prop_assert!(chosen.is_none_or(|choice| choice.stage == it.stage));
        }

        // `auto` gives the first of the ready ones in the order it names.
        match choose(&field.request("auto")) {
            Err(refusal) => {
                prop_assert!(ready.is_empty());
                let open = field.stages.iter().any(|row| !row.cancelled && !done.contains(&row.stage));
                prop_assert_eq!(open, !matches!(refusal, Refusal::AllDone));
            }
            Ok(choice) => {
                let at = |stage: u32| field.stages.iter().position(|row| row.stage == stage);
                let key = |it: &&&Explanation| {
                    let rank = match field.order {
                        Order::Number => (it.stage, 0),
                        Order::CriticalPath => (u32::MAX - it.steps_behind, u32::MAX - it.unlocks),
                    };
                    (!it.shares.is_empty(), rank, at(it.stage))
                };
                let first = ready.iter().min_by_key(key);
                prop_assert_eq!(Some(choice.stage), first.map(|it| it.stage));
                prop_assert_eq!(Some(&choice.shares), first.map(|it| &it.shares));
                prop_assert_eq!(choice.order, Some(field.order));
            }
        }

        // The numbers that the order is made of are right.
        let mut unlocks: BTreeMap<u32, u32> = BTreeMap::new();
        for row in field.stages.iter().filter(|row| !row.cancelled) {
            for on in &row.depends_on {
                *unlocks.entry(*on).or_default() += 1;
            }
        }
        let clear = field.stages.iter().all(|row| !row.unclear && behind(&field, row.stage, 0).is_some());
        for it in &explained {
            prop_assert_eq!(it.unlocks, unlocks.get(&it.stage).copied().unwrap_or(0));
            if clear {
                prop_assert_eq!(behind(&field, it.stage, 0), Some(it.steps_behind));
            }
            let row = field.stages.iter().find(|row| row.stage == it.stage).unwrap();
            if matches!(it.readiness, Readiness::Ready | Readiness::Waiting) {
                let sharing: Vec<u32> = field
                    .stages
                    .iter()
                    .filter(|other| field.running.contains(&other.stage) && other.stage != it.stage)
                    .filter(|other| other.files.iter().any(|file| row.files.contains(file)))
                    .map(|other| other.stage)
                    .collect::<BTreeSet<u32>>()
                    .into_iter()
                    .collect();
                let found: Vec<u32> = it.shares.iter().map(|share| share.stage).collect();
                prop_assert_eq!(found, sharing);
            }
        }
    }
}
