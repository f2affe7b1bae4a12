// Speed and size, as ratios within one run: node scripts/bench.mjs [--quick] [section …]
//
// Whole processes are timed in turn (A B A B …) and compared by their medians, so that a machine
// whose speed drifts still gives true ratios. NODE_EXTRA_CA_CERTS is taken out of the environment:
// Node 20 reads those certificates at every start, which would hide what we measure.
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { previews } from './bench-previews.mjs';
import { generatePlan } from './generate-plan.mjs';
import { root } from './lib.mjs';

const quick = process.argv.includes('--quick');
const cli = join(root, 'npm-package/bin/okstra.js');
const environment = { ...process.env, NO_COLOR: '1' };
delete environment.NODE_EXTRA_CA_CERTS;
delete environment.NODE_OPTIONS;

const folder = mkdtempSync(join(tmpdir(), 'okstra-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Milliseconds of one whole process; `input` is a file for its standard input. */
function time(args, input) {
  const stdin = input === undefined ? 'ignore' : openSync(input);
  const start = process.hrtime.bigint();
  const { status, error } = spawnSync(process.execPath, args, {
    env: environment,
    stdio: [stdin, 'ignore', 'ignore'],
  });
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
  if (stdin !== 'ignore') {
    closeSync(stdin);
  }
  if (error !== undefined || status === null || status > 1) {
    throw error ?? new Error(`${args.join(' ')} ended with ${status}`);
  }
  return milliseconds;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Medians of several commands, run in turn. */
function inTurn(commands, rounds) {
  const times = commands.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [at, args] of commands.entries()) {
      const each = time(args);
      if (round >= 0) {
        times[at].push(each);
      }
    }
  }
  return times.map(median);
}

/** Median milliseconds of work inside this process, and of its first call. */
function inside(work, rounds) {
  const times = [];
  for (let round = 0; round <= rounds; round++) {
    const start = process.hrtime.bigint();
    work();
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return { first: times[0], warm: median(times.slice(1)) };
}

/** Peak memory of a whole process in MiB. */
function peak(args) {
  const probe = join(folder, 'probe.cjs');
  writeFileSync(
    probe,
    "process.on('exit', () => require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS)));",
  );
  const { output } = spawnSync(process.execPath, ['--require', probe, ...args], {
    env: environment,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  return Number(output[3].toString()) / 1024;
}

function row(name, ...cells) {
  console.log(`  ${name.padEnd(46)}${cells.map((cell) => String(cell).padStart(16)).join('')}`);
}

const ms = (value) => `${value.toFixed(1)} ms`;
/** Says whether a goal was reached in this run. */
const goal = (reached) => (reached ? 'reached' : 'missed');
const ratio = (value) => `${value.toFixed(2)} ×`;

function plan(stages) {
  const path = join(folder, `plan-${stages}.md`);
  writeFileSync(path, generatePlan(stages));
  return path;
}

function startUp() {
  console.log('Start-up, whole process (goal: at most 1.5 × an empty Node process)');
  const small = join(root, 'fixtures/plans/valid_three_stage_parallel.md');
  const commands = [
    ['-e', '0'],
    [cli, '--version'],
    [cli, 'plan', 'check', small],
    [cli, 'plan', 'check', '--format', 'json', small],
    [cli, 'plan', 'graph', small],
  ];
  const names = ['node -e 0', '--version', 'plan check', 'plan check --format json', 'plan graph'];
  const medians = inTurn(commands, quick ? 11 : 41);
  for (const [at, name] of names.entries()) {
    const part = medians[at] / medians[0];
    row(name, ms(medians[at]), ratio(part), name === 'plan check' ? goal(part <= 1.5) : '');
  }
}

function growth() {
  console.log(
    '\nplan check by size, whole process (goals: 10,000 stages under 1 s, ten times at most 12 ×)',
  );
  row('stages', 'size', 'time', 'per ten times', 'peak memory');
  let before;
  for (const stages of [100, 1_000, 10_000, 100_000]) {
    const path = plan(stages);
    const size = readFileSync(path).length;
    const [took] = inTurn([[cli, 'plan', 'check', path]], stages > 10_000 ? 2 : 5);
    row(
      stages.toLocaleString('en'),
      `${(size / 1e6).toFixed(2)} MB`,
      ms(took),
      before === undefined ? '' : `${ratio(took / before)} ${goal(took / before <= 12)}`,
      `${peak([cli, 'plan', 'check', path]).toFixed(0)} MiB`,
      stages === 10_000 ? goal(took < 1000) : '',
    );
    before = took;
  }
}

/** The core without wasm, at full speed and with the settings of the module. */
function native(path, rounds, profile) {
  const { stdout, status } = spawnSync(
    'cargo',
    [
      'bench',
      '--quiet',
      '-p',
      'okstra-core',
      '--bench',
      'native',
      '--profile',
      profile,
      '--',
      path,
      String(rounds),
    ],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) {
    throw new Error('the native benchmark did not run');
  }
  return JSON.parse(stdout);
}

async function throughput() {
  const rounds = quick ? 3 : 11;
  const path = plan(1_000);
  const bytes = readFileSync(path);
  const text = bytes.toString();
  const rate = (milliseconds) => `${(bytes.length / 1e3 / milliseconds).toFixed(1)} MB/s`;
  console.log(`\nThroughput on ${(bytes.length / 1e6).toFixed(2)} MB, warm (first call)`);
  const { checkPlan, parsePlan, renderCheck } = await import('../npm-package/dist/node.js');
  const { default: MarkdownIt } = await import('markdown-it');
  const { unified } = await import('unified');
  const { default: remarkParse } = await import('remark-parse');
  const { default: remarkGfm } = await import('remark-gfm');
  const markdownIt = new MarkdownIt();
  const remark = unified().use(remarkParse).use(remarkGfm);
  const fast = native(path, rounds, 'bench');
  const small = native(path, rounds, 'release');
  const request = { paths: ['plan.md'] };
  const measured = [
    ['okstra wasm: check, as text', inside(() => renderCheck(request, [bytes]), rounds)],
    ['okstra wasm: parse, as objects', inside(() => parsePlan(bytes), rounds)],
    ['okstra wasm: check, as objects', inside(() => checkPlan(bytes), rounds)],
    ['markdown-it: only parse', inside(() => markdownIt.parse(text, {}), rounds)],
    ['remark-parse + gfm: only parse', inside(() => remark.parse(text), Math.min(rounds, 3))],
  ];
  for (const [name, { first, warm }] of measured) {
    row(name, ms(warm), rate(warm), `(${ms(first)})`);
  }
  row('okstra native, settings of the module: check', ms(small.check_ms), rate(small.check_ms));
  row('okstra native, full speed: check', ms(fast.check_ms), rate(fast.check_ms));
  const wasm = measured[0][1].warm;
  row('wasm / native, settings of the module', ratio(wasm / small.check_ms));
  row(
    'wasm / native, full speed (goal: 2)',
    ratio(wasm / fast.check_ms),
    goal(wasm <= 2 * fast.check_ms),
  );
}

/** A folder in memory, where syncing to disk costs nothing; else one on disk. */
function memory() {
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const made = mkdtempSync(join(base, 'okstra-bench-'));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A plan whose stages are all ready, approved. */
function freePlan(path, stages) {
  const rows = Array.from({ length: stages }, (_, at) => at + 1);
  const map = rows.map((stage) => `| ${stage} | part ${stage} | (none) | 1 | part ${stage} |`);
  const sections = rows.map(
    (stage) => `## 4.5.${stage} Stage ${stage}: part ${stage}

### Carry-In

nothing

### Stepwise Execution Order

| step | action | files | command | expected |
| --- | --- | --- | --- | --- |
| 1 | write it | src/part${stage}.ts | npm test | it passes |

### Stage Exit Contract

part ${stage}

### Stage Validation

- post: npm test
`,
  );
  const text = `# Plan

- [x] Approved

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
| --- | --- | --- | --- | --- |
${map.join('\n')}

${sections.join('\n')}`;
  writeFileSync(path, text);
}

/** Evidence of a stage of such a plan. */
function evidenceOf(stage, commit) {
  return JSON.stringify({
    schemaVersion: 1,
    sourcePlanPath: 'plan.md',
    stageNumber: stage,
    stageTitle: `part ${stage}`,
    completedAt: '2026-01-01T00:00:00Z',
    stageCommitRange: { base: commit, head: commit },
    filesChanged: [],
    newIdentifiers: [],
    stepResults: [],
    validationsPassed: [],
    notes: [],
  });
}

/** A repository with a plan; answers its folder and its commit. */
function repository(stages) {
  const project = memory();
  const git = (...args) => {
    const result = spawnSync('git', args, { cwd: project, encoding: 'utf8', env: environment });
    if (result.status !== 0) {
      throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
    }
    return result.stdout.trim();
  };
  git('init', '--quiet');
  const who = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];
  git(...who, 'commit', '--quiet', '--allow-empty', '-m', 'begin');
  freePlan(join(project, 'plan.md'), stages);
  environment.OKSTRA_HOME = join(project, '.home');
  return { project, commit: git('rev-parse', 'HEAD') };
}

/** A stage's commands, each on a fresh claim, in turn with an empty Node process. */
function stageCommands() {
  console.log(
    '\nA stage, whole process without disk sync (goal: a claim at most 2 × an empty Node process)',
  );
  const { project, commit } = repository(3);
  const plan = join(project, 'plan.md');
  const records = `${plan}.okstra`;
  const evidence = join(project, 'evidence.json');
  writeFileSync(evidence, evidenceOf(1, commit));
  const at = ['--plan', plan];
  const claim = [cli, 'stage', 'claim', ...at, '--no-worktree', '--session', 'a', '--json'];
  const done = [cli, 'stage', 'done', ...at, '--session', 'a', '--evidence', evidence, '--json'];
  const nothing = () => rmSync(records, { recursive: true, force: true });
  const claimed = () => {
    nothing();
    time(claim);
  };
  const cases = [
    ['node -e 0', nothing, ['-e', '0']],
    ['stage claim --json', nothing, claim],
    ['stage claim', nothing, claim.slice(0, -1)],
    ['stage done --json', claimed, done],
    ['stage next --json', claimed, [cli, 'stage', 'next', ...at, '--json']],
    ['stage list --json', claimed, [cli, 'stage', 'list', ...at, '--json']],
    ['stage list', claimed, [cli, 'stage', 'list', ...at]],
  ];
  const times = cases.map(() => []);
  for (let round = -1; round < (quick ? 11 : 31); round++) {
    for (const [index, [, prepare, args]] of cases.entries()) {
      prepare();
      const took = time(args);
      if (round >= 0) {
        times[index].push(took);
      }
    }
  }
  const [empty, ...medians] = times.map(median);
  row('node -e 0', ms(empty));
  for (const [index, took] of medians.entries()) {
    const [name] = cases[index + 1];
    const part = took / empty;
    row(name, ms(took), ratio(part), name === 'stage claim --json' ? goal(part <= 2) : '');
  }
}

/** Reading ledgers: what every command about stages does first. */
async function ledgers() {
  console.log('\nReading a ledger and choosing, warm in one process (goal: linear)');
  const { stageNext } = await import('../npm-package/dist/node.js');
  const path = join(memory(), 'plan.md');
  freePlan(path, 100);
  const bytes = readFileSync(path);
  const facts = { plan: path, now: '2026-01-01T00:00:00Z' };
  const line = (at) =>
    `${JSON.stringify({
      impl_task_key: 'demo:group:task',
      stage: (at % 90) + 1,
      status: ['started', 'released'][Math.floor(at / 90) % 2],
      started_at: '2026-01-01T00:00:00.000Z',
      head_commit: '0123456789abcdef0123456789abcdef01234567',
      claim_id: `c${at % 90}`,
      session: 'session-of-an-agent',
      host: 'machine',
      pid: 12345,
    })}\n`;
  let before;
  row('rows', 'size', 'time', 'rate', 'per row');
  for (const rows of [1_000, 100_000, 1_000_000]) {
    const ledger = Buffer.from(Array.from({ length: rows }, (_, at) => line(at)).join(''));
    const { warm } = inside(() => stageNext(bytes, ledger, facts, { stage: 'auto' }), 3);
    const each = (warm * 1e6) / rows;
    row(
      rows.toLocaleString('en'),
      `${(ledger.length / 1e6).toFixed(1)} MB`,
      ms(warm),
      `${(ledger.length / 1e3 / warm).toFixed(0)} MB/s`,
      `${each.toFixed(0)} ns`,
      before === undefined ? '' : goal(each <= before * 1.5),
    );
    before = each;
  }
}

/** Keeps so many processes running until all have run; answers the seconds. */
async function atOnce(commands, width) {
  const left = [...commands];
  const start = process.hrtime.bigint();
  const worker = async () => {
    for (let args = left.shift(); args !== undefined; args = left.shift()) {
      const child = spawn(process.execPath, args, { env: environment, stdio: 'ignore' });
      const status = await new Promise((resolve) => child.on('close', resolve));
      if (status !== 0) {
        throw new Error(`${args.join(' ')} ended with ${status}`);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** Many sessions at one ledger. */
async function crowd() {
  const count = quick ? 64 : 256;
  console.log(`\n${count} claims by 16 processes at once, on disk`);
  const { project } = repository(count);
  const plan = join(folder, 'plan.md');
  freePlan(plan, count);
  mkdirSync(join(project, '.home'), { recursive: true });
  const claims = Array.from({ length: count }, (_, at) => [
    ...[cli, 'stage', 'claim', '--plan', plan, '--no-worktree'],
    ...['--session', `s${at}`, '--json'],
  ]);
  const seconds = await atOnce(claims, 16);
  const empty = await atOnce(
    claims.map(() => ['-e', '0']),
    16,
  );
  row('claims a second', (count / seconds).toFixed(1));
  row('empty Node processes a second', (count / empty).toFixed(1), ratio(seconds / empty));
  const rows = readFileSync(join(`${plan}.okstra`, 'consumers.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const stages = new Set(rows.map((text) => JSON.parse(text).stage));
  row('different stages', `${stages.size} of ${count}`, goal(stages.size === count));
}

/** Milliseconds of a program that has to succeed. */
function timeOf(program, args, cwd) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(program, args, { cwd, env: environment, encoding: 'utf8' });
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0) {
    throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  }
  return milliseconds;
}

/** Worktrees: what a claim adds to git's own work, and a board of many of them. */
function worktrees() {
  const files = 2_000;
  console.log(
    `\nA claim with a worktree of ${files.toLocaleString('en')} files (goal: 1.3 × git worktree add + a Node start)`,
  );
  const rounds = quick ? 5 : 15;
  const count = 200;
  const { project } = repository(2 * rounds + 2);
  const git = (...args) => timeOf('git', args, project);
  for (let at = 0; at < files; at++) {
    const path = join(project, 'src', `part${at % 50}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, `${at}.ts`), `export const n${at} = ${at};\n`.repeat(40));
  }
  writeFileSync(join(project, '.gitignore'), '.home\n*.okstra\n');
  git('add', '--all');
  git('-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', 'commit', '-qm', 'files');
  const plan = join(project, 'plan.md');
  const empty = [];
  const bare = [];
  const claims = [];
  const add = (at) => {
    const path = join(project, '.home', `bare-${at}`);
    return timeOf('git', ['worktree', 'add', '-q', '-b', `bare-${at}`, path], project);
  };
  const claim = (at, ...more) =>
    timeOf(
      process.execPath,
      [cli, 'stage', 'claim', '--plan', plan, '--session', `s${at}`, '--json', ...more],
      project,
    );
  const plain = [];
  mkdirSync(join(project, '.home'), { recursive: true });
  for (let round = -1; round < rounds; round++) {
    const took = [time(['-e', '0']), add(round + 1), claim(round + 1)];
    took.push(claim(`plain-${round}`, '--no-worktree'));
    if (round >= 0) {
      empty.push(took[0]);
      bare.push(took[1]);
      claims.push(took[2]);
      plain.push(took[3]);
    }
  }
  const [node, alone, whole, without] = [empty, bare, claims, plain].map(median);
  row('node -e 0', ms(node));
  row('git worktree add', ms(alone));
  row(
    'stage claim, without the Node start',
    ms(whole - node),
    ratio((whole - node) / alone),
    goal(whole <= 1.3 * alone + node),
  );
  row('of it, what the worktree adds', ms(whole - without), ratio((whole - without) / alone));
  // As if a claim had been made for every stage: the registry and the ledger say so.
  freePlan(plan, count);
  const registry = join(project, '.home/worktrees/registry.json');
  const ledger = `${plan}.okstra/consumers.jsonl`;
  const known = JSON.parse(readFileSync(registry, 'utf8'));
  const [task] = known.tasks;
  const [entry] = task.stages;
  const [started] = readFileSync(ledger, 'utf8').split('\n');
  const line = JSON.parse(started);
  const all = Array.from({ length: count }, (_, at) => at + 1);
  const place = (stage) => entry.path.replace(/[0-9]+$/, String(stage));
  task.stages = all.map((stage) => ({ ...entry, stage, path: place(stage), branch: `s-${stage}` }));
  writeFileSync(registry, JSON.stringify(known, null, 2));
  const rows = all.map((stage) => ({
    ...line,
    stage,
    worktree: place(stage),
    claim_id: `c${stage}`,
    session: `s${stage}`,
  }));
  writeFileSync(ledger, rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const [start, list, trees] = inTurn(
    [
      ['-e', '0'],
      [cli, 'stage', 'list', '--plan', plan],
      [cli, 'worktree', 'list', '--plan', plan],
    ],
    rounds,
  );
  row(`stage list, ${count} worktrees`, ms(list), ratio(list / start));
  row(`worktree list, ${count} worktrees`, ms(trees), ratio(trees / start));
}

/** A task in a project whose implementation of so many stages is complete. */
function completeTask(project, stages) {
  const id = `t${stages}`;
  const task = join(project, '.okstra/tasks/bench', id);
  const planning = join(task, 'runs/implementation-planning');
  const carry = join(task, 'runs/implementation/carry');
  const name = 'reports/final-report-implementation-planning-001.md';
  const key = `bench:bench:${id}`;
  mkdirSync(join(planning, 'reports'), { recursive: true });
  mkdirSync(carry, { recursive: true });
  freePlan(join(planning, name), stages);
  const numbers = Array.from({ length: stages }, (_, at) => at + 1);
  const commit = 'a'.repeat(40);
  const row = (stage) => ({
    impl_task_key: key,
    stage,
    status: 'done',
    completed_at: '2026-01-01T00:00:00Z',
    carry_path: `carry/stage-${stage}.json`,
    head_commit: commit,
  });
  const rows = numbers.map((stage) => `${JSON.stringify(row(stage))}\n`);
  writeFileSync(join(planning, 'consumers.jsonl'), rows.join(''));
  const plan = `.okstra/tasks/bench/${id}/runs/implementation-planning/${name}`;
  for (const stage of numbers) {
    const evidence = { ...JSON.parse(evidenceOf(stage, commit)), sourcePlanPath: plan };
    writeFileSync(join(carry, `stage-${stage}.json`), JSON.stringify(evidence));
    const reports = join(task, `runs/implementation/stage-${stage}/reports`);
    mkdirSync(reports, { recursive: true });
    writeFileSync(join(reports, 'final-report-implementation-001.md'), '# Report\n');
  }
  const manifest = { taskKey: key, workflow: { currentPhase: 'implementation' } };
  writeFileSync(join(task, 'task-manifest.json'), JSON.stringify(manifest));
  return key;
}

/** The outcome of complete implementations, whole process. */
function outcomes() {
  console.log(
    '\nThe outcome of a complete implementation, whole process (goal: 100 stages under 2 × an empty Node process; linear)',
  );
  const project = memory();
  mkdirSync(join(project, '.git'));
  environment.OKSTRA_HOME = join(project, '.home');
  const sizes = [10, 100, 1000];
  const keys = sizes.map((stages) => completeTask(project, stages));
  const before = process.cwd();
  process.chdir(project);
  const commands = keys.map((key) => [cli, 'outcome', 'show', '--task-key', key, '--json']);
  const [empty, ...took] = inTurn([['-e', '0'], ...commands], quick ? 7 : 21);
  process.chdir(before);
  row('node -e 0', ms(empty));
  for (const [at, stages] of sizes.entries()) {
    const part = took[at] / empty;
    row(`${stages} stages`, ms(took[at]), ratio(part), stages === 100 ? goal(part < 2) : '');
  }
  const growth = (took[2] - took[0]) / (took[1] - took[0]);
  row('growth of what 10 times the stages cost', ratio(growth), goal(growth < 20));
}

/** Panes of a run and its end, whole process, with a server of tmux of its own. */
function panes() {
  console.log('\nA run with 50 panes, whole process, as ratios to an empty Node process');
  const project = memory();
  mkdirSync(join(project, 'run/manifests'), { recursive: true });
  const manifest = join(project, 'run/manifests/run-manifest-implementation-001.json');
  writeFileSync(manifest, JSON.stringify({ lead: { sessionId: 'bench-session' } }));
  environment.OKSTRA_HOME = join(project, '.home');
  environment.CLAUDE_CONFIG_DIR = join(project, '.claude');
  const server = `okstra-bench-${process.pid}`;
  const tmux = (...words) => {
    const options = { encoding: 'utf8', env: environment };
    const ran = spawnSync('tmux', ['-f', '/dev/null', '-L', server, ...words], options);
    if (ran.status !== 0) throw new Error(`tmux: ${ran.stderr ?? ran.error}`);
    return ran.stdout.trim();
  };
  const run = join(project, 'run');
  try {
    tmux('new-session', '-d', '-x', '500', '-y', '500', 'exec sleep 1000');
    environment.TMUX = tmux('display-message', '-p', '#{socket_path},#{pid},0');
    for (let at = 0; at < 50; at++) {
      const pane = tmux('split-window', '-d', '-P', '-F', '#{pane_id}', 'exec sleep 1000');
      tmux('select-layout', 'tiled');
      for (const [name, value] of [
        ['role', 'worker'],
        ['session', 'bench-session'],
        ['run', run],
        ['pane', pane],
      ]) {
        tmux('set-option', '-p', '-t', pane, `@okstra_${name}`, value);
      }
    }
    const list = [cli, 'panes', 'list', '--run-dir', run];
    const listed = spawnSync(process.execPath, list, { encoding: 'utf8', env: environment });
    if (listed.stdout.split('\n').length !== 51) throw new Error(`not 50 panes: ${listed.stderr}`);
    const [empty, bare, ...took] = inTurn(
      [
        ['-e', '0'],
        [
          '-e',
          `require('node:child_process').execFileSync('tmux', ['-L', '${server}', 'list-panes', '-a'])`,
        ],
        list,
        [cli, 'wrap-up', '--run-dir', run, '--json'],
      ],
      quick ? 7 : 21,
    );
    row('node -e 0', ms(empty));
    row('node that asks tmux', ms(bare), ratio(bare / empty));
    row('panes list', ms(took[0]), ratio(took[0] / empty));
    row('wrap-up', ms(took[1]), ratio(took[1] / empty));
  } finally {
    tmux('kill-server');
    for (const name of ['TMUX', 'CLAUDE_CONFIG_DIR']) delete environment[name];
  }
}

function sizes() {
  console.log('\nSize of okstra.wasm (goal: under 550 KB compressed)');
  const wasm = readFileSync(join(root, 'npm-package/dist/okstra.wasm'));
  const kilobytes = (length) => `${(length / 1e3).toFixed(1)} KB`;
  row('raw', kilobytes(wasm.length));
  const gzip = gzipSync(wasm, { level: 9 }).length;
  row('gzip', kilobytes(gzip), goal(gzip < 550_000));
  row('brotli', kilobytes(brotliCompressSync(wasm).length));
}

/** Each hook as the client runs it: an event on standard input, the answer thrown away. */
function hooks() {
  console.log(
    '\nHooks, whole process (goals: 1.1 × an empty Node process with nothing to do, else 1.5 ×)',
  );
  const { project } = repository(10);
  const plan = join(project, 'plan.md');
  const session = '00000001-0000-4000-8000-000000000000';
  time([cli, 'stage', 'claim', '--plan', plan, '--session', session, '--json']);
  const { stdout } = spawnSync(
    process.execPath,
    [cli, 'stage', 'claim', '--plan', plan, '--session', session, '--json'],
    { env: environment, encoding: 'utf8' },
  );
  const { worktree } = JSON.parse(stdout);
  const event = (name, hook_event_name, more) => {
    const path = join(folder, `event-${name}.json`);
    writeFileSync(path, JSON.stringify({ session_id: session, hook_event_name, ...more }));
    return path;
  };
  const edit = (file_path) => ({ tool_name: 'Edit', tool_input: { file_path } });
  const nowhere = { session_id: 'nobody', cwd: folder };
  const inside = { cwd: project };
  const cases = [
    ['nothing: SessionStart', 1.1, event('1', 'SessionStart', nowhere)],
    ['nothing: PreToolUse Edit', 1.1, event('2', 'PreToolUse', { ...nowhere, ...edit('/tmp/a') })],
    [
      'nothing: PostToolUse Edit',
      1.1,
      event('3', 'PostToolUse', { ...nowhere, ...edit('/tmp/a') }),
    ],
    ['nothing: Stop', 1.1, event('4', 'Stop', nowhere)],
    ['nothing: SessionEnd', 1.1, event('5', 'SessionEnd', nowhere)],
    ['a stage: PreToolUse Bash', 1.1, event('6', 'PreToolUse', { ...inside, tool_name: 'Bash' })],
    [
      'a stage: PreToolUse Edit, covered',
      1.5,
      event('7', 'PreToolUse', { ...inside, ...edit(join(worktree, 'src/part1.ts')) }),
    ],
    [
      'a stage: PreToolUse Edit, warned',
      1.5,
      event('8', 'PreToolUse', { ...inside, ...edit(join(worktree, 'src/part2.ts')) }),
    ],
    [
      'a stage: PostToolUse Edit of a plan',
      1.5,
      event('9', 'PostToolUse', { ...inside, ...edit(plan) }),
    ],
    ['a stage: Stop', 1.5, event('10', 'Stop', { ...inside, last_assistant_message: 'Done.' })],
    ['a stage: SessionStart', 1.5, event('11', 'SessionStart', { ...inside, source: 'resume' })],
  ];
  const times = [[], ...cases.map(() => [])];
  for (let round = -1; round < (quick ? 11 : 41); round++) {
    const took = [time(['-e', '0']), ...cases.map(([, , path]) => time([cli, 'hook'], path))];
    for (const [at, each] of took.entries()) {
      if (round >= 0) {
        times[at].push(each);
      }
    }
  }
  const [empty, ...medians] = times.map(median);
  row('node -e 0', ms(empty));
  for (const [at, [name, most]] of cases.entries()) {
    const part = medians[at] / empty;
    row(name, ms(medians[at]), ratio(part), goal(part <= most));
  }
}

/** A server that runs: what it printed, and the process. */
async function preview(path) {
  const child = spawn(process.execPath, [cli, 'preview', path, '--no-open', '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const bytes of child.stdout.iterator({ destroyOnReturn: false })) {
    text += bytes;
    if (text.endsWith('}\n')) return { child, ...JSON.parse(text) };
  }
  throw new Error('no server');
}

/** How soon a change on disk is with those who follow, the server's part of it. */
async function serving() {
  console.log(
    '\nA preview of 100 stages: start, and from a change on disk to its event (goal: 500 ms)',
  );
  const { project, commit } = repository(100);
  const path = join(project, 'plan.md');
  const rounds = quick ? 5 : 15;
  const started = [];
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    const { child } = await preview(path);
    started.push(Number(process.hrtime.bigint() - start) / 1e6);
    child.kill('SIGINT');
    await new Promise((resolve) => child.once('close', resolve));
  }
  const [empty] = inTurn([['-e', '0']], rounds);
  row('to the address', ms(median(started)), ratio(median(started) / empty));
  const { child, url } = await preview(path);
  const { body } = await fetch(`${url}events`);
  const events = body.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  const frame = async () => {
    for (;;) {
      const end = seen.lastIndexOf('\n\n');
      const begin = seen.indexOf('data: ');
      if (begin >= 0 && end > begin) {
        seen = seen.slice(end + 2);
        return;
      }
      seen += (await events.read()).value;
    }
  };
  await frame();
  const records = `${path}.okstra`;
  mkdirSync(join(records, 'carry'), { recursive: true });
  const text = readFileSync(path, 'utf8');
  const row1 = {
    impl_task_key: 'k',
    stage: 1,
    status: 'started',
    started_at: '2026-01-01T00:00:00Z',
  };
  const changes = {
    'the plan, in place': (at) => writeFileSync(path, `${text}\n${at}\n`),
    'the plan, replaced': (at) => {
      writeFileSync(`${path}.new`, `${text}\n\n${at}\n`);
      renameSync(`${path}.new`, path);
    },
    'a row of the ledger': (at) =>
      appendFileSync(
        join(records, 'consumers.jsonl'),
        `${JSON.stringify({ ...row1, claim_id: `c${at}`, head_commit: commit })}\n`,
      ),
    evidence: (at) =>
      writeFileSync(join(records, `carry/stage-${at + 1}.json`), evidenceOf(at + 1, commit)),
  };
  for (const [name, change] of Object.entries(changes)) {
    const took = [];
    for (let at = 0; at < rounds; at++) {
      // Past the echo of the last one.
      await new Promise((resolve) => setTimeout(resolve, 150));
      const start = process.hrtime.bigint();
      change(at);
      await frame();
      took.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    const most = Math.max(...took);
    row(name, ms(median(took)), `at most ${ms(most)}`, goal(most <= 500));
  }
  child.kill('SIGINT');
  await new Promise((resolve) => child.once('close', resolve));
}

const sections = {
  startUp,
  hooks,
  growth,
  throughput,
  stageCommands,
  ledgers,
  crowd,
  worktrees,
  outcomes,
  panes,
  serving,
  previews: () => previews({ row, quick }),
  sizes,
};
const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
for (const [name, section] of Object.entries(sections)) {
  if (asked.length === 0 || asked.includes(name)) {
    await section();
  }
}
