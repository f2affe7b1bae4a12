//! What the dependencies add up to: S8, W1.

use super::Checker;
use crate::finding::{Code, Draft, DraftEdit};
use crate::plan::stage_map::MapRow;

/// The most stages of a circle that a message names; `graph.cycles` holds them all.
const MOST_TOLD: usize = 24;

impl Checker<'_, '_> {
    /// S8: No stage depends on itself, and no stages wait for each other in a circle. Each knot of
    /// such stages is reported once, as its shortest circle from its lowest stage on, every stage
    /// followed by one it depends on.
    pub(super) fn no_cycle(&mut self) {
        let cycles = self.stage_graph.cycles();
        if !cycles.is_empty() {
            self.cycles(cycles);
        }
    }

    #[cold]
    #[inline(never)]
    fn cycles(&mut self, cycles: Vec<Vec<usize>>) {
        let mut drafts = Vec::new();
        for cycle in cycles {
            let rows: Vec<&MapRow> = cycle
                .iter()
                .filter_map(|vertex| self.doc.map.rows.get(*self.rows.get(*vertex)?))
                .collect();
            let Some(first) = rows.first() else { continue };
            let place = first.depends_on_cell.clone();
            if rows.len() == 1 {
                drafts.push(
                    Draft::new(Code::S8, first.number(), place, "self depends-on")
                        .help(format!("take {} out of this cell", first.number())),
                );
                continue;
            }
            let ring: Vec<String> = rows.iter().map(|row| row.number().to_string()).collect();
            let ring = match ring.get(..MOST_TOLD) {
                Some(told) if ring.len() > MOST_TOLD => {
                    format!("{} → … ({} stages)", told.join(" → "), ring.len())
                }
                _ => ring.join(" → "),
            };
            let message = format!("depends-on graph has a cycle: {ring} → {}", first.number());
            let mut draft = Draft::new(Code::S8, 0, place, message).help(
                "one of these dependencies has to go, or the stages have to be cut differently",
            );
            for row in rows.iter().take(MOST_TOLD).skip(1) {
                draft =
                    draft.related(format!("stage {}", row.number()), row.depends_on_cell.clone());
            }
            drafts.push(draft);
        }
        self.found.extend(drafts);
    }

    /// W1: A dependency that others imply says nothing new: where 3 depends on 2 and 2 on 1, `1, 2`
    /// in the row of 3 is `2`. In a plan so entangled that comparing would take seconds, W1 and S9
    /// stop and say so.
    pub(super) fn no_transitive_edge(&mut self) {
        let doc = self.doc;
        for vertex in 0..self.rows.len() {
            let implied = self.stage_graph.transitive_of(vertex);
            if !implied.is_empty()
                && let Some(&at) = self.rows.get(vertex)
                && let Some(row) = doc.map.rows.get(at)
            {
                self.implied(at, row, &implied);
            }
        }
        if self.stage_graph.is_exhausted() {
            self.too_entangled();
        }
    }

    #[cold]
    #[inline(never)]
    fn too_entangled(&mut self) {
        let place = self.doc.maps.first().map(|map| map.range.clone()).unwrap_or_default();
        let message = "the dependencies are too entangled to compare all of them";
        self.add(
            Draft::new(Code::W1, 0, place, message)
                .help("name only the stages a stage builds on directly; W1 and S9 stop here"),
        );
    }

    #[cold]
    #[inline(never)]
    fn implied(&mut self, at: usize, row: &MapRow, implied: &[usize]) {
        let numbers: Vec<u32> = implied
            .iter()
            .filter_map(|other| self.doc.map.rows.get(*self.rows.get(*other)?)?.stage)
            .collect();
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let message =
            format!("depends-on {} is implied by the other dependencies", words.join(", "));
        let draft = Draft::new(Code::W1, row.number(), row.depends_on_cell.clone(), message);
        // A cell that is not wholly understood is not rewritten.
        self.found.push(if row.depends_on.unreadable.is_none() {
            let left: Vec<String> = self
                .doc
                .dependencies(at)
                .iter()
                .filter(|stage| !numbers.contains(stage))
                .map(u32::to_string)
                .collect();
            let edit = DraftEdit { range: row.depends_on_cell.clone(), text: left.join(", ") };
            draft.fix(format!("take {} out", words.join(", ")), vec![edit])
        } else {
            draft
        });
    }
}
