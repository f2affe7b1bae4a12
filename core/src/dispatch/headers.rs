//! The headers of a prompt: lines like `**Result Path:** results/one.md` at its beginning.

use serde::Serialize;

use super::refusal::DispatchRefusal;
use crate::check;
use crate::error::OkstraError;
use crate::layout::{is_absolute, join};
use crate::printable::{excerpt, steers_terminal};

/// What a prompt says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DispatchHeaders {
    /// The project's folder, absolute.
    pub project: String,
    /// The file that the worker writes its result into, absolute.
    pub result: String,
    /// The model; `null` for the worker's own choice.
    pub model: Option<String>,
    /// The folder that the worker works in, absolute.
    pub worktree: String,
    /// Further files that have to be there when the worker has ended, absolute.
    pub completion: Vec<String>,
    /// The worker's name, where the prompt says it.
    pub cli: Option<String>,
    /// What the worker is there for, where the prompt says it.
    pub role: Option<String>,
}

/// The headers there are. Those with `true` have to be there.
const KNOWN: [(&str, bool); 7] = [
    (PROJECT, true),
    (RESULT, true),
    (MODEL, true),
    (WORKTREE, true),
    (COMPLETION, false),
    (CLI, false),
    (ROLE, false),
];
const PROJECT: &str = "Project Root";
const RESULT: &str = "Result Path";
const MODEL: &str = "Model";
const WORKTREE: &str = "Worktree";
const COMPLETION: &str = "Completion Path";
const CLI: &str = "CLI";
const ROLE: &str = "Role";

/// The words for the worker's own choice of a model.
const DEFAULT_MODEL: [&str; 3] = ["default", "auto", "-"];

/// A header as it stands.
struct Header<'a> {
    name: &'a str,
    value: &'a str,
    line: usize,
}

/// Reads the headers of a prompt. `name` is its name in the messages.
///
/// Only those at its beginning count, before the first line of text: what follows may quote a plan
/// or another prompt. The colon may stand within or behind the asterisks, letters may be small, a
/// title, blank lines, list marks and backticks do no harm, and unknown headers are passed over.
pub fn dispatch_headers(source: &[u8], name: &str) -> Result<DispatchHeaders, OkstraError> {
    let text = check::text(source)?;
    let (headers, rest) = block(text);
    let mut faults: Vec<(usize, String)> = Vec::new();
    let one = |wanted: &str| headers.iter().find(|it| same(it.name, wanted));

    for (known, needed) in KNOWN {
        let Some(first) = one(known) else {
            if needed {
                faults.push(missing(known, rest, text));
            }
            continue;
        };
        let all = headers.iter().filter(|it| same(it.name, known));
        if known != COMPLETION {
            faults.extend(all.clone().skip(1).map(|it| {
                (it.line, format!("'**{known}:**' was given in line {} already", first.line))
            }));
        }
        for header in all {
            if header.value.is_empty() {
                faults.push((header.line, format!("'**{known}:**' has no value")));
            } else if header.value.chars().any(steers_terminal) {
                faults.push((header.line, format!("'**{known}:**' has control characters in it")));
            }
        }
    }

    let value = |wanted: &str| one(wanted).map(|it| it.value).filter(|value| !value.is_empty());
    let project = value(PROJECT).unwrap_or_default();
    if let Some(header) = one(PROJECT)
        && !project.is_empty()
        && !is_absolute(project)
    {
        faults.push((header.line, format!("{} is no absolute path", quoted(project))));
    }
    let model = value(MODEL).filter(|model| !DEFAULT_MODEL.iter().any(|word| same(model, word)));
    if let (Some(header), Some(model)) = (one(MODEL), model) {
        // It becomes an argument of its own; an option must not come out of it.
        if model.starts_with('-') || model.len() > 200 {
            faults.push((header.line, format!("{} is no name of a model", quoted(model))));
        }
    }
    for wanted in [CLI, ROLE] {
        if let (Some(header), Some(value)) = (one(wanted), value(wanted))
            && !is_word(value)
        {
            faults.push((header.line, format!("{} {}", quoted(value), NO_WORD)));
        }
    }
    if !faults.is_empty() {
        faults.sort_by_key(|(line, _)| *line);
        let lines = faults.into_iter().map(|(line, fault)| format!("{name}:{line}: {fault}"));
        return Err(
            DispatchRefusal::BadPrompt { prompt: name.to_owned(), lines: lines.collect() }.into()
        );
    }
    let from_project = |path: &str| {
        if is_absolute(path) { path.to_owned() } else { join(project, path) }
    };
    Ok(DispatchHeaders {
        project: project.to_owned(),
        result: from_project(value(RESULT).unwrap_or_default()),
        model: model.map(str::to_owned),
        worktree: from_project(value(WORKTREE).unwrap_or_default()),
        completion: headers
            .iter()
            .filter(|it| same(it.name, COMPLETION))
            .map(|it| from_project(it.value))
            .collect(),
        cli: value(CLI).map(str::to_owned),
        role: value(ROLE).map(str::to_owned),
    })
}

/// The line of the header that names a path, whole or as the end of it.
pub(super) fn header_line(source: &[u8], wanted: &str, path: &str) -> usize {
    let text = std::str::from_utf8(source).unwrap_or_default();
    let (headers, _) = block(text);
    let mut all = headers.iter().filter(|it| same(it.name, wanted));
    all.find(|it| path.ends_with(it.value)).map_or(1, |it| it.line)
}

