/**
 * What the commands about stages share: finding the plan, gathering the facts around it, asking
 * the core and carrying out what it decides.
 */

import type {
  Decision,
  FactsInput,
  GitFacts,
  Needs,
  PlanLayout,
  Sightings,
} from '../../../npm-package/src/index.js';
import { carryOut } from '../host/effects.js';
import { type GitHead, type Host, HostError, type SessionProcess } from '../host/host.js';
import { readConfig } from './config.js';
import type { Api, Context } from './context.js';
import type { Options, Values } from './define.js';
import { UsageError } from './exit.js';
import { slashes } from './paths.js';
import { findTask, okstraFolder, projectRootOf, readFolder, readProject } from './project.js';
import { sayOf } from './talk.js';
import { utf8Of } from './text.js';

export { slashes };

/** The options that name a plan and say who asks. */
export const boardOptions = {
  plan: { kind: 'file', value: 'PLAN', text: 'the plan' },
  taskKey: {
    kind: 'text',
    value: 'KEY',
    text: 'the task (project:group:id), found from the current folder',
  },
  implKey: { kind: 'text', value: 'KEY', text: 'the key to record rows under' },
  session: { kind: 'text', value: 'NAME', text: 'your session (also OKSTRA_SESSION)' },
  claimId: { kind: 'text', value: 'ID', text: 'your claim (also OKSTRA_CLAIM_ID)' },
  json: { kind: 'flag', text: 'print one JSON document' },
  dryRun: { kind: 'flag', text: 'say what would happen and write nothing' },
} as const satisfies Options;

/** The values of these options. */
export type BoardValues = Values<typeof boardOptions>;

/** A plan with where its things lie. */
export interface Board {
  context: Context;
  api: Api;
  /** The plan as the person named it. */
  name: string;
  bytes: Uint8Array;
  /** Whether these are the bytes of the file; a preview of an approval is not. */
  isOnDisk: boolean;
  layout: PlanLayout;
  /** The facts that no lock guards. */
  facts: FactsInput;
  /** What git says of the project; asked for at once, awaited when it is needed. */
  head: Promise<GitHead | undefined> | undefined;
  /** The commit that the task is to start from, where it is not what is checked out. */
  start?: string;
}

/** How long a command waits for the ledger, in milliseconds. */
const WAIT = 30_000;

const NOTHING = new Uint8Array();

/** What to look at beyond the plan, and what is known already. */
export interface Wants {
  /** Whether the commit of the project is needed. */
  git?: boolean;
  /** The project's folder, where the person has named it. */
  root?: string;
  /** The plan's text, where it is another than on disk. */
  text?: string;
  /**
   * Begins what takes its time in other processes, before the core is loaded; answers the commit of
   * the project, if it comes to know that.
   */
  begin?: (root: string | undefined) => Board['head'];
  /** The key of the task, where it is known. */
  taskKey?: string;
  /**
   * Whether something is done in the name of the session, so that its process counts: looking for
   * it takes a millisecond.
   */
  acts?: boolean;
  /** That process, where it is known. */
  process?: SessionProcess | undefined;
}

/** The plan that a person names, by its path or by its task. */
export function findPlan(
  values: Pick<BoardValues, 'plan' | 'taskKey'>,
  context: Context,
): { name: string; root: string | undefined } {
  const { host } = context;
  if (values.plan !== undefined && values.taskKey !== undefined) {
    throw new UsageError('give either --plan or --task-key, not both');
  }
  const found = values.taskKey === undefined ? undefined : findTask(host, values.taskKey, context);
  const name = found?.plan ?? values.plan;
  if (name === undefined) throw new UsageError('which plan? give --plan PLAN or --task-key KEY');
  return { name, root: found?.root };
}

