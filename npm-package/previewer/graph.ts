// The graph: drawn by hand, since a thousand cards and a change of one state have to be quick.
import { CARD, type Layout, layOut } from './layout.js';
import { markNode, SVG } from './marks.js';
import { closure, type Item, type Line, type Model } from './model.js';
import type { Words } from './words.js';

/** What happens in the graph. */
export interface GraphEvents {
  /** A person opens a stage. */
  open(item: Item, byKey: boolean): void;
  /** What is seen has moved. */
  moved(): void;
}

/** The part of the graph that is seen: how large, and what is in the middle. */
export interface Sight {
  scale: number;
  x: number;
  y: number;
}

const SCALE = { least: 0.08, most: 2.5, far: 0.42, first: 0.55 };

/** Up to so many cards are drawn in full at once; of more only what is seen. */
const FEW = 150;

/** So many lines are drawn for one stage of a graph that draws lines on demand. */
const MOST_LINES = 600;

interface Card {
  item: Item;
  node: SVGGElement;
  /** What is pressed: over all of the card, with its name in words. */
  button: SVGElement;
  look: string;
  detail: SVGGElement | undefined;
}

export class GraphView {
  readonly root = element('div', 'graph');
  readonly svg = document.createElementNS(SVG, 'svg');
  readonly #scroller = element('div', 'scroller');
  readonly #map = document.createElement('canvas');
  readonly #under = group('columns');
  readonly #lines = group('lines');
  readonly #over = group('lines over');
  readonly #cards = group('cards');
  readonly #events: GraphEvents;
  readonly #size: ResizeObserver;
  #model: Model | undefined;
  #words: Words | undefined;
  #layout: Layout | undefined;
  #drawn: Map<string, Card> = new Map();
  #paths: Map<Line, SVGPathElement> = new Map();
  #scale = 1;
  /** Whether a person has moved the graph; until then it fits the window. */
  #touched = false;
  /** What was seen when it was hidden, or is to be seen once it is shown: hidden it has no size. */
  #kept: Sight | undefined;
  #selected: string | undefined;
  #matching: ReadonlySet<Item> | undefined;
  #home: string | undefined;
  /** The size of the window on the graph. */
  #window = { width: 0, height: 0 };
  #frame = 0;
  /** Whether any card is marked as looked at, open or left out. */
  #marked = false;
  #flat = false;

