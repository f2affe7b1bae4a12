/** Every kind of change of plan, ledger and evidence reaches those who follow within half a second. */
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import type { PreviewFacts } from '../../npm-package/src/index.js';
import { carry, evidence, FOUR, LEDGER, PLAN, started, TASK } from '../cli/stages.js';
import { Follower, newFolder, Project, serve, stop } from './support.js';

/** A machine that is busy with other tests may miss a time once. */
const TIMED = { retry: 2 };

/** The goal, in milliseconds. */
const SOON = 500;

const rowsOf = (facts: PreviewFacts) => facts.ledger?.text.split('\n').length ?? 0;

interface Case {
  name: string;
  /** What is there before. */
  files?: Record<string, string>;
  change: (project: Project) => void;
  shows: (facts: PreviewFacts) => boolean;
}

const changed = FOUR.replace('Parse the input', 'Parse all input');
const showsChanged = ({ plan }: PreviewFacts) => plan?.text === changed;

const CASES: Case[] = [
  {
    name: 'the plan, edited in place',
    change: (project) => project.write(PLAN, changed),
    shows: showsChanged,
  },
  {
    name: 'the plan, replaced by a new file',
    change(project) {
      project.write(`${PLAN}.new`, changed);
      renameSync(project.at(`${PLAN}.new`), project.at(PLAN));
    },
    shows: showsChanged,
  },
  {
    name: 'the plan, moved away and written anew',
    change(project) {
      renameSync(project.at(PLAN), project.at(`${PLAN}~`));
      project.write(PLAN, changed);
    },
    shows: showsChanged,
  },
  {
    name: 'the plan, deleted',
    change: (project) => unlinkSync(project.at(PLAN)),
    shows: ({ plan, fault }) => plan === null && fault === `${PLAN}: no such file`,
  },
  {
    name: 'the first row, in a new ledger',
    change: (project) => project.write(LEDGER, started(1)),
    shows: (facts) => rowsOf(facts) === 2,
  },
  {
    name: 'a row more',
    files: { [LEDGER]: started(1) },
    change: (project) => project.append(started(2)),
    shows: (facts) => rowsOf(facts) === 3,
  },
  {
    name: 'the ledger, deleted',
    files: { [LEDGER]: started(1) },
    change: (project) => unlinkSync(project.at(LEDGER)),
    shows: ({ ledger, fault }) => ledger === null && fault === null,
  },
  {
    name: 'the first evidence, in a new folder',
    change: (project) => project.write(carry(1), evidence(1, 'Parse the input')),
    shows: (facts) => facts.evidence[0]?.path === carry(1),
  },
  {
    name: 'evidence more',
    files: { [carry(1)]: evidence(1, 'Parse the input') },
    change: (project) => project.write(carry(2), evidence(2, 'Write the report')),
    shows: (facts) => facts.evidence.length === 2,
  },
  {
    name: 'evidence linked into its place, as it is kept',
    files: { [carry(1)]: evidence(1, 'Parse the input') },
    change(project) {
      const temporary = project.at(`${carry(1)}.tmp`);
      writeFileSync(temporary, evidence(3, 'Serve the page'));
      renameSync(temporary, project.at(carry(3)));
    },
    shows: (facts) => facts.evidence.at(-1)?.path === carry(3),
  },
  {
    name: 'evidence, changed in place',
    files: { [carry(1)]: evidence(1, 'Parse the input') },
    change: (project) => project.write(carry(1), evidence(1, 'Something else')),
    shows: (facts) => facts.evidence[0]?.text.includes('Something else') === true,
  },
  {
    name: 'the evidence, deleted with its folder',
    files: { [carry(1)]: evidence(1, 'Parse the input') },
    change: (project) => rmSync(dirname(project.at(carry(1))), { recursive: true }),
    shows: (facts) => facts.evidence.length === 0,
  },
  {
    name: 'evidence of a stage with a large number',
    files: { [carry(1)]: evidence(1, 'Parse the input') },
    change: (project) => project.write(carry(4711), evidence(4711, 'Far away')),
    shows: (facts) => facts.evidence.length === 2,
  },
];

it.each(CASES)('$name', TIMED, async ({ files, change, shows }) => {
  const project = new Project(files);
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  expect(follower.last).toMatchObject({ fault: null, plan: { path: PLAN, text: FOUR } });
  const took = await follower.after(() => change(project), shows);
  expect(took).toBeLessThan(SOON);
  await stop(server);
});

