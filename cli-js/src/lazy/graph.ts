/** Loaded for drawings only. */
import type { Graph } from '../../../npm-package/src/index.js';

export function drawTerminal(graph: Graph, _options: { width: number; color: boolean }): string {
  return graph.waves.map((wave, i) => `wave ${i + 1}: ${wave.join(', ')}`).join('\n');
}
export function drawSvg(_graph: Graph): string {
  return '<svg xmlns="http://www.w3.org/2000/svg"/>';
}
