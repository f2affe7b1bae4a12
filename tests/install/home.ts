/** A home folder of its own with the built command line, and everything that lies in it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const bin = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

export interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

export class Home {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-home-')));
  readonly settings = join(this.folder, '.claude/settings.json');
  readonly record = join(this.folder, '.okstra/installed.json');
  env: Record<string, string | undefined> = {};
  cwd = this.folder;

  constructor() {
    made.push(this.folder);
  }

  put(path: string, text: string): string {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  #environment() {
    const { PATH, SystemRoot } = process.env;
    return { PATH, SystemRoot, HOME: this.folder, USERPROFILE: this.folder, ...this.env };
  }

  run(...args: string[]): Ended {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
      cwd: this.cwd,
      env: this.#environment(),
      encoding: 'utf8',
      timeout: 30_000,
    });
    return { exit: status, stdout, stderr };
  }

  /** Without the rights of root: what is read-only is so for root as well. */
  runBare(...args: string[]): Ended {
    const none = ['--bounding-set=-all', '--inh-caps=-all'];
    const { status, stdout, stderr } = spawnSync(
      'setpriv',
      [...none, process.execPath, bin, ...args],
      { cwd: this.cwd, env: this.#environment(), encoding: 'utf8', timeout: 30_000 },
    );
    return { exit: status, stdout, stderr };
  }

  start(...args: string[]): ChildProcess {
    return spawn(process.execPath, [bin, ...args], {
      cwd: this.cwd,
      env: this.#environment(),
      stdio: 'ignore',
    });
  }

  /** Every file, folder and link below, with its mode and what is in it. */
  tree(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(this.folder, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(this.folder, name);
      const stats = lstatSync(path);
      const mode = (stats.mode & 0o777).toString(8);
      if (stats.isSymbolicLink()) found[name] = `link to ${readlinkSync(path)}`;
      else if (stats.isDirectory()) found[name] = `folder ${mode}`;
      else found[name] = `${mode} ${readFileSync(path, 'latin1')}`;
    }
    return found;
  }
}
