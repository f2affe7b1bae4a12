/** What git says. Its arguments are an array, never a line for a shell. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './fault.js';
import type { GitHead } from './host.js';

const COMMIT = /^(?:[\da-f]{40}|[\da-f]{64})$/;

/**
 * See {@link Host.gitHead}. The files of a repository say it in a fraction of a millisecond, git
 * itself takes ten; it is asked wherever the files are not the plain ones.
 */
export async function gitHead(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GitHead | undefined> {
  const redirected = REDIRECT.some((name) => env[name] !== undefined);
  const head = redirected ? undefined : fromFiles(folder);
  return head === undefined ? askGit(folder) : (head ?? undefined);
}

/** With these, git looks elsewhere. */
const REDIRECT = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_COMMON_DIR', 'GIT_CEILING_DIRECTORIES'];

/**
 * Reads HEAD and the branch it names; `null` where there is no repository, `undefined` where it is
 * not as simple as that.
 */
function fromFiles(folder: string): GitHead | null | undefined {
  try {
    const own = gitFolder(folder);
    if (own === null) return null;
    const head = read(resolve(own, 'HEAD'))?.trim();
    if (head === undefined) return undefined;
    if (COMMIT.test(head)) return { commit: head, branch: null };
    const branch = /^ref: (refs\/heads\/(.+))$/.exec(head);
    const [, ref = '', name = ''] = branch ?? [];
    if (branch === null || ref.includes('..')) return undefined;
    // A worktree has a HEAD of its own; the branches are those of the repository.
    const common = read(resolve(own, 'commondir'))?.trim();
    const shared = common === undefined ? own : resolve(own, common);
    const commit = read(resolve(shared, ref))?.trim() ?? packed(shared, ref);
    return commit !== undefined && COMMIT.test(commit) ? { commit, branch: name } : undefined;
  } catch {
    // Whatever it is, git says it better.
    return undefined;
  }
}

/** The folder with HEAD, of the repository that a folder is in; `null` where it is in none. */
function gitFolder(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const entry = resolve(at, '.git');
    const found = statSync(entry, { throwIfNoEntry: false });
    if (found?.isDirectory()) return entry;
    if (found?.isFile()) {
      const to = /^gitdir: (.+)$/m.exec(readFileSync(entry, 'utf8'))?.[1];
      if (to !== undefined) return resolve(at, to.trim());
      throw new Error('no folder of git');
    }
    if (dirname(at) === at) return null;
  }
}

/** The commit of a branch in `packed-refs`. */
function packed(folder: string, ref: string): string | undefined {
  const line = read(resolve(folder, 'packed-refs'))
    ?.split('\n')
    .find((text) => text.endsWith(` ${ref}`));
  return line?.split(' ')[0];
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function askGit(folder: string): Promise<GitHead | undefined> {
  const text = await git(folder, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD');
  const [commit = '', branch = ''] = text?.split('\n') ?? [];
  // No git, no repository, no commit: all of them mean that there is nothing to record.
  if (!COMMIT.test(commit)) return undefined;
  return { commit, branch: branch === 'HEAD' || branch === '' ? null : branch };
}

/** See {@link Host.gitTree}. */
export async function gitTree(
  folder: string,
): Promise<{ tree: string; clean: boolean } | undefined> {
  const tree = (await git(folder, 'rev-parse', 'HEAD^{tree}'))?.trim();
  const changes = await git(folder, 'status', '--porcelain', '-z');
  return tree === undefined || changes === undefined ? undefined : { tree, clean: changes === '' };
}

/** What a command of git prints; `undefined` where it fails. */
function git(folder: string, ...args: string[]): Promise<string | undefined> {
  // Not an import: loading it costs 3 ms.
  const { execFile } = process.getBuiltinModule('node:child_process');
  const options = { cwd: folder, encoding: 'utf8', windowsHide: true, maxBuffer: 2 ** 28 } as const;
  return new Promise((done) => {
    execFile('git', args, options, (error, stdout) => done(error === null ? stdout : undefined));
  });
}
