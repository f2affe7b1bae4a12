/**
 * Compiled code of the bundles, kept from run to run.
 *
 * A command lives for some 25 ms longer than an empty Node process, and 3 to 5 of them go into
 * reading JavaScript that has not changed since the last run. V8 can keep what it made of it.
 *
 * V8 runs the code it is given and checks no more than its header. So the code lies in the package,
 * in `.cache`, and is read and written only where nobody can change it who cannot change the
 * bundles: by their owner, in files that nobody else may write. A checksum tells what a disk or a
 * copy has damaged. Where there is no such place nothing is kept, and everything works all the same.
 *
 * Node 22 can keep code by itself, but writes it as the umask says, for all to change.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { binding } from '../../../npm-package/src/engine.js';

/** Where in a file the code of a bundle is, and which state of the bundle it was made of. */
type Place = readonly [offset: number, length: number, size: number, changed: number];

/** A bundle that was compiled without kept code. */
interface Fresh {
  name: string;
  script: Script;
  size: number;
  changed: number;
}

/** A file of kept code. */
interface Kept {
  bytes: Buffer;
  places: Record<string, Place>;
}

/** What loads a module of a kind. */
type Loader = (module: NodeJS.Module, path: string) => void;

/** Node's zlib, of which only this is used. */
interface Sums {
  crc32(bytes: Uint8Array, start: number): number;
}

/** More commands than there are: what is beyond has names that nobody foresaw. */
const MOST_FILES = 200;

/** More than all bundles make. */
const MOST_BYTES = 16_000_000;

/** A draft is renamed within milliseconds; one as old as this was left by a process that died. */
const DRAFT_MS = 60_000;

/** V8 copies code that does not begin at a multiple of this. */
const ALIGNED = 8;

/** The digits at the beginning of a file: of the checksum, then of the length of the table. */
const [SUM, LENGTH] = [10, 8];

/**
 * From now on loads the bundles in a folder by kept code, and keeps code for the next time.
 *
 * @param folder the folder of the bundles.
 * @param use what they are used for. Functions that a use does not call are not in its code.
 */
export function keepCode(folder: string, use: string): void {
  const { env, execArgv } = process;
  // Code is bound to V8's settings, and some of these may set some; coverage needs whole functions.
  const isUnusual = env.NODE_OPTIONS || env.NODE_V8_COVERAGE || execArgv.length > 0;
  if (isUnusual || env.NODE_DISABLE_COMPILE_CACHE) return;
  const loaders = require.extensions as Record<string, Loader>;
  const plain = loaders['.js'];
  const sums = binding<Sums>('zlib');
  if (plain === undefined || sums === undefined) return;
  const store = storeIn(dirname(folder), use, sums);
  if (store === undefined) return;
  const kept = store.read();
  const fresh: Fresh[] = [];
  let settings: Buffer | undefined;
  loaders['.cjs'] = (module, path) => {
    if (dirname(path) !== folder) return plain(module, path);
    const name = basename(path);
    // The time of the last change of any kind: nobody can set it.
    const { size, ctimeMs } = statSync(path);
    const place = kept?.places[name];
    const isSame = place?.[2] === size && place[3] === ctimeMs;
    const code = isSame ? kept?.bytes.subarray(place[0], place[0] + place[1]) : undefined;
    const source = readFileSync(path, 'utf8');
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
      { filename: path, ...(code === undefined ? {} : { cachedData: code }) },
    );
    if (script.cachedDataRejected !== false) {
      settings ??= new Script('0').createCachedData();
      fresh.push({ name, script, size, changed: ctimeMs });
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
    if (status !== 0 || settings === undefined) return;
    // Made under other settings than at the start, it would be refused at every start. To V8 a text
    // is its length; of the very same text it would answer with what it has.
    const { cachedDataRejected } = new Script('1', { cachedData: settings });
    if (cachedDataRejected === false) store.write(kept, fresh);
  });
}

/** Where a package is no folder of a file system, as in some archives, there is no place. */
function storeIn(home: string, use: string, sums: Sums): Store | undefined {
  try {
    return new Store(home, use, sums);
  } catch {
    return undefined;
  }
}

/** The kept code of a use of a package. */
class Store {
  readonly #cache: string;
  readonly #folder: string;
  readonly #file: string;
  readonly #owner: number;
  readonly #sums: Sums;

  constructor(home: string, use: string, sums: Sums) {
    this.#cache = join(home, '.cache');
    this.#folder = join(this.#cache, `${process.version}-${process.arch}`);
    this.#file = join(this.#folder, use);
    this.#owner = statSync(home).uid;
    this.#sums = sums;
  }

