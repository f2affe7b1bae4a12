// One stage in full, beside the graph or the text.
import { html, nothing, type TemplateResult } from 'lit-html';
import type { PreviewEvidence } from '../src/generated/types.js';
import { icon, mark } from './marks.js';
import { type Item, lineOf, type Model } from './model.js';
import { inline, link, prose, webAddress } from './prose.js';
import type { Language, Words } from './words.js';

type Part = TemplateResult | typeof nothing;

/** What a panel shows and does. */
interface Panel {
  item: Item;
  model: Model;
  words: Words;
  language: Language;
  close: () => void;
  open: (item: Item) => void;
  beside: (by: number) => void;
  toLines: (first: number, last: number) => void;
  toFinding: (at: number) => void;
  toGraph: () => void;
}

/** The panel of a stage. */
export function panel(its: Panel): TemplateResult {
  const { item, words } = its;
  return html`<aside class="panel st-${item.state}" aria-label=${words.panel}>
    <div class="panel-head">
      <div class="row">
        <span class="eyebrow">${item.stage === null ? words.row : words.stage(item.stage)}${item.wave === null ? nothing : html` · ${words.wave(item.wave)}`}</span>
        <span class="row-end">
          ${iconButton('previous', words.previous, () => its.beside(-1))}
          ${iconButton('next', words.next, () => its.beside(1))}
          ${iconButton('close', words.close, its.close)}
        </span>
      </div>
      <h2 tabindex="-1"><bdi>${item.title}</bdi></h2>
      <p class="row tags">
        <span class="state-tag st-${item.state}">${mark(item.state)}${words.states[item.state]}</span>
        ${item.critical ? html`<span class="tag critical">${words.onCriticalPath}</span>` : nothing}
        <span class="tag">${words.steps(item.steps)}</span>
      </p>
    </div>
    <div class="panel-body">
      ${standing(its)} ${stale(its)} ${findings(its)} ${around(its)} ${steps(its)} ${contract(its)}
      ${validation(its)} ${evidence(its)} ${pullRequest(its)} ${carryIn(its)}
      ${places(its)}
    </div>
  </aside>`;
}

function iconButton(
  name: 'previous' | 'next' | 'close',
  label: string,
  action: () => void,
): TemplateResult {
  return html`<button type="button" class="icon-button" title=${label} aria-label=${label} @click=${action}>${icon(name)}</button>`;
}

function section(title: string, content: unknown, more: unknown = nothing): TemplateResult {
  return html`<section><h3>${title}${more}</h3>${content}</section>`;
}

/** Who, since when, with which commit. */
function standing({ item, words, language, model }: Panel): Part {
  const { line } = item.about;
  if (!line) return nothing;
  const { by, since, head, claim, verdict } = line;
  const rows: [string, unknown][] = [];
  if (by) rows.push([words.by, by]);
  if (since) rows.push([words.since, time(since, line.age_ms, language, model.facts.now)]);
  if (head) rows.push([words.head, html`<code title=${head}>${head.slice(0, 12)}</code>`]);
  if (claim?.branch) rows.push([words.branch, html`<code>${claim.branch}</code>`]);
  if (claim?.worktree) rows.push([words.worktree, html`<code>${claim.worktree}</code>`]);
  if (verdict) rows.push([words.verdict, words.verdicts[verdict] ?? verdict]);
  if (rows.length === 0) return nothing;
  return facts(rows);
}

function facts(rows: readonly (readonly [string, unknown])[]): TemplateResult {
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A time in words, with the exact one for those who ask. */
function time(at: string, age: number | null, language: Language, now: string): unknown {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return at;
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const passed = age ?? Math.max(0, Date.parse(now) - then);
  return html`<time datetime=${at} title=${exact.format(then)}>${ago(passed, language)}</time>`;
}

function ago(passed: number, language: Language): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const minutes = Math.round(passed / 60_000);
  if (minutes < 60) return format.format(-minutes, 'minute');
  if (minutes < 48 * 60) return format.format(-Math.round(minutes / 60), 'hour');
  return format.format(-Math.round(minutes / 1440), 'day');
}

