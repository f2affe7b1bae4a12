/** The real world. */
import { isSameFile, readFile, readStdin, replaceFile, writeFile } from './files.js';
import type { Host } from './host.js';
import { onInterrupt } from './process.js';
import { isTerminal, width, write } from './terminal.js';

export const nodeHost: Host = {
  env: process.env,
  readFile,
  readStdin,
  replaceFile,
  writeFile,
  isSameFile,
  write,
  isTerminal,
  width,
  onInterrupt,
  async watchFiles(paths, changed) {
    const { watchFiles } = await import('../lazy/watch.js');
    return watchFiles(paths, changed);
  },
};
