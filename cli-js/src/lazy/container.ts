/** Starting what the finished stages make together, stopping it, and how it stands. */

import type {
  ComposeCandidate,
  ContainerFacts,
  ContainerPlace,
  ContainerRecord,
  ContainerView,
  EngineRequest,
  StageHead,
  UpAnswer,
  UpRequest,
} from '../../../npm-package/src/index.js';
import { type Board, type BoardValues, openBoard, slashes } from '../cli/board.js';
import { wantsColor } from '../cli/color.js';
import type { Api, Context } from '../cli/context.js';
import { FAULT, OK, UsageError } from '../cli/exit.js';
import { placeTask, unknownTask } from '../cli/project.js';
import { explain, isPlanError, printable, printableJson, say } from '../cli/talk.js';
import { utf8Of } from '../cli/text.js';
import { carryOut } from '../host/effects.js';
import { HostError } from '../host/host.js';
import { finishedStages } from './handoff.js';
import { foreseeTask, inFolder, settingsOf, type TaskFolder, taskWorktree } from './provision.js';
import { age, type Style, table } from './stage.js';

interface UpValues {
  file: string | undefined;
  composeEnv: string | undefined;
  engine: string;
  engineTimeout: number | undefined;
  json: boolean;
  dryRun: boolean;
  color: boolean | undefined;
}

interface DownValues {
  volumes: boolean;
  removeWorktree: boolean;
  engineTimeout: number | undefined;
  json: boolean;
  dryRun: boolean;
}

interface ShowValues {
  engineTimeout: number | undefined;
  json: boolean;
  color: boolean | undefined;
}

/** A task and what is known of its containers. */
interface Desk {
  context: Context;
  api: Api;
  key: string;
  root: string;
  home: string;
  place: ContainerPlace;
}

/** An engine that answers. */
interface Found {
  engine: string;
  version: string;
}

function openDesk(key: string, context: Context): Desk {
  const { host } = context;
  const { root, task } = placeTask(host, key, context);
  const api = context.api(0);
  const home = slashes(host.realPath(host.home()));
  const place = api.containerPlace({ home, task_key: key });
  const text = recordText(place, context);
  // What is up can be taken down also when its task is gone.
  if (text === undefined && !host.exists(task)) throw unknownTask(key, { root });
  const facts = { home, task_key: key, ...(text === undefined ? {} : { record: text }) };
  const known = api.containerPlace(facts);
  const gone = goneOf(known.record, context);
  const at = { context, api, key, root, home };
  return { ...at, place: gone.length === 0 ? known : api.containerPlace({ ...facts, gone }) };
}

/** The recorded files that are gone. */
function goneOf(record: ContainerRecord | null, { host }: Context): string[] {
  const { files = [], env_file = null } = record ?? {};
  const all = env_file === null ? files : [...files, env_file];
  return all.filter((file) => !host.isFile(file));
}

function recordText({ path }: ContainerPlace, { host }: Context): string | undefined {
  const bytes = host.readIfThere(path);
  return bytes === undefined ? undefined : utf8Of(bytes);
}

/** What is known whatever is asked. The record is read anew: it is changed in between. */
function factsOf({ context, key, root, home, place }: Desk): Partial<ContainerFacts> {
  const { host } = context;
  const text = recordText(place, context);
  const starter = starterOf(place.record, context);
  return {
    home,
    task_key: key,
    project_root: root,
    now: host.now(),
    gone: goneOf(place.record, context),
    ...(text === undefined ? {} : { record: text }),
    ...(starter === undefined ? {} : { starter }),
  };
}

/** What became of whoever is written down as starting it. */
function starterOf(record: ContainerRecord | null, { host }: Context): string | undefined {
  if (record?.state !== 'starting') return undefined;
  const { pid, pid_start, host: machine } = record;
  if (pid === null || machine !== host.hostName()) return 'unknown';
  return host.processState(pid, pid_start ?? undefined);
}

/**
 * Works while nobody else starts or stops the containers of a task. Compose takes as long as it
 * takes, so nobody waits for it.
 */
function exclusively<T>(desk: Desk, what: string, work: () => Promise<T>): Promise<T> {
  const { context, api, place } = desk;
  const { host } = context;
  const lock = `${host.home()}/locks/${api.lockName(place.path)}`;
  return host.withLock(lock, `okstra container ${what}`, 0, work);
}

