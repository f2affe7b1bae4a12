/**
 * Compiled code, kept in files from run to run.
 *
 * V8 runs the code it is given and checks no more than its header. So the code lies in the package,
 * in `.cache`, and is read and written only where nobody can change it who cannot change the
 * bundles: by their owner, in files that nobody else may write. A checksum tells what a disk or a
 * copy has damaged. Where there is no such place nothing is kept, and everything works all the same.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { binding } from '../../../npm-package/src/engine.js';

/** Node's zlib, of which only this is used. */
interface Sums {
  crc32(bytes: Uint8Array, start: number): number;
}

/** More than the commands and events make: what is beyond has names that nobody foresaw. */
const MOST_FILES = 400;

/** More than all bundles or the whole module make. */
const MOST_BYTES = 16_000_000;

/** The name of a draft: a process and a chance. */
const DRAFT = /\.\d+-[a-z\d]*$/;

/** A draft is renamed within a second; one as old as this was left by a process that died. */
const DRAFT_MS = 60_000;

/** A version of Node and a processor. */
const VERSION = /^v\d+\.\d+\.\d+-\w+$/;

/** A version for which nothing was kept as long as this is out of use. */
const UNUSED_MS = 30 * 24 * 3_600_000;

const RECURSIVE = { recursive: true, force: true };

/** The digits at the end of a file: how often it was written, and the checksum of all before. */
const [TIMES, SUM] = [2, 10];

/** A file that is there and whole. */
interface KeptFile {
  /** In a buffer of its own. */
  bytes: Buffer;
  /** How often it was written, at most 99. */
  times: number;
  /** When it was written, in milliseconds of the system's time. */
  written: number;
}

/** The kept code of a package. */
export class KeptFiles {
  readonly #cache: string;
  readonly #folder: string;
  readonly #owner: number;
  readonly #sums: Sums;
  /** Nobody can make it unsafe but those who may. */
  #isSeenSafe = false;

  private constructor(home: string, sums: Sums) {
    this.#cache = join(home, '.cache');
    this.#folder = join(this.#cache, `${process.version}-${process.arch}`);
    this.#owner = statSync(home).uid;
    this.#sums = sums;
  }

  /** Where a package is no folder of a file system, as in some archives, there is no place. */
  static of(home: string): KeptFiles | undefined {
    try {
      const sums = binding<Sums>('zlib');
      return sums === undefined ? undefined : new KeptFiles(home, sums);
    } catch {
      return undefined;
    }
  }

  /** Whether only the owner of the package can have changed something. Windows has no such modes. */
  #isSafe({ uid, mode }: Stats): boolean {
    return process.getuid === undefined || (uid === this.#owner && (mode & 0o022) === 0);
  }

  #isSafeFolder(): boolean {
    this.#isSeenSafe = [this.#cache, this.#folder].every((path) => {
      const stats = lstatSync(path);
      return stats.isDirectory() && this.#isSafe(stats);
    });
    return this.#isSeenSafe;
  }

  /** The checksum of all of this. */
  sum(...parts: readonly Uint8Array[]): number {
    return parts.reduce((sum, part) => this.#sums.crc32(part, sum), 0);
  }

  /**
   * What was kept; nothing where it is not there, not safe or damaged.
   *
   * @param of what the code was made of, if it is bound to it.
   */
  read(name: string, of: Uint8Array = Buffer.alloc(0)): KeptFile | undefined {
    let fd: number | undefined;
    try {
      if (!this.#isSeenSafe && !this.#isSafeFolder()) return undefined;
      // A pipe in its place would be waited for; Windows knows neither.
      const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
      fd = openSync(join(this.#folder, name), O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
      const stats = fstatSync(fd);
      if (!stats.isFile() || stats.size > MOST_BYTES || !this.#isSafe(stats)) return undefined;
      const bytes = part(fd, stats.size - TIMES - SUM);
      const [times, sum] = [part(fd, TIMES), part(fd, SUM)];
      if (sum.toString('latin1') !== digits(this.sum(of, bytes, times), SUM)) return undefined;
      return { bytes, times: Number(times.toString('latin1')), written: stats.mtimeMs };
    } catch {
      // There is none, as a rule.
      return undefined;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /**
   * Begins a file; nothing where none can be made, so that nothing has to be made for it.
   *
   * @param room the bytes for which there has to be room on the disk.
   */
  begin(name: string, room = 0): Draft | undefined {
    // Another's files in it would keep its owner from taking the package away.
    if (process.getuid !== undefined && process.getuid() !== this.#owner) return undefined;
    const path = join(this.#folder, name);
    try {
      const isNew = mkdirSync(this.#folder, { recursive: true, mode: 0o755 }) !== undefined;
      if (!this.#isSafeFolder() || !this.#hasRoom(path)) return undefined;
      if (isNew) this.#forgetOthers();
      // Processes of two containers have the same numbers.
      const chance = Math.random().toString(36).slice(2);
      const draft = `${path}.${process.pid}-${chance}`;
      const fd = openSync(draft, 'wx', 0o644);
      const begun = new Draft(fd, draft, path, (...parts) => digits(this.sum(...parts), SUM));
      return begun.reserve(room) ? begun : undefined;
    } catch {
      return undefined;
    }
  }

  /** Takes away what was kept for versions of Node that are in use no more. */
  #forgetOthers(): void {
    for (const name of readdirSync(this.#cache)) {
      const path = join(this.#cache, name);
      const isOther = VERSION.test(name) && path !== this.#folder;
      if (isOther && Date.now() - changed(path) > UNUSED_MS) rmSync(path, RECURSIVE);
    }
  }

  /** Whether a file may be made or replaced. Drafts that were left are taken away. */
  #hasRoom(file: string): boolean {
    let count = 0;
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      if (!DRAFT.test(name)) count += path === file ? 0 : 1;
      else if (Date.now() - changed(path) > DRAFT_MS) remove(path);
    }
    return count < MOST_FILES;
  }
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

  /**
   * @param times how often the file will have been written.
   * @param of what the code was made of, if it is bound to it.
   */
  keep(bytes: Uint8Array, times: number, of: Uint8Array = Buffer.alloc(0)): void {
    try {
      const count = Buffer.from(digits(Math.min(times, 99), TIMES));
      let length = 0;
      for (const part of [bytes, count, Buffer.from(this.#sum(of, bytes, count))]) {
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

const digits = (value: number, count: number): string => `${value}`.padStart(count, '0');

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

/** As many of the next bytes of a file; fewer where it is cut off. */
function part(fd: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (let read = -1; read !== 0 && at < length; at += read)
    read = readSync(fd, bytes, at, length - at, null);
  return bytes.subarray(0, at);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another has done so.
  }
}
