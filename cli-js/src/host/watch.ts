/**
 * Watching files for changes, through chokidar.
 *
 * The folders are watched, not the files: an editor that saves by renaming a new file over the
 * old one, and a file that vanishes and comes back, are both seen that way. A folder that is not
 * there yet is waited for in the nearest one above it.
 */
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { watch } from 'chokidar';
import type { Watcher } from './host.js';

/** Milliseconds of quiet after which a burst of events counts as one change. */
const QUIET = 60;

/** Milliseconds after which a burst that does not end counts as a change all the same. */
const MOST = 240;

/** See {@link Host.watchFiles}. */
export async function watchFiles(paths: readonly string[], changed: () => void): Promise<Watcher> {
  const isFolder = (name: string) => name.endsWith('/');
  const files = new Set(paths.filter((name) => !isFolder(name)).map((file) => path.resolve(file)));
  const whole = new Set(paths.filter(isFolder).map((folder) => path.resolve(folder)));
  const folders = new Set([...whole, ...[...files].map((file) => path.dirname(file))]);
  const isMeant = (full: string) => files.has(full) || whole.has(path.dirname(full));
  for (const folder of folders) {
    // A set takes on what is added while one walks through it: so this goes up, folder by folder.
    if (!existsSync(folder)) folders.add(path.dirname(folder));
  }
  const watcher = watch([...folders], {
    depth: 0,
    ignoreInitial: true,
    ignored: (entry) => {
      const full = path.resolve(entry);
      return !isMeant(full) && !folders.has(full);
    },
  });
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  watcher.on('all', (event, entry) => {
    const full = path.resolve(entry);
    // What came with a new folder is no event of its own.
    if (event === 'addDir' && folders.has(full)) {
      for (const folder of folders) {
        if (folder === full || folder.startsWith(full + path.sep)) watcher.add(folder);
      }
    } else if (!isMeant(full)) return;
    const now = performance.now();
    since ??= now;
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        since = undefined;
        changed();
      },
      Math.max(0, Math.min(QUIET, since + MOST - now)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    watcher.once('ready', () => resolve());
    watcher.once('error', reject);
  });
  // What cannot be followed any more comes back with the next change around it, or not at all.
  watcher.on('error', () => {});
  return {
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
