/** Making a file that must not be there yet. */
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { flushFolder, makeFolderOf, sweep, writeBeside } from './durable.js';
import { codeOf, explain, RECORD } from './fault.js';
import { HostError } from './host.js';

/** What systems say where the file system has no hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Makes a file that is not there yet, all or nothing. See {@link Host.writeNew}. */
export function writeNew(file: string, text: string): void {
  try {
    makeFolderOf(file);
    // Nobody writes the same file again, so nobody else would sweep up after a killed process.
    sweep(dirname(file));
    const temporary = writeBeside(file, text);
    try {
      place(temporary, file, text);
    } finally {
      rmSync(temporary, { force: true });
    }
    flushFolder(dirname(file));
  } catch (error) {
    throw explain(error, file, RECORD);
  }
}

/** Unlike a rename, a link never replaces: of two writers one is told that the file exists. */
function place(temporary: string, file: string, text: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw exists(file);
    if (!NO_LINKS.includes(codeOf(error))) throw error;
    writeInPlace(file, text);
  }
}

/** The next best thing: never replaces either, but a process killed half-way leaves half a file. */
function writeInPlace(file: string, text: string): void {
  let handle: number;
  try {
    handle = openSync(file, 'wx', 0o666);
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? exists(file) : error;
  }
  try {
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

function exists(file: string): HostError {
  return new HostError(
    'exists',
    file,
    'exists already',
    'nothing was written; read it, or move it away if it is wrong',
  );
}
