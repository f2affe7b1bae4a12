//! The stage graph: waves, cycles, paths, what waits for what.

use serde::Serialize;

use crate::order::{sort, sorted};

/// What the dependencies of a plan add up to. Cancelled stages are not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Graph {
    /// One node a stage, in row order.
    pub nodes: Vec<Node>,
    /// One edge a dependency, in row order.
    pub edges: Vec<Edge>,
    /// The stages of each wave. Wave 1 is the first entry; stages in or behind a cycle, or behind a
    /// cell that cannot be read, are in none.
    pub waves: Vec<Vec<u32>>,
    /// The number of the wave with the most stages, from 1 (the first of equals); 0 without stages.
    pub widest_wave: u32,
    /// The chain with the most steps.
    pub critical_path: CriticalPath,
    /// The shortest cycle of each knot of stages that wait for each other, each beginning with
    /// its lowest stage, every stage followed by the one it depends on. A stage that depends on
    /// itself is a cycle of one.
    pub cycles: Vec<Vec<u32>>,
    /// The stages whose `depends-on` cell cannot be read (S6), ascending. What they wait for is not
    /// known, so they and the stages behind them are in no wave.
    pub unclear: Vec<u32>,
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

/// A stage as the graph takes it.
#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    pub(crate) stage: u32,
    pub(crate) title: String,
    pub(crate) steps: u32,
    /// Indices of the vertices it depends on, ascending, each once; its own where the plan says so.
    pub(crate) depends_on: Vec<usize>,
    /// Whether it may depend on more than could be read.
    pub(crate) unclear: bool,
}

/// The most edges the search for a shortest cycle walks. A knot that needs more still gets a true
/// cycle, perhaps not its shortest.
const CYCLE_BUDGET: usize = 20_000_000;

/// The most edges that searching walks for one plan, a fraction of a second. Labels answer nearly
/// every question of a real plan without a search; this bounds plans made to be slow.
const SEARCH_BUDGET: usize = 20_000_000;

/// Up to this many dependencies of one stage are compared pair by pair.
const FEW: usize = 8;

/// The graph with what its queries need.
#[derive(Debug)]
pub(crate) struct StageGraph {
    vertices: Vec<Vertex>,
    dependents: Vec<Vec<usize>>,
    /// 0 in or behind a cycle.
    waves: Vec<u32>,
    /// Dependencies before dependents; without the stages in or behind a cycle.
    order: Vec<usize>,
    reach: Reach,
}

