// Everything in one file: where no file can be kept beside the script. Synchronous.
import bytes from 'okstra-wasm-bytes';
import { createLoader } from './load.js';
import { useLoader } from './slot.js';

const { ready, init } = createLoader({
  now: () => bytes as BufferSource,
  help: "a page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'",
});

export { OkstraError } from './error.js';
export * from './functions.js';
export { init };

useLoader(ready);
