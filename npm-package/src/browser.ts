// Browsers: `await init()` first, which streams and compiles the module off the main thread.
import { createLoader } from './load.js';
import { useLoader } from './slot.js';

const { ready, init } = createLoader({
  // Bundlers know this form, and take the file along.
  later: () => new URL('./okstra.wasm', import.meta.url),
  help: "serve okstra.wasm beside the script or pass its address to init(); a page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'",
});

export { OkstraError } from './error.js';
export * from './functions.js';
export { init };

useLoader(ready);
