/** The worktrees of stages: what is there, what will conflict, what may go, what disagrees. */

import type {
  Conflict,
  Forecast,
  ForecastPair,
  MergeResult,
  PruneEntry,
  PruneLine,
  RegisteredTask,
  RepairFacts,
  RepairFinding,
  RepairReport,
  Reserved,
  Source,
  StageHead,
  StageLife,
  StageWorktree,
  Repository as TaskRepository,
  WorktreeAction,
} from '../../../npm-package/src/index.js';
import {
  answered,
  type Board,
  type BoardValues,
  locked,
  openBoard,
  registryKey,
  slashes,
} from '../cli/board.js';
import { wantsColor } from '../cli/color.js';
import type { Context } from '../cli/context.js';
import { FINDINGS, OK, UsageError } from '../cli/exit.js';
import { about, printable, printableJson, say } from '../cli/talk.js';
import { utf8Of } from '../cli/text.js';
import type { Git, Links, Repository } from '../host/git/git.js';
import { HostError } from '../host/host.js';
import {
  type Asker,
  askRegistry,
  changeRegistry,
  inFolder,
  inside,
  readRegistry,
  registryFacts,
  taskWorktree,
  withTask,
} from './provision.js';
import { age, table } from './stage.js';

/** Which task is meant. */
interface Which {
  plan: string | undefined;
  taskKey: string | undefined;
}

const NOBODY = {
  implKey: undefined,
  session: undefined,
  claimId: undefined,
  json: false,
  dryRun: false,
} as const;

/** The key of the task that is meant; `undefined` for all. */
function keyOf({ plan, taskKey }: Which, context: Context): string | undefined {
  if (plan === undefined) return taskKey;
  return registryKey(openBoard({ ...NOBODY, plan, taskKey }, context));
}

/** The core, the world and the registry's home. */
interface Registered extends Asker {
  home: string;
}

function registered(context: Context): Registered {
  return {
    context,
    api: context.api(0),
    home: slashes(context.host.realPath(context.host.home())),
  };
}

/** The tasks that are meant. */
function tasksOf(at: Registered, key: string | undefined): RegisteredTask[] {
  const { tasks, warnings } = readRegistry(at, at.home);
  for (const warning of warnings) say(at.context.host, `warning: ${warning}`);
  return key === undefined ? tasks : tasks.filter(({ task_key }) => task_key === key);
}

/** The worktrees as a table or as JSON. */
export async function list(
  values: Which & { json: boolean; color: boolean | undefined },
  context: Context,
): Promise<number> {
  const { host } = context;
  const at = registered(context);
  const now = Date.parse(host.now());
  const found = [];
  for (const task of tasksOf(at, keyOf(values, context))) {
    for (const entry of entriesOf(task)) {
      const exists = host.exists(`${entry.path}/.git`);
      const head = exists ? await host.gitHead(entry.path) : undefined;
      const since = now - Date.parse(entry.created_at);
      found.push({
        task_key: task.task_key,
        stage: entry.stage === 0 ? null : entry.stage,
        state: entry.state,
        branch: entry.branch,
        head: head?.commit ?? null,
        path: entry.path,
        exists,
        age_ms: Number.isNaN(since) ? null : Math.max(0, since),
        base: entry.base,
        claim_id: entry.claim_id,
        project_root: task.project_root,
      });
    }
  }
  if (values.json) {
    host.write(1, `${printableJson({ worktrees: found })}\n`);
    return OK;
  }
  const rows = found.map((it) => [
    printable(it.task_key),
    it.stage === null ? '–' : String(it.stage),
    it.exists ? it.state : `${it.state}, folder missing`,
    printable(it.branch),
    it.head?.slice(0, 7) ?? '',
    it.age_ms === null ? '' : age(it.age_ms),
    printable(it.path),
  ]);
  const head = ['task', 'stage', 'state', 'branch', 'head', 'age', 'path'];
  // A path that is broken cannot be copied; a terminal goes on with it in the next line.
  const style = { width: Number.POSITIVE_INFINITY, color: wantsColor(host, 1, values.color) };
  host.write(1, rows.length === 0 ? 'no worktrees\n' : await table(head, rows, [], style));
  return OK;
}

/** The worktrees of a task; its own one first, as stage 0. */
function entriesOf({ worktree, stages }: RegisteredTask): StageWorktree[] {
  return worktree === null ? stages : [ofTask(worktree), ...stages];
}