  constructor(events: GraphEvents) {
    this.#events = events;
    this.#scroller.append(this.svg);
    this.#map.className = 'minimap';
    this.#map.setAttribute('aria-hidden', 'true');
    this.root.append(this.#scroller, this.#map);
    this.svg.append(this.#under, this.#lines, this.#over, this.#cards);
    this.svg.setAttribute('role', 'group');
    this.#listen();
    this.#size = new ResizeObserver(() => {
      this.#measure();
      this.restore();
      if (!this.#touched) this.fit(true);
      else this.#later();
    });
    this.#size.observe(this.#scroller);
  }

  /** Shows a model; draws anew only what has changed. */
  update(model: Model, words: Words): void {
    const same = this.#model?.structure === model.structure && this.#words === words;
    this.#model = model;
    this.#words = words;
    const { title, counts } = { title: words.graphLabel, counts: summary(model, words) };
    this.svg.setAttribute('aria-label', `${title}: ${counts}. ${words.graphHow}`);
    if (same) this.#patch(model);
    else this.#build(model);
    this.#mark();
    this.#later();
  }

  #build(model: Model): void {
    const held = this.#focused()?.item.key;
    const layout = layOut(model);
    // Asked for now: with a thousand new cards in it, the answer would take a layout of its own.
    this.#measure();
    this.#layout = layout;
    this.svg.setAttribute('viewBox', `0 0 ${layout.width} ${layout.height}`);
    this.svg.classList.toggle('compact', layout.compact);
    this.#under.replaceChildren(...layout.columns.map((column) => this.#column(column)));
    this.#paths = new Map();
    for (const line of this.#wanted(model)) this.#paths.set(line, linePath(layout, line));
    // The critical path lies on top.
    const order = [...this.#paths].sort(([a], [b]) => Number(a.critical) - Number(b.critical));
    this.#lines.replaceChildren(...order.map(([, path]) => path));
    this.#over.replaceChildren();
    this.#drawn = new Map();
    const nodes = document.createDocumentFragment();
    for (const { items } of model.columns) {
      for (const item of items) {
        const card = this.#card(item, layout);
        this.#drawn.set(item.key, card);
        nodes.append(card.node);
      }
    }
    this.#cards.replaceChildren(nodes);
    if (!this.#drawn.has(this.#home ?? '')) this.#home = model.columns[0]?.items[0]?.key;
    this.#drawn.get(this.#home ?? '')?.button.setAttribute('tabindex', '0');
    if (this.#drawn.size <= FEW) this.complete();
    if (this.#touched) this.#resize();
    else this.fit(true);
    if (held !== undefined) this.#drawn.get(held)?.button.focus();
  }

  #patch(model: Model): void {
    // The same structure has the same lines in the same order.
    const paths = [...this.#paths.values()];
    const wanted = this.#wanted(model);
    this.#paths = new Map(wanted.map((line, at) => [line, paths[at] as SVGPathElement]));
    for (const item of model.items) {
      const card = this.#drawn.get(item.key);
      if (!card) continue;
      card.item = item;
      const look = this.#look(item);
      if (look !== card.look) this.#dress(card, look);
    }
  }

  /** The lines that are always drawn. */
  #wanted({ lines }: Model): Line[] {
    return this.#layout?.compact ? lines.filter(({ critical }) => critical) : lines;
  }

  #column({ wave, count, x, width }: Layout['columns'][number]): SVGGElement {
    const words = this.#words as Words;
    const node = group('column');
    const name = text('wave', x, 34, wave === null ? words.noWave : words.wave(wave));
    const size = text('size', x + width, 34, words.stages(count));
    const rule = document.createElementNS(SVG, 'path');
    rule.setAttribute('class', 'rule');
    rule.setAttribute('d', `M${x} 46H${x + width}`);
    node.append(name, size, rule);
    return node;
  }

  #card(item: Item, layout: Layout): Card {
    const node = group('card');
    const { x, y } = layout.places.get(item.key) ?? { x: 0, y: 0 };
    node.setAttribute('transform', `translate(${x} ${y})`);
    const button = rectangle('press', CARD.width, CARD.height, 10);
    button.setAttribute('role', 'button');
    button.setAttribute('tabindex', '-1');
    button.setAttribute('aria-pressed', 'false');
    button.dataset.key = item.key;
    node.dataset.key = item.key;
    const card = { item, node, button, look: '', detail: undefined };
    this.#dress(card, this.#look(item));
    return card;
  }

  /** What a card looks like, as a text to compare. */
  #look({ about, state, findings, errors, critical }: Item): string {
    const { line } = about;
    const stale = line?.stale ? 's' : '';
    return [
      state,
      line?.by,
      line?.age_ms,
      stale,
      findings.length,
      errors,
      critical,
      line?.waits_for,
    ].join('|');
  }

  #dress(card: Card, look: string): void {
    const { item, node, button } = card;
    card.look = look;
    node.setAttribute('class', `card st-${item.state}${item.critical ? ' critical' : ''}`);
    button.setAttribute('aria-label', spoken(item, this.#words as Words));
    const had = card.detail !== undefined;
    const box = rectangle('box', CARD.width, CARD.height, 10);
    const edge = document.createElementNS(SVG, 'path');
    edge.setAttribute('class', 'edge');
    edge.setAttribute('d', `M4.5 12V${CARD.height - 12}`);
    node.replaceChildren(box, edge, button);
    card.detail = undefined;
    if (had) this.#detail(card);
  }

  /** Everything on a card that cannot be read from afar. */
  #detail(card: Card): void {
    if (card.detail) return;
    const words = this.#words as Words;
    const { item, button, node } = card;
    const title = document.createElementNS(SVG, 'title');
    title.textContent = clean(item.title);
    node.prepend(title);
    const detail = group('detail');
    const place = group('place');
    place.setAttribute('transform', 'translate(14 11)');
    place.append(markNode(item.state));
    detail.append(place);
    // The name of the button says all of it, in order.
    detail.setAttribute('aria-hidden', 'true');
    const number = item.stage === null ? '–' : `${item.stage}`;
    const head = text('number', 37, 24, number);
    const state = document.createElementNS(SVG, 'tspan');
    state.setAttribute('class', 'state');
    state.setAttribute('dx', '7');
    state.textContent = item.state === 'pr' ? words.inPr : words.states[item.state];
    head.append(state);
    detail.append(head);
    let right = CARD.width - 14;
    if (item.findings.length > 0) {
      const label = `${item.findings.length}`;
      const width = 20 + label.length * 7;
      const badge = group(item.errors > 0 ? 'badge error' : 'badge warning');
      badge.setAttribute('transform', `translate(${right - width + 4} 9)`);
      badge.append(rectangle('pill', width, 20, 10), text('count', width / 2, 14, `! ${label}`));
      detail.append(badge);
      right -= width + 4;
    }
    if (item.about.line?.stale) {
      detail.append(text('stale', right, 24, '↻'));
      right -= 16;
    }
    if (item.findings.length === 0 && !item.about.line?.stale) {
      detail.append(text('size', right, 24, words.steps(item.steps)));
    }
    for (const [at, line] of wrap(item.title, CARD.width - 28).entries()) {
      detail.append(text('title', 14, 46 + at * 17, line));
    }
    button.before(detail);
    card.detail = detail;
  }

  /** Draws everything in full: for an export, for print. */
  complete(): void {
    for (const card of this.#drawn.values()) this.#detail(card);
  }

  /** Marks the stage that is open in the panel. */
  select(item: Item | undefined): void {
    this.#selected = item?.key;
    this.#mark();
  }

  /** Lets everything but these step back; `undefined` shows all. */
  match(items: ReadonlySet<Item> | undefined): void {
    this.#matching = items;
    this.#mark();
    this.#later();
  }

  #mark(): void {
    const isPlain =
      this.#matching === undefined && this.#selected === undefined && !this.#focused();
    if (isPlain && !this.#marked) return;
    this.#marked = !isPlain;
    const matching = this.#matching && new Set([...this.#matching].map(({ key }) => key));
    for (const [key, { node, button }] of this.#drawn) {
      const isOpen = key === this.#selected;
      node.classList.toggle('open', isOpen);
      button.setAttribute('aria-pressed', `${isOpen}`);
      node.classList.toggle('off', matching !== undefined && !matching.has(key));
    }
    this.#light(this.#focused()?.item ?? this.#item(this.#selected), this.#focused() !== undefined);
  }

  #item(key: string | undefined): Item | undefined {
    return this.#drawn.get(key ?? '')?.item;
  }

  #focused(): Card | undefined {
    const root = this.root.getRootNode() as Document | ShadowRoot;
    const active = root.activeElement;
    if (!(active instanceof SVGElement) || !active.matches(':focus-visible')) return undefined;
    return this.#drawn.get(active.dataset.key ?? '');
  }

