/** Loaded by commands that work with branches, worktrees and pull requests. */
export { gh } from '../host/gh.js';
export { git } from '../host/git/index.js';