impl StageGraph {
    /// Builds it; linear in stages and dependencies.
    pub(crate) fn new(vertices: Vec<Vertex>) -> Self {
        let mut dependents = vec![Vec::new(); vertices.len()];
        let mut open: Vec<usize> = Vec::with_capacity(vertices.len());
        for (at, vertex) in vertices.iter().enumerate() {
            // One dependency more than can ever be done.
            open.push(vertex.depends_on.len() + usize::from(vertex.unclear));
            for &on in &vertex.depends_on {
                if let Some(list) = dependents.get_mut(on) {
                    list.push(at);
                }
            }
        }
        let mut waves = vec![0; vertices.len()];
        let mut order: Vec<usize> = Vec::with_capacity(vertices.len());
        order.extend(open.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| at));
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            let before = get(&vertices, at).map(|vertex| highest(&waves, &vertex.depends_on));
            set(&mut waves, at, before.unwrap_or(0) + 1);
            for &dependent in get(&dependents, at).map(Vec::as_slice).unwrap_or_default() {
                if let Some(count) = open.get_mut(dependent) {
                    *count -= 1;
                    if *count == 0 {
                        order.push(dependent);
                    }
                }
            }
        }
        let reach = Reach::new(vertices.len());
        Self { vertices, dependents, waves, order, reach }
    }

    fn depends_on(&self, at: usize) -> &[usize] {
        get(&self.vertices, at).map(|vertex| vertex.depends_on.as_slice()).unwrap_or_default()
    }

    fn stage(&self, at: usize) -> u32 {
        get(&self.vertices, at).map_or(0, |vertex| vertex.stage)
    }

    /// The wave of a vertex, 0 in or behind a cycle.
    pub(crate) fn wave(&self, at: usize) -> u32 {
        get(&self.waves, at).copied().unwrap_or(0)
    }

    /// The number of the last wave.
    pub(crate) fn wave_count(&self) -> usize {
        self.waves.iter().copied().max().unwrap_or(0) as usize
    }

    /// Whether searching had to stop before every question was answered.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.reach.budget == 0
    }

    /// Whether `later` can only start when `earlier` is done. Both outside cycles.
    pub(crate) fn waits(&mut self, later: usize, earlier: usize) -> bool {
        // A wave is longer than every chain before it, so most pairs need no search.
        self.wave(later) > self.wave(earlier)
            && (self.depends_on(later).contains(&earlier) || self.search(later, earlier))
    }

    #[cold]
    #[inline(never)]
    fn search(&mut self, later: usize, earlier: usize) -> bool {
        self.reach.prepare(&self.vertices, &self.dependents, &self.waves);
        self.reach.reaches(&self.vertices, &self.waves, later, earlier)
    }

    /// For each vertex, which of its dependencies the others imply.
    fn transitive(&mut self) -> Vec<Vec<usize>> {
        (0..self.vertices.len()).map(|at| self.transitive_of(at)).collect()
    }

    /// Which dependencies of a vertex its others imply.
    pub(crate) fn transitive_of(&mut self, at: usize) -> Vec<usize> {
        if self.depends_on(at).len() < 2 || self.wave(at) == 0 {
            return Vec::new();
        }
        let mut on = self.depends_on(at).to_vec();
        if on.len() > FEW {
            return self.reach.implied(&self.vertices, &self.waves, &on);
        }
        let all = on.clone();
        on.retain(|&earlier| {
            all.iter().any(|&later| later != earlier && self.waits(later, earlier))
        });
        on
    }

    /// The shortest cycle of each knot, as vertices, each followed by the one it depends on; a
    /// stage that depends on itself is a cycle of one.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        if self.order.len() == self.vertices.len() { Vec::new() } else { self.search_cycles() }
    }

    #[cold]
    #[inline(never)]
    fn search_cycles(&self) -> Vec<Vec<usize>> {
        let mut budget = CYCLE_BUDGET;
        let mut local = vec![usize::MAX; self.vertices.len()];
        let mut cycles: Vec<Vec<usize>> = knots(&self.vertices, &self.waves)
            .into_iter()
            .map(|knot| sorted(knot, |at| (*at as u64, 0)))
            .filter_map(|knot| shortest_cycle(&self.vertices, &mut local, &knot, &mut budget))
            .map(|cycle| self.beginning_lowest(cycle))
            .collect();
        cycles.extend(
            (0..self.vertices.len())
                .filter(|&at| self.depends_on(at).contains(&at))
                .map(|at| vec![at]),
        );
        sorted(cycles, |cycle| {
            (cycle.first().map_or(0, |&at| u64::from(self.stage(at))), cycle.len() as u64)
        })
    }

    fn beginning_lowest(&self, mut cycle: Vec<usize>) -> Vec<usize> {
        let lowest = cycle
            .iter()
            .enumerate()
            .min_by_key(|(_, at)| self.stage(**at))
            .map_or(0, |(place, _)| place);
        cycle.rotate_left(lowest);
        cycle
    }

    /// The graph as its readers get it.
    pub(crate) fn graph(&mut self) -> Graph {
        let transitive = self.transitive();
        let (chain, critical) = self.critical_path();
        let mut on_path = vec![false; self.vertices.len()];
        let mut step_from = vec![None; self.vertices.len()];
        for (place, &at) in critical.iter().enumerate() {
            set(&mut on_path, at, true);
            set(
                &mut step_from,
                at,
                place.checked_sub(1).and_then(|before| critical.get(before)).copied(),
            );
        }
        let mut waves = vec![Vec::new(); self.wave_count()];
        let mut nodes = Vec::with_capacity(self.vertices.len());
        let mut edges = Vec::new();
        for (at, vertex) in self.vertices.iter().enumerate() {
            let wave = self.wave(at);
            if let Some(members) =
                (wave as usize).checked_sub(1).and_then(|wave| waves.get_mut(wave))
            {
                members.push(vertex.stage);
            }
            let implied = get(&transitive, at).map(Vec::as_slice).unwrap_or_default();
            for &on in &vertex.depends_on {
                edges.push(Edge {
                    stage: vertex.stage,
                    depends_on: self.stage(on),
                    transitive: implied.contains(&on),
                    critical: get(&step_from, at) == Some(&Some(on)),
                });
            }
            nodes.push(Node {
                stage: vertex.stage,
                title: vertex.title.clone(),
                wave: (wave > 0).then_some(wave),
                steps: vertex.steps,
                chain_steps: get(&chain, at).copied().unwrap_or(0),
                waits_for: self.stages(&vertex.depends_on),
                unlocks: self
                    .stages(get(&self.dependents, at).map(Vec::as_slice).unwrap_or_default()),
                critical: get(&on_path, at).copied().unwrap_or(false),
            });
        }
        for members in &mut waves {
            sort(members);
        }
        let widest = waves.iter().map(Vec::len).max().unwrap_or(0);
        let widest_wave = waves.iter().position(|wave| wave.len() == widest).map_or(0, |at| at + 1);
        let critical_path = CriticalPath {
            steps: critical.last().and_then(|&at| get(&chain, at)).copied().unwrap_or(0),
            stages: critical.iter().map(|&at| self.stage(at)).collect(),
        };
        let cycles = self.cycles();
        let mut unclear: Vec<u32> = self
            .vertices
            .iter()
            .filter(|vertex| vertex.unclear)
            .map(|vertex| vertex.stage)
            .collect();
        sort(&mut unclear);
        Graph {
            nodes,
            edges,
            waves,
            widest_wave: u32::try_from(widest_wave).unwrap_or(u32::MAX),
            critical_path,
            cycles: cycles
                .into_iter()
                .map(|cycle| cycle.into_iter().map(|at| self.stage(at)).collect())
                .collect(),
            unclear,
        }
    }

    fn stages(&self, vertices: &[usize]) -> Vec<u32> {
        let mut stages: Vec<u32> = vertices.iter().map(|&at| self.stage(at)).collect();
        sort(&mut stages);
        stages
    }

    /// For each vertex the steps of the longest chain that ends with it, and the longest chain of
    /// all. Of equal chains the one over the lower stages is taken.
    fn critical_path(&self) -> (Vec<u32>, Vec<usize>) {
        let mut chain = vec![0_u32; self.vertices.len()];
        for &at in &self.order {
            let steps = get(&self.vertices, at).map_or(0, |vertex| vertex.steps);
            let before = highest(&chain, self.depends_on(at));
            set(&mut chain, at, before.saturating_add(steps));
        }
        let weight =
            |at: usize| (get(&chain, at).copied().unwrap_or(0), std::cmp::Reverse(self.stage(at)));
        let mut path = Vec::new();
        let mut next = self.order.iter().copied().max_by_key(|&at| weight(at));
        while let Some(at) = next {
            path.push(at);
            next = self.depends_on(at).iter().copied().max_by_key(|&on| weight(on));
        }
        path.reverse();
        (chain, path)
    }
}