  /** Whether only the owner of the package can have changed something. Windows has no such modes. */
  #isSafe({ uid, mode }: Stats): boolean {
    return process.getuid === undefined || (uid === this.#owner && (mode & 0o022) === 0);
  }

  #isSafeFolder(): boolean {
    return [this.#cache, this.#folder].every((path) => {
      const stats = lstatSync(path);
      return stats.isDirectory() && this.#isSafe(stats);
    });
  }

  /** What was kept; nothing where it is not there, not safe, damaged or of another form. */
  read(): Kept | undefined {
    let fd: number | undefined;
    try {
      if (!this.#isSafeFolder()) return undefined;
      // A pipe in its place would be waited for; Windows knows neither.
      const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
      fd = openSync(this.#file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
      const stats = fstatSync(fd);
      if (!stats.isFile() || stats.size > MOST_BYTES || !this.#isSafe(stats)) return undefined;
      const bytes = readFileSync(fd);
      const sum = Number(bytes.toString('latin1', 0, SUM));
      if (this.#sums.crc32(bytes.subarray(SUM), 0) !== sum) return undefined;
      const start = SUM + LENGTH;
      const end = start + Number(bytes.toString('latin1', SUM, start));
      return { bytes, places: JSON.parse(bytes.toString('latin1', start, end)) };
    } catch {
      // There is none, as a rule.
      return undefined;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** Writes the code that was kept, with what is new. */
  write(kept: Kept | undefined, fresh: readonly Fresh[]): void {
    // Another's files in it would keep its owner from taking the package away.
    if (process.getuid !== undefined && process.getuid() !== this.#owner) return;
    const draft = `${this.#file}.${process.pid}`;
    let fd: number | undefined;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o755 });
      if (!this.#isSafeFolder() || !this.#hasRoom()) return;
      // Opened first: where it cannot be written, nothing has to be made.
      fd = openSync(draft, 'wx', 0o644);
      writeFileSync(fd, this.#packed(kept, fresh));
      // After a power cut it is all there, or nothing is.
      fsyncSync(fd);
      closeSync(fd);
      renameSync(draft, this.#file);
    } catch {
      // The command has done its work; another time will do.
      if (fd !== undefined) removeDraft(draft);
    }
  }

  /** Whether another file may be made. Drafts that were left are taken away. */
  #hasRoom(): boolean {
    let count = 0;
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      if (!/\.\d+$/.test(name)) count += path === this.#file ? 0 : 1;
      else if (Date.now() - lstatSync(path).mtimeMs > DRAFT_MS) removeDraft(path);
    }
    return count < MOST_FILES;
  }

  /** A file: checksum, length of the table, table, then the code of each bundle. */
  #packed(kept: Kept | undefined, fresh: readonly Fresh[]): Buffer {
    const parts: { name: string; size: number; changed: number; bytes: Uint8Array }[] = fresh.map(
      ({ script, ...rest }) => ({ ...rest, bytes: script.createCachedData() }),
    );
    for (const [name, [offset, length, size, changed]] of Object.entries(kept?.places ?? {})) {
      if (parts.some((part) => part.name === name)) continue;
      const bytes = (kept as Kept).bytes.subarray(offset, offset + length);
      parts.push({ name, size, changed, bytes });
    }
    const table = (start: number) => {
      let offset = start;
      const places: Record<string, Place> = {};
      for (const { name, bytes, size, changed } of parts) {
        places[name] = [offset, bytes.length, size, changed];
        offset = aligned(offset + bytes.length);
      }
      return JSON.stringify(places);
    };
    // Room for offsets that are longer than those from nought.
    const start = aligned(SUM + LENGTH + table(0).length + parts.length * LENGTH);
    const text = table(start);
    const head = Buffer.alloc(start);
    head.write(`${text.length}`.padStart(LENGTH, '0') + text, SUM, 'latin1');
    const codes = parts.map(({ bytes }) => Buffer.concat([bytes], aligned(bytes.length)));
    const whole = Buffer.concat([head, ...codes]);
    const sum = this.#sums.crc32(whole.subarray(SUM), 0);
    whole.write(`${sum}`.padStart(SUM, '0'), 'latin1');
    return whole;
  }
}

const aligned = (value: number): number => Math.ceil(value / ALIGNED) * ALIGNED;

function removeDraft(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another has done so.
  }
}
