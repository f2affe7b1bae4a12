// The page from disk, as people use it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drop, launch, show, type Visit, visit, write } from './browser.js';
import { evidenceOf, FACTS, FAULTY, LEDGER, NEXT_ROW, PLAN, planOf } from './plans.js';

let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), 'okstra-preview-'));
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Works with a page that may ask for nothing and complain of nothing. */
async function using(work: (seen: Visit) => Promise<void>, options = {}): Promise<void> {
  const seen = await visit(browser, options);
  try {
    await work(seen);
    expect(seen.requests).toEqual([]);
    expect(seen.complaints).toEqual([]);
  } finally {
    await seen.context.close();
  }
}

/** The states on the cards, by stage. */
function states(page: Page): Promise<string> {
  return page.evaluate(() => {
    const cards =
      document.querySelector('okstra-plan')?.shadowRoot?.querySelectorAll('g.card') ?? [];
    return [...cards]
      .map(
        (card) =>
          `${(card as SVGElement).dataset.key}:${/st-(\w+)/.exec(card.getAttribute('class') ?? '')?.[1]}`,
      )
      .sort()
      .join(' ');
  });
}

const ALL = '1:pr 2:verified 3:done 4:running 5:ready 6:waiting 7:waiting';

const panelTitle = (page: Page) => page.locator('.panel h2');

describe('a page at rest', () => {
  /** Opens the page again, counts how many plans it makes, and gives it one where it is to have one. */
  async function counted(page: Page, given?: typeof FACTS): Promise<void> {
    await page.addInitScript((facts) => {
      const attach = Element.prototype.attachShadow;
      Element.prototype.attachShadow = function (options) {
        const plans = Number(document.documentElement.dataset.plans ?? 0);
        document.documentElement.dataset.plans = `${plans + 1}`;
        return attach.call(this, options);
      };
      addEventListener('DOMContentLoaded', () => {
        const element = document.querySelector('okstra-plan');
        if (facts && element) element.facts = facts;
      });
    }, given);
    await page.reload();
  }

  test('rehearses a first picture, which nobody sees', async () => {
    await using(async ({ page }) => {
      await counted(page);
      const welcome = await page.locator('body').innerHTML();
      await expect.poll(() => page.locator('html').getAttribute('data-plans')).toBe('2');
      // Long enough for the picture.
      await page.waitForTimeout(500);
      expect(await page.locator('okstra-plan').count()).toBe(1);
      expect(await page.locator('body').innerHTML()).toBe(welcome);
      expect(await page.title()).toBe('okstra');
    });
  });

  test('rehearses nothing where a plan is there already', async () => {
    await using(async ({ page }) => {
      await counted(page, FACTS);
      await expect.poll(() => states(page)).toBe(ALL);
      await page.waitForTimeout(1_000);
      expect(await page.locator('html').getAttribute('data-plans')).toBe('1');
    });
  });
});

