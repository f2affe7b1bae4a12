//! Plan, ledger and facts put together: what every request about stages looks at.

use super::effect::{Decision, Effect};
use super::facts::Facts;
use super::refusal::StageRefusal;
use super::stale::Stale;
use crate::check::{self, CheckOptions};
use crate::choose::{ChooseRequest, Holder, Order, StageFacts};
use crate::claims::{self, ClaimView, Life};
use crate::error::OkstraError;
use crate::evidence::{self, Sidecar};
use crate::finding::Severity;
use crate::handoff::HandOverStage;
use crate::layout::{self, PlanLayout};
use crate::ledger::state::LedgerState;
use crate::ledger::write::{DoneRow, Rows};
use crate::ledger::{Claim, Status};
use crate::numbers::{ByNumber, Numbers};
use crate::order::order_by;
use crate::plan::files::StepFile;
use crate::plan::sections::Section;
use crate::plan::stage_map::MapRow;
use crate::plan::{Document, digest};
use crate::printable::printable;
use crate::render::finding_line;
use crate::rules;
use crate::time;

/// Reads a plan for a request.
pub(super) fn document(plan: &[u8]) -> Result<Document<'_>, OkstraError> {
    Ok(Document::read(check::text(plan)?))
}

/// Whether a plan has no errors and is approved: nothing may be claimed of another.
pub(super) fn valid(doc: &Document<'_>) -> Result<(), OkstraError> {
    let options = CheckOptions { require_approval: true, ..CheckOptions::default() };
    let drafts = check::checker(doc, options)?.run_errors();
    if drafts.is_empty() {
        return Ok(());
    }
    // The same errors in source order, as a check of the plan lists them.
    let drafts = check::checker(doc, options)?.run();
    let errors: Vec<String> = drafts
        .iter()
        .filter(|draft| rules::severity(draft.code, options) == Severity::Error)
        .map(|draft| finding_line(draft.code, draft.stage, &draft.message))
        .collect();
    if errors.is_empty() {
        return Ok(());
    }
    let only_approval = errors.iter().all(|line| line.starts_with('A'));
    let help = if only_approval {
        "approve it with 'okstra plan approve PLAN'"
    } else {
        "'okstra plan check --format pretty PLAN' shows the places"
    };
    Err(StageRefusal::PlanInvalid { lines: errors, help: help.to_owned() }.into())
}

/// Whether the plan of a run without stages has no errors and is approved.
pub(crate) fn valid_plan(plan: &[u8]) -> Result<(), OkstraError> {
    valid(&document(plan)?)
}

/// So many stages with stale evidence are named in warnings.
const MOST_WARNINGS: usize = 20;

/// Everything a request about stages looks at.
pub(super) struct Board<'d, 'a> {
    pub(super) doc: &'d Document<'a>,
    pub(super) facts: &'d Facts,
    pub(super) layout: PlanLayout,
    /// The ledger, healed.
    pub(super) state: LedgerState,
    /// The rows to append, those that heal first.
    pub(super) rows: Rows,
    /// The sidecars that can be read.
    pub(super) sidecars: ByNumber<Sidecar>,
    /// The sidecars that count for nothing, with the reason.
    pub(super) unusable: ByNumber<String>,
    /// The done stages whose evidence is stale, ascending.
    pub(super) stale: Vec<(u32, Stale)>,
    pub(super) warnings: Vec<String>,
    pub(super) now_ms: i64,
    /// Whether the places of the files are not known for sure.
    loose: bool,
}

impl<'d, 'a> Board<'d, 'a> {
    pub(super) fn new(
        doc: &'d Document<'a>,
        ledger: &[u8],
        facts: &'d Facts,
    ) -> Result<Self, OkstraError> {
        Self::read(doc, ledger, facts, false)
    }

    /// The same for files whose places are not known for sure, and for looking only: evidence names
    /// this plan where of the two paths one is the end of the other.
    pub(super) fn loose(
        doc: &'d Document<'a>,
        ledger: &[u8],
        facts: &'d Facts,
    ) -> Result<Self, OkstraError> {
        Self::read(doc, ledger, facts, true)
    }

