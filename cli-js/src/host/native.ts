/**
 * The kernel's locks, from the package `fs-native-extensions`.
 *
 * Its own entry looks for the compiled file through a resolver that takes longer to load than
 * okstra takes to run; the file has a fixed place in the pinned version, so it is loaded directly.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from './fault.js';
import { HostError } from './host.js';

/** What is used of the compiled file. */
export interface Native {
  /** @throws an error with the code EAGAIN where another holds the lock */
  tryLock(file: number, offset: number, length: number, exclusive: boolean): void;
  /**
   * Waits on a thread of its own. The answer has to stay in `request` until `done` is called.
   */
  waitForLock(
    file: number,
    offset: number,
    length: number,
    exclusive: boolean,
    request: { handle?: unknown },
    done: (error?: Error | null) => void,
  ): unknown;
}

let loaded: Native | undefined;

/** The compiled file for this system. `lockFile` is what an error is about. */
export function native(lockFile: string): Native {
  loaded ??= load(lockFile);
  return loaded;
}

function load(lockFile: string): Native {
  const system = `${process.platform}-${process.arch}`;
  try {
    return loadAt(
      `node_modules/fs-native-extensions/prebuilds/${system}/fs-native-extensions.node`,
    );
  } catch {
    try {
      // Not where it is expected: the package knows more places.
      return require('fs-native-extensions/binding.js');
    } catch (error) {
      const isMissing = codeOf(error) === 'MODULE_NOT_FOUND';
      throw new HostError(
        'other',
        lockFile,
        isMissing
          ? 'locking needs the package fs-native-extensions, which is not installed'
          : `locking is not possible on this system (${system}): ${firstLine(error)}`,
        isMissing
          ? 'install okstra again with its dependencies'
          : 'run it on Linux with glibc, macOS or Windows, on x64 or arm64',
      );
    }
  }
}

/** Node's own search for it takes longer than the loading. */
function loadAt(path: string): Native {
  let folder = __dirname;
  while (!existsSync(join(folder, path)) && folder !== dirname(folder)) folder = dirname(folder);
  const made: { exports: unknown } = { exports: {} };
  process.dlopen(made, join(folder, path));
  return made.exports as Native;
}

function firstLine(error: unknown): string {
  return String((error as Error | undefined)?.message ?? error).split('\n', 1)[0] ?? '';
}
