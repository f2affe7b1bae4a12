/** The page of the package, made to follow the server it comes from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../host.js';
import type { Page } from './serving.js';

/** What the page may connect to from a disk, and from here. */
const NOWHERE = "connect-src 'none'";
const HERE = "connect-src 'self'";

/** Tells the page that it is served. */
const LIVE = '<meta name="okstra-live" content="">';

const POLICY_TAG =
  /<meta\s(?=[^>]*http-equiv=["']?Content-Security-Policy\b)[^>]*content="([^"]*)"/i;

/** What a page on a disk cannot say for itself. */
const ALWAYS = ['frame-ancestors', 'base-uri', 'form-action'];

/** See {@link Serving.page}. `folder` is where the bundles lie. */
export function readPage(folder: string): Page {
  const file = join(folder, 'preview.html');
  const broken = (message: string) =>
    new HostError('other', file, message, 'install okstra again: this copy is not whole');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw broken('the page cannot be read');
  }
  const page = livePage(text);
  if (page === undefined) throw broken('not the page that belongs to this version');
  return page;
}

/** The page with what makes it follow; `undefined` where it is not as it has to be. */
export function livePage(text: string): Page | undefined {
  if (text.split(NOWHERE).length !== 2 || text.split('<head>').length !== 2) return undefined;
  const html = text.replace(NOWHERE, HERE).replace('<head>', `<head>${LIVE}`);
  const policy = POLICY_TAG.exec(html)?.[1];
  if (policy?.includes(HERE) !== true || !/^[\x20-\x7e]+$/.test(policy)) return undefined;
  const words = policy
    .split(';')
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '');
  const named = new Set(words.map((directive) => directive.split(' ', 1)[0]));
  const more = ALWAYS.filter((name) => !named.has(name)).map((name) => `${name} 'none'`);
  return { html: Buffer.from(html), policy: [...words, ...more].join('; ') };
}
