/** What makes writes durable and all or nothing: temporary files and flushed folders. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { codeOf } from './fault.js';

/**
 * Writes a text to a temporary file beside the target, flushed to disk; answers its path. It has
 * the owner and the mode of `before`, the file it will replace, if there is one. Where the write
 * fails nothing stays.
 */
export function writeBeside(target: string, text: string, before?: fs.Stats): string {
  const name = `.${path.basename(target)}.`;
  sweep(path.dirname(target), name);
  const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  const temporary = path.join(path.dirname(target), `${name}${unique}.tmp`);
  const file = fs.openSync(temporary, 'wx', before?.mode ?? 0o666);
  try {
    try {
      fs.writeFileSync(file, text);
      if (before !== undefined) keepOwner(file, before);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  return temporary;
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

/** Makes the folder of a file, and those above it, and their names durable. */
export function makeFolderOf(file: string): void {
  const folder = path.dirname(path.resolve(file));
  let first: string | undefined;
  try {
    first = fs.mkdirSync(folder, { recursive: true });
  } catch (error) {
    // A file lies where a folder belongs; the system calls that by another name at the end.
    if (codeOf(error) !== 'EEXIST') throw error;
    throw Object.assign(new Error('not a folder', { cause: error }), { code: 'ENOTDIR' });
  }
  if (first === undefined) return;
  for (let made = folder; ; made = path.dirname(made)) {
    flushFolder(path.dirname(made));
    if (made === path.resolve(first) || made === path.dirname(made)) return;
  }
}

/**
 * Makes durable which names a folder holds. Some systems cannot flush a folder; its files are
 * whole anyway.
 */
export function flushFolder(folder: string): void {
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
