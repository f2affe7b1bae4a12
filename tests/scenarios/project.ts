/** A project in a real repository, and the built command run in it as real processes. */
import { execFileSync, spawn } from 'node:child_process';
import {
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

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

/** Where the tasks of the tests lie: group `web`, id `login` of the project `shop`. */
const TASK = '.okstra/tasks/web/login';

/** The plan in its place, relative to the project. */
export const PLAN = `${TASK}/runs/implementation-planning/reports/final-report-implementation-planning-001.md`;

/** The ledger of that plan. */
export const LEDGER = `${TASK}/runs/implementation-planning/consumers.jsonl`;

/** The key of the task. */
export const KEY = 'shop:web:login';

/** The place of a stage's evidence. */
export const carry = (stage: number) => `${TASK}/runs/implementation/carry/stage-${stage}.json`;

/** The place of a file of a stage's run. */
export const ofRun = (stage: number, path: string) =>
  `${TASK}/runs/implementation/stage-${stage}/${path}`;

/** What a process left behind. */
export interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** A row of a ledger, as far as the tests look at it. */
export interface Row {
  impl_task_key: string;
  stage: number;
  status: string;
  claim_id: string;
  head_commit: string;
}

/** A temporary project with one approved plan, in a repository with one commit. */
export class Project {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-scenario-')));
  readonly root = join(this.folder, 'shop');
  readonly environment = environment(join(this.folder, 'home'));

  constructor(plan: string) {
    mkdirSync(this.root);
    this.write(PLAN, plan);
    this.write('README.md', '# Shop\n');
    this.git('init', '--quiet', '--initial-branch=main');
    this.commit('the plan');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  json<T>(path: string): T {
    return JSON.parse(this.read(path)) as T;
  }

  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.root,
      encoding: 'utf8',
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  /** Commits everything and answers the commit. */
  commit(message: string): string {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }

  /** Every file of the project but those of git, with its content. */
  files(): Record<string, string> {
    const found = readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
      .filter((path) => !path.startsWith('.git/'))
      .sort();
    return Object.fromEntries(found.map((path) => [path, this.read(path)]));
  }

  rows(): Row[] {
    const lines = this.read(LEDGER).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Row);
  }

  /** Starts the command; it is a process of its own. */
  okstra(...args: string[]): Promise<Ended> {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: this.root,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk;
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exit) => resolve({ exit, stdout, stderr }));
    });
  }

  /** Prepares a run of an implementation. */
  run(...args: string[]): Promise<Ended> {
    const task = ['--task-group', 'web', '--task-id', 'login', '--project-id', 'shop'];
    const place = ['--project-root', this.root, '--approved-plan', PLAN];
    const what = ['--task-type', 'implementation', '--no-worktree'];
    return this.okstra('run', ...what, ...task, ...place, ...args);
  }

  /** Builds the claimed stage: one commit, and evidence of it in a worker result. */
  build(stage: number, title: string, identifiers: string[] = []): Built {
    const base = this.git('rev-parse', 'HEAD');
    const file = `src/part${stage}/1.rs`;
    this.write(file, `// ${title}\n`);
    const head = this.commit(`stage ${stage}`);
    // Laid out as no serialiser would: what is kept has to be these bytes.
    const evidence = `{ "schemaVersion": 1,
  "sourcePlanPath": ${JSON.stringify(PLAN)},
  "stageNumber":   ${stage},
  "stageTitle": ${JSON.stringify(title)},
  "completedAt": "2026-01-02T03:04:05.678+09:00",
  "stageCommitRange": {"base": "${base}", "head": "${head}"},
  "filesChanged": [ "${file}" ],
  "newIdentifiers": ${JSON.stringify(identifiers)},
  "stepResults": [{ "step": 1, "status": "done", "commit": "${head}" }],
  "validationsPassed": ["cargo test"],
  "notes": ["é – 計画 / \\u00e9"]
}`;
    const result = ofRun(stage, 'worker-results/worker-result-implementation-001.md');
    this.write(
      result,
      `# Result\n\nBuilt.\n\n### Stage Carry Evidence\n\n\`\`\`json\n${evidence}\n\`\`\`\n`,
    );
    return { head, evidence, result };
  }

  /** Claims, builds and finishes a stage. */
  async finish(stage: number, title: string, identifiers: string[] = []): Promise<Built> {
    const claimed = await this.okstra(
      ...['stage', 'claim', '--plan', PLAN, '--stage', String(stage), '--no-worktree', '--json'],
    );
    if (claimed.exit !== 0) throw new Error(claimed.stderr);
    const { claim_id } = JSON.parse(claimed.stdout) as { claim_id: string };
    const built = this.build(stage, title, identifiers);
    const done = await this.okstra(
      ...['stage', 'done', '--plan', PLAN, '--stage', String(stage)],
      ...['--claim-id', claim_id, '--evidence', built.result],
    );
    if (done.exit !== 0) throw new Error(done.stderr);
    return built;
  }
}

/** What a session built. */
export interface Built {
  /** The last commit. */
  head: string;
  /** The text of the evidence. */
  evidence: string;
  /** The worker result that holds it. */
  result: string;
}

/** The environment of a person in a terminal: no session, an own home, git that knows a name. */
function environment(home: string): NodeJS.ProcessEnv {
  const given = Object.entries(process.env).filter(
    ([name]) => !/^(OKSTRA_|CLAUDE|GIT_|NO_COLOR$|FORCE_COLOR$|COLUMNS$)/.test(name),
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
