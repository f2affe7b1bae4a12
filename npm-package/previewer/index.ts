// `import 'okstra/previewer'` makes <okstra-plan> known to the page.
import { OkstraPlan } from './element.js';
import type * as surface from './surface.js';

// What the package declares is what there is.
OkstraPlan satisfies typeof surface.OkstraPlan;

if (typeof customElements !== 'undefined' && customElements.get('okstra-plan') === undefined) {
  customElements.define('okstra-plan', OkstraPlan);
}

export { OkstraPlan };
