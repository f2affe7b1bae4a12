/** What okstra itself says: one line on standard error, safe to show in a terminal. */
import type { OkstraError } from '../../../npm-package/src/error.js';
import { type Host, HostError, type HostReason } from '../host/host.js';
import { FAULT, REFUSED, USAGE } from './exit.js';

/** The name standard input has in messages and reports. */
export const STDIN = '<stdin>';

/**
 * What could steer a terminal or fake a line: control characters (C0, DEL, C1), line and
 * paragraph separators, and the marks of bidirectional text. The same set as `steers_terminal`
 * in the core; a test compares them.
 */
const STEERS_TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text without what could steer a terminal or fake a line. */
export function printable(text: string): string {
  return text.replace(STEERS_TERMINAL, '');
}

/** A value as indented JSON in which such characters are escapes. */
export function printableJson(value: unknown): string {
  const escaped = (char: string) =>
    // Line feeds are the layout's own; those of texts are escapes already.
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(STEERS_TERMINAL, escaped);
}

/** What is needed to say something. */
export type Speaker = Pick<Host, 'write'>;

/** Says one line about okstra itself. */
export function say(host: Speaker, line: string): void {
  host.write(2, `okstra: ${printable(line)}\n`);
}

/** Says one line about a plan or another file, which comes first, as in the reports. */
export function sayOf(host: Speaker, name: string, line: string): void {
  // A name like `::error::x` would be a command to a workflow runner.
  const safe = /^(::|##)/.test(name) ? `./${name}` : name;
  host.write(2, `${printable(`${safe}: ${line}`)}\n`);
}

/** Whether the core threw it. Its class may come from another bundle, so its name decides. */
function isOfCore(error: unknown): error is OkstraError {
  return error instanceof Error && error.name === 'OkstraError';
}

/** Whether the core found that bytes are no text it can read. */
export function isNoText(error: unknown): boolean {
  return isOfCore(error) && ['not-utf8', 'binary', 'too-large'].includes(error.code);
}

/** What a fault outside means for the exit status. */
const STATUS: Record<HostReason, number> = {
  missing: USAGE,
  directory: USAGE,
  denied: USAGE,
  'too-large': USAGE,
  unreadable: USAGE,
  changed: REFUSED,
  exists: REFUSED,
  refused: REFUSED,
  locked: FAULT,
  'no-space': FAULT,
  other: FAULT,
};

/** Something went wrong with one plan. */
class PlanError extends Error {
  override readonly name = 'PlanError';
  readonly plan: string;

  constructor(plan: string, cause: unknown) {
    super(plan, { cause });
    this.plan = plan;
  }
}

/** Whether a plan is named. Its class may come from another bundle, so its name decides. */
export function isPlanError(error: unknown): error is PlanError {
  return error instanceof Error && error.name === 'PlanError';
}

/** Does what concerns one plan, so that a failure names it. */
export function about<T>(plan: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new PlanError(plan, error);
  }
}

/** A remedy with the plan it is for, where that is known, so that it can be typed as it stands. */
function withPlan(help: string, name: string | undefined): string {
  if (name === undefined) return help;
  const word = /^[\w@%+=:,./-]+$/.test(name) ? name : JSON.stringify(name);
  return help.replaceAll(' PLAN', () => ` ${word}`);
}

/** Says what went wrong, in one line with the remedy, and answers the exit status. */
export function explain(host: Speaker, error: unknown, name?: string): number {
  const tell = (line: string) => (name === undefined ? say(host, line) : sayOf(host, name, line));
  if (isPlanError(error)) {
    // What is wrong with evidence names the file of the evidence.
    const ofPlan = !(isOfCore(error.cause) && error.cause.code === 'contract-violated');
    return explain(host, error.cause, ofPlan ? error.plan : undefined);
  }
  if (error instanceof Error && error.name === 'UsageError') {
    say(host, error.message);
    return USAGE;
  }
  if (error instanceof HostError) {
    sayOf(host, error.path, `${error.message}; ${error.help}`);
    return STATUS[error.reason];
  }
  if (isOfCore(error)) {
    const { lines } = error.details;
    if (lines === undefined) {
      tell(`${error.message}${error.help === null ? '' : `; ${error.help}`}`);
    } else {
      tell(error.message);
      for (const line of lines) host.write(2, `${printable(line)}\n`);
      if (error.help !== null) say(host, withPlan(error.help, name));
    }
    return error.exit_code;
  }
  const message = error instanceof Error ? error.message : String(error);
  tell(`unexpected fault: ${message}; please report it, with the plan if you can`);
  return FAULT;
}