describe('files', () => {
  test('a plan is dropped, then its ledger and evidence', async () => {
    const loose = write(join(folder, 'loose'), {
      ...{ 'plan.md': PLAN, 'consumers.jsonl': LEDGER },
      'stage-3.json': evidenceOf(3, 'Know the country'),
    });
    await using(async (seen) => {
      await drop(seen, [join(loose, 'plan.md')]);
      await expect
        .poll(() => states(seen.page))
        .toBe('1:ready 2:ready 3:ready 4:waiting 5:waiting 6:waiting 7:waiting');
      await drop(seen, [join(loose, 'consumers.jsonl'), join(loose, 'stage-3.json')]);
      await expect.poll(() => states(seen.page)).toBe(ALL);
    });
  });

  test('the whole folder of a task: the newest plan, its ledger, its evidence', async () => {
    const runs = 'runs/implementation-planning';
    const report = (seq: string) =>
      `${runs}/reports/final-report-implementation-planning-${seq}.md`;
    const task = write(join(folder, '.okstra/tasks/web/17'), {
      [report('9')]: planOf([['An old plan', '(none)']]),
      [report('10')]: PLAN,
      [`${runs}/consumers.jsonl`]: LEDGER,
      [`${runs}/notes.md`]: '# Nothing',
      'runs/other/lead-events.jsonl': '{"event":"x"}\n',
      'runs/implementation/carry/stage-3.json': evidenceOf(3, 'Know the country', {
        sourcePlanPath: `.okstra/tasks/web/17/${report('10')}`,
      }),
    });
    await using(async (seen) => {
      await drop(seen, [task]);
      await expect.poll(() => states(seen.page)).toBe(ALL);
      const facts = await seen.page.evaluate(() => document.querySelector('okstra-plan')?.facts);
      expect(facts?.plan?.path).toBe(`17/${report('10')}`);
      expect(facts?.evidence.map(({ path }) => path)).toEqual([
        '17/runs/implementation/carry/stage-3.json',
      ]);
    });
  });

  test('a plan of another task does not take the ledger of the one before', async () => {
    const report = 'runs/implementation-planning/reports/final-report-implementation-planning-1.md';
    const first = write(join(folder, 'first'), {
      ...{ [report]: PLAN, 'runs/implementation-planning/consumers.jsonl': LEDGER },
      'runs/implementation/carry/stage-3.json': evidenceOf(3, 'Know the country'),
    });
    const second = write(join(folder, 'second'), { [report]: PLAN });
    const loose = write(join(folder, 'alone'), { 'plan.md': PLAN, 'consumers.jsonl': LEDGER });
    const other = write(join(folder, 'other'), { 'plan.md': PLAN.replace('# A plan', '# One') });
    const files = ['plan.md', 'consumers.jsonl'].map((name) => join(loose, name));
    const none = '1:ready 2:ready 3:ready 4:waiting 5:waiting 6:waiting 7:waiting';
    await using(async (seen) => {
      await drop(seen, [first]);
      await expect.poll(() => states(seen.page)).toBe(ALL);
      await drop(seen, [second]);
      await expect.poll(() => states(seen.page)).toBe(none);
      await drop(seen, files);
      await expect.poll(() => states(seen.page)).not.toBe(none);
      const before = await states(seen.page);
      // The plan that is shown, after an edit: it is still the same one.
      writeFileSync(join(loose, 'plan.md'), `${PLAN}\nMore.\n`);
      await drop(seen, [join(loose, 'plan.md')]);
      await expect
        .poll(() => seen.page.evaluate(() => document.querySelector('okstra-plan')?.plan))
        .toContain('More.');
      expect(await states(seen.page)).toBe(before);
      await drop(seen, [join(other, 'plan.md')]);
      await expect.poll(() => states(seen.page)).toBe(none);
    });
  });

  test('ledger and evidence may come before the plan', async () => {
    const early = write(join(folder, 'early'), {
      ...{ 'plan.md': PLAN, 'consumers.jsonl': LEDGER },
      'stage-3.json': evidenceOf(3, 'Know the country'),
    });
    await using(async (seen) => {
      await drop(seen, [join(early, 'consumers.jsonl'), join(early, 'stage-3.json')]);
      await seen.page.getByText('now drop the plan').waitFor();
      await drop(seen, [join(early, 'plan.md')]);
      await expect.poll(() => states(seen.page)).toBe(ALL);
    });
  });

  test('a folder that is chosen is read as one that is dropped', async () => {
    const chosen = write(join(folder, 'dist'), {
      'node_modules/a/plan.md': planOf([['Of a package', '(none)']]),
      'plan.md': PLAN,
      'consumers.jsonl': LEDGER,
      'stage-3.json': evidenceOf(3, 'Know the country'),
    });
    // Nobody reads it, so nobody complains.
    writeFileSync(join(chosen, 'node_modules/a/b.md'), Buffer.of(0xff));
    for (const isDropped of [true, false]) {
      await using(async (seen) => {
        if (isDropped) await drop(seen, [chosen]);
        else {
          const [chooser] = await Promise.all([
            seen.page.waitForEvent('filechooser'),
            seen.page.getByRole('button', { name: 'Choose a folder' }).click(),
          ]);
          await chooser.setFiles(chosen);
        }
        await expect.poll(() => states(seen.page)).toBe(ALL);
      });
    }
  });

  test('what is none of them is told, and what was there stays', async () => {
    const strange = write(join(folder, 'strange'), { 'a.json': '{}', 'b.txt': 'no plan' });
    await using(async (seen) => {
      await drop(seen, [join(strange, 'a.json')]);
      await seen.page.getByRole('alert').getByText('None of these files').waitFor();
      await show(seen.page, FACTS);
      await drop(seen, [join(strange, 'a.json'), join(strange, 'b.txt')]);
      await seen.page.getByRole('alert').getByText('None of these files').waitFor();
      expect(await states(seen.page)).toBe(ALL);
    });
  });

  test('text is pasted: into the page, and into its field', async () => {
    await using(async ({ page }) => {
      const paste = (text: string) =>
        page.evaluate((given) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData('text/plain', given);
          document.body.dispatchEvent(
            new ClipboardEvent('paste', { clipboardData, bubbles: true, composed: true }),
          );
        }, text);
      await page.getByLabel('Text of a plan').fill(PLAN);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await expect.poll(() => states(page)).toContain('1:ready');
      await paste(LEDGER);
      await expect.poll(() => states(page)).toContain('4:running');
      await paste(planOf([['Another', '(none)']]));
      await expect.poll(() => states(page)).toContain('1:');
    });
  });
});

