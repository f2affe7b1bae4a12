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

/** See {@link Options.steps}. One that is yet to come may come to nothing: then the input ends. */
export type Steps = readonly (string | Promise<string | undefined>)[];

interface Options {
  folder: string;
  /** The whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** What it reads on standard input; nothing where missing. */
  input?: string | Uint8Array | undefined;
  /** Instead: pieces of input, each after the first once the program has answered with a line. */
  steps?: Steps | undefined;
  /** The line after which all is done: how it ends is not waited for. */
  until?: string | undefined;
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
  { folder, env, input, steps, until, help }: Options,
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
      if (steps === undefined) return;
      const lines = Buffer.concat(out).toString().split('\n');
      if (until !== undefined && lines.slice(0, -1).includes(until)) {
        resolve({ status: 0, stdout: Buffer.concat(out), stderr: '' });
      }
      say(lines.length - 1);
    });
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => reject(notStarted(error, program, folder, help)));
    child.once('close', (status) => {
      resolve({ status, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() });
    });
    // A program that ends before it has read everything says why by its status.
    child.stdin?.on('error', () => {});
    let said = 0;
    let saying = Promise.resolve();
    const say = (answers: number) => {
      const all = steps ?? [];
      for (; said <= answers && said < all.length; said++) {
        const step = all[said];
        const isLast = said === all.length - 1;
        saying = saying.then(async () => {
          const piece = await step;
          if (piece !== undefined) child.stdin?.write(piece);
          if (piece === undefined || isLast) child.stdin?.end();
        });
      }
    };
    if (steps === undefined) child.stdin?.end(input);
    else say(0);
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
