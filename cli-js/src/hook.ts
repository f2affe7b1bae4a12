/**
 * `okstra hook`: reads an event of a coding agent's session on standard input, answers with one
 * JSON document on standard output.
 *
 * It runs at every tool call, so this bundle holds only what finds out, by a few looks at the disk,
 * that there is nothing to do. What reacts is `lazy/react`, with the core.
 *
 * A hook never breaks a session: whatever goes wrong is one line on standard error, the document
 * is empty and the exit status 0.
 */
import { type Incoming, incoming } from './cli/event.js';
import { readStdin } from './host/files.js';
import { inReach, isPlan, isWorktree, projectAbove, registryNames } from './host/reach.js';
import { beginSession, readSession, type Session, touchSession } from './host/sessions.js';
import { write } from './host/terminal.js';
import type { Found } from './lazy/react.js';

/** Answers an event; `{}` says nothing. */
async function answer(): Promise<object> {
  const [, , , flag, given] = process.argv;
  // The slow part of a session's end, in a process of its own.
  if (flag === '--ended') {
    await prepare('ended');
    const { ended } = await import('./lazy/react.js');
    await ended(given ?? '');
    return {};
  }
  const bytes = readStdin();
  const event = incoming(bytes, process.env);
  const { session, cwd, file } = event;
  const root = projectAbove(process.env, cwd);
  const isOurs = root?.isOkstra === true || isWorktree(process.env, cwd);
  const isKnown = signed(session, isOurs && event.name !== 'SessionEnd');
  const known = (): Session =>
    isKnown ? readSession(process.env, session) : { plans: [], told: [] };
  const react = async (more: Found) => {
    await prepare(event.name);
    const { react } = await import('./lazy/react.js');
    return react(event, bytes, more);
  };
  switch (event.name) {
    case 'SessionStart': {
      const { plans, process: before } = known();
      if (plans.length === 0 && !isOurs && !registryNames(process.env, root?.folder)) return {};
      return react({
        plans,
        process: before,
        ...(root === undefined ? {} : { root: root.folder }),
      });
    }
    case 'PreToolUse': {
      if (!event.edits || file === undefined) return {};
      const { plans } = known();
      if (plans.length === 0 && !isWorktree(process.env, cwd) && !isWorktree(process.env, file)) {
        return {};
      }
      await prepare(event.name);
      const { guarded } = await import('./lazy/guard.js');
      return guarded(event, bytes, plans);
    }
    case 'PostToolUse': {
      if (!event.edits || file === undefined || !/\.(?:md|markdown)$/i.test(file)) return {};
      if (!inReach(file, known().plans) && !isPlan(file)) return {};
      await prepare(event.name);
      const { checked } = await import('./lazy/guard.js');
      return checked(event, bytes, file);
    }
    case 'Stop':
    case 'SubagentStop': {
      const { plans, told, process } = known();
      return plans.length === 0 ? {} : react({ plans, told, process });
    }
    case 'SessionEnd': {
      const { plans } = known();
      if (plans.length > 0) {
        await prepare(event.name);
        const { leave } = await import('./lazy/leave.js');
        await leave(event, plans, __filename);
      }
      return {};
    }
    default:
      return {};
  }
}

/** Before more is loaded than this bundle. */
async function prepare(name: string): Promise<void> {
  const { keepCode } = await import('./lazy/keep.js');
  keepCode(module, `hook-${name}`);
}

/** Leaves the session's sign of life; answers whether okstra knows the session. */
function signed(session: string, begins: boolean): boolean {
  try {
    if (touchSession(process.env, session)) return true;
    if (begins) beginSession(process.env, session);
  } catch (error) {
    // The answer is worth more than the sign.
    tell(error);
  }
  return false;
}

/** Says on standard error what went wrong, in one line. */
function tell(error: unknown): void {
  const { message, path, help } = (error ?? {}) as Partial<Record<string, unknown>>;
  const parts = [path, message ?? String(error)].filter((it) => typeof it === 'string');
  const text = `${parts.join(': ')}${typeof help === 'string' ? `; ${help}` : ''}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  write(2, `okstra hook: ${text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]+/g, ' ')}\n`);
}

void answer()
  .catch((error: unknown) => {
    tell(error);
    return {};
  })
  .then((output) => write(1, `${JSON.stringify(output)}\n`))
  // Nobody reads what could be said about an output that cannot be written.
  .catch(() => {})
  .then(() => process.exit(0));

export type { Incoming };
