import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

/** Which way each box-drawing character has arms: up, right, down, left. */
const ARMS: Record<string, string> = {
  '│┃╽╿': '1010',
  '─━╼╾': '0101',
  '┌┍┎┏': '0110',
  '┐┑┒┓': '0011',
  '└┕┖┗': '1100',
  '┘┙┚┛': '1001',
  '├┝┞┟┠┡┢┣': '1110',
  '┤┥┦┧┨┩┪┫': '1011',
  '┬┭┮┯┰┱┲┳': '0111',
  '┴┵┶┷┸┹┺┻': '1101',
  '┼┽┾┿╀╁╂╃╄╅╆╇╈╉╊╋': '1111',
};
const BY_CHAR = new Map(
  Object.entries(ARMS).flatMap(([chars, arms]) => [...chars].map((char) => [char, arms] as const)),
);

type Way = 0 | 1 | 2 | 3;
const WAYS: Way[] = [0, 1, 2, 3];
const STEP = [
  [0, -1],
  [1, 0],
  [0, 1],
  [-1, 0],
] as const;

/** A drawing as a grid of display columns, read the way a person reads it. */
export class Reading {
  readonly #cells: string[][];

  constructor(text: string) {
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
    this.#cells = stripVTControlCharacters(text)
      .split('\n')
      .map((line) => {
        const cells: string[] = [];
        for (const { segment } of segmenter.segment(line)) {
          cells.push(segment);
          for (let more = stringWidth(segment); more > 1; more--) cells.push('');
        }
        return cells;
      });
  }

  at(x: number, y: number): string {
    return this.#cells[y]?.[x] ?? ' ';
  }

  find(chars: string): { x: number; y: number }[] {
    return this.#cells.flatMap((row, y) =>
      row.flatMap((char, x) => (char !== '' && chars.includes(char) ? [{ x, y }] : [])),
    );
  }

  #arm(x: number, y: number, way: Way): boolean {
    return BY_CHAR.get(this.at(x, y))?.[way] === '1';
  }

  /**
   * Follows the lines from a cell in one direction up to every `end`; a line across goes on
   * behind a line that goes down through it.
   */
  follow(x: number, y: number, way: Way, ends: string): { x: number; y: number }[] {
    const found: { x: number; y: number }[] = [];
    const seen = new Set<string>();
    const todo: [number, number, Way][] = [[x, y, way]];
    for (let next = todo.pop(); next; next = todo.pop()) {
      const [fromX, fromY, going] = next;
      const [dx, dy] = STEP[going];
      const [hereX, hereY] = [fromX + dx, fromY + dy];
      const key = `${hereX} ${hereY} ${going}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const char = this.at(hereX, hereY);
      if (char !== '' && ends.includes(char)) {
        found.push({ x: hereX, y: hereY });
        continue;
      }
      const back = ((going + 2) % 4) as Way;
      if (!this.#arm(hereX, hereY, back)) {
        const behind = dx !== 0 && this.#arm(hereX, hereY, 0) && this.#arm(hereX, hereY, 2);
        if (behind) todo.push([hereX, hereY, going]);
        continue;
      }
      for (const out of WAYS) {
        if (out !== back && this.#arm(hereX, hereY, out)) todo.push([hereX, hereY, out]);
      }
    }
    return found;
  }

  /** The boxes with their stage numbers; a box whose frame is not closed is an error. */
  boxes(): { stage: number; left: number; right: number; top: number; bottom: number }[] {
    const result: { stage: number; left: number; right: number; top: number; bottom: number }[] =
      [];
    for (const { x: left, y: top } of this.find('┌┏')) {
      const row = (this.#cells[top] ?? [])
        .slice(left)
        .map((char) => char || ' ')
        .join('');
      const head = /^[┌┏] ?(\d+) ·[^┐┓┌┏]*[┐┓]/.exec(row);
      if (!head) continue;
      const right = left + stringWidth(head[0]) - 1;
      let bottom = top + 1;
      while ('│┃'.includes(this.at(left, bottom)) && this.at(left, bottom) !== '') {
        if (!'│┃'.includes(this.at(right, bottom)) || this.at(right, bottom) === '') {
          throw new Error(`the box of stage ${head[1]} is open on the right in line ${bottom + 1}`);
        }
        bottom++;
      }
      if (!'└┗'.includes(this.at(left, bottom)) || !'┘┛'.includes(this.at(right, bottom))) {
        throw new Error(`the box of stage ${head[1]} is open below`);
      }
      result.push({ stage: Number(head[1]), left, right, top, bottom });
    }
    return result;
  }

  /** Every dependency that the lines between boxes show, as `1>2`. */
  boxEdges(): string[] {
    const boxes = this.boxes();
    const edges: string[] = [];
    for (const box of boxes) {
      for (let x = box.left + 1; x < box.right; x++) {
        if (!this.#arm(x, box.bottom, 2) && this.at(x, box.bottom + 1) !== '▼') continue;
        if (!this.#arm(x, box.bottom, 2)) continue;
        for (const head of this.follow(x, box.bottom, 2, '▼')) {
          const target = boxes.find(
            ({ left, right, top }) => top === head.y + 1 && left < head.x && head.x < right,
          );
          if (!target) throw new Error(`an arrow from stage ${box.stage} ends at no box`);
          edges.push(`${box.stage}>${target.stage}`);
        }
      }
    }
    return edges.sort();
  }

  /** Every dependency that the lanes show, as `1>2`. */
  laneEdges(): string[] {
    const marks = this.find('○●');
    const stageAt = (y: number): number => {
      const line = (this.#cells[y] ?? []).join('');
      return Number(/[○●][^○●\d]*?(\d+) {2}/.exec(line)?.[1]);
    };
    const edges: string[] = [];
    for (const { x, y } of marks) {
      // Down the lane of the stage; what leads across in a row leads to the stage of that row.
      for (let at = y + 1; this.#arm(x, at, 0) || this.#isMark(x, at, at > y + 1); at++) {
        const joins = this.#arm(x, at, 1) || this.#arm(x, at, 3) || this.#isMark(x, at, true);
        const ends = this.#isMark(x, at, true)
          ? [x]
          : [1, -1].map((way) => this.#across(x, at, way));
        if (joins && !ends.some((end) => end !== undefined)) {
          throw new Error(`line ${at + 1}: what leads across from column ${x + 1} ends nowhere`);
        }
        if (joins) edges.push(`${stageAt(y)}>${stageAt(at)}`);
        if (!this.#arm(x, at, 2)) break;
      }
    }
    return edges.sort();
  }

  /** A mark that a line from above ends in. */
  #isMark(x: number, y: number, line: boolean): boolean {
    return line && '○●'.includes(this.at(x, y)) && this.at(x, y) !== '';
  }

  /** The column of the mark that a line across reaches, behind lines that only pass. */
  #across(x: number, y: number, way: number): number | undefined {
    if (!this.#arm(x, y, way > 0 ? 1 : 3)) return undefined;
    for (let at = x + way; at >= 0; at += way) {
      if (this.#isMark(at, y, true)) return at;
      const along = this.#arm(at, y, 1) || this.#arm(at, y, 3);
      if (!along && !(this.#arm(at, y, 0) && this.#arm(at, y, 2))) return undefined;
    }
    return undefined;
  }
}