/// Answers "can it be reached" in near-constant time on the graphs plans have.
///
/// Two interval labels (one for each order of visiting) rule most pairs out, the tree of the
/// first visit proves many, and what is left is a search that the labels and waves prune.
#[derive(Debug)]
struct Reach {
    labels: [Vec<Label>; 2],
    /// The round of searching in which a vertex was seen last, and wanted last.
    seen: Vec<u32>,
    wanted: Vec<u32>,
    round: u32,
    /// What is left of [`SEARCH_BUDGET`].
    budget: usize,
}

/// `low..=rank` contains the rank of everything reachable; `entry..=exit` is the visiting tree.
#[derive(Clone, Copy, Debug, Default)]
struct Label {
    low: u32,
    rank: u32,
    entry: u32,
    exit: u32,
}

impl Reach {
    fn new(size: usize) -> Self {
        Self {
            labels: [Vec::new(), Vec::new()],
            seen: vec![0; size],
            wanted: vec![0; size],
            round: 0,
            budget: SEARCH_BUDGET,
        }
    }

    /// Makes the labels before the first search.
    fn prepare(&mut self, vertices: &[Vertex], dependents: &[Vec<usize>], waves: &[u32]) {
        if self.labels.iter().any(|labels| labels.len() != vertices.len()) {
            self.labels =
                [false, true].map(|reversed| label(vertices, dependents, waves, reversed));
        }
    }

