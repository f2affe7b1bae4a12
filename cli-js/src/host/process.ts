/** Signals, and programs that are run. */
import { codeOf } from './fault.js';
import { HostError, type Ran } from './host.js';

/** Calls back once when the person asks to stop; a second time ends the process at once. */
export function onInterrupt(stop: () => void): void {
  let asked = false;
  const handler = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handler);
}

/** See {@link Host.runProgram}. */
export function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
): Promise<Ran> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const start = process.hrtime.bigint();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      // Standard output is for our own answer.
      stdio: ['ignore', 2, 2],
      windowsHide: true,
    });
    child.once('error', (error) => {
      const missing = codeOf(error) === 'ENOENT';
      const message = missing ? 'no such program' : `cannot be started (${codeOf(error)})`;
      reject(new HostError(missing ? 'missing' : 'other', program, message, 'install it'));
    });
    child.once('exit', (exit_code) => {
      const duration_ms = Number((process.hrtime.bigint() - start) / 1_000_000n);
      resolve({ exit_code, duration_ms });
    });
  });
}
