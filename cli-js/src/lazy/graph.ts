/** Loaded for drawings only. */
export { drawSvg, drawTerminal } from '../drawing/index.js';
