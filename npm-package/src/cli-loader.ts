// The loader of the command line: a CommonJS bundle with the parts of the module beside it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, createApi, loadFailure } from './api.js';
import type { Name } from './core.js';
import { compiler, expectLong } from './engine.js';
import { useModule } from './generated/raw.js';
import { type Argument, type Lowering, lowered } from './lowered.js';
import parts from './parts.json';

/** From this many bytes on, optimised code pays for the wait until V8 has made it. */
const LARGE = 4_000_000;

/** The parts of the module with their functions, the smallest first. What none has, the whole has. */
const PARTS: readonly (readonly [part: string, functions: readonly string[]])[] =
  Object.entries(parts);

/** What an instance exports. */
interface Exports extends Lowering {
  takePanic(): string;
}

/** An instance of a part, or of the whole where there is no name. */
interface Loaded {
  part: string | undefined;
  module: WebAssembly.Module;
  exports: Exports;
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
      const bytes = readFileSync(join(directory, file));
      const isLong = inputBytes >= LARGE;
      if (loaded === undefined && isLong) expectLong();
      // Kept code is bound to the settings of a short process.
      const module = isLong ? new WebAssembly.Module(bytes) : compiler()(file, bytes);
      return { part, module, exports: useModule(module) };
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
    call(name, args) {
      const { exports } = ready(name);
      const call = (exports as unknown as Record<Name, (...all: number[]) => string>)[name];
      return call(...lowered(exports, args as readonly Argument[]));
    },
    takePanic: () => loaded?.exports.takePanic() ?? '',
    renew() {
      if (loaded !== undefined) loaded.exports = useModule(loaded.module);
    },
  });
}

function functionsOf(part: string): readonly string[] {
  return PARTS.find(([name]) => name === part)?.[1] ?? [];
}
