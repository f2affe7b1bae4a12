/** Merging into a worktree. */
import { HostError } from '../host.js';
import type { GitRun, Merge, Merged } from './git.js';
import { identity } from './identity.js';
import { checkCommits } from './names.js';
import { ask, failed, insist, parts, run } from './run.js';

/**
 * What the person may have set otherwise and a merge for a base must not depend on: the forecast
 * uses the same strategy.
 */
const HOW = ['--no-ff', '--no-edit', '--no-log', '--no-stat', '--no-squash', '--commit'];
const SAFE = ['--no-autostash', '--no-rerere-autoupdate', '--strategy=ort'];

/** See {@link Git.mergeInto}. */
export async function mergeInto(
  worktree: string,
  { commits, message, leaveOpen = false }: Merge,
): Promise<Merged> {
  checkCommits(...commits);
  const start = await headOf(worktree);
  const env = commits.length === 0 ? {} : await identity(worktree);
  for (const [i, against] of commits.entries()) {
    const args = ['merge', ...HOW, ...SAFE, '-m', message(against), against];
    const ran = await insist(worktree, args, { env });
    if (ran.status === 0) continue;
    const files = await conflicted(worktree);
    const open = leaveOpen && files.length > 0;
    if (!open) await restore(worktree, start);
    if (files.length === 0) throw refused(worktree, args, ran);
    return { merged: false, files, against, open, remaining: commits.slice(i + 1) };
  }
  return { merged: true, head: await headOf(worktree) };
}

async function headOf(worktree: string): Promise<string> {
  return (await ask(worktree, ['rev-parse', '--verify', 'HEAD'])).trim();
}

async function conflicted(worktree: string): Promise<string[]> {
  const args = ['diff', '--name-only', '--diff-filter=U', '-z'];
  return parts(await ask(worktree, args));
}

/** As it was before the first merge. Changes of the person would make git refuse. */
async function restore(worktree: string, start: string): Promise<void> {
  const merging = await run(worktree, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD']);
  if (merging.status === 0) await ask(worktree, ['merge', '--abort']);
  if ((await headOf(worktree)) !== start)
    await ask(worktree, ['reset', '--quiet', '--keep', start]);
}

function refused(worktree: string, args: readonly string[], ran: GitRun): HostError {
  if (/would be overwritten by merge/.test(ran.stderr)) {
    const message = 'changes that are not committed are in the way of a merge';
    return new HostError('refused', worktree, message, 'commit or discard them');
  }
  return failed(worktree, args, ran);
}
