/** tmux: the panes of a server. Every call is words for the program, never a line for a shell. */
import { codeOf } from './fault.js';
import { HostError } from './host.js';

/** A pane that is to be closed: its id, and the process that tells it from a later one. */
interface Target {
  server: string;
  pane_id: string;
  pid: number;
}

export interface Tmux {
  /**
   * All panes of a server, in the lines that the core reads; `undefined` where there is no such
   * server, or no tmux.
   * @throws HostError where there is one and it does not answer
   */
  list(server: string, mark: string): Promise<string | undefined>;
  /** Closes these panes and no later ones of the same ids; answers those that it closed. */
  close<T extends Target>(panes: readonly T[]): Promise<T[]>;
  /** Sets user options of one pane. */
  tag(server: string, pane: string, options: readonly (readonly [string, string])[]): Promise<void>;
  /**
   * Opens a pane beside another that runs a program, without leaving the one people look at; where
   * the window has no room, in a window of its own. Answers the new pane's id.
   */
  open(server: string, beside: string, words: readonly string[]): Promise<string>;
  /** Gives a pane its title: letters, digits, dots, dashes. */
  entitle(server: string, pane: string, title: string): Promise<void>;
}

/** What ends a format that may hold anything; the fields before it hold no `|`. */
const PANE =
  '#{pane_id}|#{pane_pid}|#{pane_dead}|#{@okstra_pane}|#{@okstra_role}|#{@okstra_session}|#{@okstra_run}|#{pane_title}';
const COMMAND = '#{pane_id}|#{n:pane_start_command}|#{pane_start_command}';

/** What tmux says where there is no server. */
const NO_SERVER = /no server running|error connecting|server exited|lost server|no current client/i;

/** Milliseconds after which a server counts as stuck. */
const PATIENCE = 10_000;

/** tmux takes 16 KB of words in one call. */
const AT_ONCE = 40;

interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs tmux; `undefined` where it is not installed. */
function run(server: string, words: readonly string[]): Promise<Ran | undefined> {
  const { execFile } = process.getBuiltinModule('node:child_process');
  const socket = [server.includes('/') ? '-S' : '-L', server];
  const options = {
    encoding: 'buffer' as const,
    timeout: PATIENCE,
    killSignal: 'SIGKILL' as const,
    maxBuffer: 256 * 1024 * 1024,
    windowsHide: true,
  };
  return new Promise((resolve, reject) => {
    // -u: without it titles lose what the locale does not know.
    execFile('tmux', ['-u', ...socket, ...words], options, (error, stdout, stderr) => {
      if (codeOf(error) === 'ENOENT') return resolve(undefined);
      if (error !== null && typeof error.code !== 'number') {
        const help = 'look at that server; nothing was changed';
        return reject(new HostError('other', server, 'tmux does not answer', help));
      }
      const status = typeof error?.code === 'number' ? error.code : 0;
      resolve({ status, stdout: stdout.toString(), stderr: stderr.toString() });
    });
  });
}

function failed(server: string, { stderr }: Ran): HostError {
  const said = stderr.trim().replace(/\s+/g, ' ');
  return new HostError('other', server, `tmux says: ${said}`, 'check the server of tmux');
}

async function list(server: string, mark: string): Promise<string | undefined> {
  const all = ['list-panes', '-a', '-F'];
  const ran = await run(server, [
    ...[...all, `${mark}|P|${PANE}`, ';'],
    ...[...all, `${mark}|C|${COMMAND}`],
  ]);
  if (ran === undefined) return undefined;
  if (ran.status === 0) return ran.stdout;
  if (NO_SERVER.test(ran.stderr)) return undefined;
  throw failed(server, ran);
}

async function close<T extends Target>(panes: readonly T[]): Promise<T[]> {
  const closed: T[] = [];
  for (const server of new Set(panes.map((pane) => pane.server))) {
    const there = panes.filter((pane) => pane.server === server);
    for (let from = 0; from < there.length; from += AT_ONCE) {
      const some = there.slice(from, from + AT_ONCE);
      // The server itself compares and closes in one step, so that no pane of a later life of the
      // id is closed; both values are digits.
      const words = some.flatMap(({ pane_id: id, pid }) => [
        ...['if-shell', '-F', '-t', id, `#{==:#{pane_pid},${pid}}`],
        `display-message -p -t ${id} '#{pane_id}' ; kill-pane -t ${id}`,
        ';',
      ]);
      const ran = await run(server, words.slice(0, -1));
      if (ran === undefined) continue;
      const done = ran.stdout.split('\n');
      // With its last pane the server ends, and what it has printed may be lost.
      const isOver = ran.status !== 0 && NO_SERVER.test(ran.stderr);
      if (ran.status !== 0 && !isOver) throw failed(server, ran);
      closed.push(...some.filter(({ pane_id }) => isOver || done.includes(pane_id)));
    }
  }
  return closed;
}

async function tag(
  server: string,
  pane: string,
  options: readonly (readonly [string, string])[],
): Promise<void> {
  const words = options.flatMap(([name, value]) => [
    ...['set-option', '-p', '-t', pane, name, value],
    ';',
  ]);
  const ran = await run(server, words.slice(0, -1));
  if (ran === undefined) {
    throw new HostError('missing', 'tmux', 'no such program', 'install tmux');
  }
  if (ran.status !== 0) throw failed(server, ran);
}

async function open(server: string, beside: string, words: readonly string[]): Promise<string> {
  // Several words are run as they are; of one alone tmux makes a line for a shell.
  if (words.length < 2) throw new Error('a pane runs a program with arguments');
  const quietly = ['-d', '-P', '-F', '#{pane_id}'];
  let ran = await run(server, ['split-window', ...quietly, '-t', beside, '--', ...words]);
  if (ran !== undefined && ran.status !== 0 && /no space|too small/i.test(ran.stderr)) {
    const session = await run(server, ['display-message', '-p', '-t', beside, '#{session_id}:']);
    const where = ['-t', session?.stdout.trim() ?? ''];
    ran = await run(server, ['new-window', ...quietly, ...where, '--', ...words]);
  }
  if (ran === undefined) {
    throw new HostError('missing', 'tmux', 'no such program', 'install tmux');
  }
  if (ran.status !== 0) throw failed(server, ran);
  return ran.stdout.trim();
}

async function entitle(server: string, pane: string, title: string): Promise<void> {
  const ran = await run(server, ['select-pane', '-t', pane, '-T', title]);
  if (ran !== undefined && ran.status !== 0) throw failed(server, ran);
}

export const tmux: Tmux = { list, close, tag, open, entitle };
