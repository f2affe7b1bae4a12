//! The pretty format: each finding with the lines it is about and carets under the place.
//!
//! Drawing is codespan-reporting's work. It gets a small, clean excerpt of the plan for each
//! place, so that a report stays linear in its findings even for a plan on one line of ten
//! megabytes, and nothing of the plan can steer the terminal.

use std::fmt::{self, Write as _};
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label, LabelStyle, Severity as Level};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{Config, WriteStyle, emit_to_string, emit_to_write_style};

use super::check::Checked;
use crate::finding::{Finding, Severity};
use crate::printable::{printable, printable_path};
use crate::source::SourceRange;

/// Lines of a place that are shown; of a longer one the first.
const MOST_LINES: usize = 4;
/// Bytes of a line that are shown before and behind a place on a long line.
const BESIDE: usize = 120;
/// Bytes of a place that are shown; of a longer one the first.
const MOST_BYTES: usize = 400;

/// Findings go to `talk`, one line about each plan to `data`.
#[inline(never)]
pub(super) fn write(plans: &[Checked<'_>], color: bool, talk: &mut String, data: &mut String) {
    for plan in plans {
        let path = printable_path(plan.path);
        for finding in &plan.findings {
            one(&path, plan.source, finding, color, talk);
        }
        let _ = writeln!(data, "{path}: {}", summary(plan));
    }
}

/// `2 errors, 1 warning; 3 stages in 2 waves`.
pub(super) fn summary(plan: &Checked<'_>) -> String {
    let count =
        |severity| plan.findings.iter().filter(|finding| finding.severity == severity).count();
    format!(
        "{}, {}; {} in {}",
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        plural(plan.stage_count, "stage"),
        plural(plan.wave_count, "wave"),
    )
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn one(path: &str, source: &str, finding: &Finding, color: bool, out: &mut String) {
    let level = match finding.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
    };
    let mut title = printable(&finding.message).into_owned();
    if finding.stage > 0 {
        title = format!("stage {}: {title}", finding.stage);
    }
    let mut excerpts = vec![Excerpt::new(source, finding.range)];
    excerpts.extend(finding.related.iter().map(|related| Excerpt::new(source, related.range)));
    let mut labels = Vec::with_capacity(excerpts.len());
    for (file, excerpt) in excerpts.iter().enumerate() {
        labels.push(match file.checked_sub(1).and_then(|at| finding.related.get(at)) {
            Some(related) => Label::secondary(file, excerpt.start..excerpt.end)
                .with_message(printable(&related.message)),
            None => Label::primary(file, excerpt.start..excerpt.end),
        });
    }
    let mut notes = Vec::new();
    if let Some(help) = &finding.help {
        notes.push(format!("help: {}", printable(help)));
    }
    if let Some(fix) = &finding.fix {
        notes.push(format!("fix: `--fix` will {}", printable(&fix.title)));
    }
    let diagnostic = Diagnostic::new(level)
        .with_message(title)
        .with_code(finding.code.as_str())
        .with_labels(labels)
        .with_notes(notes);
    let files = Excerpts { path, excerpts };
    let config = Config::default();
    // Every place was cut from its own excerpt, so that looking it up there cannot fail.
    let _ = if color {
        emit_to_write_style(&mut Styled { out }, &config, &files, &diagnostic)
    } else {
        emit_to_string(out, &config, &files, &diagnostic)
    };
}

/// Writes colours as terminals understand them.
struct Styled<'o> {
    out: &'o mut String,
}

impl fmt::Write for Styled<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }
}

impl Styled<'_> {
    fn style(&mut self, codes: &str) -> fmt::Result {
        write!(self.out, "\u{1b}[{codes}m")
    }

    fn level(&mut self, level: Level) -> fmt::Result {
        self.style(if level == Level::Error { "1;31" } else { "1;33" })
    }
}

impl WriteStyle for Styled<'_> {
    fn set_header(&mut self, level: Level) -> fmt::Result {
        self.level(level)
    }

    fn set_header_message(&mut self) -> fmt::Result {
        self.style("1")
    }

    fn set_line_number(&mut self) -> fmt::Result {
        self.style("34")
    }

    fn set_note_bullet(&mut self) -> fmt::Result {
        self.style("34")
    }

    fn set_source_border(&mut self) -> fmt::Result {
        self.style("34")
    }

    fn set_label(&mut self, level: Level, style: LabelStyle) -> fmt::Result {
        match style {
            LabelStyle::Primary => self.level(level),
            LabelStyle::Secondary => self.style("34"),
        }
    }

    fn reset(&mut self) -> fmt::Result {
        self.style("0")
    }
}

