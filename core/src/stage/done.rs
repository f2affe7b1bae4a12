//! Finishing a stage: evidence checked and written, then the row.

use serde::Serialize;
use serde_json::Value;

use super::board::{self, Board, holder_name};
use super::effect::{Decision, Effect};
use super::facts::Facts;
use super::refusal::StageRefusal;
use crate::choose::Refusal;
use crate::claims::{self, Caller, Fence, Needs};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::evidence::{self, Block, Evidence, EvidenceFinding, Expected};
use crate::ledger::write::DoneRow;
use crate::ledger::{Claim, Released, StageRecord, Status};
use crate::printable::printable;
use crate::worktree::base::same_commit;

/// What is finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct DoneRequest {
    /// The stage; missing where the caller's claim says it.
    pub stage: Option<u32>,
    /// The name of the worker result or JSON file, for messages.
    pub name: String,
    /// Its text.
    pub evidence: String,
    /// Whether to correct a `done` row that stands: the evidence on disk stays, a new row with the
    /// head of the given evidence follows.
    pub force_reappend: bool,
    /// What `--verify` saw of the stage's own commands.
    #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
    pub observed: Option<Value>,
    /// The state of the claim's worktree; missing until the core asks for it, and in the project
    /// folder.
    pub git: Option<GitFacts>,
}

decode!(optional DoneRequest { stage, name, evidence, force_reappend, observed, git });

/// The state of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GitFacts {
    /// The full id of the commit it is at.
    pub head: String,
    /// The paths with changes that no commit has, also files that git does not know.
    pub dirty: Vec<String>,
    /// Whether that commit contains the stage's base; `true` where no base is recorded.
    pub contains_base: bool,
    /// Whether there is no commit behind the base.
    pub empty_range: bool,
}

decode!(GitFacts { head, dirty, contains_base, empty_range });

/// A finished stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoneAnswer {
    /// The stage.
    pub stage: u32,
    /// Its title.
    pub title: String,
    /// The key that the row is recorded under.
    pub impl_task_key: String,
    /// Where its evidence lies.
    pub carry_path: String,
    /// The commit it ended with.
    pub head_commit: String,
    /// Whether it was done before; then nothing is written.
    pub already_done: bool,
    /// The stages that can be claimed now.
    pub ready: Vec<u32>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Finishes a stage: checks the evidence, writes it as the stage's sidecar and appends `done`.
///
/// The sidecar comes first; a crash between the two is healed by the next command. A plan that got
/// errors since the claim does not keep finished work from being recorded. Fails with a
/// [`StageRefusal`].
pub fn done(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &DoneRequest,
) -> Result<Decision<DoneAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let stage = meant(&board, request.stage)?;
    let record = board.state.stage(stage).cloned().unwrap_or_default();
    if let Some(done) = &record.done {
        // The row may have been restored a moment ago, from the evidence of a command that was
        // killed between sidecar and row: for its own session that is success.
        let own = record.claims.iter().any(|claim| {
            claims::fence(&facts.caller, claim) == Fence::Own
                && (claim.claim_id.is_none() || claim.claim_id == done.claim_id)
        });
        if !own && !request.force_reappend {
            // A session that lost its claim is told so: that the stage is done is not its doing.
            fence_off(facts, stage, &record)?;
            return Err(completed(stage).into());
        }
        if !request.force_reappend {
            let head = done.head_commit.clone();
            let key = done.impl_task_key.clone();
            note_difference(&mut board, stage, request);
            let answer = answer(&board, stage, &key, head, true);
            return Ok(board.decided(Vec::new(), answer));
        }
    }
    let claim = if let (Some(done), true) = (&record.done, request.force_reappend) {
        fence_off(facts, stage, &record)?;
        own_or_person(facts, stage, &record)?;
        // The session that finished it stays known as such.
        Claim {
            impl_task_key: done.impl_task_key.clone(),
            claim_id: done.claim_id.clone(),
            ..Claim::default()
        }
    } else {
        holder(&board, stage)?
    };
    let (block, evidence, mut noted) = checked(&board, stage, request)?;
    titled_as_another(&board, stage, request, &evidence)?;
    if claim.plan_digest.is_some() && claim.plan_digest != board.digest(stage) {
        noted.push(String::from("the plan's text of this stage changed since it was claimed"));
    }
    if let Some(worktree) = &claim.worktree {
        let Some(git) = &request.git else {
            let needs = Needs { git: vec![worktree.clone()], ..Needs::default() };
            return Ok(Decision::Needs { needs });
        };
        noted.extend(in_worktree(&claim, worktree, git, &evidence)?);
    }
    let carry_path = board.carry_path(stage);
    let mut effects = Vec::new();
    if record.done.is_none() {
        if let Some(why) = board.unusable.get(stage) {
            let why = why.clone();
            return Err(StageRefusal::EvidenceExists { path: carry_path, why }.into());
        }
        if let Some(Err(why)) = board.sidecars.get(stage).map(evidence::Sidecar::pass_grade) {
            return Err(StageRefusal::EvidenceExists { path: carry_path, why }.into());
        }
        noted.extend(outside_list(&board, stage, &evidence));
        effects.push(Effect::WriteNew {
            path: board.carry_file(stage),
            text: recorded(&block.text, &noted, request.observed.as_ref()),
        });
    }
    board.warnings.extend(noted);
    let digest = board.digest(stage);
    let row = DoneRow {
        impl_task_key: &claim.impl_task_key,
        stage,
        status: Status::Done.as_str(),
        completed_at: &facts.now,
        carry_path: &carry_path,
        head_commit: &evidence.head,
        claim_id: claim.claim_id.as_deref(),
        plan_digest: claim.plan_digest.as_deref().or(digest.as_deref()),
    };
    let Board { state, rows, .. } = &mut board;
    rows.add(state, &row, request.force_reappend);
    let answer = answer(&board, stage, &claim.impl_task_key, evidence.head, false);
    Ok(board.decided(effects, answer))
}

