import { Canvas, DOWN, type Style, type Weight } from './canvas.js';
import type { Graph, Node } from './graph.js';
import { crowd, type Item, type Layered, type Link, layOut } from './layered.js';
import type { Look } from './look.js';
import { type Channel, type Net, route } from './route.js';
import { clean, columns, count, wrap } from './text.js';

/** Widths of boxes that are tried, widest first; odd, so that a box has a middle column. */
const CAPS = [33, 29, 25, 21, 19, 17, 15, 13];
const NARROWEST = 13;
/** More than so many stages or crossings read better in another form. */
const MOST_STAGES = 24;
const MOST_CROSSINGS = 14;
const TITLE_LINES = 3;

/**
 * The graph as boxes, one row of boxes a wave, or `undefined` when it does not fit the width or
 * would be a tangle. Widest boxes first; a layout that fits without squeezing wins.
 */
export function drawBoxes(graph: Graph, look: Look): string[] | undefined {
  const stages = graph.waves.reduce((sum, wave) => sum + wave.length, 0);
  if (stages === 0 || stages > MOST_STAGES) return undefined;
  const margin = `wave ${graph.waves.length}`.length + 2;
  const room = look.width - margin;
  const crowded = crowd(graph);
  let squeezed: { layout: Layered; channels: Channel[] } | undefined;
  for (const cap of CAPS) {
    const gap = cap <= 15 ? 1 : 2;
    const limits = crowded.map((row) => {
      const free = room - row.passes - (row.stages + row.passes - 1) * gap;
      const limit = Math.min(cap, Math.floor(free / row.stages));
      return limit - (1 - (limit % 2));
    });
    if (limits.some((limit) => limit < NARROWEST)) continue;
    const box = (stage: Node): number => boxWidth(stage, limits[(stage.wave ?? 1) - 1] ?? cap);
    const layout = layOut(graph, { box, pass: 1, gap });
    const fits = layout.width <= room;
    if (!settle(layout, room, gap)) continue;
    const channels = connect(layout);
    if (!channels || channels.some((channel) => channel.clash)) continue;
    if (channels.reduce((sum, channel) => sum + channel.crossings, 0) > MOST_CROSSINGS) continue;
    if (fits) return render(layout, channels, margin, look);
    squeezed ??= { layout, channels };
  }
  return squeezed && render(squeezed.layout, squeezed.channels, margin, look);
}

function boxWidth(stage: Node, cap: number): number {
  const wanted = Math.max(
    columns(clean(stage.title)) + 4,
    heading(stage, 99).length + 4,
    NARROWEST,
  );
  return Math.min(cap, wanted + (1 - (wanted % 2)));
}

/** The number and the steps of a stage, as they stand in the upper border of its box. */
function heading(stage: Node, width: number, dot = '·'): string {
  const full = `${stage.stage} ${dot} ${count(stage.steps, 'step')}`;
  for (const head of [` ${full} `, ` ${full}`, full]) if (head.length <= width) return head;
  return ` ${stage.stage} ${dot} ${stage.steps} st `.slice(0, width);
}

/** Rounds positions to columns and moves what stands too far right or too close. */
function settle(layout: Layered, room: number, gap: number): boolean {
  const squeeze = layout.width > room ? (room - 1) / layout.width : 1;
  for (const row of layout.rows) {
    const needed = row.reduce((sum, item) => sum + item.width, 0) + (row.length - 1) * gap;
    if (needed > room) return false;
    let free = 0;
    for (const item of row) {
      const left = Math.max(Math.round(item.x * squeeze - item.width / 2), free);
      item.x = left + (item.width - 1) / 2;
      free = left + item.width + gap;
    }
    let limit = room;
    for (const item of [...row].reverse()) {
      const left = Math.min(item.x - (item.width - 1) / 2, limit - item.width);
      item.x = left + (item.width - 1) / 2;
      limit = left - gap;
    }
  }
  return true;
}

function connect(layout: Layered): Channel[] | undefined {
  const channels: Channel[] = [];
  for (let row = 0; row + 1 < layout.rows.length; row++) {
    const links = layout.links.filter((link) => link.from.row === row);
    const ports = enter(layout.rows[row + 1] ?? [], links);
    if (!ports) return undefined;
    const nets = new Map<Item, Net>();
    for (const link of links) {
      const net = nets.get(link.from) ?? {
        owner: link.from.net,
        from: link.from.x,
        to: [],
        track: -1,
      };
      nets.set(link.from, net);
      net.to.push({
        column: ports.get(link) ?? link.to.x,
        critical: link.critical,
        arrow: link.to.stage !== undefined,
      });
    }
    channels.push(route([...nets.values()]));
  }
  return channels;
}

