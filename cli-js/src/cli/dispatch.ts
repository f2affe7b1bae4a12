/** Dispatches: their status files, and what the core makes of what happens to them. */

import type {
  DispatchAnswer,
  DispatchEvent,
  DispatchLaunch,
  DispatchStatus,
  ProcessState,
} from '../../../npm-package/src/index.js';
import { carryOut } from '../host/effects.js';
import type { Host } from '../host/host.js';
import type { Context } from './context.js';
import { withLog } from './lead.js';
import { utf8Of } from './text.js';

/** What a supervisor is told to do. */
export interface Order {
  /** The status file. */
  path: string;
  /** What to start; without it, an earlier dispatch is taken over. */
  launch?: DispatchLaunch;
  /** Whether a complete one is dispatched once more. */
  again: boolean;
  /** Whether one that is taken over is ended at once. */
  stop: boolean;
}

/** What a supervisor says back, once: what has become of the order. */
export interface Reply {
  answer?: DispatchAnswer;
  /** The fields of the error, by its class. */
  failure?: { name: string; fields: Record<string, unknown> };
}

/** The lock that the supervisor of a prompt holds as long as it is there. */
export function supervisorLock({ host, api }: Context, path: string): string {
  return `${host.home()}/locks/${api(0).lockName(path)}`;
}

/** Something that has happened; what the files say is added. */
export type Happened = Partial<DispatchEvent> & Pick<DispatchEvent, 'kind'>;

/** What the core makes of something that has happened. With `dry` nothing is written. */
export function judge(
  { host, api }: Context,
  path: string,
  happened: Happened,
  dry = false,
): DispatchAnswer {
  const text = readText(host, path);
  const decision = api(0).judgeDispatch({
    ...happened,
    path,
    now: host.now(),
    ...(text === undefined ? {} : { text }),
  });
  if (decision.kind === 'needs') throw new Error('a dispatch needs no more facts');
  if (!dry) carryOut(decision.effects, host);
  return decision.answer;
}

function readText(host: Pick<Host, 'readIfThere'>, path: string): string | undefined {
  const bytes = host.readIfThere(path);
  return bytes === undefined ? undefined : utf8Of(bytes);
}

/** How a dispatch stands now, as it is seen from outside; `undefined` where there is none. */
export function lookAt(context: Context, path: string): DispatchAnswer | undefined {
  // Supervisors write while others look: what is seen has to belong to what is read.
  const text = readText(context.host, path);
  return text === undefined ? undefined : judge(context, path, sightings(context, path), true);
}

/** Which processes of a dispatch are there. */
export function sightings(context: Context, path: string): Happened {
  const { status } = judge(context, path, { kind: 'look' }, true);
  const { supervisor, worker } = processesOf(context.host, status);
  return {
    kind: 'look',
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(worker === undefined ? {} : { worker }),
  };
}

function processesOf(
  host: Host,
  { supervisor, worker }: DispatchStatus,
): { supervisor?: ProcessState; worker?: ProcessState } {
  const state = (it: DispatchStatus['worker']) =>
    it === null ? undefined : host.processState(it.pid, it.pid_start ?? undefined);
  const [first, second] = [state(supervisor), state(worker)];
  return {
    ...(first === undefined ? {} : { supervisor: first }),
    ...(second === undefined ? {} : { worker: second }),
  };
}

/** Writes the rows of the run's event log that are due, each once. */
export async function recordRows(context: Context, path: string): Promise<void> {
  const { status } = judge(context, path, { kind: 'look' }, true);
  const { run } = status;
  // A run that was removed is not made anew.
  if (run === null || !context.host.exists(run)) return;
  const place = { folder: run, sequence: status.sequence ?? undefined, session: undefined };
  await withLog(context, place, 'dispatch', (log) => {
    judge(context, path, { kind: 'look', log: log ?? '' });
  });
}
