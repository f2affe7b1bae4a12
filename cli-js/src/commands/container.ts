/** `okstra container`: what the finished stages make together, started in containers. */
import { colorOption } from '../cli/color.js';
import { command, type Noun } from '../cli/define.js';

const argument = {
  name: 'KEY',
  text: 'the task (project:group:id), found from the current folder',
  free: true,
} as const;

const json = { kind: 'flag', text: 'print one JSON document' } as const;
const dryRun = { kind: 'flag', text: 'say what would happen and do nothing' } as const;

const engineOption = {
  kind: 'choice',
  text: 'the engine; without it, the first of them that answers',
  choices: ['auto', 'docker', 'docker-compose', 'podman', 'podman-compose'],
  default: 'auto',
} as const;

const engineTimeout = {
  kind: 'integer',
  value: 'SECONDS',
  min: 1,
  text: 'how long an engine may take to answer',
  default: 10,
} as const;

const up = command({
  summary: "Assemble the finished stages in the task's worktree and start the compose file there",
  details:
    'Every finished stage is in it, verified or not. The compose file is the one in the stages themselves; it gets OKSTRA_TASK_KEY, OKSTRA_PROJECT_ROOT, OKSTRA_WORKTREE, OKSTRA_BASE, OKSTRA_HEAD and OKSTRA_STAGES. Run again, it takes in what was finished since. Exit status: 3 when it is refused, 5 without an engine or when compose fails.',
  examples: [
    ['okstra container up shop:web:login', 'assemble and start'],
    ['okstra container up shop:web:login --dry-run', 'the commands, and nothing else'],
  ],
  argument,
  options: {
    file: {
      kind: 'text',
      value: 'PATH',
      text: "the compose file, from the project's folder; without it, the one that compose finds",
    },
    // Not `--env-file`: Node takes that for itself, wherever it stands.
    composeEnv: {
      kind: 'file',
      value: 'FILE',
      text: 'a file with variables, which compose gets as its --env-file',
    },
    engine: engineOption,
    engineTimeout,
    json,
    dryRun,
    color: colorOption,
  },
  async run([key = ''], values, context) {
    return (await import('../lazy/container.js')).up(key, values, context);
  },
});

const down = command({
  summary: 'Stop what up has started',
  details:
    'The worktree stays, and so do volumes, unless they are asked for. Where nothing is up, nothing is done. Exit status: 3 when it is refused, 5 without the engine or when compose fails.',
  examples: [
    ['okstra container down shop:web:login', 'stop the containers'],
    ['okstra container down shop:web:login --remove-worktree', 'and remove the worktree'],
  ],
  argument,
  options: {
    volumes: { kind: 'flag', text: 'remove the volumes too, with all that is in them' },
    removeWorktree: {
      kind: 'flag',
      text: "remove the task's worktree afterwards, unless that would lose work",
    },
    engineTimeout,
    json,
    dryRun,
  },
  async run([key = ''], values, context) {
    return (await import('../lazy/container.js')).down(key, values, context);
  },
});

const show = command({
  summary: 'Show what is up: worktree, stages, containers, and what was finished since',
  details: 'Exit status: 5 when something was started and its engine cannot be asked.',
  examples: [
    ['okstra container show shop:web:login', 'how it stands'],
    ['okstra container show shop:web:login --json', 'for a program'],
  ],
  argument,
  options: { engineTimeout, json, color: colorOption },
  async run([key = ''], values, context) {
    return (await import('../lazy/container.js')).show(key, values, context);
  },
});

export const container: Noun = {
  summary: 'Start what the finished stages make together in containers',
  verbs: { up, down, show },
};
