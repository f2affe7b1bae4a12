/** Worker programs: what lies where, their supervisors, their logs. */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { PathFacts } from '../../../npm-package/src/index.js';
import { makeFolderOf } from './durable.js';
import { codeOf, explain, RECORD } from './fault.js';
import { okstraHome } from './home.js';
import { HostError, type SessionProcess } from './host.js';
import { realPath } from './paths.js';
import { startOf } from './processes.js';

export interface Workers {
  /** What lies at these paths. */
  look(paths: readonly string[]): PathFacts[];
  /** Makes the folder of a file. */
  makeFolderOf(path: string): void;
  /** Whether a program can be started from a folder. */
  hasProgram(program: string, folder: string, env: Environment): boolean;
  /**
   * Starts a supervisor in a process of its own that outlives this one, hands it its order and
   * answers the one line that it says back.
   */
  supervise(order: string): Promise<string>;
  /** The words that start okstra itself. */
  self(): string[];
  /** Asks a process to end. */
  terminate(pid: number): void;
  /** A log, read as it grows. */
  follow(path: string): Follower;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a file that grows. */
export interface Follower {
  /**
   * What has come since, at most a piece of it; empty where there is nothing. Of more than
   * `most` bytes only the end is read, and `skipped` says how many were left out.
   */
  read(most: number): { bytes: Uint8Array; skipped: number };
  /** The last bytes. */
  end(bytes: number): Uint8Array;
  close(): void;
}

function look(paths: readonly string[]): PathFacts[] {
  return paths.map((path) => {
    try {
      const real = realPath(path);
      const found = statSync(real, { throwIfNoEntry: false, bigint: true });
      if (found === undefined) return { path, real, kind: 'missing' as const, mark: null };
      if (found.isDirectory()) return { path, real, kind: 'folder' as const, mark: null };
      if (!found.isFile()) return { path, real, kind: 'other' as const, mark: null };
      const mark = `${found.mtimeNs}.${found.ctimeNs}.${found.size}.${found.ino}`;
      return { path, real, kind: found.size === 0n ? ('empty' as const) : ('file' as const), mark };
    } catch {
      // What cannot be looked at is not there for us, and lies nowhere.
      return { path, real: '', kind: 'other' as const, mark: null };
    }
  });
}

function hasProgram(program: string, folder: string, env: Environment): boolean {
  const places = program.includes('/')
    ? [resolve(folder, program)]
    : (env.PATH ?? '/usr/bin:/bin').split(delimiter).map((path) => join(path || folder, program));
  return places.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

/** How a worker ended. */
export interface End {
  /** Whether this process has seen it. */
  observed: boolean;
  exit_code?: number;
  signal?: string;
  signal_number?: number;
}

/** A worker that runs. */
export interface Started {
  worker: SessionProcess;
  ended: Promise<End>;
}

/** What to start. */
interface Start {
  command: readonly string[];
  /** Its folder. */
  worktree: string;
  /** Its whole environment. */
  env: Environment;
  /** What it reads on standard input. */
  prompt: string;
  /** What it writes into. */
  log: string;
  /** What to do where there is no such program. */
  help: string;
}

/**
 * Starts a worker, in a session and a group of processes of its own. The prompt and the log are
 * handed over as open files, so that nothing of either passes through this process.
 * @throws HostError or an error of the system
 */
export function startWorker({ command, ...start }: Start): Promise<Started> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [program = '', ...args] = command;
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
  const prompt = openSync(start.prompt, 'r');
  keepOldLog(start.log);
  const log = openSync(start.log, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o666);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: start.worktree,
      env: start.env,
      detached: true,
      stdio: [prompt, log, log],
      windowsHide: true,
    });
    closeSync(log);
    closeSync(prompt);
    child.once('error', (error) => {
      const code = codeOf(error);
      const message = code === 'ENOENT' ? 'no such program' : `cannot be started (${code})`;
      reject(new HostError('other', program, message, start.help));
    });
    const { pid } = child;
    if (pid === undefined) return;
    const ended = new Promise<End>((ends) => {
      child.once('exit', (exit_code, signal) => {
        ends({
          observed: true,
          ...(exit_code === null ? {} : { exit_code }),
          ...(signal === null
            ? {}
            : {
                signal,
                signal_number: process.getBuiltinModule('node:os').constants.signals[signal],
              }),
        });
      });
    });
    // Asked for at once: even one that has ended already is there until it is waited for.
    resolve({ worker: { pid, pid_start: startOf(pid) ?? null }, ended });
  });
}

