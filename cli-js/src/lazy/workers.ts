/** Loaded by commands that look after workers. */
export { workers } from '../host/workers.js';