/// A correction is not for another session than the one that finished the stage. A person who names
/// neither a session nor a claim may make it: it is asked for by its own word.
fn own_or_person(facts: &Facts, stage: u32, record: &StageRecord) -> Result<(), StageRefusal> {
    let caller = &facts.caller;
    let other = |claim: &Claim| claims::fence(caller, claim) == Fence::Lost;
    match record.claims.first() {
        Some(claim) if record.claims.iter().all(other) => {
            Err(StageRefusal::WhoAreYou { stage, holder: holder_name(claim) })
        }
        _ => Ok(()),
    }
}

/// Refuses evidence that is titled as another stage of the plan: then the plan was renumbered after
/// the claim, or the wrong result was handed in.
fn titled_as_another(
    board: &Board<'_, '_>,
    stage: u32,
    request: &DoneRequest,
    evidence: &Evidence,
) -> Result<(), StageRefusal> {
    let title = evidence::plain_title(&evidence.title);
    let of = |number: u32| board.row(number).map(|row| evidence::plain_title(&row.title));
    if of(stage).as_ref() == Some(&title) {
        return Ok(());
    }
    let other = board
        .doc
        .row_of
        .numbers()
        .find(|number| *number != stage && of(*number).as_ref() == Some(&title));
    match other {
        Some(other) => Err(StageRefusal::EvidenceWrong {
            name: request.name.clone(),
            stage,
            lines: vec![format!(
                "{}: stageTitle: is the title of stage {other}; was the plan renumbered?",
                request.name
            )],
        }),
        None => Ok(()),
    }
}

/// Holds the evidence against the worktree the stage was built in, and says what is odd. Work that
/// is in no commit would be lost to every stage that builds on this one.
fn in_worktree(
    claim: &Claim,
    worktree: &str,
    git: &GitFacts,
    evidence: &Evidence,
) -> Result<Option<String>, StageRefusal> {
    let stage = claim.stage;
    let worktree = worktree.to_owned();
    if !git.dirty.is_empty() {
        return Err(StageRefusal::Uncommitted { stage, worktree, files: git.dirty.clone() });
    }
    let head = git.head.clone();
    if !git.contains_base {
        let base = claim.base_commit.clone().unwrap_or_default();
        return Err(StageRefusal::BaseLost { stage, head, base });
    }
    if !same_commit(&evidence.head, &head) {
        let evidence = evidence.head.clone();
        return Err(StageRefusal::HeadDiffers { stage, evidence, worktree, head });
    }
    let odd = || format!("stage {stage} has no commit of its own: its head is its base");
    Ok(git.empty_range.then(odd))
}

