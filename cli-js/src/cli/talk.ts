/** What okstra itself says: one line on standard error, safe to show in a terminal. */
import { OkstraError } from '../../../npm-package/src/error.js';
import { type Host, HostError, type HostReason } from '../host/host.js';
import { FAULT, REFUSED, USAGE, UsageError } from './exit.js';

/** The name standard input has in messages and reports. */
export const STDIN = '<stdin>';

/**
 * A text without what could steer a terminal or fake a line: control characters (C0, DEL, C1),
 * line and paragraph separators, and the marks that reverse the direction of writing.
 */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    '\u{fffd}',
  );
}

/** Says one line. */
export function say(host: Host, line: string): void {
  host.write(2, `okstra: ${printable(line)}\n`);
}

/** Whether the core found that bytes are no text it can read. */
export function isNoText(error: unknown): boolean {
  return error instanceof OkstraError && ['not-utf8', 'binary', 'too-large'].includes(error.code);
}

/** What a fault outside means for the exit status. */
const STATUS: Record<HostReason, number> = {
  missing: USAGE,
  directory: USAGE,
  denied: USAGE,
  'too-large': USAGE,
  changed: REFUSED,
  'no-space': FAULT,
  other: FAULT,
};

/** Says what went wrong, in one line with the remedy, and answers the exit status. */
export function explain(host: Host, error: unknown, path?: string): number {
  const where = path === undefined ? '' : `${path}: `;
  if (error instanceof UsageError) {
    say(host, error.message);
    return USAGE;
  }
  if (error instanceof HostError) {
    say(host, `${error.path}: ${error.message}; ${error.help}`);
    return STATUS[error.reason];
  }
  if (error instanceof OkstraError) {
    say(host, `${where}${error.message}${error.help === null ? '' : `; ${error.help}`}`);
    return isNoText(error) || error.code === 'bad-options' ? USAGE : FAULT;
  }
  const message = error instanceof Error ? error.message : String(error);
  say(host, `${where}unexpected fault: ${message}; please report it, with the plan if you can`);
  return FAULT;
}
