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
export async function showStages(list: StageList, style: Style): Promise<string> {
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
  const said = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  const room = Math.max(style.width, NARROWEST);
  const { wrapText } = said.length > room ? await import('../lazy/wrap.js') : { wrapText: null };
  const summary = wrapText?.(said, room) ?? [said];
  const stuck = list.stages.flatMap(({ stage, claim }) =>
    claim?.free_with == null
      ? []
      : [`stage ${stage}: its session is ${claim.life}; to free it: ${clean(claim.free_with)}`],
  );
  return `${await table(head, rows, ['title', 'state', 'by'], style)}\n${[...summary, ...stuck].join('\n')}\n`;
}

function stateOf({ state, claim, stale }: StageLine): string {
  const life = claim === null || claim.life === 'live' ? '' : ` (${claim.life})`;
  return `${WORD[state]}${life}${stale === null ? '' : ', evidence stale'}`;
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
    ['stale', line.stale?.why ?? null],
    ['built on it', line.stale?.built_on.join(', ') ?? null],
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
export async function showExplanation(answer: NextAnswer, style: Style): Promise<string> {
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
  return `${await table(head, rows, ['why'], style)}\n${clean(verdict)}\n`;
}

function reason({ stage, readiness, waits_for, shares, conflicts }: Explanation): string {
  const parts = [
    ...(waits_for.length > 0 ? [`waits for ${waits_for.join(', ')}`] : []),
    ...(readiness === 'ready' && shares.length === 0 ? ['every dependency is done'] : []),
    ...shares.map(
      ({ stage: other, files }) => `shares ${files.map(clean).join(', ')} with running ${other}`,
    ),
    ...conflicts.map(({ first, second, files }) => {
      const where = files.map(clean).join(', ');
      if (stage !== first && stage !== second) return `${first} and ${second} conflict: ${where}`;
      return `conflicts with ${stage === first ? second : first}: ${where}`;
    }),
  ];
  return parts.join('; ');
}

/** The rows of a ledger. */
export async function showRows(rows: readonly LedgerRow[], width: number): Promise<string> {
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
const GAP = '  ';

/** Letters and marks of one column each. */
const NARROW = /^[ -~¡-˿–…○▶◇·✓✔⇡✕]*$/;

/**
 * Rows in columns as wide as they need; columns without any cell are left out. Only a table that
 * is too wide, or has letters of unusual width, loads what measures them.
 */
export async function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  flexible: readonly string[],
  { width, color }: Style,
): Promise<string> {
  const room = Math.max(width, NARROWEST);
  const used = head.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ''));
  const all = [head, ...rows].map((row) => used.map((at) => row[at] ?? ''));
  const widths = used.map((_, at) =>
    all.reduce((widest, row) => Math.max(widest, (row[at] ?? '').length), 0),
  );
  const total = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
  let lines: string[];
  let isTable = true;
  if (total <= room && all.every((row) => row.every((cell) => NARROW.test(cell)))) {
    lines = all.map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    );
  } else {
    const { wrapRows } = await import('../lazy/wrap.js');
    ({ lines, isTable } = wrapRows(all, flexible, GAP, room));
  }
  const [first = '', ...others] = lines;
  return `${[color && isTable ? paint('bold', first) : first, ...others].join('\n')}\n`;
}

/** How long ago, in the largest unit that says something. */
export function age(milliseconds: number): string {
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
