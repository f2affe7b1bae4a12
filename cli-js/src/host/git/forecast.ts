/** Foreseeing conflicts, without touching any worktree. */
import { HostError } from '../host.js';
import type { Forecast, GitRun, MergedCommits } from './git.js';
import { identity, NOBODY } from './identity.js';
import { checkCommits } from './names.js';
import { existing } from './repository.js';
import { ask, failed, parts, run } from './run.js';

/** See {@link Git.mergeForecast}. */
export async function mergeForecast(
  folder: string,
  ours: string,
  theirs: readonly string[],
): Promise<Forecast> {
  checkCommits(ours, ...theirs);
  let head = ours;
  let tree: string | undefined;
  for (const [i, against] of theirs.entries()) {
    // Git finds the base of the next merge by parents, so the merge before has to be a commit.
    if (tree !== undefined) head = await join(folder, tree, head, theirs[i - 1] ?? head);
    const merged = await mergeTrees(folder, head, against);
    if (!('tree' in merged)) {
      const before = [ours, ...theirs.slice(0, i)];
      return { clean: false, ...merged, against, with: await culprit(folder, before, against) };
    }
    tree = merged.tree;
  }
  return { clean: true, tree: tree ?? (await ask(folder, ['rev-parse', `${ours}^{tree}`])).trim() };
}

/** See {@link Git.mergeCommits}. */
export async function mergeCommits(
  folder: string,
  ours: string,
  theirs: readonly string[],
  message: (commit: string) => string,
): Promise<MergedCommits> {
  checkCommits(ours, ...theirs);
  const [env, merge] = await Promise.all([
    identity(folder),
    theirs[0] === undefined ? undefined : mergeTrees(folder, ours, theirs[0]),
  ]);
  let commit = ours;
  for (const [i, against] of theirs.entries()) {
    const merged =
      i === 0 && merge !== undefined ? merge : await mergeTrees(folder, commit, against);
    if (!('tree' in merged)) {
      const of = await culprit(folder, [ours, ...theirs.slice(0, i)], against);
      return { clean: false, commit, files: merged.files, against, with: of };
    }
    commit = await join(folder, merged.tree, commit, against, { message: message(against), env });
  }
  return { clean: true, commit };
}

/** The merge of two commits as a commit that no branch knows. */
export async function join(
  folder: string,
  tree: string,
  one: string,
  other: string,
  { message, env } = { message: 'forecast', env: NOBODY },
): Promise<string> {
  const args = ['commit-tree', '--no-gpg-sign', '-p', one, '-p', other, '-m', message, tree];
  return (await ask(folder, args, { env })).trim();
}

/** Which single one of the commits does not go together with another. */
async function culprit(
  folder: string,
  before: readonly string[],
  against: string,
): Promise<string | undefined> {
  if (before.length === 1) return before[0];
  for (const commit of before) {
    if (!('tree' in (await mergeTrees(folder, commit, against)))) return commit;
  }
  return undefined;
}

type Merge = { tree: string } | { files: string[]; unrelated: boolean };

/** The tree of a merge, or what is in its way. */
export async function mergeTrees(folder: string, one: string, other: string): Promise<Merge> {
  const how = ['--write-tree', '-z', '--name-only', '--no-messages'];
  const args = ['merge-tree', ...how, one, other];
  const ran = await run(folder, args);
  const [tree = '', ...files] = parts(ran.stdout.toString());
  if (ran.status === 0) return { tree };
  // A file in several stages is named once.
  if (ran.status === 1 && tree !== '') return { files: [...new Set(files)], unrelated: false };
  if (/unrelated histories/.test(ran.stderr)) return { files: [], unrelated: true };
  throw (await unforeseen(folder, [one, other], ran)) ?? failed(folder, args, ran);
}

/** Why there is no answer. */
async function unforeseen(
  folder: string,
  commits: string[],
  { status }: GitRun,
): Promise<HostError | undefined> {
  if (status === 129) {
    const version = (await ask(folder, ['version'])).trim().replace(/^git version /, '');
    const message = `version ${version} cannot foresee conflicts`;
    return new HostError('other', 'git', message, 'install git 2.38 or newer');
  }
  const found = await existing(folder, commits);
  const gone = commits.find((_, i) => !found[i]);
  if (gone === undefined) return undefined;
  const message = `commit ${gone} is not in the repository`;
  return new HostError('missing', folder, message, 'fetch it: `git fetch --all`');
}
