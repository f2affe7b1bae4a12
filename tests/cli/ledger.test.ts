import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { HostError } from '../../cli-js/src/host/host.js';
import { carry, done, evidence, FOUR, KEY, LEDGER, PLAN, project, started } from './stages.js';

const ofPlan = ['--plan', PLAN];

/** The ledger as the commands name it. */
const NAME = `/desk/${LEDGER}`;

const VERIFIED = `${JSON.stringify({
  ...{ impl_task_key: KEY, stage: 1, status: 'verified', verdict: 'accepted' },
  ...{ verified_at: '2025-12-31T22:00:00.000Z', report_path: 'reports/verification.md' },
})}\n`;

const GOOD =
  started(1, { session: 'ada', host: 'box' }) +
  done(1, { claim_id: 'claim-1' }) +
  VERIFIED +
  started(2, { session: '設計', impl_task_key: '計画:グループ:課題' });

/** Two lines that can be used, between lines that cannot. */
const BAD = Buffer.concat([
  Buffer.from(`\ufeff${started(1)}`),
  Buffer.from('no JSON at all\r\n\r\n'),
  Buffer.from('{"impl_task_key":"k","stage":0,"status":"started"}\n'),
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d, 0x0a]),
  Buffer.from(done(1)),
  Buffer.from('{"impl_task_key":"k","stage":"1","status":"done"}\n'),
  Buffer.from('{"impl_task_key":"k","sta'),
]);

describe('ledger show', () => {
  const show = ['ledger', 'show', ...ofPlan];

  it.each([40, 80, 120])('prints the rows in %i columns', async (columns) => {
    const world = project({ [LEDGER]: GOOD });
    world.columns = columns;
    const outcome = await world.run(...show);
    expect(outcome).toMatchSnapshot();
    for (const line of outcome.stdout.split('\n')) {
      expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  it('prints JSON', async () => {
    const { stdout } = await project({ [LEDGER]: GOOD }).run(...show, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      rows: [
        { line: 1, stages: [1], status: 'started' },
        { line: 2, stages: [1], status: 'done' },
        { line: 3, stages: [1], status: 'verified' },
        { line: 4, stages: [2], status: 'started', impl_task_key: '計画:グループ:課題' },
      ],
      bad: [],
    });
  });

  it('--impl-key prints the rows of one key only', async () => {
    const text = started(1) + started(2, { impl_task_key: 'theirs' });
    const args = [...show, '--impl-key', 'theirs', '--json'];
    const { stdout } = await project({ [LEDGER]: text }).run(...args);
    expect(JSON.parse(stdout).rows).toMatchObject([{ line: 2, impl_task_key: 'theirs' }]);
  });

  it('says which lines it cannot read, and changes nothing', async () => {
    const { exit, stderr, files } = await project({ [LEDGER]: BAD }).run(...show);
    expect({ exit, files }).toEqual({ exit: 0, files: {} });
    const lines = stderr.split('\n').slice(0, -1);
    expect(lines.map((line) => line.slice(0, NAME.length + 2))).toEqual(
      [2, 4, 5, 7, 8].map((at) => `${NAME}:${at}`),
    );
  });

  it('finds the ledger by the key of the task; one that is not there has no rows', async () => {
    const world = project();
    world.folder = '/desk/.okstra';
    expect(await world.run('ledger', 'show', '--task-key', KEY)).toEqual({
      exit: 0,
      stdout: 'no rows\n',
      stderr: '',
      files: {},
    });
  });

  it('is not steered by what stands in it', async () => {
    const hostile = '\u001b]0;x\u0007\u009b\u202e\u2066\u200f';
    const text = started(1, { session: hostile, impl_task_key: hostile, claim_id: hostile });
    for (const args of [show, [...show, '--json'], ['ledger', 'check', ...ofPlan]]) {
      const world = project({ [LEDGER]: `${text}{"${hostile}\n` });
      const { stdout, stderr } = await world.run(...args);
      expect(stdout + stderr).not.toMatch(
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/,
      );
    }
  });
});

describe('ledger check', () => {
  const check = ['ledger', 'check', ...ofPlan];

  it('has nothing to say of a good one', async () => {
    expect(await project({ [LEDGER]: GOOD }).run(...check)).toEqual({
      exit: 0,
      stdout: '',
      stderr: `${NAME}: 4 rows, nothing wrong\n`,
      files: {},
    });
    expect((await project({ [LEDGER]: started(1) }).run(...check)).stderr).toBe(
      `${NAME}: 1 row, nothing wrong\n`,
    );
    expect((await project().run(...check)).stderr).toBe(`${NAME}: no rows yet\n`);
  });

  it('names every line that cannot be used, also one that is no UTF-8', async () => {
    expect(await project({ [LEDGER]: BAD }).run(...check)).toMatchSnapshot();
  });

  it('prints JSON, with the same status', async () => {
    const { exit, stdout, stderr } = await project({ [LEDGER]: BAD }).run(...check, '--json');
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: '' });
    const { rows, bad } = JSON.parse(stdout);
    expect(rows).toBe(2);
    expect(bad.map(({ line }: { line: number }) => line)).toEqual([2, 4, 5, 7, 8]);
  });

  it('notes what is odd', async () => {
    const ledger = `${done(1)}${JSON.stringify({ impl_task_key: KEY, stage: 1, status: 'paused' })}\n`;
    const { exit, stderr } = await project({ [LEDGER]: ledger }).run(...check);
    expect(exit).toBe(0);
    expect(stderr).toContain(`${NAME}:2: note: `);
  });

  it('says where the ledger is a folder', async () => {
    const world = project({
      [LEDGER]: new HostError('directory', NAME, 'a folder', 'a file belongs there'),
    });
    expect(await world.run(...check)).toEqual({
      exit: 2,
      stdout: '',
      stderr: `${NAME}: a folder; a file belongs there\n`,
      files: {},
    });
  });
});

