// What V8 is told about the process it runs.

/**
 * It makes a few calls and ends. V8 optimises wasm functions in the background, and the process
 * cannot end before that is done: about 20 ms, for code that will not run again. So it does not
 * begin. V8 ignores a flag it does not know.
 */
export function expectShort(): void {
  // Functions are validated when they are first called, most of them never.
  set('--wasm-lazy-validation', '--liftoff-only', `--wasm-tiering-budget=${2 ** 31 - 1}`);
}

/** It has much to do: optimised code is worth the wait. */
export function expectLong(): void {
  set('--wasm-lazy-validation', '--no-liftoff-only', '--wasm-tiering-budget=1800000');
}

function set(...flags: string[]): void {
  const v8 = engine();
  for (const flag of flags) v8.setFlagsFromString(flag);
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
