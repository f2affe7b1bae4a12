/** Processes that are killed at any moment: what is written stays right, what is not is free. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chains, free, type Outcome, offences, Place, stagesOf, upTo } from './support.js';

/** Hundreds of processes, one after the other. */
const LONG = { timeout: 400_000 };

/** The number of no process: the highest there is. */
const NOBODY = 2 ** 22;

/** Runs in which a command learns what of its compiled code is worth keeping. */
const LEARNING = 3;

/** How long a command takes from start to end, in milliseconds: the longest of some. */
async function life(run: () => Promise<Outcome>): Promise<number> {
  for (const _ of upTo(LEARNING)) await run();
  let longest = 0;
  for (const _ of upTo(5)) {
    const begin = performance.now();
    await run();
    longest = Math.max(longest, performance.now() - begin);
  }
  return longest;
}

/** Starts a command and kills it at a moment of its life that nobody knows before. */
async function killed(place: Place, words: string[], life: number): Promise<Outcome> {
  const { child, end } = place.start(words);
  const timer = setTimeout(() => child.kill('SIGKILL'), Math.random() * life * 1.1);
  const outcome = await end;
  clearTimeout(timer);
  return outcome;
}

/**
 * Starts a command and kills it as soon as something shows on disk. It is watched without a pause:
 * what is waited for may pass within a fraction of a millisecond.
 */
async function killedOnce(place: Place, words: string[], shows: () => boolean): Promise<Outcome> {
  const { child, end } = place.start(words);
  const limit = performance.now() + 20_000;
  while (!shows() && performance.now() < limit);
  child.kill('SIGKILL');
  return end;
}

function doneWords(place: Place, as: string, stage: number): string[] {
  return place.words('done', as, '--stage', `${stage}`, '--evidence', place.evidence(stage));
}

/** The temporary files that a killed process left beside the evidence. */
function leftovers(place: Place): string[] {
  if (!existsSync(place.carry)) return [];
  return readdirSync(place.carry).filter((name) => name.endsWith('.tmp'));
}

/** How far the killed processes had come. */
class Moments {
  readonly counts: Record<string, number> = {};

  count(moment: string): void {
    this.counts[moment] = (this.counts[moment] ?? 0) + 1;
  }

