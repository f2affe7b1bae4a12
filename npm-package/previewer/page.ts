// The page around <okstra-plan>: files that are dropped, chosen or pasted, or a plan that
// `okstra preview` serves and keeps up to date.
import { html, nothing, render } from 'lit-html';
import type { PreviewFacts, PreviewFile } from '../src/generated/types.js';
import { OkstraPlan } from './element.js';
import { exampleFacts } from './example.js';
import { droppedFiles, factsOf, pastedFile, readFiles, TooMuch, Unreadable } from './files.js';
import { icon, mark } from './marks.js';
import { languageOf, type Words, wordsOf } from './words.js';

customElements.define('okstra-plan', OkstraPlan);

/** Where the page has what it shows from: files, or a server that goes on or has ended. */
type Source = 'files' | 'live' | 'lost' | 'ended';

const isLive =
  /^https?:$/.test(location.protocol) &&
  document.querySelector('meta[name="okstra-live"]') !== null;

let source: Source = isLive ? 'live' : 'files';
let problem = '';
let isOver = false;

const plan = new OkstraPlan();
const around = document.createElement('div');

/** What a person has chosen before, where the browser keeps it. */
const memory = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(`okstra-${name}`);
    } catch {
      return null;
    }
  },
  set(name: string, value: string): void {
    try {
      localStorage.setItem(`okstra-${name}`, value);
    } catch {
      // It is asked again next time.
    }
  },
};

function words(): Words {
  return wordsOf(languageOf(plan.lang));
}

function start(): void {
  const language = languageOf(memory.get('language') ?? navigator.language);
  plan.lang = language;
  document.documentElement.lang = language;
  theme(memory.get('theme') ?? 'auto');
  plan.setAttribute('keys', 'page');
  plan.view = location.hash.slice(1);
  document.body.append(plan, around);
  plan.addEventListener('okstra-view', remember);
  plan.addEventListener('okstra-language', () => {
    memory.set('language', plan.lang);
    document.documentElement.lang = plan.lang;
    draw();
  });
  plan.addEventListener('okstra-theme', () => {
    const chosen = plan.getAttribute('theme') ?? 'auto';
    memory.set('theme', chosen);
    theme(chosen);
  });
  plan.addEventListener('okstra-show', () => {
    const path = plan.facts?.plan?.path ?? '';
    draw();
    document.title = `${plan.preview?.title ?? path.slice(path.lastIndexOf('/') + 1)} · okstra`;
  });
  addEventListener('hashchange', () => {
    if (location.hash.slice(1) !== written) plan.view = location.hash.slice(1);
  });
  if (isLive) {
    follow();
  } else {
    listen();
    setTimeout(() => requestIdle(rehearse), REST);
  }
  draw();
}

/** So long a page is left alone after it has opened, in milliseconds. */
const REST = 400;

/** Safari has no idle time to ask for. */
const requestIdle: (work: () => void) => void =
  globalThis.requestIdleCallback ?? ((work) => setTimeout(work));

/**
 * Shows a plan to nobody while a person looks for theirs: the engine compiles what it is shown by
 * when it is first used, which is half of what a first picture takes.
 */
function rehearse(): void {
  if (plan.facts === null) new OkstraPlan().facts = exampleFacts();
}

function theme(chosen: string): void {
  plan.setAttribute('theme', chosen);
  document.documentElement.dataset.theme = chosen;
}

let written = '';
let timer: ReturnType<typeof setTimeout> | undefined;

/** Keeps the address of the view; a page from disk may not write it each time something moves. */
function remember(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (!plan.facts?.plan) return;
    written = plan.view;
    const { pathname, search } = location;
    try {
      history.replaceState(null, '', `${pathname}${search}${written && `#${written}`}`);
    } catch {
      // Too many at once; the next one counts.
    }
  }, 150);
}

/** Follows the plan that the server watches. */
function follow(): void {
  const events = new EventSource('events');
  const take = (text: string) => {
    const facts = JSON.parse(text) as PreviewFacts;
    // A file that cannot be read at this moment is no reason to show nothing.
    const kept = facts.plan === null ? (plan.facts?.plan ?? null) : null;
    plan.toggleAttribute('kept', kept !== null);
    plan.facts = kept ? { ...facts, plan: kept } : facts;
    problem = facts.plan === null && kept === null ? (facts.fault ?? '') : '';
    draw();
  };
  events.addEventListener('open', () => {
    source = 'live';
    draw();
  });
  events.addEventListener('message', ({ data }) => {
    source = 'live';
    take(data);
  });
  events.addEventListener('closed', () => {
    events.close();
    source = 'ended';
    draw();
  });
  events.addEventListener('error', () => {
    if (source === 'ended') return;
    source = events.readyState === EventSource.CLOSED ? 'ended' : 'lost';
    draw();
  });
  fetch('facts', { cache: 'no-store' })
    .then(async (answer) => {
      // Events may have been faster.
      if (answer.ok && plan.facts === null) take(await answer.text());
    })
    .catch(() => {});
}

/** Shows files, or says why not. */
async function take(files: Promise<PreviewFile[]>): Promise<void> {
  problem = '';
  try {
    const facts = await factsOf(await files, plan.facts);
    if (facts) plan.facts = facts;
    else problem = words().noPlanIn;
  } catch (thrown) {
    if (thrown instanceof TooMuch) problem = words().tooMuch;
    else problem = thrown instanceof Unreadable ? words().cannotRead(thrown.path) : String(thrown);
  }
  await plan.updated;
  draw();
}