    fn may(&self, waves: &[u32], from: usize, to: usize) -> bool {
        get(waves, from) > get(waves, to)
            && self.labels.iter().all(|labels| match (get(labels, from), get(labels, to)) {
                (Some(from), Some(to)) => from.low <= to.low && to.rank <= from.rank,
                _ => false,
            })
    }

    fn must(&self, from: usize, to: usize) -> bool {
        self.labels.iter().any(|labels| match (get(labels, from), get(labels, to)) {
            (Some(from), Some(to)) => from.entry <= to.entry && to.exit <= from.exit,
            _ => false,
        })
    }

    /// Pays for looking at the dependencies of a vertex; `false` when nothing is left.
    fn spend(&mut self, vertices: &[Vertex], at: usize) -> bool {
        let cost = get(vertices, at).map_or(0, |vertex| vertex.depends_on.len()) + 1;
        self.budget = self.budget.saturating_sub(cost);
        self.budget > 0
    }

    fn reaches(&mut self, vertices: &[Vertex], waves: &[u32], from: usize, to: usize) -> bool {
        if !self.may(waves, from, to) {
            return false;
        }
        self.round += 1;
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !self.spend(vertices, at) {
                return false;
            }
            if self.must(at, to) {
                return true;
            }
            for &on in
                get(vertices, at).map(|vertex| vertex.depends_on.as_slice()).unwrap_or_default()
            {
                if on == to {
                    return true;
                }
                if get(&self.seen, on) != Some(&self.round) && self.may(waves, on, to) {
                    set(&mut self.seen, on, self.round);
                    open.push(on);
                }
            }
        }
        false
    }

    /// Which of many vertices the others reach: one search from all of them, from the latest wave
    /// down, that stops when nothing is left to find.
    fn implied(&mut self, vertices: &[Vertex], waves: &[u32], many: &[usize]) -> Vec<usize> {
        self.round += 1;
        let wave = |at: usize| get(waves, at).copied().unwrap_or(0);
        let lowest = many.iter().map(|&at| wave(at)).min().unwrap_or(0);
        let highest = many.iter().map(|&at| wave(at)).max().unwrap_or(0);
        // Those of the last wave cannot be implied; the others are ticked off as they are met.
        let mut left = 0;
        for &at in many.iter().filter(|&&at| wave(at) < highest) {
            set(&mut self.wanted, at, self.round);
            left += 1;
        }
        let mut found = Vec::new();
        let mut open = sorted(many.to_vec(), |at| (u64::from(wave(*at)), 0));
        while let Some(at) = open.pop() {
            if left == 0 || !self.spend(vertices, at) {
                break;
            }
            for &on in
                get(vertices, at).map(|vertex| vertex.depends_on.as_slice()).unwrap_or_default()
            {
                if get(&self.seen, on) == Some(&self.round) || wave(on) < lowest {
                    continue;
                }
                set(&mut self.seen, on, self.round);
                if get(&self.wanted, on) == Some(&self.round) {
                    set(&mut self.wanted, on, 0);
                    left -= 1;
                    found.push(on);
                }
                open.push(on);
            }
        }
        found
    }
}

