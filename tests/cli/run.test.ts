import { describe, expect, it } from 'vitest';
import { planText, withApproval } from './plans.js';
import {
  APPROVED,
  carry,
  commit,
  evidence,
  FIRST_DONE,
  KEY,
  LEDGER,
  PLAN,
  project,
  started,
  TASK,
} from './stages.js';
import type { Outcome, World } from './world.js';

const NAMES = ['--task-group', 'web', '--task-id', 'login', '--project-id', 'shop'];
const run = [
  ...['run', '--task-type', 'implementation', ...NAMES, '--approved-plan', PLAN],
  '--no-worktree',
];

const CATALOG = '.okstra/discovery/task-catalog.json';
const LATEST = '.okstra/discovery/latest-task.json';
const MANIFEST = `${TASK}/task-manifest.json`;

/** The files of a stage's run. */
const bundle = (stage: number, sequence = '001') =>
  [
    `manifests/run-manifest-implementation-${sequence}.json`,
    `prompts/launch-prompt-implementation-${sequence}.md`,
    `state/stage-map-${sequence}.json`,
  ].map((path) => `${TASK}/runs/implementation/stage-${stage}/${path}`);

const [RUN_MANIFEST = '', PROMPT = '', STAGE_MAP = ''] = bundle(1);

/** A refused run leaves nothing behind. */
function refusal(exit: number, stderr: string): Outcome {
  return { exit, stdout: '', stderr, files: {} };
}

/** A text of a file, as data. */
// biome-ignore lint/suspicious/noExplicitAny: the tests say what is in it
const data = (text: string | undefined): any => JSON.parse(text ?? '');

describe('a run of an implementation', () => {
  it('writes what the session begins with', async () => {
    const world = project();
    const { exit, stdout, stderr, files } = await world.run(...run);
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: `selected stage: 1\n${bundle(1)
        .map((path) => `/desk/${path}\n`)
        .join('')}`,
      stderr: '',
    });
    expect(Object.keys(files).sort()).toEqual(
      [...bundle(1), LEDGER, MANIFEST, CATALOG, LATEST].sort(),
    );
    expect(files).toMatchSnapshot();
    // The claim stands only where the files of the run do, all under the lock of the ledger.
    const order = world.guarded.map(([path]) => path.slice('/desk/'.length));
    expect(order.slice(0, 4)).toEqual([...bundle(1), LEDGER]);
    const ledgers = world.guarded.find(([path]) => path.endsWith(LEDGER))?.[1] ?? [];
    expect(ledgers).toHaveLength(2);
    expect(world.locked.size).toBe(0);
  });

  it('prints JSON', async () => {
    const { exit, stdout } = await project(FIRST_DONE).run(...run, '--json', '--stage', '2');
    expect(exit).toBe(0);
    const answer = data(stdout);
    expect(Object.keys(answer)).toEqual(['stage', 'claim', 'sequence', 'bundle', 'warnings']);
    expect(answer).toMatchObject({
      stage: 2,
      sequence: 1,
      claim: { claim_id: '000000000001', base_commit: commit('a'), carry_in: [{ stage: 1 }] },
      bundle: { run_folder: `/desk/${TASK}/runs/implementation/stage-2` },
    });
  });

  it('hands the evidence of what it builds on to the session', async () => {
    const { files } = await project(FIRST_DONE).run(...run, '--stage', '2');
    const [, prompt = ''] = bundle(2);
    for (const text of ['Part1', commit(1), carry(1)]) expect(files[prompt]).toContain(text);
  });

  it('numbers the runs of a stage, and holds the claim of its session', async () => {
    const world = project();
    await world.run(...run, '--session', 'ada');
    const again = await world.run(...run, '--session', 'ada');
    expect(again.exit).toBe(0);
    for (const path of [...bundle(1), ...bundle(1, '002')])
      expect(again.files).toHaveProperty(path);
    expect(again.files[LEDGER]?.split('\n')).toHaveLength(2);
    expect(data(again.files[bundle(1, '002')[0] ?? '']).sequence).toBe(2);
  });

  it('gives the stage after another where that one is taken', async () => {
    const { stdout } = await project({ [LEDGER]: started(1) }).run(...run);
    expect(stdout).toMatch(/^selected stage: 4\n/);
  });

  it('chooses as it is asked to', async () => {
    const text = planText([{}, { steps: 2 }, { after: '2', steps: 3 }], APPROVED);
    const world = project({ [PLAN]: text });
    const { stdout } = await world.run(...run, '--order', 'critical-path');
    expect(stdout).toMatch(/^selected stage: 2\n/);
  });

  it('--reclaim takes the stage of a dead session', async () => {
    const dead = started(1, { session: 'gone', host: 'box', pid: 7, pid_start: 'start-7' });
    const world = project({ [LEDGER]: dead });
    world.processes.set(7, 'gone');
    const refused = await world.run(...run, '--stage', '1');
    expect({ exit: refused.exit, files: refused.files }).toEqual({ exit: 3, files: {} });
    expect(refused.stderr).toContain(' is dead: ');
    const { exit, files } = await world.run(...run, '--stage', '1', '--reclaim');
    expect(exit).toBe(0);
    const statuses = (files[LEDGER] ?? '').split('\n').slice(0, -1);
    expect(statuses.map((line) => data(line).status)).toEqual(['started', 'released', 'started']);
  });

  it('records under the key it is given', async () => {
    const { files } = await project().run(...run, '--impl-key', 'mine');
    expect(data(files[LEDGER]).impl_task_key).toBe('mine');
    expect(data(files[MANIFEST]).taskKey).toBe(KEY);
  });

  it('names the project by its folder', async () => {
    const world = project();
    world.folder = '/somewhere';
    const { exit, files } = await world.run(
      ...['run', '--task-type', 'implementation', ...NAMES, '--no-worktree'],
      ...['--project-root', '/desk'],
      ...['--approved-plan', `/desk/${PLAN}`],
    );
    expect(exit).toBe(0);
    expect(data(files[MANIFEST])).toMatchObject({
      taskKey: KEY,
      approvedPlanPath: PLAN,
      latestRunPath: `${TASK}/runs/implementation/stage-1`,
    });
  });
});

