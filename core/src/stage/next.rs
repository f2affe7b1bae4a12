//! Which stage would be given, and why; a stage in full.

use serde::Serialize;

use super::board::{self, Board};
use super::brief::StageBrief;
use super::claim::{concerns_claims, refused};
use super::done;
use super::effect::Decision;
use super::facts::Facts;
use super::list::{StageLine, line};
use crate::choose::{self, Choice, Explanation, Order};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::worktree::forecast::Conflict;

/// What to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct NextRequest {
    /// `auto` or a number, as it was given.
    pub stage: String,
    /// Which of several ready stages comes first.
    pub order: Order,
    /// Whether to say of every stage why it is ready, taken or waiting. Then nothing is refused.
    pub explain: bool,
    /// The conflicts that were foreseen, for the explanation.
    pub conflicts: Vec<Conflict>,
}

decode!(optional NextRequest { stage, order, explain, conflicts });

/// The stage a claim would give now. It is not reserved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextAnswer {
    /// The choice; `null` where nothing can be claimed, which only an explanation answers with.
    pub choice: Option<Choice>,
    /// The title of the stage.
    pub title: Option<String>,
    /// Why there is no choice.
    pub refusal: Option<String>,
    /// The order that was used.
    pub order: Order,
    /// Every stage, in row order; empty unless it was asked for.
    pub stages: Vec<Explanation>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Chooses a stage as a claim would, and reserves nothing. Fails with a
/// [`StageRefusal`](super::StageRefusal), as the claim would.
pub fn next(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    request: &NextRequest,
) -> Result<Decision<NextAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    board::valid(&doc)?;
    let board = Board::new(&doc, ledger, facts)?;
    let mut wish = board.choose_request(&request.stage, request.order);
    wish.conflicts = &request.conflicts;
    let chosen = choose::choose(&wish);
    let stages = if request.explain { choose::explain(&wish) } else { Vec::new() };
    drop(wish);
    let (choice, refusal) = match chosen {
        Ok(choice) => (Some(choice), None),
        Err(reason) if request.explain => (None, Some(reason.to_string())),
        Err(reason) => {
            if let (Some(needs), true) = (board.needs(), concerns_claims(&board, &reason)) {
                return Ok(needs);
            }
            return Err(refused(&board, reason).into());
        }
    };
    let row = choice.as_ref().and_then(|choice| board.row(choice.stage));
    let answer = NextAnswer {
        title: row.map(|row| row.title.clone()),
        choice,
        refusal,
        order: request.order,
        stages,
        warnings: board.warnings.clone(),
    };
    Ok(board.decided(Vec::new(), answer))
}

/// A stage in full: what a claim would print, and its place in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShowAnswer {
    /// What it is.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", ts(flatten))]
    pub brief: StageBrief,
    /// Where it stands.
    pub line: StageLine,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// Shows one stage. Fails with a [`StageRefusal`](super::StageRefusal).
pub fn show(
    plan: &[u8],
    ledger: &[u8],
    facts: &Facts,
    stage: u32,
) -> Result<Decision<ShowAnswer>, OkstraError> {
    let doc = board::document(plan)?;
    let graph = crate::check::checker(&doc, crate::check::CheckOptions::default())?.graph();
    let board = Board::new(&doc, ledger, facts)?;
    if let Some(needs) = board.needs() {
        return Ok(needs);
    }
    let stage = done::meant(&board, Some(stage))?;
    let request = board.choose_request("auto", Order::Number);
    let explained = choose::overview(&request).into_iter().find(|it| it.stage == stage);
    drop(request);
    let wave = graph.nodes.iter().find(|node| node.stage == stage).and_then(|node| node.wave);
    let line = line(&board, stage, wave, explained.as_ref());
    let answer = ShowAnswer { brief: board.brief(stage), line, warnings: board.warnings.clone() };
    Ok(board.decided(Vec::new(), answer))
}
