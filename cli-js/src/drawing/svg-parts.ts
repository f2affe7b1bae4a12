import type { Node } from './graph.js';
import { clean, count, cut, wrap } from './text.js';

/** A part of the picture: its size, and its elements once the width of the picture is known. */
export interface Drawn {
  width: number;
  height: number;
  body: (width: number) => string;
}

/** Pixels round the picture. */
export const MARGIN = 16;
/** Pixels on the left for the labels of the bands. */
export const LABELS = 104;
/** The size of a stage's box in pixels. */
export const BOX = { width: 188, height: 62 };
/** The colour of the critical path on light paper. */
export const CRITICAL = '#b4470a';

/** A column of text is about so many pixels wide at font size 13. */
const COLUMN = 7.4;

/**
 * Only what differs on dark paper: light is in the attributes, so the picture keeps its colours
 * where a page forbids style elements.
 */
export const STYLE = [
  '@media (prefers-color-scheme: dark) {',
  '.okstra-graph { fill: #e6eaee }',
  '.okstra-graph .paper { fill: #14181d }',
  '.okstra-graph .band { fill: #1b2229 }',
  '.okstra-graph .band.odd { fill: #20282f }',
  '.okstra-graph .muted { fill: #a3afbb }',
  '.okstra-graph .edge { stroke: #8793a0 }',
  '.okstra-graph .head { fill: #8793a0 }',
  '.okstra-graph .head-critical { fill: #ffb057 }',
  '.okstra-graph .box { fill: #29323b; stroke: #8793a0 }',
  '.okstra-graph path.critical, .okstra-graph .box.critical { stroke: #ffb057 }',
  '.okstra-graph .box.stuck { stroke: #ff8a80 }',
  '.okstra-graph text.critical { fill: #ffb057 }',
  '.okstra-graph text.stuck { fill: #ff8a80 }',
  '}',
].join('\n');

/** Text inside XML. The text is cleaned before; this makes it inert. */
export function inert(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** A number with at most one decimal. */
export function n(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}

/** The coloured band of a wave with its label. */
export function band(
  index: number,
  label: string,
  note: string,
  top: number,
  height: number,
  width: number,
): string {
  const odd = index % 2 === 1;
  const stuck = label === 'in no wave';
  const color = stuck ? ' class="stuck" fill="#b3261e"' : '';
  return [
    `<rect class="band${odd ? ' odd' : ''}" y="${n(top)}" width="${n(width)}" height="${n(height)}" fill="${odd ? '#eaeef3' : '#f5f7fa'}"/>`,
    `<text x="${MARGIN}" y="${n(top + 30)}" font-weight="600"${color}>${label}</text>`,
    `<text class="muted" x="${MARGIN}" y="${n(top + 48)}" font-size="12" fill="#52606d">${note}</text>`,
  ].join('');
}

/**
 * The box of a stage with its upper left corner at `x`, `y`: number and title on two lines, steps
 * below; with `waits`, one line of title and what it waits for.
 */
export function box(stage: Node, x: number, y: number, waits = false): string {
  const title = clean(stage.title);
  const stuck = stage.wave === null;
  const kind = stage.critical ? ' critical' : stuck ? ' stuck' : '';
  const columns = Math.floor((BOX.width - 24) / COLUMN);
  // No break after the number, and room for the wider digits of its bold face.
  const label = `${stage.stage}\u00a0\u00a0${title}`;
  const lines = waits ? [cut(label, columns)] : wrap(label, columns, 2);
  const stroke = stage.critical
    ? `stroke="${CRITICAL}" stroke-width="3"`
    : stuck
      ? 'stroke="#b3261e" stroke-width="1.5" stroke-dasharray="5 3"'
      : 'stroke="#69737f" stroke-width="1.2"';
  const steps = `${count(stage.steps, 'step')}${stage.critical ? ' · critical' : ''}`;
  const shown = lines.map((line, index) => {
    const words = index === 0 ? line.slice(`${stage.stage}`.length).trim() : line;
    const number = index === 0 ? `<tspan font-weight="700">${stage.stage}</tspan> ` : '';
    return `<text x="12" y="${20 + index * 16}">${number}${inert(words)}</text>`;
  });
  if (waits && stage.waits_for.length > 0) {
    const from = `← ${stage.waits_for.slice(0, 40).join(', ')}`;
    shown.push(`<text x="12" y="36">${inert(cut(from, columns))}</text>`);
  }
  const full = `${stage.stage} ${title}: ${steps}${
    stage.waits_for.length > 0 ? `, waits for ${stage.waits_for.slice(0, 40).join(', ')}` : ''
  }`;
  const color = stage.critical
    ? `class="critical" fill="${CRITICAL}"`
    : 'class="muted" fill="#52606d"';
  return [
    `<g transform="translate(${n(x)} ${n(y)})"><title>${inert(full)}</title>`,
    `<rect class="box${kind}" width="${BOX.width}" height="${BOX.height}" rx="7" fill="#ffffff" ${stroke}/>`,
    ...shown,
    `<text x="12" y="53" font-size="11.5" ${color}>${steps}</text></g>`,
  ].join('');
}
