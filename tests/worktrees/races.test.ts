/** Many claims at once on one repository, and claims that are killed at any moment. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ended, Shop } from './support.js';

const LONG = { timeout: 180_000 };

/** How many claims are killed. */
const KILLS = 42;

describe('claims at once', () => {
  it('16 of them get 16 worktrees', LONG, async () => {
    const shop = new Shop({ graph: Array.from({ length: 16 }, () => '') });
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, at) => shop.claimed('auto', '--session', `s${at}`)),
    );
    const stages = all.map(({ stage }) => stage).sort((a, b) => a - b);
    expect(stages).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
    expect(new Set(shop.trees()).size).toBe(16);
    expect(new Set(all.map(({ branch }) => branch)).size).toBe(16);
    expect(shop.rows()).toHaveLength(16);
    for (const { stage, worktree, branch } of all) {
      expect(worktree).toBe(shop.path(stage));
      expect(shop.gitIn(worktree, 'symbolic-ref', '--short', 'HEAD')).toBe(branch);
    }
    expect(shop.registered().every(({ state }) => state === 'active')).toBe(true);
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
  });
});

describe('while a worktree is being made', () => {
  /** A project in which the checkout of stage 1 takes until `go` is called. */
  async function slow() {
    const shop = new Shop({ graph: ['', '', '', ''] });
    const hook = join(shop.root, '.git/hooks/post-checkout');
    const sign = join(shop.folder, 'go');
    const wait = `while [ ! -e '${sign}' ]; do sleep 0.02; done`;
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\ncase "$PWD" in */stage-1) ${wait};; esac\n`, { mode: 0o755 });
    const words = ['stage', 'claim', '--plan', shop.plan, '--json', '--session', 'slow'];
    const { child, end } = shop.start(words);
    while (!existsSync(join(shop.path(1), 'README.md'))) await pause(5);
    return { shop, words, child, end, go: () => writeFileSync(sign, '') };
  }

  it('nobody waits for it, and nobody takes its stage', LONG, async () => {
    const { shop, words, end, go } = await slow();
    expect(shop.rows()).toEqual([]);
    const other = await shop.claimed('auto', '--session', 'other');
    expect(other.stage).toBe(2);
    const plain = await shop.claimed('auto', '--session', 'third', '--no-worktree');
    expect(plain.stage).toBe(3);
    const refused = await shop.claim(1, '--session', 'fourth');
    expect(refused).toMatchObject({ exit: 3, stdout: '' });
    expect(refused.stderr).toContain('--stage 1 is reserved');
    const list = await shop.okstra('stage', 'list', '--plan', shop.plan, '--json');
    const states = JSON.parse(list.stdout).stages.map(({ state }: { state: string }) => state);
    expect(states).toEqual(['reserved', 'running', 'running', 'ready']);
    // Neither does it go, whatever a person says.
    const at = ['--plan', shop.plan, '--force'];
    expect(await shop.okstra('worktree', 'remove', ...at, '--stage', '1')).toMatchObject({
      exit: 3,
    });
    expect((await shop.okstra('worktree', 'prune', ...at, '--yes')).exit).toBe(0);
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
    // Its own session is told of the one stage, once it is there.
    const again = shop.start(words);
    await pause(300);
    expect(shop.rows()).toHaveLength(2);
    go();
    const [first, second] = (await Promise.all([end, again.end])).map(({ exit, stdout }) => {
      expect(exit).toBe(0);
      return JSON.parse(stdout);
    });
    expect(second).toMatchObject({ stage: 1, already_held: true, claim_id: first.claim_id });
    expect(shop.rows().map(({ stage }) => stage)).toEqual([2, 3, 1]);
    await sound(shop);
  });

  it('the plan may change: the claim is of what it says then', LONG, async () => {
    const { shop, end, go } = await slow();
    const plan = readFileSync(join(shop.root, shop.plan), 'utf8');
    shop.write(shop.plan, plan.replaceAll('Part 1', 'Another part'));
    go();
    const { exit, stdout, stderr } = await end;
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ stage: 1, title: 'Another part' });
    expect(shop.rows()).toHaveLength(1);
    await sound(shop);
  });

  it('a stage that another tool takes meanwhile is left to it, without a trace', LONG, async () => {
    const { shop, end, go } = await slow();
    const now = new Date().toISOString();
    const row = { impl_task_key: 'other', stage: 1, status: 'started', started_at: now };
    writeFileSync(shop.ledger, `${JSON.stringify({ ...row, head_commit: '' })}\n`);
    go();
    const { exit, stdout } = await end;
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).stage).toBe(2);
    expect(shop.trees()).toEqual([shop.path(2)]);
    expect(shop.rows().map(({ stage }) => stage)).toEqual([1, 2]);
    await sound(shop);
  });

  it('a git that outlives a killed claim is waited for, and not forgotten', LONG, async () => {
    const { shop, child, end, go } = await slow();
    child.kill('SIGKILL');
    await end;
    const refused = await shop.claim(1, '--session', 'next');
    expect(refused).toMatchObject({ stdout: '' });
    expect(refused.stderr).toContain('a git is at work here');
    expect(shop.rows()).toEqual([]);
    expect(shop.registered()).toMatchObject([{ stage: 1, state: 'provisioning' }]);
    // It reserves nothing, for whoever made it is gone.
    expect((await shop.okstra('stage', 'next', '--plan', shop.plan)).stdout).toMatch(/stage: 1$/m);
    go();
    await pause(300);
    const next = await shop.claimed(1, '--session', 'next');
    expect(next.worktree).toBe(shop.path(1));
    await sound(shop);
  });

  it('one that fails leaves nothing, not even what the task starts from', LONG, async () => {
    const shop = new Shop({ graph: ['', ''] });
    mkdirSync(join(shop.home, 'worktrees/shop/web'), { recursive: true });
    writeFileSync(join(shop.home, 'worktrees/shop/web/login.stages'), 'in the way');
    const refused = await shop.claim(1);
    expect(refused).toMatchObject({ stdout: '' });
    expect(refused.exit).not.toBe(0);
    expect([shop.branches(), shop.registered(), shop.rows()]).toEqual([['main'], [], []]);
    rmSync(join(shop.home, 'worktrees/shop/web/login.stages'));
    const head = shop.put(shop.root, 'README.md', 'moved on\n');
    expect((await shop.claimed(1)).base_commit).toBe(head);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What every moment has to hold after a repair. */
async function sound(shop: Shop): Promise<void> {
  const { stdout, stderr, exit } = await shop.okstra('worktree', 'repair');
  expect({ exit, stdout, stderr }).toMatchObject({ exit: 0 });
  expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
  const registered = shop.registered();
  expect(registered.filter(({ state }) => state === 'provisioning')).toEqual([]);
  // Registry, git, branches, folders and ledger say the same.
  const paths = registered.map(({ path }) => path).sort();
  expect(shop.trees().sort()).toEqual(paths);
  expect(shop.branches()).toEqual([...registered.map(({ branch }) => branch), 'main'].sort());
  const folder = dirname(shop.path(1));
  const names = existsSync(folder) ? readdirSync(folder) : [];
  expect(names.map((name) => join(folder, name)).sort()).toEqual(paths);
  for (const path of paths) expect(shop.gitIn(path, 'status', '--porcelain')).toBe('');
  const entries = join(shop.root, '.git/worktrees');
  expect(existsSync(entries) ? readdirSync(entries).length : 0).toBe(paths.length);
}

/** Kills a claim a random while after something shows on disk: its entry, branch, folder or row. */
async function killedAt(
  shop: Shop,
  stage: number,
  what: number,
  child: ChildProcess,
  end: Promise<Ended>,
): Promise<Ended> {
  const before = shop.rows().length;
  const shows = [
    () => shop.registered().some((it) => it.stage === stage),
    () => existsSync(join(shop.root, `.git/refs/heads/feat-login-s${stage}`)),
    () => existsSync(shop.path(stage)),
    () => shop.rows().length > before,
  ][what];
  let hasEnded = false;
  const ended = end.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded && shows?.() !== true) await new Promise((resolve) => setTimeout(resolve, 1));
  const pause = Math.random() * (what === 3 ? 6 : 25);
  await new Promise((resolve) => setTimeout(resolve, pause));
  child.kill('SIGKILL');
  return ended;
}

describe('claims that are killed', () => {
  it('leave nothing half made, and the next one works', LONG, async () => {
    // Four projects beside one another; each goes on with what the kills left. In two of them
    // every stage starts from a merge.
    const shops = Array.from(
      { length: 4 },
      (_, at) =>
        new Shop({ graph: ['', '', ...Array.from({ length: 20 }, () => (at % 2 ? '1, 2' : ''))] }),
    );
    for (const shop of [shops[1], shops[3]]) {
      await shop?.finish(1, 'src/one.rs', 'one\n');
      await shop?.finish(2, 'src/two.rs', 'two\n');
    }
    let kills = 0;
    const moments = new Map<string, number>();
    await Promise.all(
      shops.map(async (shop, index) => {
        for (let round = 0; kills < KILLS && round < 80; round += 1) {
          const stage = (round % 20) + 3;
          const held = shop.rows().some((row) => row.stage === stage && row.status === 'started');
          if (held) continue;
          const words = ['stage', 'claim', '--plan', shop.plan, '--stage', `${stage}`];
          const { child, end } = shop.start([...words, '--session', `${index}-${round}`]);
          const { exit } = await killedAt(shop, stage, (kills + index) % 4, child, end);
          if (exit !== 'SIGKILL') continue;
          kills += 1;
          const state = shop.registered().find((it) => it.stage === stage)?.state ?? 'nothing';
          const row = shop.rows().some((it) => it.stage === stage) ? 'row' : 'no row';
          const moment = `${state}, ${row}`;
          moments.set(moment, (moments.get(moment) ?? 0) + 1);
          const isClaimed = row === 'row';
          if (round % 2 === 0) {
            // The next claim takes the stage itself; a recorded claim is its session's.
            const next = await shop.claim(stage, '--session', `${index}-${round}`);
            expect(next).toMatchObject({ exit: 0 });
            expect(shop.gitIn(shop.path(stage), 'status', '--porcelain')).toBe('');
            expect(shop.rows().filter((it) => it.stage === stage)).toHaveLength(1);
          } else {
            await sound(shop);
            expect(shop.registered().some((it) => it.stage === stage)).toBe(isClaimed);
          }
        }
        await sound(shop);
        const rows = shop.rows().filter(({ status }) => status === 'started');
        expect(shop.rows().length - rows.length).toBe(index % 2 ? 2 : 0);
        const stages = rows.map(({ stage }) => stage);
        expect(new Set(stages).size).toBe(stages.length);
        expect(
          shop
            .registered()
            .map((it) => it.stage)
            .sort((a, b) => a - b),
        ).toEqual(stages.sort((a, b) => a - b));
      }),
    );
    expect(kills).toBeGreaterThanOrEqual(40);
    expect(moments.size).toBeGreaterThan(1);
  });
});
