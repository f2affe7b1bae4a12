/** Worker programs: started, waited for, taken over, ended. */
import { OkstraError } from '../../../npm-package/src/error.js';
import type { DispatchAnswer, DispatchLaunch } from '../../../npm-package/src/index.js';
import { readConfig } from '../cli/config.js';
import type { Context } from '../cli/context.js';
import { judge, lookAt, type Order, type Reply, recordRows, sightings } from '../cli/dispatch.js';
import {
  isOver,
  lineOf,
  logOf,
  type Named,
  Printer,
  Screen,
  SUFFIX,
  spanSince,
} from '../cli/dispatch-screen.js';
import { FAULT, FINDINGS, OK, UsageError } from '../cli/exit.js';
import { openRun, ownServer } from '../cli/lead.js';
import { slashes } from '../cli/paths.js';
import { explain, printable, printableJson, say } from '../cli/talk.js';
import { type Host, HostError, type HostReason } from '../host/host.js';
import type { Workers } from '../host/workers.js';

interface StartValues {
  cli: string | undefined;
  role: string | undefined;
  timeLimit: string | undefined;
  grace: string | undefined;
  runDir: string | undefined;
  session: string | undefined;
  again: boolean;
  detach: boolean;
  trace: boolean | undefined;
  follow: boolean;
  json: boolean;
  dryRun: boolean;
}

interface WatchValues {
  follow: boolean;
  json: boolean;
}

/** How often running dispatches are looked at, in milliseconds. */
const LOOK = 200;

/** What can be done with dispatches. */
export async function dispatcher(context: Context) {
  const { host } = context;
  if (process.platform === 'win32') {
    // There are no groups of processes, and scripts cannot be started without a shell.
    const message = 'worker programs cannot be looked after on Windows';
    throw new HostError('other', 'dispatch', message, 'run it in WSL');
  }
  const workers = await host.workers();
  const desk: Desk = { context, host, workers };
  return {
    start: (args: readonly string[], values: StartValues) => start(desk, args, values),
    resume: (args: readonly string[], values: WatchValues) => resume(desk, args, values),
    show: (args: readonly string[], values: { json: boolean }) => show(desk, args, values),
    follow: (args: readonly string[], values: { linger: number | undefined }) =>
      follow(desk, args, values),
    stop: (args: readonly string[], values: { json: boolean; dryRun: boolean }) =>
      stop(desk, args, values),
  };
}

interface Desk {
  context: Context;
  host: Host;
  workers: Workers;
}

// --- start

async function start(desk: Desk, args: readonly string[], values: StartValues): Promise<number> {
  const { context, host, workers } = desk;
  const interrupt = new Interrupt(host);
  const launches: { named: Named; launch: DispatchLaunch }[] = [];
  let status = OK as number;
  // Everything is looked at first: either all prompts can be dispatched, or none is.
  for (const name of args) {
    try {
      const launch = plan(desk, name, values);
      const named = { name, path: launch.status };
      const { record } = launch;
      if (launches.some((it) => it.named.path === named.path)) {
        throw new UsageError(`${name} is given twice`);
      }
      const shared = launches.find(({ launch: other }) =>
        other.record.completion.some(({ path }) =>
          record.completion.some((it) => it.path === path),
        ),
      );
      if (shared !== undefined) {
        throw new UsageError(`${shared.named.name} and ${name} have the same result; name two`);
      }
      const before = host.exists(named.path) ? sightings(context, named.path) : {};
      const own = host.ownProcess();
      const begin = {
        ...before,
        kind: 'begin' as const,
        record,
        process: own,
        again: values.again,
      };
      judge(context, named.path, begin, true);
      const [program = ''] = record.command;
      // The worker's own settings decide where programs are looked for.
      const env = { ...host.env, ...Object.fromEntries(launch.environment) };
      if (!workers.hasProgram(program, record.worktree, env)) {
        throw new HostError('other', program, 'no such program', launch.help);
      }
      launches.push({ named, launch });
    } catch (error) {
      status = Math.max(status, explain(host, error));
    }
  }
  if (status !== OK) return status;
  if (values.dryRun) return showLaunches(desk, launches, values);

  const started: Named[] = [];
  for (const { named, launch } of launches) {
    try {
      const order: Order = { path: named.path, launch, again: values.again, stop: false };
      const answer = await begun(desk, order);
      started.push(named);
      if (values.trace ?? ownServer(host) !== undefined) {
        await trace(desk, answer, values).catch((error) => {
          // Nobody's work depends on it.
          say(host, `no trace pane: ${error instanceof Error ? error.message : error}`);
        });
      }
    } catch (error) {
      status = Math.max(status, explain(host, error));
    }
  }
  if (values.detach) return ended(desk, started, values, status);
  return watch(desk, started, values, interrupt, status);
}

