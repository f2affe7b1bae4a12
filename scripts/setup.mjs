// Makes a checkout ready: checks the tools, adds the wasm target, installs, builds. Built-ins
// only, because nothing is installed when it starts. Running it again does what is missing.
//
//   node scripts/setup.mjs            ready to build and run
//   node scripts/setup.mjs --tests    ready to test as well (needs Chromium and its driver)
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, isMain, root, run, stop } from './lib.mjs';

const NODE = [20, 19];
const RUST = [1, 88];
const TARGET = 'wasm32-unknown-unknown';

/** Chromium under the names distributions give it. */
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function output(command, args) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Whether `1.95.0` is at least `[1, 88]`. */
function atLeast(version, [major, minor]) {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b >= minor);
}

function checkNode() {
  if (!atLeast(process.versions.node, NODE)) {
    const wanted = NODE.join('.');
    stop(
      `okstra needs Node ${wanted} or newer, this is ${process.versions.node}: https://nodejs.org`,
    );
  }
}

function checkRust() {
  const version = output('rustc', ['--version'])?.split(' ')[1];
  if (version === undefined || output('cargo', ['--version']) === undefined) {
    stop('Rust is missing (rustc and cargo on the PATH): install it from https://rustup.rs');
  }
  if (!atLeast(version, RUST)) {
    stop(`okstra needs Rust ${RUST.join('.')} or newer, this is ${version}: run \`rustup update\``);
  }
  if (existsSync(join(output('rustc', ['--print', 'sysroot']), 'lib/rustlib', TARGET))) {
    return;
  }
  if (findProgram(['rustup']) === undefined) {
    stop(`Rust has no ${TARGET} target and rustup is missing: install it from https://rustup.rs`);
  }
  run('rustup', ['target', 'add', TARGET]);
}

/**
 * Whether every package of the lock file is installed in its locked version. npm keeps a list of
 * what it installed; packages for other platforms may be missing from it.
 */
function installed() {
  const list = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(list)) {
    return false;
  }
  const packages = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const there = packages(list);
  return Object.entries(packages(join(root, 'package-lock.json')))
    .filter(([path, { link, optional }]) => path.includes('node_modules/') && !link && !optional)
    .every(([path, { version }]) => there[path]?.version === version);
}

function installPackages() {
  if (!installed()) {
    run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts']);
  }
}

function checkBrowser() {
  const missing = [];
  if ((process.env.CHROMIUM ?? findProgram(BROWSERS)) === undefined) {
    missing.push('chromium');
  }
  if (findProgram(['chromedriver']) === undefined) {
    missing.push('chromium-driver');
  }
  // The completion scripts are tried in the shells they are for.
  for (const shell of ['bash', 'zsh', 'fish']) {
    if (findProgram([shell]) === undefined) {
      missing.push(shell);
    }
  }
  if (missing.length === 0) {
    return;
  }
  if (process.getuid?.() === 0 && findProgram(['apt-get']) !== undefined) {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    run('apt-get', ['update', '-qq'], { env });
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env });
    return;
  }
  stop(
    `the tests need ${missing.join(' and ')} on the PATH (on Debian: ` +
      `sudo apt-get install ${missing.join(' ')}); a browser elsewhere can be named in CHROMIUM`,
  );
}

/** Does all that is missing. */
export async function setUp({ tests = false, force = false } = {}) {
  checkNode();
  checkRust();
  installPackages();
  if (tests) {
    checkBrowser();
  }
  const { buildAll } = await import('./build.mjs');
  await buildAll({ force });
}

if (isMain(import.meta.url)) {
  await setUp({ tests: process.argv.includes('--tests') });
}
