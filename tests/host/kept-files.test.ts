/** What is known of the files that kept code is of. */
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { KeptFiles } from '../../cli-js/src/host/kept-files.js';

const folder = mkdtempSync(join(tmpdir(), 'okstra-kept-'));
const file = join(folder, 'module.wasm');
const files = KeptFiles.of(folder) as KeptFiles;
const { readSync, fstatSync } = fs;

afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  vi.useRealTimers();
  Object.assign(fs, { readSync, fstatSync });
  syncBuiltinESMExports();
});

/** Reads a file of old; what happens meanwhile takes ten seconds and follows the given call. */
function source(after?: 'readSync' | 'fstatSync', happens = () => {}) {
  writeFileSync(file, 'of old');
  vi.useFakeTimers({ now: Date.now() + 10_000, toFake: ['Date'] });
  if (after !== undefined) {
    const real = fs[after] as (...args: unknown[]) => unknown;
    const patched = (...args: unknown[]) => {
      Object.assign(fs, { [after]: real });
      syncBuiltinESMExports();
      const answer = real(...args);
      happens();
      vi.setSystemTime(Date.now() + 10_000);
      return answer;
    };
    Object.assign(fs, { [after]: patched });
    syncBuiltinESMExports();
  }
  const { bytes, state } = files.source(file);
  return { text: bytes.toString(), state };
}

it('have a state, which another file and the same one later have not', () => {
  const { text, state } = source();
  expect(text).toBe('of old');
  expect(state).toBeGreaterThan(0);
  expect(files.source(file).state).toBe(state);
  writeFileSync(file, 'of new');
  vi.setSystemTime(Date.now() + 20_000);
  expect(files.source(file).state).not.toBe(state);
});

it('have none where they were written a moment ago', () => {
  writeFileSync(file, 'of old');
  expect(files.source(file).state).toBe(0);
});

it.each([
  ['after it was looked at', 'fstatSync'],
  ['after it was read', 'readSync'],
] as const)('have none where one is written to %s, however long that takes', (_, after) => {
  const { state } = source(after, () => writeFileSync(file, 'of new'));
  expect(state).toBe(0);
});
