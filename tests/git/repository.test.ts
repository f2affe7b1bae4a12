/** What git says about repositories, commits, branches, worktrees and changes. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitHead, gitTree } from '../../cli-js/src/host/git/head.js';
import { git as host } from '../../cli-js/src/host/git/index.js';
import { parseStatus } from '../../cli-js/src/host/git/status.js';
import { parseWorktrees } from '../../cli-js/src/host/git/worktrees.js';
import { HostError } from '../../cli-js/src/host/host.js';
import { fault, git, place, Repo, withEnv } from './repo.js';

const NONE = '1234567890'.repeat(4);

/** Another way to a folder. */
function linkTo(folder: string): string {
  const link = place();
  symlinkSync(folder, link);
  return link;
}

describe('running git', () => {
  it('gives status, bytes and words', async () => {
    const repo = new Repo();
    const ran = await host.run(repo.path, ['cat-file', 'blob', 'HEAD:a.txt']);
    expect(ran).toEqual({ status: 0, stdout: Buffer.from('1\n2\n3\n'), stderr: '' });
    const failed = await host.run(repo.path, ['cat-file', 'blob', 'HEAD:b.txt']);
    expect(failed.status).toBe(128);
    expect(failed.stderr).toContain('fatal:');
  });

  it('hands over input and variables', async () => {
    const repo = new Repo();
    const { stdout } = await host.run(repo.path, ['hash-object', '--stdin'], { input: '한\0글' });
    expect(stdout.toString().trim()).toHaveLength(40);
    const env = { GIT_COMMITTER_NAME: '다른 사람' };
    const said = await host.run(repo.path, ['var', 'GIT_COMMITTER_IDENT'], { env });
    expect(said.stdout.toString()).toMatch(/^다른 사람 </);
  });

  it('is not led to another repository by the environment', async () => {
    const [repo, other] = [new Repo(), new Repo()];
    const hostile = {
      GIT_DIR: join(other.path, '.git'),
      GIT_WORK_TREE: other.path,
      GIT_INDEX_FILE: '/nowhere/index',
      GIT_OBJECT_DIRECTORY: '/nowhere/objects',
      GIT_COMMON_DIR: join(other.path, '.git'),
      GIT_NAMESPACE: 'x',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_CONFIG_PARAMETERS: "'core.bare=true'",
      LC_ALL: 'ko_KR.UTF-8',
    };
    await withEnv(hostile, async () => {
      expect(await host.repository(repo.path)).toMatchObject({ topLevel: repo.path, bare: false });
      expect(await host.status(repo.path, ['x'])).toMatchObject({ clean: true });
      expect(await gitHead(repo.path, process.env)).toMatchObject({ branch: 'main' });
    });
  });

  it('pushes nothing', async () => {
    const repo = new Repo();
    for (const args of [['push'], ['-c', 'a.b=c', 'push', 'origin'], ['send-pack', 'x']]) {
      expect(await fault(host.run(repo.path, args))).toMatchObject({ reason: 'refused' });
    }
  });

  it('says that git is missing, or the folder', async () => {
    const repo = new Repo();
    const plain = place();
    mkdirSync(plain);
    expect(await fault(host.run(join(repo.path, 'gone'), ['status']))).toMatchObject({
      reason: 'missing',
      path: join(repo.path, 'gone'),
      message: 'no such folder',
    });
    await withEnv({ PATH: plain }, async () => {
      expect(await fault(host.branches(repo.path, ''))).toMatchObject({
        reason: 'missing',
        path: 'git',
        message: 'no such program',
        help: 'install git 2.38 or newer and make sure that it is in PATH',
      });
      // What the files of a repository say needs no git; neither does a project without one.
      expect(await host.repository(repo.path)).toMatchObject({ topLevel: repo.path });
      expect((await fault(host.repository(join(repo.path, '.git')))).path).toBe('git');
      expect(await host.repository(plain)).toBeUndefined();
      expect(await gitHead(repo.path, {})).toMatchObject({ branch: 'main' });
      expect(await gitTree(repo.path)).toBeUndefined();
    });
  });

  it('fails with faults that other bundles know', () => {
    const other = Object.assign(new Error('from another bundle'), { name: 'HostError' });
    expect(other instanceof HostError).toBe(true);
    expect(new Error('of another kind') instanceof HostError).toBe(false);
    expect({ name: 'HostError' } instanceof HostError).toBe(false);
  });

  it('takes no option for a commit or a branch', async () => {
    const repo = new Repo();
    const bad = ['--all', '-h', 'main', '', 'HEAD', `${repo.head}~`, repo.head.slice(0, 8)];
    for (const commit of bad) {
      const said = { message: 'not the full id of a commit' };
      expect(await fault(host.ancestor(repo.path, commit, repo.head))).toMatchObject(said);
      expect(await fault(host.exists(repo.path, commit))).toMatchObject(said);
      expect(await fault(host.mergeForecast(repo.path, repo.head, [commit]))).toMatchObject(said);
    }
  });
});

