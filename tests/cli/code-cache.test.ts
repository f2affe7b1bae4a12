// The kept code of the bundles, on a copy of the package.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
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
import { crc32 } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../scripts/lib.mjs';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-code-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = join(root, 'fixtures/plans/valid_three_stage_parallel.md');
const shipped = join(root, 'npm-package');
const copy = join(folder, 'okstra');

const cache = join(copy, '.cache', `${process.version}-${process.arch}`);
const file = join(cache, 'command-plan-check');
const moduleFile = `${file}.okstra-plan.wasm`;

/** The files of a command that has no use for the module, and of one that has. */
const ALONE = ['command'];
const BOTH = ['command-plan-check', 'command-plan-check.okstra-plan.wasm'];

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

/** Changes kept code, and what tells that it was not changed. */
function change(path: string, how: (bytes: Buffer) => void, of?: Buffer): void {
  const bytes = readFileSync(path);
  how(bytes);
  writeFileSync(path, summed(bytes, of));
}

/** Makes code say another version of okstra. */
function forge(bytes: Buffer): void {
  const { version } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  const at = bytes.indexOf(version);
  expect(at).toBeGreaterThan(0);
  bytes.write('9'.repeat(version.length), at);
}

/**
 * The digits at the end of a file: how often it was written, the state and the checksum of what it
 * was made of, the checksum of all before.
 */
const END = {
  times: [-32, -30],
  state: [-30, -20],
  of: [-20, -10],
  sum: [-10, undefined],
} as const;

function put(bytes: Buffer, where: keyof typeof END, value: number): void {
  const [from] = END[where];
  bytes.write(`${value}`.padStart(10, '0'), bytes.length + from);
}

function ending(path: string, where: keyof typeof END): number {
  const [from, to] = END[where];
  return Number(readFileSync(path).subarray(from, to).toString());
}

/** With the checksum of what it is at its end, and of what it is said to be made of. */
function summed(bytes: Buffer, of?: Buffer): Buffer {
  if (of !== undefined) {
    put(bytes, 'state', 0);
    put(bytes, 'of', crc32(of));
  }
  put(bytes, 'sum', crc32(bytes.subarray(0, END.sum[0])));
  return bytes;
}

/** What it answers without kept code. */
const plainly = { status: 0, stdout: expect.stringContaining('3 stages'), stderr: '' };

