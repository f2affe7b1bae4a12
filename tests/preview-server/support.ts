/**
 * What the tests of `okstra preview` begin with: a copy of the built command line with a small page
 * in the place of the real one, a project on disk, servers as processes, and raw sockets. The page
 * is read from the folder of the bundles, so a copy of that folder is all it takes to replace it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { PreviewFacts } from '../../npm-package/src/index.js';
import { FOUR, LEDGER, PLAN } from '../cli/stages.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const SCRIPT = `
const live = document.querySelector('meta[name="okstra-live"]') !== null;
const shown = (facts) => { globalThis.facts = facts; globalThis.count = (globalThis.count ?? 0) + 1; };
if (live) {
  globalThis.events = new EventSource('events');
  events.onmessage = ({ data }) => shown(JSON.parse(data));
  events.addEventListener('closed', () => { events.close(); globalThis.ended = true; });
  fetch('facts').then((answer) => answer.json()).then((facts) => { globalThis.fetched = facts; });
}
`;

/** A page as the build makes it, with next to nothing in it. */
export const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${createHash(
  'sha256',
)
  .update(SCRIPT)
  .digest(
    'base64',
  )}'; connect-src 'none'"><title>stand-in</title></head><body><script>${SCRIPT}</script></body></html>`;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-preview-')));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** A new folder, which is taken away at the end. */
export function newFolder(): string {
  return mkdtempSync(join(folder, 'at-'));
}

/** A copy of the built command line with a page; answers its program. */
export function installedWith(page: string | undefined): string {
  const at = newFolder();
  for (const name of ['bin', 'dist']) mkdirSync(join(at, name));
  for (const name of ['okstra.js', 'package.json']) {
    cpSync(join(root, 'npm-package/bin', name), join(at, 'bin', name));
  }
  const dist = join(root, 'npm-package/dist');
  for (const name of readdirSync(dist)) {
    if (/\.(?:cjs|wasm)$/.test(name)) cpSync(join(dist, name), join(at, 'dist', name));
  }
  if (page !== undefined) writeFileSync(join(at, 'dist/preview.html'), page);
  return join(at, 'bin/okstra.js');
}

let program: string | undefined;

/** The command line with {@link PAGE}. */
export function okstra(): string {
  program ??= installedWith(PAGE);
  return program;
}

/** A project with a task, its plan and nothing else. */
export class Project {
  readonly folder = newFolder();

  constructor(files: Record<string, string> = {}) {
    for (const [path, text] of Object.entries({
      '.okstra/project.json': '{"projectId": "shop"}\n',
      [PLAN]: FOUR,
      ...files,
    })) {
      this.write(path, text);
    }
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  append(text: string): void {
    appendFileSync(this.at(LEDGER), text);
  }
}

/** A server that runs. */
export interface Running {
  child: ChildProcess;
  url: string;
  port: number;
  token: string;
  output: { stdout: string; stderr: string };
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the command in a project; what it prints is kept. */
export function launchIn(
  project: Project,
  args: readonly string[],
  { env = {}, program = okstra() }: { env?: Record<string, string>; program?: string } = {},
): Pick<Running, 'child' | 'output' | 'ended'> {
  const child = spawn(process.execPath, [program, 'preview', ...args], {
    cwd: project.folder,
    env: { PATH: process.env.PATH, OKSTRA_HOME: join(project.folder, '.home'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      children.delete(child);
      resolve({ code, signal });
    });
  });
  return { child, output, ended };
}

/** Waits until something is there. */
export async function until<T>(look: () => T | undefined | false, what: string): Promise<T> {
  const end = Date.now() + 15_000;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Starts a server and waits until it says where it is. */
export async function serve(
  project: Project,
  args: readonly string[] = [PLAN],
  options: Parameters<typeof launchIn>[2] = {},
): Promise<Running> {
  const launched = launchIn(project, ['--no-open', ...args], options);
  let isOver = false;
  void launched.ended.then(() => {
    isOver = true;
  });
  const url = await until(() => {
    if (isOver) throw new Error(`it ended: ${launched.output.stderr}`);
    return /http:\/\/127\.0\.0\.1:\d+\/[\da-f]+\//.exec(launched.output.stdout)?.[0];
  }, 'the address');
  const { port, pathname } = new URL(url);
  return { ...launched, url, port: Number(port), token: pathname.replaceAll('/', '') };
}

/** Ends a server as Ctrl-C does. */
export async function stop({ child, ended }: Pick<Running, 'child' | 'ended'>): Promise<void> {
  child.kill('SIGINT');
  await ended;
}

/** What comes back for these bytes until the other side ends, or is quiet for a while. */
export function exchange(port: number, bytes: string, quiet = 400): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let got = '';
    const over = () => {
      socket.destroy();
      resolve(got);
    };
    socket.setEncoding('latin1').on('data', (text) => {
      got += text;
    });
    socket.setTimeout(quiet, over);
    for (const event of ['end', 'error', 'close']) socket.on(event, over);
  });
}

/** Somebody who follows a server's changes. */
export class Follower {
  readonly frames: PreviewFacts[] = [];
  /** The names of events that are no messages. */
  readonly events: string[] = [];
  /** How many signs of life there were. */
  beats = 0;
  isOver = false;
  #text = '';

  constructor(url: string) {
    const request = get(`${url}events`, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
      for (const event of ['end', 'error', 'close']) response.on(event, () => this.#end());
    });
    request.on('error', () => this.#end());
  }

  #end(): void {
    this.isOver = true;
  }

  #read(text: string): void {
    this.#text += text;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name !== undefined) this.events.push(name);
      else if (block === ':') this.beats += 1;
      else if (block.startsWith('data: ')) this.frames.push(JSON.parse(block.slice(6)));
    }
  }

  get last(): PreviewFacts | undefined {
    return this.frames.at(-1);
  }

  /** Waits for the first frame. */
  async begun(): Promise<this> {
    await until(() => this.frames.length > 0, 'the first frame');
    return this;
  }

  /** The milliseconds from a change to the frame that shows it. */
  async after(change: () => void, shows: (facts: PreviewFacts) => boolean): Promise<number> {
    const start = performance.now();
    change();
    await until(() => this.last !== undefined && shows(this.last), 'the change');
    return performance.now() - start;
  }
}
