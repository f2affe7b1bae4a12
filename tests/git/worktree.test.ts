/** Making and removing worktrees: every situation that a project can be in. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git as host } from '../../cli-js/src/host/git/index.js';
import { fault, git, place, Repo } from './repo.js';

const NONE = '1234567890'.repeat(4);
const CLEAN = { worktrees: 1, branches: ['main'] };

/** What a stage asks for. */
function stage(repo: Repo, branch = 'feat-작업-s1') {
  const path = join(place('나무들'), 'stage-1');
  return { repository: repo.path, path, branch, base: repo.head };
}

describe('a new worktree', () => {
  it('is on a new branch at its base', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    repo.commit({ later: '' });
    expect(await host.addWorktree(wanted)).toEqual({ created: true });
    expect(git(wanted.path, 'rev-parse', 'HEAD')).toBe(wanted.base);
    expect(git(wanted.path, 'branch', '--show-current')).toBe(wanted.branch);
    expect(readdirSync(wanted.path)).toEqual(['.git', 'a.txt']);
    expect(git(wanted.path, 'reflog', 'show', wanted.branch)).toContain(
      'okstra: a stage begins on',
    );
    expect(repo.health()).toEqual({ worktrees: 2, branches: [wanted.branch, 'main'] });
  });

  it('is there already', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    repo.commit({ x: 'x' }, 'work', wanted.path);
    let worked = false;
    const again = host.addWorktree(wanted, async () => {
      worked = true;
    });
    expect(await again).toEqual({ created: false });
    expect(worked).toBe(false);
    const later = { ...wanted, base: repo.commit({ later: '' }) };
    expect(await fault(host.addWorktree(later))).toMatchObject({
      reason: 'exists',
      path: wanted.path,
      message: `a worktree on ${wanted.branch} that does not contain ${later.base.slice(0, 12)}`,
    });
  });

  it('goes into a folder that is empty', async () => {
    const wanted = stage(new Repo());
    mkdirSync(wanted.path, { recursive: true });
    expect(await host.addWorktree(wanted)).toEqual({ created: true });
  });

  it.each([
    ['dirty main tree', (repo: Repo) => repo.write({ 'a.txt': 'changed', new: '' })],
    ['detached head', (repo: Repo) => repo.git('checkout', '--quiet', '--detach')],
    ['unborn head', (repo: Repo) => repo.git('checkout', '--quiet', '--orphan', 'empty')],
    ['merge under way', (repo: Repo) => repo.write({ '.git/MERGE_HEAD': `${repo.head}\n` })],
    ['worktree config', (repo: Repo) => repo.git('config', 'extensions.worktreeConfig', 'true')],
  ])('works with a %s', async (_name, change) => {
    const repo = new Repo();
    const wanted = stage(repo);
    change(repo);
    expect(await host.addWorktree(wanted)).toEqual({ created: true });
    expect(await host.status(wanted.path)).toMatchObject({ clean: true });
    await host.removeWorktree(wanted);
    expect(repo.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('works in a bare repository, from another worktree and from a subfolder', async () => {
    const repo = new Repo();
    const bare = place();
    git(repo.path, 'clone', '--quiet', '--bare', repo.path, bare);
    const wanted = { ...stage(repo), repository: bare };
    expect(await host.addWorktree(wanted)).toEqual({ created: true });
    const second = { ...stage(repo, 'feat-b'), repository: wanted.path };
    expect(await host.addWorktree(second)).toEqual({ created: true });
    expect(await host.repository(second.path)).toMatchObject({ commonDir: bare, bare: false });
  });

  it('leaves submodules empty', async () => {
    const [repo, inner] = [new Repo(), new Repo()];
    repo.git('submodule', '--quiet', 'add', inner.path, 'inner');
    repo.commit({}, 'submodule');
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    expect(readdirSync(join(wanted.path, 'inner'))).toEqual([]);
    expect(await host.status(wanted.path)).toMatchObject({ clean: true });
    expect(await host.removeWorktree(wanted)).toMatchObject({ worktree: true });
  });

  it('works in a shallow clone that has the base, and says how to get one it has not', async () => {
    const repo = new Repo();
    const old = repo.head;
    repo.commit({ b: 'b' });
    const shallow = place();
    git(repo.path, 'clone', '--quiet', '--depth=1', `file://${repo.path}`, shallow);
    const wanted = { ...stage(repo), repository: shallow };
    expect(await host.addWorktree(wanted)).toEqual({ created: true });
    expect(
      await fault(host.addWorktree({ ...stage(repo, 'b'), repository: shallow, base: old })),
    ).toMatchObject({
      reason: 'missing',
      message: `commit ${old} is not in the repository`,
      help: 'the clone is shallow; fetch the rest: `git fetch --unshallow`',
    });
    const gone = { ...stage(repo, 'c'), base: NONE };
    expect(await fault(host.addWorktree(gone))).toMatchObject({
      help: 'fetch it: `git fetch --all`',
    });
    expect(repo.health()).toEqual(CLEAN);
  });

  it('is made where a hook of the project fails', async () => {
    const repo = new Repo();
    const hook = join(repo.path, '.git/hooks/post-checkout');
    repo.write({ '.git/hooks/post-checkout': '#!/bin/sh\necho no lfs >&2\nexit 2\n' });
    chmodSync(hook, 0o755);
    const wanted = stage(repo);
    expect(await host.addWorktree(wanted)).toEqual({
      created: true,
      warning: 'the hook post-checkout ended with 2: no lfs',
    });
    expect(await host.status(wanted.path)).toMatchObject({ clean: true });
  });

  it('is refused without git', async () => {
    const folder = place();
    mkdirSync(folder);
    const wanted = { ...stage(new Repo()), repository: folder };
    expect((await fault(host.addWorktree(wanted))).message).toContain('not a git repository');
    expect(existsSync(wanted.path)).toBe(false);
  });
});

describe('a name that is taken', () => {
  it('by a branch', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    repo.git('branch', wanted.branch);
    expect(await fault(host.addWorktree(wanted))).toMatchObject({
      reason: 'exists',
      path: wanted.branch,
      message: 'there is a branch of that name',
      help: expect.stringContaining(`git branch -d ${wanted.branch}`),
    });
    expect(existsSync(wanted.path)).toBe(false);
  });

  it('by a branch in another worktree', async () => {
    const repo = new Repo();
    const [first, second] = [stage(repo), stage(repo)];
    await host.addWorktree(first);
    expect(await fault(host.addWorktree(second))).toMatchObject({
      reason: 'exists',
      message: `branch ${first.branch} is held by the worktree ${first.path}`,
    });
    rmSync(first.path, { recursive: true });
    expect(await fault(host.addWorktree(second))).toMatchObject({
      message: `branch ${first.branch} is held by the worktree ${first.path}, whose folder is gone`,
    });
  });

  it('by a branch that is a folder to git', async () => {
    const repo = new Repo();
    repo.git('branch', 'feat');
    expect(await fault(host.addWorktree(stage(repo, 'feat/s1')))).toMatchObject({
      reason: 'exists',
      message: 'there is a branch feat',
    });
  });

  it('by a folder or a file', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    mkdirSync(wanted.path, { recursive: true });
    writeFileSync(join(wanted.path, 'mine'), '');
    const said = { reason: 'exists', path: wanted.path };
    expect(await fault(host.addWorktree(wanted))).toMatchObject({
      ...said,
      message: 'something is here that is no worktree of git',
    });
    expect(readdirSync(wanted.path)).toEqual(['mine']);
    rmSync(wanted.path, { recursive: true });
    writeFileSync(wanted.path, 'a file');
    expect(await fault(host.addWorktree(wanted))).toMatchObject(said);
    expect(repo.health()).toEqual(CLEAN);
  });

  it('by a worktree on another branch, there or gone', async () => {
    const repo = new Repo();
    const [wanted] = [stage(repo)];
    repo.git('worktree', 'add', '--quiet', '-b', 'other', wanted.path);
    expect(await fault(host.addWorktree(wanted))).toMatchObject({
      message: `a worktree on other, not on ${wanted.branch}`,
    });
    rmSync(wanted.path, { recursive: true });
    expect(await fault(host.addWorktree(wanted))).toMatchObject({
      reason: 'exists',
      message: 'git still has a worktree on other here, whose folder is gone',
    });
    expect(repo.health().branches).toEqual(['main', 'other']);
  });

  it('that is no name', async () => {
    const repo = new Repo();
    for (const branch of ['-b', '', 'HEAD', '@', 'a..b', 'a b', 'x.lock', '.x', 'a//b', 'a\nb']) {
      expect((await fault(host.addWorktree(stage(repo, branch)))).message).toBe(
        'no name for a branch',
      );
    }
  });
});

