/** The repository in memory that commands are tested with answers as the real one does. */
import { describe, expect, it } from 'vitest';
import { World } from '../cli/world.js';
import { fault } from './repo.js';

describe('the repository in memory', () => {
  it('makes and removes worktrees, or not', async () => {
    const world = new World();
    const git = await world.git();
    expect(await git.repository('/desk')).toBeUndefined();
    const base = world.repository.init();
    const wanted = { repository: '/desk', path: '/trees/stage-1', branch: 'feat-s1', base };
    expect(await git.addWorktree(wanted)).toEqual({ created: true });
    expect(await git.addWorktree(wanted)).toEqual({ created: false });
    expect((await fault(git.addWorktree({ ...wanted, path: '/x' }))).reason).toBe('exists');
    expect((await fault(git.addWorktree({ ...wanted, branch: 'x' }))).reason).toBe('exists');
    expect(await git.branches('/desk', 'feat-')).toEqual([{ name: 'feat-s1', commit: base }]);
    world.repository.dirt.set(wanted.path, { untracked: ['x'] });
    expect(await git.status(wanted.path)).toMatchObject({ clean: false, untracked: ['x'] });
    expect((await fault(git.removeWorktree(wanted))).reason).toBe('refused');
    const forced = { ...wanted, force: true };
    expect(await git.removeWorktree(forced)).toEqual({ worktree: true, branch: base });
    expect(await git.worktrees('/desk')).toMatchObject([{ path: '/desk', branch: 'main' }]);
  });

  it('undoes, fails as it is told to, and notes what was asked', async () => {
    const world = new World();
    const base = world.repository.init();
    const git = await world.git();
    const wanted = { repository: '/desk', path: '/trees/stage-1', branch: 'feat-s1', base };
    const work = git.addWorktree(wanted, async () => {
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(world.repository.refs.has('feat-s1')).toBe(false);
    world.repository.faults.set('addWorktree', new Error('disk full'));
    await expect(git.addWorktree(wanted)).rejects.toThrow('disk full');
    expect(await git.addWorktree(wanted)).toEqual({ created: true });
    expect(world.repository.calls.map(([name]) => name)).toEqual(Array(3).fill('addWorktree'));
  });

  it('knows what contains what, and what conflicts', async () => {
    const world = new World();
    const base = world.repository.init();
    const git = await world.git();
    const [one, two] = [world.repository.commit(base), world.repository.commit(base)];
    expect(await git.ancestor('/desk', base, one)).toBe(true);
    expect(await git.ancestors('/desk', [{ older: one, newer: two }])).toEqual([false]);
    expect(await git.mergeForecast('/desk', one, [two])).toMatchObject({ clean: true });
    world.repository.conflicts.push({ one, other: two, files: ['a'] });
    const conflict = { files: ['a'], against: two };
    expect(await git.mergeForecast('/desk', base, [one, two])).toMatchObject({
      ...conflict,
      with: one,
    });
    const wanted = { repository: '/desk', path: '/t', branch: 't', base: one };
    await git.addWorktree(wanted);
    const message = () => 'merge';
    expect(await git.mergeInto('/t', { commits: [two], message })).toMatchObject(conflict);
    expect(await git.mergeInto('/t', { commits: [base], message })).toEqual({
      merged: true,
      head: one,
    });
  });

  it('has a gh, or none', async () => {
    const world = new World();
    const gh = await world.gh();
    expect(await gh.present('/desk')).toBe(false);
    world.pullRequests = [];
    const request = { folder: '/desk', base: 'main', head: 'x', title: 't', body: 'b' };
    expect(await (await world.gh()).createPullRequest(request)).toContain('/pull/1');
    expect(world.pullRequests).toEqual([request]);
  });
});
