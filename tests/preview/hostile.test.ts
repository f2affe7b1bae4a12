// Text of strangers in every field: it is shown as text and nothing of it runs.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PreviewFacts } from '../../npm-package/dist/index.js';
import { launch, show, visit } from './browser.js';
import { planOf } from './plans.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** Each runs `owned()` wherever a page takes it for more than text. */
const STRINGS = [
  '<script>owned()</script>',
  '</script><script>owned()</script>',
  '<img src=x onerror=owned()>',
  '"><svg onload=owned()>',
  "'><iframe srcdoc='<script>parent.owned()</script>'></iframe>",
  '<details open ontoggle=owned()>',
  '<style>@import "https://evil.example/a.css";</style>',
  '<link rel=stylesheet href=https://evil.example/b.css>',
  '<base href=https://evil.example/>',
  '<meta http-equiv=refresh content=0;url=https://evil.example/>',
  '<form action=https://evil.example/><button autofocus onfocus=owned()>',
  '</text></g></svg><script>owned()</script>',
  '<![CDATA[<script>owned()</script>]]>',
  '<!--><img src=x onerror=owned()>-->',
  '&lt;img src=x onerror=owned()&gt;',
  '&#60;img src=x onerror=owned()&#62;',
  '[click](javascript:owned())',
  '[click](JaVaScRiPt:owned())',
  '[click](data:text/html,<script>owned()</script>)',
  '[click](vbscript:owned())',
  '[click](https://user:pass@evil.example/)',
  'javascript:owned()',
  '{{constructor.constructor("owned()")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one of the tricks
  '${owned()}',
  '<template shadowrootmode=open><img src=x onerror=owned()></template>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=owned()>',
  '\u202egnp.exe\u202c <b onmouseover=owned()>',
  '"; owned(); //',
  "'-owned()-'",
  '__proto__',
];

/** A cell keeps to its cell. */
const cell = (text: string): string => text.replaceAll('|', '').replaceAll('\n', ' ');

function factsWith(bad: string): PreviewFacts {
  const c = cell(bad);
  const sections = [1, 2].map(
    (stage) => `## 4.5.${stage} Stage ${stage}: ${c}

### Carry-In

- ${bad}

### Stepwise Execution Order

| step | action | files | command | expected |
|------|--------|-------|---------|----------|
| ${c} | ${c} | ${c} | ${c} | ${c} |

### Stage Exit Contract

${bad}

\`\`\`
${bad}
\`\`\`

### Stage Validation

- post: ${bad}
`,
  );
  const text = `# ${bad}

- [ ] Approved

| ID | Question | Status | Blocks |
|----|----------|--------|--------|
| ${c} | ${c} | ${c} | approval |

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|-------|-------|------------|------------|-----------------------|
| 1 | ${c} | (none) | 1 | ${c} |
| 2 | ${c} | 1 | 9 | ${c} |
| ${c} | ${c} | ${c} | ${c} | ${c} |

${sections.join('\n')}`;
  const at = '2026-11-30T11:00:00Z';
  const all = { impl_task_key: bad, head_commit: bad, claim_id: 'c', session: bad, host: bad };
  const rows = [
    { ...all, stage: 1, status: 'started', started_at: at, worktree: bad, branch: bad },
    { ...all, stage: 1, status: 'done', completed_at: at, carry_path: bad },
    {
      ...all,
      stage: 1,
      status: 'verified',
      verified_at: at,
      verdict: 'accepted',
      report_path: bad,
    },
    { ...all, stage: 1, status: 'pr', pr_url: bad, opened_at: bad, stages: [1] },
    { ...all, stage: 2, status: 'started', started_at: bad, worktree: bad, branch: bad },
  ];
  const evidence = {
    ...{ schemaVersion: 1, sourcePlanPath: 'plan.md', stageNumber: 1, stageTitle: bad },
    ...{ completedAt: bad, stageCommitRange: { base: bad, head: bad }, filesChanged: [bad] },
    ...{ newIdentifiers: [bad], stepResults: [{ step: bad, status: bad, commit: bad }] },
    ...{ validationsPassed: [bad], notes: [bad], warnings: [bad], conformance: { overall: bad } },
    observed: { commands: [{ command: bad, exit_code: 1, duration_ms: 5 }] },
  };
  return {
    plan: { path: `${bad}/plan.md`, text },
    ledger: { path: bad, text: `${rows.map((row) => JSON.stringify(row)).join('\n')}\n${bad}\n` },
    evidence: [{ path: `${bad}/stage-1.json`, text: JSON.stringify(evidence) }],
    now: '2026-11-30T12:00:00Z',
    fault: bad,
  };
}

