/** Recorded commits after somebody rewrote history, on the built command and real repositories. */
import { describe, expect, it } from 'vitest';
import { type Ended, KEY } from '../scenarios/project.js';
import { acceptedShop, type Shop, shopWith } from './shop.js';

const heads = (shop: Shop, ...more: string[]): Promise<Ended> =>
  shop.okstra('ledger', 'heads', '--task-key', KEY, ...more);

const headOf = async (shop: Shop, stage: number): Promise<string> => {
  const { stdout } = await shop.ok('stage', 'list', '--task-key', KEY, '--json');
  const { stages } = JSON.parse(stdout) as { stages: { stage: number; head: string }[] };
  return stages.find((line) => line.stage === stage)?.head ?? '';
};

const short = (commit: string) => commit.slice(0, 7);

describe('ledger heads', () => {
  it('finds them after a rebase and an amend, and corrects them only when it is told to', async () => {
    const shop = shopWith('', '', '');
    const one = await shop.stage(1, undefined, 'accepted');
    const two = await shop.stage(2, undefined, 'accepted');
    const three = await shop.stage(3, undefined, 'accepted');
    const fine = await heads(shop);
    expect(fine).toEqual({
      exit: 0,
      stdout: [one, two, three]
        .map(({ head }, at) => `stage ${at + 1}: ${short(head)} is there\n`)
        .join(''),
      stderr: '',
    });
    // What was collected keeps the old commits alive, and must not hide the new ones.
    await shop.ok('handoff', 'assemble', '--task-key', KEY);
    shop.commit('elsewhere');
    shop.git('commit', '--quiet', '--allow-empty', '-m', 'elsewhere');
    shop.in(one.worktree, 'rebase', '--quiet', 'main');
    const rebased = shop.in(one.worktree, 'rev-parse', 'HEAD');
    shop.in(two.worktree, 'commit', '--quiet', '--amend', '-m', 'better words');
    const amended = shop.in(two.worktree, 'rev-parse', 'HEAD');

    const rows = shop.rows();
    const would = await heads(shop);
    expect(would).toEqual({
      exit: 0,
      stdout:
        `stage 1: ${short(one.head)} would be corrected to ${short(rebased)}, which has the same patch\n` +
        `stage 2: ${short(two.head)} would be corrected to ${short(amended)}, which has the same tree\n` +
        `stage 3: ${short(three.head)} is there\n`,
      stderr: "okstra: '--yes' records it\n",
    });
    expect((await heads(shop, '--yes', '--dry-run')).stdout).toBe(would.stdout);
    expect(shop.rows()).toEqual(rows);

    const corrected = await heads(shop, '--yes');
    expect(corrected.exit).toBe(0);
    expect(corrected.stdout).toContain(`is corrected to ${short(rebased)}`);
    expect(shop.rows()).toHaveLength(rows.length + 2);
    expect(await headOf(shop, 1)).toBe(rebased);
    expect(await headOf(shop, 2)).toBe(amended);
    expect((await heads(shop)).stdout).not.toContain('corrected');
    // What was accepted stays so, and goes on with the new commits.
    const shown = JSON.parse((await shop.handoff('show', '--json')).stdout);
    expect(shown).toMatchObject({ eligible: [1, 2, 3], stages: [{ head: rebased }, {}, {}] });
    const made = await shop.handoff('assemble', '--again', '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ state: 'rebuilt', start: rebased });
    expect((await heads(shop)).stdout).toContain(`stage 1: ${short(rebased)} is there`);
  });

  it('finds a stage of several commits that was squashed', async () => {
    const shop = acceptedShop('');
    const one = await shop.stage(1, { 'src/a.rs': 'a\n' });
    const head = shop.commitIn(one.worktree, 'more', { 'src/b.rs': 'b\n' });
    await shop.reappend(1, head);
    shop.write('elsewhere.txt', '');
    shop.commit('elsewhere');
    shop.git('merge', '--quiet', '--squash', one.branch);
    const squashed = shop.commit('squashed');
    shop.in(one.worktree, 'reset', '--quiet', '--hard', one.base);
    const { stdout } = await heads(shop, '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      written: true,
      stages: [{ stage: 1, head, fate: { kind: 'corrected', commit: squashed, same: 'patch' } }],
    });
    expect(await headOf(shop, 1)).toBe(squashed);
  });

  it('reports what is lost, what could be several, and writes neither', async () => {
    const shop = acceptedShop('', '');
    const one = await shop.stage(1);
    const two = await shop.stage(2);
    const onto = (name: string) => {
      const tree = `${shop.folder}/${name}`;
      shop.git('worktree', 'add', '--quiet', '-b', name, tree, 'main');
      shop.commitIn(tree, name, { [`${name}.txt`]: name });
      shop.in(tree, 'cherry-pick', two.head);
      return shop.in(tree, 'rev-parse', 'HEAD');
    };
    const [left, right] = [onto('left'), onto('right')];
    for (const { worktree, base } of [one, two])
      shop.in(worktree, 'reset', '--quiet', '--hard', base);
    const rows = shop.rows();
    const found = await heads(shop, '--yes');
    expect(found.exit).toBe(1);
    expect(found.stdout).toContain(`stage 1: ${short(one.head)} is lost: no commit has its tree`);
    expect(found.stdout).toContain(`stage 2: ${short(two.head)} could be any of `);
    for (const commit of [left, right]) expect(found.stdout).toContain(short(commit));
    expect(shop.rows()).toEqual(rows);

    // And also once git has thrown it away.
    shop.git('reflog', 'expire', '--expire=now', '--all');
    shop.git('gc', '--quiet', '--prune=now');
    expect((await heads(shop)).exit).toBe(1);
    const made = await shop.handoff('assemble', '--stages', '1');
    expect(made.exit).toBe(3);
    expect(made.stderr).toContain(
      "is not in this repository; fetch it; if history was rewritten, 'okstra ledger heads' finds it",
    );
  });
});
