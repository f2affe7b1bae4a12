/** The graph as the core describes it. */
export type { Graph, Node } from '../../../npm-package/src/index.js';
