/** The commands about worktrees: list, path, forecast, prune, remove, repair. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KEY, Shop } from './support.js';

/** A project with one stage done and merged, one done, one running, one given back. */
async function mixed() {
  const shop = new Shop({ graph: ['', '', '', '', ''] });
  const one = await shop.finish(1, 'src/one.rs', 'one\n');
  shop.git('merge', '--quiet', one);
  const two = await shop.finish(2, 'src/two.rs', 'two\n');
  const three = await shop.claimed(3);
  const four = await shop.claimed(4);
  writeFileSync(join(four.worktree, 'notes.txt'), 'uncommitted');
  await release(shop, 4, four.claim_id);
  return { shop, one, two, three, four };
}

async function release(shop: Shop, stage: number, claim: string): Promise<void> {
  const words = ['stage', 'release', '--plan', shop.plan, '--stage', `${stage}`];
  expect(await shop.okstra(...words, '--claim-id', claim)).toMatchObject({ exit: 0 });
}

describe('worktree list and path', () => {
  it('shows every stage with its head', async () => {
    const { shop, two } = await mixed();
    const listed = await shop.list();
    expect(listed.map(({ stage, state }) => `${stage} ${state}`)).toEqual([
      '1 kept',
      '2 kept',
      '3 active',
      '4 kept',
    ]);
    expect(listed[1]).toMatchObject({
      task_key: KEY,
      branch: 'feat-login-s2',
      head: two,
      path: shop.path(2),
      exists: true,
    });
    const table = await shop.okstra('worktree', 'list', '--task-key', KEY);
    expect(table.stdout).toContain('feat-login-s3');
    for (const stage of [1, 2, 3, 4]) expect(table.stdout).toContain(`  ${shop.path(stage)}\n`);
    const none = await shop.okstra('worktree', 'list', '--task-key', 'shop:web:other');
    expect(none).toMatchObject({ exit: 0, stdout: 'no worktrees\n' });
    expect(await shop.okstra('worktree', 'path', '--stage', '3')).toMatchObject({
      exit: 0,
      stdout: `${shop.path(3)}\n`,
    });
    const unknown = await shop.okstra('worktree', 'path', '--stage', '5');
    expect(unknown).toMatchObject({ exit: 2, stdout: '' });
  });

  it('of nothing is nothing', async () => {
    const shop = new Shop({ graph: [''] });
    for (const verb of ['list', 'prune']) {
      expect(await shop.okstra('worktree', verb)).toMatchObject({
        exit: 0,
        stdout: 'no worktrees\n',
      });
    }
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
  });
});

