//! YAML front matter: a block of metadata before the document that is no Markdown.

use super::outline::lines_at;
use crate::source::ByteRange;

/// Where the document begins: behind a byte order mark and front matter, if it has any.
///
/// Front matter is a first line `---`, lines that read as YAML, and a line `---` or `...`. A
/// document that merely begins with a thematic break is left whole: its second part would not
/// read as YAML.
#[inline(never)]
pub(crate) fn end(text: &str) -> usize {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body = text.get(start..).unwrap_or_default();
    let mut lines = lines_at(body);
    if lines.next().is_none_or(|(_, line)| line.trim_end() != "---") {
        return start;
    }
    let mut keys = 0;
    while let Some((at, line)) = lines.next() {
        if matches!(line.trim_end(), "---" | "...") {
            let behind = lines.next().map_or(body.len(), |(next, _)| next);
            return if keys > 0 { start + behind.max(at) } else { start };
        }
        match yaml_line(line) {
            YamlLine::Key => keys += 1,
            YamlLine::Other => {}
            YamlLine::No => return start,
        }
    }
    start
}

/// The opening line of front matter that has entries and no end.
pub(crate) fn unclosed(text: &str) -> Option<ByteRange> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = lines_at(text.get(start..)?);
    let (_, opening) = lines.next().filter(|(_, line)| line.trim_end() == "---")?;
    let first = lines.next().is_some_and(|(_, line)| matches!(yaml_line(line), YamlLine::Key));
    let closed = lines.any(|(_, line)| matches!(line.trim_end(), "---" | "..."));
    (first && !closed).then(|| start..start + opening.len())
}

enum YamlLine {
    Key,
    Other,
    No,
}

fn yaml_line(line: &str) -> YamlLine {
    let trimmed = line.trim();
    if trimmed.is_empty() || trimmed.starts_with('#') || line.starts_with([' ', '\t']) {
        return YamlLine::Other;
    }
    if trimmed.starts_with("- ") || trimmed == "-" || trimmed.starts_with([']', '}']) {
        return YamlLine::Other;
    }
    match trimmed.split_once(':') {
        Some((key, value))
            if !key.contains('|') && (value.is_empty() || value.starts_with([' ', '\t'])) =>
        {
            YamlLine::Key
        }
        _ => YamlLine::No,
    }
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn only_real_front_matter_is_taken() {
        let table = [
            ("# a\n", ""),
            ("---\nid: 1\nlist:\n  - a\n---\n# a\n", "---\nid: 1\nlist:\n  - a\n---\n"),
            ("\u{feff}---\r\nid: 1\r\n---\r\n# a", "\u{feff}---\r\nid: 1\r\n---\r\n"),
            ("---\n\n## 4.5 Stage Map\n\n| a |\n|--|\n\n---\n", ""),
            ("---\ntitle: never closed\n\ntext goes on\n", ""),
            ("---\n---\n# a\n", ""),
            ("---\nid: 1\n...\n", "---\nid: 1\n...\n"),
        ];
        for (text, expected) in table {
            assert_eq!(text.get(..end(text)), Some(expected), "{text:?}");
        }
    }
}