/** The column in which each line enters its box: straight below its start where that is possible. */
function enter(row: Item[], links: Link[]): Map<Link, number> | undefined {
  const result = new Map<Link, number>();
  const starts = new Set(links.map((link) => link.from.x));
  for (const box of row) {
    if (!box.stage) continue;
    const coming = links.filter((link) => link.to === box).sort((a, b) => a.from.x - b.from.x);
    const half = (box.width - 1) / 2;
    const [first, last] = [box.x - half + 1, box.x + half - 1];
    const lay = (apart: number): number[] | undefined => {
      const chosen: number[] = [];
      for (const [index, link] of coming.entries()) {
        const spread = Math.round(first + ((index + 0.5) * (last - first)) / coming.length);
        const inside = link.from.x > first && link.from.x < last;
        let column = inside ? link.from.x : spread;
        const before = chosen[index - 1];
        if (before !== undefined) column = Math.max(column, before + apart);
        while (column !== link.from.x && starts.has(column)) column++;
        chosen.push(column);
      }
      let limit = last;
      for (let index = chosen.length - 1; index >= 0; index--) {
        const from = coming[index]?.from.x;
        let column = Math.min(chosen[index] ?? 0, limit);
        while (column !== from && starts.has(column)) column--;
        if (column < first) return undefined;
        chosen[index] = column;
        limit = column - apart;
      }
      return chosen;
    };
    const chosen = lay(3) ?? lay(2) ?? lay(1);
    if (!chosen) return undefined;
    for (const [index, link] of coming.entries()) result.set(link, chosen[index] ?? box.x);
  }
  return result;
}

function render(layout: Layered, channels: Channel[], margin: number, look: Look): string[] {
  const canvas = new Canvas(look.ascii);
  let top = 0;
  for (const [index, row] of layout.rows.entries()) {
    const titles = new Map<Item, string[]>();
    for (const item of row) {
      if (!item.stage) continue;
      titles.set(
        item,
        wrap(clean(item.stage.title), item.width - 4, TITLE_LINES, look.signs.ellipsis),
      );
    }
    const height = Math.max(1, ...[...titles.values()].map((lines) => lines.length)) + 2;
    const bottom = top + height - 1;
    canvas.text(0, top + 1, `wave ${index + 1}`, 'dim');
    for (const item of row) {
      if (item.stage)
        drawBox(canvas, item, item.stage, titles.get(item) ?? [], { margin, top, height, look });
      else {
        const thick = layout.links.some((link) => link.from === item && link.critical);
        const weight = thick ? 2 : 1;
        canvas.down(margin + item.x, top, bottom, weight, item.net);
      }
    }
    top = bottom + 1;
    const channel = channels[index];
    if (channel) top = drawChannel(canvas, channel, margin, top, look);
  }
  return canvas.lines(look.color);
}

function drawBox(
  canvas: Canvas,
  item: Item,
  stage: Node,
  title: string[],
  { margin, top, height, look }: { margin: number; top: number; height: number; look: Look },
): void {
  const left = margin + item.x - (item.width - 1) / 2;
  const style: Style = stage.critical ? 'critical' : 'plain';
  canvas.box(left, top, item.width, height, stage.critical ? 2 : 1, stage.stage);
  canvas.text(left + 1, top, heading(stage, item.width - 2, look.signs.dot), style);
  for (const [line, text] of title.entries()) canvas.text(left + 2, top + 1 + line, text, 'plain');
}

function drawChannel(
  canvas: Canvas,
  channel: Channel,
  margin: number,
  top: number,
  look: Look,
): number {
  const arrows = top + channel.tracks;
  const weigh = (critical: boolean): Weight => (critical ? 2 : 1);
  // Across first, down second: where two lines cross, the one that goes across is interrupted.
  for (const net of channel.nets) {
    for (const end of net.to) {
      if (end.column === net.from) continue;
      canvas.across(
        top + net.track,
        margin + net.from,
        margin + end.column,
        weigh(end.critical),
        net.owner,
      );
    }
  }
  for (const net of channel.nets) {
    const thick = weigh(net.to.some((end) => end.critical));
    const from = margin + net.from;
    canvas.port(from, top - 1, DOWN, thick);
    const turn = net.track < 0 ? arrows : top + net.track;
    canvas.down(from, top, turn - 1, thick, net.owner);
    if (net.track >= 0) canvas.arm(from, turn, 0, thick, net.owner);
    for (const end of net.to) {
      const column = margin + end.column;
      if (net.track >= 0) {
        canvas.arm(column, turn, DOWN, weigh(end.critical), net.owner);
        canvas.down(column, turn + 1, arrows - 1, weigh(end.critical), net.owner);
      }
      if (end.arrow)
        canvas.text(column, arrows, look.signs.head, end.critical ? 'critical' : 'plain');
      else canvas.down(column, arrows, arrows, weigh(end.critical), net.owner);
    }
  }
  return arrows + 1;
}
