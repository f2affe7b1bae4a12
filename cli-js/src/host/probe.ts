/** What is only asked when somebody installs okstra or looks for what is wrong with it. */
import {
  accessSync,
  constants,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf, explain } from './fault.js';
import { type Host, HostError } from './host.js';
import { withLockOn } from './lock.js';
import { type Spawned, spawnProgram } from './spawn.js';

/** Runs a program and answers what it says; nothing where there is no such program. */
export async function ask(
  words: readonly [string, ...string[]],
  env: Host['env'],
  folder = process.cwd(),
): Promise<Spawned | undefined> {
  const [program, ...args] = words;
  try {
    return await spawnProgram(program, args, { folder, env, help: 'install it' });
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/**
 * Asks whether a file may be replaced, before anything is.
 * @throws HostError `denied`
 */
export function wantWritable(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
    accessSync(realpathSync(path), constants.W_OK);
  } catch (error) {
    throw explain(error, path);
  }
}

/**
 * Takes away what processes that were killed had begun to write for these files. Whoever calls it
 * sees to it that nobody writes them at the same time.
 */
export function sweepNow(paths: readonly string[]): void {
  for (const path of paths) {
    let folder: string;
    try {
      // Where the settings are a link, the temporary file is beside what it leads to.
      folder = dirname(statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path);
      for (const name of readdirSync(folder)) {
        const found = /^\.(.+)\.(\d+)-[\da-z]+\.tmp$/.exec(name);
        if (found?.[1] !== basename(path) || isRunning(Number(found[2]))) continue;
        rmSync(join(folder, name), { force: true });
      }
    } catch {
      // A folder that is not there, or not ours to read, has nothing of ours.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** Why locks do not work in a folder; nothing where they do. */
export async function lockFault(folder: string): Promise<string | undefined> {
  const file = join(folder, `.okstra-doctor-${process.pid}.tmp`);
  try {
    writeFileSync(file, '', { flag: 'wx' });
  } catch (error) {
    return `nothing can be written there (${codeOf(error)})`;
  }
  try {
    return await withLockOn(file, 0, async () => {
      try {
        await withLockOn(file, 0, () => {});
        return 'two may hold one lock at a time';
      } catch (error) {
        if (error instanceof HostError && error.reason === 'locked') return undefined;
        throw error;
      }
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(file, { force: true });
  }
}
