//! SARIF 2.1.0, the format code scanning reads.

use serde_json::{Value, json};

use super::check::{Checked, encoded};
use crate::finding::{Edit, Finding, Severity};
use crate::rules::RULES;
use crate::source::SourceRange;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[inline(never)]
pub(super) fn document(plans: &[Checked<'_>]) -> String {
    let results: Vec<Value> = plans
        .iter()
        .flat_map(|plan| plan.findings.iter().map(|finding| result(plan.path, finding)))
        .collect();
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code.as_str(),
                "shortDescription": { "text": rule.summary },
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    encoded(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "okstra",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    }))
}

fn result(path: &str, finding: &Finding) -> Value {
    let message = match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    };
    let related: Vec<Value> = finding
        .related
        .iter()
        .map(|related| {
            let mut place = location(path, related.range);
            place["message"] = json!({ "text": related.message });
            place
        })
        .collect();
    let mut value = json!({
        "ruleId": finding.code.as_str(),
        "ruleIndex": RULES.iter().position(|rule| rule.code == finding.code),
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [location(path, finding.range)],
        "properties": { "stage": finding.stage },
    });
    if !related.is_empty() {
        value["relatedLocations"] = json!(related);
    }
    if let Some(fix) = &finding.fix {
        let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
        value["fixes"] = json!([{
            "description": { "text": fix.title },
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(path) },
                "replacements": replacements,
            }],
        }]);
    }
    value
}

fn replacement(edit: &Edit) -> Value {
    json!({
        "deletedRegion": region(edit.range),
        "insertedContent": { "text": edit.text },
    })
}

fn location(path: &str, range: SourceRange) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(path) },
            "region": region(range),
        },
    })
}

fn region(range: SourceRange) -> Value {
    json!({
        "startLine": range.start.line,
        "startColumn": range.start.column_utf16,
        "endLine": range.end.line,
        "endColumn": range.end.column_utf16,
        "byteOffset": range.start.offset,
        "byteLength": range.end.offset.saturating_sub(range.start.offset),
    })
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
                uri.push(char::from(byte))
            }
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