function stale({ item, words, model, open }: Panel): Part {
  const about = item.about.line?.stale;
  if (!about) return nothing;
  return html`<div class="note warning">${icon('warning')}<div>
    <b>${words.stale}:</b> ${about.why}
    ${about.built_on.length > 0 ? html`<div>${words.builtOn}: ${stages(about.built_on, { words, model, open })}</div>` : nothing}
  </div></div>`;
}

function findings({ item, words, model, toFinding }: Panel): Part {
  if (item.findings.length === 0) return nothing;
  const list = item.findings.map((at) => {
    const finding = model.preview.findings[at];
    if (!finding) return nothing;
    return html`<li><button type="button" class="finding ${finding.severity}" @click=${() => toFinding(at)}>
      <span class="what">${icon(finding.severity)}<b>${finding.code}</b><span class="where">${words.line(lineOf(finding))}</span></span>
      <span class="message">${finding.message}</span>
    </button></li>`;
  });
  return section(words.findings, html`<ul class="plain-list">${list}</ul>`);
}

type Around = Pick<Panel, 'words' | 'model' | 'open'>;

/** Stages as buttons that lead to them. */
function stages(numbers: readonly number[], { words, model, open }: Around): unknown {
  return html`<span class="stages">${numbers.map((number) => {
    const item = model.stages.get(number);
    if (!item) return html`<span class="tag">${words.stage(number)}</span>`;
    return html`<button type="button" class="stage-link st-${item.state}" title=${item.title} @click=${() => open(item)}>${mark(item.state)}<b>${number}</b> <span>${item.title}</span><i class="sr"> ${words.states[item.state]}</i></button>`;
  })}</span>`;
}

function around(its: Panel): TemplateResult {
  const { item, words, model } = its;
  const node = model.preview.graph.nodes.find(({ stage }) => stage === item.stage);
  const on = item.about.plan.depends_on;
  const unlocks = node?.unlocks ?? [];
  const rest = item.about.line?.steps_behind ?? 0;
  return html`${section(words.waitsFor, on.length > 0 ? stages(on, its) : html`<p class="hint">${words.waitsForNothing}</p>`)}
    ${section(
      words.unlocks,
      html`${unlocks.length > 0 ? stages(unlocks, its) : html`<p class="hint">${words.unlocksNothing}</p>`}
      ${rest > 0 ? html`<p class="hint">${words.behind(rest)}</p>` : nothing}`,
    )}`;
}