describe('a repository', () => {
  it('is told from any folder in it', async () => {
    const repo = new Repo();
    repo.write({ 'packages/앱/x': '' });
    expect(await host.repository(join(repo.path, 'packages/앱'))).toEqual({
      commonDir: join(repo.path, '.git'),
      topLevel: repo.path,
      prefix: 'packages/앱/',
      bare: false,
      shallow: false,
      head: { commit: repo.head, branch: 'main' },
      unborn: false,
    });
  });

  it('is none', async () => {
    const folder = place();
    mkdirSync(folder);
    expect(await host.repository(folder)).toBeUndefined();
  });

  it('is broken, which is not none', async () => {
    const folder = place();
    mkdirSync(folder);
    writeFileSync(join(folder, '.git'), 'gitdir: /nowhere\n');
    expect((await fault(host.repository(folder))).message).toContain('not a git repository');
  });

  it('is bare', async () => {
    const repo = new Repo();
    const bare = place();
    git(repo.path, 'clone', '--quiet', '--bare', repo.path, bare);
    expect(await host.repository(bare)).toMatchObject({
      commonDir: bare,
      topLevel: undefined,
      bare: true,
      head: { commit: repo.head, branch: 'main' },
    });
  });

  it('has a detached head, none yet, or a branch with a tag of its name', async () => {
    const repo = new Repo();
    const { head } = repo;
    repo.git('tag', 'main');
    const ceiling = { GIT_CEILING_DIRECTORIES: '/' };
    expect(await gitHead(repo.path, ceiling)).toEqual({ commit: head, branch: 'main' });
    repo.git('checkout', '--quiet', '--detach');
    expect((await host.repository(repo.path))?.head).toEqual({ commit: head, branch: null });
    expect(await gitHead(repo.path, ceiling)).toEqual({ commit: head, branch: null });
    const empty = place();
    mkdirSync(empty);
    git(empty, 'init', '--quiet');
    expect(await host.repository(empty)).toMatchObject({ head: undefined, unborn: true });
  });

  it('is refused where its path has a line break, in which git gives its answers', async () => {
    const repo = new Repo();
    const path = `${place()}\nx`;
    renameSync(repo.path, path);
    expect((await fault(host.repository(path))).message).toBe('a line break in the path');
  });

  it('is shallow', async () => {
    const repo = new Repo();
    const old = repo.head;
    repo.commit({ b: 'b' });
    const shallow = place();
    git(repo.path, 'clone', '--quiet', '--depth=1', `file://${repo.path}`, shallow);
    expect(await host.repository(shallow)).toMatchObject({ shallow: true });
    expect(await host.existing(shallow, [repo.head, old])).toEqual([true, false]);
  });

  it.each<[what: string, change: (repo: Repo) => string | undefined]>([
    ['as it is made', () => undefined],
    ['through a link to it', ({ path }) => linkTo(path)],
    [
      'with a branch of many parts, all refs packed',
      (repo) => {
        repo.git('switch', '--quiet', '--create', 'a/b/한글');
        repo.git('pack-refs', '--all');
        return undefined;
      },
    ],
    [
      'whose .git is a link',
      ({ path }) => {
        const away = place();
        renameSync(join(path, '.git'), away);
        symlinkSync(away, join(path, '.git'));
        return undefined;
      },
    ],
    [
      'whose .git is a file',
      (repo) => {
        const path = place();
        repo.git('worktree', 'add', '--quiet', '-b', 'side', path);
        return path;
      },
    ],
    [
      'with files elsewhere',
      (repo) => {
        repo.git('config', 'core.worktree', new Repo().path);
        return undefined;
      },
    ],
    [
      'with settings of each worktree',
      (repo) => {
        repo.git('config', 'extensions.worktreeConfig', 'true');
        repo.git('config', '--worktree', 'core.bare', 'true');
        return undefined;
      },
    ],
    [
      'that is called bare',
      (repo) => {
        repo.git('config', 'core.bare', 'true');
        return undefined;
      },
    ],
    [
      'that is called bare in another way',
      ({ path }) => {
        appendFileSync(join(path, '.git/config'), '[core]\n\tBARE\n');
        return undefined;
      },
    ],
    [
      'with refs in a table',
      () => {
        const path = place();
        mkdirSync(path);
        git(path, 'init', '--quiet', '--ref-format=reftable');
        git(path, 'commit', '--quiet', '--allow-empty', '-m', 'first');
        return path;
      },
    ],
    [
      'without refs',
      ({ path }) => {
        rmSync(join(path, '.git/refs'), { recursive: true });
        return undefined;
      },
    ],
    [
      'with a HEAD that names nothing',
      ({ path }) => {
        writeFileSync(join(path, '.git/HEAD'), 'nothing\n');
        return undefined;
      },
    ],
    [
      'with the branches of another one',
      ({ path }) => {
        const other = new Repo();
        other.commit({ other: '' });
        writeFileSync(join(path, '.git/commondir'), `${other.path}/.git\n`);
        return undefined;
      },
    ],
    [
      'whose HEAD is a link',
      ({ path }) => {
        rmSync(join(path, '.git/HEAD'));
        symlinkSync('refs/heads/main', join(path, '.git/HEAD'));
        return undefined;
      },
    ],
    ...[
      'ref: refs/heads/a.lock',
      'ref: refs/heads/./main',
      ' ref: refs/heads/main',
      'ref: refs/heads/a b',
    ].map((head): [string, (repo: Repo) => undefined] => [
      `with the HEAD '${head}'`,
      ({ path }) => {
        writeFileSync(join(path, '.git/HEAD'), `${head}\n`);
        return undefined;
      },
    ]),
    [
      'of a later form',
      (repo) => {
        repo.git('config', 'core.repositoryFormatVersion', '9');
        return undefined;
      },
    ],
    [
      'of another user',
      ({ path }) => {
        // Only root can give a folder away; for others it stays one of their own.
        if (process.getuid?.() !== 0) return undefined;
        chownSync(path, 12_345, 12_345);
        chownSync(join(path, '.git'), 12_345, 12_345);
        return undefined;
      },
    ],
  ])('%s is what git says it is', async (_what, change) => {
    const repo = new Repo();
    const path = change(repo) ?? repo.path;
    const words = ['common-dir', 'is-bare-repository', 'is-shallow-repository', 'show-toplevel'];
    const said = words.map((word) => {
      const flag = word === 'common-dir' ? '--git-common-dir' : `--${word}`;
      const args = ['-C', path, 'rev-parse', '--path-format=absolute', flag];
      const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
      return status === 0 ? stdout.trim() : undefined;
    });
    if (said[0] === undefined) {
      const found = await host.repository(path).catch((error: unknown) => error);
      expect(found === undefined || found instanceof HostError).toBe(true);
      return;
    }
    const found = await host.repository(path);
    const { commonDir, bare, shallow, topLevel } = found ?? {};
    expect([commonDir, `${bare}`, `${shallow}`, topLevel]).toEqual(said);
    const head = spawnSync('git', ['-C', path, 'rev-parse', 'HEAD'], { encoding: 'utf8' });
    expect(found?.head?.commit).toBe(head.status === 0 ? head.stdout.trim() : undefined);
    const on = spawnSync('git', ['-C', path, 'symbolic-ref', '-q', 'HEAD'], { encoding: 'utf8' });
    const ref = on.status === 0 ? on.stdout.trim().replace('refs/heads/', '') : null;
    expect(found?.head?.branch).toBe(head.status === 0 ? ref : undefined);
  });

  it('has a tree, clean or not', async () => {
    const repo = new Repo();
    const tree = repo.git('rev-parse', 'HEAD^{tree}');
    expect(await gitTree(repo.path)).toEqual({ tree, clean: true });
    repo.write({ new: '' });
    expect(await gitTree(repo.path)).toEqual({ tree, clean: false });
    expect(await host.treeOf(repo.path, repo.head)).toBe(tree);
    expect(await host.treeOf(repo.path, NONE)).toBeUndefined();
  });
});

