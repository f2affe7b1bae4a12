// Workers: code cannot be compiled at run time, so the platform brings the compiled module.

import { createLoader } from './load.js';
import module from './okstra.wasm';
import { useLoader } from './slot.js';

const { ready, init } = createLoader({
  now: () => module,
  help: 'the bundler has to hand over okstra.wasm as a WebAssembly.Module',
});

export { OkstraError } from './error.js';
export * from './functions.js';
export { init };

useLoader(ready);
