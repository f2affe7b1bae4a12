/** Outcomes, tasks and reports as whole commands in an in-memory world. */
import { describe, expect, it } from 'vitest';
import { World } from '../cli/world.js';
import { CATALOG, filesOf, KEY, MANIFEST, PLAN, TASK } from './support.js';

const reconcile = ['outcome', 'reconcile', ...KEY];

describe('okstra outcome show', () => {
  it.each([
    ['a complete implementation', {}, 0],
    [
      'one that is not',
      { [`${TASK}/runs/implementation/carry/stage-2.json`]: '{"status":"failed"}' },
      1,
    ],
    ['one without a plan', { [PLAN]: null }, 1],
  ])('shows %s', async (_what, own, exit) => {
    const ended = await new World(filesOf(own)).run('outcome', 'show', ...KEY);
    expect(ended.exit).toBe(exit);
    expect(ended.files).toEqual({});
    expect(`${ended.stdout}${ended.stderr}`).toMatchSnapshot();
  });

  it('takes a plan that belongs to no task by its stages alone', async () => {
    const files = filesOf();
    const world = new World({ 'plan.md': files[PLAN] ?? '' });
    const { stdout, exit } = await world.run('outcome', 'show', '--plan', 'plan.md', '--json');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'not-all-done',
      lacking: [1, 2],
      phase: null,
    });
    const recorded = await world.run('outcome', 'reconcile', '--plan', 'plan.md', '--json');
    expect(recorded).toMatchObject({ exit: 1, files: {} });
  });

  it('restores rows that a crash lost, except in a dry run', async () => {
    const ledger = `${TASK}/runs/implementation-planning/consumers.jsonl`;
    const files = filesOf({ [ledger]: null });
    const preview = await new World(files).run('outcome', 'show', ...KEY, '--dry-run');
    expect(preview).toMatchObject({ exit: 0, files: {} });
    const shown = await new World(files).run('outcome', 'show', ...KEY);
    expect(Object.keys(shown.files)).toEqual([ledger]);
  });

  it('knows no other task', async () => {
    const world = new World(filesOf());
    const ended = await world.run('outcome', 'show', '--task-key', 'shop:web:logout');
    expect(ended).toMatchObject({ exit: 2, stdout: '' });
    expect(ended.stderr).toBe(
      "okstra: there is no task shop:web:logout in /desk; 'okstra task list' shows those there are\n",
    );
  });
});

describe('okstra outcome reconcile', () => {
  it('starts again with what another program wrote meanwhile', async () => {
    const world = new World(filesOf());
    let writes = 0;
    world.meanwhile = () => {
      writes += 1;
      if (writes > 2) return;
      const manifest = JSON.parse(filesOf()[MANIFEST] ?? '');
      world.put(MANIFEST, JSON.stringify({ ...manifest, others: writes }));
    };
    const ended = await world.run(...reconcile);
    expect(ended.exit).toBe(0);
    expect(JSON.parse(ended.files[MANIFEST] ?? '')).toMatchObject({
      others: 2,
      phaseOutcome: { implementation: { state: 'completed' } },
    });
    expect(ended.files[CATALOG]).toContain('"completed"');
  });

  it('gives up on a file that never rests, and has written nothing', async () => {
    const world = new World(filesOf());
    let writes = 0;
    world.meanwhile = () => {
      writes += 1;
      world.put(MANIFEST, `${filesOf()[MANIFEST]}${' '.repeat(writes)}`);
    };
    const ended = await world.run(...reconcile);
    expect(ended).toMatchObject({ exit: 3, stdout: '' });
    expect(ended.stderr).toContain(MANIFEST);
    expect(ended.files[MANIFEST]).not.toContain('phaseOutcome');
    expect(ended.files[CATALOG]).toBeUndefined();
  });
});

