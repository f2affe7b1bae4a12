/** `okstra plan diff` as a whole command in an in-memory world. */
import { describe, expect, it } from 'vitest';
import { World } from './world.js';

/** A plan of stages with one step each. */
function plan(stages: readonly { title: string; after?: string; does?: string; ends?: string }[]) {
  const rows = stages.map(
    ({ title, after = '(none)' }, at) => `| ${at + 1} | ${title} | ${after} | 1 | it works |`,
  );
  const sections = stages.map(
    (
      { title, does = 'write it', ends = 'It works.' },
      at,
    ) => `## 4.5.${at + 1} Stage ${at + 1}: ${title}

### Carry-In

Nothing.

### Stepwise Execution Order

| step | action | files | command | expected |
| --- | --- | --- | --- | --- |
| 1 | ${does} | \`src/${at + 1}.rs\` | cargo test | passes |

### Stage Exit Contract

${ends}

### Stage Validation

cargo test
`,
  );
  return `# Plan

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

${sections.join('\n')}`;
}

const OLD = plan([
  { title: 'Read' },
  { title: 'Write', after: '1' },
  { title: 'Old one', does: 'go' },
]);
const NEW = plan([
  { title: 'Read', does: 'write `it` *well*', ends: 'It sings.\n\nIt works.' },
  { title: 'Write down', after: '(none)' },
  { title: '<img src=x onerror=alert(1)> [x](javascript:1)', does: 'other', ends: 'New.' },
]).replaceAll('src/3.rs', 'src/new.rs');

const LEDGER = [
  { stage: 1, status: 'done', completed_at: '2026-01-01T00:00:00Z', head_commit: 'abcdef0123' },
  {
    stage: 2,
    status: 'started',
    started_at: '2026-01-01T00:00:00Z',
    session: 'bob\u001b[31m',
    worktree: '/w/2',
  },
  { stage: 3, status: 'started', started_at: '2026-01-01T00:00:00Z', session: 'eve' },
]
  .map((row) => `${JSON.stringify({ impl_task_key: 'k', ...row })}\n`)
  .join('');

function world(more: Record<string, string> = {}): World {
  return new World({
    'old.md': OLD,
    'new.md': NEW,
    'new.md.okstra/consumers.jsonl': LEDGER,
    ...more,
  });
}

const diff = ['plan', 'diff', 'old.md', 'new.md'];

describe('okstra plan diff', () => {
  it.each(['terminal', 'markdown'])('writes for %s', async (format) => {
    const ended = await world().run(...diff, '--format', format);
    expect(ended).toMatchObject({ exit: 0, files: {} });
    expect(ended.stdout).toMatchSnapshot();
    expect(ended.stderr).toMatchSnapshot();
    expect(`${ended.stdout}${ended.stderr}`).not.toContain('\u001b');
  });

  it('writes JSON', async () => {
    const { stdout } = await world().run(...diff, '--format', 'json');
    const { stages, same } = JSON.parse(stdout);
    expect(same).toBe(false);
    expect(
      stages.map((it: { old: unknown; new: unknown }) => [it.old !== null, it.new !== null]),
    ).toEqual([
      [true, true],
      [true, true],
      [false, true],
      [true, false],
    ]);
    expect(stages[0].touches.done).toMatchObject({ head_commit: 'abcdef0123' });
  });

  it('marks with colour what is new and what is gone', async () => {
    const colored = await world().run(...diff, '--color');
    expect(colored.stdout).toContain('\u001b[1m+');
    expect(colored.stdout).toContain('\u001b[2m-');
  });

  it('finds the ledger of whichever plan has one', async () => {
    const files = { 'new.md.okstra/consumers.jsonl': '', 'old.md.okstra/consumers.jsonl': LEDGER };
    const ended = await new World({ 'old.md': OLD, 'new.md': NEW, ...files }).run(...diff);
    expect(ended.stdout).not.toContain('touches');
    const old = new World({
      'old.md': OLD,
      'new.md': NEW,
      'old.md.okstra/consumers.jsonl': LEDGER,
    });
    expect((await old.run(...diff)).stdout).toContain('touches: done');
    // From standard input the other one is asked.
    const piped = world();
    piped.stdin = OLD;
    expect((await piped.run('plan', 'diff', '-', 'new.md')).stdout).toContain('touches: done');
  });

  it.each([
    [['old.md', 'old.md', '--exit-code'], 0, 'the plans are the same\n', ''],
    [['old.md', 'new.md', '--exit-code'], 1, undefined, undefined],
    [['old.md'], 2, '', 'okstra: give two plans: okstra plan diff OLD NEW\n'],
    [['-', '-'], 2, '', "okstra: '-' (standard input) can be given once only\n"],
    [['old.md', 'none.md'], 2, '', undefined],
    [['old.md', 'binary.md'], 2, '', undefined],
  ])('%j', async (args, exit, stdout, stderr) => {
    const ended = await world({ 'binary.md': 'a\0b' }).run('plan', 'diff', ...args);
    expect(ended.exit).toBe(exit);
    if (stdout !== undefined) expect(ended.stdout).toBe(stdout);
    if (stderr !== undefined) expect(ended.stderr).toBe(stderr);
  });
});