describe('worktree task', () => {
  const at = (shop: Shop) => `${shop.home}/worktrees/shop/web/login`;

  it('has what all finished stages came to, and is brought up to date', async () => {
    const shop = new Shop({ graph: ['', '', '1', ''], syncDirs: ['node_modules'] });
    shop.write('node_modules/left-pad/index.js', 'x');
    const base = shop.git('rev-parse', 'HEAD');
    const make = async () => {
      const words = ['worktree', 'task', '--plan', shop.plan, '--json'];
      const { exit, stdout, stderr } = await shop.okstra(...words);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const none = await make();
    const path = at(shop);
    expect(none).toMatchObject({ worktree: path, branch: 'feat-login', head: base, stages: [] });
    const one = await shop.finish(1, 'src/one.rs', 'one\n');
    const two = await shop.finish(2, 'src/two.rs', 'two\n');
    const both = await make();
    expect(both).toMatchObject({ worktree: path, stages: [1, 2], created: false });
    const [, ...parents] = shop.gitIn(path, 'rev-list', '--parents', '-1', 'HEAD').split(' ');
    expect([both.head, shop.gitIn(path, 'rev-parse', 'HEAD^1')]).toEqual([
      shop.gitIn(path, 'rev-parse', 'HEAD'),
      parents[0],
    ]);
    for (const commit of [one, two])
      shop.gitIn(path, 'merge-base', '--is-ancestor', commit, 'HEAD');
    expect(existsSync(join(path, 'node_modules/left-pad/index.js'))).toBe(true);
    expect(shop.gitIn(path, 'status', '--porcelain')).toBe('');
    expect(await make()).toEqual(both);
    const printed = await shop.okstra('worktree', 'path', '--task');
    expect(printed.stdout).toBe(`${path}\n`);
    expect((await shop.list()).map(({ stage }) => stage)).toEqual([null, 1, 2]);
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
    // Its folder gone: made again, with what it had.
    rmSync(path, { recursive: true });
    expect(await make()).toEqual(both);
    const remove = ['worktree', 'remove', '--task'];
    expect((await shop.okstra(...remove)).stderr).toContain('nowhere else');
    expect(await shop.okstra(...remove, '--force')).toMatchObject({ exit: 0 });
    expect(shop.branches()).toEqual(['feat-login-s1', 'feat-login-s2', 'main']);
    // Made at once from all of them.
    const anew = await make();
    expect(anew).toMatchObject({ created: true, stages: [1, 2] });
    expect(shop.gitIn(path, 'rev-parse', 'HEAD^{tree}')).toBe(
      shop.git('rev-parse', `${both.head}^{tree}`),
    );
  });

  it('killed at any moment, the next one makes it', { timeout: 120_000 }, async () => {
    const shop = new Shop({ graph: ['', ''] });
    await shop.finish(1, 'src/one.rs', 'one\n');
    await shop.finish(2, 'src/two.rs', 'two\n');
    const words = ['worktree', 'task', '--plan', shop.plan];
    let kills = 0;
    for (let round = 0; kills < 8 && round < 40; round += 1) {
      const { child, end } = shop.start(words);
      const shows = [
        () => shop.branches().includes('feat-login'),
        () => existsSync(join(at(shop), 'README.md')),
      ][round % 2];
      let hasEnded = false;
      const ended = end.finally(() => {
        hasEnded = true;
      });
      while (!hasEnded && shows?.() !== true) await new Promise((next) => setTimeout(next, 1));
      child.kill('SIGKILL');
      if ((await ended).exit === 'SIGKILL') kills += 1;
      expect(await shop.okstra(...words)).toMatchObject({ exit: 0, stdout: `${at(shop)}\n` });
      expect(shop.gitIn(at(shop), 'status', '--porcelain')).toBe('');
      for (const file of ['one', 'two']) {
        expect(existsSync(join(at(shop), `src/${file}.rs`))).toBe(true);
      }
      expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
      expect(await shop.okstra('worktree', 'remove', '--task', '--force')).toMatchObject({
        exit: 0,
      });
    }
    expect(kills).toBeGreaterThanOrEqual(4);
  });

  it('stages that do not go together, or changes in the way: refused, all as it was', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const words = ['worktree', 'task', '--plan', shop.plan];
    await shop.finish(1, 'src/same.rs', 'one\n');
    expect(await shop.okstra(...words)).toMatchObject({ exit: 0, stdout: `${at(shop)}\n` });
    await shop.finish(2, 'src/same.rs', 'two\n');
    const before = [shop.traces(), shop.gitIn(at(shop), 'rev-parse', 'HEAD')];
    const refused = await shop.okstra(...words);
    expect(refused).toMatchObject({ exit: 3, stdout: '' });
    expect(refused.stderr).toContain('src/same.rs');
    expect([shop.traces(), shop.gitIn(at(shop), 'rev-parse', 'HEAD')]).toEqual(before);
    expect(shop.gitIn(at(shop), 'status', '--porcelain')).toBe('');
    // What is not committed there is not merged over.
    writeFileSync(join(at(shop), 'notes.txt'), 'mine');
    const dirty = await shop.okstra(...words);
    expect(dirty).toMatchObject({ exit: 3, stdout: '' });
    expect(dirty.stderr).toContain('notes.txt');
    shop.gitIn(at(shop), 'switch', '--quiet', '-c', 'other');
    const switched = await shop.okstra(...words);
    expect(switched).toMatchObject({ exit: 3, stdout: '' });
    expect(switched.stderr).toContain('git switch feat-login');
    // A branch of that name that is somebody else's.
    const other = new Shop({ graph: [''] });
    other.git('branch', 'feat-login');
    const exists = await other.okstra('worktree', 'task', '--plan', other.plan);
    expect(exists).toMatchObject({ exit: 3, stdout: '' });
    expect(exists.stderr).toContain('feat-login');
    expect(await other.list()).toEqual([]);
  });
});

