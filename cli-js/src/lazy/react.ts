/** What hooks do once it is clear that there is something to do. */
import { createCliApi } from '../../../npm-package/src/cli-loader.js';
import type { HookAnswer, HookOutput, HookRequest } from '../../../npm-package/src/index.js';
import {
  type Ask,
  answered,
  type Board,
  decide,
  openBoard,
  slashes,
  type Wants,
} from '../cli/board.js';
import { type Candidate, candidates, registered, shortened } from '../cli/candidates.js';
import type { Api, Context } from '../cli/context.js';
import type { Incoming } from '../cli/event.js';
import { plansOf } from '../cli/project.js';
import { explain, printable } from '../cli/talk.js';
import { HostError, type SessionProcess } from '../host/host.js';
import { nodeHost } from '../host/node.js';
import { forgetSessions, type NotedPlan, noteSession } from '../host/sessions.js';
import type { Ended } from './leave.js';

/** What was found out about the session. */
export interface Found {
  /** The plans of which it claimed stages. */
  plans: readonly NotedPlan[];
  /** The claims whose missing evidence was pointed out. */
  told?: readonly string[];
  /** The process that the session began in. */
  process?: SessionProcess | undefined;
  /** The project it is in. */
  root?: string;
}

/** The most plans of which a new session is told. */
const MOST_TOLD = 3;

let api: Api | undefined;

const told = new Set<string>();

/** What is wrong with several plans for one reason, as with broken settings, is said once. */
function write(stream: 1 | 2, text: string): void {
  if (stream === 2 && told.has(text)) return;
  if (stream === 2) told.add(text);
  nodeHost.write(stream, text);
}

/** The real world, with a core that is loaded when it is first asked. */
const context: Context = {
  host: { ...nodeHost, write },
  commands: {},
  api(inputBytes) {
    api ??= createCliApi(__dirname, inputBytes, 'hook');
    return api;
  },
};
const { host } = context;

/** Reacts to an event; the answer is the document for the client. */
export async function react(event: Incoming, bytes: Uint8Array, found: Found): Promise<HookOutput> {
  const payload = shortened(event, bytes);
  const cwd = event.cwd === '' ? undefined : slashes(host.realPath(event.cwd));
  const request = {
    ...(cwd === undefined ? {} : { cwd }),
    ...(found.told === undefined ? {} : { told: [...found.told] }),
  };
  switch (event.name) {
    case 'SessionStart':
      return begun(event, payload, request, found, candidates(host, found.plans, [cwd]));
    default:
      return stopped(event, payload, request, found, candidates(host, found.plans, []));
  }
}

/** What a new session is told of the plans around it. */
async function begun(
  event: Incoming,
  payload: Uint8Array,
  request: Partial<HookRequest>,
  { root, process: before }: Found,
  own: readonly Candidate[],
): Promise<HookOutput> {
  const all = new Map(own.map((candidate) => [candidate.plan, candidate]));
  for (const plan of root === undefined ? [] : plansAround(slashes(host.realPath(root)))) {
    if (!all.has(plan)) all.set(plan, { plan, worktrees: [] });
  }
  // A session that is resumed lives on in another process than its claims name; later events of it
  // need not look for the process.
  const process = all.size === 0 ? undefined : host.sessionProcess();
  const isNoted = before?.pid === process?.pid && before?.pid_start === process?.pid_start;
  // Of a session that has nothing to do with okstra nothing is kept.
  const isKnown = !isNoted && host.signOfLife(event.session) !== undefined;
  if (process !== undefined && isKnown) noteSession(host.env, event.session, process);
  let output: HookOutput = {};
  let count = 0;
  for (const { plan, worktrees } of all.values()) {
    const answer = await triedLater(plan, async () => {
      const board = boardOf(plan, event.session, { process });
      return (await answered(board, asking(board, payload, { ...request, worktrees }))).answer;
    });
    if (answer?.output.hookSpecificOutput === undefined) continue;
    output = joined(output, answer.output);
    count += 1;
    if (count === MOST_TOLD) break;
  }
  return output;
}

/** Two documents of one event as one. */
function joined(before: HookOutput, next: HookOutput): HookOutput {
  const [one, two] = [before.hookSpecificOutput, next.hookSpecificOutput];
  if (one === undefined || two === undefined) return next;
  const text = `${one.additionalContext ?? ''}\n\n${two.additionalContext ?? ''}`;
  // The client cuts what is longer; what was told first is the session's own.
  return text.length > 9_000
    ? before
    : { ...before, hookSpecificOutput: { ...one, additionalContext: text } };
}

/** Keeps evidence in the last words of a session, or points out that there is none. */
async function stopped(
  event: Incoming,
  payload: Uint8Array,
  request: Partial<HookRequest>,
  { process }: Found,
  all: readonly Candidate[],
): Promise<HookOutput> {
  // Kept from stopping once, a session is never kept from it again.
  const isAgain = event.value.stop_hook_active === true;
  const outputs: HookOutput[] = [];
  for (const { plan } of all) {
    const judged: number[] = [];
    // One message may hold the evidence of several stages.
    for (;;) {
      const answer = await triedLater(plan, () =>
        stoppedIn(
          boardOf(plan, event.session, { git: true, process }),
          payload,
          { ...request, judged },
          isAgain,
        ),
      );
      if (answer === undefined || !answer.concerned) break;
      for (const told of answer.told) noteSession(host.env, event.session, { told });
      outputs.push(answer.output);
      if (answer.judged === null) return together(outputs);
      judged.push(answer.judged);
    }
  }
  return together(outputs);
}

