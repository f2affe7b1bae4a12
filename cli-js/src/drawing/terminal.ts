import { drawBoxes } from './boxes.js';
import { paint, type Style } from './canvas.js';
import type { Graph } from './graph.js';
import { drawLanes } from './lanes.js';
import { drawList, listRows } from './list.js';
import { type Look, look as lookOf, type TerminalOptions } from './look.js';
import { columns, count } from './text.js';

/** The most lines that the stages of the critical path or of one cycle take. */
const PATH_LINES = 3;
/** The most cycles that are named. */
const MOST_CYCLES = 10;

/**
 * Draws a stage graph for a terminal, every line within `width`; the text ends with a line end.
 *
 * Three forms, the first that reads well: boxes by wave with lines between them (small graphs),
 * one line a stage with the lines beside it (more stages or a narrow terminal), a list a wave that
 * names what each stage waits for (large graphs). Below stand the stages that are in no wave and
 * why, the totals and the critical path.
 */
export function drawTerminal(graph: Graph, options: TerminalOptions): string {
  if (graph.nodes.length === 0) return 'no stages\n';
  const look = lookOf(options);
  const picture = drawBoxes(graph, look) ?? drawLanes(graph, look);
  const parts = [
    picture ?? (graph.waves.length > 0 ? drawList(graph, look) : []),
    stuck(graph, look),
    totals(graph, look, picture === undefined && graph.waves.length > 0),
  ];
  return parts
    .filter((part) => part.length > 0)
    .map((part) => `${part.join('\n')}\n`)
    .join('\n');
}

/** What no wave can hold: cycles, stages that wait for nobody knows what, and those behind. */
function stuck(graph: Graph, look: Look): string[] {
  const nodes = graph.nodes.filter((node) => node.wave === null);
  if (nodes.length === 0) return [];
  const title = `in no wave ${look.signs.dot} ${count(nodes.length, 'stage')}`;
  const lines = [paint(title, 'warn', look.color)];
  for (const cycle of graph.cycles.slice(0, MOST_CYCLES)) {
    if (cycle.length === 1) {
      lines.push(paint(`  stage ${cycle[0]} waits for itself`, 'warn', look.color));
      continue;
    }
    const stages = [...cycle, ...cycle.slice(0, 1)];
    const head = '  cycle, each waits for the next: ';
    lines.push(...path(head, stages, look.signs.from, 'warn', look));
  }
  const more = graph.cycles.length - MOST_CYCLES;
  if (more > 0) lines.push(`  and ${count(more, 'more cycle')}`);
  if (graph.unclear.length > 0) {
    lines.push(...path('  depends-on cannot be read: ', graph.unclear, ',', 'warn', look));
  }
  return [...lines, ...listRows(nodes, look)];
}

/** The totals, the critical path, and what the signs mean where that is not plain. */
function totals(graph: Graph, look: Look, list: boolean): string[] {
  const lines: string[] = [];
  const { widest_wave: widest, critical_path: critical } = graph;
  const steps = graph.nodes.reduce((sum, node) => sum + node.steps, 0);
  const facts = [count(graph.nodes.length, 'stage'), count(graph.waves.length, 'wave')];
  facts.push(count(steps, 'step'));
  const most = graph.waves[widest - 1]?.length ?? 0;
  if (most > 1) facts.push(`up to ${most.toLocaleString('en-US')} at once (wave ${widest})`);
  lines.push(...flow(facts, ` ${look.signs.dot} `, '', look));
  if (critical.stages.length > 0) {
    const head = list ? look.signs.critical : look.signs.thick;
    const share = `${critical.steps.toLocaleString('en-US')} of ${count(steps, 'step')}`;
    lines.push(
      ...path(
        `${head} critical path, ${share}: `,
        critical.stages,
        look.signs.onward,
        'critical',
        look,
      ),
    );
  }
  if (list) {
    const why = `too large to draw with lines: ${look.signs.from} names what a stage waits for`;
    lines.push(
      ...flow(why.split(' '), ' ', '', look).map((line) => paint(line, 'dim', look.color)),
    );
  }
  return lines;
}

/** A chain of stages over at most a few lines; what is left out is counted. */
function path(head: string, stages: number[], sign: string, style: Style, look: Look): string[] {
  const room = look.width * PATH_LINES - head.length - 24;
  const pieces = stages.map((stage, index) => (index > 0 ? `${sign} ${stage}` : `${stage}`));
  let used = 0;
  let kept = 0;
  while (kept < pieces.length && used < room) used += (pieces[kept++]?.length ?? 0) + 1;
  // What stands for a few stages would take the room they take.
  if (pieces.length - kept <= 3) kept = pieces.length;
  const left = pieces.length - kept;
  const shown =
    left > 0
      ? [...pieces.slice(0, kept), `${look.signs.ellipsis} ${count(left, 'more stage')}`]
      : pieces;
  const indent = /^ */.exec(head)?.[0] ?? '';
  const words = [...head.trim().split(' '), ...shown];
  return flow(words, ' ', indent, look).map((line) => paint(line, style, look.color));
}

/** Pieces joined by `between`, broken before a piece that would pass the width. */
function flow(pieces: string[], between: string, indent: string, look: Look): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
    const next = line ? `${line}${between}${piece}` : `${indent}${piece}`;
    if (line && columns(next) > look.width) {
      lines.push(line);
      line = `${indent}${line === lines[0] || lines.length > 0 ? '  ' : ''}${piece}`;
    } else line = next;
  }
  return [...lines, line];
}
