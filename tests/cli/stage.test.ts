import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { StageLine } from '../../npm-package/src/index.js';
import { planText } from './plans.js';
import {
  APPROVED,
  carry,
  commit,
  done,
  evidence,
  FIRST_DONE,
  FOUR,
  KEY,
  LEDGER,
  PLAN,
  project,
  started,
  TASK,
  workerResult,
} from './stages.js';
import { type Outcome, World } from './world.js';

/** What may never reach a terminal: controls but line feeds, and the marks of bidirectional text. */
const STEERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const ofPlan = ['--plan', PLAN];

/** The options of a claim that needs no worktree. */
const claim = ['stage', 'claim', '--no-worktree'];

/** What a command says for programs. */
// biome-ignore lint/suspicious/noExplicitAny: the tests say what is in it
function json({ exit, stdout }: Outcome): any {
  expect(exit).toBe(0);
  return JSON.parse(stdout);
}

/** A refused request: it says why and leaves no file behind. */
function refusal(exit: number, stderr: string): Outcome {
  return { exit, stdout: '', stderr, files: {} };
}

/** Rows of a ledger. */
const rows = (text = '') =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** A session that began stage 4 and whose process has ended. */
const DEAD = started(4, { session: 'gone', host: 'box', pid: 7, pid_start: 'start-7' });

function withDead(ledger = DEAD): World {
  const world = project({ [LEDGER]: ledger });
  world.processes.set(7, 'gone');
  return world;
}

describe('stage next', () => {
  it('says which stage comes next and reserves nothing', async () => {
    expect(await project().run('stage', 'next', ...ofPlan)).toEqual({
      exit: 0,
      stdout: 'selected stage: 1\n',
      stderr: `${PLAN}: not reserved; 'okstra stage claim' takes it\n`,
      files: {},
    });
  });

  it('explains every stage', async () => {
    const world = project({ [LEDGER]: started(1) });
    expect(await world.run('stage', 'next', ...ofPlan, '--explain')).toMatchSnapshot();
  });

  it('explains also where nothing can be claimed', async () => {
    const world = project({ [LEDGER]: started(1) + started(4) });
    const { exit, stdout, files } = await world.run('stage', 'next', ...ofPlan, '--explain');
    expect({ exit, files }).toEqual({ exit: 0, files: {} });
    expect(stdout).toContain('nothing to claim: no stage is ready');
    expect(stdout).not.toContain('selected stage');
  });

  it('names the files a ready stage shares with running ones', async () => {
    const text = planText([{ files: '`a.rs`, `b.rs`' }, { files: '`b.rs`' }, {}], APPROVED);
    const world = project({ [PLAN]: text, [LEDGER]: started(1) });
    const { stdout } = await world.run('stage', 'next', ...ofPlan, '--explain');
    expect(stdout).toMatch(/^selected stage: 3\n/);
    expect(stdout).toContain('shares b.rs with running 1');
  });

  it('prints JSON', async () => {
    const plain = json(await project().run('stage', 'next', ...ofPlan, '--json'));
    expect(plain).toEqual({
      choice: { stage: 1, order: 'number', shares: [] },
      title: 'Parse the input',
      refusal: null,
      order: 'number',
      stages: [],
      warnings: [],
    });
    const explained = json(
      await project().run('stage', 'next', ...ofPlan, '--json', '--explain', '--dry-run'),
    );
    expect(explained.stages.map((it: { readiness: string }) => it.readiness)).toEqual([
      'ready',
      'waiting',
      'waiting',
      'ready',
    ]);
    expect(explained.dry_run).toBe(true);
  });

  it('takes the longest chain first where it is asked to', async () => {
    const text = planText([{}, { steps: 2 }, { after: '2', steps: 3 }], APPROVED);
    const world = project({ [PLAN]: text });
    const ask = ['stage', 'next', ...ofPlan];
    expect((await world.run(...ask)).stdout).toBe('selected stage: 1\n');
    const critical = await world.run(...ask, '--order', 'critical-path', '--explain');
    expect(critical.stdout).toMatch(/^selected stage: 2\n/);
    expect(critical.stdout).toContain('order: the longest chain of steps first\n');
    const answer = json(await world.run(...ask, '--order', 'critical-path', '--json'));
    expect(answer).toMatchObject({ choice: { stage: 2, order: 'critical-path' } });
  });

  it.each([
    [['--stage', 'x'], 3, "--stage must be 'auto' or an integer, got 'x'"],
    [['--stage', '9'], 3, '--stage 9 not in Stage Map (have [1, 2, 3, 4])'],
    [['--stage', '2'], 3, '--stage 2 waits for stage 1'],
  ])('refuses %j as a claim would', async (args, exit, why) => {
    const said = refusal(exit, `${PLAN}: ${why}\n`);
    expect(await project().run('stage', 'next', ...ofPlan, ...args)).toEqual(said);
    expect(await project().run(...claim, ...ofPlan, ...args)).toEqual(said);
  });

  it('restores a done row that was lost in a crash, unless it runs dry', async () => {
    const files = { [LEDGER]: started(1), [carry(1)]: evidence(1, 'Parse the input') };
    const dry = await project(files).run('stage', 'next', ...ofPlan, '--dry-run');
    const wet = await project(files).run('stage', 'next', ...ofPlan);
    for (const { stdout, stderr } of [dry, wet]) {
      expect(stdout).toBe('selected stage: 2\n');
      expect(stderr).toContain('its lost row in the ledger is restored\n');
    }
    expect(dry.files).toEqual({});
    expect(rows(wet.files[LEDGER])).toMatchObject([
      { stage: 1, status: 'started' },
      { stage: 1, status: 'done', claim_id: 'claim-1', head_commit: commit(1) },
    ]);
  });
});

