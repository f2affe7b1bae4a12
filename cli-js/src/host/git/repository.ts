/** What a repository is, and which commits and branches it has. */
import { resolve } from 'node:path';
import { HostError } from '../host.js';
import type { Branch, Git, Pair, Repository } from './git.js';
import { askGit, gitFolder, gitHead, plainRepository } from './head.js';
import { checkCommits } from './names.js';
import { ask, failed, parts, run } from './run.js';

/** What is asked in one process; the last one fails in a bare repository. */
const ASKED = [
  'rev-parse',
  '--path-format=absolute',
  '--is-bare-repository',
  '--is-shallow-repository',
  '--git-common-dir',
  '--show-prefix',
  '--show-toplevel',
];

/** See {@link Git.repository}. */
export async function repository(folder: string): Promise<Repository | undefined> {
  const plain = plainRepository(folder, process.env);
  if (plain !== undefined) return { ...plain, prefix: '', bare: false, unborn: false };
  let ran: Awaited<ReturnType<Git['run']>>;
  try {
    ran = await run(folder, ASKED);
  } catch (error) {
    // A project without git does not need the program either.
    if (error instanceof HostError && error.path === 'git' && isOutside(folder)) return undefined;
    throw error;
  }
  const lines = ran.stdout.toString().split('\n');
  const [bare, shallow, commonDir, prefix, topLevel] = lines;
  if (commonDir === undefined || commonDir === '') {
    if (/^fatal: not a git repository \(or any/m.test(ran.stderr)) return undefined;
    throw failed(folder, ASKED, ran);
  }
  if (lines.length > 6) {
    throw new HostError('other', folder, 'a line break in the path', 'move the repository');
  }
  // Without a worktree the files of the repository are not where `gitHead` looks for them.
  const head = await (topLevel ? gitHead(topLevel, process.env) : askGit(folder));
  return {
    commonDir: resolve(commonDir),
    topLevel: topLevel ? resolve(topLevel) : undefined,
    prefix: prefix ?? '',
    bare: bare === 'true',
    shallow: shallow === 'true',
    head,
    unborn: head === undefined,
  };
}

function isOutside(folder: string): boolean {
  return gitFolder(resolve(folder)) === null;
}

/** See {@link Git.ancestor}. */
export async function ancestor(folder: string, older: string, newer: string): Promise<boolean> {
  checkCommits(older, newer);
  const args = ['merge-base', '--is-ancestor', older, newer];
  const ran = await run(folder, args);
  if (ran.status === 0) return true;
  if (ran.status === 1 || /Not a valid (?:commit|object) name/.test(ran.stderr)) return false;
  throw failed(folder, args, ran);
}

/** How many processes of git run at a time. */
const AT_ONCE = 4;

/** See {@link Git.ancestors}. */
export async function ancestors(folder: string, pairs: readonly Pair[]): Promise<boolean[]> {
  const olders = new Map<string, string[]>();
  for (const { older, newer } of pairs) {
    checkCommits(older, newer);
    olders.set(newer, [...(olders.get(newer) ?? []), older]);
  }
  const outside = new Map<string, Set<string>>();
  const left = [...olders];
  const worker = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      outside.set(next[0], await notContained(folder, next[0], [...new Set(next[1])]));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return pairs.map(({ older, newer }) => !outside.get(newer)?.has(older));
}

/** Those that `newer` does not contain. */
async function notContained(folder: string, newer: string, olders: string[]): Promise<Set<string>> {
  if (olders.length > 1) {
    const input = [...olders, `^${newer}`, ''].join('\n');
    const { status, stdout } = await run(folder, ['rev-list', '--stdin'], { input });
    if (status === 0) {
      const walked = new Set(stdout.toString().split('\n'));
      return new Set(olders.filter((older) => walked.has(older)));
    }
    // One of them is not there: which one, only questions about each can tell.
  }
  const outside = new Set<string>();
  for (const older of olders) {
    if (!(await ancestor(folder, older, newer))) outside.add(older);
  }
  return outside;
}

/** See {@link Git.existing}. */
export async function existing(folder: string, commits: readonly string[]): Promise<boolean[]> {
  checkCommits(...commits);
  if (commits.length === 0) return [];
  const input = commits.map((commit) => `${commit}\n`).join('');
  const args = ['cat-file', '--batch-check=%(objecttype)'];
  // A partial clone would go to its server for each one that is missing.
  const env = { GIT_NO_LAZY_FETCH: '1' };
  const types = (await ask(folder, args, { input, env })).split('\n');
  return commits.map((_, i) => types[i] === 'commit');
}

/** See {@link Git.exists}. */
export async function exists(folder: string, commit: string): Promise<boolean> {
  const [found = false] = await existing(folder, [commit]);
  return found;
}

/** See {@link Git.branches}. */
export async function branches(folder: string, prefix: string): Promise<Branch[]> {
  // Patterns of git know globs and whole path segments; a prefix is neither.
  const text = await ask(folder, [
    'for-each-ref',
    '--format=%(objectname)%00%(refname)%00',
    'refs/heads/',
  ]);
  const fields = parts(text.replaceAll('\0\n', '\0'));
  const found: Branch[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [commit = '', ref = ''] = fields.slice(i, i + 2);
    const name = ref.slice('refs/heads/'.length);
    if (name.startsWith(prefix)) found.push({ name, commit });
  }
  return found;
}

/** The commit that a branch is at; `undefined` where there is none. */
export async function branchAt(folder: string, branch: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/heads/${branch}`];
  const ran = await run(folder, args);
  if (ran.status === 0) return ran.stdout.toString().trim();
  if (ran.status === 1) return undefined;
  throw failed(folder, args, ran);
}
