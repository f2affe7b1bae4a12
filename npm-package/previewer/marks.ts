// The mark of each state: what tells states apart without colours.
import { html, svg, type TemplateResult } from 'lit-html';
import type { StageState } from '../src/generated/types.js';

/** A shape of a mark, in a box of 16 by 16, and how it is drawn. */
interface Shape {
  d: string;
  /** `draw` is stroked, `dash` stroked with gaps, `fill` filled, `cut` stroked in the colour of the card. */
  as: 'draw' | 'dash' | 'fill' | 'cut';
}

const CIRCLE = 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11z';

/** Every state, in the order of a stage's life. */
export const STATES: readonly StageState[] = [
  'ready',
  'running',
  'waiting',
  'done',
  'verified',
  'pr',
  'reserved',
  'cancelled',
  'broken',
];

const MARKS: Record<StageState, readonly Shape[]> = {
  ready: [{ d: CIRCLE, as: 'draw' }],
  running: [{ d: 'M4.5 2.8l8.6 5.2-8.6 5.2z', as: 'fill' }],
  reserved: [{ d: CIRCLE, as: 'dash' }],
  waiting: [{ d: 'M5.2 3.5v9M10.8 3.5v9', as: 'draw' }],
  done: [{ d: 'M2.8 8.6l3.5 3.5 7-7.7', as: 'draw' }],
  verified: [
    {
      d: 'M8 1.2l5.8 2.1v4.4c0 3.5-2.4 5.8-5.8 7.1-3.4-1.3-5.8-3.6-5.8-7.1V3.3z',
      as: 'fill',
    },
    { d: 'M5.2 8.1l2 2 3.7-4.1', as: 'cut' },
  ],
  pr: [
    {
      d: 'M4 2.3a1.8 1.8 0 1 1 0 3.6a1.8 1.8 0 1 1 0-3.6zM4 10.1a1.8 1.8 0 1 1 0 3.6a1.8 1.8 0 1 1 0-3.6zM12 10.1a1.8 1.8 0 1 1 0 3.6a1.8 1.8 0 1 1 0-3.6zM4 5.9v4.2M12 10.1V6.6a2.4 2.4 0 0 0-2.4-2.4H7.4M9.3 2.2l-2 2 2 2',
      as: 'draw',
    },
  ],
  cancelled: [{ d: 'M4 4l8 8M12 4l-8 8', as: 'draw' }],
  broken: [
    { d: 'M8 2.2l6.2 11.3H1.8z', as: 'draw' },
    { d: 'M8 6.6v3M8 11.6v.01', as: 'draw' },
  ],
};

/** The mark of a state as a small picture beside text. */
export function mark(state: StageState): TemplateResult {
  return drawing(`mark st-${state}`, MARKS[state]);
}

/** The mark of a state for the graph. */
export function markNode(state: StageState): SVGGElement {
  const group = document.createElementNS(SVG, 'g');
  group.setAttribute('class', 'mark');
  for (const { d, as } of MARKS[state]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    path.setAttribute('class', as);
    group.append(path);
  }
  return group;
}

export const SVG = 'http://www.w3.org/2000/svg';

const ICONS = {
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9zM10.4 10.4l3.3 3.3',
  close: 'M4 4l8 8M12 4l-8 8',
  link: 'M6.8 9.2l2.6-2.6M7.2 4.9l1.5-1.5a2.7 2.7 0 0 1 3.9 3.9l-1.5 1.5M8.8 11.1l-1.5 1.5a2.7 2.7 0 0 1-3.9-3.9l1.5-1.5',
  out: 'M6.5 3.5h-3v9h9v-3M9 3h4v4M13 3L7.5 8.5',
  save: 'M8 2.5v8M4.8 7.4L8 10.6l3.2-3.2M2.8 13.5h10.4',
  theme:
    'M8 2.2a5.8 5.8 0 1 1 0 11.6a5.8 5.8 0 1 1 0-11.6zM8 2.2v11.6M8 5.2l4.6-.9M8 8h5.7M8 10.8l4.6.9',
  help: 'M8 1.9a6.1 6.1 0 1 1 0 12.2a6.1 6.1 0 1 1 0-12.2zM6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.3M8 11.5v.01',
  fit: 'M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3',
  plus: 'M8 3.5v9M3.5 8h9',
  minus: 'M3.5 8h9',
  graph: 'M2.5 3h4v3h-4zM9.5 3h4v3h-4zM9.5 10h4v3h-4zM6.5 4.5h3M8 4.5v7h1.5',
  text: 'M3 3.5h10M3 6.5h10M3 9.5h7M3 12.5h9',
  previous: 'M10 3.5L5.5 8l4.5 4.5',
  next: 'M6 3.5L10.5 8L6 12.5',
  warning: 'M8 2.2l6.2 11.3H1.8zM8 6.6v3M8 11.6v.01',
  error: 'M5.4 2h5.2L14 5.4v5.2L10.6 14H5.4L2 10.6V5.4zM8 4.9v3.9M8 11v.01',
} satisfies Record<string, string>;

/** The name of an icon. */
export type Icon = keyof typeof ICONS;

/** An icon beside text or in a button that has a name of its own. */
export function icon(name: Icon): TemplateResult {
  return drawing('icon', [{ d: ICONS[name], as: 'draw' }]);
}

function drawing(name: string, shapes: readonly Shape[]): TemplateResult {
  return html`<svg class=${name} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">${shapes.map(({ d, as }) => svg`<path class=${as} d=${d}></path>`)}</svg>`;
}
