/** The real world. */
import { appendLine } from './append.js';
import { now } from './clock.js';
import { writeNew } from './create.js';
import { isSameFile, readFile, readIfThere, readStdin, replaceFile, writeFile } from './files.js';
import { gitHead, gitTree } from './git/head.js';
import { claudeFolder, okstraHome, signOfLife } from './home.js';
import type { Host, ProcessState } from './host.js';
import { newId } from './id.js';
import { withLock, withLockOn } from './lock.js';
import { exists, isFile, list, realPath } from './paths.js';
import { onInterrupt, runProgram } from './process.js';
import { hostName, startOf, stateOf } from './processes.js';
import { removeFile, removeFolder } from './remove.js';
import { sessionProcess } from './session.js';
import { noteClaim, readSession } from './sessions.js';
import { height, isInteractive, isTerminal, width, write } from './terminal.js';

export const nodeHost: Host = {
  env: process.env,
  readFile,
  readStdin,
  replaceFile,
  writeFile,
  writeNew,
  removeFile,
  removeFolder,
  append: appendLine,
  readIfThere,
  list,
  exists,
  isFile,
  realPath,
  isSameFile,
  write,
  isTerminal,
  isInteractive,
  width,
  height,
  onInterrupt,
  gitTree,
  runProgram,
  gitHead: (folder) => gitHead(folder, process.env),
  async git() {
    return (await import('../lazy/git.js')).git;
  },
  async gh() {
    return (await import('../lazy/git.js')).gh;
  },
  async tmux() {
    return (await import('../lazy/tmux.js')).tmux;
  },
  async engine() {
    return (await import('../lazy/engine.js')).engine;
  },
  async serving() {
    return (await import('../lazy/serving.js')).serving;
  },
  async workers() {
    return (await import('../lazy/workers.js')).workers;
  },
  async prompts() {
    return (await import('../lazy/prompts.js')).prompts;
  },
  claudeFolder: () => claudeFolder(process.env),
  async scanLines(path, word, found) {
    return (await import('../lazy/scan.js')).scanLines(path, word, found);
  },
  async readStart(path, bytes) {
    return (await import('../lazy/scan.js')).readStart(path, bytes);
  },
  withLock,
  withLockOn,
  cwd: () => process.cwd(),
  now,
  newId,
  home: () => okstraHome(process.env),
  hostName,
  ownProcess: () => ({ pid: process.pid, pid_start: startOf(process.pid) ?? null }),
  sessionProcess,
  processState: stateOf,
  noteClaim: (session, noted) => noteClaim(process.env, session, noted),
  sessionState,
  signOfLife: (session) => signOfLife(process.env, session),
  async watchFiles(paths, changed) {
    const { watchFiles } = await import('../lazy/watch.js');
    return watchFiles(paths, changed);
  },
};

function sessionState(session: string): ProcessState | undefined {
  const runs = readSession(process.env, session).process;
  return runs === undefined ? undefined : stateOf(runs.pid, runs.pid_start ?? undefined);
}
