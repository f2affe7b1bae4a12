//! Parallel safety: S9.

use std::fmt::Write as _;

use super::{Checker, quoted};
use crate::finding::{Code, Draft};
use crate::order::{order_by, sorted};
use crate::plan::files::StepFile;
use crate::source::ByteRange;

/// Up to this many stages that touch one file are compared pair by pair; of more, each only with
/// the next in building order, so that the report stays as long as the plan.
const PAIRWISE: usize = 16;

/// Where a stage touches a file first.
struct Touch<'p> {
    path: &'p str,
    vertex: usize,
    stage: u32,
    cell: ByteRange,
}

impl Checker<'_, '_> {
    /// S9: Two stages may run at the same time when neither waits for the other, directly or
    /// through others; then their steps must not name the same file. Files of a step are compared
    /// as normalised paths. Where more than 16 stages touch one file, each is compared with the
    /// next in building order only; a stage whose dependencies cannot be read is not compared. A
    /// path that leaves the project is a finding as well. Warnings; with `--strict`, errors.
    pub(super) fn parallel_stages_share_no_file(&mut self) {
        let mut touches: Vec<Touch> = Vec::new();
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
                || self.doc.dependencies(at).iter().any(|stage| !self.doc.row_of.contains(*stage));
            for step in &section.steps {
                for file in &step.files {
                    match file {
                        StepFile::Inside(path) if !unknown => touches.push(Touch {
                            path,
                            vertex,
                            stage: row.number(),
                            cell: step.files_cell.clone(),
                        }),
                        StepFile::Inside(_) => {}
                        StepFile::Outside(path) => {
                            drafts.push(outside(row.number(), step.files_cell.clone(), path));
                        }
                    }
                }
            }
        }
        let order = order_by(touches.len(), &|a, b| {
            let key = |at: usize| touches.get(at).map(|touch| (touch.path, touch.vertex));
            key(a).cmp(&key(b))
        });
        let mut touches: Vec<&Touch<'_>> =
            order.into_iter().filter_map(|at| touches.get(at)).collect();
        touches.dedup_by(|next, first| next.path == first.path && next.vertex == first.vertex);
        for shared in touches.chunk_by(|a, b| a.path == b.path).filter(|list| list.len() > 1) {
            self.compare(shared, &mut drafts);
        }
        self.found.extend(drafts);
    }

    #[inline(never)]
    fn compare(&mut self, list: &[&Touch<'_>], drafts: &mut Vec<Draft>) {
        let many = list.len() > PAIRWISE;
        let list: Vec<&Touch<'_>> = sorted(list.to_vec(), |touch| {
            (u64::from(self.stage_graph.wave(touch.vertex)), u64::from(touch.stage))
        });
        for (at, first) in list.iter().enumerate() {
            let reach = if many { 1 } else { list.len() };
            for second in list.iter().skip(at + 1).take(reach) {
                let (a, b) =
                    (self.stage_graph.wave(first.vertex), self.stage_graph.wave(second.vertex));
                // Stages in a cycle never run at all; that is an S8.
                if a == 0 || b == 0 || self.stage_graph.waits(second.vertex, first.vertex) {
                    continue;
                }
                drafts.push(collision(first, second, many.then_some(list.len())));
            }
        }
    }
}

#[cold]
#[inline(never)]
fn outside(stage: u32, cell: ByteRange, path: &str) -> Draft {
    Draft::new(Code::S9, stage, cell, format!("{} leaves the project", quoted(path)))
        .help("name files relative to the project's folder")
}

#[cold]
#[inline(never)]
fn collision(first: &Touch<'_>, second: &Touch<'_>, of: Option<usize>) -> Draft {
    let (low, high) = if first.stage < second.stage { (first, second) } else { (second, first) };
    let message = format!(
        "stage {} and stage {} may run in parallel and both touch {}",
        low.stage,
        high.stage,
        crate::printable::printable(low.path)
    );
    let mut help = format!(
        "let stage {} depend on stage {}, or move the change to one of them",
        high.stage, low.stage
    );
    if let Some(count) = of {
        let _ = write!(help, "; {count} stages touch this file");
    }
    Draft::new(Code::S9, high.stage, high.cell.clone(), message)
        .related(format!("stage {} touches it here", low.stage), low.cell.clone())
        .help(help)
}
