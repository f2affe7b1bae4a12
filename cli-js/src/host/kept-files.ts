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
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { binding } from '../../../npm-package/src/engine.js';

/** Node's zlib, of which only this is used. */
interface Sums {
  crc32(bytes: Uint8Array, start: number): number;
}

/** More than all bundles or the whole module make. */
const MOST_BYTES = 16_000_000;

/**
 * The digits at the end of a file: how often it was written; which file the code is of and the
 * checksum of that file, or nought where it is bound to none; the checksum of all before.
 */
const [TIMES, SUM] = [2, 10];

/** The digits at the end. */
const END = TIMES + 3 * SUM;

/** What code was made of. */
export interface Source {
  bytes: Uint8Array<ArrayBuffer>;
  /**
   * The checksum of what the system says of the file: while that stays the same nobody has written
   * to it, and the bytes need not be looked at, which takes as long as reading them.
   */
  state: number;
}

/** The shortest time between two changes of a file that the system surely tells apart. */
const TICK_MS = 2000;

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
  readonly cache: string;
  /** Those of this version of Node. */
  readonly folder: string;
  /** The user whose the package is. */
  readonly owner: number;
  readonly #sums: Sums;
  /** Nobody can make it unsafe but those who may. */
  #isSeenSafe = false;

  private constructor(home: string, sums: Sums) {
    this.cache = join(home, '.cache');
    this.folder = join(this.cache, `${process.version}-${process.arch}`);
    this.owner = statSync(home).uid;
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
    return process.getuid === undefined || (uid === this.owner && (mode & 0o022) === 0);
  }

  /** Whether nobody but the owner can have changed which files there are. */
  isSafeFolder(): boolean {
    this.#isSeenSafe = [this.cache, this.folder].every((path) => {
      const stats = lstatSync(path);
      return stats.isDirectory() && this.#isSafe(stats);
    });
    return this.#isSeenSafe;
  }

  /** The checksum of all of this. */
  sum(...parts: readonly Uint8Array[]): number {
    return parts.reduce((sum, part) => this.#sums.crc32(part, sum), 0);
  }

  /** Reads a file that code is or will be of. */
  source(path: string): Source {
    // The process may stand still at any moment, so what is told from now on is told by this time.
    const now = Date.now();
    const fd = openSync(path, 'r');
    try {
      const before = fstatSync(fd);
      const bytes = part(fd, before.size);
      const state = stateOf(before);
      const isSettled = now - Math.max(before.mtimeMs, before.ctimeMs) > TICK_MS;
      const isSame = stateOf(fstatSync(fd)) === state;
      return { bytes, state: isSettled && isSame ? this.sum(Buffer.from(state)) : 0 };
    } finally {
      closeSync(fd);
    }
  }

  /** What stands at the end of a file, but for the checksum of it all. */
  ending(times: number, of: Source | undefined): Buffer {
    const state = of?.state ?? 0;
    const sum = of === undefined ? 0 : this.sum(of.bytes);
    const count = Math.min(times, 10 ** TIMES - 1);
    return Buffer.from(digits(count, TIMES) + digits(state, SUM) + digits(sum, SUM));
  }

  /**
   * What was kept; nothing where it is not there, not safe or damaged.
   *
   * @param of what the code has to be of, if it is bound to it.
   */
  read(name: string, of?: Source): KeptFile | undefined {
    let fd: number | undefined;
    try {
      if (!this.#isSeenSafe && !this.isSafeFolder()) return undefined;
      // A pipe in its place would be waited for; Windows knows neither.
      const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
      fd = openSync(join(this.folder, name), O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
      const stats = fstatSync(fd);
      if (!stats.isFile() || stats.size > MOST_BYTES || !this.#isSafe(stats)) return undefined;
      const bytes = part(fd, stats.size - END);
      const end = part(fd, END);
      const number = (from: number, count: number) =>
        Number(end.toString('latin1', from, from + count));
      if (number(END - SUM, SUM) !== this.sum(bytes, end.subarray(0, END - SUM))) return undefined;
      const state = number(TIMES, SUM);
      const isSame = of === undefined || (state !== 0 && state === of.state);
      if (!isSame && number(TIMES + SUM, SUM) !== this.sum(of.bytes)) return undefined;
      return { bytes, times: number(0, TIMES), written: stats.mtimeMs };
    } catch {
      // There is none, as a rule.
      return undefined;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
}

/** What tells a file from all others and from what it was before it was last written to. */
function stateOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join();
}

/** A number as so many digits. */
export const digits = (value: number, count = SUM): string => `${value}`.padStart(count, '0');

/** As many of the next bytes of a file; fewer where it is cut off. */
function part(fd: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (let read = -1; read !== 0 && at < length; at += read)
    read = readSync(fd, bytes, at, length - at, null);
  return bytes.subarray(0, at);
}