describe('looking around', () => {
  test('a stage is opened by click and by keyboard', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      await page.getByRole('button', { name: /^Stage 3: Know the country/ }).click();
      await expect.poll(() => panelTitle(page).textContent()).toBe('Know the country');
      const panel = page.getByRole('complementary', { name: 'Stage in full' });
      const text = await panel.textContent();
      for (const part of [
        'begin with 3',
        'src/a3.ts',
        'npm test -- a3',
        'part3',
        'look at the rounding',
        'session anna',
        'passed',
      ]) {
        expect(text).toContain(part);
      }
      const link = panel.getByRole('link').first();
      expect(await link.getAttribute('href')).toBe('https://example.com/help');
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer external');
      // The pull request of stage 1.
      await page
        .getByRole('button', { name: /^Stage 1:/ })
        .first()
        .click();
      expect(await panel.getByRole('link', { name: /#7/ }).getAttribute('href')).toBe(
        'https://example.com/pull/7',
      );
      await page.keyboard.press('Escape');
      await expect.poll(() => panel.count()).toBe(0);
      // The keyboard is back on the stage; from there to the right and down.
      const focused = () =>
        page.evaluate(() => {
          const active = document.querySelector('okstra-plan')?.shadowRoot?.activeElement;
          return (active as SVGElement | null)?.dataset?.key;
        });
      await expect.poll(focused).toBe('1');
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe('4');
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBe('5');
      // What it waits for and what waits for it.
      const lit = (name: string) =>
        page.evaluate((side) => {
          const cards = document
            .querySelector('okstra-plan')
            ?.shadowRoot?.querySelectorAll(`g.card.${side}`);
          return [...(cards ?? [])]
            .map((card) => (card as SVGElement).dataset.key)
            .sort()
            .join(' ');
        }, name);
      expect([await lit('before'), await lit('behind')]).toEqual(['2 3', '6 7']);
      await page.keyboard.press('Enter');
      await expect.poll(() => panelTitle(page).textContent()).toBe('Taxes');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await page
        .getByRole('dialog', { name: 'Keyboard' })
        .getByText('from stage to stage')
        .waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    });
  });

  test('pointing at a stage shows what it waits for', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      await page.locator('g.card[data-key="6"]').hover();
      await expect.poll(() => page.locator('path.line.before').count()).toBe(6);
      expect(await page.locator('path.line.behind').count()).toBe(1);
    });
  });

  test('search and filters let the rest step back', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      const off = () => page.locator('g.card.off').count();
      await page.keyboard.press('/');
      await page.keyboard.type('src/b5.ts');
      await expect.poll(off).toBe(6);
      await page.keyboard.press('Enter');
      await expect.poll(() => panelTitle(page).textContent()).toBe('Taxes');
      await page.keyboard.press('Escape');
      await expect.poll(off).toBe(0);
      await page.getByRole('button', { name: /^waiting/ }).click();
      await expect.poll(off).toBe(5);
      await page.getByLabel('All waves').selectOption('4');
      await expect.poll(off).toBe(6);
      await page.getByRole('button', { name: 'Show all' }).click();
      await expect.poll(off).toBe(0);
    });
  });

  test('findings and text lead to each other', async () => {
    await using(async ({ page }) => {
      await show(page, FAULTY);
      await page.keyboard.press('n');
      const now = () => page.locator('.finding[aria-current]').textContent();
      const marked = () => page.locator('.source mark.now').first().textContent();
      const all = await page.evaluate(() => {
        const { plan, preview } = document.querySelector('okstra-plan') ?? {};
        return preview?.findings.map(({ code, range }) => [
          code,
          plan?.slice(range.start.offset_utf16, range.end.offset_utf16).split('\n')[0],
        ]);
      });
      expect(all?.map(([code]) => code)).toContain('S6');
      for (const [code, text] of all ?? []) {
        expect(await now()).toContain(code ?? '');
        expect(await marked()).toBe(text);
        await page.keyboard.press('n');
      }
      // From the text to the list, and from a heading to the graph.
      await page.locator('.source mark').last().click();
      const last = all?.at(-1)?.[0] ?? '';
      await expect.poll(now).toContain(last);
      await page.getByRole('button', { name: /^Stage 2 ↗/ }).click();
      await expect.poll(() => panelTitle(page).textContent()).toBe('List the prices');
      expect(
        await page.getByRole('button', { name: 'Graph', exact: true }).getAttribute('aria-pressed'),
      ).toBe('true');
      // From a stage to its text.
      await page.getByRole('button', { name: 'Show in the text' }).click();
      const line = page.locator('.line.now').first();
      expect(await line.textContent()).toContain('Stage 2: List the prices');
    });
  });

  test('zoom, fit and the link that restores the view', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      const width = () => page.locator('.scroller > svg').evaluate((svg) => svg.clientWidth);
      const before = await width();
      await page.keyboard.press('+');
      await expect.poll(width).toBeGreaterThan(before);
      await page.getByRole('button', { name: /^running/ }).click();
      await page.locator('g.card[data-key="4"]').click();
      await expect.poll(() => page.evaluate(() => location.hash)).toContain('stage=4');
      const view = await page.evaluate(() => document.querySelector('okstra-plan')?.view);
      const zoomed = await width();
      const hash = await page.evaluate(() => location.hash);
      expect(hash).toBe(`#${view}`);
      // The same address anew; the file is dropped again.
      await page.reload();
      await page.waitForFunction(() => document.querySelector('okstra-plan') !== null);
      await show(page, FACTS);
      await expect.poll(() => panelTitle(page).textContent()).toBe('Local prices');
      expect(await page.locator('g.card.off').count()).toBe(6);
      expect(Math.abs((await width()) - zoomed)).toBeLessThan(3);
      await page.keyboard.press('0');
      await expect.poll(width).toBeLessThan(zoomed);
    });
  });

  test('the text view keeps the place in the graph, and so does its link', async () => {
    await using(async ({ page }) => {
      const view = () => page.evaluate(() => document.querySelector('okstra-plan')?.view ?? '');
      const at = async () => new URLSearchParams(await view()).get('at')?.split(' ').map(Number);
      const near = async (to: number[] | undefined) => {
        const now = await at();
        return Math.max(...(to ?? []).map((value, i) => Math.abs(value - (now?.[i] ?? 1e9))));
      };
      await show(page, FACTS);
      for (let times = 0; times < 5; times += 1) await page.keyboard.press('+');
      await page.locator('.scroller').evaluate((node) => node.scrollBy(170, 90));
      const place = await at();
      expect(place).toHaveLength(3);
      await page.keyboard.press('t');
      expect(await view()).toContain('view=text');
      expect(await at()).toEqual(place);
      await page.keyboard.press('+');
      await expect.poll(() => page.evaluate(() => location.hash)).toContain('view=text');
      await page.reload();
      await page.waitForFunction(() => document.querySelector('okstra-plan') !== null);
      await show(page, FACTS);
      expect(await at()).toEqual(place);
      // The key would go to a stage as well.
      await page.getByRole('button', { name: 'Graph', exact: true }).click();
      await page.locator('.stage-view').waitFor();
      expect(await near(place)).toBeLessThan(3);
      await page.keyboard.press('t');
      expect(await near(place)).toBeLessThan(3);
    });
  });

  test('keys of an input method are not those of the page', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      const search = page.locator('.search input');
      await search.fill('Local');
      const press = (isComposing: boolean) =>
        search.evaluate((node, composing) => {
          const init = { key: 'Escape', bubbles: true, composed: true, cancelable: true };
          node.dispatchEvent(new KeyboardEvent('keydown', { ...init, isComposing: composing }));
        }, isComposing);
      await press(true);
      expect(await search.inputValue()).toBe('Local');
      await press(false);
      expect(await search.inputValue()).toBe('');
    });
  });

  test('a changed state is drawn without a new layout', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      await page.evaluate(() => {
        const card = document.querySelector('okstra-plan')?.shadowRoot?.querySelector('g.card');
        (card as unknown as { kept: boolean }).kept = true;
      });
      const ledger = { path: 'consumers.jsonl', text: LEDGER + NEXT_ROW };
      await show(page, { ...FACTS, ledger });
      expect(await states(page)).toBe(ALL.replace('4:running', '4:done'));
      const kept = await page.evaluate(() => {
        const card = document.querySelector('okstra-plan')?.shadowRoot?.querySelector('g.card');
        return (card as unknown as { kept?: boolean }).kept;
      });
      expect(kept).toBe(true);
    });
  });

  test('Korean', async () => {
    await using(
      async ({ page }) => {
        await page.getByText('계획을 한눈에').waitFor();
        await show(page, FACTS);
        await page
          .getByRole('button', { name: /^스테이지 4: Local prices, 진행 중, 웨이브 2/ })
          .click();
        await page.getByText('종료 계약').waitFor();
        await page.getByRole('button', { name: 'English' }).click();
        await page.getByText('Exit contract').waitFor();
      },
      { locale: 'ko-KR' },
    );
  });

  test('a thousand stages: an overview, and lines where somebody looks', async () => {
    const rows = Array.from({ length: 1000 }, (_, at): [string, string] => [
      `Part ${at + 1}`,
      at < 20 ? '(none)' : `${at - 19}, ${at - 10}`,
    ]);
    await using(async ({ page }) => {
      await show(page, planOf(rows));
      expect(await page.locator('g.card').count()).toBe(1000);
      await page.locator('canvas.minimap').waitFor();
      const lines = await page.locator('path.line').count();
      await page.locator('.press[data-key="1"]').focus();
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => page.locator('path.line').count()).toBeGreaterThan(lines + 10);
      // What is far away is drawn in full when it comes into sight.
      const detail = page.locator('g.card[data-key="1000"] .detail');
      expect(await detail.count()).toBe(0);
      await page.keyboard.press('End');
      await expect.poll(() => detail.count()).toBe(1);
    });
  });
});