describe('what fails half-way', () => {
  it('is undone when the work after it fails', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    const work = host.addWorktree(wanted, async () => {
      repo.commit({ merged: '' }, 'merged', wanted.path);
      repo.write({ dirty: '' }, wanted.path);
      throw new Error('the ledger is full');
    });
    await expect(work).rejects.toThrow('the ledger is full');
    expect(existsSync(wanted.path)).toBe(false);
    expect(repo.health()).toEqual(CLEAN);
    expect(existsSync(join(repo.path, '.git/worktrees'))).toBe(false);
  });

  it('is undone when git cannot write the folder', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    // Where a folder belongs lies a file.
    writeFileSync(join(wanted.path, '..'), '');
    expect(await fault(host.addWorktree(wanted))).toMatchObject({
      reason: 'missing',
      message: 'a part of the path is no folder',
    });
    // Git finds it out by itself: nothing is there, and no folder can be made.
    const below = { ...wanted, path: '/proc/none/stage-1' };
    expect((await fault(host.addWorktree(below))).message).toContain('could not create');
    expect(repo.health()).toEqual(CLEAN);
  });

  it('undoes nothing of another who was faster', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    const other = { ...wanted, branch: 'other' };
    // Both have made their branch; this one makes the folder first.
    await host.addWorktree(wanted);
    repo.write({ mine: '' }, wanted.path);
    repo.git('branch', 'other');
    expect(await host.cleanHalf({ ...other, force: true })).toEqual({
      removed: ['branch'],
      kept: [{ what: wanted.path, why: `a worktree on ${wanted.branch}` }],
    });
    expect(existsSync(join(wanted.path, 'mine'))).toBe(true);
  });

  it('is undone when a filter of the project fails', async () => {
    const repo = new Repo();
    repo.commit({ '.gitattributes': '*.x filter=broken\n', 'one.x': 'x' });
    repo.git('config', 'filter.broken.smudge', 'false');
    repo.git('config', 'filter.broken.required', 'true');
    const wanted = stage(repo);
    expect((await fault(host.addWorktree(wanted))).message).toContain('smudge filter');
    expect(existsSync(wanted.path)).toBe(false);
    repo.git('config', '--unset', 'filter.broken.required');
    expect(repo.health()).toEqual(CLEAN);
  });

  it('waits for a lock of git, and says which file it is', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    const lock = join(repo.path, '.git/refs/heads', `${wanted.branch}.lock`);
    writeFileSync(lock, '');
    const added = host.addWorktree(wanted);
    setTimeout(() => rmSync(lock), 150);
    expect(await added).toEqual({ created: true });
    const next = stage(repo, 'next');
    const held = join(repo.path, '.git/refs/heads/next.lock');
    writeFileSync(held, '');
    expect(await fault(host.addWorktree(next))).toMatchObject({
      reason: 'locked',
      path: held,
      help: 'wait until that git has ended; if none runs any more: `okstra worktree repair`',
    });
    expect(await host.cleanHalf(next)).toEqual({ removed: [], kept: [] });
    expect(existsSync(held)).toBe(false);
  });
});

