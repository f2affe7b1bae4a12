/** `okstra stage`: the life of a stage. */
import type { DoneAnswer, FactsInput } from '../../../npm-package/src/index.js';
import {
  type Ask,
  type Board,
  boardOptions,
  decide,
  look,
  openBoard,
  slashes,
} from '../cli/board.js';
import { colorOption, wantsColor } from '../cli/color.js';
import type { Context } from '../cli/context.js';
import { command, type Noun, type Options } from '../cli/define.js';
import { CONTRACT_VIOLATED, OK, UsageError } from '../cli/exit.js';
import { readInput } from '../cli/input.js';
import { about, printableJson, say, sayOf } from '../cli/talk.js';
import type { Git } from '../host/git/git.js';
import { HostError } from '../host/host.js';
import { watchStages } from './stage-watch.js';

const wishOption = {
  kind: 'text',
  value: 'N',
  text: "the stage: a number, or 'auto' for the next that is ready (the default)",
} as const;

const orderOption = {
  kind: 'choice',
  text: 'which of several ready stages comes first',
  choices: ['number', 'critical-path'],
  default: 'number',
} as const;

const stageOption = {
  kind: 'integer',
  value: 'N',
  min: 1,
  text: 'the stage; without it, the one you have claimed',
} as const;

const forceOption = {
  kind: 'flag',
  text: 'append a row on purpose where one stands already; the latest counts',
} as const;

const REFUSED_WITH = 'Exit status: 3 when it is refused, 1 when the plan has errors.';

const next = command({
  summary: 'Say which stage a claim would give now',
  details: `Nothing is reserved: only a claim takes a stage. ${REFUSED_WITH}`,
  examples: [
    ['okstra stage next --plan plan.md', 'the next stage'],
    ['okstra stage next --plan plan.md --explain', 'why each stage is ready, taken or waiting'],
    ['okstra stage next --plan plan.md --order critical-path', 'the longest chain first'],
  ],
  options: {
    ...boardOptions,
    stage: wishOption,
    order: orderOption,
    explain: { kind: 'flag', text: 'say of every stage why it is ready, taken or waiting' },
    color: colorOption,
  },
  async run(_args, values, context) {
    const { host } = context;
    const board = openBoard(values, context);
    const conflicts = values.explain
      ? await (await import('../lazy/worktree.js')).foreseenConflicts(board)
      : [];
    const request = {
      stage: values.stage ?? 'auto',
      order: values.order,
      explain: values.explain,
      conflicts,
    };
    const { answer } = await asked(board, values, 'stage next', look, (ledger, facts) =>
      board.api.stageNext(board.bytes, ledger, facts, request),
    );
    if (values.json) return json(context, values, answer);
    warn(context, answer.warnings);
    if (answer.choice !== null) {
      host.write(1, `selected stage: ${answer.choice.stage}\n`);
      sayOf(host, board.name, `not reserved; 'okstra stage claim' takes it`);
    }
    if (values.explain) {
      const { showExplanation } = await import('../lazy/stage.js');
      host.write(1, await showExplanation(answer, tableStyle(context, values.color)));
    }
    return OK;
  },
});

