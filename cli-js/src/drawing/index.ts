export type { Graph } from './graph.js';
export type { TerminalOptions } from './look.js';
export { drawSvg, type SvgOptions } from './svg.js';
export { drawTerminal } from './terminal.js';
