/**
 * Compiled code of the bundles and of the module, kept from run to run.
 *
 * A command lives for some 25 ms longer than an empty Node process, and half of them would go into
 * compiling what has not changed since the last run. V8 can keep what it made of it.
 *
 * Node 22 can keep JavaScript by itself, but writes it as the umask says, for all to change.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { KeptFiles } from './kept-files.js';
import { keepModules } from './module-cache.js';

/** Where in a file the code of a bundle is, and the checksum of the text it was made of. */
type Place = readonly [offset: number, length: number, of: number];

/** A bundle that was compiled without kept code. */
interface Fresh {
  name: string;
  script: Script;
  /** The checksum of its text. */
  of: number;
}

/** A file of kept code. */
interface Kept {
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

/** V8 copies code that does not begin at a multiple of this. */
const ALIGNED = 8;

/** The digits at the beginning of a file: of the length of the table that follows. */
const LENGTH = 8;

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
  const endModules = keepModules(files, use);
  const kept = read(files, use);
  const fresh: Fresh[] = [];
  const taken = () => new Script('0').createCachedData();
  let settings = kept === undefined ? taken() : undefined;
  const plain = entry.require.bind(entry);
  const loaded = new Map<string, Bundle>();
  // Node would look for each bundle by reading the package's file and a few folders.
  const load = (id: string): unknown => {
    const name = BUNDLE.exec(id)?.[1];
    if (name === undefined) return plain(id);
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const path = join(folder, name);
    const text = readFileSync(path);
    // V8 checks no more of it than its length.
    const of = files.sum(text);
    const place = kept?.places[name];
    const code =
      place?.[2] === of ? kept?.bytes.subarray(place[0], place[0] + place[1]) : undefined;
    const source = text.toString();
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
      { filename: path, ...(code === undefined ? {} : { cachedData: code }) },
    );
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
    if (cachedDataRejected === false) files.begin(use)?.keep(packed(kept, fresh), 1);
  });
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

/** A file: length of the table, table, then the code of each bundle. */
function packed(kept: Kept | undefined, fresh: readonly Fresh[]): Buffer {
  const parts: { name: string; of: number; bytes: Uint8Array }[] = fresh.map(
    ({ script, ...rest }) => ({ ...rest, bytes: script.createCachedData() }),
  );
  for (const [name, [offset, length, of]] of Object.entries(kept?.places ?? {})) {
    if (parts.some((part) => part.name === name)) continue;
    const bytes = (kept as Kept).bytes.subarray(offset, offset + length);
    parts.push({ name, of, bytes });
  }
  const table = (start: number) => {
    let offset = start;
    const places: Record<string, Place> = {};
    for (const { name, bytes, of } of parts) {
      places[name] = [offset, bytes.length, of];
      offset = aligned(offset + bytes.length);
    }
    return JSON.stringify(places);
  };
  // Room for offsets that are longer than those from nought.
  const start = aligned(LENGTH + table(0).length + parts.length * LENGTH);
  const text = table(start);
  const head = Buffer.alloc(start);
  head.write(`${text.length}`.padStart(LENGTH, '0') + text, 'latin1');
  const codes = parts.map(({ bytes }) => Buffer.concat([bytes], aligned(bytes.length)));
  return Buffer.concat([head, ...codes]);
}

const aligned = (value: number): number => Math.ceil(value / ALIGNED) * ALIGNED;
