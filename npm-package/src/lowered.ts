import type { Name } from './core.js';

/** What a function of the module takes: bytes and the like, a text or a number. */
type Argument = Uint8Array | Uint32Array | string | number;

/** What every instance exports beside its functions. */
export interface Instance {
  memory: WebAssembly.Memory;
  __wbindgen_malloc(bytes: number, alignment: number): number;
  __wbindgen_start(): void;
  takePanic(): number;
}

/** Makes an instance. The module imports nothing. */
export function instantiated(module: WebAssembly.Module): Instance {
  const exports = new WebAssembly.Instance(module).exports as unknown as Instance;
  exports.__wbindgen_start();
  return exports;
}

export const encoder = new TextEncoder();

/**
 * Arguments as the exports of the module take them, whatever the function: where a text or array
 * begins in the module's memory and how long it is, and numbers as they are. The function that is
 * called frees them.
 */
function lowered(exports: Instance, args: readonly Argument[]): number[] {
  return args.flatMap((arg) => {
    if (typeof arg === 'number') return arg;
    const view = typeof arg === 'string' ? encoder.encode(arg) : arg;
    const start = exports.__wbindgen_malloc(view.byteLength, view.BYTES_PER_ELEMENT) >>> 0;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    new Uint8Array(exports.memory.buffer).set(bytes, start);
    return [start, view.length];
  });
}

/** Makes a text of UTF-8. */
export type Decode = (bytes: Uint8Array) => string;

let decoder: TextDecoder | undefined;

/** {@link Decode} as every platform has it. */
export function decoded(bytes: Uint8Array): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return decoder.decode(bytes);
}

/**
 * The text that a function of the module answered with. What it answered is where in the module's
 * memory it says where the text begins and how many bytes it has.
 */
export function lifted({ buffer }: WebAssembly.Memory, place: number, decode: Decode): string {
  const [start, bytes] = new Uint32Array(buffer, place >>> 0, 2);
  return decode(new Uint8Array(buffer, start, bytes));
}

/** Calls a function of an instance. */
export function called(
  exports: Instance,
  name: Name | 'takePanic',
  args: readonly unknown[],
  decode: Decode,
): string {
  const call = (exports as unknown as Record<string, (...all: number[]) => number>)[name];
  if (call === undefined) throw new Error(`the module has no function ${name}`);
  return lifted(exports.memory, call(...lowered(exports, args as readonly Argument[])), decode);
}
