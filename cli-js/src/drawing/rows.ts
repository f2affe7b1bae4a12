import { paint } from './canvas.js';
import type { Node } from './graph.js';
import type { Look } from './look.js';
import { clean, columns, count, cut, pad } from './text.js';

/** Drawn columns in front of the rows; between two waves they have a row of their own. */
export interface Gutter {
  gutter: string[];
  /** How many columns it takes. */
  columns: number;
}

/** One line a stage: wave, gutter, number, title, steps, aligned in columns. */
export function stageRows(stages: Node[], look: Look, gutter: Gutter): string[] {
  const last = stages.reduce((most, node) => Math.max(most, node.wave ?? 0), 0);
  const waveColumn = `wave ${last}`.length;
  const rows = tabulate(stages, look.width - waveColumn - gutter.columns - 4, look);
  const lines: string[] = [];
  for (const [index, row] of rows.entries()) {
    const wave = stages[index]?.wave;
    const first = wave !== stages[index - 1]?.wave;
    if (first && index > 0) {
      lines.push(`${' '.repeat(waveColumn + 2)}${gutter.gutter[lines.length] ?? ''}`.trimEnd());
    }
    const label = paint(pad(first ? `wave ${wave}` : '', waveColumn), 'dim', look.color);
    lines.push(`${label}  ${pad(gutter.gutter[lines.length] ?? '', gutter.columns)}  ${row}`);
  }
  return lines;
}

/**
 * Number, title and steps of each stage in columns that together take at most `width`; with
 * `waits`, what the stage waits for stands behind them as far as there is room.
 */
export function tabulate(stages: Node[], width: number, look: Look, waits = false): string[] {
  const number = stages.reduce((most, node) => Math.max(most, `${node.stage}`.length), 0);
  const titles = stages.map((node) => clean(node.title));
  const widest = titles.reduce((most, title) => Math.max(most, columns(title)), 0);
  const long = stages.map((node) => count(node.steps, 'step'));
  // Where titles have to be cut, `3 st` leaves them three columns more than `3 steps`.
  const fits = number + widest + longestOf(long) + 4 + (waits ? 8 : 0) <= width;
  const amounts = fits ? long : stages.map((node) => `${node.steps} st`);
  const steps = longestOf(amounts);
  const room = Math.max(1, width - number - steps - 4);
  const longest = Math.min(room, widest);
  const most = Math.max(6, Math.min(Math.floor(room * 0.7), room - 10));
  const title = Math.min(longest, waits ? most : room);
  return stages.map((node, index) => {
    const style = node.critical ? 'critical' : 'plain';
    const name = pad(cut(titles[index] ?? '', title, look.signs.ellipsis), title);
    const amount = (amounts[index] ?? '').padStart(steps);
    const head = paint(`${`${node.stage}`.padStart(number)}  ${name}`, style, look.color);
    const free = width - number - title - steps - 6;
    const behind = waits ? waitsFor(node.waits_for, free, look) : '';
    return `${head}  ${paint(amount, 'dim', look.color)}${behind ? `  ${behind}` : ''}`;
  });
}

/** `← 1, 2 +3`: as many of the numbers as fit `width` columns, and how many are left out. */
function waitsFor(stages: number[], width: number, look: Look): string {
  if (stages.length === 0) return '';
  let text = look.signs.from;
  for (const [index, stage] of stages.entries()) {
    const next = `${text}${index === 0 ? ' ' : ', '}${stage}`;
    const left = stages.length - index - 1;
    const tail = left > 0 ? ` +${left}` : '';
    if (next.length + tail.length > width) {
      const rest = `${text} +${stages.length - index}`;
      return rest.length <= width ? rest : look.signs.from;
    }
    text = next;
  }
  return text;
}

function longestOf(texts: string[]): number {
  return texts.reduce((most, text) => Math.max(most, text.length), 0);
}
