/** `okstra handoff`: finished stages on their way to the base branch. */
import { type BoardValues, boardOptions, openBoard } from '../cli/board.js';
import { colorOption, wantsColor } from '../cli/color.js';
import type { Context } from '../cli/context.js';
import { command, type Noun, readInteger } from '../cli/define.js';
import { FAULT, OK, UsageError } from '../cli/exit.js';
import { printableJson, say, sayOf } from '../cli/talk.js';
import type { HandOver, Words } from '../lazy/handoff.js';

const againOption = {
  kind: 'flag',
  text: 'also stages that are in a pull request already',
} as const;

const handOverOptions = {
  ...boardOptions,
  stages: {
    kind: 'text',
    value: 'LIST',
    text: 'these stages, with commas between; without it, all that can go',
  },
  again: {
    ...againOption,
    text: `${againOption.text}; okstra's own older collector branch is made anew where it has to be`,
  },
  baseBranch: {
    kind: 'text',
    value: 'BRANCH',
    text: "the branch that the pull request goes to; without it, the remote's default branch",
  },
  remote: { kind: 'text', value: 'NAME', text: "where to push to; without it, 'origin'" },
} as const;

interface HandOverValues extends BoardValues {
  stages: string | undefined;
  again: boolean;
  baseBranch: string | undefined;
  remote: string | undefined;
}

const show = command({
  summary: 'Say which stages can be handed over, and of every other why not',
  details:
    'A stage can go that is done with a commit, accepted by its own verification or the latest one of the whole task, and in no pull request yet.',
  examples: [
    ['okstra handoff show --task-key shop:web:login', 'the table'],
    ['okstra handoff show --plan plan.md --json', 'for a program'],
  ],
  options: { ...boardOptions, again: againOption, color: colorOption },
  async run(_args, values, context) {
    const board = openBoard(values, context);
    const { eligible, showEligible } = await import('../lazy/handoff.js');
    const answer = await eligible(board, values.again);
    if (values.json) return json(context, values, answer);
    warn(context, answer.warnings);
    const { host } = context;
    const style = { width: host.width(), color: wantsColor(host, 1, values.color) };
    host.write(1, await showEligible(answer, style));
    return OK;
  },
});

const assemble = command({
  summary: 'Merge finished stages into one branch, the collector branch',
  details:
    'The heads are merged in the order of their dependencies, after it is certain that there are no conflicts. No worktree is touched. Exit status: 3 when it is refused.',
  examples: [
    ['okstra handoff assemble --task-key shop:web:login', 'all stages that can go'],
    ['okstra handoff assemble --plan plan.md --stages 1,2', 'two of them'],
    ['okstra handoff assemble --plan plan.md --dry-run', 'say what would be merged'],
  ],
  options: handOverOptions,
  async run(_args, values, context) {
    const board = openBoard(values, context);
    const handoff = await import('../lazy/handoff.js');
    const prepared = await handoff.prepare(board, wantedOf(values));
    const collected = await handoff.assemble(board, prepared, values.dryRun);
    const { answer, plan, baseBranch } = prepared;
    if (values.json) {
      const { stages, whole, warnings } = answer;
      const { branch, dropped } = plan;
      const { kind, start, merges, commit } = collected;
      const merged = merges.map((head) => ({ commit: head, stages: prepared.stagesOf.get(head) }));
      return json(context, values, {
        stages,
        whole,
        branch,
        base_branch: baseBranch,
        state: kind,
        start,
        merges: merged,
        dropped,
        commit: commit ?? null,
        warnings,
      });
    }
    warn(context, answer.warnings);
    context.host.write(1, handoff.showCollected(collected, prepared, values.dryRun));
    if (values.dryRun) say(context.host, 'dry run: no branch was made or moved');
    return OK;
  },
});

