/** Running a program to its end and keeping what it writes. Never through a shell. */
import { statSync } from 'node:fs';
import { binding, isKnownNode } from '../../../npm-package/src/engine.js';
import { codeOf } from './fault.js';
import { HostError } from './host.js';

/** How a program ended, and what it wrote. */
export interface Spawned {
  /** `null` where a signal ended it. */
  status: number | null;
  stdout: Buffer;
  stderr: string;
}

interface Options {
  folder: string;
  /** The whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** What it reads on standard input; nothing where missing. */
  input?: string | Uint8Array | undefined;
  /** What to do where there is no such program. */
  help: string;
}

/**
 * Runs a program.
 * @throws HostError where it cannot be started; how it ends is for the caller to judge
 */
export function spawnProgram(
  program: string,
  args: readonly string[],
  { folder, env, input, help }: Options,
): Promise<Spawned> {
  // Not an import: loading it costs 3 ms.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve, reject) => {
    const start = () =>
      spawn(program, args, {
        cwd: folder,
        env,
        stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        windowsHide: true,
      });
    let child: ReturnType<typeof start>;
    try {
      child = start();
    } catch (error) {
      // Some of what the system says is thrown, the rest is an event. Node's own codes are for us.
      throw codeOf(error).startsWith('ERR_') ? error : notStarted(error, program, folder, help);
    }
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => reject(notStarted(error, program, folder, help)));
    child.once('close', (status) => {
      resolve({ status, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() });
    });
    // A program that ends before it has read everything says why by its status.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/**
 * Runs a program and does nothing else meanwhile, which spares the pipes that Node would listen to:
 * some milliseconds. What it reads is written once the program runs.
 * @throws HostError where it cannot be started; how it ends is for the caller to judge
 */
export function spawnProgramNow(
  program: string,
  args: readonly string[],
  { folder, env, input, help }: Options,
): Spawned {
  const ran = spawnLow(program, args, { folder, env, input });
  if (ran !== undefined) return ran;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    env,
    ...(input === undefined ? {} : { input }),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    maxBuffer: Number.POSITIVE_INFINITY,
    windowsHide: true,
  });
  // A program that ends before it has read everything says why by its status.
  if (error !== undefined && codeOf(error) !== 'EPIPE') {
    throw notStarted(error, program, folder, help);
  }
  return { status, stdout, stderr: stderr.toString() };
}

/** What `spawnSync` of Node is built upon, as far as it is used here. */
interface SyncSpawner {
  spawn(options: {
    file: string;
    args: string[];
    cwd: string;
    envPairs: string[];
    stdio: object[];
  }): { status: number | null; output: (Buffer | null)[] | null };
}

/**
 * Runs a program by what `spawnSync` is built upon: that is there already, while `child_process`
 * takes 3 ms to load, of which a claim has few. Nothing where it is not offered or the program was
 * not started; then nothing has happened, and `spawnSync` says why.
 */
function spawnLow(
  program: string,
  args: readonly string[],
  { folder, env, input }: Pick<Options, 'folder' | 'env' | 'input'>,
): Spawned | undefined {
  if (process.platform === 'win32' || !isKnownNode()) return undefined;
  const envPairs = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const words = [program, ...args];
  // The system would take what stands before it for the whole.
  if ([folder, ...words, ...envPairs].some((text) => text.includes('\0'))) return undefined;
  const read = { type: 'pipe', readable: false, writable: true };
  const given = typeof input === 'string' ? Buffer.from(input) : input;
  const written = { type: 'pipe', readable: true, writable: false, input: given };
  const { output, status } =
    binding<SyncSpawner>('spawn_sync')?.spawn({
      file: program,
      args: words,
      cwd: folder,
      envPairs,
      stdio: [given === undefined ? { type: 'ignore' } : written, read, read],
    }) ?? {};
  const [, stdout, stderr] = output ?? [];
  if (!stdout || !stderr || status === undefined) return undefined;
  return { status, stdout, stderr: stderr.toString() };
}

/** The system names the program also where it is the folder that is missing. */
function notStarted(error: unknown, program: string, folder: string, help: string): HostError {
  const code = codeOf(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') {
    return new HostError('other', program, `cannot be started (${code})`, help);
  }
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? new HostError('missing', program, 'no such program', help)
    : new HostError('missing', folder, 'no such folder', 'check the path');
}
