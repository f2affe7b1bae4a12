import type { Graph } from './graph.js';
import { type Item, type Link, layOut } from './layered.js';
import { BOX, band, box, CRITICAL, type Drawn, LABELS, MARGIN, n } from './svg-parts.js';
import { count } from './text.js';

/** Pixels above and below the boxes of a band. */
const AIR = 34;
const ROW = BOX.height + AIR * 2;

/** A wider picture than this is no picture any more. */
const WIDEST = 6000;

/**
 * The waves as bands with the boxes that dagre ordered and a curve for every dependency;
 * `undefined` when that would be too wide to look at.
 */
export function layers(graph: Graph, id: string): Drawn | undefined {
  const layout = layOut(graph, { box: () => BOX.width, pass: 6, gap: 26 });
  if (layout.width > WIDEST) return undefined;
  const body = (full: number): string => {
    const shift = LABELS + Math.max(0, (full - LABELS - MARGIN - layout.width) / 2);
    const parts: string[] = [];
    for (const [index, wave] of graph.waves.entries()) {
      parts.push(
        band(index, `wave ${index + 1}`, count(wave.length, 'stage'), index * ROW, ROW, full),
      );
    }
    const edges = edgesOf(graph, layout.links, shift);
    const draw = (critical: boolean): void => {
      const kind = critical ? 'critical' : 'edge';
      const look = critical
        ? `stroke="${CRITICAL}" stroke-width="3.5"`
        : 'stroke="#69737f" stroke-width="1.5"';
      const arrow = critical ? 'head-critical' : 'head';
      const paths = edges.filter((edge) => edge.critical === critical);
      if (paths.length === 0) return;
      parts.push('<g fill="none">');
      for (const edge of paths) {
        parts.push(
          `<path class="${kind}" d="${edge.path}" ${look} marker-end="url(#${id}-${arrow})"/>`,
        );
      }
      parts.push('</g>');
    };
    draw(false);
    draw(true);
    for (const item of layout.rows.flat()) {
      if (item.stage)
        parts.push(box(item.stage, shift + item.x - BOX.width / 2, item.row * ROW + AIR));
    }
    return parts.join('\n');
  };
  return { width: LABELS + layout.width + MARGIN, height: graph.waves.length * ROW, body };
}

/** One curve a dependency: from the middle below its stage, past the waves between, to its port. */
function edgesOf(
  graph: Graph,
  links: Link[],
  shift: number,
): { path: string; critical: boolean }[] {
  const into = new Map<Item, Link[]>();
  const first = new Map<number, Item>();
  const pass = new Map<string, Item>();
  const target = new Map<number, Item>();
  for (const link of links) {
    if (link.from.stage) first.set(link.from.net, link.from);
    if (link.to.stage) {
      target.set(link.to.net, link.to);
      const list = into.get(link.to) ?? [];
      into.set(link.to, list);
      list.push(link);
    } else pass.set(`${link.to.net} ${link.to.row}`, link.to);
  }
  const port = new Map<string, number>();
  for (const [item, list] of into) {
    list.sort((a, b) => a.from.x - b.from.x || a.from.net - b.from.net);
    const apart = Math.min(22, (BOX.width - 40) / Math.max(1, list.length - 1));
    for (const [index, link] of list.entries()) {
      port.set(`${link.from.net} ${item.net}`, item.x + (index - (list.length - 1) / 2) * apart);
    }
  }
  const result: { path: string; critical: boolean }[] = [];
  for (const edge of graph.edges) {
    const [from, to] = [first.get(edge.depends_on), target.get(edge.stage)];
    if (!from || !to || to.row <= from.row) continue;
    let x = shift + from.x;
    let y = from.row * ROW + AIR + BOX.height;
    let path = `M${n(x)} ${n(y)}`;
    const bend = (nextX: number, nextY: number): void => {
      const half = (nextY - y) / 2;
      path +=
        x === nextX
          ? `V${n(nextY)}`
          : `C${n(x)} ${n(y + half)} ${n(nextX)} ${n(nextY - half)} ${n(nextX)} ${n(nextY)}`;
      [x, y] = [nextX, nextY];
    };
    for (let row = from.row + 1; row < to.row; row++) {
      const between = pass.get(`${edge.depends_on} ${row}`);
      if (!between) continue;
      bend(shift + between.x, row * ROW + AIR);
      y += BOX.height;
      path += `V${n(y)}`;
    }
    bend(shift + (port.get(`${edge.depends_on} ${edge.stage}`) ?? to.x), to.row * ROW + AIR - 1);
    result.push({ path, critical: edge.critical });
  }
  return result;
}
