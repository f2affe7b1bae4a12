// Every static check. All of them run, so that one run tells everything.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isMain, root } from './lib.mjs';
import { setUp } from './setup.mjs';

const bin = (name) => join(root, 'node_modules/.bin', name);
const deny = ['--', '-D', 'warnings'];
const wasm = ['--target', 'wasm32-unknown-unknown'];
const packageFolder = join(root, 'npm-package');

/** Name, program, arguments, folder. */
const CHECKS = [
  ['rustfmt', 'cargo', ['fmt', '--all', '--check']],
  ['clippy', 'cargo', ['clippy', '--quiet', '--workspace', '--all-targets', ...deny]],
  [
    'clippy for wasm',
    'cargo',
    ['clippy', '--quiet', ...wasm, '-p', 'okstra-wasm', '--no-deps', '--all-targets', ...deny],
  ],
  [
    'biome',
    bin('biome'),
    ['ci', '--error-on-warnings', `--colors=${process.stdout.isTTY ? 'force' : 'off'}`],
  ],
  ['types', bin('tsc'), ['-p', root]],
  ['unused code', bin('knip'), []],
  ['package', bin('publint'), ['--strict'], packageFolder],
  [
    'types as consumers resolve them',
    bin('attw'),
    [
      '--pack',
      '--profile',
      'esm-only',
      '--exclude-entrypoints',
      'okstra.wasm',
      // A script for a <script> tag; nobody imports it.
      'inline.global.js',
      // A page to open or to serve.
      'preview.html',
      '--format',
      'ascii',
    ],
    packageFolder,
  ],
];

/** Runs all checks; answers the names of those that failed. */
export function checkAll() {
  const failed = [];
  for (const [name, command, args, cwd = root] of CHECKS) {
    const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
    process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}\n`);
    if (status !== 0) {
      failed.push(name);
    }
  }
  return failed;
}

if (isMain(import.meta.url)) {
  await setUp();
  process.exitCode = checkAll().length === 0 ? 0 : 1;
}
