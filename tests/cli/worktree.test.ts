/** `okstra worktree` and claims with worktrees over a repository in memory. */
import { describe, expect, it } from 'vitest';
import { HostError } from '../../cli-js/src/host/host.js';
import { FOUR, PLAN, TASK } from './stages.js';
import { World } from './world.js';

const ofPlan = ['--plan', PLAN];

/** A task in a repository. */
function repository(): World {
  const world = new World({
    [PLAN]: FOUR,
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.okstra/project.json': '{"projectId":"shop"}',
    [`${TASK}/task-manifest.json`]: '{"taskKey":"shop:web:login"}',
  });
  world.repository.init();
  return world;
}

const REGISTRY = '/home/okstra/worktrees/registry.json';

describe('a claim with a worktree', () => {
  it('is registered before it is made, recorded when it is made, and active then', async () => {
    const world = repository();
    const { exit, files } = await world.run('stage', 'claim', ...ofPlan, '--json');
    expect(exit).toBe(0);
    expect(world.repository.calls.map(([name]) => name)).toEqual(['addWorktree']);
    expect(JSON.parse(files[REGISTRY] ?? '').tasks).toMatchObject([
      { taskKey: 'shop:web:login', stages: [{ stage: 1, state: 'active' }] },
    ]);
  });

  it('whatever git refuses leaves neither row nor entry', async () => {
    const world = repository();
    const full = new HostError('no-space', '/home', 'no space left', 'make some');
    world.repository.faults.set('addWorktree', full);
    const { exit, stdout, files } = await world.run('stage', 'claim', ...ofPlan);
    expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' });
    expect(Object.keys(files)).toEqual([REGISTRY]);
    expect(JSON.parse(files[REGISTRY] ?? '').tasks).toMatchObject([{ stages: [] }]);
    expect(await world.run('stage', 'claim', ...ofPlan)).toMatchObject({ exit: 0 });
  });
});

describe('stage next --explain', () => {
  it('asks git nothing where no stage has a commit', async () => {
    const world = repository();
    const { exit, stderr } = await world.run('stage', 'next', ...ofPlan, '--explain');
    expect(exit).toBe(0);
    expect(stderr).not.toContain('warning');
    expect(world.repository.calls).toEqual([]);
  });
});
