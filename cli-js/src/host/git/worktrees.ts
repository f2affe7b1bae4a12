/** The worktrees of a repository as git lists them. */
import { isAbsolute, resolve } from 'node:path';
import { realPath } from '../paths.js';
import type { Worktree } from './git.js';
import { failed, insist, parts } from './run.js';

/** See {@link Git.worktrees}. */
export async function worktrees(folder: string): Promise<Worktree[]> {
  const args = ['worktree', 'list', '--porcelain', '-z'];
  const ran = await insist(folder, args);
  if (ran.status !== 0) throw failed(folder, args, ran);
  return parseWorktrees(ran.stdout.toString());
}

/** Each is a run of attributes, one NUL after each and one more after the last. */
export function parseWorktrees(text: string): Worktree[] {
  const found: Worktree[] = [];
  for (const attribute of parts(text)) {
    const [, name = '', value = ''] = /^(\S+)(?: ([\s\S]*))?$/.exec(attribute) ?? [];
    if (name === 'worktree') {
      found.push({
        path: isAbsolute(value) ? resolve(value) : value,
        head: undefined,
        branch: null,
        bare: false,
        locked: undefined,
        prunable: undefined,
      });
    }
    const last = found.at(-1);
    if (last === undefined) continue;
    // A head of zeros is one that has no commit yet or cannot be read.
    if (name === 'HEAD' && !/^0+$/.test(value)) last.head = value;
    if (name === 'branch') last.branch = value.replace(/^refs\/heads\//, '');
    if (name === 'bare') last.bare = true;
    if (name === 'locked') last.locked = value;
    if (name === 'prunable') last.prunable = value;
  }
  return found;
}

/** The worktree at a path, of those that git lists. */
export function worktreeAt(all: readonly Worktree[], path: string): Worktree | undefined {
  const wanted = realPath(path);
  return all.find((entry) => entry.path === path || realPath(entry.path) === wanted);
}

/** What git locks a worktree with while it makes it. */
export function isHalf(entry: Worktree): boolean {
  return entry.locked === 'initializing';
}
