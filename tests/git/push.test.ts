/** What is sent to others: one new branch, and the words of a pull request. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gh } from '../../cli-js/src/host/gh.js';
import { git as host } from '../../cli-js/src/host/git/index.js';
import { guardPush } from '../../cli-js/src/host/git/push.js';
import { fault, git, place, Repo, withEnv } from './repo.js';

describe('pushing', () => {
  /** A project with a remote and a collector branch. */
  function project() {
    const repo = new Repo();
    const remote = place('원격');
    git(repo.path, 'clone', '--quiet', '--bare', repo.path, remote);
    repo.git('remote', 'add', 'origin', remote);
    const commit = repo.branch('collect', { x: 'x' });
    const push = { folder: repo.path, remote: 'origin', branch: 'collect', base: ['main'] };
    return { repo, remote, commit, push };
  }

  it('adds a branch, once', async () => {
    const { repo, remote, commit, push } = project();
    expect(await host.pushNew(push)).toEqual({ pushed: true });
    expect(git(remote, 'rev-parse', 'collect')).toBe(commit);
    expect(await host.pushNew(push)).toEqual({ pushed: false });
    repo.git('switch', '--quiet', 'collect');
    const more = repo.commit({ y: 'y' });
    expect(await host.pushNew(push)).toEqual({ pushed: true });
    expect(git(remote, 'rev-parse', 'collect')).toBe(more);
  });

  it('takes no tags along and leaves the settings of the branch alone', async () => {
    const { repo, remote, push } = project();
    repo.git('tag', '-a', '-m', 'x', 'v1', 'collect');
    repo.git('config', 'push.followTags', 'true');
    await host.pushNew(push);
    expect(git(remote, 'tag')).toBe('');
    expect((await host.run(repo.path, ['config', 'branch.collect.merge'])).status).toBe(1);
  });

  it('is refused where the remote has other commits, known here or not', async () => {
    const { repo, remote, push } = project();
    const other = repo.branch('other', { z: 'z' });
    git(remote, 'fetch', '--quiet', repo.path, `${other}:refs/heads/collect`);
    const said = { reason: 'refused', message: 'origin has other commits in it' };
    expect(await fault(host.pushNew(push))).toMatchObject(said);
    const stranger = new Repo();
    stranger.commit({ strange: '' });
    stranger.git('push', '--quiet', '--force', remote, 'main:collect');
    expect(await fault(host.pushNew(push))).toMatchObject(said);
    expect(git(remote, 'rev-parse', 'collect')).toBe(stranger.head);
  });

  it('never goes to a base branch, nor to the default branch of the remote', async () => {
    const { repo, remote, push } = project();
    repo.commit({ ahead: '' });
    const main = git(remote, 'rev-parse', 'main');
    const said = { reason: 'refused', message: 'main is a base branch' };
    expect(await fault(host.pushNew({ ...push, branch: 'main' }))).toMatchObject(said);
    expect(await fault(host.pushNew({ ...push, branch: 'main', base: [] }))).toMatchObject(said);
    const hidden = { ...push, base: ['refs/heads/Collect'] };
    expect((await fault(host.pushNew(hidden))).message).toBe('collect is a base branch');
    expect(git(remote, 'rev-parse', 'main')).toBe(main);
  });

  it('is refused without branch or remote', async () => {
    const { push } = project();
    expect(await fault(host.pushNew({ ...push, branch: 'none' }))).toMatchObject({
      reason: 'missing',
      message: 'no branch of that name',
    });
    expect((await fault(host.pushNew({ ...push, remote: 'none' }))).message).toContain('none');
    for (const remote of ['--force', '-f', 'https://x/y', '../x', '', 'a b', 'ext::sh -c x']) {
      expect((await fault(host.pushNew({ ...push, remote }))).message).toBe('no name of a remote');
    }
  });

  it('knows no word that forces, deletes or does more', () => {
    const refspec = 'refs/heads/x:refs/heads/x';
    const words = ['--porcelain', '--no-follow-tags', '--recurse-submodules=no'];
    expect(() => guardPush(['push', ...words, '--', 'origin', refspec], ['main'])).not.toThrow();
    const options = [
      ...['--force', '-f', '--forc', '-fu', '-uf', '--force-with-lease', '--force-if-includes'],
      ...['--force-with-lease=x:', '--mirror', '--mir', '--delete', '-d', '--prune', '--all'],
      ...['--branches', '--tags', '--follow-tags', '--no-verify', '--exec=x', '--receive-pack=x'],
      ...['--repo=x', '-o', '--push-option=x', '--set-upstream', '-u', '+x', ''],
    ];
    for (const option of options) {
      for (const args of [
        ['push', option, '--', 'origin', refspec],
        ['push', ...words, option, '--', 'origin', refspec],
        ['push', ...words, '--', option, refspec],
        ['push', ...words, '--', 'origin', option],
        ['push', ...words, '--', 'origin', refspec, option],
        ['push', ...words, option, 'origin', refspec],
        [option, 'push', '--', 'origin', refspec],
      ]) {
        expect(() => guardPush(args, ['base'])).toThrow();
      }
    }
    const refspecs = [
      ...[`+${refspec}`, ':refs/heads/x', 'refs/heads/x:', 'x', 'x:x', 'HEAD', ':', '*'],
      ...['refs/heads/x:refs/heads/main', 'refs/heads/*:refs/heads/*', '^refs/heads/x'],
      ...['refs/tags/x:refs/tags/x', 'refs/heads/main:refs/heads/main', 'refs/heads/x:x'],
      ...['refs/heads/MAIN:refs/heads/MAIN', 'refs/heads/-f:refs/heads/-f', 'HEAD:refs/heads/x'],
    ];
    for (const bad of refspecs) {
      expect(() => guardPush(['push', ...words, '--', 'origin', bad], ['main'])).toThrow();
    }
  });
});