describe('looks', () => {
  test('from 320 px to 4K nothing is wider than the window', async () => {
    await using(async ({ page }) => {
      for (const [width, height] of [
        [320, 568],
        [390, 844],
        [768, 1024],
        [1280, 720],
        [1920, 1080],
        [3840, 2160],
      ] as const) {
        await page.setViewportSize({ width, height });
        const overflow = () =>
          page.evaluate(() => {
            const { scrollWidth, scrollHeight } = document.documentElement;
            const shadow = document.querySelector('okstra-plan')?.shadowRoot;
            const app = shadow?.querySelector('.app');
            const inner = shadow?.querySelector('header');
            return [
              scrollWidth - innerWidth,
              scrollHeight - innerHeight,
              (app?.scrollWidth ?? 0) - innerWidth,
              (inner?.scrollWidth ?? 0) - innerWidth,
            ].filter((over) => over > 0);
          });
        await page.evaluate(() => {
          const element = document.querySelector('okstra-plan');
          if (element) element.facts = null;
        });
        expect(await overflow(), `${width} without a plan`).toEqual([]);
        await show(page, {
          ...FACTS,
          plan: { path: `${'long/'.repeat(40)}plan.md`, text: FAULTY },
        });
        for (const view of ['', 'stage=4', 'view=text', 'view=text&stage=4&finding=1']) {
          await page.evaluate((text) => {
            const element = document.querySelector('okstra-plan');
            if (element) element.view = text;
          }, view);
          expect(await overflow(), `${width} ${view}`).toEqual([]);
        }
      }
    });
  });

  test('light, dark and print', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      const ground = () =>
        page.evaluate(() => {
          const element = document.querySelector('okstra-plan') as HTMLElement;
          const svg = element.shadowRoot?.querySelector('.scroller > svg') as SVGElement;
          return [element, svg].map((each) => getComputedStyle(each).backgroundColor);
        });
      expect(await ground()).toEqual(['rgb(246, 247, 249)', 'rgb(246, 247, 249)']);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await ground()).toEqual(['rgb(16, 18, 22)', 'rgb(16, 18, 22)']);
      // A choice goes before the system's.
      await page.getByRole('button', { name: /^Theme/ }).click();
      expect((await ground())[0]).toBe('rgb(246, 247, 249)');
      await page.getByRole('button', { name: /^Theme/ }).click();
      expect((await ground())[0]).toBe('rgb(16, 18, 22)');
      await page.emulateMedia({ media: 'print' });
      await page.locator('.paper tbody tr').nth(6).waitFor();
      expect((await ground())[0]).toBe('rgb(255, 255, 255)');
      for (const gone of ['.tools', '.search', '.actions']) {
        expect(await page.locator(gone).isVisible()).toBe(false);
      }
      const box = await page.locator('.scroller > svg').boundingBox();
      expect(box?.width).toBeGreaterThan(600);
      expect(await page.locator('.paper').textContent()).toContain('in a pull request');
      const pdf = await page.pdf({ format: 'A4', landscape: true });
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
      await page.emulateMedia({ media: 'screen' });
      await expect.poll(() => page.locator('.paper tbody tr').count()).toBe(0);
      await page.locator('.tools').waitFor();
    });
  });
});

