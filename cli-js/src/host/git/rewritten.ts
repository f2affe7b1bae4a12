/** Finding a commit again after a rebase or a squash. */
import type { Found, PatchId, Range } from './git.js';
import { checkCommits } from './names.js';
import { ancestors, existing } from './repository.js';
import { ask, run } from './run.js';

/** How many commits are looked through: more than any branch that stages are built on. */
const LIMIT = 2000;

/** See {@link Git.treeOf}. */
export async function treeOf(folder: string, commit: string): Promise<string | undefined> {
  checkCommits(commit);
  const ran = await run(folder, ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`]);
  return ran.status === 0 ? ran.stdout.toString().trim() : undefined;
}

/** See {@link Git.patchIds}. */
export async function patchIds(folder: string, { base, head }: Range): Promise<PatchId[]> {
  checkCommits(base, head);
  return ofCommits(folder, [head, `^${base}`]);
}

/** The patch ids of all commits that a walk finds; merges change nothing of their own. */
async function ofCommits(folder: string, walk: readonly string[]): Promise<PatchId[]> {
  const list = ['rev-list', '--no-merges', `--max-count=${LIMIT}`, '--stdin'];
  const commits = await ask(folder, list, { input: `${walk.join('\n')}\n` });
  const args = ['diff-tree', '--stdin', '--root', ...PATCH];
  return idsOf(folder, await patches(folder, args, commits));
}

/** The patch id of everything a range changes; `undefined` where that is nothing. */
async function ofRange(folder: string, { base, head }: Range): Promise<string | undefined> {
  const ids = await idsOf(folder, await patches(folder, ['diff-tree', ...PATCH, base, head]));
  return ids[0]?.id;
}

/** Complete and the same whatever the person has set. */
const PATCH = [
  ...['-p', '-r', '--binary', '--full-index', '--no-color'],
  ...['--no-ext-diff', '--no-textconv', '--no-renames'],
];

/** Not as text: files have whatever bytes they have. */
async function patches(folder: string, args: string[], input = ''): Promise<Buffer> {
  const { stdout } = await run(folder, args, { input });
  return stdout;
}

async function idsOf(folder: string, input: Buffer): Promise<PatchId[]> {
  const text = await ask(folder, ['patch-id', '--stable'], { input });
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [id = '', commit = ''] = line.split(' ');
    return { commit, id };
  });
}

/** See {@link Git.findRewritten}. */
export async function findRewritten(
  folder: string,
  { head, base }: Range,
  tips: readonly string[],
): Promise<Found[]> {
  checkCommits(head, base, ...tips);
  const [hasHead, hasBase, ...has] = await existing(folder, [head, base, ...tips]);
  const starts = tips.filter((_, i) => has[i]);
  // What git has thrown away cannot be compared with anything.
  if (!hasHead || starts.length === 0) return [];
  const contained = await ancestors(
    folder,
    starts.map((newer) => ({ older: head, newer })),
  );
  if (contained.includes(true)) return [{ commit: head, by: 'reachable' }];

  const walk = hasBase ? [...starts, `^${base}`] : starts;
  const same = await sameTree(folder, { head, base }, hasBase === true, walk);
  if (same.length > 0) {
    const commit = await first(folder, same);
    const could = commit === undefined ? same : [commit];
    return could.map((commit) => ({ commit, by: 'tree' as const }));
  }
  const now = await ofCommits(folder, walk);
  const range = hasBase ? await ofRange(folder, { head, base }) : undefined;
  const [last] = await idsOf(
    folder,
    await patches(folder, ['diff-tree', '--root', ...PATCH, head]),
  );
  for (const [by, wanted] of [['range', range] as const, ['last', last?.id] as const]) {
    const found = now.filter(({ id }) => id === wanted);
    if (found.length > 0) return found.map(({ commit }) => ({ commit, by }));
  }
  return [];
}

/** The commits with the tree of `head`, unless that says nothing since nothing was changed. */
async function sameTree(
  folder: string,
  { head, base }: Range,
  hasBase: boolean,
  walk: readonly string[],
): Promise<string[]> {
  const tree = await treeOf(folder, head);
  if (tree === undefined || (hasBase && (await treeOf(folder, base)) === tree)) return [];
  const list = [
    'rev-list',
    `--max-count=${LIMIT}`,
    '--no-commit-header',
    '--format=%H %T',
    '--stdin',
  ];
  const text = await ask(folder, list, { input: `${walk.join('\n')}\n` });
  const lines = text.split('\n').map((line) => line.split(' '));
  return lines.flatMap(([commit = '', of]) => (of === tree ? [commit] : []));
}

/** The one that all others contain, as a merge has the tree of what it merged. */
async function first(folder: string, commits: readonly string[]): Promise<string | undefined> {
  const oldest = commits.at(-1);
  if (oldest === undefined || commits.length === 1) return oldest;
  const newer = commits.slice(0, -1);
  const within = await ancestors(
    folder,
    newer.map((commit) => ({ older: oldest, newer: commit })),
  );
  return within.includes(false) ? undefined : oldest;
}
