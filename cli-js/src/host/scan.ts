/** Reading files of any size: only what is looked for is kept. */
import { closeSync, openSync, readSync } from 'node:fs';
import { codeOf, RECORD, unreadable } from './fault.js';

/** How much is read at once. */
const CHUNK = 4 * 1024 * 1024;

/** A line longer than this is passed over. */
const LONGEST = 64 * 1024 * 1024;

/** What a reading had to leave out. */
export interface Scanned {
  /** The lines that were too long. */
  passedOver: number;
}

/**
 * Reads a file piece by piece and hands on the lines that hold a word, many at once; `undefined`
 * where there is no file. What is kept in memory does not grow with the file.
 * @throws HostError
 */
export function scanLines(
  path: string,
  word: string,
  found: (lines: Uint8Array) => void,
): Scanned | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadable(error, path, RECORD);
  }
  try {
    return scan(file, Buffer.from(word), found);
  } catch (error) {
    throw codeOf(error) === '' ? error : unreadable(error, path, RECORD);
  } finally {
    closeSync(file);
  }
}

function scan(file: number, word: Buffer, found: (lines: Uint8Array) => void): Scanned {
  let buffer = Buffer.allocUnsafe(CHUNK);
  let kept = 0;
  let passedOver = 0;
  let isInside = false;
  for (;;) {
    if (kept === buffer.length) {
      if (buffer.length < LONGEST) buffer = Buffer.concat([buffer], buffer.length * 2);
      else {
        if (!isInside) passedOver += 1;
        isInside = true;
        kept = 0;
      }
    }
    const read = readSync(file, buffer, kept, buffer.length - kept, null);
    const end = kept + read;
    let start = 0;
    if (isInside) {
      const line = buffer.subarray(0, end).indexOf(0x0a);
      if (line < 0 && read > 0) {
        kept = 0;
        continue;
      }
      isInside = false;
      start = line < 0 ? end : line + 1;
    }
    const last = read === 0 ? end : buffer.subarray(0, end).lastIndexOf(0x0a) + 1;
    if (last > start) hand(buffer.subarray(start, last), word, found);
    if (read === 0) return { passedOver };
    // The beginning of a line whose end is not read yet.
    const rest = Math.max(start, last);
    buffer.copy(buffer, 0, rest, end);
    kept = end - rest;
  }
}

/** Hands on those of whole lines that hold the word. */
function hand(lines: Buffer, word: Buffer, found: (lines: Uint8Array) => void): void {
  const parts: Buffer[] = [];
  for (let at = lines.indexOf(word); at >= 0; ) {
    const start = lines.lastIndexOf(0x0a, at) + 1;
    const end = lines.indexOf(0x0a, at);
    const next = end < 0 ? lines.length : end + 1;
    parts.push(lines.subarray(start, next));
    at = next < lines.length ? lines.indexOf(word, next) : -1;
  }
  if (parts.length > 0) found(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
}

/** The beginning of a file; empty where there is none or it may not be read. */
export function readStart(path: string, bytes: number): Uint8Array {
  try {
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(bytes);
      return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    // It is only looked at to find out whose it is.
    return new Uint8Array();
  }
}