describe('commits', () => {
  it('contain others or not, one by one and many at once', async () => {
    const repo = new Repo();
    const first = repo.head;
    const side = repo.branch('side', { s: 's' });
    const second = repo.commit({ b: 'b' });
    const pairs = [
      [first, second, true],
      [second, first, false],
      [side, second, false],
      [first, side, true],
      [first, first, true],
      [NONE, second, false],
      [first, NONE, false],
    ] as const;
    for (const [older, newer, is] of pairs) {
      expect(await host.ancestor(repo.path, older, newer)).toBe(is);
    }
    const asked = pairs.map(([older, newer]) => ({ older, newer }));
    expect(await host.ancestors(repo.path, asked)).toEqual(pairs.map(([, , is]) => is));
    expect(await host.ancestors(repo.path, asked.slice(0, 5))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
    expect(await host.ancestors(repo.path, [])).toEqual([]);
  });

  it('exist or not; a tree is none', async () => {
    const repo = new Repo();
    const tree = repo.git('rev-parse', 'HEAD^{tree}');
    expect(await host.exists(repo.path, repo.head)).toBe(true);
    expect(await host.exists(repo.path, NONE)).toBe(false);
    expect(await host.existing(repo.path, [tree, repo.head, NONE])).toEqual([false, true, false]);
    expect(await host.existing(repo.path, [])).toEqual([]);
  });

  it('are what branches are at', async () => {
    const repo = new Repo();
    const one = repo.branch('feat-작업-s1', { x: 'x' });
    repo.branch('feat-작업-s2/deep', { y: 'y' });
    repo.branch('fix-작업', { z: 'z' });
    expect(await host.branches(repo.path, 'feat-작업')).toMatchObject([
      { name: 'feat-작업-s1', commit: one },
      { name: 'feat-작업-s2/deep' },
    ]);
    expect(await host.branches(repo.path, 'nothing')).toEqual([]);
  });
});

describe('worktrees', () => {
  it('are listed with all that git knows', async () => {
    const repo = new Repo();
    const [one, two, three] = [place('나무'), place('나무'), place('나무')];
    repo.git('worktree', 'add', '--quiet', '-b', 'one', one);
    repo.git('worktree', 'add', '--quiet', '--detach', two);
    repo.git('worktree', 'add', '--quiet', '-b', 'three', three);
    repo.git('worktree', 'lock', '--reason', '여러\n줄', two);
    rmSync(three, { recursive: true });
    const head = repo.head;
    const plain = { head, bare: false, locked: undefined, prunable: undefined };
    expect(await host.worktrees(one)).toEqual([
      { ...plain, path: repo.path, branch: 'main' },
      { ...plain, path: one, branch: 'one' },
      { ...plain, path: two, branch: null, locked: '여러\n줄' },
      { ...plain, path: three, branch: 'three', prunable: expect.stringContaining('gitdir') },
    ]);
  });

  it('are read as written', () => {
    const text = 'worktree /a b\0bare\0\0worktree /c\0HEAD 0000\0branch refs/heads/x/y\0locked\0\0';
    expect(parseWorktrees(text)).toMatchObject([
      { path: '/a b', bare: true, head: undefined },
      { path: '/c', branch: 'x/y', locked: '', head: undefined },
    ]);
    expect(parseWorktrees('')).toEqual([]);
  });
});

describe('what is not committed', () => {
  it('is nothing', async () => {
    const repo = new Repo();
    expect(await host.status(repo.path)).toEqual({
      clean: true,
      staged: [],
      changed: [],
      untracked: [],
      conflicted: [],
      submodules: [],
    });
  });

  it('is staged, changed, new or renamed, under names of all kinds', async () => {
    const repo = new Repo();
    repo.commit({ '옛 이름': 'long enough to be found again\n', gone: 'x', 'new\nline': '' });
    repo.git('mv', '옛 이름', '새 이름');
    repo.git('rm', '--quiet', 'gone');
    repo.write({ 'a.txt': 'changed', 'new\nline': 'x', ' spaces ': '', 'folder/x': '' });
    repo.git('add', 'new\nline');
    repo.write({ 'new\nline': 'y' });
    expect(await host.status(repo.path)).toEqual({
      clean: false,
      staged: ['gone', 'new\nline', '새 이름'],
      changed: ['a.txt', 'new\nline'],
      untracked: [' spaces ', 'folder/'],
      conflicted: [],
      submodules: [],
    });
  });

  it('does not count what is okstra’s, wherever it lies', async () => {
    const repo = new Repo();
    repo.commit({ 'app/x': '' });
    repo.write({ 'app/.okstra/y': '', 'app/node_modules/z': '', 'app/[a]*/q': '' });
    const app = join(repo.path, 'app');
    const ignore = ['.okstra/', 'node_modules', '[a]*'];
    expect(await host.status(app, ignore)).toMatchObject({ clean: true });
    expect(await host.status(app, ['.okstra'])).toMatchObject({
      untracked: ['app/[a]*/', 'app/node_modules/'],
    });
    repo.write({ 'new/.okstra/y': '' });
    expect(await host.status(repo.path, ['app', 'new/.okstra'])).toMatchObject({ clean: true });
    repo.write({ other: '' });
    expect(await host.status(app, ignore)).toMatchObject({ clean: false });
  });

  it('is in conflict', async () => {
    const repo = new Repo();
    repo.branch('side', { 'a.txt': 'side\n' });
    repo.commit({ 'a.txt': 'main\n' });
    expect((await host.run(repo.path, ['merge', 'side'])).status).toBe(1);
    expect(await host.status(repo.path)).toMatchObject({ clean: false, conflicted: ['a.txt'] });
  });

  it('is in a submodule', async () => {
    const [repo, inner] = [new Repo(), new Repo()];
    repo.git('submodule', '--quiet', 'add', inner.path, '안 쪽');
    repo.commit({}, 'submodule');
    expect(await host.status(repo.path)).toMatchObject({ clean: true });
    writeFileSync(join(repo.path, '안 쪽/new'), '');
    expect(await host.status(repo.path)).toMatchObject({
      clean: false,
      changed: ['안 쪽'],
      submodules: ['안 쪽'],
    });
  });

  it('is read as written', () => {
    const text = '2 R. N... 100644 100644 100644 a b R100 to me\0from me\0? x\0';
    expect(parseStatus(text)).toMatchObject({ staged: ['to me'], untracked: ['x'] });
  });

  it('cannot be told of what may not be read', async () => {
    const folder = place();
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    expect((await fault(host.status(folder))).message).toMatch(/^git status: not a git repository/);
  });
});