/** Has a supervisor begin; one that was killed before it could say so may have begun all the same. */
async function begun(desk: Desk, order: Order): Promise<DispatchAnswer> {
  try {
    return await ordered(desk, order);
  } catch (error) {
    const answer = lookAt(desk.context, order.path);
    const isOurs = answer !== undefined && answer.status.id === order.launch?.record.id;
    if (isOurs && answer.standing !== 'ended') return answer;
    throw error;
  }
}

/** Whether the person has asked to stop. */
class Interrupt {
  isAsked = false;

  constructor(host: Host) {
    host.onInterrupt(() => {
      this.isAsked = true;
    });
  }
}

/** Decides how a prompt is worked on. */
function plan({ context, host, workers }: Desk, name: string, values: StartValues): DispatchLaunch {
  const api = context.api(0);
  const prompt = slashes(host.realPath(name));
  const source = host.readFile(prompt);
  const headers = api.dispatchHeaders(source, name);
  const { project, worktree, result, completion } = headers;
  const settings = readConfig(host).workers;
  const folder = values.runDir ?? runOf(prompt);
  const run = folder === undefined ? undefined : openRun(host, { ...values, runDir: folder });
  return api.planDispatch(source, {
    name,
    prompt,
    id: host.newId(),
    workers: settings === undefined ? '' : JSON.stringify(settings),
    config: `${host.home()}/config.json`,
    worktrees: slashes(host.realPath(`${host.home()}/worktrees`)),
    seen: workers.look([project, worktree, result, ...completion]),
    ...(values.cli === undefined ? {} : { cli: values.cli }),
    ...(values.role === undefined ? {} : { role: values.role }),
    ...(values.timeLimit === undefined ? {} : { time_limit: values.timeLimit }),
    ...(values.grace === undefined ? {} : { grace: values.grace }),
    ...(run === undefined ? {} : { run: run.folder }),
    ...(run?.sequence === undefined ? {} : { sequence: run.sequence }),
  });
}

/** The run whose folder `prompts` a prompt lies in. */
function runOf(prompt: string): string | undefined {
  return /^(.*\/runs\/.+)\/prompts\/[^/]+$/.exec(prompt)?.[1];
}

function showLaunches(
  { host }: Desk,
  launches: readonly { named: Named; launch: DispatchLaunch }[],
  { json }: StartValues,
): number {
  if (json) {
    const dispatches = launches.map(({ launch }) => {
      // Values of variables may be secrets.
      const environment = launch.environment.map(([name]) => name);
      return { ...launch, environment };
    });
    host.write(1, `${printableJson({ dispatches, dry_run: true })}\n`);
  } else {
    for (const { launch } of launches) {
      host.write(1, `${printable(JSON.stringify(launch.record.command))}\n`);
    }
  }
  return OK;
}

/** Has a supervisor carry out an order; answers what it says back. */
async function ordered({ workers }: Desk, order: Order): Promise<DispatchAnswer> {
  const reply: Reply = JSON.parse(await workers.supervise(JSON.stringify(order)));
  if (reply.answer !== undefined) return reply.answer;
  const { name = '', fields = {} } = reply.failure ?? {};
  if (name === 'HostError') {
    const { reason, path, message, help } = fields as unknown as HostError;
    throw new HostError(reason as HostReason, path, message, help);
  }
  if (name === 'OkstraError') throw new OkstraError(fields as unknown as OkstraError);
  throw new Error(String(fields.message));
}

