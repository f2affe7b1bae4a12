/** What lies where. */
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, explain, RECORD, unreadable } from './fault.js';

/** The names in a folder. See {@link Host.list}. */
export function list(folder: string): string[] {
  try {
    // Asked first: an exception costs more than the rest of it.
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw unreadable(error, folder, RECORD);
  }
}

/** Whether there is anything of this name. See {@link Host.exists}. */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at is not there for us.
    return false;
  }
}

/** Whether there is a regular file of this name. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // what cannot be looked at is no file for us
  }
}

/** The one path of a file, there or not. See {@link Host.realPath}. */
export function realPath(file: string): string {
  try {
    return follow(resolve(file), 0);
  } catch (error) {
    throw explain(error, file, RECORD);
  }
}

/** As many links as Linux follows. */
const LINKS = 40;

/** `file` is absolute. */
function follow(file: string, links: number): string {
  try {
    // The system's own, which knows the case of names where the file system ignores it.
    return realpathSync.native(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const above = dirname(file);
    if (above === file) throw error;
    const target = linkTarget(file);
    // A link whose target is not there yet names the same file as the target does.
    if (target !== undefined) {
      if (links === LINKS) throw Object.assign(new Error('links'), { code: 'ELOOP', cause: error });
      return follow(resolve(follow(above, links), target), links + 1);
    }
    return join(follow(above, links), basename(file));
  }
}

/** Where a symbolic link leads, `undefined` where there is none. */
function linkTarget(file: string): string | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()
    ? readlinkSync(file)
    : undefined;
}
