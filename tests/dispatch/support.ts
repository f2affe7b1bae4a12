/** A project with a run, stand-in workers, and okstra as a real process. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DispatchStatus } from '../../npm-package/dist/index.js';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

/**
 * What a worker can do. Each is run with its name, the file of the result, and a folder for notes;
 * `later` ends the process after some milliseconds.
 */
const WORKER = `#!/usr/bin/env node
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const [mode, result, ...words] = process.argv.slice(2);
const note = (name, text) => fs.writeFileSync(result + '.' + name, String(text));
const child = (options, source) =>
  spawn(process.execPath, ['-e', source], { stdio: 'ignore', ...options });
const later = (ms, code = 0) => setTimeout(() => process.exit(code), ms);
const prompt = fs.readFileSync(0, 'utf8');
({
  writes() {
    console.log('\\u001b[31mred\\u001b[0m \\u001b]0;title\\u0007done \\u202eevil');
    fs.writeFileSync(result, JSON.stringify({ words, prompt, env: process.env, cwd: process.cwd() }));
  },
  slow() {
    note('began', Date.now());
    setTimeout(() => {
      fs.writeFileSync(result, 'done');
      note('ended', Date.now());
      process.exit(0);
    }, 1500);
  },
  fails() {
    fs.writeFileSync(result, 'done');
    process.exit(7);
  },
  nothing() {},
  empty() {
    fs.writeFileSync(result, '');
  },
  hangs() {
    console.log('I hang');
    setInterval(() => {}, 1000);
  },
  dies() {
    fs.writeFileSync(result, 'done');
    process.kill(process.pid, 'SIGSEGV');
  },
  signals() {
    fs.writeFileSync(result, 'done');
    process.kill(process.pid, 'SIGUSR2');
    setInterval(() => {}, 1000);
  },
  obeys() {
    process.on('SIGTERM', () => {
      fs.writeFileSync(result, 'saved in time');
      process.exit(0);
    });
    note('ready', 1);
    setInterval(() => {}, 1000);
  },
  stubborn() {
    process.on('SIGTERM', () => note('asked', 1));
    note('ready', 1);
    setInterval(() => {}, 1000);
  },
  family() {
    const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
    const pids = [child({}, deaf), child({ detached: true }, deaf)].map((it) => it.pid);
    note('pids', JSON.stringify([process.pid, ...pids]));
    setInterval(() => {}, 1000);
  },
  leaves() {
    const pids = [child({}, 'setInterval(() => {}, 1000)'), child({ detached: true }, 'setInterval(() => {}, 1000)')];
    note('pids', JSON.stringify(pids.map((it) => it.pid)));
    fs.writeFileSync(result, 'done');
    process.exit(0);
  },
  floods() {
    const line = Buffer.from('x'.repeat(1023) + '\\n');
    const block = Buffer.alloc(1 << 20, line);
    for (let written = 0; written < 1024; ) {
      for (let at = 0; at < block.length; ) at += fs.writeSync(1, block, at);
      written += 1;
    }
    // The most memory that whoever started it ever had.
    const status = fs.readFileSync('/proc/' + process.ppid + '/status', 'utf8');
    fs.writeFileSync(result, /VmHWM:\\s+(\\d+)/.exec(status)[1]);
  },
  garbage() {
    fs.writeSync(1, Buffer.from([0xff, 0xfe, 0x41, 0x0d, 0x0a, 0xc3]));
    fs.writeSync(2, Buffer.from('\\u001b[2Jend'));
    fs.writeFileSync(result, 'done');
  },
  partial() {
    fs.writeSync(1, Buffer.from([0x65, 0x6e, 0x64, 0xc3]));
    fs.writeFileSync(result, 'done');
  },
})[mode]();
`;

/** How a command ended. */
export interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** A running command. */
export interface Command {
  child: ChildProcess;
  ended: Promise<Ended>;
}

/** The headers of a prompt. */
interface Headers {
  root?: string;
  result?: string;
  model?: string;
  worktree?: string;
  more?: string;
}

