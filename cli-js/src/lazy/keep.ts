/** What keeps compiled code, for those that do enough for it to matter. */
export { keepCode } from '../host/code-cache.js';
