//! Text of a plan as a terminal may see it.

use std::borrow::Cow;

/// Text without control characters, line ends included, and without the marks that reorder what
/// is shown.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    clean(text, steers_terminal)
}

/// The same, but line feeds stay.
pub(crate) fn printable_lines(text: &str) -> Cow<'_, str> {
    clean(text, |ch| ch != '\n' && steers_terminal(ch))
}

/// A file's name at the beginning of a line. A name that would make the line a command to a
/// workflow runner (`::error::…`) is written as the same path with `./` before it.
pub(crate) fn printable_path(path: &str) -> Cow<'_, str> {
    let path = printable(path);
    if path.starts_with("::") || path.starts_with("##") {
        return Cow::Owned(format!("./{path}"));
    }
    path
}

/// The beginning of a text inside a message: one line, at most `most` characters and an ellipsis.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let mut short = String::new();
    let mut left = most;
    for ch in text.trim().chars() {
        let ch = if steers_terminal(ch) { ' ' } else { ch };
        // A line break and the indent behind it are one blank.
        if ch == ' ' && short.ends_with(' ') {
            continue;
        }
        if left == 0 {
            short.push('…');
            break;
        }
        short.push(ch);
        left -= 1;
    }
    short
}

fn clean(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().any(&bad) {
        Cow::Owned(text.chars().filter(|ch| !bad(*ch)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a character steers a terminal instead of standing for text: controls, line and
/// paragraph separators, and the marks of bidirectional text.
pub(crate) fn steers_terminal(ch: char) -> bool {
    ch.is_control()
        || matches!(ch, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{excerpt, printable, printable_path};

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        assert_eq!(printable("a\u{1b}[31mb\u{9b}2Jc\u{202e}d\r\ne\u{7}"), "a[31mb2Jcde");
        assert_eq!(printable_path("::error::x.md"), "./::error::x.md");
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt(" {\r\n\t\"a\": 1\u{1b}[2J\n}\n", 80), "{ \"a\": 1 [2J }");
        assert_eq!(excerpt("äöüß", 3), "äöü…");
        assert_eq!(excerpt("äöü", 3), "äöü");
    }
}
