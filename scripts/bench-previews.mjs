// How fast the previewer draws, in a real Chromium, and how large its page is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { generatePlan } from './generate-plan.mjs';
import { findProgram, root } from './lib.mjs';
import { compressed } from './sizes.mjs';

const page = join(root, 'npm-package/dist/preview.html');

/** The goals: the first picture in milliseconds by stages, an update, the page in bytes. */
const GOALS = { 10: 100, 100: 150, 1000: 800, update: 50, bytes: 350_000 };

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const started = (stage) =>
  `${JSON.stringify({
    ...{ impl_task_key: 'a:b:c', stage, status: 'started', session: 's', claim_id: `c${stage}` },
    ...{ started_at: '2026-11-30T11:30:00Z', head_commit: '' },
  })}\n`;

const factsOf = (text, ledger) => ({
  plan: { path: 'plan.md', text },
  ledger: { path: 'consumers.jsonl', text: ledger },
  ...{ evidence: [], now: '2026-11-30T12:00:00Z', fault: null },
});

/** Milliseconds from the moment facts are there until the picture of them is drawn. */
function drawn(tab, facts) {
  return tab.evaluate(async (given) => {
    const element = document.querySelector('okstra-plan');
    const start = performance.now();
    element.facts = given;
    await element.updated;
    // A task behind the next frame runs once that frame is drawn.
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - start;
  }, facts);
}

/** Prints the section. */
export async function previews({ row, quick }) {
  const size = compressed(readFileSync(page));
  const goal = (reached) => (reached ? 'reached' : 'missed');
  console.log(
    '\nPreviewer in Chromium (goals: first picture 100, 150, 800 ms; update 50 ms; 350 KB)',
  );
  row('page', `${size.gzip} gzip`, `${size.brotli} brotli`, goal(size.gzip <= GOALS.bytes));
  const executablePath = process.env.CHROMIUM ?? findProgram(['chromium', 'google-chrome']);
  if (executablePath === undefined) {
    console.log('  no Chromium on the PATH');
    return;
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const open = async (rest = 0) => {
    const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await tab.goto(pathToFileURL(page).href);
    await tab.waitForTimeout(rest);
    return tab;
  };
  const rounds = quick ? 3 : 9;
  // A page that is served has its plan at once; a person takes a moment to drop one.
  for (const [when, rest] of [
    ['a second after load', 1_000],
    ['at load', 0],
  ]) {
    for (const stages of [10, 100, 1000]) {
      const text = generatePlan(stages);
      const times = [];
      for (let round = 0; round < rounds; round++) {
        const tab = await open(rest);
        times.push(await drawn(tab, factsOf(text, '')));
        await tab.close();
      }
      const took = median(times);
      const name = `first picture ${when}, ${stages} stages`;
      row(name, `${took.toFixed(0)} ms`, goal(took <= GOALS[stages]));
    }
  }
  const tab = await open();
  const text = generatePlan(100);
  let ledger = '';
  const times = [];
  await drawn(tab, factsOf(text, ledger));
  for (let stage = 1; stage <= rounds * 2; stage++) {
    ledger += started(stage);
    times.push(await drawn(tab, factsOf(text, ledger)));
  }
  const took = median(times);
  row('a ledger row more, 100 stages', `${took.toFixed(0)} ms`, goal(took <= GOALS.update));
  await browser.close();
}
