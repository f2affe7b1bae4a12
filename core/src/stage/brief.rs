//! What a session needs to build a stage.

use serde::Serialize;
use serde_json::Value;

use super::board::Board;
use crate::layout;
use crate::plan::Step;

/// A stage with everything a session needs to build it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageBrief {
    /// The stage.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// The key that its rows are recorded under.
    pub impl_task_key: String,
    /// The plan, relative to the project where it can be.
    pub plan_path: String,
    /// Where the evidence will lie.
    pub carry_path: String,
    /// The stages it depends on.
    pub depends_on: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The Markdown of `Stage Validation`, or `null`.
    pub validation: Option<String>,
    /// The commands in it.
    pub validation_commands: Vec<ValidationCommand>,
    /// The Markdown of `Stage Exit Contract`, or `null`.
    pub exit_contract: Option<String>,
    /// The Markdown of `Carry-In`, or `null`.
    pub carry_in_text: Option<String>,
    /// What each dependency leaves to this stage.
    pub carry_in: Vec<CarryIn>,
}

/// What a finished stage leaves to one that depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CarryIn {
    /// The finished stage.
    pub stage: u32,
    /// The Markdown of its `Stage Exit Contract`, or `null`.
    pub exit_contract: Option<String>,
    /// Its evidence, or `null` where there is none that can be read.
    #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
    pub evidence: Option<Value>,
}

/// A command of `Stage Validation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValidationCommand {
    /// `pre`, `mid` or `post`.
    pub when: &'static str,
    /// The command.
    pub command: String,
}

/// The times a command can be for.
const WHEN: [&str; 3] = ["pre", "mid", "post"];

impl Board<'_, '_> {
    /// The brief of a stage.
    pub(super) fn brief(&self, stage: u32) -> StageBrief {
        let row = self.doc.row_of.get(stage);
        let section = self.section(stage).map(|section| self.doc.stage_section(section));
        let (steps, validation, exit_contract, carry_in_text) = section
            .map(|section| {
                (section.steps, section.validation, section.exit_contract, section.carry_in)
            })
            .unwrap_or_default();
        let depends_on = row.map(|row| self.doc.dependencies(row).to_vec()).unwrap_or_default();
        StageBrief {
            stage,
            title: self.row(stage).map(|row| row.title.clone()).unwrap_or_default(),
            impl_task_key: self.impl_task_key(),
            plan_path: self.layout.plan_path.clone(),
            carry_path: self.carry_path(stage),
            carry_in: depends_on.iter().map(|on| self.carry_in(*on)).collect(),
            depends_on,
            steps,
            validation_commands: validation.as_deref().map(commands).unwrap_or_default(),
            validation,
            exit_contract,
            carry_in_text,
        }
    }

    fn carry_in(&self, stage: u32) -> CarryIn {
        let section = self.section(stage).map(|section| self.doc.stage_section(section));
        CarryIn {
            stage,
            exit_contract: section.and_then(|section| section.exit_contract),
            evidence: self.sidecars.get(stage).map(|sidecar| sidecar.value.clone()),
        }
    }
}

/// The path of another stage's evidence, by that of one stage.
pub(crate) fn task_carry_path(carry_path: &str, stage: u32) -> String {
    let folder = carry_path.rsplit_once('/').map_or("", |(folder, _)| folder);
    layout::carry_file(folder, stage)
}

