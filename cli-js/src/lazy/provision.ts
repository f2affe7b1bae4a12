/** Claims that get a worktree of their own, and what git says of it when they end. */
import type {
  BaseAnswer,
  BeginRequest,
  ClaimAnswer,
  ClaimRequest,
  Decision,
  GitFacts,
  MergeHead,
  Registry,
  RegistryAnswer,
  RegistryFacts,
  StageHead,
  StageWorktree,
  TaskIdentity,
} from '../../../npm-package/src/index.js';
import {
  answered,
  type Board,
  type Decided,
  isAnyBegun,
  locked,
  readAgain,
  registryKey,
  settle,
  slashes,
} from '../cli/board.js';
import { okstraFolder, readObject } from '../cli/project.js';
import { about, isPlanError, say, sayOf } from '../cli/talk.js';
import { utf8Of } from '../cli/text.js';
import { carryOut } from '../host/effects.js';
import type { Git, Links, NewWorktree } from '../host/git/git.js';
import { HostError } from '../host/host.js';
import type { Prepared } from './handoff.js';

/** How long a change of the registry waits for others, in milliseconds. */
const WAIT = 30_000;

/** How long a claim waits for an earlier one of its session, which may check out a lot. */
const CHECKOUT = 600_000;

/** How often a claim begins anew, where what it chose was another's or another by the end. */
const ROUNDS = 4;

/** What a claim with a worktree asks for. */
export interface Wanted {
  request: Partial<ClaimRequest> & { claim_id: string };
  /** Whether a merge with conflicts is left open in the new worktree. */
  resolve: boolean;
  /** What git says of the project, where it has been asked. */
  looked?: ReturnType<Git['repository']> | undefined;
}

/** Okstra's own files in a project; they never make a worktree dirty. */
const OWN = ['.okstra', '.project-docs/okstra'];

/**
 * Chooses a stage and reserves it under the ledger's lock, makes its worktree without it, and
 * records the claim under it again: nobody waits for a checkout. What fails half-way leaves no
 * branch, folder, reservation or row.
 */
export async function claimInWorktree(board: Board, wanted: Wanted): Promise<Decided<ClaimAnswer>> {
  const git = await board.context.host.git();
  // Git looks while the core chooses; its refusal is heard in any case.
  const repository = repositoryOf(board, git, wanted.looked);
  repository.catch(() => {});
  await settle(board);
  for (let round = 1; ; round += 1) {
    const chosen = await locked(board, 'stage claim', () => choose(board, git, repository, wanted));
    if (chosen === undefined) {
      await untilFree(board, wanted);
      round -= 1;
      continue;
    }
    if ('held' in chosen) return chosen.held;
    try {
      return await provision(board, git, chosen, wanted);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      if (round === ROUNDS) throw error.cause;
    }
  }
}

/** What a claim has chosen is not to be had any more, or is another than it was. */
class Overtaken extends Error {}

/** The project's folder, if it is in a repository in which worktrees can be made. */
async function repositoryOf(board: Board, git: Git, looked?: Wanted['looked']): Promise<Root> {
  const folder = board.facts.project_root;
  const without = 'or add --no-worktree to work in the project folder itself';
  const refused = (path: string, message: string, help: string) =>
    new HostError('refused', path, message, `${help}, ${without}`);
  if (folder === undefined) throw refused(board.name, 'in no project', 'give --task-key');
  const repository = await (looked ?? git.repository(folder));
  if (repository === undefined) throw refused(folder, 'no git repository', 'make it one');
  if (repository.head === undefined) throw refused(folder, 'no commit yet', 'commit something');
  return { folder, head: board.start ?? repository.head.commit, prefix: repository.prefix };
}

interface Root {
  folder: string;
  /** The commit that a task starts from: the one it is at, unless another one is wanted. */
  head: string;
  /** The folder from the top of the repository, with `/` at its end. */
  prefix: string;
}

type Again = (more: Partial<ClaimRequest>) => Promise<Decided<ClaimAnswer>>;

function asker(board: Board, { request }: Wanted): Again {
  return (more) =>
    answered(
      board,
      (ledger, facts) =>
        about(board.name, () =>
          board.api.stageClaim(board.bytes, ledger, facts, { ...request, ...more }),
        ),
      request.claim_id,
    );
}

/**
 * Waits while another claim of the same session is under way: that one's stage is what the session
 * will hold, and not a second one.
 */