async function stoppedIn(
  board: Board,
  payload: Uint8Array,
  request: Partial<HookRequest>,
  isAgain: boolean,
): Promise<HookAnswer> {
  const ask = asking(board, payload, request);
  // A session stops often and seldom finishes a stage: only then the lock is taken.
  const seen = await answered(board, ask);
  if (seen.effects.length === 0) return seen.answer;
  let answer: HookAnswer;
  try {
    ({ answer } = await decide(board, ask, { dryRun: false, what: 'hook' }));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // The evidence would be lost with the message that holds it.
    const why = printable(
      `okstra: stage ${seen.answer.judged} is not recorded as done: ${error.path}: ${error.message}; ${error.help}`,
    );
    const output = isAgain ? { systemMessage: why } : { decision: 'block', reason: why };
    return { ...seen.answer, output, ended: [] };
  }
  // The row is what counts; a registry that cannot be changed now is mended by its own command.
  await triedLater(board.name, () => keepWorktrees(board, answer.ended));
  return answer;
}

/** What is to be said of several stages as one document. */
function together(outputs: readonly HookOutput[]): HookOutput {
  const lines = (texts: (string | undefined)[]) =>
    texts.filter((it) => it !== undefined).join('\n');
  const reason = lines(outputs.map((it) => it.reason));
  const message = lines(outputs.map((it) => it.systemMessage));
  return {
    ...(reason === '' ? {} : { decision: 'block', reason }),
    ...(message === '' ? {} : { systemMessage: message }),
  };
}

/** Does what is to be done after a session; each step has a failure of its own. */
export async function ended(text: string): Promise<void> {
  const { event, session, plans, process }: Ended = JSON.parse(text);
  const payload = Buffer.from(JSON.stringify(event));
  for (const plan of plans) {
    await triedLater(plan, async () => {
      const board = boardOf(plan, session, { process });
      // This process has other ones above it than the session had.
      const { pid: _, pid_start: __, ...caller } = board.facts.caller ?? {};
      if (process === undefined) board.facts.caller = caller;
      const ask = asking(board, payload, {});
      const seen = await answered(board, ask);
      if (seen.answer.ended.length === 0) return seen.answer;
      const { answer } = await decide(board, ask, { dryRun: false, what: 'hook' });
      await keepWorktrees(board, answer.ended);
      return answer;
    });
    await triedLater(plan, () => recordOutcome(plan));
  }
  await triedLater('tmux', () => reap(session));
  forgetSessions(host.env, Date.now());
}

/** Closes the trace panes that the session has left. */
async function reap(session: string): Promise<void> {
  if (host.env.TMUX === undefined) return;
  const { tracesOf } = await import('./lead.js');
  const panes = await tracesOf(context, session, { tmuxServer: undefined });
  if (panes.length > 0) await (await host.tmux()).close(panes);
}

/** The session that ends may have finished the last stage: then that is recorded. */
async function recordOutcome(plan: string): Promise<void> {
  const { openTask, reconcileOutcome } = await import('../lazy/outcome.js');
  const nobody = { taskKey: undefined, implKey: undefined, session: undefined, claimId: undefined };
  const opened = openTask({ ...nobody, plan, json: false, dryRun: false }, context);
  // A plan outside of a task has no records.
  if (opened.places !== undefined) await reconcileOutcome(opened, { dryRun: false });
}

function boardOf(plan: string, session: string, wants: Wants = {}): Board {
  const values = {
    plan,
    session,
    taskKey: undefined,
    implKey: undefined,
    claimId: undefined,
    json: false,
    dryRun: false,
  };
  return openBoard(values, context, { acts: true, ...wants });
}

function asking(board: Board, payload: Uint8Array, request: Partial<HookRequest>): Ask<HookAnswer> {
  return (ledger, facts, git) =>
    board.api.hookEvent(payload, board.bytes, ledger, facts, {
      ...request,
      ...(git === undefined ? {} : { git }),
    });
}

async function keepWorktrees(board: Board, stages: readonly number[]): Promise<void> {
  if (stages.length === 0 || !host.exists(`${host.home()}/worktrees/registry.json`)) return;
  const { keepWorktree } = await import('../lazy/provision.js');
  for (const stage of stages) await keepWorktree(board, stage);
}

/** The plans of a project: those with worktrees, and those of its tasks. */
function plansAround(root: string): string[] {
  const home = slashes(host.realPath(host.home()));
  const known = registered(host, home).filter((task) => task.root === root);
  const tasks = tried(root, () => plansOf(host, root, context)) ?? [];
  return [...new Set([...known.map(({ plan }) => plan), ...tasks])];
}

/** Does what concerns one plan. A failure is told and concerns no other plan. */
function tried<T>(plan: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    explain(host, error, error instanceof HostError ? undefined : plan);
    return undefined;
  }
}

async function triedLater<T>(plan: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    explain(host, error, error instanceof HostError ? undefined : plan);
    return undefined;
  }
}
