//! The strict check of evidence: every field, and a finding for each that is wrong.

use super::json::{self, Inner, Member, Node};
use super::plan_path::{leaves, names_this_plan};
use super::tolerant::objections;
use super::{Block, Checked, Evidence, EvidenceFinding, Expected};
use crate::order::order_by;
use crate::plan::files::normalised;
use crate::plan::heading::folded;
use crate::plan::outline::{self, Outline};
use crate::printable::{excerpt, printable};
use crate::source::LineIndex;
use crate::time;

/// The most characters of a value that a message shows.
const LONGEST: usize = 80;

/// The most errors that are listed one by one: far above what anybody reads,
/// and low enough that an array of millions of wrong items cannot exhaust the memory.
const MOST: usize = 1000;

/// The members that okstra writes itself, see [`super::with_records`].
const OWN: [&str; 2] = ["warnings", "observed"];

const COMMIT_HELP: &str = "write the commit as git names it, 7 to 64 hexadecimal digits";

/// Checks evidence, version 1, against what it has to be about.
///
/// The fields are `schemaVersion`, `sourcePlanPath`, `stageNumber`, `stageTitle`, `completedAt`,
/// `stageCommitRange` {`base`, `head`}, `filesChanged`, `newIdentifiers`, `stepResults` [{`step`,
/// `status`, `commit`}], `validationsPassed` and `notes`; all of them have to be there, in their
/// type. Evidence that reports a failure is an error at the field that does. Other fields are
/// nobody's business, but no object may have a key twice: readers disagree on which one counts.
/// One wrong field hides no other.
pub fn check(block: &Block, expected: &Expected<'_>) -> Checked {
    let mut check = Check {
        line: block.line,
        index: LineIndex::new(&block.text),
        expected,
        errors: Vec::new(),
        warnings: Vec::new(),
        unlisted: 0,
    };
    let evidence = match json::parse(&block.text) {
        Ok((value, root)) if root.members().is_some() => {
            let evidence = check.fields(&root);
            for (field, why) in objections(&value) {
                let at = place(&root, field);
                check.error(at, field, why, "only a stage that has passed leaves evidence");
            }
            check.repeated(&root, &mut Vec::new());
            evidence
        }
        Ok((_, node)) => {
            check.wrong(node.at, "", &node, "a JSON object", "write one object");
            Evidence::default()
        }
        Err(fault) => {
            let message = format!("is no JSON: {}", fault.reason);
            check.error(fault.offset, "", message, "write one JSON object");
            Evidence::default()
        }
    };
    if check.unlisted > 0 {
        let message = format!("has {} more faults", check.unlisted);
        let more = check.finding(0, "", message, "mend the faults above first");
        check.errors.push(more);
    }
    let Check { errors, warnings, .. } = check;
    Checked { evidence: errors.is_empty().then_some(evidence), errors, warnings }
}

struct Check<'c> {
    /// The line of the file where the text begins.
    line: u32,
    index: LineIndex<'c>,
    expected: &'c Expected<'c>,
    errors: Vec<EvidenceFinding>,
    warnings: Vec<EvidenceFinding>,
    /// The errors beyond [`MOST`].
    unlisted: usize,
}

