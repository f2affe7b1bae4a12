/**
 * okstra for JavaScript: reads a Markdown plan, reports its faults, works out its stage graph.
 *
 * Every entry of the package has the functions below. In Node, in `okstra/inline` and in Workers
 * they can be called at once; in a browser after `await init()`.
 *
 * @packageDocumentation
 */
import type {
  ApproveResult,
  CheckOptions,
  CheckReport,
  CheckRequest,
  CommandOutput,
  FixResult,
  Graph,
  GraphFormat,
  Plan,
  Rule,
} from './generated/types.js';

export { OkstraError } from './error.js';
export type * from './generated/types.js';

/** A plan: its text, or the bytes of its file (faster; bytes that are not UTF-8 are an error). */
export type Source = string | Uint8Array;

/** Options of a check; what is missing has its default. */
export type CheckOptionsInput = Partial<CheckOptions>;

/** What to check and how to write it; what is missing has its default. */
export type CheckRequestInput = Partial<Omit<CheckRequest, 'options'>> & {
  /** The rules' options. */
  options?: CheckOptionsInput;
};

/** Where `okstra.wasm` comes from: an address, a response, its bytes or the compiled module. */
export type InitSource =
  | string
  | URL
  | Request
  | Response
  | BufferSource
  | WebAssembly.Module
  | Promise<Response | BufferSource | WebAssembly.Module>;

/**
 * Makes the module ready. Needed in a browser, before the first call of any other function;
 * elsewhere it does no more than move the work of the first call. Calling it again answers with
 * the first promise.
 *
 * @param source where to take `okstra.wasm` from; the default is the file beside the entry.
 * @throws {OkstraError} `not-initialised` where it cannot be loaded; the next call tries again.
 */
export declare function init(source?: InitSource): Promise<void>;

/**
 * Reads a plan without judging it.
 *
 * @throws {OkstraError} `not-utf8`, `binary` or `too-large`.
 */
export declare function parsePlan(source: Source): Plan;

/**
 * Checks a plan against every rule: all findings in source order, the stages and their graph.
 *
 * @throws {OkstraError} `not-utf8`, `binary`, `too-large` or `bad-options`.
 */
export declare function checkPlan(source: Source, options?: CheckOptionsInput): CheckReport;

/**
 * The graph of a plan's stages: waves, critical path, cycles, what waits for what.
 *
 * @throws {OkstraError} `not-utf8`, `binary` or `too-large`.
 */
export declare function planGraph(source: Source): Graph;

/**
 * Applies every repair the findings of a plan carry. Nothing is written to disk: the answer has
 * the new text.
 *
 * @throws {OkstraError} `not-utf8`, `binary`, `too-large` or `bad-options`.
 */
export declare function fixPlan(source: Source, options?: CheckOptionsInput): FixResult;

/**
 * Ticks the approval line of a plan, unless a clarification holds it back. Nothing is written to
 * disk: the answer has the new text.
 *
 * @throws {OkstraError} `not-utf8`, `binary` or `too-large`.
 */
export declare function approvePlan(source: Source): ApproveResult;

/**
 * Checks plans and writes what was found as text, as `okstra plan check` does. A source that is
 * no text is a line of the answer's `stderr`, not an error.
 *
 * @throws {OkstraError} `bad-options`.
 */
export declare function renderCheck(
  request: CheckRequestInput,
  sources: readonly Source[],
): CommandOutput;

/**
 * Writes the graph of a plan as JSON, Mermaid or Graphviz; the default is JSON.
 *
 * @throws {OkstraError} `not-utf8`, `binary`, `too-large` or `bad-options`.
 */
export declare function renderGraph(source: Source, format?: GraphFormat): string;

/** Every rule, in the order of its code. */
export declare function rules(): Rule[];

/** The version of the core, which is the version of the package. */
export declare function version(): string;
