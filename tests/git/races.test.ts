/** Worktrees made by many processes at once, and by processes that are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { git as host } from '../../cli-js/src/host/git/index.js';
import { place, Repo, root } from './repo.js';

const CHILD = join(mkdtempSync(join(root, 'child ')), 'child.cjs');

buildSync({
  entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
  bundle: true,
  format: 'cjs',
  outfile: CHILD,
  platform: 'node',
  target: 'node20',
});

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a process that makes a worktree, as leader of a group of its own. */
function start(wanted: unknown) {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(wanted)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const end = new Promise<void>((resolve) => {
    child.once('exit', () => {
      running.delete(child);
      resolve();
    });
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<unknown> => {
    const { done, value } = await lines.next();
    return done ? undefined : JSON.parse(value);
  };
  return { child, end, line };
}

/** A repository with enough files that making a worktree takes a while. */
function large(): Repo {
  const repo = new Repo();
  const files: Record<string, string> = {};
  for (let i = 0; i < 600; i++) files[`folder ${i % 30}/파일 ${i}`] = `${i}\n`.repeat(20);
  repo.commit(files);
  return repo;
}

describe('sixteen at once', () => {
  it('each make their own, all with one name of the folder', async () => {
    const repo = new Repo();
    const all = Array.from({ length: 16 }, (_, i) => ({
      repository: repo.path,
      // Git has to find another name for its entry each time.
      path: join(place(), 'stage-1'),
      branch: `feat-작업-s${i}`,
      base: repo.head,
    }));
    const children = all.map(start);
    const answers = await Promise.all(
      children.map(async ({ line }) => {
        await line();
        return line();
      }),
    );
    expect(answers).toEqual(all.map(() => ({ created: true })));
    expect(repo.health()).toMatchObject({ worktrees: 17 });
    for (const { path } of all) expect(await host.status(path)).toMatchObject({ clean: true });
    await Promise.all(all.map((each) => host.removeWorktree(each)));
    expect(repo.health()).toEqual({ worktrees: 1, branches: ['main'] });
  });

  it('make the same one once', async () => {
    const repo = new Repo();
    const wanted = { repository: repo.path, path: place(), branch: 'one', base: repo.head };
    const children = Array.from({ length: 16 }, () => start(wanted));
    const answers = (await Promise.all(
      children.map(async ({ line }) => {
        await line();
        return line();
      }),
    )) as { created?: boolean; reason?: string }[];
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    // The others find it made, or being made.
    for (const { created, reason } of answers) {
      if (created === undefined) expect(['locked', 'exists']).toContain(reason);
    }
    expect(repo.health()).toEqual({ worktrees: 2, branches: ['main', 'one'] });
    expect(await host.status(wanted.path)).toMatchObject({ clean: true });
  });
});

describe('a kill at any moment', () => {
  it('leaves what cleanHalf takes away', async () => {
    const repo = large();
    const entries = join(repo.path, '.git/worktrees');
    let interrupted = 0;
    for (let round = 0; round < 30; round++) {
      const wanted = {
        repository: repo.path,
        path: join(place(), 'stage-1'),
        branch: `feat-작업-s${round}`,
        base: repo.head,
      };
      const { child, end, line } = start(wanted);
      await line();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
      // With its git, or alone: then that git works on for a while.
      try {
        process.kill(round % 2 === 0 ? -(child.pid ?? 0) : (child.pid ?? 0), 'SIGKILL');
      } catch (error) {
        // It was faster: what it has made is taken away all the same.
        expect(error).toMatchObject({ code: 'ESRCH' });
      }
      await end;
      const { removed, kept } = await host.cleanHalf(wanted);
      if (removed.length > 0) interrupted += 1;
      expect(kept).toEqual([]);
      expect(existsSync(wanted.path)).toBe(false);
      expect(existsSync(entries) ? readdirSync(entries) : []).toEqual([]);
      expect(await host.branches(repo.path, 'feat-')).toEqual([]);
      expect(await host.cleanHalf(wanted)).toEqual({ removed: [], kept: [] });
    }
    expect(interrupted).toBeGreaterThan(5);
    expect(repo.health()).toEqual({ worktrees: 1, branches: ['main'] });
  });

  it.each([
    ['no name yet', ['locked']],
    ['nothing in it', []],
    ['a name that was not written', ['locked', 'gitdir']],
  ])('finds the entry with %s', async (_name, files) => {
    const repo = new Repo();
    const path = join(place(), 'stage-1');
    const wanted = { repository: repo.path, path, branch: 'one', base: repo.head };
    repo.git('branch', 'one');
    for (const name of ['stage-1', 'stage-11', 'stage-2', 'stage-1x']) {
      mkdirSync(join(repo.path, '.git/worktrees', name), { recursive: true });
      for (const file of files) {
        writeFileSync(
          join(repo.path, '.git/worktrees', name, file),
          file === 'locked' ? 'initializing' : '',
        );
      }
    }
    const old = new Date(Date.now() - 5000);
    for (const name of ['stage-1', 'stage-11'])
      utimesSync(join(repo.path, '.git/worktrees', name), old, old);
    expect(await host.cleanHalf(wanted)).toEqual({ removed: ['entry', 'branch'], kept: [] });
    expect(readdirSync(join(repo.path, '.git/worktrees'))).toEqual(['stage-1x', 'stage-2']);
  });

  it.each([
    ['an empty folder', undefined],
    ['a link that was not written', ''],
    ['a link to an entry that is not whole', 'whole'],
    ['an entry that keeps git from listing any', 'empty'],
  ])('finds the entry with %s', async (_name, link) => {
    const repo = new Repo();
    const path = join(place(), 'stage-1');
    const wanted = { repository: repo.path, path, branch: 'one', base: repo.head };
    repo.git('branch', 'one');
    const entry = join(repo.path, '.git/worktrees/stage-1');
    mkdirSync(entry, { recursive: true });
    mkdirSync(path, { recursive: true });
    writeFileSync(join(entry, 'locked'), 'initializing');
    writeFileSync(join(entry, 'gitdir'), `${join(path, '.git')}\n`);
    const text = link === 'whole' ? `gitdir: ${entry}\n` : link;
    if (text !== undefined) writeFileSync(join(path, '.git'), text);
    if (link === 'empty') writeFileSync(join(entry, 'commondir'), '');
    expect(await host.cleanHalf(wanted)).toEqual({
      removed: ['entry', 'folder', 'branch'],
      kept: [],
    });
    expect(existsSync(path)).toBe(false);
    expect(repo.health()).toEqual({ worktrees: 1, branches: ['main'] });
  });
});

describe('cleaning up', () => {
  function stage() {
    const repo = new Repo();
    const wanted = { repository: repo.path, path: place(), branch: 'one', base: repo.head };
    return { repo, wanted };
  }

  it('keeps what somebody has worked in, unless told', async () => {
    const { repo, wanted } = stage();
    await host.addWorktree(wanted);
    repo.write({ mine: '' }, wanted.path);
    const dirty = await host.cleanHalf(wanted);
    expect(dirty.removed).toEqual([]);
    expect(dirty.kept).toMatchObject([
      { what: wanted.path },
      { what: 'one', why: `held by the worktree ${wanted.path}` },
    ]);
    const at = repo.commit({}, 'mine', wanted.path);
    expect(await host.cleanHalf(wanted)).toEqual({
      removed: ['worktree'],
      kept: [{ what: 'one', why: `at ${at.slice(0, 12)}, not at its base any more` }],
    });
    expect(await host.cleanHalf({ ...wanted, force: true })).toEqual({
      removed: ['branch'],
      kept: [],
    });
  });

  it('keeps what is not ours', async () => {
    const { repo, wanted } = stage();
    const other = place();
    repo.git('worktree', 'add', '--quiet', '-b', 'one', other);
    expect(await host.cleanHalf({ ...wanted, force: true })).toEqual({
      removed: [],
      kept: [{ what: 'one', why: `held by the worktree ${other}` }],
    });
    mkdirSync(wanted.path);
    writeFileSync(join(wanted.path, 'mine'), '');
    expect((await host.cleanHalf({ ...wanted, force: true })).kept).toMatchObject([
      { what: wanted.path, why: 'a folder that is no worktree of git' },
      { what: 'one' },
    ]);
    repo.git('worktree', 'lock', other);
    expect((await host.cleanHalf({ ...wanted, path: other, force: true })).kept).toMatchObject([
      { what: other, why: 'locked: without a reason' },
      { what: 'one' },
    ]);
    rmSync(join(wanted.path, 'mine'));
  });

  it('needs the repository', async () => {
    const { wanted } = stage();
    const folder = place();
    mkdirSync(folder);
    await expect(host.cleanHalf({ ...wanted, repository: folder })).rejects.toThrow(
      'no repository of git',
    );
  });
});
