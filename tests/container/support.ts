/** A project whose stages are built, and a program that stands for every container engine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Shop, shopWith } from '../handoff/shop.js';
import { carry, type Ended, PLAN } from '../scenarios/project.js';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

export const KEY = 'shop:web:login';

export const COMPOSE = 'services:\n  web:\n    build: .\n';

/** What the stand-in does where its words contain these: the first rule that fits counts. */
export interface Rule {
  /** The program; any where it is missing. */
  program?: string;
  words: string[];
  exit?: number;
  stdout?: string;
  stderr?: string;
  /** It never ends, and does not let itself be asked to. */
  hang?: boolean;
  /** It leaves a child behind that keeps its pipes. */
  lingers?: boolean;
}

/** A call as the stand-in saw it. */
export interface Call {
  program: string;
  words: string[];
  folder: string;
  env: Record<string, string>;
  pid: number;
}

/** Engines that work. */
const FINE: Rule[] = [
  { program: 'docker', words: ['compose', 'version'], stdout: 'Docker Compose version v2.29.1\n' },
  { words: ['version'], stdout: 'version 27.0.1\n' },
  { words: ['info'], stdout: '5.0.0\n' },
];

/** What is run instead of an engine. */
function program(log: string, rules: string): string {
  return `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const { basename } = require('node:path');
const [, path, ...words] = process.argv;
const program = basename(path);
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OKSTRA_')));
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ program, words, folder: process.cwd(), env, pid: process.pid }) + '\\n');
const rules = JSON.parse(readFileSync(${JSON.stringify(rules)}, 'utf8'));
const rule = rules.find((it) => (it.program ?? program) === program && it.words.every((word) => words.includes(word))) ?? {};
process.stdout.write(rule.stdout ?? '');
process.stderr.write(rule.stderr ?? '');
if (rule.lingers) spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], { stdio: ['ignore', 1, 2], detached: true }).unref();
if (rule.hang) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
} else process.exitCode = rule.exit ?? 0;
`;
}

export class Yard {
  readonly shop: Shop;
  readonly #log: string;
  readonly #rules: string;

  /** Stages by what they come after; the compose file is there from the beginning. */
  constructor(
    after: readonly string[],
    files: Record<string, string> = { 'compose.yaml': COMPOSE },
  ) {
    this.shop = shopWith(...after);
    this.#log = join(this.shop.folder, 'engine.log');
    this.#rules = join(this.shop.folder, 'rules.json');
    for (const [path, text] of Object.entries(files)) this.shop.write(path, text);
    this.shop.commit('the compose file');
    this.rules();
  }

  /** A stage that was built in the project's own folder, as evidence that lost its row shows it. */
  done(stage: number): string {
    this.shop.write(`src/part${stage}/1.rs`, `// ${stage}\n`);
    const head = this.shop.commit(`stage ${stage}`);
    const evidence = {
      ...{ schemaVersion: 1, sourcePlanPath: PLAN, stageNumber: stage },
      ...{ stageTitle: `Part ${stage}`, completedAt: '2026-01-02T03:04:05Z' },
      stageCommitRange: { base: `${head}`, head },
      ...{ filesChanged: [], newIdentifiers: [], validationsPassed: [], notes: [] },
      stepResults: [{ step: 1, status: 'done', commit: head }],
    };
    this.shop.write(carry(stage), JSON.stringify(evidence));
    return head;
  }

  get home(): string {
    return join(this.shop.folder, 'home');
  }

  get worktree(): string {
    return join(this.home, 'worktrees/shop/web/login');
  }

  /** Puts the stand-in on the PATH under these names, and under no others. */
  engines(...names: string[]): this {
    const folder = join(this.shop.folder, 'bin');
    for (const name of ['docker', 'docker-compose', 'podman', 'podman-compose']) {
      rmSync(join(folder, name), { force: true });
      if (!names.includes(name)) continue;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), program(this.#log, this.#rules), { mode: 0o755 });
    }
    return this;
  }

  /** What the stand-in does beyond being there. */
  rules(...rules: Rule[]): this {
    writeFileSync(this.#rules, JSON.stringify([...rules, ...FINE]));
    return this;
  }

  /** What was called since the last look, without what only asks whether an engine is there. */
  calls(all = false): Call[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1);
    if (!all) rmSync(this.#log);
    const calls = lines.map((line) => JSON.parse(line) as Call);
    return all ? calls : calls.filter(({ words }) => words.includes('-p'));
  }

  container(verb: string, ...more: string[]): Promise<Ended> {
    return this.shop.okstra('container', verb, KEY, ...more);
  }

  async json<T>(verb: string, ...more: string[]): Promise<T> {
    const { exit, stdout, stderr } = await this.container(verb, '--json', ...more);
    if (exit !== 0) throw new Error(`container ${verb}: ${exit} ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Starts it and does not wait. */
  begin(verb: string): ChildProcess {
    return spawn(process.execPath, [BIN, 'container', verb, KEY], {
      cwd: this.shop.root,
      env: this.shop.environment,
      stdio: 'ignore',
    });
  }

  /** The text of the record. */
  record(project: string): string | undefined {
    const path = join(this.home, 'containers', `${project}.json`);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }
}

/** What `up` answers. */
export interface Started {
  project: string;
  engine: string;
  worktree: string;
  head: string;
  base: string;
  stages: { stage: number; head: string }[];
  files: string[];
  command: string[];
}

/** What `show` answers. */
export interface View {
  health: string;
  record: { project: string; head: string; state: string; stages: unknown[] } | null;
  services: { service: string; state: string; ports: string[] }[];
  stale: string[];
}

/** Waits until something is so. */
export async function until(is: () => boolean): Promise<void> {
  const end = Date.now() + 15_000;
  while (!is()) {
    if (Date.now() > end) throw new Error('it does not happen');
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Containers as Docker's `ps` prints them. */
const SERVICES = [
  {
    Name: 'x-web-1',
    Service: 'web',
    State: 'running',
    Health: 'healthy',
    Publishers: [{ TargetPort: 80, PublishedPort: 8080, Protocol: 'tcp' }],
  },
  { Name: 'x-migrate-1', Service: 'migrate', State: 'exited', ExitCode: 0 },
];
export const RUNNING = SERVICES.map((it) => `${JSON.stringify(it)}\n`).join('');
