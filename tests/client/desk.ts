/** A client with a home, a project and an okstra of its own, and nothing of the machine's. */
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { type Asked, type Script, Service } from './service.js';

export const packageFolder = fileURLToPath(new URL('../../npm-package', import.meta.url));

/** How okstra gets into the client. */
export type Via =
  | 'plugin folder'
  | 'marketplace'
  | 'settings of the person'
  | 'settings of the project';

export const WAYS: readonly Via[] = [
  'plugin folder',
  'marketplace',
  'settings of the person',
  'settings of the project',
];

const desks: Desk[] = [];
afterEach(async () => {
  for (const desk of desks.splice(0)) {
    // What the end of a session started may still be at work there, and make more.
    for (let tries = 1; ; tries += 1) {
      try {
        rmSync(desk.folder, { recursive: true, force: true });
        break;
      } catch (error) {
        if (tries === 40) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }
});

export interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
  /** What the model was asked, in order. */
  asked: Asked[];
}

export class Desk {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'client-desk-')));
  readonly home = join(this.folder, 'home');
  readonly project = join(this.folder, 'project');
  readonly bin = join(this.folder, 'bin');
  readonly #client: string;
  readonly #okstra: string;

  /** `okstra` is the package whose hooks answer. */
  constructor(client: string, okstra: string) {
    desks.push(this);
    this.#client = client;
    this.#okstra = okstra;
    for (const folder of [this.home, this.project, this.bin]) mkdirSync(folder);
    symlinkSync(process.execPath, join(this.bin, 'node'));
    symlinkSync(join(okstra, 'bin/okstra.js'), join(this.bin, 'okstra'));
    symlinkSync(client, join(this.bin, 'claude'));
    this.git('init', '--quiet', '--initial-branch=main');
    this.git('config', 'user.name', 'Anna');
    this.git('config', 'user.email', 'anna@example.org');
  }

  get env(): Record<string, string> {
    return {
      PATH: `${this.bin}:/usr/local/bin:/usr/bin:/bin`,
      HOME: this.home,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      // Only ever sent to the stand-in.
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_TELEMETRY: '1',
    };
  }

  put(path: string, text: string): string {
    const file = join(this.project, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-C', this.project, ...args], { encoding: 'utf8' }).trim();
  }

  okstra(...args: string[]): string {
    const program = join(this.#okstra, 'bin/okstra.js');
    const options = { cwd: this.project, env: this.env, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync(process.execPath, [program, ...args], options);
  }

  /** Puts okstra into the client; answers what the client has to be started with. */
  setUp(via: Via): string[] {
    if (via === 'plugin folder') {
      // As a client's cache has it: apart from the package.
      cpSync(join(packageFolder, 'plugin'), join(this.folder, 'plugin'), { recursive: true });
      return ['--plugin-dir', join(this.folder, 'plugin')];
    }
    if (via === 'marketplace') this.okstra('install', '--plugin');
    if (via === 'settings of the person') this.okstra('install');
    if (via === 'settings of the project') this.okstra('install', '--scope', 'project');
    return [];
  }

  /** Lets the client work on one prompt without anybody watching. */
  async run(args: readonly string[], script: Script): Promise<Ended> {
    const service = new Service(script);
    const address = await service.start();
    const words = [
      '-p',
      'Begin.',
      '--output-format',
      'json',
      '--allowedTools',
      'Bash Write Edit Read Agent Task',
    ];
    const child = spawn(this.#client, [...words, ...args], {
      cwd: this.project,
      env: { ...this.env, ANTHROPIC_BASE_URL: address },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 150_000);
    const exit = await new Promise<number | null>((resolve) => child.once('close', resolve));
    clearTimeout(timer);
    service.stop();
    return { exit, stdout, stderr, asked: service.asked };
  }
}

/**
 * A copy of the package whose hook writes down each event it is started for and answers nothing:
 * shows that the client starts hooks, apart from what okstra does in them.
 */
export function recorder(folder: string): string {
  const at = join(folder, 'recorder');
  const own = join(packageFolder, 'node_modules');
  cpSync(packageFolder, at, { recursive: true, filter: (path) => path !== own });
  symlinkSync(join(packageFolder, '../node_modules'), join(at, 'node_modules'));
  mkdirSync(join(folder, 'events'));
  const events = JSON.stringify(join(folder, 'events'));
  writeFileSync(
    join(at, 'dist/hook.cjs'),
    `const { readFileSync, writeFileSync } = require('node:fs');
const text = readFileSync(0, 'utf8');
writeFileSync(${events} + '/' + process.hrtime.bigint() + '.json', text);
process.stdout.write('{}\\n');
`,
  );
  return at;
}

/** The events that a recorder was started for, in order. */
export function events(folder: string): Record<string, unknown>[] {
  const at = join(folder, 'events');
  if (!existsSync(at)) return [];
  return readdirSync(at)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(at, name), 'utf8')));
}
