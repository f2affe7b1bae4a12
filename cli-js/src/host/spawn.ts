/** Running a program to its end and keeping what it writes. Never through a shell. */
import { statSync } from 'node:fs';
import { codeOf } from './fault.js';
import { HostError } from './host.js';

/** How a program ended, and what it wrote. */
export interface Spawned {
  /** `null` where a signal ended it. */
  status: number | null;
  stdout: Buffer;
  stderr: string;
}

/** See {@link Options.steps}. */
export type Steps = readonly string[] | Promise<readonly string[]>;

interface Options {
  folder: string;
  /** The whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** What it reads on standard input; nothing where missing. */
  input?: string | Uint8Array | undefined;
  /**
   * Instead: pieces of input, each after the first once the program has answered with a line. Where
   * they are yet to come it starts already; no steps end its input.
   */
  steps?: Steps | undefined;
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
  { folder, env, input, steps, help }: Options,
): Promise<Spawned> {
  // Not an import: loading it costs 3 ms.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env,
      stdio: [input === undefined && steps === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => {
      out.push(chunk);
      say(Buffer.concat(out).toString().split('\n').length - 1);
    });
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => reject(notStarted(error, program, folder, help)));
    child.once('close', (status) => {
      resolve({ status, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() });
    });
    // A program that ends before it has read everything says why by its status.
    child.stdin?.on('error', () => {});
    let said = 0;
    let pieces: readonly string[] | undefined;
    const say = (answers: number) => {
      for (; pieces !== undefined && said <= answers && said < pieces.length; said++) {
        child.stdin?.write(pieces[said] ?? '');
      }
      if (said === pieces?.length) child.stdin?.end();
    };
    const begin = (given: readonly string[]) => {
      pieces = given;
      say(0);
    };
    if (steps === undefined) child.stdin?.end(input);
    else if (steps instanceof Promise) steps.then(begin, () => begin([]));
    else begin(steps);
  });
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
