/** What lies where. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { codeOf, explain, RECORD, unreadable } from './fault.js';

/** The names in a folder. See {@link Host.list}. */
export function list(folder: string): string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw unreadable(error, folder, RECORD);
  }
}

/** The one path of a file, there or not. See {@link Host.realPath}. */
export function realPath(file: string): string {
  try {
    return resolve(path.resolve(file), 0);
  } catch (error) {
    throw explain(error, file, RECORD);
  }
}

/** As many links as Linux follows. */
const LINKS = 40;

/** `file` is absolute. */
function resolve(file: string, links: number): string {
  try {
    // The system's own, which knows the case of names where the file system ignores it.
    return fs.realpathSync.native(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const above = path.dirname(file);
    if (above === file) throw error;
    const target = linkTarget(file);
    // A link whose target is not there yet names the same file as the target does.
    if (target !== undefined) {
      if (links === LINKS) throw Object.assign(new Error('links'), { code: 'ELOOP', cause: error });
      return resolve(path.resolve(resolve(above, links), target), links + 1);
    }
    return path.join(resolve(above, links), path.basename(file));
  }
}

/** Where a symbolic link leads, `undefined` where there is none. */
function linkTarget(file: string): string | undefined {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()
    ? fs.readlinkSync(file)
    : undefined;
}