describe('kept code', () => {
  it('is written by the first run and used by the next ones', () => {
    expect(check()).toEqual(plainly);
    expect(readdirSync(cache)).toEqual(BOTH);
    const { mtimeMs, ino, size } = statSync(file);
    expect(size).toBeGreaterThan(20_000);
    expect(check()).toEqual(plainly);
    // What is refused would be written anew.
    expect(statSync(file)).toMatchObject({ mtimeMs, ino });
  });

  it('is the code that runs', () => {
    const version = () => okstra(['--version']).stdout;
    const { length } = version();
    change(join(cache, 'command'), forge);
    expect(version()).toBe(`${'9'.repeat(length - 1)}\n`);
  });

  it('is not used for a bundle that was changed', () => {
    check();
    const bundle = join(copy, 'dist/main.cjs');
    const { atime, mtime, size } = statSync(bundle);
    const text = `process.stdout.write('another');process.exit(0)//`;
    writeFileSync(bundle, text.padEnd(size, ' '));
    // As a copy of an archive makes it, in which all files have one time.
    utimesSync(bundle, atime, mtime);
    expect(check()).toEqual({ status: 0, stdout: 'another', stderr: '' });
  });

  const harmed: [string, (bytes: Buffer) => Buffer][] = [
    ['empty', () => Buffer.alloc(0)],
    ['cut off in its table', (bytes) => bytes.subarray(0, 30)],
    ['cut off in its code', (bytes) => bytes.subarray(0, 5_000)],
    ['cut off at its end', (bytes) => bytes.subarray(0, -1)],
    ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
    ['something else', () => Buffer.from('hello')],
    ['damaged in its table', (bytes) => flipped(bytes, 30)],
    ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part): [string, (bytes: Buffer) => Buffer] => [
      `damaged by one bit at ${part}`,
      (bytes) => flipped(bytes, Math.floor(bytes.length * part)),
    ]),
    ['of another version of the engine', (bytes) => summed(inEach(bytes, 4))],
    ['of other settings of the engine', (bytes) => summed(inEach(bytes, 12))],
  ];

  function flipped(bytes: Buffer, at: number): Buffer {
    bytes[at] = (bytes[at] as number) ^ 4;
    return bytes;
  }

  /** With a byte of the header of V8 changed in the code of every bundle. */
  function inEach(bytes: Buffer, at: number): Buffer {
    const head = 8 + Number(bytes.toString('latin1', 0, 8));
    const places = JSON.parse(bytes.toString('latin1', 8, head)) as Record<string, number[]>;
    for (const [offset = 0] of Object.values(places)) flipped(bytes, offset + at);
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
    // What was compiled of the module is worth keeping all the same.
    expect(readdirSync(cache)).toEqual([BOTH[1]]);
    rmSync(moduleFile);
    expect(okstra(['--version'])).toMatchObject({ status: 0 });
    expect(readdirSync(cache)).toEqual(ALONE);
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

  it('does not grow without end, and drafts that were left are taken away', () => {
    mkdirSync(cache, { recursive: true });
    for (let at = 0; at < 398; at++) writeFileSync(join(cache, `command-a${at}`), '');
    const [old, young] = ['command-b.17-x1', 'command-b.18-x2'].map((name) => join(cache, name));
    for (const draft of [old, young] as string[]) writeFileSync(draft, '');
    utimesSync(old as string, 1, 1);
    expect(check()).toEqual(plainly);
    expect([old, young, file].map((path) => existsSync(path as string))).toEqual([
      false,
      true,
      true,
    ]);
    // What is there is replaced all the same; what is new has no room.
    writeFileSync(file, '');
    check();
    expect(statSync(file).size).toBeGreaterThan(0);
    expect(okstra(['--version'])).toMatchObject({ status: 0 });
    expect(existsSync(join(cache, 'command'))).toBe(false);
  });

  it('of versions of Node that are out of use is taken away', () => {
    const others = ['v20.0.0-x64', 'v20.1.0-x64', 'notes'].map((name) => join(cache, '..', name));
    for (const other of others) mkdirSync(other, { recursive: true });
    const [unused, used, foreign] = others as [string, string, string];
    writeFileSync(join(unused, 'command'), '');
    const old = Date.now() / 1000 - 31 * 24 * 3600;
    for (const path of [unused, foreign]) utimesSync(path, old, old);
    expect(check()).toEqual(plainly);
    expect([unused, used, foreign].map((path) => existsSync(path))).toEqual([false, true, true]);
  });

  it('is not made under other settings than those it would be used under', () => {
    const large = join(folder, 'large.md');
    const text = readFileSync(plan, 'utf8');
    // For as much as this the engine is told to expect a long life.
    writeFileSync(large, `${text}\n${'Nothing that matters here.\n'.repeat(200_000)}`);
    expect(okstra(['plan', 'check', large])).toMatchObject({ status: 0 });
    expect([file, moduleFile].map((path) => existsSync(path))).toEqual([false, false]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'of another owner than the package is neither read nor made (only root can give files away)',
    () => {
      const { stdout } = okstra(['--version']);
      const kept = join(cache, 'command');
      change(kept, forge);
      chownSync(kept, 65_534, 65_534);
      expect(okstra(['--version'])).toEqual({ status: 0, stdout, stderr: '' });
      rmSync(join(copy, '.cache'), { recursive: true });
      chownSync(copy, 65_534, 65_534);
      expect(check()).toEqual(plainly);
      expect(existsSync(join(copy, '.cache'))).toBe(false);
    },
  );

  it('is not read where others may write it, and not written for others to write', () => {
    const version = () => okstra(['--version']).stdout;
    const kept = join(cache, 'command');
    const was = process.umask(0);
    const right = version();
    process.umask(was);
    const places = [dirname(cache), cache, kept];
    const modes = places.map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o755, 0o755, 0o644]);
    for (const [at, mode] of [0o775, 0o777, 0o666].entries()) {
      change(kept, forge);
      expect(version()).not.toBe(right);
      chmodSync(places[at] as string, mode);
      expect(version()).toBe(right);
      chmodSync(places[at] as string, modes[at] as number);
      rmSync(kept, { force: true });
      version();
    }
  });

  it('is not waited for where it is a pipe, and not followed where it is a link', () => {
    mkdirSync(cache, { recursive: true });
    execFileSync('mkfifo', [file]);
    expect(check()).toEqual(plainly);
    rmSync(file);
    symlinkSync('/dev/zero', file);
    expect(check()).toEqual(plainly);
    expect(lstatSync(file).isFile()).toBe(true);
  });

  it('is whole whenever a process is killed, and whoever is first', async () => {
    const run = (ms: number) =>
      new Promise<string>((resolve) => {
        const child = spawn(process.execPath, [join(copy, 'bin/okstra.js'), 'plan', 'check', plan]);
        let text = '';
        child.stdout.on('data', (chunk) => {
          text += chunk;
        });
        const timer = setTimeout(() => child.kill('SIGKILL'), ms);
        child.on('close', () => {
          clearTimeout(timer);
          resolve(text);
        });
      });
    for (let round = 0; round < 20; round++) {
      rmSync(join(copy, '.cache'), { recursive: true, force: true });
      await run(40 + Math.random() * 250);
      expect(check()).toEqual(plainly);
    }
    rmSync(join(copy, '.cache'), { recursive: true, force: true });
    const all = await Promise.all(Array.from({ length: 12 }, () => run(60_000)));
    expect(new Set(all).size).toBe(1);
    expect(all[0]).toContain('3 stages');
    expect(readdirSync(cache)).toEqual(BOTH);
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
    expect(readdirSync(cache)).toEqual(['hook-PostToolUse', 'hook-PostToolUse.okstra-hook.wasm']);
    expect(hook()).toMatchObject({ stdout: first.stdout, stderr: '' });
    const { ino } = statSync(join(cache, 'hook-PostToolUse'));
    expect(hook().stdout).toBe(first.stdout);
    expect(statSync(join(cache, 'hook-PostToolUse')).ino).toBe(ino);
  });
});

