//! Where things lie. Pure functions of path texts: nothing here looks at a disk.
//!
//! Paths are absolute real paths with `/` between their parts; the host resolves links and turns
//! `\` into `/` before they come here.

use std::cmp::Ordering;

use serde::Serialize;

use crate::digest::sha256_hex;
use crate::error::OkstraError;
use crate::printable::steers_terminal;

/// The ledger's file name.
pub const LEDGER_FILE: &str = "consumers.jsonl";

/// The places that belong to one plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PlanLayout {
    /// The project's folder; `null` where neither the plan's path nor the caller tells it.
    pub project_root: Option<String>,
    /// The task's folder, or `null` outside the layout.
    pub task_root: Option<String>,
    /// The name of the group's folder, or `null` outside the layout.
    pub task_group: Option<String>,
    /// The name of the task's folder, or `null` outside the layout.
    pub task_id: Option<String>,
    /// The folder of the ledger.
    pub run_root: String,
    /// The ledger.
    pub ledger: String,
    /// The folder of the evidence.
    pub carry_folder: String,
    /// The plan, relative to the project; absolute where it lies outside of it.
    pub plan_path: String,
    /// Whether the plan lies where plans of okstra lie.
    pub in_layout: bool,
    /// The file name of the ledger's lock.
    pub lock_name: String,
}

/// The places that belong to the plan at `plan`.
///
/// A plan at `<root>/.okstra/tasks/<group>/<id>/runs/implementation-planning/reports/<file>`, or
/// under the older `<root>/.project-docs/okstra/tasks`, is in the layout, and its path alone says
/// where the project is. The last such folder of the path counts: a project may itself lie in the
/// task folder of another. Any other plan has its ledger and evidence in `<plan file>.okstra/`
/// beside it, and its project is the one the caller names, else its own folder.
pub fn plan_layout(plan: &str, project_root: Option<&str>) -> PlanLayout {
    let layout = without_lock(plan, project_root);
    PlanLayout { lock_name: lock_name(&layout.ledger), ..layout }
}

/// The same without the name of the lock, for whoever takes none: it is a digest, which costs a
/// short-lived process more than all the rest.
pub(crate) fn without_lock(plan: &str, project_root: Option<&str>) -> PlanLayout {
    if let Some(layout) = inside_layout(plan) {
        return layout;
    }
    let folder = plan.rsplit_once('/').map(|(folder, _)| rooted(folder));
    let root = project_root.map(str::to_owned).or(folder);
    let run_root = format!("{plan}.okstra");
    let ledger = join(&run_root, LEDGER_FILE);
    PlanLayout {
        plan_path: inside_or_whole(root.as_deref(), plan),
        project_root: root,
        task_root: None,
        task_group: None,
        task_id: None,
        carry_folder: join(&run_root, "carry"),
        lock_name: String::new(),
        ledger,
        run_root,
        in_layout: false,
    }
}

fn inside_layout(plan: &str) -> Option<PlanLayout> {
    let parts: Vec<&str> = plan.split('/').collect();
    // Where the tasks begin, and how many parts the okstra folder before them has.
    let (tasks, own) = (0..parts.len()).rev().find_map(|at| match parts.get(..at)? {
        [.., ".project-docs", "okstra", "tasks"] => Some((at, 2)),
        [.., ".okstra", "tasks"] => Some((at, 1)),
        _ => None,
    })?;
    let [group, id, "runs", "implementation-planning", "reports", file] = parts.get(tasks..)?
    else {
        return None;
    };
    if group.is_empty() || id.is_empty() || file.is_empty() {
        return None;
    }
    let root = rooted(&parts.get(..tasks - 1 - own)?.join("/"));
    let task_root = parts.get(..tasks + 2)?.join("/");
    let run_root = join(&task_root, "runs/implementation-planning");
    let ledger = join(&run_root, LEDGER_FILE);
    Some(PlanLayout {
        plan_path: inside_or_whole(Some(&root), plan),
        project_root: Some(root),
        task_group: Some((*group).to_owned()),
        task_id: Some((*id).to_owned()),
        carry_folder: join(&task_root, "runs/implementation/carry"),
        task_root: Some(task_root),
        lock_name: String::new(),
        ledger,
        run_root,
        in_layout: true,
    })
}

fn inside_or_whole(root: Option<&str>, path: &str) -> String {
    root.and_then(|root| relative_inside(root, path)).unwrap_or_else(|| path.to_owned())
}