/** Opens a pane that shows what a worker writes. */
async function trace(desk: Desk, { status, title }: DispatchAnswer, values: StartValues) {
  const { context, host, workers } = desk;
  const [server, beside] = [ownServer(host), host.env.TMUX_PANE];
  if (server === undefined || beside === undefined || title === null) {
    throw new Error('this does not run inside tmux');
  }
  const tmux = await host.tmux();
  const pane = await tmux.open(server, beside, [
    ...workers.self(),
    // A worker may end before the pane is set up; one that has gone by then could not be.
    ...['dispatch', 'follow', status.prompt, '--linger', '5'],
  ]);
  await tmux.entitle(server, pane, title);
  const run = status.run ?? '';
  const led = run === '' ? undefined : openRun(host, { ...values, runDir: run }).session;
  const session = values.session ?? led ?? host.env.CLAUDE_CODE_SESSION_ID;
  const { options } = context.api(0).paneTags({
    run,
    role: 'trace',
    pane_id: pane,
    ...(session === undefined ? {} : { session }),
  });
  // What it shows stays readable after the end; `panes close` and `panes reap` know it by its tags.
  await tmux.tag(server, pane, [['remain-on-exit', 'on'], ...options]);
}

// --- waiting

/** Looks at dispatches until all have ended. */
async function watch(
  desk: Desk,
  named: readonly Named[],
  values: WatchValues,
  interrupt: Interrupt,
  status: number = OK,
): Promise<number> {
  const { context, host } = desk;
  const screen = new Screen(desk, named, values);
  const orphans = new Map<string, number>();
  // With these nothing more can be done from here; the others are waited for all the same.
  const given = new Set<string>();
  try {
    for (;;) {
      const seen = named.flatMap((it) => {
        if (given.has(it.path)) return [];
        try {
          return [{ ...it, answer: lookAt(context, it.path) }];
        } catch {
          // What is wrong with it is said in the end.
          given.add(it.path);
          return [];
        }
      });
      screen.show(seen);
      for (const { path, answer } of seen) {
        if (answer === undefined || !['orphaned', 'unseen'].includes(answer.standing)) continue;
        // Its supervisor has died: another takes over. One that dies at once is no use.
        const times = orphans.get(path) ?? 0;
        orphans.set(path, times + 1);
        try {
          if (times === 3) throw supervisorsDie(path);
          await takeOver(desk, path, false);
        } catch (error) {
          screen.clear();
          status = Math.max(status, explain(host, error));
          given.add(path);
        }
      }
      const left = seen.filter(({ path }) => !given.has(path));
      if (left.every(({ answer }) => answer === undefined || isOver(answer))) break;
      if (interrupt.isAsked) {
        say(host, "the workers go on; 'okstra dispatch resume' waits for them, 'stop' ends them");
        return 130;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK));
    }
  } finally {
    screen.close();
  }
  return ended(desk, named, values, status);
}

/** Prints how dispatches stand, and answers the exit status. */
async function ended(
  { context, host }: Desk,
  named: readonly Named[],
  { json }: { json: boolean },
  status: number = OK,
): Promise<number> {
  const answers: { name: string; answer: DispatchAnswer }[] = [];
  for (const { name, path } of named) {
    try {
      const answer = lookAt(context, path);
      if (answer === undefined) {
        const help = 'look whether its worker runs; nothing else is known of it';
        throw new HostError('other', path, 'it was taken away', help);
      }
      answers.push({ name, answer });
      // A supervisor writes them a moment after the status: whoever is told of an end finds its row.
      await recordRows(context, path).catch((error) => explain(host, error));
    } catch (error) {
      status = Math.max(status, explain(host, error));
    }
  }
  if (json) {
    const dispatches = answers.map(({ answer }) => shown(answer));
    host.write(1, `${printableJson({ dispatches })}\n`);
  } else {
    for (const { name, answer } of answers) host.write(1, `${lineOf(name, answer)}\n`);
  }
  if (status !== OK) return status;
  const [first] = answers;
  if (first !== undefined && answers.length === 1) return first.answer.exit_status;
  return answers.every(({ answer }) => answer.exit_status === OK) ? OK : FINDINGS;
}

