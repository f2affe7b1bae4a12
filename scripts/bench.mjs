// Speed and size, as ratios within one run: node scripts/bench.mjs [--quick]
//
// Whole processes are timed in turn (A B A B …) and compared by their medians, so that a machine
// whose speed drifts still gives true ratios. NODE_EXTRA_CA_CERTS is taken out of the environment:
// Node 20 reads those certificates at every start, which would hide what we measure.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { generatePlan } from './generate-plan.mjs';
import { root } from './lib.mjs';

const quick = process.argv.includes('--quick');
const cli = join(root, 'npm-package/bin/okstra.js');
const environment = { ...process.env, NO_COLOR: '1' };
delete environment.NODE_EXTRA_CA_CERTS;
delete environment.NODE_OPTIONS;

const folder = mkdtempSync(join(tmpdir(), 'okstra-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Milliseconds of one whole process. */
function time(args) {
  const start = process.hrtime.bigint();
  const { status, error } = spawnSync(process.execPath, args, {
    env: environment,
    stdio: 'ignore',
  });
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
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

function sizes() {
  console.log('\nSize of okstra.wasm (goal: under 200 KB compressed)');
  const wasm = readFileSync(join(root, 'npm-package/dist/okstra.wasm'));
  const kilobytes = (length) => `${(length / 1e3).toFixed(1)} KB`;
  row('raw', kilobytes(wasm.length));
  const gzip = gzipSync(wasm, { level: 9 }).length;
  row('gzip', kilobytes(gzip), goal(gzip < 200_000));
  row('brotli', kilobytes(brotliCompressSync(wasm).length));
}

startUp();
growth();
await throughput();
sizes();