/** Reads a plan and gathers what can be known without the lock. */
export function openBoard(values: BoardValues, context: Context, wants: Wants = {}): Board {
  const { host } = context;
  const { name, root: known } = findPlan(values, context);
  const bytes = wants.text === undefined ? host.readFile(name) : Buffer.from(wants.text);
  const plan = slashes(host.realPath(name));
  const root = wants.root ?? known ?? projectRootOf(host, plan);
  const begun = wants.begin?.(root);
  const asked = wants.git === true && root !== undefined && begun === undefined;
  const head = asked ? host.gitHead(root) : begun;
  const api = context.api(bytes.length);
  const layout = api.planLayout(plan, root);
  const session = values.session ?? host.env.OKSTRA_SESSION ?? host.env.CLAUDE_CODE_SESSION_ID;
  const claimId = values.claimId ?? host.env.OKSTRA_CLAIM_ID;
  const process = wants.process ?? (wants.acts === true ? host.sessionProcess() : undefined);
  const taskKey = wants.taskKey ?? values.taskKey ?? readProject(host, layout);
  const { quietMinutes } = readConfig(host);
  return {
    context,
    api,
    name,
    bytes,
    isOnDisk: wants.text === undefined,
    layout,
    head,
    facts: {
      plan,
      now: '',
      ...(root === undefined ? {} : { project_root: root }),
      ...(values.implKey === undefined ? {} : { impl_task_key: values.implKey }),
      ...(taskKey === undefined ? {} : { task_key: taskKey }),
      ...(quietMinutes === undefined ? {} : { quiet_minutes: quietMinutes }),
      caller: {
        ...(session === undefined || session === '' ? {} : { session }),
        ...(claimId === undefined || claimId === '' ? {} : { claim_id: claimId }),
        host: host.hostName(),
        ...(process === undefined ? {} : { pid: process.pid }),
        ...(process?.pid_start == null ? {} : { pid_start: process.pid_start }),
      },
    },
  };
}

/** A task without a plan: there is nothing to claim, only its own records. */
export function withoutPlan(root: string, taskKey: string, context: Context): Board {
  const { host } = context;
  const api = context.api(0);
  const bytes = new Uint8Array();
  const none = `${okstraFolder(host, root)}/no-plan`;
  return {
    context,
    api,
    name: taskKey,
    bytes,
    isOnDisk: false,
    layout: api.planLayout(none, root),
    head: undefined,
    facts: { plan: '', now: '', project_root: root, task_key: taskKey },
  };
}

/** A question to the core about a plan; with what git says of a worktree, once it was asked for. */
export type Ask<T> = (ledger: Uint8Array, facts: FactsInput, git?: GitFacts) => Decision<T>;

/** What was decided and carried out. */
export type Decided<T> = Extract<Decision<T>, { kind: 'decided' }>;

/**
 * Asks the core under the ledger's lock and carries out what it decides, so that choosing and
 * recording are one step. A dry run takes no lock and carries nothing out.
 */
export async function decide<T>(
  board: Board,
  ask: Ask<T>,
  options: { dryRun: boolean; what: string },
): Promise<Decided<T>> {
  const { host } = board.context;
  await settle(board);
  if (options.dryRun) return answered(board, ask);
  return locked(board, options.what, async () => {
    readAgain(board);
    const decided = await answered(board, ask);
    carryOut(decided.effects, host);
    return decided;
  });
}

/** Takes the plan as it is now: waiting for the lock may have taken long. */
export function readAgain(board: Board): void {
  if (board.facts.plan !== '' && board.isOnDisk) {
    board.bytes = board.context.host.readFile(board.name);
  }
}

/**
 * Works under the ledger's lock, and under that of the plan itself: sessions with folders of okstra
 * of their own, as in containers that share a project, have no other lock in common.
 */
export function locked<T>(
  board: Board,
  what: string,
  work: () => T | Promise<T>,
  wait = WAIT,
): Promise<T> {
  const { host } = board.context;
  const { plan } = board.facts;
  return host.withLock(lockFile(board), `okstra ${what}`, wait, () =>
    plan === '' ? work() : host.withLockOn(plan, wait, work),
  );
}

/**
 * Asks the core without the lock. Only where rows were lost in a crash the lock is taken, and they
 * are restored before the answer counts; where they cannot be written the answer counts all the
 * same, for it knows of them.
 */
export async function look<T>(
  board: Board,
  ask: Ask<T>,
  options: { dryRun: boolean; what: string },
): Promise<Decided<T>> {
  await settle(board);
  const seen = await answered(board, ask);
  if (options.dryRun || seen.effects.length === 0) return seen;
  try {
    return await decide(board, ask, options);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { path, message } = error;
    sayOf(board.context.host, path, `lost rows are not restored now: ${message}`);
    return seen;
  }
}

/** Works on the ledger's own text under its lock. */
export function withLedger<T>(
  board: Board,
  what: string,
  work: (ledger: Uint8Array) => T,
): Promise<T> {
  const { host } = board.context;
  return locked(board, what, () => work(host.readIfThere(board.layout.ledger) ?? NOTHING));
}

/** Waits for what was asked for in the background. */
export async function settle(board: Board): Promise<void> {
  const head = await board.head;
  if (head === undefined) return;
  board.facts.head_commit = head.commit;
  if (head.branch !== null) board.facts.branch = head.branch;
}

/**
 * Asks with the ledger and the evidence as they are now; looks at what the core needs. What is
 * reserved for the claim that asks is free for it.
 */
