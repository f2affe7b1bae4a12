import type { Edge, Graph, Node } from '../../npm-package/src/index.js';

/** One stage of a sample: title, steps, the stages it depends on. Stages are numbered from 1. */
export type Row = [title: string, steps: number, dependsOn: number[]];

/** The graph of a few rows, worked out without the core so that drawings are tested by themselves. */
export function graphOf(rows: Row[]): Graph {
  const size = rows.length + 1;
  const wave = new Array<number>(size).fill(0);
  const chain = new Array<number>(size).fill(0);
  const before = new Array<number>(size).fill(0);
  const unlocks = Array.from({ length: size }, (): number[] => []);
  const open = new Array<number>(size).fill(0);
  const at = (list: number[], index: number): number => list[index] ?? 0;
  const needs = (stage: number): number[] => rows[stage - 1]?.[2] ?? [];
  for (let stage = 1; stage < size; stage++) {
    open[stage] = needs(stage).length;
    for (const other of needs(stage)) unlocks[other]?.push(stage);
  }
  const ready: number[] = [];
  for (let stage = 1; stage < size; stage++) if (open[stage] === 0) ready.push(stage);
  for (const stage of ready) {
    wave[stage] = 1;
    for (const other of needs(stage)) {
      wave[stage] = Math.max(at(wave, stage), at(wave, other) + 1);
      if (at(chain, other) > at(chain, at(before, stage))) before[stage] = other;
    }
    chain[stage] = at(chain, at(before, stage)) + (rows[stage - 1]?.[1] ?? 0);
    for (const next of unlocks[stage] ?? []) {
      open[next] = at(open, next) - 1;
      if (open[next] === 0) ready.push(next);
    }
  }
  const waves: number[][] = [];
  let end = 0;
  for (let stage = 1; stage < size; stage++) {
    if (at(wave, stage) === 0) continue;
    while (waves.length < at(wave, stage)) waves.push([]);
    waves[at(wave, stage) - 1]?.push(stage);
    if (at(chain, stage) > at(chain, end)) end = stage;
  }
  const path: number[] = [];
  for (let stage = end; stage > 0; stage = at(before, stage)) path.unshift(stage);
  const onPath = new Set(path);
  const nodes = rows.map(
    ([title, steps], index): Node => ({
      stage: index + 1,
      title,
      wave: at(wave, index + 1) || null,
      steps,
      chain_steps: at(chain, index + 1),
      waits_for: [...needs(index + 1)].sort((a, b) => a - b),
      unlocks: unlocks[index + 1] ?? [],
      critical: onPath.has(index + 1),
    }),
  );
  const edges = nodes.flatMap((node) =>
    node.waits_for.map(
      (other): Edge => ({
        stage: node.stage,
        depends_on: other,
        transitive: false,
        critical: node.critical && onPath.has(other) && at(before, node.stage) === other,
      }),
    ),
  );
  const widest = waves.reduce((most, list) => Math.max(most, list.length), 0);
  return {
    nodes,
    edges,
    waves,
    widest_wave: waves.findIndex((list) => list.length === widest) + 1,
    critical_path: { stages: path, steps: at(chain, end) },
    cycles: cyclesOf(nodes),
    unclear: [],
  };
}

/** One cycle of each knot: from every stage without a wave back along its first such dependency. */
function cyclesOf(nodes: Node[]): number[][] {
  const stuck = new Map(
    nodes.filter((node) => node.wave === null).map((node) => [node.stage, node]),
  );
  const seen = new Set<number>();
  const cycles: number[][] = [];
  for (const start of stuck.keys()) {
    const walk: number[] = [];
    let stage: number | undefined = start;
    while (stage !== undefined && !seen.has(stage)) {
      seen.add(stage);
      walk.push(stage);
      stage = stuck.get(stage)?.waits_for.find((other) => stuck.has(other));
    }
    const from = stage === undefined ? -1 : walk.indexOf(stage);
    if (from < 0) continue;
    const cycle = walk.slice(from);
    const lowest = cycle.indexOf(Math.min(...cycle));
    cycles.push([...cycle.slice(lowest), ...cycle.slice(0, lowest)]);
  }
  return cycles;
}

