import type { Graph } from './graph.js';
import { grid } from './svg-grid.js';
import { layers } from './svg-layers.js';
import { CRITICAL, type Drawn, inert, MARGIN, n, STYLE } from './svg-parts.js';
import { clean, count, cut } from './text.js';

/** How an SVG drawing is made. */
export interface SvgOptions {
  /** The name of the picture for people who cannot see it. Default `Stage graph`. */
  title?: string;
  /** Begins every id in the picture, for pages that show several. Default `okstra`. */
  id?: string;
}

/** Above this number of stages the lines are left out and each stage names what it waits for. */
const MOST_STAGES = 150;
/** Above this number of places that lines pass through, too. */
const MOST_PASSES = 1000;

/**
 * Draws a stage graph as one self-contained SVG document: no scripts, no references to the
 * outside, light and dark by the viewer's preference, the same bytes for the same graph.
 *
 * Waves are bands from top to bottom; the critical path has thick lines and the word `critical` in
 * its boxes. What is in no wave stands in a band of its own with the cycles by name.
 */
export function drawSvg(graph: Graph, options: SvgOptions = {}): string {
  const id = (options.id ?? 'okstra').replace(/[^\w-]/g, '');
  const title = clean(options.title ?? '') || 'Stage graph';
  const small = graph.nodes.length <= MOST_STAGES && passes(graph) <= MOST_PASSES;
  const drawn = small ? layers(graph, id) : undefined;
  const lined = drawn !== undefined;
  const waves = drawn ?? grid(graph);
  const stuck = outside(graph, waves.height);
  const width = Math.max(waves.width, stuck.width, 640);
  const legend = legendOf(graph, waves.height + stuck.height, width, lined);
  const height = waves.height + stuck.height + legend.height;
  const description = describe(graph, lined);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="okstra-graph" role="img" aria-labelledby="${id}-title ${id}-desc" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2933">`,
    `<title id="${id}-title">${inert(title)}</title>`,
    `<desc id="${id}-desc">${inert(description)}</desc>`,
    `<style>${STYLE}</style>`,
    `<defs>${head(id, 'head', 8, '#69737f')}${head(id, 'head-critical', 12, CRITICAL)}</defs>`,
    `<rect class="paper" width="${n(width)}" height="${n(height)}" fill="#ffffff"/>`,
    waves.body(width),
    stuck.body(width),
    legend.body(width),
    '</svg>\n',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function head(id: string, name: string, size: number, color: string): string {
  return `<marker id="${id}-${name}" class="${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="${size}" markerHeight="${size}" markerUnits="userSpaceOnUse" orient="auto" fill="${color}"><path d="M0 0L8 4L0 8z"/></marker>`;
}

/** How many places in between lines pass through; counting stops where it is too many anyway. */
function passes(graph: Graph): number {
  const waves = new Map(graph.nodes.map((node) => [node.stage, node.wave ?? 0]));
  let sum = 0;
  for (const node of graph.nodes) {
    let last = 0;
    for (const next of node.unlocks) last = Math.max(last, waves.get(next) ?? 0);
    if (node.wave !== null) sum += Math.max(0, last - node.wave - 1);
  }
  return sum;
}

/** The band of the stages in no wave, with the reasons. */
function outside(graph: Graph, top: number): Drawn {
  const nodes = graph.nodes.filter((node) => node.wave === null);
  if (nodes.length === 0) return { width: 0, height: 0, body: () => '' };
  const cycles = graph.cycles.slice(0, 5).map((cycle) => round(cycle));
  const more = graph.cycles.length - cycles.length;
  if (more > 0) cycles.push(`and ${count(more, 'more cycle')}`);
  if (graph.unclear.length > 0) cycles.push(unclear(graph));
  const waves = [nodes.map((node) => node.stage)];
  return grid({ ...graph, nodes, waves }, 'in no wave', top, cycles);
}

/** The stages that wait for nobody knows what; of many the first. */
function unclear({ unclear: stages }: Graph): string {
  const shown = stages.length > 12 ? [...stages.slice(0, 12), '…'] : stages;
  return `depends-on cannot be read: ${shown.join(', ')}`;
}

/** `cycle: 2 ← 3 ← 2`; the middle of a long one is left out. */
function round(cycle: number[]): string {
  if (cycle.length === 1) return `stage ${cycle[0]} waits for itself`;
  const shown = cycle.length > 12 ? [...cycle.slice(0, 12), '…'] : cycle;
  return `cycle: ${[...shown, ...cycle.slice(0, 1)].join(' ← ')}`;
}

function legendOf(graph: Graph, top: number, width: number, lined: boolean): Drawn {
  const room = Math.floor((width - MARGIN * 2 - 48) / 7);
  const rows: string[] = [];
  const { critical_path: critical } = graph;
  const at = (row: number): number => top + 24 + row * 20;
  const put = (sample: string, text: string): void => {
    const y = at(rows.length);
    const x = sample ? 44 : 0;
    rows.push(
      `<g transform="translate(${MARGIN} ${n(y)})">${sample}<text x="${x}" y="4">${inert(cut(text, room))}</text></g>`,
    );
  };
  if (critical.stages.length > 0) {
    put(
      `<path class="critical" d="M0 0H36" stroke="${CRITICAL}" stroke-width="3.5"/>`,
      `critical path, ${critical.steps} of ${count(total(graph), 'step')}: ${critical.stages.slice(0, 200).join(' → ')}`,
    );
  }
  if (lined && graph.edges.length > 0) {
    put(
      '<path class="edge" d="M0 0H36" stroke="#69737f" stroke-width="1.5"/>',
      'leads to the stages that wait',
    );
  }
  if (!lined) put('', 'too large to draw with lines: ← names what a stage waits for');
  put('', facts(graph));
  return {
    width: 0,
    height: 24 + rows.length * 20 + 4,
    body: () => `<g class="legend">\n${rows.join('\n')}\n</g>`,
  };
}

function total(graph: Graph): number {
  return graph.nodes.reduce((sum, node) => sum + node.steps, 0);
}

function facts(graph: Graph): string {
  if (graph.nodes.length === 0) return 'no stages';
  const parts = [
    count(graph.nodes.length, 'stage'),
    count(graph.waves.length, 'wave'),
    count(total(graph), 'step'),
  ];
  const most = graph.waves[graph.widest_wave - 1]?.length ?? 0;
  if (most > 1)
    parts.push(`up to ${most.toLocaleString('en-US')} at once (wave ${graph.widest_wave})`);
  return parts.join(' · ');
}

function describe(graph: Graph, lined: boolean): string {
  const sentences = [`${facts(graph)}.`];
  const { critical_path: critical } = graph;
  if (critical.stages.length > 0) {
    sentences.push(
      `Critical path, ${count(critical.steps, 'step')}: ${critical.stages.slice(0, 200).join(', ')}.`,
    );
  }
  if (lined) {
    for (const [index, wave] of graph.waves.entries()) {
      sentences.push(
        `Wave ${index + 1}: ${wave.length > 1 ? 'stages' : 'stage'} ${wave.join(', ')}.`,
      );
    }
  }
  for (const cycle of graph.cycles.slice(0, 5))
    sentences.push(`Cycle: ${cycle.slice(0, 50).join(' waits for ')}.`);
  if (graph.unclear.length > 0) sentences.push(`${unclear(graph)}.`);
  return sentences.join(' ');
}
