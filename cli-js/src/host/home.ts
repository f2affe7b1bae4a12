/** The folder of okstra itself: locks and signs of life. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isoTime } from './clock.js';
import { codeOf, explain, OWN } from './fault.js';
import { HostError } from './host.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** `$OKSTRA_HOME`, else `~/.okstra`; always absolute. */
export function okstraHome(env: Environment): string {
  const given = env.OKSTRA_HOME;
  if (given !== undefined && given !== '') return resolve(given);
  // Few commands need it; loading it costs a quarter of a millisecond.
  const os = process.getBuiltinModule('node:os');
  try {
    return join(resolve(os.homedir()), '.okstra');
  } catch {
    // A user without an entry in the list of users, as in some containers.
    throw new HostError('missing', '~', 'the home folder is not known', 'set OKSTRA_HOME');
  }
}

/** The folder of Claude Code: `$CLAUDE_CONFIG_DIR`, else `~/.claude`; always absolute. */
export function claudeFolder(env: Environment): string {
  const given = env.CLAUDE_CONFIG_DIR;
  if (given !== undefined && given !== '') return resolve(given);
  const os = process.getBuiltinModule('node:os');
  try {
    return join(resolve(os.homedir()), '.claude');
  } catch {
    throw new HostError('missing', '~', 'the home folder is not known', 'set CLAUDE_CONFIG_DIR');
  }
}

/** Where the locks of ledgers lie. */
export function locksFolder(env: Environment): string {
  return join(okstraHome(env), 'locks');
}

/** The file whose time is the sign of life of a session. No name leads out of the folder. */
export function sessionFile(env: Environment, session: string): string {
  const name = session
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    .replace(/[/:\\\u0000-\u001f\u007f-\u009f]/g, '-')
    .replace(/^\.+/, (dots) => '-'.repeat(dots.length));
  return join(okstraHome(env), 'sessions', name === '' ? '-' : name);
}

/** See {@link Host.signOfLife}. */
export function signOfLife(env: Environment, session: string): string | undefined {
  const file = sessionFile(env, session);
  try {
    const time = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    return time === undefined ? undefined : isoTime(Math.floor(time));
  } catch (error) {
    // No hook can have made a file of such a name.
    if (codeOf(error) === 'ENAMETOOLONG') return undefined;
    throw explain(error, file, OWN);
  }
}
