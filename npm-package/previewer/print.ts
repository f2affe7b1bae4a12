// What is on paper beside the graph: every stage and every finding.
import { html, nothing, type TemplateResult } from 'lit-html';
import { mark } from './marks.js';
import { lineOf, type Model } from './model.js';
import type { Language, Words } from './words.js';

/** The tables for paper. */
export function printed(model: Model, words: Words, language: Language): TemplateResult {
  const { preview, items, facts } = model;
  const stamp = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const now = Date.parse(facts.now);
  return html`
    <table>
      <thead><tr><th>${words.stage(0).replace(/ ?0/, '')}</th><th></th><th>${words.wave(0).replace(/ ?0/, '')}</th><th></th><th>${words.waitsFor}</th><th>${words.by}</th></tr></thead>
      <tbody>${items.map(
        ({ stage, title, wave, state, about }) => html`<tr class="st-${state}">
          <td>${stage ?? '–'}</td><td>${title}</td><td>${wave ?? '–'}</td>
          <td class="state">${mark(state)} ${words.states[state]}</td>
          <td>${about.plan.depends_on.join(', ')}</td><td>${about.line?.by ?? ''}</td>
        </tr>`,
      )}</tbody>
    </table>
    ${
      preview.findings.length === 0
        ? nothing
        : html`<h2>${words.findings}</h2><ul>${preview.findings.map(
            (finding) =>
              html`<li><b>${finding.code}</b> ${finding.stage > 0 ? words.stage(finding.stage) : words.wholePlan}, ${words.line(lineOf(finding))}: ${finding.message}</li>`,
          )}</ul>`
    }
    <p class="stamp">okstra · ${facts.plan?.path ?? ''}${Number.isNaN(now) ? '' : ` · ${stamp.format(now)}`}</p>`;
}