const claim = command({
  summary: 'Take the next stage, or a given one',
  details: `Choosing and recording are one step under one lock: sessions that start together get different stages. Claiming again from the same session answers with the claim it holds. ${REFUSED_WITH}`,
  examples: [
    ['okstra stage claim --plan plan.md', 'take the next stage, in a worktree of its own'],
    ['okstra stage claim --task-key shop:web:login --json', 'for a program'],
    ['okstra stage claim --plan plan.md --no-worktree', 'in the project folder itself'],
    ['okstra stage claim --plan plan.md --stage 2 --reclaim', 'of a dead session'],
  ],
  options: {
    ...boardOptions,
    stage: wishOption,
    order: orderOption,
    reclaim: { kind: 'flag', text: 'take a stage whose session is dead' },
    worktree: {
      kind: 'switch',
      text: 'make a worktree for the stage',
      off: 'work in the project folder itself',
    },
    resolve: {
      kind: 'flag',
      text: 'leave a merge with conflicts open in the new worktree, to be finished there',
    },
  },
  async run(_args, values, context) {
    const { host } = context;
    const inWorktree = values.worktree !== false && !values.dryRun;
    const git = inWorktree ? await host.git() : undefined;
    let looked: ReturnType<Git['repository']> | undefined;
    const begin = (root: string | undefined) => {
      looked = root === undefined ? undefined : git?.repository(root);
      // Its refusal is heard when the answer is needed.
      return looked?.then(
        (repository) => repository?.head,
        () => undefined,
      );
    };
    const board = openBoard(values, context, { acts: true, git: true, begin });
    const request = {
      stage: values.stage ?? 'auto',
      order: values.order,
      reclaim: values.reclaim,
      claim_id: host.newId(),
    };
    warnOfOtherTree(board);
    if (!values.dryRun) noteClaim(board);
    const { answer } = inWorktree
      ? await (await import('../lazy/provision.js')).claimInWorktree(board, {
          request,
          resolve: values.resolve,
          looked,
        })
      : await asked(board, values, 'stage claim', decide, (ledger, facts) =>
          board.api.stageClaim(board.bytes, ledger, facts, request),
        );
    const folder = answer.worktree ?? board.layout.project_root ?? host.cwd();
    // A claim that was not made has no id.
    const shown = values.dryRun && !answer.already_held ? { ...answer, claim_id: null } : answer;
    if (values.json) return json(context, values, { ...shown, worktree: folder });
    warn(context, answer.warnings);
    host.write(1, `selected stage: ${answer.stage}\n`);
    if (answer.already_held) say(host, `your session holds stage ${answer.stage} already`);
    const { showClaim } = await import('../lazy/stage.js');
    host.write(1, showClaim({ ...shown, worktree: folder }));
    if (values.dryRun) say(host, 'dry run: nothing was claimed and nothing written');
    return OK;
  },
});

const done = command({
  summary: 'Finish a stage: check its evidence, keep it and record the stage as done',
  details:
    "The evidence is the fenced 'json' block under the heading 'Stage Carry Evidence' of a worker result, or a JSON file. Exit status: 4 when it is missing or breaks its contract, 3 when the stage is not yours any more; then nothing was written.",
  examples: [
    ['okstra stage done --plan plan.md --stage 2 --evidence result.md', 'from a worker result'],
    ['okstra stage done --plan plan.md --evidence - < evidence.json', 'from standard input'],
    [
      'okstra stage done --plan plan.md --stage 2 --evidence result.md --verify',
      'run its post commands first',
    ],
  ],
  options: {
    ...boardOptions,
    stage: stageOption,
    evidence: {
      kind: 'file',
      value: 'FILE',
      text: "the worker result or JSON; '-' reads standard input",
    },
    verify: {
      kind: 'flag',
      text: "run the stage's own post commands first and note in the evidence what was seen",
    },
    forceReappend: forceOption,
  },
  async run(_args, values, context) {
    const { host } = context;
    if (values.evidence === undefined) {
      throw new UsageError('where is the evidence? give --evidence FILE');
    }
    const board = openBoard(values, context, { acts: true, git: true });
    const input = readInput(host, values.evidence);
    const evidence = decoded(input.bytes);
    if (evidence === undefined) {
      sayOf(host, input.name, 'the evidence is not UTF-8; save it as UTF-8; nothing was written');
      return CONTRACT_VIOLATED;
    }
    let observed: unknown;
    const request = {
      ...(values.stage === undefined ? {} : { stage: values.stage }),
      name: input.name,
      evidence,
      force_reappend: values.forceReappend,
    };
    const ask =
      (observed?: unknown): Ask<DoneAnswer> =>
      (ledger, facts, git) =>
        board.api.stageDone(board.bytes, ledger, facts, {
          ...request,
          ...(observed === undefined ? {} : { observed }),
          ...(git ? { git } : {}),
        });
    if (values.verify && !values.dryRun) {
      // Whoever would be refused anyway is refused before anything is run.
      const { answer: planned } = await asked(board, { dryRun: true }, 'stage done', decide, ask());
      const { stage } = planned;
      const { answer: shown } = await asked(board, values, 'stage done', look, (ledger, facts) =>
        board.api.stageShow(board.bytes, ledger, facts, stage),
      );
      const folder = shown.line.claim?.worktree ?? board.layout.project_root ?? host.cwd();
      const { runPost } = await import('../lazy/verify.js');
      observed = await runPost(host, shown, folder);
      if (observed === undefined) return CONTRACT_VIOLATED;
    }
    const { answer } = await asked(board, values, 'stage done', decide, ask(observed));
    if (!values.dryRun) await keepWorktreeOf(board, answer.stage);
    if (values.json) return json(context, values, answer);
    warn(context, answer.warnings);
    const { stage, already_done, carry_path, ready } = answer;
    const told = already_done ? `stage ${stage} was done already` : `stage ${stage} is done`;
    host.write(1, `${would(values, told)}\n`);
    const kept = values.dryRun ? 'the evidence would be kept here' : 'the evidence is kept here';
    sayOf(host, carry_path, already_done ? 'its evidence' : kept);
    if (ready.length > 0) {
      say(host, `ready ${values.dryRun ? 'then' : 'now'}: ${ready.join(', ')}`);
    }
    return OK;
  },
});