  /** Shows what a stage waits for and what waits for it; with `dim` the rest steps back. */
  #light(item: Item | undefined, dim: boolean): void {
    const model = this.#model;
    const layout = this.#layout;
    if (!model || !layout) return;
    this.svg.classList.toggle('looking', item !== undefined && dim);
    const { before, behind } = item
      ? closure(model, item)
      : { before: new Set<Item>(), behind: new Set<Item>() };
    for (const { item: other, node } of this.#drawn.values()) {
      node.classList.toggle('self', other === item);
      node.classList.toggle('before', before.has(other));
      node.classList.toggle('behind', behind.has(other));
    }
    const side = ({ from, to }: Line): '' | 'before' | 'behind' => {
      if (!item) return '';
      if ((to === item || before.has(to)) && before.has(from)) return 'before';
      return (from === item || behind.has(from)) && behind.has(to) ? 'behind' : '';
    };
    for (const [line, path] of this.#paths) {
      const on = side(line);
      path.setAttribute('class', `line${line.critical ? ' critical' : ''}${on && ` ${on}`}`);
    }
    if (!layout.compact) return;
    const extra = item ? model.lines.filter((line) => side(line) !== '').slice(0, MOST_LINES) : [];
    this.#over.replaceChildren(
      ...extra.map((line) => {
        const path = linePath(layout, line);
        path.classList.add(side(line) || 'behind');
        return path;
      }),
    );
  }

  /** How large it is, and what is in the middle. */
  get sight(): Sight | undefined {
    if (!this.#touched) return undefined;
    if (!this.#isShown) return this.#kept;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#scroller;
    const round = (value: number) => Math.round(value / this.#scale);
    return {
      scale: Math.round(this.#scale * 1000) / 1000,
      x: round(scrollLeft + clientWidth / 2),
      y: round(scrollTop + clientHeight / 2),
    };
  }

  set sight(sight: Sight | undefined) {
    this.#kept = this.#isShown ? undefined : sight;
    if (!sight) {
      this.#touched = false;
      this.fit(true);
      return;
    }
    this.#touched = true;
    this.#scale = Math.min(SCALE.most, Math.max(SCALE.least, sight.scale));
    this.#resize();
    this.#centre(sight.x, sight.y);
  }

  get #isShown(): boolean {
    return this.#scroller.clientWidth > 0;
  }

  /** Remembers what is seen, before it is hidden. */
  keep(): void {
    if (this.#isShown) this.#kept = this.sight;
  }

  /** Shows what was remembered, once it is shown again. */
  restore(): void {
    if (this.#kept && this.#isShown && !this.#flat) this.sight = this.#kept;
  }

  get scale(): number {
    return this.#scale;
  }

  #centre(x: number, y: number): void {
    const { clientWidth, clientHeight } = this.#scroller;
    this.#scroller.scrollTo(x * this.#scale - clientWidth / 2, y * this.#scale - clientHeight / 2);
    this.#later();
  }

  /** Shows all of it; at first only as small as can be read. */
  fit(first = false): void {
    const layout = this.#layout;
    const { width, height } = this.#window;
    if (!layout || width === 0 || height === 0) return;
    const whole = Math.min(1.15, width / layout.width, height / layout.height);
    this.#scale = Math.max(whole, first ? SCALE.first : SCALE.least);
    this.#resize();
    if (!first) {
      this.#touched = true;
      this.#events.moved();
    }
  }

  /** Enlarges around a point of the window; around the middle where there is none. */
  zoom(factor: number, at?: { clientX: number; clientY: number }): void {
    const box = this.#scroller.getBoundingClientRect();
    if (box.width === 0) return;
    const [left, top] = at
      ? [at.clientX - box.left, at.clientY - box.top]
      : [box.width / 2, box.height / 2];
    const old = this.#scale;
    const { scrollLeft, scrollTop } = this.#scroller;
    const margin = this.#margin();
    this.#scale = Math.min(SCALE.most, Math.max(SCALE.least, old * factor));
    this.#touched = true;
    this.#resize();
    const after = this.#margin();
    const keep = (scroll: number, offset: number, was: number, is: number) =>
      ((scroll + offset - was) / old) * this.#scale + is - offset;
    this.#scroller.scrollTo(
      keep(scrollLeft, left, margin.x, after.x),
      keep(scrollTop, top, margin.y, after.y),
    );
    this.#events.moved();
  }

  /** The empty space beside a graph that is smaller than its window. */
  #margin(): { x: number; y: number } {
    const { clientWidth, clientHeight } = this.#scroller;
    const { width = 0, height = 0 } = this.#layout ?? {};
    return {
      x: Math.max(0, (clientWidth - width * this.#scale) / 2),
      y: Math.max(0, (clientHeight - height * this.#scale) / 2),
    };
  }

  #measure(): void {
    const { clientWidth, clientHeight } = this.#scroller;
    this.#window = { width: clientWidth, height: clientHeight };
  }

  #resize(): void {
    if (!this.#layout || this.#flat) return;
    const width = `${this.#layout.width * this.#scale}`;
    if (this.svg.getAttribute('width') !== width) {
      this.svg.setAttribute('width', width);
      this.svg.setAttribute('height', `${this.#layout.height * this.#scale}`);
    }
    this.svg.classList.toggle('far', this.#scale < SCALE.far);
    this.#later();
  }

  /** The whole graph for paper, or the graph on the screen again. */
  flat(on: boolean): void {
    this.#flat = on;
    if (on) {
      this.complete();
      this.svg.classList.remove('far');
      this.svg.removeAttribute('width');
      this.svg.removeAttribute('height');
    } else {
      this.#resize();
    }
  }

  /** Brings a stage into sight. */
  reveal(item: Item): void {
    const place = this.#layout?.places.get(item.key);
    if (!place) return;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#scroller;
    const [x, y] = [place.x * this.#scale, place.y * this.#scale];
    const [right, bottom] = [x + CARD.width * this.#scale, y + CARD.height * this.#scale];
    const seen =
      x >= scrollLeft &&
      y >= scrollTop &&
      right <= scrollLeft + clientWidth &&
      bottom <= scrollTop + clientHeight;
    if (!seen) this.#centre(place.x + CARD.width / 2, place.y + CARD.height / 2);
  }

  /** Puts the keyboard on a stage. */
  focus(item: Item | undefined): void {
    const card = this.#drawn.get(item?.key ?? this.#home ?? '');
    if (!card) return;
    this.#makeHome(card);
    card.button.focus({ preventScroll: true });
    this.reveal(card.item);
  }

  #makeHome(card: Card): void {
    this.#drawn.get(this.#home ?? '')?.button.setAttribute('tabindex', '-1');
    this.#home = card.item.key;
    card.button.setAttribute('tabindex', '0');
  }

  #listen(): void {
    const cardOf = (event: Event): Card | undefined => {
      const node = (event.target as Element).closest?.<SVGElement>('g.card');
      return node ? this.#drawn.get(node.dataset.key ?? '') : undefined;
    };
    const rest = () => {
      const focused = this.#focused();
      this.#light(focused?.item ?? this.#item(this.#selected), focused !== undefined);
    };
    this.#cards.addEventListener('pointerover', (event) => {
      const card = event.pointerType === 'touch' ? undefined : cardOf(event);
      if (card) this.#light(card.item, true);
    });
    this.#cards.addEventListener('pointerout', (event) => {
      const to = event.relatedTarget;
      if (!(to instanceof Element && to.closest('g.card'))) rest();
    });
    this.#cards.addEventListener('focusin', (event) => {
      const card = cardOf(event);
      if (card) this.#makeHome(card);
      rest();
    });
    this.#cards.addEventListener('focusout', rest);
    this.#cards.addEventListener('click', (event) => {
      const card = cardOf(event);
      if (card && !this.#dragged) this.#events.open(card.item, false);
    });
    this.#cards.addEventListener('keydown', (event) => {
      const card = cardOf(event);
      if (!card || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        this.#events.open(card.item, true);
        return;
      }
      const to = this.#neighbour(card.item, event.key);
      if (to === undefined) return;
      event.preventDefault();
      if (to) this.focus(to);
    });
    this.#scroller.addEventListener('scroll', () => this.#later(), { passive: true });
    this.#scroller.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && !event.metaKey) {
          this.#touched = true;
          return;
        }
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0025)), event);
      },
      { passive: false },
    );
    this.#scroller.addEventListener('scrollend', () => {
      if (this.#touched) this.#events.moved();
    });
    this.#drag();
    this.#pinch();
    this.#overview();
  }

  #dragged = false;

  /** Moving the graph with the mouse; a touch screen moves it by itself. */
  #drag(): void {
    let from: { x: number; y: number; left: number; top: number } | undefined;
    this.#scroller.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'mouse' || (event.button !== 0 && event.button !== 1)) return;
      const { scrollLeft, scrollTop } = this.#scroller;
      from = { x: event.clientX, y: event.clientY, left: scrollLeft, top: scrollTop };
      this.#dragged = false;
    });
    this.#scroller.addEventListener('pointermove', (event) => {
      if (!from || event.buttons === 0) {
        from = undefined;
        return;
      }
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      if (!this.#dragged && Math.hypot(x, y) < 5) return;
      if (!this.#dragged) {
        this.#dragged = true;
        this.#touched = true;
        this.#scroller.setPointerCapture(event.pointerId);
        this.#scroller.classList.add('dragging');
      }
      this.#scroller.scrollTo(from.left - x, from.top - y);
    });
    const end = () => {
      from = undefined;
      this.#scroller.classList.remove('dragging');
      // The click that ends a drag opens nothing.
      setTimeout(() => {
        this.#dragged = false;
      });
    };
    this.#scroller.addEventListener('pointerup', end);
    this.#scroller.addEventListener('pointercancel', end);
  }

  #pinch(): void {
    let distance = 0;
    const measured = ({ touches }: TouchEvent) => {
      const [a, b] = [touches[0], touches[1]];
      if (!a || !b) return undefined;
      return {
        distance: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
        clientX: (a.clientX + b.clientX) / 2,
        clientY: (a.clientY + b.clientY) / 2,
      };
    };
    this.#scroller.addEventListener('touchstart', (event) => {
      this.#touched = true;
      distance = measured(event)?.distance ?? 0;
    });
    this.#scroller.addEventListener(
      'touchmove',
      (event) => {
        const now = measured(event);
        if (!now || distance === 0) return;
        event.preventDefault();
        this.zoom(now.distance / distance, now);
        distance = now.distance;
      },
      { passive: false },
    );
  }

  /** The stage that an arrow leads to; `null` where there is none, `undefined` for another key. */
  #neighbour(item: Item, pressed: string): Item | null | undefined {
    const layout = this.#layout;
    const here = layout?.places.get(item.key);
    if (!layout || !here) return undefined;
    if (pressed === 'Home' || pressed === 'End') {
      const all = this.#model?.columns.flatMap(({ items }) => items) ?? [];
      return (pressed === 'Home' ? all[0] : all.at(-1)) ?? null;
    }
    const step = ARROWS[pressed];
    if (!step) return undefined;
    let best: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const [key, { x, y }] of layout.places) {
      const ahead = (x - here.x) * step.x + (y - here.y) * step.y;
      const aside = Math.abs((x - here.x) * step.y) + Math.abs((y - here.y) * step.x);
      // Up and down stay in the column.
      if (ahead <= 0 || (step.y !== 0 && aside > 0)) continue;
      const cost = step.x === 0 ? ahead : ahead * 4 + aside;
      if (cost < least) [best, least] = [key, cost];
    }
    return this.#item(best ?? undefined) ?? null;
  }

  #later(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#seen();
      this.#drawMap();
    });
  }

  /** Draws in full what is in sight. */
  #seen(): void {
    const layout = this.#layout;
    if (!layout || this.#scale < SCALE.far) return;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#scroller;
    const near = 200;
    for (const card of this.#drawn.values()) {
      if (card.detail) continue;
      const { x, y } = layout.places.get(card.item.key) ?? { x: 0, y: 0 };
      const [left, top] = [x * this.#scale - scrollLeft, y * this.#scale - scrollTop];
      const across = left > -CARD.width - near && left < clientWidth + near;
      if (across && top > -CARD.height - near && top < clientHeight + near) this.#detail(card);
    }
  }

  /** The scale of the overview and where in it the graph begins. */
  #mapScale(): number {
    const { width = 1, height = 1 } = this.#layout ?? {};
    return Math.min(220 / width, 132 / height);
  }

  #drawMap(): void {
    const layout = this.#layout;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#scroller;
    if (!layout) return;
    const whole = { width: layout.width * this.#scale, height: layout.height * this.#scale };
    const all = whole.width <= clientWidth + 2 && whole.height <= clientHeight + 2;
    this.#map.hidden = all || clientWidth < 520;
    if (this.#map.hidden) return;
    const scale = this.#mapScale();
    const dense = Math.min(3, window.devicePixelRatio || 1);
    const [width, height] = [Math.ceil(layout.width * scale), Math.ceil(layout.height * scale)];
    if (this.#map.width !== width * dense || this.#map.height !== height * dense) {
      this.#map.width = width * dense;
      this.#map.height = height * dense;
      this.#map.style.width = `${width}px`;
      this.#map.style.height = `${height}px`;
    }
    const pen = this.#map.getContext('2d');
    if (!pen) return;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, width, height);
    const colours = new Map<string, string>();
    for (const { item, node } of this.#drawn.values()) {
      if (!colours.has(item.state)) colours.set(item.state, getComputedStyle(node).color);
    }
    for (const { item } of this.#drawn.values()) {
      const { x, y } = layout.places.get(item.key) ?? { x: 0, y: 0 };
      pen.globalAlpha = this.#matching === undefined || this.#matching.has(item) ? 0.85 : 0.2;
      pen.fillStyle = colours.get(item.state) ?? 'gray';
      const size = [Math.max(1.5, CARD.width * scale), Math.max(1.2, CARD.height * scale)] as const;
      pen.fillRect(x * scale, y * scale, ...size);
    }
    const ratio = scale / this.#scale;
    const box = [
      Math.max(0.5, scrollLeft * ratio),
      Math.max(0.5, scrollTop * ratio),
      Math.min(width - 1, clientWidth * ratio),
      Math.min(height - 1, clientHeight * ratio),
    ] as const;
    pen.globalAlpha = 1;
    pen.strokeStyle = getComputedStyle(this.#map).color;
    pen.lineWidth = 1.5;
    pen.strokeRect(...box);
    pen.globalAlpha = 0.08;
    pen.fillStyle = pen.strokeStyle;
    pen.fillRect(...box);
  }

  #overview(): void {
    const go = (event: PointerEvent) => {
      const box = this.#map.getBoundingClientRect();
      const scale = this.#mapScale();
      this.#touched = true;
      this.#centre((event.clientX - box.left) / scale, (event.clientY - box.top) / scale);
    };
    this.#map.addEventListener('pointerdown', (event) => {
      this.#map.setPointerCapture(event.pointerId);
      go(event);
    });
    this.#map.addEventListener('pointermove', (event) => {
      if (event.buttons !== 0) go(event);
    });
  }
}

