// A stage under real clients, from the claim to the end of the session: what the hooks do.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Desk, packageFolder, type Via } from './desk.js';
import { type Asked, fresh, reached, type Said, textIn } from './service.js';

const clients: [string, string][] = Object.entries(JSON.parse(process.env.OKSTRA_CLIENTS ?? '{}'));

const RUNS = '.okstra/tasks/web/login/runs';
const PLAN = `${RUNS}/implementation-planning/reports/final-report-implementation-planning-001.md`;
const LEDGER = `${RUNS}/implementation-planning/consumers.jsonl`;

const stage = (number: number, title: string, file: string) => `
## 5.5.${number} Stage ${number}: ${title}

### Carry-In

- the brief

### Stepwise Execution Order

| step | action | files | command | expected |
|------|--------|-------|---------|----------|
| 1 | write it | ${file} | true | PASS |

### Stage Exit Contract

- ${file}

### Stage Validation

- post: \`true\`
`;

const plan = `# Login

## 5.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|-------|-------|------------|------------|-----------------------|
| 1 | Read exchange rates | (none) | 1 | rates.txt |
| 2 | Show prices | 1 | 1 | prices.txt |
${stage(1, 'Read exchange rates', 'rates.txt')}${stage(2, 'Show prices', 'prices.txt')}
## 6 User Approval Request

- [x] Approved
`;

/** A project with an approved plan. */
function deskWith(client: string): Desk {
  const desk = new Desk(client, packageFolder);
  desk.put('.gitignore', '.okstra/\n');
  desk.put('README.md', 'shop\n');
  desk.git('add', '.');
  desk.git('commit', '--quiet', '-m', 'begin');
  desk.put('.okstra/project.json', JSON.stringify({ projectId: 'shop', guard: 'deny' }));
  desk.put(
    `${RUNS.slice(0, -5)}/task-manifest.json`,
    JSON.stringify({ taskKey: 'shop:web:login' }),
  );
  // The task that was worked on last is told of before anything of it is claimed.
  const latest = { taskKey: 'shop:web:login', taskRoot: '.okstra/tasks/web/login' };
  desk.put('.okstra/discovery/latest-task.json', JSON.stringify(latest));
  desk.put(PLAN, plan);
  return desk;
}

const bash = (command: string): Said => ({ tool: 'Bash', input: { command, description: 'run' } });
const write = (file_path: string, content: string): Said => ({
  tool: 'Write',
  input: { file_path, content },
});

/** The worktree that the claim has answered with. */
function worktreeIn(asked: Asked): string {
  const [, path] = /"worktree":\s*"([^"]+)"/.exec(textIn(asked.messages)) ?? [];
  return path ?? '/nowhere';
}

const rows = (desk: Desk): Record<string, unknown>[] =>
  existsSync(join(desk.project, LEDGER))
    ? readFileSync(join(desk.project, LEDGER), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

/** Waits for what a detached process does after the session. */
async function until(holds: () => boolean): Promise<void> {
  for (let left = 200; left > 0 && !holds(); left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const CLAIM = bash(`okstra stage claim --plan ${PLAN} --json`);

const evidence = (base: string, head: string) =>
  JSON.stringify({
    schemaVersion: 1,
    sourcePlanPath: PLAN,
    stageNumber: 1,
    stageTitle: 'Read exchange rates',
    completedAt: new Date().toISOString(),
    stageCommitRange: { base, head },
    filesChanged: ['rates.txt'],
    newIdentifiers: [],
    stepResults: [{ step: 1, status: 'done', commit: head }],
    validationsPassed: ['true'],
    notes: [],
  });

describe.each(clients)('Claude Code %s', (_version, client) => {
  it.each<Via>(['plugin folder', 'settings of the person'])('a stage by the %s', async (via) => {
    const desk = deskWith(client);
    const args = desk.setUp(via);
    let worktree = '';
    const said: string[] = [];
    const broken = plan.replace('| 2 | Show', '| 4 | Show');
    const { exit, asked } = await desk.run(args, (turn, asked) => {
      said[turn] ??= fresh(asked);
      worktree = turn === 2 ? worktreeIn(asked) : worktree;
      if (turn === 0) return [write(join(desk.project, 'bad.md'), broken)];
      if (turn === 1) return [CLAIM];
      // A file of the other stage: the guard is set to deny.
      if (turn === 2) return [write(join(worktree, 'prices.txt'), 'no\n')];
      if (turn === 3) return [write(join(worktree, 'rates.txt'), 'yes\n')];
      if (turn === 4) {
        const git = `git -C '${worktree}'`;
        const commit = `${git} -c user.name=A -c user.email=a@example.org commit -qm rates`;
        return [bash(`${git} add . && ${commit} && ${git} log -2 --format='commit=%H'`)];
      }
      if (turn === 5) {
        const [, head = '', base = ''] =
          /commit=([\da-f]{40})\s+commit=([\da-f]{40})/.exec(textIn(asked.messages)) ?? [];
        const block = `\`\`\`json\n${evidence(base, head)}\n\`\`\``;
        return [`Done.\n\n### Stage Carry Evidence\n\n${block}\n`];
      }
      return ['Nothing more.'];
    });
    expect(exit).toBe(0);
    // The session learns at its start what is ready.
    reached(said[0], 'Read exchange rates');
    expect(existsSync(worktree)).toBe(true);
    // The guard has stopped the one edit and not the other.
    expect(existsSync(join(worktree, 'prices.txt'))).toBe(false);
    reached(said[3], 'prices.txt');
    expect(existsSync(join(worktree, 'rates.txt'))).toBe(true);
    // The findings of the bad plan have reached the model.
    reached(said[1], 'stage numbers must be 1..N monotonic, got 4 at row 2');
    // The evidence of the last message is kept.
    await until(() => rows(desk).some(({ status }) => status === 'done'));
    expect(rows(desk).map(({ status, stage }) => [status, stage])).toEqual([
      ['started', 1],
      ['done', 1],
    ]);
    const kept = readFileSync(
      join(desk.project, RUNS, 'implementation/carry/stage-1.json'),
      'utf8',
    );
    expect(JSON.parse(kept)).toMatchObject({ stageNumber: 1 });
    expect(asked.length).toBeGreaterThanOrEqual(6);
  });

  it.each<Via>(['plugin folder', 'settings of the person'])(
    'a claim that is not finished goes back at the end of the session, by the %s',
    async (via) => {
      const desk = deskWith(client);
      const args = desk.setUp(via);
      const { exit } = await desk.run(args, (turn) => (turn === 0 ? [CLAIM] : ['That is all.']));
      expect(exit).toBe(0);
      await until(() => rows(desk).some(({ status }) => status === 'released'));
      expect(rows(desk).map(({ status, stage }) => [status, stage])).toEqual([
        ['started', 1],
        ['released', 1],
      ]);
    },
  );

  it('a project without okstra is left alone', async () => {
    const desk = new Desk(client, packageFolder);
    const args = desk.setUp('plugin folder');
    const { exit, asked } = await desk.run(args, (turn) =>
      turn === 0 ? [write(join(desk.project, 'notes.md'), '# Notes\n')] : ['Done.'],
    );
    expect(exit).toBe(0);
    expect(fresh(asked[1] ?? {}).includes('okstra')).toBe(false);
    expect(existsSync(join(desk.project, '.okstra'))).toBe(false);
  });
});
