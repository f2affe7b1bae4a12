//! Edits a JSON document as text: what an edit does not name stays byte for byte, unknown fields,
//! their order, the spelling of numbers, white space, line ends and a byte order mark included.
//!
//! The document is judged once, by the parser. From then on it is known to be sound, so that
//! finding a value is a walk over brackets and strings that skips everything else.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::check::line_end;
use crate::source::LineIndex;

/// One step on the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment<'a> {
    /// The member of an object; of several with one name the last counts.
    Key(&'a str),
    /// The element of an array.
    Index(usize),
}

/// Why a document cannot be read or edited, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonFault {
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column in Unicode scalar values, from 1; a byte order mark is none.
    pub(crate) column: u32,
    /// What is wrong.
    pub(crate) reason: String,
}

/// A JSON document that is edited.
#[derive(Clone, Debug)]
pub(crate) struct JsonText {
    bom: bool,
    text: String,
}

/// A member of an object or an element of an array.
struct Entry {
    /// Where the key begins, or the element.
    start: usize,
    /// The key between its quotes, as written; empty for an element.
    key: Range<usize>,
    value: Range<usize>,
}

/// How a new value is written.
struct Style {
    /// What begins a new line, or `None` where everything is on one.
    newline: Option<&'static str>,
    /// One step of indentation.
    unit: String,
    /// The indentation of the line that the value is on.
    indent: String,
    /// What separates a key from its value.
    colon: &'static str,
    /// What separates entries on one line.
    comma: &'static str,
}

