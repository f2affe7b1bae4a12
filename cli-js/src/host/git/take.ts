/** Taking away worktrees and branches, each on its own. Folders with content only git deletes. */
import { lstatSync, readdirSync, readFileSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf, explain, OWN, RECORD } from '../fault.js';
import { realPath } from '../paths.js';
import type { GitRun, Worktree } from './git.js';
import { branchAt } from './repository.js';
import { failed, insist, run, sleep } from './run.js';
import { status } from './status.js';
import { isHalf } from './worktrees.js';

/**
 * Removes a worktree that git lists; answers what git says where it does not want to. Also one of
 * which a part is gone. `force` gives up changes; a worktree that was never finished has none.
 */
export async function takeWorktree(
  folder: string,
  entry: Worktree,
  force: boolean,
): Promise<GitRun | undefined> {
  const strength = isHalf(entry) ? ['--force', '--force'] : force ? ['--force'] : [];
  const remove = (...more: string[]) =>
    insist(folder, ['worktree', 'remove', ...strength, ...more, '--', entry.path]);
  const ran = await remove();
  if (ran.status === 0) return undefined;
  // Git was killed before it wrote the file that leads to the repository, or after it deleted it.
  if (!/validation failed/.test(ran.stderr)) return ran;
  if (dropBare(entry.path)) return undefinedIfDone(await remove());
  await run(folder, ['worktree', 'repair', '--', entry.path]);
  const again = await remove();
  if (again.status === 0 || !(await onlyDeleted(entry.path))) return undefinedIfDone(again);
  // What was being deleted before is in the branch.
  return undefinedIfDone(await remove('--force'));
}

function undefinedIfDone(ran: GitRun): GitRun | undefined {
  return ran.status === 0 ? undefined : ran;
}

/** Whether nothing but deleted files keeps a worktree from being clean. */
async function onlyDeleted(path: string): Promise<boolean> {
  const { staged, changed, untracked, conflicted } = await status(path);
  if (staged.length + untracked.length + conflicted.length > 0) return false;
  return changed.every((file) => !isThere(join(path, file)));
}

export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return false;
    throw explain(error, path, OWN);
  }
}

/** Removes a folder that holds nothing, or only the file that leads to the repository. */
export function dropBare(path: string): boolean {
  try {
    const names = readdirSync(path);
    if (names.some((name) => name !== '.git')) return false;
    const link = join(path, '.git');
    if (names.length === 1) {
      // A folder of that name is a repository.
      if (!lstatSync(link).isFile()) return false;
      unlinkSync(link);
    }
    rmdirSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'ENOTDIR') return false;
    throw explain(error, path, OWN);
  }
}

/** Deletes a branch that still is at `commit`; `false` where it has moved or gone meanwhile. */
export async function takeBranch(folder: string, branch: string, commit: string): Promise<boolean> {
  const args = ['update-ref', '-d', `refs/heads/${branch}`, commit];
  const ran = await insist(folder, args);
  if (ran.status === 0) return true;
  if ((await branchAt(folder, branch)) !== commit) return false;
  throw failed(folder, args, ran);
}

/** How old what a killed git left must be: no git takes as long between two of its files. */
const STALE = 1000;

/** Waits until a file is as old as that; `false` where it changed or went meanwhile. */
export async function isStale(file: string): Promise<boolean> {
  const before = statSync(file, { throwIfNoEntry: false });
  if (before === undefined) return false;
  const age = Date.now() - before.mtimeMs;
  if (age < STALE) await sleep(Math.min(STALE, STALE - age));
  const after = statSync(file, { throwIfNoEntry: false });
  return after !== undefined && after.mtimeMs === before.mtimeMs && after.ino === before.ino;
}

/** What is in git's entry for a worktree before anything is checked out. */
const EARLY = ['locked', 'gitdir', 'commondir', 'HEAD', 'refs'];

/**
 * Removes git's entries for a path that are not whole yet: git lists none of them, keeps them for
 * ever since they are locked, and some of them keep it from listing any other.
 */
export async function takeUnfinished(commonDir: string, path: string): Promise<boolean> {
  let found = false;
  for (const entry of unfinished(commonDir, path)) {
    if (!(await isStale(entry))) continue;
    try {
      for (const name of readdirSync(entry)) {
        const file = join(entry, name);
        if (lstatSync(file).isDirectory()) rmdirSync(file);
        else unlinkSync(file);
      }
      rmdirSync(entry);
    } catch (error) {
      throw explain(error, entry, RECORD);
    }
    found = true;
  }
  return found;
}

function unfinished(commonDir: string, path: string): string[] {
  const all = join(commonDir, 'worktrees');
  if (!isThere(all)) return [];
  // Git names an entry after the folder and adds a number where there is one of that name.
  const own = basename(path).replace(/[^\w.-]/g, '-');
  return readdirSync(all)
    .filter((name) => name.startsWith(own) && /^\d*$/.test(name.slice(own.length)))
    .map((name) => join(all, name))
    .filter((entry) => {
      const to = textOf(join(entry, 'gitdir'));
      const isOurs = to === '' || realPath(dirname(to)) === realPath(path);
      const isEarly = readdirSync(entry).every((name) => EARLY.includes(name));
      return isOurs && isEarly && textOf(join(entry, 'commondir')) === '';
    });
}

/** What a file of git says; nothing where there is none, or it was not written to its end. */
function textOf(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    return text.endsWith('\n') ? text.slice(0, -1) : '';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw explain(error, file, RECORD);
  }
}