const ARROWS: Record<string, { x: number; y: number }> = {
  ArrowRight: { x: 1, y: 0 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowDown: { x: 0, y: 1 },
  ArrowUp: { x: 0, y: -1 },
};

/** The plan in one sentence: for the label of the graph. */
export function summary({ items, preview, counts }: Model, words: Words): string {
  const states = [...counts].map(([state, count]) => `${count} ${words.states[state]}`);
  const { waves, critical_path } = preview.graph;
  const path = critical_path.stages.join(' → ');
  return [
    words.stages(items.length),
    words.waves(waves.length),
    ...states,
    ...(path ? [`${words.criticalPath}: ${path}`] : []),
  ].join(', ');
}

/** A card in words. */
function spoken(item: Item, words: Words): string {
  const { line, plan } = item.about;
  const warnings = item.findings.length - item.errors;
  return [
    `${item.stage === null ? words.row : words.stage(item.stage)}: ${clean(item.title)}`,
    words.states[item.state],
    item.wave === null ? words.noWave : words.wave(item.wave),
    words.steps(item.steps),
    ...(item.critical ? [words.onCriticalPath] : []),
    plan.depends_on.length > 0 ? `${words.waitsFor} ${plan.depends_on.join(', ')}` : '',
    line && line.waits_for.length > 0 ? `${words.stillWaitsFor} ${line.waits_for.join(', ')}` : '',
    ...(line?.stale ? [words.stale] : []),
    item.errors > 0 ? words.errors(item.errors) : '',
    warnings > 0 ? words.warnings(warnings) : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function linePath(layout: Layout, line: Line): SVGPathElement {
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('class', `line${line.critical ? ' critical' : ''}`);
  path.setAttribute('d', layout.path(line));
  return path;
}

function element(name: string, className: string): HTMLElement {
  const node = document.createElement(name);
  node.className = className;
  return node;
}

function group(className: string): SVGGElement {
  const node = document.createElementNS(SVG, 'g');
  node.setAttribute('class', className);
  return node;
}

function rectangle(className: string, width: number, height: number, round: number): SVGElement {
  const node = document.createElementNS(SVG, 'rect');
  node.setAttribute('class', className);
  node.setAttribute('width', `${width}`);
  node.setAttribute('height', `${height}`);
  node.setAttribute('rx', `${round}`);
  return node;
}

function text(className: string, x: number, y: number, content: string): SVGTextElement {
  const node = document.createElementNS(SVG, 'text');
  node.setAttribute('class', className);
  node.setAttribute('x', `${x}`);
  node.setAttribute('y', `${y}`);
  node.textContent = clean(content);
  return node;
}

/** A text in one line without characters that no XML may have. */
function clean(content: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return content.replace(/[\s\u0000-\u001f\u007f-\u009f\ufffe\uffff]+/g, ' ').trim();
}

let pen: CanvasRenderingContext2D | null | undefined;

/** A title in at most two lines, cut off where it is longer. */
function wrap(title: string, width: number): string[] {
  pen ??= document.createElement('canvas').getContext('2d');
  if (pen) pen.font = '500 13.5px ui-sans-serif, system-ui, sans-serif';
  const size = (part: string) => pen?.measureText(part).width ?? part.length * 7;
  const words = clean(title).slice(0, 400).split(' ');
  const lines: string[] = [];
  let line = '';
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (size(longer) <= width) {
      line = longer;
    } else if (lines.length === 1 || (line === '' && lines.length === 0 && size(word) > width)) {
      const last = lines.length === 1;
      const [head, rest] = cut(last ? longer : word, width, size, last);
      if (last) return [...lines, head];
      lines.push(head);
      words.unshift(rest);
    } else {
      lines.push(line);
      line = '';
      words.unshift(word);
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** As much of a text as fits, and the rest; with `ends` the cut is marked. */
function cut(
  whole: string,
  width: number,
  size: (part: string) => number,
  ends: boolean,
): [string, string] {
  const letters = [...whole];
  let count = letters.length;
  const head = () => `${letters.slice(0, count).join('').trimEnd()}${ends ? '…' : ''}`;
  while (count > 1 && size(head()) > width) {
    count -= Math.max(1, Math.floor((count * (size(head()) - width)) / size(head()) / 2));
  }
  return [head(), letters.slice(count).join('')];
}