/// A folder whose path lost its last `/`: the root of a disk keeps it.
fn rooted(folder: &str) -> String {
    if folder.is_empty() || drive(folder) == Some("") {
        return format!("{folder}/");
    }
    folder.to_owned()
}

/// A path inside a folder.
pub(crate) fn join(folder: &str, path: &str) -> String {
    format!("{}/{path}", folder.strip_suffix('/').unwrap_or(folder))
}

/// The most bytes of the readable part of a lock's name.
const LOCK_PREFIX: usize = 60;

/// The file name of the lock of a file: the last two parts of its path that tell something, for
/// people, and a hash of the whole path, for telling files apart.
pub fn lock_name(real_ledger_path: &str) -> String {
    // The same in every task: they would hide its name.
    let dull = ["", LEDGER_FILE, "implementation-planning", "runs"];
    let telling = real_ledger_path.rsplit('/').filter(|part| !dull.contains(part));
    let mut parts: Vec<&str> = telling.take(2).collect();
    parts.reverse();
    let plain = |ch: char| if ch.is_ascii_alphanumeric() || "._-".contains(ch) { ch } else { '-' };
    let name: String = parts.join("-").chars().map(plain).collect();
    // The end of a long name is nearer to the file.
    let name = name.get(name.len().saturating_sub(LOCK_PREFIX)..).unwrap_or_default();
    let name = name.trim_start_matches(['.', '-']);
    let name = if name.is_empty() { "ledger" } else { name };
    let digest = sha256_hex(real_ledger_path.as_bytes());
    format!("{name}-{}.lock", digest.get(..16).unwrap_or_default())
}

/// An id as the name of a folder that cannot lead out of the folder it is in.
///
/// `/`, `:`, `\` and characters that steer a terminal become `-`, and so do dots and white space at
/// both ends: `.` and `..` are other folders, a leading dot hides a folder, and Windows drops dots
/// and blanks at the end. The empty id becomes `-`. Everything else stays, in any script.
pub fn sanitised(segment: &str) -> String {
    if segment.is_empty() {
        return String::from("-");
    }
    let slack = |ch: char| ch == '.' || ch.is_whitespace();
    let body = segment.trim_start_matches(slack);
    let start = segment.len() - body.len();
    let end = start + body.trim_end_matches(slack).len();
    let inner = |at: usize| (start..end).contains(&at);
    let bad = |ch: char| matches!(ch, '/' | ':' | '\\') || steers_terminal(ch);
    let chars = segment.char_indices();
    chars.map(|(at, ch)| if inner(at) && !bad(ch) { ch } else { '-' }).collect()
}

/// The folder of a task under an okstra folder (`<project>/.okstra`).
pub fn task_folder(okstra_root: &str, group: &str, id: &str) -> String {
    join(okstra_root, &format!("tasks/{}/{}", sanitised(group), sanitised(id)))
}

/// Whether a plan is in the folder of another task than this one. A plan in a task's folder is that
/// task's plan: its ledger must not be filled for another.
pub(crate) fn is_of_other_task(task_root: Option<&str>, task_folder: &str) -> bool {
    task_root.is_some_and(|root| root != task_folder)
}

/// The parts of a task key `project:group:id`. None is empty; the id may contain further colons.
pub fn task_key_parts(key: &str) -> Result<(&str, &str, &str), OkstraError> {
    let mut parts = key.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(project), Some(group), Some(id))
            if !(project.is_empty() || group.is_empty() || id.is_empty()) =>
        {
            Ok((project, group, id))
        }
        _ => Err(OkstraError::BadOptions {
            reason: format!("a task key is 'project:group:id', got '{key}'"),
        }),
    }
}

/// The evidence file of a stage.
pub fn carry_file(carry_folder: &str, stage: u32) -> String {
    join(carry_folder, &format!("stage-{stage}.json"))
}

/// The stage of an evidence file by its name, exactly `stage-<N>.json`: what only looks like one
/// (`stage-01.json`, `stage-1.json~`) is none.
pub fn stage_of_carry_file(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("stage-")?.strip_suffix(".json")?;
    let canonical = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if canonical { digits.parse().ok() } else { None }
}

/// The data file of a report: `X.md` has `X.data.json` beside it. The data file itself stays.
pub fn data_json_of(path: &str) -> String {
    if path.ends_with(".data.json") {
        return path.to_owned();
    }
    format!("{}.data.json", without_suffix(path))
}

