/** The wizard as a program relays it: real processes, a real repository, a state in a file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../scenarios/project.js';
import { BROKEN, LEDGER, PLAN, type Question, shop } from './support.js';

let project: Project;
beforeEach(() => {
  project = shop();
});
afterEach(() => project.remove());

const STATE = '../wizard.json';
const state = () => readFileSync(join(project.root, STATE), 'utf8');

/** A verb of the wizard on the state. */
async function wizard(verb: string, ...args: string[]) {
  const { exit, stdout, stderr } = await project.okstra(
    ...['wizard', verb, '--state-file', STATE, ...args],
  );
  return { exit, stderr, question: (stdout === '' ? {} : JSON.parse(stdout)) as Question };
}

/** Answers one question after the other; each has to be the next and to be taken. */
async function answers(all: readonly (readonly [string, string])[]): Promise<Question> {
  let now = (await wizard('step')).question;
  for (const [step, answer] of all) {
    expect(now, JSON.stringify(now)).toMatchObject({ step });
    const { exit, question } = await wizard('step', '--step', step, '--answer', answer);
    expect({ exit, error: question.error }).toEqual({ exit: 0, error: undefined });
    now = question;
  }
  return now;
}

const TO_STAGE = [
  ['project', ''],
  ['task', 'shop:web:login'],
  ['task_type', 'implementation'],
  ['base_branch', 'release/2'],
  ['approved_plan', PLAN],
  ['approve', 'yes'],
] as const;

const toStage = () => TO_STAGE.map(([step, answer]) => [step, answer || project.root] as const);

