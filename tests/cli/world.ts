/** Whole commands against an in-memory world: files, streams, terminal, signals, changes. */

import type { Api } from '../../cli-js/src/cli/context.js';
import { run } from '../../cli-js/src/cli/run.js';
import { entries } from '../../cli-js/src/commands/index.js';
import { type Host, HostError, type Stream } from '../../cli-js/src/host/host.js';
import * as api from '../../npm-package/dist/node.js';

/** What a command left behind. */
export interface Outcome {
  exit: number;
  stdout: string;
  stderr: string;
  /** The files that changed or are new, by path. */
  files: Record<string, string>;
}

/** A world outside that can be looked at. */
export class World implements Host {
  env: Record<string, string | undefined> = {};
  stdin: string | Uint8Array = '';
  columns = 80;
  terminals = new Set<Stream>();
  /** Called right before a file is replaced: what somebody else does in that moment. */
  meanwhile: () => void = () => {};
  readonly streams: Record<Stream, string> = { 1: '', 2: '' };
  readonly writes: [Stream, string][] = [];
  #files = new Map<string, Uint8Array | HostError>();
  #before = new Map<string, Uint8Array | HostError>();
  #changed: (() => void) | undefined;
  #stop: (() => void) | undefined;
  closed = false;

  constructor(files: Record<string, string | Uint8Array | HostError> = {}) {
    for (const [path, content] of Object.entries(files)) this.put(path, content);
    this.#before = new Map(this.#files);
  }

  put(path: string, content: string | Uint8Array | HostError): void {
    this.#files.set(path, typeof content === 'string' ? Buffer.from(content) : content);
  }

  remove(path: string): void {
    this.#files.delete(path);
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
    const content = this.#files.get(path);
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

  isSameFile(one: string, other: string): boolean {
    return one === other;
  }

  write(stream: Stream, text: string): void {
    this.streams[stream] += text;
    this.writes.push([stream, text]);
  }

  isTerminal(stream: Stream): boolean {
    return this.terminals.has(stream);
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

  onInterrupt(stop: () => void): void {
    this.#stop = stop;
  }

  /** Runs a command line to its end. */
  async run(...argv: string[]): Promise<Outcome> {
    const exit = await run(argv, { api: () => api as unknown as Api, host: this, entries });
    const files: Record<string, string> = {};
    for (const [path, content] of this.#files) {
      if (content !== this.#before.get(path) && !(content instanceof HostError)) {
        files[path] = Buffer.from(content).toString();
      }
    }
    return { exit, stdout: this.streams[1], stderr: this.streams[2], files };
  }
}

/** Runs a command line over files. */
export function okstra(
  files: Record<string, string | Uint8Array | HostError>,
  ...argv: string[]
): Promise<Outcome> {
  return new World(files).run(...argv);
}
