/** `okstra wizard`: the questions that lead to a run. */
import type { Context } from '../cli/context.js';
import { command, type Noun } from '../cli/define.js';
import { OK, REFUSED, UsageError } from '../cli/exit.js';
import { languageOf, languageOption } from '../cli/language.js';
import { readList } from '../cli/list.js';
import { slashes } from '../cli/paths.js';
import { printableJson } from '../cli/talk.js';
import type { Asked } from '../lazy/wizard.js';

const stateFile = {
  kind: 'file',
  value: 'FILE',
  text: 'where the answers are kept',
} as const;

const beginOptions = {
  projectRoot: { kind: 'file', value: 'FOLDER', text: "the project's folder; without it, asked" },
  projectId: { kind: 'text', value: 'ID', text: "the project's id, where it has none yet" },
  language: languageOption,
} as const;

/** What is known at the beginning. */
function beginning(
  values: {
    projectRoot: string | undefined;
    projectId: string | undefined;
    language: 'auto' | 'en' | 'ko';
  },
  { host }: Context,
) {
  const { projectRoot: root, projectId: id } = values;
  return {
    language: languageOf(values.language, host.env),
    ...(root === undefined ? {} : { project_root: slashes(host.realPath(root)) }),
    ...(id === undefined ? {} : { project_id: id }),
  };
}

function fileOf(path: string | undefined): string {
  if (path === undefined)
    throw new UsageError('where are the answers kept? give --state-file FILE');
  return path;
}

/** Prints a question as one JSON document. */
function print({ host }: Context, { question, echo }: Asked, more: object = {}): number {
  const said = echo === null ? {} : { echo };
  host.write(1, `${printableJson({ ...question, ...said, ...more })}\n`);
  return question.error === undefined ? OK : REFUSED;
}

const alone = command({
  summary: 'Ask question after question, then start a run',
  details:
    'Needs a terminal: arrow keys choose, typing searches, Escape goes back, Ctrl-C stops. Nothing is written before the run is started. A program asks with init, step, confirmation and render-args.',
  examples: [['okstra wizard', 'from the project to the run']],
  options: beginOptions,
  async run(_args, values, context) {
    if (!context.host.isInteractive()) {
      throw new UsageError(
        "no terminal to ask in; a program goes on with 'okstra wizard init --state-file FILE', then 'okstra wizard step', 'confirmation' and 'render-args'",
      );
    }
    const { inTerminal } = await import('../lazy/wizard.js');
    return inTerminal(context, beginning(values, context));
  },
});

const init = command({
  summary: 'Begin, and print the first question as JSON',
  details:
    'A question has step, kind (pick, multi, text, confirm, done), label, options (value, label, and disabled with the reason where one cannot be chosen), other (a text of your own is an answer, too), optional, default and echo_template.',
  examples: [['okstra wizard init --state-file wizard.json', 'the first question']],
  options: { stateFile, ...beginOptions },
  async run(_args, values, context) {
    const file = fileOf(values.stateFile);
    const { begin } = await import('../lazy/wizard.js');
    return print(context, await begin(context, file, beginning(values, context)));
  },
});

const step = command({
  summary: 'Answer the question, or go back, and print the next one',
  details:
    'Without an answer the question is printed once more. An answer that is wrong changes nothing: the question is repeated with the field error, exit status 3. Several values have commas between them, or are a JSON list.',
  examples: [
    ['okstra wizard step --state-file wizard.json --answer auto', 'answer'],
    ['okstra wizard step --state-file wizard.json --step stage_pick --answer 2', 'only that one'],
    ['okstra wizard step --state-file wizard.json --back', 'the question before'],
  ],
  options: {
    stateFile,
    answer: { kind: 'text', value: 'VALUE', text: 'the answer' },
    step: { kind: 'text', value: 'STEP', text: 'refuse the answer unless this is the question' },
    back: { kind: 'flag', text: 'go back to the question before' },
    to: { kind: 'text', value: 'STEP', text: 'go back to this question' },
  },
  async run(_args, values, context) {
    const { answer, step: meant, back, to } = values;
    if ([answer !== undefined, back, to !== undefined].filter(Boolean).length > 1) {
      throw new UsageError('give one of --answer, --back and --to');
    }
    const file = fileOf(values.stateFile);
    const { goOn } = await import('../lazy/wizard.js');
    const asked = await goOn(context, file, ({ question: { kind } }) => ({
      back,
      ...(to === undefined ? {} : { to }),
      ...(meant === undefined ? {} : { step: meant }),
      ...(answer === undefined
        ? {}
        : { answer: kind === 'multi' ? readList(answer, 'answer') : [answer] }),
    }));
    return print(context, asked);
  },
});

const confirmation = command({
  summary: 'Print what was decided, for the last question',
  details: 'Exit status: 3 while other questions are left; the next one is printed then.',
  examples: [['okstra wizard confirmation --state-file wizard.json', 'the summary']],
  options: { stateFile },
  async run(_args, values, context) {
    const file = fileOf(values.stateFile);
    const { readState } = await import('../lazy/wizard.js');
    const now = await readState(context, file, {});
    const isLast = ['confirmation', 'done'].includes(now.question.step);
    const asked = isLast ? now : await readState(context, file, { finish: true });
    return print(context, asked, { summary: asked.summary });
  },
});

const renderArgs = command({
  summary: 'Print the arguments of okstra run',
  details:
    'As args by name, as argv, and as a command line. Exit status: 3 before everything is answered and confirmed; the next question is printed then.',
  examples: [['okstra wizard render-args --state-file wizard.json', 'how to start the run']],
  options: { stateFile },
  async run(_args, values, context) {
    const file = fileOf(values.stateFile);
    const { readState } = await import('../lazy/wizard.js');
    const asked = await readState(context, file, { finish: true });
    if (asked.run === null) return print(context, asked);
    context.host.write(1, `${printableJson(asked.run)}\n`);
    return OK;
  },
});

export const wizard: Noun = {
  summary: 'Ask question after question until a run can start',
  alone,
  verbs: { init, step, confirmation, 'render-args': renderArgs },
};
