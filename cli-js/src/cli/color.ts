/** Whether to use colour. */
import { styleText } from 'node:util';
import type { Host, Stream } from '../host/host.js';
import type { OptionSpec } from './define.js';

/** The option `--color`, `--no-color`. */
export const colorOption = {
  kind: 'switch',
  text: 'use colour, also where the output is no terminal',
  off: 'use no colour',
} as const satisfies OptionSpec;

/**
 * The person's word comes first, then NO_COLOR (set to anything), then FORCE_COLOR (`0` and
 * `false` are no), then whether the stream is a terminal that knows colours.
 */
export function wantsColor(host: Host, stream: Stream, asked: boolean | undefined): boolean {
  if (asked !== undefined) return asked;
  const { NO_COLOR, FORCE_COLOR, TERM } = host.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return TERM !== 'dumb' && host.isTerminal(stream);
}

/** A text in a style. Whether the stream takes colour is the caller's question, not Node's. */
export function paint(style: 'bold' | 'dim', text: string): string {
  return styleText(style, text, { validateStream: false });
}