describe('pictures', () => {
  test('a picture that cannot be made, and a link that cannot be copied, are told', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      await page.evaluate(() => {
        HTMLCanvasElement.prototype.toBlob = (done) => done(null);
        const clipboard = { writeText: () => Promise.reject(new Error('not allowed')) };
        Object.defineProperty(navigator, 'clipboard', { value: clipboard });
        const element = document.querySelector('okstra-plan');
        element?.addEventListener('okstra-error', () => element.setAttribute('failed', ''));
      });
      const alert = page.getByRole('alert');
      await page.getByTitle('Save as PNG').click();
      await expect.poll(() => alert.textContent()).toContain('cannot be saved as PNG');
      expect(await page.locator('okstra-plan[failed]').count()).toBe(1);
      await alert.getByRole('button', { name: 'Close' }).click();
      await expect.poll(() => alert.count()).toBe(0);
      await page.getByTitle('Copy a link to this view').click();
      const field = alert.getByRole('textbox');
      await expect.poll(() => field.inputValue()).toContain('preview.html');
      const selected = await field.evaluate((node) => {
        const { selectionStart, selectionEnd, value } = node as HTMLInputElement;
        return [selectionStart, (selectionEnd ?? 0) - value.length];
      });
      expect(selected).toEqual([0, 0]);
      expect(await page.getByTitle('Link copied').count()).toBe(0);
      await page.keyboard.press('Escape');
      await expect.poll(() => alert.count()).toBe(0);
    });
  });

  test('SVG is whole and needs nothing else; PNG is a picture', async () => {
    await using(async ({ page }) => {
      await show(page, FACTS);
      const save = async (name: string) => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByTitle(name).click(),
        ]);
        return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
      };
      const svg = await save('Save as SVG');
      expect(svg.name).toBe('plan.svg');
      const text = svg.bytes.toString();
      const parsed = await page.evaluate((source) => {
        const made = new DOMParser().parseFromString(source, 'image/svg+xml');
        return {
          faults: made.querySelectorAll('parsererror').length,
          root: made.documentElement.namespaceURI,
          texts: [...made.querySelectorAll('text')].map((node) => node.textContent),
          named: made.querySelectorAll(
            'style, script, image, use, foreignObject, [href], [style], [class]',
          ).length,
        };
      }, text);
      expect(parsed).toMatchObject({ faults: 0, root: 'http://www.w3.org/2000/svg', named: 0 });
      expect(parsed.texts).toContain('Local prices');
      expect(text).not.toMatch(/\bvar\(|light-dark/);
      const png = await save('Save as PNG');
      expect(png.name).toBe('plan.png');
      expect(png.bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
      const [, , width, height] = (/viewBox="([^"]+)"/.exec(text)?.[1] ?? '')
        .split(' ')
        .map(Number);
      expect([png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)]).toEqual([
        Math.round((width ?? 0) * 2),
        Math.round((height ?? 0) * 2),
      ]);
      expect(png.bytes.length).toBeGreaterThan(20_000);
    });
  });
});
