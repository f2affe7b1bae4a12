// What the build puts into the scripts.

declare module 'okstra-preview-module' {
  /** The part of okstra.wasm, gzipped, in Base64. */
  const packed: string;
  export default packed;
}

declare module '*.css' {
  /** The text of the sheet. */
  const sheet: string;
  export default sheet;
}
