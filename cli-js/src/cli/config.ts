/** The person's own settings: `config.json` in the folder of okstra. */
import { type Host, HostError } from '../host/host.js';
import { okstraFolder, readObject } from './project.js';

/** What happens when a session edits a file that its stage does not cover. */
export type Guard = 'off' | 'warn' | 'ask' | 'deny';

/** What can be set. */
export interface Config {
  /** Minutes without a sign of life after which a claim is quiet. */
  quietMinutes?: number;
  /** See {@link Guard}; a project's own setting comes before it. */
  guard?: Guard;
  /**
   * The programs that can be workers, by name. Only a person's own settings say what is run:
   * those of a project come from whoever wrote it. The core reads what is in it.
   */
  workers?: Record<string, unknown>;
}

function isGuard(value: unknown): value is Guard {
  return typeof value === 'string' && ['off', 'warn', 'ask', 'deny'].includes(value);
}

const KNOWN: Record<keyof Config, (value: unknown) => boolean> = {
  quietMinutes: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 525_600,
  guard: isGuard,
  workers: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const MEANT: Record<keyof Config, string> = {
  quietMinutes: 'a whole number of minutes, from 1 to 525600',
  guard: 'off, warn, ask or deny',
  workers: 'an object of workers by name',
};

/** Reads the settings; a setting that does not exist is an error, since it would be ignored. */
export function readConfig(host: Pick<Host, 'home' | 'readIfThere'>): Config {
  const path = `${host.home()}/config.json`;
  const wrong = (message: string) => new HostError('unreadable', path, message, 'mend the file');
  const value = readObject(host, path);
  if (value === undefined) return {};
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(KNOWN, name)) {
      throw wrong(`there is no setting '${name}'; there is ${Object.keys(KNOWN).join(', ')}`);
    }
    const setting = name as keyof Config;
    if (!KNOWN[setting](given)) throw wrong(`${name} must be ${MEANT[setting]}`);
  }
  return value;
}

/** What the project says of {@link Guard}, else the person, else `warn`. */
export function guardOf(
  host: Pick<Host, 'home' | 'list' | 'readIfThere'>,
  root: string | null,
): Guard {
  if (root !== null) {
    const path = `${okstraFolder(host, root)}/project.json`;
    const guard = readObject(host, path)?.guard;
    if (isGuard(guard)) return guard;
    if (guard !== undefined) {
      throw new HostError('unreadable', path, `guard must be ${MEANT.guard}`, 'mend the file');
    }
  }
  return readConfig(host).guard ?? 'warn';
}
