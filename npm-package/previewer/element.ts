// <okstra-plan>: a plan as people look at it.
import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { Finding, Preview, PreviewFacts, StageState } from '../src/generated/types.js';
import { core } from './core.js';
import { GraphView, summary } from './graph.js';
import { type Icon, icon, mark, STATES } from './marks.js';
import { type Item, isOpen, lineOf, type Model, matching, modelOf } from './model.js';
import { panel } from './panel.js';
import { printed } from './print.js';
import { savePng, saveSvg } from './save.js';
import style from './style.css';
import { TextView } from './text.js';
import { readView, type View, writeView } from './view.js';
import { type Language, languageOf, type Words, wordsOf } from './words.js';

const THEMES = ['auto', 'light', 'dark'] as const;

type Theme = (typeof THEMES)[number];

let sheet: CSSStyleSheet | undefined;

/** Where there is no page, as in a server that renders, the class can still be imported. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? class {};

export class OkstraPlan extends Base {
  static readonly observedAttributes = ['lang', 'theme', 'plan', 'selected'];

  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #graph: GraphView;
  readonly #text: TextView;
  readonly #paper = matchMedia('print');
  #facts: PreviewFacts | null = null;
  #model: Model | undefined;
  #failure = '';
  #view: View = readView('');
  #panelFocus = false;
  #helps = false;
  #copied = false;
  /** What did not work, until it is closed; with a link, the one to be copied by hand. */
  #notice: { text: string; link?: string } | undefined;
  #asked = 0;
  /** The latest change that is on the screen. */
  #done: Promise<void> = Promise.resolve();

  constructor() {
    super();
    this.#graph = new GraphView({
      open: (item, byKey) => {
        this.#panelFocus = byKey;
        this.#open(item);
      },
      moved: () => this.#moved(),
    });
    this.#text = new TextView({
      finding: (at) => this.#toFinding(at, false),
      stage: (item) => {
        this.#change({ view: 'graph' });
        this.#open(item);
        this.#graph.reveal(item);
      },
    });
  }

  connectedCallback(): void {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(style);
    }
    this.#root.adoptedStyleSheets = [sheet];
    // The module is made ready while the page is built.
    core().catch(() => {});
    document.addEventListener('keydown', this.#keys);
    this.#paper.addEventListener('change', this.#print);
    this.#render();
  }

  disconnectedCallback(): void {
    document.removeEventListener('keydown', this.#keys);
    this.#paper.removeEventListener('change', this.#print);
  }

  attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (old === value) return;
    if (name === 'plan') this.plan = value;
    else if (name === 'selected') this.selected = value === null ? null : Number(value);
    else {
      if (this.#model) this.#show(this.#model);
      this.#render();
    }
  }

  /** What is shown: plan, ledger and evidence. */
  get facts(): PreviewFacts | null {
    return this.#facts;
  }

  set facts(facts: PreviewFacts | null) {
    this.#facts = facts;
    this.#done = this.#take(facts);
  }

  /** The text of the plan alone, for a plan without ledger and evidence. */
  get plan(): string | null {
    return this.#facts?.plan?.text ?? null;
  }

  set plan(text: string | null) {
    const plan = text === null ? null : { path: 'plan.md', text };
    this.facts = plan && {
      plan,
      ledger: null,
      evidence: [],
      now: new Date().toISOString(),
      fault: null,
    };
  }

  /** Fulfilled when what was set last is on the screen. */
  get updated(): Promise<void> {
    return this.#done;
  }

  /** What the core says of the plan; `null` until it has said it. */
  get preview(): Preview | null {
    return this.#model?.preview ?? null;
  }

  /** The stage that is open. */
  get selected(): number | null {
    return this.#item?.stage ?? null;
  }

  set selected(stage: number | null) {
    this.#change({ stage: stage === null || Number.isNaN(stage) ? null : `${stage}` });
  }

  /** What is seen, as a text that a link can carry. */
  get view(): string {
    return writeView({ ...this.#view, sight: this.#graph.sight });
  }

  set view(text: string) {
    const view = readView(text);
    this.#view = view;
    this.#change(view);
    this.#graph.sight = view.sight;
  }

  get #words(): Words {
    return wordsOf(this.#language);
  }

  get #language(): Language {
    return languageOf(
      this.getAttribute('lang') ??
        this.closest('[lang]')?.getAttribute('lang') ??
        navigator.language,
    );
  }

  get #theme(): Theme {
    return THEMES.find((theme) => theme === this.getAttribute('theme')) ?? 'auto';
  }

  /** Whether the plan on the screen is an earlier one. The page says so with an attribute. */
  get #isKept(): boolean {
    return this.#failure !== '' || this.hasAttribute('kept');
  }

  get #item(): Item | undefined {
    return this.#model?.items.find(({ key }) => key === this.#view.stage);
  }

  async #take(facts: PreviewFacts | null): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    if (!facts?.plan) {
      if (!facts?.fault) this.#model = undefined;
      this.#render();
      return;
    }
    try {
      const { previewPlan } = await core();
      // Something newer was set meanwhile.
      if (asked !== this.#asked) return;
      const model = modelOf(facts, previewPlan(facts));
      this.#failure = '';
      this.#show(model);
    } catch (thrown) {
      if (asked !== this.#asked) return;
      this.#failure = thrown instanceof Error ? thrown.message : String(thrown);
      this.#render();
      this.dispatchEvent(new CustomEvent('okstra-error', { detail: { error: thrown } }));
    }
  }

  #show(model: Model): void {
    const isFirst = !this.#model;
    this.#model = model;
    this.#render();
    this.#graph.update(model, this.#words);
    if (this.#view.view === 'text') this.#text.update(model, this.#words);
    this.#match();
    this.#graph.select(this.#item);
    if (isFirst) {
      if (this.#view.sight) this.#graph.sight = this.#view.sight;
      if (this.#view.finding !== null) this.#toFinding(this.#view.finding, false);
    }
    this.dispatchEvent(new CustomEvent('okstra-show', { detail: { preview: model.preview } }));
  }

  #match(): void {
    const { states, wave, query } = this.#view;
    const filter = { states, wave, query };
    const model = this.#model;
    this.#graph.match(model && !isOpen(filter) ? new Set(matching(model, filter)) : undefined);
  }

  /** Changes what is seen. */
  #change(change: Partial<View>): void {
    const before = this.#view.stage;
    const hides = change.view === 'text' && this.#view.view === 'graph';
    if (hides) this.#graph.keep();
    this.#view = { ...this.#view, ...change };
    if (this.#model) {
      if (this.#view.view === 'text') this.#text.update(this.#model, this.#words);
      this.#graph.select(this.#item);
      this.#match();
    }
    this.#render();
    if (change.view === 'graph') this.#graph.restore();
    this.#moved();
    if (before !== this.#view.stage) {
      const detail = { stage: this.selected };
      this.dispatchEvent(new CustomEvent('okstra-select', { detail }));
    }
  }

  #moved(): void {
    this.dispatchEvent(new CustomEvent('okstra-view', { detail: { view: this.view } }));
  }

  #open(item: Item | undefined): void {
    this.#change({ stage: item?.key ?? null });
    const pane = this.#root.querySelector<HTMLElement>('.panel');
    pane?.scrollTo(0, 0);
    if (this.#panelFocus && item) pane?.querySelector<HTMLElement>('h2')?.focus();
    this.#panelFocus = false;
    if (item && this.#view.view === 'graph') this.#graph.reveal(item);
  }

  #close(): void {
    const item = this.#item;
    this.#open(undefined);
    if (this.#view.view === 'graph' && item) this.#graph.focus(item);
  }

  /** Opens the text at a finding. */
  #toFinding(at: number, focus: boolean): void {
    const finding = this.#model?.preview.findings[at];
    if (!finding) return;
    this.#change({ view: 'text', finding: at });
    this.#text.show(at);
    this.#root.querySelector(`.finding[data-at="${at}"]`)?.scrollIntoView({ block: 'nearest' });
    if (focus) this.#text.focus(at);
  }

  #toLines(first: number, last: number): void {
    this.#change({ view: 'text' });
    this.#text.line(first, last);
  }

  #step(by: number): void {
    const count = this.#model?.preview.findings.length ?? 0;
    if (count === 0) return;
    const { finding } = this.#view;
    const at = finding === null ? (by > 0 ? 0 : count - 1) : (finding + by + count) % count;
    this.#toFinding(at, false);
  }

  /** The stage beside this one, in the order of the plan. */
  #beside(by: number): void {
    const items = this.#model?.items ?? [];
    const at = items.findIndex(({ key }) => key === this.#view.stage);
    const item = items[at + by];
    if (item) this.#open(item);
  }

  readonly #keys = (event: KeyboardEvent): void => {
    // Keys that put a letter together belong to the input method.
    if (event.isComposing) return;
    const path = event.composedPath();
    const from = path[0];
    // Where nothing has the keyboard, the keys of a page are those of the plan that fills it.
    const isFree = from === document.body && this.getAttribute('keys') === 'page';
    if (!path.includes(this) && !isFree) return;
    const isField = from instanceof HTMLElement && from.matches('input, textarea, select');
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      if (this.#helps) this.#help(false);
      else if (this.#notice) this.#unsay();
      else if (isField && this.#view.query !== '') this.#change({ query: '' });
      else if (this.#view.stage !== null) this.#close();
      else if (!isOpen(this.#view)) this.#change({ states: new Set(), wave: null, query: '' });
      else return;
      event.preventDefault();
      return;
    }
    if (isField) {
      if (event.key === 'Enter' && from.matches('.search input')) this.#toMatch(event.shiftKey);
      return;
    }
    const action: (() => void) | undefined = {
      '/': () => this.#root.querySelector<HTMLElement>('.search input')?.focus(),
      g: () => {
        this.#change({ view: 'graph' });
        this.#graph.focus(this.#item);
      },
      t: () => this.#go('text'),
      n: () => this.#step(1),
      p: () => this.#step(-1),
      '+': () => this.#graph.zoom(1.25),
      '=': () => this.#graph.zoom(1.25),
      '-': () => this.#graph.zoom(0.8),
      '0': () => this.#graph.fit(),
      '?': () => this.#help(true),
    }[event.key];
    if (!action || !this.#model) return;
    event.preventDefault();
    action();
    this.#render();
  };

  /** From match to match of the search. */
  #toMatch(back: boolean): void {
    if (!this.#model) return;
    const found = matching(this.#model, this.#view);
    const at = found.findIndex(({ key }) => key === this.#view.stage);
    const next = found[(at + (back ? -1 : 1) + found.length) % found.length];
    if (!next) return;
    this.#change({ view: 'graph' });
    this.#open(next);
  }

  #help(show: boolean): void {
    this.#helps = show;
    this.#render();
    const dialog = this.#root.querySelector('dialog');
    if (show && !dialog?.open) dialog?.showModal();
    else if (!show && dialog?.open) dialog.close();
  }

  readonly #print = (): void => {
    this.#graph.flat(this.#paper.matches);
    const place = this.#root.querySelector<HTMLElement>('.paper');
    if (!place) return;
    const model = this.#model;
    const isOn = this.#paper.matches && model;
    render(isOn ? printed(model, this.#words, this.#language) : nothing, place);
  };

  async #copy(): Promise<void> {
    const url = new URL(location.href);
    url.hash = this.view;
    this.#notice = undefined;
    try {
      await navigator.clipboard.writeText(url.href);
    } catch {
      this.#notice = { text: this.#words.notCopied, link: url.href };
      this.#render();
      const field = this.#root.querySelector<HTMLInputElement>('.notice input');
      field?.focus();
      field?.select();
      return;
    }
    this.#copied = true;
    this.#render();
    setTimeout(() => {
      this.#copied = false;
      this.#render();
    }, 2_000);
  }

  /** The graph as a picture. */
  async exportGraph(format: 'svg' | 'png'): Promise<Blob> {
    this.#graph.complete();
    const { svg } = this.#graph;
    return format === 'svg' ? saveSvg(svg) : await savePng(svg);
  }

  async #save(format: 'svg' | 'png'): Promise<void> {
    this.#notice = undefined;
    let blob: Blob;
    try {
      blob = await this.exportGraph(format);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#notice = { text: `${this.#words.notSaved(format.toUpperCase())}: ${why}` };
      this.#render();
      this.dispatchEvent(new CustomEvent('okstra-error', { detail: { error } }));
      return;
    }
    this.#render();
    const link = document.createElement('a');
    const path = this.#facts?.plan?.path ?? 'plan.md';
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
    link.href = URL.createObjectURL(blob);
    link.download = `${name || 'plan'}.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  #render(): void {
    const words = this.#words;
    this.#root.host.setAttribute('data-theme', this.#theme);
    render(this.#model ? this.#page(this.#model, words) : this.#nothing(words), this.#root);
    if (this.#paper.matches) this.#print();
  }

  #nothing(words: Words): TemplateResult {
    const waits = this.#facts?.plan && this.#failure === '';
    return html`<slot name="empty"></slot>
      ${this.#failure ? html`<p class="failure" role="alert">${icon('error')} ${this.#failure}</p>` : nothing}
      ${waits ? html`<p class="loading" role="status">${words.loading}</p>` : nothing}`;
  }

  #page(model: Model, words: Words): TemplateResult {
    const { view } = this.#view;
    const item = this.#item;
    return html`
      <div class="app ${item ? 'with-panel' : ''}" lang=${this.#language}>
        ${this.#header(model, words)} ${this.#bar(model, words)}
        ${
          this.#facts?.fault || this.#failure
            ? html`<p class="fault" role="alert">${icon('warning')} <span>${this.#isKept ? `${words.fault} ` : ''}${this.#facts?.fault || this.#failure}</span></p>`
            : nothing
        }
        ${this.#said(words)}
        <div class="body">
          <main>
          <section class="stage-view" ?hidden=${view !== 'graph'} aria-label=${words.graph}>
            ${this.#graph.root} ${this.#tools(words)}
            ${model.items.length === 0 ? html`<p class="hint middle">${words.empty}</p>` : nothing}
          </section>
          <section class="text-view" ?hidden=${view !== 'text'} aria-label=${words.text}>
            ${view === 'text' ? this.#findings(model, words) : nothing} ${this.#text.root}
          </section>
          </main>
          ${
            item
              ? panel({
                  ...{ item, model, words, language: this.#language },
                  close: () => this.#close(),
                  open: (other) => this.#open(other),
                  beside: (by) => this.#beside(by),
                  toLines: (first, last) => this.#toLines(first, last),
                  toFinding: (at) => this.#toFinding(at, true),
                  toGraph: () => {
                    this.#change({ view: 'graph' });
                    this.#graph.focus(item);
                  },
                })
              : nothing
          }
        </div>
        ${this.#keyTable(words)}
        <div class="sr" role="status" aria-live="polite">${this.#copied ? words.copied : ''}</div>
      </div>
      <div class="paper"></div>`;
  }

  #said(words: Words): TemplateResult | typeof nothing {
    if (!this.#notice) return nothing;
    const { text, link } = this.#notice;
    return html`<p class="fault notice" role="alert">${icon('warning')} <span>${text}</span>
      ${link === undefined ? nothing : html`<input readonly aria-label=${words.copyLink} .value=${link} />`}
      ${button('close', words.close, () => this.#unsay())}</p>`;
  }

  #unsay(): void {
    this.#notice = undefined;
    this.#render();
  }

  #header(model: Model, words: Words): TemplateResult {
    const { preview, facts } = model;
    const path = facts.plan?.path ?? '';
    const { state } = preview.approval;
    const held = preview.clarifications.length;
    const approval = {
      approved: words.approved,
      pending: held > 0 ? words.heldBack(held) : words.pending,
      missing: words.noApproval,
    }[state];
    const theme = THEMES[(THEMES.indexOf(this.#theme) + 1) % THEMES.length] as Theme;
    const errors = preview.findings.filter(({ severity }) => severity === 'error').length;
    return html`<header>
      <div class="name">
        <h1 title=${preview.title ?? path}><bdi>${preview.title ?? path}</bdi></h1>
        <p class="about">
          <span class="path" title=${path}><bdi>${path}</bdi></span>
          <span class="chip ${state}">${approval}</span>
          <slot name="status"></slot>
        </p>
      </div>
      <div class="search" role="search">
        ${icon('search')}
        <input
          type="search"
          spellcheck="false"
          autocomplete="off"
          aria-label=${words.search}
          placeholder=${words.searchHint}
          .value=${this.#view.query}
          @input=${(event: Event) => this.#change({ query: (event.target as HTMLInputElement).value })}
        />
        ${
          this.#view.query.trim() === ''
            ? html`<kbd aria-hidden="true">/</kbd>`
            : html`<span class="found" role="status">${words.found(matching(model, this.#view).length, model.items.length)}</span>`
        }
      </div>
      <div class="switch" role="group" aria-label=${words.views}>
        ${this.#tab('graph', words.graph, nothing)}
        ${this.#tab(
          'text',
          words.text,
          preview.findings.length > 0
            ? html`<span class="count ${errors > 0 ? 'error' : 'warning'}">${preview.findings.length}</span>`
            : nothing,
        )}
      </div>
      <div class="actions">
        <slot name="actions"></slot>
        ${button('link', this.#copied ? words.copied : words.copyLink, () => this.#copy())}
        ${button('theme', `${words.theme}: ${words.themes[this.#theme]}`, () => {
          this.setAttribute('theme', theme);
          this.dispatchEvent(new CustomEvent('okstra-theme', { detail: { theme } }));
        })}
        <button
          type="button"
          class="plain language"
          lang=${this.#language === 'en' ? 'ko' : 'en'}
          @click=${() => {
            const lang = this.#language === 'en' ? 'ko' : 'en';
            this.setAttribute('lang', lang);
            this.dispatchEvent(new CustomEvent('okstra-language', { detail: { lang } }));
          }}
        >${words.otherLanguage}</button>
        ${button('help', words.keys, () => this.#help(true))}
      </div>
    </header>`;
  }

  #tab(view: View['view'], label: string, more: TemplateResult | typeof nothing): TemplateResult {
    const isOn = this.#view.view === view;
    const go = () => this.#go(view);
    return html`<button type="button" aria-pressed=${isOn} @click=${go}>${icon(view)}<span>${label}</span>${more}</button>`;
  }

  #go(view: View['view']): void {
    this.#change({ view });
    if (view === 'text' && this.#item) this.#toStage(this.#item);
  }

  #toStage({ about }: Item): void {
    const range = about.plan.section?.range ?? about.plan.range;
    this.#text.line(range.start.line, Math.max(range.start.line, range.end.line - 1));
  }

  #bar(model: Model, words: Words): TemplateResult {
    const { counts, preview, items } = model;
    const { states, wave } = this.#view;
    const shown = STATES.filter((state) => counts.has(state));
    const finished = ['done', 'verified', 'pr'] as const;
    const done = finished.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
    const real = items.length - (counts.get('cancelled') ?? 0);
    const { critical_path, nodes } = preview.graph;
    const all = nodes.reduce((sum, { steps }) => sum + steps, 0);
    const toggle = (state: StageState) => {
      const next = new Set(states);
      if (!next.delete(state)) next.add(state);
      this.#change({ states: next });
    };
    return html`<section class="bar" aria-label=${words.about}>
      <div class="progress" role="img" aria-label=${`${words.about}: ${summary(model, words)}`}>
        ${[...finished].reverse().map((state) => part(state, counts, items.length))}
        ${part('running', counts, items.length)} ${part('reserved', counts, items.length)}
      </div>
      <span class="done-of">${words.doneOf(done, real)}</span>
      <div class="chips" role="group" aria-label=${words.filter}>
        ${shown.map(
          (state) => html`<button
            type="button"
            class="state st-${state}"
            aria-pressed=${states.has(state)}
            title=${words.meanings[state]}
            @click=${() => toggle(state)}
          >${mark(state)}<span>${words.states[state]}</span><b>${counts.get(state)}</b></button>`,
        )}
      </div>
      ${
        preview.graph.waves.length > 1
          ? html`<select
            aria-label=${words.allWaves}
            @change=${(event: Event) => {
              const { value } = event.target as HTMLSelectElement;
              this.#change({ wave: value === '' ? null : Number(value) });
              const first = model.columns.find((column) => column.wave === Number(value))?.items[0];
              if (first) this.#graph.reveal(first);
            }}
          >
            <option value="" .selected=${wave === null}>${words.allWaves}</option>
            ${preview.graph.waves.map((_, at) => html`<option value=${at + 1} .selected=${wave === at + 1}>${words.wave(at + 1)}</option>`)}
          </select>`
          : nothing
      }
      ${
        isOpen(this.#view)
          ? nothing
          : html`<button type="button" class="plain" @click=${() => this.#change({ states: new Set(), wave: null, query: '' })}>${words.clearFilter}</button>`
      }
      ${
        critical_path.stages.length > 1
          ? html`<span class="legend"><i></i>${words.criticalPath}<span> ${words.criticalSteps(critical_path.steps, all)}</span></span>`
          : nothing
      }
    </section>`;
  }

  #tools(words: Words): TemplateResult {
    return html`<div class="tools">
      ${button('minus', words.zoomOut, () => this.#graph.zoom(0.8))}
      ${button('plus', words.zoomIn, () => this.#graph.zoom(1.25))}
      ${button('fit', words.fit, () => this.#graph.fit())}
      <span class="gap"></span>
      <button type="button" class="plain" title=${words.exportSvg} @click=${() => this.#save('svg')}>${icon('save')}SVG</button>
      <button type="button" class="plain" title=${words.exportPng} @click=${() => this.#save('png')}>${icon('save')}PNG</button>
    </div>`;
  }

  #findings({ preview }: Model, words: Words): TemplateResult {
    const { findings, warnings } = preview;
    const errors = findings.filter(({ severity }) => severity === 'error').length;
    return html`<div class="findings">
      <h2>${words.findings}</h2>
      ${
        findings.length === 0
          ? html`<p class="hint good">${mark('done')} ${words.noFindings}</p>`
          : html`<p class="hint">${[errors > 0 ? words.errors(errors) : '', findings.length > errors ? words.warnings(findings.length - errors) : ''].filter(Boolean).join(' · ')}</p>
          <ul>${findings.map((finding, at) => html`<li>${this.#finding(finding, at, words)}</li>`)}</ul>`
      }
      ${
        warnings.length > 0
          ? html`<h3>${words.records}</h3><ul class="records">${warnings.map((warning) => html`<li>${icon('warning')}<span>${warning}</span></li>`)}</ul>`
          : nothing
      }
    </div>`;
  }

  #finding(finding: Finding, at: number, words: Words): TemplateResult {
    const isNow = this.#view.finding === at;
    const { code, severity, stage, message, help, fix } = finding;
    return html`<button
      type="button"
      class="finding ${severity}"
      data-at=${at}
      aria-current=${isNow ? 'true' : nothing}
      @click=${() => this.#toFinding(at, false)}
    >
      <span class="what">${icon(severity)}<b>${code}</b><span class="where">${stage > 0 ? words.stage(stage) : words.wholePlan} · ${words.line(lineOf(finding))}</span></span>
      <span class="message">${message}</span>
      ${isNow && help ? html`<span class="help">${help}</span>` : nothing}
      ${isNow && fix ? html`<span class="help">${fix.title}: ${words.repair}</span>` : nothing}
    </button>`;
  }

  #keyTable(words: Words): TemplateResult {
    return html`<dialog aria-label=${words.keys} @close=${() => this.#help(false)} @click=${(
      event: Event,
    ) => {
      // A click beside the dialog is one on the dialog itself.
      if (event.target === event.currentTarget) this.#help(false);
    }}>
      ${
        this.#helps
          ? html`<div class="keys">
            <h2>${words.keys}</h2>
            ${button('close', words.close, () => this.#help(false))}
            <dl>${words.keyTable.map(([keys, meaning]) => html`<div><dt>${keys.split('  ').map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${meaning}</dd></div>`)}</dl>
            <dl class="states">${STATES.map((state) => html`<div class="st-${state}"><dt>${mark(state)} ${words.states[state]}</dt><dd>${words.meanings[state]}</dd></div>`)}</dl>
          </div>`
          : nothing
      }
    </dialog>`;
  }
}

function part(
  state: StageState,
  counts: Model['counts'],
  all: number,
): TemplateResult | typeof nothing {
  const count = counts.get(state) ?? 0;
  return count === 0
    ? nothing
    : html`<i class="st-${state}" .style=${`flex-grow:${count / all}`}></i>`;
}

function button(name: Icon, label: string, action: () => void): TemplateResult {
  return html`<button type="button" class="icon-button" title=${label} aria-label=${label} @click=${action}>${icon(name)}</button>`;
}
