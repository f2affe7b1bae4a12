/** Loaded by commands that look at panes. */
export { tmux } from '../host/tmux.js';
