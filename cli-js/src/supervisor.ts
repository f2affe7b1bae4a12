/**
 * Looks after one worker: starts it or takes it over, ends it when its time is up or somebody
 * asks, and keeps its status file. A process of its own, so that whoever asked for the worker may
 * end at any time. It reads its order on standard input and answers with one line.
 *
 * What the worker writes goes from the kernel into the log: nothing of it passes through here,
 * however much it is, and none of it is lost if this process is killed.
 */

import { createCliApi } from '../../npm-package/src/cli-loader.js';
import type {
  DispatchAnswer,
  DispatchLaunch,
  DispatchStatus,
} from '../../npm-package/src/index.js';
import type { Context } from './cli/context.js';
import {
  type Happened,
  judge,
  type Order,
  type Reply,
  recordRows,
  sightings,
  supervisorLock,
} from './cli/dispatch.js';
import { explain, RECORD } from './host/fault.js';
import { endGroup, findMarked } from './host/group.js';
import { HostError } from './host/host.js';
import { nodeHost as host } from './host/node.js';
import { startOf } from './host/processes.js';
import { write } from './host/terminal.js';
import { type End, type Started, startWorker, workers } from './host/workers.js';

const api = createCliApi(__dirname, Number.POSITIVE_INFINITY, 'lead');
const context: Context = { host, api: () => api, commands: {} };

let isAnswered = false;

function reply(answer: Reply): void {
  if (isAnswered) return;
  isAnswered = true;
  try {
    write(1, `${JSON.stringify(answer)}\n`);
  } catch {
    // Whoever asked is gone; the status file says it as well.
  }
}

/** Resolves when somebody asks this process to end. */
const asked = new Promise<'request'>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => resolve('request'));
  }
  // A terminal that is closed takes nothing with it.
  process.on('SIGHUP', () => {});
});

/** @throws OkstraError where the prompt is worked on, or complete */
function begin({ path, launch, again }: Order, dry: boolean): void {
  if (launch === undefined) return;
  const before = host.exists(path) ? sightings(context, path) : {};
  const { record } = launch;
  const happened = { ...before, kind: 'begin' as const, record, process: host.ownProcess(), again };
  judge(context, path, happened, dry);
}

async function work(order: Order): Promise<void> {
  const { path, launch } = order;
  if (launch === undefined) {
    await takeOver(path, order.stop);
    return;
  }
  await settleEarlier(order);
  const { record } = launch;
  begin(order, false);

  let started: Started;
  try {
    for (const { path: wanted } of record.completion) workers.makeFolderOf(wanted);
    started = await startWorker({ ...launch, ...record, env: environment(launch) });
  } catch (error) {
    const known = error instanceof HostError ? error : explain(error, record.prompt, RECORD);
    const reason = `${known.path}: ${known.message}`;
    judge(context, path, { kind: 'unstartable', reason });
    await rows(path);
    throw known;
  }
  const { worker, ended } = started;
  let answer: DispatchAnswer;
  try {
    answer = judge(context, path, { kind: 'running', process: worker });
  } catch (error) {
    // A worker that nobody can find again must not go on.
    await endGroup({ leader: worker.pid, id: record.id, certain: true, everywhere: true }, 1_000);
    throw error;
  }
  reply({ answer });
  await rows(path);
  await lookAfter(path, answer.status, ended, true);
}

/** The worker's whole environment. */
function environment({ environment, without }: DispatchLaunch): Record<string, string | undefined> {
  const all: Record<string, string | undefined> = { ...host.env };
  for (const name of without) delete all[name];
  return { ...all, ...Object.fromEntries(environment) };
}

/** How often a worker that is not a child of this process is looked at, in milliseconds. */
const LOOK = 250;

/** How an earlier dispatch stands; a worker that was never written down is looked for. */
function found(path: string): DispatchAnswer {
  const answer = judge(context, path, sightings(context, path), true);
  const { status, standing } = answer;
  if (status.worker !== null || standing !== 'unseen') return answer;
  // Its supervisor was killed before it could write down whom it had started.
  const pid = findMarked(status.id);
  const pid_start = pid === undefined ? undefined : startOf(pid);
  if (pid === undefined || pid_start === undefined) return answer;
  judge(context, path, { kind: 'running', process: { pid, pid_start } });
  return judge(context, path, sightings(context, path), true);
}

/**
 * Brings an earlier attempt to its end that nobody saw: what it has left running would work beside
 * the new worker, and its status file is about to be replaced.
 */
async function settleEarlier({ path, launch }: Order): Promise<void> {
  if (launch === undefined || !host.exists(path) || found(path).standing !== 'unseen') return;
  const { status } = judge(context, path, { kind: 'adopt', process: host.ownProcess() });
  await finish(path, status, { observed: false }, false);
  // It may have written until a moment ago, which is not the new worker's doing.
  const { completion } = launch.record;
  const seen = workers.look(completion.map((it) => it.path));
  for (const [index, it] of completion.entries()) it.before = seen[index]?.mark ?? null;
}

