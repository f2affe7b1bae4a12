import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { drawSvg, drawTerminal } from '../../cli-js/src/drawing/index.js';
import type { Graph } from '../../npm-package/src/index.js';
import { Reading } from './reading.js';
import { busy, graphOf, mixed, type Row, samples } from './samples.js';

const plain = { width: 80, color: false };

function edgesOf(graph: Graph): string[] {
  const inWave = new Set(graph.waves.flat());
  return graph.edges
    .filter((edge) => inWave.has(edge.stage))
    .map((edge) => `${edge.depends_on}>${edge.stage}`)
    .sort();
}

/** Which of the three forms a drawing has. */
function form(text: string): 'boxes' | 'lanes' | 'list' {
  if (/▼|┐|┓/.test(text.split('\n').slice(0, 2).join('\n'))) return 'boxes';
  return /^wave 1 ·/.test(text) ? 'list' : 'lanes';
}

function widths(text: string): number[] {
  return stripVTControlCharacters(text)
    .split('\n')
    .map((line) => stringWidth(line));
}

describe('the drawings', () => {
  for (const [name, rows] of Object.entries(samples)) {
    for (const width of [40, 80]) {
      it(`${name} in ${width} columns`, async () => {
        const text = drawTerminal(graphOf(rows), { width, color: false });
        await expect(text).toMatchFileSnapshot(`__snapshots__/terminal/${name}.${width}.txt`);
      });
    }
  }

  it('mixed_12 in ASCII', async () => {
    const text = drawTerminal(graphOf(samples.mixed_12 ?? []), { ...plain, ascii: true });
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    await expect(text).toMatchFileSnapshot('__snapshots__/terminal/mixed_12.ascii.txt');
  });

  it('diamond in colour', () => {
    const graph = graphOf(samples.diamond ?? []);
    const text = drawTerminal(graph, { ...plain, color: true });
    expect(text).toContain('\u001b[1;33m');
    expect(stripVTControlCharacters(text)).toBe(drawTerminal(graph, plain));
  });

  it('are the same every time', () => {
    for (const rows of Object.values(samples)) {
      expect(drawTerminal(graphOf(rows), plain)).toBe(drawTerminal(graphOf(rows), plain));
    }
  });
});

describe('the form', () => {
  it('is boxes for what people usually write', () => {
    for (const name of ['one', 'chain', 'diamond', 'fan_out', 'fan_in', 'two_components']) {
      expect([name, form(drawTerminal(graphOf(samples[name] ?? []), plain))]).toEqual([
        name,
        'boxes',
      ]);
    }
    expect(form(drawTerminal(graphOf(samples.long_edges ?? []), plain))).toBe('boxes');
    expect(form(drawTerminal(graphOf(samples.mixed_12 ?? []), plain))).toBe('boxes');
  });

  it('is lanes for more stages or less room, and a list for large graphs', () => {
    expect(form(drawTerminal(graphOf(samples.mixed_30 ?? []), plain))).toBe('lanes');
    expect(form(drawTerminal(graphOf(samples.mixed_12 ?? []), { ...plain, width: 40 }))).toBe(
      'lanes',
    );
    const list = drawTerminal(graphOf(samples.mixed_200 ?? []), plain);
    expect(form(list)).toBe('list');
    expect(list).toContain('too large to draw with lines: ← names what a stage waits for');
  });
});

describe('the lines', () => {
  it('show exactly the dependencies of every sample', () => {
    let boxes = 0;
    let lanes = 0;
    for (const [name, rows] of Object.entries(samples)) {
      for (const width of [40, 60, 80, 120, 200]) {
        const graph = graphOf(rows);
        const text = drawTerminal(graph, { width, color: false });
        const kind = form(text);
        if (graph.waves.length === 0 || kind === 'list') continue;
        const reading = new Reading(text);
        const shown = kind === 'boxes' ? reading.boxEdges() : reading.laneEdges();
        expect([name, width, kind, shown]).toEqual([name, width, kind, edgesOf(graph)]);
        if (kind === 'boxes') boxes++;
        else lanes++;
      }
    }
    expect(boxes).toBeGreaterThan(30);
    expect(lanes).toBeGreaterThan(5);
  });

  it('show exactly the dependencies of 400 made-up plans', () => {
    const forms = { boxes: 0, lanes: 0, list: 0 };
    for (let seed = 1; seed <= 400; seed++) {
      const graph = graphOf(mixed(2 + (seed % 23), seed, 2 + (seed % 9)));
      const text = drawTerminal(graph, { width: 60 + (seed % 5) * 25, color: false });
      const kind = form(text);
      forms[kind]++;
      if (kind === 'list') continue;
      const reading = new Reading(text);
      const shown = kind === 'boxes' ? reading.boxEdges() : reading.laneEdges();
      expect([seed, kind, shown]).toEqual([seed, kind, edgesOf(graph)]);
      if (kind === 'boxes') {
        const drawn = reading.boxes().map((box) => box.stage);
        expect(drawn.sort((a, b) => a - b)).toEqual(graph.waves.flat().sort((a, b) => a - b));
      }
    }
    expect(forms.boxes).toBeGreaterThan(100);
    expect(forms.lanes).toBeGreaterThan(50);
  });
});

