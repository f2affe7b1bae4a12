/** Putting heads together on a branch without a worktree, in real repositories. */
import { describe, expect, it } from 'vitest';
import { git as host } from '../../cli-js/src/host/git/index.js';
import { fault, git, place, Repo } from './repo.js';

const BRANCH = 'feat-login-collect';

/** A collector of these heads. */
const of = (base: string, heads: string[], more: { again?: boolean; dryRun?: boolean } = {}) => ({
  branch: BRANCH,
  base,
  heads,
  message: (head: string) => `Merge ${head.slice(0, 7)}`,
  again: more.again ?? false,
  dryRun: more.dryRun ?? false,
});

function three() {
  const repo = new Repo();
  const base = repo.head;
  const heads = ['b', 'c', 'd'].map((name) => repo.branch(name, { [`${name}.txt`]: `${name}\n` }));
  const [b = '', c = '', d = ''] = heads;
  const at = () => repo.git('rev-parse', BRANCH);
  return { repo, base, b, c, d, at };
}

describe('collecting', () => {
  it('makes merge commits, and touches neither worktree nor index', async () => {
    const { repo, base, b, c, d, at } = three();
    repo.write({ 'mine.txt': 'mine' });
    const dry = await host.collect(repo.path, of(base, [b, c, d], { dryRun: true }));
    expect(dry).toEqual({ kind: 'new', start: b, merges: [c, d], commit: undefined });
    expect(await host.collectors(repo.path)).toEqual([]);
    const made = await host.collect(repo.path, of(base, [b, c, d]));
    expect(made).toEqual({ kind: 'new', start: b, merges: [c, d], commit: at() });
    expect(repo.git('log', '--first-parent', '--format=%P', `${base}..${BRANCH}`)).toBe(
      [`${repo.git('rev-parse', `${BRANCH}~1`)} ${d}`, `${b} ${c}`, base].join('\n'),
    );
    expect(repo.git('status', '--porcelain')).toBe('?? mine.txt');
    expect(repo.git('branch', '--show-current')).toBe('main');
    expect(await host.collectors(repo.path)).toEqual([BRANCH]);
    expect(await host.collect(repo.path, of(base, [b, c, d]))).toMatchObject({ kind: 'unchanged' });
  });

  it('starts at the base where the first head does not contain it', async () => {
    const { repo, base, b } = three();
    const moved = repo.commit({ 'later.txt': '' });
    expect(await host.collect(repo.path, of(moved, [b]))).toMatchObject({
      start: moved,
      merges: [b],
    });
    expect(repo.git('log', '-1', '--format=%P', BRANCH)).toBe(`${moved} ${b}`);
    expect(base).not.toBe(moved);
  });

  it('answers a conflict and leaves nothing', async () => {
    const { repo, base, b } = three();
    const other = repo.branch('other', { 'b.txt': 'other\n' });
    const found = await host.collect(repo.path, of(base, [b, other]));
    expect(found).toMatchObject({ kind: 'conflict', files: ['b.txt'], against: other, with: b });
    expect(repo.git('branch', '--list', BRANCH)).toBe('');
    expect(await host.collectors(repo.path)).toEqual([]);
  });

  it('goes on from what somebody added, but never throws it away', async () => {
    const { repo, base, b, c, d, at } = three();
    await host.collect(repo.path, of(base, [b, c]));
    const tree = place();
    repo.git('worktree', 'add', '--quiet', tree, BRANCH);
    repo.write({ 'mended.txt': '' }, tree);
    git(tree, 'add', '.');
    git(tree, 'commit', '--quiet', '-m', 'mended');
    const mended = at();
    expect((await fault(host.collect(repo.path, of(base, [b, c, d])))).message).toContain(
      `it is checked out in ${tree}`,
    );
    git(tree, 'switch', '--quiet', '--detach');
    expect(await host.collect(repo.path, of(base, [b, c, d]))).toMatchObject({
      kind: 'extended',
      start: mended,
      merges: [d],
    });
    git(tree, 'switch', '--quiet', BRANCH);
    git(tree, 'commit', '--quiet', '--allow-empty', '-m', 'mine');
    git(tree, 'switch', '--quiet', '--detach');
    const mine = at();
    const anew = await fault(host.collect(repo.path, of(base, [d], { again: true })));
    expect(anew).toMatchObject({ reason: 'refused' });
    expect(anew.message).toContain('commits of somebody else');
    expect(at()).toBe(mine);
  });

  it('makes its own anew only when it is told to, also after the branch was deleted', async () => {
    const { repo, base, b, c, d, at } = three();
    await host.collect(repo.path, of(base, [b, c]));
    const before = at();
    expect((await fault(host.collect(repo.path, of(base, [c, d])))).help).toContain('--again');
    expect(at()).toBe(before);
    expect(await host.collect(repo.path, of(base, [c, d], { again: true }))).toMatchObject({
      kind: 'rebuilt',
      start: c,
      commit: at(),
    });
    repo.git('branch', '--quiet', '-D', BRANCH);
    expect(await host.collect(repo.path, of(base, [b]))).toMatchObject({ kind: 'new', commit: b });
    repo.git('branch', '--quiet', '--force', BRANCH, 'main');
    expect((await fault(host.collect(repo.path, of(base, [b], { again: true })))).reason).toBe(
      'exists',
    );
  });

  it('is made by one of many that start at once, and by no other', async () => {
    const { repo, base, b, c, d, at } = three();
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, () => host.collect(repo.path, of(base, [b, c, d]))),
    );
    const ids = all.flatMap((it) =>
      it.status === 'fulfilled' && it.value.kind !== 'conflict' ? [it.value.commit] : [],
    );
    for (const it of all) {
      if (it.status === 'rejected') expect(it.reason).toMatchObject({ reason: 'changed' });
    }
    expect(new Set(ids)).toEqual(new Set([at()]));
  });

  it('takes no options for commits or branches', async () => {
    const { repo, base } = three();
    await fault(host.collect(repo.path, of(base, ['--all'])));
    await fault(host.collect(repo.path, { ...of(base, []), branch: '-f' }));
    await fault(host.collect(repo.path, { ...of(base, []), branch: 'a\nb' }));
  });
});
