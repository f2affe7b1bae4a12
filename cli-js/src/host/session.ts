/**
 * The process a claim lives with: not the shell that runs this one command, nor the runner that
 * started it, but the agent or the shell of a person behind them.
 */
import { readFileSync } from 'node:fs';
import type { SessionProcess } from './host.js';
import { ps, startOf, statOf } from './processes.js';

/** A process above this one. */
interface Ancestor {
  parent: number;
  args: readonly string[];
  /** Whether it leads its session; missing where the system does not tell. */
  leads?: boolean;
}

let known: { process: SessionProcess | undefined } | undefined;

/** See {@link Host.sessionProcess}. It stays the same as long as this process lives. */
export function sessionProcess(): SessionProcess | undefined {
  known ??= { process: found() };
  return known.process;
}

function found(): SessionProcess | undefined {
  try {
    const pid = find();
    return pid === undefined ? undefined : { pid, pid_start: startOf(pid) ?? null };
  } catch {
    // A claim without a process is judged by its signs of life alone.
    return undefined;
  }
}

function find(): number | undefined {
  switch (process.platform) {
    case 'linux':
      return firstLasting(process.ppid, ofProc);
    case 'darwin': {
      const all = parsePs(ps('-axo', 'pid=,ppid=,args=') ?? '');
      return firstLasting(process.ppid, (pid) => all.get(pid));
    }
    default:
      // Windows: the parent is often the shell of this one command, whose end says nothing.
      return undefined;
  }
}

/** More processes than ever stand above one another. */
const DEEPEST = 256;

/**
 * Walks up from a process to the first that outlives the command. The first process of the
 * system has no other behind it, so it counts, except where it only looks after orphans.
 */
export function firstLasting(
  start: number,
  look: (pid: number) => Ancestor | undefined,
): number | undefined {
  let pid = start;
  for (let depth = 0; depth < DEEPEST && pid > 0; depth++) {
    const found = look(pid);
    if (found === undefined || isInit(found.args)) return undefined;
    if (pid === 1 || !(isPassing(found.args) || isInnerShell(found))) return pid;
    pid = found.parent;
  }
  return undefined;
}

function ofProc(pid: number): Ancestor | undefined {
  const stat = statOf(pid);
  if (stat === undefined) return undefined;
  // Command lines may be megabytes long; the beginning tells what it is.
  const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8').slice(0, 4096);
  const args = text.split('\0');
  while (args.length > 1 && args.at(-1) === '') args.pop();
  return args[0] === '' ? undefined : { parent: stat.parent, leads: stat.leads, args };
}

/** The processes `ps` lists, by number. It separates arguments by spaces only. */
export function parsePs(text: string): Map<number, Ancestor> {
  const all = new Map<number, Ancestor>();
  for (const line of text.split('\n')) {
    const parts = /^\s*(\d+)\s+(\d+)\s+(\S.*)$/.exec(line);
    if (parts === null) continue;
    const [, pid, parent, args = ''] = parts;
    all.set(Number(pid), { parent: Number(parent), args: args.split(' ') });
  }
  return all;
}

const INITS = new Set(['systemd', 'init', 'launchd']);
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'fish']);
const WRAPPERS = new Set([
  ...['timeout', 'env', 'nice', 'ionice', 'sudo', 'doas', 'time', 'xargs', 'setsid', 'nohup'],
  ...['stdbuf', 'taskset', 'make', 'gmake', 'just', 'task', 'uv', 'poetry', 'mise', 'direnv'],
]);
const RUNNERS = ['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'yarnpkg', 'corepack', 'bunx'];
/** What follows in `npm`, `npm-cli.js`, `yarn-4.1.0.cjs` … */
const ENDING = /^(?:-cli)?(?:-\d[\w.]*?)?(?:\.[cm]?js)?$/;
const TITLES = ['npm ', 'npx ', 'pnpm ', 'yarn '];

function isInit([program = '']: readonly string[]): boolean {
  return INITS.has(nameOf(program));
}

/** A shell inside another one, `( … )`: it ends long before the shell of the terminal does. */
function isInnerShell({ args: [program = '', ...rest], leads }: Ancestor): boolean {
  return leads === false && SHELLS.has(nameOf(program)) && !hasScript(rest);
}

/** Whether a process lives no longer than the one command it runs. */
export function isPassing(args: readonly string[]): boolean {
  const [program = '', ...rest] = args;
  const name = nameOf(program);
  if (name === 'busybox') return isPassing(rest);
  if (SHELLS.has(name)) return runsOneCommand(rest);
  if (WRAPPERS.has(name)) return true;
  // Some give themselves a title: `npm exec okstra`.
  if (isRunner(name) || TITLES.some((title) => program.startsWith(title))) return true;
  if (name === 'bun') return rest[0] === 'x' || (rest[0] === 'run' && !isFile(rest[1]));
  return ['node', 'nodejs'].includes(name) && isRunner(nameOf(scriptOf(rest) ?? ''));
}

/** Nearly nothing is one, and an expression has to be compiled before it is first used. */
function isRunner(name: string): boolean {
  return RUNNERS.some(
    (runner) => name.startsWith(runner) && ENDING.test(name.slice(runner.length)),
  );
}

/** The file name without the dash of a login shell. */
function nameOf(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return name.startsWith('-') ? name.slice(1) : name;
}

/** Whether the shell was given a command (`-c`, `-lc`), not a script or a person. */
function runsOneCommand(args: readonly string[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (/^-[a-zA-Z]*c/.test(arg) || /^--command(?:=|$)/.test(arg)) return true;
    if (!/^[-+]./.test(arg) || arg === '--') return false;
    // Their value is no script.
    if (/^[-+][a-zA-Z]*[oO]$|^--(?:rcfile|init-file)$/.test(arg)) i++;
  }
  return false;
}

/** Whether the shell runs a script, not a person's commands. */
function hasScript(args: readonly string[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '-s' || arg === '-') return false;
    if (arg === '--') return args[i + 1] !== undefined;
    if (!/^[-+]./.test(arg)) return true;
    if (/^[-+][a-zA-Z]*[oO]$|^--(?:rcfile|init-file)$/.test(arg)) i++;
  }
  return false;
}

/** The script a Node process runs. */
function scriptOf(args: readonly string[]): string | undefined {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (!arg.startsWith('-')) return arg;
    if (/^(?:-r|-C|--(?:require|import|loader|experimental-loader|conditions))$/.test(arg)) i++;
  }
  return undefined;
}

/** `bun run` runs scripts of a package in a process of their own, files in its own. */
function isFile(arg = ''): boolean {
  return /[/.]/.test(arg);
}