describe('okstra task', () => {
  const create = ['task', 'create', '--task-group', 'web', '--task-id', 'cart'];

  it('makes a task in a project that has none', async () => {
    const world = new World({ '.git/HEAD': 'ref: refs/heads/main\n' });
    const ended = await world.run(
      ...create,
      ...['--project-id', 'shop', '--title', 'A cart', '--work-category', 'fix'],
    );
    expect(ended).toMatchObject({ exit: 0, stderr: '' });
    expect(ended.stdout).toBe('task    shop:web:cart\nfolder  /desk/.okstra/tasks/web/cart\n');
    expect(ended.files).toMatchSnapshot();
    // The project is known now, and so is the task.
    expect((await world.run('task', 'list')).stdout).toContain('shop:web:cart');
    expect((await world.run('task', 'show', '--task-key', 'shop:web:cart')).stdout).toContain(
      'A cart',
    );
    // Once more changes nothing.
    const again = await world.run(...create);
    expect(again.stderr).toBe(
      'okstra: warning: the task is there already; its manifest stays as it is\n',
    );
    expect(again.files).toEqual(ended.files);
  });

  it('adds a missing entry to the catalog and leaves all else', async () => {
    const world = new World(filesOf({ [CATALOG]: '{"tasks":[],"n":1.50}' }));
    const ended = await world.run('task', 'create', '--task-group', 'web', '--task-id', 'login');
    expect(ended.exit).toBe(0);
    expect(Object.keys(ended.files)).toEqual([CATALOG]);
    expect(ended.files[CATALOG]).toContain('"taskKey":"shop:web:login"');
    expect(ended.files[CATALOG]).toContain('"n":1.50');
  });

  it.each([
    [['--task-id', 'x'], 'give --task-group and --task-id'],
    [['--task-group', 'a:b', '--task-id', 'x'], "--task-group must be without ':', got 'a:b'"],
    [
      ['--task-group', 'a', '--task-id', 'x', '--project-id', 'other'],
      'this project is shop, not other',
    ],
    [
      ['--task-group', 'a', '--task-id', 'x', '--task-type', 'cooking'],
      "there is no task type 'cooking'",
    ],
  ])('refuses %j', async (args, why) => {
    const ended = await new World(filesOf()).run('task', 'create', ...args);
    expect(ended).toMatchObject({ exit: 2, stdout: '', files: {} });
    expect(ended.stderr).toContain(why);
  });

  it('lists past what is no task, and takes no list for a manifest', async () => {
    const stray = {
      '.okstra/tasks/README.md': 'x',
      '.okstra/tasks/web/x/task-manifest.json': '[]',
    };
    const ended = await new World(filesOf(stray)).run('task', 'list', '--json');
    expect(JSON.parse(ended.stdout).tasks).toHaveLength(1);
    expect(ended.stderr).toContain('task-manifest.json:1:1: not usable as JSON: not an object');
    const again = ['task', 'create', '--task-group', 'web', '--task-id', 'x'];
    const refused = await new World(filesOf(stray)).run(...again);
    expect(refused).toMatchObject({ exit: 2, stdout: '', files: {} });
  });

  it('never takes the records of another task for its own', async () => {
    const other = { [MANIFEST]: (filesOf()[MANIFEST] ?? '').replace('web:login', 'web:lo/gin') };
    const ended = await new World(filesOf(other)).run(...reconcile);
    expect(ended).toMatchObject({ stdout: '', files: {} });
    expect(ended.stderr).toContain("belongs to the task 'shop:web:lo/gin'");
  });

  it('previews', async () => {
    const ended = await new World(filesOf()).run(...create, '--dry-run', '--json');
    expect(ended).toMatchObject({ exit: 0, files: {} });
    expect(JSON.parse(ended.stdout)).toMatchObject({ created: true, dry_run: true });
  });

  it('lists tasks in natural order and says which manifests cannot be read', async () => {
    const more = Object.fromEntries(
      ['t10', 't9', 'bad'].map((id) => [
        `.okstra/tasks/web/${id}/task-manifest.json`,
        id === 'bad' ? '{"a": 1,}' : { taskKey: `shop:web:${id}`, title: 'A \u001b[31m' },
      ]),
    );
    const world = new World(filesOf(more));
    const ended = await world.run('task', 'list', '--json');
    expect(ended.exit).toBe(1);
    expect(ended.stderr).toContain(
      '/desk/.okstra/tasks/web/bad/task-manifest.json:1:9: not usable',
    );
    const keys = JSON.parse(ended.stdout).tasks.map((task: { task_key: string }) => task.task_key);
    expect(keys).toEqual(['shop:web:login', 'shop:web:t9', 'shop:web:t10']);
    const shown = await world.run('task', 'list');
    expect(shown.stdout).not.toContain('\u001b');
    expect(shown.stdout).toContain('not in the catalog: shop:web:t9, shop:web:t10');
  });
});

describe('okstra report path', () => {
  const of = (...args: string[]) => new World(filesOf()).run('report', 'path', ...args);
  const stage = (number: number, name: string) =>
    `/desk/${TASK}/runs/implementation/stage-${number}/reports/final-report-implementation-${name}`;

  it.each([
    [[], 0, [stage(2, '001.md'), stage(2, '001.data.json')]],
    [['--stage', '1'], 0, [stage(1, '001.md'), stage(1, '001.data.json')]],
    [['--stage', '1', '--next'], 0, [stage(1, '002.md'), stage(1, '002.data.json')]],
    [['--stage', '9'], 1, []],
  ])('of an implementation %j', async (args, exit, paths) => {
    const ended = await of(...KEY, '--task-type', 'implementation', ...args);
    expect(ended.exit).toBe(exit);
    expect(ended.stdout).toBe(paths.map((path) => `${path}\n`).join(''));
  });

  it.each([
    [['--of', 'a/X.data.json'], 0, 'a/X.md\na/X.data.json\n'],
    [['--of', 'a/X.md'], 0, 'a/X.md\na/X.data.json\n'],
    [['--of', 'a/X.txt'], 0, 'a/X.md\na/X.data.json\n'],
    [['--of', 'x.md', ...KEY], 2, ''],
    [KEY, 2, ''],
    [[...KEY, '--task-type', 'cooking'], 2, ''],
    [[...KEY, '--task-type', 'implementation', '--next'], 2, ''],
    [[...KEY, '--task-type', 'error-analysis', '--stage', '1'], 3, ''],
  ])('%j', async (args, exit, stdout) => {
    expect(await of(...args)).toMatchObject({ exit, stdout });
  });
});
