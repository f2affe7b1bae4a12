// Everything: set-up, build, static checks, and all tests with one sum at the end.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { checkAll } from './check.mjs';
import { root, run } from './lib.mjs';
import { setUp } from './setup.mjs';

const wasmTarget = ['--target', 'wasm32-unknown-unknown', '-p', 'okstra-wasm', '--tests'];
const vitestReport = join(root, 'target/vitest.json');

const GROWTH = {
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_OPT_LEVEL: '2',
  CARGO_PROFILE_RELEASE_PANIC: 'unwind',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
};

/**
 * Runs a program with its output shown, and answers that output and the exit status. What runs
 * beside another is shown when it has ended.
 */
function tee(command, args, { env = {}, beside = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (!beside) process.stdout.write(chunk);
    });
    child.on('error', reject);
    child.on('close', (status) => {
      if (beside) process.stdout.write(text);
      resolve({ text, status });
    });
  });
}

/** Sums the `test result:` lines of cargo; a run that failed without one is one failure. */
async function cargoTests(name, args, how) {
  const { text, status } = await tee('cargo', ['test', '--no-fail-fast', ...args], how);
  const lines = stripVTControlCharacters(text).matchAll(
    /^test result: .*?(\d+) passed; (\d+) failed/gm,
  );
  let passed = 0;
  let failed = 0;
  for (const [, good, bad] of lines) {
    passed += Number(good);
    failed += Number(bad);
  }
  return total(name, passed, failed, status);
}

async function vitest() {
  rmSync(vitestReport, { force: true });
  const { status } = await tee(join(root, 'node_modules/.bin/vitest'), [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${vitestReport}`,
  ]);
  if (!existsSync(vitestReport)) {
    return total('JavaScript', 0, 0, status);
  }
  const report = JSON.parse(readFileSync(vitestReport, 'utf8'));
  return total('JavaScript', report.numPassedTests, report.numFailedTests, status);
}

/** No test at all, or a failure outside of one, counts as one failed test. */
function total(name, passed, failed, status) {
  const silent = (status !== 0 && failed === 0) || passed + failed === 0;
  return { name, passed, failed: silent ? failed + 1 : failed };
}

/**
 * Compiles the test programs while the module is linked, which one core does alone. What fails
 * here fails again where its output is shown.
 */
function compileAhead() {
  const growth = Object.entries(GROWTH).map(([name, value]) => `${name}=${value}`);
  const first = 'cargo test --quiet --workspace --no-run';
  const second = 'cargo test --quiet --release -p okstra-core --test plans --no-run';
  const child = spawn('sh', ['-c', `${first}; ${growth.join(' ')} ${second}`], {
    cwd: root,
    stdio: 'ignore',
  });
  child.on('error', () => {});
  child.unref();
}

compileAhead();
await setUp({ tests: true });
const checks = checkAll();
run('cargo', ['build', '--quiet', '--bin', 'wasm-test-runner']);
const runner = {
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: join(root, 'target/debug/wasm-test-runner'),
};
const rust = await cargoTests('Rust', ['--workspace']);
// Growth can only be told from optimised code; linking it fast is enough for that. It takes one
// core for a minute, in which the other compiles the tests of the module.
const growth = cargoTests(
  'Rust, growth',
  ['--release', '-p', 'okstra-core', '--test', 'plans', 'growth'],
  { env: GROWTH, beside: true },
);
const totals = [
  rust,
  await cargoTests('wasm in Node', wasmTarget, { env: runner }),
  await cargoTests('wasm in Chromium', wasmTarget, {
    env: { ...runner, WASM_BINDGEN_USE_BROWSER: '1' },
  }),
  await growth,
  await vitest(),
];

process.stdout.write('\n');
for (const { name, passed, failed } of totals) {
  process.stdout.write(`${name}: ${passed} passed, ${failed} failed\n`);
}
if (checks.length > 0) {
  process.stdout.write(`static checks that failed: ${checks.join(', ')}\n`);
}
const sum = (key) => totals.reduce((all, each) => all + each[key], 0);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exitCode = sum('failed') === 0 && checks.length === 0 ? 0 : 1;