    fn read(
        doc: &'d Document<'a>,
        ledger: &[u8],
        facts: &'d Facts,
        loose: bool,
    ) -> Result<Self, OkstraError> {
        let Some(now_ms) = time::epoch_ms(&facts.now) else {
            let reason = String::from("now must be a time in ISO 8601 with its zone");
            return Err(OkstraError::BadOptions { reason });
        };
        if doc.maps.len() != 1 {
            let mut checker = check::checker(doc, CheckOptions::default())?;
            let lines = checker
                .run()
                .iter()
                .filter(|draft| draft.code == crate::finding::Code::S1)
                .map(|draft| finding_line(draft.code, draft.stage, &draft.message))
                .collect();
            let help = String::from("'okstra plan check --format pretty PLAN' shows the places");
            return Err(StageRefusal::PlanInvalid { lines, help }.into());
        }
        let layout = layout::plan_layout(&facts.plan, facts.project_root.as_deref());
        if let (Some(root), Some(real)) = (&layout.project_root, &facts.carry_folder)
            && layout::relative_inside(root, &layout.carry_folder).is_some()
            && layout::relative_inside(root, real).is_none()
        {
            return Err(StageRefusal::OutsideProject { path: real.clone() }.into());
        }
        let mut board = Self {
            doc,
            facts,
            layout,
            state: LedgerState::read(ledger),
            rows: Rows::default(),
            sidecars: ByNumber::default(),
            unusable: ByNumber::default(),
            stale: Vec::new(),
            warnings: Vec::new(),
            now_ms,
            loose,
        };
        board.warn_of_bad_lines();
        board.read_sidecars();
        board.heal();
        board.warn_of_other_plans();
        Ok(board)
    }

    fn warn_of_bad_lines(&mut self) {
        for bad in &self.state.bad {
            self.warnings.push(format!("{}:{}: {}", self.layout.ledger, bad.line, bad.reason));
        }
        let hidden = (self.state.bad_count as usize).saturating_sub(self.state.bad.len());
        if hidden > 0 {
            self.warnings.push(format!(
                "{}: {hidden} more lines cannot be used; 'okstra ledger check' lists them",
                self.layout.ledger
            ));
        }
    }

    fn read_sidecars(&mut self) {
        let (mut sidecars, mut unusable) = (Vec::new(), Vec::new());
        for file in &self.facts.evidence {
            let Some(stage) = layout::stage_of_carry_file(&file.name) else {
                continue;
            };
            let usable = evidence::read(file.text.as_bytes()).and_then(|sidecar| {
                let named = sidecar.stage_number();
                if named.is_some_and(|named| named != u64::from(stage)) {
                    return Err(format!("it is evidence for stage {}", named.unwrap_or_default()));
                }
                if sidecar.source_plan_path().is_some_and(|path| !self.names_this_plan(path)) {
                    return Err(String::from("it is evidence of another plan"));
                }
                Ok(sidecar)
            });
            match usable {
                Ok(sidecar) => sidecars.push((stage, sidecar)),
                Err(why) => {
                    self.warnings.push(format!("{}: {why}", self.carry_path(stage)));
                    unusable.push((stage, why));
                }
            }
        }
        self.sidecars = sidecars.into_iter().collect();
        self.unusable = unusable.into_iter().collect();
    }

    /// Whether a path in evidence means this plan.
    fn names_this_plan(&self, path: &str) -> bool {
        let task_root = self.task_root();
        self.loose && evidence::plan_path::ends_alike(path, &self.facts.plan)
            || evidence::plan_path::names_this_plan(
                path,
                &self.layout.plan_path,
                &self.facts.plan,
                task_root.as_deref(),
            )
    }

    /// The task's folder, relative to the project.
    pub(super) fn task_root(&self) -> Option<String> {
        let root = self.layout.project_root.as_deref()?;
        layout::relative_inside(root, self.layout.task_root.as_deref()?)
    }

    /// Restores `done` rows that a crash lost: the sidecar is written first, so pass-grade evidence
    /// without a row means that only the row is missing.
    fn heal(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        for (stage, sidecar) in self.sidecars.iter() {
            let known = self.doc.row_of.get(stage).and_then(|at| self.doc.map.rows.get(at));
            let record = self.state.stage(stage);
            if record.is_some_and(|record| record.done.is_some()) || sidecar.pass_grade().is_err() {
                continue;
            }
            if known.is_none_or(|row| row.cancelled) {
                self.warnings.push(format!(
                    "{}: the plan has no stage {stage} to be done",
                    self.carry_path(stage)
                ));
                continue;
            }
            let claim =
                record.and_then(|record| record.claims.first()).cloned().unwrap_or_default();
            let key = if claim.impl_task_key.is_empty() {
                self.impl_task_key()
            } else {
                claim.impl_task_key.clone()
            };
            let row = DoneRow {
                impl_task_key: &key,
                stage,
                status: Status::Done.as_str(),
                completed_at: sidecar.completed_at().unwrap_or(&self.facts.now),
                carry_path: &self.carry_path(stage),
                head_commit: sidecar.head().unwrap_or_default(),
                claim_id: claim.claim_id.as_deref(),
                plan_digest: claim.plan_digest.as_deref(),
            };
            // A done row of this key may have been cancelled by nothing, so it cannot stand.
            rows.add(&mut self.state, &row, true);
            self.warnings.push(format!(
                "stage {stage} is done by its evidence; its lost row in the ledger is restored"
            ));
        }
        self.rows = rows;
    }

