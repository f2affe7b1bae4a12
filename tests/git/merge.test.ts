/** Foreseeing merges, making them, and finding what was rewritten. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git as host } from '../../cli-js/src/host/git/index.js';
import { fault, git, place, Repo, withEnv } from './repo.js';

const NONE = '1234567890'.repeat(4);

describe('a forecast', () => {
  it('is clean, with the tree that would come of it', async () => {
    const repo = new Repo();
    const base = repo.head;
    const [one, two, three] = [
      repo.branch('one', { one: '1' }),
      repo.branch('two', { two: '2' }),
      repo.branch('three', { 'a.txt': '1\n2\n3\n4\n' }),
    ];
    const forecast = await host.mergeForecast(repo.path, one, [two, base, three, two]);
    repo.git('merge', '--quiet', one, two, three);
    expect(forecast).toEqual({ clean: true, tree: repo.git('rev-parse', 'HEAD^{tree}') });
    expect(await host.mergeForecast(repo.path, one, [])).toEqual({
      clean: true,
      tree: repo.git('rev-parse', `${one}^{tree}`),
    });
  });

  it('touches nothing', async () => {
    const repo = new Repo();
    repo.write({ 'a.txt': 'dirty', new: '' });
    const before = repo.git('status', '--porcelain');
    const refs = repo.git('for-each-ref');
    const [one, two] = ['one', 'two'].map((name) => {
      const tree = git(repo.path, 'rev-parse', 'HEAD^{tree}');
      return git(repo.path, 'commit-tree', tree, '-p', 'HEAD', '-m', name);
    });
    await host.mergeForecast(repo.path, one ?? '', [two ?? '', repo.head]);
    expect(repo.git('status', '--porcelain')).toBe(before);
    expect(repo.git('for-each-ref')).toBe(refs);
    expect(existsSync(join(repo.path, '.git/MERGE_HEAD'))).toBe(false);
  });

  it('names files, and which two do not go together', async () => {
    const repo = new Repo();
    repo.commit({ gone: 'x\n', bin: '\0\x01', '이름 하나': 'long enough for git to know it\n' });
    const ours = repo.head;
    const one = repo.branch('one', { 'a.txt': 'one\n', bin: '\0\x02', gone: 'changed\n' });
    const two = repo.branch('two', { other: '' });
    repo.git('switch', '--quiet', '--create', 'three');
    repo.git('rm', '--quiet', 'gone');
    const three = repo.commit({ 'a.txt': 'three\n', bin: '\0\x03' });
    expect(await host.mergeForecast(repo.path, ours, [one, two, three])).toEqual({
      clean: false,
      files: expect.arrayContaining(['a.txt', 'bin', 'gone']),
      against: three,
      with: one,
      unrelated: false,
    });
    expect(await host.mergeForecast(repo.path, three, [one])).toMatchObject({
      files: expect.arrayContaining(['a.txt', 'bin', 'gone']),
      against: one,
      with: three,
    });
  });

  it('knows renames', async () => {
    const repo = new Repo();
    repo.commit({ '이름 하나': 'one\ntwo\nthree\nfour\n' });
    const change = repo.branch('change', { '이름 하나': 'one\ntwo\nthree\nfour\nfive\n' });
    const rename = (name: string) => {
      repo.git('switch', '--quiet', '--create', name, 'main');
      repo.git('mv', '이름 하나', name);
      return repo.commit({});
    };
    const [left, right] = [rename('left'), rename('right')];
    expect(await host.mergeForecast(repo.path, change, [left])).toMatchObject({ clean: true });
    expect(await host.mergeForecast(repo.path, left, [right])).toMatchObject({
      clean: false,
      files: expect.arrayContaining(['left', 'right', '이름 하나']),
    });
  });

  it('knows submodules', async () => {
    const [repo, inner] = [new Repo(), new Repo()];
    repo.git('submodule', '--quiet', 'add', inner.path, 'inner');
    repo.commit({}, 'submodule');
    const move = (name: string) => {
      repo.git('switch', '--quiet', '--create', name, 'main');
      git(join(repo.path, 'inner'), 'checkout', '--quiet', 'origin/main');
      return (
        repo.commit({ [`inner/${name}`]: '' }, name, join(repo.path, 'inner')) && repo.commit({})
      );
    };
    const [left, right] = [move('left'), move('right')];
    expect(await host.mergeForecast(repo.path, left, [right])).toMatchObject({
      clean: false,
      files: ['inner'],
    });
  });

  it('knows histories that have nothing in common, and commits that are not there', async () => {
    const repo = new Repo();
    const ours = repo.head;
    repo.git('checkout', '--quiet', '--orphan', 'other');
    const other = repo.commit({ x: '' });
    expect(await host.mergeForecast(repo.path, ours, [other])).toEqual({
      clean: false,
      files: [],
      against: other,
      with: ours,
      unrelated: true,
    });
    expect(await fault(host.mergeForecast(repo.path, ours, [NONE]))).toMatchObject({
      reason: 'missing',
      message: `commit ${NONE} is not in the repository`,
    });
  });

  it('needs a git that can', async () => {
    const repo = new Repo();
    const bin = place();
    mkdirSync(bin);
    const old = `#!/bin/sh\n[ "$1" = version ] && { echo git version 2.37.1; exit; }\nexit 129\n`;
    writeFileSync(join(bin, 'git'), old, { mode: 0o755 });
    await withEnv({ PATH: `${bin}:${process.env.PATH}` }, async () => {
      expect(await fault(host.mergeForecast(repo.path, NONE, [NONE]))).toMatchObject({
        path: 'git',
        message: 'version 2.37.1 cannot foresee conflicts',
        help: 'install git 2.38 or newer',
      });
    });
  });
});

describe('merging', () => {
  const message = (commit: string) => `Merge ${commit.slice(0, 7)}`;

  /** Stages with a worktree for the one that builds on them. */
  async function stages() {
    const repo = new Repo();
    const commits = [
      repo.branch('one', { one: '1' }),
      repo.branch('two', { two: '2', 'a.txt': 'two\n' }),
      repo.branch('three', { three: '3', 'a.txt': 'three\n' }),
    ] as const;
    const wanted = { repository: repo.path, path: place(), branch: 'next', base: repo.head };
    await host.addWorktree(wanted);
    return { repo, commits, wanted, path: wanted.path };
  }

  it('makes one commit for each, but none for what is there', async () => {
    const { repo, commits, path, wanted } = await stages();
    const [one, two] = commits;
    const merged = await host.mergeInto(path, { commits: [one, wanted.base, two, one], message });
    expect(merged).toEqual({ merged: true, head: git(path, 'rev-parse', 'HEAD') });
    const log = git(path, 'log', '--first-parent', '--format=%s|%an');
    expect(log).toBe(`${message(two)}|Somebody\n${message(one)}|Somebody\nwork|Somebody`);
    expect(
      await host.ancestors(
        path,
        [one, two].map((older) => ({ older, newer: git(path, 'rev-parse', 'HEAD') })),
      ),
    ).toEqual([true, true]);
    expect(await host.status(path)).toMatchObject({ clean: true });
    expect(repo.head).toBe(wanted.base);
  });

  it('is the same whatever the person has set', async () => {
    const { repo, commits, path } = await stages();
    for (const [name, value] of [
      ['merge.ff', 'only'],
      ['merge.log', 'true'],
      ['pull.twohead', 'ours'],
      ['core.editor', 'false'],
    ] as const)
      repo.git('config', name, value);
    expect(await host.mergeInto(path, { commits: [commits[1]], message })).toMatchObject({
      merged: true,
    });
    expect(git(path, 'log', '-1', '--format=%B')).toBe(message(commits[1]));
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('two\n');
  });

  it('puts everything back after a conflict', async () => {
    const { repo, commits, path, wanted } = await stages();
    const [one, two, three] = commits;
    expect(await host.mergeInto(path, { commits: [one, two, three], message })).toEqual({
      merged: false,
      files: ['a.txt'],
      against: three,
      open: false,
      remaining: [],
    });
    expect(git(path, 'rev-parse', 'HEAD')).toBe(wanted.base);
    expect(await host.status(path)).toMatchObject({ clean: true });
    expect(existsSync(join(path, 'one'))).toBe(false);
    expect((await host.removeWorktree(wanted)).worktree).toBe(true);
    repo.health();
  });

  it('is left to be finished', async () => {
    const { commits, path } = await stages();
    const [one, two, three] = commits;
    const asked = { commits: [two, three, one], message, leaveOpen: true };
    expect(await host.mergeInto(path, asked)).toEqual({
      merged: false,
      files: ['a.txt'],
      against: three,
      open: true,
      remaining: [one],
    });
    expect(await host.status(path)).toMatchObject({ conflicted: ['a.txt'] });
    writeFileSync(join(path, 'a.txt'), 'both\n');
    git(path, 'add', 'a.txt');
    git(path, 'commit', '--quiet', '--no-edit');
    expect(git(path, 'log', '-1', '--format=%s')).toBe(message(three));
    expect(await host.mergeInto(path, { commits: [one], message })).toMatchObject({ merged: true });
  });

  it('has a name where the person has none', async () => {
    const { commits, path } = await stages();
    const nameless = join(path, '..', 'nameless');
    writeFileSync(nameless, '');
    await withEnv({ GIT_CONFIG_GLOBAL: nameless, GIT_AUTHOR_NAME: '하나' }, async () => {
      expect(await host.mergeInto(path, { commits: [commits[0]], message })).toMatchObject({
        merged: true,
      });
    });
    expect(git(path, 'log', '-1', '--format=%an %ae %cn %ce')).toBe(
      '하나 okstra@localhost okstra okstra@localhost',
    );
  });

  it('overwrites no changes, and fails as it was where a hook says no', async () => {
    const { repo, commits, path, wanted } = await stages();
    repo.write({ 'a.txt': 'mine\n' }, path);
    const asked = { commits: [commits[0], commits[1]], message };
    expect(await fault(host.mergeInto(path, asked))).toMatchObject({
      reason: 'refused',
      message: 'changes that are not committed are in the way of a merge',
    });
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('mine\n');
    expect(git(path, 'rev-parse', 'HEAD')).toBe(wanted.base);
    git(path, 'checkout', '--quiet', 'a.txt');
    const hook = join(repo.path, '.git/hooks/commit-msg');
    mkdirSync(join(hook, '..'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\ngrep -q Nothing "$1" || { echo no >&2; exit 1; }\n', {
      mode: 0o755,
    });
    await fault(host.mergeInto(path, asked));
    expect(git(path, 'rev-parse', 'HEAD')).toBe(wanted.base);
    expect(await host.status(path)).toMatchObject({ clean: true });
    expect(existsSync(git(path, 'rev-parse', '--git-path', 'MERGE_HEAD'))).toBe(false);
  });

  it('of nothing is where it was', async () => {
    const { path, wanted } = await stages();
    expect(await host.mergeInto(path, { commits: [], message })).toEqual({
      merged: true,
      head: wanted.base,
    });
  });
});

