// The page as `okstra preview` serves it, and the element in a page of somebody else.
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PreviewFacts } from '../../npm-package/dist/index.js';
import { launch, pageFile, root, visit } from './browser.js';
import { FACTS, LEDGER, NEXT_ROW } from './plans.js';

let browser: Browser;
const servers: Server[] = [];
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What a server of previews does, as far as the page knows it. */
async function served(facts: PreviewFacts) {
  const listeners = new Set<ServerResponse>();
  const page = readFileSync(pageFile, 'utf8')
    .replace("connect-src 'none'", "connect-src 'self'")
    .replace('<head>', '<head><meta name="okstra-live" content="">');
  const server = createServer(({ url }, response) => {
    if (url === '/token/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    } else if (url === '/token/facts') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(facts));
    } else if (url === '/token/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
      listeners.add(response);
    } else {
      response.writeHead(404).end();
    }
  });
  const address = `${await listening(server)}/token/`;
  const send = (text: string) => {
    for (const each of listeners) each.write(text);
  };
  const say = (next: PreviewFacts) => send(`data: ${JSON.stringify(next)}\n\n`);
  return { address, listeners, say, send, server };
}

describe('live', () => {
  test('a change is on the screen at once, a fault keeps the last view, the end is told', async () => {
    const { address, listeners, say, send } = await served(FACTS);
    const { page, context, complaints } = await visit(browser, {}, address);
    const fourth = page.getByRole('button', { name: /^Stage 4: Local prices/ });
    await fourth.waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => listeners.size).toBe(1);
    expect(await fourth.getAttribute('aria-label')).toContain('running');
    await fourth.click();
    say({ ...FACTS, ledger: { path: 'consumers.jsonl', text: LEDGER + NEXT_ROW } });
    await expect.poll(() => fourth.getAttribute('aria-label')).toContain('done');
    // What is open stays open, and shows the new state.
    await expect.poll(() => page.locator('.panel .state-tag').textContent()).toContain('done');
    say({ ...FACTS, plan: null, fault: 'plan.md is gone at this moment' });
    await page.getByRole('alert').getByText('plan.md is gone at this moment').waitFor();
    await page.getByRole('alert').getByText('The last view is kept').waitFor();
    await fourth.waitFor();
    // What else changes is shown with the plan as it was.
    say({ ...FACTS, plan: null, ledger: null, fault: 'plan.md is gone at this moment' });
    await expect.poll(() => fourth.getAttribute('aria-label')).toContain('waiting');
    // Another file's fault: the plan on the screen is the newest.
    say({ ...FACTS, fault: 'stage-1.json: too large\nstage-2.json: a link' });
    await page.getByRole('alert').getByText('stage-2.json: a link').waitFor();
    expect(await page.getByRole('alert').textContent()).not.toContain('kept');
    say({ ...FACTS, ledger: null });
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await expect.poll(() => fourth.getAttribute('aria-label')).toContain('waiting');
    send('event: closed\ndata: {}\n\n');
    await page.getByText('ended', { exact: true }).waitFor();
    await fourth.waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('a server that is away for a moment is found again', async () => {
    const { address, listeners, say, server } = await served(FACTS);
    const { page, context } = await visit(browser, {}, address);
    await expect.poll(() => listeners.size).toBe(1);
    listeners.clear();
    server.closeAllConnections();
    await page.getByText('reconnecting…').waitFor();
    await expect.poll(() => listeners.size, { timeout: 10_000 }).toBe(1);
    await page.getByText('live', { exact: true }).waitFor();
    say({ ...FACTS, ledger: null });
    const fourth = page.getByRole('button', { name: /^Stage 4: Local prices, waiting/ });
    await fourth.waitFor();
    await context.close();
  });

  test('a plan that cannot be read at first is told', async () => {
    const fault = 'plan.md cannot be read: permission denied';
    const { address } = await served({ ...FACTS, plan: null, fault });
    const { page, context } = await visit(browser, {}, address);
    await page.getByText(fault).waitFor();
    await context.close();
  });
});

describe('the element in another page', () => {
  test('attributes, properties and events, under a policy without styles of its own', async () => {
    const html = `<!doctype html><html lang="ko"><title>t</title><script type="module" src="previewer.js"></script>
<okstra-plan theme="dark"></okstra-plan>`;
    const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";
    const server = createServer(({ url }, response) => {
      const isScript = url === '/previewer.js';
      const type = isScript ? 'text/javascript' : 'text/html; charset=utf-8';
      if (!isScript && url !== '/') return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': type, 'content-security-policy': policy });
      return response.end(
        isScript ? readFileSync(join(root, 'npm-package/dist/previewer.js')) : html,
      );
    });
    const address = `${await listening(server)}/`;
    const { page, context, complaints } = await visit(browser, {}, address);
    const result = await page.evaluate(async (facts) => {
      await customElements.whenDefined('okstra-plan');
      const element = document.querySelector('okstra-plan');
      if (!element) return undefined;
      const heard: unknown[] = [];
      element.addEventListener('okstra-select', ({ detail }) => heard.push(detail.stage));
      element.facts = facts;
      await element.updated;
      element.setAttribute('selected', '5');
      element.selected = null;
      const states = element.preview?.stages.map(({ line }) => line?.state);
      const ground = getComputedStyle(element).backgroundColor;
      const label = element.shadowRoot
        ?.querySelector('svg[role=group]')
        ?.getAttribute('aria-label');
      element.setAttribute('plan', '# Nothing');
      await element.updated;
      return { heard, states, ground, label, findings: element.preview?.findings.length };
    }, FACTS);
    expect(result).toEqual({
      heard: [5, null],
      states: ['pr', 'verified', 'done', 'running', 'ready', 'waiting', 'waiting'],
      ground: 'rgb(16, 18, 22)',
      label: expect.stringContaining('스테이지 그래프'),
      findings: 1,
    });
    expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
    await context.close();
  });
});