    /// A ledger that belongs to another plan is never taken for this one's silently.
    fn warn_of_other_plans(&mut self) {
        let unknown: Vec<String> = self
            .state
            .stages
            .keys()
            .filter(|stage| !self.doc.row_of.contains(**stage))
            .map(ToString::to_string)
            .collect();
        if !unknown.is_empty() {
            self.warnings.push(format!(
                "the ledger has rows of stages that this plan has not: {}; does it belong to \
                 another plan?",
                unknown.join(", ")
            ));
        }
        self.stale = self.find_stale();
        for (stage, stale) in self.stale.iter().take(MOST_WARNINGS) {
            let on: Vec<String> = stale.built_on.iter().map(ToString::to_string).collect();
            let built = if on.is_empty() {
                String::new()
            } else {
                format!("; built on it: {}", on.join(", "))
            };
            self.warnings
                .push(format!("stage {stage} is done, evidence stale: {}{built}", stale.why));
        }
        let hidden = self.stale.len().saturating_sub(MOST_WARNINGS);
        if hidden > 0 {
            self.warnings.push(format!(
                "{hidden} more done stages have stale evidence; 'okstra stage list' shows them"
            ));
        }
        for (stage, sidecar) in self.sidecars.iter() {
            let row = self.doc.row_of.get(stage).and_then(|at| self.doc.map.rows.get(at));
            if let (Some(row), Some(title)) = (row, sidecar.title())
                && evidence::plain_title(title) != evidence::plain_title(&row.title)
            {
                self.warnings.push(format!(
                    "the evidence of stage {stage} is titled '{}', the plan says '{}'",
                    printable(title),
                    printable(&row.title)
                ));
            }
        }
    }

    /// The row of a stage.
    pub(super) fn row(&self, stage: u32) -> Option<&'d MapRow> {
        let doc = self.doc;
        doc.map.rows.get(doc.row_of.get(stage)?)
    }

    /// The section of a stage.
    pub(super) fn section(&self, stage: u32) -> Option<&'d Section> {
        let doc = self.doc;
        doc.section(self.row(stage)?)
    }

    /// The digest of a stage's text now.
    pub(super) fn digest(&self, stage: u32) -> Option<String> {
        Some(digest::of_stage(self.doc, self.row(stage)?, self.section(stage)))
    }

    /// The key that new rows are recorded under.
    pub(super) fn impl_task_key(&self) -> String {
        let given = self.facts.impl_task_key.as_ref().or(self.facts.task_key.as_ref());
        given.cloned().unwrap_or_else(|| {
            let layout = &self.layout;
            let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            if let (Some(root), Some(group), Some(id)) =
                (&layout.project_root, &layout.task_group, &layout.task_id)
            {
                return format!("{}:{group}:{id}", name(root));
            }
            let file = name(&self.facts.plan);
            file.strip_suffix(".md").unwrap_or(&file).to_owned()
        })
    }

    /// Where a stage's evidence lies, as rows name it: relative to the project where it can be.
    pub(super) fn carry_path(&self, stage: u32) -> String {
        let file = self.carry_file(stage);
        let root = self.layout.project_root.as_deref();
        root.and_then(|root| layout::relative_inside(root, &file)).unwrap_or(file)
    }

    /// The absolute path of a stage's evidence.
    pub(super) fn carry_file(&self, stage: u32) -> String {
        layout::carry_file(&self.layout.carry_folder, stage)
    }

    /// The files a stage's steps name, sorted, each once.
    pub(super) fn files(&self, stage: u32) -> Vec<&'d str> {
        files_of(self.section(stage))
    }

    /// The request to the selector.
    pub(super) fn choose_request<'r>(&'r self, wish: &'r str, order: Order) -> ChooseRequest<'r> {
        let doc = self.doc;
        let stages = doc.map.rows.iter().enumerate().filter_map(|(at, row)| {
            let section = doc.section(row);
            Some(StageFacts {
                stage: row.stage?,
                depends_on: doc.dependencies(at),
                files: files_of(section),
                steps: section
                    .map(|section| u32::try_from(section.steps.len()).unwrap_or(u32::MAX))
                    .unwrap_or_default(),
                cancelled: row.cancelled,
                unclear: row.depends_on.unreadable.is_some(),
            })
        });
        let holders = self.state.holders().map(|claim| {
            let holder = Holder {
                impl_task_key: claim.impl_task_key.clone(),
                started_at: claim.started_at.clone(),
            };
            (claim.stage, holder)
        });
        ChooseRequest {
            stages: stages.collect(),
            done: self.state.done(),
            running: holders.collect(),
            reserved: self.facts.reserved.iter().copied().collect(),
            reclaim: Numbers::default(),
            wish,
            order,
            conflicts: &[],
        }
    }

    /// What the host has to look at to judge the claims of the running stages; `None` where it has
    /// done so, or where there is nothing to judge.
    pub(super) fn needs<T>(&self) -> Option<Decision<T>> {
        self.needs_of(|_| true)
    }

    /// The same for some of the claims.
    pub(super) fn needs_of<T>(&self, wanted: impl Fn(&Claim) -> bool) -> Option<Decision<T>> {
        if self.facts.sightings.is_some() {
            return None;
        }
        let running = self.state.stages.values().filter(|record| record.holder().is_some());
        let mut claims =
            running.flat_map(|record| &record.claims).filter(|claim| wanted(claim)).peekable();
        claims.peek()?;
        let needs = claims::questions(claims, self.facts.caller.host.as_deref());
        Some(Decision::Needs { needs })
    }

    /// A claim as people see it.
    pub(super) fn view(&self, claim: &Claim) -> ClaimView {
        let none = claims::Sightings::default();
        claims::judge(
            claim,
            self.facts.sightings.as_ref().unwrap_or(&none),
            self.facts.caller.host.as_deref(),
            self.now_ms,
            self.facts.quiet_minutes(),
            |life| self.freeing(claim, life),
        )
    }

    /// The command that frees a quiet or dead claim.
    fn freeing(&self, claim: &Claim, life: Life) -> String {
        let plan = shell_word(&self.facts.plan);
        let stage = claim.stage;
        // It is built where it was begun.
        let place = if claim.worktree.is_none() { " --no-worktree" } else { "" };
        match life {
            Life::Dead => {
                format!("okstra stage claim --plan {plan} --stage {stage}{place} --reclaim")
            }
            _ => format!("okstra stage release --plan {plan} --stage {stage} --force"),
        }
    }

    /// Ends a request: appends what was collected, then does the rest.
    pub(super) fn decided<T>(self, more: Vec<Effect>, answer: T) -> Decision<T> {
        let mut effects = more;
        let path = &self.layout.ledger;
        effects.extend(
            self.rows.lines.into_iter().map(|line| Effect::Append { path: path.clone(), line }),
        );
        Decision::Decided { effects, answer, warnings: self.warnings }
    }
}

