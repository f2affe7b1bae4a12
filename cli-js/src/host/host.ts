/**
 * Everything outside the process as one value, so that whole commands can be run against an
 * in-memory world. Nothing but the modules of this folder touches files, streams or signals.
 */

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
   * Writes a file, new or not, all or nothing.
   * @throws HostError
   */
  writeFile(path: string, text: string): void;
  /** Whether two paths name one file, through links too; `false` where either is missing. */
  isSameFile(one: string, other: string): boolean;
  /** Writes all of a text to a standard stream. A reader that has gone away is no error. */
  write(stream: Stream, text: string): void;
  /** Whether a person looks at the stream. */
  isTerminal(stream: Stream): boolean;
  /** The columns of the terminal, or what COLUMNS says, or 80. */
  width(): number;
  /** Calls back after any of the files changed, appeared or vanished, until it is closed. */
  watchFiles(paths: readonly string[], changed: () => void): Promise<Watcher>;
  /** Calls back when the person asks to stop (Ctrl-C, a termination signal). */
  onInterrupt(stop: () => void): void;
}

/** A running watch. */
export interface Watcher {
  close(): Promise<void>;
}

/** Why something outside did not work. */
export type HostReason =
  | 'missing'
  | 'directory'
  | 'denied'
  | 'changed'
  | 'too-large'
  | 'unreadable'
  | 'no-space'
  | 'other';

/** Something outside did not work: which file, why, and what to do about it. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly reason: HostReason;
  readonly path: string;
  readonly help: string;

  constructor(reason: HostReason, path: string, message: string, help: string) {
    super(message);
    this.reason = reason;
    this.path = path;
    this.help = help;
  }
}
