/**
 * What the tests of the host let other processes do: the first argument names it, the others are
 * its own. Answers are lines of JSON on standard output.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendLine } from '../../cli-js/src/host/append.js';
import { writeNew } from '../../cli-js/src/host/create.js';
import { HostError } from '../../cli-js/src/host/host.js';
import { withLock } from '../../cli-js/src/host/lock.js';
import { native } from '../../cli-js/src/host/native.js';
import { startOf } from '../../cli-js/src/host/processes.js';
import { sessionProcess } from '../../cli-js/src/host/session.js';

/** Answers one line. */
function answer(value: unknown): void {
  writeFileSync(1, `${JSON.stringify(value)}\n`);
}

/** What the work throws, as data. */
function failure(error: unknown): unknown {
  if (!(error instanceof HostError)) throw error;
  const { reason, path, message, help } = error;
  return { reason, path, message, help };
}

function attempt(work: () => void): unknown {
  try {
    work();
    return 'done';
  } catch (error) {
    return failure(error);
  }
}

/** Appends to a ledger and makes a new file. */
function writeBoth(folder: string): unknown {
  return {
    append: attempt(() => appendLine(join(folder, 'ledger.jsonl'), '{}')),
    create: attempt(() => writeNew(join(folder, 'new.json'), '{}')),
  };
}

/** Waits until somebody ends the process. */
function forEver(): Promise<never> {
  return new Promise(() => setInterval(() => {}, 1_000_000));
}

const verbs: Record<string, (...args: string[]) => unknown> = {
  /** Takes the lock and keeps it. */
  hold: (lock = '', name = '', wait = '10000') =>
    withLock(lock, name, Number(wait), () => {
      answer('held');
      return forEver();
    }),

  /** Takes the lock for a moment and tells how long that took. */
  async take(lock = '', wait = '') {
    const start = performance.now();
    const outcome = await withLock(lock, 'taker', Number(wait), () => 'done').catch(failure);
    answer({ outcome, ms: performance.now() - start });
  },

  /** Appends rows, each under the lock. */
  async rows(lock = '', ledger = '', who = '', count = '') {
    for (let row = 0; row < Number(count); row++) {
      await withLock(lock, who, 60_000, () => appendLine(ledger, JSON.stringify({ who, row })));
    }
  },

  append: (file = '', line = '') => answer(attempt(() => appendLine(file, line))),

  both: (folder = '') => answer(writeBoth(folder)),

  /** The same as somebody who is not root. */
  denied(folder = '') {
    if (process.getuid?.() === 0) process.setuid?.(65_534);
    answer(writeBoth(folder));
  },

  /** Appends until the disk is full, then makes room and goes on. */
  fill(folder = '') {
    const ledger = join(folder, 'ledger.jsonl');
    let expected = '';
    let outcome: unknown;
    for (;;) {
      const line = JSON.stringify({ row: 'x'.repeat(3000) });
      outcome = attempt(() => appendLine(ledger, line));
      if (outcome !== 'done') break;
      expected += `${line}\n`;
    }
    const rows = expected.split('\n').length - 1;
    const isUnchanged = readFileSync(ledger, 'utf8') === expected;
    const create = attempt(() => writeNew(join(folder, 'new.json'), 'y'.repeat(8192)));
    const names = readdirSync(folder).sort();
    writeFileSync(ledger, '');
    const later = attempt(() => appendLine(ledger, '{}'));
    answer({ rows, outcome, isUnchanged, create, names, later });
  },

  /** Makes one large file after the other until it is killed. */
  create(folder = '', size = '') {
    answer('ready');
    for (let i = 0; ; i++) writeNew(join(folder, 'deep', `f${i}`), 'x'.repeat(Number(size)));
  },

  /** Makes a file that several processes want to make. */
  race: (file = '', text = '') => answer(attempt(() => writeNew(file, text))),

  start: () => answer({ pid: process.pid, start: startOf(process.pid) ?? null }),

  session: () => answer(sessionProcess() ?? null),

  /** Milliseconds it takes to load the kernel's locks. */
  load() {
    const start = performance.now();
    native('');
    answer(performance.now() - start);
  },
};

const [verb = '', ...args] = process.argv.slice(2);
// As the command line ends: at once, whatever still waits.
void Promise.resolve(verbs[verb]?.(...args)).then(() => process.exit(0));