/// The files a section's steps name, sorted, each once.
pub(super) fn files_of(section: Option<&Section>) -> Vec<&str> {
    let mut files: Vec<&str> = section
        .map(|section| section.steps.as_slice())
        .unwrap_or_default()
        .iter()
        .flat_map(|step| &step.files)
        .filter_map(|file| match file {
            StepFile::Inside(path) => Some(path.as_str()),
            StepFile::Outside(_) => None,
        })
        .collect();
    if !files.is_sorted() {
        let order = order_by(files.len(), &|a, b| files.get(a).cmp(&files.get(b)));
        files = order.into_iter().filter_map(|at| files.get(at).copied()).collect();
    }
    files.dedup();
    files
}

/// Who holds a claim, in words.
pub(super) fn holder_name(claim: &Claim) -> String {
    let mut name = match (&claim.session, claim.pid) {
        (Some(session), _) => format!("session {session}"),
        (None, Some(pid)) => format!("process {pid}"),
        (None, None) => claim.impl_task_key.clone(),
    };
    if let Some(host) = &claim.host {
        name = format!("{name} on {host}");
    }
    if !claim.started_at.is_empty() {
        name = format!("{name} since {}", claim.started_at);
    }
    printable(&name).into_owned()
}

/// A word as a POSIX shell reads it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |ch: char| ch.is_alphanumeric() || "/._-+:,@%".contains(ch);
    let word = printable(word);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Board<'_, '_> {
    /// The stages as a pull request tells of them, in row order, without cancelled ones.
    pub(super) fn hand_over(&self) -> Vec<HandOverStage> {
        let rows = self.doc.map.rows.iter().enumerate().filter(|(_, row)| !row.cancelled);
        rows.filter_map(|(at, row)| {
            let stage = row.stage?;
            let record = self.state.stage(stage);
            let done = record.and_then(|record| record.done.as_ref());
            let sidecar = self.sidecars.get(stage);
            Some(HandOverStage {
                stage,
                title: row.title.clone(),
                depends_on: self.doc.dependencies(at).to_vec(),
                head: done.map(|done| done.head_commit.clone()).unwrap_or_default(),
                identifiers: sidecar.map(Sidecar::new_identifiers).unwrap_or_default(),
                pr_number: record.and_then(|record| record.pr.as_ref()?.number()),
            })
        })
        .collect()
    }
}
