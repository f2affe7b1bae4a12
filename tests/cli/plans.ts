/** Plans for the tests of the command line, written by a small model. */

interface StageModel {
  title?: string;
  after?: string;
  steps?: number;
  /** What the map says, where it differs from the real count. */
  said?: string | number;
  files?: string;
}

/** The text of a plan with these stages. */
export function planText(stages: readonly StageModel[], tail = ''): string {
  const rows = stages.map(({ title, after, steps = 1, said }, index) => {
    const n = index + 1;
    return `| ${n} | ${title ?? `Part ${n}`} | ${after ?? '(none)'} | ${said ?? steps} | part ${n} works |`;
  });
  const sections = stages.map(({ title, steps = 1, files }, index) => {
    const n = index + 1;
    const body = Array.from(
      { length: steps },
      (_, step) =>
        `| ${step + 1} | write piece ${step + 1} | ${files ?? `\`src/part${n}/${step + 1}.rs\``} | \`cargo test\` | it passes |`,
    );
    return `## 4.5.${n} Stage ${n}: ${title ?? `Part ${n}`}

### Carry-In

Nothing.

### Stepwise Execution Order

| step | action | files | command | expected |
|---|---|---|---|---|
${body.join('\n')}

### Stage Exit Contract

Part ${n} works.

### Stage Validation

\`cargo test\`
`;
  });
  return `# Plan

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|---|---|---|---|---|
${rows.join('\n')}

${sections.join('\n')}${tail}`;
}

/** Three stages, the last two of which can run at the same time. */
export const GOOD = planText([
  { title: 'Parse the input', steps: 2 },
  { title: 'Write the report', after: '1', steps: 3 },
  { title: 'Serve the page', after: '1' },
]);

/** Two errors: a wrong count (repairable) and a stage that does not exist. */
export const FAULTY = planText([{ steps: 2, said: 5 }, { after: '7' }]);

/** One error, which can be repaired. */
export const REPAIRABLE = planText([{ steps: 2, said: 5 }, { after: '1' }]);

/** With an approval line and a clarification about it. */
export function withApproval(box: ' ' | 'x', status?: 'open' | 'resolved'): string {
  const clarification =
    status === undefined
      ? ''
      : `
## Clarification Items

| ID | Question | Status | Blocks |
|---|---|---|---|
| C-1 | Which port? | ${status} | approval |
`;
  return planText([{}], `${clarification}\n## User Approval Request\n\n- [${box}] Approved\n`);
}