/** The worktree of a task, as one of a stage is written down. */
function ofTask({ path, branch }: { path: string; branch: string }): StageWorktree {
  return {
    stage: 0,
    path,
    branch,
    base: null,
    claim_id: null,
    state: 'kept',
    by: null,
    created_at: '',
    sync_dirs: [],
  };
}

/** The worktree of a stage, or that of the whole task. */
interface One extends Which {
  stage: number | undefined;
  task: boolean;
}

/** The one worktree that is meant; that of a task as stage 0. */
function oneOf(at: Registered, values: One): { task: RegisteredTask; entry: StageWorktree } {
  const stage = values.task ? 0 : values.stage;
  if (stage === undefined) throw new UsageError('which stage? give --stage N, or --task');
  if (values.task && values.stage !== undefined) {
    throw new UsageError('give either --stage or --task, not both');
  }
  const key = keyOf(values, at.context);
  const found = tasksOf(at, key).flatMap((task) =>
    entriesOf(task)
      .filter((entry) => entry.stage === stage)
      .map((entry) => ({ task, entry })),
  );
  const [one, other] = found;
  if (one === undefined) {
    const of = key === undefined ? '' : ` of ${key}`;
    const what =
      stage === 0
        ? `no task${of} has a worktree of its own`
        : `stage ${stage}${of} has no worktree`;
    const make = stage === 0 ? "'okstra worktree task' makes it" : "see 'okstra worktree list'";
    throw new UsageError(`${what}; ${make}`);
  }
  if (other !== undefined) {
    const keys = found.map(({ task }) => task.task_key).join(', ');
    throw new UsageError(`which task? give --plan PLAN or --task-key KEY, one of ${keys}`);
  }
  return one;
}

/** Prints the folder alone: the one that a claim says, which stands for the project's. */
export async function path(values: One, context: Context): Promise<number> {
  const { task, entry } = oneOf(registered(context), values);
  const repository = await repositoryAt(await context.host.git(), task.project_root);
  const folder = inside(entry.path, repository?.prefix);
  context.host.write(1, `${printable(folder)}\n`);
  return OK;
}

/** Makes the worktree of a task and prints its folder. */
export async function task(
  values: Pick<BoardValues, 'plan' | 'taskKey' | 'implKey' | 'json'>,
  context: Context,
): Promise<number> {
  const { host } = context;
  const made = await taskWorktree(openBoard({ ...NOBODY, ...values }, context, { git: true }));
  if (values.json) {
    host.write(1, `${printableJson(made)}\n`);
    return OK;
  }
  host.write(1, `${printable(made.worktree)}\n`);
  const { stages, branch } = made;
  const what =
    stages.length === 0 ? 'no finished stage' : `the finished stages ${stages.join(', ')}`;
  say(host, `branch ${printable(branch)}, with ${what}`);
  return OK;
}

/** What is foreseen, and what could not be tried. */
interface Foreseen extends Forecast {
  /** Pairs whose merge could not be tried, with the reason. */
  untried: { pair: ForecastPair; why: string }[];
}

/** Says which stages will conflict. */
export async function forecast(
  values: Pick<BoardValues, 'plan' | 'taskKey' | 'implKey' | 'json'>,
  context: Context,
): Promise<number> {
  const { host } = context;
  const board = openBoard({ ...NOBODY, ...values }, context);
  const folder = board.facts.project_root;
  const git = await host.git();
  if (folder === undefined || (await git.repository(folder)) === undefined) {
    throw new HostError('refused', folder ?? board.name, 'no git repository', 'make it one');
  }
  const { ask: _ask, untried, ...found } = await foresee(board, folder, () => Promise.resolve(git));
  if (values.json) {
    const untested = untried.map(({ pair, why }) => ({ ...pair, why }));
    host.write(1, `${printableJson({ ...found, untried: untested })}\n`);
    return OK;
  }
  const lines = found.conflicts.map(
    ({ first, second, files }) =>
      `stages ${first} and ${second} will conflict in ${files.join(', ')}`,
  );
  for (const { pair, why } of untried) {
    lines.push(`stages ${pair.first} and ${pair.second} could not be tried: ${why}`);
  }
  const pairs = found.clean === 1 ? '1 pair merges' : `${found.clean} pairs merge`;
  lines.push(`${pairs} without conflicts`);
  if (found.unknown.length > 0) lines.push(`without a commit: stage ${found.unknown.join(', ')}`);
  host.write(1, lines.map((line) => `${printable(line)}\n`).join(''));
  return OK;
}

/** The most merges that an explanation tries; a forecast tries all. */
const MOST_PAIRS = 100;