describe('worktree forecast', () => {
  it('names pairs and files, and stage next --explain says them too', async () => {
    const shop = new Shop({ graph: ['', '', '', '1, 2'] });
    await shop.finish(1, 'src/same.rs', 'one\n');
    const two = await shop.claimed(2);
    const three = await shop.claimed(3);
    shop.put(two.worktree, 'src/same.rs', 'two\n');
    shop.put(three.worktree, 'src/three.rs', 'three\n');
    const before = shop.traces();
    const { exit, stdout } = await shop.okstra('worktree', 'forecast', '--plan', shop.plan);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: 'stages 1 and 2 will conflict in src/same.rs\n2 pairs merge without conflicts\n',
    });
    const json = await shop.okstra('worktree', 'forecast', '--plan', shop.plan, '--json');
    expect(JSON.parse(json.stdout)).toEqual({
      conflicts: [{ first: 1, second: 2, files: ['src/same.rs'] }],
      clean: 2,
      unknown: [],
      untried: [],
    });
    const next = await shop.okstra('stage', 'next', '--plan', shop.plan, '--explain');
    expect(next.stdout).toContain('conflicts with 2: src/same.rs');
    expect(next.stdout).toContain('conflicts with 1: src/same.rs');
    expect(next.stdout).toContain('1 and 2 conflict:');
    const explained = await shop.okstra(
      ...['stage', 'next', '--plan', shop.plan, '--explain', '--json'],
    );
    const conflicts = JSON.parse(explained.stdout).stages.map(
      (it: { conflicts: unknown[] }) => it.conflicts.length,
    );
    expect(conflicts).toEqual([1, 1, 0, 1]);
    expect(shop.traces()).toEqual(before);
  });
});

