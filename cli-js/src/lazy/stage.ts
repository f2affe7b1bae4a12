/** Stages as a person reads them in a terminal. */
import type {
  ClaimAnswer,
  Explanation,
  LedgerRow,
  NextAnswer,
  ShowAnswer,
  StageLine,
  StageList,
  StageState,
} from '../../../npm-package/src/index.js';
import { paint } from '../cli/color.js';
import { printable } from '../cli/talk.js';
import { columns, pad, wrap } from '../drawing/text.js';

/** How to show. */
export interface Style {
  /** The columns of the terminal. */
  width: number;
  color: boolean;
}

/** Narrower than this, columns are no use. */
const NARROWEST = 40;

/** The digits of a short commit id. */
const SHORT = 7;

/** A mark for every state, so that no colour is needed to tell them apart. */
const MARK: Record<StageState, string> = {
  ready: '○',
  running: '▶',
  reserved: '◇',
  waiting: '·',
  done: '✓',
  verified: '✔',
  pr: '⇡',
  cancelled: '✕',
  broken: '!',
};

/** The word for a state. */
const WORD: Record<StageState, string> = {
  ready: 'ready',
  running: 'running',
  reserved: 'reserved',
  waiting: 'waiting',
  done: 'done',
  verified: 'verified',
  pr: 'pull request',
  cancelled: 'cancelled',
  broken: 'broken',
};

/** The states of a stage that has left its evidence. */
const FINISHED: ReadonlySet<StageState> = new Set(['done', 'verified', 'pr']);

/** The table of all stages. */
export function showStages(list: StageList, style: Style): string {
  if (list.stages.length === 0) return 'no stages\n';
  const rows = list.stages.map((line) => [
    line.wave === null ? '–' : String(line.wave),
    String(line.stage),
    clean(line.title),
    `${MARK[line.state]} ${stateOf(line)}`,
    line.waits_for.join(', '),
    line.by === null ? '' : clean(line.by),
    line.age_ms === null ? '' : age(line.age_ms),
    line.head === null ? '' : clean(line.head).slice(0, SHORT),
  ]);
  const head = ['wave', 'stage', 'title', 'state', 'waits for', 'by', 'since', 'head'];
  const counts = new Map<string, number>();
  for (const { state } of list.stages) counts.set(WORD[state], (counts.get(WORD[state]) ?? 0) + 1);
  const summary = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  const room = Math.max(style.width, NARROWEST);
  const stuck = list.stages.flatMap(({ stage, claim }) =>
    claim?.free_with == null
      ? []
      : [`stage ${stage}: its session is ${claim.life}; to free it: ${clean(claim.free_with)}`],
  );
  return `${table(head, rows, ['title', 'state', 'by'], style)}\n${[...wrap(summary, room, Number.POSITIVE_INFINITY), ...stuck].join('\n')}\n`;
}

function stateOf({ state, claim, stale }: StageLine): string {
  const life = claim === null || claim.life === 'live' ? '' : ` (${claim.life})`;
  return `${WORD[state]}${life}${stale ? ', stale' : ''}`;
}

/** A claimed stage: everything a session needs to build it. */
export function showClaim(answer: ClaimAnswer): string {
  const facts: [string, string | null][] = [
    ['title', answer.title],
    ['plan', answer.plan_path],
    ['key', answer.impl_task_key],
    ['claim', answer.claim_id],
    ['folder', answer.worktree],
    ['branch', answer.branch],
    ['base', answer.base_commit],
    ['beside', answer.concurrent_stages.join(', ') || null],
  ];
  return `${factsOf(facts)}${brief(answer)}`;
}

/** One stage with where it stands. */
export function showStage(answer: ShowAnswer, _style: Style): string {
  const { line } = answer;
  const facts: [string, string | null][] = [
    ['stage', String(answer.stage)],
    ['title', answer.title],
    ['state', stateOf(line)],
    ['wave', line.wave === null ? null : String(line.wave)],
    ['waits for', line.waits_for.join(', ') || null],
    ['by', line.by],
    ['since', line.since],
    ['head', line.head],
    ['verdict', line.verdict],
    ['evidence', FINISHED.has(line.state) ? answer.carry_path : null],
    ['free with', line.claim?.free_with ?? null],
  ];
  return `${factsOf(facts)}${brief(answer)}`;
}

function brief(stage: Omit<ShowAnswer, 'line' | 'warnings'>): string {
  const steps = stage.steps.flatMap(({ step, action, files, command, expected }) => [
    `  ${clean(step)}. ${clean(action)}`,
    ...(files.length > 0 ? [`     files: ${files.map(clean).join(', ')}`] : []),
    ...(command === '' ? [] : [`     run: ${clean(command)}`]),
    ...(expected === '' ? [] : [`     expect: ${clean(expected)}`]),
  ]);
  const carried = stage.carry_in.flatMap(({ stage: from, exit_contract, evidence }) => [
    `  from stage ${from}:`,
    ...indented(exit_contract, 4),
    ...(evidence === null ? ['    no evidence'] : indented(JSON.stringify(evidence, null, 2), 4)),
  ]);
  return [
    ...section('Steps', steps),
    ...section('Validation', indented(stage.validation, 2)),
    ...section('Exit contract', indented(stage.exit_contract, 2)),
    ...section('Carry-in', [...indented(stage.carry_in_text, 2), ...carried]),
  ].join('');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`\n${title}\n${lines.join('\n')}\n`];
}

