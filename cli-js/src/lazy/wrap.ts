/** Tables whose cells have to wrap, or hold letters of unusual width. */
import cliui from 'cliui';

/** Rows in columns of the given widths, of which the last is a gap. */
export function wrapRows(
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  room: number,
): string {
  const ui = cliui({ width: room, wrap: true });
  for (const row of rows) {
    ui.div(
      ...row.map((text, column) => ({
        text,
        width: widths[column] ?? 0,
        padding: [0, 1, 0, 0] as [number, number, number, number],
      })),
    );
  }
  return ui.toString();
}