/// The Markdown of a report: `X.data.json` has `X.md` beside it. The Markdown itself stays.
pub fn markdown_of(path: &str) -> String {
    let stem = path.strip_suffix(".data.json").unwrap_or_else(|| without_suffix(path));
    format!("{stem}.md")
}

/// A path without the last suffix of its name. The dot that begins a hidden file's name begins no
/// suffix.
fn without_suffix(path: &str) -> &str {
    let start = path.rfind('/').map_or(0, |at| at + 1);
    match path.rfind('.') {
        Some(dot) if dot > start => path.get(..dot).unwrap_or(path),
        _ => path,
    }
}

/// The number of a report by its name, `final-report-<task-type>-<seq>.md`.
pub fn report_sequence(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("final-report-")?.strip_suffix(".md")?;
    let (task_type, digits) = rest.rsplit_once('-')?;
    let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if numeric && !task_type.is_empty() { digits.parse().ok() } else { None }
}

/// The stage and the number of a report: what the age of reports is told by. The stage is that of
/// the last folder `stage-<N>`; either is 0 where the path does not have it.
pub fn report_order(path: &str) -> (u64, u64) {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stage = folders.rsplit('/').find_map(|part| part.strip_prefix("stage-")?.parse().ok());
    (stage.unwrap_or(0), report_sequence(name).unwrap_or(0))
}

/// The order of two report paths: by stage, then by number, both as numbers; equals by their text.
pub fn compare_reports(a: &str, b: &str) -> Ordering {
    report_order(a).cmp(&report_order(b)).then_with(|| a.cmp(b))
}

/// A path relative to the project, or `None` where it leads out of it. A path that is not absolute
/// is meant from the project. `.` and `..` are resolved as text; the project itself is `.`.
pub fn relative_inside(root: &str, path: &str) -> Option<String> {
    let whole;
    let absolute = if is_absolute(path) {
        path
    } else {
        whole = join(root, path);
        &whole
    };
    let parts = resolved(absolute)?;
    let inside = parts.strip_prefix(resolved(root)?.as_slice())?;
    Some(if inside.is_empty() { String::from(".") } else { inside.join("/") })
}

/// Whether a path begins at a root: `/…` or `C:/…`.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || drive(path).is_some_and(|rest| rest.starts_with('/'))
}

/// What stands behind the drive letter of a path.
fn drive(path: &str) -> Option<&str> {
    let (letter, rest) = path.split_once(':')?;
    let is_letter = letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_letter.then_some(rest)
}