describe('kept code of the module', () => {
  const part = join(copy, 'dist/okstra-plan.wasm');
  const inode = () => statSync(moduleFile).ino;

  /** A module of which every function fails as soon as it is called, in as many bytes. */
  function failing(module: Buffer): Buffer {
    const bytes = Buffer.from(module);
    let at = 8;
    const number = () => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++] as number;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const [CODE, UNREACHABLE, NOP, END] = [10, 0x00, 0x01, 0x0b];
    while (at < bytes.length) {
      const id = bytes[at++];
      const size = number();
      if (id !== CODE) {
        at += size;
        continue;
      }
      for (let count = number(); count > 0; count--) {
        const length = number();
        // No locals, and then nothing that could be wrong.
        bytes.fill(NOP, at, at + length);
        bytes.set([0, UNREACHABLE], at);
        bytes[at + length - 1] = END;
        at += length;
      }
    }
    return bytes;
  }

  /** The module stops working; its kept code is said to be made of what it is now. */
  function breakModule(isKept: boolean): void {
    const broken = failing(readFileSync(part));
    writeFileSync(part, broken);
    if (isKept) change(moduleFile, () => {}, broken);
  }

  it('is written by the first three runs and then rests', () => {
    const seen = Array.from({ length: 5 }, () => {
      expect(check()).toEqual(plainly);
      return [inode(), ending(moduleFile, 'times')];
    });
    expect(seen.map(([, times]) => times)).toEqual([1, 2, 3, 3, 3]);
    expect(new Set(seen.slice(2).map(([id]) => id)).size).toBe(1);
    expect(statSync(moduleFile).size).toBeGreaterThan(100_000);
  });

  it('is learned from commands that end with a refusal as well', () => {
    const wrong = join(root, 'fixtures/plans/invalid_depends_on_cycle.md');
    for (let run = 0; run < 5; run++) {
      expect(okstra(['plan', 'check', wrong])).toMatchObject({ status: 1 });
    }
    expect(readdirSync(cache)).toEqual(BOTH);
    expect(ending(moduleFile, 'times')).toBe(3);
  });

  it('is learned of all modules of a process or of none', () => {
    const show = (env = {}) => okstra(['plan', 'show', plan, '--json'], env);
    const right = show({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(right).toMatchObject({ status: 0, stderr: '' });
    expect(show()).toEqual(right);
    const kept = readdirSync(cache);
    const modules = kept.filter((name) => name.endsWith('.wasm'));
    expect(modules).toHaveLength(2);
    const [whole, first] = modules.sort((a, b) => a.length - b.length) as [string, string];
    const of = readFileSync(join(copy, 'dist', first.slice(first.indexOf('.') + 1)));
    // The first is another engine's, so nothing can be learned of it; the second is not there.
    change(join(cache, first), (bytes) => bit(bytes, 8), of);
    rmSync(join(cache, whole));
    for (let run = 0; run < 3; run++) expect(show()).toEqual(right);
    expect(readdirSync(cache)).toEqual(kept.filter((name) => name !== whole));
    // The other way round.
    rmSync(cache, { recursive: true });
    expect(show()).toEqual(right);
    rmSync(join(cache, first));
    for (let run = 0; run < 3; run++) expect(show()).toEqual(right);
    expect(readdirSync(cache)).toEqual(kept);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is not learned where the disk has no room for it (only root can mount a small one)',
    () => {
      mkdirSync(dirname(cache), { recursive: true });
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=755', 'none', dirname(cache)]);
      try {
        for (let run = 0; run < 3; run++) expect(check()).toEqual(plainly);
        expect(readdirSync(cache)).toEqual([]);
      } finally {
        execFileSync('umount', [dirname(cache)]);
      }
    },
  );

  it('is the code that runs', () => {
    for (let run = 0; run < 3; run++) check();
    breakModule(true);
    expect(check()).toEqual(plainly);
  });

  it('is not made where what makes it is gone', () => {
    rmSync(join(copy, 'dist/learning.cjs'));
    expect(check()).toEqual(plainly);
    expect(existsSync(cache)).toBe(false);
  });

  it('is known by the state of its module, and else by what is in it', async () => {
    const learn = () => {
      rmSync(cache, { recursive: true, force: true });
      for (let run = 0; run < 3; run++) check();
      return ending(moduleFile, 'state');
    };
    // Of a file that has just been written the system may not tell a second change.
    expect(learn()).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 2100));
    expect(learn()).not.toBe(0);
    const spoil = () => change(moduleFile, (bytes) => put(bytes, 'of', 1));
    spoil();
    const ino = inode();
    expect(check()).toEqual(plainly);
    expect(inode()).toBe(ino);
    // The same bytes in another state: looked at, they are what the code is of.
    expect(learn()).not.toBe(0);
    utimesSync(part, 1, 1);
    const before = inode();
    expect(check()).toEqual(plainly);
    expect(inode()).toBe(before);
    // And where they are not, it is made anew.
    spoil();
    expect(check()).toEqual(plainly);
    expect(inode()).not.toBe(before);
    expect(ending(moduleFile, 'of')).toBe(crc32(readFileSync(part)));
  });

  it('is not used for a module that was changed', () => {
    for (let run = 0; run < 3; run++) check();
    const before = readFileSync(moduleFile);
    breakModule(false);
    expect(check()).toMatchObject({ status: 5, stdout: '' });
    // What did not work leaves nothing.
    expect(readFileSync(moduleFile).equals(before)).toBe(true);
    expect(readdirSync(cache)).toEqual(BOTH);
  });

  it('leaves what else is called to the engine', () => {
    for (let run = 0; run < 3; run++) check();
    const { ino } = statSync(moduleFile);
    const other = okstra(['plan', 'check', '--format', 'json', plan]);
    expect(JSON.parse(other.stdout)).toMatchObject({ plans: [{ stages: { length: 3 } }] });
    const wrong = okstra(['plan', 'check', join(root, 'README.md')]);
    expect(wrong).toMatchObject({ status: 1 });
    expect(inode()).toBe(ino);
  });

  const bit = (bytes: Buffer, at: number) => {
    bytes[at] = (bytes[at] as number) ^ 4;
    return bytes;
  };

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['empty', () => Buffer.alloc(0)],
    ['cut off in its head', (bytes) => bytes.subarray(0, 10)],
    ['cut off in its code', (bytes) => bytes.subarray(0, 50_000)],
    ['cut off at its end', (bytes) => bytes.subarray(0, -1)],
    ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
    ['longer than it was', (bytes) => Buffer.concat([bytes, Buffer.alloc(8)])],
    ...[0, 0.2, 0.4, 0.6, 0.8, 0.99999].map((place): [string, (bytes: Buffer) => Buffer] => [
      `damaged by one bit at ${place}`,
      (bytes) => bit(bytes, Math.floor(bytes.length * place)),
    ]),
  ])('that is %s is replaced', (_, harm) => {
    check();
    const whole = statSync(moduleFile).size;
    writeFileSync(moduleFile, harm(readFileSync(moduleFile)));
    expect(check()).toEqual(plainly);
    expect(Math.abs(statSync(moduleFile).size - whole)).toBeLessThan(whole / 10);
  });

  // Bytes of V8's header: its version, the processor's abilities and its settings.
  it.each([4, 8, 12])('of another engine (byte %i) is replaced when it is a day old', (at) => {
    check();
    change(moduleFile, (bytes) => bit(bytes, at), readFileSync(part));
    const ino = inode();
    expect(check()).toEqual(plainly);
    expect(inode()).toBe(ino);
    const old = Date.now() / 1000 - 25 * 3600;
    utimesSync(moduleFile, old, old);
    expect(check()).toEqual(plainly);
    expect(inode()).not.toBe(ino);
    breakModule(true);
    expect(check()).toEqual(plainly);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'of another owner than the package is neither read nor made (only root can give files away)',
    () => {
      check();
      breakModule(true);
      chownSync(moduleFile, 65_534, 65_534);
      expect(check().status).not.toBe(0);
    },
  );
});
