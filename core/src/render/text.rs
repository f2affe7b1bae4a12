//! Lines for people: the text format and GitHub's workflow commands.

use std::fmt::Write as _;

use crate::finding::{Code, Finding, Severity};
use crate::printable::{printable, printable_lines};

/// One finding a line, as the text format prints it.
pub(super) fn line(finding: &Finding) -> String {
    finding_line(finding.code, finding.stage, &finding.message)
}

/// The line of a finding with this code, stage and message.
pub(crate) fn finding_line(code: Code, stage: u32, message: &str) -> String {
    printable(&format!("{} stage={stage}: {message}", code.as_str())).into_owned()
}

/// One workflow command a finding.
pub(super) fn github(path: &str, finding: &Finding, out: &mut String) {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let (start, end) = (finding.range.start, finding.range.end);
    // A command that spans lines may not name columns.
    let columns = if start.line == end.line {
        format!(
            ",col={},endColumn={}",
            start.column_utf16,
            end.column_utf16.max(start.column_utf16)
        )
    } else {
        String::new()
    };
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message.push('\n');
        message.push_str(help);
    }
    let title = format!("{} stage={}", finding.code.as_str(), finding.stage);
    let _ = writeln!(
        out,
        "::{level} file={},line={},endLine={}{columns},title={}::{}",
        property(path),
        start.line,
        end.line,
        property(&title),
        data(&message),
    );
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    printable_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::data;

    #[test]
    fn messages_are_escaped() {
        assert_eq!(data("100%\nnext"), "100%25%0Anext");
    }
}
