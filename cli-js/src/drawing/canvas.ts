import { graphemes } from './text.js';

/** How heavy a line is: 0 none, 1 thin, 2 thick. */
export type Weight = 0 | 1 | 2;

/** How a piece of text looks in colour. */
export type Style = 'plain' | 'critical' | 'dim' | 'strong' | 'warn';

const SGR: Record<Style, string> = {
  plain: '',
  critical: '1;33',
  dim: '2',
  strong: '1',
  warn: '1;31',
};

/** Wraps a text in the colour of its style. */
export function paint(text: string, style: Style, color: boolean): string {
  return color && SGR[style] && text ? `\u001b[${SGR[style]}m${text}\u001b[0m` : text;
}

/**
 * The box-drawing character of each crossing of thin and thick arms. Keys are the weights of the
 * arms up, right, down, left.
 */
const GLYPHS: Map<string, string> = new Map(
  (
    '1010│ 2020┃ 0101─ 0202━ 0110┌ 0210┍ 0120┎ 0220┏ 0011┐ 0012┑ 0021┒ 0022┓ 1100└ 1200┕ 2100┖ 2200┗ ' +
    '1001┘ 1002┙ 2001┚ 2002┛ 1110├ 1210┝ 2110┞ 1120┟ 2120┠ 2210┡ 1220┢ 2220┣ 1011┤ 1012┥ 2011┦ 1021┧ ' +
    '2021┨ 2012┩ 1022┪ 2022┫ 0111┬ 0112┭ 0211┮ 0212┯ 0121┰ 0122┱ 0221┲ 0222┳ 1101┴ 1102┵ 1201┶ 1202┷ ' +
    '2101┸ 2102┹ 2201┺ 2202┻ 1111┼ 1112┽ 1211┾ 1212┿ 2111╀ 1121╁ 2121╂ 2112╃ 2211╄ 1122╅ 1221╆ 2212╇ ' +
    '1222╈ 2122╉ 2221╊ 2222╋ 0001╴ 1000╵ 0100╶ 0010╷ 0002╸ 2000╹ 0200╺ 0020╻ 0201╼ 1020╽ 0102╾ 2010╿'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 4), entry.slice(4)]),
);

interface Cell {
  text: string;
  style: Style;
  /** Arms up, right, down, left; only where the cell is part of a line. */
  arms?: [Weight, Weight, Weight, Weight];
  /** Whose line it is. */
  owner: number;
}

/** The directions of arms, as indices. */
export const UP = 0;
const RIGHT = 1;
export const DOWN = 2;
const LEFT = 3;
type Direction = 0 | 1 | 2 | 3;

/** A sheet of character cells on which lines join by themselves. Coordinates start at 0. */
export class Canvas {
  readonly #rows: (Cell | undefined)[][] = [];
  readonly #ascii: boolean;

  constructor(ascii: boolean) {
    this.#ascii = ascii;
  }

  get height(): number {
    return this.#rows.length;
  }

  /** Writes text; a wide character takes two cells. */
  text(x: number, y: number, text: string, style: Style = 'plain'): void {
    let at = x;
    for (const piece of graphemes(text)) {
      if (piece.columns === 0) continue;
      this.#set(at, y, { text: piece.text, style, owner: -1 });
      for (let more = 1; more < piece.columns; more++) {
        this.#set(at + more, y, { text: '', style, owner: -1 });
      }
      at += piece.columns;
    }
  }

  /**
   * Adds an arm to a cell. Lines of one owner join; a line of another owner that is already there
   * is interrupted, so that a crossing never looks like a junction.
   */
  arm(x: number, y: number, direction: Direction, weight: Weight, owner: number): void {
    let cell = this.#rows[y]?.[x];
    if (!cell?.arms || cell.owner !== owner) {
      cell = { text: '', style: 'plain', arms: [0, 0, 0, 0], owner };
      this.#set(x, y, cell);
    }
    const arms = cell.arms ?? [0, 0, 0, 0];
    if (arms[direction] < weight) arms[direction] = weight;
    if (weight === 2) cell.style = 'critical';
  }

  /** Adds an arm to whatever line is there: a port in the border of a box. */
  port(x: number, y: number, direction: Direction, weight: Weight): void {
    this.arm(x, y, direction, weight, this.#rows[y]?.[x]?.owner ?? -1);
  }

  /** A line across from column `from` to column `to`. */
  across(y: number, from: number, to: number, weight: Weight, owner: number): void {
    const [left, right] = from < to ? [from, to] : [to, from];
    for (let x = left; x <= right; x++) {
      if (x > left) this.arm(x, y, LEFT, weight, owner);
      if (x < right) this.arm(x, y, RIGHT, weight, owner);
    }
  }

  /** A line down through the rows `from` to `to`, both included and both crossed fully. */
  down(x: number, from: number, to: number, weight: Weight, owner: number): void {
    for (let y = from; y <= to; y++) {
      this.arm(x, y, UP, weight, owner);
      this.arm(x, y, DOWN, weight, owner);
    }
  }

  /** An empty box. */
  box(x: number, y: number, width: number, height: number, weight: Weight, owner: number): void {
    const [right, bottom] = [x + width - 1, y + height - 1];
    this.across(y, x, right, weight, owner);
    this.across(bottom, x, right, weight, owner);
    for (const side of [x, right]) {
      this.arm(side, y, DOWN, weight, owner);
      this.arm(side, bottom, UP, weight, owner);
      if (height > 2) this.down(side, y + 1, bottom - 1, weight, owner);
    }
  }

  /** The lines of text, without spaces at their ends. */
  lines(color: boolean): string[] {
    return Array.from(this.#rows, (row) => {
      let line = '';
      let run = '';
      let style: Style = 'plain';
      for (const cell of Array.from(row ?? [])) {
        const here = cell ? cell.style : 'plain';
        const text = cell ? (cell.arms ? this.#glyph(cell.arms) : cell.text) : ' ';
        if (here !== style) {
          line += paint(run, style, color);
          run = '';
          style = here;
        }
        run += text;
      }
      return (line + paint(run.trimEnd(), style, color)).trimEnd();
    });
  }

  #glyph(arms: [Weight, Weight, Weight, Weight]): string {
    if (!this.#ascii) return GLYPHS.get(arms.join('')) ?? ' ';
    const [up, right, down, left] = arms;
    const thick = Math.max(...arms) === 2;
    if (!up && !down) return thick ? '=' : '-';
    if (!left && !right) return thick ? '#' : '|';
    return thick ? '#' : '+';
  }

  #set(x: number, y: number, cell: Cell): void {
    while (this.#rows.length <= y) this.#rows.push([]);
    const row = this.#rows[y];
    if (row) row[x] = cell;
  }
}