  /** All that were killed. */
  get kills(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /** How far `claim` had come for a session. */
  claim(place: Place, as: string, { exit }: Outcome): void {
    if (exit !== 'SIGKILL') return;
    const isWritten = place.rows().some((row) => row.session === as && row.status === 'started');
    this.count(isWritten ? 'claim: row' : 'claim: nothing');
  }

  /** How far `done` had come with a stage. */
  done(place: Place, stage: number, { exit }: Outcome, before: readonly string[]): void {
    if (exit !== 'SIGKILL') return;
    const isLeft = leftovers(place).length > before.length;
    const hasRow = place.rows().some((row) => row.stage === stage && row.status === 'done');
    if (hasRow) this.count('done: row');
    else if (existsSync(place.sidecar(stage))) this.count('done: evidence, no row');
    else this.count(isLeft ? 'done: temporary file' : 'done: nothing');
  }
}

/** What has to hold after every kill: the ledger is whole, its lock is free, the table is shown. */
async function isWell(place: Place, moment: number): Promise<void> {
  const begin = performance.now();
  // Reading asks for no lock; lost rows are restored by the last one only.
  const readers = [
    ['ledger', 'check', '--plan', place.plan, '--json'],
    place.words('list', '', '--json', '--dry-run'),
    place.words('list', '', '--json'),
  ];
  const [repair, reader] = await Promise.all([
    // Takes the lock; a command that had to wait for it would do so for half a minute.
    place.run(['ledger', 'repair', '--plan', place.plan, '--json', '--dry-run']),
    place.run(readers[moment % readers.length] ?? []),
  ]);
  expect(reader).toMatchObject({ exit: 0 });
  expect(repair).toMatchObject({ exit: 0, stderr: '' });
  expect(JSON.parse(repair.stdout)).toMatchObject({ bad: [], changed: false });
  expect(performance.now() - begin).toBeLessThan(15_000);
  expect(offences(place.rows(), place.graph)).toEqual([]);
}

/** Builds what is left, as if nothing had happened, and looks at the whole. */
async function finish(place: Place): Promise<void> {
  // The stages that were claimed by killed processes belong to sessions that go on.
  for (const { stage, state, claim } of await place.list()) {
    if (state === 'running') {
      expect(await place.done(claim?.session ?? '', stage)).toMatchObject({ exit: 0 });
    }
  }
  for (;;) {
    const { exit, stdout, stderr } = await place.claim('last');
    if (exit !== 0) {
      expect({ exit, stderr }).toEqual({
        exit: 3,
        stderr: expect.stringContaining('every stage is already done'),
      });
      break;
    }
    expect(await place.done('last', JSON.parse(stdout).stage)).toMatchObject({ exit: 0 });
  }
  const all = upTo(place.graph.length);
  const rows = place.rows();
  expect(offences(rows, place.graph)).toEqual([]);
  expect(stagesOf(rows, 'done')).toEqual(all);
  expect((await place.list()).map((it) => it.state)).toEqual(all.map(() => 'done'));
  for (const stage of all) {
    expect(JSON.parse(readFileSync(place.sidecar(stage), 'utf8')).stageNumber).toBe(stage);
  }
}

/** Every temporary file is taken away by whoever writes evidence a while later. */
async function isSweptLater(place: Place): Promise<void> {
  const past = new Date(Date.now() - 120_000);
  for (const name of leftovers(place)) utimesSync(join(place.carry, name), past, past);
  const last = place.graph.length;
  expect(await place.claim('sweeper', '--stage', `${last}`)).toMatchObject({ exit: 0 });
  expect(await place.done('sweeper', last)).toMatchObject({ exit: 0 });
  expect(leftovers(place)).toEqual([]);
}

/** The finished lines of the ledger: whoever reads without the lock may see half a row. */
function ended(place: Place): number {
  if (!existsSync(place.ledger)) return 0;
  return readFileSync(place.ledger, 'utf8').split('\n').length - 1;
}

/** After so many rounds every moment was hit, or there is something wrong with hitting them. */
const MOST_ROUNDS = 40;

describe('claim and done', () => {
  it('killed 300 times at random moments lose nothing and take nothing twice', LONG, async () => {
    const trial = new Place(free(5 + LEARNING));
    const claims = await life(() => trial.claim(''));
    const [id = ''] = trial.rows().map((row) => row.claim_id);
    const dones = await life(() => trial.run([...doneWords(trial, '', 1), '--claim-id', id]));

    const moments = new Moments();
    let place = new Place(chains(4, 5));
    for (let stage = 1, number = 0; moments.kills < 300; stage++) {
      if (stage > place.graph.length) {
        await finish(place);
        place = new Place(chains(4, 5));
        stage = 1;
      }
      const as = `s${stage}`;
      const isDone = () => existsSync(place.sidecar(stage));
      const isClaimed = () => place.rows().some((row) => row.session === as);
      while (!isClaimed()) {
        const wish = ['--stage', `${stage}`];
        moments.claim(place, as, await killed(place, place.words('claim', as, ...wish), claims));
        await isWell(place, number++);
      }
      while (!isDone()) {
        const before = leftovers(place);
        const outcome = await killed(place, doneWords(place, as, stage), dones);
        moments.done(place, stage, outcome, before);
        await isWell(place, number++);
      }
      // The session does not know how far it came: it says so again.
      expect(await place.done(as, stage)).toMatchObject({
        exit: 0,
        stdout: expect.stringMatching(/^stage \d+ (is|was) done/),
      });
    }
    await finish(place);
    expect(moments.kills).toBeGreaterThanOrEqual(300);
    // Some of each kind have to be among so many.
    expect(moments.counts).toMatchObject({
      'claim: nothing': expect.any(Number),
      'claim: row': expect.any(Number),
      'done: nothing': expect.any(Number),
    });
  });

  it(
    'killed right after each write are healed (12 times each, and on until all moments were hit)',
    LONG,
    async () => {
      const place = new Place(free(3 * MOST_ROUNDS + 1));
      const moments = new Moments();
      const isLonger = (size: number) => () => ended(place) > size;
      const isHit = (moment: string, times: number) => (moments.counts[moment] ?? 0) >= times;
      for (const at of upTo(MOST_ROUNDS)) {
        // Right after the row of a claim, before it is answered.
        const claimed = 3 * at - 2;
        const [first, second, third] = [claimed, claimed + 1, claimed + 2];
        const words = place.words('claim', `s${first}`, '--stage', `${first}`);
        const outcome = await killedOnce(place, words, isLonger(place.rows().length));
        moments.claim(place, `s${first}`, outcome);
        await isWell(place, at);
        expect(JSON.parse((await place.claim(`s${first}`)).stdout)).toMatchObject({
          stage: first,
          already_held: true,
        });

        // With the temporary file of the evidence only.
        const before = leftovers(place);
        moments.done(
          place,
          first,
          await killedOnce(
            place,
            doneWords(place, `s${first}`, first),
            () => leftovers(place).length > before.length,
          ),
          before,
        );
        await isWell(place, at);
        expect(await place.done(`s${first}`, first)).toMatchObject({ exit: 0 });

        // With the evidence in its place, before the row; and right after the row.
        for (const [stage, shows] of [
          [second, () => existsSync(place.sidecar(second))],
          [third, undefined],
        ] as const) {
          await place.claim(`s${stage}`, '--stage', `${stage}`);
          const left = leftovers(place);
          const killing = shows ?? isLonger(place.rows().length);
          const outcome = await killedOnce(place, doneWords(place, `s${stage}`, stage), killing);
          moments.done(place, stage, outcome, left);
          // Whoever comes next finds it done: another session, the table, or the session itself.
          if (at % 3 === 0) {
            expect(await place.claim('other', '--stage', `${stage}`)).toMatchObject({
              exit: 3,
              stderr: expect.stringContaining(`--stage ${stage} already completed`),
            });
          }
          if (at % 3 === 1) {
            const states = (await place.list()).filter((it) => it.stage === stage);
            expect(states).toMatchObject([{ state: 'done' }]);
          }
          expect(await place.done(`s${stage}`, stage)).toMatchObject({
            exit: 0,
            stdout: `stage ${stage} was done already\n`,
          });
          await isWell(place, at);
        }
        // How often a kill comes in time depends on the machine.
        const isEnough =
          isHit('claim: row', 6) &&
          isHit('done: temporary file', 1) &&
          isHit('done: evidence, no row', 3) &&
          isHit('done: row', 6);
        if (at >= 12 && isEnough) break;
      }
      expect(moments.counts['claim: row']).toBeGreaterThanOrEqual(6);
      expect(moments.counts['done: temporary file']).toBeGreaterThanOrEqual(1);
      expect(moments.counts['done: evidence, no row']).toBeGreaterThanOrEqual(3);
      expect(moments.counts['done: row']).toBeGreaterThanOrEqual(6);
      expect(leftovers(place).length).toBeGreaterThan(0);
      await isSweptLater(place);
      await finish(place);
    },
  );

  it('leave temporary files that nobody takes for evidence', async () => {
    const place = new Place(free(2));
    mkdirSync(place.carry, { recursive: true });
    const text = readFileSync(place.evidence(1), 'utf8');
    for (const name of ['.stage-1.json.77-abc.tmp', 'stage-1.json.tmp', '.stage-1.json']) {
      writeFileSync(join(place.carry, name), text);
    }
    expect((await place.list()).map((it) => it.state)).toEqual(['ready', 'ready']);
    expect(place.rows()).toEqual([]);
  });
});

describe('other commands', () => {
  it(
    'a reclaim killed at any moment leaves the stage to one session or to nobody',
    LONG,
    async () => {
      const trial = new Place(free(1));
      await trial.claim('s');
      const length = await life(() => trial.claim('new', '--reclaim'));
      const found: Record<string, number> = {};
      for (const at of upTo(24)) {
        const place = new Place(free(1));
        await place.claim('old');
        const row = { ...place.rows()[0], pid: NOBODY };
        writeFileSync(place.ledger, `${JSON.stringify(row)}\n`);
        const words = place.words('claim', 'new', '--reclaim');
        const outcome =
          at % 2 === 0
            ? await killed(place, words, length)
            : await killedOnce(place, words, () => ended(place) > 1);
        if (outcome.exit === 'SIGKILL') {
          const state = place
            .rows()
            .map((row) => row.status)
            .join(' ');
          found[state] = (found[state] ?? 0) + 1;
        }
        await isWell(place, at);
        expect(await place.claim('new', '--reclaim')).toMatchObject({ exit: 0 });
        const rows = place.rows();
        expect(rows.map((row) => row.status)).toEqual(['started', 'released', 'started']);
        expect(offences(rows, place.graph)).toEqual([]);
      }
      expect(found).toMatchObject({ started: expect.any(Number) });
      // In between the stage is nobody's.
      expect(found).toMatchObject({ 'started released': expect.any(Number) });
    },
  );

  it('a repair killed at any moment loses no line', LONG, async () => {
    const trial = new Place(free(3));
    await trial.claim('s1');
    const length = await life(() => trial.run(['ledger', 'repair', '--plan', trial.plan]));
    const bad = ['no json', '{"stage":0}', '\u0000\u0001', '{"impl_task_key":"p","sta'];
    let kills = 0;
    for (const at of upTo(24)) {
      const place = new Place(free(3));
      await place.claim('s1');
      const good = readFileSync(place.ledger, 'utf8').trimEnd();
      writeFileSync(place.ledger, [bad[0], good, ...bad.slice(1)].join('\n'));
      const words = ['ledger', 'repair', '--plan', place.plan];
      const rejected = `${place.ledger}.rejected`;
      const outcome =
        at % 2 === 0
          ? await killed(place, words, length)
          : await killedOnce(place, words, () => existsSync(rejected));
      if (outcome.exit === 'SIGKILL') kills += 1;
      const lines = (file: string) =>
        existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
      expect([...lines(place.ledger), ...lines(rejected)]).toEqual(
        expect.arrayContaining([good, ...bad]),
      );
      expect(await place.run(words)).toMatchObject({ exit: 0 });
      expect(readFileSync(place.ledger, 'utf8')).toBe(`${good}\n`);
      expect(lines(rejected)).toEqual(expect.arrayContaining(bad));
      await isWell(place, at);
    }
    expect(kills).toBeGreaterThanOrEqual(12);
  });
});
