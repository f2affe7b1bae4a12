/** Whether a git works on a folder, which may have outlived whoever started it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { ps } from '../processes.js';

/**
 * Whether a git names the folder in its arguments or stands in it. Where the system does not tell,
 * nobody does: then git's own locks are all there is.
 */
export function isAtWork(path: string): boolean {
  if (process.platform === 'darwin') {
    const lines = ps('-axo', 'args=')?.split('\n') ?? [];
    return lines.some((line) => /^\S*git /.test(line) && line.includes(` ${path}`));
  }
  if (process.platform !== 'linux') return false;
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && worksOn(name, path));
}

function worksOn(pid: string, path: string): boolean {
  try {
    const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (basename(program) !== 'git') return false;
    if (args.includes(path)) return true;
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    return folder === path || folder.startsWith(path + sep);
  } catch {
    return false; // it has ended meanwhile, or is another user's
  }
}
