/** `okstra plan`: everything about one plan. */
import type { FactsInput } from '../../../npm-package/src/index.js';
import { look, openBoard } from '../cli/board.js';
import { colorOption, wantsColor } from '../cli/color.js';
import type { Context } from '../cli/context.js';
import { command, type Noun } from '../cli/define.js';
import { FINDINGS, OK, REFUSED, USAGE, UsageError } from '../cli/exit.js';
import { readInput } from '../cli/input.js';
import { about, printableJson, say, sayOf } from '../cli/talk.js';
import { checkOnce, checkOptions, watchAndCheck } from './plan-check.js';

const PLAN = { name: 'PLAN', text: "a Markdown plan; '-' reads standard input" } as const;

const check = command({
  summary: 'Report every fault of a plan at its exact place',
  details:
    'Exit status: 0 when there are no errors (warnings alone keep it), 1 with errors, 2 when a plan cannot be read.',
  examples: [
    ['okstra plan check plan.md', 'one line a fault'],
    ['okstra plan check --format pretty plan.md', 'with the lines of the plan'],
    ['okstra plan check --fix plan.md', 'repair what can be repaired'],
    ['okstra plan check --format sarif docs/*.md > plans.sarif', 'for code scanning'],
    ['git show HEAD:plan.md | okstra plan check -', 'what was committed'],
  ],
  argument: { ...PLAN, many: true },
  options: checkOptions,
  run(paths, values, context) {
    return values.watch
      ? watchAndCheck(paths, values, context)
      : checkOnce(paths, values, context).status;
  },
});

const graph = command({
  summary: 'Draw the stages of a plan in the order in which they can be built',
  details: 'Exit status: 1 when the plan has errors; what can be read is drawn all the same.',
  examples: [
    ['okstra plan graph plan.md', 'in the terminal'],
    ['okstra plan graph --format svg -o plan.svg plan.md', 'as a picture'],
    ['okstra plan graph --format mermaid plan.md', 'for a Markdown page'],
    ['okstra plan graph --format dot plan.md | dot -Tpdf > plan.pdf', 'through Graphviz'],
  ],
  argument: PLAN,
  options: {
    format: {
      kind: 'choice',
      text: 'how to draw',
      choices: ['terminal', 'mermaid', 'dot', 'json', 'svg'],
      default: 'terminal',
    },
    output: { kind: 'file', short: 'o', value: 'FILE', text: 'write to a file' },
    color: colorOption,
  },
  async run([path = '-'], { format, output, color }, context) {
    const { host } = context;
    if (output !== undefined && path !== '-' && host.isSameFile(output, path)) {
      throw new UsageError(`-o ${output} would replace the plan itself; name another file`);
    }
    const { api, input, report, status } = readChecked(path, context);
    let text: string;
    if (format === 'terminal' || format === 'svg') {
      const { drawSvg, drawTerminal } = await import('../lazy/graph.js');
      const toScreen = output === undefined;
      text =
        format === 'svg'
          ? drawSvg(report.graph)
          : drawTerminal(report.graph, {
              width: host.width(),
              color: wantsColor(host, 1, toScreen ? color : (color ?? false)),
            });
    } else {
      text = api.renderGraph(input.bytes, format);
    }
    if (text !== '' && !text.endsWith('\n')) text += '\n';
    if (output === undefined || output === '-') host.write(1, text);
    else host.writeFile(output, text);
    return status;
  },
});

const show = command({
  summary: 'Show the stages of a plan and their steps',
  details: 'Exit status: 1 when the plan has errors; what can be read is shown all the same.',
  examples: [
    ['okstra plan show plan.md', 'every stage with its steps'],
    ['okstra plan show --stage 2 plan.md', 'one stage in full'],
    ['okstra plan show --json plan.md', 'for a program'],
  ],
  argument: PLAN,
  options: {
    stage: { kind: 'integer', value: 'N', min: 1, text: 'this stage only, in full' },
    json: { kind: 'flag', text: 'print one JSON document' },
    color: colorOption,
  },
  async run([path = '-'], { stage, json, color }, context) {
    const { host } = context;
    const { api, input, report, status } = readChecked(path, context);
    const plan = api.parsePlan(input.bytes);
    const stages =
      stage === undefined
        ? plan.stages
        : plan.stages.filter(({ stage_number }) => stage_number === stage);
    if (stage !== undefined && stages.length === 0) {
      const known = plan.stages.map(({ stage_number }) => stage_number ?? '?').join(', ');
      sayOf(host, input.name, `no stage ${stage}; there are: ${known || 'none'}`);
      return USAGE;
    }
    if (json) {
      const answer = stage === undefined ? plan : stages[0];
      host.write(1, `${printableJson(answer)}\n`);
    } else {
      const { showPlan } = await import('../lazy/show.js');
      host.write(
        1,
        showPlan(
          { ...plan, stages },
          {
            graph: report.graph,
            width: host.width(),
            color: wantsColor(host, 1, color),
            full: stage !== undefined,
          },
        ),
      );
    }
    return status;
  },
});

