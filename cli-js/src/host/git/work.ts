/** Whether a git works on a folder, which may have outlived whoever started it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { ps } from '../processes.js';

/**
 * Whether a git names the folder or the branch in its arguments, or stands in the folder. Where the system does not tell,
 * nobody does: then git's own locks are all there is.
 */
export function isAtWork(path: string, ref: string): boolean {
  if (process.platform === 'darwin') {
    const lines = ps('-axo', 'args=')?.split('\n') ?? [];
    return lines.some(
      (line) => /^\S*git /.test(line) && [path, ref].some((name) => line.includes(` ${name}`)),
    );
  }
  if (process.platform !== 'linux') return false;
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && worksOn(name, path, ref));
}

function worksOn(pid: string, path: string, ref: string): boolean {
  try {
    const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (basename(program) !== 'git') return false;
    if (args.some((arg) => arg === path || arg.endsWith(ref))) return true;
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    return folder === path || folder.startsWith(path + sep);
  } catch {
    return false; // it has ended meanwhile, or is another user's
  }
}
