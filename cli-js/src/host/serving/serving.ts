/** Showing something live in a browser of this machine. Loaded for `okstra preview` only. */

/** What is served, and how it is asked for as it is now. */
export interface Site {
  /** The port; without it, a free one. */
  port: number | undefined;
  /** The page. */
  page: Page;
  /** The facts as one JSON text without line ends, in pieces that are not changed any more. */
  facts(): Promise<readonly Uint8Array[]>;
  /** Other limits than {@link LIMITS}. */
  limits?: Partial<Limits>;
}

/** A page as it is sent. */
export interface Page {
  html: Uint8Array;
  /** Its Content-Security-Policy. */
  policy: string;
}

/** What nobody may exceed. */
export interface Limits {
  /** Connections at a time. */
  connections: number;
  /** Pages that follow the changes at a time. */
  followers: number;
  /** Milliseconds a connection may go without moving a byte. */
  idleMs: number;
  /** Milliseconds a request may take to arrive. */
  requestMs: number;
  /** Milliseconds between two signs of life to those who follow. */
  heartbeatMs: number;
  /** Milliseconds that those who follow have to take the farewell. */
  farewellMs: number;
}

/** Browsers open up to six connections for each page. */
export const LIMITS: Limits = {
  connections: 64,
  followers: 32,
  idleMs: 45_000,
  requestMs: 10_000,
  heartbeatMs: 15_000,
  farewellMs: 300,
};

/** What is being served. */
export interface Served {
  port: number;
  /** The address with its token. */
  url: string;
  /**
   * An address that leads to it once, within a minute. Words of processes can be read by everybody
   * on a machine, for as long as a browser runs: this one is worth nothing by then.
   */
  once(): string;
  /** Tells all who follow that the facts have changed. */
  changed(): void;
  /** Says farewell to all who follow, and frees the port. */
  close(): Promise<void>;
}

/** A file as it was read. */
export interface Piece {
  /** `undefined` where there is none. */
  bytes: Uint8Array | undefined;
  /** What tells this state of the file from a later one. */
  stamp: string;
}

export interface Serving {
  /**
   * Serves until it is closed, on loopback only.
   * @throws HostError where the port cannot be had
   */
  serve(site: Site): Promise<Served>;
  /**
   * The page of the package, with what makes it follow.
   * @throws HostError where the package is not whole
   */
  page(): Page;
  /** Whether there is a screen on which this process could show something. */
  hasScreen(): boolean;
  /**
   * Shows an address in a browser; answers why it could not.
   * `words` is what `$BROWSER` says; without it the system knows.
   */
  show(url: string, words: string | undefined): Promise<string | undefined>;
  /**
   * Reads a file of at most so many bytes below a folder, links resolved. What is written to it
   * meanwhile gives another stamp.
   * @throws HostError `refused` for a link that leaves the folder and for what is no regular file,
   * `too-large`
   */
  readWithin(folder: string, path: string, most: number): Piece;
  /** What tells the present state of a file or folder from another; of a link, its own. */
  stamp(path: string): string;
}
