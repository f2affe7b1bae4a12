/** The built command in many processes at once, and what the ledger has to look like after them. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { planText } from '../cli/plans.js';

/** The command as it is installed. */
export const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

/** How a process ended. */
export interface Outcome {
  exit: number | NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Processes and folders that a test may leave behind. */
const running = new Set<ChildProcess>();
const folders = new Set<string>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
});

/** The environment without what says who runs, what colours output and where a repository lies. */
function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = /^(OKSTRA|CLAUDE|GIT)_|^(NO_COLOR|FORCE_COLOR|COLUMNS|NODE_EXTRA_CA_CERTS)$/;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(kept), ...more };
}

/** A started process: what it wrote so far, and its end. */
export interface Started {
  child: ChildProcess;
  end: Promise<Outcome>;
}

/** Starts a program; its end never fails. */
export function start(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Started {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      said[stream] += text;
    });
  }
  const end = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ exit: code ?? signal, ...said });
    });
  });
  return { child, end };
}

/** Resolves once the condition holds; the test's own time limit ends the waiting. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** A shell that stays and runs one line after the other; a process that sessions live in. */
export class Shell {
  static #lines = 0;
  readonly started: Started;
  readonly #folder: string;

  /** `folder` is where the answers go; `through` is what the shell is started with. */
  constructor(folder: string, env: NodeJS.ProcessEnv = {}, through: readonly string[] = []) {
    const script = join(folder, 'shell.sh');
    writeFileSync(script, 'while read -r line; do eval "$line"; done\n');
    const [program = 'bash', ...args] = [...through, 'bash', script];
    this.started = start(program, args, { env });
    this.#folder = folder;
  }

  get pid(): number {
    return this.started.child.pid ?? 0;
  }

