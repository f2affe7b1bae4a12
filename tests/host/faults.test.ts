/** Appending rows and making new files where the file system does not do what it should. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appendLine } from '../../cli-js/src/host/append.js';
import { writeNew } from '../../cli-js/src/host/create.js';

/** What was asked of the file system, and which calls of it fail, with what. */
const system = vi.hoisted(() => ({
  calls: [] as string[],
  fails: {} as Record<string, string>,
  /** How much of a write is done. */
  room: Number.POSITIVE_INFINITY,
}));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const called = (name: string) => {
    system.calls.push(name);
    const code = system.fails[name];
    if (code !== undefined) throw Object.assign(new Error(code), { code });
  };
  return {
    ...fs,
    linkSync(from: string, to: string) {
      called('link');
      fs.linkSync(from, to);
    },
    fsyncSync(file: number) {
      called('fsync');
      fs.fsyncSync(file);
    },
    ftruncateSync(file: number, size: number) {
      called('truncate');
      fs.ftruncateSync(file, size);
    },
    writeSync(file: number, bytes: Buffer) {
      called('write');
      return fs.writeSync(file, bytes.subarray(0, system.room));
    },
    writeFileSync(file: number, text: string) {
      const isSecond = system.calls.filter((name) => name === 'whole').length % 2 === 1;
      system.calls.push('whole');
      fs.writeFileSync(file, text.slice(0, isSecond ? system.room : text.length));
      if (isSecond) called('second');
    },
  };
});

let folder: string;

beforeEach(() => {
  Object.assign(system, { calls: [], fails: {}, room: Number.POSITIVE_INFINITY });
  folder = mkdtempSync(join(tmpdir(), 'okstra-faults-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('appending', () => {
  const ledger = () => join(folder, 'consumers.jsonl');
  const append = () => appendLine(ledger(), '{"a":"ü"}');
  const text = () => readFileSync(ledger(), 'utf8');

  it('is one write, flushed, and then the name of a new file is', () => {
    append();
    expect(system.calls).toEqual(['write', 'fsync', 'fsync']);
    append();
    expect(system.calls.slice(3)).toEqual(['write', 'fsync']);
  });

  it('is one write also behind a torn line', () => {
    writeFileSync(ledger(), '{"torn');
    const { calls } = system;
    calls.length = 0;
    append();
    expect(calls).toEqual(['write', 'fsync']);
    expect(text()).toBe('{"torn\n{"a":"ü"}\n');
  });

  it.each([0, 1, 5, 8, 10])('cut short after %i bytes is undone', (room) => {
    append();
    const before = text();
    system.room = room;
    expect(append).toThrow(
      expect.objectContaining({ reason: 'no-space', help: 'nothing was written; make room' }),
    );
    expect(text()).toBe(before);
  });

  it('that cannot be flushed is undone', () => {
    append();
    const before = text();
    const { calls, fails } = system;
    calls.length = 0;
    fails.fsync = 'EIO';
    expect(append).toThrow(
      expect.objectContaining({ reason: 'other', message: 'the system says EIO' }),
    );
    expect(calls).toEqual(['write', 'fsync', 'truncate', 'fsync']);
    expect(text()).toBe(before);
  });

  it('that cannot be undone says so', () => {
    append();
    Object.assign(system, { room: 4, fails: { truncate: 'EIO' } });
    expect(append).toThrow(
      expect.objectContaining({
        reason: 'no-space',
        help: expect.stringMatching(/^a part of the row may have stayed \(.*EIO\); check/),
      }),
    );
  });

  it('leaves no new file behind that has no row', () => {
    system.room = 4;
    expect(append).toThrow(expect.objectContaining({ reason: 'no-space' }));
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a file system without hard links', () => {
  const file = () => join(folder, 'stage-1.json');

  it.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])('(%s) gets the file', (code) => {
    system.fails.link = code;
    writeNew(file(), 'text');
    expect(readFileSync(file(), 'utf8')).toBe('text');
    expect(readdirSync(folder)).toEqual(['stage-1.json']);
    const again = () => writeNew(file(), 'other');
    expect(again).toThrow(expect.objectContaining({ reason: 'exists' }));
    expect(readFileSync(file(), 'utf8')).toBe('text');
  });

  it('keeps nothing half-written', () => {
    Object.assign(system, { room: 2, fails: { link: 'EPERM', second: 'ENOSPC' } });
    const write = () => writeNew(file(), 'text');
    expect(write).toThrow(expect.objectContaining({ reason: 'no-space' }));
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('another fault of linking is told', () => {
  system.fails.link = 'EIO';
  const write = () => writeNew(join(folder, 'x'), 'text');
  expect(write).toThrow(expect.objectContaining({ reason: 'other' }));
  expect(readdirSync(folder)).toEqual([]);
});
