/** Loaded for `--watch` only. */
export { watchFiles } from '../host/watch.js';
