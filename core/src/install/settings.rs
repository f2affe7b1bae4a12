//! The hooks in a settings file of Claude Code.
//!
//! A hook of okstra's is known by what it starts: the launcher `okstra/hook.cjs`. Everything else
//! in the file is somebody else's and stays byte for byte.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::decode::decode;
use crate::digest::sha256_hex;
use crate::json_edit::Segment::{Index, Key};
use crate::json_edit::{JsonFault, JsonText, Segment};

/// How the launcher's path ends, wherever it lies.
const LAUNCHER: &str = "/okstra/hook.cjs";

/// What stands for the folder of the plugin in its own list of hooks.
const PLUGIN_ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// One edit of a settings file, to be undone in the order from the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingsEdit {
    /// Where, in bytes.
    pub at: u32,
    /// How many bytes were written.
    pub length: u32,
    /// What stood there before: white space, if anything.
    pub removed: String,
}

decode!(SettingsEdit { at, length, removed });

/// What was done to a settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RecordedSettings {
    /// The file.
    pub path: String,
    /// Whether okstra made it.
    pub created: bool,
    /// The digest of what okstra wrote.
    pub sha256: String,
    /// The edits, in their order.
    pub edits: Vec<SettingsEdit>,
    /// The objects and lists that okstra made to hold its hooks: `hooks`, `hooks/Stop`.
    pub made: Vec<String>,
    /// The hooks as they were written, by event.
    #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
    pub hooks: Value,
}

decode!(RecordedSettings { path, created, sha256, edits, made, hooks });

/// A settings file with okstra's hooks in it.
pub(super) struct Merged {
    pub(super) text: String,
    pub(super) record: RecordedSettings,
    /// Events whose hook was changed by somebody and is left as it is.
    pub(super) kept: Vec<String>,
}

/// The plugin's hooks with the path of the launcher as it is here.
pub(super) fn wanted(hooks: &str, launcher: &str) -> Result<Map<String, Value>, JsonFault> {
    let json = JsonText::read(hooks)?;
    let mut value = json.get(&[Key("hooks")])?.unwrap_or_default();
    replace(&mut value, &format!("{PLUGIN_ROOT}{LAUNCHER}"), launcher);
    Ok(match value {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text == from => to.clone_into(text),
        Value::Array(list) => list.iter_mut().for_each(|inner| replace(inner, from, to)),
        Value::Object(map) => map.values_mut().for_each(|inner| replace(inner, from, to)),
        _ => {}
    }
}

/// Puts the hooks into a settings file.
pub(super) fn merge(
    path: &str,
    found: Option<&str>,
    before: Option<&RecordedSettings>,
    wanted: &Map<String, Value>,
    force: bool,
) -> Result<Merged, JsonFault> {
    let text = found.unwrap_or_default();
    let untouched = before.filter(|before| before.sha256 == sha256_hex(text.as_bytes()));
    let mut kept = Vec::new();
    // The file without what okstra put there.
    let (base, created) = match untouched {
        Some(before) => (undo(text, before), before.created),
        None if found.is_none() => (String::new(), true),
        None => {
            let created = before.is_some_and(|before| before.created);
            let old = before.and_then(|before| before.hooks.as_object());
            (strip(text, old, wanted, force, &mut kept)?, created)
        }
    };
    let mut edits = Vec::new();
    let mut now = base.clone();
    if now.trim_start_matches('\u{feff}').trim().is_empty() {
        String::from("{}\n").clone_into(&mut now);
        edits.extend(difference(&base, &now));
    }
    let mut json = JsonText::read(&now)?;
    let mut made = before.map(|before| before.made.clone()).unwrap_or_default();
    made.retain(|path| json.has(&keys(path)));
    if !json.has(&[Key("hooks")]) {
        made.push(String::from("hooks"));
    }
    for (event, groups) in wanted {
        let at = [Key("hooks"), Key(event)];
        if kept.contains(event) || holds_all(&json, &at, groups)? {
            continue;
        }
        if !json.has(&at) {
            made.push(format!("hooks/{event}"));
        }
        for group in groups.as_array().into_iter().flatten() {
            json.push(&at, group)?;
            let then = json.clone().into_text();
            edits.extend(difference(&now, &then));
            now = then;
        }
    }
    made.sort_unstable();
    made.dedup();
    // What was there without our edits cannot be undone by them: it is taken out one by one.
    let undoable = events_of(&base).is_ok_and(|events| events.is_empty());
    let record = match before {
        // Edited by others since, with our hooks still there: what is recorded still counts.
        Some(before) if now == text && untouched.is_none() => before.clone(),
        _ => RecordedSettings {
            path: path.to_owned(),
            created,
            sha256: if undoable { sha256_hex(now.as_bytes()) } else { String::new() },
            edits,
            made,
            hooks: Value::Object(wanted.clone()),
        },
    };
    Ok(Merged { text: now, record, kept })
}

/// The settings after okstra's hooks were taken out; `None` where nothing of others is left.
pub(super) fn take_out(text: &str, record: &RecordedSettings) -> Result<Option<String>, JsonFault> {
    let untouched = record.sha256 == sha256_hex(text.as_bytes());
    let text = if untouched { undo(text, record) } else { text.to_owned() };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok((!record.created).then_some(text));
    }
    let mut json = JsonText::read(&text)?;
    if !untouched {
        remove_ours(&mut json, &|_, _| true)?;
    }
    for path in record.made.iter().rev() {
        let keys = keys(path);
        let is_empty = |value: Value| match value {
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        if json.get(&keys)?.is_some_and(is_empty) {
            json.remove(&keys);
        }
    }
    let empty = json.get(&[])?.is_some_and(|value| value.as_object().is_some_and(Map::is_empty));
    Ok((!(record.created && empty)).then(|| json.into_text()))
}

/// The events under which a settings file has a hook of okstra's.
pub(super) fn events_of(text: &str) -> Result<Vec<String>, JsonFault> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(Vec::new());
    }
    let json = JsonText::read(text)?;
    let hooks = json.get(&[Key("hooks")])?.unwrap_or_default();
    let has = |groups: &Value| groups.as_array().into_iter().flatten().any(is_ours);
    Ok(hooks
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, groups)| has(groups))
        .map(|(event, _)| event.clone())
        .collect())
}

