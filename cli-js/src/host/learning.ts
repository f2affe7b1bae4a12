/** Keeping compiled code: what only those runs need that have something to keep. */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Fresh, type Kept, LENGTH, type Place } from './code-cache.js';
import { digits, type KeptFiles } from './kept-files.js';
import { native } from './module-cache.js';

/** V8 copies code that does not begin at a multiple of this. */
const ALIGNED = 8;

/** V8's code of a module. */
type Serialize = (module: WebAssembly.Module) => ArrayBuffer | undefined;

/** More than the commands and events make: what is beyond has names that nobody foresaw. */
const MOST_FILES = 400;

/** The name of a draft: a process and a chance. */
const DRAFT = /\.\d+-[a-z\d]*$/;

/** A draft is renamed within a second; one as old as this was left by a process that died. */
const DRAFT_MS = 60_000;

/** A version of Node and a processor. */
const VERSION = /^v\d+\.\d+\.\d+-\w+$/;

/** A version for which nothing was kept as long as this is out of use. */
const UNUSED_MS = 30 * 24 * 3_600_000;

const RECURSIVE = { recursive: true, force: true };

/**
 * Begins a file of kept code; nothing where none can be made, so that nothing has to be made for it.
 *
 * @param room the bytes for which there has to be room on the disk.
 */
export function begin(files: KeptFiles, name: string, room = 0): Draft | undefined {
  // Another's files in it would keep its owner from taking the package away.
  if (process.getuid !== undefined && process.getuid() !== files.owner) return undefined;
  const path = join(files.folder, name);
  try {
    const isNew = mkdirSync(files.folder, { recursive: true, mode: 0o755 }) !== undefined;
    if (!files.isSafeFolder() || !hasRoom(files, path)) return undefined;
    if (isNew) forgetOthers(files);
    // Processes of two containers have the same numbers.
    const chance = Math.random().toString(36).slice(2);
    const draft = `${path}.${process.pid}-${chance}`;
    const fd = openSync(draft, 'wx', 0o644);
    const begun = new Draft(fd, draft, path, (...parts) => digits(files.sum(...parts)));
    return begun.reserve(room) ? begun : undefined;
  } catch {
    return undefined;
  }
}

/** Takes away what was kept for versions of Node that are in use no more. */
function forgetOthers(files: KeptFiles): void {
  for (const name of readdirSync(files.cache)) {
    const path = join(files.cache, name);
    const isOther = VERSION.test(name) && path !== files.folder;
    if (isOther && Date.now() - changed(path) > UNUSED_MS) rmSync(path, RECURSIVE);
  }
}

/** Whether a file may be made or replaced. Drafts that were left are taken away. */
function hasRoom(files: KeptFiles, file: string): boolean {
  let count = 0;
  for (const name of readdirSync(files.folder)) {
    const path = join(files.folder, name);
    if (!DRAFT.test(name)) count += path === file ? 0 : 1;
    else if (Date.now() - changed(path) > DRAFT_MS) remove(path);
  }
  return count < MOST_FILES;
}

/** A file that is being made. It takes its name when it is whole. */
class Draft {
  readonly #fd: number;
  #isOpen = true;
  readonly #draft: string;
  readonly #path: string;
  readonly #sum: (...parts: readonly Uint8Array[]) => string;

  constructor(
    fd: number,
    draft: string,
    path: string,
    sum: (...parts: readonly Uint8Array[]) => string,
  ) {
    this.#fd = fd;
    this.#draft = draft;
    this.#path = path;
    this.#sum = sum;
  }

  /** Takes room on the disk; where there is none, nothing is left. */
  reserve(bytes: number): boolean {
    try {
      writeAll(this.#fd, Buffer.alloc(bytes), 0);
      return true;
    } catch {
      this.drop();
      return false;
    }
  }

  /** @param end what the file ends with, but for its checksum. */
  keep(bytes: Uint8Array, end: Uint8Array): void {
    try {
      let length = 0;
      for (const part of [bytes, end, Buffer.from(this.#sum(bytes, end))]) {
        length = writeAll(this.#fd, part, length);
      }
      ftruncateSync(this.#fd, length);
      // After a power cut it is all there, or nothing is.
      fsyncSync(this.#fd);
      this.#close();
      renameSync(this.#draft, this.#path);
    } catch {
      // The command has done its work; another time will do.
      this.drop();
    }
  }

  drop(): void {
    remove(this.#draft);
    try {
      this.#close();
    } catch {
      // Nothing of it is wanted.
    }
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#fd);
  }
}

export type { Draft };

/** When a file was changed last; one that is gone has just been. */
function changed(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

/** Writes all of the bytes at a place; answers where they end. */
function writeAll(fd: number, bytes: Uint8Array, place: number): number {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(fd, bytes, at, bytes.length - at, place + at);
  }
  return place + bytes.length;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another has done so.
  }
}

/** A file: length of the table, table, then the code of each bundle. */
export function packed(kept: Kept | undefined, fresh: readonly Fresh[]): Buffer {
  const parts: { name: string; of: number; bytes: Uint8Array }[] = fresh.map(
    ({ script, ...rest }) => ({ ...rest, bytes: script.createCachedData() }),
  );
  for (const [name, [offset, length, of]] of Object.entries(kept?.places ?? {})) {
    if (parts.some((part) => part.name === name)) continue;
    const bytes = (kept as Kept).bytes.subarray(offset, offset + length);
    parts.push({ name, of, bytes });
  }
  const table = (start: number) => {
    let offset = start;
    const places: Record<string, Place> = {};
    for (const { name, bytes, of } of parts) {
      places[name] = [offset, bytes.length, of];
      offset = aligned(offset + bytes.length);
    }
    return JSON.stringify(places);
  };
  // Room for offsets that are longer than those from nought.
  const start = aligned(LENGTH + table(0).length + parts.length * LENGTH);
  const text = table(start);
  const head = Buffer.alloc(start);
  head.write(`${text.length}`.padStart(LENGTH, '0') + text, 'latin1');
  const codes = parts.map(({ bytes }) => Buffer.concat([bytes], aligned(bytes.length)));
  return Buffer.concat([head, ...codes]);
}

const aligned = (value: number): number => Math.ceil(value / ALIGNED) * ALIGNED;

/** V8's code of what was called in a module; nothing where V8 gives none. */
export function serialized(module: WebAssembly.Module): Buffer | undefined {
  return native('(module) => %SerializeWasmModule(module)', (run: Serialize) => {
    const code = run(module);
    return code === undefined ? undefined : Buffer.from(code);
  });
}
