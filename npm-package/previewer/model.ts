// What the view looks things up in, worked out once for each answer of the core.
import type {
  Finding,
  Preview,
  PreviewFacts,
  PreviewStage,
  StageState,
} from '../src/generated/types.js';

/** A row of the Stage Map on the screen. */
export interface Item {
  /** What tells it from all others, also after a change of the plan. */
  key: string;
  /** Its number; `null` where it cannot be read or is another row's. */
  stage: number | null;
  title: string;
  state: StageState;
  wave: number | null;
  steps: number;
  critical: boolean;
  about: PreviewStage;
  /** Its findings, as places in the list of all. */
  findings: number[];
  errors: number;
}

/** A dependency on the screen. */
export interface Line {
  from: Item;
  to: Item;
  critical: boolean;
}

/** Everything the view looks things up in. */
export interface Model {
  facts: PreviewFacts;
  preview: Preview;
  text: string;
  items: Item[];
  /** By their numbers. */
  stages: Map<number, Item>;
  lines: Line[];
  /** The items of each wave; last those in no wave, where there are any. */
  columns: { wave: number | null; items: Item[] }[];
  counts: Map<StageState, number>;
  /** Changes with everything that the layout depends on. */
  structure: string;
}

/** Makes the model of an answer. */
export function modelOf(facts: PreviewFacts, preview: Preview): Model {
  const nodes = new Map(preview.graph.nodes.map((node) => [node.stage, node]));
  const findings = new Map<number, number[]>();
  for (const [at, { stage }] of preview.findings.entries()) {
    const list = findings.get(stage);
    if (list) list.push(at);
    else findings.set(stage, [at]);
  }
  const items = preview.stages.map((about, row): Item => {
    const stage = about.line?.stage ?? null;
    const node = stage === null ? undefined : nodes.get(stage);
    const own = stage === null ? [] : (findings.get(stage) ?? []);
    return {
      key: stage === null ? `row-${row + 1}` : `${stage}`,
      stage,
      title: about.plan.title,
      state: about.line?.state ?? 'broken',
      wave: node?.wave ?? null,
      steps: about.line?.steps ?? 0,
      critical: node?.critical ?? false,
      about,
      findings: own,
      errors: own.filter((at) => preview.findings[at]?.severity === 'error').length,
    };
  });
  const stages = new Map(
    items.flatMap((item) => (item.stage === null ? [] : [[item.stage, item]])),
  );
  const lines = preview.graph.edges.flatMap(({ stage, depends_on, critical }): Line[] => {
    const [from, to] = [stages.get(depends_on), stages.get(stage)];
    return from && to ? [{ from, to, critical }] : [];
  });
  const columns: Model['columns'] = preview.graph.waves.map((wave, at) => ({
    wave: at + 1,
    items: wave.flatMap((stage) => stages.get(stage) ?? []),
  }));
  const rest = items.filter(({ wave }) => wave === null);
  if (rest.length > 0) columns.push({ wave: null, items: rest });
  const counts = new Map<StageState, number>();
  for (const { state } of items) counts.set(state, (counts.get(state) ?? 0) + 1);
  const structure = JSON.stringify([
    items.map(({ key, title, wave, steps, critical }) => [key, title, wave, steps, critical]),
    lines.map(({ from, to, critical }) => [from.key, to.key, critical]),
  ]);
  const text = facts.plan?.text ?? '';
  return { facts, preview, text, items, stages, lines, columns, counts, structure };
}

/** What an item waits for and what waits for it, directly or not. */
export function closure(model: Model, item: Item): { before: Set<Item>; behind: Set<Item> } {
  const walk = (key: 'waits_for' | 'unlocks'): Set<Item> => {
    const next = new Map(model.preview.graph.nodes.map((node) => [node.stage, node[key]]));
    const found = new Set<Item>();
    const open = [item];
    for (const each of open) {
      for (const stage of next.get(each.stage ?? -1) ?? []) {
        const other = model.stages.get(stage);
        if (other && other !== item && !found.has(other)) {
          found.add(other);
          open.push(other);
        }
      }
    }
    return found;
  };
  return { before: walk('waits_for'), behind: walk('unlocks') };
}

/** What is shown in full; everything else steps back. */
export interface Filter {
  states: ReadonlySet<StageState>;
  wave: number | null;
  query: string;
}

/** Whether a filter asks for anything. */
export const isOpen = ({ states, wave, query }: Filter): boolean =>
  states.size === 0 && wave === null && query.trim() === '';

/** The items that a filter leaves. */
export function matching(model: Model, filter: Filter): Item[] {
  const words = folded(filter.query).split(/\s+/).filter(Boolean);
  return model.items.filter((item) => {
    if (filter.states.size > 0 && !filter.states.has(item.state)) return false;
    if (filter.wave !== null && item.wave !== filter.wave) return false;
    if (words.length === 0) return true;
    const text = searched(item);
    return words.every((word) =>
      /^#\d+$/.test(word) ? word === `#${item.stage}` : text.includes(word),
    );
  });
}

const texts = new WeakMap<PreviewStage, string>();

/** Everything of a stage that can be searched. */
function searched({ about, stage, title }: Item): string {
  let text = texts.get(about);
  if (text === undefined) {
    const { section, exit_contract_summary } = about.plan;
    const steps = section?.steps ?? [];
    const parts = [
      `${stage ?? ''} ${title}`,
      exit_contract_summary,
      ...steps.flatMap(({ action, command, expected, files }) => [
        action,
        command,
        expected,
        ...files,
      ]),
      section?.exit_contract ?? '',
      section?.validation ?? '',
      about.line?.by ?? '',
      ...(about.evidence?.new_identifiers ?? []),
    ];
    text = folded(parts.join('\n'));
    texts.set(about, text);
  }
  return text;
}

const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/** The line of a finding, from 1. */
export const lineOf = ({ range }: Finding): number => range.start.line;
