/** Tables that are too wide for the terminal, or hold letters of unusual width. */
import { columns, pad, wrap } from '../drawing/text.js';

/** A column that can be made narrower stays at least this wide. */
const LEAST = 10;

/**
 * The lines of a table, whose first row is its head. Where the room is short, the widest of the
 * columns with a flexible name give way; where that is not enough, each row becomes a paragraph
 * and the answer is no table.
 */
export function wrapRows(
  rows: readonly (readonly string[])[],
  flexible: readonly string[],
  gap: string,
  room: number,
): { lines: string[]; isTable: boolean } {
  const [head = [], ...body] = rows;
  const widths = head.map((_, at) =>
    rows.reduce((widest, row) => Math.max(widest, columns(row[at] ?? '')), 0),
  );
  let missing = widths.reduce((sum, one) => sum + one + gap.length, -gap.length) - room;
  for (; missing > 0; missing -= 1) {
    const canGive = (at: number) =>
      flexible.includes(head[at] ?? '') &&
      (widths[at] ?? 0) > Math.max(LEAST, columns(head[at] ?? ''));
    const [widest] = head
      .map((_, at) => at)
      .filter(canGive)
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0));
    if (widest === undefined) {
      return { lines: body.flatMap((row) => paragraph(head, row, room)), isTable: false };
    }
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const linesOf = (row: readonly string[]) => {
    const cells = row.map((text, at) => wrapText(text, widths[at] ?? 0));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, at) => pad(cell[line] ?? '', widths[at] ?? 0))
        .join(gap)
        .trimEnd(),
    );
  };
  return { lines: rows.flatMap(linesOf), isTable: true };
}

/** A row as running text: each cell behind the name of its column. */
function paragraph(names: readonly string[], row: readonly string[], room: number): string[] {
  const parts = names.flatMap((name, at) => (row[at] === '' ? [] : [`${name} ${row[at]}`]));
  const lines = wrapText(parts.join('; '), room - 2);
  return lines.map((line, at) => (at === 0 ? '' : '  ') + line.trimEnd());
}

/** The lines of a text in so many columns. */
export function wrapText(text: string, width: number): string[] {
  return wrap(text, width, Number.POSITIVE_INFINITY);
}
