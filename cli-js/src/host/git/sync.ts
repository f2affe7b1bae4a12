/** Folders of the project that every worktree shares with it, by symbolic links. */
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, posix, relative, sep } from 'node:path';
import { explain, RECORD } from '../fault.js';
import { HostError } from '../host.js';
import { realPath } from '../paths.js';
import type { Linked } from './git.js';
import { ask, failed, parts, run } from './run.js';
import { isThere } from './take.js';

/** See {@link Git.linkSyncDirs}. */
export async function linkSyncDirs(
  project: string,
  worktree: string,
  given: readonly string[],
): Promise<Linked> {
  const outcome: Linked = { linked: [], warnings: [] };
  const dirs = plain(given);
  // All are looked at before the first is linked: one that may not be is a fault of the settings.
  for (const dir of dirs) checkDir(project, worktree, dir);
  for (const dir of dirs) {
    const why = link(project, worktree, dir);
    if (why === undefined) outcome.linked.push(dir);
    else outcome.warnings.push(`${dir}: ${why}`);
  }
  const seen = await excludeLinks(project, worktree, outcome.linked);
  for (const dir of seen) {
    outcome.warnings.push(`${dir}: git sees the link in the worktree; ignore ${dir} in .gitignore`);
  }
  return outcome;
}

/** See {@link Git.unlinkSyncDirs}. */
export function unlinkSyncDirs(
  project: string,
  worktree: string,
  dirs: readonly string[],
): string[] {
  return plain(dirs).filter((dir) => {
    const place = join(worktree, dir);
    if (!isInside(dir) || !isLinkTo(place, join(project, dir))) return false;
    unlinkSync(place);
    return true;
  });
}

/** Without slashes at the end, which follow a link, and without what lies in another of them. */
function plain(dirs: readonly string[]): string[] {
  const names = [...new Set(dirs.map((dir) => dir.replace(/(?<=.)\/+$/, '')))];
  return names.filter((name) => !names.some((other) => name.startsWith(`${other}/`)));
}

/** Whether a path stays below the folder it is relative to. */
function isInside(dir: string): boolean {
  const plain = posix.normalize(dir.replaceAll('\\', '/')).replace(/\/$/, '');
  if (dir === '' || isAbsolute(dir) || /^[a-z]:/i.test(dir)) return false;
  return !['.', '..', '.git'].includes(plain.split('/')[0] ?? '');
}

function checkDir(project: string, worktree: string, dir: string): void {
  const refuse = (message: string) => {
    const help = 'name folders of the project in worktreeSyncDirs of project.json';
    return new HostError('refused', dir, message, help);
  };
  if (!isInside(dir)) throw refuse('not a folder in the project');
  if (!isBelow(project, join(project, dir))) throw refuse('leads out of the project');
  if (!isBelow(worktree, dirname(join(worktree, dir)))) throw refuse('leads out of the worktree');
}

/** Whether a path is in a folder once links are followed. */
function isBelow(folder: string, path: string): boolean {
  const [real, root] = [realPath(path), realPath(folder)];
  return real === root || real.startsWith(root + sep);
}

/** Links one folder; answers why not. */
function link(project: string, worktree: string, dir: string): string | undefined {
  const target = join(project, dir);
  const place = join(worktree, dir);
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return 'the project has no such folder';
  if (!found.isDirectory()) return 'not a folder';
  if (isLinkTo(place, target)) return undefined;
  if (isThere(place)) return 'the worktree has something of that name';
  try {
    mkdirSync(dirname(place), { recursive: true });
    // Windows gives the right to make other links to few.
    symlinkSync(target, place, 'junction');
  } catch (error) {
    throw explain(error, place, RECORD);
  }
  return undefined;
}

function isLinkTo(place: string, target: string): boolean {
  if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) return false;
  // A junction is read with a separator at its end.
  return readlinkSync(place).replace(/[\\/]$/, '') === target;
}

/** Excludes the links that git would see, where it can be done; answers the others. */
async function excludeLinks(
  project: string,
  worktree: string,
  dirs: readonly string[],
): Promise<string[]> {
  const seen = await notIgnored(worktree, dirs);
  if (seen.length === 0) return [];
  const shown = await notIgnored(project, seen);
  const hidden = seen.filter((dir) => !shown.includes(dir));
  if (hidden.length > 0) await exclude(worktree, hidden);
  return shown;
}

/** A path as git names it: it does not look through links in the middle of one. */
function nameIn(folder: string, dir: string): string {
  const above = relative(realPath(folder), realPath(dirname(join(folder, dir))));
  return join(above, basename(dir)).replaceAll(sep, '/');
}

/** Those that git does not ignore in a folder. */
async function notIgnored(folder: string, dirs: readonly string[]): Promise<string[]> {
  if (dirs.length === 0) return [];
  const args = ['check-ignore', '-z', '--stdin'];
  const names = dirs.map((dir) => nameIn(folder, dir));
  const ran = await run(folder, args, { input: names.join('\0') });
  if (ran.status !== 0 && ran.status !== 1) throw failed(folder, args, ran);
  const ignored = new Set(parts(ran.stdout.toString()));
  return dirs.filter((_, i) => !ignored.has(names[i] ?? ''));
}

/** Adds lines to the exclude file that all worktrees share. */
async function exclude(worktree: string, dirs: readonly string[]): Promise<void> {
  const args = [
    'rev-parse',
    '--path-format=absolute',
    '--show-prefix',
    '--git-path',
    'info/exclude',
  ];
  const [prefix = '', file = ''] = (await ask(worktree, args)).split('\n');
  const before = isThere(file) ? readFileSync(file, 'utf8') : '';
  const known = new Set(before.split('\n'));
  const lines = dirs.map((dir) => pattern(posix.join('/', prefix, nameIn(worktree, dir))));
  const missing = lines.filter((line) => !known.has(line));
  if (missing.length === 0) return;
  const start = before === '' || before.endsWith('\n') ? '' : '\n';
  try {
    mkdirSync(dirname(file), { recursive: true });
    // One write at the end: others may do the same at this moment.
    appendFileSync(file, `${start}${missing.join('\n')}\n`);
  } catch (error) {
    throw explain(error, file, RECORD);
  }
}

/** A path as a line of an exclude file. */
function pattern(path: string): string {
  return path.replace(/\/$/, '').replace(/[\\*?[ ]/g, '\\$&');
}
