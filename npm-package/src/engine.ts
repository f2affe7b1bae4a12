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

/** It has much to do: optimised code is worth the wait, after as many calls as in Node 20. */
export function expectLong(): void {
  set('--wasm-lazy-validation', '--no-liftoff-only', '--wasm-tiering-budget=1800000');
}

function set(...flags: string[]): void {
  // Loading the public module costs 4 ms, as it brings streams and the heap's snapshots.
  const v8 = binding<Engine>('v8') ?? process.getBuiltinModule('node:v8');
  for (const flag of flags) v8.setFlagsFromString(flag);
}

/** What sets V8's flags. */
interface Engine {
  setFlagsFromString(flag: string): void;
}

/**
 * What a module of Node is built upon, which is there already. Node calls that way in deprecated,
 * so its warning is put off for this one call; nothing where it is gone or forbidden, as it is
 * under --permission.
 */
export function binding<T>(name: string): T | undefined {
  const silent = process.noDeprecation ?? false;
  try {
    process.noDeprecation = true;
    return (process as { binding?: (name: string) => T }).binding?.(name);
  } catch {
    return undefined;
  } finally {
    process.noDeprecation = silent;
  }
}
