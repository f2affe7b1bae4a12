/** What is only asked when somebody installs okstra or looks for what is wrong with it. */
import { accessSync, constants, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf, explain } from './fault.js';
import { type Host, HostError } from './host.js';
import { withLockOn } from './lock.js';
import { type Spawned, spawnProgram } from './spawn.js';

/** The folder of a person's settings of Claude Code: `$CLAUDE_CONFIG_DIR`, else `~/.claude`. */
export function claudeFolder(env: Host['env']): string {
  const given = env.CLAUDE_CONFIG_DIR;
  if (given !== undefined && given !== '') return resolve(given);
  return join(resolve(process.getBuiltinModule('node:os').homedir()), '.claude');
}

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