/// What a name of a worker or a role that is none is told.
pub(super) const NO_WORD: &str = "is no name: letters, digits, '.', '_' and '-', at most 40";

/// Whether a text can name a worker or a role: it becomes a part of a pane's title.
pub(super) fn is_word(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|ch: char| ch.is_ascii_alphanumeric())
        && text.chars().all(|ch| ch.is_ascii_alphanumeric() || "._-".contains(ch))
}

pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", excerpt(text, 80))
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// The headers at the beginning, and the number of the first line behind them.
fn block(text: &str) -> (Vec<Header<'_>>, usize) {
    let mut headers: Vec<Header<'_>> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line = 0;
    for content in text.lines() {
        line += 1;
        let content = content.trim();
        if let Some((name, value)) = header(content) {
            headers.push(Header { name, value, line });
        } else if !(content.is_empty() || (headers.is_empty() && content.starts_with('#'))) {
            return (headers, line);
        }
    }
    (headers, line + 1)
}

/// `**Name:** value` or `**Name**: value`.
fn header(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let (name, value) = line.trim_start().strip_prefix("**")?.split_once("**")?;
    let colon = |ch| matches!(ch, ':' | '：');
    let (name, value) = match name.strip_suffix(colon) {
        Some(name) => (name, value),
        None => (name, value.trim_start().strip_prefix(colon)?),
    };
    let value = value.trim();
    let bare = value.strip_prefix('`').and_then(|value| value.strip_suffix('`'));
    Some((name.trim(), bare.map_or(value, str::trim)))
}

/// A header that is not there; one that stands behind the text is named.
#[cold]
fn missing(wanted: &str, rest: usize, text: &str) -> (usize, String) {
    let behind = text.lines().enumerate().skip(rest.saturating_sub(1)).find_map(|(at, line)| {
        header(line.trim()).filter(|(name, _)| same(name, wanted)).map(|_| at + 1)
    });
    match behind {
        Some(line) => (line, format!("'**{wanted}:**' stands behind the text; move it to the top")),
        None => (1, format!("the header '**{wanted}:**' is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::{DispatchHeaders, dispatch_headers};

    fn read(text: &str) -> Result<DispatchHeaders, String> {
        dispatch_headers(text.as_bytes(), "p.md").map_err(|error| {
            error.info().details.lines.map_or_else(|| error.to_string(), |lines| lines.join("\n"))
        })
    }

    const WHOLE: &str = "**Project Root**: /p\n**Result Path:** r/one.md\n**Model:** default\n\
                         **Worktree:** /w\n\ntext\n";

    #[test]
    fn headers_are_read_however_they_are_written() {
        let whole = DispatchHeaders {
            project: String::from("/p"),
            result: String::from("/p/r/one.md"),
            worktree: String::from("/w"),
            ..DispatchHeaders::default()
        };
        let careless = "\u{feff}# Order\r\n\r\n- **project root:** `/p`\r\n* **Result Path**： r/one.md  \r\n\
                        **Anything:** else\r\n\r\n**MODEL:** Default\r\n**Worktree**:/w\r\n";
        for text in [WHOLE, careless] {
            assert_eq!(read(text), Ok(whole.clone()), "{text}");
        }
        let more = WHOLE.replace(
            "**Worktree",
            "**CLI:** codex\n**Role:** executor\n**Completion Path:** a\n**Completion Path:** /p/b\n**Worktree",
        );
        let more = read(&more.replace("default", "Gemini 3.1 Pro (High)")).unwrap();
        assert_eq!(more.completion, ["/p/a", "/p/b"]);
        assert_eq!(
            (more.cli.as_deref(), more.role.as_deref(), more.model.as_deref()),
            (Some("codex"), Some("executor"), Some("Gemini 3.1 Pro (High)"))
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, wanted) in [
            (
                String::new(),
                "p.md:1: the header '**Project Root:**' is missing\n\
                 p.md:1: the header '**Result Path:**' is missing\n\
                 p.md:1: the header '**Model:**' is missing\n\
                 p.md:1: the header '**Worktree:**' is missing",
            ),
            (
                WHOLE.replace("**Worktree:** /w\n", "") + "\n**Worktree:** /evil\n",
                "p.md:7: '**Worktree:**' stands behind the text; move it to the top",
            ),
            (
                WHOLE.replace("**Model", "**Worktree:** /other\n**Model"),
                "p.md:5: '**Worktree:**' was given in line 3 already",
            ),
            (WHOLE.replace("/p\n", "p\n"), "p.md:1: 'p' is no absolute path"),
            (
                WHOLE.replace("default", "--dangerous"),
                "p.md:3: '--dangerous' is no name of a model",
            ),
            (
                WHOLE.replace("default", "a\u{1b}[2J"),
                "p.md:3: '**Model:**' has control characters in it",
            ),
            (WHOLE.replace(" default", ""), "p.md:3: '**Model:**' has no value"),
            (
                format!("**Role:** a b\n{WHOLE}"),
                "p.md:1: 'a b' is no name: letters, digits, '.', '_' and '-', at most 40",
            ),
        ] {
            assert_eq!(read(&text), Err(wanted.to_owned()), "{text}");
        }
        let broken = dispatch_headers(b"**Project Root**: /\xff", "p.md").unwrap_err();
        assert_eq!(broken.to_string(), "not UTF-8: invalid byte sequence at byte 19 (line 1)");
    }
}
