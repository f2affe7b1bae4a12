/** Worker programs: started, waited for, taken over, ended. */

import stripAnsi from 'strip-ansi';
import { OkstraError } from '../../../npm-package/src/error.js';
import type { DispatchAnswer, DispatchLaunch } from '../../../npm-package/src/index.js';
import { readConfig } from '../cli/config.js';
import type { Context } from '../cli/context.js';
import { judge, lookAt, type Order, type Reply, recordRows, sightings } from '../cli/dispatch.js';
import { FAULT, FINDINGS, OK, UsageError } from '../cli/exit.js';
import { openRun, ownServer } from '../cli/lead.js';
import { slashes } from '../cli/paths.js';
import { explain, printable, printableJson, say } from '../cli/talk.js';
import { clean, cut } from '../drawing/text.js';
import { type Host, HostError, type HostReason } from '../host/host.js';
import type { Follower, Workers } from '../host/workers.js';

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

/** A dispatch that is named on the command line. */
interface Named {
  /** The prompt, as it is called in messages. */
  name: string;
  /** The status file. */
  path: string;
}

const SUFFIX = '.status.json';

/** The log beside a status file. */
function logOf({ path }: Named): string {
  return `${path.slice(0, -SUFFIX.length)}.log`;
}

/** How often running dispatches are looked at, in milliseconds. */
const LOOK = 200;

/** What is read of a log at once where somebody watches; of more the middle is left out. */
const MOST = 1_048_576;

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

