/** `okstra worktree`: the worktrees of stages. What a command does is loaded when it is asked for. */
import { boardOptions } from '../cli/board.js';
import { colorOption } from '../cli/color.js';
import { command, type Noun } from '../cli/define.js';

const { json, implKey } = boardOptions;

/** Which task; without it, all that are registered. */
const which = {
  plan: { ...boardOptions.plan, text: 'only of this plan' },
  taskKey: { ...boardOptions.taskKey, text: 'only of this task (project:group:id)' },
} as const;

const stageOption = { kind: 'integer', value: 'N', min: 1, text: 'the stage' } as const;

const forceOption = {
  kind: 'flag',
  text: 'also what would lose work: uncommitted files, commits that are nowhere else',
} as const;

const taskOption = { kind: 'flag', text: 'the worktree of the whole task' } as const;

const list = command({
  summary: 'Show the worktrees of stages',
  examples: [
    ['okstra worktree list', 'of all tasks'],
    ['okstra worktree list --task-key shop:web:login --json', 'of one, for a program'],
  ],
  options: { ...which, json, color: colorOption },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).list(values, context);
  },
});

const path = command({
  summary: 'Print the folder of the worktree of a stage, or of the task',
  examples: [['cd "$(okstra worktree path --plan plan.md --stage 2)"', 'go there']],
  options: { ...which, stage: stageOption, task: taskOption },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).path(values, context);
  },
});

const task = command({
  summary: 'Make the worktree of the whole task, or bring it up to date',
  details:
    'It is on the branch of the task and has the commits of all finished stages: the folder for what is about all of them, as the final verification is. Exit status: 3 when the stages do not go together.',
  examples: [['okstra worktree task --plan plan.md', 'prints the folder']],
  options: { plan: boardOptions.plan, taskKey: boardOptions.taskKey, implKey, json },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).task(values, context);
  },
});

const forecast = command({
  summary: 'Say which running and finished stages will conflict',
  details: 'Merges are tried without touching any worktree or branch.',
  examples: [['okstra worktree forecast --plan plan.md', 'the pairs, with the files']],
  options: { plan: boardOptions.plan, taskKey: boardOptions.taskKey, implKey, json },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).forecast(values, context);
  },
});

const prune = command({
  summary: 'Remove the worktrees that nobody needs any more',
  details:
    'Without --yes it only says what it would do. Without --force nothing goes that would lose work; what somebody works in never goes.',
  examples: [
    ['okstra worktree prune', 'what may go, and what would be lost with the others'],
    ['okstra worktree prune --yes', 'remove what loses nothing'],
  ],
  options: {
    ...which,
    yes: { kind: 'flag', text: 'do it' },
    force: forceOption,
    json,
  },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).prune(values, context);
  },
});

const remove = command({
  summary: 'Remove the worktree of a stage or of the task, and its branch',
  details:
    'Refused with what would be lost, unless --force is given; never while somebody works in it. Exit status: 3 when it is refused.',
  examples: [
    ['okstra worktree remove --plan plan.md --stage 2', 'if nothing is lost'],
    ['okstra worktree remove --plan plan.md --stage 2 --force', 'give up what is in it'],
  ],
  options: { ...which, stage: stageOption, task: taskOption, force: forceOption, json },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).remove(values, context);
  },
});

const repair = command({
  summary: 'Find and mend where the registry, git and the disk disagree',
  details:
    'No work is ever taken away: what is cleaned up has no commit and no claim. Exit status: 1 when something stays that a person has to decide, or with --dry-run anything at all.',
  examples: [
    ['okstra worktree repair --dry-run', 'what disagrees'],
    ['okstra worktree repair', 'mend it'],
  ],
  options: { ...which, json, dryRun: boardOptions.dryRun },
  async run(_args, values, context) {
    return (await import('../lazy/worktree.js')).repair(values, context);
  },
});

export const worktree: Noun = {
  summary: 'Look at the worktrees of stages, remove and mend them',
  verbs: { list, path, task, forecast, prune, remove, repair },
};
