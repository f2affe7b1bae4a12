//! Which running and finished stages of a plan will conflict.

use super::board::{self, Board};
use super::effect::Decision;
use super::facts::Facts;
use crate::error::OkstraError;
use crate::worktree::forecast::{self, Forecast, ForecastRequest, ForecastStage};

/// Foresees the conflicts between the running and finished stages of a plan. The answer names the
/// merges to try first, where there are any; the host tries them and asks again.
pub fn forecast(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &ForecastRequest,
) -> Result<Decision<Forecast>, OkstraError> {
    let doc = board::document(plan)?;
    let board = Board::new(&doc, ledger, facts)?;
    let mut unknown = Vec::new();
    let mut stages = Vec::new();
    let rows = doc.map.rows.iter().enumerate().filter(|(_, row)| !row.cancelled);
    for (at, row) in rows {
        let Some(stage) = row.stage else {
            continue;
        };
        let record = board.state.stage(stage);
        let done = record.and_then(|record| record.done.as_ref());
        let running = record.is_some_and(|record| record.holder().is_some());
        let head = match done {
            Some(done) => Some(done.head_commit.clone()),
            None if running => {
                let mut heads = request.heads.iter().filter(|it| it.stage == stage);
                heads.next().and_then(|it| it.head.clone())
            }
            None => None,
        };
        let head = head.filter(|head| !head.is_empty());
        if head.is_none() && (done.is_some() || running) {
            unknown.push(stage);
        }
        let depends_on = doc.dependencies(at).to_vec();
        stages.push(ForecastStage { stage, depends_on, head, done: done.is_some() });
    }
    let answer = Forecast { unknown, ..forecast::forecast(&stages, request) };
    Ok(board.decided(Vec::new(), answer))
}
