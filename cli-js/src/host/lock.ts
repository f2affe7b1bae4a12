/**
 * A lock that dies with its holder: the kernel's, on an open file, free again the moment the
 * process is gone, however it ended. The file itself says nothing about the lock and is never
 * deleted: deleting it would let two processes lock two files of one name.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { now as time } from './clock.js';
import { makeFolder } from './durable.js';
import { codeOf, explain, OWN } from './fault.js';
import { HostError } from './host.js';
import { native } from './native.js';
import { hostName } from './processes.js';

/**
 * The bytes that are locked. Windows keeps others from reading what is locked, and the holder's
 * note is to be read; elsewhere it is the whole file, and macOS knows nothing else.
 */
const [OFFSET, LENGTH] = process.platform === 'win32' ? [2 ** 40, 1] : [0, 0];

/** Runs `work` while holding the lock file's kernel lock. See {@link Host.withLock}. */
export async function withLock<T>(
  lockFile: string,
  holder: string,
  waitMs: number,
  work: () => T | Promise<T>,
): Promise<T> {
  const handle = await acquire(lockFile, waitMs);
  try {
    leaveNote(handle, holder);
    return await work();
  } finally {
    removeNote(handle);
    // Closing the only handle gives the lock back.
    closeSync(handle);
  }
}

/** Runs `work` while holding the kernel lock of a file that is there. See {@link Host.withLockOn}. */
export async function withLockOn<T>(
  file: string,
  waitMs: number,
  work: () => T | Promise<T>,
): Promise<T> {
  let handle: number | undefined;
  try {
    handle = await acquire(file, waitMs, openThere);
  } catch (error) {
    // Who may not write to it cannot lock it either, and neither can anybody else like us.
    // A file system without locks has none for anybody; the lock in okstra's folder still holds.
    const none = ['denied', 'missing', 'directory', 'other'];
    if (!(error instanceof HostError && none.includes(error.reason))) throw error;
  }
  try {
    return await work();
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Milliseconds that no change of the clock moves. The global `performance` takes 1 ms to load. */
function now(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Opens and locks the file. */
async function acquire(lockFile: string, waitMs: number, opened = open): Promise<number> {
  const end = now() + waitMs;
  try {
    for (;;) {
      const handle = opened(lockFile);
      if (!(await lock(handle, lockFile, end - now()))) throw locked(lockFile, waitMs);
      if (isFileAt(lockFile, handle)) return handle;
      // Somebody has deleted the file meanwhile: others lock the new one, so this one is no lock.
      closeSync(handle);
    }
  } catch (error) {
    throw explainLock(error, lockFile);
  }
}

/** Opens a file that is there, for locking only. */
function openThere(file: string): number {
  return openSync(file, constants.O_RDWR);
}

/** What the system says of a lock that another holds. */
const TAKEN = process.platform === 'win32' ? ['EAGAIN', 'EBUSY', 'EACCES'] : ['EAGAIN'];

/** Opens the lock file; makes it and its folder, for this user alone, where missing. */
function open(lockFile: string): number {
  // Writing is asked for by the kernel; nothing is cut off, since the note may be another's.
  const flags = constants.O_RDWR | constants.O_CREAT;
  try {
    return openSync(lockFile, flags, 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeFolder(dirname(lockFile), 0o700);
    return openSync(lockFile, flags, 0o600);
  }
}

/** Locks an open file within the time; closes it where it cannot. */
async function lock(handle: number, lockFile: string, ms: number): Promise<boolean> {
  try {
    native(lockFile).tryLock(handle, OFFSET, LENGTH, true);
    return true;
  } catch (error) {
    // Windows says that a range is locked with another word.
    const isTaken = TAKEN.includes(codeOf(error));
    if (isTaken && ms > 0) return wait(handle, lockFile, ms);
    closeSync(handle);
    if (isTaken) return false;
    throw error;
  }
}

/**
 * Queues in the kernel, for a limited time. The kernel cannot be told to stop waiting: where the
 * time is up, a lock that comes all the same is given back at once. The waiting thread keeps the
 * event loop alive and ends with the process, which therefore has to call `process.exit`.
 */
function wait(handle: number, lockFile: string, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const request: { handle?: unknown } = {};
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      resolve(false);
    }, ms);
    request.handle = native(lockFile).waitForLock(
      handle,
      OFFSET,
      LENGTH,
      true,
      request,
      (error) => {
        clearTimeout(timer);
        if (late || error) closeSync(handle);
        if (error) reject(error);
        else resolve(true);
      },
    );
  });
}

/** Whether the open file still is the one of that name. */
function isFileAt(lockFile: string, handle: number): boolean {
  const named = statSync(lockFile, { bigint: true, throwIfNoEntry: false });
  const open = fstatSync(handle, { bigint: true });
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

/** Who holds a lock, for the messages to those who wait. */
interface Note {
  name: string;
  pid: number;
  host: string;
  since: string;
}

/** Writes who holds the lock into its file. */
function leaveNote(handle: number, name: string): void {
  const note: Note = {
    name,
    pid: process.pid,
    host: hostName(),
    since: time(),
  };
  try {
    ftruncateSync(handle, 0);
    writeSync(handle, `${JSON.stringify(note)}\n`, 0);
  } catch {
    // The lock holds without it, also on a full disk; only messages would be poorer.
  }
}

function removeNote(handle: number): void {
  try {
    ftruncateSync(handle, 0);
  } catch {
    // An old note is told to nobody: it is read only where the next holder has written its own.
  }
}

/** What the file says about its holder; notes are written while others read. */
function readNote(lockFile: string): Partial<Note> {
  try {
    const note: unknown = JSON.parse(readFileSync(lockFile, 'utf8'));
    return typeof note === 'object' && note !== null ? note : {};
  } catch {
    return {}; // empty, torn or unreadable: the refusal stands without a name
  }
}

function locked(lockFile: string, waitMs: number): HostError {
  const { name, pid, host, since } = readNote(lockFile);
  const who = typeof name === 'string' && name !== '' ? name : 'another process';
  const details = [
    ...(Number.isInteger(pid) ? [`process ${pid}`] : []),
    ...(typeof host === 'string' ? [`on ${host}`] : []),
    ...(typeof since === 'string' ? [`since ${since}`] : []),
  ].join(' ');
  const holder = details === '' ? who : `${who} (${details})`;
  const waited = waitMs > 0 ? `, also after waiting ${waitMs / 1000} s` : '';
  return new HostError(
    'locked',
    lockFile,
    `locked by ${holder}${waited}`,
    'try again when it has ended; where it hangs, end it: its lock ends with it',
  );
}

/** What went wrong with the lock itself. */
function explainLock(error: unknown, lockFile: string): HostError {
  if (['ENOLCK', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EINVAL'].includes(codeOf(error))) {
    return new HostError(
      'other',
      lockFile,
      `its file system has no locks (the system says ${codeOf(error)})`,
      'name a folder on a local disk in OKSTRA_HOME',
    );
  }
  return explain(error, lockFile, OWN);
}
