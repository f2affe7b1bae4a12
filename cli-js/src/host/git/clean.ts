/** Taking away what was left of a worktree whose making was killed. */
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../host.js';
import type { Cleaned, NewWorktree } from './git.js';
import { checkBranch, checkCommits } from './names.js';
import { branchAt, repository } from './repository.js';
import { failed, sleep } from './run.js';
import { unlinkSyncDirs } from './sync.js';
import { dropBare, isStale, isThere, takeBranch, takeUnfinished, takeWorktree } from './take.js';
import { isAtWork } from './work.js';
import { isHalf, worktreeAt, worktrees } from './worktrees.js';

/** How long to wait for a git that outlived whoever started it, in milliseconds. */
const PATIENCE = 10_000;

/** See {@link Git.cleanHalf}. */
export async function cleanHalf(half: NewWorktree & { force?: boolean }): Promise<Cleaned> {
  checkBranch(half.branch);
  checkCommits(half.base);
  const found = await repository(half.repository);
  if (found === undefined) {
    throw new HostError('missing', half.repository, 'no repository of git', 'check the path');
  }
  await untilIdle(half);
  if (half.links !== undefined) {
    unlinkSyncDirs(half.links.project, half.links.worktree, half.links.dirs);
  }
  const cleaned: Cleaned = { removed: [], kept: [] };
  if (await takeUnfinished(found.commonDir, half.path)) cleaned.removed.push('entry');
  await cleanWorktree(half, cleaned);
  await cleanBranch(half, found.commonDir, cleaned);
  return cleaned;
}

/** A killed process does not take the git it started with it. */
async function untilIdle({ path, branch }: NewWorktree): Promise<void> {
  for (let waited = 0; isAtWork(path, `refs/heads/${branch}`); waited += 50) {
    if (waited >= PATIENCE) {
      const help = 'try again when it has ended; where it hangs, end it';
      throw new HostError('locked', path, 'a git is at work here', help);
    }
    await sleep(50);
  }
}

async function cleanWorktree(
  { repository: folder, path, branch, force = false }: NewWorktree & { force?: boolean },
  cleaned: Cleaned,
): Promise<void> {
  const all = await worktrees(folder);
  const entry = worktreeAt(all, path);
  if (entry === undefined) {
    if (!isThere(path)) return;
    if (dropBare(path)) cleaned.removed.push('folder');
    else cleaned.kept.push({ what: path, why: 'a folder that is no worktree of git' });
    return;
  }
  if (entry.locked !== undefined && !isHalf(entry)) {
    cleaned.kept.push({ what: path, why: `locked: ${entry.locked || 'without a reason'}` });
    return;
  }
  // One that has no head yet is of nobody else: what made it has ended.
  if (entry.branch !== branch && !(isHalf(entry) && entry.head === undefined)) {
    cleaned.kept.push({ what: path, why: `a worktree on ${entry.branch ?? 'a detached head'}` });
    return;
  }
  const refusal = await takeWorktree(folder, entry, force);
  if (refusal === undefined) cleaned.removed.push('worktree');
  else
    cleaned.kept.push({ what: path, why: failed(path, ['worktree', 'remove'], refusal).message });
}

async function cleanBranch(
  { repository: folder, branch, base, force = false }: NewWorktree & { force?: boolean },
  commonDir: string,
  cleaned: Cleaned,
): Promise<void> {
  // Nobody else writes this branch, so nobody else's lock can lie there.
  const lock = join(commonDir, 'refs/heads', `${branch}.lock`);
  if (await isStale(lock)) unlinkSync(lock);
  const at = await branchAt(folder, branch);
  if (at === undefined) return;
  const holder = (await worktrees(folder)).find((entry) => entry.branch === branch);
  if (holder !== undefined) {
    cleaned.kept.push({ what: branch, why: `held by the worktree ${holder.path}` });
  } else if (at !== base && !force) {
    cleaned.kept.push({ what: branch, why: `at ${at.slice(0, 12)}, not at its base any more` });
  } else if (await takeBranch(folder, branch, at)) {
    cleaned.removed.push('branch');
  } else {
    cleaned.kept.push({ what: branch, why: 'it moved meanwhile' });
  }
}
