// A plan half-way, for those who want to see what the page does before they have one.
import type { PreviewFacts } from '../src/generated/types.js';

/** A stage: title, what it depends on, what it leaves, its steps. */
type Row = [string, string, string, [action: string, files: string, command: string][]];

const ROWS: readonly Row[] = [
  [
    'Read exchange rates from the bank',
    '(none)',
    '`Rates::today()` answers for every currency',
    [
      ['fetch the daily rates', 'src/rates/fetch.rs', 'cargo test rates::fetch'],
      ['keep them for a day', 'src/rates/cache.rs', 'cargo test rates::cache'],
    ],
  ],
  [
    'A price list for each country',
    '(none)',
    '`PriceList` by country code',
    [
      ['describe a price list', 'src/prices/list.rs', 'cargo test prices::list'],
      ['read the lists from the catalogue', 'src/prices/read.rs', 'cargo test prices::read'],
      ['refuse lists with gaps', 'src/prices/check.rs', 'cargo test prices::check'],
    ],
  ],
  [
    'Know where the customer is',
    '(none)',
    '`Visitor::country()` with a reason',
    [
      ['take the country of the account', 'src/visitor/account.rs', 'cargo test visitor'],
      ['else ask the browser', 'src/visitor/browser.rs', 'cargo test visitor::browser'],
    ],
  ],
  [
    'Prices in local money',
    '1, 2',
    'the shop shows local prices',
    [
      ['convert with the rate of the day', 'src/prices/local.rs', 'cargo test prices::local'],
      ['round as the country does', 'src/prices/round.rs', 'cargo test prices::round'],
      ['say when the rate was taken', 'src/prices/stamp.rs', 'cargo test prices::stamp'],
    ],
  ],
  [
    'Taxes of the country',
    '2, 3',
    '`Tax::of(country, goods)`',
    [
      ['read the tables', 'src/tax/table.rs', 'cargo test tax::table'],
      ['reduced rates for books', 'src/tax/reduced.rs', 'cargo test tax::reduced'],
    ],
  ],
  [
    'The cart adds everything up',
    '4, 5',
    'totals agree with the invoice',
    [
      ['add up in the local money', 'src/cart/total.rs', 'cargo test cart::total'],
      ['show taxes on a line of their own', 'web/cart.tsx', 'npm test -- cart'],
      ['keep the rate while the cart lives', 'src/cart/rate.rs', 'cargo test cart::rate'],
    ],
  ],
  [
    'Invoices in two currencies',
    '6',
    'both sums on every invoice',
    [
      ['print both sums', 'src/invoice/print.rs', 'cargo test invoice'],
      ['name the rate and its date', 'src/invoice/rate.rs', 'cargo test invoice::rate'],
    ],
  ],
  [
    'Refunds at the old rate',
    '6',
    'a refund gives back what was paid',
    [['take the rate of the order', 'src/refund/rate.rs', 'cargo test refund']],
  ],
  [
    'Choose another currency by hand',
    '4',
    'the choice outlives the session',
    [
      ['a list in the footer', 'web/footer.tsx', 'npm test -- footer'],
      ['remember the choice', 'web/choice.ts', 'npm test -- choice'],
    ],
  ],
];

function planText(): string {
  const rows = ROWS.map(
    ([title, on, leaves, steps], at) =>
      `| ${at + 1} | ${title} | ${on} | ${steps.length} | ${leaves} |`,
  );
  const sections = ROWS.map(([title, , leaves, steps], at) => {
    const table = steps.map(
      ([action, files, command], step) =>
        `| ${step + 1} | ${action} | \`${files}\` | \`${command}\` | passes |`,
    );
    const last = steps.at(-1)?.[2] ?? '';
    return `## 4.5.${at + 1} Stage ${at + 1}: ${title}

### Carry-In

### Stepwise Execution Order

| step | action | files | command | expected |
|------|--------|-------|---------|----------|
${table.join('\n')}

### Stage Exit Contract

- ${leaves}

### Stage Validation

- post: \`${last}\`
`;
  });
  return `# Checkout in the customer's currency

A visitor from anywhere sees, pays and is refunded in the money of their country.

- [x] Approved

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|-------|-------|------------|------------|-----------------------|
${rows.join('\n')}

${sections.join('\n')}`;
}

/** The example as it stands now. */
export function exampleFacts(): PreviewFacts {
  const now = Date.now();
  const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  const commit = (stage: number) => `${stage}b9e52e2c17fa4d08a6f3`;
  const base = { impl_task_key: 'shop:checkout:currency' };
  const rows: object[] = [];
  const evidence: PreviewFacts['evidence'] = [];
  const finish = (stage: number, minutes: number) => {
    const [title, , leaves, steps] = ROWS[stage - 1] as Row;
    const claim = { claim_id: `c${stage}`, session: ['anna', 'ben', 'chris'][stage % 3] };
    rows.push(
      {
        ...base,
        stage,
        status: 'started',
        started_at: ago(minutes + 34),
        head_commit: '',
        ...claim,
      },
      {
        ...{ ...base, stage, status: 'done', completed_at: ago(minutes) },
        ...{ carry_path: `carry/stage-${stage}.json`, head_commit: commit(stage) },
        claim_id: claim.claim_id,
      },
    );
    const proof = {
      ...{ schemaVersion: 1, sourcePlanPath: 'checkout.md', stageNumber: stage, stageTitle: title },
      completedAt: ago(minutes),
      stageCommitRange: { base: '3b8141474d0c', head: commit(stage) },
      filesChanged: steps.map(([, file]) => file),
      newIdentifiers: leaves.match(/`[^`]+`/g)?.map((name) => name.slice(1, -1)) ?? [],
      stepResults: steps.map((_, at) => ({ step: at + 1, status: 'done', commit: commit(stage) })),
      validationsPassed: steps.map(([, , command]) => command),
      notes: [],
    };
    evidence.push({ path: `carry/stage-${stage}.json`, text: JSON.stringify(proof) });
  };
  finish(1, 180);
  finish(2, 150);
  finish(3, 95);
  rows.push(
    {
      ...base,
      stage: 1,
      status: 'verified',
      verified_at: ago(120),
      verdict: 'accepted',
      report_path: 'r.md',
    },
    {
      ...{
        ...base,
        stage: 2,
        status: 'pr',
        pr_url: 'https://example.com/shop/pull/12',
        pr_number: 12,
      },
      ...{ stages: [2], opened_at: ago(60) },
    },
    {
      ...{ ...base, stage: 4, status: 'started', started_at: ago(9), head_commit: commit(2) },
      ...{ claim_id: 'c4', session: 'anna' },
    },
  );
  return {
    plan: { path: 'checkout.md', text: planText() },
    ledger: {
      path: 'consumers.jsonl',
      text: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    },
    evidence,
    now: new Date(now).toISOString(),
    fault: null,
  };
}
