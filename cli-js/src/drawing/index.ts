/** The drawings of a stage graph: pure functions from the graph to text, for Node and browsers. */
export { drawSvg } from './svg.js';
export { drawTerminal } from './terminal.js';
