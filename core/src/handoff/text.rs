//! The text of pull requests.

use std::fmt::Write as _;

use serde::Serialize;

use crate::printable::printable;

/// The text of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PullRequestText {
    /// The title, one line.
    pub title: String,
    /// The body, Markdown.
    pub body: String,
}

/// A stage as a pull request tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandOverStage {
    /// The stage.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// The stages it depends on.
    pub depends_on: Vec<u32>,
    /// The commit it ended with; empty where it is not known.
    pub head: String,
    /// The identifiers its evidence names.
    pub identifiers: Vec<String>,
    /// The number of its pull request.
    pub pr_number: Option<u64>,
}

/// The digits of a short commit id.
const SHORT: usize = 7;

/// The text of the pull request of some stages; `all` are the stages of the plan that are not
/// cancelled, in row order. One stage gives `Stage <N>: <title>`, several `Stages <N>, <M>`.
pub fn pull_request_text(all: &[HandOverStage], stages: &[u32]) -> PullRequestText {
    let of = |stage: u32| all.iter().find(|it| it.stage == stage);
    let chosen: Vec<&HandOverStage> = stages.iter().filter_map(|stage| of(*stage)).collect();
    let title = if let [only] = chosen.as_slice() {
        format!("Stage {}: {}", only.stage, printable(&only.title))
    } else {
        let list: Vec<String> = stages.iter().map(ToString::to_string).collect();
        format!("Stages {}", list.join(", "))
    };
    // Writing to a string cannot fail.
    let mut body = String::from("## Stage\n\n");
    for stage in &chosen {
        let _ = writeln!(body, "{}: {}", stage.stage, markdown(&stage.title));
    }
    let mut carried = String::new();
    for stage in &chosen {
        for on in stage.depends_on.iter().filter(|on| !stages.contains(on)) {
            if let Some(line) = of(*on).map(carry_line)
                && !carried.contains(&line)
            {
                carried.push_str(&line);
            }
        }
    }
    if !carried.is_empty() {
        let _ = write!(body, "\n## Carry-In summary\n\n{carried}");
    }
    let last = all.iter().rposition(|it| stages.contains(&it.stage));
    let first = all.iter().position(|it| stages.contains(&it.stage));
    let next = last.and_then(|at| all.get(at + 1));
    body.push_str("\n## Next stage\n\n");
    if let Some(next) = next {
        let _ = writeln!(body, "{}: {}", next.stage, markdown(&next.title));
    } else {
        body.push_str("(last stage)\n");
    }
    let previous = first.and_then(|at| all.get(at.checked_sub(1)?));
    let number =
        |name: &str, stage: Option<&HandOverStage>| Some(format!("{name}: #{}", stage?.pr_number?));
    let links: Vec<String> =
        [number("Previous", previous), number("Next", next)].into_iter().flatten().collect();
    if !links.is_empty() {
        let _ = writeln!(body, "\n{}", links.join(", "));
    }
    PullRequestText { title, body }
}

/// The text of the pull request of a collector branch: one line a stage. `chosen` are its stages in
/// row order, `whole` says whether they are all of the task, and `report` is the verification that
/// accepted it.
pub fn collector_text(
    task_id: &str,
    chosen: &[HandOverStage],
    whole: bool,
    report: Option<&str>,
) -> PullRequestText {
    let numbers: Vec<String> = chosen.iter().map(|it| it.stage.to_string()).collect();
    let id = printable(task_id);
    let title = match (chosen, whole) {
        ([only], false) => format!("{id}: stage {}, {}", only.stage, printable(&only.title)),
        (_, false) => format!("{id}: stages {}", numbers.join(", ")),
        (_, true) => format!("{id}: all stages"),
    };
    let mut body = String::from("## Stages\n\n");
    for stage in chosen {
        let _ = writeln!(body, "- {}: {}{}", stage.stage, markdown(&stage.title), short(stage));
    }
    if let Some(report) = report {
        let _ = writeln!(body, "\n## Verification\n\nAccepted: {}", code(report));
    }
    PullRequestText { title, body }
}

/// The short commit of a stage in parentheses, where it has one.
fn short(stage: &HandOverStage) -> String {
    let short: String = stage.head.chars().take(SHORT).collect();
    if short.is_empty() { short } else { format!(" ({})", markdown(&short)) }
}

/// What a dependency leaves: its identifiers and its short commit.
fn carry_line(stage: &HandOverStage) -> String {
    let mut line = format!("- Stage {}: {}", stage.stage, markdown(&stage.title));
    let names: Vec<String> = stage.identifiers.iter().map(|name| code(name)).collect();
    if !names.is_empty() {
        let _ = write!(line, " — {}", names.join(", "));
    }
    line.push_str(&short(stage));
    line.push('\n');
    line
}

/// Text of a plan in Markdown: what could be markup or notify somebody is escaped.
fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in printable(text).chars() {
        match ch {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' => {
                out.push('\\');
                out.push(ch);
            }
            // An invisible space keeps a name from being called.
            '@' => out.push_str("@\u{200B}"),
            _ => out.push(ch),
        }
    }
    out
}

/// Text as code, with as many backticks as it takes.
fn code(text: &str) -> String {
    let text = printable(text);
    let longest = text.split(|ch| ch != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

#[cfg(test)]
mod tests {
    use super::{HandOverStage, collector_text, pull_request_text};

    fn stage(stage: u32, title: &str, depends_on: &[u32]) -> HandOverStage {
        HandOverStage {
            stage,
            title: title.to_owned(),
            depends_on: depends_on.to_vec(),
            head: format!("{stage}bcdef0123456789"),
            identifiers: vec![format!("fn_{stage}")],
            pr_number: (stage != 2).then_some(u64::from(stage) + 10),
        }
    }

    #[test]
    fn a_stage_with_its_neighbours() {
        let all = [stage(1, "API", &[]), stage(2, "a <b> *c*", &[1]), stage(3, "end", &[1, 2])];
        let text = pull_request_text(&all, &[2]);
        assert_eq!(text.title, "Stage 2: a <b> *c*");
        assert_eq!(
            text.body,
            "## Stage\n\n2: a \\<b\\> \\*c\\*\n\n## Carry-In summary\n\n- Stage 1: API — `fn_1` \
             (1bcdef0)\n\n## Next stage\n\n3: end\n\nPrevious: #11, Next: #13\n"
        );
        let first = pull_request_text(&all, &[1]);
        assert!(!first.body.contains("Carry-In") && !first.body.contains("Previous"));
        let last = pull_request_text(&all, &[3]);
        assert!(last.body.contains("(last stage)") && !last.body.contains("Previous"));
    }
    #[test]
    fn a_collector_has_a_line_a_stage() {
        let all =
            [stage(1, "API", &[]), HandOverStage { head: String::new(), ..stage(2, "*b*", &[1]) }];
        let text = collector_text("OK-7\u{1b}", &all, true, Some("r/final-report.md"));
        assert_eq!(text.title, "OK-7: all stages");
        assert_eq!(
            text.body,
            "## Stages\n\n- 1: API (1bcdef0)\n- 2: \\*b\\*\n\n## Verification\n\nAccepted: \
             `r/final-report.md`\n"
        );
        let group = collector_text("OK-7", &all, false, None);
        assert_eq!(group.title, "OK-7: stages 1, 2");
        assert!(!group.body.contains("Verification"));
        let one = collector_text("OK-7", all.get(..1).unwrap_or_default(), false, None);
        assert_eq!(one.title, "OK-7: stage 1, API");
    }
}