const release = command({
  summary: 'Give a claimed stage back',
  details:
    'The session that holds it always may. Others may only where that session is dead, or quiet and they add --force; nothing live is ever taken.',
  examples: [
    ['okstra stage release --plan plan.md --stage 2', 'give it back'],
    ['okstra stage release --plan plan.md --stage 2 --force', 'of a session that went quiet'],
  ],
  options: {
    ...boardOptions,
    stage: stageOption,
    reason: { kind: 'text', value: 'TEXT', text: 'why, for the ledger' },
    force: { kind: 'flag', text: 'also of a session that has been quiet for long' },
  },
  async run(_args, values, context) {
    const board = openBoard(values, context, { acts: true });
    const request = {
      ...(values.stage === undefined ? {} : { stage: values.stage }),
      reason: values.reason ?? '',
      force: values.force,
    };
    return recorded(
      board,
      values,
      'stage release',
      'released',
      (ledger, facts) => board.api.stageRelease(board.bytes, ledger, facts, request),
      (stage) => keepWorktreeOf(board, stage),
    );
  },
});

const verify = command({
  summary: 'Record what the verification of a done stage found',
  examples: [
    [
      'okstra stage verify --plan plan.md --stage 2 --verdict accepted --report reports/v.md',
      'it is accepted',
    ],
  ],
  options: {
    ...boardOptions,
    stage: { ...stageOption, text: 'the stage' },
    verdict: {
      kind: 'choice',
      text: 'what it found',
      choices: ['accepted', 'conditional-accept', 'blocked'],
      default: 'accepted',
    },
    report: { kind: 'file', value: 'FILE', text: 'the report, inside the project' },
    forceReappend: forceOption,
  },
  async run(_args, values, context) {
    const { stage, report } = values;
    if (stage === undefined) throw new UsageError('which stage? give --stage N');
    if (report === undefined) throw new UsageError('where is the report? give --report FILE');
    const board = openBoard(values, context, { acts: true });
    const { host } = context;
    // A path that is not there from here may still be one from the project's folder.
    const path = slashes(host.realPath(report));
    const isHere = report !== '' && host.exists(path);
    const isThere = isHere || host.exists(`${board.layout.project_root ?? ''}/${report}`);
    const request = {
      stage,
      verdict: values.verdict,
      report_path: isHere ? path : report,
      report_missing: !isThere,
      force_reappend: values.forceReappend,
    };
    return recorded(board, values, 'stage verify', values.verdict, (ledger, facts) =>
      board.api.stageVerify(board.bytes, ledger, facts, request),
    );
  },
});

