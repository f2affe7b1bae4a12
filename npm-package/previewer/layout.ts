import dagre from '@dagrejs/dagre';
import type { Item, Line, Model } from './model.js';

/** Where everything of a graph is, in units of the drawing. */
export interface Layout {
  width: number;
  height: number;
  /** The left upper corner of each card, by its key. */
  places: Map<string, { x: number; y: number }>;
  columns: { wave: number | null; count: number; x: number; width: number }[];
  /** Whether lines are drawn only where somebody looks, and waves are wrapped into blocks. */
  compact: boolean;
  /** The line of a dependency, as the data of a path. */
  path: (line: Line) => string;
}

export const CARD = { width: 232, height: 78 };

const GAP = { x: 76, y: 16, block: 12 };
const HEAD = 44;
const MARGIN = 28;

/** So many cards and lines passing waves are still a drawing that one can follow. */
const MOST_ITEMS = 260;

/** A wave with more than this is a wall of cards. */
const MOST_IN_WAVE = 40;

/** The cards of a wrapped wave stand in columns of so many. */
const BLOCK = 16;

/** A card, or the lines of an earlier one passing through a wave. */
interface Piece {
  id: string;
  column: number;
  size: number;
  at: number;
}

/**
 * Places the stages of a plan: a column for each wave.
 *
 * dagre decides the order in the columns and the heights. It was compared with elkjs and d3-dag on
 * plans of 10 to 1,000 stages; the numbers are in the README beside this file. Its ranks are held
 * to the waves, and all lines of a stage that pass a wave share one place in it, so there is little
 * for it to do. Above what a person can follow with the eyes, no library helps: then the cards of a
 * wave are wrapped into a block, in the order of what they depend on, and lines are drawn for the
 * critical path and for the stage that is looked at.
 */
export function layOut(model: Model): Layout {
  const widest = Math.max(0, ...model.columns.map(({ items }) => items.length));
  if (model.items.length > MOST_ITEMS || widest > MOST_IN_WAVE) return wrapped(model);
  const graph = pieces(model);
  if (graph.all.length > MOST_ITEMS) return wrapped(model);
  place(graph);
  return drawn(model, graph);
}

interface Pieces {
  all: Piece[];
  cards: Map<string, Piece>;
  /** Where the lines of a stage pass each wave. */
  passes: Map<string, Map<number, Piece>>;
  links: Map<string, { from: Piece; to: Piece; critical: boolean }>;
}

function pieces({ columns, lines }: Model): Pieces {
  const cards: Pieces['cards'] = new Map();
  for (const [column, { items }] of columns.entries()) {
    for (const item of items) {
      cards.set(item.key, { id: item.key, column, size: CARD.height, at: 0 });
    }
  }
  const passes: Pieces['passes'] = new Map();
  const links: Pieces['links'] = new Map();
  const all = [...cards.values()];
  const join = (from: Piece, to: Piece, critical: boolean) => {
    const key = `${from.id}>${to.id}`;
    links.set(key, { from, to, critical: critical || (links.get(key)?.critical ?? false) });
  };
  for (const { from, to, critical } of lines) {
    const [start, end] = [cards.get(from.key), cards.get(to.key)];
    // What is in no wave has no order.
    if (!start || !end || from.wave === null || to.wave === null) continue;
    let last = start;
    const own = passes.get(from.key) ?? new Map<number, Piece>();
    passes.set(from.key, own);
    for (let column = start.column + 1; column < end.column; column++) {
      let pass = own.get(column);
      if (!pass) {
        pass = { id: `${from.key}@${column}`, column, size: 10, at: 0 };
        own.set(column, pass);
        all.push(pass);
      }
      join(last, pass, critical);
      last = pass;
    }
    join(last, end, critical);
  }
  return { all, cards, passes, links };
}

function place({ all, links }: Pieces): void {
  const sheet = new dagre.graphlib.Graph();
  sheet.setGraph({ nodesep: GAP.y, edgesep: GAP.y, ranksep: 1, ranker: 'none' });
  sheet.setDefaultEdgeLabel(() => ({}));
  for (const { id, column, size } of all) {
    // dagre halves ranks to make room for the labels of edges.
    sheet.setNode(id, { width: size, height: 1, rank: column * 2 });
  }
  for (const { from, to, critical } of links.values()) {
    sheet.setEdge(from.id, to.id, { weight: critical ? 4 : 1 });
  }
  dagre.layout(sheet);
  const top = Math.min(...all.map((piece) => sheet.node(piece.id).x - piece.size / 2));
  for (const piece of all) piece.at = sheet.node(piece.id).x - top;
  if (descends(all)) {
    const bottom = Math.max(...all.map((piece) => piece.at + piece.size / 2));
    for (const piece of all) piece.at = bottom - piece.at;
  }
}