/** Nothing more is to be seen of it from here. */
function isOver({ standing }: DispatchAnswer): boolean {
  return standing === 'ended' || standing === 'unknown';
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

function lineOf(name: string, { status, words }: DispatchAnswer): string {
  return printable(`${status.cli}-${status.role}  ${name}  ${words}`);
}

/** Colours and movements of the cursor: the only controls that are ever written. */
const UP = (lines: number) => `\u001b[${lines}A`;
const CLEAR_LINE = '\u001b[2K';

interface SeenDispatch extends Named {
  answer: DispatchAnswer | undefined;
}

/**
 * What somebody sees who waits: on a terminal one line for each worker that changes in its place,
 * elsewhere a line whenever something happens. It is written to standard error.
 */
class Screen {
  readonly #host: Host;
  readonly #isLive: boolean;
  readonly #told = new Map<string, string>();
  readonly #logs = new Map<string, Follower>();
  readonly #printers = new Map<string, Printer>();
  readonly #follow: boolean;
  readonly #workers: Workers;
  readonly #several: boolean;
  #lines = 0;

  constructor({ host, workers }: Desk, named: readonly Named[], values: WatchValues) {
    this.#host = host;
    this.#workers = workers;
    this.#follow = values.follow;
    this.#several = named.length > 1;
    this.#isLive = !values.follow && host.isTerminal(2) && host.env.TERM !== 'dumb';
  }

  show(seen: readonly SeenDispatch[]): void {
    if (this.#isLive) this.#redraw(seen);
    else for (const it of seen) this.#tell(it);
  }

  #log(named: Named): Follower {
    const path = logOf(named);
    let log = this.#logs.get(path);
    if (log === undefined) {
      log = this.#workers.follow(path);
      this.#logs.set(path, log);
    }
    return log;
  }

  #tell(seen: SeenDispatch): void {
    const { name, path, answer } = seen;
    if (answer === undefined) return;
    if (this.#follow) {
      const { cli, role } = answer.status;
      const prefix = this.#several ? `${cli}-${role} | ` : '';
      const printer = this.#printers.get(path) ?? new Printer(this.#log(seen), prefix);
      this.#printers.set(path, printer);
      // At the end all of it, before what is said about it.
      for (let text = printer.take(isOver(answer)); text !== ''; text = printer.take(true)) {
        this.#host.write(2, text);
        if (!isOver(answer)) break;
      }
    }
    // The end is told by the answer itself.
    if (this.#told.get(path) === answer.words || isOver(answer)) return;
    this.#told.set(path, answer.words);
    say(this.#host, lineOf(name, answer));
  }

  #redraw(seen: readonly SeenDispatch[]): void {
    const width = Math.max(20, this.#host.width() - 1);
    // What has scrolled out of the terminal cannot be written to again.
    const room = Math.max(1, this.#host.height() - 1);
    const there = seen.filter(({ answer }) => answer !== undefined);
    const last = ({ answer }: SeenDispatch) => Number(answer !== undefined && isOver(answer));
    const fits = there.length <= room;
    const chosen = fits
      ? there
      : [...there].sort((one, other) => last(one) - last(other)).slice(0, room - 1);
    const lines = chosen.flatMap((it) => {
      const { name, answer } = it;
      if (answer === undefined) return [];
      const { status } = answer;
      const time = isOver(answer) ? '' : ` ${spanSince(status.started_at, this.#host.now())}`;
      const said = isOver(answer) ? '' : lastLine(this.#log(it));
      // The folder takes more room than a line has, and is the same for most.
      const file = name.slice(name.lastIndexOf('/') + 1);
      const parts = [`${status.cli}-${status.role}`, file, `${answer.words}${time}`, said];
      return [cut(parts.map(clean).join('  ').trimEnd(), width)];
    });
    if (!fits) lines.push(`… and ${there.length - chosen.length} more`);
    // Lines from before that are not needed any more are emptied.
    while (lines.length < Math.min(this.#lines, room)) lines.push('');
    const up = this.#lines === 0 ? '' : UP(this.#lines);
    this.#host.write(2, up + lines.map((line) => `${CLEAR_LINE}${line}\n`).join(''));
    this.#lines = lines.length;
  }

  /** Takes the live lines away: something else follows. */
  clear(): void {
    if (!this.#isLive || this.#lines === 0) return;
    const blank = `${CLEAR_LINE}\n`.repeat(this.#lines);
    this.#host.write(2, UP(this.#lines) + blank + UP(this.#lines));
    this.#lines = 0;
  }

  close(): void {
    this.clear();
    for (const log of this.#logs.values()) log.close();
  }
}

function spanSince(start: string | null, now: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(start ?? now)) / 1000));
  const two = (number: number) => String(number).padStart(2, '0');
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

/** The last line of a log with something in it. */
function lastLine(log: Follower): string {
  const text = new TextDecoder().decode(log.end(4_096));
  const lines = text.split(/[\r\n]+/).map(clean);
  return lines.filter((line) => line !== '').at(-1) ?? '';
}

/** A line that never ends is cut here. */
const LONGEST = 16_384;

/** Text for a terminal out of a log: whole lines without what could steer it. */
class Printer {
  readonly #log: Follower;
  readonly #prefix: string;
  // Bytes that are no UTF-8 show as replacement characters; the log keeps them.
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(log: Follower, prefix = '') {
    this.#log = log;
    this.#prefix = prefix;
  }

  /** What has come since, at most a piece; with `all` also a line without its end. */
  take(all: boolean): string {
    const { bytes, skipped } = this.#log.read(MOST);
    const note = skipped === 0 ? '' : this.#line(`… ${skipped} bytes are left out here …`);
    if (skipped > 0) this.#rest = '';
    const isEnd = all && bytes.length === 0;
    // At the end also the first bytes of a letter whose others never came.
    const text = this.#rest + this.#decoder.decode(bytes, { stream: !isEnd });
    const lines = text.split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LONGEST || (isEnd && this.#rest !== '')) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    const shown = note + lines.map((line) => this.#line(line)).join('');
    // Nothing means to who asks that there is nothing more: a piece without an end of line is not it.
    return all && !isEnd && shown === '' ? this.take(all) : shown;
  }

  #line(text: string): string {
    return `${this.#prefix}${withoutControls(text)}\n`;
  }
}

/** Colours and the like as a whole, then every other control; tabs stay. */
function withoutControls(text: string): string {
  return text
    .split('\t')
    .map((part) => printable(stripAnsi(part)))
    .join('\t');
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
  const named: Named[] = [];
  let status = OK as number;
  for (const it of find(host, args)) {
    try {
      judgeThere(context, it);
      named.push(it);
    } catch (error) {
      status = Math.max(status, explain(host, error));
      continue;
    }
    // What a supervisor could not write down any more. A worker needs looking after all the same.
    await recordRows(context, it.path).catch((error) => explain(host, error));
  }
  return named.length === 0 ? status : watch(desk, named, values, interrupt, status);
}

function show(
  { context, host }: Desk,
  args: readonly string[],
  { json }: { json: boolean },
): number {
  const answers = find(host, args).map((it) => ({ ...it, answer: judgeThere(context, it) }));
  if (json) {
    const dispatches = answers.map(({ answer }) => shown(answer));
    host.write(1, `${printableJson({ dispatches })}\n`);
    return OK;
  }
  for (const { name, answer } of answers) {
    const { standing, status } = answer;
    const since = standing === 'running' ? ` for ${spanSince(status.started_at, host.now())}` : '';
    host.write(1, `${lineOf(name, answer)}${since}\n`);
  }
  if (answers.some(({ answer }) => ['orphaned', 'unseen'].includes(answer.standing))) {
    say(host, "go on with those whose supervisor is gone: 'okstra dispatch resume'");
  }
  return OK;
}

async function stop(
  desk: Desk,
  args: readonly string[],
  { json, dryRun }: { json: boolean; dryRun: boolean },
): Promise<number> {
  const { context, host } = desk;
  const named = find(host, args);
  if (dryRun) return foreseeStop(desk, named, json);
  let status = OK as number;
  const stopped: Named[] = [];
  for (const it of named) {
    const { standing } = judgeThere(context, it);
    if (standing === 'ended') continue;
    if (standing === 'unknown') {
      const help = 'ask on the machine where it was started';
      const message = 'its processes cannot be judged from here';
      status = explain(host, new HostError('refused', it.name, message, help));
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
function foreseeStop({ context, host }: Desk, named: readonly Named[], json: boolean): number {
  const answers = named.map((it) => ({ ...it, answer: judgeThere(context, it) }));
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

/** How a dispatch stands; where there is none the core says so. */
function judgeThere(context: Context, { path }: Named): DispatchAnswer {
  return judge(context, path, sightings(context, path), true);
}
