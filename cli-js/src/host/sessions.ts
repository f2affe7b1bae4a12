/**
 * What is kept of a session, one small file each: its time is the session's sign of life, its
 * lines say what hooks have to know of it. It is a hint and never the truth, which is in ledgers:
 * it is neither locked nor synced, and what cannot be read of it is passed over.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, explain, OWN } from './fault.js';
import { okstraHome, sessionFile } from './home.js';
import type { SessionProcess } from './host.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A plan, and where its things lie: finding that out takes longer than reading it here. */
export interface NotedPlan {
  /** The real absolute path, with `/`. */
  plan: string;
  root?: string;
  ledger?: string;
}

/** What is known of a session. */
export interface Session {
  /** The plans of which it claimed stages, the latest first. */
  plans: NotedPlan[];
  /** The claims whose missing evidence was pointed out to it. */
  told: string[];
  /** The process it began in last. */
  process?: SessionProcess;
}

/** A line in the file of a session. */
export type Note = NotedPlan | { told: string } | SessionProcess;

/** Longer files have been filled by somebody else. */
const MOST = 1_000_000;

/** How long a session can rest before its file is cleared away, in milliseconds. */
const KEPT = 90 * 86_400_000;

/** Leaves a sign of life of a session that is known; answers whether it is. */
export function touchSession(env: Environment, session: string): boolean {
  const file = sessionFile(env, session);
  const now = Date.now() / 1000;
  try {
    // Asked first: an exception costs more than the rest of it.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return false;
    utimesSync(file, now, now);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(error))) return false;
    throw explain(error, file, OWN);
  }
}

/** Leaves the first sign of life of a session. */
export function beginSession(env: Environment, session: string): void {
  const file = sessionFile(env, session);
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'ENAMETOOLONG') throw explain(error, file, OWN);
  }
}

/** What is known of a session. */
export function readSession(env: Environment, session: string): Session {
  const known: Session = { plans: [], told: [] };
  for (const line of linesOf(sessionFile(env, session))) {
    let note: Partial<Record<keyof NotedPlan | 'told' | keyof SessionProcess, unknown>>;
    try {
      note = JSON.parse(line);
    } catch {
      continue; // torn: two processes at once, or a kill
    }
    if (typeof note?.plan === 'string') {
      const { plan, root, ledger } = note as NotedPlan;
      const noted =
        typeof root === 'string' && typeof ledger === 'string' ? { plan, root, ledger } : { plan };
      known.plans = [noted, ...known.plans.filter((other) => other.plan !== plan)];
    }
    if (typeof note?.told === 'string') known.told.push(note.told);
    if (Number.isInteger(note?.pid)) {
      const { pid, pid_start } = note;
      known.process = {
        pid: pid as number,
        pid_start: typeof pid_start === 'string' ? pid_start : null,
      };
    }
  }
  return known;
}

function linesOf(file: string): string[] {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile() || found.size > MOST) return [];
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** Adds to what is known of a session. */
export function noteSession(env: Environment, session: string, note: Note): void {
  const file = sessionFile(env, session);
  try {
    mkdirSync(dirname(file), { recursive: true });
    const handle = openSync(file, 'a', 0o600);
    try {
      writeSync(handle, `${JSON.stringify(note)}\n`);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (codeOf(error) !== 'ENAMETOOLONG') throw explain(error, file, OWN);
  }
}

/** Notes a plan of which a session is about to claim a stage; once is enough. */
export function noteClaim(env: Environment, session: string, noted: NotedPlan): void {
  if (touchSession(env, session)) {
    const [latest] = readSession(env, session).plans;
    if (latest?.plan === noted.plan && latest.ledger === noted.ledger) return;
  }
  noteSession(env, session, noted);
}

/** Clears away what sessions left that have not been heard of for long. */
export function forgetSessions(env: Environment, now: number): void {
  const folder = join(okstraHome(env), 'sessions');
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    try {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found?.isFile() && now - found.mtimeMs > KEPT) unlinkSync(file);
    } catch {
      // Somebody else's, or gone by now: another session's end looks again.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
