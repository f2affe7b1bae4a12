//! Parallel safety: S9.

use std::collections::HashMap;

use super::{Checker, quoted};
use crate::finding::{Code, Draft};
use crate::plan::files::StepFile;
use crate::source::ByteRange;

/// Up to this many stages that touch one file are compared pair by pair; of more, each only with
/// the next in building order, so that the report stays as long as the plan.
const PAIRWISE: usize = 16;

/// Where a stage touches a file first.
struct Touch {
    vertex: usize,
    stage: u32,
    cell: ByteRange,
}

impl Checker<'_, '_> {
    /// Two stages may run at the same time when neither waits for the other, directly or through
    /// others; then their steps must not name the same file. Files of a step are compared as
    /// normalised paths. Where more than 16 stages touch one file, each is compared with the next
    /// in building order only; a stage whose dependencies cannot be read is not compared. A path that leaves the project is a finding as well. Warnings; with
    /// `--strict`, errors.
    pub(super) fn parallel_stages_share_no_file(&mut self) {
        let mut touches: HashMap<&str, Vec<Touch>> = HashMap::new();
        let mut drafts = Vec::new();
        for (vertex, &at) in self.rows.iter().enumerate() {
            let Some(row) = self.doc.map.rows.get(at) else {
                continue;
            };
            let Some(section) = self.doc.section(row) else {
                continue;
            };
            // Whether it may run beside others cannot be known; that is an S6.
            let unknown = row.depends_on.unreadable.is_some()
                || self
                    .doc
                    .dependencies(at)
                    .iter()
                    .any(|stage| !self.doc.row_of.contains_key(stage));
            for step in &section.steps {
                for file in &step.files {
                    match file {
                        StepFile::Inside(path) => {
                            let list = touches.entry(path).or_default();
                            if !unknown && list.last().is_none_or(|last| last.vertex != vertex) {
                                let cell = step.files_cell.clone();
                                list.push(Touch { vertex, stage: row.number(), cell });
                            }
                        }
                        StepFile::Outside(path) => drafts.push(
                            Draft::new(
                                Code::S9,
                                row.number(),
                                step.files_cell.clone(),
                                format!("{} leaves the project", quoted(path)),
                            )
                            .help("name files relative to the project's folder"),
                        ),
                    }
                }
            }
        }
        let mut shared: Vec<(&str, Vec<Touch>)> =
            touches.into_iter().filter(|(_, list)| list.len() > 1).collect();
        shared.sort_unstable_by_key(|(path, _)| *path);
        for (path, list) in shared {
            self.compare(path, list, &mut drafts);
        }
        self.found.extend(drafts);
    }

    fn compare(&mut self, path: &str, mut list: Vec<Touch>, drafts: &mut Vec<Draft>) {
        let many = list.len() > PAIRWISE;
        list.sort_by_key(|touch| (self.stage_graph.wave(touch.vertex), touch.stage));
        for (at, first) in list.iter().enumerate() {
            let reach = if many { 1 } else { list.len() };
            for second in list.iter().skip(at + 1).take(reach) {
                let (a, b) =
                    (self.stage_graph.wave(first.vertex), self.stage_graph.wave(second.vertex));
                // Stages in a cycle never run at all; that is an S8.
                if a == 0 || b == 0 || self.stage_graph.waits(second.vertex, first.vertex) {
                    continue;
                }
                drafts.push(collision(path, first, second, many.then_some(list.len())));
            }
        }
    }
}

fn collision(path: &str, first: &Touch, second: &Touch, of: Option<usize>) -> Draft {
    let (low, high) = if first.stage < second.stage { (first, second) } else { (second, first) };
    let name = quoted(path);
    let message = format!(
        "stage {} and stage {} may run in parallel and both touch {}",
        low.stage,
        high.stage,
        name.trim_matches('\'')
    );
    let mut help = format!(
        "let stage {} depend on stage {}, or move the change to one of them",
        high.stage, low.stage
    );
    if let Some(count) = of {
        help.push_str(&format!("; {count} stages touch this file"));
    }
    Draft::new(Code::S9, high.stage, high.cell.clone(), message)
        .related(format!("stage {} touches it here", low.stage), low.cell.clone())
        .help(help)
}
