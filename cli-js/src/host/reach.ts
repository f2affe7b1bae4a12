/** Whether okstra has anything to do with a place: a few looks at the disk, nothing more. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { okstraHome } from './home.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folders of okstra in a project. */
const FOLDERS = ['.okstra', join('.project-docs', 'okstra')];

/** The project that a folder belongs to. */
interface Above {
  folder: string;
  /** Whether it has a folder of okstra. */
  isOkstra: boolean;
}

/** The nearest folder above with a folder of okstra or a repository. */
export function projectAbove(env: Environment, cwd: string): Above | undefined {
  if (cwd === '') return undefined;
  const home = okstraHome(env);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    // The person's own folder of okstra, as a rule `~/.okstra`, makes no project of what is above.
    const own = FOLDERS.map((name) => join(folder, name)).filter((path) => path !== home);
    if (own.some(isThere)) return { folder, isOkstra: true };
    if (isThere(join(folder, '.git'))) return { folder, isOkstra: false };
    if (dirname(folder) === folder) return undefined;
  }
}

/** Whether a path is in a worktree that okstra made, as far as its name tells. */
export function isWorktree(env: Environment, path: string): boolean {
  if (path === '') return false;
  const home = okstraHome(env);
  const below = (folder: string) => resolve(path).startsWith(`${join(folder, 'worktrees')}${sep}`);
  if (below(home)) return true;
  const real = realOf(home);
  return real !== home && below(real);
}

/** Whether the registry of worktrees knows a project's folder. */
export function registryNames(env: Environment, folder: string | undefined): boolean {
  if (folder === undefined) return false;
  const registry = join(okstraHome(env), 'worktrees', 'registry.json');
  try {
    if (!isThere(registry)) return false;
    const text = readFileSync(registry, 'utf8');
    return text.includes(JSON.stringify(realOf(folder).replaceAll('\\', '/')));
  } catch {
    return false;
  }
}

/** Whether a file is one of some plans. */
export function inReach(file: string, plans: readonly { plan: string }[]): boolean {
  if (plans.length === 0) return false;
  const real = realOf(file).replaceAll('\\', '/');
  return plans.some(({ plan }) => plan === real);
}

/** A plan is not larger; what is, is not read. */
const LARGEST = 16_000_000;

/** A plan in its place, whatever it holds. */
const PLACE = /[\\/]implementation-planning[\\/]reports[\\/]final-report-[^\\/]*\.md$/i;

/** A heading that a plan has and no other document. */
const HEADING = /^ {0,3}#{1,4}[ \t][^\n]*\bstage map\b/im;

/** Whether a Markdown file is a plan. */
export function isPlan(file: string): boolean {
  if (PLACE.test(file)) return isThere(file);
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > LARGEST) return false;
    return HEADING.test(readFileSync(file, 'latin1'));
  } catch {
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // what cannot be looked at is not there for us
  }
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}
