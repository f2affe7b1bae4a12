/** Adding a row to a ledger: one line, one write, on disk before it returns. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { flushFolder, makeFolderOf } from './durable.js';
import { codeOf, explain, RECORD } from './fault.js';
import { HostError } from './host.js';

const LINE_FEED = 0x0a;

/**
 * Appends a line. See {@link Host.append}.
 *
 * The caller holds the ledger's lock: what fails half-way is undone by cutting the file back to
 * the size it had, which would take the rows of others with it.
 */
export function appendLine(file: string, line: string): void {
  const text = line.endsWith('\n') ? line.slice(0, -1) : line;
  if (text.includes('\n')) throw new Error('a row of a ledger is one line');
  try {
    const { handle, isNew } = open(file);
    try {
      const { size } = fstatSync(handle);
      // A writer that was killed, or an editor, may have left the last line without its end.
      const start = size > 0 && lastByte(handle, size) !== LINE_FEED ? '\n' : '';
      add(handle, Buffer.from(`${start}${text}\n`), size, file);
      if (isNew) flushFolder(dirname(realpathSync(file)));
    } catch (error) {
      if (isNew) remove(file);
      throw error;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw explain(error, file, RECORD);
  }
}

/** Takes a ledger away that was made for a row it did not get. */
function remove(file: string): void {
  try {
    rmSync(realpathSync(file));
  } catch {
    // Why there is no row matters more, and an empty ledger is as good as none.
  }
}

/** Opens a file to append to it and to read its end; makes it and its folders where missing. */
function open(file: string): { handle: number; isNew: boolean } {
  // Without O_NONBLOCK a pipe in the ledger's place would be waited for.
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK = 0 } = constants;
  const flags = O_RDWR | O_APPEND | O_NONBLOCK;
  let handle: number;
  let isNew = false;
  try {
    handle = openSync(file, flags);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeFolderOf(file);
    try {
      handle = openSync(file, flags | O_CREAT | O_EXCL, 0o666);
      isNew = true;
    } catch (made) {
      // Somebody else has made it meanwhile: then it is not ours to take away again.
      if (codeOf(made) !== 'EEXIST') throw made;
      handle = openSync(file, flags | O_CREAT, 0o666);
    }
  }
  if (!fstatSync(handle).isFile()) {
    closeSync(handle);
    throw new HostError('other', file, 'not a regular file', 'a file belongs there; move it away');
  }
  return { handle, isNew };
}

function lastByte(handle: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, size - 1);
  return byte[0];
}

/** One write, flushed. Where it fails or is cut short the file is as before. */
function add(handle: number, bytes: Buffer, size: number, file: string): void {
  try {
    if (writeSync(handle, bytes) < bytes.length) {
      // The system writes the part there is room for.
      throw new HostError('no-space', file, 'no space left on the disk', 'make room');
    }
    fsyncSync(handle);
  } catch (error) {
    const { reason, message, help } = explain(error, file, RECORD);
    throw new HostError(
      reason,
      file,
      message,
      undo(handle, size) ?? `nothing was written; ${help}`,
    );
  }
}

/** Cuts a file back to the size it had; answers what to tell where that fails as well. */
function undo(handle: number, size: number): string | undefined {
  try {
    ftruncateSync(handle, size);
    fsyncSync(handle);
    return undefined;
  } catch (error) {
    return `a part of the row may have stayed (cutting it off fails: ${codeOf(error)}); check the disk and the last line`;
  }
}
