//! Lines for people: the text format, GitHub's workflow commands, and what a terminal may see.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::finding::{Finding, Severity};

/// One finding a line, as the text format prints it.
pub(super) fn line(finding: &Finding) -> String {
    printable(&format!("{} stage={}: {}", finding.code.as_str(), finding.stage, finding.message))
        .into_owned()
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
    printable_keeping_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text as a terminal may see it: without control characters, line ends included, and without
/// the marks that reorder what is shown.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    clean(text, unsafe_on_terminal)
}

fn printable_keeping_lines(text: &str) -> Cow<'_, str> {
    clean(text, |ch| ch != '\n' && unsafe_on_terminal(ch))
}

fn clean(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().any(&bad) {
        Cow::Owned(text.chars().filter(|ch| !bad(*ch)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a character steers a terminal instead of standing for text.
pub(super) fn unsafe_on_terminal(ch: char) -> bool {
    ch.is_control()
        || matches!(ch, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{data, printable};

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        assert_eq!(printable("a\u{1b}[31mb\u{9b}2Jc\u{202e}d\r\ne\u{7}"), "a[31mb2Jcde");
        assert_eq!(data("100%\nnext"), "100%25%0Anext");
    }
}
