// Plans, ledgers and evidence for the tests of the previewer.
import type { PreviewFacts } from '../../npm-package/dist/index.js';

/** A stage of a plan: its title, what it depends on. */
export type Row = readonly [title: string, dependsOn: string];

/** A plan without faults. */
export function planOf(rows: readonly Row[]): string {
  const map = rows.map(
    ([title, on], at) => `| ${at + 1} | ${title} | ${on} | 2 | leaves ${at + 1} |`,
  );
  const sections = rows.map(
    ([title], at) => `## 4.5.${at + 1} Stage ${at + 1}: ${title}

### Carry-In

### Stepwise Execution Order

| step | action | files | command | expected |
|------|--------|-------|---------|----------|
| 1 | begin with ${at + 1} | \`src/a${at + 1}.ts\` | \`npm test -- a${at + 1}\` | FAIL |
| 2 | make it pass, see https://example.com/help | \`src/b${at + 1}.ts\` | \`npm test\` | PASS |

### Stage Exit Contract

- leaves \`part${at + 1}\`

### Stage Validation

- post: \`npm test -- a${at + 1}\`
`,
  );
  return `# A plan to look at

- [x] Approved

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|-------|-------|------------|------------|-----------------------|
${map.join('\n')}

${sections.join('\n')}`;
}

/** Seven stages in four waves. */
export const PLAN = planOf([
  ['Read the rates', '(none)'],
  ['List the prices', '(none)'],
  ['Know the country', '(none)'],
  ['Local prices', '1, 2'],
  ['Taxes', '2, 3'],
  ['The cart', '4, 5'],
  ['Invoices', '6'],
]);

const row = (stage: number, status: string, more: object): string =>
  `${JSON.stringify({ impl_task_key: 'shop:web:money', stage, status, ...more })}\n`;

const started = (stage: number, session: string): string =>
  row(stage, 'started', {
    ...{ started_at: '2026-11-30T11:30:00Z', head_commit: 'a'.repeat(12) },
    ...{ claim_id: `c${stage}`, session },
  });

const done = (stage: number): string =>
  row(stage, 'done', {
    ...{ completed_at: '2026-11-30T11:50:00Z', carry_path: `carry/stage-${stage}.json` },
    ...{ head_commit: `${stage}`.repeat(12), claim_id: `c${stage}` },
  });

/** Stage 1 in a pull request, 2 verified, 3 done, 4 running: 5 is ready, the rest waits. */
export const LEDGER = [
  started(1, 'anna') + done(1),
  started(2, 'ben') + done(2),
  started(3, 'anna') + done(3),
  row(1, 'pr', {
    pr_url: 'https://example.com/pull/7',
    pr_number: 7,
    stages: [1],
    opened_at: '2026-11-30T11:55:00Z',
  }),
  row(2, 'verified', {
    verified_at: '2026-11-30T11:56:00Z',
    verdict: 'accepted',
    report_path: 'r.md',
  }),
  started(4, 'ben'),
].join('');

/** A further row: stage 4 is done. */
export const NEXT_ROW = done(4);

export function evidenceOf(stage: number, title: string, more: object = {}): string {
  return JSON.stringify({
    ...{ schemaVersion: 1, sourcePlanPath: 'plan.md', stageNumber: stage, stageTitle: title },
    ...{ completedAt: '2026-11-30T11:50:00Z', filesChanged: [`src/a${stage}.ts`] },
    stageCommitRange: { base: 'a'.repeat(12), head: `${stage}`.repeat(12) },
    ...{ newIdentifiers: [`part${stage}`], stepResults: [{ step: 1, status: 'done', commit: '' }] },
    ...{ validationsPassed: [`npm test -- a${stage}`], notes: ['look at the rounding'] },
    ...more,
  });
}

/** Everything together. */
export const FACTS: PreviewFacts = {
  plan: { path: 'plan.md', text: PLAN },
  ledger: { path: 'consumers.jsonl', text: LEDGER },
  evidence: [{ path: 'carry/stage-3.json', text: evidenceOf(3, 'Know the country') }],
  now: '2026-11-30T12:00:00Z',
  fault: null,
};

/** A plan with faults of several kinds, one of them on letters that take two units of UTF-16. */
export const FAULTY = PLAN.replace(
  '| 4 | Local prices | 1, 2 | 2 |',
  '| 4 | Local prices 💶 | 1, 9 | 3 |',
)
  .replace('| 6 | The cart | 4, 5 |', '| 6 | The cart | 4 and 5 |')
  .replace('### Stage Validation\n\n- post: `npm test -- a7`', '');