function indented(text: string | null, by: number): string[] {
  if (text === null || text.trim() === '') return [];
  return text.split(/\r\n|\r|\n/).map((line) => `${' '.repeat(by)}${clean(line)}`.trimEnd());
}

function factsOf(facts: readonly [string, string | null][]): string {
  const known = facts.filter((fact): fact is [string, string] => (fact[1] ?? '') !== '');
  const widest = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, text]) => `${name.padEnd(widest)}  ${clean(text)}\n`).join('');
}

/** Why each stage is ready, taken or waiting. */
export function showExplanation(answer: NextAnswer, style: Style): string {
  const rows = answer.stages.map((it) => [
    String(it.stage),
    it.readiness,
    reason(it),
    String(it.steps_behind),
    String(it.unlocks),
  ]);
  const head = ['stage', 'state', 'why', 'steps behind', 'unlocks'];
  const order = answer.order === 'number' ? 'the lowest number' : 'the longest chain of steps';
  const verdict =
    answer.refusal === null ? `order: ${order} first` : `nothing to claim: ${answer.refusal}`;
  return `${table(head, rows, ['why'], style)}\n${clean(verdict)}\n`;
}

function reason({ readiness, waits_for, shares }: Explanation): string {
  const parts = [
    ...(waits_for.length > 0 ? [`waits for ${waits_for.join(', ')}`] : []),
    ...(readiness === 'ready' && shares.length === 0 ? ['every dependency is done'] : []),
    ...shares.map(
      ({ stage, files }) => `shares ${files.map(clean).join(', ')} with running ${stage}`,
    ),
  ];
  return parts.join('; ');
}

/** The rows of a ledger. */
export function showRows(rows: readonly LedgerRow[], width: number): string {
  if (rows.length === 0) return 'no rows\n';
  const head = ['line', 'at', 'stage', 'status', 'key', 'says'];
  const cells = rows.map(({ line, at, stages, status, impl_task_key, says }) => [
    String(line),
    clean(at ?? ''),
    stages.join(', '),
    status ?? '?',
    clean(impl_task_key),
    // Whole ids are for programs.
    clean(says).replace(/\bhead ([\da-f]{7})[\da-f]{33,}/, 'head $1'),
  ]);
  return table(head, cells, ['key', 'says'], { width, color: false });
}

/** Between two columns. */
const GAP = 2;

/** A column that can be made narrower stays at least this wide. */
const LEAST = 10;

/**
 * Rows in columns as wide as they need. Columns without any cell are left out. Where the room is
 * short, the widest of the flexible columns give way; where that is not enough, each row becomes
 * a paragraph.
 */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  flexible: readonly string[],
  { width, color }: Style,
): string {
  const room = Math.max(width, NARROWEST);
  const used = head.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ''));
  const body = rows.map((row) => used.map((at) => row[at] ?? ''));
  const names = used.map((at) => head[at] ?? '');
  const widths = names.map((name, at) =>
    Math.max(columns(name), ...body.map((row) => columns(row[at] ?? ''))),
  );
  let missing = widths.reduce((sum, one) => sum + one + GAP, -GAP) - room;
  for (; missing > 0; missing -= 1) {
    const least = (at: number) => Math.max(LEAST, columns(names[at] ?? ''));
    const can = names.map((_, at) => at).filter((at) => (widths[at] ?? 0) > least(at));
    const [widest] = can
      .filter((at) => flexible.includes(names[at] ?? ''))
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  if (missing > 0) return body.map((row) => paragraph(names, row, room)).join('');
  const lines = (row: readonly string[]) => {
    const cells = row.map((text, at) => wrap(text, widths[at] ?? 0, Number.POSITIVE_INFINITY));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, at) => pad(cell[line] ?? '', widths[at] ?? 0))
        .join(' '.repeat(GAP))
        .trimEnd(),
    );
  };
  const [first = '', ...others] = [...lines(names), ...body.flatMap(lines)];
  return `${[color ? paint('bold', first) : first, ...others].join('\n')}\n`;
}

/** A row as running text: each cell behind the name of its column. */
function paragraph(names: readonly string[], row: readonly string[], room: number): string {
  const parts = names.flatMap((name, at) => (row[at] === '' ? [] : [`${name} ${row[at]}`]));
  const lines = wrap(parts.join('; '), room - GAP, Number.POSITIVE_INFINITY);
  return lines.map((line, at) => `${at === 0 ? '' : ' '.repeat(GAP)}${line.trimEnd()}\n`).join('');
}

/** How long ago, in the largest unit that says something. */
function age(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A text of several lines as a terminal may show it. */
export function plainText(text: string): string {
  return `${text
    .split('\n')
    .map((line) => clean(line.replace(/\r$/, '')))
    .join('\n')
    .trimEnd()}\n`;
}

function clean(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}
