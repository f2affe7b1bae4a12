/** The person's own settings: `config.json` in the folder of okstra. */
import { type Host, HostError } from '../host/host.js';

/** What can be set. */
export interface Config {
  /** Minutes without a sign of life after which a claim is quiet. */
  quietMinutes?: number;
}

const KNOWN: Record<keyof Config, (value: unknown) => boolean> = {
  quietMinutes: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 525_600,
};

const MEANT: Record<keyof Config, string> = {
  quietMinutes: 'a whole number of minutes, from 1 to 525600',
};

/** Reads the settings; a setting that does not exist is an error, since it would be ignored. */
export function readConfig(host: Host): Config {
  const path = `${host.home()}/config.json`;
  const bytes = host.readIfThere(path);
  if (bytes === undefined) return {};
  const wrong = (message: string) => new HostError('unreadable', path, message, 'mend the file');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw wrong(`no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong('no JSON object');
  }
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(KNOWN, name)) {
      throw wrong(`there is no setting '${name}'; there is ${Object.keys(KNOWN).join(', ')}`);
    }
    const setting = name as keyof Config;
    if (!KNOWN[setting](given)) throw wrong(`${name} must be ${MEANT[setting]}`);
  }
  return value;
}
