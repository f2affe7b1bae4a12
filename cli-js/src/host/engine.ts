/** Container engines: asking whether they are there, and running compose. Never through a shell. */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { codeOf } from './fault.js';
import { HostError } from './host.js';
import { startOf } from './processes.js';

/** What came of starting a program. */
interface Outcome {
  /** Why there is no end of it: `missing`, `timeout`, or the system's code. */
  fault?: string;
  /** How it ended; missing where a signal ended it. */
  status?: number;
  stdout: string;
  stderr: string;
}

/** How compose ended. */
interface Composed {
  /** `null` where a signal ended it. */
  status: number | null;
  /** The end of what it complained of. */
  said: string;
}

export interface Engine {
  /** Starts a program, keeps what it prints and ends it with all that it has started in time. */
  ask(words: readonly string[], options: Asking): Promise<Outcome>;
  /**
   * Runs compose and hands on what it prints. A person who asks to stop asks compose.
   * @throws HostError where it cannot be started
   */
  compose(words: readonly string[], options: Composing): Promise<Composed>;
}

interface Asking {
  folder: string;
  env?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  limit: number;
}

interface Composing {
  folder: string;
  env: Readonly<Record<string, string>>;
  /** Hears what it prints. */
  heard(text: string): void;
  /** Hears of the process once it runs. */
  started(pid: number, start: string | null): void;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** The most that is kept of what a program prints; `ps` of many containers needs some. */
const MOST = 4 * 1024 * 1024;

/** The most lines of a complaint that are repeated. */
const MOST_LINES = 3;

function ask(words: readonly string[], { folder, env, limit }: Asking): Promise<Outcome> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [program = '', ...args] = words;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what it has started ends with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        if (text[name].length < MOST) text[name] += chunk;
      });
    }
    const timer = setTimeout(() => {
      endGroup(child.pid);
      // Whoever has left the group may hold the pipes for ever.
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      resolve({ fault: 'timeout', ...text });
    }, limit);
    child.once('error', (error) => {
      clearTimeout(timer);
      const code = codeOf(error);
      const missing = code === 'ENOENT' || code === 'ENOTDIR';
      resolve({ fault: missing ? 'missing' : code, ...text });
    });
    ended(child, (status) => {
      clearTimeout(timer);
      resolve({ ...(status === null ? {} : { status }), ...text });
    });
  });
}

/** How long a program's last words are waited for once it has ended, in milliseconds. */
const LAST_WORDS = 1000;

/** Calls back when a program has ended, also where what it has started keeps its pipes open. */
function ended(child: Child, over: (status: number | null) => void): void {
  let isOver = false;
  const once = (status: number | null) => {
    if (isOver) return;
    isOver = true;
    child.stdout.destroy();
    child.stderr.destroy();
    over(status);
  };
  child.once('close', once);
  child.once('exit', (status) => setTimeout(once, LAST_WORDS, status).unref());
}

/** Ends a program that does not answer, and what it has started. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended in the same moment.
  }
}

function compose(
  words: readonly string[],
  { folder, env, heard, started }: Composing,
): Promise<Composed> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [program = '', ...args] = words;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    // At a terminal the signal reaches compose as well; it stops what it does and ends.
    const pass = (signal: NodeJS.Signals) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, pass);
    const over = () => {
      for (const signal of signals) process.off(signal, pass);
    };
    let said = '';
    child.stdout.setEncoding('utf8').on('data', heard);
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      heard(chunk);
      said = (said + chunk).slice(-16_384);
    });
    child.once('error', (error) => {
      over();
      const missing = codeOf(error) === 'ENOENT';
      const message = missing ? 'no such program' : `cannot be started (${codeOf(error)})`;
      reject(new HostError('other', program, message, 'look at it; nothing was started'));
    });
    child.once('spawn', () => {
      try {
        started(child.pid ?? 0, startOf(child.pid ?? 0) ?? null);
      } catch (error) {
        // What is not recorded must not run.
        child.kill('SIGTERM');
        over();
        reject(error);
      }
    });
    ended(child, (status) => {
      over();
      const lines = said.split(/[\r\n]+/).filter((line) => line.trim() !== '');
      resolve({ status, said: lines.slice(-MOST_LINES).join(' ').replace(/\s+/g, ' ').trim() });
    });
  });
}

export const engine: Engine = { ask, compose };