function shown({ status, standing, exit_status, words }: DispatchAnswer): object {
  return { ...status, standing, exit_status, words };
}

/** Prints a log as it grows, until the worker has ended. */
async function follow(
  { context, host, workers }: Desk,
  args: readonly string[],
  { linger = 0 }: { linger: number | undefined },
): Promise<number> {
  const [named] = find(host, args);
  if (named === undefined) throw new UsageError('which prompt?');
  let answer = judgeThere(context, named);
  const log = workers.follow(logOf(named));
  const printer = new Printer(log);
  const interrupt = new Interrupt(host);
  let looked = Date.now();
  while (!interrupt.isAsked) {
    // Asked before it is read: what comes after is the end of it.
    if (Date.now() - looked >= LOOK) {
      answer = judgeThere(context, named);
      looked = Date.now();
    }
    const isDone = answer.standing !== 'running' && answer.standing !== 'orphaned';
    const text = printer.take(isDone);
    host.write(1, text);
    if (text !== '') continue;
    if (isDone) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  log.close();
  host.write(1, `${lineOf(named.name, answer)}\n`);
  for (const end = Date.now() + linger * 1000; Date.now() < end && !interrupt.isAsked; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  return OK;
}

// --- resume, show, stop

async function resume(desk: Desk, args: readonly string[], values: WatchValues): Promise<number> {
  const { context, host } = desk;
  const interrupt = new Interrupt(host);
  const { judged, status } = judgeAll(desk, find(host, args));
  for (const { path } of judged) {
    // What a supervisor could not write down any more. A worker needs looking after all the same.
    await recordRows(context, path).catch((error) => explain(host, error));
  }
  return judged.length === 0 ? status : watch(desk, judged, values, interrupt, status);
}

function show(desk: Desk, args: readonly string[], { json }: { json: boolean }): number {
  const { host } = desk;
  const { judged: answers, status: exit } = judgeAll(desk, find(host, args));
  if (json) {
    const dispatches = answers.map(({ answer }) => shown(answer));
    host.write(1, `${printableJson({ dispatches })}\n`);
    return exit;
  }
  for (const { name, answer } of answers) {
    const { standing, status } = answer;
    const since = standing === 'running' ? ` for ${spanSince(status.started_at, host.now())}` : '';
    host.write(1, `${lineOf(name, answer)}${since}\n`);
  }
  if (answers.some(({ answer }) => ['orphaned', 'unseen'].includes(answer.standing))) {
    say(host, "go on with those whose supervisor is gone: 'okstra dispatch resume'");
  }
  return exit;
}

async function stop(
  desk: Desk,
  args: readonly string[],
  { json, dryRun }: { json: boolean; dryRun: boolean },
): Promise<number> {
  const { context, host } = desk;
  const { judged: named, ...all } = judgeAll(desk, find(host, args));
  if (dryRun) return foreseeStop(desk, named, json) || all.status;
  let { status } = all;
  const stopped: Named[] = [];
  for (const it of named) {
    const { standing } = it.answer;
    if (standing === 'ended') continue;
    if (standing === 'unknown') {
      const help = 'ask on the machine where it was started';
      const message = 'its processes cannot be judged from here';
      const refusal = new HostError('refused', it.name, message, help);
      status = Math.max(status, explain(host, refusal));
      continue;
    }
    stopped.push(it);
  }
  const wereOver = status === OK && named.length > stopped.length;
  const failed = (error: unknown) => {
    status = Math.max(status, explain(host, error));
  };
  await Promise.all(stopped.map((it) => end(desk, it).catch(failed)));
  if (wereOver) say(host, 'some were over already');
  const exit = await ended(desk, named, { json }, status);
  const left = named.some(({ path }) => (lookAt(context, path)?.status.left.length ?? 0) > 0);
  // What is asked for is that they are gone.
  return status !== OK ? exit : left ? FAULT : OK;
}

/** Says which would be ended, and changes nothing. */
function foreseeStop({ host }: Desk, answers: readonly Judged[], json: boolean): number {
  if (json) {
    const dispatches = answers.map(({ answer }) => shown(answer));
    host.write(1, `${printableJson({ dispatches, dry_run: true })}\n`);
    return OK;
  }
  for (const { name, answer } of answers) {
    const { standing } = answer;
    const what =
      standing === 'ended'
        ? 'is over already'
        : standing === 'unknown'
          ? 'cannot be stopped from here'
          : 'would be stopped';
    host.write(1, `${what}: ${lineOf(name, answer)}\n`);
  }
  say(host, 'dry run: nothing was stopped');
  return OK;
}

/** Ends one dispatch; answers when it is over. */
async function end(desk: Desk, { path }: Named): Promise<void> {
  let asked: number | undefined;
  for (let orphaned = 0; ; ) {
    const answer = lookAt(desk.context, path);
    if (answer === undefined || isOver(answer)) return;
    const { supervisor } = answer.status;
    if (answer.standing === 'running' && supervisor !== null) {
      if (asked !== supervisor.pid) desk.workers.terminate(supervisor.pid);
      asked = supervisor.pid;
      await new Promise((resolve) => setTimeout(resolve, LOOK));
    } else {
      // Its supervisor is gone, or has just died: another does it.
      orphaned += 1;
      if (orphaned > 3) throw supervisorsDie(path);
      await takeOver(desk, path, true);
    }
  }
}

/** Has another supervisor go on with a dispatch, unless somebody else has done so meanwhile. */
async function takeOver(desk: Desk, path: string, stop: boolean): Promise<void> {
  try {
    await ordered(desk, { path, again: false, stop });
  } catch (error) {
    const standing = lookAt(desk.context, path)?.standing;
    if (standing !== 'running' && standing !== 'ended') throw error;
  }
}

function supervisorsDie(path: string): HostError {
  return new HostError(
    'other',
    path,
    'its supervisors die',
    'look at the memory, then run it again',
  );
}

/** The dispatches of prompts and folders. */
function find(host: Host, args: readonly string[]): Named[] {
  return args.flatMap((arg) => {
    const path = slashes(host.realPath(arg.endsWith(SUFFIX) ? arg.slice(0, -SUFFIX.length) : arg));
    if (!host.exists(path) || host.isFile(path)) return [{ name: arg, path: `${path}${SUFFIX}` }];
    const all = [path, `${path}/prompts`].flatMap((folder) =>
      host
        .list(folder)
        .filter((name) => name.endsWith(SUFFIX))
        .map((name) => ({
          name: `${folder === path ? arg : `${arg}/prompts`}/${name.slice(0, -SUFFIX.length)}`,
          path: `${folder}/${name}`,
        })),
    );
    if (all.length === 0) throw new UsageError(`nothing was dispatched in ${arg}`);
    return all;
  });
}

/** A dispatch with how it stands. */
interface Judged extends Named {
  answer: DispatchAnswer;
}

/** How dispatches stand. One that cannot be judged is said, and keeps nobody from the others. */
function judgeAll(
  { context, host }: Desk,
  named: readonly Named[],
): { judged: Judged[]; status: number } {
  const judged: Judged[] = [];
  let status = OK as number;
  for (const it of named) {
    try {
      judged.push({ ...it, answer: judgeThere(context, it) });
    } catch (error) {
      status = Math.max(status, explain(host, error));
    }
  }
  return { judged, status };
}

/** How a dispatch stands; where there is none the core says so. */
function judgeThere(context: Context, { path }: Named): DispatchAnswer {
  return judge(context, path, sightings(context, path), true);
}
