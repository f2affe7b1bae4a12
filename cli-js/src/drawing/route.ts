/** The lines that leave one place of a wave towards the next wave: one tree, drawn as one. */
export interface Net {
  owner: number;
  /** The column it comes down in. */
  from: number;
  /** The columns it goes on in. */
  to: { column: number; critical: boolean; arrow: boolean }[];
  /** The track it runs across in, from 0; -1 when it goes straight down. */
  track: number;
}

/** How the space between two waves is used. */
export interface Channel {
  nets: Net[];
  /** The number of tracks. */
  tracks: number;
  /** How often lines cross. */
  crossings: number;
  /** Whether two lines would lie on top of each other whatever the order. */
  clash: boolean;
}

const CLASH = 1000;
/** So many nets are ordered by trying all orders; more by local improvement. */
const EXACT = 6;

/**
 * Gives each net of a channel a track. Two nets share a track only where they do not touch; the
 * order of the tracks is the one with the fewest crossings.
 */
export function route(nets: Net[]): Channel {
  const bent = nets.filter((net) => net.to.some((end) => end.column !== net.from));
  const straight = nets.filter((net) => !bent.includes(net));
  const above = bent.map((a) => bent.map((b) => (a === b ? 0 : cost(a, b))));
  const order = best(above);
  let crossings = 0;
  for (const [i, a] of order.entries()) {
    for (const b of order.slice(i + 1)) crossings += above[a]?.[b] ?? 0;
  }
  for (const net of straight) {
    crossings += bent.filter((other) => within(net.from, other)).length;
    net.track = -1;
  }
  const placed: Net[] = [];
  let tracks = 0;
  for (const index of order) {
    const net = bent[index];
    if (!net) continue;
    net.track = 0;
    for (const other of placed) {
      if (touch(net, other)) net.track = Math.max(net.track, other.track + 1);
    }
    tracks = Math.max(tracks, net.track + 1);
    placed.push(net);
  }
  return { nets, tracks, crossings: crossings % CLASH, clash: crossings >= CLASH };
}

function span(net: Net): [number, number] {
  const all = [net.from, ...net.to.map((end) => end.column)];
  return [Math.min(...all), Math.max(...all)];
}

function within(column: number, net: Net): boolean {
  const [low, high] = span(net);
  return column >= low && column <= high;
}

function touch(a: Net, b: Net): boolean {
  const [[lowA, highA], [lowB, highB]] = [span(a), span(b)];
  return lowA <= highB + 1 && lowB <= highA + 1;
}

/** The crossings of `a` in a track above `b`. */
function cost(a: Net, b: Net): number {
  let sum = within(b.from, a) ? 1 : 0;
  for (const end of a.to) {
    if (end.column === b.from) sum += CLASH;
    else if (within(end.column, b)) sum += 1;
  }
  return sum;
}

function best(above: number[][]): number[] {
  const start = above.map((_, index) => index);
  const total = (order: number[]): number => {
    let sum = 0;
    for (let i = 0; i < order.length; i++) {
      for (let j = i + 1; j < order.length; j++) sum += above[order[i] ?? 0]?.[order[j] ?? 0] ?? 0;
    }
    return sum;
  };
  if (start.length <= EXACT) {
    let found = start;
    let least = total(start);
    for (const order of permutations(start)) {
      const sum = total(order);
      if (sum < least) [found, least] = [order, sum];
    }
    return found;
  }
  let order = start;
  let least = total(order);
  for (let better = true; better; ) {
    better = false;
    for (let from = 0; from < order.length; from++) {
      for (let to = 0; to < order.length; to++) {
        const next = order.filter((_, index) => index !== from);
        next.splice(to, 0, order[from] ?? 0);
        const sum = total(next);
        if (sum < least) {
          [order, least, better] = [next, sum, true];
        }
      }
    }
  }
  return order;
}

function* permutations(items: number[]): Generator<number[]> {
  if (items.length <= 1) {
    yield items;
    return;
  }
  for (const [index, item] of items.entries()) {
    const rest = items.filter((_, other) => other !== index);
    for (const tail of permutations(rest)) yield [item, ...tail];
  }
}
