/** Projects and tasks: which folder is the project's, and where a task's plan lies. */

import type { EvidenceFile, PlanLayout, TaskFacts } from '../../../npm-package/src/index.js';
import { type Host, HostError } from '../host/host.js';
import type { Context } from './context.js';
import { UsageError } from './exit.js';
import { slashes } from './paths.js';
import type { RecordPlaces } from './records.js';
import { sayOf } from './talk.js';
import { utf8Of } from './text.js';

/** The folders of okstra in a project; the second is that of older versions, which is only read. */
const FOLDERS = ['.okstra', '.project-docs/okstra'];

/** The project's folder above a file: the nearest with a folder of okstra or a repository. */
export function projectRootOf(
  host: Pick<Host, 'exists' | 'home' | 'realPath'>,
  file: string,
): string | undefined {
  const home = slashes(host.realPath(host.home()));
  for (const folder of above(file)) {
    const start = folder === '/' ? '' : folder;
    if (host.exists(`${start}/.git`)) return folder;
    // The person's own folder of okstra, as a rule `~/.okstra`, makes no project of what is above.
    const own = FOLDERS.map((name) => `${start}/${name}`).filter((path) => path !== home);
    if (own.some((path) => host.exists(path))) return folder;
  }
  return undefined;
}

/** The folders above a path, from the nearest. */
function above(path: string): string[] {
  const parts = path.split('/');
  const folders: string[] = [];
  for (let length = parts.length - 1; length > 0; length -= 1) {
    folders.push(parts.slice(0, length).join('/') || '/');
  }
  return folders;
}

export function namesIn(host: Pick<Host, 'list'>, folder: string): string[] {
  try {
    return host.list(folder);
  } catch (error) {
    // What may not be listed holds nothing that we could use either.
    if (error instanceof HostError) return [];
    throw error;
  }
}

/** The folder of okstra in a project: that of an older version only where there is no new one. */
export function okstraFolder(host: Pick<Host, 'list'>, root: string): string {
  const [now = '', older = ''] = FOLDERS.map((folder) => `${root}/${folder}`);
  return namesIn(host, now).length === 0 && namesIn(host, older).length > 0 ? older : now;
}

/** A task that was found. */
export interface Task {
  /** The project's folder. */
  root: string;
  /** The plan. */
  plan: string;
}

/** Where a task lies: found from the current folder upwards, whether or not the task is there. */
export function placeTask(host: Host, key: string, context: Context): RecordPlaces {
  if (!/^[^:]+:[^:]+:.+$/s.test(key)) {
    throw new UsageError(`a task key is 'project:group:id', got '${key}'`);
  }
  const { root, okstra } = projectHere(host);
  checkProject(host, okstra, key);
  return { root, okstra, task: context.api(0).taskFolder(okstra, key) };
}

/** The project of the current folder. */
export function projectHere(host: Host): { root: string; okstra: string } {
  const here = slashes(host.realPath(host.cwd()));
  const root = projectRootOf(host, `${here}/.`);
  if (root === undefined) {
    throw new UsageError(`no project above ${here}; go into its folder, or give --plan`);
  }
  return { root, okstra: okstraFolder(host, root) };
}

/** The plan of a task, as a person in the current folder would name it. */
export function planOf(
  host: Host,
  { root, task }: RecordPlaces,
  context: Context,
): string | undefined {
  const carry = `${task}/runs/implementation/carry`;
  const start = root.endsWith('/') ? root : `${root}/`;
  // A link may lead out of the project where its name does not.
  const inside = (path: string) => slashes(host.realPath(path)).startsWith(start);
  const find = (facts: Pick<TaskFacts, 'evidence' | 'latest_report_path' | 'reports'>) =>
    context
      .api(0)
      .planCandidates({ project_root: root, task_root: task, ...facts })
      .find((path) => host.isFile(path) && inside(path));
  // As a rule the evidence of the lowest stage names the plan, and no other has to be read.
  let lowest: string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const name of host.list(carry)) {
    const number = Number(/^\D*(\d+)/.exec(name)?.[1]);
    if (number < least) [lowest, least] = [[name], number];
  }
  const first = readFolder(host, carry, lowest);
  const plan =
    (first.length > 0
      ? find({ evidence: first, latest_report_path: '', reports: [] })
      : undefined) ??
    find({
      evidence: readFolder(host, carry),
      latest_report_path: textOf(readObject(host, `${task}/task-manifest.json`)?.latestReportPath),
      reports: namesIn(host, `${task}/runs/implementation-planning/reports`),
    });
  const here = slashes(host.realPath(host.cwd()));
  return plan?.startsWith(`${here}/`) ? plan.slice(here.length + 1) : plan;
}

/** Finds the plan of a task from the current folder upwards. */
export function findTask(host: Host, key: string, context: Context): Task {
  const places = placeTask(host, key, context);
  const plan = planOf(host, places, context);
  if (plan !== undefined) return { root: places.root, plan };
  if (!host.exists(places.task)) throw unknownTask(key, places);
  const folder = places.task.slice(places.root.length + 1);
  throw new UsageError(
    `the task ${key} has no plan in ${places.root}; it belongs into ${folder}/runs/implementation-planning/reports as final-report-implementation-planning-001.md`,
  );
}

