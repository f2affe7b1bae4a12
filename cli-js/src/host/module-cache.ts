/**
 * Compiled functions of WebAssembly modules, kept from run to run.
 *
 * Compiling the 700 functions that a claim calls takes V8 longer than running them. Browsers keep
 * V8's optimised code of a module; Node has no name for that, but V8 has: functions of its own that
 * JavaScript may call where a setting allows it, which is given for that one call. They belong to
 * V8's tests, so they are used only in versions in which okstra was tested with them.
 *
 * The first runs of a use compile each function that they call by the optimising compiler, 0.2 s in
 * all, and keep it. What a later run calls beyond that is compiled as ever.
 */
import { basename } from 'node:path';
import { Script } from 'node:vm';
import {
  compileBy,
  expectShort,
  isKnownNode,
  optimiseAtOnce,
  withNatives,
} from '../../../npm-package/src/engine.js';
import type { KeptFiles, Source } from './kept-files.js';
import type * as Learning from './learning.js';

/** One way through a command is not the other; after as many runs most have been taken. */
const LEARNING_RUNS = 3;

/** Sound code that V8 refuses is another machine's or was made under other settings. */
const REFUSED_MS = 24 * 3_600_000;

/** As many times a module's size is room for its code. */
const ROOM = 3;

/** A module made of V8's code of it, or nothing where that was made by or for another engine. */
type Deserialize = (code: ArrayBufferLike, of: Uint8Array) => WebAssembly.Module | undefined;

/** A module of which code is to be kept. */
interface Learned {
  module: WebAssembly.Module;
  /** What it is made of. */
  source: Source;
  draft: Learning.Draft;
  times: number;
}

/**
 * From now on makes modules of kept code.
 *
 * @param use what the modules are used for. Functions that a use does not call are not in its code.
 * @param learn loads what making new code takes, if it is there.
 * @returns what ends it, and keeps what is new if the use came to an end, well or not.
 */
export function keepModules(
  files: KeptFiles,
  use: string,
  learn: () => typeof Learning | undefined,
): (cameToAnEnd: boolean) => void {
  if (!isKnownNode()) return () => {};
  const learning: Learned[] = [];
  // V8's settings concern all modules of a process: it either learns or it does not.
  let isShort = false;
  const compiledShort = (bytes: Uint8Array<ArrayBuffer>) => {
    // What is being learned is not to be mixed with code of another kind.
    if (learning.length === 0) {
      isShort = true;
      expectShort();
    }
    return new WebAssembly.Module(bytes);
  };
  compileBy((path, begin) => {
    const name = `${use}.${basename(path)}`;
    const source = files.source(path);
    const { bytes } = source;
    if (isShort) return begin(compiledShort(bytes));
    const kept = files.read(name, source);
    // Code is given and taken under the settings that processes begin with.
    if (learning.length > 0) optimiseAtOnce(false);
    const module = kept === undefined ? undefined : deserialized(kept.bytes, bytes);
    if (learning.length > 0) optimiseAtOnce(true);
    const times = module === undefined ? 0 : (kept?.times ?? 0);
    const isForeign = kept !== undefined && module === undefined;
    const isToLearn = isForeign
      ? Math.abs(Date.now() - kept.written) > REFUSED_MS
      : times < LEARNING_RUNS;
    const draft = isToLearn ? learn()?.begin(files, name, ROOM * bytes.length) : undefined;
    if (draft === undefined) return begin(module ?? compiledShort(bytes));
    optimiseAtOnce(true);
    try {
      const made = module ?? new WebAssembly.Module(bytes);
      const begun = begin(made);
      // Of a module that nothing was called in there is no code, and V8 ends a process that asks.
      learning.push({ module: made, source, draft, times });
      return begun;
    } catch (error) {
      draft.drop();
      throw error;
    }
  });
  return (cameToAnEnd) => {
    if (learning.length > 0) optimiseAtOnce(false);
    for (const { module, source, draft, times } of learning) {
      const code = cameToAnEnd ? learn()?.serialized(module) : undefined;
      if (code === undefined) draft.drop();
      else draft.keep(code, files.ending(times + 1, source));
    }
  };
}

function deserialized(code: Buffer, bytes: Uint8Array): WebAssembly.Module | undefined {
  return native('(code, of) => %DeserializeWasmModule(code, of)', (run: Deserialize) =>
    run(code.buffer, bytes),
  );
}

/** Uses a function that calls one of V8's; nothing where V8 does not know that one. */
export function native<F, T>(source: string, use: (run: F) => T): T | undefined {
  try {
    return withNatives(() => use(new Script(source).runInThisContext() as F));
  } catch {
    return undefined;
  }
}
