/**
 * Compiled code of the bundles and of the module, kept from run to run.
 *
 * A command lives for some 25 ms longer than an empty Node process, and half of them would go into
 * compiling what has not changed since the last run. V8 can keep what it made of it.
 *
 * Node 22 can keep JavaScript by itself, but writes it as the umask says, for all to change.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { KeptFiles } from './kept-files.js';
import type * as Learning from './learning.js';
import { keepModules } from './module-cache.js';

/** Where in a file the code of a bundle is, and the checksum of the text it was made of. */
export type Place = readonly [offset: number, length: number, of: number];

/** A bundle that was compiled without kept code. */
export interface Fresh {
  name: string;
  script: Script;
  /** The checksum of its text. */
  of: number;
}

/** A file of kept code. */
export interface Kept {
  bytes: Buffer;
  places: Record<string, Place>;
}

/** A bundle that is loaded. */
interface Bundle {
  exports: object;
}

/** How commands end that came to their end, and how where their words were wrong. */
const [LEARNED, WRONG] = [[0, 1, 2, 3, 4], 2];

/** How a bundle asks for another. */
const BUNDLE = /^\.\/([\w-]+\.cjs)$/;

/** What stands before and behind a bundle's text. */
const [BEGIN, END] = ['(function (exports, require, module, __filename, __dirname) {', '\n})'];

/** The digits at the beginning of a file: of the length of the table that follows. */
export const LENGTH = 8;

/**
 * From now on loads the bundles beside a module, and the WebAssembly modules that they ask for, by
 * kept code, and keeps code for the next time.
 *
 * @param entry the module of the first bundle.
 * @param use what they are used for. Functions that a use does not call are not in its code.
 */
export function keepCode(entry: NodeJS.Module, use: string): void {
  const { env, execArgv } = process;
  // Code is bound to V8's settings, and some of these may set some; coverage needs whole functions.
  const isUnusual = env.NODE_OPTIONS || env.NODE_V8_COVERAGE || execArgv.length > 0;
  if (isUnusual || env.NODE_DISABLE_COMPILE_CACHE) return;
  const folder = dirname(entry.filename);
  const files = KeptFiles.of(dirname(folder));
  if (files === undefined) return;
  const plain = entry.require.bind(entry);
  // Most runs have nothing to learn. While the package is being replaced it may be gone.
  const learning = (): typeof Learning | undefined => {
    try {
      return plain('./learning.cjs');
    } catch {
      return undefined;
    }
  };
  const endModules = keepModules(files, use, learning);
  const kept = read(files, use);
  const fresh: Fresh[] = [];
  const taken = () => new Script('0').createCachedData();
  let settings = kept === undefined ? taken() : undefined;
  const loaded = new Map<string, Bundle>();
  // Node would look for each bundle by reading the package's file and a few folders.
  const load = (id: string): unknown => {
    const name = BUNDLE.exec(id)?.[1];
    if (name === undefined) return builtin(id) ?? plain(id);
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const path = join(folder, name);
    const whole = wrapped(path);
    // V8 checks no more of it than its length.
    const of = files.sum(whole);
    const place = kept?.places[name];
    const code =
      place?.[2] === of ? kept?.bytes.subarray(place[0], place[0] + place[1]) : undefined;
    const script = new Script(whole.toString(), {
      filename: path,
      ...(code === undefined ? {} : { cachedData: code }),
    });
    if (script.cachedDataRejected !== false) {
      settings ??= taken();
      fresh.push({ name, script, of });
    }
    const bundle: Bundle = { exports: {} };
    loaded.set(name, bundle);
    const run = script.runInThisContext();
    run.call(bundle.exports, bundle.exports, load, bundle, path, folder);
    return bundle.exports;
  };
  entry.require = load as NodeJS.Require;
  process.on('exit', (status) => {
    endModules(LEARNED.includes(status));
    // Wrong words are no use of a command.
    if (!LEARNED.includes(status) || status === WRONG || settings === undefined) return;
    // Made under other settings than at the start, it would be refused at every start. To V8 a text
    // is its length; of the very same text it would answer with what it has.
    const { cachedDataRejected } = new Script('1', { cachedData: settings });
    if (cachedDataRejected !== false) return;
    const made = learning();
    made?.begin(files, use)?.keep(made.packed(kept, fresh), files.ending(1, undefined));
  });
}

/** A module of Node's own; its search would look at more than the name. */
function builtin(id: string): unknown {
  return id.startsWith('node:') ? process.getBuiltinModule(id) : undefined;
}

/**
 * A bundle as the function that Node would make of it. Put together before it becomes a string:
 * V8 would make a second one of the parts.
 */
function wrapped(path: string): Buffer {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const text = Buffer.allocUnsafe(BEGIN.length + size + END.length);
    let end = text.write(BEGIN, 'latin1');
    for (let read = -1; read !== 0 && end < BEGIN.length + size; end += read) {
      read = readSync(fd, text, end, BEGIN.length + size - end, null);
    }
    return text.subarray(0, end + text.write(END, end, 'latin1'));
  } finally {
    closeSync(fd);
  }
}

/** What was kept; nothing where it is of another form. */
function read(files: KeptFiles, use: string): Kept | undefined {
  const bytes = files.read(use)?.bytes;
  if (bytes === undefined) return undefined;
  try {
    const end = LENGTH + Number(bytes.toString('latin1', 0, LENGTH));
    return { bytes, places: JSON.parse(bytes.toString('latin1', LENGTH, end)) };
  } catch {
    return undefined;
  }
}
