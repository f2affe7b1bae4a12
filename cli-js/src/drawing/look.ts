/** How a terminal drawing is made. */
export interface TerminalOptions {
  /** The columns of the terminal; less than 32 counts as 32. */
  width: number;
  /** Whether escape sequences may colour it. */
  color: boolean;
  /** Only ASCII for lines and marks (titles stay as they are). Default `false`. */
  ascii?: boolean;
}

/** The options with everything derived from them. */
export interface Look {
  width: number;
  color: boolean;
  ascii: boolean;
  /** The signs that are not lines. */
  signs: Signs;
}

/** One sign a meaning, in Unicode or ASCII. */
interface Signs {
  ellipsis: string;
  dot: string;
  /** From a stage to the one that waits for it. */
  onward: string;
  /** In front of what a stage waits for. */
  from: string;
  /** The head of a line that goes down. */
  head: string;
  stage: string;
  /** A stage on the critical path. */
  critical: string;
  /** A piece of the critical path's line. */
  thick: string;
}

const UNICODE: Signs = {
  ellipsis: '…',
  dot: '·',
  onward: '→',
  from: '←',
  head: '▼',
  stage: '○',
  critical: '●',
  thick: '━━',
};
const ASCII: Signs = {
  ellipsis: '...',
  dot: '-',
  onward: '->',
  from: '<-',
  head: 'v',
  stage: 'o',
  critical: '*',
  thick: '==',
};
const NARROWEST = 32;

/** The look that the options ask for. */
export function look(options: TerminalOptions): Look {
  const ascii = options.ascii ?? false;
  return {
    width: Math.max(NARROWEST, Math.floor(options.width) || NARROWEST),
    color: options.color,
    ascii,
    signs: ascii ? ASCII : UNICODE,
  };
}
