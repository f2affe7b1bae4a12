/**
 * What hooks do at every edit: whether the stage of the session covers it, and what is wrong with a
 * plan that was written. It takes no lock and asks the core once; of the world outside it loads
 * what it needs alone.
 */
import { createCliApi } from '../../../npm-package/src/cli-loader.js';
import type { HookAnswer, HookOutput } from '../../../npm-package/src/index.js';
import { type Candidate, candidates, shortened } from '../cli/candidates.js';
import { guardOf } from '../cli/config.js';
import type { Api } from '../cli/context.js';
import type { Incoming } from '../cli/event.js';
import { slashes } from '../cli/paths.js';
import { projectRootOf } from '../cli/project.js';
import { explain } from '../cli/talk.js';
import { now } from '../host/clock.js';
import { readFile, readIfThere } from '../host/files.js';
import { okstraHome } from '../host/home.js';
import { HostError } from '../host/host.js';
import { exists, list, realPath } from '../host/paths.js';
import { hostName } from '../host/processes.js';
import type { NotedPlan } from '../host/sessions.js';
import { write } from '../host/terminal.js';

const host = { readIfThere, exists, list, realPath, write, home: () => okstraHome(process.env) };

let api: Api | undefined;

function core(inputBytes: number): Api {
  api ??= createCliApi(__dirname, inputBytes, 'hook');
  return api;
}

/** The findings of a plan that was written. */
export function checked(event: Incoming, bytes: Uint8Array, file: string): HookOutput {
  const source = readFile(file);
  const facts = { plan: slashes(realPath(file)), now: now() };
  const decision = core(source.length).hookEvent(shortened(event, bytes), source, '', facts, {});
  return decision.kind === 'decided' ? decision.answer.output : {};
}

/** Whether the session's stage covers an edit. */
export function guarded(
  event: Incoming,
  bytes: Uint8Array,
  plans: readonly NotedPlan[],
): HookOutput {
  const [file, cwd] = [event.file, event.cwd].map((path) =>
    path === undefined || path === '' ? undefined : slashes(realPath(path)),
  );
  const payload = shortened(event, bytes);
  let first: HookOutput | undefined;
  for (const candidate of candidates(host, plans, [file, cwd])) {
    let answer: HookAnswer | undefined;
    try {
      answer = judged(event, payload, candidate, { file, cwd });
    } catch (error) {
      // A failure with one plan concerns no other.
      explain(host, error, error instanceof HostError ? undefined : candidate.plan);
    }
    if (answer?.concerned === true) return answer.output;
    if (first === undefined && Object.keys(answer?.output ?? {}).length > 0) first = answer?.output;
  }
  return first ?? {};
}

function judged(
  { session }: Incoming,
  payload: Uint8Array,
  candidate: Candidate,
  paths: Record<'file' | 'cwd', string | undefined>,
): HookAnswer | undefined {
  const { plan, worktrees } = candidate;
  const source = readFile(plan);
  const { root, ledger } = placed(candidate, source.length);
  const guard = guardOf(host, root ?? null);
  if (guard === 'off') return undefined;
  const claimId = process.env.OKSTRA_CLAIM_ID;
  const facts = {
    plan,
    now: now(),
    ...(root === undefined ? {} : { project_root: root }),
    caller: {
      session,
      host: hostName(),
      ...(claimId === undefined || claimId === '' ? {} : { claim_id: claimId }),
    },
  };
  const request = {
    guard,
    worktrees,
    ...(paths.file === undefined ? {} : { file: paths.file }),
    ...(paths.cwd === undefined ? {} : { cwd: paths.cwd }),
  };
  const rows = readIfThere(ledger) ?? new Uint8Array();
  const decision = core(source.length).hookEvent(payload, source, rows, facts, request);
  return decision.kind === 'decided' ? decision.answer : undefined;
}

/** Where a plan's things lie: as the claim noted it, else as the core says. */
function placed(
  { plan, root, ledger }: Candidate,
  bytes: number,
): { root: string | undefined; ledger: string } {
  if (ledger !== undefined) return { root, ledger };
  const found = root ?? projectRootOf(host, plan);
  const layout = core(bytes).planLayout(plan, found);
  return { root: layout.project_root ?? undefined, ledger: layout.ledger };
}
