// What axe-core finds wrong for people who do not see, or do not use a mouse: nothing.
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, show, visit } from './browser.js';
import { FACTS, FAULTY } from './plans.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

interface Violation {
  id: string;
  nodes: { target: unknown; failureSummary: string }[];
}

async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate(async () => {
    const its = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await its.axe.run()).violations;
  });
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${JSON.stringify(target)} ${failureSummary}`),
  );
}

const WIDE = ['', 'stage=1&states=ready', 'view=text&finding=1', 'view=text&stage=4'];

const NARROW = ['stage=3', 'view=text&finding=1'];

test.each([
  ['light', 'en-US', 1280],
  ['dark', 'en-US', 1280],
  ['light', 'ko-KR', 390],
  ['dark', 'ko-KR', 390],
] as const)('%s, %s, %i px: no violations', async (colorScheme, locale, width) => {
  const viewport = { width, height: 900 };
  // The policy keeps scripts of others out; this one is of the test.
  const { page, context } = await visit(browser, {
    colorScheme,
    locale,
    viewport,
    bypassCSP: true,
  });
  await page.evaluate(axe.source);
  expect(await violations(page)).toEqual([]);
  const text = FAULTY.replace('- [x] Approved', '- [ ] Approved');
  await show(page, { ...FACTS, plan: { path: 'plan.md', text }, fault: 'a fault' });
  for (const view of width > 760 ? WIDE : NARROW) {
    await page.evaluate((to) => {
      const element = document.querySelector('okstra-plan');
      if (element) element.view = to;
    }, view);
    expect(await violations(page), view).toEqual([]);
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  expect(await violations(page), 'keys').toEqual([]);
  await context.close();
});