describe('stage claim', () => {
  it('prints all a session needs and records the claim', async () => {
    const world = project(FIRST_DONE);
    expect(await world.run(...claim, ...ofPlan, '--stage', '2')).toMatchSnapshot();
    const locks = world.guarded.map(([path, held]) => [path, held.length]);
    expect(locks).toEqual([[`/desk/${LEDGER}`, 1]]);
  });

  it('prints JSON with exactly these keys', async () => {
    const world = project({ ...FIRST_DONE, [LEDGER]: FIRST_DONE[LEDGER] + started(4) });
    const answer = json(await world.run(...claim, ...ofPlan, '--json'));
    expect(Object.keys(answer).sort()).toEqual([
      'already_held',
      'base_commit',
      'branch',
      'carry_in',
      'carry_in_text',
      'carry_path',
      'claim_id',
      'concurrent_stages',
      'depends_on',
      'exit_contract',
      'impl_task_key',
      'order',
      'plan_path',
      'shares',
      'stage',
      'steps',
      'title',
      'validation',
      'validation_commands',
      'warnings',
      'worktree',
    ]);
    expect(answer).toMatchObject({
      stage: 2,
      title: 'Write the report',
      impl_task_key: KEY,
      worktree: '/desk',
      branch: 'main',
      base_commit: commit('a'),
      validation: '`cargo test`',
      exit_contract: 'Part 2 works.',
      concurrent_stages: [4],
      warnings: [],
    });
    expect(answer.steps).toHaveLength(3);
    expect(answer.carry_in).toEqual([
      {
        stage: 1,
        exit_contract: 'Part 1 works.',
        evidence: JSON.parse(evidence(1, 'Parse the input')),
      },
    ]);
  });

  it('chooses and writes nothing where it runs dry', async () => {
    const world = project();
    const text = await world.run(...claim, ...ofPlan, '--dry-run');
    expect({ exit: text.exit, files: text.files }).toEqual({ exit: 0, files: {} });
    expect(text.stdout).toMatch(/^selected stage: 1\n/);
    expect(text.stderr).toContain('dry run: nothing was claimed');
    const answer = json(await world.run(...claim, ...ofPlan, '--dry-run', '--json'));
    expect(answer).toMatchObject({ stage: 1, dry_run: true });
    expect(world.guarded).toEqual([]);
  });

  it('answers a session that asks again with the claim it holds', async () => {
    const world = project();
    const first = await world.run(...claim, ...ofPlan, '--session', 'ada', '--json');
    const again = await world.run(...claim, ...ofPlan, '--session', 'ada');
    expect(again.stdout).toMatch(/^selected stage: 1\n/);
    expect(again.stderr).toBe('okstra: your session holds stage 1 already\n');
    expect(again.files[LEDGER]).toBe(first.files[LEDGER]);
    world.env = { OKSTRA_CLAIM_ID: json(first).claim_id };
    expect(json(await world.run(...claim, ...ofPlan, '--json')).already_held).toBe(true);
    world.env = { CLAUDE_CODE_SESSION_ID: 'ada' };
    expect(json(await world.run(...claim, ...ofPlan, '--json')).already_held).toBe(true);
    // OKSTRA_SESSION comes before it; without either the claim is another's.
    world.env = { CLAUDE_CODE_SESSION_ID: 'ada', OKSTRA_SESSION: 'bob' };
    expect(json(await world.run(...claim, ...ofPlan, '--json')).stage).toBe(4);
  });

  it('gives sessions without a name different stages', async () => {
    const world = project();
    expect(json(await world.run(...claim, ...ofPlan, '--json')).stage).toBe(1);
    expect(json(await world.run(...claim, ...ofPlan, '--json')).stage).toBe(4);
    const third = await world.run(...claim, ...ofPlan);
    expect(third).toMatchObject({ exit: 3, stdout: '' });
    expect(third.stderr).toBe(
      `${PLAN}: no stage is ready: every remaining stage has unsatisfied depends-on (running: 1, 4 · waiting: 2 for 1; 3 for 1)\n`,
    );
  });

  it('does not touch a claim of a dead session, and says how to take it', async () => {
    const world = withDead();
    expect(await world.run(...claim, ...ofPlan, '--stage', '4')).toEqual(
      refusal(
        3,
        `${PLAN}: --stage 4 already started by ${KEY} at 2025-12-31T23:50:00.000Z; the claim of stage 4 by session gone on box since 2025-12-31T23:50:00.000Z is dead: okstra stage claim --plan /desk/${PLAN} --stage 4 --no-worktree --reclaim\n`,
      ),
    );
  });

  it('--reclaim takes it, and gives it back first', async () => {
    const world = withDead();
    const { exit, files } = await world.run(...claim, ...ofPlan, '--stage', '4', '--reclaim');
    expect(exit).toBe(0);
    expect(rows(files[LEDGER])).toMatchObject([
      { status: 'started', claim_id: 'claim-4' },
      { status: 'released', claim_id: 'claim-4', reason: expect.stringContaining('is gone') },
      { status: 'started', stage: 4, claim_id: '000000000001' },
    ]);
  });

  it.each(['alive', 'unknown'] as const)('--reclaim takes no claim that is %s', async (state) => {
    const world = withDead();
    world.processes.set(7, state);
    const { exit, stderr, files } = await world.run(
      ...[...claim, ...ofPlan, '--stage', '4', '--reclaim'],
    );
    expect({ exit, files }).toEqual({ exit: 3, files: {} });
    expect(stderr).toBe(
      `${PLAN}: --stage 4 already started by ${KEY} at 2025-12-31T23:50:00.000Z\n`,
    );
  });

  it('records under the key it is given', async () => {
    const { files } = await project().run(...claim, ...ofPlan, '--impl-key', 'mine');
    expect(rows(files[LEDGER])).toMatchObject([{ impl_task_key: 'mine', stage: 1 }]);
  });

  it('wants a repository or --no-worktree', async () => {
    for (const args of [[], ['--worktree']]) {
      expect(await project().run('stage', 'claim', ...ofPlan, ...args)).toEqual(
        refusal(
          3,
          '/desk: no git repository; make it one, or add --no-worktree to work in the project folder itself\n',
        ),
      );
    }
  });

  it('wants a plan that is approved and has no errors', async () => {
    const open = project({ [PLAN]: FOUR.replace('[x]', '[ ]') });
    const { exit, stderr, files } = await open.run(...claim, ...ofPlan);
    expect({ exit, files }).toEqual({ exit: 1, files: {} });
    expect(stderr).toMatch(/approved plan failed stage validation:\nA1 stage=0: /);
    expect(stderr).toContain(`approve it with 'okstra plan approve ${PLAN}'`);
    const spaced = new World({ 'a plan.md': FOUR.replace('[x]', '[ ]'), '.git/HEAD': '' });
    const told = await spaced.run(...claim, '--plan', 'a plan.md');
    expect(told.stderr).toContain(`'okstra plan approve "a plan.md"'`);
  });

  it('says who holds the lock', async () => {
    const world = project();
    const [lock = ''] = await lockOf(world);
    world.locked.add(lock);
    expect(await world.run(...claim, ...ofPlan)).toEqual(
      refusal(5, `${lock}: locked by another process; try again\n`),
    );
  });

  it('warns of lines in the ledger that it cannot use', async () => {
    const { exit, stderr } = await project({ [LEDGER]: 'torn\n' }).run(...claim, ...ofPlan);
    expect(exit).toBe(0);
    expect(stderr).toMatch(new RegExp(`^okstra: warning: /desk/${LEDGER}:1: `));
  });
});

/** The lock that a claim holds. */
async function lockOf(world: World): Promise<string[]> {
  await project().run(...claim, ...ofPlan);
  const other = project();
  await other.run(...claim, ...ofPlan);
  expect(world.locked.size).toBe(0);
  return other.guarded[0]?.[1] ?? [];
}