describe('a preview', () => {
  it.each(['--render-only', '--dry-run'])('%s writes nothing', async (flag) => {
    const world = project();
    const { exit, stdout, stderr, files } = await world.run(...run, flag);
    expect({ exit, files }).toEqual({ exit: 0, files: {} });
    expect(stdout).toMatch(/^selected stage: 1\n# Stage 1: `Parse the input`\n/);
    expect(stderr).toBe('okstra: a preview: nothing was claimed and nothing written\n');
    expect(world.guarded).toEqual([]);
    // It asks for no lock either.
    expect((await world.run(...run, '--stage', '1', flag)).exit).toBe(0);
  });

  it('shows the page that the run would write, as far as it is known', async () => {
    const words = run.filter((word) => word !== '--no-worktree');
    const { stdout } = await project().run(...words, '--render-only');
    expect(stdout).toContain('at the same time, each in a worktree of its own.');
    expect(stdout).toMatch(/Worktree\W+not made yet\n.*Branch\W+not made yet\n/);
    const here = await project().run(...words, '--no-worktree', '--render-only');
    expect(here.stdout).toContain('there is one folder for all of you');
    expect(here.stdout).toMatch(/Worktree\W+\/desk\W*\n/);
  });

  it('as JSON names no claim', async () => {
    const { stdout, files } = await project().run(...run, '--render-only', '--json');
    expect(files).toEqual({});
    const answer = data(stdout);
    expect(answer).toMatchObject({ stage: 1, dry_run: true, claim: { claim_id: null } });
    expect(answer.bundle.files.map(({ path }: { path: string }) => path)).toEqual(
      bundle(1).map((path) => `/desk/${path}`),
    );
  });

  it('with --approve shows what an approval would lead to', async () => {
    const world = project({ [PLAN]: withApproval(' ') });
    const { exit, stdout, files } = await world.run(...run, '--approve', '--render-only');
    expect({ exit, files }).toEqual({ exit: 0, files: {} });
    expect(stdout).toMatch(/^selected stage: 1\n/);
  });

  it('is refused as the run would be', async () => {
    expect(await project().run(...run, '--stage', '2', '--render-only')).toEqual(
      refusal(3, `${PLAN}: --stage 2 waits for stage 1\n`),
    );
  });

  it('does not let a plan steer the terminal', async () => {
    const hostile = 'Part \u001b]0;x\u0007\u009b31m\u202e\u2066\u200f';
    const world = project({ [PLAN]: planText([{ title: hostile }], APPROVED) });
    for (const args of [[], ['--json']]) {
      const { exit, stdout, stderr } = await world.run(...run, '--render-only', ...args);
      expect(exit).toBe(0);
      expect(stdout + stderr).not.toMatch(
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/,
      );
    }
  });
});

describe('approval', () => {
  it('is needed', async () => {
    const { exit, stderr, files } = await project({ [PLAN]: withApproval(' ') }).run(...run);
    expect({ exit, files }).toEqual({ exit: 1, files: {} });
    expect(stderr).toContain('approved plan failed stage validation:\nA1 stage=0: ');
  });

  it('--approve ticks the plan first', async () => {
    const world = project({ [PLAN]: withApproval(' ', 'resolved') });
    const { exit, files } = await world.run(...run, '--approve');
    expect(exit).toBe(0);
    expect(files[PLAN]).toBe(withApproval('x', 'resolved'));
    expect(data(files[RUN_MANIFEST]).stage.stageNumber).toBe(1);
  });

  it('--approve is held back by what is open', async () => {
    const world = project({ [PLAN]: withApproval(' ', 'open') });
    const { exit, stdout, stderr, files } = await world.run(...run, '--approve');
    expect({ exit, stdout, files }).toEqual({ exit: 3, stdout: '', files: {} });
    const lines = stderr.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${PLAN}:\\d+: A2 .*C-1`));
    expect(lines[1]).toBe(`${PLAN}: not approved; answer what is open, then approve again`);
  });

  it('--approve does not replace a plan that changes meanwhile', async () => {
    const world = project({ [PLAN]: withApproval(' ') });
    const theirs = `${withApproval(' ')}\nMore.\n`;
    world.meanwhile = () => world.put(PLAN, theirs);
    const { exit, stderr, files } = await world.run(...run, '--approve');
    expect(exit).toBe(3);
    expect(stderr).toContain('changed while okstra worked on it');
    expect(files).toEqual({ [PLAN]: theirs });
  });
});

describe('other phases', () => {
  const phase = (type: string, ...args: string[]) => [
    'run',
    '--task-type',
    type,
    ...NAMES,
    ...args,
  ];

  it('have no stages', async () => {
    const { exit, stdout, stderr, files } = await project().run(...phase('final-verification'));
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const folder = `${TASK}/runs/final-verification`;
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      `/desk/${folder}/manifests/run-manifest-final-verification-001.json`,
      `/desk/${folder}/prompts/launch-prompt-final-verification-001.md`,
    ]);
    expect(Object.keys(files)).not.toContain(LEDGER);
    expect(data(files[MANIFEST]).workflow.currentPhase).toBe('final-verification');
    const again = await project(files).run(...phase('final-verification'));
    expect(again.stdout).toContain('run-manifest-final-verification-002.json\n');
  });

  it('refuse a stage', async () => {
    for (const args of [[], ['--approved-plan', PLAN]]) {
      const { stderr, ...rest } = await project().run(
        ...phase('error-analysis', '--stage', '1', ...args),
      );
      expect({ ...rest, stderr: '' }).toEqual(refusal(3, ''));
      expect(stderr).toContain(
        '--stage is only meaningful with --task-type implementation; got error-analysis\n',
      );
    }
  });

  it('are known by name', async () => {
    const { stderr, ...rest } = await project().run(...phase('implementatoin'));
    expect({ ...rest, stderr: '' }).toEqual(refusal(2, ''));
    expect(stderr).toContain(
      "there is no task type 'implementatoin'; it is one of requirements-discovery, improvement-discovery, error-analysis, implementation-planning, implementation, final-verification, release-handoff",
    );
  });
});

describe('what is missing or wrong', () => {
  it.each(['task-type', 'task-group', 'task-id', 'project-id'])('--%s', async (name) => {
    const at = run.indexOf(`--${name}`);
    const without = [...run.slice(0, at), ...run.slice(at + 2)];
    const said = refusal(2, `okstra: --${name} is missing; see 'okstra run --help'\n`);
    expect(await project().run(...without)).toEqual(said);
    expect(await project().run(...without, `--${name}`, '')).toEqual(said);
  });

  it('an implementation without its plan', async () => {
    const { stderr, ...rest } = await project().run(...run.slice(0, -3));
    expect({ ...rest, stderr: '' }).toEqual(refusal(2, ''));
    expect(stderr).toContain('--approved-plan');
  });

  it.each(['task-group', 'project-id'])(
    'a colon in --%s, which would shift the key',
    async (name) => {
      const at = run.indexOf(`--${name}`);
      expect(
        await project().run(...run.map((word, index) => (index === at + 1 ? 'a:b' : word))),
      ).toEqual(refusal(2, `okstra: --${name} must be without ':', got 'a:b'\n`));
    },
  );

  it('a folder of the project that is not there', async () => {
    for (const args of [run, ['run', '--task-type', 'error-analysis', ...NAMES]]) {
      expect(await project().run(...args, '--project-root', 'gone')).toEqual(
        refusal(2, "okstra: there is nothing in the project's folder gone; check --project-root\n"),
      );
    }
  });

  it('a plan that is not there', async () => {
    expect(await project().run(...run.slice(0, -2), 'gone.md')).toEqual(
      refusal(2, 'gone.md: no such file; check the path\n'),
    );
  });

  it('ids that try to leave the folder stay in it', async () => {
    const ids = ['--task-group', '../..', '--task-id', '..', '--project-id', 'shop'];
    const world = project();
    const { exit, files } = await world.run('run', '--task-type', 'error-analysis', ...ids);
    expect(exit).toBe(0);
    expect(Object.keys(files).length).toBeGreaterThan(3);
    for (const path of Object.keys(files)) expect(path).toMatch(/^\.okstra\/(tasks|discovery)\//);
    expect(data(files[CATALOG]).tasks[0].taskRoot).not.toContain('..');
  });

  it('a manifest of another task', async () => {
    const theirs = '{"taskKey": "shop:web:log-in"}';
    const { stderr, ...rest } = await project({ [MANIFEST]: theirs }).run(...run);
    expect({ ...rest, stderr: '' }).toEqual(refusal(rest.exit, ''));
    expect(rest.exit).toBeGreaterThan(0);
    expect(stderr).toContain("belongs to the task 'shop:web:log-in', not to 'shop:web:login'");
  });

  it.each([
    [MANIFEST, '{\n  "a": 1,\n  "b": ]\n}\n', ':3:8: '],
    [MANIFEST, '', ':1:1: '],
    [MANIFEST, '[]', ':1:1: '],
    [CATALOG, '{"tasks": [}', ':1:12: '],
    [CATALOG, '{"tasks": {}}', ':1:11: '],
    [LATEST, 'null', ':1:1: '],
  ])('%s with %j is never overwritten', async (path, text, place) => {
    for (const flags of [[], ['--render-only']]) {
      const { stderr, ...rest } = await project({ [path]: text }).run(...run, ...flags);
      expect({ ...rest, stderr: '' }).toEqual(refusal(2, ''));
      expect(stderr).toContain(`/desk/${path}${place}not usable as JSON: `);
    }
  });
});

describe('the records of the task', () => {
  /** A catalog as no serialiser writes it, with another task on both sides. */
  const ODD = `{ "schemaVersion" : 1,
\t"mine": [1,2,   3],  "unicode": "\\u00e9 é",
"tasks":[ {"taskKey":"shop:web:other",   "currentPhase" :"implementation"},
   { "extra": {"kept": true}, "taskKey": "${KEY}" ,"currentPhase":"x", "latestReportPath": "r.md" },{"taskKey":"shop:z:z"}
 ]   , "end": 1e3 }`;

  it('keep everything else byte for byte', async () => {
    const { exit, files } = await project({ [CATALOG]: ODD }).run(...run);
    expect(exit).toBe(0);
    const text = files[CATALOG] ?? '';
    const [before = '', after = ''] = ODD.split(/"currentPhase":"x".*?(?=,\{"taskKey":"shop:z:z")/);
    expect(text.startsWith(before)).toBe(true);
    expect(text.endsWith(after)).toBe(true);
    const { tasks } = data(text);
    expect(tasks).toHaveLength(3);
    expect(tasks[1]).toMatchObject({
      taskKey: KEY,
      extra: { kept: true },
      currentPhase: 'implementation',
      latestReportPath: 'r.md',
    });
  });

  it('keep a byte order mark and carriage returns', async () => {
    const world = project({
      [CATALOG]: `\ufeff${ODD.replaceAll('\n', '\r\n')}`,
      [MANIFEST]: `\ufeff{\r\n  "taskKey": "${KEY}",\r\n  "mine": 1\r\n}\r\n`,
    });
    const { exit, stderr, files } = await world.run(...run);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(files[CATALOG]?.startsWith('\ufeff{ "schemaVersion" : 1,\r\n')).toBe(true);
    expect(files[MANIFEST]?.startsWith(`\ufeff{\r\n  "taskKey": "${KEY}",\r\n`)).toBe(true);
    expect(data(files[MANIFEST]?.slice(1)).mine).toBe(1);
  });

  it('are not rewritten where they are not UTF-8', async () => {
    const bytes = Buffer.from(`{"tasks": [], "name": "caf\xe9"}`, 'latin1');
    const { stderr, ...rest } = await project({ [CATALOG]: bytes }).run(...run);
    expect({ ...rest, stderr: '' }).toEqual(refusal(2, ''));
    expect(stderr).toBe(`/desk/${CATALOG}: not UTF-8; save it as UTF-8\n`);
  });

  /** Changes the catalog so many times while a run is about to write it. */
  function busy(world: World, times: number): void {
    let left = times;
    world.meanwhile = () => {
      if (left === 0) return;
      left -= 1;
      world.put(CATALOG, ODD.replace('"end": 1e3', `"end": ${left}`));
    };
  }

  it('are read again where another program changes them meanwhile', async () => {
    const world = project({ [CATALOG]: ODD });
    busy(world, 1);
    const { exit, stdout, stderr, files } = await world.run(...run);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^selected stage: 1\n/);
    expect(data(files[CATALOG])).toMatchObject({ end: 0, tasks: [{}, { taskKey: KEY }, {}] });
    expect(data(files[CATALOG]).tasks[1].currentPhase).toBe('implementation');
    // One claim, which the files of the run name.
    expect(files[LEDGER]?.split('\n')).toHaveLength(2);
    const claim = data(files[LEDGER]).claim_id;
    const named = /^.*run-manifest.*$/m.exec(stdout)?.[0]?.slice('/desk/'.length) ?? '';
    expect(data(files[named]).stage.claimId).toBe(claim);
  });

  it('are given up where that does not end, and say so', async () => {
    const world = project({ [CATALOG]: ODD });
    busy(world, 100);
    const { exit, stderr } = await world.run(...run);
    expect(exit).toBe(3);
    const id = '000000000001';
    expect(stderr).toBe(
      `${PLAN}: the stage stays claimed; run it again with OKSTRA_CLAIM_ID=${id}, or give it back with 'okstra stage release --claim-id ${id}'\n/desk/${CATALOG}: changed while okstra worked on it; run it again\n`,
    );
    // The claim is not lost: with its id the same stage is prepared.
    world.meanwhile = () => {};
    world.env = { OKSTRA_CLAIM_ID: id };
    const again = await world.run(...run);
    expect(again.stdout).toMatch(/^selected stage: 1\n/);
    expect(again.files[LEDGER]?.split('\n')).toHaveLength(2);
  });
});

it('evidence of a plan with another title is pointed out', async () => {
  const files = { ...FIRST_DONE, [FIRST]: evidence(1, 'Another title') };
  const { exit, stderr } = await project(files).run(...run);
  expect(exit).toBe(0);
  expect(stderr).toContain('okstra: warning: ');
  expect(stderr).toContain("'Another title'");
});

const FIRST = Object.keys(FIRST_DONE)[1] ?? '';

it('the prompt and the map are those of the stage', async () => {
  const { files } = await project().run(...run, '--stage', '4');
  const [, prompt = '', map = ''] = bundle(4);
  expect(files[prompt]).toContain('# Stage 4: `Count the words`');
  expect(files[PROMPT] ?? files[STAGE_MAP]).toBeUndefined();
  expect(data(files[map])).toHaveLength(4);
});

describe('what was agreed about a run', () => {
  const phase = (type: string, ...more: string[]) => [
    ...['run', '--task-type', type, ...NAMES],
    ...more,
  ];

  it('stands in the manifest and in the launch prompt', async () => {
    const world = project({ 'wishes/brief.md': '# Wishes\n' });
    const { exit, files } = await world.run(
      ...phase('error-analysis', '--brief', 'wishes/brief.md', '--workers', 'gemini, claude'),
      ...['--critic', 'codex', '--models', 'codex=gpt-5,claude=opus'],
      ...['--related-tasks', '["shop:web:a,b","shop:web:c"]'],
    );
    expect(exit).toBe(0);
    const run = `${TASK}/runs/error-analysis`;
    expect(data(files[`${run}/manifests/run-manifest-error-analysis-001.json`]).inputs).toEqual({
      briefPath: 'wishes/brief.md',
      critic: 'codex',
      workers: ['gemini', 'claude'],
      models: { claude: 'opus', codex: 'gpt-5' },
      relatedTasks: ['shop:web:a,b', 'shop:web:c'],
    });
    const prompt = files[`${run}/prompts/launch-prompt-error-analysis-001.md`] ?? '';
    expect(
      prompt.slice(prompt.indexOf('## What was agreed'), prompt.indexOf('## How to end')),
    ).toBe(`## What was agreed

- Brief: \`wishes/brief.md\`; read it before anything else
- Workers: \`gemini\`, \`claude\` with the model \`opus\`; each of them works on the whole question
- Critic: \`codex\` with the model \`gpt-5\`; it reviews the result before it is recorded, and its findings are answered
- Related tasks: \`shop:web:a,b\`, \`shop:web:c\`; \`okstra task show --task-key KEY\`

`);
  });

  it.each([
    [
      phase('error-analysis', '--executor', 'claude'),
      'shop:web:login: --executor is only meaningful with --task-type implementation; got error-analysis\n',
    ],
    [
      [...run, '--stages', '1'],
      `${PLAN}: --stages is only meaningful with --task-type release-handoff; got implementation\n`,
    ],
    [
      [...run, '--critic', 'emacs'],
      "there is no program 'emacs'; it is one of claude, codex, gemini",
    ],
    [phase('error-analysis', '--models', 'opus'), 'a model is program=model with one of'],
    [
      phase('release-handoff', '--stages', '1,x'),
      "--stages takes numbers with commas between, got '1,x'",
    ],
    [phase('error-analysis', '--brief', 'no.md'), 'there is no file no.md; check --brief'],
    [phase('error-analysis', '--related-tasks', '[1]'), '--related-tasks takes values with commas'],
    [[...run, '--base-branch', 'main'], '--base-branch is for a worktree'],
  ])('%j is refused', async (words, reason) => {
    const { exit, stdout, stderr, files } = await project().run(...words);
    expect({ exit, stdout, files }).toEqual({ exit: 2, stdout: '', files: {} });
    expect(stderr).toContain(reason);
  });
});
