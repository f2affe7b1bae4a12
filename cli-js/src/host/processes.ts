/**
 * Who runs: whether a process that was written down still is the same one. A live process must
 * never be called gone; what cannot be judged from here is unknown.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from './fault.js';
import type { ProcessState } from './host.js';

/** The name of this machine. */
export function hostName(): string {
  try {
    // Where the kernel says it in a file; loading node:os costs half a millisecond.
    if (process.platform === 'linux') return readFileSync(HOST_NAME, 'utf8').trimEnd();
  } catch {
    // There is no /proc here.
  }
  return process.getBuiltinModule('node:os').hostname();
}

const HOST_NAME = '/proc/sys/kernel/hostname';

/**
 * What tells a process from a later one with the same number, as one word. On Linux
 * `<machine>.<boot>.<pid namespace>.<ticks>`, on macOS `macos.<host>.<start>`; `undefined`
 * elsewhere and where there is no such process.
 */
export function startOf(pid: number): string | undefined {
  if (!isPid(pid)) return undefined;
  if (process.platform === 'darwin') return macStart(pid);
  const here = place();
  const ticks = here && statOf(pid)?.ticks;
  return ticks && `${here.machine}.${here.boot}.${here.namespace}.${ticks}`;
}

/**
 * What has become of a process. Without its `start`, or where that was not written by this kind
 * of system, only the number can be asked for: the caller makes sure that it was one of this host.
 */
export function stateOf(pid: number, start: string | undefined): ProcessState {
  if (!isPid(pid)) return 'unknown';
  const mac = start === undefined ? null : /^macos\.(.+)\.\w+$/.exec(start);
  if (mac !== null) return macState(pid, start, mac[1]);
  const then = start === undefined ? undefined : parse(start);
  if (then === undefined) return exists(pid) ? 'unknown' : 'gone';
  const here = place();
  if (here === undefined || then.machine !== here.machine) return 'unknown';
  if (then.boot !== here.boot) {
    // Machines without a name cannot be told apart.
    return here.machine === '-' ? 'unknown' : 'gone';
  }
  // The kernel reuses the number of a namespace only after all its processes have ended.
  if (then.namespace !== here.namespace) return 'unknown';
  const now = statOf(pid);
  // The process may be there and hidden from this user.
  if (now === undefined) return exists(pid) ? 'unknown' : 'gone';
  return now.ticks === then.ticks && !now.isDead ? 'alive' : 'gone';
}

/** Where a process number means something. */
interface Place {
  machine: string;
  boot: string;
  namespace: string;
}

/** The parts of a start on Linux, `undefined` where it is none. */
function parse(start: string): (Place & { ticks: string }) | undefined {
  const parts = /^([\da-f]{8}|-)\.([\da-f]{8})\.(\d+)\.(\d+)$/.exec(start);
  if (parts === null) return undefined;
  const [, machine = '', boot = '', namespace = '', ticks = ''] = parts;
  return { machine, boot, namespace, ticks };
}

let known: Place | undefined;

/** This machine, its boot and this namespace; `undefined` where it cannot be told. */
function place(): Place | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // In a new namespace that still shows the old one's /proc, numbers there mean other processes.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    known ??= {
      machine: machineId(),
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8),
      // `pid:[4026531836]`; following the link for the same number takes a tenth of a millisecond.
      namespace: readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''),
    };
    return known;
  } catch {
    return undefined; // a system without these files
  }
}

function machineId(): string {
  for (const file of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const id = /^[\da-f]{8}/.exec(readFileSync(file, 'utf8'));
      if (id !== null) return id[0];
    } catch {
      // The next one, or none.
    }
  }
  return '-';
}

/** The states of a process that has ended. */
const DEAD = ['Z', 'X', 'x'];

/** What the kernel says about a process. */
interface Stat {
  parent: number;
  /** Whether it leads its session, as the first shell of a terminal does. */
  leads: boolean;
  /** Clock ticks from the boot to its start. */
  ticks: string;
  isDead: boolean;
}

/** `undefined` where there is no such process or it may not be looked at. Linux only. */
export function statOf(pid: number): Stat | undefined {
  let text: string;
  try {
    // Node reads UTF-8 by one call; any other form takes half a millisecond at first.
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the name in parentheses and may hold spaces and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent = '', , session = ''] = fields;
  const threads = fields[17];
  const ticks = fields[19];
  if (ticks === undefined || !(Number(ticks) >= 0)) return undefined;
  // A process whose first thread has ended shows as a zombie while its other threads work on.
  const isDead = DEAD.includes(state) && !(Number(threads) > 1);
  return { parent: Number(parent), leads: Number(session) === pid, ticks, isDead };
}

/** `ps` writes times in the language and the zone of the environment. */
const PLAIN = { LC_ALL: 'C', TZ: 'UTC', PATH: '/bin:/usr/bin' };

/** Runs `ps`; `undefined` where it fails, as it does for a process that is not there. */
export function ps(...args: string[]): string | undefined {
  try {
    // Loading it costs more than all else here; only macOS needs it.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    return execFileSync('ps', args, {
      encoding: 'utf8',
      env: PLAIN,
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

function macStart(pid: number): string | undefined {
  const time = ps('-o', 'lstart=', '-p', String(pid))?.trim();
  return time ? `macos.${hostName()}.${time.replace(/\W+/g, '_')}` : undefined;
}

function macState(pid: number, start: string | undefined, host: string | undefined): ProcessState {
  if (process.platform !== 'darwin' || host !== hostName()) return 'unknown';
  const now = macStart(pid);
  if (now === undefined) return exists(pid) ? 'unknown' : 'gone';
  if (now !== start) return 'gone';
  return ps('-o', 'stat=', '-p', String(pid))?.startsWith('Z') ? 'gone' : 'alive';
}

/** Whether there is a process of that number. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything else means that it is there and may not be signalled.
    return codeOf(error) !== 'ESRCH';
  }
}

/** Zero and negative numbers mean groups of processes. */
function isPid(pid: number): boolean {
  return Number.isInteger(pid) && pid > 0 && pid < 2 ** 31;
}