const pr = command({
  summary: 'Write the text of the pull request of a done stage, and record it',
  details: 'Without --url and --number only the text is printed.',
  examples: [
    ['okstra stage pr --plan plan.md --stage 2', 'its title and body'],
    ['okstra stage pr --plan plan.md --stage 2 --number 17', 'record that it is opened'],
    ['okstra stage pr --plan plan.md --stages 1,2 --url https://…/pull/17', 'of two stages'],
  ],
  options: {
    ...boardOptions,
    stage: { ...stageOption, text: 'the stage' },
    stages: { kind: 'text', value: 'LIST', text: 'several stages, with commas between' },
    url: { kind: 'text', value: 'URL', text: 'the address of the opened pull request' },
    number: { kind: 'integer', value: 'N', min: 1, text: 'its number' },
    forceReappend: forceOption,
  },
  async run(_args, values, context) {
    const { host } = context;
    const stages = stagesOf(values.stage, values.stages);
    const records = values.url !== undefined || values.number !== undefined;
    const board = openBoard(values, context);
    const request = {
      stages,
      ...(values.url === undefined ? {} : { pr_url: values.url }),
      ...(values.number === undefined ? {} : { pr_number: values.number }),
      force_reappend: values.forceReappend,
    };
    const { answer } = await asked(
      board,
      values,
      'stage pr',
      records ? decide : look,
      (ledger, facts) => board.api.stagePr(board.bytes, ledger, facts, request),
    );
    if (values.json) return json(context, values, answer);
    warn(context, answer.warnings);
    const { pull_request: text, recorded: isNew } = answer;
    if (records) {
      say(host, would(values, isNew ? 'recorded' : 'recorded already'));
    }
    if (text !== null) host.write(1, `${text.title}\n\n${text.body}`);
    return OK;
  },
});

const list = command({
  summary: 'Show every stage with its state',
  examples: [
    ['okstra stage list --plan plan.md', 'the table'],
    ['okstra stage list --plan plan.md --watch', 'and again after every change'],
    ['okstra stage list --task-key shop:web:login --json', 'for a program'],
  ],
  options: {
    ...boardOptions,
    watch: { kind: 'flag', text: 'show it again after every change, until Ctrl-C' },
    color: colorOption,
  },
  async run(_args, values, context) {
    const show = async (before?: string, clear = '') => {
      const board = openBoard(values, context);
      const { answer } = await asked(board, values, 'stage list', look, (ledger, facts) =>
        board.api.stageList(board.bytes, ledger, facts),
      );
      const { showStages } = await import('../lazy/stage.js');
      const text = values.json
        ? jsonText(values, answer)
        : await showStages(answer, tableStyle(context, values.color));
      if (text !== before) {
        if (!values.json) warn(context, answer.warnings);
        context.host.write(1, `${clear}${text}`);
      }
      return { board, text };
    };
    if (values.watch) return watchStages(show, context);
    await show();
    return OK;
  },
});

const show = command({
  summary: 'Show one stage: what it needs, where it stands, who has it',
  examples: [['okstra stage show --plan plan.md --stage 2', 'stage 2']],
  options: { ...boardOptions, stage: { ...stageOption, text: 'the stage' }, color: colorOption },
  async run(_args, values, context) {
    const { stage } = values;
    if (stage === undefined) throw new UsageError('which stage? give --stage N');
    const board = openBoard(values, context);
    const { answer } = await asked(board, values, 'stage show', look, (ledger, facts) =>
      board.api.stageShow(board.bytes, ledger, facts, stage),
    );
    if (values.json) return json(context, values, answer);
    warn(context, answer.warnings);
    const { showStage } = await import('../lazy/stage.js');
    context.host.write(1, showStage(answer, tableStyle(context, values.color)));
    return OK;
  },
});

/**
 * A plan in a linked worktree has a ledger of its own there, unless it lies in a task's folder that
 * all share: sessions in two trees would take the same stages.
 */
