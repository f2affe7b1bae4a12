/** What somebody sees of worker programs who waits for them: live lines, and what they write. */

import stripAnsi from 'strip-ansi';
import type { DispatchAnswer } from '../../../npm-package/src/index.js';
import { clean, cut } from '../drawing/text.js';
import type { Host } from '../host/host.js';
import type { Follower, Workers } from '../host/workers.js';
import { printable, say } from './talk.js';
import { utf8Of } from './text.js';

/** A dispatch that is named on the command line. */
export interface Named {
  /** The prompt, as it is called in messages. */
  name: string;
  /** The status file. */
  path: string;
}

/** What the name of a status file ends with. */
export const SUFFIX = '.status.json';

/** The log beside a status file. */
export function logOf({ path }: Named): string {
  return `${path.slice(0, -SUFFIX.length)}.log`;
}

/** What is read of a log at once where somebody watches; of more the middle is left out. */
const MOST = 1_048_576;

/** Nothing more is to be seen of it from here. */
export function isOver({ standing }: DispatchAnswer): boolean {
  return standing === 'ended' || standing === 'unknown';
}

/** How a dispatch stands, as one line for a terminal. */
export function lineOf(name: string, { status, words }: DispatchAnswer): string {
  return printable(`${status.cli}-${status.role}  ${name}  ${words}`);
}

/** Colours and movements of the cursor: the only controls that are ever written. */
const UP = (lines: number) => `\u001b[${lines}A`;
const CLEAR_LINE = '\u001b[2K';

/** A dispatch as it was looked at last; without an answer where it is gone. */
interface SeenDispatch extends Named {
  answer: DispatchAnswer | undefined;
}

/**
 * What somebody sees who waits: on a terminal one line for each worker that changes in its place,
 * elsewhere a line whenever something happens. It is written to standard error.
 */
export class Screen {
  readonly #host: Host;
  readonly #isLive: boolean;
  readonly #told = new Map<string, string>();
  readonly #logs = new Map<string, Follower>();
  readonly #printers = new Map<string, Printer>();
  readonly #follow: boolean;
  readonly #workers: Workers;
  readonly #several: boolean;
  #lines = 0;

  constructor(
    { host, workers }: { host: Host; workers: Workers },
    named: readonly Named[],
    values: { follow: boolean },
  ) {
    this.#host = host;
    this.#workers = workers;
    this.#follow = values.follow;
    this.#several = named.length > 1;
    this.#isLive = !values.follow && host.isTerminal(2) && host.env.TERM !== 'dumb';
  }

  show(seen: readonly SeenDispatch[]): void {
    if (this.#isLive) this.#redraw(seen);
    else for (const it of seen) this.#tell(it);
  }

  #log(named: Named): Follower {
    const path = logOf(named);
    let log = this.#logs.get(path);
    if (log === undefined) {
      log = this.#workers.follow(path);
      this.#logs.set(path, log);
    }
    return log;
  }

  #tell(seen: SeenDispatch): void {
    const { name, path, answer } = seen;
    if (answer === undefined) return;
    if (this.#follow) {
      const { cli, role } = answer.status;
      const prefix = this.#several ? `${cli}-${role} | ` : '';
      const printer = this.#printers.get(path) ?? new Printer(this.#log(seen), prefix);
      this.#printers.set(path, printer);
      // At the end all of it, before what is said about it.
      for (let text = printer.take(isOver(answer)); text !== ''; text = printer.take(true)) {
        this.#host.write(2, text);
        if (!isOver(answer)) break;
      }
    }
    // The end is told by the answer itself.
    if (this.#told.get(path) === answer.words || isOver(answer)) return;
    this.#told.set(path, answer.words);
    say(this.#host, lineOf(name, answer));
  }

  #redraw(seen: readonly SeenDispatch[]): void {
    const width = Math.max(20, this.#host.width() - 1);
    // What has scrolled out of the terminal cannot be written to again.
    const room = Math.max(1, this.#host.height() - 1);
    const there = seen.filter(({ answer }) => answer !== undefined);
    const last = ({ answer }: SeenDispatch) => Number(answer !== undefined && isOver(answer));
    const fits = there.length <= room;
    const chosen = fits
      ? there
      : [...there].sort((one, other) => last(one) - last(other)).slice(0, room - 1);
    const lines = chosen.flatMap((it) => {
      const { name, answer } = it;
      if (answer === undefined) return [];
      const { status } = answer;
      const time = isOver(answer) ? '' : ` ${spanSince(status.started_at, this.#host.now())}`;
      const said = isOver(answer) ? '' : lastLine(this.#log(it));
      // The folder takes more room than a line has, and is the same for most.
      const file = name.slice(name.lastIndexOf('/') + 1);
      const parts = [`${status.cli}-${status.role}`, file, `${answer.words}${time}`, said];
      return [cut(parts.map(clean).join('  ').trimEnd(), width)];
    });
    if (!fits) lines.push(`… and ${there.length - chosen.length} more`);
    // Lines from before that are not needed any more are emptied.
    while (lines.length < Math.min(this.#lines, room)) lines.push('');
    const up = this.#lines === 0 ? '' : UP(this.#lines);
    this.#host.write(2, up + lines.map((line) => `${CLEAR_LINE}${line}\n`).join(''));
    this.#lines = lines.length;
  }

  /** Takes the live lines away: something else follows. */
  clear(): void {
    if (!this.#isLive || this.#lines === 0) return;
    const blank = `${CLEAR_LINE}\n`.repeat(this.#lines);
    this.#host.write(2, UP(this.#lines) + blank + UP(this.#lines));
    this.#lines = 0;
  }

  close(): void {
    this.clear();
    for (const log of this.#logs.values()) log.close();
  }
}

/** How long ago something began, as minutes and seconds. */
export function spanSince(start: string | null, now: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(start ?? now)) / 1000));
  const two = (number: number) => String(number).padStart(2, '0');
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

/** The last line of a log with something in it. */
function lastLine(log: Follower): string {
  const text = utf8Of(log.end(4_096));
  const lines = text.split(/[\r\n]+/).map(clean);
  return lines.filter((line) => line !== '').at(-1) ?? '';
}

/** A line that never ends is cut here. */
const LONGEST = 16_384;

/** Text for a terminal out of a log: whole lines without what could steer it. */
export class Printer {
  readonly #log: Follower;
  readonly #prefix: string;
  // Bytes that are no UTF-8 show as replacement characters; the log keeps them.
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(log: Follower, prefix = '') {
    this.#log = log;
    this.#prefix = prefix;
  }

  /** What has come since, at most a piece; with `all` also a line without its end. */
  take(all: boolean): string {
    const { bytes, skipped } = this.#log.read(MOST);
    const note = skipped === 0 ? '' : this.#line(`… ${skipped} bytes are left out here …`);
    if (skipped > 0) this.#rest = '';
    const isEnd = all && bytes.length === 0;
    // At the end also the first bytes of a letter whose others never came.
    const text = this.#rest + this.#decoder.decode(bytes, { stream: !isEnd });
    const lines = text.split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LONGEST || (isEnd && this.#rest !== '')) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    const shown = note + lines.map((line) => this.#line(line)).join('');
    // Nothing means to who asks that there is nothing more: a piece without an end of line is not it.
    return all && !isEnd && shown === '' ? this.take(all) : shown;
  }

  #line(text: string): string {
    return `${this.#prefix}${withoutControls(text)}\n`;
  }
}

/** Colours and the like as a whole, then every other control; tabs stay. */
function withoutControls(text: string): string {
  return text
    .split('\t')
    .map((part) => printable(stripAnsi(part)))
    .join('\t');
}
