/** Reading and replacing files, on a real file system. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFile, replaceFile, writeFile } from '../../cli-js/src/host/files.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'okstra-host-'));
  file = join(folder, 'plan.md');
  writeFileSync(file, 'before');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** The reason and the path of what the work throws. */
function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    const { name, reason, path } = error as { name: string; reason: string; path: string };
    return { name, reason, path };
  }
  return 'no failure';
}

describe('reading', () => {
  it('answers the bytes', () => {
    expect(Buffer.from(readFile(file)).toString()).toBe('before');
  });

  it.each([
    ['gone.md', 'missing'],
    ['', 'directory'],
    ['plan.md/inner.md', 'missing'],
    ['circle', 'unreadable'],
    ['x'.repeat(300), 'missing'],
  ])('%j: %s', (name, reason) => {
    symlinkSync('circle', join(folder, 'circle'));
    const path = join(folder, name);
    expect(failure(() => readFile(path))).toEqual({ name: 'HostError', reason, path });
  });
});

describe('replacing', () => {
  const replace = (path = file, was = 'before') => replaceFile(path, Buffer.from(was), 'after');

  it('writes the text and leaves nothing beside it', () => {
    replace();
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(readdirSync(folder)).toEqual(['plan.md']);
  });

  it('is a new file, so that a reader of the old one reads it to its end', () => {
    const { ino } = statSync(file);
    replace();
    expect(statSync(file).ino).not.toBe(ino);
  });

  it.each([0o600, 0o644, 0o664, 0o755])('keeps the mode %o', (mode) => {
    chmodSync(file, mode);
    replace();
    expect(statSync(file).mode & 0o7777).toBe(mode);
  });

  it('keeps a symbolic link and replaces its target', () => {
    mkdirSync(join(folder, 'links'));
    const link = join(folder, 'links/plan.md');
    symlinkSync('../plan.md', link);
    replace(link);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(readdirSync(join(folder, 'links'))).toEqual(['plan.md']);
  });

  it('is refused where the file has changed since it was read', () => {
    const refused = { name: 'HostError', reason: 'changed', path: file };
    expect(failure(() => replace(file, 'earlier'))).toEqual(refused);
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['plan.md']);
  });

  it('does not write through what lies at the temporary name', () => {
    const bait = join(folder, 'bait');
    writeFileSync(bait, 'untouched');
    symlinkSync('bait', join(folder, `.plan.md.${process.pid}.tmp`));
    expect(failure(() => replace())).toMatchObject({ reason: 'other' });
    expect(readFileSync(bait, 'utf8')).toBe('untouched');
    expect(readFileSync(file, 'utf8')).toBe('before');
  });

  it('does not bring back a file that has gone', () => {
    rmSync(file);
    expect(failure(() => replace())).toMatchObject({ reason: 'missing' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('writing', () => {
  it('makes a new file and replaces an old one', () => {
    const fresh = join(folder, 'new.svg');
    writeFile(fresh, 'one');
    writeFile(fresh, 'two');
    expect(readFileSync(fresh, 'utf8')).toBe('two');
    expect(readdirSync(folder).sort()).toEqual(['new.svg', 'plan.md']);
  });

  it.each([
    ['', 'directory'],
    ['nowhere/x.svg', 'missing'],
  ])('%j: %s', (name, reason) => {
    expect(failure(() => writeFile(join(folder, name), 'x'))).toMatchObject({ reason });
  });
});
