/** Several values in one word of a command line. */
import { UsageError } from './exit.js';

/** The values: with commas between, or a JSON list where a value holds one itself. */
export function readList(text: string, option: string): string[] {
  if (!text.trimStart().startsWith('[')) {
    return text
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '');
  }
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    list = undefined;
  }
  if (Array.isArray(list) && list.every((value) => typeof value === 'string')) return list;
  throw new UsageError(
    `--${option} takes values with commas between, or a JSON list of texts; got '${text}'`,
  );
}
