import type { Graph } from './graph.js';
import { BOX, band, box, type Drawn, inert, LABELS, MARGIN, n } from './svg-parts.js';
import { count, cut } from './text.js';

/** Boxes side by side. */
const ACROSS = 6;
const GAP = 14;

/**
 * The waves as bands of boxes without lines; each box names what its stage waits for. Linear in
 * the number of stages. With a `label` the one wave is called that, and `remarks` stand above it.
 */
export function grid(graph: Graph, label?: string, top = 0, remarks: string[] = []): Drawn {
  const byNumber = new Map(graph.nodes.map((node) => [node.stage, node]));
  const across = graph.waves.reduce(
    (most, wave) => Math.max(most, Math.min(wave.length, ACROSS)),
    1,
  );
  const width = LABELS + across * (BOX.width + GAP) + MARGIN;
  const head = remarks.length * 18 + (remarks.length > 0 ? 8 : 0);
  const heights = graph.waves.map(
    (wave) => head + Math.ceil(wave.length / across) * (BOX.height + GAP) + GAP,
  );
  const body = (full: number): string => {
    const parts: string[] = [];
    let y = top;
    for (const [index, wave] of graph.waves.entries()) {
      const height = heights[index] ?? 0;
      parts.push(
        band(index, label ?? `wave ${index + 1}`, count(wave.length, 'stage'), y, height, full),
      );
      for (const [row, remark] of remarks.entries()) {
        const text = inert(cut(remark, Math.floor((full - LABELS) / 7.4)));
        parts.push(
          `<text class="stuck" x="${LABELS}" y="${n(y + 24 + row * 18)}" fill="#b3261e">${text}</text>`,
        );
      }
      for (const [place, stage] of wave.entries()) {
        const node = byNumber.get(stage);
        const x = LABELS + (place % across) * (BOX.width + GAP);
        const down = y + head + GAP + Math.floor(place / across) * (BOX.height + GAP);
        if (node) parts.push(box(node, x, down, true));
      }
      y += height;
    }
    return parts.join('\n');
  };
  return { width, height: heights.reduce((sum, height) => sum + height, 0), body };
}