/** The conflicts for an explanation; none in a project that is no repository. */
export async function foreseenConflicts(board: Board): Promise<Conflict[]> {
  const folder = board.facts.project_root;
  if (folder === undefined) return [];
  const { host } = board.context;
  const unknown = (why: string) =>
    say(host, `warning: conflicts between stages are not foreseen: ${why}`);
  try {
    const { conflicts } = await foresee(board, folder, async (pairs) => {
      if (pairs > MOST_PAIRS) {
        unknown(`${pairs} pairs are many; 'okstra worktree forecast' tries them`);
        return undefined;
      }
      const git = await host.git();
      return (await git.repository(folder)) === undefined ? undefined : git;
    });
    return conflicts;
  } catch (error) {
    // An explanation is worth something without it.
    if (!(error instanceof HostError)) throw error;
    unknown(error.message);
    return [];
  }
}

/** How many merges are tried at a time. */
const AT_ONCE = 4;

/** Asks the core which merges are worth a try, tries them and asks again. */
async function foresee(
  board: Board,
  folder: string,
  open: (pairs: number) => Promise<Git | undefined>,
): Promise<Foreseen> {
  const heads = await runningHeads(board);
  const ask = async (request: object) => {
    const { answer } = await answered(board, (ledger, facts) =>
      about(board.name, () =>
        board.api.stageForecast(board.bytes, ledger, facts, { heads, ...request }),
      ),
    );
    return answer;
  };
  const first = await ask({});
  const git = first.ask.length === 0 ? undefined : await open(first.ask.length);
  if (git === undefined) return { ...first, untried: [] };
  const full = await fullIds(git, folder, first.ask);
  const both = first.ask.flatMap(({ first_head: a, second_head: b }) => [
    { older: a, newer: b },
    { older: b, newer: a },
  ]);
  const id = (commit: string) => full.get(commit) ?? commit;
  const contained = await git.ancestors(
    folder,
    both.map(({ older, newer }) => ({ older: id(older), newer: id(newer) })),
  );
  const ancestry = both.map((pair, at) => ({ ...pair, contained: contained[at] ?? false }));
  const second = await ask({ ancestry });
  const merges: MergeResult[] = [];
  const untried: Foreseen['untried'] = [];
  const left = [...second.ask];
  const worker = async () => {
    for (let pair = left.shift(); pair !== undefined; pair = left.shift()) {
      try {
        const { first_head, second_head } = pair;
        const merge = await git.mergeForecast(folder, id(first_head), [id(second_head)]);
        const conflicting = merge.clean || merge.files.length > 0;
        const files = merge.clean ? [] : conflicting ? merge.files : ['(no common history)'];
        merges.push({ first_head, second_head, files });
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        untried.push({ pair, why: error.message });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  untried.sort((a, b) => a.pair.first - b.pair.first || a.pair.second - b.pair.second);
  return { ...(await ask({ ancestry, merges })), untried };
}

/** The commits that the worktrees of a task's stages are at. */
async function runningHeads(board: Board): Promise<StageHead[]> {
  const { host } = board.context;
  const home = slashes(host.realPath(host.home()));
  const key = registryKey(board);
  const task = readRegistry(board, home).tasks.find(({ task_key }) => task_key === key);
  const heads: StageHead[] = [];
  for (const { stage, path, state } of task?.stages ?? []) {
    if (state === 'provisioning' || !host.exists(`${path}/.git`)) continue;
    const head = await host.gitHead(path);
    if (head !== undefined) heads.push({ stage, head: head.commit });
  }
  return heads;
}

/** The full ids of commits that a ledger names by their first digits. */
async function fullIds(
  git: Git,
  folder: string,
  pairs: readonly ForecastPair[],
): Promise<Map<string, string>> {
  const named = new Set(pairs.flatMap(({ first_head, second_head }) => [first_head, second_head]));
  const found = new Map<string, string>();
  for (const commit of named) {
    if (/^([\da-f]{40}|[\da-f]{64})$/.test(commit)) continue;
    const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`];
    const { status, stdout } = await git.run(folder, words);
    if (status === 0) found.set(commit, stdout.toString().trim());
  }
  return found;
}

/** A task as a board without its plan's text: where its things lie, and its locks. */
function boardOf({ context, api }: Registered, task: RegisteredTask): Board {
  const { host } = context;
  const absolute = /^(\/|[a-z]:)/i.test(task.plan_path);
  const plan = absolute ? task.plan_path : `${task.project_root}/${task.plan_path}`;
  return {
    context,
    api,
    name: plan,
    bytes: new Uint8Array(),
    layout: api.planLayout(plan, task.project_root),
    facts: {
      plan,
      now: '',
      project_root: task.project_root,
      task_key: task.task_key,
      caller: { host: host.hostName() },
    },
    isOnDisk: false,
    head: undefined,
  };
}

/**
 * Works while nobody can claim a stage of a task or make its own worktree; a task without its plan
 * has no claims.
 */
function undisturbed<T>(board: Board, what: string, work: () => Promise<T>): Promise<T> {
  const { host } = board.context;
  return withTask(board, what, 30_000, () => {
    if (host.exists(board.facts.plan)) return locked(board, what, work);
    const lock = `${host.home()}/locks/${board.api.lockName(board.layout.ledger)}`;
    return host.withLock(lock, `okstra ${what}`, 30_000, work);
  });
}

/** The ledger of a task; `undefined` where it is not known where it lies. */
function ledgerOf(board: Board): Uint8Array | undefined {
  const { host } = board.context;
  const bytes = host.readIfThere(board.layout.ledger);
  if (bytes !== undefined) return bytes;
  return host.exists(board.facts.plan) ? new Uint8Array() : undefined;
}

/** What the stages of a task do, by its ledger; missing is one without rows. */
function lives(board: Board, ledger: Source): Map<number, StageLife> {
  const found = new Map<number, StageLife>();
  for (const { stages, status } of board.api.showLedger(ledger).rows) {
    for (const stage of stages) {
      if (status === 'done') found.set(stage, 'done');
      else if (found.get(stage) === 'done') continue;
      else if (status === 'started') found.set(stage, 'running');
      else if (status === 'released') found.set(stage, 'free');
    }
  }
  return found;
}

/** A worktree with what is known of it. */
interface Known {
  entry: StageWorktree;
  facts: PruneEntry;
  links: Links;
}

/** Gathers what the core wants to know before anything is removed. */
async function gather(
  at: Registered,
  git: Git,
  task: RegisteredTask,
  { only, force }: { only?: number; force: boolean },
): Promise<Known[]> {
  const { host } = at.context;
  const board = boardOf(at, task);
  const root = task.project_root;
  const repository = await repositoryAt(git, root);
  const ledger = ledgerOf(board);
  const states = ledger === undefined ? undefined : lives(board, ledger);
  const { answer } = askRegistry(at, registryFacts(at, at.home), (facts) =>
    at.api.reservedStages(facts, { task_key: task.task_key }),
  );
  const entries = entriesOf(task);
  const [trees, branches] =
    repository === undefined
      ? [[], []]
      : await Promise.all([git.worktrees(root), git.branches(root, '')]);
  // The branches of okstra may go themselves; all others, collectors too, keep what is in them.
  const ours = new Set(
    readRegistry(at, at.home)
      .tasks.filter(({ project_root }) => project_root === root)
      .flatMap(({ worktree, stages }) => [
        ...(worktree === null ? [] : [worktree.branch]),
        ...stages.map(({ branch }) => branch),
      ]),
  );
  const cwd = inFolder(host, at.home, host.realPath(host.cwd()));
  const known: Known[] = [];
  for (const entry of entries) {
    const { stage, path, branch, base } = entry;
    if (only !== undefined && stage !== only) continue;
    // Of one alone, all others stay.
    const own = only === undefined ? ours : new Set([branch]);
    const exists = host.exists(path);
    const head = branches.find(({ name }) => name === branch)?.commit;
    const project = inside(path, repository?.prefix);
    const folder = host.exists(project) ? project : path;
    const tree = trees.find((it) => inFolder(host, at.home, it.path) === path);
    const facts: PruneEntry = {
      task_key: task.task_key,
      stage,
      project_root: root,
      path,
      branch,
      state: lifeOf(entry, states, answer, force),
      exists,
      ...(head === undefined ? {} : { head }),
      ...(head === undefined ? {} : await elsewhere(git, root, { head, ours: own, base })),
      stages: [],
      project_missing: repository === undefined,
      locked: tree?.locked !== undefined && tree.locked !== 'initializing',
      current: cwd === path || cwd.startsWith(`${path}/`),
    };
    if (head !== undefined) facts.stages = await inStages(git, root, head, entry, task);
    if (exists) {
      const dirty = await dirtyIn(git, folder, entry.sync_dirs);
      if (dirty !== undefined) facts.dirty = dirty;
    }
    const links = { project: root, worktree: folder, dirs: entry.sync_dirs };
    known.push({ entry, facts, links });
  }
  return known;
}

/** What the stage of a worktree does. */
function lifeOf(
  { stage, state }: StageWorktree,
  states: ReadonlyMap<number, StageLife> | undefined,
  { stages: reserved, unknown }: Reserved,
  force: boolean,
): StageLife {
  if (states === undefined) return 'unknown';
  if (stage === 0) return [...states.values()].includes('running') ? 'running' : 'free';
  const life = states.get(stage) ?? 'free';
  const isMade = life === 'free' && state === 'provisioning' && reserved.includes(stage);
  // One of whose maker nothing can be known is given up by a person alone.
  return isMade && !(force && unknown.includes(stage)) ? 'running' : life;
}

async function repositoryAt(git: Git, folder: string): Promise<Repository | undefined> {
  try {
    return await git.repository(folder);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** What is not committed, okstra's own files too: they go with the folder. */
async function dirtyIn(
  git: Git,
  folder: string,
  links: readonly string[],
): Promise<string[] | undefined> {
  try {
    const { staged, changed, untracked, conflicted } = await git.status(folder, links);
    return [...new Set([...conflicted, ...staged, ...changed, ...untracked])].sort();
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** Where the commits of a branch are besides in some branches. */
async function elsewhere(
  git: Git,
  root: string,
  { head, ours, base }: { head: string; ours: ReadonlySet<string>; base: string | null },
): Promise<{ kept_in?: string; commits?: number }> {
  const kinds = ['refs/heads', 'refs/remotes', 'refs/tags'];
  const refs = await lines(git, root, [
    ...['for-each-ref', '--format=%(refname)', '--contains', head, ...kinds],
  ]);
  if (refs === undefined) return {};
  const keeper = refs.find((ref) => !ours.has(ref.replace(/^refs\/heads\//, '')));
  if (keeper !== undefined) {
    return { kept_in: keeper.replace(/^refs\/(heads|remotes|tags)\//, ''), commits: 0 };
  }
  const without = [...ours].map((name) => `--exclude=${name}`);
  const range = ['--not', ...without, '--branches', '--remotes', '--tags'];
  // Where nothing was done, the merge that okstra began with is nobody's work.
  const which = head === base ? ['--no-merges'] : [];
  const count = await lines(git, root, ['rev-list', '--count', ...which, head, ...range]);
  return count?.[0] === undefined ? {} : { commits: Number(count[0]) };
}

/** The other stages of a task whose branch contains a commit. */
async function inStages(
  git: Git,
  root: string,
  head: string,
  { stage }: StageWorktree,
  task: RegisteredTask,
): Promise<number[]> {
  const refs = await lines(git, root, [
    ...['for-each-ref', '--format=%(refname:strip=2)', '--contains', head, 'refs/heads'],
  ]);
  const has = new Set(refs ?? []);
  return task.stages.filter((it) => it.stage !== stage && has.has(it.branch)).map((it) => it.stage);
}

/** The lines that git answers with; `undefined` where it fails. */
async function lines(git: Git, folder: string, args: string[]): Promise<string[] | undefined> {
  const { status, stdout } = await git.run(folder, args);
  if (status !== 0) return undefined;
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

/** Says what may go; with `--yes` removes it. */
export async function prune(
  values: Which & { yes: boolean; force: boolean; json: boolean },
  context: Context,
): Promise<number> {
  const { host } = context;
  const at = registered(context);
  const git = await host.git();
  const { force, yes } = values;
  const all: { line: PruneLine; failed?: string }[] = [];
  for (const task of tasksOf(at, keyOf(values, context))) {
    if (task.stages.length === 0 && task.worktree === null) continue;
    const work = async () => {
      const [now] = tasksOf(at, task.task_key);
      if (now === undefined) return;
      const known = await gather(at, git, now, { force: false });
      const plan = at.api.pruneWorktrees(
        known.map(({ facts }) => facts),
        { force },
      );
      for (const [index, line] of plan.lines.entries()) {
        const it = known[index];
        const failed =
          line.fate === 'remove' && it !== undefined
            ? await attempt(async () => {
                if (!force) wantNoContainers(at, line);
                if (yes) await removeAll(at, git, line.actions, it.links);
              })
            : undefined;
        all.push({ line, ...(failed === undefined ? {} : { failed }) });
      }
    };
    await (yes ? undisturbed(boardOf(at, task), 'worktree prune', work) : work());
  }
  const failures = all.filter(({ failed }) => failed !== undefined).length;
  if (values.json) {
    const worktrees = all.map(({ line: { actions: _, ...line }, failed }) => ({
      ...line,
      failed: failed ?? null,
    }));
    host.write(1, `${printableJson({ done: yes, worktrees })}\n`);
    return failures === 0 || !yes ? OK : FINDINGS;
  }
  const goes = all.filter(({ line }) => line.fate === 'remove').length - failures;
  for (const { line, failed } of all) {
    const what =
      failed !== undefined
        ? `${yes ? 'not removed' : 'would not be removed'}: ${failed}`
        : line.fate === 'keep'
          ? `kept: ${line.why}`
          : `${yes ? 'removed' : 'would be removed'}: ${line.why}`;
    host.write(1, `${printable(`${nameOf(line)}: ${what}`)}\n  ${printable(line.path)}\n`);
  }
  if (all.length === 0) host.write(1, 'no worktrees\n');
  else if (!yes && goes > 0) say(host, 'nothing was removed; add --yes to do it');
  return failures === 0 || !yes ? OK : FINDINGS;
}

function nameOf({ task_key, stage }: { task_key: string | null; stage: number | null }): string {
  const of = stage === null ? '' : ` stage ${stage}`;
  return `${task_key ?? '(no task)'}${of}`;
}

/** Does something; answers what was in the way. */
async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof HostError) return `${error.message}; ${error.help}`;
    if (error instanceof Error && error.name === 'OkstraError') return error.message;
    throw error;
  }
}

/** Removes the worktree of a stage. */
export async function remove(
  values: One & { force: boolean; json: boolean },
  context: Context,
): Promise<number> {
  const { host } = context;
  const line = await removeOne(values, context);
  const { actions: _, ...said } = line;
  if (values.json) host.write(1, `${printableJson(said)}\n`);
  else host.write(1, `${printable(`${nameOf(line)}: removed: ${line.why}`)}\n`);
  return OK;
}

/** Removes a worktree and says what became of it; with `dry` what would, its containers apart. */
export async function removeOne(
  values: One & { force: boolean },
  context: Context,
  dry = false,
): Promise<PruneLine> {
  const at = registered(context);
  const { task, entry } = oneOf(at, values);
  const { force } = values;
  const only = values.task ? 0 : (values.stage ?? 0);
  const git = await context.host.git();
  const work = async () => {
    const [now] = tasksOf(at, task.task_key);
    const [it] = now === undefined ? [] : await gather(at, git, now, { only, force });
    if (it === undefined) throw new UsageError('the worktree is not registered any more');
    if (!force && !dry) wantNoContainers(at, { task_key: task.task_key, ...entry });
    const line = at.api.removeWorktree(it.facts, { force });
    if (!dry) await removeAll(at, git, line.actions, it.links);
    return line;
  };
  return dry ? work() : undisturbed(boardOf(at, task), 'worktree remove', work);
}

/** Refuses where containers were started in a worktree: they would lose the ground under them. */
function wantNoContainers(
  { api, context, home }: Registered,
  { task_key, stage, path }: { task_key: string | null; stage: number | null; path: string },
): void {
  // A key that is none has no containers.
  const isTask = stage === null || stage === 0;
  if (task_key === null || !isTask || !/^[^:]+:[^:]+:.+$/s.test(task_key)) return;
  if (!context.host.exists(api.containerPlace({ home, task_key }).path)) return;
  const help = `stop them: 'okstra container down ${task_key}'`;
  throw new HostError('refused', path, 'containers were started in it', help);
}

/** Carries out what the core decided about one worktree. */
async function removeAll(
  at: Registered,
  git: Git,
  actions: readonly WorktreeAction[],
  links: Links,
): Promise<void> {
  for (const action of actions) await carry(at, git, action, links);
}

async function carry(
  at: Registered,
  git: Git,
  action: WorktreeAction,
  links: Links,
): Promise<void> {
  const change = (ask: Parameters<typeof changeRegistry>[2]) => changeRegistry(at, at.home, ask);
  const { api } = at;
  switch (action.kind) {
    case 'remove-worktree':
      return removeTree(git, action, links);
    case 'restore-worktree': {
      const { project_root, path, branch } = action;
      // With force: git still has the entry of the folder that is gone.
      await insist(git, project_root, ['worktree', 'add', '--quiet', '-f', '--', path, branch]);
      if (links.dirs.length > 0) {
        await git.linkSyncDirs(project_root, links.worktree, links.dirs);
      }
      return;
    }
    case 'reconnect':
      return insist(git, action.project_root, ['worktree', 'repair', '--', action.path]);
    case 'forget':
      await change((it) => api.registryForget(it, entryOf(action)));
      return;
    case 'activate':
      await change((it) => api.registryActivate(it, entryOf(action)));
      return;
    case 'keep':
      await change((it) =>
        api.registryKeep(it, {
          ...entryOf(action),
          ...(action.claim_id === null ? {} : { claim_id: action.claim_id }),
        }),
      );
      return;
    case 'adopt':
      return adopt(at, action);
  }
}

function entryOf({ task_key, stage }: { task_key: string; stage: number }) {
  return { task_key, stage };
}

type ActionOf<K extends WorktreeAction['kind']> = Extract<WorktreeAction, { kind: K }>;

/**
 * Removes a worktree and its branch. What a person gives up is only what was named: changes where
 * there were some, commits up to the head that was seen.
 */
async function removeTree(
  git: Git,
  { project_root, path, branch, expected_head, discard }: ActionOf<'remove-worktree'>,
  links: Links,
): Promise<void> {
  await git.removeWorktree({ repository: project_root, path, force: discard, links });
  if (branch === null || expected_head === null) return;
  const ref = `refs/heads/${branch}`;
  const { status } = await git.run(project_root, ['update-ref', '-d', ref, expected_head]);
  const left = await git.branches(project_root, branch);
  if (status === 0 || !left.some(({ name }) => name === branch)) return;
  const help = `the worktree is gone; look at it: 'git log ${branch}'`;
  throw new HostError('refused', path, `branch ${branch} got new commits meanwhile`, help);
}

/** Runs git; a failure is said in its own words. */
async function insist(git: Git, folder: string, args: string[]): Promise<void> {
  const { status, stderr } = await git.run(folder, args);
  if (status === 0) return;
  const said = stderr.trim().replace(/\s+/g, ' ');
  throw new HostError('refused', folder, `git ${args[0]} ${args[1]}: ${said}`, 'look at it');
}

/** Puts a worktree that git has into the registry. */
async function adopt(at: Registered, action: ActionOf<'adopt'>): Promise<void> {
  const { api, context, home } = at;
  const { task_key, stage, path, branch, base, claim_id } = action;
  const task = readRegistry(at, home).tasks.find((it) => it.task_key === task_key);
  if (task === undefined) return;
  const { project_root, plan_path, prefix } = task;
  const identity = { task_key, project_root, plan_path, prefix };
  if (stage === 0) {
    await changeRegistry(at, home, (it) =>
      api.registryTaskWorktree(it, { task: identity, worktree: { path, branch } }),
    );
    return;
  }
  const process = context.host.ownProcess();
  await changeRegistry(at, home, (it) =>
    api.registryBegin(it, {
      task: identity,
      stage,
      path,
      branch,
      ...(base === null ? {} : { base }),
      claim_id: claim_id ?? '',
      by: { host: context.host.hostName(), pid: process.pid, pid_start: process.pid_start ?? '' },
      now: context.host.now(),
      sync_dirs: [],
    }),
  );
  await changeRegistry(at, home, (it) =>
    claim_id === null
      ? api.registryKeep(it, { task_key, stage })
      : api.registryActivate(it, { task_key, stage, claim_id }),
  );
}

/** Lists what disagrees, and mends it. */
export async function repair(
  values: Which & { json: boolean; dryRun: boolean },
  context: Context,
): Promise<number> {
  const { host } = context;
  const at = registered(context);
  const git = await host.git();
  const key = keyOf(values, context);
  const found: { finding: RepairFinding; mended: boolean; failed?: string }[] = [];
  const first = await compare(at, git, key);
  if (values.dryRun) {
    for (const finding of first.findings) found.push({ finding, mended: false });
  } else {
    const tasks = new Set(first.findings.map(({ task_key }) => task_key));
    for (const task_key of tasks) {
      const task = task_key === null ? undefined : tasksOf(at, task_key)[0];
      if (task === undefined) {
        const of = first.findings.filter((finding) => finding.task_key === task_key);
        for (const finding of of) found.push({ finding, mended: false });
        continue;
      }
      await undisturbed(boardOf(at, task), 'worktree repair', async () => {
        // Once more, while nobody can claim.
        for (const finding of (await compare(at, git, task.task_key)).findings) {
          const of = tasksOf(at, task.task_key)[0] ?? task;
          let mended = false;
          const failed = await attempt(async () => {
            mended = await mend(at, git, of, finding);
          });
          found.push({ finding, mended, ...(failed === undefined ? {} : { failed }) });
        }
      });
    }
  }
  const left = found.filter(({ mended }) => !mended).length;
  if (values.json) {
    const findings = found.map(({ finding: { actions: _, ...said }, mended, failed }) => ({
      ...said,
      mended,
      failed: failed ?? null,
    }));
    host.write(1, `${printableJson({ findings, dry_run: values.dryRun })}\n`);
    return left === 0 ? OK : FINDINGS;
  }
  for (const { finding, mended, failed } of found) {
    const how = failed !== undefined ? `failed: ${failed}` : finding.repair;
    const mark = mended ? 'mended' : values.dryRun ? 'repair' : 'left';
    const text = `${nameOf(finding)}: ${finding.message}`;
    host.write(1, `${printable(text)}\n  ${mark}: ${printable(how)}\n`);
  }
  if (found.length === 0) host.write(1, 'nothing to repair\n');
  return left === 0 ? OK : FINDINGS;
}

/** Mends one finding; answers whether anything was to be done. */
async function mend(
  at: Registered,
  git: Git,
  task: RegisteredTask,
  finding: RepairFinding,
): Promise<boolean> {
  const { stage, actions } = finding;
  const entry = task.stages.find((it) => it.stage === stage);
  const repository = await repositoryAt(git, task.project_root);
  const path = entry?.path ?? finding.path;
  const links = {
    project: task.project_root,
    worktree: inside(path, repository?.prefix),
    dirs: entry?.sync_dirs ?? [],
  };
  if (finding.kind === 'half-provisioned' && entry !== undefined) {
    if (!actions.some(({ kind }) => kind === 'keep')) return clean(at, git, task, entry, links);
  }
  for (const action of actions) await carry(at, git, action, links);
  return actions.length > 0;
}

/** Takes away what is half made, as the next claim of the stage would. */
async function clean(
  at: Registered,
  git: Git,
  task: RegisteredTask,
  entry: StageWorktree,
  links: Links,
): Promise<boolean> {
  const { path, branch, base, stage } = entry;
  if (base !== null) {
    const half = { repository: task.project_root, path, branch, base, links };
    const { kept } = await git.cleanHalf(half);
    if (kept.length > 0) {
      const what = kept.map((it) => `${it.what} (${it.why})`).join(', ');
      throw new HostError('refused', path, `stays: ${what}`, 'look at it, then repair again');
    }
  }
  const { task_key } = task;
  await changeRegistry(at, at.home, (it) => at.api.registryForget(it, { task_key, stage }));
  return true;
}

/** What the registry says against everything else. */
async function compare(at: Registered, git: Git, key: string | undefined): Promise<RepairReport> {
  const { host } = at.context;
  const all = readRegistry(at, at.home).tasks;
  const repositories: TaskRepository[] = [];
  for (const root of new Set(all.map(({ project_root }) => project_root))) {
    const of = all.filter(({ project_root }) => project_root === root);
    if (key !== undefined && !of.some(({ task_key }) => task_key === key)) continue;
    const repository = await repositoryAsked(at, git, root);
    if (repository !== undefined) repositories.push(repository);
  }
  const ledgers = all.flatMap((task) => {
    const bytes = ledgerOf(boardOf(at, task));
    const { task_key } = task;
    return bytes === undefined ? [] : [{ task_key, text: utf8Of(bytes) }];
  });
  const paths = new Set([
    ...all.flatMap(({ worktree, stages }) => [
      ...(worktree === null ? [] : [worktree.path]),
      ...stages.map(({ path }) => path),
    ]),
    ...repositories.flatMap(({ worktrees }) => worktrees.map(({ path }) => path)),
  ]);
  const folders = [...paths].filter((path) => host.exists(path));
  const facts: Omit<RepairFacts, 'registry'> = { home: at.home, repositories, ledgers, folders };
  const { answer } = askRegistry(at, registryFacts(at, at.home), (registry) =>
    at.api.repairWorktrees({ ...facts, registry }, key === undefined ? {} : { task_key: key }),
  );
  return answer;
}

/** What git says of a project; `undefined` where it cannot be asked. */
async function repositoryAsked(
  at: Registered,
  git: Git,
  root: string,
): Promise<TaskRepository | undefined> {
  if ((await repositoryAt(git, root)) === undefined) return undefined;
  try {
    const [trees, branches] = await Promise.all([git.worktrees(root), git.branches(root, '')]);
    return {
      project_root: root,
      worktrees: trees.map(({ path, head, branch }) => ({
        path: inFolder(at.context.host, at.home, path),
        ...(head === undefined ? {} : { head }),
        ...(branch === null ? {} : { branch }),
      })),
      branches: branches.map(({ name, commit }) => ({ name, head: commit })),
    };
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