impl JsonText {
    /// Takes a document. An empty file is none.
    pub(crate) fn read(source: &str) -> Result<Self, JsonFault> {
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Err(parse_fault(text, 0, text, &error));
        }
        Ok(Self { bom: text.len() < source.len(), text: text.to_owned() })
    }

    /// The document as it is now.
    pub(crate) fn into_text(self) -> String {
        if self.bom { format!("\u{feff}{}", self.text) } else { self.text }
    }

    /// The value at a path; `None` where there is none.
    pub(crate) fn get(&self, path: &[Segment<'_>]) -> Result<Option<Value>, JsonFault> {
        match self.find(path) {
            Some(range) => self.value(&range).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the document is an object.
    pub(crate) fn is_object(&self) -> bool {
        self.byte(self.root().start) == b'{'
    }

    /// Whether there is a value at a path.
    pub(crate) fn has(&self, path: &[Segment<'_>]) -> bool {
        self.find(path).is_some()
    }

    /// The text at a path; `None` where there is something else or nothing.
    pub(crate) fn get_str(&self, path: &[Segment<'_>]) -> Option<String> {
        serde_json::from_str(self.piece(&self.find(path)?)).ok()
    }

    /// Sets the value at a path. Objects that are missing on the way are made; a value that is
    /// already there keeps its spelling.
    pub(crate) fn set(&mut self, path: &[Segment<'_>], value: &Value) -> Result<(), JsonFault> {
        let mut at = self.root();
        let mut around: Option<Range<usize>> = None;
        for (depth, segment) in path.iter().enumerate() {
            let found = match segment {
                Segment::Key(key) if self.byte(at.start) == b'{' => self.member(&at, key),
                Segment::Index(index) if self.byte(at.start) == b'[' => {
                    let element = self.entries(&at).nth(*index);
                    let missing = || self.fault(at.start, format!("there is no element {index}"));
                    Some(element.ok_or_else(missing)?.value)
                }
                Segment::Key(_) => return Err(self.fault(at.start, "not an object".to_owned())),
                Segment::Index(_) => return Err(self.fault(at.start, "not an array".to_owned())),
            };
            let Some(found) = found else {
                return self.insert(&at, path.get(depth..).unwrap_or_default(), value);
            };
            around = Some(at);
            at = found;
        }
        if self.value(&at).is_ok_and(|old| same(&old, value)) {
            return Ok(());
        }
        let style = self.style(&at, around.as_ref());
        let mut new = String::new();
        style.write(value, &style.indent, &mut new);
        self.text.replace_range(at, &new);
        Ok(())
    }

    /// Appends a value to the array at a path, which is made where it is missing, and says which
    /// element it became.
    pub(crate) fn push(&mut self, path: &[Segment<'_>], value: &Value) -> Result<usize, JsonFault> {
        let Some(at) = self.find(path) else {
            self.set(path, &Value::Array(vec![value.clone()]))?;
            return Ok(0);
        };
        if self.byte(at.start) != b'[' {
            return Err(self.fault(at.start, "not an array".to_owned()));
        }
        let before = self.entries(&at).count();
        self.append(&at, None, value);
        Ok(before)
    }

    /// Removes the member or element at a path, and says whether there was one. What is left around
    /// it keeps its spelling.
    pub(crate) fn remove(&mut self, path: &[Segment<'_>]) -> bool {
        let Some((_, outer)) = path.split_last() else {
            return false;
        };
        let (Some(at), Some(container)) = (self.find(path), self.find(outer)) else {
            return false;
        };
        let (mut before, mut entry, mut next) = (None, None, None);
        for one in self.entries(&container) {
            if entry.is_some() {
                next = Some(one.start);
                break;
            }
            if one.value == at {
                entry = Some(one);
            } else {
                before = Some(one.value.end);
            }
        }
        let Some(entry) = entry else {
            return false;
        };
        // Its comma goes with it, and the white space that led to it.
        let place = match (before, next) {
            (Some(before), _) => before..entry.value.end,
            (None, Some(next)) => entry.start..next,
            (None, None) => container.start + 1..container.end - 1,
        };
        self.text.replace_range(place, "");
        true
    }

    /// The first element of the array at a path for which `wanted` holds. Elements that cannot be
    /// read as values are none of them.
    pub(crate) fn find_in_array(
        &self,
        path: &[Segment<'_>],
        wanted: &dyn Fn(&Value) -> bool,
    ) -> Option<usize> {
        let at = self.find(path).filter(|at| self.byte(at.start) == b'[')?;
        self.entries(&at)
            .position(|entry| self.value(&entry.value).is_ok_and(|value| wanted(&value)))
    }

    /// Puts a member into an object that does not have it, with the objects the path asks for.
    fn insert(
        &mut self,
        object: &Range<usize>,
        path: &[Segment<'_>],
        value: &Value,
    ) -> Result<(), JsonFault> {
        let mut value = value.clone();
        let mut key = None;
        for segment in path.iter().rev() {
            let Segment::Key(name) = segment else {
                return Err(self.fault(object.start, "not an array".to_owned()));
            };
            if let Some(inner) = key.replace(*name) {
                value = Value::Object([(inner.to_owned(), value)].into_iter().collect());
            }
        }
        self.append(object, key, &value);
        Ok(())
    }

    /// Writes an entry behind the last one of an object or array.
    fn append(&mut self, container: &Range<usize>, key: Option<&str>, value: &Value) {
        let mut style = self.style(container, None);
        let last = self.entries(container).last();
        // The entries' own indentation, where they begin a line.
        let lead = last.as_ref().and_then(|entry| self.leads(entry.start));
        let indent = lead.map_or_else(|| format!("{}{}", style.indent, style.unit), str::to_owned);
        let mut new = String::new();
        if last.is_some() {
            new.push(',');
        }
        match style.newline {
            Some(newline) => new.extend([newline, &indent]),
            None if last.is_some() => new.push_str(style.comma),
            None => {}
        }
        if let Some(key) = key {
            new.extend([&quoted(key), style.colon]);
        }
        let outer = std::mem::replace(&mut style.indent, indent);
        style.write(value, &style.indent, &mut new);
        // Nothing but white space is between the brackets of an empty one.
        let empty = container.start + 1..container.end - 1;
        let place = last.as_ref().map_or(empty, |entry| entry.value.end..entry.value.end);
        if let (None, Some(newline)) = (&last, style.newline) {
            new.extend([newline, &outer]);
        }
        self.text.replace_range(place, &new);
    }

    /// How to write what stands at `at`, inside `around`. A container shows its own style; a plain
    /// value and an empty container follow what is around them.
    fn style(&self, at: &Range<usize>, around: Option<&Range<usize>>) -> Style {
        let end = line_end(&self.text);
        let whole = self.root();
        let shows = |range: &Range<usize>| {
            let first = self.entries(range).next()?.start;
            Some(self.text.get(range.start..first)?.contains(['\n', '\r']))
        };
        // An empty document is written as people would; an empty value as the document is.
        let on_lines = shows(at).or_else(|| shows(around?)).or_else(|| shows(&whole));
        let first = self.entries(&whole).next();
        let unit = first.as_ref().and_then(|entry| self.leads(entry.start));
        // A blank behind a colon, and behind a comma on one line, as the nearest entries have it.
        let blank = |from: usize, to: usize, mark: char| {
            let (_, behind) = self.text.get(from..to)?.split_once(mark)?;
            (!behind.contains(['\n', '\r'])).then(|| behind.starts_with(' '))
        };
        let near: Vec<Vec<Entry>> = [Some(at), around, Some(&whole)]
            .into_iter()
            .flatten()
            .map(|at| self.entries(at).take(2).collect())
            .collect();
        let colon = near.iter().find_map(|entries| {
            let first = entries.first()?;
            blank(first.key.end, first.value.start, ':')
        });
        let comma = near.iter().find_map(|entries| match entries.as_slice() {
            [one, two, ..] => blank(one.value.end, two.start, ','),
            _ => None,
        });
        let colon = colon.unwrap_or(true);
        let comma = comma.unwrap_or(colon);
        Style {
            newline: on_lines.unwrap_or(true).then_some(end),
            unit: unit.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned(),
            indent: self.indent(at.start).to_owned(),
            colon: if colon { ": " } else { ":" },
            comma: if comma { " " } else { "" },
        }
    }

    /// The white space that begins the line of a place.
    fn indent(&self, place: usize) -> &str {
        let before = self.text.get(..place).unwrap_or_default();
        let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let line = self.text.get(start..).unwrap_or_default();
        let length = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..length).unwrap_or_default()
    }

    /// The same, where the place is the first thing on a line behind another.
    fn leads(&self, place: usize) -> Option<&str> {
        let before = self.text.get(..place)?;
        let start = before.rfind(['\n', '\r'])? + 1;
        let indent = before.get(start..)?;
        indent.trim_start_matches([' ', '\t']).is_empty().then_some(indent)
    }

    /// Where the value at a path stands.
    fn find(&self, path: &[Segment<'_>]) -> Option<Range<usize>> {
        let mut at = self.root();
        for segment in path {
            at = match segment {
                Segment::Key(key) if self.byte(at.start) == b'{' => self.member(&at, key)?,
                Segment::Index(index) if self.byte(at.start) == b'[' => {
                    self.entries(&at).nth(*index)?.value
                }
                _ => return None,
            };
        }
        Some(at)
    }

    /// The value of the last member with a name.
    fn member(&self, object: &Range<usize>, name: &str) -> Option<Range<usize>> {
        let is_it = |entry: &Entry| {
            let key = self.piece(&entry.key);
            key == name
                // Only a key with an escape can be another spelling.
                || key.contains('\\')
                    && serde_json::from_str::<String>(&format!("\"{key}\""))
                        .is_ok_and(|key| key == name)
        };
        self.entries(object).filter(is_it).last().map(|entry| entry.value)
    }

    fn value(&self, at: &Range<usize>) -> Result<Value, JsonFault> {
        let piece = self.piece(at);
        serde_json::from_str(piece)
            .map_err(|error| parse_fault(&self.text, at.start, piece, &error))
    }

    fn fault(&self, offset: usize, reason: String) -> JsonFault {
        fault_at(&self.text, offset, reason)
    }

    fn piece(&self, at: &Range<usize>) -> &str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    // ---- the walk over a sound document

    /// A byte of the document; 0 behind its end.
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn root(&self) -> Range<usize> {
        self.skip_space(0)..self.text.trim_end().len()
    }

    /// The entries of an object or array, found as they are asked for; none of another value.
    fn entries(&self, container: &Range<usize>) -> impl Iterator<Item = Entry> {
        let object = self.byte(container.start) == b'{';
        let is_container = object || self.byte(container.start) == b'[';
        let end = if is_container { container.end } else { 0 };
        let mut at = self.skip_space(container.start + 1);
        std::iter::from_fn(move || {
            if at + 1 >= end {
                return None;
            }
            let start = at;
            let mut key = at..at;
            if object {
                let end = self.value_end(at);
                key = at + 1..end - 1;
                // Over the colon.
                at = self.skip_space(self.skip_space(end) + 1);
            }
            let value = at..self.value_end(at);
            // Over the comma, or to the bracket.
            at = self.skip_space(value.end);
            if self.byte(at) == b',' {
                at = self.skip_space(at + 1);
            }
            Some(Entry { start, key, value })
        })
    }

    fn skip_space(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        at
    }

    /// Behind the value that begins at a place.
    fn value_end(&self, start: usize) -> usize {
        let mut at = start;
        let mut depth = 0_usize;
        loop {
            match self.byte(at) {
                0 => return at,
                b'"' => {
                    at += 1;
                    while let Some(behind) = self.text.as_bytes().get(at..)
                        && let Some(skipped) = memchr::memchr2(b'"', b'\\', behind)
                    {
                        at += skipped;
                        if self.byte(at) == b'"' {
                            break;
                        }
                        at += 2;
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => {
                    at += 1;
                    continue;
                }
                // A number or a word, to its end.
                _ => {
                    while !matches!(
                        self.byte(at + 1),
                        b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' | 0
                    ) {
                        at += 1;
                    }
                }
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
    }
}

impl Style {
    /// Writes a value; `indent` is that of the line it begins on.
    fn write(&self, value: &Value, indent: &str, out: &mut String) {
        let entries: Vec<(Option<&String>, &Value)> = match value {
            Value::Array(list) => list.iter().map(|value| (None, value)).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (Some(key), value)).collect(),
            _ => Vec::new(),
        };
        if entries.is_empty() {
            out.push_str(&value.to_string());
            return;
        }
        let is_array = matches!(value, Value::Array(_));
        let inner = format!("{indent}{}", self.unit);
        out.push(if is_array { '[' } else { '{' });
        for (at, (key, value)) in entries.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match self.newline {
                Some(newline) => out.extend([newline, &inner]),
                None if at > 0 => out.push_str(self.comma),
                None => {}
            }
            if let Some(key) = key {
                out.extend([&quoted(key), self.colon]);
            }
            self.write(value, &inner, out);
        }
        if let Some(newline) = self.newline {
            out.extend([newline, indent]);
        }
        out.push(if is_array { ']' } else { '}' });
    }
}

/// Sets members of the object at a path, in their order.
pub(crate) fn set_all(
    json: &mut JsonText,
    path: &[Segment<'_>],
    members: &[(&str, Value)],
) -> Result<(), JsonFault> {
    for (key, value) in members {
        let mut path = path.to_vec();
        path.push(Segment::Key(key));
        json.set(&path, value)?;
    }
    Ok(())
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Whether two values are the same; numbers by what they are worth, not by how they are written.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(one), Value::Number(other)) => {
            // Two whole numbers may be too large for a float to tell them apart.
            let whole = !one.is_f64() && !other.is_f64();
            one == other || !whole && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, a)| other.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// The parser's error about a piece of the document that begins at `start`.
#[cold]
fn parse_fault(text: &str, start: usize, piece: &str, error: &serde_json::Error) -> JsonFault {
    let line_start = match error.line() {
        0 | 1 => 0,
        // The parser's lines end at line feeds alone.
        line => piece.match_indices('\n').nth(line - 2).map_or(0, |(at, _)| at + 1),
    };
    let offset = start + line_start + error.column().saturating_sub(1);
    let words = error.to_string();
    let reason = words.rsplit_once(" at line ").map_or(words.as_str(), |(reason, _)| reason);
    fault_at(text, offset, reason.to_owned())
}

#[cold]
fn fault_at(text: &str, offset: usize, reason: String) -> JsonFault {
    let place = LineIndex::new(text).position(offset);
    JsonFault { line: place.line, column: place.column, reason }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::Segment::{Index, Key};
    use super::*;

    fn set(text: &str, path: &[Segment<'_>], value: &Value) -> Result<String, JsonFault> {
        let mut json = JsonText::read(text)?;
        json.set(path, value)?;
        Ok(json.into_text())
    }

    fn push(text: &str, path: &[Segment<'_>], value: &Value) -> Result<String, JsonFault> {
        let mut json = JsonText::read(text)?;
        json.push(path, value)?;
        Ok(json.into_text())
    }

    #[test]
    fn what_is_not_named_stays() {
        let cases: &[(&str, &[Segment<'_>], Value, &str)] = &[
            // Replaced in place.
            (r#"{"a":1,"b" : 2 }"#, &[Key("b")], json!(3), r#"{"a":1,"b" : 3 }"#),
            (r#"{"a":1e2}"#, &[Key("a")], json!(100), r#"{"a":1e2}"#),
            (r#"{"a":1.0}"#, &[Key("a")], json!(1), r#"{"a":1.0}"#),
            (r#"{"a":"\u0041"}"#, &[Key("a")], json!("A"), r#"{"a":"\u0041"}"#),
            (r#"{"\u0061":1}"#, &[Key("a")], json!(2), r#"{"\u0061":2}"#),
            (r#"{"a\"}":"]","b":1}"#, &[Key("b")], json!(2), r#"{"a\"}":"]","b":2}"#),
            (
                r#"{"a":{"x":1},"a":{"x":2}}"#,
                &[Key("a"), Key("x")],
                json!(3),
                r#"{"a":{"x":1},"a":{"x":3}}"#,
            ),
            (
                r#"{"a":[1,{"b":2}]}"#,
                &[Key("a"), Index(1), Key("b")],
                json!(null),
                r#"{"a":[1,{"b":null}]}"#,
            ),
            // Equal objects whatever their order and spacing.
            (
                r#"{"a":{ "y":1, "x":[ 2 ] }}"#,
                &[Key("a")],
                json!({"x": [2], "y": 1}),
                r#"{"a":{ "y":1, "x":[ 2 ] }}"#,
            ),
            // New members on one line, in the line's own style.
            ("{}", &[Key("a")], json!(1), "{\n  \"a\": 1\n}"),
            (r#"{"a":1}"#, &[Key("b")], json!([1, 2]), r#"{"a":1,"b":[1,2]}"#),
            (r#"{"a": 1}"#, &[Key("b")], json!([1, 2]), r#"{"a": 1, "b": [1, 2]}"#),
            (r#"{ "a": 1 }"#, &[Key("b")], json!(2), r#"{ "a": 1, "b": 2 }"#),
            (r#"{"a":1}"#, &[Key("b"), Key("c")], json!(2), r#"{"a":1,"b":{"c":2}}"#),
            // On lines, with their indentation and ends.
            (
                "{\n\t\"a\": 1\n}\n",
                &[Key("b"), Key("c")],
                json!([2]),
                "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": [\n\t\t\t2\n\t\t]\n\t}\n}\n",
            ),
            (
                "\u{feff}{\r\n    \"a\": {}\r\n}",
                &[Key("a"), Key("b")],
                json!(2),
                "\u{feff}{\r\n    \"a\": {\r\n        \"b\": 2\r\n    }\r\n}",
            ),
            (
                "{\n  \"a\": {\n  },\n  \"n\": 1.50\n}",
                &[Key("a"), Key("b")],
                json!(2),
                "{\n  \"a\": {\n    \"b\": 2\n  },\n  \"n\": 1.50\n}",
            ),
            ("{\n  \"a\": [1, 2]\n}", &[Key("a")], json!([3]), "{\n  \"a\": [3]\n}"),
            ("{\n  \"a\": 0\n}", &[Key("a")], json!([3]), "{\n  \"a\": [\n    3\n  ]\n}"),
            ("{\n  \"a\": 0\n}", &[Key("a")], json!({}), "{\n  \"a\": {}\n}"),
            ("{\r  \"a\": 0\r}", &[Key("b")], json!(1), "{\r  \"a\": 0,\r  \"b\": 1\r}"),
            // The whole document.
            (" 1 ", &[], json!(2), " 2 "),
            // A number that no float holds and a lone surrogate are nobody's business.
            (
                r#"{"n":1e999,"s":"\ud800","a":1}"#,
                &[Key("a")],
                json!(2),
                r#"{"n":1e999,"s":"\ud800","a":2}"#,
            ),
        ];
        for (text, path, value, wanted) in cases {
            assert_eq!(set(text, path, value).as_deref(), Ok(*wanted), "{text}");
        }
    }

    #[test]
    fn elements_are_appended() {
        let cases: &[(&str, &[Segment<'_>], &str)] = &[
            ("[]", &[], "[\n  7\n]"),
            ("[1,2]", &[], "[1,2,7]"),
            ("[1, 2]", &[], "[1, 2, 7]"),
            ("{\"a\":[]}", &[Key("a")], "{\"a\":[7]}"),
            ("{\n  \"a\": []\n}", &[Key("a")], "{\n  \"a\": [\n    7\n  ]\n}"),
            ("{\n  \"a\": [\n    1\n  ]\n}", &[Key("a")], "{\n  \"a\": [\n    1,\n    7\n  ]\n}"),
            ("{\n  \"a\": [1]\n}", &[Key("a")], "{\n  \"a\": [1, 7]\n}"),
            ("{\n  \"b\": 1\n}", &[Key("a")], "{\n  \"b\": 1,\n  \"a\": [\n    7\n  ]\n}"),
        ];
        for (text, path, wanted) in cases {
            assert_eq!(push(text, path, &json!(7)).as_deref(), Ok(*wanted), "{text}");
        }
    }

    #[test]
    fn entries_are_removed() {
        let cases: &[(&str, &[Segment<'_>], &str)] = &[
            ("[1, 2,\n 3]", &[Index(0)], "[2,\n 3]"),
            ("[1, 2,\n 3]", &[Index(1)], "[1,\n 3]"),
            ("[1, 2,\n 3]", &[Index(2)], "[1, 2]"),
            ("[ 1 ]", &[Index(0)], "[]"),
            ("{ \"a\": 1, \"b\" : 2 }", &[Key("a")], "{ \"b\" : 2 }"),
            ("{ \"a\": 1, \"b\" : 2 }", &[Key("b")], "{ \"a\": 1 }"),
            ("{\"a\":[{\"b\":1}]}", &[Key("a"), Index(0), Key("b")], "{\"a\":[{}]}"),
            ("{\"a\":1}", &[Key("b")], "{\"a\":1}"),
            ("[1]", &[Index(1)], "[1]"),
            (
                "{\n  \"t\": [\n    1,\n    2\n  ]\n}\n",
                &[Key("t"), Index(1)],
                "{\n  \"t\": [\n    1\n  ]\n}\n",
            ),
        ];
        for (text, path, wanted) in cases {
            let mut json =
                JsonText::read(text).unwrap_or(JsonText { bom: true, text: String::new() });
            assert_eq!(json.remove(path), text != wanted, "{text}");
            assert_eq!(json.into_text(), *wanted, "{text}");
        }
    }

    #[test]
    fn faults_have_a_place() {
        let cases: &[(&str, &[Segment<'_>], u32, u32, &str)] = &[
            ("", &[], 1, 1, "EOF while parsing a value"),
            ("{\n  \"é\": x\n}", &[], 2, 8, "expected value"),
            ("{\"a\": 1,}", &[], 1, 9, "key must be a string"),
            ("\u{feff}{} x", &[], 1, 4, "trailing characters"),
            ("[1]", &[Key("a")], 1, 1, "not an object"),
            ("{\n  \"a\": null\n}", &[Key("a"), Key("b")], 2, 8, "not an object"),
            ("{\"a\":{}}", &[Key("a"), Index(0)], 1, 6, "not an array"),
            ("[1]", &[Index(1)], 1, 1, "there is no element 1"),
            ("{}", &[Key("a"), Index(0)], 1, 1, "not an array"),
        ];
        for (text, path, line, column, reason) in cases {
            let fault = JsonFault { line: *line, column: *column, reason: (*reason).to_owned() };
            assert_eq!(set(text, path, &json!(1)), Err(fault), "{text}");
        }
        let fault = push("{\"a\":{}}", &[Key("a")], &json!(1));
        assert!(fault.is_err_and(|fault| fault.reason == "not an array"));
        let json = JsonText::read("{\n \"n\": [\n 1e999]}");
        let fault = json.and_then(|json| json.get(&[Key("n")]));
        assert!(fault.is_err_and(|fault| (fault.line, fault.column) == (3, 6)));
    }

    #[test]
    fn values_are_found() -> Result<(), JsonFault> {
        let json = JsonText::read(r#"{"t":[{"k":"a"},{"k":"b"},{"k":"b"}],"s":"x","n":1}"#)?;
        let is_b = |value: &Value| value.get("k").is_some_and(|key| key == "b");
        assert_eq!(json.find_in_array(&[Key("t")], &is_b), Some(1));
        assert_eq!(json.find_in_array(&[Key("s")], &is_b), None);
        assert_eq!(json.get(&[Key("t"), Index(0), Key("k")])?, Some(json!("a")));
        assert_eq!(json.get(&[Key("s"), Key("x")])?, None);
        assert_eq!(json.get(&[Key("x")])?, None);
        assert_eq!(json.get_str(&[Key("s")]).as_deref(), Some("x"));
        assert_eq!(json.get_str(&[Key("n")]), None);
        Ok(())
    }

    /// Documents in many spellings: a value and how it is written.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1000_i32..1000).prop_map(|n| Value::from(f64::from(n) / 8.0)),
            "[a-c\"\\\\{}\\[\\],:é\u{1f600}\n]{0,5}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[ab\"\\\\]{1,2}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// A document that is written with any white space between its tokens.
    fn spelled(value: &Value, spaces: &[&str], at: &mut usize, out: &mut String) {
        let mut space = |out: &mut String| {
            *at += 1;
            out.push_str(spaces.get(*at % spaces.len().max(1)).copied().unwrap_or_default());
        };
        space(out);
        match value {
            Value::Array(list) => {
                out.push('[');
                for (n, value) in list.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    spelled(value, spaces, at, out);
                }
                out.push(']');
            }
            Value::Object(map) => {
                out.push('{');
                for (n, (key, value)) in map.iter().enumerate() {
                    out.push_str(if n > 0 { ", " } else { "" });
                    out.extend([&quoted(key), ":"]);
                    spelled(value, spaces, at, out);
                }
                out.push('}');
            }
            _ => out.push_str(&value.to_string()),
        }
        out.push_str(spaces.first().copied().unwrap_or_default());
    }

    /// The slow way: the parsed document with a value set; `None` where that cannot be.
    fn set_parsed(document: &mut Value, path: &[&str], value: &Value) -> Option<()> {
        let Some((key, rest)) = path.split_first() else {
            *document = value.clone();
            return Some(());
        };
        let slot = match document {
            Value::Object(map) => map.entry(*key).or_insert_with(|| json!({})),
            Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
        set_parsed(slot, rest, value)
    }

    fn segments<'a>(document: &Value, path: &[&'a str]) -> Vec<Segment<'a>> {
        let mut at = Some(document);
        let mut segments = Vec::new();
        for key in path {
            let list = at.and_then(Value::as_array);
            let index = list.and_then(|_| key.parse().ok());
            segments.push(index.map_or(Key(key), Index));
            at = match index {
                Some(index) => list.and_then(|list| list.get(index)),
                None => at.and_then(|at| at.get(*key)),
            };
        }
        segments
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_set_value_is_the_only_difference(
            document in value(),
            spaces in proptest::collection::vec(prop_oneof![Just(""), Just(" "), Just("\n"), Just("\r\n\t"), Just("\n  ")], 1..4),
            keys in proptest::collection::vec(prop_oneof![Just("a"), Just("b"), Just("0"), Just("1"), Just("\\"), Just("\"a")], 0..4),
            new in value(),
        ) {
            let mut text = String::new();
            spelled(&document, &spaces, &mut 0, &mut text);
            let path = segments(&document, &keys);
            let mut wanted = document.clone();
            let got = set(&text, &path, &new);
            prop_assert_eq!(set_parsed(&mut wanted, &keys, &new).is_some(), got.is_ok());
            let Ok(got) = got else { return Ok(()) };
            let parsed = serde_json::from_str::<Value>(&got);
            prop_assert!(parsed.is_ok_and(|parsed| same(&parsed, &wanted)), "{got}");
            // Once more changes nothing; the old value comes back.
            let again = set(&got, &path, &new);
            prop_assert_eq!(again.as_deref(), Ok(got.as_str()));
            let json = JsonText::read(&text).map_err(|fault| TestCaseError::fail(fault.reason))?;
            let old = json.get(&path).map_err(|fault| TestCaseError::fail(fault.reason))?;
            if let Some(old) = old {
                let same_text = set(&text, &path, &old);
                prop_assert_eq!(same_text.as_deref(), Ok(text.as_str()));
            }
        }

        #[test]
        fn a_removed_element_is_the_only_difference(list in proptest::collection::vec(value(), 1..5), spaces in proptest::collection::vec("[ \n]{0,2}", 1..4), at in 0_usize..5) {
            let at = at % list.len();
            let spaces: Vec<&str> = spaces.iter().map(String::as_str).collect();
            let mut text = String::new();
            spelled(&json!({"a": list.clone(), "b": 1}), &spaces, &mut 0, &mut text);
            let mut json = JsonText::read(&text).map_err(|fault| TestCaseError::fail(fault.reason))?;
            prop_assert!(json.remove(&[Key("a"), Index(at)]));
            let mut wanted = list;
            wanted.remove(at);
            let got = json.into_text();
            let parsed = serde_json::from_str::<Value>(&got).ok();
            prop_assert!(parsed.is_some_and(|parsed| same(&parsed, &json!({"a": wanted, "b": 1}))), "{text} -> {got}");
        }

        #[test]
        fn a_pushed_value_is_the_last(list in proptest::collection::vec(value(), 0..4), space in "[ \n]{0,2}", new in value()) {
            let mut text = String::new();
            let document = json!({"a": list.clone(), "b": 1});
            spelled(&document, &[&space], &mut 0, &mut text);
            let got = push(&text, &[Key("a")], &new);
            let parsed = got.ok().and_then(|got| serde_json::from_str::<Value>(&got).ok());
            let wanted: Vec<Value> = list.into_iter().chain([new]).collect();
            prop_assert!(parsed.is_some_and(|parsed| same(&parsed, &json!({"a": wanted, "b": 1}))), "{text}");
        }
    }
}
