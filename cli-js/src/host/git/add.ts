/**
 * Making a branch and a worktree on it.
 *
 * The branch comes first, by git's compare-and-swap of a ref: so it is known whose it is when
 * something fails later. `git worktree add -b` runs `git branch` for it, which is a process as
 * well, and leaves the branch behind where the folder is in the way.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { explain, OWN } from '../fault.js';
import { HostError } from '../host.js';
import { cleanHalf } from './clean.js';
import type { Added, GitRun, NewWorktree, Worktree } from './git.js';
import { checkBranch, checkCommits } from './names.js';
import { ancestor, repository } from './repository.js';
import { failed, insist } from './run.js';
import { isHalf, worktreeAt, worktrees } from './worktrees.js';

/** See {@link Git.addWorktree}. */
export async function addWorktree(
  wanted: NewWorktree,
  work: () => Promise<void> = async () => {},
): Promise<Added> {
  checkBranch(wanted.branch);
  checkCommits(wanted.base);
  if (isTaken(wanted.path)) return present(wanted, await worktrees(wanted.repository));
  if (!(await makeBranch(wanted))) return present(wanted, await worktrees(wanted.repository));
  try {
    const warning = await makeWorktree(wanted);
    await work();
    return warning === undefined ? { created: true } : { created: true, warning };
  } catch (error) {
    await undo(wanted, error);
    throw error;
  }
}

/** Whether something is at a path; an empty folder is nothing, for git too. */
function isTaken(path: string): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return false;
    return !found.isDirectory() || readdirSync(path).length > 0;
  } catch (error) {
    throw explain(error, path, OWN);
  }
}

/**
 * Makes the branch; `false` where there is one of that name. Git is told which only once it runs:
 * one that came to run after this process was killed would make it when whoever cleans up has
 * looked already. One that runs is seen by its arguments.
 */
async function makeBranch({ repository: folder, branch, base }: NewWorktree): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  // The name in the arguments is what `isAtWork` knows it by.
  const args = ['update-ref', '-m', `okstra: a stage begins on ${ref}`, '--stdin'];
  const ran = await insist(folder, args, { input: `create ${ref} ${base}\n`, alone: true });
  if (ran.status === 0) return true;
  if (/: reference already exists/.test(ran.stderr)) return false;
  const other = /: '(refs\/heads\/[^']+)' exists; cannot create/.exec(ran.stderr)?.[1];
  if (other !== undefined) {
    const name = other.slice('refs/heads/'.length);
    const help = `git cannot have both; rename it: \`git branch -m ${name} <other name>\``;
    throw new HostError('exists', branch, `there is a branch ${name}`, help);
  }
  if (/nonexistent object|not a valid SHA1/.test(ran.stderr)) throw await noBase(folder, base);
  throw failed(folder, args.slice(0, 1), ran);
}

async function noBase(folder: string, base: string): Promise<HostError> {
  const shallow = (await repository(folder))?.shallow;
  const help = shallow
    ? 'the clone is shallow; fetch the rest: `git fetch --unshallow`'
    : 'fetch it: `git fetch --all`';
  return new HostError('missing', folder, `commit ${base} is not in the repository`, help);
}

/** Makes the worktree; answers what a hook had against it. */
async function makeWorktree(wanted: NewWorktree): Promise<string | undefined> {
  const { repository: folder, path, branch } = wanted;
  // With a branch that is gone again it must not look for one of that name elsewhere. Files are
  // written by as many processes as there are processors, where there are many files.
  const args = [
    '-c',
    'checkout.workers=0',
    'worktree',
    'add',
    '--quiet',
    '--no-guess-remote',
    '--',
    path,
    branch,
  ];
  const ran = await insist(folder, args, { alone: true });
  if (ran.status === 0) return undefined;
  if (!/^fatal: /m.test(ran.stderr) && (await isWhole(wanted))) {
    const said = ran.stderr.trim().replace(/\s+/g, ' ');
    return `the hook post-checkout ended with ${ran.status}${said === '' ? '' : `: ${said}`}`;
  }
  throw (await inTheWay(folder, path, ran)) ?? failed(folder, args, ran);
}

/** Whether git has made it to the end. */
async function isWhole({ repository: folder, path, branch }: NewWorktree): Promise<boolean> {
  const entry = worktreeAt(await worktrees(folder), path);
  return entry?.branch === branch && !isHalf(entry);
}

/** What git says of a path that it does not want. */
async function inTheWay(
  folder: string,
  path: string,
  { stderr }: GitRun,
): Promise<HostError | undefined> {
  if (/already registered worktree/.test(stderr)) {
    const of = worktreeAt(await worktrees(folder), path)?.branch ?? 'a detached head';
    const message = `git still has a worktree on ${of} here, whose folder is gone`;
    return new HostError('exists', path, message, `forget it: \`git worktree remove ${path}\``);
  }
  if (/already exists$/m.test(stderr)) return notOurs(path);
  return undefined;
}

/** Branch or folder are there: whether they are what is wanted. */
async function present(
  { repository: folder, path, branch, base }: NewWorktree,
  all: readonly Worktree[],
): Promise<{ created: false }> {
  const here = worktreeAt(all, path);
  if (here !== undefined && isHalf(here)) {
    const help = 'wait for it; where nobody makes it any more: `okstra worktree repair`';
    throw new HostError('locked', path, 'a worktree is just being made here', help);
  }
  if (here?.branch === branch && here.prunable === undefined) {
    if (await ancestor(folder, base, here.head ?? base)) return { created: false };
    const message = `a worktree on ${branch} that does not contain ${base.slice(0, 12)}`;
    throw new HostError('exists', path, message, 'remove it: `okstra worktree remove`');
  }
  if (here !== undefined && here.prunable === undefined) {
    const on = here.branch ?? 'a detached head';
    const help = `go on there with \`git switch ${branch}\`, or remove it`;
    throw new HostError('exists', path, `a worktree on ${on}, not on ${branch}`, help);
  }
  const holder = all.find((entry) => entry.branch === branch);
  if (holder !== undefined) {
    const gone = holder.prunable === undefined ? '' : ', whose folder is gone';
    const help = `remove it: \`git worktree remove ${holder.path}\``;
    const message = `branch ${branch} is held by the worktree ${holder.path}${gone}`;
    throw new HostError('exists', path, message, help);
  }
  if (isTaken(path)) throw notOurs(path);
  const help = `rename it, or delete it when it is not needed: \`git branch -d ${branch}\``;
  throw new HostError('exists', branch, 'there is a branch of that name', help);
}

function notOurs(path: string): HostError {
  const help = 'nothing was touched; move it away';
  return new HostError('exists', path, 'something is here that is no worktree of git', help);
}

/** Takes back what was made; what cannot be taken back is said with what went wrong first. */
async function undo(wanted: NewWorktree, cause: unknown): Promise<void> {
  let left: string;
  try {
    const { kept } = await cleanHalf({ ...wanted, force: true });
    if (kept.length === 0) return;
    left = kept.map(({ what, why }) => `${what} (${why})`).join(', ');
  } catch (error) {
    left = error instanceof Error ? error.message : String(error);
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const help = `some of it is left: ${left}; see \`okstra worktree repair\``;
  const reason = cause instanceof HostError ? cause.reason : 'other';
  throw new HostError(reason, wanted.path, message, help);
}
