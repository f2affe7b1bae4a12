/**
 * The one place that sends anything to another repository. What may be sent is spelled out; every
 * other word is refused, so nothing that forces, deletes or rewrites can be asked for at all.
 */
import { HostError } from '../host.js';
import type { Push } from './git.js';
import { checkBranch, checkRemote } from './names.js';
import { ancestor, branchAt } from './repository.js';
import { ask, failed, launch } from './run.js';

/** Tags, and the branches of submodules, are not ours to push. */
const OPTIONS = ['--porcelain', '--no-follow-tags', '--recurse-submodules=no'];

/** See {@link Git.pushNew}. */
export async function pushNew({
  folder,
  remote,
  branch,
  base,
}: Push): Promise<{ pushed: boolean }> {
  checkRemote(remote);
  checkBranch(branch);
  const args = ['push', ...OPTIONS, '--', remote, `refs/heads/${branch}:refs/heads/${branch}`];
  guardPush(args, base);
  const ours = await branchAt(folder, branch);
  if (ours === undefined) {
    throw new HostError('missing', branch, 'no branch of that name', 'see `git branch`');
  }
  const there = await remoteState(folder, remote, branch);
  guardPush(args, [...base, ...there.main]);
  if (there.commit === ours) return { pushed: false };
  if (there.commit !== undefined && !(await ancestor(folder, there.commit, ours))) {
    throw taken(remote, branch);
  }
  const ran = await launch(folder, args);
  if (ran.status === 0) return { pushed: true };
  // Somebody was faster.
  if (/\[rejected\]/.test(ran.stdout.toString())) throw taken(remote, branch);
  throw failed(folder, args, ran);
}

/**
 * Refuses whatever is not the push of one branch to the branch of the same name, or goes to one of
 * the `base` branches.
 * @throws HostError
 */
export function guardPush(args: readonly string[], base: readonly string[]): void {
  const refuse = (message: string) =>
    new HostError('refused', 'git', message, 'okstra pushes one new branch, nothing else');
  const split = args.indexOf('--');
  const [command, ...options] = args.slice(0, split);
  const [remote, refspec, ...more] = args.slice(split + 1);
  const other = options.find((option) => !OPTIONS.includes(option));
  if (split < 0 || command !== 'push' || other !== undefined) {
    throw refuse(`${other ?? 'this'} is never pushed with`);
  }
  const [, from, to] = /^refs\/heads\/([^:]+):refs\/heads\/([^:]+)$/.exec(refspec ?? '') ?? [];
  if (remote === undefined || more.length > 0 || from === undefined || from !== to) {
    throw refuse(`${refspec ?? 'nothing'} is not one branch under its own name`);
  }
  checkRemote(remote);
  checkBranch(from);
  // Two names that a file system may take for one are one.
  const names = base.map((name) => name.replace(/^refs\/heads\//, '').toLowerCase());
  if (names.includes(from.toLowerCase())) throw refuse(`${from} is a base branch`);
}

/** The remote's own default branch, and what it has of ours. */
async function remoteState(folder: string, remote: string, branch: string) {
  const args = ['ls-remote', '--symref', '--', remote, 'HEAD', `refs/heads/${branch}`];
  const lines = (await ask(folder, args)).split('\n').map((line) => line.split('\t'));
  const main = lines.flatMap(([what = '', name]) =>
    name === 'HEAD' && what.startsWith('ref: refs/heads/') ? [what.slice(16)] : [],
  );
  const commit = lines.find(([, name]) => name === `refs/heads/${branch}`)?.[0];
  return { main, commit };
}

function taken(remote: string, branch: string): HostError {
  const help = 'nothing was pushed; choose another name for the branch';
  return new HostError('refused', branch, `${remote} has other commits in it`, help);
}
