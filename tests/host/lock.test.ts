/** The lock of a ledger between real processes. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { child } from './children.js';

let folder: string;
let lock: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'okstra-lock-'));
  lock = join(folder, 'home/locks/ledger.lock');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Lets a process take the lock; resolves once it has it. */
async function holder(name = 'holder') {
  const process = child('hold', lock, name);
  expect(await process.answer()).toBe('held');
  return process;
}

/** Resolves once the kernel has somebody wait for the lock. */
async function queued(): Promise<void> {
  const waiting = new RegExp(`^\\d+: -> .*:${statSync(lock).ino} `, 'm');
  while (!waiting.test(readFileSync('/proc/locks', 'utf8'))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface Taken {
  outcome: unknown;
  ms: number;
}

describe('the lock', () => {
  it('makes its folder, for this user alone', async () => {
    await holder();
    expect(statSync(join(folder, 'home')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'home/locks')).mode & 0o777).toBe(0o700);
    expect(statSync(lock).mode & 0o777).toBe(0o600);
  });

  it('is free at once when its holder is killed', async () => {
    const first = await holder();
    const second = child('take', lock, '20000');
    await queued();
    const start = performance.now();
    await first.kill();
    expect((await second.answer<Taken>()).outcome).toBe('done');
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it('is free for those who come after a killed holder, whatever it wrote', async () => {
    await (await holder()).kill();
    expect(readFileSync(lock, 'utf8')).toContain('holder');
    const taker = child('take', lock, '0');
    expect(await taker.answer()).toMatchObject({ outcome: 'done' });
    await taker.end();
    expect(readFileSync(lock, 'utf8')).toBe('');
  });

  it('is refused when the time is up: by whom it is held, since when, and what to do', async () => {
    const first = await holder('okstra stage claim');
    const second = child('take', lock, '300');
    const { outcome, ms } = await second.answer<Taken>();
    const answered = performance.now();
    expect(outcome).toEqual({
      reason: 'locked',
      path: lock,
      message: expect.stringMatching(
        new RegExp(
          `^locked by okstra stage claim \\(process ${first.pid} on ${hostname()} since ` +
            String.raw`\d{4}-\d\d-\d\dT[\d:.]{12}Z\), also after waiting 0.3 s$`,
        ),
      ),
      help: 'try again when it has ended; where it hangs, end it: its lock ends with it',
    });
    expect(ms).toBeGreaterThanOrEqual(299);
    expect(ms).toBeLessThan(2000);
    // The thread that still waits does not keep the process.
    expect(await second.end()).toBe(0);
    expect(performance.now() - answered).toBeLessThan(1000);
  });

  it('is refused at once where nobody wants to wait', async () => {
    await holder();
    const { outcome, ms } = await child('take', lock, '0').answer<Taken>();
    expect(outcome).toMatchObject({
      message: expect.stringMatching(/^locked by holder \([^)]*\)$/),
    });
    expect(ms).toBeLessThan(1000);
  });

  it.each([
    ['', 'another process'],
    ['{"name":"hol', 'another process'],
    ['null', 'another process'],
    ['{"name":7,"pid":"x","host":[],"since":{}}', 'another process'],
    ['{"name":"","pid":12}', 'another process (process 12)'],
  ])('is refused without a name where the note is %j', async (note, who) => {
    await holder();
    writeFileSync(lock, note);
    const { outcome } = await child('take', lock, '0').answer<Taken>();
    expect(outcome).toMatchObject({ reason: 'locked', message: `locked by ${who}` });
  });

  it('holds though somebody deletes the file: who waited for it waits for the new one', async () => {
    const first = await holder('first');
    const waiting = child('hold', lock, 'waiting');
    await queued();
    rmSync(lock);
    const second = await holder('second');
    await first.kill();
    const { outcome } = await child('take', lock, '300').answer<Taken>();
    expect(outcome).toMatchObject({ message: expect.stringContaining('locked by second') });
    await second.kill();
    expect(await waiting.answer()).toBe('held');
  });

  it('says what to do where its folder cannot be made', async () => {
    writeFileSync(join(folder, 'home'), '');
    const { outcome } = await child('take', lock, '0').answer<Taken>();
    expect(outcome).toMatchObject({ reason: 'missing', path: lock });
  });
});

it('sixteen processes append fifty rows each: none is lost, none is torn', async () => {
  const ledger = join(folder, 'consumers.jsonl');
  const writers = Array.from({ length: 16 }, (_, i) => child('rows', lock, ledger, `w${i}`, '50'));
  for (const writer of writers) expect(await writer.end()).toBe(0);
  const rows = readFileSync(ledger, 'utf8').trimEnd().split('\n');
  const parsed = rows.map((row): { who: string; row: number } => JSON.parse(row));
  expect(parsed).toHaveLength(800);
  for (let i = 0; i < 16; i++) {
    const own = parsed.filter(({ who }) => who === `w${i}`).map(({ row }) => row);
    expect(own).toEqual(Array.from({ length: 50 }, (_, row) => row));
  }
});

it('the locks are loaded without the resolver of their package', async () => {
  // The resolver alone takes a multiple of this; the compiled file about one millisecond.
  const times = [];
  for (let i = 0; i < 5; i++) times.push(await child('load').answer<number>());
  expect(Math.min(...times)).toBeLessThan(8);
});
