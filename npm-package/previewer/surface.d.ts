/**
 * A plan in the browser: `import 'okstra/previewer'` makes `<okstra-plan>` known to the page.
 *
 * @packageDocumentation
 */
import type { Preview, PreviewFacts } from '../src/index.js';

export type { Preview, PreviewFacts };

/**
 * `<okstra-plan>`: the stages of a plan as a graph by waves, with their states, the findings beside
 * the text, and each stage in full. It loads nothing and sends nothing; the module is inside.
 *
 * Attributes: `lang` (`en` or `ko`; else that of the page), `theme` (`auto`, `light` or `dark`),
 * `plan` (the text of a plan), `selected` (the number of a stage) and `keys` (`page` where the element
 * fills its page: then its keys work wherever the keyboard is).
 *
 * Slots: `actions` and `status` in its header, `empty` where there is nothing to show.
 *
 * Events: `okstra-show` when something new is on the screen, `okstra-select` when another stage is
 * open, `okstra-view` when something else is seen, `okstra-error` for what cannot be worked with,
 * `okstra-language` and `okstra-theme` when a person chose one.
 */
export declare class OkstraPlan extends HTMLElement {
  /** What is shown: plan, ledger and evidence as they are now. Set it again when they change. */
  facts: PreviewFacts | null;
  /** The text of the plan alone. */
  plan: string | null;
  /** The number of the stage that is open. */
  selected: number | null;
  /** What is seen, as a text that a link can carry. */
  view: string;
  /** What the core says of the plan. */
  readonly preview: Preview | null;
  /** Fulfilled when what was set last is on the screen. */
  readonly updated: Promise<void>;
  /** The graph as a picture. */
  exportGraph(format: 'svg' | 'png'): Promise<Blob>;
}

declare global {
  interface HTMLElementTagNameMap {
    'okstra-plan': OkstraPlan;
  }

  interface HTMLElementEventMap {
    'okstra-show': CustomEvent<{ preview: Preview }>;
    'okstra-select': CustomEvent<{ stage: number | null }>;
    'okstra-view': CustomEvent<{ view: string }>;
    'okstra-error': CustomEvent<{ error: unknown }>;
    'okstra-language': CustomEvent<{ lang: string }>;
    'okstra-theme': CustomEvent<{ theme: string }>;
  }
}
