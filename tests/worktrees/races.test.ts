/** Many claims at once on one repository, and claims that are killed at any moment. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
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
  const pause = Math.random() * (what === 3 ? 6 : 40);
  await new Promise((resolve) => setTimeout(resolve, pause));
  child.kill('SIGKILL');
  return ended;
}

describe('claims that are killed', () => {
  it('leave nothing half made, and the next one works', LONG, async () => {
    // Four projects beside one another; each goes on with what the kills left.
    const shops = Array.from(
      { length: 4 },
      () => new Shop({ graph: Array.from({ length: 14 }, () => '') }),
    );
    let kills = 0;
    const moments = new Map<string, number>();
    await Promise.all(
      shops.map(async (shop, index) => {
        for (let round = 0; kills < KILLS && round < 40; round += 1) {
          const stage = (round % 10) + 1;
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
        const rows = shop.rows();
        expect(rows.every(({ status }) => status === 'started')).toBe(true);
        const stages = rows.map(({ stage }) => stage);
        expect(new Set(stages).size).toBe(stages.length);
        expect(
          shop
            .registered()
            .map((it) => it.stage)
            .sort(),
        ).toEqual(stages.sort());
      }),
    );
    expect(kills).toBeGreaterThanOrEqual(40);
    expect(moments.size).toBeGreaterThan(1);
  });
});