/** The engine to use. */
async function findEngine(
  { context, api, place, root }: Desk,
  wanted: string,
  seconds: number | undefined,
): Promise<Found> {
  const engine = await context.host.engine();
  const limit = seconds ?? 10;
  const probed: EngineRequest['probed'] = [];
  for (;;) {
    const answer = api.containerEngine({
      probed,
      limit,
      ...(wanted === 'auto' ? {} : { engine: wanted }),
      ...(place.record === null ? {} : { recorded: place.record.engine }),
    });
    if (answer.kind === 'use') return answer;
    const options = { folder: root, limit: limit * 1000 };
    const outcomes = await Promise.all(answer.words.map((words) => engine.ask(words, options)));
    probed.push({ engine: answer.engine, outcomes });
  }
}

/** Assembles and starts. */
export async function up(key: string, values: UpValues, context: Context): Promise<number> {
  const desk = openDesk(key, context);
  const envFile = envFileOf(values, context);
  const file = values.file?.startsWith(`${desk.root}/`)
    ? values.file.slice(desk.root.length + 1)
    : values.file;
  const wanted = { ...values, file };
  if (values.dryRun) return preview(desk, envFile, wanted);
  return exclusively(desk, 'up', () => start(openDesk(key, context), envFile, wanted));
}

function envFileOf({ composeEnv }: UpValues, { host }: Context): string | undefined {
  if (composeEnv === undefined) return undefined;
  if (host.isFile(composeEnv)) return slashes(host.realPath(composeEnv));
  throw new HostError('missing', composeEnv, 'no such file', 'check it');
}

/** What would be started, before anything is. */
interface Planned {
  board: Board;
  found: Found;
  foreseen: TaskFolder;
  facts: Partial<ContainerFacts>;
  request: UpRequest;
  answer: UpAnswer;
}

/** Decides everything that can be decided before the worktree is touched. */
async function plan(desk: Desk, envFile: string | undefined, values: UpValues): Promise<Planned> {
  const { context, api, key } = desk;
  const found = await findEngine(desk, values.engine, values.engineTimeout);
  const board = boardOf(key, context);
  const stages = await finishedStages(board, values.dryRun);
  const foreseen = await foreseeTask(board);
  const facts = { ...factsOf(desk), ...assembled(foreseen, stages) };
  const names = values.file === undefined ? desk.place.files : [values.file];
  const request: UpRequest = {
    phase: 'plan',
    engine: found.engine,
    found: await inCommit(board, foreseen, names),
    ...(values.file === undefined ? {} : { file: values.file }),
    ...(envFile === undefined ? {} : { env_file: envFile }),
  };
  const decided = api.containerUp(facts, request);
  if (decided.kind === 'needs') throw new Error('the core asks for what it has');
  return { board, found, foreseen, facts, request, answer: decided.answer };
}

function boardOf(taskKey: string, context: Context): Board {
  const nobody = { plan: undefined, implKey: undefined, session: undefined, claimId: undefined };
  const values: BoardValues = { ...nobody, taskKey, json: false, dryRun: false };
  return openBoard(values, context, { git: true });
}

/** What is assembled, or would be. */
function assembled(
  { worktree, branch, base, head, stages }: TaskFolder,
  finished: readonly { stage: number; head: string }[],
): Partial<ContainerFacts> {
  const inside: StageHead[] = finished
    .filter(({ stage }) => stages.includes(stage))
    .map(({ stage, head }) => ({ stage, head }));
  return { worktree, branch, base, head, stages: inside };
}

