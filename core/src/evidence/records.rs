//! What okstra adds to evidence when it writes it down.

use std::fmt::Write as _;

use serde_json::Value;

/// What stands before a name that the evidence has already.
const PREFIX: &str = "okstra:";

/// The evidence as it is written to disk: every given byte in its place, and okstra's own members
/// (`warnings`, `observed`) before the closing brace.
///
/// An object that begins its first member on a line of its own gets each member on a line of its
/// own, with that indent and line end; any other gets them on its last line. A name that the
/// object has already is taken: the member is then called `okstra:<name>`, with one `okstra:` more
/// than any such name there, and [`super::Sidecar::record`] finds it. A worker can write such
/// names itself, so a record is only to be trusted where okstra always writes it, empty where
/// there is nothing to say. Text that is no JSON object is returned as it is.
pub fn with_records(text: &str, members: &[(&str, Value)]) -> String {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    let Some(inside) = text.trim_end().strip_suffix('}') else {
        return text.to_owned();
    };
    // Valid JSON has no other white space than this at its ends.
    let before = inside.trim_end();
    let style = Style::of(before, inside);
    let mut taken: Vec<String> = object.keys().cloned().collect();
    let mut added = String::new();
    for (key, value) in members {
        let name = match deepest(taken.iter(), key) {
            Some(name) => format!("{PREFIX}{name}"),
            None => (*key).to_owned(),
        };
        if !taken.is_empty() {
            added.push(',');
        }
        style.push(&mut added, &name, value);
        taken.push(name);
    }
    let rest = text.get(before.len()..).unwrap_or_default();
    format!("{before}{added}{rest}")
}

/// Of the names that are `key` with any number of prefixes the longest: the one that was added
/// last.
pub(super) fn deepest<'k>(names: impl Iterator<Item = &'k String>, key: &str) -> Option<&'k str> {
    let is_one = |name: &&str| {
        name.strip_suffix(key).is_some_and(|lead| lead.split(PREFIX).all(str::is_empty))
    };
    names.map(String::as_str).filter(is_one).max_by_key(|name| name.len())
}

/// How an object is laid out.
struct Style<'t> {
    /// What stands before each member; `None` where they share a line.
    line: Option<Lines<'t>>,
    /// What stands between a key's colon and its value, and before the key on a shared line.
    gap: &'static str,
}

/// How the lines of an object begin.
struct Lines<'t> {
    end: &'static str,
    indent: &'t str,
    /// One more level.
    step: &'t str,
}

impl<'t> Style<'t> {
    /// `before` is the object up to its last member, `inside` up to its closing brace.
    fn of(before: &str, inside: &'t str) -> Self {
        let body = inside.trim_start().strip_prefix('{').unwrap_or_default();
        let lead = body.get(..body.len() - body.trim_start().len()).unwrap_or_default();
        let gap = if before.contains("\":") && !before.contains("\": ") { "" } else { " " };
        let Some(break_at) = lead.rfind(['\n', '\r']) else {
            return Self { line: None, gap };
        };
        let closing = last_line(inside.get(before.len()..).unwrap_or_default());
        let empty = body.trim_start().is_empty();
        let indent = if empty { "  " } else { lead.get(break_at + 1..).unwrap_or_default() };
        let step = indent.strip_prefix(closing).filter(|step| !step.is_empty()).unwrap_or("  ");
        let end = if lead.contains("\r\n") { "\r\n" } else { "\n" };
        Self { line: Some(Lines { end, indent, step }), gap }
    }

    fn push(&self, added: &mut String, name: &str, value: &Value) {
        let key = Value::from(name);
        let Some(Lines { end, indent, step }) = &self.line else {
            // Behind the brace of an empty object there is no blank.
            let before = if added.is_empty() { "" } else { self.gap };
            // Writing to a string cannot fail.
            let _ = write!(added, "{before}{key}:{}{value}", self.gap);
            return;
        };
        let _ = write!(added, "{end}{indent}{key}:{}", self.gap);
        for (at, line) in format!("{value:#}").lines().enumerate() {
            let deeper = line.len() - line.trim_start_matches(' ').len();
            if at > 0 {
                added.push_str(end);
                added.push_str(indent);
                // The layout has two blanks a level; a string cannot have a line of its own.
                for _ in 0..deeper / 2 {
                    added.push_str(step);
                }
            }
            added.push_str(line.get(deeper..).unwrap_or_default());
        }
    }
}

fn last_line(text: &str) -> &str {
    text.rsplit(['\n', '\r']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::with_records;
    use serde_json::{Value, json};

    #[test]
    fn layouts() {
        let records = [("warnings", json!(["w"])), ("observed", json!([]))];
        let table = [
            ("{}", "{\"warnings\": [\"w\"], \"observed\": []}"),
            ("{\"a\":1}", "{\"a\":1,\"warnings\":[\"w\"],\"observed\":[]}"),
            ("{ \"a\": 1 }\n", "{ \"a\": 1, \"warnings\": [\"w\"], \"observed\": [] }\n"),
            ("{\n}", "{\n  \"warnings\": [\n    \"w\"\n  ],\n  \"observed\": []\n}"),
            (
                "{\r\n\t\"a\": 1\r\n}\r\n",
                "{\r\n\t\"a\": 1,\r\n\t\"warnings\": [\r\n\t\t\"w\"\r\n\t],\r\n\t\"observed\": []\r\n}\r\n",
            ),
            (
                "{\n    \"warnings\": 1}",
                "{\n    \"warnings\": 1,\n    \"okstra:warnings\": [\n        \"w\"\n    ],\n    \"observed\": []}",
            ),
            (
                "{\"observed\":1,\"okstra:observed\":2}",
                "{\"observed\":1,\"okstra:observed\":2,\"warnings\":[\"w\"],\"okstra:okstra:observed\":[]}",
            ),
            (
                "{\"okstra:observed\":2,\"xwarnings\":0}",
                "{\"okstra:observed\":2,\"xwarnings\":0,\"warnings\":[\"w\"],\"okstra:okstra:observed\":[]}",
            ),
            ("[1]", "[1]"),
            ("{", "{"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(with_records(text, &records), expected, "{text:?}");
            assert_eq!(with_records(text, &[]), text);
        }
    }

    #[test]
    fn strings_in_a_record_keep_their_blanks_and_escapes() {
        let value = json!({"out": "a\n    b  \u{2028}\"", "deep": [{"x": [1, {}]}]});
        let text = with_records("{\n \"a\": []\n}\n", &[("observed", value.clone())]);
        let read: Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(read.get("observed"), Some(&value));
    }
}