describe('which plan', () => {
  const byKey = (key = KEY) => ['stage', 'next', '--task-key', key];

  it.each(['/desk', '/desk/src/deep', `/desk/${TASK}`])(
    'is found by the key of its task from %s',
    async (folder) => {
      const world = project({ 'src/deep/a.rs': '' });
      world.folder = folder;
      expect((await world.run(...byKey())).stdout).toBe('selected stage: 1\n');
    },
  );

  it('is the newest report, in numeric order', async () => {
    const reports = PLAN.replace('001.md', '');
    const world = project({ [`${reports}9.md`]: 'old', [`${reports}10.md`]: FOUR, [PLAN]: 'old' });
    const { stderr } = await world.run(...byKey());
    expect(stderr).toContain('implementation-planning-10.md: not reserved');
  });

  it('is the one that the evidence names before a newer one', async () => {
    const newer = PLAN.replace('001', '002');
    const world = project({ ...FIRST_DONE, [newer]: 'no plan' });
    expect((await world.run(...byKey())).stdout).toBe('selected stage: 2\n');
  });

  it('lies in the folder of an older version where there is no new one', async () => {
    const plan = PLAN.replace('.okstra', '.project-docs/okstra');
    const world = new World({ [plan]: FOUR, 'src/a.rs': '' });
    world.folder = '/desk/src';
    const { exit, files } = await world.run(...claim, '--task-key', KEY);
    expect(exit).toBe(0);
    expect(Object.keys(files)).toEqual([LEDGER.replace('.okstra', '.project-docs/okstra')]);
  });

  it('may lie outside the layout', async () => {
    const world = new World({ 'docs/plan.md': FOUR, '.git/HEAD': '' });
    const { files } = await world.run(...claim, '--plan', 'docs/plan.md');
    expect(Object.keys(files)).toEqual(['docs/plan.md.okstra/consumers.jsonl']);
    expect(rows(Object.values(files)[0])).toMatchObject([{ impl_task_key: 'plan' }]);
  });

  it.each([
    ['other:web:login', 'this project is shop, not other; go into its folder, or give --plan'],
    [
      'shop:web:logout',
      "there is no task shop:web:logout in /desk; 'okstra task list' shows those there are",
    ],
    ['other:web:logout', 'this project is shop, not other; go into its folder, or give --plan'],
    [
      'shop:..:..',
      "there is no task shop:..:.. in /desk; 'okstra task list' shows those there are",
    ],
    [
      'shop:../../x:y',
      "there is no task shop:../../x:y in /desk; 'okstra task list' shows those there are",
    ],
    ['shop:web', "a task key is 'project:group:id', got 'shop:web'"],
    ['shop:web:', "a task key is 'project:group:id', got 'shop:web:'"],
    ['', "a task key is 'project:group:id', got ''"],
    ['a\u001b[2Jb', "a task key is 'project:group:id', got 'a[2Jb'"],
  ])('the key %j', async (key, why) => {
    const world = project({ '/x/y/plan.md': FOUR, '/desk/.okstra/plan.md': FOUR });
    expect(await world.run(...byKey(key))).toEqual(refusal(2, `okstra: ${why}\n`));
  });

  it('is nowhere without a project', async () => {
    const world = new World({ 'plan.md': FOUR });
    expect(await world.run(...byKey())).toEqual(
      refusal(2, 'okstra: no project above /desk; go into its folder, or give --plan\n'),
    );
  });

  it('says where project.json or the manifest cannot be read', async () => {
    const broken = project({ '.okstra/project.json': '{' });
    const { exit, stderr } = await broken.run(...byKey());
    expect(exit).toBe(2);
    expect(stderr).toMatch(
      /^\/desk\/\.okstra\/project\.json:1:2: not usable as JSON: .*; mend the file\n$/,
    );
    const list = project({ [`${TASK}/task-manifest.json`]: '[1' });
    expect((await list.run(...byKey())).stderr).toMatch(
      /task-manifest\.json:\d+:\d+: not usable as JSON: /,
    );
  });

  it('is said once', async () => {
    for (const verb of ['next', 'list']) {
      expect(await project().run('stage', verb)).toEqual(
        refusal(2, 'okstra: which plan? give --plan PLAN or --task-key KEY\n'),
      );
      expect(await project().run('stage', verb, ...ofPlan, '--task-key', KEY)).toEqual(
        refusal(2, 'okstra: give either --plan or --task-key, not both\n'),
      );
    }
    expect(await project().run('stage', 'list', '--plan', 'gone.md')).toEqual(
      refusal(2, 'gone.md: no such file; check the path\n'),
    );
  });
});