describe('ledger repair', () => {
  const repair = ['ledger', 'repair', ...ofPlan];

  it('moves bad lines away and loses none', async () => {
    const world = project({ [LEDGER]: BAD });
    const { exit, stdout, stderr, files } = await world.run(...repair);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' });
    expect(stderr).toMatchSnapshot();
    expect(files[LEDGER]).toBe(started(1) + done(1));
    expect(files[`${LEDGER}.rejected`]?.split('\n')).toEqual([
      'no JSON at all\r',
      '{"impl_task_key":"k","stage":0,"status":"started"}',
      '{"\\xff\\xfe"}',
      '{"impl_task_key":"k","stage":"1","status":"done"}',
      '{"impl_task_key":"k","sta',
      '',
    ]);
    expect(world.guarded.map(([, locks]) => locks.length)).toEqual([1, 1, 1, 1, 1]);
    // Once more there is nothing to do, and the rejected lines stay.
    const again = await world.run(...repair);
    expect(again).toEqual({ exit: 0, stdout: '', stderr: 'okstra: nothing to repair\n', files });
    expect((await world.run('ledger', 'check', ...ofPlan)).exit).toBe(0);
  });

  it('keeps lines that were rejected before', async () => {
    const world = project({ [LEDGER]: `x\n${done(1)}`, [`${LEDGER}.rejected`]: 'old\n' });
    const { files, stderr } = await world.run(...repair);
    expect(files[`${LEDGER}.rejected`]).toBe('old\nx\n');
    expect(stderr).toContain(`okstra: 1 line moved to ${NAME}.rejected\n`);
  });

  it('says what it would do where it runs dry', async () => {
    const world = project({ [LEDGER]: BAD });
    const { exit, stderr, files } = await world.run(...repair, '--dry-run');
    expect({ exit, files }).toEqual({ exit: 0, files: {} });
    expect(stderr).toContain(`okstra: 5 lines would be moved to ${NAME}.rejected\n`);
    const json = await world.run(...repair, '--dry-run', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ changed: true, dry_run: true });
    expect(json.files).toEqual({});
  });

  it('does not touch a ledger that another program changes meanwhile', async () => {
    const world = project({ [LEDGER]: `x\n${done(1)}` });
    const theirs = `x\n${done(1)}${started(2)}`;
    world.meanwhile = () => world.put(LEDGER, theirs);
    const { exit, stderr, files } = await world.run(...repair);
    expect(exit).toBe(3);
    expect(stderr).toBe(`${NAME}: changed while okstra worked on it; run it again\n`);
    expect(files[LEDGER]).toBe(theirs);
  });

  it('needs the lock', async () => {
    const world = project({ [LEDGER]: 'x\n' });
    world.withLock = async (file) => {
      throw new HostError('locked', file, 'locked by another process', 'try again');
    };
    const { exit, files } = await world.run(...repair);
    expect({ exit, files }).toEqual({ exit: 5, files: {} });
  });
});

it('a plan that is gone is said as everywhere', async () => {
  for (const verb of ['show', 'check', 'repair']) {
    expect(await project().run('ledger', verb, '--plan', 'gone.md')).toEqual({
      exit: 2,
      stdout: '',
      stderr: 'gone.md: no such file; check the path\n',
      files: {},
    });
  }
});

it('evidence whose row was lost is no fault of the ledger', async () => {
  const world = project({ [PLAN]: FOUR, [carry(1)]: evidence(1, 'Parse the input') });
  expect((await world.run('ledger', 'check', ...ofPlan)).exit).toBe(0);
});
