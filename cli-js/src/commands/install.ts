/** `okstra install`, `uninstall` and `doctor`: okstra in the configuration of Claude Code. */
import { boardOptions } from '../cli/board.js';
import { command } from '../cli/define.js';

const options = {
  scope: {
    kind: 'choice',
    text: 'whose configuration: yours, or that of the project',
    choices: ['user', 'project'],
    default: 'user',
  },
  plugin: { kind: 'flag', text: "as a plugin, by Claude Code's own command" },
  projectRoot: { kind: 'file', value: 'FOLDER', text: "the project's folder; default: this one" },
  json: boardOptions.json,
  dryRun: boardOptions.dryRun,
} as const;

export const install = command({
  summary: "Put hooks, skills and agents into Claude Code's configuration",
  details:
    'Your own settings stay as they are, byte for byte, and installing again changes nothing. Exit status: 3 when files of somebody else are in the way.',
  examples: [
    ['okstra install', 'for you, in every project'],
    ['okstra install --scope project', 'for everybody who works on this project'],
    ['okstra install --plugin', 'as a plugin'],
    ['okstra install --dry-run', 'what would be written'],
  ],
  options: {
    ...options,
    force: { kind: 'flag', text: 'also replace files and hooks that somebody has changed' },
  },
  async run(_args, values, context) {
    const { install } = await import('../lazy/install.js');
    return install(values, context);
  },
});

export const uninstall = command({
  summary: 'Take out again what install has put there, and nothing else',
  details: 'Files that somebody has changed since stay and are named.',
  examples: [
    ['okstra uninstall', 'yours'],
    ['okstra uninstall --scope project', "the project's"],
  ],
  options: {
    ...options,
    force: { kind: 'flag', text: 'also remove files that somebody has changed' },
  },
  async run(_args, values, context) {
    const { uninstall } = await import('../lazy/install.js');
    return uninstall(values, context);
  },
});

export const doctor = command({
  summary: 'Say what is wrong with okstra here, and how to mend it',
  details: 'Exit status: 1 when something does not work.',
  examples: [
    ['okstra doctor', 'programs, hooks, locks, ledgers and claims'],
    ['okstra doctor --json', 'for a program'],
  ],
  options: {
    json: boardOptions.json,
  },
  async run(_args, values, context) {
    const { doctor } = await import('../lazy/install.js');
    return doctor(values, context);
  },
});