describe('stage done', () => {
  const TITLE = 'Parse the input';
  const finish = ['stage', 'done', ...ofPlan, '--claim-id', 'claim-1'];
  const given = (text: string, name = 'result.md') =>
    project({ [LEDGER]: started(1), [name]: text });

  it('keeps the evidence of a worker result and records the stage', async () => {
    const world = given(workerResult(evidence(1, TITLE)));
    const outcome = await world.run(...finish, '--stage', '1', '--evidence', 'result.md');
    expect(outcome).toMatchSnapshot();
    // The evidence comes first, and both under the lock of the ledger.
    expect(world.guarded.map(([path, held]) => [path, held.length])).toEqual([
      [`/desk/${carry(1)}`, 1],
      [`/desk/${LEDGER}`, 1],
    ]);
  });

  it('takes a JSON file or standard input, and the stage of the claim', async () => {
    const text = `${evidence(1, TITLE).replace(',', ',\n  ')}\n`;
    const file = await given(text, 'e.json').run(...finish, '--evidence', 'e.json');
    const world = project({ [LEDGER]: started(1) });
    world.stdin = text;
    const piped = await world.run(...finish, '--evidence', '-');
    for (const { exit, files } of [file, piped]) {
      expect(exit).toBe(0);
      expect(files[carry(1)]).toBe(text);
    }
  });

  it('prints JSON', async () => {
    const world = given(workerResult(evidence(1, TITLE)));
    expect(json(await world.run(...finish, '--evidence', 'result.md', '--json'))).toEqual({
      stage: 1,
      title: TITLE,
      impl_task_key: KEY,
      carry_path: carry(1),
      head_commit: commit(1),
      already_done: false,
      ready: [2, 3, 4],
      warnings: [],
    });
  });

  it('checks and writes nothing where it runs dry', async () => {
    const world = given(workerResult(evidence(1, TITLE)));
    expect(await world.run(...finish, '--evidence', 'result.md', '--dry-run')).toEqual({
      exit: 0,
      stdout: 'stage 1 is done (dry run: nothing was written)\n',
      stderr: `${carry(1)}: the evidence would be kept here\nokstra: ready then: 2, 3, 4\n`,
      files: {},
    });
    const answer = json(
      await world.run(...finish, '--evidence', 'result.md', '--dry-run', '--json'),
    );
    expect(answer).toMatchObject({ stage: 1, dry_run: true });
    expect(world.guarded).toEqual([]);
  });

  it('names every field that breaks the contract, by its line', async () => {
    const broken = `{
  "schemaVersion": 2,
  "sourcePlanPath": "${PLAN}",
  "stageNumber": "1",
  "stageTitle": "${TITLE}",
  "completedAt": "yesterday",
  "stageCommitRange": { "base": "${commit(0)}" },
  "filesChanged": [],
  "newIdentifiers": [],
  "stepResults": [],
  "validationsPassed": [],
  "notes": []
}`;
    const outcome = await given(workerResult(broken)).run(...finish, '--evidence', 'result.md');
    expect(outcome).toMatchSnapshot();
    expect({ exit: outcome.exit, files: outcome.files }).toEqual({ exit: 4, files: {} });
    const [, ...lines] = outcome.stderr.split('\n').filter((line) => line !== '');
    expect(lines.slice(0, -1).length).toBeGreaterThan(3);
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^result\.md:\d+: \w+(\.\w+)?: ./);
    expect(lines[0]).toMatch(/^result\.md:9: schemaVersion: /);
  });

  it.each([
    ['nothing', '# Result\n'],
    ['no block', '### Stage Carry Evidence\n\nLater.\n'],
    ['no JSON', workerResult('{ "schemaVersion": ')],
    ['an empty file', ''],
  ])('%s is no evidence', async (_what, text) => {
    const outcome = await given(text).run(...finish, '--evidence', 'result.md');
    expect({ ...outcome, stderr: '' }).toEqual(refusal(4, ''));
    expect(outcome.stderr).toMatch(/^okstra: result\.md: .*; nothing was written\n$/);
  });

  it.each([
    [
      'another stage',
      evidence(2, 'Write the report'),
      /stageNumber: is evidence for another stage/,
    ],
    ['another plan', evidence(1, TITLE, { sourcePlanPath: 'x.md' }), /names another plan/],
  ])('evidence of %s is refused', async (_what, text, why) => {
    const { exit, stderr, files } = await given(text, 'e.json').run(
      ...[...finish, '--stage', '1', '--evidence', 'e.json'],
    );
    expect({ exit, files }).toEqual({ exit: 4, files: {} });
    expect(stderr).toMatch(why);
  });

  it('warns of what is odd, and keeps the warning beside the evidence', async () => {
    const odd = evidence(1, 'Parse it', { filesChanged: ['src/part1/1.rs', 'src/other.rs'] });
    const { exit, stderr, files } = await given(odd, 'e.json').run(
      ...finish,
      '--evidence',
      'e.json',
    );
    expect(exit).toBe(0);
    expect(stderr).toContain('okstra: warning: stageTitle: ');
    expect(stderr).toContain("okstra: warning: files outside the stage's list: src/other.rs\n");
    expect(files[carry(1)]).toContain('src/other.rs');
    expect(JSON.parse(files[carry(1)] ?? '')).toMatchObject(JSON.parse(odd));
  });

  it('is success again for its own session, and nobody else', async () => {
    const world = given(workerResult(evidence(1, TITLE)));
    const asked = [...finish, '--evidence', 'result.md'];
    const first = await world.run(...asked);
    const again = await world.run(...asked);
    expect(again).toEqual({
      exit: 0,
      stdout: 'stage 1 was done already\n',
      stderr: `${carry(1)}: its evidence\nokstra: ready now: 2, 3, 4\n`,
      files: first.files,
    });
    const other = await world.run(
      ...['stage', 'done', ...ofPlan, '--stage', '1', '--session', 'eve'],
      ...['--evidence', 'result.md'],
    );
    expect(other).toEqual({
      exit: 3,
      stdout: '',
      stderr: `${PLAN}: --stage 1 already completed (consumers.jsonl status:done exists)\n`,
      files: first.files,
    });
  });

  it('--force-reappend corrects the row and keeps the evidence', async () => {
    const corrected = evidence(1, TITLE, {
      stageCommitRange: { base: commit(0), head: commit('c') },
    });
    const world = project({ ...FIRST_DONE, 'e.json': corrected });
    const { exit, files } = await world.run(
      ...[...finish, '--stage', '1', '--evidence', 'e.json', '--force-reappend'],
    );
    expect(exit).toBe(0);
    expect(Object.keys(files)).toEqual([LEDGER]);
    expect(rows(files[LEDGER]).at(-1)).toMatchObject({ status: 'done', head_commit: commit('c') });
  });

  it.each([
    [
      'nobody has claimed it',
      '',
      ['--stage', '1'],
      '--stage 1 is not claimed; claim it first: okstra stage claim --stage 1',
    ],
    [
      'the claim was released',
      `${started(1)}${released(1)}`,
      ['--stage', '1', '--claim-id', 'claim-1'],
      'the claim of stage 1 is not yours any more: it was released at 2025-12-31T23:55:00.000Z (reclaimed) and nobody holds the stage; stop working on it; what you built is still in your files and commits',
    ],
    [
      'another session holds it now',
      `${started(1)}${released(1)}${started(1, { claim_id: 'new', session: 'bob', host: 'box' })}`,
      ['--stage', '1', '--claim-id', 'claim-1'],
      'the claim of stage 1 is not yours any more: session bob on box since 2025-12-31T23:50:00.000Z holds it now; stop working on it; what you built is still in your files and commits',
    ],
  ])('is refused where %s', async (_what, ledger, args, why) => {
    const world = project({ [LEDGER]: ledger, 'e.json': evidence(1, TITLE) });
    expect(await world.run('stage', 'done', ...ofPlan, ...args, '--evidence', 'e.json')).toEqual(
      refusal(3, `${PLAN}: ${why}\n`),
    );
  });

  describe('--verify', () => {
    const POST = FOUR.replace(
      '`cargo test`\n\n## 4.5.2',
      '- post: cargo test\n- post: `npm run lint && npm test`\n\n## 4.5.2',
    );
    const verify = [...finish, '--stage', '1', '--evidence', 'e.json', '--verify'];

    function verified(programs: Record<string, number>, plan = POST): World {
      const world = project({
        ...{ [PLAN]: plan, [LEDGER]: started(1), 'e.json': evidence(1, TITLE) },
      });
      world.programs = new Map(Object.entries(programs));
      return world;
    }

    it('runs the post commands without a shell and notes what was seen', async () => {
      const world = verified({ cargo: 0, npm: 0 });
      const { exit, stderr, files } = await world.run(...verify);
      expect(exit).toBe(0);
      expect(world.ran).toEqual([
        ['cargo', 'test'],
        ['npm', 'run', 'lint'],
        ['npm', 'test'],
      ]);
      expect(stderr).toContain(
        'okstra: runs: cargo test\nokstra: runs: npm run lint && npm test\n',
      );
      const seen = { clean: true, tree: 'f'.repeat(40) };
      expect(JSON.parse(files[carry(1)] ?? '').observed).toEqual({
        at: '2026-01-01T00:00:00.000Z',
        commands: [
          { command: 'cargo test', exit_code: 0, duration_ms: 5, ...seen },
          { command: 'npm run lint && npm test', exit_code: 0, duration_ms: 10, ...seen },
        ],
      });
    });

    it.each([
      ['fails', { cargo: 1, npm: 0 }, "stage 1: 'cargo test' ended with 1; the stage is not done"],
      ['is not there', { npm: 0 }, 'cargo: no such program; install it'],
    ])('stops at a command that %s', async (_what, programs, why) => {
      const world = verified(programs);
      const { exit, stdout, stderr, files } = await world.run(...verify);
      expect({ exit, stdout, files }).toEqual({ exit: 4, stdout: '', files: {} });
      expect(stderr).toContain(`${why}\n`);
      expect(world.ran).toHaveLength(1);
    });

    it.each([
      ['cargo test | tee log', "'|' needs a shell"],
      ['cargo test > log', "'>' needs a shell"],
      ['cargo test; rm -rf x', "';' needs a shell"],
      ['echo $HOME', "'$HOME' needs a shell"],
    ])('does not run %j, which only a shell understands', async (line, why) => {
      const world = verified(
        { cargo: 0, echo: 0 },
        POST.replace('cargo test\n- post', `${line}\n- post`),
      );
      const { exit, stderr, files } = await world.run(...verify);
      expect({ exit, files }).toEqual({ exit: 4, files: {} });
      expect(stderr).toContain(`cannot run '${line}': ${why}; put it into a script\n`);
      expect(world.ran).toEqual([]);
    });

    it('runs nothing unless it is asked to', async () => {
      const world = verified({ cargo: 0, npm: 0 });
      expect((await world.run(...verify.slice(0, -1))).exit).toBe(0);
      expect(world.ran).toEqual([]);
    });
  });

  it('never replaces evidence that is there', async () => {
    const failed = evidence(1, TITLE, { status: 'failed' });
    const world = project({
      [LEDGER]: started(1),
      [carry(1)]: failed,
      'e.json': evidence(1, TITLE),
    });
    const { exit, stderr, files } = await world.run(...finish, '--evidence', 'e.json');
    expect({ exit, files }).toEqual({ exit: 3, files: {} });
    expect(stderr).toContain(`${carry(1)} is there already and cannot be used: `);
    expect(stderr).toContain('; move that file away and run it again\n');
  });

  it.each([
    [[], 'okstra: where is the evidence? give --evidence FILE\n'],
    [['--evidence', 'gone.md'], 'gone.md: no such file; check the path\n'],
  ])('%j', async (args, stderr) => {
    const world = project({ [LEDGER]: started(1) });
    expect(await world.run(...finish, ...args)).toEqual(refusal(2, stderr));
  });

  it('breaks the contract with evidence that is no UTF-8', async () => {
    const world = project({ [LEDGER]: started(1), 'latin.md': Buffer.from('caf\xe9', 'latin1') });
    expect(await world.run(...finish, '--evidence', 'latin.md')).toEqual(
      refusal(4, 'latin.md: the evidence is not UTF-8; save it as UTF-8; nothing was written\n'),
    );
  });

  it('asks which stage where no claim says it', async () => {
    const world = project({ [LEDGER]: started(1), 'e.json': evidence(1, TITLE) });
    expect(await world.run('stage', 'done', ...ofPlan, '--evidence', 'e.json')).toEqual(
      refusal(2, `${PLAN}: which stage? no claim is known to be yours; give --stage N\n`),
    );
  });
});