/// The commands of a `Stage Validation`: `- post: npm test`, the lines and list items under
/// `- post:`, or an item that is nothing but code, which is for the end.
///
/// An item beside `- post:` is not under it: it may be prose, and what is taken for a command may
/// be run.
pub(super) fn commands(markdown: &str) -> Vec<ValidationCommand> {
    let mut found: Vec<ValidationCommand> = Vec::new();
    let mut marker: Option<Marker> = None;
    let mut fence: Option<(char, usize)> = None;
    let mut in_comment = false;
    // Whether the line before goes on in the next.
    let mut goes_on = false;
    for line in markdown.lines() {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        // What a comment holds is text nobody sees; it is never run.
        if fence.is_none() && (in_comment || text.starts_with("<!--")) {
            in_comment = !text.contains("-->");
            continue;
        }
        let rest = text.trim_start_matches(['`', '~']);
        let mark = text.chars().next().filter(|ch| matches!(ch, '`' | '~'));
        let length = text.len() - rest.len();
        let uniform = mark.is_some_and(|mark| text.chars().take(length).all(|ch| ch == mark));
        if let (Some(mark), true, true) = (mark, uniform, length >= 3) {
            let ends = rest.is_empty();
            match fence {
                None => fence = Some((mark, length)),
                Some((open, least)) if open == mark && length >= least && ends => fence = None,
                Some(_) => {}
            }
            goes_on = false;
            continue;
        }
        if text.is_empty() {
            continue;
        }
        let item = text.trim_start_matches(['-', '*', '+']).trim_start();
        let is_item = ["- ", "* ", "+ "].into_iter().any(|mark| text.starts_with(mark));
        let command = if fence.is_some() {
            text.strip_prefix("$ ").unwrap_or(text)
        } else if let Some((when, rest)) = named(item) {
            marker = Some(Marker { when, indent, is_item, bare: rest.is_empty() });
            rest
        } else if is_item {
            let under = |it: &Marker| if it.is_item { indent > it.indent } else { it.bare };
            marker = marker.filter(under);
            item
        } else {
            continue;
        };
        let code = command.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        let code = code.filter(|inner| !inner.contains('`')).map(str::trim);
        let command = code.unwrap_or(command);
        let when = match &marker {
            Some(it) => it.when,
            None if is_item && code.is_some() && fence.is_none() => "post",
            None => continue,
        };
        if command.is_empty() {
            continue;
        }
        let whole = command.strip_suffix('\\').filter(|_| fence.is_some());
        let part = whole.unwrap_or(command).trim_end();
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => last.command = format!("{} {part}", last.command),
            None => found.push(ValidationCommand { when, command: part.to_owned() }),
        }
        goes_on = whole.is_some();
    }
    found
}

/// A line that says when the commands on it and under it are for.
struct Marker {
    when: &'static str,
    indent: usize,
    is_item: bool,
    /// Whether nothing else stands on it.
    bare: bool,
}

/// `post: npm test`, in bold or code too: when, and what stands behind.
fn named(item: &str) -> Option<(&'static str, &str)> {
    let plain = item.trim_start_matches('*').trim_start_matches('`');
    WHEN.into_iter().find_map(|name| {
        let head = plain.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
        let behind = plain.get(head.len()..)?.trim_start_matches(['*', '`', ' ']);
        let rest = behind.strip_prefix([':', '：'])?;
        Some((name, rest.trim_start_matches('*').trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_are_read_in_every_usual_writing() {
        let table: [(&str, &[&str]); 20] = [
            ("<!--\n- post: rm -r x\n-->\n- post: a <!-- no -->\n", &["post a <!-- no -->"]),
            ("````\n```\n- post: x\n```\n- post: y\n````\n- post: a\n", &["post a"]),
            ("- `a`\n- a page\n- pre: b\n", &["post a", "pre b"]),
            ("- post: a\n- `b`\n- `c` works\n", &["post a", "post b"]),
            (
                "- pre: `true`\n- **post**: pytest -k bar\n- mid:\n  - a `b` c\n\n```sh\nd\n```\n\nprose\n",
                &["pre true", "post pytest -k bar", "mid a `b` c", "mid d"],
            ),
            ("- Post: x\r\n* PRE：`y`\r\n", &["post x", "pre y"]),
            ("**post:** x", &["post x"]),
            ("`post`: x", &["post x"]),
            ("post:\n\n- a\n- `b`\n", &["post a", "post b"]),
            ("post:\n\n```sh\n$ a \\\n  --all\nb\n```\n", &["post a --all", "post b"]),
            ("- post:\n  ```\n  a\n  ```\n", &["post a"]),
            ("- post: a\n  - b\n", &["post a", "post b"]),
            // What stands beside it is no command.
            ("- post: a\n- the page shows the price\n", &["post a"]),
            ("- post: a\n- then look at it\n  - and at that\n", &["post a"]),
            ("post: a\n\n- the page shows the price\n", &["post a"]),
            ("- post: a\n- notes\n\n```sh\nrm -r x\n```\n", &["post a"]),
            ("`cargo test`\n\n```sh\na\n```\n", &[]),
            ("- postpone: a\n- post a\n- post:\n", &[]),
            ("```\npost: a\n```\n", &[]),
            ("- post: --flag `a` and `b`\n", &["post --flag `a` and `b`"]),
        ];
        for (text, expected) in table {
            let found: Vec<String> = commands(text)
                .into_iter()
                .map(|it| format!("{} {}", it.when, it.command))
                .collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
