//! The answer to an event.

use serde::Serialize;

use crate::printable::printable_lines;

/// The client cuts longer texts, in UTF-16 units; there is room for what it puts around them.
const MOST: usize = 9_000;

/// What okstra answers to an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HookAnswer {
    /// The document for the client's standard output.
    pub output: HookOutput,
    /// Whether the event is about this plan: then no other plan of the session is asked.
    pub concerned: bool,
    /// The stages that nobody builds any more from now on.
    pub ended: Vec<u32>,
    /// The stage whose evidence was judged: ask again with it in the request's `judged`, as the
    /// message may hold evidence of another one.
    pub judged: Option<u32>,
    /// The claims whose missing evidence is pointed out by this answer.
    pub told: Vec<String>,
}

/// A document as the client reads it; empty where there is nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename_all = "camelCase", optional_fields)
)]
pub struct HookOutput {
    /// `block`: the session goes on instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// What it is told then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the person sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// What belongs to one event alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookSpecificOutput>,
}

/// What belongs to one event alone. Without the name of the event the client throws the whole
/// document away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename_all = "camelCase", optional_fields)
)]
pub struct HookSpecificOutput {
    /// The event.
    pub hook_event_name: &'static str,
    /// What the session is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// `ask` or `deny`. Never `allow`, which would pass over the person's own permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<&'static str>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
}

impl HookOutput {
    /// Tells the session something.
    pub(super) fn context(event: &'static str, text: &str) -> Self {
        Self {
            hook_specific_output: Some(HookSpecificOutput {
                hook_event_name: event,
                additional_context: Some(cut(text)),
                ..HookSpecificOutput::default()
            }),
            ..Self::default()
        }
    }

    /// Tells the person something.
    pub(super) fn message(text: &str) -> Self {
        Self { system_message: Some(cut(text)), ..Self::default() }
    }

    /// Lets the session go on with something to do.
    pub(super) fn block(text: &str) -> Self {
        Self { decision: Some("block"), reason: Some(cut(text)), ..Self::default() }
    }

    /// Lets the person or nobody decide about a tool call.
    pub(super) fn permission(decision: &'static str, text: &str) -> Self {
        Self {
            hook_specific_output: Some(HookSpecificOutput {
                hook_event_name: "PreToolUse",
                permission_decision: Some(decision),
                permission_decision_reason: Some(cut(text)),
                ..HookSpecificOutput::default()
            }),
            ..Self::default()
        }
    }
}

/// A text without what steers a terminal, short enough for the client to keep it whole.
fn cut(text: &str) -> String {
    let clean = printable_lines(text);
    let mut units = 0;
    for (at, ch) in clean.char_indices() {
        units += ch.len_utf16();
        if units > MOST {
            return format!("{}…", clean.get(..at).unwrap_or_default());
        }
    }
    clean.into_owned()
}

#[cfg(test)]
mod tests {
    use super::{MOST, cut};

    #[test]
    fn no_text_is_longer_than_the_client_keeps() {
        assert_eq!(cut("a\u{1b}[2J\nb"), "a[2J\nb");
        for text in ["a".repeat(20_000), "한".repeat(20_000), "🦀".repeat(20_000)] {
            let short = cut(&text);
            assert!(short.encode_utf16().count() <= MOST + 1 && short.ends_with('…'));
        }
    }
}