function warnOfOtherTree({ context: { host }, layout, name }: Board): void {
  const root = layout.project_root;
  if (root === null || !host.isFile(`${root}/.git`)) return;
  sayOf(
    host,
    name,
    'warning: this is a linked worktree of git with a ledger of its own; sessions share one only if all of them name the plan of the same tree',
  );
}

/**
 * Tells the hooks of the session where to look. Before the claim: a plan without one costs them a
 * look, a claim that they do not know of would get no guard and no release.
 */
function noteClaim({ context: { host }, facts, layout }: Board): void {
  const session = facts.caller?.session;
  if (session === undefined) return;
  try {
    const root = layout.project_root;
    host.noteClaim(session, {
      plan: facts.plan,
      ...(root === null ? {} : { root, ledger: layout.ledger }),
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    sayOf(host, error.path, `warning: hooks will not know of the claim: ${error.message}`);
  }
}

/** Notes that nobody works in a stage's worktree any more, where it has one. */
async function keepWorktreeOf(board: Board, stage: number): Promise<void> {
  const { host } = board.context;
  if (!host.exists(`${host.home()}/worktrees/registry.json`)) return;
  const { keepWorktree } = await import('../lazy/provision.js');
  await keepWorktree(board, stage);
}

/** Asks the core about a board in the given way; a failure names the plan. */
function asked<T>(
  board: Board,
  values: { dryRun: boolean },
  what: string,
  how: typeof decide,
  ask: Ask<T>,
) {
  const named: Ask<T> = (ledger, facts, git) => about(board.name, () => ask(ledger, facts, git));
  return how(board, named, { dryRun: values.dryRun, what });
}

/** Asks for a row to be recorded and says what became of it. */
async function recorded(
  board: Board,
  values: { dryRun: boolean; json: boolean },
  what: string,
  as: string,
  ask: (ledger: Uint8Array, facts: FactsInput) => ReturnType<Board['api']['stageRelease']>,
  then?: (stage: number) => Promise<void>,
): Promise<number> {
  const { context } = board;
  const { answer } = await asked(board, values, what, decide, ask);
  if (!values.dryRun) await then?.(answer.stage);
  if (values.json) return json(context, values, answer);
  warn(context, answer.warnings);
  const state = answer.recorded ? as : `${as} already`;
  context.host.write(1, `${would(values, `stage ${answer.stage}: ${state}`)}\n`);
  return OK;
}

/** What was done, or what would be. */
function would({ dryRun }: { dryRun: boolean }, what: string): string {
  return dryRun ? `${what} (dry run: nothing was written)` : what;
}

/** Prints an answer as JSON. */
function json({ host }: Context, values: { dryRun: boolean }, answer: object): number {
  host.write(1, jsonText(values, answer));
  return OK;
}

function jsonText({ dryRun }: { dryRun: boolean }, answer: object): string {
  return `${printableJson(dryRun ? { ...answer, dry_run: true } : answer)}\n`;
}

function warn({ host }: Context, warnings: readonly string[]): void {
  for (const warning of warnings) say(host, `warning: ${warning}`);
}

/** How to show a table. */
function tableStyle({ host }: Context, color: boolean | undefined) {
  return { width: host.width(), color: wantsColor(host, 1, color) };
}

function stagesOf(stage: number | undefined, stages: string | undefined): number[] {
  if ((stage === undefined) === (stages === undefined)) {
    throw new UsageError('which stages? give --stage N or --stages N,M');
  }
  if (stage !== undefined) return [stage];
  return (stages ?? '').split(',').map((text) => {
    const number = Number(text.trim());
    if (!/^\d{1,9}$/.test(text.trim()) || number < 1) {
      throw new UsageError(`--stages takes numbers with commas between, got '${stages}'`);
    }
    return number;
  });
}

/** A text from bytes; `undefined` where they are not UTF-8. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export const stage: Noun = {
  summary: 'Choose, take, finish and follow stages',
  verbs: { next, claim, done, release, verify, pr, list, show } satisfies Record<
    string,
    ReturnType<typeof command<Options>>
  >,
};
