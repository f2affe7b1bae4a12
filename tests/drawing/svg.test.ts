import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawSvg } from '../../cli-js/src/drawing/index.js';
import { busy, graphOf, mixed, type Row, samples } from './samples.js';

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  });
  page = await browser.newPage();
});

afterAll(async () => {
  await browser.close();
});

/** What Chromium's XML parser makes of a document. */
async function parse(svg: string) {
  return page.evaluate((text) => {
    const tree = new DOMParser().parseFromString(text, 'image/svg+xml');
    const all = [...tree.querySelectorAll('*')];
    return {
      error: tree.querySelector('parsererror')?.textContent ?? null,
      root: tree.documentElement.localName,
      elements: [...new Set(all.map((element) => element.localName))].sort(),
      attributes: [
        ...new Set(all.flatMap((element) => [...element.attributes].map(({ name }) => name))),
      ].sort(),
      ids: all.map((element) => element.id).filter((id) => id !== ''),
      titles: all.filter(({ localName }) => localName === 'title').map((e) => e.textContent),
      arrows: tree.querySelectorAll('[marker-end]').length,
      boxes: tree.querySelectorAll('rect.box').length,
    };
  }, svg);
}

/** All elements and attributes a drawing may have: none of them can run or load anything. */
const ELEMENTS = [
  'defs',
  'desc',
  'g',
  'marker',
  'path',
  'rect',
  'style',
  'svg',
  'text',
  'title',
  'tspan',
];
const HARMLESS =
  /^(xmlns|class|role|aria-labelledby|width|height|viewBox|font-(family|size|weight)|fill|stroke(-width|-dasharray)?|id|ref[XY]|marker(Width|Height|Units|-end)|orient|d|x|y|rx|transform)$/;

const hostile: Row[] = [
  ['<script>window.ran = 1</script>', 1, []],
  ['</text></svg><script>window.ran = 2</script>', 2, [1]],
  ['"><image href="x" onerror="window.ran = 3"/>', 1, [1]],
  ["' onload='window.ran = 4", 1, [2]],
  [']]>&lt;script&gt;&#60;script&#62;&unknown; <!-- <?xml', 1, [2, 3]],
  ['\u0000\u0001\u0008\u000b\u001b[31m\ufffe\uffff\ud800 control \udfff', 1, [4]],
  ['<foreignObject><iframe src="javascript:parent.ran = 5"></iframe></foreignObject>', 1, [5]],
  ['javascript:window.ran=6 url(https://example.invalid/x) @import "x"; }</style>', 1, [6]],
];

describe('the drawings', () => {
  for (const [name, rows] of Object.entries(samples)) {
    it(`${name} is well-formed, has every stage and every dependency`, async () => {
      const graph = graphOf(rows);
      const svg = drawSvg(graph);
      expect(svg).toBe(drawSvg(graphOf(rows)));
      if (rows.length <= 15) {
        await expect(svg).toMatchFileSnapshot(`__snapshots__/svg/${name}.svg`);
      }
      const seen = await parse(svg);
      expect(seen.error).toBeNull();
      expect(seen.root).toBe('svg');
      expect(seen.elements.filter((element) => !ELEMENTS.includes(element))).toEqual([]);
      expect(seen.attributes.filter((attribute) => !HARMLESS.test(attribute))).toEqual([]);
      expect(seen.boxes).toBe(graph.nodes.length);
      const inWave = graph.edges.filter(({ stage }) => graph.waves.flat().includes(stage));
      const lined = !svg.includes('too large to draw with lines');
      expect(lined).toBe(name !== 'mixed_200');
      expect(seen.arrows).toBe(lined ? inWave.length : 0);
    });
  }

  it('have a name, a description and ids of their own', async () => {
    const svg = drawSvg(graphOf(samples.diamond ?? []), { title: 'Plan <A>', id: 'left' });
    const seen = await parse(svg);
    expect(seen.titles[0]).toBe('Plan <A>');
    expect(seen.ids.every((id) => id.startsWith('left-'))).toBe(true);
    expect(new Set(seen.ids).size).toBe(seen.ids.length);
    expect(svg).toContain('Critical path, 10 steps: 1, 2, 4.');
  });

  it('say what the critical path is in words too', () => {
    const svg = drawSvg(graphOf(samples.diamond ?? []));
    expect(svg.match(/>\d+ steps · critical<\/text>/g)?.length).toBe(3);
    expect(svg).toContain('critical path, 10 of 14 steps: 1 → 2 → 4');
  });

  it('name cycles and what waits for them', () => {
    const svg = drawSvg(graphOf(samples.cycle ?? []));
    expect(svg).toContain('cycle: 2 ← 3 ← 2');
    expect(svg).toContain('in no wave');
  });
});

