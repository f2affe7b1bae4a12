/** What makes writes durable and all or nothing: temporary files and flushed folders. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from './fault.js';

/**
 * Writes a text to a temporary file beside the target, flushed to disk; answers its path. It has
 * the owner and the mode of `before`, the file it will replace, if there is one. Where the write
 * fails nothing stays.
 */
export function writeBeside(target: string, text: string, before?: Stats): string {
  const name = basename(target);
  sweep(dirname(target), name);
  const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  const temporary = join(dirname(target), `.${name}.${unique}.tmp`);
  const file = openSync(temporary, 'wx', before?.mode ?? 0o666);
  try {
    try {
      writeFileSync(file, text);
      if (before !== undefined) keepOwner(file, before);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return temporary;
}

/** How long a temporary file is left alone, in milliseconds: no write takes as long. */
const STALE = 60_000;

/** The temporary file of a target. */
const TEMPORARY = /^\.(.+)\.\d+-[\da-z]+\.tmp$/;

/**
 * Removes the temporary files of processes that were killed before they could: those of one
 * target, or, in a folder of okstra's own, of all.
 */
export function sweep(folder: string, target?: string): void {
  let entries: string[];
  try {
    entries = readdirSync(folder);
  } catch (error) {
    // A folder that may be written but not listed.
    if (codeOf(error) === 'EACCES') return;
    throw error;
  }
  for (const entry of entries) {
    const of = TEMPORARY.exec(entry)?.[1];
    if (of === undefined || (target !== undefined && of !== target)) continue;
    const file = join(folder, entry);
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() && Date.now() - found.mtimeMs > STALE) rmSync(file, { force: true });
  }
}

/** Gives the new file the owner and the mode of the old one, as far as the system lets us. */
function keepOwner(file: number, before: Stats): void {
  const now = fstatSync(file);
  if (now.uid !== before.uid || now.gid !== before.gid) {
    try {
      fchownSync(file, before.uid, before.gid);
    } catch (error) {
      // Only root may give files away; without it the new file belongs to who wrote it.
      if (codeOf(error) !== 'EPERM') throw error;
    }
  }
  // The mode given at creation is cut by the umask; giving the file away clears set-id bits.
  fchmodSync(file, before.mode & 0o7777);
}

/** Makes the folder of a file, and those above it, and their names durable. */
export function makeFolderOf(file: string): void {
  const folder = dirname(resolve(file));
  const first = makeFolder(folder);
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    flushFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

/**
 * Makes a folder and those above it; answers the first that was not there. Node's own way hides
 * why it fails, and where a folder says that there is no such file (`/proc`) it never ends.
 */
export function makeFolder(folder: string, mode = 0o777): string | undefined {
  const code = tryFolder(folder, mode);
  if (code !== 'ENOENT') return code === '' ? folder : undefined;
  const above = dirname(folder);
  const first = above === folder ? undefined : makeFolder(above, mode);
  if (tryFolder(folder, mode) === 'ENOENT') {
    throw Object.assign(new Error('no such folder'), { code: 'ENOENT' });
  }
  return first ?? folder;
}

/** Makes one folder: `''` where it was made, else why not, where that is no fault. */
function tryFolder(folder: string, mode: number): '' | 'EEXIST' | 'ENOENT' {
  try {
    mkdirSync(folder, { mode });
    return '';
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return code;
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) return 'EEXIST';
    if (code !== 'EEXIST') throw error;
    // A file lies where a folder belongs; the system calls that by another name at the end.
    throw Object.assign(new Error('not a folder', { cause: error }), { code: 'ENOTDIR' });
  }
}

/**
 * Makes durable which names a folder holds. Some systems cannot flush a folder; its files are
 * whole anyway.
 */
export function flushFolder(folder: string): void {
  let handle: number | undefined;
  try {
    handle = openSync(folder, 'r');
    fsyncSync(handle);
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes(codeOf(error))) throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
