/** Claims that get a worktree: its place, its base, and what is refused without a trace. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Shop } from './support.js';

describe('the worktree of a claim', () => {
  it('lies where the spec says, on a branch of that name, with the folders linked in', async () => {
    const shop = new Shop({ graph: ['', ''], category: 'fix', syncDirs: ['node_modules'] });
    shop.write('node_modules/left-pad/index.js', 'module.exports = 1;\n');
    const head = shop.git('rev-parse', 'HEAD');
    const one = await shop.claimed('auto');
    expect(one).toMatchObject({
      stage: 1,
      worktree: shop.path(1),
      branch: 'fix-login-s1',
      base_commit: head,
    });
    expect(shop.trees()).toEqual([shop.path(1)]);
    expect(shop.branches()).toEqual(['fix-login-s1', 'main']);
    expect(lstatSync(join(shop.path(1), 'node_modules')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(shop.path(1), 'node_modules/left-pad/index.js'), 'utf8')).toContain(
      'exports',
    );
    expect(shop.rows()).toMatchObject([
      { stage: 1, status: 'started', worktree: shop.path(1), base_commit: head },
    ]);
    expect(shop.registered()).toMatchObject([{ stage: 1, state: 'active', branch: one.branch }]);
    expect(shop.gitIn(one.worktree, 'status', '--porcelain')).toBe('');
    const { stdout } = await shop.okstra('worktree', 'path', '--plan', shop.plan, '--stage', '1');
    expect(stdout).toBe(`${shop.path(1)}\n`);
  });

  it('answers the same session with the claim it holds', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const one = await shop.claimed('auto', '--session', 'a');
    const again = await shop.claimed('auto', '--session', 'a');
    expect(again).toMatchObject({ stage: 1, claim_id: one.claim_id, worktree: one.worktree });
    expect(shop.trees()).toHaveLength(1);
  });

  it('starts from the base of the first claim, although main moved on', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const base = shop.git('rev-parse', 'HEAD');
    await shop.claimed(1);
    shop.put(shop.root, 'README.md', 'moved on\n');
    expect((await shop.claimed(2)).base_commit).toBe(base);
    expect(shop.gitIn(shop.path(2), 'rev-parse', 'HEAD')).toBe(base);
  });

  it('starts from the head of the one dependency', async () => {
    const shop = new Shop({ graph: ['', '1'] });
    const head = await shop.finish(1, 'src/one.rs', 'one\n');
    expect((await shop.claimed(2)).base_commit).toBe(head);
    expect(readFileSync(join(shop.path(2), 'src/one.rs'), 'utf8')).toBe('one\n');
  });

  it('merges two dependencies in the new worktree', async () => {
    const shop = new Shop({ graph: ['', '', '1, 2'] });
    const one = await shop.finish(1, 'src/one.rs', 'one\n');
    const two = await shop.finish(2, 'src/two.rs', 'two\n');
    const three = await shop.claimed(3);
    const [, ...parents] = shop
      .gitIn(three.worktree, 'rev-list', '--parents', '-1', 'HEAD')
      .split(' ');
    expect(parents).toEqual([one, two]);
    expect(three.base_commit).toBe(shop.gitIn(three.worktree, 'rev-parse', 'HEAD'));
    const head = shop.put(three.worktree, 'src/three.rs', 'three\n');
    expect(await shop.done(three, head)).toMatchObject({ exit: 0 });
  });

  it('merges nothing where one dependency contains the other', async () => {
    const shop = new Shop({ graph: ['', '1', '1, 2'] });
    await shop.finish(1, 'src/one.rs', 'one\n');
    const two = await shop.finish(2, 'src/two.rs', 'two\n');
    expect((await shop.claimed(3)).base_commit).toBe(two);
  });

  it('refuses a merge with conflicts, naming files and stages, and leaves nothing', async () => {
    const shop = new Shop({ graph: ['', '', '1, 2'] });
    await shop.finish(1, 'src/same.rs', 'one\n');
    await shop.finish(2, 'src/same.rs', 'two\n');
    const before = shop.traces();
    const refused = await shop.claim(3);
    expect(refused).toMatchObject({ exit: 3, stdout: '' });
    expect(refused.stderr).toMatch(/src\/same\.rs/);
    expect(refused.stderr).toMatch(/stages? 1 and (stage )?2/);
    expect(shop.traces()).toEqual(before);
    expect(existsSync(shop.path(3))).toBe(false);

    const open = await shop.claim(3, '--resolve');
    expect(open.exit).toBe(0);
    expect(open.stderr).toMatch(/src\/same\.rs/);
    expect(open.stderr).toMatch(/git commit --no-edit/);
    expect(shop.gitIn(shop.path(3), 'rev-parse', '--verify', 'MERGE_HEAD')).toMatch(/^[\da-f]{40}/);
    // As the session finishes it.
    writeFileSync(join(shop.path(3), 'src/same.rs'), 'both\n');
    shop.gitIn(shop.path(3), 'add', '--all');
    shop.gitIn(shop.path(3), 'commit', '--quiet', '--no-edit');
    const head = shop.gitIn(shop.path(3), 'rev-parse', 'HEAD');
    expect(await shop.done(JSON.parse(open.stdout), head)).toMatchObject({ exit: 0 });
  });
});

describe('stage done', () => {
  it('refuses a dirty tree, a foreign head and a head that lost its base', async () => {
    const shop = new Shop({ graph: ['', ''] });
    shop.put(shop.root, 'README.md', 'more\n');
    const one = await shop.claimed(1);
    const head = shop.put(one.worktree, 'src/one.rs', 'one\n');
    const refused = async (at: string) => {
      const { exit, stderr } = await shop.done(one, at);
      expect(exit).toBeGreaterThanOrEqual(3);
      expect(shop.rows()).toHaveLength(1);
      return stderr;
    };
    writeFileSync(join(one.worktree, 'left.txt'), 'x');
    expect(await refused(head)).toContain('left.txt');
    shop.commit(one.worktree, 'more');
    expect(await refused(head)).toContain(head.slice(0, 7));
    shop.gitIn(one.worktree, 'checkout', '--quiet', '--orphan', 'lost');
    const lost = shop.commit(one.worktree, 'lost');
    expect(await refused(lost)).toContain(one.base_commit.slice(0, 7));
    shop.gitIn(one.worktree, 'checkout', '--quiet', one.branch);
    const at = shop.gitIn(one.worktree, 'rev-parse', 'HEAD');
    expect(await shop.done(one, at)).toMatchObject({ exit: 0 });
    expect(shop.rows()).toMatchObject([{ status: 'started' }, { status: 'done' }]);
  });

  it('release keeps the worktree, and the next claim goes on in it', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const one = await shop.claimed(1);
    const head = shop.put(one.worktree, 'src/one.rs', 'half\n');
    writeFileSync(join(one.worktree, 'notes.txt'), 'uncommitted');
    const release = ['stage', 'release', '--plan', shop.plan, '--stage', '1'];
    expect(await shop.okstra(...release, '--claim-id', one.claim_id)).toMatchObject({ exit: 0 });
    expect(shop.registered()).toMatchObject([{ stage: 1, state: 'kept' }]);
    const next = await shop.claimed(1);
    expect(next).toMatchObject({ worktree: one.worktree, base_commit: one.base_commit });
    expect(next.claim_id).not.toBe(one.claim_id);
    expect(shop.gitIn(next.worktree, 'rev-parse', 'HEAD')).toBe(head);
    expect(existsSync(join(next.worktree, 'notes.txt'))).toBe(true);
    expect(shop.registered()).toMatchObject([{ stage: 1, state: 'active' }]);
  });
});

describe('a worktree that began with a merge', () => {
  /** A stage with two dependencies, claimed; and a second that has passed since. */
  async function claimed(...more: string[]) {
    const shop = new Shop({ graph: ['', '', '1, 2'] });
    await shop.finish(1, 'src/one.rs', 'one\n');
    await shop.finish(2, 'src/two.rs', 'two\n');
    const three = await shop.claimed(3, ...more);
    // A merge that is made in another second is another commit.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    return { shop, three };
  }

  const release = (shop: Shop, claim: { claim_id: string }) => {
    const words = ['stage', 'release', '--plan', shop.plan, '--stage', '3'];
    return shop.okstra(...words, '--claim-id', claim.claim_id);
  };

  it('is gone on with after a release, also where work was done in it', async () => {
    const { shop, three } = await claimed();
    expect(await release(shop, three)).toMatchObject({ exit: 0 });
    const again = await shop.claimed(3);
    expect(again).toMatchObject({ worktree: three.worktree, base_commit: three.base_commit });
    const head = shop.put(again.worktree, 'src/three.rs', 'half\n');
    expect(await release(shop, again)).toMatchObject({ exit: 0 });
    const last = await shop.claimed(3);
    expect(last).toMatchObject({ worktree: three.worktree, base_commit: three.base_commit });
    expect(shop.gitIn(last.worktree, 'rev-parse', 'HEAD')).toBe(head);
    expect(await shop.done(last, head)).toMatchObject({ exit: 0 });
  });

  it('is taken over from a session that died', async () => {
    const { shop, three } = await claimed('--session', 'dead');
    const ledger = readFileSync(shop.ledger, 'utf8');
    const [last = ''] = ledger.trimEnd().split('\n').slice(-1);
    const dead = last.replace(/"pid":\d+/, `"pid":${2 ** 22}`);
    writeFileSync(shop.ledger, ledger.replace(last, dead));
    const heir = await shop.claimed(3, '--session', 'heir', '--reclaim');
    expect(heir).toMatchObject({ worktree: three.worktree, base_commit: three.base_commit });
  });

  it('says what it lacks of a dependency that went on', async () => {
    const { shop, three } = await claimed();
    await release(shop, three);
    const one = shop.path(1);
    const head = shop.put(one, 'src/one.rs', 'another one\n');
    const rows = shop.rows().filter(({ stage, status }) => stage === 1 && status === 'done');
    appendFileSync(shop.ledger, `${JSON.stringify({ ...rows.at(-1), head_commit: head })}\n`);
    const again = await shop.claim(3);
    expect(again).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(`it does not have stage 1 as it is now: 'git merge ${head}'`),
    });
    expect(JSON.parse(again.stdout).base_commit).toBe(three.base_commit);
  });

  it('that was killed half-way keeps the merge it began with', async () => {
    const { shop, three } = await claimed();
    const head = shop.put(three.worktree, 'src/three.rs', 'half\n');
    await release(shop, three);
    // As a claim leaves it that was killed before it knew what to start from.
    const registry = readFileSync(shop.registry, 'utf8');
    const killed = registry.replace('"state": "kept"', '"state": "provisioning"');
    expect(killed).not.toBe(registry);
    writeFileSync(shop.registry, killed);
    const again = await shop.claimed(3);
    expect(again).toMatchObject({ worktree: three.worktree, base_commit: three.base_commit });
    expect(shop.gitIn(again.worktree, 'rev-parse', 'HEAD')).toBe(head);
  });
});

