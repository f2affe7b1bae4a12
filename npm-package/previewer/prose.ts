// Text of plans and evidence on the page. It is anybody's, so it becomes text and nothing else: the
// few signs of Markdown that people write in cells and lists are shown, links only to the web.
import { html, type TemplateResult } from 'lit-html';
import { icon } from './marks.js';

type Shown = TemplateResult | string;

/** A link to the web that says that it leaves, or plain text where it is none. */
export function link(address: string, label: string, hint: string): Shown {
  const url = webAddress(address);
  if (url === undefined) return label;
  // `referrerpolicy` as well: older browsers know only one of the two.
  return html`<a class="out" href=${url} target="_blank" rel="noopener noreferrer external" referrerpolicy="no-referrer" title=${`${url} (${hint})`}>${label}${icon('out')}<span class="sr"> (${hint})</span></a>`;
}

/** An address as a browser understands it, where it is one of the web. */
export function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  try {
    const url = new URL(text);
    // A name and password in an address are there to deceive.
    const plain = url.username === '' && url.password === '';
    return plain && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
  } catch {
    return undefined;
  }
}

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^[\]\n]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>()"'`]*[^\s<>()"'`.,;:!?])/g;

/** One line with code, bold and links. */
export function inline(text: string, hint: string): Shown[] {
  const parts: Shown[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, bold, label, target, address] = match;
    if (match.index > at) parts.push(text.slice(at, match.index));
    at = match.index + whole.length;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (bold !== undefined) parts.push(html`<strong>${bold}</strong>`);
    else if (address !== undefined) parts.push(link(address, address, hint));
    else if (webAddress(target ?? '') !== undefined)
      parts.push(link(target ?? '', label ?? '', hint));
    else parts.push(whole);
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** Several lines: lists, fenced code, paragraphs. */
export function prose(markdown: string, hint: string): Shown[] {
  const blocks: Shown[] = [];
  let list: TemplateResult[] = [];
  let lines: string[] = [];
  const flush = () => {
    if (list.length > 0) blocks.push(html`<ul>${list}</ul>`);
    if (lines.length > 0) blocks.push(html`<p>${inline(lines.join(' '), hint)}</p>`);
    list = [];
    lines = [];
  };
  let fence: { mark: string; code: string[] } | undefined;
  for (const line of markdown.split(/\r\n?|\n/)) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) {
      if (mark?.startsWith(fence.mark)) {
        blocks.push(html`<pre>${fence.code.join('\n')}</pre>`);
        fence = undefined;
      } else {
        fence.code.push(line);
      }
      continue;
    }
    const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line)?.[1];
    if (mark !== undefined) {
      flush();
      fence = { mark, code: [] };
    } else if (item !== undefined) {
      if (lines.length > 0) flush();
      list.push(html`<li>${inline(item, hint)}</li>`);
    } else if (line.trim() === '') {
      flush();
    } else {
      if (list.length > 0) flush();
      lines.push(line.trim());
    }
  }
  if (fence) blocks.push(html`<pre>${fence.code.join('\n')}</pre>`);
  flush();
  return blocks;
}
