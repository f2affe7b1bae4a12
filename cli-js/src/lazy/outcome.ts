/** The outcome of an implementation: gathering its facts, and showing it. */
import type {
  CreateAnswer,
  OutcomeAnswer,
  OutcomeRequest,
  StageOutcome,
} from '../../../npm-package/src/index.js';
import {
  type Board,
  type BoardValues,
  type Decided,
  decide,
  look,
  openBoard,
  withoutPlan,
} from '../cli/board.js';
import type { Context } from '../cli/context.js';
import {
  namesIn,
  okstraFolder,
  placeTask,
  planOf,
  readObject,
  unknownTask,
} from '../cli/project.js';
import { changeRecords, type RecordPlaces, readRecords } from '../cli/records.js';
import { about, printable, sayOf } from '../cli/talk.js';
import { HostError } from '../host/host.js';
import { plainText, type Style, table } from './stage.js';

/** A task with the plan it is built by. */
interface Opened {
  board: Board;
  /** Where its records lie; nothing for a plan that belongs to no task. */
  places: RecordPlaces | undefined;
  okstra: string;
}

/** Finds the task that a person names by its key or by its plan. */
export function openTask(values: BoardValues, context: Context): Opened {
  const { host } = context;
  if (values.taskKey === undefined || values.plan !== undefined) {
    const board = openBoard(values, context);
    const { project_root: root, task_root: task } = board.layout;
    const okstra =
      task === null ? okstraFolder(host, root ?? '') : task.split('/').slice(0, -3).join('/');
    const places = task === null ? undefined : { root: root ?? '', okstra, task };
    return { board, places, okstra };
  }
  const places = placeTask(host, values.taskKey, context);
  if (!host.exists(places.task)) throw unknownTask(values.taskKey, places);
  const plan = planOf(host, places, context);
  const board =
    plan === undefined
      ? withoutPlan(places.root, values.taskKey, context)
      : openBoard({ ...values, plan, taskKey: undefined }, context, {
          root: places.root,
          taskKey: values.taskKey,
        });
  return { board, places, okstra: places.okstra };
}

/** Derives the outcome; rows lost in a crash are restored first, except in a dry run. */
export async function deriveOutcome(
  opened: Opened,
  { dryRun }: { dryRun: boolean },
): Promise<OutcomeAnswer> {
  const { answer } = await look(opened.board, asking(opened, false), {
    dryRun,
    what: 'outcome show',
  });
  return answer;
}

/** Derives the outcome and records it where it is complete. A dry run only says what it would do. */
export async function reconcileOutcome(
  opened: Opened,
  { dryRun }: { dryRun: boolean },
): Promise<OutcomeAnswer> {
  const { board, okstra } = opened;
  const what = 'outcome reconcile';
  const once = (): Promise<Decided<OutcomeAnswer>> =>
    decide(board, asking(opened, true), { dryRun, what });
  const { answer } = dryRun
    ? await once()
    : await changeRecords(board.context, board.api, okstra, { what, once });
  return answer;
}

/** The question to the core; the records and reports are read each time it is asked. */
function asking({ board, places, okstra }: Opened, reconcile: boolean) {
  const { host } = board.context;
  return (ledger: Uint8Array, facts: Board['facts']) => {
    const request: Partial<OutcomeRequest> = { okstra_root: okstra, reconcile };
    if (places !== undefined) {
      const { manifest, catalog } = readRecords(host, places);
      request.task_root = places.task;
      request.planning = host.exists(`${places.task}/runs/implementation-planning`);
      request.reports = reportsOf(board, places);
      if (manifest !== undefined) request.manifest = manifest;
      if (catalog !== undefined) request.catalog = catalog;
    }
    return about(board.name, () => board.api.taskOutcome(board.bytes, ledger, facts, request));
  };
}

/** The reports of stages, as paths below `runs/implementation`. */
function reportsOf(board: Board, { task }: RecordPlaces): string[] {
  const { host } = board.context;
  const runs = `${task}/runs/implementation`;
  const stages = host.list(runs).filter((name) => /^stage-\d+$/.test(name));
  return stages.flatMap((stage) =>
    host.list(`${runs}/${stage}/reports`).map((name) => `${stage}/reports/${name}`),
  );
}

/** What a stage still lacks, in words. */
function lacks({ done, started, evidence, why }: StageOutcome): string {
  const parts: string[] = [];
  if (!done) parts.push(started ? 'is running' : 'is not done');
  if (evidence === 'missing') {
    if (done) parts.push('has no evidence');
  } else if (evidence !== 'pass') parts.push(`evidence: ${why ?? evidence}`);
  return parts.join('; ');
}

/** The marks of the table; no colour is needed to tell them apart. */
const MARK = { yes: '✓', no: '·', bad: '!' } as const;

/** The outcome as a person reads it. */
export async function showOutcome(outcome: OutcomeAnswer, style: Style): Promise<string> {
  const head = ['stage', 'title', 'done', 'evidence', 'head', 'lacks'];
  const rows = outcome.stages.map((it) => [
    String(it.stage),
    printable(it.title),
    it.done ? MARK.yes : MARK.no,
    it.evidence === 'pass'
      ? `${MARK.yes} pass`
      : it.evidence === 'missing'
        ? MARK.no
        : `${MARK.bad} ${it.evidence}`,
    printable(it.head ?? '').slice(0, 7),
    printable(
      [lacks(it), it.stale === null ? '' : `stale: ${it.stale.why}`].filter(Boolean).join('; '),
    ),
  ]);
  const body = rows.length === 0 ? '' : `${await table(head, rows, ['title', 'lacks'], style)}\n`;
  const errors = outcome.plan_errors.map((line) => `  ${printable(line)}\n`).join('');
  return `${body}${errors}${facts(outcome)}`;
}

