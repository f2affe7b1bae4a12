/** Loaded by commands that start containers. */
export { engine } from '../host/engine.js';