describe('a session that died', () => {
  it('its stage is taken over with the worktree as it left it', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const one = await shop.claimed(1, '--session', 'dead');
    writeFileSync(join(one.worktree, 'notes.txt'), 'uncommitted');
    // As if its process had ended: no process has that number.
    const ledger = readFileSync(shop.ledger, 'utf8').replace(/"pid":\d+/, `"pid":${2 ** 22}`);
    writeFileSync(shop.ledger, ledger);
    expect(await shop.claim(1, '--session', 'heir')).toMatchObject({ exit: 3, stdout: '' });
    const heir = await shop.claimed(1, '--session', 'heir', '--reclaim');
    expect(heir).toMatchObject({ worktree: one.worktree, base_commit: one.base_commit });
    expect(existsSync(join(one.worktree, 'notes.txt'))).toBe(true);
    expect(shop.rows().map(({ status }) => status)).toEqual(['started', 'released', 'started']);
    expect(shop.registered()).toMatchObject([{ state: 'active', claimId: heir.claim_id }]);
    // The dead one comes back to life: it may not write over its heir.
    const head = shop.commit(one.worktree, 'notes');
    expect(await shop.done(one, head)).toMatchObject({ exit: 3 });
    expect(await shop.done(heir, head)).toMatchObject({ exit: 0 });
  });
});