describe('removing', () => {
  it('takes worktree and branch, and nothing else', async () => {
    const repo = new Repo();
    const [wanted, other] = [stage(repo), stage(repo, 'other')];
    await host.addWorktree(wanted);
    await host.addWorktree(other);
    expect(await host.removeWorktree(wanted)).toEqual({ worktree: true, branch: wanted.base });
    expect(existsSync(wanted.path)).toBe(false);
    expect(repo.health()).toEqual({ worktrees: 2, branches: ['main', 'other'] });
    expect(await host.removeWorktree(wanted)).toEqual({ worktree: false, branch: undefined });
    const { branch: _, ...without } = other;
    expect(await host.removeWorktree(without)).toEqual({ worktree: true, branch: undefined });
    expect(repo.health()).toEqual({ worktrees: 1, branches: ['main', 'other'] });
  });

  it('loses no changes', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    repo.write({ 'a.txt': 'changed', 새것: '' }, wanted.path);
    expect(await fault(host.removeWorktree(wanted))).toMatchObject({
      reason: 'refused',
      message: 'not committed: a.txt, 새것',
      help: 'commit or discard that, or give it up with --force',
    });
    expect(await host.removeWorktree({ ...wanted, force: true })).toMatchObject({ worktree: true });
    expect(repo.health()).toEqual(CLEAN);
  });

  it('loses no commits, on the branch or on a detached head', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    const commit = repo.commit({ x: '' }, 'x', wanted.path);
    const said = {
      reason: 'refused',
      message: `no other branch or tag contains ${commit.slice(0, 12)} of ${wanted.branch}`,
    };
    expect(await fault(host.removeWorktree(wanted))).toMatchObject(said);
    git(wanted.path, 'checkout', '--quiet', '--detach');
    const lost = repo.commit({ y: '' }, 'y', wanted.path);
    const { branch: _, ...without } = wanted;
    expect((await fault(host.removeWorktree(without))).message).toContain(lost.slice(0, 12));
    repo.git('merge', '--quiet', lost);
    expect(await host.removeWorktree(wanted)).toEqual({ worktree: true, branch: commit });
  });

  it('is refused from inside', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    mkdirSync(join(wanted.path, 'deep'));
    const before = process.cwd();
    const cwd = process.cwd;
    process.cwd = () => join(wanted.path, 'deep');
    try {
      expect(await fault(host.removeWorktree({ ...wanted, force: true }))).toMatchObject({
        reason: 'refused',
        message: 'the current folder is inside',
        help: `leave it first: \`cd ${repo.path}\``,
      });
    } finally {
      process.cwd = cwd;
    }
    expect(process.cwd()).toBe(before);
    expect(existsSync(wanted.path)).toBe(true);
  });

  it('is refused where the person has locked it, where another holds the branch', async () => {
    const repo = new Repo();
    const [wanted, other] = [stage(repo), stage(repo, 'other')];
    await host.addWorktree(wanted);
    await host.addWorktree(other);
    repo.git('worktree', 'lock', '--reason', 'on a stick', wanted.path);
    const forced = { ...wanted, force: true };
    expect(await fault(host.removeWorktree(forced))).toMatchObject({
      reason: 'refused',
      message: 'locked: on a stick',
    });
    const wrong = { ...other, branch: wanted.branch };
    expect((await fault(host.removeWorktree(wrong))).message).toContain('is held by');
  });

  it('is refused with submodules that were set up', async () => {
    const [repo, inner] = [new Repo(), new Repo()];
    repo.git('submodule', '--quiet', 'add', inner.path, 'inner');
    repo.commit({}, 'submodule');
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    git(wanted.path, 'submodule', '--quiet', 'update', '--init');
    expect(await fault(host.removeWorktree(wanted))).toMatchObject({
      reason: 'refused',
      message: 'its submodules were set up, and their commits may be nowhere else',
    });
    expect(await host.removeWorktree({ ...wanted, force: true })).toMatchObject({ worktree: true });
  });

  it('goes on where a part is gone', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    // The folder is gone.
    await host.addWorktree(wanted);
    rmSync(wanted.path, { recursive: true });
    expect(await host.removeWorktree(wanted)).toEqual({ worktree: true, branch: wanted.base });
    expect(repo.health()).toEqual(CLEAN);
    // The branch is gone.
    await host.addWorktree(wanted);
    repo.git('update-ref', '-d', `refs/heads/${wanted.branch}`);
    expect(await host.removeWorktree({ ...wanted, force: true })).toEqual({
      worktree: true,
      branch: undefined,
    });
    expect(repo.health()).toEqual(CLEAN);
    // A removal was killed: some files are gone, and what leads to the repository.
    repo.commit({ 'b/c': '', d: '' });
    const next = { ...wanted, base: repo.head };
    await host.addWorktree(next);
    for (const name of ['.git', 'a.txt']) rmSync(join(next.path, name));
    expect(await host.removeWorktree(next)).toEqual({ worktree: true, branch: next.base });
    expect(repo.health()).toEqual(CLEAN);
    // The same, and somebody has put something there.
    await host.addWorktree(next);
    for (const name of ['.git', 'a.txt']) rmSync(join(next.path, name));
    repo.write({ precious: '' }, next.path);
    expect((await fault(host.removeWorktree(next))).reason).toBe('refused');
    expect(existsSync(join(next.path, 'precious'))).toBe(true);
  });

  it('is refused for a folder that is no worktree', async () => {
    const repo = new Repo();
    const wanted = stage(repo);
    mkdirSync(join(wanted.path, 'x'), { recursive: true });
    expect(await fault(host.removeWorktree({ ...wanted, force: true }))).toMatchObject({
      message: 'a folder that is no worktree of git',
    });
  });

  it('forgets no other worktree whose folder is away', async () => {
    const repo = new Repo();
    const [wanted, away] = [stage(repo), stage(repo, 'away')];
    await host.addWorktree(wanted);
    await host.addWorktree(away);
    rmSync(away.path, { recursive: true });
    await host.removeWorktree(wanted);
    expect(repo.health()).toEqual({ worktrees: 2, branches: ['away', 'main'] });
  });
});

