/** Choosing stages and putting them together, on the built command and real repositories. */
import { describe, expect, it } from 'vitest';
import { KEY, PLAN } from '../scenarios/project.js';
import { acceptedShop, shopWith } from './shop.js';

const BRANCH = 'feat-login-collect';

describe('handoff show', () => {
  it('says of every stage whether it can go, and why not', async () => {
    const shop = shopWith('', '', '', '3');
    await shop.stage(1, undefined, 'accepted');
    await shop.stage(2, undefined, 'blocked');
    await shop.stage(3);
    const shown = await shop.handoff('show');
    expect({ exit: shown.exit, stderr: shown.stderr }).toEqual({ exit: 0, stderr: '' });
    const lines = shown.stdout.split('\n').map((line) => line.replace(/\s{2,}/g, ' | '));
    expect(lines).toEqual([
      'stage | title | can go | head',
      expect.stringMatching(/^1 \| Part 1 \| ✓ yes \| [\da-f]{7}$/),
      expect.stringMatching(
        /^2 \| Part 2 \| · no: its latest verification is blocked \| [\da-f]{7}$/,
      ),
      expect.stringMatching(/^3 \| Part 3 \| · no: it is not verified \| [\da-f]{7}$/),
      '4 | Part 4 | · no: it is not done',
      '',
      'verification of the whole task: none',
      'stage 1 can go',
      '',
    ]);

    shop.verified('accepted');
    const { stdout } = await shop.handoff('show', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      eligible: [1, 2, 3],
      whole_task: { verdict: 'accepted' },
      stages: [{ reason: null }, {}, {}, { stage: 4, reason: { kind: 'not-started' } }],
    });
    shop.verified('blocked');
    const after = await shop.handoff('show');
    expect(after.stdout).toMatch(/verification of the whole task: blocked \(.okstra.*\.md\)/);
  });

  it('works outside of git, where nothing can be assembled', async () => {
    const shop = shopWith('');
    shop.environment.GIT_CEILING_DIRECTORIES = '/';
    const { rmSync } = await import('node:fs');
    rmSync(`${shop.root}/.git`, { recursive: true });
    const shown = await shop.handoff('show');
    expect(shown.stdout).toContain('nothing can be handed over');
    const made = await shop.handoff('assemble');
    expect(made.exit).toBe(3);
    expect(made.stderr).toContain('no git repository; commits are handed over');
  });
});