/** Which of some files a commit has in the project's folder, and where links among them lead. */
async function inCommit(
  board: Board,
  { head, worktree }: TaskFolder,
  names: readonly string[],
): Promise<ComposeCandidate[]> {
  const git = await board.context.host.git();
  const folder = board.facts.project_root ?? worktree;
  const prefix = (await git.repository(folder))?.prefix ?? '';
  const clean = names.map((name) => name.replace(/^(?:\.?\/+)+/, '')).filter((name) => name !== '');
  const words = ['ls-tree', '-z', '--full-tree', head, '--', ...clean.map((it) => prefix + it)];
  const { status, stdout } = await git.run(folder, ['--literal-pathspecs', ...words]);
  if (status !== 0) return [];
  const found: ComposeCandidate[] = [];
  for (const entry of stdout.toString().split('\0')) {
    const [, mode = '', kind = '', id = '', path = ''] =
      /^(\d+) (\w+) ([\da-f]+)\t(.*)$/s.exec(entry) ?? [];
    if (kind !== 'blob' || !path.startsWith(prefix)) continue;
    const candidate = { path: path.slice(prefix.length) };
    if (mode !== '120000') {
      found.push(candidate);
      continue;
    }
    const link = (await git.run(folder, ['cat-file', 'blob', id])).stdout.toString();
    found.push({ ...candidate, link });
  }
  return found;
}

/** Says what would be done. */
async function preview(desk: Desk, envFile: string | undefined, values: UpValues): Promise<number> {
  const { host } = desk.context;
  const { found, foreseen, facts, answer } = await plan(desk, envFile, values);
  if (values.json) {
    host.write(
      1,
      `${printableJson({ ...document(answer, found, foreseen, facts), dry_run: true })}\n`,
    );
    return OK;
  }
  const made = foreseen.created ? 'would be made' : 'would be brought up to date';
  const variables = answer.environment.map(([name, value]) => `  ${name}=${value}`);
  const lines = [
    `worktree  ${foreseen.worktree} (${made})`,
    ...about(facts),
    `engine    ${found.engine} (${found.version})`,
    `command   ${answer.words.map(quoted).join(' ')}`,
    `in        ${answer.folder}`,
    'with',
    ...variables,
  ];
  host.write(1, `${lines.map(printable).join('\n')}\n`);
  say(host, 'dry run: nothing was assembled, started or recorded');
  return OK;
}

/** What is said of a start to a program. */
function document(
  answer: UpAnswer,
  { engine, version }: Found,
  { created }: TaskFolder,
  { worktree, branch, base, head, stages }: Partial<ContainerFacts>,
): object {
  const { project, files, words, folder, environment, record } = answer;
  return {
    ...{ project, engine, version, worktree, created, branch, base, head, stages, files },
    ...{ command: words, folder, environment: Object.fromEntries(environment), record },
  };
}

/** Branch and stages, for people. */
function about({ branch, base, head, stages }: Partial<ContainerFacts>): string[] {
  const short = (commit: string | null | undefined) => commit?.slice(0, 7) ?? '';
  const list = stages?.map(({ stage, head }) => `${stage} (${short(head)})`).join(', ');
  return [`branch    ${branch} at ${short(head)}, base ${short(base)}`, `stages    ${list}`];
}

/** A word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Assembles the worktree and starts compose in it. */
async function start(desk: Desk, envFile: string | undefined, values: UpValues): Promise<number> {
  const { context, api } = desk;
  const { host } = context;
  const planned = await plan(desk, envFile, values);
  const { board, found } = planned;
  const made = await taskWorktree(board);
  const finished = await stagesIn(board, made);
  let facts: Partial<ContainerFacts> = { ...planned.facts, ...assembled(made, finished) };
  const request = {
    ...planned.request,
    // Links in the folder may lead elsewhere than the commit says; the folder of all worktrees may
    // itself be one.
    found: planned.request.found
      .filter(({ path }) => host.exists(`${made.worktree}/${path}`))
      .map((it) => {
        const real = host.realPath(`${made.worktree}/${it.path}`);
        return { ...it, real: inFolder(host, desk.home, real) };
      }),
  };
  const decide = (more: Partial<UpRequest>): UpAnswer => {
    const text = recordText(desk.place, context);
    const { record: _, ...others } = facts;
    facts = text === undefined ? others : { ...others, record: text };
    const decided = api.containerUp(facts, { ...request, ...more });
    if (decided.kind === 'needs') throw new Error('the core asks for what it has');
    carryOut(decided.effects, host);
    return decided.answer;
  };
  await warnOf(board, made, envFile, context);
  const own = host.ownProcess();
  const machine = host.hostName();
  // Written down before it is begun: whatever happens, it is known what has to be stopped.
  const answer = decide({ phase: 'starting', ...processOf(own.pid, own.pid_start, machine) });
  const engine = await host.engine();
  let ended: { status: number | null; said: string };
  try {
    ended = await engine.compose(answer.words, {
      folder: answer.folder,
      env: Object.fromEntries(answer.environment),
      heard: (text) => hear(context, text),
      started: (pid, pid_start) => {
        // From here on the earlier note is about a process that is this one's child.
        facts = { ...facts, starter: 'gone' };
        decide({ phase: 'starting', ...processOf(pid, pid_start, machine) });
      },
    });
  } catch (error) {
    facts = { ...facts, starter: 'gone' };
    decide({ phase: 'failed' });
    throw error;
  }
  if (ended.status !== 0) {
    decide({ phase: 'failed', ...(ended.status === null ? {} : { exit_code: ended.status }) });
    throw failed(answer.words, 'up', ended, desk.key);
  }
  decide({ phase: 'up' });
  const now = openDesk(desk.key, context);
  const { view, fault } = await look(now, finished, { worktree: made.worktree, head: made.head });
  if (values.json) {
    const said = document(answer, found, made, facts);
    host.write(1, `${printableJson({ ...said, health: view.health, services: view.services })}\n`);
  } else host.write(1, await showView(view, styleOf(values, context), context));
  if (fault !== undefined) say(host, `warning: ${fault}`);
  return OK;
}

