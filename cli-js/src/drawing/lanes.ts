import { Canvas, DOWN, UP, type Weight } from './canvas.js';
import type { Graph, Node } from './graph.js';
import type { Look } from './look.js';
import { stageRows } from './rows.js';

/** More stages than this are easier to read as a list. */
const MOST_STAGES = 80;
/** The share of the width that lines may take. */
const SHARE = 0.4;

/** The lane of a stage: its column of lines, from its row down to the last stage waiting for it. */
interface Lane {
  stage: number;
  /** The row of the last stage that waits for it. */
  until: number;
  /** The row of the next stage of the critical path; -1 off the path. */
  thickUntil: number;
}

/**
 * The graph as one line a stage with its dependencies as lines on the left, like a version
 * history; `undefined` when there are too many stages or lines. Every stage owns one lane, so a
 * vertical line always belongs to the stage it starts at, and all that runs across in a row leads
 * to the stage of that row.
 */
export function drawLanes(graph: Graph, look: Look): string[] | undefined {
  const order = inOrder(graph);
  if (order.length === 0 || order.length > MOST_STAGES) return undefined;
  const most = Math.floor((look.width * SHARE) / 2);
  const canvas = new Canvas(look.ascii);
  const lanes: (Lane | undefined)[] = [];
  // A row between two waves keeps a stage and the one below it apart where nothing joins them.
  const row = new Map(order.map((node, index) => [node.stage, index + (node.wave ?? 1) - 1]));
  const before = criticalStep(graph);
  const after = new Map([...before].map(([stage, from]) => [from, stage]));
  let used = 0;
  let done = -1;
  for (const node of order) {
    const y = row.get(node.stage) ?? 0;
    if (done >= 0 && y > done + 1) pass(canvas, lanes, done + 1);
    done = y;
    const critical = before.get(node.stage);
    const waits = new Set(node.waits_for);
    const feeds = lanes.flatMap((lane, index) =>
      lane && waits.has(lane.stage) ? [{ lane, index }] : [],
    );
    const ending = feeds.filter(({ lane }) => lane.until === y);
    const taken = ending.find(({ lane }) => lane.stage === critical) ?? ending[0];
    const own = taken?.index ?? firstFree(lanes);
    for (const { lane, index } of feeds) {
      canvas.across(y, index * 2, own * 2, lane.stage === critical ? 2 : 1, node.stage);
    }
    pass(canvas, lanes, y, own, waits);
    for (const { index } of ending) lanes[index] = undefined;
    canvas.text(
      own * 2,
      y,
      node.critical ? look.signs.critical : look.signs.stage,
      node.critical ? 'critical' : 'plain',
    );
    const until = Math.max(y, ...node.unlocks.map((stage) => row.get(stage) ?? y));
    if (until > y) {
      const thickUntil = row.get(after.get(node.stage) ?? -1) ?? -1;
      lanes[own] = { stage: node.stage, until, thickUntil };
    }
    used = Math.max(used, own + 1);
    if (used > most) return undefined;
  }
  return stageRows(order, look, { gutter: canvas.lines(look.color), columns: used * 2 - 1 });
}

/** Draws every lane but `own` through row `y`; those in `waits` have a line across to join. */
function pass(
  canvas: Canvas,
  lanes: (Lane | undefined)[],
  y: number,
  own = -1,
  waits: Set<number> = new Set(),
): void {
  for (const [index, lane] of lanes.entries()) {
    if (!lane || index === own) continue;
    const weigh = (at: number): Weight => (at <= lane.thickUntil ? 2 : 1);
    if (!waits.has(lane.stage)) canvas.down(index * 2, y, y, weigh(y), lane.stage);
    else {
      canvas.port(index * 2, y, UP, weigh(y));
      if (lane.until > y) canvas.port(index * 2, y, DOWN, weigh(y + 1));
    }
  }
}

/** The stages wave by wave. */
export function inOrder(graph: Graph): Node[] {
  const byNumber = new Map(graph.nodes.map((node) => [node.stage, node]));
  return graph.waves.flat().flatMap((stage) => byNumber.get(stage) ?? []);
}

/** For each stage of the critical path but the first, the one before it. */
function criticalStep(graph: Graph): Map<number, number> {
  const edges = graph.edges.filter((edge) => edge.critical);
  return new Map(edges.map((edge) => [edge.stage, edge.depends_on]));
}

function firstFree(lanes: (Lane | undefined)[]): number {
  const lane = lanes.indexOf(undefined);
  return lane < 0 ? lanes.length : lane;
}