/// The excerpts of one finding, each a file to the drawing library, all with the plan's name.
struct Excerpts<'p> {
    path: &'p str,
    excerpts: Vec<Excerpt>,
}

impl Excerpts<'_> {
    fn excerpt(&self, id: usize) -> Result<&Excerpt, Error> {
        self.excerpts.get(id).ok_or(Error::FileMissing)
    }
}

impl<'a> Files<'a> for Excerpts<'_> {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, _: usize) -> Result<&'a str, Error> {
        Ok(self.path)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.excerpt(id)?.text)
    }

    fn line_index(&'a self, id: usize, at: usize) -> Result<usize, Error> {
        let before = self.excerpt(id)?.text.as_bytes().iter().take(at);
        Ok(before.filter(|byte| **byte == b'\n').count())
    }

    fn line_number(&'a self, id: usize, line: usize) -> Result<usize, Error> {
        Ok(self.excerpt(id)?.first_line + line)
    }

    fn column_number(&'a self, id: usize, line: usize, at: usize) -> Result<usize, Error> {
        let excerpt = self.excerpt(id)?;
        if at == excerpt.start {
            return Ok(excerpt.column);
        }
        let start = self.line_range(id, line)?.start;
        Ok(excerpt.text.get(start..at).map_or(1, |before| before.chars().count() + 1))
    }

    fn line_range(&'a self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        let text = &self.excerpt(id)?.text;
        let mut start = 0;
        for (index, piece) in text.split_inclusive('\n').enumerate() {
            if index == line {
                return Ok(start..start + piece.len());
            }
            start += piece.len();
        }
        Ok(start..start)
    }
}

/// A few clean lines around a place.
struct Excerpt {
    text: String,
    first_line: usize,
    /// The column of the place in the plan.
    column: usize,
    start: usize,
    end: usize,
}

impl Excerpt {
    fn new(source: &str, range: SourceRange) -> Self {
        let (start, mut end) = (range.start.offset as usize, range.end.offset as usize);
        // Behind the bytes that can be shown nothing is looked at: a thousand findings may name one
        // line of ten megabytes.
        end = end.min(boundary_behind(source, start + MOST_BYTES));
        let place = source.get(start..end).unwrap_or_default();
        // A place over many lines is shown by its first one.
        if place.lines().take(MOST_LINES + 1).count() > MOST_LINES {
            end = start + place.find(['\n', '\r']).unwrap_or(place.len());
        }
        let from = window_start(source, start);
        let to = window_end(source, end);
        let mut excerpt = Self {
            text: String::new(),
            first_line: range.start.line as usize,
            column: range.start.column as usize,
            start: 0,
            end: 0,
        };
        if !before(source, from).is_empty() && !before(source, from).ends_with(['\n', '\r']) {
            excerpt.text.push('…');
        }
        excerpt.copy(source.get(from..start).unwrap_or_default());
        excerpt.start = excerpt.text.len();
        excerpt.copy(source.get(start..end).unwrap_or_default());
        excerpt.end = excerpt.text.len();
        excerpt.copy(source.get(end..to).unwrap_or_default());
        if !behind(source, to).is_empty() && !behind(source, to).starts_with(['\n', '\r']) {
            excerpt.text.push('…');
        }
        excerpt
    }

    /// Copies text without what could steer a terminal; line ends and tabs stay.
    fn copy(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            for part in line.split_inclusive('\t') {
                self.text.push_str(&printable(part.trim_end_matches(['\t', '\n'])));
                if part.ends_with('\t') {
                    self.text.push('\t');
                } else if part.ends_with('\n') {
                    self.text.push('\n');
                }
            }
        }
    }
}

fn before(source: &str, at: usize) -> &str {
    source.get(..at).unwrap_or_default()
}

fn behind(source: &str, at: usize) -> &str {
    source.get(at..).unwrap_or_default()
}

/// Where to begin: at the beginning of the line, unless that is far away.
fn window_start(source: &str, start: usize) -> usize {
    let mut from = start.saturating_sub(BESIDE);
    while !source.is_char_boundary(from) {
        from -= 1;
    }
    let beside = source.get(from..start).unwrap_or_default();
    beside.rfind(['\n', '\r']).map_or(from, |at| from + at + 1)
}

/// Where to end: at the end of the line, unless that is far away.
fn window_end(source: &str, end: usize) -> usize {
    let to = boundary_behind(source, end + BESIDE);
    let beside = source.get(end..to).unwrap_or_default();
    beside.find(['\n', '\r']).map_or(to, |at| end + at)
}

/// The first character boundary from `at` on, at most the end of the text.
fn boundary_behind(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at += 1;
    }
    at
}
