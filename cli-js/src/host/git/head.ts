/** What a folder is at: asked by nearly every command, so git itself is asked only where it must. */
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../fault.js';
import { type GitHead, HostError } from '../host.js';
import { realPath } from '../paths.js';
import { isCommit } from './names.js';
import { run } from './run.js';

/**
 * See {@link Host.gitHead}. The files of a repository say it in a fraction of a millisecond, git
 * itself takes ten; it is asked wherever the files are not the plain ones.
 */
export async function gitHead(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GitHead | undefined> {
  const head = env.GIT_CEILING_DIRECTORIES === undefined ? fromFiles(folder) : undefined;
  return head === undefined ? askGit(folder) : (head ?? undefined);
}

/**
 * Reads HEAD and the branch it names; `null` where there is no repository, `undefined` where it is
 * not as simple as that.
 */
function fromFiles(folder: string): GitHead | null | undefined {
  try {
    const own = gitFolder(folder);
    if (own === null) return isBare(folder) ? undefined : null;
    const file = resolve(own, 'HEAD');
    // As git made it once: a link to the branch's file, whose commit it is no detached head of.
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const head = read(file)?.trimEnd();
    if (head === undefined) return undefined;
    if (isCommit(head)) return { commit: head, branch: null };
    const branch = /^ref: (refs\/heads\/(.+))$/.exec(head);
    const [, ref = '', name = ''] = branch ?? [];
    if (branch === null || ODD.test(ref)) return undefined;
    // A worktree has a HEAD of its own; the branches are those of the repository.
    const common = read(resolve(own, 'commondir'))?.trim();
    const shared = common === undefined ? own : resolve(own, common);
    const commit = read(resolve(shared, ref))?.trim() ?? packed(shared, ref);
    return commit !== undefined && isCommit(commit) ? { commit, branch: name } : undefined;
  } catch {
    // Whatever it is, git says it better.
    return undefined;
  }
}

/** Whether a folder itself looks like a repository without a worktree. */
function isBare(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every(
    (name) => statSync(resolve(folder, name), { throwIfNoEntry: false }) !== undefined,
  );
}

/** What the files of a repository say, if it is as plain as can be. */
interface Plain {
  topLevel: string;
  commonDir: string;
  shallow: boolean;
  head: GitHead;
}

/** What git has in no name of a branch, or only in a name that leads elsewhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ODD = /\.\.|\/\.|\.\/|\/\/|@\{|\.lock(?:\/|$)|[/.]$|[\u0000- ~^:?*[\\\u007f]/;

/** What may make of a repository something else than its files look like, in its settings. */
const UNUSUAL =
  /worktree|extensions|\bbare\b(?!\s*=\s*false\s*$)|repositoryformatversion(?!\s*=\s*0\s*$)/im;

/**
 * The repository of which a folder is the top, where it is of this user and nothing about it is
 * unusual; else git has to be asked.
 */
export function plainRepository(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Plain | undefined {
  try {
    const topLevel = realPath(folder);
    const own = resolve(topLevel, '.git');
    // Where another owns it, git wants to be told that this is right; for root by sudo as well.
    if (env.SUDO_UID !== undefined || ![topLevel, own].every(isOwnFolder)) return undefined;
    if (!['objects', 'refs'].every((name) => isOwnFolder(resolve(own, name)))) return undefined;
    // With the branches of another one; a path with a line break git cannot tell us.
    if (read(resolve(own, 'commondir')) !== undefined || topLevel.includes('\n')) return undefined;
    const config = read(resolve(own, 'config'));
    if (config === undefined || UNUSUAL.test(config)) return undefined;
    const head = fromFiles(topLevel);
    if (head === null || head === undefined) return undefined;
    const shallow = statSync(resolve(own, 'shallow'), { throwIfNoEntry: false });
    return { topLevel, commonDir: own, shallow: shallow !== undefined, head };
  } catch {
    return undefined;
  }
}

function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.geteuid?.();
}

/** The folder with HEAD, of the repository that a folder is in; `null` where it is in none. */
export function gitFolder(folder: string): string | null {
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

/** No git, no repository, no commit: all of them mean that there is nothing to record. */
export async function askGit(folder: string): Promise<GitHead | undefined> {
  const text = await answer(folder, 'rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD');
  const [commit = '', ref = ''] = text?.split('\n') ?? [];
  if (!isCommit(commit)) return undefined;
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1] ?? null;
  return { commit, branch };
}

/** See {@link Host.gitTree}. */
export async function gitTree(
  folder: string,
): Promise<{ tree: string; clean: boolean } | undefined> {
  const [tree, changes] = await Promise.all([
    answer(folder, 'rev-parse', 'HEAD^{tree}'),
    answer(folder, 'status', '--porcelain', '-z'),
  ]);
  if (tree === undefined || changes === undefined) return undefined;
  return { tree: tree.trim(), clean: changes === '' };
}

/** What a command of git prints; `undefined` where it fails or there is no git. */
async function answer(folder: string, ...args: string[]): Promise<string | undefined> {
  try {
    const { status, stdout } = await run(folder, args);
    return status === 0 ? stdout.toString() : undefined;
  } catch (error) {
    // These two questions are asked of projects without git as well.
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
