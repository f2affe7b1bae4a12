/**
 * Everything outside the process as one value, so that whole commands can be run against an
 * in-memory world. Nothing but the modules of this folder touches files, streams or signals.
 *
 * They import the built-in modules by name: for `import * as fs` the bundler copies the module at
 * every start, once for each file that does it.
 */

import type { Engine } from './engine.js';
import type { Gh } from './gh.js';
import type { Git } from './git/git.js';
import type { Prompts } from './prompts.js';
import type { Scanned } from './scan.js';
import type { Serving } from './serving/serving.js';
import type { NotedPlan } from './sessions.js';
import type { Tmux } from './tmux.js';
import type { Workers } from './workers.js';

/** Standard streams by descriptor number. */
export type Stream = 1 | 2;

export interface Host {
  /** The environment. */
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Reads a whole file.
   * @throws HostError with the path and a remedy
   */
  readFile(path: string): Uint8Array;
  /** Reads standard input to its end. */
  readStdin(): Uint8Array;
  /**
   * Replaces a file that was read before as `was`, all or nothing: a temporary file in the same
   * folder, flushed to disk, renamed over it. The mode stays, a symbolic link stays a link.
   * @throws HostError `changed` where the file no longer holds `was`
   */
  replaceFile(path: string, was: Uint8Array, text: string): void;
  /**
   * Takes a file away that was read before as `was`. One that is gone already is no error.
   * @throws HostError `changed` where the file no longer holds `was`
   */
  removeFile(path: string, was: Uint8Array): void;
  /** Takes a folder away if nothing is in it; any other stays. */
  removeFolder(path: string): void;
  /**
   * Writes a file, new or not, all or nothing.
   * @throws HostError
   */
  writeFile(path: string, text: string): void;
  /**
   * Makes a file that is not there yet, and its folders, all or nothing and on disk before it
   * returns.
   * @throws HostError `exists` where there is one; it is never replaced
   */
  writeNew(path: string, text: string): void;
  /**
   * Appends one line to a file with one write, on disk before it returns; makes the file and its
   * folders where missing. After a last line without its end, a new line is begun first. What
   * fails half-way is undone. The caller holds the lock of the file.
   * @throws HostError
   */
  append(path: string, line: string): void;
  /**
   * Reads a whole file, `undefined` where there is none.
   * @throws HostError for whatever else keeps it from being read
   */
  readIfThere(path: string): Uint8Array | undefined;
  /** Whether there is anything of this name, as far as it can be seen. */
  exists(path: string): boolean;
  /** Whether there is a regular file of this name. */
  isFile(path: string): boolean;
  /** The names in a folder, sorted; none where there is no folder. */
  list(folder: string): string[];
  /**
   * The one absolute path of a file, without links: also of one that is not there yet, by the
   * deepest folder above it that is.
   */
  realPath(path: string): string;
  /** Whether two paths name one file, through links too; `false` where either is missing. */
  isSameFile(one: string, other: string): boolean;
  /** Writes all of a text to a standard stream. A reader that has gone away is no error. */
  write(stream: Stream, text: string): void;
  /** Whether a person looks at the stream. */
  isTerminal(stream: Stream): boolean;
  /** Whether a person can be asked: standard input and standard error are a terminal. */
  isInteractive(): boolean;
  /** Asks the person. Loaded when it is first asked for. */
  prompts(): Promise<Prompts>;
  /** The columns of the terminal, or what COLUMNS says, or 80. */
  width(): number;
  /** The rows of the terminal at standard error, or 24. */
  height(): number;
  /**
   * Calls back after any of the files changed, appeared or vanished, until it is closed. A path
   * that ends with `/` stands for every file in that folder.
   */
  watchFiles(paths: readonly string[], changed: () => void): Promise<Watcher>;
  /**
   * Runs `work` while holding the kernel lock on `lockFile`, which dies with this process.
   * `holder` is the name that those who wait are told. Only `process.exit` ends a process at once
   * whose time to wait is up.
   * @throws HostError `locked` where another still holds it after `waitMs`
   */
  withLock<T>(
    lockFile: string,
    holder: string,
    waitMs: number,
    work: () => T | Promise<T>,
  ): Promise<T>;
  /**
   * Runs `work` while holding the kernel lock of a file itself, which is neither made nor changed.
   * A file that may not be written to cannot be locked; then there is no lock.
   * @throws HostError `locked` where another still holds it after `waitMs`
   */
  withLockOn<T>(file: string, waitMs: number, work: () => T | Promise<T>): Promise<T>;
  /** The current folder. */
  cwd(): string;
  /** The time, ISO 8601 in UTC with milliseconds. */
  now(): string;
  /** A new name for a claim: twelve small letters and digits. */
  newId(): string;
  /** The folder of okstra itself: `$OKSTRA_HOME`, else `~/.okstra`; absolute. */
  home(): string;
  /** The name of this machine. */
  hostName(): string;
  /** This process itself. */
  ownProcess(): SessionProcess;
  /** The process that a claim lives with, if it can be told. */
  sessionProcess(): SessionProcess | undefined;
  /**
   * What has become of a process of this host. `start` is what {@link SessionProcess.pid_start}
   * was when it was written down.
   */
  processState(pid: number, start: string | undefined): ProcessState;
  /**
   * The commit and the branch that a folder is at; `undefined` where there is no git, no
   * repository or no commit yet. Started at once, so that other work can go on meanwhile.
   */
  gitHead(folder: string): Promise<GitHead | undefined>;
  /** The committed tree of a folder and whether nothing is changed; `undefined` without git. */
  gitTree(folder: string): Promise<{ tree: string; clean: boolean } | undefined>;
  /** Everything else about git. Loaded when it is first asked for. */
  git(): Promise<Git>;
  /** GitHub's command line. Loaded when it is first asked for. */
  gh(): Promise<Gh>;
  /** The panes of tmux. Loaded when it is first asked for. */
  tmux(): Promise<Tmux>;
  /** Container engines. Loaded when they are first asked for. */
  engine(): Promise<Engine>;
  /** Showing something in a browser. Loaded when it is first asked for. */
  serving(): Promise<Serving>;
  /** Worker programs and their supervisors. Loaded when it is first asked for. */
  workers(): Promise<Workers>;
  /** The folder of Claude Code: `$CLAUDE_CONFIG_DIR`, else `~/.claude`; absolute. */
  claudeFolder(): string;
  /**
   * Reads a file of any size and hands on the lines that hold a word, many at once; `undefined`
   * where there is no file.
   * @throws HostError
   */
  scanLines(
    path: string,
    word: string,
    found: (lines: Uint8Array) => void,
  ): Promise<Scanned | undefined>;
  /** The beginning of a file; empty where there is none or it may not be read. */
  readStart(path: string, bytes: number): Promise<Uint8Array>;
  /**
   * Runs a program, not through a shell; what it prints goes to standard error.
   * @throws HostError where it cannot be started
   */
  runProgram(
    words: readonly [string, ...string[]],
    options: { folder: string; env: Readonly<Record<string, string>> },
  ): Promise<Ran>;
  /**
   * Leaves a sign of life of a session, and the plan of which it is about to claim a stage, for the
   * hooks that run in it.
   * @throws HostError
   */
  noteClaim(session: string, noted: NotedPlan): void;
  /** When a session was last heard of, as {@link Host.now} writes it. */
  signOfLife(session: string): string | undefined;
  /** What has become of the process a session began in last; `undefined` where nobody noted one. */
  sessionState(session: string): ProcessState | undefined;
  /** Calls back when the person asks to stop (Ctrl-C, a termination signal). */
  onInterrupt(stop: () => void): void;
}

