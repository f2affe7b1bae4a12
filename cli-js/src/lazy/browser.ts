/** Loaded where a browser is opened. */
export { show } from '../host/serving/browser.js';
