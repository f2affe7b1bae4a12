// Folders, processes and pages for the tests of the installed package.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { inject } from 'vitest';

/** The project that has the package installed. */
export const consumer = inject('consumer');

/** The installed package. */
export const installed = join(consumer, 'node_modules/okstra');

/** The version people see. */
export const version: string = JSON.parse(
  readFileSync(join(installed, 'package.json'), 'utf8'),
).version;

/** A folder in the consumer's project with the given files. */
export function folder(name: string, files: Record<string, string>): string {
  const path = join(consumer, name);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(path, file), text);
  }
  return path;
}

/** Runs Node in a folder; answers the JSON it prints. */
export async function node(cwd: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  return JSON.parse(stdout);
}

/** Copies `okstra.wasm` beside a bundle, as the documentation asks for. */
export function copyWasm(to: string): void {
  cpSync(join(installed, 'dist/okstra.wasm'), join(to, 'okstra.wasm'));
}

/** Only own files and wasm: the strictest policy a page with wasm can have. */
export const STRICT = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** Serves a folder on loopback under a Content-Security-Policy. */
export async function serve(
  path: string,
  policy: string,
): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const name = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    try {
      const body = readFileSync(join(path, name === '/' ? 'index.html' : name));
      const type = TYPES[extname(name === '/' ? 'index.html' : name)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type, 'content-security-policy': policy });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

/** Opens a page and answers what it put into `globalThis.result`, and everything it complained of. */
export async function visit(
  browser: Browser,
  url: string,
): Promise<{ result: unknown; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(message.text());
    }
  });
  try {
    await page.goto(url);
    await page.waitForFunction(() => 'result' in globalThis);
    const result = await page.evaluate(() => (globalThis as { result?: unknown }).result);
    return { result, complaints };
  } finally {
    await page.close();
  }
}
