//! Reading a ledger: tolerant, one pass, nothing kept.
//!
//! A ledger is written by processes that may be killed and edited by people: a byte order mark,
//! CRLF, blank lines, a torn last line and malformed lines never stop the reading. What cannot be
//! used is a [`BadLine`] with its number; reading rewrites nothing.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Status;
use crate::printable::excerpt;

/// A line of a ledger that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub reason: String,
    /// Whether it is the last line and has no end: a write that was cut off.
    pub torn: bool,
}

/// A row as it stands in its line. Text borrows from the line where it has no escapes.
#[derive(Debug, Default)]
pub(crate) struct Row<'a> {
    pub(crate) impl_task_key: Cow<'a, str>,
    /// 0 only in a `pr` row, which names its stages in `stages`.
    pub(crate) stage: u32,
    /// `None` for a status of a later version.
    pub(crate) status: Option<Status>,
    /// The field of the status's own time: `started_at`, `completed_at`, `verified_at`,
    /// `opened_at` or `released_at`.
    pub(crate) at: Option<Cow<'a, str>>,
    pub(crate) head_commit: Option<Cow<'a, str>>,
    pub(crate) base_commit: Option<Cow<'a, str>>,
    pub(crate) claim_id: Option<Cow<'a, str>>,
    pub(crate) session: Option<Cow<'a, str>>,
    pub(crate) host: Option<Cow<'a, str>>,
    pub(crate) pid: Option<u32>,
    pub(crate) pid_start: Option<Cow<'a, str>>,
    pub(crate) worktree: Option<Cow<'a, str>>,
    pub(crate) branch: Option<Cow<'a, str>>,
    pub(crate) carry_path: Option<Cow<'a, str>>,
    pub(crate) plan_digest: Option<Cow<'a, str>>,
    pub(crate) verdict: Option<Cow<'a, str>>,
    pub(crate) report_path: Option<Cow<'a, str>>,
    pub(crate) pr_url: Option<Cow<'a, str>>,
    pub(crate) pr_number: Option<u64>,
    pub(crate) stages: Vec<u32>,
    pub(crate) reason: Option<Cow<'a, str>>,
}

/// A line of a ledger.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// The line without its end.
    pub(crate) bytes: &'a [u8],
    /// Whether it ends with a line feed.
    pub(crate) ended: bool,
}

/// The lines of a ledger that are not blank, without the byte order mark.
pub(crate) fn lines(ledger: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut rest = ledger.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(ledger);
    let mut number = 0_u32;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let (bytes, ended) = match memchr::memchr(b'\n', rest) {
                Some(at) => {
                    let (line, behind) = rest.split_at_checked(at)?;
                    rest = behind.get(1..).unwrap_or_default();
                    (line, true)
                }
                None => (std::mem::take(&mut rest), false),
            };
            number = number.saturating_add(1);
            if !bytes.iter().all(u8::is_ascii_whitespace) {
                return Some(Line { number, bytes, ended });
            }
        }
    })
}

/// The rows of a ledger and its bad lines, in order.
pub(crate) fn rows(ledger: &[u8]) -> impl Iterator<Item = Result<(u32, Row<'_>), BadLine>> {
    lines(ledger).map(|line| match row(line.bytes) {
        Ok(row) => Ok((line.number, row)),
        Err(reason) => {
            let reason =
                if line.ended { reason } else { format!("cut off while it was written: {reason}") };
            Err(BadLine { line: line.number, reason, torn: !line.ended })
        }
    })
}

/// Reads one line.
pub(crate) fn row(line: &[u8]) -> Result<Row<'_>, String> {
    let text = std::str::from_utf8(line)
        .map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to() + 1))?;
    if text.starts_with('\0') {
        return Err(String::from("NUL bytes"));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = RowSeed.deserialize(&mut reader).and_then(|read| reader.end().map(|()| read));
    match read {
        Ok(row) => row,
        Err(error) => Err(not_json(&error)),
    }
}

