// The kept code of the bundles, on a copy of the package.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../scripts/lib.mjs';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-code-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = join(root, 'fixtures/plans/valid_three_stage_parallel.md');
const shipped = join(root, 'npm-package');
const copy = join(folder, 'okstra');

/** Node 22 keeps code itself, in files of its own. */
const isOurs = Number.parseInt(process.versions.node, 10) < 22;

const cache = join(copy, '.cache', `${process.version}-${process.arch}`);
const file = join(cache, 'command-plan-check');

beforeEach(() => {
  rmSync(copy, { recursive: true, force: true });
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(shipped, part), join(copy, part), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

function okstra(words: readonly string[], env: Record<string, string> = {}, node: string[] = []) {
  const { NODE_OPTIONS: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...node, join(copy, 'bin/okstra.js'), ...words],
    { cwd: folder, env: { ...rest, OKSTRA_HOME: join(folder, 'home'), ...env }, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

const check = (env?: Record<string, string>, node?: string[]) =>
  okstra(['plan', 'check', plan], env, node);

/** What it answers without kept code. */
const plainly = { status: 0, stdout: expect.stringContaining('3 stages'), stderr: '' };

describe.runIf(isOurs)('kept code', () => {
  it('is written by the first run and used by the next ones', () => {
    expect(check()).toEqual(plainly);
    expect(readdirSync(cache)).toEqual(['command-plan-check']);
    const { mtimeMs, ino, size } = statSync(file);
    expect(size).toBeGreaterThan(20_000);
    expect(check()).toEqual(plainly);
    // What is refused would be written anew.
    expect(statSync(file)).toMatchObject({ mtimeMs, ino });
  });

  it('is the code that runs: the text of the bundle is not compiled', () => {
    check();
    const bundle = join(copy, 'dist/main.cjs');
    const { atime, mtime } = statSync(bundle);
    // To V8 a text is its length, to okstra its size and its time.
    const text = readFileSync(bundle, 'utf8');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a file has lines
    writeFileSync(bundle, `//${text.slice(2).replace(/[\u0000-\u007f]/g, ' ')}`);
    utimesSync(bundle, atime, mtime);
    expect(check()).toEqual(plainly);
  });

  it('is not used for a bundle that was changed', () => {
    check();
    const bundle = join(copy, 'dist/main.cjs');
    const text = `process.stdout.write('another');process.exit(0)//`;
    writeFileSync(bundle, text.padEnd(statSync(bundle).size, ' '));
    expect(check()).toEqual({ status: 0, stdout: 'another', stderr: '' });
  });

  const harmed: [string, (bytes: Buffer) => Buffer][] = [
    ['empty', () => Buffer.alloc(0)],
    ['cut off in its header', (bytes) => bytes.subarray(0, 20)],
    ['cut off in its code', (bytes) => bytes.subarray(0, 5_000)],
    ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
    ['something else', () => Buffer.from('hello')],
    ['a header that is no table', () => Buffer.from('00000004null')],
    ['a table of no places', () => Buffer.from('00000016{"main.cjs":"a"}')],
    ['a table of places beyond its end', () => placed([99_999_999, 8])],
    ['a table of places before its beginning', () => placed([-8, 4])],
    ['another version of the engine', (bytes) => changed(bytes, 4)],
    ['other settings of the engine', (bytes) => changed(bytes, 12)],
  ];

  /** A file that says that the code of the entry is at a place. */
  function placed(place: number[]): Buffer {
    const { size, mtimeMs } = statSync(join(copy, 'dist/main.cjs'));
    const table = JSON.stringify({ 'main.cjs': [...place, size, mtimeMs] });
    return Buffer.from(`${table.length}`.padStart(8, '0') + table);
  }

  /** With a byte of the header of V8 changed in the code of every bundle. */
  function changed(bytes: Buffer, at: number): Buffer {
    const head = 8 + Number(bytes.toString('latin1', 0, 8));
    const places = JSON.parse(bytes.toString('latin1', 8, head)) as Record<string, number[]>;
    for (const [offset = 0] of Object.values(places)) {
      bytes[offset + at] = (bytes[offset + at] as number) ^ 0xff;
    }
    return bytes;
  }

  it.each(harmed)('that is %s is replaced', (_, harm) => {
    check();
    const whole = statSync(file).size;
    writeFileSync(file, harm(readFileSync(file)));
    expect(check()).toEqual(plainly);
    expect(Math.abs(statSync(file).size - whole)).toBeLessThan(whole / 10);
    const { ino } = statSync(file);
    expect(check()).toEqual(plainly);
    expect(statSync(file).ino).toBe(ino);
  });

  it('grows by the bundles that a later run needs', () => {
    check();
    const before = statSync(file).size;
    expect(okstra(['plan', 'check', '--help'])).toMatchObject({ status: 0 });
    expect(statSync(file).size).toBeGreaterThan(before);
  });

  it('is made by a command that did its work, under a name that may be a file', () => {
    expect(okstra(['plan', 'check', join(folder, 'missing.md')]).status).not.toBe(0);
    expect(okstra(['../../escape', 'check']).status).not.toBe(0);
    expect(existsSync(cache)).toBe(false);
    expect(okstra(['--version'])).toMatchObject({ status: 0 });
    expect(readdirSync(cache)).toEqual(['command']);
  });

  it('is not made where there is no place for it, where it is not wanted or under settings', () => {
    writeFileSync(join(copy, '.cache'), 'a file');
    expect(check()).toEqual(plainly);
    rmSync(join(copy, '.cache'));
    expect(check({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(plainly);
    expect(check({ NODE_OPTIONS: '--max-old-space-size=500' })).toEqual(plainly);
    expect(check({}, ['--stack-size=900'])).toEqual(plainly);
    expect(existsSync(dirname(cache))).toBe(false);
  });

  it('does not grow without end', () => {
    mkdirSync(cache, { recursive: true });
    for (let at = 0; at < 200; at++) writeFileSync(join(cache, `command-${at}`), '');
    expect(check()).toEqual(plainly);
    expect(readdirSync(cache)).toHaveLength(200);
  });

  it('serves hooks, each event for itself', () => {
    const home = join(folder, 'home');
    const project = join(folder, 'project');
    mkdirSync(project, { recursive: true });
    const written = join(project, 'plan.md');
    cpSync(plan, written);
    const hook = () =>
      spawnSync(process.execPath, [join(copy, 'bin/okstra.js'), 'hook'], {
        env: { PATH: process.env.PATH, HOME: folder, OKSTRA_HOME: home },
        input: JSON.stringify({
          ...{ hook_event_name: 'PostToolUse', session_id: 'a', cwd: project },
          ...{ tool_name: 'Write', tool_input: { file_path: written }, tool_response: {} },
        }),
        encoding: 'utf8',
      });
    const first = hook();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(cache)).toEqual(['hook-PostToolUse']);
    expect(hook()).toMatchObject({ stdout: first.stdout, stderr: '' });
  });
});

describe.runIf(!isOurs)('kept code', () => {
  it('is left to Node, in the folder of the package', () => {
    expect(check()).toEqual(plainly);
    const kept = () => readdirSync(dirname(cache), { recursive: true }).sort();
    const first = kept();
    expect(first.length).toBeGreaterThan(2);
    expect(check()).toEqual(plainly);
    expect(kept()).toEqual(first);
  });
});