/** A row that gives a claim back. */
function released(stage: number): string {
  return `${JSON.stringify({
    impl_task_key: KEY,
    stage,
    status: 'released',
    released_at: '2025-12-31T23:55:00.000Z',
    reason: 'reclaimed',
    claim_id: `claim-${stage}`,
  })}\n`;
}

describe('stage release', () => {
  const release = ['stage', 'release', ...ofPlan];

  it('gives the own claim back', async () => {
    const world = project({ [LEDGER]: started(1) });
    const { exit, stdout, stderr, files } = await world.run(
      ...[...release, '--claim-id', 'claim-1', '--reason', 'too\u001b[2J hard\n'],
    );
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: 'stage 1: released\n',
      stderr: '',
    });
    expect(rows(files[LEDGER]).at(-1)).toEqual({
      impl_task_key: KEY,
      stage: 1,
      status: 'released',
      released_at: '2026-01-01T00:00:00.000Z',
      reason: 'too[2J hard',
      claim_id: 'claim-1',
    });
    expect((await world.run('stage', 'next', ...ofPlan)).stdout).toBe('selected stage: 1\n');
  });

  it('writes nothing where it runs dry', async () => {
    const world = project({ [LEDGER]: started(1) });
    const args = [...release, '--claim-id', 'claim-1', '--dry-run'];
    expect(await world.run(...args)).toEqual({
      exit: 0,
      stdout: 'stage 1: released (dry run: nothing was written)\n',
      stderr: '',
      files: {},
    });
    expect(json(await world.run(...args, '--json'))).toEqual({
      stage: 1,
      status: 'released',
      recorded: true,
      pull_request: null,
      warnings: [],
      dry_run: true,
    });
  });

  it('takes a live claim from nobody', async () => {
    const world = project({ [LEDGER]: started(1, { session: 'bob' }) });
    for (const force of [[], ['--force']]) {
      const { exit, stderr, files } = await world.run(
        ...[...release, '--stage', '1', '--session', 'eve', ...force],
      );
      expect({ exit, files }).toEqual({ exit: 3, files: {} });
      expect(stderr).toContain(
        'the claim of stage 1 by session bob since 2025-12-31T23:50:00.000Z is live',
      );
    }
  });

  it('takes a quiet claim only where one insists, a dead one always', async () => {
    const quiet = project({ [LEDGER]: started(1, { session: 'bob' }) });
    quiet.clock = new Date('2026-01-01T00:20:00Z');
    const ask = [...release, '--stage', '1', '--session', 'eve'];
    const asked = await quiet.run(...ask);
    expect({ exit: asked.exit, files: asked.files }).toEqual({ exit: 3, files: {} });
    expect(asked.stderr).toContain('is quiet');
    expect(asked.stderr).toContain('add --force');
    const forced = await quiet.run(...ask, '--force');
    expect(rows(forced.files[LEDGER]).at(-1)).toMatchObject({
      reason: 'taken from session bob since 2025-12-31T23:50:00.000Z, which was quiet',
    });
    // A sign of life makes it live again.
    const alive = project({ [LEDGER]: started(1, { session: 'bob' }) });
    alive.clock = quiet.clock;
    alive.signs.set('bob', '2026-01-01T00:10:00Z');
    expect((await alive.run(...ask, '--force')).exit).toBe(3);
    const dead = await withDead().run(...release, '--stage', '4', '--session', 'eve');
    expect(dead.stdout).toBe('stage 4: released\n');
  });

  it.each([
    [['--stage', '1'], 3, '--stage 1 already completed', FIRST_DONE[LEDGER]],
    [['--stage', '2'], 3, '--stage 2 is not claimed', ''],
    [['--stage', '9'], 3, '--stage 9 not in Stage Map (have [1, 2, 3, 4])', ''],
    [[], 2, 'which stage? no claim is known to be yours; give --stage N', started(1)],
  ])('%j is refused: %i, %s', async (args, exit, why, ledger) => {
    const { stderr, ...rest } = await project({ [LEDGER]: ledger }).run(...release, ...args);
    expect({ ...rest, stderr: '' }).toEqual(refusal(exit, ''));
    expect(stderr).toContain(why);
  });
});