impl Check<'_> {
    fn fields(&mut self, root: &Node<'_>) -> Evidence {
        self.schema_version(root);
        let source_plan_path = self.source_plan_path(root);
        self.stage_number(root);
        let title = self.stage_title(root);
        let completed_at = self.completed_at(root);
        let (base, head) = self.commit_range(root);
        let files_changed = self.files_changed(root);
        let new_identifiers = self.texts(root, "newIdentifiers");
        self.step_results(root);
        let validations_passed = self.texts(root, "validationsPassed");
        let notes = self.texts(root, "notes");
        for key in OWN {
            if let Some(member) = root.member(key) {
                let message = String::from("is a name that okstra writes itself");
                self.warning(member.at, key, message, "it is kept, but counts as no record");
            }
        }
        Evidence {
            stage: self.expected.stage,
            title,
            source_plan_path,
            completed_at,
            base,
            head,
            files_changed,
            new_identifiers,
            validations_passed,
            notes,
        }
    }

    fn schema_version(&mut self, root: &Node<'_>) {
        const FIELD: &str = "schemaVersion";
        const HELP: &str = "write `\"schemaVersion\": 1`";
        let Some(member) = self.wanted(root, FIELD, FIELD, HELP) else { return };
        let node = &member.node;
        if node.is_count() && node.raw != "1" {
            let message = format!("must be 1, the version this okstra reads, got {}", got(node));
            self.error(member.at, FIELD, message, HELP);
        } else if node.raw != "1" {
            self.wrong(member.at, FIELD, node, "the whole number 1", HELP);
        }
    }

    fn source_plan_path(&mut self, root: &Node<'_>) -> String {
        const FIELD: &str = "sourcePlanPath";
        let Expected { plan_path, plan_absolute, task_root, .. } = *self.expected;
        let help = format!("write `{}`", printable(plan_path));
        let Some(member) = self.wanted(root, FIELD, FIELD, &help) else { return String::new() };
        let path = self.text(member.at, FIELD, &member.node, &help);
        if !path.is_empty() && !names_this_plan(&path, plan_path, plan_absolute, task_root) {
            let message = if leaves(&path) {
                format!("leaves the project: got \"{}\"", ending(&path))
            } else {
                let (path, plan) = (ending(&path), ending(plan_path));
                format!("names another plan: got \"{path}\", expected \"{plan}\"")
            };
            self.error(member.at, FIELD, message, &help);
        }
        path
    }

    fn stage_number(&mut self, root: &Node<'_>) {
        const FIELD: &str = "stageNumber";
        let stage = self.expected.stage;
        let help = format!("write `\"stageNumber\": {stage}`");
        let Some(member) = self.wanted(root, FIELD, FIELD, &help) else { return };
        let node = &member.node;
        if !is_positive(node) {
            self.wrong(member.at, FIELD, node, "a whole number from 1 on", &help);
        } else if node.raw != stage.to_string() {
            let raw = excerpt(node.raw, LONGEST);
            let message = format!("is evidence for another stage: got {raw}, expected {stage}");
            self.error(member.at, FIELD, message, &help);
        }
    }

    fn stage_title(&mut self, root: &Node<'_>) -> String {
        const FIELD: &str = "stageTitle";
        let wanted = excerpt(self.expected.title, LONGEST);
        let help = format!("write the title of the Stage Map: \"{wanted}\"");
        let Some(member) = self.wanted(root, FIELD, FIELD, &help) else { return String::new() };
        let title = self.text(member.at, FIELD, &member.node, &help);
        let same = folded(&title) == folded(self.expected.title)
            || plain(&title) == plain(self.expected.title);
        if !title.is_empty() && !same {
            let message = format!(
                "is not the title in the Stage Map: got {}, expected \"{wanted}\"",
                got(&member.node)
            );
            self.warning(member.at, FIELD, message, &help);
        }
        title
    }

    fn completed_at(&mut self, root: &Node<'_>) -> String {
        const FIELD: &str = "completedAt";
        const HELP: &str = "write ISO 8601 with a time zone, like `2026-03-04T05:06:07Z`";
        let Some(member) = self.wanted(root, FIELD, FIELD, HELP) else { return String::new() };
        let written = self.text(member.at, FIELD, &member.node, HELP);
        if !written.is_empty()
            && let Err(why) = time::read(&written)
        {
            self.error(member.at, FIELD, format!("{why}: got {}", got(&member.node)), HELP);
        }
        written
    }

    /// The range's base and head.
    fn commit_range(&mut self, root: &Node<'_>) -> (String, String) {
        const FIELD: &str = "stageCommitRange";
        const HELP: &str = "write an object with the commits `base` and `head`";
        let Some(member) = self.wanted(root, FIELD, FIELD, HELP) else { return <_>::default() };
        let range = &member.node;
        if range.members().is_none() {
            self.wrong(member.at, FIELD, range, "an object with `base` and `head`", HELP);
            return <_>::default();
        }
        let empty = !self.expected.has_git;
        let base = self.commit(range, "stageCommitRange.base", "base", empty);
        let head = self.commit(range, "stageCommitRange.head", "head", empty);
        // One may be the other's short form.
        let length = base.len().min(head.len());
        let starts = |commit: &str| commit.get(..length).map(str::to_ascii_lowercase);
        if length > 0 && starts(&base) == starts(&head) {
            let message = String::from("is an empty commit range: base and head are the same");
            self.warning(member.at, FIELD, message, "commit the stage's work before it is done");
        }
        (base, head)
    }

    /// A commit; empty where it is wrong.
    fn commit(&mut self, object: &Node<'_>, field: &str, key: &str, may_be_empty: bool) -> String {
        let Some(member) = self.wanted(object, field, key, COMMIT_HELP) else {
            return String::new();
        };
        match member.node.text() {
            Some(commit) if is_commit(commit) || (commit.is_empty() && may_be_empty) => {
                commit.to_owned()
            }
            _ => {
                let wanted = "a string of 7 to 64 hexadecimal digits";
                self.wrong(member.at, field, &member.node, wanted, COMMIT_HELP);
                String::new()
            }
        }
    }

    fn files_changed(&mut self, root: &Node<'_>) -> Vec<String> {
        const FIELD: &str = "filesChanged";
        const HELP: &str = "name the files relative to the project, like `src/main.rs`";
        let mut files = Vec::new();
        for (at, item) in self.list(root, FIELD, HELP).iter().enumerate() {
            let field = format!("{FIELD}[{at}]");
            let path = self.text(item.at, &field, item, HELP);
            if path.is_empty() {
                continue;
            }
            match normalised(&path) {
                Some(inside) if inside.is_empty() => {
                    let message = format!("names no file: got {}", got(item));
                    self.error(item.at, &field, message, HELP);
                }
                Some(inside) => files.push(inside),
                None => {
                    let why = if is_absolute(&path) {
                        "is not relative to the project"
                    } else {
                        "leaves the project"
                    };
                    self.error(item.at, &field, format!("{why}: got {}", got(item)), HELP);
                }
            }
        }
        files
    }

    fn texts(&mut self, root: &Node<'_>, key: &str) -> Vec<String> {
        const HELP: &str = "write an array of strings, `[]` where there is nothing to say";
        let mut texts = Vec::new();
        for (at, item) in self.list(root, key, HELP).iter().enumerate() {
            match item.text() {
                Some(text) => texts.push(text.to_owned()),
                None => self.wrong(item.at, &format!("{key}[{at}]"), item, "a string", HELP),
            }
        }
        texts
    }

    fn step_results(&mut self, root: &Node<'_>) {
        const FIELD: &str = "stepResults";
        const HELP: &str = "write an object with `step`, `status` and `commit` for each step";
        for (at, item) in self.list(root, FIELD, HELP).iter().enumerate() {
            let name = |key: &str| format!("{FIELD}[{at}].{key}");
            if item.members().is_none() {
                self.wrong(item.at, &format!("{FIELD}[{at}]"), item, "an object", HELP);
                continue;
            }
            let mut number = (at + 1).to_string();
            if let Some(step) = self.wanted(item, &name("step"), "step", HELP) {
                if is_positive(&step.node) {
                    number = excerpt(step.node.raw, 20);
                } else {
                    let wanted = "a whole number from 1 on";
                    self.wrong(step.at, &name("step"), &step.node, wanted, HELP);
                }
            }
            if let Some(status) = self.wanted(item, &name("status"), "status", HELP) {
                let word = self.text(status.at, &name("status"), &status.node, HELP);
                if let Some(failed) = failure(&word) {
                    let message = format!("step {number} is {failed}: got {}", got(&status.node));
                    let help = "finish the step before the stage is done";
                    self.error(status.at, &name("status"), message, help);
                } else if !word.is_empty()
                    && !STEP_STATUS.contains(&word.trim().to_ascii_lowercase().as_str())
                {
                    let message = format!("must be done or skipped, got {}", got(&status.node));
                    let help = "a stage is done when each of its steps is";
                    self.error(status.at, &name("status"), message, help);
                }
            }
            self.commit(item, &name("commit"), "commit", true);
        }
    }

    /// The items of an array field; none where it is wrong.
    fn list<'n, 'a>(&mut self, root: &'n Node<'a>, key: &str, help: &str) -> &'n [Node<'a>] {
        let Some(member) = self.wanted(root, key, key, help) else { return &[] };
        member.node.list().unwrap_or_else(|| {
            self.wrong(member.at, key, &member.node, "an array", help);
            &[]
        })
    }

    /// A string with something in it; empty where it is wrong.
    fn text(&mut self, at: usize, field: &str, node: &Node<'_>, help: &str) -> String {
        match node.text() {
            Some(text) if !text.trim().is_empty() => return text.to_owned(),
            Some(_) => self.error(at, field, String::from("is empty"), help),
            None => self.wrong(at, field, node, "a string", help),
        }
        String::new()
    }

    /// A member that has to be there.
    fn wanted<'n, 'a>(
        &mut self,
        object: &'n Node<'a>,
        field: &str,
        key: &str,
        help: &str,
    ) -> Option<&'n Member<'a>> {
        let member = object.member(key);
        if member.is_none() {
            self.error(object.at, field, String::from("is missing"), help);
        }
        member
    }

    /// Keys that stand twice in an object, at any depth. `path` is what leads to the value.
    fn repeated(&mut self, node: &Node<'_>, path: &mut Vec<String>) {
        match &node.inner {
            Inner::Object(members) => {
                let key = |at: &usize| members.get(*at).map(|member| &member.key);
                let order = order_by(members.len(), &|a, b| key(&a).cmp(&key(&b)));
                for pair in order.windows(2) {
                    if let [first, second] = pair
                        && key(first) == key(second)
                        && let Some(member) = members.get(*second)
                    {
                        let field = format!("{}.{}", path.concat(), excerpt(&member.key, LONGEST));
                        let field = excerpt(field.trim_start_matches('.'), 2 * LONGEST);
                        let message = String::from("stands twice in one object");
                        let help = "keep one of them: readers disagree on which one counts";
                        self.error(member.at, &field, message, help);
                    }
                }
                for member in members.iter().filter(|member| member.node.is_nested()) {
                    path.push(format!(".{}", excerpt(&member.key, LONGEST)));
                    self.repeated(&member.node, path);
                    path.pop();
                }
            }
            Inner::List(items) => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| item.is_nested()) {
                    path.push(format!("[{at}]"));
                    self.repeated(item, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn wrong(&mut self, at: usize, field: &str, node: &Node<'_>, wanted: &str, help: &str) {
        self.error(at, field, format!("must be {wanted}, got {}", got(node)), help);
    }

    fn error(&mut self, at: usize, field: &str, message: String, help: &str) {
        if self.errors.len() == MOST {
            self.unlisted += 1;
            return;
        }
        let finding = self.finding(at, field, message, help);
        self.errors.push(finding);
    }

    fn warning(&mut self, at: usize, field: &str, message: String, help: &str) {
        let finding = self.finding(at, field, message, help);
        self.warnings.push(finding);
    }

    fn finding(&self, at: usize, field: &str, message: String, help: &str) -> EvidenceFinding {
        let line = self.line.saturating_add(self.index.line(at)).saturating_sub(1);
        EvidenceFinding { field: field.to_owned(), message, line, help: help.to_owned() }
    }
}

/// What stands there and its JSON type: `"1" (string)`.
fn got(node: &Node<'_>) -> String {
    if node.raw == "null" {
        return String::from("null");
    }
    format!("{} ({})", excerpt(node.raw, LONGEST), node.kind())
}

/// A path inside a message: of a long one the end, which tells two plans of a task apart.
fn ending(path: &str) -> String {
    let path = excerpt(path, usize::MAX);
    let skipped = path.chars().count().saturating_sub(LONGEST);
    if skipped == 0 {
        path
    } else {
        format!("…{}", path.chars().skip(skipped).collect::<String>())
    }
}

/// A whole number from 1 on, written as such.
fn is_positive(node: &Node<'_>) -> bool {
    node.is_count() && node.raw != "0"
}

fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_absolute(path: &str) -> bool {
    let path = path.trim_start();
    path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':')
}

/// What a step of a done stage can be: the word of the specification, the words that agents use for
/// it, and that it was left out. Any other is refused: what it means is not known.
const STEP_STATUS: [&str; 8] =
    ["done", "skipped", "pass", "passed", "ok", "complete", "completed", "success"];

/// What a step's status says about a failure.
fn failure(status: &str) -> Option<&'static str> {
    match status.trim().to_ascii_lowercase().as_str() {
        "fail" | "failed" | "error" => Some("failed"),
        "blocked" => Some("blocked"),
        "aborted" => Some("aborted"),
        _ => None,
    }
}

/// Where a field of an object, or of an object in it, stands.
fn place(root: &Node<'_>, field: &str) -> usize {
    let (first, rest) = field.split_once('.').unwrap_or((field, ""));
    match root.member(first) {
        Some(member) if rest.is_empty() => member.at,
        Some(member) => member.node.member(rest).map_or(member.at, |inner| inner.at),
        None => root.at,
    }
}

/// A title without markup, as names are compared.
pub(crate) fn plain(title: &str) -> String {
    let line = format!("# {}", title.split_whitespace().collect::<Vec<_>>().join(" "));
    let outline = Outline::new(&line);
    match outline.blocks.first() {
        Some(outline::Block::Heading(heading)) => folded(&heading.inline.text),
        _ => String::new(),
    }
}
