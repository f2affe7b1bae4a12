/** Loaded by the first runs of a command, which keep compiled code for the next ones. */
export { begin, packed, serialized } from '../host/learning.js';
