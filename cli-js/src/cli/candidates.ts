/** Which plans a hook's event may be about. */

import type { StageFolder } from '../../../npm-package/src/index.js';
import type { Host } from '../host/host.js';
import type { NotedPlan } from '../host/sessions.js';
import type { Incoming } from './event.js';
import { slashes } from './paths.js';
import { utf8Of } from './text.js';

/** A plan that an event may be about, and the worktrees registered for its task. */
export interface Candidate extends NotedPlan {
  worktrees: StageFolder[];
}

type Reader = Pick<Host, 'home' | 'readIfThere' | 'realPath'>;

/** The plans of the session, and those whose worktrees hold one of the paths. */
export function candidates(
  host: Reader,
  plans: readonly NotedPlan[],
  paths: readonly (string | undefined)[],
): Candidate[] {
  const all = new Map<string, Candidate>(
    plans.map((noted) => [noted.plan, { ...noted, worktrees: [] }]),
  );
  const home = slashes(host.realPath(host.home()));
  const inHome = paths.filter((path) => path?.startsWith(`${home}/worktrees/`) === true);
  for (const task of inHome.length === 0 ? [] : registered(host, home)) {
    const isMeant = task.worktrees.some((it) =>
      inHome.some((path) => path === it.path || path?.startsWith(`${it.path}/`) === true),
    );
    const known = all.get(task.plan);
    if (isMeant || known !== undefined)
      all.set(task.plan, { ...task, ...known, ...worktreesOf(task) });
  }
  return [...all.values()];
}

const worktreesOf = ({ worktrees }: Candidate) => ({ worktrees });

/** The tasks in the registry. It is only looked at here; whoever changes it asks the core. */
export function registered(
  host: Pick<Host, 'readIfThere'>,
  home: string,
): (Candidate & { root: string })[] {
  const bytes = host.readIfThere(`${home}/worktrees/registry.json`);
  if (bytes === undefined) return [];
  try {
    const { tasks } = JSON.parse(utf8Of(bytes)) as Record<string, unknown>;
    return listOf(tasks).flatMap(({ projectRoot, planPath, stages }) => {
      if (typeof projectRoot !== 'string' || typeof planPath !== 'string') return [];
      const worktrees = listOf(stages).flatMap(({ stage, path }) =>
        typeof stage === 'number' && typeof path === 'string' ? [{ stage, path }] : [],
      );
      const isAbsolute = /^(?:\/|[A-Za-z]:\/)/.test(planPath);
      const plan = isAbsolute ? planPath : `${projectRoot}/${planPath}`;
      return [{ root: projectRoot, plan, worktrees }];
    });
  } catch {
    // A registry that cannot be read is told by the commands that need it.
    return [];
  }
}

function listOf(value: unknown): Record<string, unknown>[] {
  const list = Array.isArray(value) ? value : [];
  return list.filter((it) => typeof it === 'object' && it !== null);
}

/** Longer events are handed on without what a tool takes and gives: nobody looks at it. */
const LONG = 100_000;

/** An event as the core reads it. */
export function shortened({ value }: Incoming, bytes: Uint8Array): Uint8Array {
  if (bytes.length <= LONG) return bytes;
  const { tool_input: _, tool_response: __, tool_calls: ___, ...rest } = value;
  return Buffer.from(JSON.stringify(rest));
}