const diff = command({
  summary: 'Compare two plans by stage, and say which claims and finished stages a change touches',
  details:
    'Stages are matched by what stays the same: title, steps, number. The ledger is the one of NEW, or of OLD where NEW has none. Exit status: 0, with --exit-code 1 when the plans differ.',
  examples: [
    ['okstra plan diff old.md plan.md', 'what changed'],
    ['git show HEAD:plan.md | okstra plan diff - plan.md', 'since the last commit'],
    ['okstra plan diff --format markdown old.md plan.md', 'for a pull request'],
  ],
  argument: { name: 'PLAN', text: "OLD and NEW; '-' reads standard input", many: true },
  options: {
    format: {
      kind: 'choice',
      text: 'how to write it',
      choices: ['terminal', 'json', 'markdown'],
      default: 'terminal',
    },
    exitCode: { kind: 'flag', text: 'exit with status 1 when the plans differ' },
    color: colorOption,
  },
  async run(paths, { format, exitCode, color }, context) {
    const { host } = context;
    const [oldPath, newPath] = paths;
    if (paths.length !== 2 || oldPath === undefined || newPath === undefined) {
      throw new UsageError('give two plans: okstra plan diff OLD NEW');
    }
    if (oldPath === '-' && newPath === '-') {
      throw new UsageError("'-' (standard input) can be given once only");
    }
    const old = readInput(host, oldPath);
    const input = readInput(host, newPath);
    const nobody = { taskKey: undefined, implKey: undefined, session: undefined };
    const boards = [input, old].flatMap(({ path }) =>
      path === null
        ? []
        : [
            openBoard(
              { ...nobody, plan: path, claimId: undefined, json: false, dryRun: true },
              context,
            ),
          ],
    );
    const board = boards.find(({ layout }) => host.exists(layout.ledger)) ?? boards[0];
    if (board === undefined) throw new Error('one of the plans is a file');
    // Which of the two cannot be read is said by its name.
    for (const { name, bytes } of [old, input]) about(name, () => board.api.parsePlan(bytes));
    const ask = (ledger: Uint8Array, facts: FactsInput) =>
      about(input.name, () => board.api.planDiff(old.bytes, input.bytes, ledger, facts));
    const { answer } = await look(board, ask, { dryRun: true, what: 'plan diff' });
    for (const warning of answer.warnings) say(host, `warning: ${warning}`);
    if (format === 'json') host.write(1, `${printableJson(answer)}\n`);
    else {
      const { diffMarkdown, showDiff } = await import('../lazy/diff.js');
      const text =
        format === 'markdown' ? diffMarkdown(answer) : showDiff(answer, wantsColor(host, 1, color));
      host.write(1, text);
    }
    return exitCode && !answer.same ? FINDINGS : OK;
  },
});

const approve = command({
  summary: "Tick the line '- [ ] Approved' of a plan",
  details:
    "Where there is no such line, one is written under the heading 'User Approval Request', else before the Stage Map. Refused with exit status 3 while an open clarification blocks the approval, and where there is no Stage Map. A plan that is approved already stays as it is.",
  examples: [
    ['okstra plan approve plan.md', 'approve it'],
    ['okstra plan approve --dry-run plan.md', 'print the approved plan, write nothing'],
  ],
  argument: PLAN,
  options: { dryRun: { kind: 'flag', text: 'print the approved plan and write nothing' } },
  run([path = '-'], { dryRun }, context) {
    const { host } = context;
    const input = readInput(host, path);
    const api = context.api(input.bytes.length);
    const answer = about(input.name, () => api.approvePlan(input.bytes));
    const { text, changed, held_by, errors } = answer;
    if (held_by.length > 0) {
      for (const { code, message, range } of held_by) {
        sayOf(
          host,
          `${input.name}:${range.start.line}:${range.start.column}`,
          `${code} ${message}`,
        );
      }
      sayOf(host, input.name, `not approved; answer what is open, then approve again`);
      return REFUSED;
    }
    if (input.path === null || dryRun) host.write(1, text);
    else if (changed) host.replaceFile(input.path, input.bytes, text);
    sayOf(host, input.name, `${outcome(changed, dryRun && input.path !== null)}`);
    if (errors > 0) sayErrors(context, path, input.name, errors);
    return OK;
  },
});

function sayErrors({ host }: Context, path: string, name: string, errors: number): void {
  const count = errors === 1 ? '1 error' : `${errors} errors`;
  sayOf(host, name, `${count}; see 'okstra plan check ${path}'`);
}

function outcome(changed: boolean, dry: boolean): string {
  if (!changed) return 'approved already';
  return dry ? 'would be approved; nothing was written' : 'approved';
}

/** Reads a plan and checks it; errors are counted on standard error and in `status`. */
function readChecked(path: string, context: Context) {
  const input = readInput(context.host, path);
  const api = context.api(input.bytes.length);
  const report = about(input.name, () => api.checkPlan(input.bytes));
  const errors = report.findings.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) sayErrors(context, path, input.name, errors);
  return { api, input, report, status: errors > 0 ? FINDINGS : OK };
}

export const plan: Noun = {
  summary: 'Check, draw, show, compare and approve plans',
  verbs: { check, graph, show, diff, approve },
};
