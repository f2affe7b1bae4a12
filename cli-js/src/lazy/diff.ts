/** Two plans compared, for a terminal and as Markdown. */
import type {
  DiffAnswer,
  StageChange,
  StageName,
  StepChange,
  Touches,
  TouchingDiff,
} from '../../../npm-package/src/index.js';
import { paint } from '../cli/color.js';
import { printable } from '../cli/talk.js';

/** What a line is about, which says how it is marked and coloured. */
type Mark = '+' | '-' | '~' | ' ';

interface Line {
  mark: Mark;
  depth: number;
  text: string;
  /** Whether the line before or behind it is the same thing on the other side. */
  isHalf?: boolean;
}

/** What is new stands out, what is gone steps back; the marks say it without colour too. */
const STYLE = { '+': 'bold', '-': 'dim' } as const;

/** The comparison as lines with a mark in front of each: `+` new, `-` gone, `~` changed. */
export function showDiff(answer: DiffAnswer, color: boolean): string {
  const lines = linesOf(answer).map(({ mark, depth, text }) => {
    const line = `${mark} ${'  '.repeat(depth)}${text}`.trimEnd();
    return color && (mark === '+' || mark === '-') ? paint(STYLE[mark], line) : line;
  });
  return [...lines, ...(lines.length > 0 ? [''] : []), summary(answer), ''].join('\n');
}

/** The comparison as Markdown, for a pull request or a comment. */
export function diffMarkdown(answer: DiffAnswer): string {
  const lines = linesOf(answer, escaped).map(({ mark, depth, text, isHalf }) => {
    const [added, removed] = isHalf ? ['now: ', 'was: '] : ['added: ', 'removed: '];
    const word = { '+': added, '-': removed, '~': '', ' ': '' }[mark];
    return `${'  '.repeat(depth)}- ${word}${text}`;
  });
  return ['## Changes of the plan', '', summary(answer), '', ...lines, '']
    .join('\n')
    .replace(/\n{2,}$/, '\n');
}