/// One depth-first visit along the dependencies, from the stages nothing depends on.
fn label(
    vertices: &[Vertex],
    dependents: &[Vec<usize>],
    waves: &[u32],
    reversed: bool,
) -> Vec<Label> {
    let mut labels = vec![Label::default(); vertices.len()];
    let (mut rank, mut clock) = (0, 0);
    let mut roots: Vec<usize> = (0..vertices.len())
        .filter(|&at| {
            let live = get(waves, at).copied().unwrap_or(0) > 0;
            let waited_for = get(dependents, at).is_some_and(|list| {
                list.iter().any(|&dependent| get(waves, dependent).copied().unwrap_or(0) > 0)
            });
            live && !waited_for
        })
        .collect();
    if reversed {
        roots.reverse();
    }
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in roots {
        enter(&mut labels, &mut stack, &mut clock, root);
        while let Some((at, next)) = stack.pop() {
            let on =
                get(vertices, at).map(|vertex| vertex.depends_on.as_slice()).unwrap_or_default();
            let place = if reversed { on.len().checked_sub(next + 1) } else { Some(next) };
            if let Some(&child) = place.and_then(|place| on.get(place)) {
                stack.push((at, next + 1));
                if get(&labels, child).is_some_and(|label| label.entry == 0) {
                    enter(&mut labels, &mut stack, &mut clock, child);
                }
                continue;
            }
            rank += 1;
            clock += 1;
            let low =
                on.iter().filter_map(|&child| get(&labels, child)).map(|label| label.low).min();
            if let Some(label) = labels.get_mut(at) {
                label.rank = rank;
                label.low = low.unwrap_or(rank).min(rank);
                label.exit = clock;
            }
        }
    }
    labels
}

fn enter(labels: &mut [Label], stack: &mut Vec<(usize, usize)>, clock: &mut u32, at: usize) {
    *clock += 1;
    if let Some(label) = labels.get_mut(at) {
        label.entry = *clock;
    }
    stack.push((at, 0));
}

/// The knots: sets of more than one vertex that all wait for each other (Tarjan's strongly
/// connected components, without recursion), among the vertices without a wave.
fn knots(vertices: &[Vertex], waves: &[u32]) -> Vec<Vec<usize>> {
    #[derive(Clone, Copy, Default)]
    struct Mark {
        number: u32,
        low: u32,
        on_stack: bool,
    }
    let mut marks = vec![Mark::default(); vertices.len()];
    let mut counter = 0;
    let mut path: Vec<usize> = Vec::new();
    let mut knots = Vec::new();
    for root in 0..vertices.len() {
        let untouched = get(&marks, root).is_some_and(|mark| mark.number == 0);
        if !untouched || get(waves, root) != Some(&0) {
            continue;
        }
        let mut stack = vec![(root, 0_usize)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                counter += 1;
                set(&mut marks, at, Mark { number: counter, low: counter, on_stack: true });
                path.push(at);
            }
            let on =
                get(vertices, at).map(|vertex| vertex.depends_on.as_slice()).unwrap_or_default();
            if let Some(&child) = on.get(next) {
                stack.push((at, next + 1));
                if get(waves, child) == Some(&0)
                    && get(&marks, child).is_some_and(|mark| mark.number == 0)
                {
                    stack.push((child, 0));
                }
                continue;
            }
            let mut low = get(&marks, at).map_or(0, |mark| mark.low);
            for child in
                on.iter().filter_map(|&child| get(&marks, child)).filter(|mark| mark.on_stack)
            {
                low = low.min(child.low);
            }
            let number = get(&marks, at).map_or(0, |mark| mark.number);
            if let Some(mark) = marks.get_mut(at) {
                mark.low = low;
            }
            if low == number {
                let start = path.iter().rposition(|&vertex| vertex == at).unwrap_or(path.len());
                let knot = path.split_off(start);
                for &member in &knot {
                    if let Some(mark) = marks.get_mut(member) {
                        mark.on_stack = false;
                    }
                }
                if knot.len() > 1 {
                    knots.push(knot);
                }
            }
        }
    }
    knots
}