  /** Runs a line of shell code to its end. */
  async line(code: string): Promise<Outcome> {
    const answer = join(this.#folder, `answer-${Shell.#lines++}`);
    const [out, err, end] = ['out', 'err', 'end'].map((what) => quoted(`${answer}.${what}`));
    this.started.child.stdin?.write(
      `{ ${code}; } >${out} 2>${err}; echo $? >${end}.new; mv ${end}.new ${end}\n`,
    );
    await until(() => existsSync(`${answer}.end`));
    const read = (what: string) => readFileSync(`${answer}.${what}`, 'utf8');
    return { exit: Number(read('end')), stdout: read('out'), stderr: read('err') };
  }

  /** Runs a command of okstra. */
  run(words: readonly string[]): Promise<Outcome> {
    return this.line([process.execPath, BIN, ...words].map(quoted).join(' '));
  }

  async kill(): Promise<void> {
    this.started.child.kill('SIGKILL');
    await this.started.end;
  }
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A row of the ledger. */
export interface Row {
  impl_task_key: string;
  stage: number;
  status: string;
  claim_id?: string;
  session?: string;
  [field: string]: unknown;
}

/** What each stage depends on: stage 1 is the first. */
export type Graph = readonly (readonly number[])[];

/** Stages that depend on nothing. */
export function free(count: number): Graph {
  return Array.from({ length: count }, () => []);
}

/** Chains beside one another: stages 1, 2, 3 … are the first chain. */
export function chains(count: number, length: number): Graph {
  return Array.from({ length: count * length }, (_, at) => (at % length === 0 ? [] : [at]));
}

/** Diamonds beside one another: one stage, two that depend on it, one that depends on both. */
export function diamonds(count: number): Graph {
  return Array.from({ length: count }, (_, at) => at * 4).flatMap((before) => [
    [],
    [before + 1],
    [before + 1],
    [before + 2, before + 3],
  ]);
}

/** The text of an approved plan. */
function approved(graph: Graph): string {
  const stages = graph.map((needs) => ({ after: needs.join(', ') || '(none)' }));
  return planText(stages, '\n- [x] Approved\n');
}

/** Evidence of a stage that passed, with some fields changed. */
export function evidence(plan: string, stage: number, change: object = {}): string {
  const whole = {
    schemaVersion: 1,
    sourcePlanPath: plan,
    stageNumber: stage,
    stageTitle: `Part ${stage}`,
    completedAt: '2026-03-04T05:06:07Z',
    stageCommitRange: { base: '1111111', head: '2222222' },
    filesChanged: [`src/part${stage}/1.rs`],
    newIdentifiers: [`part_${stage}`],
    stepResults: [{ step: 1, status: 'passed', commit: '2222222' }],
    validationsPassed: ['cargo test'],
    notes: [],
    ...change,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** Where a plan lies in a project of okstra. */
export const IN_LAYOUT = '.okstra/tasks/g/i/runs/implementation-planning/reports/final-report.md';

/** A plan in a folder of its own, with a folder for okstra itself. */
export class Place {
  readonly root: string;
  readonly home: string;
  readonly plan: string;
  readonly graph: Graph;
  readonly ledger: string;
  readonly carry: string;

  constructor(graph: Graph, { name = 'p.md', root = '' } = {}) {
    this.root = root === '' ? mkdtempSync(join(tmpdir(), 'okstra-races-')) : root;
    if (root === '') folders.add(this.root);
    this.home = join(this.root, 'home');
    this.graph = graph;
    this.plan = join(this.root, 'project', name);
    const runs = /^(.*\/runs)\/implementation-planning\/reports\/[^/]+$/.exec(this.plan)?.[1];
    this.ledger = join(
      runs === undefined ? `${this.plan}.okstra` : `${runs}/implementation-planning`,
      'consumers.jsonl',
    );
    this.carry = join(
      runs === undefined ? `${this.plan}.okstra` : `${runs}/implementation`,
      'carry',
    );
    mkdirSync(dirname(this.plan), { recursive: true });
    writeFileSync(this.plan, approved(graph));
    for (const at of graph.keys()) this.give(at + 1);
  }

  /** The file with the evidence of a stage, for `stage done`. */
  evidence(stage: number): string {
    return join(this.root, 'given', `stage-${stage}.json`);
  }

  /** Writes evidence to be handed in. */
  give(stage: number, text = evidence(this.plan, stage)): string {
    const file = this.evidence(stage);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  sidecar(stage: number): string {
    return join(this.carry, `stage-${stage}.json`);
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
    return start(process.execPath, [BIN, ...args], { env: { OKSTRA_HOME: this.home, ...env } });
  }

  /** Runs a command to its end. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    return this.start(args, env).end;
  }

  /** The words of a command about this plan; `as` names the session. */
  words(verb: string, as = '', ...more: string[]): string[] {
    const who = as === '' ? [] : ['--session', as];
    const how = verb === 'claim' ? ['--no-worktree'] : [];
    return ['stage', verb, '--plan', this.plan, ...how, ...who, ...more];
  }

  claim(as: string, ...more: string[]): Promise<Outcome> {
    return this.run(this.words('claim', as, '--json', ...more));
  }

  done(as: string, stage: number, ...more: string[]): Promise<Outcome> {
    const given = ['--stage', `${stage}`, '--evidence', this.evidence(stage)];
    return this.run(this.words('done', as, ...given, ...more));
  }

  /** The lock file of this plan, which any command that takes the lock has made. */
  async lock(): Promise<string> {
    await this.run(['ledger', 'repair', '--plan', this.plan]);
    const [name = 'none'] = readdirSync(join(this.home, 'locks'));
    return join(this.home, 'locks', name);
  }

  /** The rows of the ledger. Every line has to be one. */
  rows(): Row[] {
    if (!existsSync(this.ledger)) return [];
    const text = readFileSync(this.ledger, 'utf8');
    if (text !== '' && !text.endsWith('\n')) throw new Error(`a torn line: ${text.slice(-80)}`);
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** What the command says of each stage. */
  async list(): Promise<Listed[]> {
    const { exit, stdout, stderr } = await this.run(this.words('list', '', '--json'));
    if (exit !== 0) throw new Error(`stage list: ${stderr}`);
    return JSON.parse(stdout).stages;
  }

  /** Everything below a folder: kind, content and time of change, by path. */
  tree(folder = this.root): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      const path = join(folder, name);
      const stat = lstatSync(path, { bigint: true });
      if (stat.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`;
      else if (stat.isDirectory()) found[name] = 'folder';
      else found[name] = `${stat.ino} ${stat.mtimeNs} ${readFileSync(path, 'latin1')}`;
    }
    return found;
  }

  /** The project and the evidence, without the locks: what a refusal must leave as it is. */
  state(): Record<string, string> {
    const isLock = (path: string) => path.startsWith('home');
    return Object.fromEntries(Object.entries(this.tree()).filter(([path]) => !isLock(path)));
  }
}

/** A stage as `stage list --json` shows it. */
export interface Listed {
  stage: number;
  state: string;
  claim: {
    session: string | null;
    claim_id: string;
    life: string;
    age_ms: number;
    quiet_ms: number;
    free_with: string | null;
  } | null;
}

/**
 * Follows the rows in their order and answers what is not lawful: a stage started while it was
 * taken, done, or still waiting, done without a start, done twice, given back while nobody had it.
 */
export function offences(rows: readonly Row[], graph: Graph): string[] {
  const taken = new Map<number, string | undefined>();
  const done = new Set<number>();
  const found: string[] = [];
  for (const [at, { stage, status, claim_id }] of rows.entries()) {
    const say = (what: string) => found.push(`row ${at + 1}: stage ${stage} ${what}`);
    const needs = graph[stage - 1];
    if (needs === undefined) say('is not in the plan');
    switch (status) {
      case 'started':
        if (taken.has(stage)) say('is started twice');
        if (done.has(stage)) say('is started after it was done');
        for (const need of needs ?? []) {
          if (!done.has(need)) say(`is started before stage ${need} was done`);
        }
        taken.set(stage, claim_id);
        break;
      case 'done':
        if (done.has(stage)) say('is done twice');
        if (!taken.has(stage)) say('is done without a start');
        if (taken.get(stage) !== claim_id) say('is done under another claim');
        done.add(stage);
        break;
      case 'released':
        if (!taken.has(stage) || done.has(stage)) say('is given back though nobody has it');
        if (taken.get(stage) !== claim_id) say('is given back for another claim');
        taken.delete(stage);
        break;
      default:
        if (!done.has(stage)) say(`is ${status} before it was done`);
    }
  }
  return found;
}

/** The numbers from 1 to n. */
export function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, at) => at + 1);
}

/** So many things at once, by number from 1. */
export function together<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(upTo(count).map(work));
}

/** The stages with rows of a status, in order. */
export function stagesOf(rows: readonly Row[], status: string): number[] {
  return rows
    .filter((row) => row.status === status)
    .map((row) => row.stage)
    .sort((a, b) => a - b);
}