/** Goes on with a dispatch whose supervisor is gone. */
async function takeOver(path: string, stop: boolean): Promise<void> {
  const earlier = found(path);
  const { status, standing } = earlier;
  if (standing === 'ended') {
    await rows(path);
    reply({ answer: earlier });
    return;
  }
  if (standing === 'running' || standing === 'unknown') {
    throw new HostError(
      'refused',
      status.prompt,
      standing === 'running'
        ? 'its supervisor is there'
        : 'its processes cannot be judged from here',
      'ask on the machine where it was started',
    );
  }
  const answer = judge(context, path, { kind: 'adopt', process: host.ownProcess() });
  const { worker } = status;
  if (standing === 'unseen' || worker === null) {
    await finish(path, answer.status, { observed: false }, false);
    reply({ answer: judge(context, path, { kind: 'look' }, true) });
    return;
  }
  if (!stop) reply({ answer });
  await rows(path);
  const ended = new Promise<End>((resolve) => {
    const timer = setInterval(() => {
      if (host.processState(worker.pid, worker.pid_start ?? undefined) !== 'gone') return;
      clearInterval(timer);
      resolve({ observed: false });
    }, LOOK);
  });
  await lookAfter(path, answer.status, ended, false, stop);
  reply({ answer: judge(context, path, { kind: 'look' }, true) });
}

/** Waits for a worker, at most as long as it may work. */
async function lookAfter(
  path: string,
  status: DispatchStatus,
  ended: Promise<End>,
  isChild: boolean,
  stop = false,
): Promise<void> {
  const begun = Date.parse(status.started_at ?? host.now());
  // A clock that was set back gives no more time than there was in the beginning.
  const left = Math.min(
    status.time_limit_s * 1000,
    begun + status.time_limit_s * 1000 - Date.now(),
  );
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<'time-limit'>((resolve) => {
    timer = setTimeout(() => resolve('time-limit'), Math.max(0, left));
  });
  // One that was being ended when its supervisor died is ended now.
  const isLate = stop || status.stopped_by !== null;
  const first = isLate ? 'request' : await Promise.race([ended, timeUp, asked]);
  clearTimeout(timer);
  if (typeof first !== 'string') {
    await finish(path, status, first, isChild);
    return;
  }
  const stopping: Happened = { kind: 'stopping', reason: first };
  try {
    judge(context, path, stopping);
  } catch {
    // Its time is up, whether or not that can be written down now; it is tried again.
  }
  const { worker } = status;
  const isThere =
    worker !== null && host.processState(worker.pid, worker.pid_start ?? undefined) === 'alive';
  const group = groupOf(status, isChild || isThere, true);
  const remaining = await endGroup(group, status.grace_s * 1000);
  const end = remaining.includes(worker?.pid ?? 0) ? { observed: false } : await ended;
  const happened: Happened = { ...end, kind: 'ended', left: remaining, seen: seenOf(status) };
  await written(path, stopping, happened);
}

function groupOf({ worker, id }: DispatchStatus, certain: boolean, everywhere: boolean) {
  return { leader: worker?.pid ?? 0, id, certain, everywhere };
}

function seenOf(status: DispatchStatus) {
  return workers.look(status.completion.map((it) => it.path));
}

/** A worker has ended by itself: what it has left running in its group ends as well. */
async function finish(
  path: string,
  status: DispatchStatus,
  end: End,
  certain: boolean,
): Promise<void> {
  const left =
    status.worker === null
      ? []
      : await endGroup(groupOf(status, certain, false), status.grace_s * 1000);
  await written(path, { ...end, kind: 'ended', left, seen: seenOf(status) });
}

/** How often, and how many milliseconds apart, the end is tried to be written on a full disk. */
const TRIES = 20;
const PAUSE = 3_000;

async function written(path: string, ...all: readonly Happened[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      for (const happened of all) judge(context, path, happened);
      break;
    } catch (error) {
      // A status file that somebody has taken away is not wanted any more.
      const isGone = (error as { code?: unknown }).code === 'no-dispatch';
      if (tries === TRIES || isGone) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
  await rows(path);
}

/** The event log is worth less than the worker: what is missing in it is written by who looks. */
async function rows(path: string): Promise<void> {
  try {
    await recordRows(context, path);
  } catch {
    // `dispatch resume` writes them.
  }
}

/** How long the supervisor before may take to let go, in milliseconds. */
const HANDOVER = 2_000;

async function main(): Promise<void> {
  try {
    const order: Order = JSON.parse(Buffer.from(host.readStdin()).toString());
    const lock = supervisorLock(context, order.path);
    try {
      await host.withLock(lock, 'okstra dispatch', HANDOVER, () => work(order));
    } catch (error) {
      // Another was faster: what it does is the better answer.
      if (error instanceof HostError && error.reason === 'locked') begin(order, true);
      throw error;
    }
  } catch (error) {
    const { name, message, stack, ...more } = error as Error;
    reply({ failure: { name, fields: { message, ...more } } });
  }
  process.exit(0);
}

void main();