describe('worktree prune and remove', () => {
  it('prune says what it would do, and does it only when told', async () => {
    const { shop } = await mixed();
    const before = shop.traces();
    const dry = await shop.okstra('worktree', 'prune');
    expect(dry.exit).toBe(0);
    expect(dry.stderr).toContain('--yes');
    const said = (stdout: string) => stdout.split('\n').filter((line) => line.startsWith(KEY));
    expect(said(dry.stdout)).toEqual([
      expect.stringMatching(/stage 1: would be removed: everything in it is in main$/),
      expect.stringMatching(/stage 2: kept: would lose 1 commit that is nowhere else$/),
      expect.stringMatching(/stage 3: kept: stage 3 is being built in it$/),
      expect.stringMatching(/stage 4: kept: would lose 1 uncommitted file \(notes.txt\)$/),
    ]);
    expect(shop.traces()).toEqual(before);
    expect(await shop.okstra('worktree', 'prune', '--yes')).toMatchObject({ exit: 0 });
    expect(shop.trees()).toEqual([shop.path(2), shop.path(3), shop.path(4)]);
    expect(shop.branches()).not.toContain('feat-login-s1');
    expect(existsSync(shop.path(1))).toBe(false);
    const forced = await shop.okstra('worktree', 'prune', '--yes', '--force');
    expect(forced.exit).toBe(0);
    expect(forced.stdout).toMatch(/stage 2: removed: forced: loses 1 commit/);
    expect(shop.trees()).toEqual([shop.path(3)]);
    expect(shop.branches()).toEqual(['feat-login-s3', 'main']);
    expect(shop.registered().map(({ stage }) => stage)).toEqual([3]);
  });

  it('remove refuses what would be lost, and always what somebody works in', async () => {
    const { shop, two } = await mixed();
    const remove = (stage: number, ...more: string[]) =>
      shop.okstra('worktree', 'remove', '--task-key', KEY, '--stage', `${stage}`, ...more);
    const before = shop.traces();
    expect((await remove(2)).stderr).toContain('1 commit that is nowhere else');
    expect((await remove(4)).stderr).toContain('notes.txt');
    for (const [stage, force] of [
      [2, []],
      [4, []],
      [3, []],
      [3, ['--force']],
    ] as const) {
      expect(await remove(stage, ...force)).toMatchObject({ exit: 3, stdout: '' });
    }
    expect(shop.traces()).toEqual(before);
    expect(await remove(1)).toMatchObject({ exit: 0 });
    // What is kept in a branch of a person's own is not lost.
    shop.git('branch', 'keep', two);
    expect(await remove(2)).toMatchObject({ exit: 0 });
    expect(await remove(4, '--force')).toMatchObject({ exit: 0 });
    expect(shop.trees()).toEqual([shop.path(3)]);
    expect(await remove(4)).toMatchObject({ exit: 2 });
  });

  it('of a merge that okstra made, what is lost is what was done on top of it', async () => {
    const shop = new Shop({ graph: ['', '', '1, 2'] });
    await shop.finish(1, 'src/one.rs', 'one\n');
    await shop.finish(2, 'src/two.rs', 'two\n');
    const claim = async () => {
      const three = await shop.claimed(3);
      const release = ['stage', 'release', '--plan', shop.plan, '--stage', '3'];
      return { ...three, release: () => shop.okstra(...release, '--claim-id', three.claim_id) };
    };
    const remove = () => shop.okstra('worktree', 'remove', '--plan', shop.plan, '--stage', '3');
    const untouched = await claim();
    await untouched.release();
    expect(await remove()).toMatchObject({ exit: 0 });
    expect(existsSync(untouched.worktree)).toBe(false);
    const worked = await claim();
    shop.put(worked.worktree, 'src/three.rs', 'three\n');
    await worked.release();
    const refused = await remove();
    expect(refused.exit).toBe(3);
    // The merge and the commit on it; those of the stages are on their own branches.
    expect(refused.stderr).toContain('would lose 2 commits that are nowhere else');
    // Once the branch of a stage is gone, the merge has the only copy of its work.
    await worked.release();
    shop.gitIn(worked.worktree, 'reset', '--quiet', '--hard', worked.base_commit);
    shop.git('worktree', 'remove', '--force', shop.path(1));
    shop.git('branch', '-D', 'feat-login-s1');
    expect((await remove()).stderr).toContain('would lose 1 commit that is nowhere else');
  });

  it('never follows a link into the project', async () => {
    const shop = new Shop({ graph: [''], syncDirs: ['node_modules'] });
    shop.write('node_modules/left-pad/index.js', 'x');
    const one = await shop.claimed(1);
    await release(shop, 1, one.claim_id);
    expect(await shop.okstra('worktree', 'prune', '--yes')).toMatchObject({ exit: 0 });
    expect(shop.trees()).toEqual([]);
    expect(existsSync(join(shop.root, 'node_modules/left-pad/index.js'))).toBe(true);
  });

  it('a task whose plan and ledger are gone: alone, by force, told what is lost', async () => {
    const { shop } = await mixed();
    rmSync(join(shop.root, '.okstra/tasks'), { recursive: true });
    const remove = (stage: number, ...more: string[]) =>
      shop.okstra('worktree', 'remove', '--task-key', KEY, '--stage', `${stage}`, ...more);
    const before = [shop.trees(), shop.branches(), shop.registered()];
    const prune = await shop.okstra('worktree', 'prune', '--yes', '--force');
    expect(prune.stdout).toMatch(/stage 2: kept: its plan and its ledger are gone/);
    for (const [stage, lost] of [
      [1, 'nothing in it is lost'],
      [2, 'loses 1 commit that is nowhere else'],
      [4, 'loses 1 uncommitted file (notes.txt)'],
    ] as const) {
      const refused = await remove(stage);
      expect(refused).toMatchObject({ exit: 3, stdout: '' });
      expect(refused.stderr).toContain('its plan and its ledger are gone');
      expect(refused.stderr).toContain(lost);
    }
    expect([shop.trees(), shop.branches(), shop.registered()]).toEqual(before);
    for (const stage of [1, 2, 4])
      expect(await remove(stage, '--force')).toMatchObject({ exit: 0 });
    expect(shop.trees()).toEqual([shop.path(3)]);
    expect(shop.branches()).toEqual(['feat-login-s3', 'main']);
    expect(shop.registered().map(({ stage }) => stage)).toEqual([3]);
  });

  it('a project that is gone: its worktrees are forgotten by force, and nothing is touched', async () => {
    const { shop } = await mixed();
    const away = join(shop.folder, 'away');
    renameSync(shop.root, away);
    const okstra = (...args: string[]) => shop.start(args, shop.folder).end;
    const remove = (stage: number, ...more: string[]) =>
      okstra('worktree', 'remove', '--task-key', KEY, '--stage', `${stage}`, ...more);
    const said = await okstra('worktree', 'repair');
    expect(said).toMatchObject({ exit: 1 });
    expect(said.stdout).toMatch(
      /okstra worktree remove --task-key shop:web:login --stage N --force/,
    );
    const registry = readFileSync(shop.registry, 'utf8');
    expect((await okstra('worktree', 'prune', '--yes', '--force')).exit).toBe(0);
    const refused = await remove(4);
    expect(refused).toMatchObject({ exit: 3, stdout: '' });
    expect(refused.stderr).toMatch(/cannot be asked; --force forgets it; its folder .* stay/);
    expect(readFileSync(shop.registry, 'utf8')).toBe(registry);
    const notes = join(shop.path(4), 'notes.txt');
    for (const stage of [1, 2, 3, 4]) {
      expect(await remove(stage, '--force')).toMatchObject({ exit: 0 });
    }
    expect(readFileSync(notes, 'utf8')).toBe('uncommitted');
    expect(await okstra('worktree', 'repair')).toMatchObject({
      exit: 0,
      stdout: 'nothing to repair\n',
    });
    // Back again, git knows all of them, and so does the registry.
    renameSync(away, shop.root);
    expect(shop.trees()).toHaveLength(4);
    expect(await shop.okstra('worktree', 'repair')).toMatchObject({ exit: 0 });
    expect(shop.registered().map(({ stage }) => stage)).toEqual([1, 2, 3, 4]);
  });

  it('does not take away where somebody stands', async () => {
    const shop = new Shop({ graph: [''] });
    const one = await shop.claimed(1);
    await release(shop, 1, one.claim_id);
    const words = ['worktree', 'remove', '--stage', '1', '--force'];
    const { exit, stderr } = await shop.start(words, one.worktree).end;
    expect({ exit, there: existsSync(one.worktree) }).toEqual({ exit: 3, there: true });
    expect(stderr).toContain('you stand in it');
  });
});