describe('gh', () => {
  /** A `gh` that notes what it was given and says what it is told. */
  function standIn(script: string) {
    const bin = place();
    mkdirSync(bin);
    const note =
      `#!/bin/sh\nhere='${bin}'\nprintf '%s\\0' "$@" > "$here/args"\n` +
      `cat > "$here/stdin"\nenv > "$here/env"\n${script}\n`;
    writeFileSync(join(bin, 'gh'), note);
    chmodSync(join(bin, 'gh'), 0o755);
    const read = (name: string) => readFileSync(join(bin, name), 'utf8');
    return { read, env: { PATH: `${bin}:${process.env.PATH}` } };
  }

  const request = {
    folder: process.cwd(),
    base: 'main',
    head: 'collect',
    title: '--web $(touch /tmp/x) `x` "한글"',
    body: '## Stage\n\n$HOME "quoted"\n- 단계\n',
  };

  it('gets words, not a line, and the text on its input', async () => {
    const { read, env } = standIn(
      'echo "Creating pull request" >&2; echo https://github.com/o/r/pull/7',
    );
    await withEnv(env, async () => {
      expect(await gh.present(process.cwd())).toBe(true);
      expect(await gh.createPullRequest(request)).toBe('https://github.com/o/r/pull/7');
      expect(read('args').split('\0').slice(0, -1)).toEqual([
        'pr',
        'create',
        `--title=${request.title}`,
        '--base=main',
        '--head=collect',
        '--body-file=-',
      ]);
      expect(read('stdin')).toBe(request.body);
      expect(read('env')).toContain('GH_PROMPT_DISABLED=1');
      await gh.createPullRequest({ ...request, draft: true });
      expect(read('args')).toContain('--draft\0');
    });
  });

  it('is not there', async () => {
    const empty = place();
    mkdirSync(empty);
    await withEnv({ PATH: empty }, async () => {
      expect(await gh.present(process.cwd())).toBe(false);
      expect(await fault(gh.createPullRequest(request))).toMatchObject({
        reason: 'missing',
        path: 'gh',
        message: 'no such program',
      });
      expect((await fault(gh.present(join(empty, 'none')))).message).toBe('no such folder');
    });
  });

  it('has one open already, is not logged in, fails', async () => {
    const cases = [
      [
        'echo "a pull request for branch \\"x\\" already exists:\nhttps://github.com/o/r/pull/3" >&2; exit 1',
        {
          reason: 'exists',
          message: 'a pull request is open already: https://github.com/o/r/pull/3',
        },
      ],
      ['echo "To get started: gh auth login" >&2; exit 4', { help: 'log in: `gh auth login`' }],
      [
        'echo "no commits\nbetween" >&2; exit 1',
        { reason: 'other', message: 'no commits between' },
      ],
      ['exit 1', { message: 'ended with 1' }],
    ] as const;
    for (const [script, said] of cases) {
      await withEnv(standIn(script).env, async () => {
        expect(await fault(gh.createPullRequest(request))).toMatchObject(said);
      });
    }
  });
});
