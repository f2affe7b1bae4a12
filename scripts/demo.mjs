// Plays a whole plan: a temporary repository, three stages, two sessions at the same time, and the
// evidence of finished stages carried to the one that needs it. Every command and its outcome is
// printed. On a fresh clone it sets up and builds first.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './lib.mjs';

const bin = join(root, 'npm-package/bin/okstra.js');
const fixture = (name) => readFileSync(join(root, 'fixtures/plans', name), 'utf8');

if (!existsSync(join(root, 'npm-package/dist/cli.cjs'))) {
  const { setUp } = await import('./setup.mjs');
  await setUp();
}

const project = mkdtempSync(join(tmpdir(), 'okstra-demo-'));
process.on('exit', () => rmSync(project, { recursive: true, force: true }));
const reports = '.okstra/tasks/shop/prices/runs/implementation-planning/reports';
const plan = `${reports}/final-report-implementation-planning-001.md`;
const key = 'demo:shop:prices';

/** The environment of the demo: a folder of okstra of its own, and nobody's session. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(OKSTRA_|CLAUDE_|GIT_)/.test(name)),
);
environment.OKSTRA_HOME = join(project, '.home');

/** Runs okstra as a session; answers what it printed and its exit status. */
function okstra(args, { session } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: project,
      env: session === undefined ? environment : { ...environment, OKSTRA_SESSION: session },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let all = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      all += chunk;
    });
    child.stderr.on('data', (chunk) => {
      all += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ stdout, all, status }));
  });
}

/** Shows a command with its outcome, which has to be the expected one. */
async function show(words, args, { session, status = 0, lines = Number.POSITIVE_INFINITY } = {}) {
  const result = await okstra(args, { session });
  print(words, args, session, result, lines);
  expect(result, status);
  return result;
}

function print(words, args, session, { all, status }, lines) {
  const who = session === undefined ? '' : `${session} `;
  const text = all.trimEnd().split('\n');
  const cut = text.length > lines ? [...text.slice(0, lines), '…'] : text;
  process.stdout.write(
    `\n# ${words}\n${who}$ okstra ${args.join(' ')}\n${cut.join('\n')}\n(exit status ${status})\n`,
  );
}

function expect(result, status) {
  if (result.status !== status) {
    throw new Error(`the demo expected exit status ${status}, not ${result.status}`);
  }
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: project,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new Error(`git ${args.join(' ')}: ${stderr}`);
  }
  return stdout.trim();
}

/** What a session does with its stage: it changes the files, commits and writes its result. */
function build({ stage, title, base_commit: base, steps }) {
  const files = steps.flatMap((step) => step.files);
  for (const file of files) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), `// stage ${stage}: ${title}\n`);
  }
  git('add', ...files);
  git('commit', '--quiet', '-m', `Stage ${stage}: ${title}`);
  const head = git('rev-parse', 'HEAD');
  const evidence = {
    schemaVersion: 1,
    sourcePlanPath: plan,
    stageNumber: stage,
    stageTitle: title,
    completedAt: new Date().toISOString(),
    stageCommitRange: { base, head },
    filesChanged: files,
    newIdentifiers: [`demo_stage_${stage}`],
    stepResults: steps.map((_, at) => ({ step: at + 1, status: 'done', commit: head })),
    validationsPassed: [],
    notes: [],
  };
  const result = join(project, `.home/result-${stage}.md`);
  mkdirSync(dirname(result), { recursive: true });
  const block = `\`\`\`json\n${JSON.stringify(evidence, null, 2)}\n\`\`\``;
  writeFileSync(result, `# Result\n\n### Stage Carry Evidence\n\n${block}\n`);
  return result;
}

mkdirSync(join(project, reports), { recursive: true });
writeFileSync(join(project, plan), fixture('valid_three_stage_parallel.md'));
writeFileSync(join(project, 'broken.md'), fixture('invalid_depends_on_cycle.md'));
writeFileSync(join(project, '.okstra/project.json'), '{ "projectId": "demo" }\n');
writeFileSync(join(project, '.gitignore'), '.home\n.okstra\nbroken.md\n');
git('init', '--quiet');
git('config', 'user.name', 'Demo');
git('config', 'user.email', 'demo@example.com');
git('add', '.gitignore');
git('commit', '--quiet', '-m', 'The project');

const at = ['--task-key', key];
await show('A broken plan: every fault at its place.', ['plan', 'check', 'broken.md'], {
  status: 1,
});
await show('A sound plan: what can be built when?', ['plan', 'graph', plan]);
await show(
  'Nothing is claimed of a plan that nobody has approved.',
  ['stage', 'claim', ...at, '--no-worktree'],
  { status: 1 },
);
await show('A person approves it.', ['plan', 'approve', plan]);

const claim = ['stage', 'claim', ...at, '--no-worktree', '--json'];
const sessions = ['anna', 'ben'];
const claims = await Promise.all(sessions.map((session) => okstra(claim, { session })));
for (const [index, session] of sessions.entries()) {
  print(
    'Two sessions ask at the same moment: each gets its own stage.',
    claim,
    session,
    claims[index],
    4,
  );
  expect(claims[index], 0);
}
const stages = claims.map(({ stdout }) => JSON.parse(stdout));
if (stages[0].stage === stages[1].stage) {
  throw new Error('both sessions got the same stage');
}
await show('The table everybody looks at.', ['stage', 'list', ...at]);
await show('A third session has to wait: the last stage needs both.', claim, {
  session: 'cleo',
  status: 3,
});
for (const [index, session] of sessions.entries()) {
  const result = build(stages[index]);
  await show(
    `${session} has built stage ${stages[index].stage} and hands its evidence in.`,
    ['stage', 'done', ...at, '--evidence', result],
    { session },
  );
}
const last = await show(
  'Now the last stage is ready, and brings the evidence of both with it.',
  claim,
  { session: 'cleo', lines: 4 },
);
const carried = JSON.parse(last.stdout).carry_in;
for (const { stage, evidence } of carried) {
  process.stdout.write(`carried from stage ${stage}: ${evidence.newIdentifiers.join(', ')}\n`);
}
const result = build(JSON.parse(last.stdout));
const finish = ['stage', 'done', ...at, '--stage', '3', '--evidence', result];
await show("Somebody else's claim cannot be finished.", finish, { session: 'anna', status: 3 });
await show('cleo finishes it.', finish, { session: 'cleo' });
await show('The text of its pull request.', ['stage', 'pr', ...at, '--stage', '3']);
await show('Everything is done.', ['stage', 'list', ...at]);
await show('And the record says how it went.', ['ledger', 'check', ...at]);
