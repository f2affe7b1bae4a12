/** Reading and replacing files, on a real file system. */
import { execFileSync } from 'node:child_process';
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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSameFile, readFile, replaceFile, writeFile } from '../../cli-js/src/host/files.js';

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

  it('sweeps up what a killed process left, and nothing younger or other', () => {
    const names = [
      '.plan.md.123-abc.tmp',
      '.plan.md.124-new.tmp',
      '.plan.md.tmp',
      '.other.1-a.tmp',
    ];
    for (const name of names) {
      writeFileSync(join(folder, name), 'half');
      const age = name.includes('-new') ? 0 : 3600;
      const then = Date.now() / 1000 - age;
      utimesSync(join(folder, name), then, then);
    }
    replace();
    expect(readdirSync(folder).sort()).toEqual([...names.slice(1), 'plan.md'].sort());
  });

  it('refuses a file that is set to read-only', () => {
    chmodSync(file, 0o444);
    // Root may write everything; for the superuser the replacement goes through.
    if (process.getuid?.() === 0) replace();
    else expect(failure(() => replace())).toMatchObject({ reason: 'denied' });
    expect(lstatSync(file).mode & 0o777).toBe(0o444);
  });

  it('refuses what is no regular file', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(failure(() => replace(pipe))).toMatchObject({ reason: 'other' });
    expect(readdirSync(folder).sort()).toEqual(['pipe', 'plan.md']);
  });

  it('does not bring back a file that has gone', () => {
    rmSync(file);
    expect(failure(() => replace())).toMatchObject({ reason: 'missing' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('two paths', () => {
  it('are one file through links too', () => {
    symlinkSync('plan.md', join(folder, 'link.md'));
    writeFileSync(join(folder, 'other.md'), 'before');
    const same = (one: string, other: string) => isSameFile(join(folder, one), join(folder, other));
    expect(same('plan.md', './plan.md')).toBe(true);
    expect(same('link.md', 'plan.md')).toBe(true);
    expect(same('other.md', 'plan.md')).toBe(false);
    expect(same('gone.md', 'gone.md')).toBe(false);
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
