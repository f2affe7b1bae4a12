/** A page in a real browser: under its policy it follows its server and reaches nobody else. */
import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PreviewFacts } from '../../npm-package/src/index.js';
import { launch } from '../chromium.js';
import { carry, done, evidence, FOUR, LEDGER, PLAN, started } from '../cli/stages.js';
import { installedWith, Project, serve, stop } from './support.js';

/** The page that the build makes. */
const REAL = fileURLToPath(new URL('../../npm-package/dist/preview.html', import.meta.url));

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** What the page leaves behind. */
interface Left {
  facts?: PreviewFacts;
  fetched?: PreviewFacts;
  ended?: boolean;
}

it('gets facts and changes, reaches nobody, is reached by nobody, and is told the end', async () => {
  const hostile = `${FOUR}\n</script><script>globalThis.harm = true</script>\n`;
  const project = new Project({ [PLAN]: hostile });
  const server = await serve(project);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(server.url);
  await page.waitForFunction(() => (globalThis as Left).fetched && (globalThis as Left).facts);
  const [fetched, facts] = await page.evaluate(() => [
    (globalThis as Left).fetched,
    (globalThis as Left).facts,
  ]);
  expect(fetched?.plan).toEqual({ path: PLAN, text: hostile });
  expect(facts?.plan).toEqual(fetched?.plan);
  expect(await page.evaluate(() => 'harm' in globalThis)).toBe(false);
  project.write(PLAN, FOUR);
  await page.waitForFunction((text) => (globalThis as Left).facts?.plan?.text === text, FOUR);
  expect(complaints).toEqual([]);

  // Even if somebody ran a script in it, it could tell nobody.
  const heard: string[] = [];
  const other = createServer((request, response) => {
    heard.push(request.url ?? '');
    response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const tried = await page.evaluate(async (address) => {
    const fetching = fetch(`${address}/fetch`).then(
      () => 'reached',
      () => 'stopped',
    );
    const image = new Promise((resolve) => {
      const element = new Image();
      element.onload = () => resolve('reached');
      element.onerror = () => resolve('stopped');
      element.src = `${address}/image`;
    });
    const frame = document.createElement('iframe');
    frame.src = `${address}/frame`;
    document.body.append(frame);
    const form = document.createElement('form');
    form.action = `${address}/form`;
    document.body.append(form);
    form.submit();
    return Promise.all([fetching, image, new Promise((resolve) => setTimeout(resolve, 300))]);
  }, elsewhere);
  expect(tried.slice(0, 2)).toEqual(['stopped', 'stopped']);

  // And no other page can look into it.
  const stranger = await browser.newPage();
  await stranger.goto(`${elsewhere}/stranger`);
  expect(
    await stranger.evaluate(async (url) => {
      const results = await Promise.all(
        ['', 'facts', 'events'].map((path) =>
          fetch(`${url}${path}`).then(
            () => 'read',
            () => 'refused',
          ),
        ),
      );
      const frame = document.createElement('iframe');
      frame.src = url;
      const loaded = new Promise((resolve) => {
        frame.onload = resolve;
      });
      document.body.append(frame);
      await loaded;
      return [...results, frame.contentDocument === null ? 'refused' : 'read'];
    }, server.url),
  ).toEqual(['refused', 'refused', 'refused', 'refused']);
  expect(heard.filter((url) => !['/stranger', '/favicon.ico'].includes(url))).toEqual([]);
  other.close();

  await stop(server);
  await page.waitForFunction(() => (globalThis as Left).ended === true);
});

// The page itself has tests of its own; here it is only that the two understand each other.
it.runIf(existsSync(REAL))('the real page follows its server to the end', async () => {
  const project = new Project({ [LEDGER]: started(1) });
  const program = installedWith(readFileSync(REAL, 'utf8'));
  const server = await serve(project, [PLAN], { program });
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(server.url);
  const shows = (text: string) =>
    page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor();
  await shows('0 of 4 done');
  await shows('live');
  project.write(carry(1), evidence(1, 'Parse the input'));
  project.append(done(1, { claim_id: 'claim-1' }));
  await shows('1 of 4 done');
  project.write(PLAN, FOUR.replace('Count the words', 'Count the letters'));
  await shows('Count the letters');
  unlinkSync(project.at(PLAN));
  await page.getByRole('alert').getByText('no such file').waitFor();
  project.write(PLAN, FOUR);
  await shows('Count the words');
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await stop(server);
  await shows('ended');
  expect(complaints).toEqual([]);
});