describe('stage verify', () => {
  const verify = ['stage', 'verify', ...ofPlan];
  const world = () => project({ ...FIRST_DONE, 'reports/v.md': '# ok\n' });

  it('records a verdict', async () => {
    const here = world();
    const args = [...verify, '--stage', '1', '--report', 'reports/v.md'];
    const { exit, stdout, stderr, files } = await here.run(...args);
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: 'stage 1: accepted\n',
      stderr: '',
    });
    expect(rows(files[LEDGER]).at(-1)).toEqual({
      impl_task_key: KEY,
      stage: 1,
      status: 'verified',
      verified_at: '2026-01-01T00:00:00.000Z',
      verdict: 'accepted',
      report_path: 'reports/v.md',
    });
    // The same again is no new row, another verdict needs insistence.
    expect((await here.run(...args)).stdout).toBe('stage 1: accepted already\n');
    const other = [...args, '--verdict', 'blocked'];
    const refused = await here.run(...other);
    expect(refused.exit).toBe(3);
    expect(refused.stderr).toContain('to correct it on purpose, add --force-reappend');
    expect((await here.run(...other, '--force-reappend')).stdout).toBe('stage 1: blocked\n');
    const list = json(await here.run('stage', 'list', ...ofPlan, '--json'));
    expect(list.stages[0]).toMatchObject({ state: 'done', verdict: 'blocked' });
  });

  it('warns of a report that is not there', async () => {
    const here = world();
    const args = [...verify, '--stage', '1', '--report', 'reports/w.md'];
    const { exit, stderr, files } = await here.run(...args);
    const warning = 'there is no report reports/w.md yet; write it before the hand-over';
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: `okstra: warning: ${warning}\n` });
    expect(rows(files[LEDGER]).at(-1)).toMatchObject({ report_path: 'reports/w.md' });
    expect(json(await here.run(...args, '--json')).warnings).toEqual([warning]);
    here.folder = '/desk/reports';
    const fromBelow = ['stage', 'verify', '--task-key', KEY, '--stage', '1', '--force-reappend'];
    for (const report of ['v.md', 'reports/v.md']) {
      expect(await here.run(...fromBelow, '--report', report)).toMatchObject({ stderr: '' });
    }
  });

  it('finds a report from the folder one is in', async () => {
    const here = world();
    here.folder = '/desk/reports';
    const { files } = await here.run(
      ...['stage', 'verify', '--task-key', KEY, '--stage', '1', '--report', 'v.md'],
    );
    expect(rows(files[LEDGER]).at(-1)).toMatchObject({ report_path: 'reports/v.md' });
  });

  it('runs dry, and as JSON', async () => {
    const args = [...verify, '--stage', '1', '--report', 'reports/v.md', '--dry-run'];
    expect(await world().run(...args)).toEqual({
      exit: 0,
      stdout: 'stage 1: accepted (dry run: nothing was written)\n',
      stderr: '',
      files: {},
    });
    expect(json(await world().run(...args, '--json'))).toMatchObject({
      status: 'verified',
      recorded: true,
      dry_run: true,
    });
  });

  it.each([
    [
      ['--stage', '1', '--report', '../v.md'],
      3,
      '../v.md leaves the project; give a path inside the project',
    ],
    [
      ['--stage', '1', '--report', '/etc/passwd'],
      3,
      '/etc/passwd leaves the project; give a path inside the project',
    ],
    [['--stage', '1', '--report', ''], 2, 'the report must be a path'],
    [
      ['--stage', '2', '--report', 'reports/v.md'],
      3,
      "--stage 2 is not done; a stage is done when 'okstra stage done' has its evidence",
    ],
  ])('%j', async (args, exit, why) => {
    expect(await world().run(...verify, ...args)).toEqual(refusal(exit, `${PLAN}: ${why}\n`));
  });

  it('asks for what is missing', async () => {
    expect(await world().run(...verify)).toEqual(
      refusal(2, 'okstra: which stage? give --stage N\n'),
    );
    expect(await world().run(...verify, '--stage', '1')).toEqual(
      refusal(2, 'okstra: where is the report? give --report FILE\n'),
    );
  });
});

