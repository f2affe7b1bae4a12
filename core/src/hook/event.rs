//! What a client writes to a hook's standard input.

use serde_json::{Map, Value};

use crate::error::OkstraError;

/// An event, as far as okstra looks at it. What a later client adds is ignored; a member of
/// another type than expected counts as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// The tool, for events about tools.
    pub tool: String,
    /// How a session begins or ends.
    pub cause: String,
    /// The last words of the session or of its subagent.
    pub last_message: String,
    /// Whether the session goes on because a hook kept it from stopping.
    pub stop_hook_active: bool,
    /// Whether something of the session still works in the background.
    pub background: bool,
}

impl Event {
    /// Reads an event. Fails where it is no JSON object.
    pub fn read(bytes: &[u8]) -> Result<Self, OkstraError> {
        let bad = |reason: String| OkstraError::BadOptions { reason: format!("event: {reason}") };
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| bad(format!("no JSON: {error}")))?;
        let Some(map) = value.as_object() else {
            return Err(bad(String::from("must be an object")));
        };
        let cause = ["source", "reason"].into_iter().map(|name| text(map, name));
        Ok(Self {
            name: text(map, "hook_event_name"),
            tool: text(map, "tool_name"),
            cause: cause.into_iter().find(|it| !it.is_empty()).unwrap_or_default(),
            last_message: text(map, "last_assistant_message"),
            stop_hook_active: map.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
            background: map
                .get("background_tasks")
                .and_then(Value::as_array)
                .is_some_and(|tasks| tasks.iter().any(is_running)),
        })
    }
}

fn text(map: &Map<String, Value>, name: &str) -> String {
    map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn is_running(task: &Value) -> bool {
    task.get("status").and_then(Value::as_str) == Some("running")
}