/** A generator of numbers in [0, 1) that repeats for a seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const VERBS = ['Read', 'Write', 'Check', 'Move', 'Draw', 'Parse', 'Store', 'Cache'];
const THINGS = [
  'the ledger',
  'stage map',
  'config loader',
  'HTTP routes',
  'session table',
  'metrics',
];

/** A plan of `size` stages that each wait for up to two of the `reach` stages before them. */
export function mixed(size: number, seed: number, reach = 8): Row[] {
  const next = random(seed);
  const pick = (list: string[]): string => list[Math.floor(next() * list.length)] ?? '';
  return Array.from({ length: size }, (_, index): Row => {
    const needs = new Set<number>();
    for (let left = index < 2 ? 0 : Math.floor(next() * 3); left > 0; left--) {
      needs.add(index - Math.floor(next() * Math.min(index, reach)));
    }
    return [`${pick(VERBS)} ${pick(THINGS)}`, 1 + Math.floor(next() * 6), [...needs]];
  });
}

/** The plans that are drawn, by name. */
export const samples: Record<string, Row[]> = {
  empty: [],
  one: [['Set up the schema', 3, []]],
  chain: [
    ['Schema', 2, []],
    ['Repository layer', 4, [1]],
    ['Service', 5, [2]],
    ['HTTP routes', 3, [3]],
    ['Documentation', 1, [4]],
  ],
  diamond: [
    ['Define the event schema', 3, []],
    ['Write the producer', 5, [1]],
    ['Write the consumer', 4, [1]],
    ['End-to-end test', 2, [2, 3]],
  ],
  fan_out: [
    ['Shared types', 2, []],
    ['Web client', 6, [1]],
    ['Mobile client', 5, [1]],
    ['Command line', 4, [1]],
    ['Admin pages', 3, [1]],
    ['Public API docs', 2, [1]],
  ],
  fan_in: [
    ['Parser', 5, []],
    ['Lexer tables', 2, []],
    ['Error texts', 3, []],
    ['Sample corpus', 1, []],
    ['Compiler driver', 4, [1, 2, 3, 4]],
  ],
  two_components: [
    ['Database migration', 3, []],
    ['Backfill job', 4, [1]],
    ['Switch the readers', 2, [2]],
    ['New logo', 1, []],
    ['Landing page', 4, [4]],
  ],
  all_pairs: [
    ['Left input', 2, []],
    ['Right input', 3, []],
    ['Left output', 4, [1, 2]],
    ['Right output', 1, [1, 2]],
  ],
  long_edges: [
    ['Config loader', 2, []],
    ['Logging', 3, [1]],
    ['Metrics', 2, [2]],
    ['Dashboards', 4, [3]],
    ['Release notes', 1, [1, 4]],
    ['Alert rules', 2, [2]],
    ['Runbook', 2, [1, 5, 6]],
  ],
  mixed_12: [
    ['Workspace and lints', 3, []],
    ['Token model', 4, []],
    ['Session store', 6, [1]],
    ['Login endpoint', 5, [2, 3]],
    ['Refresh endpoint', 4, [2, 3]],
    ['Rate limiter', 3, [1]],
    ['Audit log', 4, [3]],
    ['Password reset', 5, [4]],
    ['Single sign-on', 6, [4, 5]],
    ['Admin console', 5, [6, 7]],
    ['Load test', 2, [5, 6]],
    ['Roll-out and clean-up', 3, [8, 9, 10, 11]],
  ],
  wide: [
    ['결제 모듈 설계와 스키마', 3, []],
    ['日本語のタイトルはとても長いので切られます', 4, [1]],
    ['Emoji 🚀 launch 👩‍👩‍👧 family', 2, [1]],
    ['Combining e\u0301a\u0308o\u0302 marks', 2, [2, 3]],
  ],
  cycle: [
    ['Start', 2, []],
    ['Ping', 3, [1, 3]],
    ['Pong', 3, [2]],
    ['Behind the cycle', 1, [3]],
    ['Free', 2, [1]],
  ],
  only_cycle: [
    ['Chicken', 1, [2]],
    ['Egg', 1, [1]],
  ],
  mixed_15: mixed(15, 7, 6),
  mixed_30: mixed(30, 3),
  mixed_200: mixed(200, 5, 20),
};

/** Milliseconds that this process has computed: other processes do not change them. */
export function busy(): number {
  return process.cpuUsage().user / 1000;
}