describe('stage pr', () => {
  const pr = ['stage', 'pr', ...ofPlan];
  const TWO = {
    [LEDGER]: `${FIRST_DONE[LEDGER]}${done(2)}`,
    [carry(1)]: FIRST_DONE[carry(1)] ?? '',
    [carry(2)]: evidence(2, 'Write the report'),
  };

  it('writes the text and records nothing without an address', async () => {
    expect(await project(TWO).run(...pr, '--stage', '2')).toMatchSnapshot();
    expect(await project(TWO).run(...pr, '--stages', '2, 1')).toMatchSnapshot();
  });

  it('records the address for all stages', async () => {
    const world = project(TWO);
    const args = [...pr, '--stages', '1,2', '--url', 'https://example.com/pull/17'];
    const { exit, stderr, files } = await world.run(...args, '--number', '17');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: 'okstra: recorded\n' });
    expect(rows(files[LEDGER]).at(-1)).toEqual({
      impl_task_key: KEY,
      stage: 1,
      status: 'pr',
      pr_url: 'https://example.com/pull/17',
      pr_number: 17,
      stages: [1, 2],
      opened_at: '2026-01-01T00:00:00.000Z',
    });
    expect((await world.run(...args, '--number', '17')).stderr).toBe('okstra: recorded already\n');
    expect((await world.run(...args, '--number', '18')).exit).toBe(3);
    const list = json(await world.run('stage', 'list', ...ofPlan, '--json'));
    const states = list.stages.map(({ state }: StageLine) => state);
    expect(states).toEqual(['pr', 'pr', 'ready', 'ready']);
    // The number is known to the text of its neighbour.
    const next = await project({ ...TWO, [LEDGER]: files[LEDGER] ?? '' }).run(
      ...pr,
      '--stage',
      '2',
    );
    expect(next.stdout).toContain('Previous: #17');
  });

  it('runs dry, and as JSON', async () => {
    const args = [...pr, '--stage', '1', '--number', '17', '--dry-run'];
    const text = await project(TWO).run(...args);
    expect({ stderr: text.stderr, files: text.files }).toEqual({
      stderr: 'okstra: recorded (dry run: nothing was written)\n',
      files: {},
    });
    const answer = json(await project(TWO).run(...args, '--json'));
    expect(answer).toMatchObject({
      status: 'pr',
      recorded: true,
      dry_run: true,
      pull_request: { title: 'Stage 1: Parse the input' },
    });
  });

  it.each([
    [
      ['--stage', '1', '--url', 'ftp://x/1'],
      2,
      `${PLAN}: the address of a pull request must begin with https:// or http://`,
    ],
    [
      ['--stage', '1', '--url', 'javascript:x'],
      2,
      `${PLAN}: the address of a pull request must begin with https:// or http://`,
    ],
    [
      ['--stage', '3'],
      3,
      `${PLAN}: --stage 3 is not done; a stage is done when 'okstra stage done' has its evidence`,
    ],
    [
      ['--stages', '1,3'],
      3,
      `${PLAN}: --stage 3 is not done; a stage is done when 'okstra stage done' has its evidence`,
    ],
    [['--stages', '1,x'], 2, "okstra: --stages takes numbers with commas between, got '1,x'"],
    [['--stages', ''], 2, "okstra: --stages takes numbers with commas between, got ''"],
    [['--stages', '0'], 2, "okstra: --stages takes numbers with commas between, got '0'"],
    [[], 2, 'okstra: which stages? give --stage N or --stages N,M'],
    [['--stage', '1', '--stages', '2'], 2, 'okstra: which stages? give --stage N or --stages N,M'],
  ])('%j', async (args, exit, why) => {
    expect(await project(TWO).run(...pr, ...args)).toEqual(refusal(exit, `${why}\n`));
  });
});

