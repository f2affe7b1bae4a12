// The module as the build and the platforms hand it over.

declare module 'okstra-wasm-bytes' {
  /** The bytes of okstra.wasm. */
  const bytes: Uint8Array;
  export default bytes;
}

declare module '*.wasm' {
  /** The compiled module. */
  const module: WebAssembly.Module;
  export default module;
}