it('a plan that vanishes and comes back is shown again', TIMED, async () => {
  const project = new Project();
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  unlinkSync(project.at(PLAN));
  await follower.after(
    () => {},
    ({ plan }) => plan === null,
  );
  const took = await follower.after(() => project.write(PLAN, changed), showsChanged);
  expect(took).toBeLessThan(SOON);
  expect(follower.last?.fault).toBeNull();
  await stop(server);
});

it("a task's folder that is moved away, and back", TIMED, async () => {
  const project = new Project({ [LEDGER]: started(1), [carry(1)]: evidence(1, 'Parse the input') });
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  const before = { ...follower.last, now: '' };
  const away = () => renameSync(project.at(TASK), project.at('away'));
  const back = () => renameSync(project.at('away'), project.at(TASK));
  const showsNothing = ({ plan, ledger }: PreviewFacts) => plan === null && ledger === null;
  for (const _ of [1, 2]) {
    expect(await follower.after(away, showsNothing)).toBeLessThan(SOON);
    expect(await follower.after(back, (facts) => facts.plan !== null)).toBeLessThan(SOON);
    expect({ ...follower.last, now: '' }).toEqual(before);
  }
  // And it goes on being followed.
  const change = () => project.append(started(2));
  expect(await follower.after(change, (facts) => rowsOf(facts) === 3)).toBeLessThan(SOON);
  await stop(server);
});

it('a plan that is saved in two steps is never shown empty', TIMED, async () => {
  const project = new Project();
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  project.write(PLAN, '');
  await new Promise((resolve) => setTimeout(resolve, 80));
  const took = await follower.after(() => project.write(PLAN, changed), showsChanged);
  expect(took).toBeLessThan(SOON);
  expect(follower.frames.map(({ plan }) => plan?.text)).toEqual([FOUR, changed]);
  await stop(server);
});

it('changes without a pause are shown all the same', async () => {
  const project = new Project({ [LEDGER]: started(1) });
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  let rows = 1;
  const timer = setInterval(() => {
    project.append(started(2));
    rows += 1;
  }, 10);
  const before = follower.frames.length;
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(follower.frames.length - before).toBeGreaterThan(2);
  clearInterval(timer);
  await follower.after(
    () => {},
    (facts) => rowsOf(facts) === rows + 1,
  );
  await stop(server);
});

it('nothing is sent where nothing has changed', async () => {
  const project = new Project({ [LEDGER]: started(1) });
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  project.write(`${TASK}/notes.md`, 'of no interest');
  project.write(PLAN, FOUR);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(follower.frames).toHaveLength(1);
  await stop(server);
});

it('a plan outside of tasks, whose folder of records is made later', TIMED, async () => {
  const project = new Project({ 'docs/plan.md': FOUR });
  const server = await serve(project, ['docs/plan.md']);
  const follower = await new Follower(server.url).begun();
  const ledger = 'docs/plan.md.okstra/consumers.jsonl';
  const took = await follower.after(
    () => project.write(ledger, started(1)),
    (facts) => facts.ledger?.path === ledger,
  );
  expect(took).toBeLessThan(SOON);
  const sidecar = 'docs/plan.md.okstra/carry/stage-1.json';
  const tookMore = await follower.after(
    () => project.write(sidecar, evidence(1, 'Parse the input')),
    (facts) => facts.evidence[0]?.path === sidecar,
  );
  expect(tookMore).toBeLessThan(SOON);
  await stop(server);
});

it.each([
  [
    'a ledger that is a link out of the project',
    LEDGER,
    { ledger: null, fault: `${LEDGER}: a link that leaves the project; remove the link` },
  ],
  [
    'evidence that is a link out of the project',
    carry(1),
    { evidence: [], fault: `${carry(1)}: a link to another file; it is not read` },
  ],
  [
    'a plan that becomes a link out of the project',
    PLAN,
    { plan: null, fault: `${PLAN}: a link that leaves the project; remove the link` },
  ],
])('%s is refused, and named', async (_name, path, expected) => {
  const secret = `${newFolder()}/secret`;
  writeFileSync(secret, 'a secret\n');
  const project = new Project();
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  rmSync(project.at(path), { force: true });
  mkdirSync(dirname(project.at(path)), { recursive: true });
  symlinkSync(secret, project.at(path));
  await follower.after(
    () => {},
    ({ fault }) => fault !== null && !fault.endsWith('no such file'),
  );
  expect(follower.last).toMatchObject(expected);
  expect(JSON.stringify(follower.frames)).not.toContain('secret');
  await stop(server);
});