describe('stage list', () => {
  const list = ['stage', 'list', ...ofPlan];

  /** A plan and a ledger in which every state has a stage. */
  const EVERY = (() => {
    const text = planText(
      [
        { title: 'Read the orders' },
        { title: 'Check the orders' },
        { title: 'Sum the orders' },
        { title: 'Print the orders' },
        { title: 'Mail the orders' },
        { title: 'Sort the orders', after: '4' },
        { title: 'Drop the orders' },
        { title: 'Keep the orders' },
        { title: 'Show the orders' },
      ],
      APPROVED,
    ).replace('| 7 | Drop', '| ~~7~~ | Drop');
    const verified = {
      ...{ impl_task_key: KEY, stage: 2, status: 'verified', verdict: 'accepted' },
      ...{ verified_at: '2025-12-31T22:00:00.000Z', report_path: 'v.md' },
    };
    const opened = {
      ...{ impl_task_key: KEY, stage: 3, status: 'pr', pr_number: 4, stages: [3] },
      opened_at: '2025-12-29T00:00:00.000Z',
    };
    const ledger = [
      done(1, { plan_digest: 'sha256:0' }),
      done(2),
      `${JSON.stringify(verified)}\n`,
      done(3),
      `${JSON.stringify(opened)}\n`,
      started(4, { session: 'ada', host: 'box', pid: 5 }),
      started(5, { session: 'bob', host: 'den', started_at: '2025-12-31T23:00:00.000Z' }),
      started(8, { host: 'box', pid: 7, pid_start: 'start-7' }),
    ];
    return { [PLAN]: text, [LEDGER]: ledger.join('') };
  })();

  function everyState(): World {
    const world = project(EVERY);
    world.processes.set(5, 'alive');
    world.processes.set(7, 'gone');
    return world;
  }

  it.each([40, 80, 120])('shows every state in %i columns', async (columns) => {
    const world = everyState();
    world.columns = columns;
    const outcome = await world.run(...list);
    expect(outcome).toMatchSnapshot();
    // The commands that free claims stay whole, so that they can be copied.
    for (const line of outcome.stdout.split('\n').filter((line) => !line.includes('okstra '))) {
      expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  it('says how to free a quiet and a dead claim', async () => {
    const { stdout } = await everyState().run(...list);
    const plan = `/desk/${PLAN}`;
    expect(stdout).toContain(`okstra stage release --plan ${plan} --stage 5 --force\n`);
    expect(stdout).toContain(
      `okstra stage claim --plan ${plan} --stage 8 --no-worktree --reclaim\n`,
    );
  });

  it('is bold in its head where colour is wanted, and nowhere else', async () => {
    const bare = await everyState().run(...list, '--no-color');
    const world = everyState();
    world.terminals.add(1);
    const { stdout } = await world.run(...list);
    expect(stdout).toContain('\u001b[1m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no width
    expect(stdout.replace(/\u001b\[\d+m/g, '')).toBe(bare.stdout);
    expect((await everyState().run(...list, '--color')).stdout).toBe(stdout);
  });

  it('prints JSON', async () => {
    const answer = json(await everyState().run(...list, '--json'));
    expect(answer.plan_path).toBe(PLAN);
    expect(answer.stages.map(({ state }: StageLine) => state)).toEqual([
      ...['done', 'verified', 'pr', 'running', 'running', 'waiting', 'cancelled', 'running'],
      'ready',
    ]);
    expect(answer.stages[4].claim).toMatchObject({ life: 'quiet', session: 'bob' });
    expect(answer.stages[7].claim).toMatchObject({ life: 'dead' });
    expect(answer.stages[0]).toMatchObject({
      stale: { reasons: [{ kind: 'text' }], built_on: [] },
      age_ms: 3 * 3600_000,
    });
  });

  it.each([40, 80, 120])('aligns wide letters in %i columns', async (columns) => {
    const text = planText(
      [
        { title: '計画を読むところを直す長い題名です。とても長いのでここで折り返します' },
        { title: '👩‍👩‍👧 family and é', after: '1' },
        { title: '한국어 제목' },
      ],
      APPROVED,
    );
    const world = project({ [PLAN]: text, [LEDGER]: started(1, { session: '設計' }) });
    world.columns = columns;
    const { stdout } = await world.run(...list);
    expect(stdout).toMatchSnapshot();
    for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    if (columns === 40) return;
    // The mark of the state stands in one column.
    const marks = stdout.split('\n').flatMap((line) => {
      const at = line.search(/[○▶·] (ready|running|waiting)/);
      return at < 0 ? [] : [stringWidth(line.slice(0, at))];
    });
    expect(new Set(marks).size).toBe(1);
    expect(marks).toHaveLength(3);
  });

  const HOSTILE = 'Part \u001b]0;pwned\u0007 \u009b31m\u202e\u2066 x\u200f\u061c\u0085';

  it.each([
    ['list'],
    ['next', '--explain'],
    ['claim', '--no-worktree'],
    ['show', '--stage', '1'],
    ['list', '--json'],
    ['claim', '--no-worktree', '--json'],
    ['show', '--stage', '1', '--json'],
  ])('no title and no row steers the terminal: stage %s %s', async (...args) => {
    const text = planText([{ title: HOSTILE, files: `\`a${HOSTILE}.rs\`` }, {}], APPROVED);
    const row = started(2, {
      ...{ impl_task_key: HOSTILE, session: HOSTILE, host: HOSTILE, head_commit: HOSTILE },
      started_at: '2025-12-31T00:00:00Z',
    });
    const world = project({ [PLAN]: text, [LEDGER]: `${row}{"\u202e\u001b\n` });
    const { exit, stdout, stderr } = await world.run(
      ...['stage', ...args, ...ofPlan].filter((arg) => arg !== undefined),
    );
    expect(exit).toBe(0);
    expect(stdout).not.toBe('');
    expect(stderr + stdout).not.toMatch(STEERS);
  });

  it('no hostile title steers the terminal in what is refused', async () => {
    const text = planText([{ title: HOSTILE, after: HOSTILE }], APPROVED);
    const world = project({ [PLAN]: text });
    for (const args of [
      ['claim', '--no-worktree'],
      ['claim', '--no-worktree', '--stage', HOSTILE],
      ['list', '--task-key', HOSTILE],
      ['verify', '--stage', '1', '--report', `../${HOSTILE}`],
    ]) {
      const plan = args.includes('--task-key') ? [] : ofPlan;
      const { exit, stdout, stderr } = await world.run('stage', ...args, ...plan);
      expect(exit).toBeGreaterThan(0);
      expect(stderr).not.toBe('');
      expect(stdout + stderr).not.toMatch(STEERS);
    }
  });

  it('shows a plan with errors as far as it can be read', async () => {
    const world = project({ [PLAN]: planText([{}, { after: '9' }]) });
    const { exit, stdout } = await world.run(...list);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/○ ready/);
    expect(stdout).toMatch(/! broken/);
  });

  it('wants a Stage Map', async () => {
    const { exit, stdout, stderr } = await project({ [PLAN]: '# No plan\n' }).run(...list);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain("S1 stage=0: section '## 4.5 Stage Map' is missing\n");
  });

  it('says where the ledger belongs to another plan', async () => {
    const world = project({ [LEDGER]: done(17) });
    expect((await world.run(...list)).stderr).toBe(
      'okstra: warning: the ledger has rows of stages that this plan has not: 17; does it belong to another plan?\n',
    );
  });
});

describe('stage list --watch', () => {
  const watch = ['stage', 'list', ...ofPlan, '--watch'];

  /** Waits until standard output holds a text. */
  async function shown(world: World, text: string): Promise<void> {
    const end = Date.now() + 10_000;
    while (!world.streams[1].includes(text)) {
      if (Date.now() > end) throw new Error(`never shown: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  it('shows the table again after a change, until it is stopped', async () => {
    const world = project();
    const ended = world.run(...watch);
    await world.until('watching', 1);
    world.put(LEDGER, started(1, { session: 'ada' }));
    world.touch();
    await shown(world, 'session ada');
    world.put(PLAN, '# half saved');
    world.touch();
    await world.until('Stage Map', 1);
    world.put(PLAN, FOUR);
    world.put(LEDGER, `${started(1, { session: 'ada' })}${done(1)}`);
    world.touch();
    await shown(world, '✓ done');
    world.interrupt();
    const { exit, stdout, stderr } = await ended;
    expect(exit).toBe(0);
    expect(world.closed).toBe(true);
    expect(stdout).not.toContain('\u001b');
    expect(stdout.match(/^wave /gm)).toHaveLength(3);
    expect(stderr).toContain('okstra: watching; Ctrl-C ends\n');
  });

  it('empties the screen of a terminal', async () => {
    const world = project();
    world.terminals.add(1);
    const ended = world.run(...watch, '--no-color');
    await world.until('watching', 1);
    world.put(LEDGER, started(1, { session: 'ada' }));
    world.touch();
    await shown(world, 'session ada');
    world.interrupt();
    expect((await ended).stdout).toContain('\u001b[2J\u001b[3J\u001b[H');
  });

  it('sees a change that came before the watch had begun', async () => {
    const world = project();
    const { watchFiles } = world;
    world.watchFiles = async function (this: World, ...args) {
      this.put(LEDGER, started(1, { session: 'ada' }));
      return watchFiles.apply(this, args);
    };
    const ended = world.run(...watch);
    await shown(world, 'session ada');
    world.interrupt();
    expect((await ended).exit).toBe(0);
  });

  it('does not begin without a plan', async () => {
    expect(await project().run('stage', 'list', '--watch', '--plan', 'gone.md')).toEqual(
      refusal(2, 'gone.md: no such file; check the path\n'),
    );
  });
});

describe('stage show', () => {
  const show = ['stage', 'show', ...ofPlan];

  it('shows a stage with what it needs and where it stands', async () => {
    const world = project({
      ...FIRST_DONE,
      [LEDGER]: `${FIRST_DONE[LEDGER]}${started(2, { session: 'ada', started_at: '2025-12-31T10:00:00Z' })}`,
    });
    expect(await world.run(...show, '--stage', '2')).toMatchSnapshot();
    expect(await world.run(...show, '--stage', '1')).toMatchSnapshot();
  });

  it('prints JSON', async () => {
    const answer = json(await project(FIRST_DONE).run(...show, '--stage', '1', '--json'));
    expect(answer).toMatchObject({ stage: 1, line: { state: 'done', head: commit(1) } });
  });

  it('asks which', async () => {
    expect(await project().run(...show)).toEqual(
      refusal(2, 'okstra: which stage? give --stage N\n'),
    );
    expect(await project().run(...show, '--stage', '9')).toEqual(
      refusal(3, `${PLAN}: --stage 9 not in Stage Map (have [1, 2, 3, 4])\n`),
    );
  });
});
