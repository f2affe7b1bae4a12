/** The graph as the core describes it. */
export type { Edge, Graph, Node } from '../../../npm-package/src/index.js';
