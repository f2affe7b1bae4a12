/** Loaded where a person is asked in the terminal. */
export { prompts } from '../host/prompts.js';
