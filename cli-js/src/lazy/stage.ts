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
  pr: 'in a pull request',
  cancelled: 'cancelled',
  broken: 'broken',
};

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
  const summary = [...counts].map(([word, count]) => `${count} ${word}`).join(' · ');
  const stuck = list.stages.flatMap(({ stage, claim }) =>
    claim?.free_with == null
      ? []
      : [`stage ${stage}: its session is ${claim.life}; to free it: ${clean(claim.free_with)}`],
  );
  return `${await table(head, rows, style)}\n${[summary, ...stuck].join('\n')}\n`;
}

function stateOf({ state, claim, stale }: StageLine): string {
  const life = claim === null || claim.life === 'live' ? '' : ` (${claim.life})`;
  return `${WORD[state]}${life}${stale ? ', the plan changed since' : ''}`;
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
    ['evidence', line.state === 'done' || line.head !== null ? answer.carry_path : null],
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
  return `${await table(head, rows, style)}\n${clean(verdict)}\n`;
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
export async function showRows(rows: readonly LedgerRow[], width: number): Promise<string> {
  if (rows.length === 0) return 'no rows\n';
  const head = ['line', 'at', 'stage', 'status', 'key', 'says'];
  const cells = rows.map(({ line, at, stages, status, impl_task_key, says }) => [
    String(line),
    clean(at ?? ''),
    stages.join(', '),
    status ?? '?',
    clean(impl_task_key),
    clean(says),
  ]);
  return table(head, cells, { width, color: false });
}

/** Letters and marks of one column each. */
const NARROW = /^[ -~¡-˿–…○▶◇·✓✔⇡✕]*$/;

/**
 * Rows in columns as wide as they need; the widest gives way where there is no room. Only a table
 * that has to wrap, or has letters of unusual width, loads what measures them: 15 ms.
 */
async function table(head: string[], rows: string[][], { width, color }: Style): Promise<string> {
  const room = Math.max(width, NARROWEST);
  const all = [head, ...rows];
  const needed = head.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)) + 2);
  const total = needed.reduce((sum, columns) => sum + columns, 0);
  const paintHead = (row: string[]) => (color ? row.map((text) => paint('bold', text)) : row);
  let text: string;
  if (total <= room && all.every((row) => row.every((cell) => NARROW.test(cell)))) {
    const padded = all.map((row) => row.map((cell, at) => cell.padEnd(needed[at] ?? 0)));
    text = [paintHead(padded[0] ?? []), ...padded.slice(1)].map((row) => row.join('')).join('\n');
  } else {
    const widest = needed.indexOf(Math.max(...needed));
    const spare = Math.max(10, (needed[widest] ?? 0) - Math.max(0, total - room));
    const widths = needed.map((columns, at) => (at === widest ? spare : columns));
    const { wrapRows } = await import('../lazy/wrap.js');
    text = wrapRows([paintHead(head), ...rows], widths, room);
  }
  const lines = text.split('\n').map((line) => line.trimEnd());
  return `${lines.join('\n')}\n`;
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
