//! Evidence as it lies on disk, whoever wrote it: older tools had other fields.

use serde_json::Value;

use super::records::deepest;
use crate::printable::excerpt;
use crate::time;

/// A sidecar that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Sidecar {
    /// The JSON object.
    pub value: Value,
}

/// Reads a sidecar. Only what is no JSON object is refused, with the reason in one line; of a key
/// that stands twice the last counts. Values nested more than 128 deep are refused too.
pub fn read(text: &[u8]) -> Result<Sidecar, String> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(String::from("is empty"));
    }
    match serde_json::from_slice::<Value>(text) {
        Ok(value) if value.is_object() => Ok(Sidecar { value }),
        Ok(_) => Err(String::from("is no JSON object")),
        Err(error) => Err(format!("is no JSON: {error}")),
    }
}

impl Sidecar {
    /// Whether the stage passed; if not, why not, as the end of a sentence that begins with the
    /// file.
    ///
    /// It has not where `status` is fail, failed, blocked, error or aborted in any case, where
    /// `conformance.overall` says anything but PASS, or where `unverified` lists something.
    pub fn pass_grade(&self) -> Result<(), String> {
        match objections(&self.value).into_iter().next() {
            Some((field, why)) => Err(format!("{field} {why}")),
            None => Ok(()),
        }
    }

    /// The commit the stage ended with: `stageCommitRange.head`, else `head_sha`, `head_commit`,
    /// `head`, or the `sha` of the last of `commits`. What is empty or no string is passed over.
    pub fn head(&self) -> Option<&str> {
        let range = self.value.get("stageCommitRange").and_then(|range| text(range, "head"));
        let known = || ["head_sha", "head_commit", "head"].iter().find_map(|key| self.text(key));
        // An earlier commit than the last would be a wrong head; none is better.
        let last = || text(self.value.get("commits")?.as_array()?.last()?, "sha");
        range.or_else(known).or_else(last)
    }

    /// `stageNumber`, where it is a whole number.
    pub fn stage_number(&self) -> Option<u64> {
        self.value.get("stageNumber").and_then(Value::as_u64)
    }

    /// `stageTitle`.
    pub fn title(&self) -> Option<&str> {
        self.text("stageTitle")
    }

    /// `sourcePlanPath`.
    pub fn source_plan_path(&self) -> Option<&str> {
        self.text("sourcePlanPath")
    }

    /// `completedAt`, as written.
    pub fn completed_at(&self) -> Option<&str> {
        self.text("completedAt")
    }

    /// `completedAt` in milliseconds since 1970 in UTC, where it is a date and time with a zone.
    pub fn completed_ms(&self) -> Option<i64> {
        time::epoch_ms(self.completed_at()?)
    }

    /// `newIdentifiers`; what is no string in it is passed over.
    pub fn new_identifiers(&self) -> Vec<String> {
        let list = self.value.get("newIdentifiers").and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// A member that okstra wrote with [`super::with_records`], under whichever name it got.
    pub fn record(&self, key: &str) -> Option<&Value> {
        let object = self.value.as_object()?;
        object.get(deepest(object.keys(), key)?)
    }

    fn text(&self, key: &str) -> Option<&str> {
        text(&self.value, key)
    }
}

/// A member that is a string with something in it, without the blanks around it.
fn text<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Every field that says that the stage has not passed, and how, as the end of a sentence that
/// begins with the field.
pub(super) fn objections(value: &Value) -> Vec<(&'static str, String)> {
    const FAILED: [&str; 5] = ["fail", "failed", "blocked", "error", "aborted"];
    let mut found = Vec::new();
    if let Some(status) = text(value, "status")
        && FAILED.iter().any(|word| status.eq_ignore_ascii_case(word))
    {
        found.push(("status", format!("is {}", status.to_ascii_lowercase())));
    }
    if let Some(overall) = value.get("conformance").and_then(|each| each.get("overall"))
        && is_set(overall)
        && !overall.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("pass"))
    {
        let said = overall.as_str().map_or_else(|| overall.to_string(), str::to_owned);
        let said = format!("is {}, not PASS", excerpt(&said, 80));
        found.push(("conformance.overall", said));
    }
    if let Some(list) = value.get("unverified").and_then(Value::as_array)
        && !list.is_empty()
    {
        let words = if list.len() == 1 { "item" } else { "items" };
        found.push(("unverified", format!("lists {} {words}", list.len())));
    }
    found
}

/// Whether a field says anything: not `null`, `false`, 0 or a string of blanks.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}
