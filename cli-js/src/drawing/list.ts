import { paint } from './canvas.js';
import type { Graph, Node } from './graph.js';
import { inOrder } from './lanes.js';
import type { Look } from './look.js';
import { tabulate } from './rows.js';
import { count } from './text.js';

/**
 * The graph as a list: a heading a wave, a line a stage that names what it waits for. Linear in
 * the number of stages; the form for graphs whose lines nobody could follow.
 */
export function drawList(graph: Graph, look: Look): string[] {
  const rows = listRows(inOrder(graph), look);
  const lines: string[] = [];
  let next = 0;
  for (const [index, wave] of graph.waves.entries()) {
    if (index > 0) lines.push('');
    const heading = `wave ${index + 1} ${look.signs.dot} ${count(wave.length, 'stage')}`;
    lines.push(paint(heading, 'strong', look.color));
    for (const end = next + wave.length; next < end; next++) lines.push(rows[next] ?? '');
  }
  return lines;
}

/** A line a stage: mark, number, title, steps, what it waits for. */
export function listRows(stages: Node[], look: Look): string[] {
  const rows = tabulate(stages, look.width - 4, look, true);
  return rows.map((row, index) => {
    const node = stages[index];
    if (!node) return '';
    const sign = node.critical ? look.signs.critical : look.signs.stage;
    return `  ${paint(sign, node.critical ? 'critical' : 'plain', look.color)} ${row}`;
  });
}