describe('okstra wizard, in JSON', () => {
  it('leads to a stage, and its arguments start the run', async () => {
    const first = await wizard('init');
    expect(first).toMatchObject({ exit: 0, stderr: '' });
    expect(first.question).toEqual({
      step: 'project',
      kind: 'pick',
      label: 'Which project?',
      options: [{ value: project.root, label: `${project.root}  (shop)` }],
      other: true,
      optional: false,
      default: [project.root],
      echo_template: 'Project: {value}',
    });
    const plans = await answers(toStage().slice(0, 4));
    // The newest first; what has errors cannot be chosen.
    expect(plans.options).toEqual([
      {
        value: BROKEN,
        label: expect.stringMatching(/002\.md {2}\(errors: 1\)$/),
        disabled: 'errors: 1',
      },
      { value: PLAN, label: expect.stringMatching(/001\.md {2}\(not approved\)$/) },
    ]);
    expect(plans.default).toEqual([PLAN]);
    const refused = await wizard('step', '--answer', BROKEN);
    expect(refused.exit).toBe(3);
    expect(refused.question).toEqual({
      ...plans,
      echo: undefined,
      error: expect.stringContaining('cannot be chosen: errors: 1'),
    });

    const stages = await answers(toStage().slice(4));
    expect(stages).toMatchObject({
      kind: 'pick',
      default: ['auto'],
      echo: 'Approve the plan: yes',
    });
    expect(stages.options.map(({ value, disabled }) => [value, disabled])).toEqual([
      ['auto', undefined],
      ['1', undefined],
      ['2', 'waits for 1'],
      ['3', undefined],
      ['4', undefined],
    ]);
    const labels = stages.options.map(({ label }) => label);
    expect(labels.slice(0, 4)).toEqual([
      'auto: the first stage that is ready',
      '1: Parse the input  [depends-on: (none) | steps: 2]',
      '2: Write the report  [depends-on: 1 | steps: 3]  (waits for 1)',
      '3: 한글 제목과 이모지 🔑 을 함께 쓰는 스테이지  [depends-on: (none) | steps: 1]',
    ]);
    // Stripped and cut.
    expect(labels[4]).toMatch(
      /^4: \s?\[31m Nasty very long .{20,60}… {2}\[depends-on: \(none\) \| steps: 1\]$/,
    );

    const last = await answers([
      ['stage_pick', '3'],
      ['executor', 'codex'],
      ['critic', 'claude'],
      ['models', 'claude=opus'],
      ['related_tasks', 'shop:web:logout'],
    ]);
    expect(last).toMatchObject({ step: 'confirmation', kind: 'confirm' });
    const early = await wizard('render-args');
    expect(early).toMatchObject({
      exit: 3,
      question: { step: 'confirmation', error: expect.any(String) },
    });
    const { question: shown } = await wizard('confirmation');
    expect(shown.summary).toContainEqual({ step: 'stage_pick', label: 'Stage', value: '3' });
    expect(shown.label).toContain('Stage: 3\nExecutor: codex\n');
    // Nothing was written but the state.
    expect(project.git('status', '--porcelain')).toBe('');

    const done = await wizard('step', '--answer', 'yes');
    expect(done.question).toMatchObject({ step: 'done', kind: 'done', options: [] });
    const { exit, stdout } = await project.okstra('wizard', 'render-args', '--state-file', STATE);
    expect(exit).toBe(0);
    const { args, argv, command } = JSON.parse(stdout);
    expect(args).toEqual({
      task_type: 'implementation',
      task_group: 'web',
      task_id: 'login',
      project_root: project.root,
      project_id: 'shop',
      approved_plan: join(project.root, PLAN),
      approve: true,
      stage: '3',
      base_branch: 'release/2',
      executor: 'codex',
      critic: 'claude',
      models: 'claude=opus',
      related_tasks: 'shop:web:logout',
    });
    expect(command).toBe(`okstra ${argv.join(' ')}`);

    // The branch is ahead of what is checked out, so that it shows where the stage starts.
    project.git('checkout', '--quiet', 'release/2');
    const start = project.commit('only on the branch');
    project.git('checkout', '--quiet', 'main');
    const ran = await project.okstra(...argv);
    expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining('selected stage: 3\n') });
    expect(project.read(PLAN)).toContain('- [x] Approved');
    const row = JSON.parse(project.read(LEDGER).split('\n')[0] ?? '');
    expect(row).toMatchObject({ stage: 3, status: 'started', base_commit: start });
    const run = '.okstra/tasks/web/login/runs/implementation/stage-3';
    const manifest = project.json(`${run}/manifests/run-manifest-implementation-001.json`);
    expect(manifest).toMatchObject({
      inputs: {
        baseBranch: 'release/2',
        executor: 'codex',
        critic: 'claude',
        models: { claude: 'opus' },
        relatedTasks: ['shop:web:logout'],
      },
    });
    expect(project.read(`${run}/prompts/launch-prompt-implementation-001.md`)).toContain(
      '- Executor: `codex`; it builds the stage\n',
    );

    // The stage is taken by now: the answer does not hold any more.
    const late = await wizard('render-args');
    expect(late).toMatchObject({
      exit: 3,
      question: {
        step: 'stage_pick',
        error: expect.stringContaining("'3' cannot be chosen: running"),
      },
    });
    // What a task starts from is fixed with its first stage, and nobody is asked again.
    await wizard('step', '--to', 'task_type');
    expect((await wizard('step', '--answer', 'implementation')).question.step).toBe('stage_pick');
    const elsewhere = project.git('commit-tree', '-m', 'elsewhere', 'HEAD^{tree}');
    project.git('branch', 'elsewhere', elsewhere);
    const other = argv.map((word: string) => (word === 'release/2' ? 'elsewhere' : word));
    const another = other.map((word: string) => (word === '3' ? '1' : word));
    const rows = project.read(LEDGER);
    expect(await project.okstra(...another)).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('which the base branch does not contain'),
    });
    expect(project.read(LEDGER)).toBe(rows);
  });

  it.each([
    [
      'a new task with a brief',
      [
        ['task', 'new'],
        ['task_group', 'web'],
        ['task_id', 'pay'],
        ['task_type', 'requirements-discovery'],
        ['brief', 'brief.md'],
        ['workers', 'gemini,claude'],
        ['critic', 'none'],
        ['models', ''],
        ['related_tasks', ''],
      ],
      { task_id: 'pay', workers: 'claude,gemini' },
      'requirements-discovery',
    ],
    [
      'a verification without a plan',
      [
        ['task', 'shop:web:logout'],
        ['task_type', 'final-verification'],
        ['approved_plan', 'none'],
        ['workers', 'claude'],
        ['critic', 'codex'],
        ['models', ''],
        ['related_tasks', '["shop:web:login"]'],
      ],
      { critic: 'codex', related_tasks: 'shop:web:login' },
      'final-verification',
    ],
  ] as const)('leads to %s', async (_what, steps, args, phase) => {
    await wizard('init', '--project-root', project.root);
    await answers([...steps, ['confirmation', 'yes']]);
    const { stdout } = await project.okstra('wizard', 'render-args', '--state-file', STATE);
    const rendered = JSON.parse(stdout);
    expect(rendered.args).toMatchObject({ task_type: phase, ...args });
    const { exit, stdout: files } = await project.okstra(...rendered.argv);
    expect(exit).toBe(0);
    expect(files).toContain(`runs/${phase}/prompts/launch-prompt-${phase}-001.md`);
  });

  it('hands over what was accepted', async () => {
    await project.okstra('plan', 'approve', PLAN);
    const { head } = await project.finish(1, 'Parse the input');
    const verify = ['stage', 'verify', '--plan', PLAN, '--stage', '1', '--verdict', 'accepted'];
    expect((await project.okstra(...verify, '--report', 'r.md')).exit).toBe(0);
    await wizard('init', '--project-root', project.root);
    const stages = await answers([
      ['task', 'shop:web:login'],
      ['task_type', 'release-handoff'],
      ['base_branch', '@'],
      ['approved_plan', PLAN],
      ['related_tasks', ''],
    ]);
    expect(stages).toMatchObject({ step: 'handoff_stages', kind: 'multi', default: ['1'] });
    expect(stages.options.map(({ value, disabled }) => [value, disabled])).toEqual([
      ['1', undefined],
      ['2', 'it is not done'],
      ['3', 'it is not done'],
      ['4', 'it is not done'],
    ]);
    expect((await wizard('step', '--answer', '')).question.error).toBe('choose at least one');
    await answers([
      ['handoff_stages', '1'],
      ['confirmation', 'yes'],
    ]);
    const { stdout } = await project.okstra('wizard', 'render-args', '--state-file', STATE);
    const { argv, args } = JSON.parse(stdout);
    expect(args).toMatchObject({ stages: '1', approved_plan: join(project.root, PLAN) });
    expect(head).toMatch(/^[\da-f]{40}$/);
    const ran = await project.okstra(...argv);
    expect(ran.exit).toBe(0);
    const prompt =
      '.okstra/tasks/web/login/runs/release-handoff/prompts/launch-prompt-release-handoff-001.md';
    expect(project.read(prompt)).toContain('- To hand over: stage 1\n');
  });

  it('goes back, and clears what depended on a changed answer', async () => {
    await wizard('init', '--language', 'ko');
    await answers([...toStage(), ['stage_pick', '1'], ['executor', 'claude']]);
    const before = state();
    // Back and forward again is the same.
    await wizard('step', '--back');
    const { question: back } = await wizard('step', '--back');
    expect(back).toMatchObject({
      step: 'stage_pick',
      default: ['1'],
      label: '어느 스테이지를 만들까요?',
    });
    await wizard('step', '--answer', '1');
    await wizard('step', '--answer', 'claude');
    expect(state()).toBe(before);
    // Another task has no plan, so its stage is gone as well.
    await wizard('step', '--to', 'task');
    const { question } = await wizard('step', '--answer', 'shop:web:logout');
    expect(question.step).toBe('task_type');
    expect(Object.keys(JSON.parse(state()).answers).sort()).toEqual(['project', 'task']);
    const { question: none } = await wizard('step', '--to', 'stage_pick');
    expect(none.error).toContain("'stage_pick'");
  });

  it('refuses what is no state, and leaves it alone', async () => {
    const missing = await wizard('step');
    expect(missing).toMatchObject({ exit: 2, stderr: expect.stringContaining('no such file') });
    await wizard('init');
    const again = await wizard('init');
    expect(again).toMatchObject({ exit: 3, stderr: expect.stringContaining('okstra wizard step') });
    for (const [text, reason] of [
      ['{"answers":{}}', 'it does not say its version'],
      ['{"version":0,"answers":{}}', 'it is of version 0, this is for version 1'],
      ['{"version":9,"answers":{}}', 'it is of version 9, this is for version 1'],
      ['{"version":1,"answers":{"colour":["red"]}}', "there is no question 'colour'"],
      ['not json', 'no JSON: '],
      ['\xff', 'not UTF-8'],
    ] as const) {
      writeFileSync(join(project.root, STATE), text, 'latin1');
      for (const verb of ['step', 'confirmation', 'render-args']) {
        const { exit, stderr, question } = await wizard(verb);
        expect({ exit, question }, text).toEqual({ exit: 2, question: {} });
        expect(stderr).toContain('wizard.json');
        expect(stderr).toContain(reason);
        expect(stderr).toContain('begin again');
      }
      expect(readFileSync(join(project.root, STATE), 'latin1')).toBe(text);
    }
  });

  it('takes one of many answers at the same moment', async () => {
    await wizard('init', '--project-root', project.root);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => wizard('step', '--step', 'task', '--answer', 'new')),
    );
    const taken = all.filter(({ exit }) => exit === 0);
    expect(taken).toHaveLength(1);
    for (const { exit, stderr, question } of all.filter((it) => it !== taken[0])) {
      // Either the state was locked, or the question was answered already.
      if (exit === 5)
        expect(stderr).toContain('wizard.json: another step of this wizard is under way');
      else
        expect({ exit, error: question.error }).toEqual({
          exit: 3,
          error: "the question is 'task_group', not 'task'",
        });
    }
    expect(JSON.parse(state()).answers).toEqual({ project: [project.root], task: ['new'] });
  });

  it('says in the terminal of nobody which verbs to use', async () => {
    const { exit, stdout, stderr } = await project.okstra('wizard');
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toMatch(
      /^okstra: no terminal.*okstra wizard init --state-file FILE.*render-args'\n$/,
    );
    const typo = await project.okstra('wizard', 'stpe');
    expect(typo.exit).toBe(2);
    expect(typo.stderr).toContain('stpe');
  });
});