describe('the width', () => {
  it('is never passed', () => {
    const awkward = { ...samples, large: mixed(2000, 11, 40), tall: chainOf(400) };
    for (const [name, rows] of Object.entries(awkward)) {
      const graph = graphOf(rows);
      for (const width of [32, 40, 41, 64, 80, 133, 250]) {
        for (const options of [{ color: true }, { color: false, ascii: true }]) {
          const text = drawTerminal(graph, { width, ...options });
          expect([name, width, Math.max(...widths(text)) <= width]).toEqual([name, width, true]);
        }
      }
    }
  });

  it('counts wide characters as two columns and marks as none', () => {
    for (const width of [40, 60, 80]) {
      const boxes = new Reading(
        drawTerminal(graphOf(samples.wide ?? []), { width, color: false }),
      ).boxes();
      expect(boxes.map((box) => box.stage).sort()).toEqual([1, 2, 3, 4]);
    }
  });

  it('stands an absurd one', () => {
    for (const width of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const text = drawTerminal(graphOf(samples.diamond ?? []), { width, color: false });
      expect(text).toContain('critical path');
    }
  });
});

describe('hostile titles', () => {
  const titles = [
    '\u001b[31mred\u001b[0m \u001b]0;new window title\u0007 end',
    'line one\nline two\r\nline three\ttab',
    '\u009b2J\u0000\u0007\u0008\u007f erased',
    '\u202eright to left\u202c \u2066isolated\u2069 \u200bzero\ufeff',
    '\ud800 lone \udfff surrogates',
    `heap ${'\u0301'.repeat(5000)} of marks`,
    'x'.repeat(100_000),
    `\u001b\u001b[2J[2J twice`,
    '',
    '   ',
  ];
  const rows: Row[] = titles.map((title, index): Row => [title, 1, index > 0 ? [index] : []]);
  const graph = graphOf(rows);

  it('reach the terminal without control characters', () => {
    for (const width of [40, 80]) {
      for (const list of [graph, graphOf([...rows, ...mixed(150, 3)])]) {
        const text = drawTerminal(list, { width, color: false });
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
        expect(Math.max(...widths(text))).toBeLessThanOrEqual(width);
        expect(text).toContain('red');
        expect(text).not.toContain('window title');
      }
    }
  });
});

describe('what no wave holds', () => {
  it('is named with its cycle and what it waits for', () => {
    const text = drawTerminal(graphOf(samples.cycle ?? []), plain);
    expect(text).toContain('in no wave · 3 stages');
    expect(text).toContain('cycle, each waits for the next: 2 ← 3 ← 2');
    expect(text).toMatch(/4 {2}Behind the cycle +1 step {2}← 3/);
  });

  it('says so of a stage that waits for itself', () => {
    const graph = graphOf([
      ['Alone', 1, []],
      ['Mirror', 1, [2]],
    ]);
    expect(graph.cycles).toEqual([[2]]);
    expect(drawTerminal(graph, plain)).toContain('stage 2 waits for itself');
    expect(drawSvg(graph)).toContain('stage 2 waits for itself');
  });

  it('is all there is of a plan that is one cycle', () => {
    const text = drawTerminal(graphOf(samples.only_cycle ?? []), plain);
    expect(text).toContain('1 ← 2 ← 1');
    expect(text).not.toContain('wave 1');
  });

  it('is nothing for an empty plan', () => {
    expect(drawTerminal(graphOf([]), plain)).toBe('no stages\n');
  });
});

describe('large graphs', () => {
  it('2,000 stages take less than 2 s', () => {
    const graph = graphOf(mixed(2000, 4, 50));
    const start = busy();
    const text = drawTerminal(graph, plain);
    expect(busy() - start).toBeLessThan(2000);
    expect(text.split('\n').length).toBeGreaterThan(2000);
  });

  it('grow nearly linearly up to 100,000 stages', () => {
    const small = graphOf(mixed(25_000, 9, 1000));
    const large = graphOf(mixed(100_000, 9, 1000));
    const time = (graph: Graph): number =>
      Math.min(
        ...[1, 2, 3].map(() => {
          const start = busy();
          drawTerminal(graph, plain);
          return busy() - start;
        }),
      );
    time(small);
    expect(time(large) / time(small)).toBeLessThan(8);
  });

  it('one stage that waits for 100,000 others is one line', () => {
    const rows = Array.from({ length: 100_000 }, (): Row => ['Part', 1, []]);
    rows.push(['Whole', 1, rows.map((_, index) => index + 1)]);
    const start = busy();
    const text = drawTerminal(graphOf(rows), plain);
    expect(busy() - start).toBeLessThan(5000);
    expect(text).toMatch(/100001 {2}Whole.*← 1, 2, .*\+99,?\d+/);
  });
});

function chainOf(length: number): Row[] {
  return Array.from({ length }, (_, index): Row => [`Step ${index}`, 1, index > 0 ? [index] : []]);
}
