// The loader of the command line: a CommonJS bundle with okstra.wasm beside it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, createApi } from './api.js';
import { createLoader } from './load.js';

/** From this many bytes on, optimised code pays for the wait until V8 has made it. */
const LARGE = 4_000_000;

/**
 * The functions for a process that makes one call and ends.
 *
 * V8 optimises wasm functions in the background, and the process cannot end before that is done:
 * about 20 ms, for code that will not run again. For small plans it is told not to begin. V8
 * ignores a flag it does not know.
 *
 * @param directory the folder of `okstra.wasm`.
 * @param inputBytes how much will be read, in bytes.
 */
export function createCliApi(directory: string, inputBytes: number): Api {
  const { ready } = createLoader({
    now: () => {
      const bytes = readFileSync(join(directory, 'okstra.wasm'));
      const v8 = engine();
      // Functions are validated when they are first called, most of them never.
      v8.setFlagsFromString('--wasm-lazy-validation');
      if (inputBytes < LARGE) {
        v8.setFlagsFromString('--liftoff-only');
        v8.setFlagsFromString('--wasm-tiering-budget=2147483647');
      }
      return bytes;
    },
    help: 'install okstra again',
  });
  return createApi(ready);
}

/** What sets V8's flags. */
interface Engine {
  setFlagsFromString: (flag: string) => void;
}

/**
 * V8's settings. Loading `node:v8` costs 4 ms, as it brings streams and the heap's snapshots; the
 * binding below it is there already. Node calls that way in deprecated, so its warning is put off
 * for this one call, and where it is gone or forbidden the module is loaded.
 */
function engine(): Engine {
  const silent = process.noDeprecation ?? false;
  try {
    process.noDeprecation = true;
    const binding = (process as { binding?: (name: string) => Partial<Engine> }).binding?.('v8');
    if (typeof binding?.setFlagsFromString === 'function') {
      return binding as Engine;
    }
  } catch {
    // Forbidden, as under --permission: the public way does the same.
  } finally {
    process.noDeprecation = silent;
  }
  return process.getBuiltinModule('node:v8');
}