function processOf(pid: number, pid_start: string | null, host: string): Partial<UpRequest> {
  return { pid, host, ...(pid_start === null ? {} : { pid_start }) };
}

/** The finished stages whose commits are in the worktree. */
async function stagesIn(
  board: Board,
  { worktree, head }: TaskFolder,
): Promise<{ stage: number; head: string }[]> {
  const git = await board.context.host.git();
  const { resolved } = await import('../lazy/handoff.js');
  const inside = [];
  for (const { stage, head: commit } of await finishedStages(board, false)) {
    // The ledger may have moved on while the worktree was made.
    const id = await resolved(git, worktree, commit);
    if (id !== undefined && (await git.ancestor(worktree, id, head))) {
      inside.push({ stage, head: commit });
    }
  }
  return inside;
}

/** Says what a person would not expect. */
async function warnOf(
  board: Board,
  { worktree }: TaskFolder,
  envFile: string | undefined,
  { host }: Context,
): Promise<void> {
  const git = await host.git();
  const dirs = settingsOf(board, board.facts.project_root ?? worktree).syncDirs;
  const { clean, staged, changed, untracked, conflicted } = await git.status(worktree, dirs);
  if (!clean) {
    const files = [...new Set([...conflicted, ...staged, ...changed, ...untracked])];
    const more = files.length > 5 ? ` and ${files.length - 5} more` : '';
    if (files.length > 0) {
      const named = files.slice(0, 5).join(', ');
      say(host, `warning: not committed in the worktree, and part of what runs: ${named}${more}`);
    }
  }
  const own = `${board.facts.project_root}/.env`;
  if (envFile === undefined && host.isFile(own) && !host.exists(`${worktree}/.env`)) {
    say(host, `warning: the worktree has no .env; '--compose-env ${own}' hands over the project's`);
  }
}

/** What compose says, without what could steer a terminal. */
function hear({ host }: Context, text: string): void {
  host.write(
    2,
    text
      .split(/\r\n|[\r\n]/)
      .map(printable)
      .join('\n'),
  );
}

function failed(
  words: readonly string[],
  verb: string,
  { status, said }: { status: number | null; said: string },
  key: string,
): HostError {
  const program = words.slice(0, words.indexOf('-p')).join(' ');
  const how = status === null ? 'was ended by a signal' : `ended with ${status}`;
  const message = `${verb} ${how}${said === '' ? '' : `: ${printable(said)}`}`;
  const again = `mend that and run it again`;
  const help =
    verb === 'up' ? `${again}; what it has started, 'okstra container down ${key}' stops` : again;
  return new HostError('other', program, message, help);
}

/** Stops what was started. */
export async function down(key: string, values: DownValues, context: Context): Promise<number> {
  const desk = openDesk(key, context);
  if (values.dryRun) return stop(desk, values);
  return exclusively(desk, 'down', () => stop(openDesk(key, context), values));
}

