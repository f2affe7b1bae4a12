// The text of the plan with the places of its findings: made of text nodes only.
import type { Finding } from '../src/generated/types.js';
import type { Item, Model } from './model.js';
import type { Words } from './words.js';

/** What happens in the text. */
export interface TextEvents {
  /** A person looks at the place of a finding. */
  finding(at: number): void;
  /** A person goes from a stage's heading to the graph. */
  stage(item: Item): void;
}

/** So many lines are one piece that the browser draws only where it is seen. */
const CHUNK = 100;

interface Range {
  start: number;
  end: number;
  finding: number;
}

export class TextView {
  readonly root = node('div', 'source');
  readonly #events: TextEvents;
  #text: string | undefined;
  #findings = '';
  #lines: HTMLElement[] = [];
  #marks: Map<number, HTMLElement> = new Map();
  #words: Words | undefined;

  constructor(events: TextEvents) {
    this.#events = events;
    this.root.tabIndex = 0;
    this.root.setAttribute('role', 'region');
    const act = (event: Event): boolean => {
      const target = (event.target as Element).closest<HTMLElement>('[data-finding],[data-stage]');
      const { finding, stage } = target?.dataset ?? {};
      if (finding !== undefined) this.#events.finding(Number(finding));
      else if (stage !== undefined) {
        const item = this.#model?.stages.get(Number(stage));
        if (item) this.#events.stage(item);
      }
      return target !== null;
    };
    this.root.addEventListener('click', act);
    this.root.addEventListener('keydown', (event) => {
      if ((event.key === 'Enter' || event.key === ' ') && act(event)) event.preventDefault();
    });
  }

  #model: Model | undefined;