const pr = command({
  summary: 'Write the pull request of the collector branch, or open it',
  details:
    'With --create the branch is assembled, pushed (never with force, never to the base branch), the pull request opened with gh, and recorded. Exit status: 5 without gh; then the commands are said with which a person does it.',
  examples: [
    ['okstra handoff pr --task-key shop:web:login', 'its title and body'],
    ['okstra handoff pr --task-key shop:web:login --create', 'push and open it'],
    ['okstra handoff pr --plan plan.md --stages 1,2 --create --draft', 'a draft of two stages'],
  ],
  options: {
    ...handOverOptions,
    create: { kind: 'flag', text: 'push the branch, open the pull request and record it' },
    draft: { kind: 'flag', text: 'open it as a draft' },
  },
  async run(_args, values, context) {
    const { host } = context;
    const board = openBoard(values, context);
    const handoff = await import('../lazy/handoff.js');
    const prepared = await handoff.prepare(board, wantedOf(values));
    const { answer, plan, baseBranch, remote, folder } = prepared;
    const { title, body } = answer.pull_request;
    const about = {
      stages: answer.stages,
      title,
      body,
      branch: plan.branch,
      base_branch: baseBranch,
    };
    const text = `${title}\n\n${body}`;
    if (!values.json) warn(context, answer.warnings);
    if (!values.create) {
      if (values.json) return json(context, values, about);
      host.write(1, text);
      return OK;
    }
    const gh = await host.gh();
    if (!values.dryRun && !(await gh.present(folder))) {
      await handoff.assemble(board, prepared, false);
      if (!values.json) host.write(1, text);
      sayOf(host, 'gh', 'no such program, so nothing was pushed; this does it by hand:');
      const lines = handoff.byHand(prepared, sameWords(values), values.draft);
      for (const line of lines) host.write(2, `${line}\n`);
      return FAULT;
    }
    const collected = await handoff.assemble(board, prepared, values.dryRun);
    if (values.dryRun) {
      if (values.json) return json(context, values, about);
      host.write(1, handoff.showCollected(collected, prepared, true));
      host.write(1, `${plan.refspec} would be pushed to ${remote}\n\n${text}`);
      say(host, 'dry run: nothing was pushed, opened or recorded');
      return OK;
    }
    const { url, pushed, before } = await handoff.open(board, prepared, values.draft);
    if (values.json) return json(context, values, { ...about, url, pushed, opened: !before });
    say(host, pushed ? `${plan.branch} is pushed to ${remote}` : `${remote} has ${plan.branch}`);
    if (before) say(host, 'a pull request was open already; it is recorded now');
    host.write(1, `${url}\n`);
    return OK;
  },
});

function wantedOf(values: HandOverValues): HandOver {
  const { stages, again, baseBranch, remote } = values;
  return { stages: stagesOf(stages), again, baseBranch, remote: remote ?? 'origin' };
}

function stagesOf(list: string | undefined): number[] {
  if (list === undefined) return [];
  return list.split(',').map((text) => {
    const number = readInteger(text.trim(), 1);
    if (number !== undefined) return number;
    throw new UsageError(`--stages takes numbers with commas between, got '${list}'`);
  });
}

/** The options with which the same hand-over is asked for again. */
function sameWords({ plan, taskKey, stages, again, baseBranch }: HandOverValues): Words {
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`--${name}`, value];
  return {
    task: [...option('plan', plan), ...option('task-key', taskKey)],
    more: [
      ...option('stages', stages),
      ...option('base-branch', baseBranch),
      ...(again ? ['--again'] : []),
    ],
  };
}

function json({ host }: Context, { dryRun }: { dryRun: boolean }, answer: object): number {
  host.write(1, `${printableJson(dryRun ? { ...answer, dry_run: true } : answer)}\n`);
  return OK;
}

function warn({ host }: Context, warnings: readonly string[]): void {
  for (const warning of warnings) say(host, `warning: ${warning}`);
}

export const handoff: Noun = {
  summary: 'Hand finished stages over: one branch, one pull request',
  verbs: { show, assemble, pr },
};