describe('in Chromium', () => {
  it('arrows end at the box of the stage that waits and begin at the one it waits for', async () => {
    for (const name of ['mixed_12', 'long_edges', 'fan_in', 'mixed_30']) {
      const graph = graphOf(samples[name] ?? []);
      await page.setContent(drawSvg(graph));
      const lines = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('rect.box')].map((box) => ({
          stage: Number(box.parentElement?.querySelector('tspan')?.textContent),
          area: box.getBoundingClientRect(),
        }));
        const at = (line: SVGPathElement, length: number): number | undefined => {
          const point = line
            .getPointAtLength(length)
            .matrixTransform(line.getScreenCTM() ?? undefined);
          return boxes.find(
            ({ area }) =>
              point.x > area.left &&
              point.x < area.right &&
              point.y > area.top - 3 &&
              point.y < area.bottom + 3,
          )?.stage;
        };
        return [...document.querySelectorAll<SVGPathElement>('[marker-end]')].map(
          (line) => `${at(line, 0)}>${at(line, line.getTotalLength())}`,
        );
      });
      const wanted = graph.edges.map((edge) => `${edge.depends_on}>${edge.stage}`);
      expect([name, lines.sort()]).toEqual([name, wanted.sort()]);
    }
  });

  it('titles stay inside their boxes and boxes apart', async () => {
    for (const name of ['mixed_12', 'wide', 'cycle', 'mixed_30']) {
      await page.setContent(drawSvg(graphOf(samples[name] ?? [])));
      const faults = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('rect.box')];
        const found: string[] = [];
        for (const [index, box] of boxes.entries()) {
          const area = box.getBoundingClientRect();
          for (const text of box.parentElement?.querySelectorAll('text') ?? []) {
            const inner = text.getBoundingClientRect();
            if (inner.right > area.right || inner.bottom > area.bottom + 1) {
              found.push(text.textContent);
            }
          }
          for (const other of boxes.slice(index + 1)) {
            const b = other.getBoundingClientRect();
            const apart =
              b.left >= area.right ||
              b.right <= area.left ||
              b.top >= area.bottom ||
              b.bottom <= area.top;
            if (!apart) found.push('boxes overlap');
          }
        }
        return found;
      });
      expect([name, faults]).toEqual([name, []]);
    }
  });

  it('dark paper is dark and light paper light', async () => {
    const ink = async (scheme: 'dark' | 'light') => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setContent(drawSvg(graphOf(samples.diamond ?? [])));
      return page.evaluate(() =>
        ['.paper', 'rect.box', 'text'].map((selector) => {
          const element = document.querySelector(selector);
          return element ? getComputedStyle(element).fill : '';
        }),
      );
    };
    expect(await ink('light')).toEqual([
      'rgb(255, 255, 255)',
      'rgb(255, 255, 255)',
      'rgb(31, 41, 51)',
    ]);
    expect(await ink('dark')).toEqual(['rgb(20, 24, 29)', 'rgb(41, 50, 59)', 'rgb(230, 234, 238)']);
  });
});

describe('hostile titles', () => {
  const forms: [string, Row[]][] = [
    ['with lines', hostile],
    ['without lines', [...hostile, ...mixed(300, 2)]],
  ];
  for (const [form, rows] of forms) {
    it(`are text and nothing else, ${form}`, async () => {
      const svg = drawSvg(graphOf(rows), { title: hostile[1]?.[0] ?? '', id: '"><script>' });
      const seen = await parse(svg);
      expect(seen.error).toBeNull();
      expect(seen.elements.filter((element) => !ELEMENTS.includes(element))).toEqual([]);
      expect(seen.attributes.filter((attribute) => !HARMLESS.test(attribute))).toEqual([]);
      const titles = seen.titles.filter((title) =>
        title.startsWith('1 <script>window.ran = 1</script>'),
      );
      expect(titles).toHaveLength(1);
    });

    it(`run and load nothing, ${form}`, async () => {
      const svg = drawSvg(graphOf(rows));
      const guarded = await browser.newPage();
      const requests: string[] = [];
      await guarded.route('**/*', async (route) => {
        requests.push(route.request().url());
        await route.fulfill({ contentType: 'image/svg+xml', body: svg });
      });
      const dialogs: string[] = [];
      guarded.on('dialog', async (dialog) => {
        dialogs.push(dialog.message());
        await dialog.dismiss();
      });
      await guarded.goto('http://drawing.test/graph.svg');
      const ran = () => guarded.evaluate(() => (window as { ran?: unknown }).ran ?? null);
      expect(await ran()).toBeNull();
      expect(requests.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([
        'http://drawing.test/graph.svg',
      ]);
      await guarded.goto('about:blank');
      await guarded.setContent(`<!doctype html><body>${svg}</body>`);
      await guarded.evaluate(() => new Promise((done) => setTimeout(done, 50)));
      expect(await ran()).toBeNull();
      expect(dialogs).toEqual([]);
      expect(requests.filter((url) => !url.endsWith('/favicon.ico'))).toHaveLength(1);
      await guarded.close();
    });
  }
});

describe('large graphs', () => {
  it('2,000 stages take less than 2 s', async () => {
    const graph = graphOf(mixed(2000, 4, 50));
    const start = busy();
    const svg = drawSvg(graph);
    expect(busy() - start).toBeLessThan(2000);
    const seen = await parse(svg);
    expect([seen.error, seen.boxes]).toEqual([null, 2000]);
  });

  it('grow nearly linearly up to 100,000 stages', () => {
    const time = (size: number): number => {
      const graph = graphOf(mixed(size, 9, 1000));
      const start = busy();
      drawSvg(graph);
      return busy() - start;
    };
    time(25_000);
    expect(time(100_000) / time(25_000)).toBeLessThan(8);
  });
});
