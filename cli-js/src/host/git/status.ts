/** What is not committed. */
import type { Status } from './git.js';
import { ask, parts } from './run.js';

/** See {@link Git.status}. */
export async function status(folder: string, ignore: readonly string[] = []): Promise<Status> {
  const names = ignore.map((path) => path.replace(/\/+$/, ''));
  // Without a name, git would leave out everything.
  const left = names.filter((name) => name !== '').map((name) => `:(exclude,literal)${name}`);
  const paths = left.length === 0 ? [] : ['--', ':(top)', ...left];
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=normal'];
  return parseStatus(await ask(folder, [...args, '--ignore-submodules=none', ...paths]));
}

/** Reads `git status --porcelain=v2 -z`. */
export function parseStatus(text: string): Status {
  const found: Status = {
    clean: text === '',
    staged: [],
    changed: [],
    untracked: [],
    conflicted: [],
    submodules: [],
  };
  const entries = parts(text);
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] ?? '';
    const [kind = '', state = '', submodule = ''] = entry.split(' ', 3);
    const path = after(entry, FIELDS[kind] ?? 1);
    if (kind === '?') found.untracked.push(path);
    else if (kind === 'u') found.conflicted.push(path);
    else if (kind === '1' || kind === '2') {
      if (!state.startsWith('.')) found.staged.push(path);
      if (!state.endsWith('.')) found.changed.push(path);
      // The path that it was renamed from comes as an entry of its own.
      if (kind === '2') i += 1;
    }
    if (submodule.startsWith('S') && kind !== '?') found.submodules.push(path);
  }
  return found;
}

/** How many fields stand before the path. */
const FIELDS: Record<string, number> = { '1': 8, '2': 9, u: 10, '?': 1 };

/** What follows so many fields; it may hold spaces itself. */
function after(entry: string, fields: number): string {
  let at = 0;
  for (let i = 0; i < fields; i++) at = entry.indexOf(' ', at) + 1;
  return entry.slice(at);
}

/** All paths that are not committed, once each. */
export function dirty({ staged, changed, untracked, conflicted }: Status): string[] {
  return [...new Set([...conflicted, ...staged, ...changed, ...untracked])];
}
