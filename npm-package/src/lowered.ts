/** What a function of the module takes: bytes and the like, a text or a number. */
export type Argument = Uint8Array | Uint32Array | string | number;

/** What handing over arguments needs of an instance. */
export interface Lowering {
  memory: WebAssembly.Memory;
  __wbindgen_malloc(bytes: number, alignment: number): number;
}

const encoder = new TextEncoder();

/**
 * Arguments as the exports of the module take them, whatever the function: where a text or array
 * begins in the module's memory and how long it is, and numbers as they are. The function that is
 * called frees them.
 */
export function lowered(exports: Lowering, args: readonly Argument[]): number[] {
  return args.flatMap((arg) => {
    if (typeof arg === 'number') return arg;
    const view = typeof arg === 'string' ? encoder.encode(arg) : arg;
    const start = exports.__wbindgen_malloc(view.byteLength, view.BYTES_PER_ELEMENT) >>> 0;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    new Uint8Array(exports.memory.buffer).set(bytes, start);
    return [start, view.length];
  });
}
