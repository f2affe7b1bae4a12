/** Whole commands against an in-memory world: files, streams, terminal, locks, processes, time. */
import { posix } from 'node:path';
import type { Api } from '../../cli-js/src/cli/context.js';
import { run } from '../../cli-js/src/cli/run.js';
import { commands } from '../../cli-js/src/commands/index.js';
import type { Engine } from '../../cli-js/src/host/engine.js';
import type { Gh, PullRequest } from '../../cli-js/src/host/gh.js';
import type { Git } from '../../cli-js/src/host/git/git.js';
import {
  type GitHead,
  type Host,
  HostError,
  type ProcessState,
  type Ran,
  type SessionProcess,
  type Stream,
} from '../../cli-js/src/host/host.js';
import type { Prompted, Prompts } from '../../cli-js/src/host/prompts.js';
import type { Serving } from '../../cli-js/src/host/serving/serving.js';
import type { Tmux } from '../../cli-js/src/host/tmux.js';
import type { Workers } from '../../cli-js/src/host/workers.js';
import * as api from '../../npm-package/dist/node.js';
import { GitWorld } from './git.js';

/** What a command left behind. */
export interface Outcome {
  exit: number;
  stdout: string;
  stderr: string;
  /** The files that changed or are new, by path. */
  files: Record<string, string>;
}

/** Where the files of a world are put. */
const HOME_FOLDER = '/desk';

/** A world outside that can be looked at. */
export class World implements Host {
  env: Record<string, string | undefined> = {};
  stdin: string | Uint8Array = '';
  columns = 80;
  /** The current folder; paths in what a command leaves behind are relative to `/desk`. */
  folder = HOME_FOLDER;
  terminals = new Set<Stream>();
  /** Called right before a file is replaced: what somebody else does in that moment. */
  meanwhile: () => void = () => {};
  /** The locks others hold: whoever asks for one of them is refused. */
  readonly locked = new Set<string>();
  /** The locks held while files were appended to or made, by path. */
  readonly guarded: [path: string, locks: string[]][] = [];
  /** The time, which stands still until somebody moves it. */
  clock = new Date('2026-01-01T00:00:00.000Z');
  machine = 'box';
  session: SessionProcess | undefined = { pid: 100, pid_start: 'start-100' };
  /** What has become of processes, by number; the others are unknown. */
  readonly processes = new Map<number, ProcessState>();
  /** When sessions were last heard of. */
  readonly signs = new Map<string, string>();
  readonly streams: Record<Stream, string> = { 1: '', 2: '' };
  readonly writes: [Stream, string][] = [];
  #files = new Map<string, Uint8Array | HostError>();
  #before = new Map<string, Uint8Array | HostError>();
  #changed: (() => void) | undefined;
  #stop: (() => void) | undefined;
  #held: string[] = [];
  #ids = 0;
  closed = false;

  constructor(files: Record<string, string | Uint8Array | HostError> = {}) {
    for (const [path, content] of Object.entries(files)) this.put(path, content);
    this.#before = new Map(this.#files);
  }

