// Makes a checkout ready: checks the tools, adds the wasm target, installs, builds. Built-ins
// only, because nothing is installed when it starts. Running it again does what is missing.
//
//   node scripts/setup.mjs            ready to build and run
//   node scripts/setup.mjs --tests    ready to test as well (needs Chromium and its driver)
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, hashFiles, isMain, root, run, stop } from './lib.mjs';

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

function installPackages() {
  const manifests = ['package-lock.json', 'package.json'];
  const stampFile = join(root, 'node_modules/.okstra-stamp');
  const stamp = hashFiles(manifests);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
    return;
  }
  run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts']);
  writeFileSync(stampFile, stamp);
}

function checkBrowser() {
  const missing = [];
  if ((process.env.CHROMIUM ?? findProgram(BROWSERS)) === undefined) {
    missing.push('chromium');
  }
  if (findProgram(['chromedriver']) === undefined) {
    missing.push('chromium-driver');
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