function listen(): void {
  let depth = 0;
  const over = (change: number) => {
    depth = Math.max(0, depth + change);
    if (isOver === depth > 0) return;
    isOver = depth > 0;
    draw();
  };
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(1);
  });
  addEventListener('dragleave', () => over(-1));
  addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    if (!event.dataTransfer || !hasFiles(event)) return;
    event.preventDefault();
    over(-depth);
    void take(droppedFiles(event.dataTransfer));
  });
  addEventListener('paste', (event) => {
    const from = event.composedPath()[0];
    if (from instanceof HTMLElement && from.matches('input, textarea')) return;
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (files.length > 0) void take(readFiles(files.map((file) => [file.name, file])));
    else if (text.trim() !== '') void take(Promise.resolve([pastedFile(text)]));
  });
}

/** What a person chooses with: collected as garbage, it would never tell what was chosen. */
let chooser: HTMLInputElement | undefined;

/** Lets a person choose files or a folder. */
function choose(isFolder: boolean): void {
  const input = document.createElement('input');
  chooser = input;
  input.type = 'file';
  input.multiple = true;
  input.webkitdirectory = isFolder;
  if (!isFolder) input.accept = '.md,.markdown,.txt,.json,.jsonl';
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    if (chooser === input) chooser = undefined;
    void take(readFiles(files.map((file) => [file.webkitRelativePath || file.name, file])));
  });
  input.click();
}

function draw(): void {
  const said = words();
  const status = { files: '', live: said.live, lost: said.reconnecting, ended: said.ended }[source];
  const hint = source === 'ended' ? said.endedHint : said.liveHint;
  render(
    html`${
      status
        ? html`<span slot="status" class="status ${source}" title=${hint} role="status"><i></i>${status}</span>`
        : nothing
    }
      ${
        isLive
          ? nothing
          : html`<button slot="actions" type="button" class="open" title=${said.dropAdds} @click=${() => choose(false)}>${said.open}</button>`
      }
      ${plan.preview ? nothing : html`<div slot="empty">${isLive ? waiting(said) : welcome(said)}</div>`}`,
    plan,
  );
  render(
    html`${isOver ? html`<div class="over"><p>${said.dropHere}</p></div>` : nothing}
      ${
        problem && plan.preview
          ? html`<p class="problem" role="alert">${icon('warning')}<span>${problem}</span>
            <button type="button" aria-label=${said.close} @click=${() => {
              problem = '';
              draw();
            }}>${icon('close')}</button></p>`
          : nothing
      }`,
    around,
  );
}

function waiting(said: Words) {
  const text = source === 'ended' ? said.endedHint : problem || said.loading;
  return html`<main class="welcome"><p role="status">${text}</p></main>`;
}

function welcome(said: Words) {
  const paste = (event: SubmitEvent) => {
    event.preventDefault();
    const text = new FormData(event.target as HTMLFormElement).get('text');
    if (typeof text === 'string' && text.trim() !== '')
      void take(Promise.resolve([pastedFile(text)]));
  };
  return html`<main class="welcome">
    <div class="sheet">
      <svg class="logo" viewBox="0 0 120 56" aria-hidden="true">
        <path class="link" d="M38 15H52C58 15 56 28 62 28H82M38 41H52C58 41 56 28 62 28"></path>
        <rect class="a" x="2" y="5" width="36" height="20" rx="6"></rect>
        <rect class="b" x="2" y="31" width="36" height="20" rx="6"></rect>
        <rect class="c" x="82" y="18" width="36" height="20" rx="6"></rect>
        <path class="tick" d="M14 15l4 4 8-9"></path>
        <path class="play" d="M17 36.5l7.5 4.5-7.5 4.5z"></path>
      </svg>
      <h1>${said.dropTitle}</h1>
      <p class="lead">${said.dropText}</p>
      <p class="choices">
        <button type="button" class="first" @click=${() => choose(false)}>${said.chooseFiles}</button>
        <button type="button" @click=${() => choose(true)}>${said.chooseFolder}</button>
        <button type="button" class="quiet" @click=${() => {
          plan.facts = exampleFacts();
          void plan.updated.then(draw);
        }}>${said.example}</button>
      </p>
      ${problem ? html`<p class="problem-here" role="alert">${icon('warning')} <span>${problem}</span></p>` : nothing}
      ${plan.facts && !plan.facts.plan && !problem ? html`<p class="problem-here" role="status">${mark('done')} <span>${said.noPlanYet}</span></p>` : nothing}
      <form @submit=${paste}>
        <label>${said.orPaste}<textarea name="text" rows="4" spellcheck="false" aria-label=${said.pasteLabel} placeholder="## Stage Map…"></textarea></label>
        <button type="submit">${said.show}</button>
      </form>
      <p class="privacy">${said.privacy}</p>
      <p class="languages">
        <button type="button" class="quiet" lang=${plan.lang === 'ko' ? 'en' : 'ko'} @click=${() => {
          plan.lang = plan.lang === 'ko' ? 'en' : 'ko';
          plan.dispatchEvent(new CustomEvent('okstra-language'));
        }}>${said.otherLanguage}</button>
      </p>
    </div>
  </main>`;
}

start();