/// The parts of a path with `.` and `..` resolved; `None` where `..` climbs over the beginning.
fn resolved(path: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plan_in_the_layout() {
        let plan =
            "/p/.okstra/tasks/g/i/runs/implementation-planning/reports/final-report-x-001.md";
        let layout = plan_layout(plan, Some("/elsewhere"));
        let run_root = "/p/.okstra/tasks/g/i/runs/implementation-planning";
        let digest = sha256_hex(format!("{run_root}/consumers.jsonl").as_bytes());
        assert_eq!(
            layout,
            PlanLayout {
                project_root: Some("/p".into()),
                task_root: Some("/p/.okstra/tasks/g/i".into()),
                task_group: Some("g".into()),
                task_id: Some("i".into()),
                run_root: run_root.into(),
                ledger: format!("{run_root}/consumers.jsonl"),
                carry_folder: "/p/.okstra/tasks/g/i/runs/implementation/carry".into(),
                plan_path:
                    ".okstra/tasks/g/i/runs/implementation-planning/reports/final-report-x-001.md"
                        .into(),
                in_layout: true,
                lock_name: format!("g-i-{}.lock", digest.get(..16).unwrap_or_default()),
            }
        );
    }

    #[test]
    fn the_project_of_a_plan() {
        let behind = "g/i/runs/implementation-planning/reports/a.md";
        let cases = [
            (format!("/p/.project-docs/okstra/tasks/{behind}"), "/p", true),
            (format!("/.okstra/tasks/{behind}"), "/", true),
            (format!("C:/.okstra/tasks/{behind}"), "C:/", true),
            (format!("C:/p q/.okstra/tasks/{behind}"), "C:/p q", true),
            // The last one counts, also where what follows it is no plan.
            (
                format!("/p/.okstra/tasks/x/y/w/.okstra/tasks/{behind}"),
                "/p/.okstra/tasks/x/y/w",
                true,
            ),
            (format!("/p/.okstra/tasks/{behind}/.okstra/tasks/a.md"), "/given", false),
            (format!("/p/.okstra/other/{behind}"), "/given", false),
            (format!("/p/okstra/tasks/{behind}"), "/given", false),
            ("/p/.okstra/tasks/g/i/runs/implementation-planning/a.md".into(), "/given", false),
            (
                "/p/.okstra/tasks//i/runs/implementation-planning/reports/a.md".into(),
                "/given",
                false,
            ),
            ("/p/.okstra/tasks/g/i/runs/implementation/reports/a.md".into(), "/given", false),
        ];
        for (plan, root, in_layout) in cases {
            let layout = plan_layout(&plan, Some("/given"));
            assert_eq!(layout.project_root.as_deref(), Some(root), "{plan}");
            assert_eq!(layout.in_layout, in_layout, "{plan}");
        }
    }

    #[test]
    fn a_plan_elsewhere_keeps_its_ledger_beside_it() {
        let layout = plan_layout("/p/docs/plan.md", Some("/p"));
        assert_eq!(layout.ledger, "/p/docs/plan.md.okstra/consumers.jsonl");
        assert_eq!(layout.carry_folder, "/p/docs/plan.md.okstra/carry");
        assert_eq!(layout.run_root, "/p/docs/plan.md.okstra");
        assert_eq!((layout.plan_path.as_str(), layout.in_layout), ("docs/plan.md", false));
        let alone = plan_layout("/p/docs/plan.md", None);
        assert_eq!(alone.project_root.as_deref(), Some("/p/docs"));
        assert_eq!(alone.plan_path, "plan.md");
        assert_eq!(plan_layout("/plan.md", None).project_root.as_deref(), Some("/"));
        assert_eq!(plan_layout("/plan.md", None).plan_path, "plan.md");
        assert_eq!(plan_layout("plan.md", None).project_root, None);
        assert_eq!(plan_layout("/q/plan.md", Some("/p")).plan_path, "/q/plan.md");
    }

    #[test]
    fn locks_are_readable_and_distinct() {
        let prefix = |path: &str| {
            let name = lock_name(path);
            let (prefix, hash) = name.strip_suffix(".lock")?.rsplit_once('-')?;
            assert_eq!(hash.len(), 16, "{name}");
            assert!(prefix.len() <= 60, "{name}");
            Some(prefix.to_owned())
        };
        let of = |path| prefix(path).unwrap_or_default();
        assert_eq!(of("/p/my plan.md.okstra/consumers.jsonl"), "p-my-plan.md.okstra");
        assert_eq!(of("/h/.okstra/worktrees/registry.json"), "worktrees-registry.json");
        assert_eq!(of("/한글/계획/consumers.jsonl"), "ledger");
        assert_eq!(of("/consumers.jsonl"), "ledger");
        assert_eq!(of(&format!("/a/{}z/consumers.jsonl", "x".repeat(99))).len(), 60);
        assert_ne!(lock_name("/a/x/consumers.jsonl"), lock_name("/b/x/consumers.jsonl"));
        assert_eq!(lock_name("/a/x"), lock_name("/a/x"));
    }

    #[test]
    fn ids_as_folders() {
        let cases = [
            ("OK-12", "OK-12"),
            ("feature_1.2", "feature_1.2"),
            ("a/b", "a-b"),
            ("a:b\\c", "a-b-c"),
            ("a\u{0}b\nc\u{202e}d", "a-b-c-d"),
            ("", "-"),
            (".", "-"),
            ("..", "--"),
            ("../x", "---x"),
            (".hidden", "-hidden"),
            ("v1.", "v1-"),
            (" a b ", "-a b-"),
            ("...", "---"),
            ("계획 1", "계획 1"),
        ];
        for (id, folder) in cases {
            assert_eq!(sanitised(id), folder, "{id:?}");
        }
        assert_eq!(task_folder("/p/.okstra", "..", "a/../b"), "/p/.okstra/tasks/--/a-..-b");
    }

    #[test]
    fn task_keys() {
        assert_eq!(task_key_parts("p:g:i"), Ok(("p", "g", "i")));
        assert_eq!(task_key_parts("p:g:i:j"), Ok(("p", "g", "i:j")));
        for bad in ["", "p", "p:g", "p:g:", ":g:i", "p::i"] {
            assert!(task_key_parts(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn evidence_files() {
        assert_eq!(carry_file("/c", 12), "/c/stage-12.json");
        let cases = [
            ("stage-1.json", Some(1)),
            ("stage-10.json", Some(10)),
            ("stage-4294967296.json", None),
            ("stage-0.json", None),
            ("stage-01.json", None),
            ("stage-+1.json", None),
            ("stage--1.json", None),
            ("stage-.json", None),
            ("stage-1.json~", None),
            ("Stage-1.json", None),
            ("stage-1.json.tmp", None),
            ("stage-١.json", None),
        ];
        for (name, stage) in cases {
            assert_eq!(stage_of_carry_file(name), stage, "{name}");
        }
    }

    #[test]
    fn report_pairs() {
        let cases = [
            ("/r/X.md", "/r/X.data.json", "/r/X.md"),
            ("/r/X.data.json", "/r/X.data.json", "/r/X.md"),
            ("/r/X.txt", "/r/X.data.json", "/r/X.md"),
            ("/r.d/X", "/r.d/X.data.json", "/r.d/X.md"),
            ("/r/.X", "/r/.X.data.json", "/r/.X.md"),
            ("X.v2.md", "X.v2.data.json", "X.v2.md"),
        ];
        for (path, data, markdown) in cases {
            assert_eq!(data_json_of(path), data, "{path}");
            assert_eq!(markdown_of(path), markdown, "{path}");
        }
    }

    #[test]
    fn reports_in_numeric_order() {
        assert_eq!(report_sequence("final-report-implementation-planning-007.md"), Some(7));
        assert_eq!(report_sequence("final-report-x-10.md"), Some(10));
        for none in [
            "final-report-10.md",
            "final-report-x-.md",
            "final-report-x-1.data.json",
            "final-report-x-1a.md",
            "report-x-1.md",
        ] {
            assert_eq!(report_sequence(none), None, "{none}");
        }
        let ordered = [
            "r/stage-2/reports/final-report-implementation-9.md",
            "r/stage-2/reports/final-report-implementation-10.md",
            "r/stage-10/reports/final-report-implementation-1.md",
            "r/stage-10/reports/final-report-implementation-01.md",
        ];
        let mut sorted = ordered;
        sorted.reverse();
        sorted.sort_by(|a, b| compare_reports(a, b));
        let [first, second, ..] = sorted;
        assert_eq!([first, second], [ordered.first(), ordered.get(1)].map(|x| *x.unwrap_or(&"")));
        assert_eq!(compare_reports("a-2.md", "a-2.md"), Ordering::Equal);
    }

    #[test]
    fn paths_inside_the_project() {
        let cases = [
            ("/p", "/p/a/b", Some("a/b")),
            ("/p/", "/p//a/./b/", Some("a/b")),
            ("/p", "a/b", Some("a/b")),
            ("/p", "a/../b", Some("b")),
            ("/p", "/p", Some(".")),
            ("/p", "", Some(".")),
            ("/p", "../p/a", Some("a")),
            ("/p", "../x", None),
            ("/p", "a/../../x", None),
            ("/p", "/p/../x", None),
            ("/p", "/px/a", None),
            ("/p", "/../../..", None),
            ("/", "/a", Some("a")),
            ("C:/p", "C:/p/a", Some("a")),
            ("C:/p", "D:/p/a", None),
            ("C:/p", "/p/a", None),
        ];
        for (root, path, inside) in cases {
            assert_eq!(relative_inside(root, path).as_deref(), inside, "{root} {path}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_id_leaves_its_folder(id in "[a./: \\\\\u{0}\u{2028}\n]{0,6}|\\PC{0,8}|.{0,8}") {
            let folder = sanitised(&id);
            prop_assert!(!folder.is_empty());
            prop_assert!(!folder.contains(['/', '\\', ':', '\0', '\n']), "{folder:?}");
            prop_assert!(folder != "." && folder != "..");
            prop_assert_eq!(sanitised(&folder), folder.clone());
            let inside = relative_inside("/t", &folder);
            prop_assert_eq!(inside, Some(folder));
        }

        #[test]
        fn common_ids_stay_as_they_are(id in "[A-Za-z0-9]([A-Za-z0-9_. #-]{0,8}[A-Za-z0-9_#-])?") {
            prop_assert_eq!(sanitised(&id), id);
        }
    }
}