/// The most characters of serde's message: it quotes what it found, however long that is.
const LONGEST: usize = 120;

/// serde's message without its place: a row is one line, so only the column says something, and
/// not even that where it is 0, before the first character was taken.
#[cold]
#[inline(never)]
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rfind(" at line ").and_then(|at| text.get(..at)).unwrap_or(&text);
    let what = excerpt(what, LONGEST);
    match error.column() {
        0 => format!("no JSON object: {what}"),
        column => format!("no JSON object: {what} at column {column}"),
    }
}

/// A value of a row as far as rows need it.
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Number(u64),
    Numbers(Vec<u32>),
    Null,
    /// What it is instead, with its article.
    Other(&'static str),
}

impl Scalar<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Numbers(_) => "a list",
            Self::Null => "null",
            Self::Other(kind) => kind,
        }
    }
}

struct ScalarSeed;

impl<'de> DeserializeSeed<'de> for ScalarSeed {
    type Value = Scalar<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarSeed {
    type Value = Scalar<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Other("a negative number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Other("a fraction"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Other("a truth value"))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        let mut all = true;
        while let Some(item) = list.next_element_seed(Self)? {
            match item {
                Scalar::Number(number) if (1..=u64::from(u32::MAX)).contains(&number) => {
                    numbers.push(u32::try_from(number).unwrap_or_default());
                }
                _ => all = false,
            }
        }
        Ok(if all { Scalar::Numbers(numbers) } else { Scalar::Other("a list") })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("an object"))
    }
}

struct RowSeed;

impl<'de> DeserializeSeed<'de> for RowSeed {
    type Value = Result<Row<'de>, String>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed {
    type Value = Result<Row<'de>, String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key_seed(ScalarSeed)? {
            let value = map.next_value_seed(ScalarSeed)?;
            if let Scalar::Text(key) = key {
                fields.take(&key, value);
            }
        }
        Ok(fields.row())
    }
}

/// The fields of a row while they come in. The first fault counts; where a key stands twice, its
/// last value does.
#[derive(Default)]
struct Fields<'a> {
    row: Row<'a>,
    key: Option<Scalar<'a>>,
    stage: Option<Scalar<'a>>,
    status: Option<Scalar<'a>>,
    stages: Option<Scalar<'a>>,
    times: [Option<Cow<'a, str>>; 5],
}

/// The field that holds the time of each status, in the order of [`Status`].
const TIMES: [&str; 5] = ["started_at", "completed_at", "verified_at", "opened_at", "released_at"];

impl<'a> Fields<'a> {
    fn take(&mut self, key: &str, value: Scalar<'a>) {
        let row = &mut self.row;
        let slot = match key {
            "impl_task_key" => return self.key = Some(value),
            "stage" => return self.stage = Some(value),
            "status" => return self.status = Some(value),
            "stages" => return self.stages = Some(value),
            "pid" => {
                row.pid = number(&value).and_then(|pid| u32::try_from(pid).ok());
                return;
            }
            "pr_number" => {
                row.pr_number = number(&value);
                return;
            }
            "head_commit" => &mut row.head_commit,
            "base_commit" => &mut row.base_commit,
            "claim_id" => &mut row.claim_id,
            "session" => &mut row.session,
            "host" => &mut row.host,
            "pid_start" => &mut row.pid_start,
            "worktree" => &mut row.worktree,
            "branch" => &mut row.branch,
            "carry_path" => &mut row.carry_path,
            "plan_digest" => &mut row.plan_digest,
            "verdict" => &mut row.verdict,
            "report_path" => &mut row.report_path,
            "pr_url" => &mut row.pr_url,
            "reason" => &mut row.reason,
            _ => {
                let Some(slot) = TIMES
                    .iter()
                    .position(|name| *name == key)
                    .and_then(|at| self.times.get_mut(at))
                else {
                    return;
                };
                slot
            }
        };
        *slot = match value {
            Scalar::Text(text) => Some(text),
            _ => None,
        };
    }