describe('linked folders', () => {
  /** A project with folders of all kinds, and a stage of it. */
  async function project(ignored: string) {
    const repo = new Repo();
    repo.commit({ '.gitignore': ignored, 'src/x': '' });
    repo.write({ 'node_modules/m/index.js': 'm', 'app/모듈/n': 'n' });
    const wanted = stage(repo);
    await host.addWorktree(wanted);
    return { repo, wanted, from: repo.path, to: wanted.path };
  }

  it('are there, are not seen by git, and are only unlinked', async () => {
    const { repo, wanted, from, to } = await project('node_modules/\n모듈/\n');
    const dirs = ['node_modules', 'app/모듈', 'gone', 'src'];
    const before = repo.git('status', '--porcelain', '--ignored');
    expect(await host.linkSyncDirs(from, to, dirs)).toEqual({
      linked: ['node_modules', 'app/모듈'],
      warnings: [
        'gone: the project has no such folder',
        'src: the worktree has something of that name',
      ],
    });
    expect(readFileSync(join(to, 'node_modules/m/index.js'), 'utf8')).toBe('m');
    expect(await host.status(to)).toMatchObject({ clean: true });
    git(to, 'add', '--all');
    expect(git(to, 'status', '--porcelain')).toBe('');
    expect(repo.git('status', '--porcelain', '--ignored')).toBe(before);
    const exclude = readFileSync(join(repo.path, '.git/info/exclude'), 'utf8');
    expect((await host.linkSyncDirs(from, to, dirs)).linked).toEqual(['node_modules', 'app/모듈']);
    expect(readFileSync(join(repo.path, '.git/info/exclude'), 'utf8')).toBe(exclude);
    expect(exclude).toMatch(/^\/node_modules\n\/app\/모듈\n/m);
    const links = { project: from, worktree: to, dirs };
    expect(await host.removeWorktree({ ...wanted, links })).toMatchObject({ worktree: true });
    expect(existsSync(join(from, 'node_modules/m/index.js'))).toBe(true);
    expect(existsSync(join(from, 'src/x'))).toBe(true);
  });

  it('are pointed out where git does not ignore them', async () => {
    const { repo, wanted, from, to } = await project('모듈\n');
    expect(await host.linkSyncDirs(from, to, ['node_modules', 'app/모듈'])).toEqual({
      linked: ['node_modules', 'app/모듈'],
      warnings: [
        'node_modules: git sees the link in the worktree; ignore node_modules in .gitignore',
      ],
    });
    expect(repo.git('status', '--porcelain')).toBe('?? node_modules/');
    expect(await host.status(to, ['node_modules'])).toMatchObject({ clean: true });
    const links = { project: from, worktree: to, dirs: ['node_modules', 'app/모듈'] };
    repo.write({ dirty: '' }, to);
    expect((await fault(host.removeWorktree({ ...wanted, links }))).message).toBe(
      'not committed: dirty',
    );
    expect(existsSync(join(to, 'node_modules/m'))).toBe(true);
    rmSync(join(to, 'dirty'));
    expect(await host.removeWorktree({ ...wanted, links })).toMatchObject({ worktree: true });
    expect(existsSync(join(from, 'node_modules/m/index.js'))).toBe(true);
  });

  it('stay in the project and in the worktree', async () => {
    const { repo, from, to } = await project('');
    const outside = place();
    mkdirSync(join(outside, 'deep'), { recursive: true });
    symlinkSync(outside, join(from, 'out'));
    symlinkSync(outside, join(to, 'app'));
    const bad = [
      '..',
      '../x',
      '/etc',
      '.',
      '',
      '.git',
      '.git/hooks',
      'src/../..',
      'C:\\x',
      '..\\x',
    ];
    for (const dir of [...bad, 'out', 'out/deep', 'app/모듈']) {
      expect(await fault(host.linkSyncDirs(from, to, ['node_modules', dir]))).toMatchObject({
        reason: 'refused',
        path: dir,
      });
      expect(existsSync(join(to, 'node_modules'))).toBe(false);
    }
    expect(readdirSync(outside)).toEqual(['deep']);
    expect(repo.health().worktrees).toBe(2);
  });

  it('may be written with a slash, lie in each other, and behind a link in the project', async () => {
    const { repo, wanted, from, to } = await project('node_modules/\n');
    repo.git('-C', to, 'reset', '--quiet');
    for (const folder of [from, to]) symlinkSync('src', join(folder, 'lib'));
    repo.write({ 'src/node_modules/z': 'z' });
    const dirs = ['node_modules/', 'node_modules/m', 'lib/node_modules//'];
    const linked = { linked: ['node_modules', 'lib/node_modules'], warnings: [] };
    expect(await host.linkSyncDirs(from, to, dirs)).toEqual(linked);
    expect(await host.linkSyncDirs(from, to, dirs)).toEqual(linked);
    expect(await host.status(to, ['lib', ''])).toMatchObject({ clean: true });
    expect(host.unlinkSyncDirs(from, to, dirs)).toEqual(linked.linked);
    expect(existsSync(join(from, 'src/node_modules/z'))).toBe(true);
    rmSync(join(to, 'lib'));
    expect(await host.removeWorktree(wanted)).toMatchObject({ worktree: true });
  });

  it('go when the work fails, and only links go', async () => {
    const repo = new Repo();
    repo.write({ 'node_modules/m': 'm' });
    const wanted = stage(repo);
    const links = { project: repo.path, worktree: wanted.path, dirs: ['node_modules'] };
    const work = host.addWorktree({ ...wanted, links }, async () => {
      await host.linkSyncDirs(repo.path, wanted.path, links.dirs);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(readFileSync(join(repo.path, 'node_modules/m'), 'utf8')).toBe('m');
    expect(host.unlinkSyncDirs(repo.path, repo.path, ['node_modules', 'x', '..'])).toEqual([]);
    expect(repo.health()).toEqual(CLEAN);
  });
});
