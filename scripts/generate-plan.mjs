// Plans of any size for benchmarks and tests: the same numbers give the same bytes.
// Used as a command it prints one: node scripts/generate-plan.mjs 10000 > plan.md
import { pathToFileURL } from 'node:url';

/** Numbers that look random and are the same every time (a linear congruential generator). */
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * A valid plan whose stages depend on up to two of the fifty before them, so that waves are a few
 * stages wide and chains are long, about 500 bytes a stage.
 *
 * @param {number} stages how many
 * @returns {string} Markdown
 */
export function generatePlan(stages) {
  const pick = numbers(stages);
  const rows = [];
  const sections = [];
  for (let stage = 1; stage <= stages; stage++) {
    const dependsOn = new Set();
    for (let each = pick(3); each > 0 && stage > 1; each--) {
      dependsOn.add(stage - 1 - pick(Math.min(stage - 1, 50)));
    }
    const names = [...dependsOn].sort((a, b) => a - b).join(', ') || '(none)';
    rows.push(
      `| ${stage} | build part ${stage} | ${names} | 2 | src/part${stage}.ts:make${stage} |`,
    );
    sections.push(`
## 4.5.${stage} Stage ${stage}: build part ${stage}

### Carry-In

- what the brief asks of part ${stage}

### Stepwise Execution Order

| step | action | files | command | expected |
|------|--------|-------|---------|----------|
| 1 | write the failing test | \`tests/part${stage}.test.ts\` | \`npm test -- part${stage}\` | FAIL |
| 2 | make it pass | \`src/part${stage}.ts\`, \`src/index${stage}.ts:10-20\` | \`npm test -- part${stage}\` | PASS |

### Stage Exit Contract

- adds \`src/part${stage}.ts:make${stage}\`

### Stage Validation

- post: \`npm test -- part${stage}\`
`);
  }
  return `# Final Report

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|-------|-------|------------|------------|-----------------------|
${rows.join('\n')}
${sections.join('')}
- [x] Approved
`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(generatePlan(Number(process.argv[2] ?? 3)));
}
