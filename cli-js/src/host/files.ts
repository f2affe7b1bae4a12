/** Reading and replacing files. */
import {
  accessSync,
  constants,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { flushFolder, writeBeside } from './durable.js';
import { codeOf, explain, OUTPUT, RECORD, unreadable } from './fault.js';
import { HostError } from './host.js';
import { pause } from './terminal.js';

/** Reads a whole file. */
export function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(error, file);
  }
}

/** See {@link Host.readIfThere}. */
export function readIfThere(file: string): Uint8Array | undefined {
  try {
    // Asked first: an exception costs more than the rest of it.
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    // A pipe in its place would be waited for.
    if (!found.isFile() && !found.isDirectory()) {
      throw new HostError('unreadable', file, 'not a regular file', 'a file belongs there');
    }
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadable(error, file, RECORD);
  }
}

/** Reads standard input to its end, also where it is a pipe that does not block. */
export function readStdin(): Uint8Array {
  const chunks: Buffer[] = [];
  // Most inputs are small, and fresh memory is what costs most here.
  for (let size = 4_096; ; size = Math.min(size * 2, 1_048_576)) {
    const chunk = Buffer.allocUnsafe(size);
    try {
      const read = readSync(0, chunk);
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
    const target = realpathSync(file);
    const before = statSync(target);
    if (!before.isFile()) {
      throw new HostError('other', file, 'not a regular file', 'give a file that can be replaced');
    }
    // Renaming asks for the rights of the folder only; a file set to read-only is meant to stay.
    accessSync(target, constants.W_OK);
    put(target, text, before, () => {
      if (!readFileSync(target).equals(was)) {
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
      return statSync(file, { throwIfNoEntry: false });
    } catch (error) {
      throw explain(error, file);
    }
  });
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Writes a file, new or not. See {@link Host.writeFile}. */
export function writeFile(file: string, text: string): void {
  try {
    const before = statSync(file, { throwIfNoEntry: false });
    // A device or a pipe (/dev/stdout) cannot be renamed over; it is written in place.
    if (before !== undefined && !before.isFile()) writeFileSync(file, text);
    else put(before === undefined ? file : realpathSync(file), text, before, () => {});
  } catch (error) {
    throw explain(error, file, OUTPUT);
  }
}

/**
 * Temporary file beside the target, flushed, then renamed over it. `check` is asked right before
 * the rename and prevents it by throwing.
 */
function put(target: string, text: string, before: Stats | undefined, check: () => void): void {
  const temporary = writeBeside(target, text, before);
  try {
    check();
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  // Makes the rename itself durable.
  flushFolder(dirname(target));
}