test('no string in any field runs, neither on the page nor in its pictures', async () => {
  const seen = await visit(browser);
  const { page } = seen;
  let owned = 0;
  await page.exposeFunction('owned', () => {
    owned += 1;
  });
  page.on('dialog', () => {
    owned += 1;
  });
  for (const bad of STRINGS) {
    await show(page, factsWith(bad));
    const found = await page.evaluate(async (text) => {
      const element = document.querySelector('okstra-plan');
      const shadow = element?.shadowRoot;
      if (!element || !shadow) return ['no element'];
      const faults: string[] = [];
      const allowed = /^(?:https?:|blob:)/;
      const look = (where: string) => {
        const strange =
          'script, iframe, img, link, style, base, meta, object, embed, form, template, math, foreignObject';
        for (const node of shadow.querySelectorAll(strange))
          faults.push(`${where}: <${node.localName}>`);
        for (const node of shadow.querySelectorAll('*')) {
          for (const { name, value } of node.attributes) {
            if (/^on/i.test(name)) faults.push(`${where}: ${name}`);
            if (/^(?:href|src|xlink:href|action|srcdoc)$/.test(name) && !allowed.test(value)) {
              faults.push(`${where}: ${name}=${value}`);
            }
            if (name === 'href' && new URL(value).password !== '')
              faults.push(`${where}: ${value}`);
          }
        }
      };
      for (const view of ['stage=1', 'stage=2', 'stage=row-3', 'view=text&finding=1', 'search=x']) {
        element.view = view;
        look(view);
      }
      element.view = 'stage=1';
      const panel = shadow.querySelector('.panel')?.textContent ?? '';
      // It is on the page, to be read.
      if (!text.startsWith('[') && !panel.includes(text.slice(0, 6).trim()))
        faults.push('not shown');
      for (const mark of shadow.querySelectorAll('mark[data-finding]'))
        (mark as HTMLElement).click();
      const svg = await (await element.exportGraph('svg')).text();
      const made = new DOMParser().parseFromString(svg, 'image/svg+xml');
      const known = /^(?:svg|g|rect|path|text|tspan|title)$/;
      for (const node of made.querySelectorAll('*')) {
        if (!known.test(node.localName)) faults.push(`picture: <${node.localName}>`);
        for (const { name } of node.attributes) {
          if (/^on|href|^style$/i.test(name)) faults.push(`picture: ${name}`);
        }
      }
      return faults;
    }, bad);
    expect(found, bad).toEqual([]);
    expect(owned, bad).toBe(0);
  }
  // Paper has all of it too.
  await page.emulateMedia({ media: 'print' });
  await page.locator('.paper tbody tr').first().waitFor();
  // The picture as a document of its own, where scripts would run.
  await show(page, factsWith(STRINGS.join(' ').replaceAll('|', '')));
  const whole = await page.evaluate(async () => {
    const element = document.querySelector('okstra-plan');
    return (await element?.exportGraph('svg'))?.text() ?? '';
  });
  const alone = await seen.context.newPage();
  await alone.exposeFunction('owned', () => {
    owned += 1;
  });
  await alone.goto(`data:image/svg+xml;base64,${Buffer.from(whole).toString('base64')}`);
  expect(await alone.evaluate(() => document.documentElement.localName)).toBe('svg');
  expect(owned).toBe(0);
  expect(seen.requests).toEqual([]);
  expect(seen.complaints).toEqual([]);
  await seen.context.close();
});

test('characters that no XML may have are not in the picture', async () => {
  const seen = await visit(browser);
  await show(seen.page, factsWith('bell \u0007 form \u000c feed \ufffe end'));
  const faults = await seen.page.evaluate(async () => {
    const svg = await (await document.querySelector('okstra-plan')?.exportGraph('svg'))?.text();
    const made = new DOMParser().parseFromString(svg ?? '', 'image/svg+xml');
    return made.querySelectorAll('parsererror').length;
  });
  expect(faults).toBe(0);
  await seen.context.close();
});

test('a line of brackets without end does not hold the page up', async () => {
  const seen = await visit(browser);
  try {
    const line = `- leaves ${'['.repeat(200_000)}`;
    await show(seen.page, planOf([['Brackets', '(none)']]).replace('- leaves `part1`', line));
    const began = Date.now();
    await seen.page.locator('g.card').click();
    await seen.page.locator('.panel h2').waitFor();
    expect(await seen.page.locator('.panel').textContent()).toContain('[[[[');
    expect(Date.now() - began).toBeLessThan(5_000);
  } finally {
    await seen.context.close();
  }
});

test('the page can reach nothing, whoever asks', async () => {
  const seen = await visit(browser);
  const reached = await seen.page.evaluate(async () => {
    const tries = [
      () => fetch('https://example.com/'),
      () => fetch('data:text/plain,x'),
      () =>
        new Promise((_, failed) => {
          const image = new Image();
          image.onerror = failed;
          image.onload = failed;
          image.src = 'https://example.com/a.png';
          setTimeout(failed, 500);
        }),
      () => Promise.reject(navigator.sendBeacon('https://example.com/')),
    ];
    const done = await Promise.allSettled(tries.map(async (each) => each()));
    return done.map(({ status }) => status);
  });
  expect(reached).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  expect(seen.complaints.filter((text) => text.startsWith('policy: connect-src')).length).toBe(3);
  expect(seen.complaints.some((text) => text.startsWith('policy: img-src'))).toBe(true);
  await seen.context.close();
});
