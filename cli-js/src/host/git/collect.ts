/** Putting commits together on a branch of their own, without a worktree. */
import { HostError } from '../host.js';
import { join, mergeForecast, mergeTrees } from './forecast.js';
import type { Collected, Collector } from './git.js';
import { identity } from './identity.js';
import { checkBranch, checkCommits } from './names.js';
import { ancestor, ancestors, branchAt } from './repository.js';
import { ask, failed, insist, run } from './run.js';
import { worktrees } from './worktrees.js';

/** What okstra made last of each collector branch: who else moves the branch leaves this alone. */
const OWN = 'refs/okstra/collectors/';

/** See {@link Git.collect}. */
export async function collect(folder: string, wanted: Collector): Promise<Collected> {
  const { branch, base, heads, message, again, dryRun } = wanted;
  checkBranch(branch);
  checkCommits(base, ...heads);
  const now = await branchAt(folder, branch);
  const own = await ownAt(folder, branch);
  const found = now === undefined ? undefined : await onTop(folder, wanted, now, own);
  if (found?.merges.length === 0) {
    return { kind: 'unchanged', start: found.start, merges: [], commit: now };
  }
  const { start, merges } = found ?? (await anew(folder, base, heads));
  if (now !== undefined) await checkFree(folder, branch);
  const forecast = await mergeForecast(folder, start, merges);
  if (!forecast.clean) return { kind: 'conflict', start, ...forecast };
  const kind = now === undefined ? 'new' : found === undefined ? 'rebuilt' : 'extended';
  if (dryRun) return { kind, start, merges, commit: undefined };

  const env = merges.length === 0 ? {} : await identity(folder);
  let commit = start;
  for (const head of merges) {
    const merged = await mergeTrees(folder, commit, head);
    if (!('tree' in merged)) throw new Error(`${head} does not merge as it was foreseen`);
    commit = await join(folder, merged.tree, commit, head, { message: message(head), env });
  }
  const none = '0'.repeat(base.length);
  const moves = [
    `update refs/heads/${branch} ${commit} ${now ?? none}`,
    `update ${OWN}${branch} ${commit} ${own ?? none}`,
  ];
  // Both or none, and only where nobody has moved them since.
  const args = ['update-ref', '-m', 'okstra handoff assemble', '--stdin'];
  const ran = await insist(folder, args, { input: `${moves.join('\n')}\n` });
  if (ran.status === 0) return { kind, start, merges, commit };
  if ((await branchAt(folder, branch)) !== now) {
    const said = 'somebody changed the branch in the same moment';
    throw new HostError('changed', branch, said, 'run the command again');
  }
  throw failed(folder, args, ran);

  /** What is to be merged into the branch as it is; `undefined` where it has to be made anew. */
  async function onTop(folder: string, { base, heads }: Collector, now: string, own?: string) {
    if (own === undefined || !(await ancestor(folder, own, now))) {
      const said = 'there is a branch of that name, and it is not one that okstra made';
      throw new HostError('exists', branch, said, `rename it: \`git branch -m ${branch} <name>\``);
    }
    if (!(await isStale(folder, own, base, heads))) {
      return { start: now, merges: await outside(folder, now, heads) };
    }
    if (now !== own) {
      const said = 'it holds commits of somebody else, and others that are no stage any more';
      throw new HostError('refused', branch, said, 'rename it, so that it can be made anew');
    }
    if (again) return undefined;
    const said = 'it holds commits that are in none of these stages any more';
    throw new HostError('refused', branch, said, 'add --again to make it anew');
  }
}

/** See {@link Git.collectors}. */
export async function collectors(folder: string): Promise<string[]> {
  const text = await ask(folder, ['for-each-ref', '--format=%(refname)', OWN]);
  return text.split('\n').flatMap((name) => (name === '' ? [] : [name.slice(OWN.length)]));
}

async function ownAt(folder: string, branch: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${OWN}${branch}`];
  const ran = await run(folder, args);
  return ran.status === 0 ? ran.stdout.toString().trim() : undefined;
}

/** Whether what okstra made holds work that neither the base nor one of the heads holds. */
async function isStale(folder: string, own: string, base: string, heads: readonly string[]) {
  const walk = [own, ...[base, ...heads].map((commit) => `^${commit}`)];
  const args = ['rev-list', '--no-merges', '--max-count=1', '--stdin'];
  return (await ask(folder, args, { input: `${walk.join('\n')}\n` })).trim() !== '';
}

/** From where, and what to merge. A first head that contains the base is taken as it is. */
async function anew(folder: string, base: string, heads: readonly string[]) {
  const [first, ...others] = await outside(folder, base, heads);
  if (first === undefined) return { start: base, merges: [] };
  const onBase = await ancestor(folder, base, first);
  return onBase ? { start: first, merges: others } : { start: base, merges: [first, ...others] };
}

/** Those that a commit does not contain. */
async function outside(folder: string, commit: string, heads: readonly string[]) {
  const pairs = heads.map((older) => ({ older, newer: commit }));
  const contained = await ancestors(folder, pairs);
  return heads.filter((_, i) => !contained[i]);
}

/** A branch that is moved under a worktree would turn everything there into changes. */
async function checkFree(folder: string, branch: string): Promise<void> {
  const at = (await worktrees(folder)).find((tree) => tree.branch === branch);
  if (at === undefined) return;
  const help = 'go to another branch there: `git switch --detach`';
  throw new HostError('refused', branch, `it is checked out in ${at.path}`, help);
}
