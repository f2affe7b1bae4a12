/**
 * The nine scenarios of stages, on the built command, in real repositories. Each command is a
 * process of its own and names no session, so each claim is that of a new session.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { planText } from '../cli/plans.js';
import { carry, type Ended, KEY, LEDGER, ofRun, PLAN, Project } from './project.js';

const APPROVED = '\n## User Approval Request\n\n- [x] Approved\n';

/** An approved plan with these stages. */
const plan = (...stages: Parameters<typeof planText>[0]) => planText(stages, APPROVED);

/** Three stages, each of which builds on the one before. */
const CHAIN = plan(
  { title: 'Parse the input' },
  { title: 'Write the report', after: '1' },
  { title: 'Serve the page', after: '2' },
);

let projects: Project[] = [];

afterEach(() => {
  for (const project of projects) project.remove();
  projects = [];
});

function projectWith(text: string): Project {
  const project = new Project(text);
  projects.push(project);
  return project;
}

/** A line of the table of stages, without its layout. */
const lineOf = (list: Ended, stage: number) =>
  list.stdout
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/))
    .find((cells) => cells[1] === String(stage))
    ?.join(' | ');

/** A request is refused: one line says why, and no file of the project has changed. */
async function refused(project: Project, exit: number, ask: () => Promise<Ended>): Promise<string> {
  const before = project.files();
  const ended = await ask();
  expect({ exit: ended.exit, stdout: ended.stdout }).toEqual({ exit, stdout: '' });
  expect(project.files()).toEqual(before);
  return ended.stderr;
}

