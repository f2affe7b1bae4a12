import stringWidth from 'string-width';
import stripAnsi from 'strip-ansi';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const PLAIN = /^[\x20-\x7e\xa0]*$/;

/** White space and separators that would break a line. */
const SPACES = /[\s\u2028\u2029]+/gu;
/** More marks on one letter than any script needs. */
const HEAPS = /(\p{M}{8})\p{M}+/gu;
/** Control, format (except the emoji joiner), surrogate and non-characters. */
const UNPRINTABLE = /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}]|[\ufffe\uffff]/gu;

/**
 * Untrusted text as one printable line: escape sequences and control, bidi and zero-width format
 * characters are removed, white space is one space. What is left is legal in XML 1.0.
 */
export function clean(text: string): string {
  if (PLAIN.test(text) && !text.includes('  ')) return text.trim();
  return stripAnsi(text).replace(SPACES, ' ').replace(UNPRINTABLE, '').replace(HEAPS, '$1').trim();
}

/** The columns a text takes in a terminal: two for CJK and emoji, none for combining marks. */
export function columns(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** The characters as people see them, one by one, each with its columns. */
export function* graphemes(text: string): Generator<{ text: string; columns: number }> {
  if (PLAIN.test(text)) {
    for (const char of text) yield { text: char, columns: 1 };
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    yield { text: segment, columns: stringWidth(segment) };
  }
}

/** Cuts to at most `width` columns; what was cut shows as `ellipsis`. */
export function cut(text: string, width: number, ellipsis = '…'): string {
  if (columns(text) <= width) return text;
  const room = width - columns(ellipsis);
  return room < 0 ? '' : take(text, room).trimEnd() + ellipsis;
}

/** Fills with spaces to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

/** Breaks into at most `lines` lines of `width` columns, at spaces where possible. */
export function wrap(text: string, width: number, lines: number, ellipsis = '…'): string[] {
  const result: string[] = [];
  let rest = text;
  while (columns(rest) > width && result.length < lines - 1) {
    const head = take(rest, width);
    const space = rest.startsWith(' ', head.length) ? head.length : head.lastIndexOf(' ');
    const end = space > 0 ? space : Math.max(head.length, 1);
    result.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  result.push(cut(rest, width, ellipsis));
  return result;
}

/** The longest beginning of at most `width` columns. */
function take(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, width);
  let kept = '';
  let used = 0;
  for (const piece of graphemes(text)) {
    if (used + piece.columns > width) break;
    kept += piece.text;
    used += piece.columns;
  }
  return kept;
}

/** `1 step`, `2 steps`, `1,234 steps`. */
export function count(amount: number, word: string): string {
  return `${amount.toLocaleString('en-US')} ${word}${amount === 1 ? '' : 's'}`;
}
