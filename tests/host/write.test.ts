/** Appending rows and making new files, on real file systems. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendLine } from '../../cli-js/src/host/append.js';
import { writeNew } from '../../cli-js/src/host/create.js';
import { carryOut } from '../../cli-js/src/host/effects.js';
import { readIfThere } from '../../cli-js/src/host/files.js';
import { HostError } from '../../cli-js/src/host/host.js';
import { nodeHost } from '../../cli-js/src/host/node.js';
import { list, realPath } from '../../cli-js/src/host/paths.js';
import type { Effect } from '../../npm-package/src/index.js';
import { answerOf, child, command, unshared } from './children.js';

let folder: string;
let ledger: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'okstra-write-'));
  ledger = join(folder, 'runs/consumers.jsonl');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** What the work throws. */
function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { reason, path, message, help } = error;
    return { reason, path, message, help };
  }
  return 'no failure';
}

/**
 * Runs a verb of the script on a small disk of its own, after `change` has been done to it. The
 * disk is gone when the process has ended.
 */
function onDisk(change: string, ...verb: string[]): unknown {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const script = `mount -t tmpfs -o size=64k none "$0" && ${change} && exec "$@"`;
  return answerOf(...unshared('-m'), 'sh', '-c', script, disk, ...command(...verb, disk));
}

describe('appending', () => {
  it('makes the file and its folders', () => {
    appendLine(ledger, '{"a":1}');
    appendLine(ledger, '{"b":"ü"}\n');
    expect(readFileSync(ledger, 'utf8')).toBe('{"a":1}\n{"b":"ü"}\n');
  });

  it.each([
    ['{"a":1}\n{"torn', '{"a":1}\n{"torn\n{"b":2}\n'],
    ['{"a":1}', '{"a":1}\n{"b":2}\n'],
    ['{"a":1}\r\n', '{"a":1}\r\n{"b":2}\n'],
    ['\n', '\n{"b":2}\n'],
    ['x\0', 'x\0\n{"b":2}\n'],
  ])('after %j', (before, after) => {
    mkdirSync(join(folder, 'runs'));
    writeFileSync(ledger, before);
    appendLine(ledger, '{"b":2}');
    expect(readFileSync(ledger, 'utf8')).toBe(after);
  });

  it('leaves bytes that are no text alone', () => {
    mkdirSync(join(folder, 'runs'));
    writeFileSync(ledger, Buffer.from([0xff, 0xc3]));
    appendLine(ledger, '{}');
    expect(readFileSync(ledger, 'latin1')).toBe('\xff\xc3\n{}\n');
  });

  it.each(['a\nb', '\na', 'a\n\n'])('refuses %j, which is more than one line', (line) => {
    expect(() => appendLine(ledger, line)).toThrow('one line');
    expect(existsSync(ledger)).toBe(false);
  });

  it('writes through a link', () => {
    symlinkSync('real.jsonl', join(folder, 'link.jsonl'));
    appendLine(join(folder, 'link.jsonl'), '{}');
    expect(readFileSync(join(folder, 'real.jsonl'), 'utf8')).toBe('{}\n');
  });

  it('says that a folder is in the way', () => {
    mkdirSync(ledger, { recursive: true });
    expect(failure(() => appendLine(ledger, '{}'))).toEqual({
      reason: 'directory',
      path: ledger,
      message: 'a folder',
      help: 'a file belongs there; move the folder away',
    });
  });

  it('says that a file is in the way of its folder', () => {
    writeFileSync(join(folder, 'runs'), '');
    const refusal = { reason: 'missing', path: ledger, message: 'a part of the path is no folder' };
    expect(failure(() => appendLine(ledger, '{}'))).toMatchObject(refusal);
    expect(failure(() => writeNew(ledger, '{}'))).toMatchObject(refusal);
    const deeper = join(ledger, 'deeper/x');
    expect(failure(() => writeNew(deeper, '{}'))).toMatchObject({ ...refusal, path: deeper });
  });

  it('does not wait for a pipe in its place', () => {
    mkdirSync(join(folder, 'runs'));
    execFileSync('mkfifo', [ledger]);
    expect(failure(() => appendLine(ledger, '{}'))).toMatchObject({ reason: 'other' });
  });
});

describe('a disk', () => {
  it('that is full keeps the ledger as it was, and nothing half-written', () => {
    const outcome = { reason: 'no-space', message: 'no space left on the disk' };
    expect(onDisk('true', 'fill')).toEqual({
      rows: expect.any(Number),
      outcome: {
        ...outcome,
        path: join(folder, 'disk/ledger.jsonl'),
        help: 'nothing was written; make room',
      },
      isUnchanged: true,
      create: { ...outcome, path: join(folder, 'disk/new.json'), help: 'make room' },
      names: ['ledger.jsonl'],
      later: 'done',
    });
  });

  it('that is read-only is told', () => {
    const refused = {
      reason: 'denied',
      message: 'the file system is read-only',
      help: 'mount it writable or work on a copy of the project',
    };
    expect(onDisk('mount -o remount,ro "$0"', 'both')).toMatchObject({
      append: refused,
      create: refused,
    });
  });

  it('may have a folder in which nothing may be written', async () => {
    chmodSync(folder, 0o555);
    const refused = {
      reason: 'denied',
      message: 'permission denied',
      help: 'check the rights of the file and of its folder',
    };
    expect(await child('denied', folder).answer()).toMatchObject({
      append: refused,
      create: refused,
    });
    chmodSync(folder, 0o755);
  });
});