/** An earlier log keeps what it holds under another name. */
function keepOldLog(log: string): void {
  const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isThere(log)) return;
  let number = 1;
  while (isThere(`${log}.${number}`)) number += 1;
  renameSync(log, `${log}.${number}`);
}

function supervise(order: string): Promise<string> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve, reject) => {
    const failed = (message: string) =>
      reject(
        new HostError(
          'other',
          'dispatch',
          message,
          'run it again; look at the disk and the memory',
        ),
      );
    const { OKSTRA_HOME: home, ...others } = process.env;
    const child = spawn(process.execPath, [join(__dirname, 'supervisor.cjs')], {
      // Not a folder that may be removed while it works.
      cwd: '/',
      // A relative folder is that of the folder this process was started in.
      env: home ? { ...others, OKSTRA_HOME: okstraHome(process.env) } : process.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    let said = '';
    const settle = (line: string) => {
      // From here on neither waits for the other.
      child.stdout.destroy();
      child.unref();
      resolve(line);
    };
    child.once('error', (error) => failed(`no supervisor can be started (${codeOf(error)})`));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const end = said.indexOf('\n');
      if (end >= 0) settle(said.slice(0, end));
    });
    child.stdout.once('end', () => failed('the supervisor ended before it had begun'));
    // One that ends at once says so by its silence.
    child.stdin.on('error', () => {});
    child.stdin.end(order);
  });
}

function follow(path: string): Follower {
  let handle: number | undefined;
  let at = 0;
  const open = () => {
    if (handle !== undefined) return handle;
    try {
      // A link or a pipe in its place is not the log.
      if (!lstatSync(path).isFile()) return undefined;
      handle = openSync(path, 'r');
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw explain(error, path, RECORD);
    }
    return handle;
  };
  const piece = (file: number, from: number, length: number) => {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, from));
  };
  return {
    read(most) {
      const file = open();
      if (file === undefined) return { bytes: new Uint8Array(), skipped: 0 };
      const { size } = fstatSync(file);
      const skipped = size - at > most ? size - at - PIECE : 0;
      at += skipped;
      const bytes = size > at ? piece(file, at, Math.min(PIECE, size - at)) : new Uint8Array();
      at += bytes.length;
      return { bytes, skipped };
    },
    end(bytes) {
      const file = open();
      if (file === undefined) return new Uint8Array();
      const { size } = fstatSync(file);
      return piece(file, Math.max(0, size - bytes), Math.min(bytes, size));
    },
    close() {
      if (handle !== undefined) closeSync(handle);
      handle = undefined;
    },
  };
}

/** How much of a log is in memory at a time. */
const PIECE = 65_536;

export const workers: Workers = {
  look,
  makeFolderOf(path) {
    try {
      makeFolderOf(path);
    } catch (error) {
      throw explain(error, path, RECORD);
    }
  },
  hasProgram,
  supervise,
  self: () => [process.execPath, join(__dirname, 'cli.cjs')],
  terminate(pid) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      // It has ended meanwhile.
      if (codeOf(error) !== 'ESRCH') {
        throw new HostError(
          'denied',
          `process ${pid}`,
          'it may not be ended',
          "it is another user's",
        );
      }
    }
  },
  follow,
};
