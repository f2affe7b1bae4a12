// Pages of the previewer in a real Chromium, and what they do that they should not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import type { PreviewFacts } from '../../npm-package/dist/index.js';
import { findProgram } from '../../scripts/lib.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The page as it is built. */
export const pageFile = join(root, 'npm-package/dist/preview.html');

/** A real Chromium: the one in `CHROMIUM`, else the one on the PATH. */
export function launch(): Promise<Browser> {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const executablePath = process.env.CHROMIUM ?? findProgram(names);
  if (executablePath === undefined) throw new Error('no Chromium on the PATH');
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet],
  });
}

/** A page and what it did. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Every address it asked for beside its own. */
  requests: string[];
  /** Everything it complained of: thrown errors, warnings, breaches of its policy. */
  complaints: string[];
}

/** Opens the page from disk, or from another address. */
export async function visit(
  browser: Browser,
  options: BrowserContextOptions = {},
  address = pathToFileURL(pageFile).href,
): Promise<Visit> {
  const size = { width: 1280, height: 800 };
  const context = await browser.newContext({ viewport: size, locale: 'en-US', ...options });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(address.replace(/#.*/, '')) && !/^(?:data|blob):/.test(url)) {
      requests.push(url);
    }
  });
  page.on('pageerror', (error) => complaints.push(`${error.message}\n${error.stack ?? ''}`));
  page.on('console', (message) => {
    if (/error|warning/.test(message.type())) complaints.push(message.text());
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.goto(address);
  await page.waitForFunction(() => document.querySelector('okstra-plan') !== null);
  return { page, context, requests, complaints };
}

/** Shows facts and waits until they are on the screen. */
export async function show(page: Page, facts: PreviewFacts | string): Promise<void> {
  const whole = typeof facts === 'string' ? only(facts) : facts;
  await page.evaluate(async (given) => {
    const element = document.querySelector('okstra-plan');
    if (!element) throw new Error('no element');
    element.facts = given;
    await element.updated;
  }, whole);
}

/** Facts of a plan alone. */
function only(text: string): PreviewFacts {
  const plan = { path: 'plan.md', text };
  return { plan, ledger: null, evidence: [], now: '2026-11-30T12:00:00Z', fault: null };
}

/** Writes files into a folder; answers the folder. */
export function write(folder: string, files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return folder;
}

/** Drags files and folders from disk onto the page, as a person does. */
export async function drop({ page, context }: Visit, paths: string[]): Promise<void> {
  const session = await context.newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 300, y: 200, data });
    // Only where the page has said that it takes files, dropping them gives them to it.
    if (type === 'dragEnter') await page.getByText('Drop to open').waitFor();
    await page.waitForTimeout(50);
  }
  await session.detach();
}