async function untilFree(board: Board, { request }: Wanted): Promise<void> {
  const { host } = board.context;
  const home = slashes(host.realPath(host.home()));
  const end = Date.now() + CHECKOUT;
  for (let of = underWay(board, home, request); of !== undefined; ) {
    if (Date.now() > end) {
      const help = 'wait until it has ended; where it hangs, end its process';
      const what = `another claim of your session makes the worktree of stage ${of.stage}`;
      throw new HostError('locked', of.path, `${what} (process ${of.by?.pid})`, help);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    of = underWay(board, home, request);
  }
}

/** The worktree that another claim of the session makes, where it is for the wished stage. */
function underWay(
  board: Board,
  home: string,
  { stage, claim_id }: Wanted['request'],
): StageWorktree | undefined {
  const { host } = board.context;
  const { session } = board.facts.caller ?? {};
  if (session === undefined || !isAnyBegun(host)) return undefined;
  const key = registryKey(board);
  const task = readRegistry(board, home).tasks.find(({ task_key }) => task_key === key);
  const wished = Number(stage ?? 'auto');
  return task?.stages.find(
    ({ state, by, stage, claim_id: of }) =>
      state === 'provisioning' &&
      of !== claim_id &&
      by?.session === session &&
      by.host === host.hostName() &&
      (Number.isNaN(wished) || wished === stage) &&
      by.pid != null &&
      host.processState(by.pid, by.pid_start ?? undefined) === 'alive',
  );
}

/** A stage that is reserved for a claim. */
interface Chosen {
  root: Root;
  /** The claim as it would be recorded. */
  claim: ClaimAnswer;
  heads: StageHead[];
  home: string;
  task: TaskIdentity;
  /** What is written into the registry. */
  begin: BeginRequest;
  syncDirs: string[];
  /** What the registry said of the stage before. */
  before: StageWorktree | undefined;
  /** Whether something is there that an earlier claim left when it was killed. */
  remains: boolean;
  /** Whether the claim is the one that fixed what the task starts from. */
  first: boolean;
}

/**
 * Chooses and reserves, under the ledger's lock. Nothing where another claim of the session came
 * first.
 */
async function choose(
  board: Board,
  git: Git,
  repository: Promise<Root>,
  wanted: Wanted,
): Promise<Chosen | { held: Decided<ClaimAnswer> } | undefined> {
  const { context, api, facts } = board;
  const { host } = context;
  const { request } = wanted;
  readAgain(board);
  const home = slashes(host.realPath(host.home()));
  if (underWay(board, home, request) !== undefined) return undefined;
  const held = await asker(board, wanted)({});
  if (held.answer.already_held) {
    carryOut(held.effects, host);
    await finishBegun(board, home, held.answer);
    return { held };
  }
  const claim = held.answer;
  const root = await repository;
  const { stage } = claim;
  const key = registryKey(board);
  const registered = readRegistry(board, home).tasks.find(({ task_key }) => task_key === key);
  const settings = settingsOf(board, root.folder);
  const places = api.worktreePlaces({
    home,
    task_key: key,
    project_root: root.folder,
    stage,
    ...(settings.category === undefined ? {} : { category: settings.category }),
    ...(registered === undefined ? {} : { prefix: registered.prefix }),
  });
  const task: TaskIdentity = {
    task_key: key,
    project_root: root.folder,
    plan_path: board.layout.plan_path,
    prefix: places.prefix,
  };
  const start = registered?.implementation_base ?? root.head;
  await startsThere(board, git, root, start);
  const heads = await headsOf(board, git, root, claim.depends_on);
  const base = api.stageBase({ stage, implementation_base: start, dependencies: heads });
  const process = host.ownProcess();
  const { session } = facts.caller ?? {};
  const begin: BeginRequest = {
    task,
    stage,
    path: places.path,
    branch: places.branch,
    // Of a merge it is known only once that is made.
    ...(base.kind === 'commit' ? { base: base.commit } : {}),
    implementation_base: start,
    claim_id: request.claim_id,
    by: {
      host: host.hostName(),
      pid: process.pid,
      pid_start: process.pid_start ?? '',
      ...(session === undefined ? {} : { session }),
    },
    now: host.now(),
    sync_dirs: settings.syncDirs,
  };
  const before = registered?.stages.find((entry) => entry.stage === stage);
  // What an earlier claim's worktree began with stays known, whatever becomes of this one.
  const known = begin.base ?? before?.base ?? undefined;
  await changeRegistry(board, home, (it) =>
    api.registryBegin(it, known === undefined ? begin : { ...begin, base: known }),
  );
  return {
    root,
    claim,
    heads,
    home,
    task,
    begin,
    syncDirs: settings.syncDirs,
    before,
    remains: before?.state === 'provisioning',
    first: registered?.implementation_base == null,
  };
}

/** Refuses a wished start that the one which is fixed has nothing to do with. */
async function startsThere(board: Board, git: Git, root: Root, fixed: string): Promise<void> {
  const { start = fixed } = board;
  // A branch that went on since the first stage is still the same branch.
  if (start === fixed || (await git.ancestor(root.folder, fixed, start))) return;
  throw new HostError(
    'refused',
    root.folder,
    `the task has started from ${fixed.slice(0, 7)}, which the base branch does not contain`,
    'leave --base-branch out',
  );
}

/** A claim that was killed right behind its row has a worktree that still counts as begun. */
async function finishBegun(
  board: Board,
  home: string,
  { stage, claim_id }: ClaimAnswer,
): Promise<void> {
  const task_key = registryKey(board);
  const task = readRegistry(board, home).tasks.find((it) => it.task_key === task_key);
  const entry = task?.stages.find((it) => it.stage === stage);
  if (entry?.state !== 'provisioning' || claim_id === null || entry.claim_id !== claim_id) return;
  await changeRegistry(board, home, (it) =>
    board.api.registryActivate(it, { task_key, stage, claim_id }),
  );
}

/** Makes the worktree of a reserved stage and records the claim. */
async function provision(
  board: Board,
  git: Git,
  chosen: Chosen,
  wanted: Wanted,
): Promise<Decided<ClaimAnswer>> {
  const { host } = board.context;
  const { root, begin, before, syncDirs } = chosen;
  const { path, branch, stage } = begin;
  const folder = inside(path, root.prefix);
  const links: Links = { project: root.folder, worktree: folder, dirs: syncDirs };
  try {
    const { base, open } = await startOf(board, git, chosen, wanted);
    const tree = { repository: root.folder, path, branch, base, links };
    if (chosen.remains) chosen.remains = !(await isCleaned(git, tree, before?.base ?? base));
    let made: Decided<ClaimAnswer> | undefined;
    const recorded = async (base_commit: string) => {
      made = await record(board, git, chosen, wanted, { worktree: folder, branch, base_commit });
    };
    const { created, warning } = await git.addWorktree(tree, async () => {
      await linkAll(board, git, links);
      if (open.length > 0) await leaveOpen(board, git, path, stage, open);
      await recorded(base);
    });
    if (warning !== undefined) say(host, `warning: ${warning}`);
    if (!created) {
      say(host, `stage ${stage} goes on in the worktree that an earlier claim left`);
      await sayMissing(board, git, path, chosen.heads);
      await recorded(before?.base ?? base);
    }
    if (made === undefined) throw new Error('the claim was not recorded');
    return made;
  } catch (error) {
    try {
      await takeBack(board, chosen);
    } catch (second) {
      // Why there is no claim matters more.
      if (!(second instanceof HostError)) throw second;
      sayOf(host, second.path, `warning: ${second.message}; see 'okstra worktree repair'`);
    }
    throw error;
  }
}

/** Takes away what an earlier claim left half-made, when it was killed; whether all of it is gone. */
async function isCleaned(git: Git, tree: NewWorktree, base: string): Promise<boolean> {
  const branches = await git.branches(tree.repository, tree.branch);
  const at = branches.find(({ name }) => name === tree.branch)?.commit;
  // A branch that left its base may have somebody's work: that is gone on with.
  if (at !== undefined && at !== base) return false;
  const { kept } = await git.cleanHalf({ ...tree, base });
  return kept.length === 0;
}

/** Records the claim, under the ledger's lock, if the stage still is what was chosen. */
async function record(
  board: Board,
  git: Git,
  chosen: Chosen,
  wanted: Wanted,
  place: { worktree: string; branch: string; base_commit: string },
): Promise<Decided<ClaimAnswer>> {
  const { host } = board.context;
  const { claim, root, home } = chosen;
  const { stage } = claim;
  return locked(board, 'stage claim', async () => {
    readAgain(board);
    const ask = asker(board, wanted);
    const made = await ask({ stage: String(stage), ...place }).catch((cause) => {
      // Another tool, or okstra in another container, was first. Asked again, the core says so.
      throw isPlanError(cause) ? new Overtaken('refused', { cause }) : cause;
    });
    const heads = await headsOf(board, git, root, claim.depends_on);
    const before = JSON.stringify([briefOf(claim), chosen.heads]);
    if (made.answer.already_held || JSON.stringify([briefOf(made.answer), heads]) !== before) {
      const message = `stage ${stage} changed while its worktree was made`;
      const cause = new HostError('changed', board.name, message, 'claim again');
      throw new Overtaken('changed', { cause });
    }
    carryOut(made.effects, host);
    // Recorded is claimed, whatever becomes of the registry.
    try {
      const entry = { task_key: chosen.task.task_key, stage, base: place.base_commit };
      const claim_id = wanted.request.claim_id;
      await changeRegistry(board, home, (it) =>
        board.api.registryActivate(it, { ...entry, claim_id }),
      );
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      sayOf(host, error.path, `warning: ${error.message}; see 'okstra worktree repair'`);
    }
    return made;
  });
}

/** What a session is told to build, without what a claim adds to it. */
function briefOf(answer: ClaimAnswer): object {
  const { claim_id, already_held, order, worktree, branch, base_commit, ...rest } = answer;
  const { concurrent_stages, shares, warnings, ...brief } = rest;
  return brief;
}

/** Takes back what the registry was told of a claim that came to nothing. */
async function takeBack(
  board: Board,
  { home, begin, before, remains, first }: Chosen,
): Promise<void> {
  const { api } = board;
  const { stage, claim_id } = begin;
  const entry = { task_key: begin.task.task_key, stage };
  const change = (asked: (facts: RegistryFacts) => Decision<RegistryAnswer>) =>
    changeRegistry(board, home, asked);
  // What is still there must be known, so that the next claim or a repair can take it away.
  if (remains) {
    const { base: _, ...rest } = begin;
    const base = before?.base ?? undefined;
    await change((it) => api.registryBegin(it, { ...rest, ...(base && { base }) }));
    return;
  }
  // What an earlier claim worked in is there all the same.
  if (before === undefined || before.state === 'provisioning') {
    await change((it) => api.registryForget(it, { ...entry, claim_id, undo: first }));
    return;
  }
  await change((it) =>
    api.registryKeep(it, {
      ...entry,
      claim_id,
      ...(before.base === null ? {} : { base: before.base }),
    }),
  );
}

/** The folder in a worktree that stands for the project's. */
export function inside(path: string, prefix = ''): string {
  return `${path}/${prefix}`.replace(/\/$/, '');
}

/** The commit that a worktree starts from, and what is to be merged there by a person. */
interface Start {
  base: string;
  open: MergeHead[];
}

/**
 * The commit that a stage starts from. Several dependencies are merged without a worktree, so that
 * the new one is whole from its beginning; a conflict is refused before anything is made.
 */
async function startOf(board: Board, git: Git, chosen: Chosen, wanted: Wanted): Promise<Start> {
  const { root, begin, home, heads } = chosen;
  if (begin.base !== undefined) return { base: begin.base, open: [] };
  const { stage, implementation_base = '' } = begin;
  const base = await baseOf(board, git, root, stage, heads, implementation_base);
  const start =
    base.kind === 'commit'
      ? { base: base.commit, open: [] }
      : ((await mergedBefore(git, chosen)) ??
        (await merged(board, git, root, stage, base, wanted.resolve)));
  // What a kill leaves is told by it from what somebody worked in.
  await changeRegistry(board, home, (it) =>
    board.api.registryBegin(it, { ...begin, base: start.base }),
  );
  return start;
}

/**
 * The merge that the worktree of an earlier claim began with, if that is gone on with: made anew it
 * would be another commit, which the worktree does not have.
 */
async function mergedBefore(git: Git, { root, begin, before }: Chosen): Promise<Start | undefined> {
  const base = before?.base ?? undefined;
  if (base === undefined) return undefined;
  const branches = await git.branches(root.folder, begin.branch);
  const at = branches.find(({ name }) => name === begin.branch)?.commit;
  // What was left half-made and untouched is taken away and made anew.
  if (at === undefined || (before?.state === 'provisioning' && at === base)) return undefined;
  return (await git.ancestor(root.folder, base, at)) ? { base, open: [] } : undefined;
}

type Merges = Extract<BaseAnswer, { kind: 'merge' }>;

async function merged(
  board: Board,
  git: Git,
  { folder }: Root,
  stage: number,
  { first, others }: Merges,
  resolve: boolean,
): Promise<Start> {
  const names = new Map(others.map(({ commit, stages }) => [commit, stages.join(', ')]));
  const commits = others.map(({ commit }) => commit);
  const message = (commit: string) => `Merge stage ${names.get(commit)} for stage ${stage}`;
  const outcome = await git.mergeCommits(folder, first.commit, commits, message);
  if (outcome.clean) return { base: outcome.commit, open: [] };
  const { against, files } = outcome;
  const at = commits.indexOf(against);
  // Where there is no common history there is nothing to resolve.
  if (resolve && files.length > 0) return { base: outcome.commit, open: others.slice(at) };
  const stageOf = (commit: string | undefined) =>
    [first, ...others].find((it) => it.commit === commit)?.stages[0];
  const conflict = {
    first: stageOf(outcome.with) ?? first.stages[0] ?? 0,
    second: stageOf(against) ?? 0,
    files: files.length > 0 ? files : ['(no common history)'],
  };
  board.api.checkMerge({ stage, conflict });
  throw new Error('the core finds a conflict in order');
}

/** Links the folders of the project that worktrees share with it. */
async function linkAll(board: Board, git: Git, { project, worktree, dirs }: Links): Promise<void> {
  if (dirs.length === 0) return;
  const { warnings } = await git.linkSyncDirs(project, worktree, dirs);
  for (const text of warnings) say(board.context.host, `warning: ${text}`);
}

/** Begins a merge that a person finishes. */
async function leaveOpen(
  board: Board,
  git: Git,
  path: string,
  stage: number,
  open: readonly MergeHead[],
): Promise<void> {
  const { host } = board.context;
  const names = new Map(open.map(({ commit, stages }) => [commit, stages.join(', ')]));
  const merge = await git.mergeInto(path, {
    commits: open.map(({ commit }) => commit),
    message: (commit) => `Merge stage ${names.get(commit)} for stage ${stage}`,
    leaveOpen: true,
  });
  if (merge.merged) return;
  say(host, `the merge is left open in ${path}; files with conflicts: ${merge.files.join(', ')}`);
  say(host, `to finish it: resolve them there, 'git add' them, then 'git commit --no-edit'`);
  for (const commit of merge.remaining) say(host, `then merge: git merge ${commit}`);
}

/** Says which dependencies a worktree that was left does not have yet. */
async function sayMissing(
  board: Board,
  git: Git,
  path: string,
  heads: readonly StageHead[],
): Promise<void> {
  if (heads.length === 0) return;
  const { host } = board.context;
  const at = await host.gitHead(path);
  if (at === undefined) return;
  const pairs = heads.flatMap(({ head }) => (head === undefined ? [] : [head]));
  const contained = await git.ancestors(
    path,
    pairs.map((older) => ({ older, newer: at.commit })),
  );
  for (const [index, commit] of pairs.entries()) {
    const of = heads[index]?.stage;
    if (contained[index] === true) continue;
    say(host, `warning: it does not have stage ${of} as it is now: 'git merge ${commit}' there`);
  }
}

/** The base of a stage; git is asked for the history that it depends on. */
async function baseOf(
  board: Board,
  git: Git,
  root: Root,
  stage: number,
  dependencies: StageHead[],
  implementation_base: string,
): Promise<Known> {
  let ancestry: { older: string; newer: string; contained: boolean }[] = [];
  for (let round = 0; round < 3; round += 1) {
    const base = board.api.stageBase({ stage, implementation_base, dependencies, ancestry });
    if (base.kind !== 'needs') return base;
    const contained = await git.ancestors(root.folder, base.ancestry);
    ancestry = base.ancestry.map((pair, at) => ({ ...pair, contained: contained[at] ?? false }));
  }
  throw new Error('the core asks for the same history twice');
}

/** The commits that stages ended with, as full ids. */
async function headsOf(
  board: Board,
  git: Git,
  { folder }: Root,
  stages: readonly number[],
): Promise<StageHead[]> {
  if (stages.length === 0) return [];
  const { answer } = await answered(board, (ledger, facts) =>
    about(board.name, () => board.api.stageList(board.bytes, ledger, facts)),
  );
  return Promise.all(
    stages.map(async (stage) => {
      const head = answer.stages.find((line) => line.stage === stage)?.head;
      if (head == null) return { stage };
      // What is not there is found out by making a branch of it.
      if (/^([\da-f]{40}|[\da-f]{64})$/.test(head)) return { stage, head };
      const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${head}^{commit}`];
      const { status, stdout } = await git.run(folder, words);
      if (status === 0) return { stage, head: stdout.toString().trim() };
      throw new HostError(
        'refused',
        folder,
        `the commit of stage ${stage} (${head}) is not in this repository`,
        'fetch it; if history was rewritten, record its new commit with --force-reappend',
      );
    }),
  );
}

/** Works while nobody else makes or removes the worktree of a task. */
export function withTask<T>(
  board: Board,
  what: string,
  wait: number,
  work: () => Promise<T>,
): Promise<T> {
  const { host } = board.context;
  const lock = `${host.home()}/locks/${board.api.lockName(`${registryKey(board)}.task`)}`;
  return host.withLock(lock, `okstra ${what}`, wait, work);
}

/** The worktree of a whole task, with what its stages have come to. */
export interface TaskFolder {
  worktree: string;
  branch: string;
  head: string;
  /** The finished stages whose commits are in it. */
  stages: number[];
  /** The commit that the task started from. */
  base: string;
  created: boolean;
}

/**
 * Makes the worktree of a task, or brings it up to date: the commits of all finished stages are
 * merged into its branch. Where they do not go together it is refused and all is as before.
 */
export async function taskWorktree(board: Board): Promise<TaskFolder> {
  const git = await board.context.host.git();
  const root = await repositoryOf(board, git);
  await settle(board);
  return withTask(board, 'worktree task', CHECKOUT, () => makeTask(board, git, root));
}

/** What making the worktree of a task would come to; nothing is changed. */
export async function foreseeTask(board: Board): Promise<TaskFolder> {
  const git = await board.context.host.git();
  const root = await repositoryOf(board, git);
  await settle(board);
  const { place, at, base, isOurs, here, answer } = await surveyTask(board, git, root);
  if (isOurs && at !== undefined && here?.locked !== 'initializing') {
    const { commit } = await lacking(board, git, root, { ...place, base: at }, base);
    return { ...answer, head: commit, created: false };
  }
  return { ...answer, head: await startFrom(board, git, root, base), created: true };
}

/** What there is of the worktree of a task, and what is to be in it. */
async function surveyTask(board: Board, git: Git, root: Root) {
  const { context, api } = board;
  const { host } = context;
  const home = slashes(host.realPath(host.home()));
  const task_key = registryKey(board);
  const known = readRegistry(board, home).tasks.find((it) => it.task_key === task_key);
  const { category, syncDirs } = settingsOf(board, root.folder);
  const places = api.worktreePlaces({
    home,
    task_key,
    project_root: root.folder,
    stage: 0,
    ...(category === undefined ? {} : { category }),
    ...(known === undefined ? {} : { prefix: known.prefix }),
  });
  const { path, branch } = known?.worktree ?? places;
  const { prepare, FINISHED } = await import('../lazy/handoff.js');
  const prepared = await prepare(board, FINISHED);
  const folder = inside(path, root.prefix);
  const links: Links = { project: root.folder, worktree: folder, dirs: syncDirs };
  const [trees, branches] = await Promise.all([
    git.worktrees(root.folder),
    git.branches(root.folder, branch),
  ]);
  return {
    home,
    task: {
      task_key,
      project_root: root.folder,
      plan_path: board.layout.plan_path,
      prefix: places.prefix,
    },
    place: { repository: root.folder, path, branch, links },
    answer: {
      worktree: folder,
      branch,
      stages: prepared.answer.stages,
      base: prepared.base,
    },
    base: baseOfTask(prepared),
    isOurs: known?.worktree != null,
    at: branches.find(({ name }) => name === branch)?.commit,
    here: trees.find((it) => inFolder(host, home, it.path) === path),
  };
}

/** Where a task's worktree starts from, as the hand-over puts its stages together. */
function baseOfTask({ base, plan, stagesOf }: Prepared): Known {
  const heads = [...stagesOf].map(([commit, stages]) => ({ commit, stages }));
  const [first, ...others] = heads;
  const contains = heads.map(({ commit }) => commit);
  if (first === undefined) {
    return { kind: 'commit', commit: base, from: 'implementation-base', stages: [], contains };
  }
  if (others.length === 0) return { kind: 'commit', ...first, from: 'dependency', contains };
  return { kind: 'merge', first, others, dropped: plan.dropped, contains };
}

async function makeTask(board: Board, git: Git, root: Root): Promise<TaskFolder> {
  const { api } = board;
  const { host } = board.context;
  const { home, task, place, answer, base, isOurs, at, here } = await surveyTask(board, git, root);
  const { path, branch, links } = place;
  const { task_key } = task;
  const change = (asked: (facts: RegistryFacts) => Decision<RegistryAnswer>) =>
    changeRegistry(board, home, asked);
  // What a kill left unfinished holds nobody's work.
  if (isOurs && at !== undefined && here?.locked === 'initializing') {
    await git.cleanHalf({ ...place, base: at });
  } else if (isOurs && at !== undefined) {
    if (here === undefined || !host.exists(path)) await again(git, root, path, branch, links);
    else if (here.branch !== branch) {
      const on = here.branch ?? 'a detached head';
      const help = `go back there: 'git switch ${branch}'`;
      throw new HostError('refused', path, `it is on ${on}, not on ${branch}`, help);
    }
    const head = await upToDate(board, git, root, { ...place, base: at }, base);
    return { ...answer, head, created: false };
  }
  const start = await startFrom(board, git, root, base);
  await change((it) => api.registryTaskWorktree(it, { task, worktree: { path, branch } }));
  try {
    const { created, warning } = await git.addWorktree({ ...place, base: start }, () =>
      linkAll(board, git, links),
    );
    if (warning !== undefined) say(host, `warning: ${warning}`);
    return { ...answer, head: start, created };
  } catch (error) {
    if (!isOurs) await change((it) => api.registryForget(it, { task_key, stage: 0 }));
    throw error;
  }
}

/** The worktree of a branch that lost it. */
async function again(
  git: Git,
  root: Root,
  path: string,
  branch: string,
  links: Links,
): Promise<void> {
  // With force: git may still have the entry of the folder that is gone.
  const words = ['worktree', 'add', '--quiet', '-f', '--', path, branch];
  const { status, stderr } = await git.run(root.folder, words);
  if (status !== 0) {
    const said = stderr.trim().replace(/\s+/g, ' ');
    throw new HostError('refused', path, `git worktree add: ${said}`, 'look at it');
  }
  if (links.dirs.length > 0) await git.linkSyncDirs(links.project, links.worktree, links.dirs);
}

/** Merges into the worktree of a task what it does not have yet; answers its commit. */
async function upToDate(
  board: Board,
  git: Git,
  root: Root,
  place: NewWorktree,
  base: Known,
): Promise<string> {
  const { path } = place;
  const { missing } = await lacking(board, git, root, place, base);
  if (missing.length === 0) return place.base;
  const names = new Map(missing.map(({ commit, stages }) => [commit, stages.join(', ')]));
  const merge = await git.mergeInto(path, {
    commits: commitsOf(missing),
    message: (commit) => `Merge stage ${names.get(commit)}`,
  });
  if (merge.merged) return merge.head;
  throw new HostError('refused', path, 'it does not merge as it was foreseen', 'look at it');
}

/** What the worktree of a task does not have yet, and a commit as it would be with that. */
async function lacking(
  board: Board,
  git: Git,
  root: Root,
  { path, branch, links, base: at }: NewWorktree,
  base: Known,
): Promise<{ missing: MergeHead[]; commit: string }> {
  const { host } = board.context;
  const all = base.kind === 'merge' ? [base.first, ...base.others] : [];
  const wanted = base.kind === 'merge' ? all : [{ commit: base.commit, stages: base.stages }];
  const contained = await git.ancestors(
    root.folder,
    wanted.map(({ commit }) => ({ older: commit, newer: at })),
  );
  const missing = wanted.filter((_, index) => contained[index] !== true);
  if (missing.length === 0) return { missing, commit: at };
  // Where the folder is gone, nothing in it is in the way.
  if (host.exists(path)) await wantClean(git, root, path, links);
  const outcome = await git.mergeCommits(root.folder, at, commitsOf(missing), () => 'foreseen');
  if (!outcome.clean) {
    // Where stages do not go together they are named; else it is what else is on the branch.
    await startFrom(board, git, root, base);
    const of = missing.find(({ commit }) => commit === outcome.against)?.stages.join(', ');
    const message = `stage ${of} conflicts with what is on ${branch} in ${outcome.files.join(', ')}`;
    throw new HostError('refused', path, message, `merge it there: 'git merge ${outcome.against}'`);
  }
  return { missing, commit: outcome.commit };
}

async function wantClean(
  git: Git,
  root: Root,
  path: string,
  links: Links | undefined,
): Promise<void> {
  const { clean, ...not } = await git.status(inside(path, root.prefix), links?.dirs ?? []);
  const files = [...not.conflicted, ...not.staged, ...not.changed, ...not.untracked];
  if (clean || files.length === 0) return;
  const named = [...new Set(files)].slice(0, 5).join(', ');
  throw new HostError('refused', path, `not committed: ${named}`, 'commit or discard that first');
}

type Known = Exclude<BaseAnswer, { kind: 'needs' }>;

async function startFrom(board: Board, git: Git, root: Root, base: Known): Promise<string> {
  if (base.kind === 'commit') return base.commit;
  return (await merged(board, git, root, 0, base, false)).base;
}

function commitsOf(heads: readonly MergeHead[]): string[] {
  return heads.map(({ commit }) => commit);
}

/**
 * A path of a worktree as the registry names it: git follows links, and the folder of all worktrees
 * may be one, to another disk.
 */
export function inFolder(host: Asker['context']['host'], home: string, path: string): string {
  const folder = `${home}/worktrees`;
  const real = slashes(host.realPath(folder));
  const given = slashes(path);
  return given.startsWith(`${real}/`) ? `${folder}${given.slice(real.length)}` : given;
}

/** What the registry is asked with. */
export type Asker = Pick<Board, 'context' | 'api'>;

/** The registry as it is. */
export function readRegistry(asker: Asker, home: string): Registry {
  return asker.api.readRegistry(registryFacts(asker, home));
}

/** The registry's text, and who asks. */
export function registryFacts({ context: { host }, api }: Asker, home: string): RegistryFacts {
  const { registry: path } = api.worktreePlaces({ home, stage: 0 });
  const bytes = host.readIfThere(path);
  return {
    path,
    ...(bytes === undefined ? {} : { text: utf8Of(bytes) }),
    host: host.hostName(),
  };
}

/** Asks about the registry, and once more with the processes that the core wants to know of. */
export function askRegistry<T>(
  { context: { host } }: Asker,
  facts: RegistryFacts,
  ask: (facts: RegistryFacts) => Decision<T>,
): Decided<T> {
  let decision = ask(facts);
  if (decision.kind === 'needs') {
    const processes = decision.needs.processes.map(({ pid, pid_start }) => ({
      pid,
      pid_start,
      state: host.processState(pid, pid_start ?? undefined),
    }));
    decision = ask({ ...facts, processes });
  }
  if (decision.kind === 'needs') throw new Error('the core asks for the same processes twice');
  return decision;
}

/** Changes the registry under its lock. */
export async function changeRegistry(
  asker: Asker,
  home: string,
  ask: (facts: RegistryFacts) => Decision<RegistryAnswer>,
): Promise<RegistryAnswer> {
  const { context, api } = asker;
  const { host } = context;
  const { registry } = api.worktreePlaces({ home, stage: 0 });
  const lock = `${host.home()}/locks/${api.lockName(registry)}`;
  return host.withLock(lock, 'okstra registry', WAIT, () => {
    const { answer, effects } = askRegistry(asker, registryFacts(asker, home), ask);
    carryOut(effects, host);
    return answer;
  });
}

/** Notes that nobody works in a stage's worktree any more, where it has one. */
export async function keepWorktree(board: Board, stage: number): Promise<void> {
  const { host } = board.context;
  const home = slashes(host.realPath(host.home()));
  const key = registryKey(board);
  const task = readRegistry(board, home).tasks.find(({ task_key }) => task_key === key);
  // The stage was built in the project's own folder.
  if (!task?.stages.some((entry) => entry.stage === stage)) return;
  await changeRegistry(board, home, (facts) =>
    board.api.registryKeep(facts, { task_key: key, stage }),
  );
}

/** What git says of a claim's worktree. */
export async function gitFacts(board: Board, worktree: string): Promise<GitFacts> {
  const { host } = board.context;
  const git = await host.git();
  const repository = await git.repository(worktree);
  if (repository?.head === undefined) {
    throw new HostError('refused', worktree, 'no worktree of git any more', 'restore it');
  }
  const home = slashes(host.realPath(host.home()));
  const stages = readRegistry(board, home).tasks.flatMap(({ stages }) => stages);
  const entry = stages.find(({ path }) => worktree === path || worktree.startsWith(`${path}/`));
  const ignore = [...OWN, ...(entry?.sync_dirs ?? [])];
  const { staged, changed, untracked, conflicted } = await git.status(worktree, ignore);
  const head = repository.head.commit;
  const dirty = [...new Set([...conflicted, ...staged, ...changed, ...untracked])].sort();
  const base = baseCommit(board, worktree);
  return {
    head,
    dirty,
    contains_base: base === undefined || (await git.ancestor(worktree, base, head)),
    empty_range: base === head,
  };
}

/** The commit that the claim of a worktree started from, as its row says. */
function baseCommit(board: Board, worktree: string): string | undefined {
  const { host } = board.context;
  const bytes = host.readIfThere(board.layout.ledger) ?? new Uint8Array();
  const facts = { ...board.facts, now: host.now(), sightings: { processes: [], sessions: [] } };
  const list = board.api.stageList(board.bytes, bytes, facts);
  if (list.kind === 'needs') return undefined;
  const claims = list.answer.stages.map(({ claim }) => claim);
  return claims.find((claim) => claim?.worktree === worktree)?.base_commit ?? undefined;
}

/** What the project's own files say about its worktrees. */
export function settingsOf(board: Board, root: string): { category?: string; syncDirs: string[] } {
  const { host } = board.context;
  const okstra = okstraFolder(host, root);
  const dirs = readObject(host, `${okstra}/project.json`)?.worktreeSyncDirs;
  const task = board.layout.task_root;
  const manifest = task === null ? undefined : readObject(host, `${task}/task-manifest.json`);
  const category = manifest?.workCategory;
  if (dirs !== undefined && !(Array.isArray(dirs) && dirs.every((it) => typeof it === 'string'))) {
    throw new HostError(
      'unreadable',
      `${okstra}/project.json`,
      'worktreeSyncDirs must be a list of folders',
      'mend the file',
    );
  }
  return { ...(typeof category === 'string' ? { category } : {}), syncDirs: dirs ?? [] };
}