/** A folder of its own: project, home, workers, and at most one server of tmux. */
export class Bench {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-dispatch-')));
  readonly project = join(this.folder, 'project');
  readonly run = join(this.project, '.okstra/tasks/web/login/runs/implementation/stage-1');
  readonly #servers = new Set<string>();
  readonly #children = new Set<ChildProcess>();
  env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    OKSTRA_HOME: join(this.folder, 'home'),
    TMUX_TMPDIR: this.folder,
    LC_ALL: 'C.UTF-8',
  };

  constructor() {
    const worker = this.write('worker.cjs', WORKER);
    chmodSync(worker, 0o755);
    const modes = [...WORKER.matchAll(/^ {2}(\w+)\(\) \{/gm)].map(([, mode]) => mode ?? '');
    const workers = Object.fromEntries(
      modes.map((mode) => [
        mode,
        {
          command: [worker, mode, '{result}'],
          modelArguments: ['--model', '{model}'],
          grace: '1s',
        },
      ]),
    );
    this.write('home/config.json', JSON.stringify({ workers }));
    this.write('project/.okstra/project.json', '{"projectId":"shop"}');
    const manifest = JSON.stringify({ sequence: 3, lead: { sessionId: 'lead-session' } });
    const run = this.run.slice(this.folder.length + 1);
    this.write(`${run}/manifests/run-manifest-implementation-003.json`, manifest);
  }

  /** Writes a file; answers its path. */
  write(path: string, text: string): string {
    const whole = join(this.folder, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    return whole;
  }

  /** Writes a prompt into the run; answers its path. */
  prompt(name: string, headers: Headers = {}): string {
    const { root = this.project, result = `results/${name}.md`, model = 'default' } = headers;
    const run = this.run.slice(this.folder.length + 1);
    return this.write(
      `${run}/prompts/${name}.md`,
      `**Project Root**: ${root}\n**Result Path:** ${result}\n**Model:** ${model}\n**Worktree:** ${headers.worktree ?? '.'}\n${headers.more ?? ''}\nBuild it.\n`,
    );
  }

  result(name: string): string {
    return join(this.project, `results/${name}.md`);
  }

  readResult(name: string): string {
    return readFileSync(this.result(name), 'utf8');
  }

  status(prompt: string): DispatchStatus {
    return JSON.parse(readFileSync(`${prompt}.status.json`, 'utf8'));
  }

  /** The rows of the run's event log. */
  events(): Record<string, unknown>[] {
    const log = join(this.run, 'logs/lead-events.jsonl');
    if (!existsSync(log)) return [];
    return readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  /** Starts okstra. */
  begin(words: readonly string[], env: Record<string, string> = {}): Command {
    const child = spawn(process.execPath, [BIN, ...words], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    const ended: Ended = { exit: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      ended.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      ended.stderr += text;
    });
    return {
      child,
      ended: new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (exit) => resolve({ ...ended, exit }));
      }),
    };
  }

  /** Runs okstra to its end. */
  okstra(...words: string[]): Promise<Ended> {
    return this.begin(words).ended;
  }

  /** The words that start okstra, for a program that is to do so. */
  get words(): string[] {
    return [process.execPath, BIN];
  }

  /** Waits until the worker of a prompt runs. */
  async running(
    prompt: string,
  ): Promise<DispatchStatus & { pids: { worker: number; supervisor: number } }> {
    await until(
      () => existsSync(`${prompt}.status.json`) && this.status(prompt).state === 'running',
    );
    const status = this.status(prompt);
    return {
      ...status,
      pids: { worker: status.worker?.pid ?? 0, supervisor: status.supervisor?.pid ?? 0 },
    };
  }

  /** Runs tmux on a server of this bench. */
  tmux(server: string, ...words: string[]): string {
    this.#servers.add(server);
    return execFileSync('tmux', ['-u', '-f', '/dev/null', '-L', server, ...words], {
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  /** Ends everything that was started and takes the folder away. */
  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    for (const server of this.#servers) {
      try {
        this.tmux(server, 'kill-server');
      } catch {
        // It is over already.
      }
    }
    // Whatever a failed test has left is known by its environment.
    for (const pid of ownProcesses(this.folder)) kill(pid);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The processes that have a folder of okstra in their environment. */
function ownProcesses(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return environment.includes(`OKSTRA_HOME=${folder}/home\0`) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

/** Whether a process is there, zombies left out. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Waits until something holds. */
export async function until(holds: () => boolean, ms = 20_000): Promise<void> {
  for (const end = Date.now() + ms; !holds(); ) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
