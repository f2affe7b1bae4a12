/**
 * Compiled code of the bundles, kept from run to run.
 *
 * A command lives for some 30 ms longer than an empty Node process, and 5 of them go into reading
 * JavaScript that has not changed since the last run. V8 can keep what it made of it. Node 22 does
 * that by itself when it is asked; for Node 20 it is done here.
 *
 * The code lies in the package, `.cache`, because whoever can write there can change the bundles
 * as well: in a folder that others may write to, they would choose what runs. Where the package
 * cannot be written nothing is kept and everything works. A new version comes in a new folder.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Where in a file the code of a bundle is, and which state of the bundle it was made of. */
type Place = readonly [offset: number, length: number, size: number, changed: number];

/** A bundle that was compiled without kept code. */
interface Fresh {
  name: string;
  script: Script;
  size: number;
  changed: number;
}

/** What loads a module of a kind. */
type Loader = (module: NodeJS.Module, path: string) => void;

/** More commands than there are: what is beyond has names that nobody foresaw. */
const MOST_FILES = 200;

/** V8 copies code that does not begin at a multiple of this. */
const ALIGNED = 8;

/** The length of the header, in digits, at the beginning of a file. */
const DIGITS = 8;

/**
 * From now on loads the bundles in a folder by kept code, and keeps code for the next time.
 *
 * @param folder the folder of the bundles.
 * @param use what they are used for. Functions that a use does not call are not in its code.
 */
export function keepCode(folder: string, use: string): void {
  const { env, execArgv, version, arch } = process;
  const cache = join(dirname(folder), '.cache');
  // Loading the module to ask it takes longer than asking for the version.
  if (Number.parseInt(version.slice(1), 10) >= 22) {
    const module: { enableCompileCache?: (folder: string) => unknown } = require('node:module');
    if (module.enableCompileCache !== undefined) {
      module.enableCompileCache(cache);
      return;
    }
  }
  // Code is bound to V8's settings, and these may set some.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_OPTIONS || execArgv.length > 0) return;
  const loaders = require.extensions as Record<string, Loader>;
  const plain = loaders['.js'];
  if (plain === undefined) return;
  const file = join(cache, `${version}-${arch}`, use);
  const kept = read(file);
  const fresh: Fresh[] = [];
  let settings: Buffer | undefined;
  loaders['.cjs'] = (module, path) => {
    if (dirname(path) !== folder) return plain(module, path);
    const name = basename(path);
    const { size, mtimeMs } = statSync(path);
    const place = kept?.places[name];
    const isSame = place?.[2] === size && place[3] === mtimeMs;
    const code = isSame ? kept?.bytes.subarray(place[0], place[0] + place[1]) : undefined;
    const source = readFileSync(path, 'utf8');
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
      { filename: path, ...(code === undefined ? {} : { cachedData: code }) },
    );
    if (script.cachedDataRejected !== false) {
      settings ??= new Script(';').createCachedData();
      fresh.push({ name, script, size, changed: mtimeMs });
    }
    const require = (id: string): unknown => module.require(id);
    script
      .runInThisContext()
      .call(
        module.exports,
        module.exports,
        Object.assign(require, { main: process.mainModule }),
        module,
        path,
        folder,
      );
  };
  process.on('exit', (status) => {
    // Made under other settings than at the start, it would be refused at every start.
    const isUsable =
      fresh.length > 0 &&
      status === 0 &&
      new Script(';', { cachedData: settings as Buffer }).cachedDataRejected === false;
    if (isUsable) write(file, kept, fresh);
  });
}

interface Kept {
  bytes: Buffer;
  places: Record<string, Place>;
}

function read(file: string): Kept | undefined {
  try {
    const bytes = readFileSync(file);
    const head = DIGITS + Number(bytes.toString('latin1', 0, DIGITS));
    const places: unknown = JSON.parse(bytes.toString('latin1', DIGITS, head));
    if (Object.values(places as object).every((place) => isIn(bytes, place))) {
      return { bytes, places: places as Kept['places'] };
    }
  } catch {
    // There is none, or it is no table.
  }
  // The code is made anew and written again.
  return undefined;
}

function isIn(bytes: Buffer, place: unknown): boolean {
  if (!Array.isArray(place) || place.length !== 4 || !place.every(Number.isFinite)) return false;
  const [offset, length] = place;
  return offset >= DIGITS && length >= 0 && offset + length <= bytes.length;
}

/** Writes the code that is kept, with what is new. */
function write(file: string, kept: Kept | undefined, fresh: readonly Fresh[]): void {
  const draft = `${file}.${process.pid}`;
  try {
    const folder = dirname(file);
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length >= MOST_FILES) return;
    // Opened first: where it cannot be written, nothing has to be made.
    const fd = openSync(draft, 'wx');
    try {
      const parts: [name: string, bytes: Buffer, size: number, changed: number][] = [];
      for (const [name, [offset, length, size, changed]] of Object.entries(kept?.places ?? {})) {
        if (fresh.some((each) => each.name === name)) continue;
        const bytes = kept?.bytes.subarray(offset, offset + length) ?? Buffer.alloc(0);
        parts.push([name, bytes, size, changed]);
      }
      for (const { name, script, size, changed } of fresh) {
        parts.push([name, script.createCachedData(), size, changed]);
      }
      for (const part of packed(parts)) writeSync(fd, part);
      // V8 trusts what it reads: after a power cut it is all there, or nothing is.
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, file);
  } catch {
    // The command has done its work; another time will do.
    try {
      unlinkSync(draft);
    } catch {
      // Nothing was written.
    }
  }
}

/** The parts of a file: a header of fixed width, then the code of each bundle. */
function packed(parts: readonly [string, Buffer, number, number][]): Buffer[] {
  const aligned = (value: number) => Math.ceil(value / ALIGNED) * ALIGNED;
  const header = (start: number) => {
    let offset = start;
    const places: Record<string, Place> = {};
    for (const [name, { length }, size, changed] of parts) {
      places[name] = [offset, length, size, changed];
      offset = aligned(offset + length);
    }
    return JSON.stringify(places);
  };
  // Room for offsets that are longer than those from nought.
  const start = aligned(DIGITS + header(0).length + parts.length * 8);
  const text = header(start);
  const head = Buffer.alloc(start);
  head.write(`${text.length}`.padStart(DIGITS, '0') + text, 'latin1');
  return [head, ...parts.map(([, bytes]) => Buffer.concat([bytes], aligned(bytes.length)))];
}
