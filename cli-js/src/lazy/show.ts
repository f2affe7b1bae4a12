/** A plan as a person reads it: its stages, and the steps of each. */
import cliui from 'cliui';
import type { Graph, Plan, Stage } from '../../../npm-package/src/index.js';
import { paint as style } from '../cli/color.js';
import { printable } from '../cli/talk.js';

/** How to show a plan. */
export interface ShowOptions {
  graph: Graph;
  /** The columns of the terminal. */
  width: number;
  color: boolean;
  /** With the texts of the sections (carry-in, exit contract, validation) and all cells. */
  full: boolean;
}

/** Narrower than this, columns are no use. */
const NARROWEST = 40;
/** Wider than this, lines are hard to read. */
const WIDEST = 120;

/** The stages of a plan with their steps, within the width. */
export function showPlan(plan: Plan, options: ShowOptions): string {
  const width = Math.min(Math.max(options.width, NARROWEST), WIDEST);
  const paint: Paint = (name, text) => (options.color ? style(name, text) : text);
  const blocks = options.full ? [] : [overview(plan, options.graph, width, paint)];
  for (const stage of plan.stages) blocks.push(stageBlock(stage, options, width, paint));
  return `${blocks.join('\n')}`;
}

type Paint = (style: 'bold' | 'dim', text: string) => string;

function overview(plan: Plan, graph: Graph, width: number, paint: Paint): string {
  if (plan.stages.length === 0) return 'no stages\n';
  const waves = new Map(graph.nodes.map(({ stage, wave }) => [stage, wave]));
  const rows = plan.stages.map((stage) => [
    label(stage),
    stage.cancelled ? `${clean(stage.title)} (cancelled)` : clean(stage.title),
    stage.cancelled ? '' : String(waves.get(stage.stage_number ?? 0) ?? '?'),
    needsOf(stage) || '–',
    String(stage.section?.steps.length ?? '?'),
  ]);
  const head = ['stage', 'title', 'wave', 'needs', 'steps'].map((text) => paint('bold', text));
  const { stages, steps } = graph.critical_path;
  const facts = [
    `${counted(plan.stages.length, 'stage')} in ${counted(graph.waves.length, 'wave')}`,
    `approval: ${plan.approval.state}`,
    ...(stages.length > 0
      ? [`longest chain: ${stages.join(' → ')} (${counted(steps, 'step')})`]
      : []),
  ];
  const longest = Math.max(...rows.map(([, , , needs = '']) => needs.length));
  const needs = Math.min(Math.max(longest + 2, 7), 16);
  return `${columns(width, [7, null, 6, needs, 5], [head, ...rows])}\n${lines(width, 0, facts.join('\n'))}`;
}

function stageBlock(stage: Stage, { full }: ShowOptions, width: number, paint: Paint): string {
  const title = `Stage ${label(stage)}: ${clean(stage.title)}`;
  const out = [lines(width, 0, paint('bold', title))];
  const facts = [
    `depends on: ${needsOf(stage) || 'nothing'}`,
    ...(stage.cancelled ? ['cancelled'] : []),
  ];
  out.push(lines(width, 2, paint('dim', facts.join(' · '))));
  if (stage.exit_contract_summary !== '') {
    out.push(lines(width, 2, `exit contract: ${clean(stage.exit_contract_summary)}`));
  }
  const { section } = stage;
  if (section === null) {
    if (!stage.cancelled) out.push(lines(width, 2, 'no section'));
    return out.join('');
  }
  out.push(section.steps.length === 0 ? lines(width, 2, 'no steps') : '');
  const half = Math.max(14, Math.floor((width - 6) / 2));
  if (full) {
    for (const [name, text] of [
      ['Carry-In', section.carry_in],
      ['Stage Exit Contract', section.exit_contract],
      ['Stage Validation', section.validation],
    ] as const) {
      if (text === null || text.trim() === '') continue;
      const body = text
        .trim()
        .split(/\r\n|\r|\n/)
        .map(clean)
        .join('\n');
      out.push(`\n${lines(width, 2, paint('bold', name))}${lines(width, 4, body)}`);
    }
    for (const step of section.steps) {
      out.push(`\n${lines(width, 2, paint('bold', `Step ${clean(step.step)}`))}`);
      for (const [name, text] of [
        ['action', step.action],
        ['files', step.files.join('\n')],
        ['command', step.command],
        ['expected', step.expected],
      ] as const) {
        if (text === '') continue;
        const value = text.split('\n').map(clean).join('\n');
        out.push(columns(width, [14, null], [[name, value]], 4));
      }
    }
  } else {
    const rows = section.steps.map(({ step, action, files }) => [
      clean(step),
      clean(action),
      files.map(clean).join('\n'),
    ]);
    out.push(columns(width, [6, null, half - 4], rows, 2));
  }
  return out.join('');
}

/**
 * Rows in columns of the given widths; `null` takes what is left. Cells wrap within theirs. A row
 * that plainly fits is put together here: cliui measures every character, 0.2 ms a row.
 */
function columns(
  width: number,
  widths: readonly (number | null)[],
  rows: readonly (readonly string[])[],
  indent = 0,
): string {
  const fixed = widths.reduce((sum: number, one) => sum + (one ?? 0), indent);
  const cells = widths.map((one) => one ?? Math.max(width - fixed, 8));
  const last = cells.length - 1;
  const wrapped = (row: readonly string[]) => {
    const ui = cliui({ width, wrap: true });
    ui.div(
      ...row.map((text, index) => ({
        text,
        width: (cells[index] ?? 8) + (index === 0 ? indent : 0),
        padding: [0, index === last ? 0 : 2, 0, index === 0 ? indent : 0],
      })),
    );
    return ended(ui.toString());
  };
  const plain = (row: readonly string[]) => {
    const parts = row.map((text) => text.split('\n'));
    const height = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: height }, (_, line) =>
      ended(
        ' '.repeat(indent) +
          parts.map((part, index) => (part[line] ?? '').padEnd(cells[index] ?? 0)).join(''),
      ),
    ).join('');
  };
  return rows
    .map((row) =>
      row.every((text, index) => fitsIn(text, (cells[index] ?? 8) - (index === last ? 0 : 2)))
        ? plain(row)
        : wrapped(row),
    )
    .join('');
}

/** A text wrapped behind an indent. */
function lines(width: number, indent: number, text: string): string {
  return text
    .split('\n')
    .map((line) => {
      if (fits(line, width - indent)) return ended(' '.repeat(indent) + line);
      const ui = cliui({ width, wrap: true });
      ui.div({ text: line, padding: [0, 0, 0, indent] });
      return ended(ui.toString());
    })
    .join('');
}

/** Whether every line of a cell is plain ASCII of at most so many columns. */
function fitsIn(cell: string, width: number): boolean {
  return cell.split('\n').every((line) => fits(line, width));
}

/** Whether a text is plain ASCII of at most so many columns. */
function fits(text: string, width: number): boolean {
  return text.length <= width && /^[ -~]*$/.test(text);
}

function ended(text: string): string {
  return `${text.replace(/[ \t]+$/gm, '')}\n`;
}

/** A cell of the plan in one safe line. */
function clean(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** What a stage depends on; `?` stands for what cannot be read. */
function needsOf({ depends_on, unclear }: Stage): string {
  return [...depends_on, ...(unclear ? ['?'] : [])].join(', ');
}

function label({ stage_number }: Stage): string {
  return stage_number === null ? '?' : String(stage_number);
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