describe('making a new file', () => {
  it('makes its folders and leaves nothing beside it', () => {
    const file = join(folder, 'a/b/stage-1.json');
    writeNew(file, 'text');
    expect(readFileSync(file, 'utf8')).toBe('text');
    expect(readdirSync(join(folder, 'a/b'))).toEqual(['stage-1.json']);
    expect(statSync(file).nlink).toBe(1);
  });

  it('never replaces', () => {
    const file = join(folder, 'stage-1.json');
    writeFileSync(file, 'before');
    symlinkSync('nowhere', join(folder, 'link'));
    for (const path of [file, join(folder, 'link'), folder]) {
      expect(failure(() => writeNew(path, 'after'))).toEqual({
        reason: 'exists',
        path,
        message: 'exists already',
        help: 'nothing was written; read it, or move it away if it is wrong',
      });
    }
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readdirSync(folder).sort()).toEqual(['link', 'stage-1.json']);
  });

  it('has one winner among many, whose text it holds', async () => {
    const file = join(folder, 'stage-1.json');
    const racers = Array.from({ length: 8 }, (_, i) => child('race', file, `text ${i}`));
    const outcomes = await Promise.all(racers.map((racer) => racer.answer()));
    const winner = outcomes.indexOf('done');
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe(`text ${winner}`);
    expect(readdirSync(folder)).toEqual(['stage-1.json']);
  });

  it('sweeps up what a killed process left', () => {
    const left = join(folder, '.stage-1.json.123-abc.tmp');
    writeFileSync(left, 'half');
    utimesSync(left, 1, 1);
    writeNew(join(folder, 'stage-1.json'), 'text');
    expect(readdirSync(folder)).toEqual(['stage-1.json']);
  });

  it('leaves the whole file or none when it is killed', async () => {
    const size = 300_000;
    let whole = 0;
    let halves = 0;
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const own = join(folder, `k${i}`);
        const writer = child('create', own, String(size));
        await writer.answer();
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
        await writer.kill();
        const deep = join(own, 'deep');
        for (const name of list(deep)) {
          if (name.endsWith('.tmp')) halves += 1;
          else {
            whole += 1;
            expect(statSync(join(deep, name)).size, name).toBe(size);
          }
        }
      }),
    );
    // Else nobody was hit in the middle of anything.
    expect(whole + halves).toBeGreaterThan(0);
  });
});

describe('carrying out', () => {
  const evidence = () => join(folder, 'carry/stage-1.json');

  it('does one after the other', () => {
    const manifest = join(folder, 'manifest.json');
    writeFileSync(manifest, 'one');
    const effects: Effect[] = [
      { kind: 'write-new', path: evidence(), text: '{}' },
      { kind: 'append', path: ledger, line: '{"a":1}' },
      { kind: 'replace', path: manifest, text: 'two', if_unchanged: 'one' },
    ];
    carryOut(effects, nodeHost);
    expect(readFileSync(evidence(), 'utf8')).toBe('{}');
    expect(readFileSync(ledger, 'utf8')).toBe('{"a":1}\n');
    expect(readFileSync(manifest, 'utf8')).toBe('two');
    const late: Effect = { kind: 'replace', path: manifest, text: 'x', if_unchanged: 'one' };
    expect(failure(() => carryOut([late], nodeHost))).toMatchObject({ reason: 'changed' });
  });

  it('stops at the first that fails', () => {
    const effects: Effect[] = [
      { kind: 'append', path: ledger, line: '{"a":1}' },
      { kind: 'write-new', path: ledger, text: '' },
      { kind: 'append', path: ledger, line: '{"b":2}' },
    ];
    expect(failure(() => carryOut(effects, nodeHost))).toMatchObject({ reason: 'exists' });
    expect(readFileSync(ledger, 'utf8')).toBe('{"a":1}\n');
  });
});

describe('paths', () => {
  it('through links are one, also of a file that is not there yet', () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    symlinkSync('real/later.jsonl', join(folder, 'dangling'));
    const one = join(realPath(folder), 'real/later.jsonl');
    expect(realPath(join(folder, 'real/later.jsonl'))).toBe(one);
    expect(realPath(join(folder, 'link/later.jsonl'))).toBe(one);
    expect(realPath(join(folder, 'link/../real/x/../later.jsonl'))).toBe(one);
    expect(realPath(join(folder, 'dangling'))).toBe(one);
    expect(realPath(join(folder, 'link/a/b'))).toBe(join(realPath(folder), 'real/a/b'));
  });

  it('from the current folder are absolute', () => {
    expect(realPath('nowhere/x')).toBe(join(process.cwd(), 'nowhere/x'));
  });

  it('in a circle are told', () => {
    symlinkSync('circle', join(folder, 'circle'));
    expect(failure(() => realPath(join(folder, 'circle/x')))).toMatchObject({ reason: 'other' });
  });

  it('a folder is listed in order; a missing one is empty, a file is none', () => {
    for (const name of ['b', 'a', 'C']) writeFileSync(join(folder, name), '');
    expect(list(folder)).toEqual(['C', 'a', 'b']);
    expect(list(join(folder, 'nowhere'))).toEqual([]);
    expect(failure(() => list(join(folder, 'a')))).toMatchObject({ reason: 'missing' });
  });

  it('only what is missing reads as nothing', () => {
    writeFileSync(join(folder, 'a'), 'text');
    expect(Buffer.from(readIfThere(join(folder, 'a')) ?? '').toString()).toBe('text');
    expect(readIfThere(join(folder, 'b'))).toBeUndefined();
    expect(readIfThere(join(folder, 'nowhere/b'))).toBeUndefined();
    expect(failure(() => readIfThere(folder))).toMatchObject({ reason: 'directory' });
    expect(failure(() => readIfThere(join(folder, 'a/b')))).toMatchObject({ reason: 'missing' });
  });
});
