//! SARIF 2.1.0, the format code scanning reads. Names are the standard's.

use std::fmt::Write as _;

use serde::Serialize;

use super::check::{Checked, encoded};
use crate::finding::{Edit, Finding, Related, Severity};
use crate::rules::RULES;
use crate::source::SourceRange;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'a str,
    version: &'a str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    column_kind: &'a str,
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'a str,
    version: &'a str,
    rules: Vec<Descriptor<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    id: &'a str,
    short_description: Text<'a>,
    default_configuration: Configuration<'a>,
}

#[derive(Serialize)]
struct Configuration<'a> {
    level: &'a str,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'a str,
    message: OwnText,
    locations: [Location; 1],
    properties: Properties,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Repair<'a>>,
}

#[derive(Serialize)]
struct OwnText {
    text: String,
}

#[derive(Serialize)]
struct Properties {
    stage: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<OwnText>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    byte_offset: u32,
    byte_length: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Repair<'a> {
    description: Text<'a>,
    artifact_changes: [Change<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'a> {
    artifact_location: Artifact,
    replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'a> {
    deleted_region: Region,
    inserted_content: Text<'a>,
}

#[inline(never)]
pub(super) fn document(plans: &[Checked<'_>]) -> String {
    let rules = RULES.iter().map(|rule| Descriptor {
        id: rule.code.as_str(),
        short_description: Text { text: rule.summary },
        default_configuration: Configuration { level: level(rule.severity) },
    });
    let results =
        plans.iter().flat_map(|plan| plan.findings.iter().map(|finding| entry(plan.path, finding)));
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "okstra",
                version: env!("CARGO_PKG_VERSION"),
                rules: rules.collect(),
            },
        },
        column_kind: "utf16CodeUnits",
        results: results.collect(),
    };
    encoded(&Log { schema: SCHEMA, version: "2.1.0", runs: [run] })
}

fn entry<'a>(path: &str, finding: &'a Finding) -> Entry<'a> {
    let text = match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    };
    let related = |related: &'a Related| Location {
        physical_location: physical(path, related.range),
        message: Some(OwnText { text: message(&related.message) }),
    };
    Entry {
        rule_id: finding.code.as_str(),
        rule_index: RULES.iter().position(|rule| rule.code == finding.code).unwrap_or_default(),
        level: level(finding.severity),
        message: OwnText { text: message(&text) },
        locations: [Location { physical_location: physical(path, finding.range), message: None }],
        properties: Properties { stage: finding.stage },
        related_locations: finding.related.iter().map(related).collect(),
        fixes: finding
            .fix
            .iter()
            .map(|fix| Repair {
                description: Text { text: &fix.title },
                artifact_changes: [Change {
                    artifact_location: Artifact { uri: uri(path) },
                    replacements: fix.edits.iter().map(replacement).collect(),
                }],
            })
            .collect(),
    }
}

/// Text as a message of the standard, in which brackets make links and braces placeholders.
fn message(text: &str) -> String {
    let mut message = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '\\' | '[' | ']' => message.extend(['\\', ch]),
            '{' | '}' => message.extend([ch, ch]),
            _ => message.push(ch),
        }
    }
    message
}

fn replacement(edit: &Edit) -> Replacement<'_> {
    Replacement { deleted_region: region(edit.range), inserted_content: Text { text: &edit.text } }
}

fn physical(path: &str, range: SourceRange) -> Physical {
    Physical { artifact_location: Artifact { uri: uri(path) }, region: region(range) }
}

fn region(range: SourceRange) -> Region {
    Region {
        start_line: range.start.line,
        start_column: range.start.column_utf16,
        end_line: range.end.line,
        end_column: range.end.column_utf16,
        byte_offset: range.start.offset,
        byte_length: range.end.offset.saturating_sub(range.start.offset),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A path as a relative URI reference: separators are kept, everything that is not unreserved is
/// escaped.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b'\\' => uri.push('/'),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