async function stop(desk: Desk, values: DownValues): Promise<number> {
  const { context, api, key, root } = desk;
  const { host } = context;
  const record = desk.place.record;
  const decided = api.containerDown(factsOf(desk), { volumes: values.volumes });
  if (decided.kind === 'needs') throw new Error('the core asks for what it has');
  const { words, environment } = decided.answer;
  if (record === null) {
    if (!values.json) say(host, 'nothing is up');
  } else {
    await findEngine(desk, 'auto', values.engineTimeout);
    const folder = host.exists(record.worktree) ? record.worktree : root;
    if (values.dryRun && !values.json) {
      const variables = environment.map(([name, value]) => `  ${name}=${value}`);
      const command = `command   ${words.map(quoted).join(' ')}`;
      const lines = [command, `in        ${folder}`, 'with', ...variables];
      host.write(1, `${lines.map(printable).join('\n')}\n`);
      say(host, 'dry run: nothing was stopped or removed');
    }
    if (!values.dryRun) {
      const engine = await host.engine();
      const env = Object.fromEntries(environment);
      const options = { folder, env, heard: (text: string) => hear(context, text), started() {} };
      const ended = await engine.compose(words, options);
      if (ended.status !== 0) throw failed(words, 'down', ended, key);
      carryOut(decided.effects, host);
      if (!values.json) host.write(1, `${printable(record.project)} is down\n`);
    }
  }
  const worktree = await leaveWorktree(desk, values, record);
  if (values.json) {
    const done = { project: desk.place.project, stopped: record !== null && !values.dryRun };
    const more = { command: words, worktree: worktree ?? null, dry_run: values.dryRun };
    host.write(1, `${printableJson({ task_key: key, ...done, ...more })}\n`);
  }
  return OK;
}

/** Removes the worktree where that is asked for, else says how; answers what became of it. */
async function leaveWorktree(
  { context, key }: Desk,
  values: DownValues,
  record: ContainerRecord | null,
): Promise<'removed' | 'kept' | undefined> {
  const { host } = context;
  if (!values.removeWorktree) {
    if (record === null || values.dryRun || !host.exists(record.worktree)) return undefined;
    if (!values.json) {
      const how = `okstra worktree remove --task-key ${key} --task`;
      say(host, `the worktree stays: ${record.worktree}; '${how}' removes it`);
    }
    return 'kept';
  }
  const { removeOne } = await import('./worktree.js');
  const which = { plan: undefined, taskKey: key, stage: undefined, task: true, force: false };
  const { path, why } = await removeOne(which, context, values.dryRun);
  if (!values.json) {
    const what = values.dryRun ? `worktree  ${path} (would be removed` : 'the worktree is removed';
    host.write(1, `${printable(`${what}: ${why}`)}${values.dryRun ? ')' : ''}\n`);
  }
  return values.dryRun ? undefined : 'removed';
}

/** Says how it stands. */
export async function show(key: string, values: ShowValues, context: Context): Promise<number> {
  const { host } = context;
  const desk = openDesk(key, context);
  const { record } = desk.place;
  let finished: { stage: number; head: string }[] | undefined;
  try {
    finished = await finishedStages(boardOf(key, context), true);
  } catch (error) {
    // What is up can be shown where the plan is gone, or nobody can read it.
    const isKnown = error instanceof UsageError || error instanceof HostError || isPlanError(error);
    if (record === null || !isKnown) throw error;
    const { message } = error.cause instanceof Error ? error.cause : error;
    say(host, `warning: what is finished cannot be told: ${message}`);
  }
  let fault: unknown;
  if (record !== null) {
    try {
      await findEngine(desk, 'auto', values.engineTimeout);
    } catch (error) {
      fault = error;
    }
  }
  const at = record === null ? {} : await worktreeOf(record, context);
  const looked = await look(desk, finished, at, fault === undefined, values.engineTimeout);
  const { view } = looked;
  if (values.json) host.write(1, `${printableJson(view)}\n`);
  else host.write(1, await showView(view, styleOf(values, context), context));
  if (fault !== undefined) return explain(host, fault);
  if (looked.fault === undefined) return OK;
  say(host, looked.fault);
  return FAULT;
}