describe('worktree repair', () => {
  const repair = async (shop: Shop, ...more: string[]) => {
    const { exit, stdout } = await shop.okstra('worktree', 'repair', '--json', ...more);
    const { findings } = JSON.parse(stdout) as { findings: { kind: string; mended: boolean }[] };
    return { exit, kinds: findings.map(({ kind, mended }) => `${kind}${mended ? '' : ' left'}`) };
  };

  it('makes the folder of a running stage again, and forgets one that is given back', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const one = await shop.claimed(1);
    const two = await shop.claimed(2);
    const head = shop.put(one.worktree, 'src/one.rs', 'one\n');
    await release(shop, 2, two.claim_id);
    for (const { worktree } of [one, two]) rmSync(worktree, { recursive: true });
    expect(await repair(shop, '--dry-run')).toEqual({
      exit: 1,
      kinds: ['folder-missing left', 'folder-missing left'],
    });
    expect(existsSync(one.worktree)).toBe(false);
    expect(await repair(shop)).toEqual({ exit: 0, kinds: ['folder-missing', 'folder-missing'] });
    expect(shop.gitIn(one.worktree, 'rev-parse', 'HEAD')).toBe(head);
    expect(await repair(shop)).toEqual({ exit: 0, kinds: [] });
    expect(shop.registered().map(({ stage }) => stage)).toEqual([1]);
  });

  it('takes into the registry what it lost', async () => {
    const shop = new Shop({ graph: ['', ''] });
    await shop.claimed(1);
    const whole = readFileSync(shop.registry, 'utf8');
    const two = await shop.claimed(2);
    writeFileSync(shop.registry, whole);
    expect(await repair(shop)).toEqual({ exit: 0, kinds: ['unregistered'] });
    expect(shop.registered()).toMatchObject([
      { stage: 1, state: 'active' },
      { stage: 2, state: 'active', path: two.worktree, branch: two.branch },
    ]);
    expect(await repair(shop)).toEqual({ exit: 0, kinds: [] });
    const head = shop.put(two.worktree, 'src/two.rs', 'two\n');
    expect(await shop.done(two, head)).toMatchObject({ exit: 0 });
  });

  it('leaves to a person what only a person can decide', async () => {
    const shop = new Shop({ graph: [''] });
    const one = await shop.claimed(1);
    shop.gitIn(one.worktree, 'switch', '--quiet', '-c', 'other');
    expect(await repair(shop)).toEqual({ exit: 1, kinds: ['other-branch left'] });
    const { stdout } = await shop.okstra('worktree', 'repair');
    expect(stdout).toContain(`git switch ${one.branch}`);
  });
});
