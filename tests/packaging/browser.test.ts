// The installed package in a real browser: bundled, under a strict policy, and from disk.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { build as viteBuild } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from '../chromium.js';
import { copyWasm, folder, installed, STRICT, serve, version, visit } from './consumer.js';
import { EXERCISE, expected } from './exercise.js';

const PAGE = '<!doctype html><title>t</title>';

/** Calls too early, then in time; a failure to load is a result as well. */
const APP = `import * as okstra from 'okstra';${EXERCISE}
const early = failure(okstra, () => okstra.checkPlan(PLAN));
try {
  await Promise.all([okstra.init(), okstra.init()]);
  globalThis.result = { early, ...exercise(okstra) };
} catch (e) {
  globalThis.result = failure(okstra, () => { throw e; });
}`;

/** What \`APP\` leaves behind. */
function expectedInPage(): Record<string, unknown> {
  const early = {
    ...{ known: true, name: 'OkstraError', code: 'not-initialised' },
    ...{ message: 'okstra was called before it was ready', help: 'await init() first' },
    details: {},
  };
  return { early, ...expected(version) };
}

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

async function bundled(name: string): Promise<string> {
  const cwd = folder(name, {
    'index.html': `${PAGE}<script type="module" src="app.js"></script>`,
  });
  await build({
    ...{ stdin: { contents: APP, resolveDir: cwd }, bundle: true, format: 'esm' },
    ...{ outfile: join(cwd, 'app.js'), target: 'es2022' },
  });
  return cwd;
}

async function visitServed(path: string, policy: string) {
  const { url, server } = await serve(path, policy);
  try {
    return await visit(browser, url);
  } finally {
    server.close();
  }
}

describe('Chromium', () => {
  test('esbuild, with the module copied, under a strict policy', async () => {
    const cwd = await bundled('page-esbuild');
    copyWasm(cwd);
    const { result, complaints } = await visitServed(cwd, STRICT);
    expect(result).toEqual(expectedInPage());
    expect(complaints).toEqual([]);
  });

  test('a policy without wasm-unsafe-eval is told as an error that names it', async () => {
    const cwd = await bundled('page-no-wasm');
    copyWasm(cwd);
    const policy = STRICT.replace(" 'wasm-unsafe-eval'", '');
    const { result } = await visitServed(cwd, policy);
    expect(result).toMatchObject({
      known: true,
      code: 'not-initialised',
      help: expect.stringContaining("'wasm-unsafe-eval'"),
    });
  });

  test('a module that is not served is told as an error that names the file', async () => {
    const cwd = await bundled('page-missing');
    const { result } = await visitServed(cwd, STRICT);
    expect(result).toMatchObject({
      known: true,
      code: 'not-initialised',
      message: expect.stringContaining('okstra.wasm cannot be loaded'),
    });
  });

  test('Vite without any setting, under a strict policy', async () => {
    const root = folder('page-vite', {
      'index.html': `${PAGE}<script type="module" src="/app.js"></script>`,
      'app.js': APP,
    });
    await viteBuild({ root, configFile: false, logLevel: 'error', build: { target: 'es2022' } });
    const { result, complaints } = await visitServed(
      join(root, 'dist'),
      `${STRICT}; img-src data:`,
    );
    expect(result).toEqual(expectedInPage());
    expect(complaints).toEqual([]);
  });

  test('a page opened from disk, with the classic script', async () => {
    const cwd = folder('page-file', {
      'index.html': `${PAGE}<script src="okstra.js"></script><script src="app.js"></script>`,
      'app.js': `${EXERCISE}; globalThis.result = exercise(okstra);`,
    });
    copyFileSync(join(installed, 'dist/inline.global.js'), join(cwd, 'okstra.js'));
    const { result, complaints } = await visit(
      browser,
      pathToFileURL(join(cwd, 'index.html')).href,
    );
    expect(result).toEqual(expected(version));
    expect(complaints).toEqual([]);
  });
});