  /** Shows a model; what has not changed stays as it is. */
  update(model: Model, words: Words): void {
    this.#model = model;
    const findings = JSON.stringify([
      model.preview.findings.map(({ code, range, severity }) => [code, severity, range]),
      model.items.map(({ about, stage }) => [stage, about.plan.section?.heading.start.line]),
    ]);
    if (this.#text === model.text && this.#findings === findings && this.#words === words) return;
    [this.#text, this.#findings, this.#words] = [model.text, findings, words];
    this.root.setAttribute('aria-label', words.source);
    this.#draw(model, words);
  }

  #draw({ text, preview, items }: Model, words: Words): void {
    const ranges = preview.findings
      .map(({ range }, finding): Range => {
        return { start: range.start.offset_utf16, end: range.end.offset_utf16, finding };
      })
      .sort((a, b) => a.start - b.start || b.end - a.end);
    const headings = new Map<number, Item>();
    for (const item of items) {
      const line = item.about.plan.section?.heading.start.line;
      if (line !== undefined && item.stage !== null && !headings.has(line))
        headings.set(line, item);
    }
    this.#lines = [];
    this.#marks = new Map();
    const chunks: HTMLElement[] = [];
    let chunk = node('div', 'chunk');
    let next = 0;
    let open: Range[] = [];
    let offset = 0;
    for (const piece of text.match(/[^\r\n]*(?:\r\n|\r|\n|$)/g) ?? []) {
      const number = this.#lines.length + 1;
      if (piece === '' && number > 1 && offset >= text.length && !/[\r\n]$/.test(text)) break;
      const content = piece.replace(/[\r\n]+$/, '');
      const end = offset + piece.length;
      open = open.filter((range) => range.end > offset);
      const here = [...open];
      for (; next < ranges.length; next++) {
        const range = ranges[next] as Range;
        const last = end >= text.length;
        if (range.start >= end && !last) break;
        here.push(range);
        if (range.end > end) open.push(range);
      }
      const line = node('div', `line ${kind(content)}`);
      const gutter = node('span', 'no');
      gutter.textContent = `${number}`;
      gutter.setAttribute('aria-hidden', 'true');
      const code = node('span', 'code');
      this.#fill(code, content, offset, here, preview.findings, words);
      line.append(gutter, code);
      const item = headings.get(number);
      if (item) line.append(stageButton(item, words));
      chunk.append(line);
      this.#lines.push(line);
      if (this.#lines.length % CHUNK === 0) {
        chunks.push(chunk);
        chunk = node('div', 'chunk');
      }
      offset = end;
      if (piece === '') break;
    }
    chunks.push(chunk);
    this.root.replaceChildren(...chunks);
  }

  /** One line, cut at the ends of the ranges in it. */
  #fill(
    code: HTMLElement,
    content: string,
    offset: number,
    ranges: readonly Range[],
    findings: readonly Finding[],
    words: Words,
  ): void {
    const end = offset + content.length;
    const within = (place: number) => Math.min(Math.max(place, offset), end);
    const cuts = new Set([offset, end]);
    for (const range of ranges) {
      cuts.add(within(range.start));
      cuts.add(within(range.end));
    }
    const sorted = [...cuts].sort((a, b) => a - b);
    const put = (from: number, to: number, over: readonly Range[]) => {
      const part = content.slice(from - offset, to - offset);
      if (over.length === 0) {
        code.append(part);
        return;
      }
      const worst = over.find(({ finding }) => findings[finding]?.severity === 'error') ?? over[0];
      const at = worst?.finding ?? 0;
      const mark = node(
        'mark',
        `${findings[at]?.severity ?? 'error'}${from === to ? ' point' : ''}`,
      );
      mark.dataset.finding = `${at}`;
      mark.textContent = part;
      let isFirst = false;
      for (const { finding } of over) {
        if (this.#marks.has(finding)) continue;
        this.#marks.set(finding, mark);
        isFirst = true;
      }
      if (isFirst) {
        mark.tabIndex = 0;
        mark.setAttribute('role', 'button');
        const said = over.map(({ finding }) => findings[finding]?.code).join(', ');
        mark.setAttribute('aria-label', `${words.findings} ${said}: ${part}`);
      }
      code.append(mark);
    };
    for (const [at, from] of sorted.entries()) {
      const points = ranges.filter((range) => range.start === range.end && range.start === from);
      if (points.length > 0) put(from, from, points);
      const to = sorted[at + 1];
      if (to === undefined) break;
      put(
        from,
        to,
        ranges.filter((range) => range.start < to && range.end > from),
      );
    }
    // A blank line has no text to mark.
    const blank = ranges.filter(({ finding }) => !this.#marks.has(finding));
    if (content === '' && blank.length > 0) put(offset, offset, blank);
  }

  /** Goes to the place of a finding. */
  show(at: number): void {
    for (const mark of this.root.querySelectorAll('mark.now')) mark.classList.remove('now');
    for (const mark of this.root.querySelectorAll(`mark[data-finding="${at}"]`)) {
      mark.classList.add('now');
    }
    const mark = this.#marks.get(at);
    mark?.classList.add('now');
    mark?.scrollIntoView({ block: 'center', inline: 'nearest' });
  }

  /** Goes to a line, and shows which lines belong together. */
  line(first: number, last = first): void {
    for (const line of this.root.querySelectorAll('.line.now')) line.classList.remove('now');
    for (const line of this.#lines.slice(first - 1, last)) line.classList.add('now');
    this.#lines[first - 1]?.scrollIntoView({ block: 'start', inline: 'nearest' });
  }

  /** Puts the keyboard on the place of a finding. */
  focus(at: number): void {
    this.#marks.get(at)?.focus();
  }
}

function stageButton(item: Item, words: Words): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = `jump st-${item.state}`;
  button.dataset.stage = `${item.stage}`;
  button.title = words.inGraph;
  button.textContent = `${words.stage(item.stage ?? 0)} ↗`;
  return button;
}

/** What a line looks like, for the eye only. */
function kind(line: string): string {
  if (/^ {0,3}#{1,6}\s/.test(line)) return 'heading';
  if (/^\s*\|/.test(line)) return 'table';
  return /^\s*(?:>|<!--)/.test(line) ? 'aside' : '';
}

function node(name: string, className: string): HTMLElement {
  const made = document.createElement(name);
  made.className = className.trim();
  return made;
}
