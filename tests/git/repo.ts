/** Real repositories in temporary folders, whose names hold spaces and Korean letters. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { HostError } from '../../cli-js/src/host/host.js';

/** Everything of one test file lies in it. */
export const root = realpathSync(mkdtempSync(join(tmpdir(), 'okstra git 한글 ')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

// The settings of whoever runs the tests are none of theirs.
for (const name of Object.keys(process.env)) if (name.startsWith('GIT_')) delete process.env[name];
process.env.GIT_CONFIG_NOSYSTEM = '1';
process.env.GIT_CONFIG_GLOBAL = join(root, 'gitconfig');
writeFileSync(
  join(root, 'gitconfig'),
  '[user]\n\tname = Somebody\n\temail = some@body\n[init]\n\tdefaultBranch = main\n' +
    '[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n',
);

let made = 0;

/** A new folder, not made yet. */
export function place(name = '자리'): string {
  made += 1;
  return join(root, `${name} ${made}`);
}

/** What git prints, without the line end; fails where git does. */
export function git(folder: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout.trimEnd();
}

/** A repository with one commit on `main`. */
export class Repo {
  readonly path: string;

  constructor(path = place('저장소')) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    git(path, 'init', '--quiet');
    this.commit({ 'a.txt': '1\n2\n3\n' });
  }

  git(...args: string[]): string {
    return git(this.path, ...args);
  }

  write(files: Record<string, string>, folder = this.path): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  }

  /** Commits files; answers the commit. */
  commit(files: Record<string, string>, message = 'work', folder = this.path): string {
    this.write(files, folder);
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--allow-empty', '-m', message);
    return git(folder, 'rev-parse', 'HEAD');
  }

  /** A branch with one commit on another one; the main worktree is on `main` again after it. */
  branch(name: string, files: Record<string, string>, from = 'main'): string {
    this.git('switch', '--quiet', '--create', name, from);
    const commit = this.commit(files, name);
    this.git('switch', '--quiet', 'main');
    return commit;
  }

  get head(): string {
    return this.git('rev-parse', 'HEAD');
  }

  /** Whether git itself finds nothing wrong, and what it lists. */
  health(): { worktrees: number; branches: string[] } {
    this.git('fsck', '--connectivity-only', '--no-dangling');
    const worktrees = this.git('worktree', 'list').split('\n').length;
    const branches = this.git('for-each-ref', '--format=%(refname:short)', 'refs/heads');
    return { worktrees, branches: branches.split('\n') };
  }
}

/** The fault that work ends with. */
export async function fault(work: Promise<unknown>): Promise<HostError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(HostError);
  return error as HostError;
}

/** Runs work with other variables in the environment. */
export async function withEnv<T>(env: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}