/** Whether lower numbers tend to stand at the bottom; then the mirror image reads better. */
function descends(all: readonly Piece[]): boolean {
  let balance = 0;
  const last = new Map<number, number>();
  for (const piece of [...all].sort((a, b) => a.at - b.at)) {
    const number = Number(piece.id);
    if (!Number.isInteger(number)) continue;
    const before = last.get(piece.column);
    if (before !== undefined) balance += number < before ? 1 : -1;
    last.set(piece.column, number);
  }
  return balance > 0;
}

function drawn(model: Model, { all, cards, passes }: Pieces): Layout {
  const x = (column: number) => MARGIN + column * (CARD.width + GAP.x);
  const top = MARGIN + HEAD;
  const places: Layout['places'] = new Map();
  for (const [key, { column, at }] of cards) {
    places.set(key, { x: x(column), y: Math.round(top + at - CARD.height / 2) });
  }
  const bottom = Math.max(0, ...all.map(({ at, size }) => at + size / 2));
  return {
    width: Math.max(x(model.columns.length) - GAP.x + MARGIN, 2 * MARGIN),
    height: top + Math.max(bottom, CARD.height) + MARGIN,
    places,
    columns: model.columns.map(({ wave, items }, column) => ({
      ...{ wave, count: items.length, x: x(column), width: CARD.width },
    })),
    compact: false,
    path: (line) => {
      const points: [number, number, number][] = [];
      const [start, end] = [cards.get(line.from.key), cards.get(line.to.key)];
      if (start && end && line.from.wave !== null && line.to.wave !== null) {
        for (let column = start.column + 1; column < end.column; column++) {
          const pass = passes.get(line.from.key)?.get(column);
          if (pass) points.push([x(column), Math.round(top + pass.at), x(column) + CARD.width]);
        }
      }
      return through(places, line, points);
    },
  };
}

/** A line from card to card, through places where it runs straight from one x to another. */
function through(
  places: Layout['places'],
  { from, to }: Line,
  points: readonly (readonly [number, number, number])[],
): string {
  const [start, end] = [places.get(from.key), places.get(to.key)];
  if (!start || !end) return '';
  const middle = CARD.height / 2;
  let [x, y] = [start.x + CARD.width, start.y + middle];
  const tip: [number, number] = [end.x, end.y + middle];
  if (tip[0] <= x) return around([x, y], tip);
  let data = `M${x} ${y}`;
  const curve = (toX: number, toY: number) => {
    const bend = (toX - x) / 2;
    data += toY === y ? `H${toX}` : `C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`;
    [x, y] = [toX, toY];
  };
  for (const [left, height, right] of points) {
    curve(left, height);
    data += `H${right}`;
    x = right;
  }
  curve(tip[0] - 1, tip[1]);
  return `${data}${arrow(tip)}`;
}

/** A line that cannot run to the right: between stages that are in no wave. */
function around([x, y]: [number, number], tip: [number, number]): string {
  const far = 34;
  const to = tip[0] < x - CARD.width ? tip : ([tip[0] + CARD.width, tip[1] + 8] as const);
  const side = tip[0] < x - CARD.width ? -far : far;
  return `M${x} ${y}C${x + far} ${y} ${to[0] + side} ${to[1]} ${to[0]} ${to[1]}`;
}

const arrow = ([x, y]: [number, number]): string =>
  `M${x - 7} ${y - 4}L${x - 1} ${y}L${x - 7} ${y + 4}`;

function wrapped(model: Model): Layout {
  const places: Layout['places'] = new Map();
  const columns: Layout['columns'] = [];
  const order = new Map<Item, number>();
  const before = new Map<Item, Item[]>();
  for (const { from, to } of model.lines) {
    const list = before.get(to);
    if (list) list.push(from);
    else before.set(to, [from]);
  }
  let x = MARGIN;
  let height = 0;
  for (const { wave, items } of model.columns) {
    // Near to what it depends on: the mean height of that.
    const weight = (item: Item): number => {
      const on = (before.get(item) ?? []).flatMap((each) => order.get(each) ?? []);
      return on.length > 0 ? on.reduce((sum, each) => sum + each, 0) / on.length : 0.5;
    };
    const sorted = items
      .map((item) => ({ item, weight: weight(item) }))
      .sort((a, b) => a.weight - b.weight);
    const across = Math.ceil(items.length / BLOCK);
    const rows = Math.ceil(items.length / across);
    for (const [at, { item }] of sorted.entries()) {
      const column = at % across;
      const row = Math.floor(at / across);
      order.set(item, (row + 0.5) / rows);
      places.set(item.key, {
        x: x + column * (CARD.width + GAP.block),
        y: MARGIN + HEAD + row * (CARD.height + GAP.block),
      });
    }
    const width = across * (CARD.width + GAP.block) - GAP.block;
    columns.push({ wave, count: items.length, x, width });
    height = Math.max(height, rows * (CARD.height + GAP.block) - GAP.block);
    x += width + GAP.x;
  }
  return {
    width: Math.max(x - GAP.x + MARGIN, 2 * MARGIN),
    height: MARGIN + HEAD + height + MARGIN,
    places,
    columns,
    compact: true,
    path: (line) => through(places, line, []),
  };
}
