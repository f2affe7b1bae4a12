/** Claims that get a worktree of their own, and what git says of it when they end. */
import type {
  BaseAnswer,
  ClaimAnswer,
  ClaimRequest,
  Decision,
  GitFacts,
  Registry,
  RegistryAnswer,
  RegistryFacts,
  StageHead,
  TaskIdentity,
} from '../../../npm-package/src/index.js';
import {
  answered,
  type Board,
  type Decided,
  locked,
  readAgain,
  registryKey,
  settle,
  slashes,
} from '../cli/board.js';
import { okstraFolder, readObject } from '../cli/project.js';
import { about, say } from '../cli/talk.js';
import { carryOut } from '../host/effects.js';
import type { Git, Links } from '../host/git/git.js';
import { HostError } from '../host/host.js';

/** How long a change of the registry waits for others, in milliseconds. */
const WAIT = 30_000;

/**
 * How long such a claim waits for others, in milliseconds: each of them may check out a large
 * repository under the lock.
 */
const CHECKOUTS = 600_000;

/** What a claim with a worktree asks for. */
export interface Wanted {
  request: Partial<ClaimRequest> & { claim_id: string };
  /** Whether a merge with conflicts is left open in the new worktree. */
  resolve: boolean;
}

/** Okstra's own files in a project; they never make a worktree dirty. */
const OWN = ['.okstra', '.project-docs/okstra'];

/**
 * Chooses a stage, makes its worktree and records the claim, all under the ledger's lock: what
 * fails half-way leaves no branch, folder, reservation or row.
 */
export async function claimInWorktree(
  board: Board,
  { request, resolve }: Wanted,
): Promise<Decided<ClaimAnswer>> {
  const { host } = board.context;
  const git = await host.git();
  // Git looks while the core chooses; its refusal is heard in any case.
  const repository = repositoryOf(board, git);
  repository.catch(() => {});
  await settle(board);
  return locked(
    board,
    'stage claim',
    async () => {
      readAgain(board);
      const ask = (more: Partial<ClaimRequest>) =>
        answered(
          board,
          (ledger, facts) =>
            about(board.name, () =>
              board.api.stageClaim(board.bytes, ledger, facts, { ...request, ...more }),
            ),
          request.claim_id,
        );
      const chosen = await ask({});
      if (chosen.answer.already_held) {
        carryOut(chosen.effects, host);
        return chosen;
      }
      const root = await repository;
      return provision(board, git, root, chosen.answer, { request, resolve }, ask);
    },
    CHECKOUTS,
  );
}

/** The project's folder, if it is in a repository in which worktrees can be made. */
async function repositoryOf(board: Board, git: Git): Promise<Root> {
  const folder = board.facts.project_root;
  const without = 'or add --no-worktree to work in the project folder itself';
  const refused = (path: string, message: string, help: string) =>
    new HostError('refused', path, message, `${help}, ${without}`);
  if (folder === undefined) throw refused(board.name, 'in no project', 'give --task-key');
  const repository = await git.repository(folder);
  if (repository === undefined) throw refused(folder, 'no git repository', 'make it one');
  if (repository.head === undefined) throw refused(folder, 'no commit yet', 'commit something');
  return { folder, head: repository.head.commit, prefix: repository.prefix };
}

interface Root {
  folder: string;
  /** The commit it is at. */
  head: string;
  /** The folder from the top of the repository, with `/` at its end. */
  prefix: string;
}

type Again = (more: Partial<ClaimRequest>) => Promise<Decided<ClaimAnswer>>;

