// Node: synchronous. The first call reads and compiles the module; importing costs nothing.
import { readFileSync } from 'node:fs';
import { createLoader } from './load.js';
import { useLoader } from './slot.js';

const { ready, init } = createLoader({
  now: () => readFileSync(new URL('./okstra.wasm', import.meta.url)),
  help: "copy okstra.wasm beside the bundle, or import from 'okstra/inline'",
});

export { OkstraError } from './error.js';
export * from './functions.js';
export { init };

useLoader(ready);