  put(path: string, content: string | Uint8Array | HostError): void {
    this.#files.set(
      this.realPath(path),
      typeof content === 'string' ? Buffer.from(content) : content,
    );
  }

  remove(path: string): void {
    this.#files.delete(this.realPath(path));
  }

  /** Tells a running watch that something happened. */
  touch(): void {
    this.#changed?.();
  }

  interrupt(): void {
    this.#stop?.();
  }

  /** Resolves once standard error holds the text so many times. */
  async until(text: string, times: number): Promise<void> {
    while (this.streams[2].split(text).length <= times) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  readFile(path: string): Uint8Array {
    const content = this.#files.get(this.realPath(path));
    if (content instanceof HostError) throw content;
    if (content === undefined)
      throw new HostError('missing', path, 'no such file', 'check the path');
    return content;
  }

  readStdin(): Uint8Array {
    return Buffer.from(this.stdin as string);
  }

  replaceFile(path: string, was: Uint8Array, text: string): void {
    this.meanwhile();
    if (Buffer.compare(this.readFile(path), was) !== 0) {
      throw new HostError('changed', path, 'changed while okstra worked on it', 'run it again');
    }
    this.put(path, text);
  }

  writeFile(path: string, text: string): void {
    this.put(path, text);
  }

  writeNew(path: string, text: string): void {
    if (this.#files.has(this.realPath(path))) {
      throw new HostError('exists', path, 'exists already', 'move it away');
    }
    this.guarded.push([path, [...this.#held]]);
    this.put(path, text);
  }

  removeFile(path: string, was: Uint8Array): void {
    if (Buffer.compare(this.readFile(path), was) !== 0) {
      throw new HostError('changed', path, 'changed while okstra worked on it', 'run it again');
    }
    this.remove(path);
  }

  removeFolder(): void {}

  append(path: string, line: string): void {
    const before = Buffer.from(this.readIfThere(path) ?? '').toString('latin1');
    const start = before === '' || before.endsWith('\n') ? before : `${before}\n`;
    this.guarded.push([path, [...this.#held]]);
    this.put(
      path,
      Buffer.concat([Buffer.from(start, 'latin1'), Buffer.from(`${line.replace(/\n$/, '')}\n`)]),
    );
  }

  readIfThere(path: string): Uint8Array | undefined {
    return this.#files.has(this.realPath(path)) ? this.readFile(path) : undefined;
  }

  isFile(path: string): boolean {
    return this.#files.has(this.realPath(path));
  }

  exists(path: string): boolean {
    return this.#files.has(this.realPath(path)) || this.list(path).length > 0;
  }

  list(folder: string): string[] {
    const start = `${this.realPath(folder)}/`;
    const inside = [...this.#files.keys()].filter((path) => path.startsWith(start));
    return [
      ...new Set(inside.map((path) => path.slice(start.length).split('/', 1)[0] ?? '')),
    ].sort();
  }

  realPath(path: string): string {
    return posix.resolve(this.cwd(), path);
  }

  isSameFile(one: string, other: string): boolean {
    return one === other;
  }

  async withLockOn<T>(_file: string, _waitMs: number, work: () => T | Promise<T>): Promise<T> {
    return work();
  }

  async withLock<T>(
    lockFile: string,
    _holder: string,
    _waitMs: number,
    work: () => T | Promise<T>,
  ): Promise<T> {
    if (this.locked.has(lockFile)) {
      throw new HostError('locked', lockFile, 'locked by another process', 'try again');
    }
    this.locked.add(lockFile);
    this.#held.push(lockFile);
    try {
      return await work();
    } finally {
      this.locked.delete(lockFile);
      this.#held = this.#held.filter((file) => file !== lockFile);
    }
  }

  cwd(): string {
    return this.folder;
  }

  now(): string {
    return this.clock.toISOString();
  }

  newId(): string {
    this.#ids += 1;
    return String(this.#ids).padStart(12, '0');
  }

  home(): string {
    return '/home/okstra';
  }

  hostName(): string {
    return this.machine;
  }

  ownProcess(): SessionProcess {
    return { pid: 4242, pid_start: 'own' };
  }

  sessionProcess(): SessionProcess | undefined {
    return this.session;
  }

  processState(pid: number): ProcessState {
    return this.processes.get(pid) ?? 'unknown';
  }

  /** The plans that sessions were about to claim stages of. */
  readonly noted: [session: string, plan: string][] = [];

  noteClaim(session: string, { plan }: { plan: string }): void {
    this.noted.push([session, plan]);
  }

  /** What has become of the processes that sessions began in. */
  readonly resumed = new Map<string, ProcessState>();

  sessionState(session: string): ProcessState | undefined {
    return this.resumed.get(session);
  }

  signOfLife(session: string): string | undefined {
    return this.signs.get(session);
  }

  write(stream: Stream, text: string): void {
    this.streams[stream] += text;
    this.writes.push([stream, text]);
  }

  isTerminal(stream: Stream): boolean {
    return this.terminals.has(stream);
  }

  isInteractive(): boolean {
    return this.terminals.has(1) && this.terminals.has(2);
  }

  /** What a person does, question by question; what is asked is noted. */
  readonly person: Prompted[] = [];
  readonly questions: object[] = [];

  async prompts(): Promise<Prompts> {
    const ask = async (question: object): Promise<Prompted> => {
      this.questions.push(question);
      return this.person.shift() ?? { kind: 'stop' };
    };
    return { choose: ask, write: ask };
  }

  height(): number {
    return 24;
  }

  width(): number {
    return this.columns;
  }

  async watchFiles(_paths: readonly string[], changed: () => void) {
    this.#changed = changed;
    return {
      close: async () => {
        this.closed = true;
      },
    };
  }

  /** What git says of the project. */
  head: GitHead | undefined;

  /** The repository that `git()` answers for. */
  readonly repository = new GitWorld();
  /** The pull requests that were opened; no `gh` is installed where it is undefined. */
  pullRequests: PullRequest[] | undefined;

  /** The servers of tmux by name, with what lists their panes. */
  readonly servers = new Map<string, (mark: string) => string>();
  /** The panes that were closed. */
  readonly closedPanes: string[] = [];

  async tmux(): Promise<Tmux> {
    return {
      list: async (server, mark) => this.servers.get(server)?.(mark),
      close: async (panes) => {
        this.closedPanes.push(...panes.map((pane) => pane.pane_id));
        return [...panes];
      },
      tag: async () => {},
      open: async () => '%99',
      entitle: async () => {},
    };
  }

  /** No engine is there. */
  async engine(): Promise<Engine> {
    return {
      ask: async () => ({ fault: 'missing', stdout: '', stderr: '' }),
      compose: async () => ({ status: null, said: 'no such program' }),
    };
  }

  async serving(): Promise<Serving> {
    throw new Error('a preview is tested with real sockets');
  }

  workers(): Promise<Workers> {
    // Real processes are what it is about: tests/dispatch.
    throw new Error('no worker programs in this world');
  }

  claudeFolder(): string {
    return '/home/claude';
  }

  async scanLines(path: string, word: string, found: (lines: Uint8Array) => void) {
    const bytes = this.readIfThere(path);
    if (bytes === undefined) return undefined;
    const lines = Buffer.from(bytes).toString().split('\n');
    found(Buffer.from(lines.filter((line) => line.includes(word)).join('\n')));
    return { passedOver: 0 };
  }

  async readStart(path: string, bytes: number): Promise<Uint8Array> {
    return this.readIfThere(path)?.subarray(0, bytes) ?? new Uint8Array();
  }

  async git(): Promise<Git> {
    return this.repository;
  }

  async gh(): Promise<Gh> {
    const requests = this.pullRequests;
    return {
      present: async () => requests !== undefined,
      createPullRequest: async (request) => {
        if (requests === undefined) throw new HostError('missing', 'gh', 'no such program', 'x');
        return `https://example.org/pull/${requests.push(request)}`;
      },
    };
  }

  /** What programs end with, by their first word; one that is not here cannot be started. */
  programs = new Map<string, number>();
  /** Every program that was run, with its words. */
  readonly ran: string[][] = [];

  async gitTree() {
    return this.head === undefined ? undefined : { tree: 'f'.repeat(40), clean: true };
  }

  async runProgram(words: readonly [string, ...string[]]): Promise<Ran> {
    this.ran.push([...words]);
    const exit_code = this.programs.get(words[0]);
    if (exit_code === undefined) {
      throw new HostError('missing', words[0], 'no such program', 'install it');
    }
    return { exit_code, duration_ms: 5 };
  }

  async gitHead(): Promise<GitHead | undefined> {
    return this.head;
  }

  onInterrupt(stop: () => void): void {
    this.#stop = stop;
  }

  /** Runs a command line to its end; the output is that of this command alone. */
  async run(...argv: string[]): Promise<Outcome> {
    const [stdout, stderr] = [this.streams[1].length, this.streams[2].length];
    const exit = await run(argv, { api: () => api as unknown as Api, host: this, commands });
    const files: Record<string, string> = {};
    for (const [path, content] of this.#files) {
      if (content !== this.#before.get(path) && !(content instanceof HostError)) {
        const name = path.startsWith(`${HOME_FOLDER}/`) ? path.slice(HOME_FOLDER.length + 1) : path;
        files[name] = Buffer.from(content).toString();
      }
    }
    return {
      exit,
      stdout: this.streams[1].slice(stdout),
      stderr: this.streams[2].slice(stderr),
      files,
    };
  }
}

/** Runs a command line over files. */
export function okstra(
  files: Record<string, string | Uint8Array | HostError>,
  ...argv: string[]
): Promise<Outcome> {
  return new World(files).run(...argv);
}
