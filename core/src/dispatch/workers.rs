//! The programs that can be workers.
//!
//! A worker is a list of words and never a line for a shell. Each reads its prompt on standard
//! input, works in the worktree, and may write into the folder of the result as well, which lies
//! in the project. The defaults follow what the programs document of running without a person;
//! none of them switches off a program's own guards: who wants that says so in the settings.

use serde_json::{Map, Value};

use super::headers::{NO_WORD, is_word, quoted};
use super::refusal::DispatchRefusal;
use crate::decode::{field, members};

/// A worker as it is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Worker {
    /// The program and its arguments. In each, `{worktree}`, `{project}`, `{result}`,
    /// `{result_folder}`, `{prompt}`, `{model}` and `{time_limit}` stand for what they say.
    pub(super) command: Vec<String>,
    /// What is added where the prompt names a model.
    pub(super) model_arguments: Vec<String>,
    /// How long it may work.
    pub(super) time_limit: String,
    /// How long it may take to end when it is asked to.
    pub(super) grace: String,
    /// Variables of its environment.
    pub(super) environment: Vec<(String, String)>,
}

/// Hours of work are worth more than a worker that hangs a little longer.
const TIME_LIMIT: &str = "4h";
const GRACE: &str = "10s";

/// A default: name, command, what names the model.
type Default = (&'static str, &'static [&'static str], &'static [&'static str]);

/// The workers that are known without any setting.
const DEFAULTS: [Default; 4] = [
    // `claude --print` reads its prompt on standard input where none is given; `--add-dir` opens a
    // further folder, and `acceptEdits` lets it edit. What else it may do is for the person's own
    // permissions: https://docs.anthropic.com/en/docs/claude-code/cli-reference
    (
        "claude",
        &["claude", "--print", "--permission-mode", "acceptEdits", "--add-dir", "{result_folder}"],
        &["--model", "{model}"],
    ),
    // `-` has `codex exec` read the prompt on standard input; its own default may only read:
    // https://developers.openai.com/codex/cli/reference
    (
        "codex",
        &[
            "codex",
            "exec",
            "--cd",
            "{worktree}",
            "--sandbox",
            "workspace-write",
            "--add-dir",
            "{result_folder}",
            "-",
        ],
        &["--model", "{model}"],
    ),
    // Without a terminal the Gemini CLI takes standard input as its prompt and asks nobody:
    // https://geminicli.com/docs/cli/headless/
    (
        "gemini",
        &["gemini", "--approval-mode", "auto_edit", "--include-directories", "{result_folder}"],
        &["--model", "{model}"],
    ),
    // A best guess: the Antigravity CLI documents prompts as an argument of `--print` only. From
    // 1.1.1 on it reads standard input where that flag is not given, as its issue 582 describes
    // (https://github.com/google-antigravity/antigravity-cli/issues/582), and gives up after five
    // minutes where no other limit is set.
    (
        "antigravity",
        &["agy", "--print-timeout", "{time_limit}", "--add-dir", "{result_folder}"],
        &["--model", "{model}"],
    ),
];

/// The worker of a name. `settings` is the JSON text of `workers` in the file `path`, empty where
/// nothing is set. Every setting is checked, also of workers that are not asked for.
pub(super) fn find(name: &str, settings: &str, path: &str) -> Result<Worker, DispatchRefusal> {
    let bad = |reason: String| DispatchRefusal::BadWorkers { path: path.to_owned(), reason };
    let set: Value = match settings {
        "" => Value::Object(Map::new()),
        text => serde_json::from_str(text).map_err(|error| bad(format!("no JSON: {error}")))?,
    };
    let Value::Object(set) = set else {
        return Err(bad(String::from("workers must be an object")));
    };
    let mut found = default_worker(name);
    for (each, value) in &set {
        if !is_word(each) {
            return Err(bad(format!("workers: {} {NO_WORD}", quoted(each))));
        }
        let worker = read(default_worker(each), value)
            .map_err(|reason| bad(format!("workers.{each}: {reason}")))?;
        if each == name {
            found = Some(worker);
        }
    }
    found.ok_or_else(|| {
        let defaults = DEFAULTS.iter().map(|(each, ..)| (*each).to_owned());
        let added = set.keys().filter(|key| default_worker(key).is_none()).cloned();
        DispatchRefusal::NoWorker { name: name.to_owned(), known: defaults.chain(added).collect() }
    })
}

fn default_worker(name: &str) -> Option<Worker> {
    let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let (_, command, model) = DEFAULTS.iter().find(|(each, ..)| *each == name)?;
    Some(Worker {
        command: texts(command),
        model_arguments: texts(model),
        time_limit: String::from(TIME_LIMIT),
        grace: String::from(GRACE),
        environment: Vec::new(),
    })
}

/// A setting over the default.
fn read(default: Option<Worker>, value: &Value) -> Result<Worker, String> {
    let map = members(value, &["command", "modelArguments", "timeLimit", "grace", "environment"])?;
    let mut worker = default.unwrap_or_else(|| Worker {
        time_limit: String::from(TIME_LIMIT),
        grace: String::from(GRACE),
        ..Worker::default()
    });
    if let Some(command) = field::<Option<Vec<String>>>(map, "command")? {
        worker.command = command;
        // Another program names its model in its own way.
        worker.model_arguments = Vec::new();
    }
    if let Some(arguments) = field(map, "modelArguments")? {
        worker.model_arguments = arguments;
    }
    worker.time_limit = field::<Option<_>>(map, "timeLimit")?.unwrap_or(worker.time_limit);
    worker.grace = field::<Option<_>>(map, "grace")?.unwrap_or(worker.grace);
    worker.environment = map.get("environment").map_or(Ok(Vec::new()), variables)?;

    if worker.command.first().is_none_or(String::is_empty) {
        return Err(String::from("command must be a list of words that begins with a program"));
    }
    let words = worker.command.iter().chain(&worker.model_arguments);
    for word in words {
        if word.contains('\0') {
            return Err(String::from("a word cannot have a NUL character"));
        }
        fill(word, &|name| PLACEHOLDERS.contains(&name).then(String::new))?;
    }
    duration(&worker.time_limit).map_err(|reason| format!("timeLimit {reason}"))?;
    duration(&worker.grace).map_err(|reason| format!("grace {reason}"))?;
    Ok(worker)
}

fn variables(value: &Value) -> Result<Vec<(String, String)>, String> {
    let wrong = || String::from("environment must be an object of texts");
    let map = value.as_object().ok_or_else(wrong)?;
    map.iter()
        .map(|(name, value)| {
            let value = value.as_str().ok_or_else(wrong)?;
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(format!("environment: {} cannot be set", quoted(name)));
            }
            Ok((name.clone(), value.to_owned()))
        })
        .collect()
}

/// What can stand in a word of a command.
pub(super) const PLACEHOLDERS: [&str; 7] =
    ["worktree", "project", "result", "result_folder", "prompt", "model", "time_limit"];

/// A word with each `{name}` replaced. What is put in is not looked at again, and braces around
/// anything but small letters are the word's own.
pub(super) fn fill(word: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once('{') {
        filled.push_str(before);
        let name = behind.split_once('}').filter(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        });
        if let Some((name, after)) = name {
            let Some(value) = value(name) else {
                let known = PLACEHOLDERS.join("}, {");
                return Err(format!("{{{name}}} stands for nothing; there is {{{known}}}"));
            };
            filled.push_str(&value);
            rest = after;
        } else {
            filled.push('{');
            rest = behind;
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// No limit is longer: a week, in seconds.
const LONGEST: u32 = 7 * 24 * 3600;

/// The seconds of a duration such as `90s`, `30m`, `4h` or `1h30m`.
pub(super) fn duration(text: &str) -> Result<u32, String> {
    let wrong = || {
        format!("must be a time such as 90s, 30m or 1h30m, at most 168h; it is {}", quoted(text))
    };
    let mut total: u32 = 0;
    let mut digits = String::new();
    let mut last = u32::MAX;
    for ch in text.chars() {
        let unit = match ch {
            '0'..='9' if digits.len() < 7 => {
                digits.push(ch);
                continue;
            }
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return Err(wrong()),
        };
        let number: u32 = digits.parse().map_err(|_| wrong())?;
        // From the large to the small, each once.
        if unit >= last {
            return Err(wrong());
        }
        last = unit;
        digits.clear();
        total = total.saturating_add(number.saturating_mul(unit));
    }
    if !digits.is_empty() || total == 0 || total > LONGEST {
        return Err(wrong());
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::{DEFAULTS, duration, fill, find};

    #[test]
    fn every_default_is_a_worker() {
        for (name, command, model) in DEFAULTS {
            let worker = find(name, "", "c").unwrap();
            assert_eq!(worker.command, command);
            assert_eq!(worker.model_arguments, model);
            // A prompt is never an argument.
            assert!(!worker.command.iter().any(|word| word.contains("{prompt}")));
        }
    }

    #[test]
    fn settings_come_over_the_defaults() {
        let settings = r#"{"codex":{"command":["/opt/codex","-"],"timeLimit":"30m"},
            "mine":{"command":["run.sh"],"environment":{"A":"b"}},
            "claude":{"modelArguments":["-m","{model}"]}}"#;
        let codex = find("codex", settings, "c").unwrap();
        assert_eq!(
            (codex.command.as_slice(), codex.model_arguments.len(), codex.time_limit.as_str()),
            (["/opt/codex", "-"].map(String::from).as_slice(), 0, "30m")
        );
        let mine = find("mine", settings, "c").unwrap();
        assert_eq!(mine.environment, [(String::from("A"), String::from("b"))]);
        let claude = find("claude", settings, "c").unwrap();
        assert_eq!(claude.command.first().map(String::as_str), Some("claude"));
        assert_eq!(claude.model_arguments, ["-m", "{model}"]);
    }

    #[test]
    fn wrong_settings_are_named() {
        for (settings, wanted) in [
            ("[]", "c: workers must be an object"),
            ("{", "c: no JSON: EOF while parsing an object at line 1 column 1"),
            (
                r#"{"a b":{}}"#,
                "c: workers: 'a b' is no name: letters, digits, '.', '_' and '-', at most 40",
            ),
            (r#"{"x":1}"#, "c: workers.x: must be an object"),
            (
                r#"{"x":{}}"#,
                "c: workers.x: command must be a list of words that begins with a program",
            ),
            (r#"{"x":{"command":"run"}}"#, "c: workers.x: command must be a list"),
            (
                r#"{"claude":{"comand":[]}}"#,
                "c: workers.claude: unknown field `comand`, expected one of `command`, `modelArguments`, `timeLimit`, `grace`, `environment`",
            ),
            (
                r#"{"x":{"command":["a","{modle}"]}}"#,
                "c: workers.x: {modle} stands for nothing; there is {worktree}, {project}, {result}, {result_folder}, {prompt}, {model}, {time_limit}",
            ),
            (
                r#"{"claude":{"timeLimit":"90"}}"#,
                "c: workers.claude: timeLimit must be a time such as 90s, 30m or 1h30m, at most 168h; it is '90'",
            ),
            (
                r#"{"claude":{"environment":{"A=":"b"}}}"#,
                "c: workers.claude: environment: 'A=' cannot be set",
            ),
            (r#"{"x":{"command":["a"]}}"#, "there is no worker 'y'"),
        ] {
            assert_eq!(find("y", settings, "c").unwrap_err().to_string(), wanted, "{settings}");
        }
    }

    #[test]
    fn placeholders_are_filled_once() {
        let value = |name: &str| (name == "model").then(|| String::from("{project}"));
        for (word, wanted) in [
            ("--model={model}", Ok("--model={project}")),
            ("{model}{model}", Ok("{project}{project}")),
            ("{\"a\":{}}", Ok("{\"a\":{}}")),
            ("{A}{", Ok("{A}{")),
            ("{other}", Err(())),
        ] {
            let filled = fill(word, &value);
            assert_eq!(filled.as_deref().map_err(|_| ()), wanted, "{word}");
        }
    }

    #[test]
    fn durations() {
        for (text, seconds) in [
            ("90s", Some(90)),
            ("30m", Some(1800)),
            ("1h30m", Some(5400)),
            ("168h", Some(604_800)),
            ("169h", None),
            ("0s", None),
            ("", None),
            ("5", None),
            ("1m1h", None),
            ("1.5h", None),
            ("99999999h", None),
            ("-1s", None),
        ] {
            assert_eq!(duration(text).ok(), seconds, "{text}");
        }
    }
}
