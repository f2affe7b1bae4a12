/**
 * The processes that a worker has started, and their end. A worker leads a group and a session of
 * its own; what leaves both still carries the id of the dispatch in its environment.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from './fault.js';

/** A worker and its processes. */
export interface Group {
  /** The number of the worker, which is that of its group and its session as well. */
  leader: number;
  /** The id of the dispatch. */
  id: string;
  /**
   * Whether the number is certain to be the worker's: it was just started or just waited for.
   * Otherwise a process of the group has to carry the id.
   */
  certain: boolean;
  /** Whether processes that have left the group and the session are meant as well. */
  everywhere: boolean;
}

interface Member {
  pid: number;
  inGroup: boolean;
}

/** The variable that names the dispatch. */
const MARK = 'OKSTRA_DISPATCH';

/** The processes of a worker that are there, itself included. */
function members({ leader, id, certain, everywhere }: Group): Member[] {
  if (process.platform !== 'linux') {
    // Only the whole group can be asked for.
    return certain && canSignal(-leader) ? [{ pid: leader, inGroup: true }] : [];
  }
  const own: (Member & { inSession: boolean; isMarked: boolean })[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const [state = '', , group = '', session = ''] = fieldsOf(pid);
    if (state === '' || /[ZXx]/.test(state)) continue;
    const inGroup = Number(group) === leader;
    const inSession = Number(session) === leader;
    const isMarked = (everywhere || !certain) && carries(pid, id);
    if (inGroup || inSession || isMarked) own.push({ pid, inGroup, inSession, isMarked });
  }
  const isOurs = certain || own.some((it) => it.isMarked && (it.inGroup || it.inSession));
  return own.filter((it) => (it.inGroup || it.inSession ? isOurs : everywhere && it.isMarked));
}

/** The process that carries the id of a dispatch and was started first. */
export function findMarked(id: string): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const marked = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    // The worker leads its session; only it is followed.
    .filter((pid) => Number(fieldsOf(pid)[3]) === pid && carries(pid, id));
  return marked.sort((one, other) => one - other)[0];
}

/** The fields of a process behind its name: state, parent, group, session; none where it is gone. */
function fieldsOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ', 4);
  } catch {
    return [];
  }
}

function carries(pid: number, id: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${MARK}=${id}\0`);
  } catch {
    return false; // gone, or another user's
  }
}

function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function signalAll(group: Group, signal: 'SIGTERM' | 'SIGKILL'): void {
  const found = members(group);
  const send = (pid: number) => {
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended, or is another user's; who is left is looked at in the end.
    }
  };
  // The group at once, so that nobody in it can start another meanwhile; nobody is asked twice.
  if (found.some(({ inGroup }) => inGroup)) send(-group.leader);
  for (const { pid, inGroup } of found) if (!inGroup) send(pid);
}

/** How often it is looked whether the processes have ended, in milliseconds. */
const STEP = 50;

/** How long killed processes may take to go: the kernel may be busy with their memory. */
const KILLED = 5_000;

/**
 * Asks a worker and its processes to end, kills those that have not after `grace` milliseconds,
 * and answers the numbers of those that are there all the same.
 */
export async function endGroup(group: Group, grace: number): Promise<number[]> {
  if (members(group).length === 0) return [];
  signalAll(group, 'SIGTERM');
  if (await isEmpty(group, grace)) return [];
  for (let waited = 0; waited < KILLED; waited += 4 * STEP) {
    // Again and again: one may be started by another that is about to be killed.
    signalAll(group, 'SIGKILL');
    if (await isEmpty(group, 4 * STEP)) return [];
  }
  return members(group).map(({ pid }) => pid);
}

async function isEmpty(group: Group, within: number): Promise<boolean> {
  for (const end = Date.now() + within; ; ) {
    if (members(group).length === 0) return true;
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, STEP));
  }
}
