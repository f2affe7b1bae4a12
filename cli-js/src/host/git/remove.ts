/** Removing a worktree that was worked in, and the branch that was made with it. */
import { sep } from 'node:path';
import { HostError } from '../host.js';
import { realPath } from '../paths.js';
import type { GitRun, OldWorktree, Removed, Worktree } from './git.js';
import { checkBranch } from './names.js';
import { branchAt } from './repository.js';
import { ask, failed } from './run.js';
import { dirty, status } from './status.js';
import { linkSyncDirs, unlinkSyncDirs } from './sync.js';
import { dropBare, isThere, takeBranch, takeWorktree } from './take.js';
import { isHalf, worktreeAt, worktrees } from './worktrees.js';

/** See {@link Git.removeWorktree}. */
export async function removeWorktree(what: OldWorktree): Promise<Removed> {
  const { repository: folder, path, branch, force = false } = what;
  if (branch !== undefined) checkBranch(branch);
  refuseInside(path, folder);
  const [all, at] = await Promise.all([
    worktrees(folder),
    branch === undefined ? undefined : branchAt(folder, branch),
  ]);
  const entry = worktreeAt(all, path);
  const holder = all.find((other) => other !== entry && other.branch === branch);
  if (branch !== undefined && holder !== undefined) {
    const help = 'name the worktree that the branch belongs to';
    throw new HostError('refused', path, `branch ${branch} is held by ${holder.path}`, help);
  }
  // Everything that could refuse comes before the first thing that is taken away.
  if (entry !== undefined) refuseLocked(entry);
  if (!force) {
    const detached = entry?.branch === null ? entry.head : undefined;
    await Promise.all([
      refuseLost(folder, branch, [detached, at], path),
      entry !== undefined && isThere(path) ? refuseDirty(what) : undefined,
    ]);
  }
  const worktree = await take(what, entry);
  if (branch === undefined || at === undefined) return { worktree, branch: undefined };
  // The branch goes last: a worktree without its branch could not be told from a foreign one.
  if (!(await takeBranch(folder, branch, at))) {
    const help = `the worktree is gone; look at it: \`git log ${branch}\``;
    throw new HostError('refused', path, `branch ${branch} got new commits meanwhile`, help);
  }
  return { worktree, branch: at };
}

/** A shell whose folder vanishes can do nothing any more. */
function refuseInside(path: string, folder: string): void {
  const here = realPath(process.cwd());
  const gone = realPath(path);
  if (here !== gone && !here.startsWith(gone + sep)) return;
  const help = `leave it first: \`cd ${realPath(folder)}\``;
  throw new HostError('refused', path, 'the current folder is inside', help);
}

function refuseLocked(entry: Worktree): void {
  if (entry.locked === undefined || isHalf(entry)) return;
  const why = entry.locked === '' ? 'locked' : `locked: ${entry.locked}`;
  const help = `if that is over: \`git worktree unlock ${entry.path}\``;
  throw new HostError('refused', entry.path, why, help);
}

/** Refuses where commits would be in no branch and no tag any more. */
async function refuseLost(
  folder: string,
  branch: string | undefined,
  commits: readonly (string | undefined)[],
  path: string,
): Promise<void> {
  for (const commit of new Set(commits)) {
    if (commit === undefined) continue;
    const args = ['for-each-ref', '--count=2', '--format=%(refname)', '--contains', commit];
    const refs = await ask(folder, [...args, 'refs/heads', 'refs/remotes', 'refs/tags']);
    const kept = refs.split('\n').some((ref) => ref !== '' && ref !== `refs/heads/${branch}`);
    if (kept) continue;
    const help = 'merge or push it first, or give it up with --force';
    const message = `no other branch or tag contains ${commit.slice(0, 12)} of ${branch ?? 'its head'}`;
    throw new HostError('refused', path, message, help);
  }
}

/** Git refuses too, but names no files. */
async function refuseDirty({ path, links }: OldWorktree): Promise<void> {
  const { found, half } = await look(path, links?.dirs);
  if (half || found.length === 0) return;
  const named = found.slice(0, 5).join(', ');
  const more = found.length > 5 ? ` and ${found.length - 5} more` : '';
  const help = 'commit or discard that, or give it up with --force';
  throw new HostError('refused', path, `not committed: ${named}${more}`, help);
}

/** What is not committed; `half` where a removal was killed and git finds no repository there. */
async function look(path: string, ignore: readonly string[] = []) {
  try {
    return { found: dirty(await status(path, ignore)), half: false };
  } catch (error) {
    // `takeWorktree` looks at it again once it has mended it.
    if (error instanceof HostError && error.message.includes('not a git repository')) {
      return { found: [], half: true };
    }
    throw error;
  }
}

async function take(
  { repository: folder, path, force = false, links }: OldWorktree,
  entry?: Worktree,
) {
  if (entry === undefined) {
    if (!isThere(path) || dropBare(path)) return false;
    const help = 'nothing was removed; look at it and move it away';
    throw new HostError('refused', path, 'a folder that is no worktree of git', help);
  }
  const { project = '', worktree = '', dirs = [] } = links ?? {};
  // Before git deletes anything: no removal may ever follow a link.
  const taken = unlinkSyncDirs(project, worktree, dirs);
  const refusal = await takeWorktree(folder, entry, force);
  if (refusal === undefined) return true;
  if (taken.length > 0 && isThere(path)) await linkSyncDirs(project, worktree, taken);
  throw refused(path, refusal);
}

function refused(path: string, ran: GitRun): HostError {
  if (/containing submodules/.test(ran.stderr)) {
    const message = 'its submodules were set up, and their commits may be nowhere else';
    return new HostError('refused', path, message, 'push them, then remove it with --force');
  }
  if (/modified or untracked/.test(ran.stderr)) {
    const help = 'commit or discard that, or give it up with --force';
    return new HostError('refused', path, 'something in it is not committed', help);
  }
  return failed(path, ['worktree', 'remove'], ran);
}