/// The stage a caller means: the given one, or that of the only claim that is its own.
pub(super) fn meant(board: &Board<'_, '_>, given: Option<u32>) -> Result<u32, OkstraError> {
    if let Some(stage) = given {
        if board.row(stage).is_none() {
            let have = board.doc.row_of.numbers().collect();
            let reason = Refusal::NotInMap { wish: stage.to_string(), have };
            return Err(StageRefusal::Choose { reason, help: None }.into());
        }
        return Ok(stage);
    }
    let caller = &board.facts.caller;
    let claims = board.state.stages.values().flat_map(|record| &record.claims);
    let own: Vec<u32> = claims
        .filter(|claim| {
            let named = caller.claim_id.is_some() || claims::is_of_session(caller, claim);
            named && claims::fence(caller, claim) == Fence::Own
        })
        .map(|claim| claim.stage)
        .collect();
    let open: Vec<u32> = own
        .iter()
        .copied()
        .filter(|stage| board.state.stage(*stage).is_some_and(|it| it.done.is_none()))
        .collect();
    let why = match (open.as_slice(), own.as_slice()) {
        ([stage], _) | ([], [stage]) => return Ok(*stage),
        ([], _) => String::from("no claim is known to be yours"),
        (several, _) => {
            let list: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("several claims are yours: {}", list.join(", "))
        }
    };
    Err(StageRefusal::WhichStage { why }.into())
}

/// The claim of a running stage, if it is the caller's.
pub(super) fn holder(board: &Board<'_, '_>, stage: u32) -> Result<Claim, OkstraError> {
    let record = board.state.stage(stage);
    let caller = &board.facts.caller;
    let Some(claim) = record.and_then(|record| record.holder()) else {
        return Err(match record.and_then(|record| lost(caller, record)) {
            Some(released) => released_from(stage, released, "nobody holds the stage"),
            None => StageRefusal::NotClaimed { stage },
        }
        .into());
    };
    match claims::fence(caller, claim) {
        Fence::Own => Ok(claim.clone()),
        Fence::Lost => {
            let what = format!("{} holds it now", holder_name(claim));
            Err(StageRefusal::ClaimLost { stage, what }.into())
        }
        Fence::Unknown => Err(StageRefusal::WhoAreYou { stage, holder: holder_name(claim) }.into()),
    }
}

/// The claim of a stage that the caller has lost.
fn lost<'r>(caller: &Caller, record: &'r StageRecord) -> Option<&'r Released> {
    record.released.iter().rfind(|released| {
        let same_claim = caller.claim_id.is_some() && released.claim_id == caller.claim_id;
        let same_session = caller.session.is_some() && released.session == caller.session;
        same_claim || same_session
    })
}

fn released_from(stage: u32, released: &Released, now: &str) -> StageRefusal {
    let what =
        format!("it was released at {} ({}) and {now}", released.released_at, released.reason);
    StageRefusal::ClaimLost { stage, what: printable(&what).into_owned() }
}

/// Keeps a session that lost its claim from correcting what its successor finished.
fn fence_off(facts: &Facts, stage: u32, record: &StageRecord) -> Result<(), StageRefusal> {
    let caller = &facts.caller;
    if record.claims.iter().any(|claim| claims::fence(caller, claim) == Fence::Own) {
        return Ok(());
    }
    let now = match record.claims.first() {
        Some(claim) => format!("{} finished the stage", holder_name(claim)),
        None => String::from("the stage was finished without it"),
    };
    match lost(caller, record) {
        Some(released) => Err(released_from(stage, released, &now)),
        None => Ok(()),
    }
}

pub(super) fn completed(stage: u32) -> StageRefusal {
    StageRefusal::Choose { reason: Refusal::AlreadyCompleted { stage }, help: None }
}

