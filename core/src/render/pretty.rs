//! The pretty format: each finding with the lines it is about and carets under the place.
//!
//! Drawing is annotate-snippets' work (the renderer of rustc's own messages). It gets a small,
//! clean excerpt of the plan for each place, so that a report stays linear in its findings even
//! for a plan on one line of ten megabytes, and nothing of the plan can steer the terminal.

use std::fmt::Write as _;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::check::Checked;
use super::printable;
use crate::finding::{Finding, Severity};
use crate::source::SourceRange;

/// Lines of a place that are shown; of a longer one the first.
const MOST_LINES: usize = 4;
/// Characters of a line that are shown before and behind a place on a long line.
const BESIDE: usize = 120;

/// Findings go to `talk`, one line about each plan to `data`.
pub(super) fn write(plans: &[Checked<'_>], color: bool, talk: &mut String, data: &mut String) {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    for plan in plans {
        let path = printable(plan.path);
        for finding in &plan.findings {
            let _ = writeln!(talk, "{}\n", one(&renderer, &path, plan.source, finding));
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
        plural(plan.graph.waves.len(), "wave"),
    )
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn one(renderer: &Renderer, path: &str, source: &str, finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = printable(&finding.message).into_owned();
    if finding.stage > 0 {
        title = format!("stage {}: {title}", finding.stage);
    }
    let place = Excerpt::new(source, finding.range);
    let related: Vec<(String, Excerpt)> = finding
        .related
        .iter()
        .map(|related| {
            (printable(&related.message).into_owned(), Excerpt::new(source, related.range))
        })
        .collect();
    let help = finding.help.as_deref().map(printable);
    let fix = finding.fix.as_ref().map(|fix| format!("`--fix` will {}", printable(&fix.title)));
    let mut group: Group<'_> = level
        .primary_title(title.as_str())
        .id(finding.code.as_str())
        .element(place.snippet(path, AnnotationKind::Primary, None));
    for (message, excerpt) in &related {
        group = group.element(excerpt.snippet(path, AnnotationKind::Context, Some(message)));
    }
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(help.as_ref()));
    }
    if let Some(fix) = &fix {
        group = group.element(Level::NOTE.message(fix.as_str()));
    }
    renderer.render(&[group])
}

/// A few clean lines around a place.
struct Excerpt {
    text: String,
    first_line: usize,
    start: usize,
    end: usize,
}

impl Excerpt {
    fn new(source: &str, range: SourceRange) -> Self {
        let (start, mut end) = (range.start.offset as usize, range.end.offset as usize);
        let line_start = before(source, start).rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let place = source.get(start..end).unwrap_or_default();
        // A place over many lines is shown by its first one.
        if place.lines().count() > MOST_LINES {
            end = start + place.find(['\n', '\r']).unwrap_or(place.len());
        }
        let line_end =
            end + behind(source, end).find(['\n', '\r']).unwrap_or(behind(source, end).len());
        let from = window_start(source, line_start, start);
        let to = window_end(source, end, line_end);
        let mut excerpt =
            Self { text: String::new(), first_line: range.start.line as usize, start: 0, end: 0 };
        if from > line_start {
            excerpt.text.push('…');
        }
        excerpt.copy(source.get(from..start).unwrap_or_default());
        excerpt.start = excerpt.text.len();
        excerpt.copy(source.get(start..end).unwrap_or_default());
        excerpt.end = excerpt.text.len();
        excerpt.copy(source.get(end..to).unwrap_or_default());
        if to < line_end {
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

    fn snippet<'t>(
        &'t self,
        path: &'t str,
        kind: AnnotationKind,
        label: Option<&'t str>,
    ) -> Snippet<'t, Annotation<'t>> {
        let span = kind.span(self.start..self.end);
        let span = match label {
            Some(label) => span.label(label),
            None => span,
        };
        Snippet::source(self.text.as_str())
            .line_start(self.first_line)
            .path(path)
            .fold(false)
            .annotation(span)
    }
}

fn before(source: &str, at: usize) -> &str {
    source.get(..at).unwrap_or_default()
}

fn behind(source: &str, at: usize) -> &str {
    source.get(at..).unwrap_or_default()
}

/// Where to begin on a long line.
fn window_start(source: &str, line_start: usize, start: usize) -> usize {
    let mut from = start.saturating_sub(BESIDE).max(line_start);
    while !source.is_char_boundary(from) {
        from -= 1;
    }
    from
}

/// Where to end on a long line.
fn window_end(source: &str, end: usize, line_end: usize) -> usize {
    let mut to = (end + BESIDE).min(line_end);
    while !source.is_char_boundary(to) {
        to += 1;
    }
    to
}