async function provision(
  board: Board,
  git: Git,
  root: Root,
  chosen: ClaimAnswer,
  { request, resolve }: Wanted,
  ask: Again,
): Promise<Decided<ClaimAnswer>> {
  const { context, api, facts } = board;
  const { host } = context;
  const { stage } = chosen;
  const home = slashes(host.realPath(host.home()));
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
  const base = await baseOf(board, git, root, chosen, start);
  const first = base.kind === 'merge' ? base.first.commit : base.commit;
  const others = base.kind === 'merge' ? base.others : [];
  if (others.length > 0 && !resolve) await foresee(board, git, root, stage, base);

  const change = (asked: (facts: RegistryFacts) => Decision<RegistryAnswer>) =>
    changeRegistry(board, home, asked);
  if (registered?.implementation_base == null) {
    await change((it) => api.registryBase(it, { task, commit: start }));
  }
  const before = registered?.stages.find((entry) => entry.stage === stage);
  const entry = { task_key: key, stage, claim_id: request.claim_id };
  await change((it) =>
    api.registryBegin(it, {
      task,
      stage,
      path: places.path,
      branch: places.branch,
      base: first,
      claim_id: request.claim_id,
      by: {
        ...(facts.caller?.host === undefined ? {} : { host: facts.caller.host }),
        pid: host.ownProcess().pid,
        pid_start: host.ownProcess().pid_start ?? '',
      },
      now: host.now(),
      sync_dirs: settings.syncDirs,
    }),
  );
  const folder = `${places.path}/${root.prefix}`.replace(/\/$/, '');
  const links: Links = { project: root.folder, worktree: folder, dirs: settings.syncDirs };
  const wanted = {
    repository: root.folder,
    path: places.path,
    branch: places.branch,
    base: first,
    links,
  };
  let made: Decided<ClaimAnswer> | undefined;
  const record = async (base_commit: string) => {
    made = await ask({
      stage: String(stage),
      worktree: folder,
      branch: places.branch,
      base_commit,
    });
    carryOut(made.effects, host);
  };
  try {
    // What an earlier claim left half-made, when it was killed.
    if (before?.state === 'provisioning') await git.cleanHalf(wanted);
    const { created, warning } = await git.addWorktree(wanted, async () => {
      if (settings.syncDirs.length > 0) {
        const { warnings } = await git.linkSyncDirs(root.folder, folder, settings.syncDirs);
        for (const text of warnings) say(host, `warning: ${text}`);
      }
      await record(await mergeAll(board, git, places.path, stage, first, base, resolve));
    });
    if (warning !== undefined) say(host, `warning: ${warning}`);
    if (!created) {
      say(host, `stage ${stage} goes on in the worktree that an earlier claim left`);
      await record(before?.base ?? first);
    }
  } catch (error) {
    await change((it) =>
      // What an earlier claim worked in is there all the same.
      before === undefined || before.state === 'provisioning'
        ? api.registryForget(it, entry)
        : api.registryKeep(it, {
            ...entry,
            ...(before.base === null ? {} : { base: before.base }),
          }),
    );
    throw error;
  }
  if (made === undefined) throw new Error('the claim was not recorded');
  const { base_commit } = made.answer;
  await change((it) =>
    api.registryActivate(it, { ...entry, ...(base_commit === null ? {} : { base: base_commit }) }),
  );
  return made;
}

/** The base of a stage; git is asked for the history that it depends on. */
async function baseOf(
  board: Board,
  git: Git,
  root: Root,
  { stage, depends_on }: ClaimAnswer,
  implementation_base: string,
): Promise<Exclude<BaseAnswer, { kind: 'needs' }>> {
  const dependencies = depends_on.length === 0 ? [] : await headsOf(board, git, root, depends_on);
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
  const { answer } = await answered(board, (ledger, facts) =>
    about(board.name, () => board.api.stageList(board.bytes, ledger, facts)),
  );
  return Promise.all(
    stages.map(async (stage) => {
      const head = answer.stages.find((line) => line.stage === stage)?.head;
      if (head == null) return { stage };
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

/** Refuses a merge that would have conflicts, before anything is made. */
async function foresee(
  board: Board,
  git: Git,
  { folder }: Root,
  stage: number,
  base: Exclude<BaseAnswer, { kind: 'needs' }>,
): Promise<void> {
  if (base.kind !== 'merge') return;
  const commits = base.others.map(({ commit }) => commit);
  const forecast = await git.mergeForecast(folder, base.first.commit, commits);
  if (forecast.clean) return;
  const stageOf = (commit: string | undefined) =>
    [base.first, ...base.others].find((it) => it.commit === commit)?.stages[0];
  const first = stageOf(forecast.with) ?? base.first.stages[0] ?? 0;
  const second = stageOf(forecast.against) ?? 0;
  const files = forecast.files.length > 0 ? forecast.files : ['(no common history)'];
  board.api.checkMerge({ stage, conflict: { first, second, files } });
}

/** Merges the dependencies in the new worktree; answers the commit that the stage starts from. */
async function mergeAll(
  board: Board,
  git: Git,
  path: string,
  stage: number,
  first: string,
  base: Exclude<BaseAnswer, { kind: 'needs' }>,
  leaveOpen: boolean,
): Promise<string> {
  const { host } = board.context;
  let head = first;
  if (base.kind === 'merge') {
    const names = new Map(base.others.map(({ commit, stages }) => [commit, stages.join(', ')]));
    const merged = await git.mergeInto(path, {
      commits: base.others.map(({ commit }) => commit),
      message: (commit) => `Merge stage ${names.get(commit)} for stage ${stage}`,
      leaveOpen,
    });
    if (!merged.merged) {
      if (!merged.open) {
        const first_ = base.first.stages[0] ?? 0;
        const second = base.others.find(({ commit }) => commit === merged.against)?.stages[0] ?? 0;
        board.api.checkMerge({ stage, conflict: { first: first_, second, files: merged.files } });
      }
      say(
        host,
        `the merge is left open in ${path}; files with conflicts: ${merged.files.join(', ')}`,
      );
      say(host, `to finish it: resolve them there, 'git add' them, then 'git commit --no-edit'`);
      for (const commit of merged.remaining) say(host, `then merge: git merge ${commit}`);
      return first;
    }
    head = merged.head;
  }
  const missing = [];
  for (const commit of base.contains) {
    if (commit === head) continue;
    if (!(await git.ancestor(path, commit, head))) missing.push(commit);
  }
  if (missing.length > 0) throw new Error(`the new worktree misses ${missing.join(', ')}`);
  return head;
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
    ...(bytes === undefined ? {} : { text: new TextDecoder().decode(bytes) }),
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