function facts(outcome: OutcomeAnswer): string {
  const { lacking } = outcome;
  const which =
    lacking.length === 0
      ? ''
      : ` (${lacking.length === 1 ? 'stage' : 'stages'} ${lacking.join(', ')})`;
  const list: [string, string | null][] = [
    ['task', outcome.task_key],
    ['plan', outcome.plan_path],
    ['phase', outcome.phase],
    ['outcome', outcome.completed ? 'completed' : 'not completed'],
    ['reason', `${outcome.reason}${which}`],
    ['head', outcome.head_commit],
    ['report', outcome.report_path],
    ['next phase', outcome.next_phase],
  ];
  return columns(list);
}

function columns(list: readonly [string, string | null][]): string {
  const known = list.filter((fact): fact is [string, string] => (fact[1] ?? '') !== '');
  const widest = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, text]) => `${name.padEnd(widest)}  ${printable(text)}\n`).join('');
}

/** A task as it stands in its manifest. */
export interface TaskLine {
  task_key: string;
  /** Relative to the project. */
  task_root: string;
  title: string | null;
  phase: string | null;
  phase_state: string | null;
  next_phase: string | null;
  status: string | null;
  latest_report: string | null;
  updated_at: string | null;
  /** Whether the catalog has an entry of it. */
  in_catalog: boolean;
}

/**
 * The tasks of a project by their manifests, groups and ids in natural order. A manifest that
 * cannot be read is said on standard error and left out; `broken` counts them.
 */
export function listTasks(
  { root, okstra }: { root: string; okstra: string },
  { host }: Context,
): { tasks: TaskLine[]; broken: number } {
  const natural = new Intl.Collator('en', { numeric: true }).compare;
  const known = new Set(catalogKeys(host, okstra));
  const tasks: TaskLine[] = [];
  let broken = 0;
  for (const group of [...host.list(`${okstra}/tasks`)].sort(natural)) {
    for (const id of namesIn(host, `${okstra}/tasks/${group}`).sort(natural)) {
      const task = `${okstra}/tasks/${group}/${id}`;
      try {
        const line = lineOf({ root, okstra, task }, host, known);
        if (line !== undefined) tasks.push(line);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        sayOf(host, error.path, `${error.message}; ${error.help}`);
        broken += 1;
      }
    }
  }
  return { tasks, broken };
}

function catalogKeys(host: Context['host'], okstra: string): string[] {
  const tasks = readObject(host, `${okstra}/discovery/task-catalog.json`)?.tasks;
  const keys = Array.isArray(tasks) ? tasks.map((entry) => text(entry, 'taskKey')) : [];
  return keys.filter((key) => key !== null);
}

/** A task by its manifest; nothing where it has none. */
export function lineOfTask({ places }: Opened, { host }: Context): TaskLine | undefined {
  if (places === undefined) return undefined;
  return lineOf(places, host, new Set(catalogKeys(host, places.okstra)));
}

function lineOf(
  { root, task }: RecordPlaces,
  host: Context['host'],
  known: ReadonlySet<string>,
): TaskLine | undefined {
  const manifest = readObject(host, `${task}/task-manifest.json`);
  if (manifest === undefined) return undefined;
  const { workflow } = manifest;
  const key = text(manifest, 'taskKey') ?? task.split('/').slice(-2).join(':');
  return {
    task_key: key,
    task_root: task.startsWith(`${root}/`) ? task.slice(root.length + 1) : task,
    title: text(manifest, 'title'),
    phase: text(workflow, 'currentPhase'),
    phase_state: text(workflow, 'currentPhaseState'),
    next_phase: text(workflow, 'nextRecommendedPhase'),
    status: text(manifest, 'currentStatus'),
    latest_report: text(manifest, 'latestReportPath'),
    updated_at: text(manifest, 'updatedAt'),
    in_catalog: known.has(key),
  };
}

/** A member of an object that is a text with something in it. */
function text(value: unknown, name: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const member = (value as Record<string, unknown>)[name];
  return typeof member === 'string' && member !== '' ? member : null;
}

/** The tasks of a project as a table. */
export async function showTasks(tasks: readonly TaskLine[], style: Style): Promise<string> {
  if (tasks.length === 0) return 'no tasks\n';
  const head = ['task', 'title', 'phase', 'state', 'next', 'updated'];
  const rows = tasks.map((task) =>
    [task.task_key, task.title, task.phase, task.phase_state, task.next_phase, task.updated_at].map(
      (cell) => printable(cell ?? ''),
    ),
  );
  const lost = tasks.filter((task) => !task.in_catalog).map((task) => task.task_key);
  const note =
    lost.length === 0
      ? ''
      : `\nnot in the catalog: ${lost.map((key) => printable(key)).join(', ')}\n`;
  return `${await table(head, rows, ['title', 'task'], style)}${note}`;
}

/** One task: what its manifest says, and its outcome. */
export async function showTask(
  line: TaskLine,
  outcome: OutcomeAnswer,
  style: Style,
): Promise<string> {
  const list: [string, string | null][] = [
    ['task', line.task_key],
    ['title', line.title],
    ['folder', line.task_root],
    ['phase', [line.phase, line.phase_state].filter(Boolean).join(', ')],
    ['next', line.next_phase],
    ['status', line.status],
    ['latest report', line.latest_report],
    ['updated', line.updated_at],
  ];
  return `${columns(list)}\n${await showOutcome(outcome, style)}`;
}

/** A task that was made. */
export function showCreated(answer: CreateAnswer): string {
  return plainText(
    columns([
      ['task', answer.task_key],
      ['folder', answer.task_root],
    ]),
  );
}