describe('where a claim is made', () => {
  it('no git, no commit: refused with the way out', async () => {
    const none = new Shop({ graph: [''], bareFolder: true });
    expect(await none.claim(1)).toMatchObject({ exit: 3, stdout: '' });
    expect((await none.claim(1)).stderr).toMatch(/no git repository.*--no-worktree/);
    none.git('init', '--quiet', '--initial-branch=main');
    expect((await none.claim(1)).stderr).toMatch(/no commit yet.*--no-worktree/);
    expect(existsSync(none.registry)).toBe(false);
    expect(none.rows()).toEqual([]);
  });

  it('bare: the worktree is made of it', async () => {
    const shop = new Shop({ graph: [''] });
    shop.git('config', 'core.bare', 'true');
    const { exit, stderr } = await shop.claim(1);
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    expect(existsSync(join(shop.path(1), 'README.md'))).toBe(true);
  });

  it('a true bare repository: the stage has a worktree all the same, from claim to done', async () => {
    // As `git clone --bare` makes it, with the plan in it; and beside it, as many lay it out.
    for (const [name, folder] of [
      ['shop.git', '.'],
      ['shop', '.bare'],
    ] as const) {
      const shop = new Shop({ graph: ['', '1'], name, bareFolder: true });
      const there = join(shop.root, folder);
      shop.git('init', '--quiet', '--bare', '--initial-branch=main', there);
      if (folder !== '.') writeFileSync(join(shop.root, '.git'), `gitdir: ./${folder}\n`);
      shop.write('one.txt', 'one\n');
      const blob = shop.gitIn(there, 'hash-object', '-w', join(shop.root, 'one.txt'));
      const list = join(shop.folder, 'list');
      writeFileSync(list, `100644 blob ${blob}\tone.txt\n`);
      const tree = execFileSync('git', ['mktree'], {
        cwd: there,
        input: readFileSync(list),
        encoding: 'utf8',
      }).trim();
      const base = shop.gitIn(there, 'commit-tree', tree, '-m', 'begin');
      shop.gitIn(there, 'update-ref', 'refs/heads/main', base);
      const one = await shop.claimed(1);
      expect(one).toMatchObject({ worktree: shop.path(1), base_commit: base });
      expect(readFileSync(join(shop.path(1), 'one.txt'), 'utf8')).toBe('one\n');
      expect(shop.rows()).toMatchObject([{ stage: 1, head_commit: base }]);
      const head = shop.put(one.worktree, 'two.txt', 'two\n');
      expect(await shop.done(one, head)).toMatchObject({ exit: 0 });
      expect((await shop.claimed(2)).base_commit).toBe(head);
      expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
      shop.gitIn(there, 'update-ref', 'refs/heads/main', head);
      const prune = await shop.okstra('worktree', 'prune', '--yes');
      expect(prune.stdout).toMatch(/stage 1: removed: everything in it is in main/);
      expect(existsSync(shop.path(1))).toBe(false);
    }
  });

  it('a shallow clone works from what it has, and says what it has not', async () => {
    const shop = new Shop({ graph: ['', '1'] });
    const old = shop.put(shop.root, 'old.txt', 'old\n');
    const head = shop.put(shop.root, 'new.txt', 'new\n');
    const clone = new Shop({ graph: ['', '1'], bareFolder: true });
    const from = `file://${shop.root}`;
    clone.gitIn(clone.folder, 'clone', '--quiet', '--depth=1', from, 'clone');
    renameSync(join(clone.folder, 'clone/.git'), join(clone.root, '.git'));
    clone.git('reset', '--quiet', '--hard');
    expect(clone.git('rev-parse', '--is-shallow-repository')).toBe('true');
    const one = await clone.claimed(1);
    expect(one.base_commit).toBe(head);
    expect(existsSync(join(one.worktree, 'old.txt'))).toBe(true);
    // Its work ended, by the ledger, with a commit that the clone does not have.
    const row = { impl_task_key: 'shop:web:login', stage: 1, status: 'done' };
    const done = { completed_at: '2026-01-01T00:00:00Z', carry_path: 'x', head_commit: old };
    appendFileSync(clone.ledger, `${JSON.stringify({ ...row, ...done })}\n`);
    const before = clone.traces();
    const two = await clone.claim(2);
    expect(two).toMatchObject({ stdout: '' });
    expect(two.exit).not.toBe(0);
    expect(two.stderr).toMatch(/shallow.*git fetch --unshallow/);
    expect(clone.traces()).toEqual(before);
  });

  it('submodules are left to be set up, and keep a worktree from being removed', async () => {
    const shop = new Shop({ graph: [''] });
    const library = new Shop({ graph: [''], name: 'library' });
    const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet'];
    shop.git(...add, 'add', library.root, 'vendor/library');
    shop.commit(shop.root, 'vendor');
    const one = await shop.claimed(1);
    expect(existsSync(join(one.worktree, 'vendor/library'))).toBe(true);
    expect(existsSync(join(one.worktree, 'vendor/library/README.md'))).toBe(false);
    shop.gitIn(one.worktree, ...add, 'update', '--init');
    expect(existsSync(join(one.worktree, 'vendor/library/README.md'))).toBe(true);
    const head = shop.put(one.worktree, 'src/one.rs', 'one\n');
    shop.put(join(one.worktree, 'vendor/library'), 'own.txt', 'of this worktree alone\n');
    const dirty = await shop.done(one, head);
    expect(dirty).toMatchObject({ exit: 3 });
    expect(dirty.stderr).toContain('vendor/library');
    const last = shop.commit(one.worktree, 'library');
    expect(await shop.done(one, last)).toMatchObject({ exit: 0 });
    shop.git('merge', '--quiet', last);
    const prune = await shop.okstra('worktree', 'prune', '--yes');
    expect(prune).toMatchObject({ exit: 1 });
    expect(prune.stdout).toMatch(/not removed: .*submodules/);
    expect(existsSync(join(one.worktree, 'vendor/library/own.txt'))).toBe(true);
    expect(shop.registered()).toHaveLength(1);
  });

  it('a detached head and a dirty main tree are as good as any', async () => {
    const shop = new Shop({ graph: [''] });
    const base = shop.put(shop.root, 'README.md', 'two\n');
    shop.git('checkout', '--quiet', '--detach');
    shop.write('README.md', 'dirty\n');
    shop.write('new.txt', 'dirty\n');
    expect((await shop.claimed(1)).base_commit).toBe(base);
    expect(shop.gitIn(shop.path(1), 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(shop.root, 'README.md'), 'utf8')).toBe('dirty\n');
  });

  it('spaces and letters of every kind', async () => {
    const shop = new Shop({ graph: ['', ''], name: '가게 프로젝트', id: '로그인 화면' });
    const one = await shop.claimed(1);
    expect(one.worktree).toBe(shop.path(1));
    expect(one.branch).toMatch(/^feat-로그인-화면.*-s1$/u);
    const head = shop.put(one.worktree, '소스/하나.rs', '하나\n');
    expect(await shop.done(one, head)).toMatchObject({ exit: 0 });
    const { stdout } = await shop.okstra('worktree', 'path', '--plan', shop.plan, '--stage', '1');
    expect(stdout).toBe(`${shop.path(1)}\n`);
  });

  it('a project in a folder of the repository works in that folder of the worktree', async () => {
    const shop = new Shop({
      graph: ['', '1'],
      name: 'mono/packages/shop',
      bareFolder: true,
      syncDirs: ['node_modules'],
    });
    shop.write('node_modules/left-pad/index.js', 'x');
    const top = join(shop.folder, 'mono');
    shop.gitIn(top, 'init', '--quiet', '--initial-branch=main');
    shop.commit(top, 'begin');
    const one = await shop.claimed(1);
    const folder = `${shop.path(1)}/packages/shop`;
    expect(one.worktree).toBe(folder);
    expect(existsSync(join(folder, 'node_modules/left-pad/index.js'))).toBe(true);
    const { stdout } = await shop.okstra('worktree', 'path', '--stage', '1');
    expect(stdout).toBe(`${folder}\n`);
    writeFileSync(join(shop.path(1), 'outside.txt'), 'x');
    const dirty = await shop.done(one, shop.gitIn(folder, 'rev-parse', 'HEAD'));
    expect(dirty).toMatchObject({ exit: 3 });
    expect(dirty.stderr).toContain('outside.txt');
    const head = shop.commit(folder, 'one');
    shop.commit(shop.path(1), 'all');
    expect(head).toMatch(/^[\da-f]{40}$/);
    const last = shop.gitIn(folder, 'rev-parse', 'HEAD');
    expect(await shop.done(one, last)).toMatchObject({ exit: 0 });
    expect((await shop.claimed(2)).base_commit).toBe(last);
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
  });

  it('the folder of all worktrees may be a link to another disk', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const disk = join(shop.folder, 'disk');
    mkdirSync(disk);
    mkdirSync(shop.home);
    symlinkSync(disk, join(shop.home, 'worktrees'));
    const one = await shop.claimed(1);
    expect(one.worktree).toBe(shop.path(1));
    expect(existsSync(join(disk, 'shop/web/login.stages/stage-1/README.md'))).toBe(true);
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
    const head = shop.put(one.worktree, 'src/one.rs', 'one\n');
    expect(await shop.done(one, head)).toMatchObject({ exit: 0 });
    expect(await shop.okstra('worktree', 'task', '--plan', shop.plan)).toMatchObject({ exit: 0 });
    expect(await shop.okstra('worktree', 'task', '--plan', shop.plan)).toMatchObject({ exit: 0 });
    const remove = ['worktree', 'remove', '--stage', '1', '--force'];
    const inside = await shop.start(remove, one.worktree).end;
    expect(inside).toMatchObject({ exit: 3 });
    expect(inside.stderr).toContain('you stand in it');
    shop.git('merge', '--quiet', head);
    expect((await shop.okstra('worktree', 'prune', '--yes')).exit).toBe(0);
    expect(shop.registered()).toEqual([]);
    expect(shop.trees()).toEqual([]);
  });

  it('a project that is a worktree itself', async () => {
    const main = new Shop({ graph: [''] });
    const shop = new Shop({ graph: ['', '1'], bareFolder: true });
    main.git('worktree', 'add', '--quiet', '-b', 'side', join(shop.folder, 'side'));
    renameSync(join(shop.root, '.okstra'), join(shop.folder, 'side/.okstra'));
    rmSync(shop.root, { recursive: true });
    renameSync(join(shop.folder, 'side'), shop.root);
    main.git('worktree', 'repair', shop.root);
    const base = shop.put(shop.root, 'side.txt', 'side\n');
    const one = await shop.claimed(1);
    expect(one).toMatchObject({ worktree: shop.path(1), base_commit: base });
    const head = shop.put(one.worktree, 'src/one.rs', 'one\n');
    expect(await shop.done(one, head)).toMatchObject({ exit: 0 });
    expect((await shop.claimed(2)).base_commit).toBe(head);
    expect((await shop.okstra('worktree', 'repair')).stdout).toBe('nothing to repair\n');
  });

  it('a worktree that is kept, but on another branch: refused, still registered', async () => {
    const shop = new Shop({ graph: [''] });
    const one = await shop.claimed(1);
    const release = ['stage', 'release', '--plan', shop.plan, '--stage', '1'];
    await shop.okstra(...release, '--claim-id', one.claim_id);
    shop.gitIn(one.worktree, 'switch', '--quiet', '-c', 'other');
    const before = shop.traces();
    const refused = await shop.claim(1);
    expect(refused).toMatchObject({ exit: 3, stdout: '' });
    expect(refused.stderr).toContain('git switch feat-login-s1');
    expect({ ...shop.traces(), stages: [] }).toEqual({ ...before, stages: [] });
    expect(shop.registered()).toMatchObject([{ state: 'kept', base: one.base_commit }]);
    shop.gitIn(one.worktree, 'switch', '--quiet', one.branch);
    expect((await shop.claimed(1)).worktree).toBe(one.worktree);
  });

  it('a branch or a folder of that name: refused, untouched', async () => {
    const shop = new Shop({ graph: ['', ''] });
    shop.git('branch', 'feat-login-s1');
    const before = shop.traces();
    const branch = await shop.claim(1);
    expect(branch).toMatchObject({ exit: 3, stdout: '' });
    expect(branch.stderr).toContain('feat-login-s1');
    expect(shop.traces()).toEqual(before);
    mkdirSync(shop.path(2), { recursive: true });
    writeFileSync(join(shop.path(2), 'mine.txt'), 'mine');
    const folder = await shop.claim(2);
    expect(folder).toMatchObject({ exit: 3, stdout: '' });
    expect(folder.stderr).toContain(shop.path(2));
    expect(shop.traces()).toEqual(before);
    expect(readFileSync(join(shop.path(2), 'mine.txt'), 'utf8')).toBe('mine');
  });

  it('a broken registry: refused with line and column, nothing changed', async () => {
    const shop = new Shop({ graph: ['', ''] });
    await shop.claimed(1);
    const broken = `${readFileSync(shop.registry, 'utf8').slice(0, -20)}\n  ]]`;
    writeFileSync(shop.registry, broken);
    const [branches, trees, rows] = [shop.branches(), shop.trees(), shop.rows()];
    const commands = [
      ['stage', 'claim', '--plan', shop.plan],
      ['worktree', 'list'],
      ['worktree', 'prune', '--yes', '--force'],
      ['worktree', 'repair'],
    ];
    for (const words of commands) {
      const { exit, stdout, stderr } = await shop.okstra(...words);
      expect({ words, exit, stdout }).toEqual({ words, exit: 2, stdout: '' });
      expect(stderr).toMatch(/registry\.json:\d+:\d+: not usable as JSON/);
    }
    expect([shop.branches(), shop.trees(), shop.rows()]).toEqual([branches, trees, rows]);
    expect(readFileSync(shop.registry, 'utf8')).toBe(broken);
  });
});
