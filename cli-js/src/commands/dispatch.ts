/** `okstra dispatch`: worker programs on prompt files. */
import type { Context } from '../cli/context.js';
import { command, type Noun, type Options } from '../cli/define.js';
import { leadOptions } from '../cli/lead.js';

const argument = {
  name: 'PROMPT',
  text: "the prompt; a folder stands for all that were dispatched in it or in its folder 'prompts'",
  many: true,
} as const;

const { json, dryRun } = leadOptions;

const STATUS =
  'Of one prompt the exit status is its own: 0 complete, 4 the worker ended with 0 and a file is missing, 124 the time was up, 128 and the number of the signal that ended it, 143 stopped, 5 it was lost or could not be started, else the status of the worker itself. Of several it is 0 when all are complete, else 1.';

const watching = {
  json,
  follow: { kind: 'flag', text: 'print what the workers write as well' },
} as const satisfies Options;

const lazy = (context: Context) =>
  import('../lazy/dispatch.js').then(({ dispatcher }) => dispatcher(context));

const start = command({
  summary: 'Start a worker on each prompt and wait until all have ended',
  details: `A prompt begins with the headers '**Project Root**', '**Result Path:**', '**Model:**' (or default) and '**Worktree:**'; '**CLI:**', '**Role:**' and any number of '**Completion Path:**' may follow. The worker reads the prompt on standard input and works in the worktree; what it writes goes into PROMPT.log, what is known of it into PROMPT.status.json. It goes on when this command is ended: see 'dispatch resume'. ${STATUS}`,
  examples: [
    ['okstra dispatch start RUN/prompts/build.md --cli codex', 'one worker'],
    ['okstra dispatch start a.md b.md c.md --time-limit 90m', 'three at once'],
    ['okstra dispatch start a.md --dry-run', 'the command it would run'],
  ],
  argument: { ...argument, text: 'the prompt' },
  options: {
    cli: {
      kind: 'text',
      value: 'NAME',
      text: 'the worker: claude, codex, gemini, antigravity or one of your own',
    },
    role: { kind: 'text', value: 'NAME', text: 'what it is there for; default: worker' },
    timeLimit: {
      kind: 'text',
      value: 'TIME',
      text: 'how long it may work, such as 90m; default: 4h',
    },
    grace: {
      kind: 'text',
      value: 'TIME',
      text: 'how long it may take to end before it is killed; default: 10s',
    },
    runDir: { ...leadOptions.runDir, text: "the run's folder; default: that of the prompt" },
    session: { ...leadOptions.session, text: 'the session that leads the run' },
    again: { kind: 'flag', text: 'also a prompt that is complete' },
    detach: { kind: 'flag', text: 'do not wait' },
    trace: {
      kind: 'switch',
      text: 'open a pane with what it writes (inside tmux it is the default)',
      off: 'open no pane',
    },
    ...watching,
    dryRun,
  },
  run: async (args, values, context) => (await lazy(context)).start(args, values),
});

const resume = command({
  summary: 'Go on with dispatches: wait for those that run, take over those whose parent died',
  details: `A worker whose supervisor is gone is looked after again, within the time it has left. One that ended while nobody looked is complete when the files are there that have to be, else lost. ${STATUS}`,
  examples: [['okstra dispatch resume RUN', 'all of a run']],
  argument,
  options: watching,
  run: async (args, values, context) => (await lazy(context)).resume(args, values),
});

const show = command({
  summary: 'Say how dispatches stand',
  examples: [
    ['okstra dispatch show RUN', 'all of a run'],
    ['okstra dispatch show PROMPT --json', 'everything that is known of one'],
  ],
  argument,
  options: { json },
  run: async (args, values, context) => (await lazy(context)).show(args, values),
});

const follow = command({
  summary: 'Print what a worker writes, until it has ended',
  details:
    'Without control characters. Where a worker writes faster than can be read, the middle is left out; the log has all of it. It is what a trace pane runs.',
  examples: [['okstra dispatch follow PROMPT', 'in another terminal']],
  argument: { ...argument, text: 'the prompt', many: false },
  options: {
    linger: {
      kind: 'integer',
      value: 'SECONDS',
      min: 0,
      text: 'how long to stay when it has ended',
      default: 0,
    },
  },
  run: async (args, values, context) => (await lazy(context)).follow(args, values),
});

const stop = command({
  summary: 'End workers with everything they have started',
  details:
    'They are asked to end and, when their grace is over, killed. What they have left stays.',
  examples: [['okstra dispatch stop PROMPT', 'end one']],
  argument,
  options: { json, dryRun },
  run: async (args, values, context) => (await lazy(context)).stop(args, values),
});

export const dispatch: Noun = {
  summary: 'Start worker programs on prompts, wait for them, end them',
  verbs: { start, resume, show, follow, stop },
};
