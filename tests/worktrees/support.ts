/** Projects in real repositories whose claims get worktrees, and the built command run in them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { planText } from '../cli/plans.js';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

const running = new Set<ChildProcess>();
const folders = new Set<string>();

afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) await removed(folder);
  folders.clear();
});

/** Removes a folder. What a session's end started may still be at work in it, and make more. */
async function removed(folder: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (tries === 40) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** How a process ended. */
export interface Ended {
  exit: number | NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A row of the ledger, as far as the tests look at it. */
export interface Row {
  head_commit?: string;
  stage: number;
  status: string;
  claim_id: string;
  worktree?: string;
  base_commit?: string;
}

/** What a claim answers. */
export interface Claimed {
  stage: number;
  worktree: string;
  branch: string;
  base_commit: string;
  claim_id: string;
}

/** A worktree as `worktree list --json` shows it. */
export interface Listed {
  task_key: string;
  stage: number;
  state: string;
  branch: string;
  head: string | null;
  path: string;
  exists: boolean;
}

export const KEY = 'shop:web:login';

/** What a project is made with. */
interface Wishes {
  /** What each stage depends on; stage 1 is the first. */
  graph: readonly string[];
  /** The name of the project's folder. */
  name?: string;
  /** The id of the task. */
  id?: string;
  category?: string;
  syncDirs?: string[];
  /** Whether to make no repository. */
  bareFolder?: boolean;
}

/** A project in okstra's layout: project `shop`, group `web`, id `login`. */
export class Shop {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-worktrees-')));
  readonly root: string;
  readonly home = join(this.folder, 'home');
  readonly plan: string;
  readonly ledger: string;
  readonly id: string;
  readonly registry = join(this.home, 'worktrees/registry.json');
  readonly env: NodeJS.ProcessEnv;

  constructor({ graph, name = 'shop', id = 'login', category, syncDirs, bareFolder }: Wishes) {
    folders.add(this.folder);
    this.root = join(this.folder, name);
    this.id = id;
    const task = `.okstra/tasks/web/${id}`;
    const phase = `${task}/runs/implementation-planning`;
    this.plan = `${phase}/reports/final-report-implementation-planning-001.md`;
    this.ledger = join(this.root, phase, 'consumers.jsonl');
    this.env = environment(this.home);
    const stages = graph.map((after) => ({ after: after === '' ? '(none)' : after }));
    this.write(this.plan, planText(stages, '\n- [x] Approved\n'));
    this.write(
      '.okstra/project.json',
      JSON.stringify({ projectId: 'shop', ...(syncDirs && { worktreeSyncDirs: syncDirs }) }),
    );
    const manifest = { taskKey: `shop:web:${id}`, ...(category && { workCategory: category }) };
    this.write(`${task}/task-manifest.json`, JSON.stringify(manifest));
    this.write('README.md', 'begin\n');
    this.write('.gitignore', '.okstra\nnode_modules\n');
    if (bareFolder) return;
    this.git('init', '--quiet', '--initial-branch=main');
    this.commit(this.root, 'begin');
  }

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  gitIn(folder: string, ...args: string[]): string {
    return execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  git(...args: string[]): string {
    return this.gitIn(this.root, ...args);
  }

  /** Commits everything in a folder and answers the commit. */
  commit(folder: string, message: string): string {
    this.gitIn(folder, 'add', '--all');
    this.gitIn(folder, 'commit', '--quiet', '--allow-empty', '-m', message);
    return this.gitIn(folder, 'rev-parse', 'HEAD');
  }

  /** Commits one file in a folder. */
  put(folder: string, file: string, text: string): string {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
    return this.commit(folder, `${file} of ${folder}`);
  }

  branches(): string[] {
    return this.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
  }

  /** The folders of git's worktrees but the main one. */
  trees(): string[] {
    const all = this.git('worktree', 'list', '--porcelain').match(/^worktree .*$/gm) ?? [];
    return all.slice(1).map((line) => line.slice('worktree '.length));
  }

  rows(): Row[] {
    if (!existsSync(this.ledger)) return [];
    const lines = readFileSync(this.ledger, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Row);
  }

  /** The stages in the registry. */
  registered(): { stage: number; state: string; path: string; branch: string }[] {
    if (!existsSync(this.registry)) return [];
    const { tasks } = JSON.parse(readFileSync(this.registry, 'utf8'));
    // biome-ignore lint/suspicious/noExplicitAny: what a test looks at
    return tasks.flatMap((task: any) => task.stages ?? []);
  }

  /** Everything that a refusal has to leave as it was. */
  traces(): object {
    return {
      branches: this.branches(),
      trees: this.trees(),
      rows: this.rows(),
      stages: this.registered(),
      folder: existsSync(this.path(99)) ? 'there' : 'none',
    };
  }

  /** Where the worktree of a stage belongs. */
  path(stage: number): string {
    return `${this.home}/worktrees/shop/web/${this.id}.stages/stage-${stage}`;
  }

  start(args: readonly string[], cwd = this.root): { child: ChildProcess; end: Promise<Ended> } {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said.stderr += text;
    });
    const end = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        running.delete(child);
        resolve({ exit: code ?? signal, ...said });
      });
    });
    return { child, end };
  }

  okstra(...args: string[]): Promise<Ended> {
    return this.start(args).end;
  }

  /** Claims a stage for a session. */
  claim(stage: number | 'auto', ...more: string[]): Promise<Ended> {
    return this.okstra(
      ...['stage', 'claim', '--plan', this.plan, '--stage', `${stage}`, '--json', ...more],
    );
  }

  /** A claim that has to succeed. */
  async claimed(stage: number | 'auto', ...more: string[]): Promise<Claimed> {
    const ended = await this.claim(stage, ...more);
    if (ended.exit !== 0) throw new Error(ended.stderr);
    return JSON.parse(ended.stdout) as Claimed;
  }

  /** Evidence of a stage in a file. */
  evidence(stage: number, base: string, head: string): string {
    const text = JSON.stringify({
      schemaVersion: 1,
      sourcePlanPath: this.plan,
      stageNumber: stage,
      stageTitle: `Part ${stage}`,
      completedAt: '2026-03-04T05:06:07Z',
      stageCommitRange: { base, head },
      filesChanged: [],
      newIdentifiers: [],
      stepResults: [],
      validationsPassed: ['cargo test'],
      notes: [],
    });
    const file = join(this.folder, `evidence-${stage}.json`);
    writeFileSync(file, text);
    return file;
  }

  done({ stage, claim_id, base_commit }: Claimed, head: string): Promise<Ended> {
    const file = this.evidence(stage, base_commit, head);
    return this.okstra(
      ...['stage', 'done', '--plan', this.plan, '--stage', `${stage}`],
      ...['--claim-id', claim_id, '--evidence', file],
    );
  }

  /** Claims a stage, commits a file in its worktree and finishes it; answers its head. */
  async finish(stage: number, file: string, text: string): Promise<string> {
    const claim = await this.claimed(stage);
    const head = this.put(claim.worktree, file, text);
    const done = await this.done(claim, head);
    if (done.exit !== 0) throw new Error(done.stderr);
    return head;
  }

  async list(): Promise<Listed[]> {
    const { exit, stdout, stderr } = await this.okstra('worktree', 'list', '--json');
    if (exit !== 0) throw new Error(stderr);
    return (JSON.parse(stdout) as { worktrees: Listed[] }).worktrees;
  }
}

/** A person in a terminal: no session, an own home, git that knows a name. */
function environment(home: string): NodeJS.ProcessEnv {
  const given = Object.entries(process.env).filter(
    ([name]) => !/^(OKSTRA_|CLAUDE|GIT_|NO_COLOR$|FORCE_COLOR$|COLUMNS$|NODE_EXTRA_CA)/.test(name),
  );
  return {
    ...Object.fromEntries(given),
    OKSTRA_HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
}