/** A running watch. */
export interface Watcher {
  close(): Promise<void>;
}

/** How a program ended. */
export interface Ran {
  /** `null` where a signal ended it. */
  exit_code: number | null;
  duration_ms: number;
}

/** What a working tree is at. */
export interface GitHead {
  /** The full id of the commit. */
  commit: string;
  /** The branch; `null` where the head is detached. */
  branch: string | null;
}

/** A process and what tells it from a later one with the same number. */
export interface SessionProcess {
  pid: number;
  /** `null` where the system does not tell. */
  pid_start: string | null;
}

/** `unknown` is what cannot be judged from here: another machine, another container. */
export type ProcessState = 'alive' | 'gone' | 'unknown';

/** Why something outside did not work. `refused`: it could be done, and work would be lost. */
export type HostReason =
  | 'missing'
  | 'directory'
  | 'denied'
  | 'changed'
  | 'exists'
  | 'locked'
  | 'too-large'
  | 'unreadable'
  | 'no-space'
  | 'refused'
  | 'other';

/** Something outside did not work: which file, why, and what to do about it. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly reason: HostReason;
  readonly path: string;
  readonly help: string;

  /** A part that is loaded later is a bundle of its own and has a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'HostError';
  }

  constructor(reason: HostReason, path: string, message: string, help: string) {
    super(message);
    this.reason = reason;
    this.path = path;
    this.help = help;
  }
}
