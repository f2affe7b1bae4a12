// What V8 is told about the process it runs.
//
// Code that was compiled ahead is bound to V8's settings: with any of them changed V8 refuses what
// Node brings of its own modules, and child_process takes 9 ms to load instead of 3. So settings
// are changed only where that pays.

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

/**
 * Whether functions are optimised when they are first called: slow once, for code that is kept.
 * Code is bound to the settings at the time when it is taken, not when it is made.
 */
export function optimiseAtOnce(begins: boolean): void {
  if (begins) set('--no-liftoff');
  // Without the first, some versions put out the second.
  else set('--liftoff', '--wasm-dynamic-tiering');
}

/** Does something in which V8 lets JavaScript call functions of its own, by `%` and their name. */
export function withNatives<T>(act: () => T): T {
  set('--allow-natives-syntax');
  try {
    return act();
  } finally {
    set('--no-allow-natives-syntax');
  }
}

/** Makes a module of a file, and begins to use it. */
export type Compile = <T>(path: string, begin: (module: WebAssembly.Module) => T) => T;

/** Bundles share nothing but the process that they are loaded into. */
const COMPILE = Symbol.for('okstra.compile');
const shared = globalThis as { [COMPILE]?: Compile };

/** From now on what the command line loads is compiled that way, in whatever bundle. */
export function compileBy(compile: Compile): void {
  shared[COMPILE] = compile;
}

/** How modules are compiled, if somebody wants it done in a way of their own. */
export function compiler(): Compile | undefined {
  return shared[COMPILE];
}

let v8: Engine | undefined;

function set(...flags: string[]): void {
  // Loading the public module costs 4 ms, as it brings streams and the heap's snapshots.
  v8 ??= binding<Engine>('v8') ?? process.getBuiltinModule('node:v8');
  for (const flag of flags) v8.setFlagsFromString(flag);
}

/** What sets V8's flags. */
interface Engine {
  setFlagsFromString(flag: string): void;
}

/** Node's versions of which the inner parts that are used here are known. */
const KNOWN_VERSIONS = ['20', '22', '24'];

/** Whether this Node is one of which they are known. */
export function isKnownNode(): boolean {
  const [version = ''] = process.versions.node.split('.');
  return KNOWN_VERSIONS.includes(version);
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
