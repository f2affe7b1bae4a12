/** Reading only what may be read: regular files of a known folder, of a known size. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { sep } from 'node:path';
import { codeOf, RECORD, unreadable } from '../fault.js';
import { HostError } from '../host.js';
import { realPath } from '../paths.js';
import type { Piece } from './serving.js';

/** A pipe in the place of a file is not waited for, and a link that came meanwhile not followed. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** See {@link Serving.readWithin}. */
export function readWithin(folder: string, path: string, most: number): Piece {
  // Taken before anything is read: what happens from now on gives another one.
  const stamp = stampOf(path);
  const real = realPath(path);
  const start = realPath(folder);
  if (!real.startsWith(start.endsWith(sep) ? start : `${start}${sep}`)) {
    throw new HostError('refused', path, 'a link that leaves the project', 'remove the link');
  }
  let file: number | undefined;
  try {
    file = openSync(real, FLAGS);
    const found = fstatSync(file, { bigint: true });
    const now = statSync(realPath(path), { bigint: true, throwIfNoEntry: false });
    // Between the look and the opening a folder may have become a link.
    if (now?.dev !== found.dev || now.ino !== found.ino) return { bytes: undefined, stamp: '' };
    if (found.isDirectory()) throw unreadable({ code: 'EISDIR' }, path, RECORD);
    if (!found.isFile()) {
      throw new HostError('refused', path, 'not a regular file', 'a file belongs there');
    }
    if (found.size > BigInt(most)) throw tooLarge(path, most);
    return { bytes: readAll(file, Number(found.size), path, most), stamp };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { bytes: undefined, stamp };
    if (['ENXIO', 'ENODEV', 'EOPNOTSUPP'].includes(codeOf(error))) {
      throw new HostError('refused', path, 'not a regular file', 'a file belongs there');
    }
    throw unreadable(error, path, RECORD);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads to the end, which may have moved since the size was asked for. */
function readAll(file: number, size: number, path: string, most: number): Uint8Array {
  let bytes = Buffer.allocUnsafe(size + 1);
  for (let done = 0; ; ) {
    const read = readSync(file, bytes, done, bytes.length - done, null);
    done += read;
    if (read === 0) return bytes.subarray(0, done);
    if (done > most) throw tooLarge(path, most);
    if (done === bytes.length) bytes = Buffer.concat([bytes], done * 2);
  }
}

function tooLarge(path: string, most: number): HostError {
  const limit = `larger than ${Math.round(most / 1_048_576)} MiB`;
  return new HostError('too-large', path, limit, 'it is not shown');
}

/** See {@link Serving.stamp}. */
export function stampOf(path: string): string {
  try {
    const own = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (own === undefined) return '';
    if (!own.isSymbolicLink()) return text(own);
    const target = statSync(path, { bigint: true, throwIfNoEntry: false });
    return `${text(own)} ${target === undefined ? '' : text(target)}`;
  } catch (error) {
    return codeOf(error);
  }
}

function text({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
