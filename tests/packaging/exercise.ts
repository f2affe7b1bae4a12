// What every consumer does with the package, and what it has to get: the same everywhere.
import { expect } from 'vitest';

/** A plan with one fault: stage 2 announces three steps and has one. */
const PLAN = `# Plan

- [ ] Approved

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
| --- | --- | --- | --- | --- |
| 1 | Store | (none) | 1 | rows are kept |
| 2 | Page | 1 | 3 | rows are shown |

## 4.5.1 Stage 1: Store

### Carry-In

None.

### Stepwise Execution Order

| step | action | files | command | expected |
| --- | --- | --- | --- | --- |
| 1 | write it | \`store.rs\` | cargo test | passes |

### Stage Exit Contract

Rows are kept.

### Stage Validation

cargo test

## 4.5.2 Stage 2: Page

### Carry-In

Stage 1.

### Stepwise Execution Order

| step | action | files | command | expected |
| --- | --- | --- | --- | --- |
| 1 | draw it | \`page.ts\` | npm test | passes |

### Stage Exit Contract

Rows are shown.

### Stage Validation

npm test
`;

/**
 * JavaScript for a consumer: `exercise(okstra)` uses every function once, panics on the way, and
 * answers with something that can be compared. Plain ES2022, since it runs in each consumer.
 */
export const EXERCISE = `
const PLAN = ${JSON.stringify(PLAN)};
function failure(okstra, work) {
  try {
    work();
    return null;
  } catch (e) {
    return { known: e instanceof okstra.OkstraError && e instanceof Error, name: e.name,
      code: e.code, message: e.message, help: e.help, details: e.details };
  }
}
function exercise(okstra) {
  const codes = () => okstra.checkPlan(PLAN).findings.map((f) =>
    [f.code, f.stage, f.range.start.line].join(' '));
  return {
    names: Object.keys(okstra).sort(),
    version: okstra.version(),
    stages: okstra.parsePlan(new TextEncoder().encode(PLAN)).stages.map((s) => s.title),
    codes: codes(),
    waves: okstra.planGraph(PLAN).waves,
    repaired: okstra.fixPlan(PLAN).text === PLAN.replace('| 1 | 3 |', '| 1 | 1 |'),
    approved: okstra.approvePlan(PLAN).text === PLAN.replace('- [ ] A', '- [x] A'),
    rendered: okstra.renderCheck({ paths: ['plan.md'] }, [PLAN]),
    mermaid: okstra.renderGraph(PLAN, 'mermaid').startsWith('flowchart'),
    rules: okstra.rules().map((rule) => rule.code).includes('S7'),
    unknownOption: failure(okstra, () => okstra.checkPlan(PLAN, { bogus: true })),
    wrongSource: failure(okstra, () => okstra.checkPlan(7)),
    binary: failure(okstra, () => okstra.checkPlan(new Uint8Array([35, 0]))),
    panic: failure(okstra, () => okstra.__provokePanic()),
    afterPanic: codes(),
    panicAgain: failure(okstra, () => okstra.__provokePanic())?.code,
    afterPanicAgain: codes(),
  };
}
`;

/** The names every entry of the package has; \`__provokePanic\` is for these tests. */
export const NAMES = [
  'OkstraError',
  '__provokePanic',
  'approvePlan',
  'askWizard',
  'assembleHandOver',
  'checkLedger',
  'checkMerge',
  'checkPlan',
  'containerDown',
  'containerEngine',
  'containerPlace',
  'containerShow',
  'containerUp',
  'createTask',
  'diagnose',
  'dispatchHeaders',
  'fixPlan',
  'handOver',
  'hookEvent',
  'init',
  'judgeDispatch',
  'listPanes',
  'lockName',
  'paneTags',
  'parsePlan',
  'planCandidates',
  'planDiff',
  'planDispatch',
  'planGraph',
  'planInstall',
  'planLayout',
  'planUninstall',
  'prepareRun',
  'previewPlan',
  'pruneWorktrees',
  'readInstalled',
  'readRegistry',
  'readUsage',
  'reapPanes',
  'reconcileTeam',
  'registryActivate',
  'registryBase',
  'registryBegin',
  'registryForget',
  'registryKeep',
  'registryTaskWorktree',
  'removeWorktree',
  'renderCheck',
  'renderGraph',
  'repairLedger',
  'repairWorktrees',
  'reportPair',
  'reportPaths',
  'reportProgress',
  'reservedStages',
  'rules',
  'showLedger',
  'stageBase',
  'stageClaim',
  'stageDone',
  'stageForecast',
  'stageHistory',
  'stageList',
  'stageNext',
  'stagePr',
  'stageRelease',
  'stageShow',
  'stageVerify',
  'taskFolder',
  'taskOutcome',
  'tokenReport',
  'version',
  'worktreePlaces',
  'wrapUp',
];

/** What `exercise` answers. */
export function expected(version: string): Record<string, unknown> {
  const error = { known: true, name: 'OkstraError', help: null };
  const location = expect.stringMatching(/^bindings\/src\/panic\.rs:\d+:\d+$/);
  return {
    names: NAMES,
    version,
    stages: ['Store', 'Page'],
    codes: ['S7 2 10'],
    waves: [[1], [2]],
    repaired: true,
    approved: true,
    rendered: {
      stdout: expect.stringContaining('plan.md: 1 error'),
      stderr: 'S7 stage=2: Stage Map step-count=3 but real count=1\n',
      exit_code: 1,
    },
    mermaid: true,
    rules: true,
    unknownOption: {
      ...error,
      code: 'bad-options',
      message: expect.stringContaining('bogus'),
      details: { reason: expect.stringContaining('bogus') },
    },
    wrongSource: {
      ...error,
      code: 'bad-options',
      message: 'bad options: a plan or ledger must be a string or a Uint8Array',
      details: { reason: 'a plan or ledger must be a string or a Uint8Array' },
    },
    binary: {
      ...error,
      code: 'binary',
      message: 'a binary file: NUL byte at byte 1 (line 1)',
      help: expect.any(String),
      details: { offset: 1, line: 1 },
    },
    panic: {
      ...error,
      code: 'panic',
      message: expect.stringContaining('provoked by a test'),
      help: expect.any(String),
      details: { panic: 'provoked by a test', location },
    },
    afterPanic: ['S7 2 10'],
    panicAgain: 'panic',
    afterPanicAgain: ['S7 2 10'],
  };
}
