// The loader of the command line: a CommonJS bundle with the parts of the module beside it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, createApi, loadFailure } from './api.js';
import type { Name } from './core.js';
import { type Compile, compiler, expectLong, expectShort } from './engine.js';
import { called, type Instance, instantiated } from './lowered.js';
import parts from './parts.json';

/** From this many bytes on, optimised code pays for the wait until V8 has made it. */
const LARGE = 4_000_000;

/** The parts of the module with their functions, the smallest first. What none has, the whole has. */
const PARTS: readonly (readonly [part: string, functions: readonly string[]])[] =
  Object.entries(parts);

/** An instance of a part, or of the whole where there is no name. */
interface Loaded {
  part: string | undefined;
  module: WebAssembly.Module;
  exports: Instance;
}

/**
 * The functions for a process that makes a few calls and ends. It reads, and V8 compiles, no more
 * of the module than the part that has the function it calls.
 *
 * @param directory the folder of the modules.
 * @param inputBytes how much will be read, in bytes.
 * @param preferred the part to take where several have a function; for a command that of stages.
 */
export function createCliApi(directory: string, inputBytes: number, preferred = 'stage'): Api {
  let loaded: Loaded | undefined;

  function load(part: string | undefined): Loaded {
    const file = part === undefined ? 'okstra.wasm' : `okstra-${part}.wasm`;
    try {
      const path = join(directory, file);
      const compile = (inputBytes >= LARGE ? undefined : compiler()) ?? compiled(inputBytes);
      return compile(path, (module) => ({ part, module, exports: instantiated(module) }));
    } catch (thrown) {
      throw loadFailure(thrown, 'install okstra again', file);
    }
  }

  function ready(name: Name): Loaded {
    if (loaded === undefined) {
      const all = PARTS.filter(([, functions]) => functions.includes(name));
      loaded = load((all.find(([part]) => part === preferred) ?? all[0])?.[0]);
    } else if (loaded.part !== undefined && !functionsOf(loaded.part).includes(name)) {
      // A command that needs more than one part needs the whole.
      loaded = load(undefined);
    }
    return loaded;
  }

  return createApi({
    ready,
    call: (name, args) => called(ready(name).exports, name, args, decode),
    takePanic: () => (loaded === undefined ? '' : called(loaded.exports, 'takePanic', [], decode)),
    renew() {
      if (loaded !== undefined) loaded.exports = instantiated(loaded.module);
    },
  });
}

function functionsOf(part: string): readonly string[] {
  return PARTS.find(([name]) => name === part)?.[1] ?? [];
}

/** A TextDecoder takes a quarter of a millisecond to make. */
function decode({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}

/** Compiles modules for as long as the process will live. */
const compiled =
  (inputBytes: number): Compile =>
  (path, begin) => {
    const bytes = readFileSync(path);
    if (inputBytes >= LARGE) expectLong();
    else expectShort();
    return begin(new WebAssembly.Module(bytes));
  };
