// What is seen, as a text that a link can carry.
import type { StageState } from '../src/generated/types.js';
import type { Sight } from './graph.js';
import { STATES } from './marks.js';
import type { Filter } from './model.js';

/** What is seen. */
export interface View extends Filter {
  view: 'graph' | 'text';
  /** The key of the stage that is open. */
  stage: string | null;
  /** The finding that is looked at, as its place in the list. */
  finding: number | null;
  sight: Sight | undefined;
}

/** The text of a view; what is as it is at first is left out. */
export function writeView({ view, stage, finding, states, wave, query, sight }: View): string {
  const parts = new URLSearchParams();
  if (view !== 'graph') parts.set('view', view);
  if (stage !== null) parts.set('stage', stage);
  if (finding !== null && view === 'text') parts.set('finding', `${finding + 1}`);
  if (states.size > 0) parts.set('states', [...states].join(' '));
  if (wave !== null) parts.set('wave', `${wave}`);
  if (query.trim() !== '') parts.set('search', query);
  if (sight) parts.set('at', `${sight.x} ${sight.y} ${sight.scale}`);
  return parts.toString();
}

/** The view of a text; what cannot be read in it is as it is at first. */
export function readView(text: string): View {
  const parts = new URLSearchParams(text.replace(/^#/, ''));
  const whole = (name: string): number | null => {
    const value = parts.get(name);
    return value !== null && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : null;
  };
  const stage = parts.get('stage');
  const finding = whole('finding');
  const [x, y, scale] = (parts.get('at') ?? '').split(' ').map(Number);
  const isSight = [x, y, scale].every((value) => value !== undefined && Number.isFinite(value));
  const named = new Set((parts.get('states') ?? '').split(' '));
  return {
    view: parts.get('view') === 'text' ? 'text' : 'graph',
    stage: stage !== null && /^(?:row-)?[1-9]\d{0,8}$/.test(stage) ? stage : null,
    finding: finding === null ? null : finding - 1,
    states: new Set<StageState>(STATES.filter((state) => named.has(state))),
    wave: whole('wave'),
    query: parts.get('search') ?? '',
    sight: isSight ? { x: x ?? 0, y: y ?? 0, scale: scale || 1 } : undefined,
  };
}