/// The shortest cycle inside a knot. From each member in turn a breadth-first search looks for
/// the way back; a member that was tried is left out of the later searches, and a search stops
/// when it cannot beat the best.
fn shortest_cycle(
    vertices: &[Vertex],
    local: &mut [usize],
    knot: &[usize],
    budget: &mut usize,
) -> Option<Vec<usize>> {
    let inner = Knot::new(vertices, local, knot);
    let mut inside = vec![true; knot.len()];
    let mut best: Option<Vec<usize>> = None;
    for start in 0..knot.len() {
        // The first search always finds a cycle; only the search for a shorter one is bounded.
        if best.as_ref().is_some_and(|best| best.len() == 2 || *budget == 0) {
            break;
        }
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        best = inner.cycle_through(&inside, start, limit, budget).or(best);
        set(&mut inside, start, false);
        if !inner.has_cycle(&inside, budget) {
            break;
        }
    }
    Some(best?.into_iter().filter_map(|at| get(knot, at)).copied().collect())
}

/// The dependencies among the members of a knot, by their places in it; none on themselves.
struct Knot {
    depends_on: Vec<Vec<usize>>,
}

impl Knot {
    /// `local` is scratch of the size of the graph, `usize::MAX` everywhere, and left so.
    fn new(vertices: &[Vertex], local: &mut [usize], knot: &[usize]) -> Self {
        for (place, &at) in knot.iter().enumerate() {
            set(local, at, place);
        }
        let inner = |at: usize| {
            let on =
                get(vertices, at).map(|vertex| vertex.depends_on.as_slice()).unwrap_or_default();
            let others = on.iter().filter(|&&on| on != at).filter_map(|&on| get(local, on));
            others.copied().filter(|place| *place != usize::MAX).collect()
        };
        let depends_on = knot.iter().map(|&at| inner(at)).collect();
        for &at in knot {
            set(local, at, usize::MAX);
        }
        Self { depends_on }
    }

    fn on(&self, at: usize) -> &[usize] {
        get(&self.depends_on, at).map(Vec::as_slice).unwrap_or_default()
    }

    fn cycle_through(
        &self,
        inside: &[bool],
        start: usize,
        limit: usize,
        budget: &mut usize,
    ) -> Option<Vec<usize>> {
        let mut came_from = vec![None; self.depends_on.len()];
        let mut ring = vec![start];
        let mut length = 1;
        while !ring.is_empty() && length < limit {
            let mut next = Vec::new();
            for &at in &ring {
                for &on in self.on(at) {
                    *budget = budget.saturating_sub(1);
                    if on == start {
                        let mut cycle = vec![at];
                        while let Some(before) =
                            cycle.last().and_then(|&last| get(&came_from, last).copied().flatten())
                        {
                            cycle.push(before);
                        }
                        cycle.reverse();
                        return Some(cycle);
                    }
                    if get(inside, on) == Some(&true) && get(&came_from, on) == Some(&None) {
                        set(&mut came_from, on, Some(at));
                        next.push(on);
                    }
                }
            }
            ring = next;
            length += 1;
        }
        None
    }

    /// Whether the members still inside have a cycle: peel off what depends on nothing inside.
    fn has_cycle(&self, inside: &[bool], budget: &mut usize) -> bool {
        let is_inside = |at: usize| get(inside, at) == Some(&true);
        let mut open = vec![0_usize; self.depends_on.len()];
        let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); self.depends_on.len()];
        let mut ready = Vec::new();
        let mut left = 0;
        for at in (0..self.depends_on.len()).filter(|&at| is_inside(at)) {
            left += 1;
            *budget = budget.saturating_sub(self.on(at).len() + 1);
            for &on in self.on(at).iter().filter(|&&on| is_inside(on)) {
                if let (Some(list), Some(count)) = (dependents.get_mut(on), open.get_mut(at)) {
                    list.push(at);
                    *count += 1;
                }
            }
            if get(&open, at) == Some(&0) {
                ready.push(at);
            }
        }
        while let Some(at) = ready.pop() {
            left -= 1;
            for &dependent in get(&dependents, at).map(Vec::as_slice).unwrap_or_default() {
                if let Some(count) = open.get_mut(dependent) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(dependent);
                    }
                }
            }
        }
        left > 0
    }
}

fn get<T>(list: &[T], at: usize) -> Option<&T> {
    list.get(at)
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

fn highest(values: &[u32], of: &[usize]) -> u32 {
    of.iter().filter_map(|&at| values.get(at)).copied().max().unwrap_or(0)
}
