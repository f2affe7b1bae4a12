//! Correcting the heads of finished stages after somebody rewrote history.

use super::board::{self, Board};
use super::effect::Decision;
use super::facts::Facts;
use crate::error::OkstraError;
use crate::ledger::Status;
use crate::ledger::write::DoneRow;
use crate::worktree::history::{
    self, HeadFate, HistoryAnswer, HistoryLine, HistoryRequest, Sameness,
};

/// Decides what became of the recorded heads of finished stages. A head that is exactly one other
/// commit now is corrected by a further `done` row, which says so in a warning; everything else is
/// reported. The evidence stays as it was written.
pub fn history(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &HistoryRequest,
) -> Result<Decision<HistoryAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    let mut board = Board::new(&doc, ledger, facts)?;
    let mut stages = Vec::new();
    let done = board.state.done().into_vec();
    for stage in done {
        let record = board.state.stage(stage).and_then(|record| record.done.clone());
        let of = |fact: &&history::HeadFact| {
            fact.stage == stage && record.as_ref().is_some_and(|done| done.head_commit == fact.head)
        };
        let (Some(done), Some(fact)) = (&record, request.heads.iter().find(of)) else {
            continue;
        };
        if fact.head.is_empty() {
            continue;
        }
        let fate = history::fate(fact);
        let head = &done.head_commit;
        let note = match &fate {
            HeadFate::Intact => None,
            HeadFate::Corrected { commit, same } => {
                let same = if *same == Sameness::Tree { "tree" } else { "patch" };
                let row = DoneRow {
                    impl_task_key: &done.impl_task_key,
                    stage,
                    status: Status::Done.as_str(),
                    completed_at: &done.completed_at,
                    carry_path: &done.carry_path,
                    head_commit: commit,
                    claim_id: done.claim_id.as_deref(),
                    plan_digest: done.plan_digest.as_deref(),
                };
                let Board { state, rows, .. } = &mut board;
                rows.add(state, &row, true);
                Some(format!(
                    "the head {head} of stage {stage} is not reachable any more; {commit} has the \
                     same {same} and is its head now"
                ))
            }
            HeadFate::Ambiguous { commits } => Some(format!(
                "the head {head} of stage {stage} is not reachable any more, and several commits \
                 could be it: {}; 'okstra stage done --force-reappend' says which",
                commits.join(", ")
            )),
            HeadFate::Lost => Some(format!(
                "the head {head} of stage {stage} is not reachable any more, and no commit has \
                 its tree or patch"
            )),
        };
        board.warnings.extend(note);
        stages.push(HistoryLine { stage, head: head.clone(), fate });
    }
    let answer = HistoryAnswer { stages, warnings: board.warnings.clone() };
    Ok(board.decided(Vec::new(), answer))
}