/** Text in Markdown: what could be markup is written as it stands. */
function escaped(text: string): string {
  return plain(text).replace(/[\\`*_{}[\]<>()#+!|~&@-]/g, '\\$&');
}

function plain(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

type Quote = (text: string) => string;

function linesOf(answer: DiffAnswer, quote: Quote = plain): Line[] {
  const lines: Line[] = [];
  if (answer.approval !== null) {
    const { from, to } = answer.approval;
    lines.push({ mark: '~', depth: 0, text: `approval: ${from}, now ${to}` });
  }
  for (const stage of answer.stages) lines.push(...stageLines(stage, quote));
  return lines;
}

function stageLines({ old, new: now, changes, touches }: TouchingDiff, quote: Quote): Line[] {
  if (changes.length === 0) return [];
  const mark = now === null ? '-' : old === null ? '+' : '~';
  const lines: Line[] = [{ mark, depth: 0, text: nameOf(now ?? old, quote) }];
  for (const change of changes) lines.push(...changeLines(change, quote));
  for (const text of touched(touches, quote)) lines.push({ mark: ' ', depth: 1, text });
  return lines;
}

function nameOf(name: StageName | null, quote: Quote): string {
  return `stage ${name?.stage ?? '?'}: ${quote(name?.title ?? '')}`;
}

/** The names of the texts of a stage. */
const PART = {
  'exit-contract-summary': 'exit contract in the Stage Map',
  'exit-contract': 'exit contract',
  validation: 'validation',
  'carry-in': 'carry-in',
  wording: 'other wording',
} as const;

function changeLines(change: StageChange, quote: Quote): Line[] {
  const line = (text: string, mark: Mark = '~', depth = 1): Line => ({ mark, depth, text });
  const half = (text: string, mark: Mark): Line => ({ mark, depth: 2, text, isHalf: true });
  switch (change.kind) {
    case 'added':
    case 'removed':
      return [];
    case 'renamed':
      return [line(`title: ${quote(change.from)} → ${quote(change.to)}`)];
    case 'reordered':
      return [line(`number: ${change.from ?? '?'} → ${change.to ?? '?'}`)];
    case 'rewired':
      return [
        line('depends on'),
        ...change.added.map((stage) => line(`stage ${stage}`, '+', 2)),
        ...change.removed.map((stage) => line(`stage ${stage} of the old plan`, '-', 2)),
      ];
    case 'cancelled':
      return [line('cancelled')];
    case 'restored':
      return [line('no longer cancelled')];
    case 'steps':
      return [line('steps'), ...change.steps.flatMap((step) => stepLines(step, quote))];
    case 'files':
      return [
        line('files'),
        ...change.added.map((file) => line(quote(file), '+', 2)),
        ...change.removed.map((file) => line(quote(file), '-', 2)),
      ];
    case 'text':
      return [
        line(PART[change.part]),
        ...textLines(change.from, change.to).map((text) => half(quote(text), '-')),
        ...textLines(change.to, change.from).map((text) => half(quote(text), '+')),
      ];
  }
}

/** The lines of one text that the other does not have. */
function textLines(text: string | null, other: string | null): string[] {
  const lines = (value: string | null) =>
    (value ?? '').split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  const known = new Set(lines(other).map(plain));
  return lines(text).filter((line) => !known.has(plain(line)));
}

function stepLines(step: StepChange, quote: Quote): Line[] {
  const line = (text: string, mark: Mark, depth = 2): Line => ({ mark, depth, text });
  if (step.kind === 'changed') {
    return [
      line(`step ${quote(step.step)}`, '~'),
      ...step.fields.flatMap(({ field, from, to }) => [
        { ...line(`${field}: ${quote(from)}`, '-', 3), isHalf: true },
        { ...line(`${field}: ${quote(to)}`, '+', 3), isHalf: true },
      ]),
    ];
  }
  return [
    line(`step ${quote(step.step)}: ${quote(step.action)}`, step.kind === 'added' ? '+' : '-'),
  ];
}

/** What a change touches, one line each. */
function touched(touches: Touches | null, quote: Quote): string[] {
  if (touches === null) return [];
  const { done, claims, worktrees } = touches;
  const lines: string[] = [];
  if (done !== null) {
    const against = {
      old: ', built against the old text',
      new: ', built against the new text',
      other: ', built against a third text',
    };
    const head = done.head_commit === '' ? '' : `, ${quote(done.head_commit.slice(0, 7))}`;
    const text = done.built_against === null ? '' : against[done.built_against];
    lines.push(`touches: done${head}${text}`);
    if (done.pull_request !== null) {
      const { pr_url, pr_number } = done.pull_request;
      lines.push(`touches: pull request ${quote(pr_url ?? `#${pr_number ?? '?'}`)}`);
    }
  }
  for (const { session, impl_task_key, life } of claims) {
    const who = session === null ? quote(impl_task_key) : `session ${quote(session)}`;
    lines.push(`touches: the claim of ${who} (${life})`);
  }
  for (const worktree of worktrees) lines.push(`touches: the worktree ${quote(worktree)}`);
  return lines;
}

function summary({ stages, same }: DiffAnswer): string {
  if (same) return 'the plans are the same';
  const count = (is: (stage: TouchingDiff) => boolean) => stages.filter(is).length;
  const changed = (stage: TouchingDiff) => stage.changes.length > 0;
  const parts = [
    [count(({ old }) => old === null), 'added'],
    [count((stage) => stage.new === null), 'removed'],
    [count((stage) => changed(stage) && stage.old !== null && stage.new !== null), 'changed'],
    [count((stage) => !changed(stage)), 'unchanged'],
  ] as const;
  const said = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`);
  return `stages: ${said.join(', ') || 'none'}`;
}