describe('the scenarios', () => {
  it('Q1: a plan of one stage goes the whole happy path', async () => {
    const project = projectWith(plan({ title: 'Parse the input' }));
    const base = project.git('rev-parse', 'HEAD');

    const run = await project.run();
    const manifest = ofRun(1, 'manifests/run-manifest-implementation-001.json');
    const prompt = ofRun(1, 'prompts/launch-prompt-implementation-001.md');
    const map = ofRun(1, 'state/stage-map-001.json');
    const files = [manifest, prompt, map].map((path) => `${project.root}/${path}\n`).join('');
    expect(run).toEqual({ exit: 0, stdout: `selected stage: 1\n${files}`, stderr: '' });
    expect(project.json(map)).toEqual([
      {
        stage_number: 1,
        title: 'Parse the input',
        depends_on: [],
        step_count: 1,
        exit_contract_summary: 'part 1 works',
      },
    ]);
    const [started] = project.rows();
    expect(started).toMatchObject({ impl_task_key: KEY, stage: 1, status: 'started' });
    expect(started).toMatchObject({ head_commit: base, base_commit: base });
    expect(project.json(manifest)).toMatchObject({
      taskKey: KEY,
      approvedPlanPath: PLAN,
      stage: {
        stageNumber: 1,
        claimId: started?.claim_id,
        worktree: project.root,
        carryIn: [],
      },
    });
    expect(project.read(prompt)).toContain(`--claim-id ${started?.claim_id}`);
    expect(project.json(`${PLAN.split('/runs/')[0]}/task-manifest.json`)).toMatchObject({
      taskKey: KEY,
      workflow: { currentPhase: 'implementation', currentPhaseState: 'in-progress' },
    });
    expect(project.json('.okstra/discovery/task-catalog.json')).toMatchObject({
      tasks: [{ taskKey: KEY, currentPhase: 'implementation' }],
    });
    expect(project.json('.okstra/discovery/latest-task.json')).toMatchObject({ taskKey: KEY });

    // The session works, and ends as the launch prompt says.
    const { head, evidence, result } = project.build(1, 'Parse the input', ['Parser']);
    const how = /^okstra stage done .*$/m.exec(project.read(prompt))?.[0] ?? '';
    expect(how).toContain(`--evidence ${project.root}/${result}`);
    const done = await project.okstra(...how.split(' ').slice(1));
    expect(done).toEqual({
      exit: 0,
      stdout: 'stage 1 is done\n',
      stderr: `${carry(1)}: the evidence is kept here\n`,
    });
    expect(project.read(carry(1))).toBe(`${evidence}\n`);
    expect(project.rows().map(({ status }) => status)).toEqual(['started', 'done']);
    expect(project.rows()[1]).toMatchObject({
      impl_task_key: KEY,
      stage: 1,
      carry_path: carry(1),
      head_commit: head,
    });

    const list = await project.okstra('stage', 'list', '--plan', PLAN);
    expect(list).toMatchObject({ exit: 0, stderr: '' });
    expect(lineOf(list, 1)).toMatch(
      new RegExp(`^1 \\| 1 \\| Parse the input \\| ✓ done \\| .*${head.slice(0, 7)}$`),
    );
    const said = await refused(project, 3, () => project.okstra('stage', 'next', '--plan', PLAN));
    expect(said).toBe(`${PLAN}: every stage is already done\n`);
  });

  it('Q2: the first run of a plan of three stages picks stage 1', async () => {
    const project = projectWith(CHAIN);
    const { exit, stdout, stderr } = await project.run('--stage', 'auto');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^selected stage: 1\n/);
    expect(project.rows().map(({ stage, status }) => [stage, status])).toEqual([[1, 'started']]);
    expect(project.json<unknown[]>(ofRun(1, 'state/stage-map-001.json'))).toHaveLength(3);
  });

  it('Q3: after stage 1 is done, the next run picks stage 2 and loads its sidecar', async () => {
    const project = projectWith(CHAIN);
    const { head } = await project.finish(1, 'Parse the input', ['Parser', 'parse_line']);
    const ended = await project.run('--json');
    expect({ exit: ended.exit, stderr: ended.stderr }).toEqual({ exit: 0, stderr: '' });
    const answer = JSON.parse(ended.stdout);
    expect(answer.stage).toBe(2);
    expect(answer.claim.carry_in).toEqual([
      {
        stage: 1,
        exit_contract: expect.stringContaining('Part 1 works.'),
        evidence: project.json(carry(1)),
      },
    ]);
    expect(answer.claim.carry_in[0].evidence.stageCommitRange.head).toBe(head);
    expect(
      project.json<{ stage: unknown }>(ofRun(2, 'manifests/run-manifest-implementation-001.json'))
        .stage,
    ).toMatchObject({ dependsOn: [1], carryIn: [{ stage: 1, path: carry(1) }] });
    const prompt = project.read(ofRun(2, 'prompts/launch-prompt-implementation-001.md'));
    for (const text of ['Parser', 'parse_line', head, carry(1), 'Part 1 works.']) {
      expect(prompt).toContain(text);
    }
    // The claim alone hands over the same.
    const again = await project.okstra(
      ...['stage', 'claim', '--plan', PLAN, '--stage', '2', '--no-worktree', '--json'],
      ...['--claim-id', answer.claim.claim_id],
    );
    expect(JSON.parse(again.stdout)).toMatchObject({
      already_held: true,
      carry_in: answer.claim.carry_in,
    });
  });

  it('Q4: a stage of seven steps is rejected when a run is prepared', async () => {
    const project = projectWith(plan({ steps: 7 }));
    expect(await refused(project, 1, () => project.run())).toBe(
      `${PLAN}: approved plan failed stage validation:
S5 stage=1: effective step count 7 exceeds 6
okstra: 'okstra plan check --format pretty ${PLAN}' shows the places
`,
    );
    expect(existsSync(join(project.root, LEDGER))).toBe(false);
  });

  it('Q5: a dependency on a stage that does not exist is rejected: S6', async () => {
    const project = projectWith(plan({}, { after: '9' }));
    const lines = `approved plan failed stage validation:\nS6 stage=2: depends-on 9 does not exist\n`;
    expect(await refused(project, 1, () => project.run())).toContain(lines);
    const claim = ['stage', 'claim', '--plan', PLAN, '--no-worktree'];
    expect(await refused(project, 1, () => project.okstra(...claim))).toContain(lines);
  });

  it('Q6: a stage that is done is refused when it is asked for by number', async () => {
    const project = projectWith(CHAIN);
    await project.finish(1, 'Parse the input');
    const said = `${PLAN}: --stage 1 already completed (consumers.jsonl status:done exists)\n`;
    const asked = ['--plan', PLAN, '--stage', '1'];
    expect(await refused(project, 3, () => project.run('--stage', '1'))).toBe(said);
    for (const verb of [['claim', '--no-worktree'], ['next']]) {
      expect(await refused(project, 3, () => project.okstra('stage', ...verb, ...asked))).toBe(
        said,
      );
    }
  });

  it('Q7: runs and claims that start together pick distinct stages', async () => {
    const claim = ['stage', 'claim', '--plan', PLAN, '--no-worktree'];
    for (let round = 0; round < 10; round += 1) {
      const project = projectWith(plan({}, {}, {}, {}));
      const all = await Promise.all([
        project.run(),
        project.okstra(...claim),
        project.run(),
        project.okstra(...claim),
      ]);
      expect(all.map(({ exit, stderr }) => ({ exit, stderr }))).toEqual(
        all.map(() => ({ exit: 0, stderr: '' })),
      );
      const picked = all.map(({ stdout }) => Number(/^selected stage: (\d+)$/m.exec(stdout)?.[1]));
      expect([...picked].sort()).toEqual([1, 2, 3, 4]);
      const rows = project.rows();
      expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 'started'));
      expect(rows.map(({ stage }) => stage)).toEqual([1, 2, 3, 4]);
      expect(new Set(rows.map(({ claim_id }) => claim_id)).size).toBe(4);
      // Both runs have their bundle, and the one after the other left the records whole.
      for (const stage of [picked[0] ?? 0, picked[2] ?? 0]) {
        const manifest = ofRun(stage, 'manifests/run-manifest-implementation-001.json');
        expect(project.json<{ stage: unknown }>(manifest).stage).toMatchObject({
          stageNumber: stage,
          claimId: rows.find((row) => row.stage === stage)?.claim_id,
        });
      }
      expect(
        project.json<{ tasks: unknown[] }>('.okstra/discovery/task-catalog.json').tasks,
      ).toHaveLength(1);
      // Nobody is left over.
      const fifth = await refused(project, 3, () => project.okstra(...claim));
      expect(fifth).toContain('no stage is ready');
      expect(fifth).toContain('running: 1, 2, 3, 4');
    }
  });

  it('Q8: dependencies that are done in part block the higher stage', async () => {
    const project = projectWith(plan({ title: 'One' }, { title: 'Two' }, { after: '1, 2' }));
    await project.finish(1, 'One');
    const said = `${PLAN}: --stage 3 waits for stage 2\n`;
    expect(await refused(project, 3, () => project.run('--stage', '3'))).toBe(said);
    const claim = ['stage', 'claim', '--plan', PLAN, '--no-worktree', '--stage', '3'];
    expect(await refused(project, 3, () => project.okstra(...claim))).toBe(said);
    expect((await project.okstra('stage', 'next', '--plan', PLAN)).stdout).toBe(
      'selected stage: 2\n',
    );
    await project.finish(2, 'Two');
    expect((await project.run('--stage', '3')).stdout).toMatch(/^selected stage: 3\n/);
  });

  it('Q9: a cycle is rejected: S8', async () => {
    const project = projectWith(plan({ after: '3' }, { after: '1' }, { after: '2' }, {}));
    for (const ask of [
      () => project.run(),
      () => project.run('--stage', '4'),
      () => project.okstra('stage', 'claim', '--plan', PLAN, '--no-worktree'),
    ]) {
      const said = await refused(project, 1, ask);
      expect(said).toContain('approved plan failed stage validation:\nS8 ');
      expect(said).toContain('depends-on graph has a cycle: 1 → 3 → 2 → 1\n');
    }
  });
});