describe('history that was rewritten', () => {
  /** A stage of two commits, and a branch that went on without it. */
  function stage() {
    const repo = new Repo();
    const base = repo.head;
    const first = repo.branch('stage', { 'b.txt': 'b\n', bin: '\0\x01' });
    repo.git('switch', '--quiet', 'stage');
    const head = repo.commit({ 'c.txt': 'c\n' });
    repo.git('switch', '--quiet', 'main');
    return { repo, base, first, head };
  }

  it('is none', async () => {
    const { repo, base, head } = stage();
    const found = await host.findRewritten(repo.path, { base, head }, [repo.head, head]);
    expect(found).toEqual([{ commit: head, by: 'reachable' }]);
  });

  it('is found by its tree: other words, merged', async () => {
    const { repo, base, head } = stage();
    repo.git('switch', '--quiet', 'stage');
    repo.git('commit', '--quiet', '--amend', '-m', 'better words');
    const amended = repo.head;
    repo.git('switch', '--quiet', 'main');
    repo.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'stage');
    const found = await host.findRewritten(repo.path, { base, head }, [repo.head]);
    expect(found).toEqual([{ commit: amended, by: 'tree' }]);
  });

  it('is found after a squash onto other work', async () => {
    const { repo, base, head } = stage();
    repo.commit({ elsewhere: '' });
    repo.git('merge', '--quiet', '--squash', 'stage');
    const squashed = repo.commit({});
    repo.commit({ later: '' });
    const found = await host.findRewritten(repo.path, { base, head }, [repo.head]);
    expect(found).toEqual([{ commit: squashed, by: 'range' }]);
  });

  it('is found after a rebase, also where the base is gone', async () => {
    const { repo, base, first, head } = stage();
    repo.commit({ elsewhere: '' });
    repo.git('rebase', '--quiet', 'main', 'stage');
    const rebased = repo.head;
    const range = { base, head };
    expect(await host.findRewritten(repo.path, range, [rebased, NONE])).toEqual([
      { commit: rebased, by: 'last' },
    ]);
    expect(await host.findRewritten(repo.path, { base: NONE, head }, [rebased])).toEqual([
      { commit: rebased, by: 'last' },
    ]);
    const ids = await host.patchIds(repo.path, {
      base: git(repo.path, 'rev-parse', 'main'),
      head: rebased,
    });
    expect(ids.map(({ id }) => id)).toEqual(
      (await host.patchIds(repo.path, range)).map(({ id }) => id),
    );
    expect((await host.patchIds(repo.path, range)).map(({ commit }) => commit)).toEqual([
      head,
      first,
    ]);
  });

  it('is not found: nothing like it, twice, other bytes, thrown away', async () => {
    const { repo, base, head } = stage();
    const range = { base, head };
    repo.commit({ elsewhere: '' });
    const other = repo.branch('other', { 'b.txt': 'b\n', 'c.txt': 'c\n', bin: '\0\x02' });
    expect(await host.findRewritten(repo.path, range, [other])).toEqual([]);
    const pick = (name: string) => {
      const from = repo.branch(name, { [name]: '' });
      repo.git('switch', '--quiet', name);
      repo.git('cherry-pick', head);
      repo.git('switch', '--quiet', 'main');
      return from && git(repo.path, 'rev-parse', name);
    };
    const [one, two] = [pick('one'), pick('two')];
    expect(await host.findRewritten(repo.path, range, [one])).toMatchObject([{ by: 'last' }]);
    expect(await host.findRewritten(repo.path, range, [one, two])).toHaveLength(2);
    expect(await host.findRewritten(repo.path, { base, head: NONE }, [one])).toEqual([]);
    expect(await host.findRewritten(repo.path, range, [])).toEqual([]);
  });

  it('is not taken for any commit where nothing was changed', async () => {
    const repo = new Repo();
    const base = repo.head;
    const head = repo.branch('empty', {});
    repo.commit({}, 'also empty');
    expect(await host.findRewritten(repo.path, { base, head }, [repo.head])).toEqual([]);
  });
});
