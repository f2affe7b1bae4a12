//! The stage graph: waves, cycles, paths, what waits for what.

use serde::Serialize;

/// What the dependencies of a plan add up to. Cancelled stages are not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Graph {
    /// One node a stage, in row order.
    pub nodes: Vec<Node>,
    /// One edge a dependency, in row order.
    pub edges: Vec<Edge>,
    /// The stages of each wave. Wave 1 is the first entry; stages in or behind a cycle are in none.
    pub waves: Vec<Vec<u32>>,
    /// The number of the wave with the most stages, from 1 (the first of equals); 0 without stages.
    pub widest_wave: u32,
    /// The chain with the most steps.
    pub critical_path: CriticalPath,
    /// The shortest cycle of each knot of stages that wait for each other, each beginning with
    /// its lowest stage, every stage followed by the one it depends on.
    pub cycles: Vec<Vec<u32>>,
}

/// One stage in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Node {
    /// The stage number.
    pub stage: u32,
    /// The title.
    pub title: String,
    /// Its wave, from 1: the number of stages on its longest dependency chain; `null` in or
    /// behind a cycle.
    pub wave: Option<u32>,
    /// Its weight: the number of effective steps.
    pub steps: u32,
    /// The steps of the longest chain that ends with this stage, its own included.
    pub chain_steps: u32,
    /// The stages that must be done before it, ascending.
    pub waits_for: Vec<u32>,
    /// The stages that depend on it directly, ascending.
    pub unlocks: Vec<u32>,
    /// Whether it lies on the critical path.
    pub critical: bool,
}

/// One dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Edge {
    /// The stage that waits.
    pub stage: u32,
    /// The stage it waits for.
    pub depends_on: u32,
    /// Whether other dependencies imply this one.
    pub transitive: bool,
    /// Whether the critical path runs over it.
    pub critical: bool,
}

/// The chain of stages with the most steps: no number of sessions can be faster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CriticalPath {
    /// The stages in building order.
    pub stages: Vec<u32>,
    /// The sum of their steps.
    pub steps: u32,
}