export async function answered<T>(
  board: Board,
  ask: Ask<T>,
  claimId = board.facts.caller?.claim_id,
): Promise<Decided<T>> {
  const { host } = board.context;
  const { ledger, carry_folder } = board.layout;
  const rows = host.readIfThere(ledger) ?? NOTHING;
  const evidence = readFolder(host, carry_folder);
  let facts: FactsInput = {
    ...board.facts,
    now: host.now(),
    evidence,
    carry_folder: slashes(host.realPath(carry_folder)),
    reserved: reserved(board, claimId),
  };
  let git: GitFacts | undefined;
  // Processes and sessions, then a worktree: nothing is asked for twice.
  for (let round = 0; round < 3; round += 1) {
    const decision = ask(rows, facts, git);
    if (decision.kind === 'decided') return decision;
    const { needs } = decision;
    if (needs.git[0] !== undefined) git = await factsOf(board, needs.git[0]);
    else facts = { ...facts, sightings: sight(host, needs) };
  }
  throw new Error('the core asks for the same facts twice');
}

/**
 * The key under which worktrees are registered: that of the task, as rows are recorded under it. A
 * plan without a task is known by its path.
 */
export function registryKey({ facts, layout }: Board): string {
  if (facts.task_key !== undefined) return facts.task_key;
  const project = facts.project_root?.split('/').at(-1) ?? '';
  const { task_group: group, task_id: id } = layout;
  if (group !== null && id !== null) return `${project}:${group}:${id}`;
  return `${project}:plans:${layout.plan_path.replace(/\.md$/, '')}`;
}

/**
 * Whether any worktree may be being made by another than a claim: most of the time none is, and
 * nothing has to be asked.
 */
export function isAnyBegun(host: Host, but?: string): boolean {
  const bytes = host.readIfThere(registryFile(host));
  const text = bytes === undefined ? '' : utf8Of(bytes);
  if (!text.includes('"provisioning"')) return false;
  if (but === undefined) return true;
  try {
    const { tasks } = JSON.parse(text) as { tasks: { stages: Record<string, unknown>[] }[] };
    return tasks.some(({ stages }) =>
      stages.some(({ state, claimId }) => state === 'provisioning' && claimId !== but),
    );
  } catch {
    // What is wrong with it the core says.
    return true;
  }
}

function registryFile(host: Host): string {
  return `${host.home()}/worktrees/registry.json`;
}

/** The stages for which worktrees are being made. */
function reserved(board: Board, claimId: string | undefined): number[] {
  const { host } = board.context;
  const path = registryFile(host);
  const bytes = isAnyBegun(host, claimId) ? host.readIfThere(path) : undefined;
  if (bytes === undefined) return [];
  const { caller } = board.facts;
  const facts = {
    path,
    text: utf8Of(bytes),
    ...(caller?.host === undefined ? {} : { host: caller.host }),
  };
  const request = {
    task_key: registryKey(board),
    ...(claimId === undefined ? {} : { claim_id: claimId }),
  };
  const first = board.api.reservedStages(facts, request);
  if (first.kind === 'decided') return first.answer.stages;
  const { processes } = sight(host, first.needs);
  const second = board.api.reservedStages({ ...facts, processes }, request);
  return second.kind === 'decided' ? second.answer.stages : [];
}

/** What git says of the worktree that a claim works in. */
async function factsOf(board: Board, worktree: string): Promise<GitFacts> {
  const { gitFacts } = await import('../lazy/provision.js');
  return gitFacts(board, worktree);
}

function sight(host: Host, needs: Needs): Sightings {
  return {
    processes: needs.processes.map(({ pid, pid_start }) => ({
      pid,
      pid_start,
      state: host.processState(pid, pid_start ?? undefined),
    })),
    sessions: needs.sessions.flatMap((session) => {
      const at = host.signOfLife(session);
      const process = host.sessionState(session);
      return at === undefined
        ? []
        : [{ session, at, ...(process === undefined ? {} : { process }) }];
    }),
  };
}

/** The lock of a ledger: one, also where two paths lead to it. */
function lockFile({ context: { host }, api, layout }: Board): string {
  const real = slashes(host.realPath(layout.ledger));
  const root = layout.project_root;
  // A link in a project that somebody else made must not lead us to write to other files.
  if (root !== null && !real.startsWith(root === '/' ? '/' : `${root}/`)) {
    throw new HostError(
      'refused',
      layout.ledger,
      `the ledger is a link that leaves the project, to ${real}`,
      'remove the link',
    );
  }
  return `${host.home()}/locks/${real === layout.ledger ? layout.lock_name : api.lockName(real)}`;
}
