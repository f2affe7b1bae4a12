/** Other processes that run the host's code, and programs with a life of their own. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, afterEach } from 'vitest';

// Below the checkout, so that the packages installed there are found.
const target = fileURLToPath(new URL('../../target', import.meta.url));
mkdirSync(target, { recursive: true });
const build = mkdtempSync(join(target, 'host-'));

/** The script with the verbs of `child.ts`, bundled as the command line is. */
const CHILD = join(build, 'child.cjs');

buildSync({
  entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
  bundle: true,
  external: ['fs-native-extensions'],
  format: 'cjs',
  logLevel: 'warning',
  outfile: CHILD,
  platform: 'node',
  target: 'node20',
});

afterAll(() => rmSync(build, { recursive: true }));

/** Processes that the test may leave running. */
const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A running process whose lines can be waited for. */
export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #end: Promise<void>;

  constructor(command: string, args: readonly string[], options: SpawnOptions = {}) {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout === null) throw new Error('no output');
    this.process = child;
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    running.add(child);
    this.#end = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => {
        running.delete(child);
        resolve();
      });
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** The next line. */
  async line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error('the process ended without an answer');
    return value;
  }

  /** The next answer of the script. */
  async answer<T = unknown>(): Promise<T> {
    return JSON.parse(await this.line());
  }

  /** Resolves once it has ended; answers how. */
  async end(): Promise<number | NodeJS.Signals | null> {
    await this.#end;
    return this.process.exitCode ?? this.process.signalCode;
  }

  kill(): Promise<unknown> {
    this.process.kill('SIGKILL');
    return this.end();
  }
}

/** Starts the script with a verb. */
export function child(...args: string[]): Child {
  return new Child(process.execPath, [CHILD, ...args]);
}

/** The command that runs the script with a verb, for other programs to start. */
export function command(...args: string[]): string[] {
  return [process.execPath, CHILD, ...args];
}

/** Runs a program to its end and answers what it says, as JSON. */
export function answerOf<T = unknown>(program: string, ...args: string[]): T {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
  }
  return JSON.parse(stdout);
}

/**
 * `unshare` with these flags: as root as it is, else as root of a user namespace. Where a machine
 * allows neither, the test fails and says so.
 */
export function unshared(...flags: string[]): [string, ...string[]] {
  return ['unshare', ...(process.getuid?.() === 0 ? [] : ['-r']), ...flags];
}
