import { loadFailure } from './api.js';
import { notInitialised, type OkstraError } from './error.js';
import instantiate, { initSync } from './generated/raw.js';
import type { InitSource } from './index.js';

/** How an entry gets its module. One of the two is there. */
interface Means {
  /** Answers the module or its bytes at once; then `init()` is not needed. */
  now?: () => BufferSource | WebAssembly.Module;
  /** Where `init()` loads from when the caller names nothing. */
  later?: () => InitSource;
  /** What to do when loading fails. */
  help: string;
}

/** Makes the module ready, once. */
export interface Loader {
  /** Returns when calls can be made, else throws; cheap after the first time. */
  ready: () => void;
  /** See `init` in index.ts. */
  init: (source?: InitSource) => Promise<void>;
}

/** A loader that works the given way. */
export function createLoader({ now, later, help }: Means): Loader {
  let loaded = false;
  let pending: Promise<void> | undefined;

  function ready(): void {
    if (loaded) {
      return;
    }
    if (now === undefined) {
      throw early();
    }
    try {
      initSync({ module: now() });
    } catch (thrown) {
      throw loadFailure(thrown, help);
    }
    loaded = true;
  }

  async function load(source: InitSource | undefined): Promise<void> {
    const from = source ?? later?.();
    if (loaded || from === undefined) {
      return ready();
    }
    try {
      await instantiate({ module_or_path: from });
    } catch (thrown) {
      throw loadFailure(thrown, help);
    }
    loaded = true;
  }

  function init(source?: InitSource): Promise<void> {
    pending ??= load(source).catch((failure) => {
      pending = undefined;
      throw failure;
    });
    return pending;
  }

  return { ready, init };
}

function early(): OkstraError {
  return notInitialised('okstra was called before it was ready', 'await init() first');
}
