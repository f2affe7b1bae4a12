/** Taking away what okstra has put somewhere. */
import { readFileSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { flushFolder } from './durable.js';
import { codeOf, explain } from './fault.js';
import { HostError } from './host.js';

/** What a folder that stays says: something is in it, or it is gone, or is none, or holds a mount. */
const STAYS = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY'];

/** Takes a file away that still holds `was`. See {@link Host.removeFile}. */
export function removeFile(file: string, was: Uint8Array): void {
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return;
    if (!readFileSync(file).equals(was)) {
      throw new HostError(
        'changed',
        file,
        'changed while okstra worked on it',
        'it was not removed; run the command again',
      );
    }
    // Of a link this is the link itself.
    unlinkSync(file);
    flushFolder(dirname(file));
  } catch (error) {
    throw explain(error, file);
  }
}

/** Takes an empty folder away. See {@link Host.removeFolder}. */
export function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
    flushFolder(dirname(folder));
  } catch (error) {
    if (!STAYS.includes(codeOf(error))) throw explain(error, folder);
  }
}
