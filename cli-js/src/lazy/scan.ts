/** Loaded by commands that read session files. */
export { readStart, scanLines } from '../host/scan.js';