function steps({ item, words }: Panel): TemplateResult {
  const list = item.about.plan.section?.steps ?? [];
  if (list.length === 0) return section(words.steps(0), html`<p class="hint">${words.noSteps}</p>`);
  const hint = words.externalLink;
  return section(
    words.steps(list.length),
    html`<ol class="steps">${list.map(
      ({ step, action, files, command, expected }) => html`<li>
        <span class="step-number">${step || '·'}</span>
        <div>
          <p>${inline(action, hint)}</p>
          ${files.length > 0 ? html`<p class="files"><span class="sr">${words.files}: </span>${files.map((file) => html`<code>${file}</code>`)}</p>` : nothing}
          ${command ? html`<p class="command"><span class="sr">${words.command}: </span><code>${command.replaceAll('`', '')}</code></p>` : nothing}
          ${expected ? html`<p class="expected"><span>${words.expected}:</span> ${inline(expected, hint)}</p>` : nothing}
        </div>
      </li>`,
    )}</ol>`,
  );
}

function contract({ item, words }: Panel): Part {
  const { section: about, exit_contract_summary: short } = item.about.plan;
  const text = about?.exit_contract || short;
  return text
    ? section(words.exitContract, html`<div class="prose">${prose(text, words.externalLink)}</div>`)
    : nothing;
}

function validation({ item, words }: Panel): Part {
  const text = item.about.plan.section?.validation;
  return text
    ? section(words.validation, html`<div class="prose">${prose(text, words.externalLink)}</div>`)
    : nothing;
}

function carryIn({ item, words }: Panel): Part {
  const text = item.about.plan.section?.carry_in;
  return text
    ? section(words.carryIn, html`<div class="prose">${prose(text, words.externalLink)}</div>`)
    : nothing;
}

function evidence({ item, words, language, model }: Panel): TemplateResult {
  const about = item.about.evidence;
  if (!about) return section(words.evidence, html`<p class="hint">${words.noEvidence}</p>`);
  const isGood = about.fault === null;
  const verdict = html`<span class="tag ${isGood ? 'good' : 'bad'}">${isGood ? words.passed : words.notPassed}</span>`;
  return section(words.evidence, evidenceParts(about, words, language, model.facts.now), verdict);
}

function evidenceParts(
  about: PreviewEvidence,
  words: Words,
  language: Language,
  now: string,
): TemplateResult {
  const hint = words.externalLink;
  const rows: [string, unknown][] = [];
  const short = (commit: string) => html`<code title=${commit}>${commit.slice(0, 12)}</code>`;
  if (about.completed_at)
    rows.push([words.completed, time(about.completed_at, null, language, now)]);
  if (about.head) {
    rows.push([
      words.commits,
      html`${about.base ? html`${short(about.base)} → ` : nothing}${short(about.head)}`,
    ]);
  }
  const lists: [string, readonly string[], boolean][] = [
    [words.changedFiles, about.files_changed, true],
    [words.identifiers, about.new_identifiers, true],
    [words.validations, about.validations_passed, false],
    [words.notes, about.notes, false],
    [words.noted, about.warnings, false],
  ];
  return html`
    ${about.fault ? html`<p class="note warning">${icon('warning')}<span>${about.fault}</span></p>` : nothing}
    ${rows.length > 0 ? facts(rows) : nothing}
    ${
      about.observed.length > 0
        ? html`<h4>${words.observed}</h4><ul class="plain-list observed">${about.observed.map(
            ({ command, exit_code, duration_ms }) => html`<li>
            <code>${command}</code>
            <span class="tag ${exit_code === 0 ? 'good' : 'bad'}">${words.exitCode(exit_code)}${duration_ms === null ? nothing : ` · ${(duration_ms / 1000).toFixed(1)} s`}</span>
          </li>`,
          )}</ul>`
        : nothing
    }
    ${
      about.step_results.length > 0
        ? html`<h4>${words.steps(about.step_results.length)}</h4><ul class="plain-list results">${about.step_results.map(
            ({ step, status, commit }) =>
              html`<li><b>${step}</b> ${status} ${commit ? short(commit) : nothing}</li>`,
          )}</ul>`
        : nothing
    }
    ${lists.map(([title, list, isCode]) =>
      list.length === 0
        ? nothing
        : html`<h4>${title}</h4><ul class="plain-list ${isCode ? 'codes' : ''}">${list.map((entry) => html`<li>${isCode ? html`<code>${entry}</code>` : inline(entry, hint)}</li>`)}</ul>`,
    )}
    <p class="hint path"><code>${about.path}</code></p>`;
}

function pullRequest({ item, words }: Panel): Part {
  const about = item.about.line?.pull_request;
  if (!about) return nothing;
  const { pr_url: url, pr_number: number } = about;
  const label = number === null ? (url ?? '') : `#${number}`;
  const shown = url && webAddress(url) ? link(url, label, words.externalLink) : `${label}`;
  return section(words.pullRequest, html`<p>${shown}</p>`);
}

function places({ item, words, toLines, toGraph }: Panel): TemplateResult {
  const { section: about, range } = item.about.plan;
  const place = about?.range ?? range;
  const last = Math.max(place.start.line, place.end.line - 1);
  return html`<p class="row links">
    <button type="button" class="plain" @click=${() => toLines(place.start.line, last)}>${icon('text')}${words.inText}</button>
    <button type="button" class="plain" @click=${toGraph}>${icon('graph')}${words.inGraph}</button>
  </p>`;
}