/** A key that no task of the project has. */
export function unknownTask(key: string, { root }: Pick<RecordPlaces, 'root'>): UsageError {
  return new UsageError(
    `there is no task ${key} in ${root}; 'okstra task list' shows those there are`,
  );
}

/** How many tasks of a project are looked at for plans. */
const MOST_TASKS = 100;

/** The plans of a project's tasks: that of the latest task first, then those that were begun. */
export function plansOf(host: Host, root: string, context: Context): string[] {
  const okstra = okstraFolder(host, root);
  const latest = textOf(readObject(host, `${okstra}/discovery/latest-task.json`)?.taskRoot);
  const tasks = namesIn(host, `${okstra}/tasks`)
    .flatMap((group) =>
      namesIn(host, `${okstra}/tasks/${group}`).map((id) => `${okstra}/tasks/${group}/${id}`),
    )
    .filter(
      (task) =>
        (latest !== '' && task.endsWith(`/${latest}`)) ||
        host.exists(`${task}/runs/implementation-planning/consumers.jsonl`),
    )
    .sort((a, b) => Number(b.endsWith(`/${latest}`)) - Number(a.endsWith(`/${latest}`)));
  return tasks.slice(0, MOST_TASKS).flatMap((task) => {
    const plan = planOf(host, { root, okstra, task }, context);
    return plan === undefined ? [] : [slashes(host.realPath(plan))];
  });
}

/** The JSON files of a folder with their texts. A link is not followed: it may lead anywhere. */
export function readFolder(
  host: Host,
  folder: string,
  all: readonly string[] = host.list(folder),
): EvidenceFile[] {
  const names = all.filter((name) => name.endsWith('.json'));
  if (names.length === 0) return [];
  const real = slashes(host.realPath(folder));
  return names.flatMap((name) => {
    const path = `${folder}/${name}`;
    if (slashes(host.realPath(path)) !== `${real}/${name}`) {
      sayOf(host, path, 'a link to another file; it is not read');
      return [];
    }
    const bytes = host.readIfThere(path);
    return bytes === undefined ? [] : [{ name, text: utf8Of(bytes) }];
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The key's first part is the project's id, where the project has one. */
function checkProject(host: Host, okstra: string, key: string): void {
  const id = projectId(host, okstra);
  const [asked] = key.split(':');
  if (id !== undefined && id !== asked) {
    throw new UsageError(`this project is ${id}, not ${asked}; go into its folder, or give --plan`);
  }
}

/** The id in `project.json`. */
export function projectId(host: Host, okstra: string): string | undefined {
  const id = readObject(host, `${okstra}/project.json`)?.projectId;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The key of the task that a plan in the layout belongs to, as its manifest says. */
export function readProject(host: Host, layout: PlanLayout): string | undefined {
  const { task_root, task_group, task_id } = layout;
  if (task_root === null || task_group === null || task_id === null) return undefined;
  const key = readObject(host, `${task_root}/task-manifest.json`)?.taskKey;
  if (typeof key === 'string' && key !== '') return key;
  const id = projectId(host, task_root.split('/').slice(0, -3).join('/'));
  return id === undefined ? undefined : `${id}:${task_group}:${task_id}`;
}

/** An object in a file; nothing where there is no file. */
export function readObject(
  host: Pick<Host, 'readIfThere'>,
  path: string,
): Record<string, unknown> | undefined {
  const bytes = host.readIfThere(path);
  if (bytes === undefined) return undefined;
  const text = utf8Of(bytes);
  const unusable = (place: string, reason: string) =>
    new HostError(
      'unreadable',
      `${path}${place}`,
      `not usable as JSON: ${reason}`,
      'mend the file',
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unusable(placeOf(text, reason), reason);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw unusable(':1:1', 'not an object');
}

/**
 * Where a token is that V8 does not place: behind the longest beginning that only lacks its end. It
 * is found by halving, since what is wrong in a text is wrong in each that goes on from it.
 */
function firstWrong(text: string): number {
  const isWrong = (length: number) => {
    try {
      JSON.parse(text.slice(0, length));
      return false;
    } catch (error) {
      const { message } = error as Error;
      const position = /position (\d+)/.exec(message)?.[1];
      return position === undefined ? !message.includes('end of JSON') : Number(position) < length;
    }
  };
  let [right, wrong] = [0, text.length];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    if (isWrong(middle)) wrong = middle;
    else right = middle;
  }
  return right;
}

/** The line and column that the message of `JSON.parse` is about, as `:3:49`. */
function placeOf(text: string, reason: string): string {
  const position = /position (\d+)/.exec(reason)?.[1] ?? firstWrong(text);
  const at = reason.includes('end of JSON') ? text.length : Number(position);
  const lines = text.slice(0, at).split('\n');
  return `:${lines.length}:${[...(lines.at(-1) ?? '')].length + 1}`;
}