async function worktreeOf(
  { worktree }: ContainerRecord,
  { host }: Context,
): Promise<Partial<ContainerFacts>> {
  if (!host.exists(`${worktree}/.`)) return {};
  const head = await host.gitHead(worktree);
  return head === undefined ? {} : { worktree, head: head.commit };
}

/** Asks engine and core how it stands; `fault` is why the engine does not say. */
async function look(
  desk: Desk,
  finished: readonly { stage: number; head: string }[] | undefined,
  at: Partial<ContainerFacts>,
  asks = true,
  seconds = 10,
): Promise<{ view: ContainerView; fault?: string }> {
  const { context, api, place, root } = desk;
  const { host } = context;
  const facts = {
    ...factsOf(desk),
    ...at,
    stages: (finished ?? []).map(({ stage, head }) => ({ stage, head })),
  };
  const without = { without_plan: finished === undefined };
  const { ps, record } = place;
  if (!asks || ps === null || record === null) return { view: api.containerShow(facts, without) };
  const folder = host.exists(record.worktree) ? record.worktree : root;
  const env = {
    OKSTRA_TASK_KEY: record.task_key,
    OKSTRA_PROJECT_ROOT: root,
    OKSTRA_WORKTREE: record.worktree,
    OKSTRA_BASE: record.base,
    OKSTRA_HEAD: record.head,
    OKSTRA_STAGES: record.stages.map(({ stage }) => stage).join(','),
  };
  const engine = await host.engine();
  const ran = await engine.ask(ps, { folder, env, limit: seconds * 1000 });
  if (ran.status === 0) return { view: api.containerShow(facts, { ...without, ps: ran.stdout }) };
  const program = ps.slice(0, ps.indexOf('-p')).join(' ');
  const said = ran.stderr.trim().replace(/\s+/g, ' ').slice(0, 300);
  const why = ran.fault ?? (said === '' ? `it ended with ${ran.status ?? 'a signal'}` : said);
  const fault = `${program} ps does not say how it stands: ${printable(why)}`;
  return { view: api.containerShow(facts, without), fault };
}

function styleOf({ color }: { color: boolean | undefined }, { host }: Context): Style {
  return { width: host.width(), color: wantsColor(host, 1, color) };
}

/** How it stands, as a person reads it. */
async function showView(view: ContainerView, style: Style, { host }: Context): Promise<string> {
  const { record, services, stale } = view;
  const head = `${printable(view.task_key)}: ${healthOf(view)}`;
  if (record === null) return `${head}\n`;
  const since = Date.parse(host.now()) - Date.parse(record.started_at);
  const when = Number.isNaN(since) ? record.started_at : `${age(Math.max(0, since))} ago`;
  const lines = [
    `${head} (${record.engine}, ${when})`,
    `project   ${record.project}`,
    `worktree  ${record.worktree}`,
    ...about(record),
  ];
  const rows = services.map((it) => [
    printable(it.service),
    printable(it.exit_code === null ? it.state : `${it.state} (${it.exit_code})`),
    printable(it.health ?? ''),
    printable(it.ports.join(', ')),
    printable(it.name),
  ]);
  const columns = ['service', 'state', 'health', 'ports', 'container'];
  const shown =
    rows.length === 0 ? '' : `\n${await table(columns, rows, ['ports', 'container'], style)}`;
  const since_then = stale.map((line) => `stale: ${line}\n`).join('');
  const again = stale.length === 0 ? '' : `'okstra container up ${view.task_key}' takes it in\n`;
  const gap = stale.length === 0 ? '' : '\n';
  return `${lines.map(printable).join('\n')}\n${shown}${gap}${since_then}${printable(again.trimEnd())}${gap}`;
}

function healthOf({ health, record }: ContainerView): string {
  const code = record?.exit_code;
  switch (health) {
    case 'down':
      return 'nothing is up';
    case 'starting':
      return 'compose is at work';
    case 'interrupted':
      return 'the start was interrupted';
    case 'failed':
      return `compose failed${code == null ? '' : ` with ${code}`}`;
    case 'up':
      return 'up';
    case 'partly':
      return 'not all of it runs';
    case 'gone':
      return 'was started, and no container is there any more';
    case 'unknown':
      return 'was started';
  }
}