/// The evidence of a request, if it keeps its contract, with what is odd about it.
fn checked(
    board: &Board<'_, '_>,
    stage: u32,
    request: &DoneRequest,
) -> Result<(Block, Evidence, Vec<String>), OkstraError> {
    let block = evidence::extract(request.evidence.as_bytes(), Some(stage)).map_err(|error| {
        StageRefusal::EvidenceMissing {
            name: request.name.clone(),
            what: error.to_string(),
            line: error.line(),
            help: error.help().to_owned(),
        }
    })?;
    let task_root = board.task_root();
    let title = board.row(stage).map(|row| row.title.as_str()).unwrap_or_default();
    let checked = evidence::check(
        &block,
        &Expected {
            plan_path: &board.layout.plan_path,
            plan_absolute: &board.facts.plan,
            task_root: task_root.as_deref(),
            stage,
            title,
            has_git: board.facts.head_commit.is_some(),
        },
    );
    let line = |finding: &EvidenceFinding| {
        printable(&format!(
            "{}:{}: {}: {}",
            request.name, finding.line, finding.field, finding.message
        ))
        .into_owned()
    };
    match checked.evidence {
        Some(evidence) if checked.errors.is_empty() => {
            let odd = |finding: &EvidenceFinding| format!("{}: {}", finding.field, finding.message);
            Ok((block, evidence, checked.warnings.iter().map(odd).collect()))
        }
        _ => Err(StageRefusal::EvidenceWrong {
            name: request.name.clone(),
            stage,
            lines: checked.errors.iter().map(line).collect(),
        }
        .into()),
    }
}

/// The evidence with what okstra records: its warnings and what `--verify` observed.
///
/// A member of such a name that the worker wrote would pass for okstra's. An empty record of
/// okstra's own behind it says that okstra has none.
fn recorded(text: &str, noted: &[String], observed: Option<&Value>) -> String {
    let given = evidence::read(text.as_bytes()).ok();
    let claimed = |name: &str| given.as_ref().is_some_and(|it| it.record(name).is_some());
    let mut records = Vec::new();
    if !noted.is_empty() || claimed("warnings") {
        records.push(("warnings", Value::from(noted)));
    }
    match observed {
        Some(observed) => records.push(("observed", observed.clone())),
        None if claimed("observed") => records.push(("observed", Value::Null)),
        None => {}
    }
    evidence::with_records(text, &records)
}

/// The changed files that the stage's steps do not name. A stage whose steps name none has no list.
fn outside_list(board: &Board<'_, '_>, stage: u32, evidence: &Evidence) -> Option<String> {
    let listed = board.files(stage);
    let outside: Vec<&str> = evidence
        .files_changed
        .iter()
        .map(String::as_str)
        .filter(|file| !is_listed(file, &listed))
        .collect();
    (!listed.is_empty() && !outside.is_empty())
        .then(|| format!("files outside the stage's list: {}", outside.join(", ")))
}

/// Whether a file is one of those that the plan lists, or lies in a folder that it lists.
pub(crate) fn is_listed(file: &str, listed: &[impl AsRef<str>]) -> bool {
    listed.iter().map(AsRef::as_ref).any(|listed| listed == file || is_below(file, listed))
}

fn is_below(file: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Says so where evidence is given for a stage that has other evidence already.
fn note_difference(board: &mut Board<'_, '_>, stage: u32, request: &DoneRequest) {
    let given = evidence::extract(request.evidence.as_bytes(), Some(stage))
        .ok()
        .and_then(|block| serde_json::from_str::<Value>(&block.text).ok());
    let Some(given) = given else {
        return;
    };
    let kept = board.sidecars.get(stage).map(|sidecar| {
        let mut value = sidecar.value.clone();
        if let (Some(map), Some(given)) = (value.as_object_mut(), given.as_object()) {
            map.retain(|key, _| given.contains_key(key));
        }
        value
    });
    if kept.is_some_and(|kept| kept != given) {
        let path = board.carry_path(stage);
        board.warnings.push(format!(
            "stage {stage} is done already with other evidence, which stays: {path}"
        ));
    }
}

fn answer(
    board: &Board<'_, '_>,
    stage: u32,
    key: &str,
    head_commit: String,
    already_done: bool,
) -> DoneAnswer {
    let request = board.choose_request("auto", crate::choose::Order::Number);
    let ready = crate::choose::overview(&request)
        .into_iter()
        .filter(|it| it.readiness == crate::choose::Readiness::Ready)
        .map(|it| it.stage)
        .collect();
    DoneAnswer {
        stage,
        title: board.row(stage).map(|row| row.title.clone()).unwrap_or_default(),
        impl_task_key: key.to_owned(),
        carry_path: board.carry_path(stage),
        head_commit,
        already_done,
        ready,
        warnings: board.warnings.clone(),
    }
}
