/** `okstra handoff` and `okstra ledger heads`: what they say and what they ask git and gh for. */
import { describe, expect, it } from 'vitest';
import { commit, done, KEY, LEDGER, PLAN, project, started, TASK } from './stages.js';
import type { World } from './world.js';

const REPORTS = `${TASK}/runs/final-verification/reports`;
const BRANCH = 'feat-login-collect';
const WANTED = ['--task-key', KEY];

const report = (verdict: string, scope = 'whole-task') =>
  JSON.stringify({
    header: { taskType: 'final-verification', verificationScope: scope },
    verdict: { token: verdict },
  });

/** Stages 1, 2 and 4 are done, stage 2 on top of 1; a report accepts the task. */
function finished(files: Record<string, string> = {}): World {
  const world = project({
    [LEDGER]: started(1, { base_commit: commit('a') }) + done(1) + done(2) + done(4),
    [`${REPORTS}/final-report-final-verification-001.data.json`]: report('accepted'),
    ...files,
  });
  const { repository } = world;
  repository.init();
  repository.parents.set(commit('a'), []);
  for (const [stage, on] of [
    [1, 'a'],
    [2, 1],
    [4, 'a'],
  ] as const) {
    repository.parents.set(commit(stage), [commit(on)]);
    repository.refs.set(`feat-login-s${stage}`, commit(stage));
  }
  return world;
}

describe('handoff show', () => {
  it('is a table, and JSON for a program', async () => {
    const world = finished();
    const { exit, stdout, stderr, files } = await world.run('handoff', 'show', ...WANTED);
    expect({ exit, stderr, files }).toEqual({ exit: 0, stderr: '', files: {} });
    expect(stdout).toMatchInlineSnapshot(`
      "stage  title             can go                head
      1      Parse the input   ✓ yes                 1111111
      2      Write the report  ✓ yes                 2222222
      3      Serve the page    · no: it is not done
      4      Count the words   ✓ yes                 4444444

      verification of the whole task: accepted (.okstra/tasks/web/login/runs/final-verification/reports/final-report-final-verification-001.md)
      stages 1, 2, 4 can go
      "
    `);
    const told = await world.run('handoff', 'show', ...WANTED, '--json', '--dry-run');
    expect(JSON.parse(told.stdout)).toMatchObject({ eligible: [1, 2, 4], dry_run: true });
  });

  it('looks at the newest report of the whole task alone, and says what is wrong with one', async () => {
    const world = finished({
      [`${REPORTS}/final-report-final-verification-002.data.json`]: report('blocked'),
      [`${REPORTS}/final-report-final-verification-003.data.json`]: report('accepted', 'stage'),
      [`${REPORTS}/final-report-final-verification-004.data.json`]: '{',
      [`${REPORTS}/other.json`]: '{',
    });
    const { exit, stdout, stderr } = await world.run('handoff', 'show', ...WANTED);
    expect(exit).toBe(0);
    expect(stdout).toContain(`blocked (${REPORTS}/final-report-final-verification-002.md)`);
    expect(stdout).toContain('nothing can be handed over\n');
    expect(stderr).toMatch(/^okstra: warning: .*-004.data.json: no JSON: .*\n$/);
  });

  it('asks for a plan', async () => {
    const { exit, stderr } = await finished().run('handoff', 'show');
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: 'okstra: which plan? give --plan PLAN or --task-key KEY\n',
    });
  });
});

describe('handoff assemble', () => {
  it('asks git for what the core plans', async () => {
    const world = finished();
    const { repository } = world;
    const dry = await world.run('handoff', 'assemble', ...WANTED, '--dry-run');
    expect(dry).toMatchObject({
      exit: 0,
      stderr: 'okstra: dry run: no branch was made or moved\n',
    });
    expect(repository.refs.has(`${BRANCH}-s1-s2-s4`)).toBe(false);
    const { exit, stdout } = await world.run('handoff', 'assemble', ...WANTED, '--json');
    expect({ exit, ...JSON.parse(stdout) }).toMatchObject({
      exit: 0,
      stages: [1, 2, 4],
      whole: false,
      branch: `${BRANCH}-s1-s2-s4`,
      base_branch: 'main',
      state: 'new',
      start: commit(2),
      merges: [{ commit: commit(4), stages: [4] }],
      dropped: [1],
    });
    expect(repository.calls.filter(([name]) => name === 'collect')).toEqual([
      [
        'collect',
        {
          branch: `${BRANCH}-s1-s2-s4`,
          base: commit('a'),
          heads: [commit(2), commit(4)],
        },
      ],
    ]);
  });

  it('refuses a conflict in the words of the core', async () => {
    const world = finished();
    const { repository } = world;
    repository.conflicts.push({ one: commit(1), other: commit(4), files: ['src/a.rs'] });
    const { exit, stdout, stderr } = await world.run('handoff', 'assemble', '--plan', PLAN);
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' });
    expect(stderr).toContain('stage 2 and stage 4 conflict in src/a.rs');
  });

  it('says where the pull request goes, or asks', async () => {
    const world = finished();
    const { repository } = world;
    const main = repository.refs.get('main') ?? '';
    repository.refs.delete('main');
    const asked = await world.run('handoff', 'assemble', ...WANTED);
    expect(asked).toMatchObject({ exit: 2, stdout: '' });
    expect(asked.stderr).toContain('give --base-branch BRANCH');
    repository.refs.set('master', main);
    const { stdout } = await world.run('handoff', 'pr', ...WANTED, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ base_branch: 'master' });
  });

  it('names a commit that is gone', async () => {
    const world = finished();
    world.repository.parents.delete(commit(4));
    const { exit, stderr } = await world.run('handoff', 'assemble', ...WANTED);
    expect(exit).toBe(3);
    expect(stderr).toContain(`the commit of a stage (${commit(4)}) is not in this repository`);
  });
});

