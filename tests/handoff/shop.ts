/** A project with a bare remote, stages built in worktrees of their own, and a stand-in for gh. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { planText } from '../cli/plans.js';
import { type Ended, KEY, PLAN, Project } from '../scenarios/project.js';

const APPROVED = '\n## User Approval Request\n\n- [x] Approved\n';

/** The file of the verification of the whole task. */
const WHOLE =
  '.okstra/tasks/web/login/runs/final-verification/reports/final-report-final-verification-001.data.json';

/** The address that the stand-in for gh answers with. */
export const ADDRESS = 'https://github.example/shop/pull/17';

interface Evidence {
  stageCommitRange: { head: string };
  stepResults: { commit: string }[];
}

/** A stage that was built. */
export interface Stage {
  head: string;
  base: string;
  worktree: string;
  branch: string;
}

export class Shop extends Project {
  readonly remote = join(this.folder, 'remote.git');
  readonly #programs = join(this.folder, 'bin');
  readonly #log = join(this.folder, 'gh.log');

  /** Stages by what they come after. */
  constructor(after: readonly string[]) {
    super(
      planText(
        after.map((after, at) => ({ title: `Part ${at + 1}`, after })),
        APPROVED,
      ),
    );
    this.write('.okstra/project.json', '{"projectId": "shop"}\n');
    this.commit('the project');
    // Nothing but git: whether this machine has gh must not matter.
    mkdirSync(this.#programs);
    const git = (process.env.PATH ?? '')
      .split(delimiter)
      .map((folder) => join(folder, 'git'))
      .find((file) => existsSync(file));
    symlinkSync(realpathSync(git ?? '/usr/bin/git'), join(this.#programs, 'git'));
    this.environment.PATH = this.#programs;
    this.git('init', '--quiet', '--bare', '--initial-branch=main', this.remote);
    this.git('remote', 'add', 'origin', this.remote);
    this.git('push', '--quiet', 'origin', 'main');
  }

  /** Installs a stand-in for gh that says this and ends so. */
  gh(script = `echo ${ADDRESS}`): void {
    const file = join(this.#programs, 'gh');
    const lines = [
      '#!/bin/sh',
      '[ "$1" = --version ] && exit 0',
      `printf '%s\\n' "$@" >> '${this.#log}'`,
      `while IFS= read -r line; do printf '> %s\\n' "$line"; done >> '${this.#log}'`,
      script,
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    chmodSync(file, 0o755);
  }

  /** What gh was asked. */
  asked(): string[] {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n').slice(0, -1) : [];
  }

  in(folder: string, ...args: string[]): string {
    const streams: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    const options = {
      cwd: folder,
      encoding: 'utf8',
      env: this.environment,
      stdio: streams,
    } as const;
    return execFileSync('git', args, options).trim();
  }

  /** Writes files in a worktree and commits them. */
  commitIn(folder: string, message: string, files: Record<string, string>): string {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    this.in(folder, 'add', '--all');
    this.in(folder, 'commit', '--quiet', '-m', message);
    return this.in(folder, 'rev-parse', 'HEAD');
  }

  /** Claims a stage with a worktree, builds it there and finishes it; with a verdict it is verified. */
  async stage(stage: number, files?: Record<string, string>, verdict = ''): Promise<Stage> {
    const of = ['--plan', PLAN, '--stage', String(stage)];
    const claimed = JSON.parse((await this.ok('stage', 'claim', ...of, '--json')).stdout) as {
      claim_id: string;
      worktree: string;
      branch: string;
      base_commit: string;
    };
    const { worktree, branch, base_commit: base } = claimed;
    const file = `src/part${stage}/1.rs`;
    const built = files ?? { [file]: `// part ${stage}\n` };
    const head = this.commitIn(worktree, `stage ${stage}`, built);
    const evidence = {
      schemaVersion: 1,
      sourcePlanPath: PLAN,
      stageNumber: stage,
      stageTitle: `Part ${stage}`,
      completedAt: '2026-01-02T03:04:05Z',
      stageCommitRange: { base, head },
      filesChanged: Object.keys(built),
      newIdentifiers: [],
      stepResults: [{ step: 1, status: 'done', commit: head }],
      validationsPassed: ['cargo test'],
      notes: [],
    };
    const result = join(this.folder, `stage-${stage}.json`);
    writeFileSync(result, JSON.stringify(evidence));
    await this.ok('stage', 'done', ...of, '--claim-id', claimed.claim_id, '--evidence', result);
    if (verdict !== '') {
      this.write(`verified-${stage}.md`, '# Verified\n');
      const report = ['--report', `verified-${stage}.md`];
      await this.ok('stage', 'verify', ...of, '--verdict', verdict, ...report);
    }
    return { head, base, worktree, branch };
  }

  /** Records another commit as the head of a finished stage, as a person may with force. */
  async reappend(stage: number, head: string): Promise<void> {
    const result = join(this.folder, `stage-${stage}.json`);
    const evidence = JSON.parse(readFileSync(result, 'utf8')) as Evidence;
    evidence.stageCommitRange.head = head;
    for (const step of evidence.stepResults) step.commit = head;
    writeFileSync(result, JSON.stringify(evidence));
    const of = ['--task-key', KEY, '--stage', String(stage)];
    await this.ok('stage', 'done', ...of, '--evidence', result, '--force-reappend');
  }

  /** The verification of the whole task. */
  verified(verdict: string): void {
    const header = { taskType: 'final-verification', verificationScope: 'whole-task' };
    this.write(WHOLE, JSON.stringify({ header, verdict: { token: verdict } }));
  }

  handoff(verb: string, ...more: string[]): Promise<Ended> {
    return this.okstra('handoff', verb, '--task-key', KEY, ...more);
  }

  async ok(...args: string[]): Promise<Ended> {
    const ended = await this.okstra(...args);
    if (ended.exit !== 0) throw new Error(`okstra ${args.join(' ')}: ${ended.stderr}`);
    return ended;
  }

  /** Everything that git keeps by name, and the worktrees: what nobody may have left behind. */
  refs(): string {
    const refs = this.git('for-each-ref', '--format=%(refname) %(objectname)');
    return `${refs}\n${this.git('worktree', 'list', '--porcelain')}`;
  }

  /** The branches of the remote. */
  pushed(): string[] {
    return this.in(this.remote, 'for-each-ref', '--format=%(refname:short)').split('\n');
  }
}

let shops: Shop[] = [];

afterEach(() => {
  for (const shop of shops) shop.remove();
  shops = [];
});

/** A project whose stages come after these, `''` after none; the whole task is accepted. */
export function acceptedShop(...after: string[]): Shop {
  const shop = shopWith(...after);
  shop.verified('accepted');
  return shop;
}

/** The same, and nothing is verified. */
export function shopWith(...after: string[]): Shop {
  const shop = new Shop(after.map((list) => list || '(none)'));
  shops.push(shop);
  return shop;
}