fn keys(path: &str) -> Vec<Segment<'_>> {
    path.split('/').map(Key).collect()
}

/// The text before the edits.
fn undo(text: &str, record: &RecordedSettings) -> String {
    let mut text = text.to_owned();
    for SettingsEdit { at, length, removed } in record.edits.iter().rev() {
        let (start, end) = (*at as usize, (*at + *length) as usize);
        if text.get(start..end).is_some() {
            text.replace_range(start..end, removed);
        }
    }
    text
}

/// The one place where two texts differ.
fn difference(before: &str, after: &str) -> Option<SettingsEdit> {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let most = old.len().min(new.len());
    let mut head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    while !(before.is_char_boundary(head) && after.is_char_boundary(head)) {
        head -= 1;
    }
    let tails = old.iter().rev().zip(new.iter().rev());
    let mut tail = tails.take(most - head).take_while(|(a, b)| a == b).count();
    while !before.is_char_boundary(old.len() - tail) || !after.is_char_boundary(new.len() - tail) {
        tail -= 1;
    }
    let removed = before.get(head..old.len() - tail)?.to_owned();
    let length = u32::try_from(new.len() - tail - head).ok()?;
    let at = u32::try_from(head).ok()?;
    (before != after).then_some(SettingsEdit { at, length, removed })
}

/// Whether a list has all of these groups.
fn holds_all(json: &JsonText, at: &[Segment<'_>], groups: &Value) -> Result<bool, JsonFault> {
    let found = json.get(at)?.unwrap_or_default();
    let there = found.as_array().cloned().unwrap_or_default();
    Ok(groups.as_array().into_iter().flatten().all(|group| there.contains(group)))
}

/// Takes out hooks of okstra's that are not those wanted. One that somebody has changed stays, with
/// its event in `kept`, unless `force` says otherwise.
fn strip(
    text: &str,
    old: Option<&Map<String, Value>>,
    wanted: &Map<String, Value>,
    force: bool,
    kept: &mut Vec<String>,
) -> Result<String, JsonFault> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(text.to_owned());
    }
    let mut json = JsonText::read(text)?;
    let knows = |hooks: Option<&Map<String, Value>>, event: &str, group: &Value| {
        let groups = hooks.and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
        groups.is_some_and(|groups| groups.contains(group))
    };
    let changed = std::cell::RefCell::new(Vec::new());
    remove_ours(&mut json, &|event, group| {
        if knows(Some(wanted), event, group) {
            return false;
        }
        if force || knows(old, event, group) {
            return true;
        }
        changed.borrow_mut().push(event.to_owned());
        false
    })?;
    kept.append(&mut changed.into_inner());
    kept.dedup();
    Ok(json.into_text())
}

/// Removes the hooks of okstra's for which `judge` says so, by event and group. A group that holds
/// others' hooks too loses only okstra's.
fn remove_ours(json: &mut JsonText, judge: &dyn Fn(&str, &Value) -> bool) -> Result<(), JsonFault> {
    let hooks = json.get(&[Key("hooks")])?.unwrap_or_default();
    for (event, groups) in hooks.as_object().into_iter().flatten() {
        let groups = groups.as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, group) in groups.iter().enumerate().rev() {
            if !is_ours(group) || !judge(event, group) {
                continue;
            }
            let place = [Key("hooks"), Key(event), Index(at)];
            let handlers = group.get("hooks").and_then(Value::as_array);
            let handlers = handlers.map(Vec::as_slice).unwrap_or_default();
            if handlers.iter().all(starts_launcher) {
                json.remove(&place);
                continue;
            }
            for (index, _) in
                handlers.iter().enumerate().rev().filter(|(_, handler)| starts_launcher(handler))
            {
                let [hooks, event, group] = place;
                json.remove(&[hooks, event, group, Key("hooks"), Index(index)]);
            }
        }
    }
    Ok(())
}

/// Whether a group of hooks has one of okstra's.
fn is_ours(group: &Value) -> bool {
    let handlers = group.get("hooks").and_then(Value::as_array);
    handlers.is_some_and(|handlers| handlers.iter().any(starts_launcher))
}

fn starts_launcher(handler: &Value) -> bool {
    let ends = |value: &Value| {
        value.as_str().is_some_and(|text| text.replace('\\', "/").ends_with(LAUNCHER))
    };
    let args = handler.get("args").and_then(Value::as_array);
    args.is_some_and(|args| args.iter().any(ends))
}

/// Whether the settings switch all hooks off.
pub(super) fn all_off(text: &str) -> bool {
    let off = JsonText::read(text).and_then(|json| json.get(&[Key("disableAllHooks")]));
    off.is_ok_and(|off| off == Some(Value::Bool(true)))
}
