// What the scripts share. Node built-ins only: set-up runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

// The scripts take what cargo builds from `target` here, wherever other projects keep theirs.
process.env.CARGO_TARGET_DIR = join(root, 'target');

/** Whether the module was started by `node`, not imported. */
export function isMain(url) {
  return process.argv[1] === fileURLToPath(url);
}

/**
 * Runs a program at the root with its output shown, `quiet` only its errors; ends the script when
 * it fails.
 */
export function run(command, args, { env = {}, cwd = root, quiet = false } = {}) {
  const { status, error, signal } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['inherit', quiet ? 'ignore' : 'inherit', 'inherit'],
  });
  if (error || status !== 0) {
    const why = error?.message ?? (signal ? `ended by ${signal}` : `exit ${status}`);
    stop(`${[command, ...args].join(' ')}\n  failed: ${why}`);
  }
}

/** Ends the script with one clear line. */
export function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** The path of the first of these programs that is on the PATH. */
export function findProgram(names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs one named step and tells how long it took. */
export function step(name, work) {
  const start = performance.now();
  // The first build takes a minute; nobody should wonder what it does.
  process.stdout.write(`${name} …`);
  const done = () => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(` ${seconds} s\n`);
  };
  const result = work();
  if (result instanceof Promise) {
    return result.then(done);
  }
  done();
}

/** One hash over the names and bytes of files and folders (paths from the root). */
export function hashFiles(paths, keep = () => true) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const full = join(root, path);
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) {
        if (name !== 'node_modules' && name !== 'target') {
          visit(`${path}/${name}`);
        }
      }
    } else if (keep(path)) {
      hash.update(path).update('\0').update(readFileSync(full)).update('\0');
    }
  };
  for (const path of paths) {
    visit(path);
  }
  return hash.digest('hex');
}