    fn row(mut self) -> Result<Row<'a>, String> {
        let status = match self.status {
            Some(Scalar::Text(status)) => status,
            other => return Err(wrong("status", "a string", other.as_ref())),
        };
        self.row.status = Status::from_name(&status);
        let Some(status) = self.row.status else {
            // A later version's; what else it holds is its own business.
            return Ok(self.row);
        };
        self.row.impl_task_key = match self.key {
            Some(Scalar::Text(key)) => key,
            other => return Err(wrong("impl_task_key", "a string", other.as_ref())),
        };
        self.row.at = self.times.get_mut(status as usize).and_then(Option::take);
        self.row.stage = match (self.stage, status) {
            (Some(Scalar::Number(stage)), _) if (1..=u64::from(u32::MAX)).contains(&stage) => {
                u32::try_from(stage).unwrap_or_default()
            }
            (None | Some(Scalar::Null), Status::Pr) => 0,
            (Some(Scalar::Number(stage)), _) => {
                return Err(format!("stage {stage} is no stage number"));
            }
            (other, _) => {
                return Err(wrong("stage", "a whole number of at least 1", other.as_ref()));
            }
        };
        if status == Status::Pr {
            self.row.stages = match self.stages {
                Some(Scalar::Numbers(stages)) if !stages.is_empty() => stages,
                None if self.row.stage > 0 => vec![self.row.stage],
                other => return Err(wrong("stages", "a list of stage numbers", other.as_ref())),
            };
        }
        Ok(self.row)
    }
}

fn number(value: &Scalar<'_>) -> Option<u64> {
    match value {
        Scalar::Number(number) => Some(*number),
        _ => None,
    }
}

#[cold]
#[inline(never)]
fn wrong(field: &str, wanted: &str, found: Option<&Scalar<'_>>) -> String {
    match found {
        None => format!("{field} is missing"),
        Some(found) => format!("{field} must be {wanted}, found {}", found.kind()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, rows};

    #[test]
    fn rows_and_bad_lines_keep_their_numbers() {
        let text = concat!(
            "\u{feff}{\"impl_task_key\":\"k\",\"stage\":1,\"status\":\"started\",\"started_at\":\"t\",\"x\":[{}]}\r\n",
            "\r\n",
            "{\"impl_task_key\":\"k\",\"stage\":\"1\",\"status\":\"done\"}\n",
            "{\"impl_task_key\":\"k\",\"stage\":0,\"status\":\"done\"}\n",
            "{\"impl_task_key\":\"k\",\"stage\":1.5,\"status\":\"done\"}\n",
            "[1]\n",
            "{\"status\":\"later\",\"stage\":\"any\"}\n",
            "{\"impl_task_key\":\"k\",\"status\":\"pr\",\"stages\":[1,2],\"pr_number\":7}\n",
            "{\"impl_task_key\":\"k\",\"sta",
        );
        let found: Vec<String> = rows(text.as_bytes())
            .map(|row| match row {
                Ok((line, row)) => {
                    format!(
                        "{line} {:?} {} {:?}",
                        row.status.map(Status::as_str),
                        row.stage,
                        row.stages
                    )
                }
                Err(bad) => format!("{} {} {}", bad.line, bad.torn, bad.reason),
            })
            .collect();
        assert_eq!(
            found,
            [
                "1 Some(\"started\") 1 []",
                "3 false stage must be a whole number of at least 1, found a string",
                "4 false stage 0 is no stage number",
                "5 false stage must be a whole number of at least 1, found a fraction",
                "6 false no JSON object: invalid type: sequence, expected an object",
                "7 None 0 []",
                "8 Some(\"pr\") 0 [1, 2]",
                "9 true cut off while it was written: no JSON object: EOF while parsing a string at column 25",
            ]
        );
    }
}
