//! JSON with the place of everything in it: repeated keys, the written form of numbers and the
//! offset of each key, none of which a [`Value`] keeps.

use serde_json::Value;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// The offset of its first byte.
    pub(super) at: usize,
    /// The value as written.
    pub(super) raw: &'a str,
    pub(super) inner: Inner<'a>,
}

/// What a value consists of.
#[derive(Debug)]
pub(super) enum Inner<'a> {
    /// `null`, a boolean or a number: all it has is its written form.
    Plain,
    /// A string without its quotes and escapes.
    Text(String),
    List(Vec<Node<'a>>),
    Object(Vec<Member<'a>>),
}

/// A key of an object with its value.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) key: String,
    /// The offset of the key.
    pub(super) at: usize,
    pub(super) node: Node<'a>,
}

/// Why a text is no JSON, and the offset where that shows.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) reason: String,
}

impl<'a> Node<'a> {
    /// The JSON type, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self.raw.as_bytes().first() {
            Some(b'n') | None => "null",
            Some(b't' | b'f') => "boolean",
            Some(b'"') => "string",
            Some(b'[') => "array",
            Some(b'{') => "object",
            Some(_) if self.raw.contains(['.', 'e', 'E']) => "number with a fraction or exponent",
            Some(_) => "number",
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.inner {
            Inner::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Node<'a>]> {
        match &self.inner {
            Inner::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn members(&self) -> Option<&[Member<'a>]> {
        match &self.inner {
            Inner::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Whether it is an array or an object.
    pub(super) fn is_nested(&self) -> bool {
        matches!(self.inner, Inner::List(_) | Inner::Object(_))
    }

    /// The member of a name: the last one, as most readers have it.
    pub(super) fn member(&self, key: &str) -> Option<&Member<'a>> {
        self.members()?.iter().rev().find(|member| member.key == key)
    }

    /// Whether it is written as a whole number from 0 on.
    pub(super) fn is_count(&self) -> bool {
        self.raw.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// Reads a text as JSON, both ways.
///
/// What is JSON is `serde_json`'s to say, its limit of 128 nested values included, so the walk for
/// the places meets valid text only and its depth is bounded.
pub(super) fn parse(text: &str) -> Result<(Value, Node<'_>), Fault> {
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(error) => return Err(fault(text, &error)),
    };
    let mut walk = Walk { text, at: 0 };
    match walk.node() {
        Some(node) => Ok((value, node)),
        None => Err(Fault { offset: walk.at, reason: String::from("cannot be read") }),
    }
}

/// The fault without the place that its message ends with: that one counts bytes, and lines in
/// another way than Markdown does.
fn fault(text: &str, error: &serde_json::Error) -> Fault {
    let offset = if error.is_eof() {
        text.trim_end().len()
    } else {
        let before = error.line().saturating_sub(1);
        let line = text.split_inclusive('\n').take(before).map(str::len).sum::<usize>();
        line + error.column().saturating_sub(1)
    };
    let mut reason = error.to_string();
    if let Some(end) = reason.rfind(" at line ") {
        reason.truncate(end);
    }
    Fault { offset, reason }
}

/// Walks through valid JSON.
struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Walk<'a> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn node(&mut self) -> Option<Node<'a>> {
        let first = self.peek()?;
        let at = self.at;
        let inner = match first {
            b'{' => Inner::Object(self.object()?),
            b'[' => Inner::List(self.list()?),
            b'"' => Inner::Text(self.string()?),
            _ => {
                let rest = self.text.get(at..)?;
                let ends = |ch| matches!(ch, ',' | ']' | '}' | ' ' | '\t' | '\r' | '\n');
                self.at += rest.find(ends).unwrap_or(rest.len());
                Inner::Plain
            }
        };
        Some(Node { at, raw: self.text.get(at..self.at)?, inner })
    }

    fn object(&mut self) -> Option<Vec<Member<'a>>> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            match self.peek()? {
                b'"' => {
                    let at = self.at;
                    let key = self.string()?;
                    // The colon.
                    self.peek()?;
                    self.at += 1;
                    members.push(Member { key, at, node: self.node()? });
                }
                b',' => self.at += 1,
                _ => break,
            }
        }
        self.at += 1;
        Some(members)
    }

    fn list(&mut self) -> Option<Vec<Node<'a>>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.peek()? {
                b']' => break,
                b',' => self.at += 1,
                _ => items.push(self.node()?),
            }
        }
        self.at += 1;
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let mut escaped = false;
        let mut at = start + 1;
        loop {
            let rest = self.text.as_bytes().get(at..)?;
            at += memchr::memchr2(b'"', b'\\', rest)?;
            if self.text.as_bytes().get(at) == Some(&b'"') {
                break;
            }
            escaped = true;
            at += 2;
        }
        self.at = at + 1;
        if !escaped {
            return self.text.get(start + 1..at).map(str::to_owned);
        }
        match serde_json::from_str(self.text.get(start..self.at)?) {
            Ok(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}
