/** Reading and replacing files. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { HostError } from './host.js';
import { pause } from './terminal.js';

/** Reads a whole file. */
export function readFile(file: string): Uint8Array {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    throw unreadable(error, file);
  }
}

/** Reads standard input to its end, also where it is a pipe that does not block. */
export function readStdin(): Uint8Array {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    try {
      const read = fs.readSync(0, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
    } catch (error) {
      const code = codeOf(error);
      // Windows reports the end of a pipe as an error.
      if (code === 'EOF') return Buffer.concat(chunks);
      if (code !== 'EAGAIN') throw unreadable(error, 'standard input');
      pause();
    }
  }
}

/** Replaces a file that was read before as `was`. See {@link Host.replaceFile}. */
export function replaceFile(file: string, was: Uint8Array, text: string): void {
  try {
    const target = fs.realpathSync(file);
    const before = fs.statSync(target);
    if (!before.isFile()) {
      throw new HostError('other', file, 'not a regular file', 'give a file that can be replaced');
    }
    // Renaming asks for the rights of the folder only; a file set to read-only is meant to stay.
    fs.accessSync(target, fs.constants.W_OK);
    put(target, text, before, () => {
      if (!fs.readFileSync(target).equals(was)) {
        throw new HostError(
          'changed',
          file,
          'changed while okstra worked on it',
          'nothing was written; run the command again',
        );
      }
    });
  } catch (error) {
    throw explain(error, file);
  }
}

/** See {@link Host.isSameFile}. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => {
    try {
      return fs.statSync(file, { throwIfNoEntry: false });
    } catch (error) {
      throw explain(error, file);
    }
  });
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Writes a file, new or not. See {@link Host.writeFile}. */
export function writeFile(file: string, text: string): void {
  try {
    const before = fs.statSync(file, { throwIfNoEntry: false });
    // A device or a pipe (/dev/stdout) cannot be renamed over; it is written in place.
    if (before !== undefined && !before.isFile()) fs.writeFileSync(file, text);
    else put(before === undefined ? file : fs.realpathSync(file), text, before, () => {});
  } catch (error) {
    throw explain(error, file);
  }
}

/**
 * Temporary file beside the target, flushed, then renamed over it. `check` is asked right before
 * the rename and prevents it by throwing.
 */
function put(target: string, text: string, before: fs.Stats | undefined, check: () => void): void {
  const folder = path.dirname(target);
  const name = `.${path.basename(target)}.`;
  sweep(folder, name);
  const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  const temporary = path.join(folder, `${name}${unique}.tmp`);
  const file = fs.openSync(temporary, 'wx', before?.mode ?? 0o666);
  try {
    try {
      fs.writeFileSync(file, text);
      if (before !== undefined) keepOwner(file, before);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    check();
    fs.renameSync(temporary, target);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  flushFolder(folder);
}

/** How long a temporary file is left alone, in milliseconds: no write takes as long. */
const STALE = 60_000;

/** Removes the temporary files of processes that were killed before they could. */
function sweep(folder: string, name: string): void {
  let entries: string[];
  try {
    entries = fs.readdirSync(folder);
  } catch (error) {
    // A folder that may be written but not listed.
    if (codeOf(error) === 'EACCES') return;
    throw error;
  }
  for (const entry of entries) {
    if (!entry.startsWith(name) || !/^\d+-[\da-z]+\.tmp$/.test(entry.slice(name.length))) continue;
    const file = path.join(folder, entry);
    const found = fs.lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() && Date.now() - found.mtimeMs > STALE) fs.rmSync(file, { force: true });
  }
}

/** Gives the new file the owner and the mode of the old one, as far as the system lets us. */
function keepOwner(file: number, before: fs.Stats): void {
  const now = fs.fstatSync(file);
  if (now.uid !== before.uid || now.gid !== before.gid) {
    try {
      fs.fchownSync(file, before.uid, before.gid);
    } catch (error) {
      // Only root may give files away; without it the new file belongs to who wrote it.
      if (codeOf(error) !== 'EPERM') throw error;
    }
  }
  // The mode given at creation is cut by the umask; giving the file away clears set-id bits.
  fs.fchmodSync(file, before.mode & 0o7777);
}

/** Makes the rename itself durable. Some systems cannot flush a folder; the file is whole anyway. */
function flushFolder(folder: string): void {
  let handle: number | undefined;
  try {
    handle = fs.openSync(folder, 'r');
    fs.fsyncSync(handle);
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes(codeOf(error))) throw error;
  } finally {
    if (handle !== undefined) fs.closeSync(handle);
  }
}

/** The system's error as one line with a remedy. */
function explain(error: unknown, file: string): HostError {
  if (error instanceof HostError) return error;
  switch (codeOf(error)) {
    case 'ENOENT':
      return new HostError('missing', file, 'no such file', 'check the path');
    case 'ENOTDIR':
      return new HostError('missing', file, 'a part of the path is no folder', 'check the path');
    case 'EISDIR':
      return new HostError('directory', file, 'a folder', 'give a Markdown file in it');
    case 'EACCES':
    case 'EPERM':
      return new HostError('denied', file, 'permission denied', 'check the rights of the file');
    case 'EROFS':
      return new HostError('denied', file, 'the file system is read-only', 'copy the plan first');
    case 'ENAMETOOLONG':
      return new HostError('missing', file, 'the name is too long', 'check the path');
    case 'ELOOP':
      return new HostError('other', file, 'symbolic links in a circle', 'mend the link');
    case 'ENOSPC':
    case 'EDQUOT':
      return new HostError('no-space', file, 'no space left on the disk', 'make room');
    case 'EEXIST':
      return new HostError(
        'other',
        file,
        'a temporary file is in the way',
        'run the command again',
      );
    case 'ERR_FS_FILE_TOO_LARGE':
    case 'ERR_STRING_TOO_LONG':
      return new HostError('too-large', file, 'too large', 'split the plan');
    default: {
      const code = codeOf(error);
      const message = code === '' ? String(error) : `the system says ${code}`;
      return new HostError('other', file, message, 'check the file');
    }
  }
}

/** What went wrong with reading: whatever the cause, the input cannot be read. */
function unreadable(error: unknown, file: string): HostError {
  const known = explain(error, file);
  return known.reason === 'other'
    ? new HostError('unreadable', file, known.message, known.help)
    : known;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}