describe('handoff assemble', () => {
  it('merges the heads in the order of their dependencies, and touches no worktree', async () => {
    const shop = acceptedShop('3', '', '', '2');
    const three = await shop.stage(3);
    const two = await shop.stage(2);
    const four = await shop.stage(4);
    const one = await shop.stage(1);
    shop.write('mine.txt', 'not committed\n');
    const before = shop.git('worktree', 'list', '--porcelain');
    const files = shop.files();

    const dry = await shop.handoff('assemble', '--dry-run');
    expect(dry.stdout).toBe(
      `${BRANCH} would be made\n` +
        `  from ${one.head.slice(0, 7)} (stage 1)\n` +
        `  merge ${four.head.slice(0, 7)} (stage 4)\n` +
        '  contained: stages 2, 3\n',
    );
    expect(shop.git('branch', '--list', BRANCH)).toBe('');

    const made = await shop.handoff('assemble');
    expect({ exit: made.exit, stderr: made.stderr }).toEqual({ exit: 0, stderr: '' });
    const commit = shop.git('rev-parse', BRANCH);
    expect(made.stdout).toMatch(`${BRANCH} is made, at ${commit.slice(0, 7)}\n`);
    expect(shop.git('log', '-1', '--format=%P|%an|%s', commit)).toBe(
      `${one.head} ${four.head}|Ada|Merge stage 4 into ${BRANCH}`,
    );
    for (const { head } of [two, three]) shop.git('merge-base', '--is-ancestor', head, BRANCH);
    expect(shop.git('ls-tree', '-r', '--name-only', BRANCH, 'src').split('\n')).toEqual(
      [1, 2, 3, 4].map((stage) => `src/part${stage}/1.rs`),
    );
    expect(shop.git('worktree', 'list', '--porcelain')).toBe(before);
    expect(shop.files()).toEqual(files);
    expect(shop.git('branch', '--show-current')).toBe('main');

    const again = await shop.handoff('assemble', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'unchanged', commit, branch: BRANCH });
  });

  it('takes a group of stages on a branch of its own', async () => {
    const shop = acceptedShop('', '', '');
    const one = await shop.stage(1);
    await shop.stage(2);
    const three = await shop.stage(3);
    const made = await shop.handoff('assemble', '--stages', '3,1', '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({
      stages: [1, 3],
      whole: false,
      branch: `${BRANCH}-s1-s3`,
      state: 'new',
      start: one.head,
      merges: [{ commit: three.head, stages: [3] }],
    });
    const refused = await shop.handoff('assemble', '--stages', '1,x');
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
  });

  it('refuses stages that cannot go', async () => {
    const shop = shopWith('', '');
    await shop.stage(1);
    const refs = shop.refs();
    const one = await shop.handoff('assemble', '--stages', '1');
    expect(one).toMatchObject({ exit: 3, stdout: '' });
    expect(one.stderr).toMatch(/stage 1.*it is not verified/);
    const all = await shop.handoff('assemble');
    expect(all.exit).toBe(3);
    expect(all.stderr).toContain('stage 2: it is not done\n');
    expect(shop.refs()).toBe(refs);
  });

  it('refuses a conflict, names files and stages, and leaves nothing behind', async () => {
    const shop = acceptedShop('', '', '');
    await shop.stage(1, { 'src/one.rs': 'one\n' });
    await shop.stage(2, { 'src/shared.rs': 'two\n' });
    await shop.stage(3, { 'src/shared.rs': 'three\n' });
    const refs = shop.refs();
    const files = shop.files();
    for (const more of [['--dry-run'], []]) {
      const made = await shop.handoff('assemble', ...more);
      expect(made).toMatchObject({ exit: 3, stdout: '' });
      expect(made.stderr).toMatch(/stage 2 and stage 3 conflict in src\/shared.rs/);
      expect(made.stderr).toContain('src/shared.rs\n');
    }
    expect(shop.refs()).toBe(refs);
    expect(shop.files()).toEqual(files);
    // Others still can go.
    expect((await shop.handoff('assemble', '--stages', '1,3')).exit).toBe(0);
  });

  it('merges on top of what it made, and makes it anew only when it is told to', async () => {
    const shop = acceptedShop('', '');
    const one = await shop.stage(1);
    await shop.stage(2);
    await shop.ok('handoff', 'assemble', '--task-key', KEY);
    const first = shop.git('rev-parse', BRANCH);

    // The stage goes on: its new commit is merged on top.
    const later = shop.commitIn(one.worktree, 'more', { 'src/more.rs': 'more\n' });
    await shop.reappend(1, later);
    const more = await shop.handoff('assemble', '--json');
    expect(JSON.parse(more.stdout)).toMatchObject({ state: 'extended', start: first });
    expect(shop.git('log', '-1', '--format=%P', BRANCH)).toBe(`${first} ${later}`);

    // It is another commit now: what was merged is none of the stage's any more.
    shop.in(one.worktree, 'reset', '--quiet', '--hard', one.base);
    const other = shop.commitIn(one.worktree, 'other', { 'src/other.rs': 'other\n' });
    await shop.reappend(1, other);
    const stale = await shop.handoff('assemble');
    expect(stale).toMatchObject({ exit: 3, stdout: '' });
    expect(stale.stderr).toContain('in none of these stages any more; add --again');
    const anew = await shop.handoff('assemble', '--again', '--json');
    expect(JSON.parse(anew.stdout)).toMatchObject({ state: 'rebuilt', start: other });
    expect(shop.git('ls-tree', '-r', '--name-only', BRANCH, 'src')).toContain('src/other.rs');
    expect(shop.git('ls-tree', '-r', '--name-only', BRANCH, 'src')).not.toContain('src/more.rs');
  });

  it('leaves the branch of somebody else alone, and one that is checked out', async () => {
    const shop = acceptedShop('', '');
    await shop.stage(1);
    await shop.stage(2);
    shop.git('branch', BRANCH, 'main');
    const refs = shop.refs();
    for (const more of [[], ['--again']]) {
      const made = await shop.handoff('assemble', ...more);
      expect(made).toMatchObject({ exit: 3, stdout: '' });
      expect(made.stderr).toContain('it is not one that okstra made; rename it');
    }
    expect(shop.refs()).toBe(refs);
    shop.git('branch', '-m', BRANCH, 'mine');

    await shop.ok('handoff', 'assemble', '--plan', PLAN);
    const tree = `${shop.folder}/looked at`;
    shop.git('worktree', 'add', '--quiet', tree, BRANCH);
    // Somebody mends something there; what is contained stays as it should be.
    const mended = shop.commitIn(tree, 'mended', { 'src/mended.rs': '' });
    expect((await shop.handoff('assemble', '--json')).stdout).toContain('"state": "unchanged"');
    expect(shop.git('rev-parse', BRANCH)).toBe(mended);
  });

  it("uses okstra's name where the person has none", async () => {
    const shop = acceptedShop('', '');
    await shop.stage(1);
    await shop.stage(2);
    for (const who of ['AUTHOR', 'COMMITTER']) {
      delete shop.environment[`GIT_${who}_NAME`];
      delete shop.environment[`GIT_${who}_EMAIL`];
    }
    await shop.ok('handoff', 'assemble', '--task-key', KEY);
    expect(shop.git('log', '-1', '--format=%an %ce', BRANCH)).toBe('okstra okstra@localhost');
  });

  it('puts stages together that were built in the project folder itself', async () => {
    const shop = acceptedShop('', '1', '');
    // One has a worktree; the registry knows nothing of the others.
    await shop.stage(3);
    await shop.finish(1, 'Part 1');
    const { head } = await shop.finish(2, 'Part 2');
    const made = await shop.handoff('assemble', '--stages', '1,2', '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ state: 'new', commit: head, merges: [] });
  });

  it('knows a task by its folder, however it is named', async () => {
    const shop = acceptedShop('', '');
    shop.git('rm', '--quiet', '.okstra/project.json');
    shop.commit('no project');
    const { branch } = await shop.stage(1);
    expect(branch).toBe('feat-login-s1');
    for (const how of [
      ['--plan', PLAN],
      ['--task-key', KEY],
    ]) {
      const made = await shop.okstra('handoff', 'assemble', ...how, '--json');
      expect(JSON.parse(made.stdout)).toMatchObject({ branch: 'feat-login-collect-s1' });
    }
  });
});
