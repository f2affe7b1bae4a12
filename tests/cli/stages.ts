/** What the tests about stages begin with: a task in its place, rows, evidence, worlds. */
import type { HostError } from '../../cli-js/src/host/host.js';
import { planText } from './plans.js';
import { World } from './world.js';

/** The task's folder. */
export const TASK = '.okstra/tasks/web/login';

/** The plan in its place. */
export const PLAN = `${TASK}/runs/implementation-planning/reports/final-report-implementation-planning-001.md`;

/** The ledger of that plan. */
export const LEDGER = `${TASK}/runs/implementation-planning/consumers.jsonl`;

/** The key of the task. */
export const KEY = 'shop:web:login';

/** The place of a stage's evidence. */
export const carry = (stage: number) => `${TASK}/runs/implementation/carry/stage-${stage}.json`;

/** A commit of which only the first digit tells it from others. */
export const commit = (digit: number | string) => String(digit).repeat(40);

/** The approval every claim needs. */
export const APPROVED = '\n## User Approval Request\n\n- [x] Approved\n';

/** Four stages: the second and the third wait for the first, the fourth for nothing. */
export const FOUR = planText(
  [
    { title: 'Parse the input', steps: 2 },
    { title: 'Write the report', after: '1', steps: 3 },
    { title: 'Serve the page', after: '1' },
    { title: 'Count the words' },
  ],
  APPROVED,
);

/** A row of the ledger that a session wrote. */
export function started(stage: number, more: object = {}): string {
  const row = {
    impl_task_key: KEY,
    stage,
    status: 'started',
    started_at: '2025-12-31T23:50:00.000Z',
    head_commit: commit(0),
    claim_id: `claim-${stage}`,
    ...more,
  };
  return `${JSON.stringify(row)}\n`;
}

/** A row of a finished stage. */
export function done(stage: number, more: object = {}): string {
  const row = {
    impl_task_key: KEY,
    stage,
    status: 'done',
    completed_at: '2025-12-31T21:00:00.000Z',
    carry_path: carry(stage),
    head_commit: commit(stage),
    ...more,
  };
  return `${JSON.stringify(row)}\n`;
}

/** The text of the evidence of a stage. */
export function evidence(stage: number, title: string, more: object = {}): string {
  return JSON.stringify({
    schemaVersion: 1,
    sourcePlanPath: PLAN,
    stageNumber: stage,
    stageTitle: title,
    completedAt: '2025-12-31T21:00:00Z',
    stageCommitRange: { base: commit(0), head: commit(stage) },
    filesChanged: [`src/part${stage}/1.rs`],
    newIdentifiers: [`Part${stage}`],
    stepResults: [{ step: 1, status: 'done', commit: commit(stage) }],
    validationsPassed: ['cargo test'],
    notes: [],
    ...more,
  });
}

/** A worker result with a text as its evidence. */
export function workerResult(text: string): string {
  return `# Result\n\nBuilt.\n\n### Stage Carry Evidence\n\n\`\`\`json\n${text}\n\`\`\`\n`;
}

/** The first stage of {@link FOUR} is done, with its evidence. */
export const FIRST_DONE = {
  [LEDGER]: started(1) + done(1, { claim_id: 'claim-1' }),
  [carry(1)]: evidence(1, 'Parse the input'),
};

/** A world with {@link FOUR} as the task's plan, and what is given beside it. */
export function project(files: Record<string, string | Uint8Array | HostError> = {}): World {
  const world = new World({
    '.okstra/project.json': '{"projectId": "shop"}\n',
    [PLAN]: FOUR,
    ...files,
  });
  world.head = { commit: commit('a'), branch: 'main' };
  return world;
}