describe('handoff pr', () => {
  it('pushes, opens and records, once', async () => {
    const world = finished();
    world.pullRequests = [];
    const options = [...WANTED, '--stages', '4', '--create', '--json'];
    const { exit, stdout, files } = await world.run('handoff', 'pr', ...options);
    expect({ exit, ...JSON.parse(stdout) }).toMatchObject({
      exit: 0,
      url: 'https://example.org/pull/1',
      pushed: true,
      opened: true,
    });
    expect(world.pullRequests).toMatchObject([
      {
        base: 'main',
        head: `${BRANCH}-s4`,
        title: 'login: stage 4, Count the words',
        draft: false,
      },
    ]);
    expect(files[LEDGER]?.split('\n').at(-2)).toMatch(/"status":"pr".*"pr_number":1\b/);
    const again = await world.run('handoff', 'pr', ...options);
    expect(again).toMatchObject({ exit: 3, stdout: '' });
    expect(world.pullRequests).toHaveLength(1);
  });

  it('quotes what a shell would take for something else', async () => {
    const world = finished();
    const { exit, stderr } = await world.run(
      ...['handoff', 'pr', '--plan', PLAN, '--stages', '1', '--create', '--draft'],
      ...['--base-branch', "it's $HOME"],
    );
    expect(exit).toBe(5);
    expect(stderr).toContain(`'--base=it'\\''s $HOME' --head=${BRANCH}-s1 --draft --body-file=-`);
    expect(stderr).toContain(`--stages 1 --base-branch 'it'\\''s $HOME' | tail -n +3`);
    expect(world.repository.calls.map(([name]) => name)).not.toContain('pushNew');
  });
});

describe('ledger heads', () => {
  it('says of every stage what became of its commit', async () => {
    const world = finished();
    const { repository } = world;
    const heads = (...more: string[]) => world.run('ledger', 'heads', ...WANTED, ...more);
    expect(await heads()).toMatchObject({ exit: 0, stderr: '' });

    for (const stage of [1, 2, 4]) repository.refs.delete(`feat-login-s${stage}`);
    const [one, two, three] = [repository.commit(), repository.commit(), repository.commit()];
    repository.rewritten.set(commit(1), [{ commit: one, by: 'tree' }]);
    repository.rewritten.set(commit(2), [
      { commit: two, by: 'last' },
      { commit: three, by: 'last' },
    ]);
    const told = await heads();
    expect(told).toMatchObject({ exit: 1, files: {} });
    expect(told.stdout).toMatchInlineSnapshot(`
      "stage 1: 1111111 would be corrected to ccccccc, which has the same tree
      stage 2: 2222222 could be any of ccccccc, ccccccc
      stage 4: 4444444 is lost: no commit has its tree or its patch
      "
    `);
    expect(told.stderr).toMatchInlineSnapshot(`
      "okstra: '--yes' records it
      okstra: 'okstra stage done --force-reappend' says which
      "
    `);
    const { files } = await heads('--yes');
    const added = files[LEDGER]
      ?.split('\n')
      .slice(4, -1)
      .map((row) => JSON.parse(row));
    expect(added).toMatchObject([{ stage: 1, status: 'done', head_commit: one }]);
    const { stdout } = await heads('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      written: false,
      stages: [
        { stage: 1, head: one, fate: { kind: 'lost' } },
        { stage: 2, fate: { kind: 'ambiguous', commits: [two, three] } },
        { stage: 4, fate: { kind: 'lost' } },
      ],
    });
  });

  it('needs a repository', async () => {
    const { exit, stderr } = await project().run('ledger', 'heads', ...WANTED);
    expect(exit).toBe(3);
    expect(stderr).toContain('no git repository; make it one');
  });
});
