import { notInitialised, OkstraError } from './error.js';
import * as raw from './generated/raw.js';
import type { CheckOptions, CheckRequest, ErrorInfo } from './generated/types.js';
import type * as surface from './index.js';

/** The functions of the package that need a module. */
export type Api = Omit<typeof surface, 'OkstraError' | 'init'> & {
  /** Panics on purpose. For the tests of this package. @internal */
  __provokePanic(): never;
};

const encoder = new TextEncoder();

/**
 * The functions over a loader.
 *
 * @param ready makes sure that the module is instantiated, or throws. It is called before each
 *   call, so it has to be cheap once it has done its work.
 */
export function createApi(ready: () => void): Api {
  function call<T>(work: () => string): T {
    ready();
    let text: string;
    try {
      text = work();
    } catch (thrown) {
      throw translate(thrown);
    }
    const answer: { ok: T } | { failure: ErrorInfo } = JSON.parse(text);
    if ('failure' in answer) {
      throw new OkstraError(answer.failure);
    }
    return answer.ok;
  }
  return {
    parsePlan: (source) => call(() => raw.parsePlan(bytes(source))),
    checkPlan: (source, options) =>
      call(() => raw.checkPlan(bytes(source), ...checkArguments(options))),
    planGraph: (source) => call(() => raw.planGraph(bytes(source))),
    fixPlan: (source, options) =>
      call(() => raw.fixPlan(bytes(source), ...checkArguments(options))),
    approvePlan: (source) => call(() => raw.approvePlan(bytes(source))),
    renderCheck: (request, sources) =>
      call(() => raw.renderCheck(...joined(list(sources)), ...requestArguments(request))),
    renderGraph: (source, format) =>
      call(() => raw.renderGraph(bytes(source), text(format, 'format') ?? 'json')),
    planLayout: (plan, projectRoot) =>
      call(() => raw.planLayout(needed(plan, 'plan'), text(projectRoot, 'projectRoot'))),
    lockName: (ledger) => call(() => raw.lockName(needed(ledger, 'ledger'))),
    taskFolder: (okstraRoot, taskKey) =>
      call(() => raw.taskFolder(needed(okstraRoot, 'okstraRoot'), needed(taskKey, 'taskKey'))),
    planCandidates: (task) => call(() => raw.planCandidates(json(task))),
    stageNext: (plan, ledger, facts, request) =>
      call(() => raw.stageNext(bytes(plan), bytes(ledger), json(facts), json(request))),
    stageClaim: (plan, ledger, facts, request) =>
      call(() => raw.stageClaim(bytes(plan), bytes(ledger), json(facts), json(request))),
    stageDone: (plan, ledger, facts, request) =>
      call(() => raw.stageDone(bytes(plan), bytes(ledger), json(facts), json(request))),
    stageRelease: (plan, ledger, facts, request) =>
      call(() => raw.stageRelease(bytes(plan), bytes(ledger), json(facts), json(request))),
    stageVerify: (plan, ledger, facts, request) =>
      call(() => raw.stageVerify(bytes(plan), bytes(ledger), json(facts), json(request))),
    stagePr: (plan, ledger, facts, request) =>
      call(() => raw.stagePr(bytes(plan), bytes(ledger), json(facts), json(request))),
    stageList: (plan, ledger, facts) =>
      call(() => raw.stageList(bytes(plan), bytes(ledger), json(facts))),
    stageShow: (plan, ledger, facts, stage) =>
      call(() =>
        raw.stageShow(bytes(plan), bytes(ledger), json(facts), count(stage, 'stage') ?? 0),
      ),
    prepareRun: (plan, ledger, facts, request) =>
      call(() => raw.prepareRun(bytes(plan), bytes(ledger), json(facts), json(request))),
    worktreePlaces: (request) => call(() => raw.worktreePlaces(json(request))),
    stageBase: (request) => call(() => raw.stageBase(json(request))),
    registryBegin: (facts, request) => call(() => raw.registryBegin(json(facts), json(request))),
    registryActivate: (facts, request) =>
      call(() => raw.registryActivate(json(facts), json(request))),
    registryKeep: (facts, request) => call(() => raw.registryKeep(json(facts), json(request))),
    registryForget: (facts, request) => call(() => raw.registryForget(json(facts), json(request))),
    registryTaskWorktree: (facts, request) =>
      call(() => raw.registryTaskWorktree(json(facts), json(request))),
    registryBase: (facts, request) => call(() => raw.registryBase(json(facts), json(request))),
    reservedStages: (facts, request) => call(() => raw.reservedStages(json(facts), json(request))),
    repairWorktrees: (facts, request) =>
      call(() => raw.repairWorktrees(json(facts), json(request))),
    checkMerge: (request) => call(() => raw.checkMerge(json(request))),
    readRegistry: (facts) => call(() => raw.readRegistry(json(facts))),
    pruneWorktrees: (entries, request) =>
      call(() => raw.pruneWorktrees(json(entries), json(request))),
    removeWorktree: (entry, request) => call(() => raw.removeWorktree(json(entry), json(request))),
    stageForecast: (plan, ledger, facts, request) =>
      call(() => raw.stageForecast(bytes(plan), bytes(ledger), json(facts), json(request))),
    handOver: (plan, ledger, facts, request) =>
      call(() => raw.handOver(bytes(plan), bytes(ledger), json(facts), json(request))),
    assembleHandOver: (plan, ledger, facts, request) =>
      call(() => raw.assembleHandOver(bytes(plan), bytes(ledger), json(facts), json(request))),
    stageHistory: (plan, ledger, facts, request) =>
      call(() => raw.stageHistory(bytes(plan), bytes(ledger), json(facts), json(request))),
    planDiff: (old, plan, ledger, facts) =>
      call(() => raw.planDiff(bytes(old), bytes(plan), bytes(ledger), json(facts))),
    taskOutcome: (plan, ledger, facts, request) =>
      call(() => raw.taskOutcome(bytes(plan), bytes(ledger), json(facts), json(request))),
    createTask: (request) => call(() => raw.createTask(json(request))),
    reportPaths: (request) => call(() => raw.reportPaths(json(request))),
    reportPair: (path) => call(() => raw.reportPair(needed(path, 'path'))),
    showLedger: (ledger) => call(() => raw.showLedger(bytes(ledger))),
    checkLedger: (ledger) => call(() => raw.checkLedger(bytes(ledger))),
    repairLedger: (ledger) => call(() => raw.repairLedger(bytes(ledger))),
    rules: () => call(() => raw.rules()),
    version: () => call(() => raw.version()),
    __provokePanic: () => call(() => raw.provokePanic() as never),
  };
}

/** What loading threw, as the one error class. */
export function loadFailure(thrown: unknown, help: string): OkstraError {
  if (thrown instanceof OkstraError) {
    return thrown;
  }
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return notInitialised(`okstra.wasm cannot be loaded: ${reason}`, help, thrown);
}

function bytes(source: surface.Source): Uint8Array {
  if (typeof source === 'string') {
    return encoder.encode(source);
  }
  // Not `instanceof`: a buffer of another realm (a frame, a test runner) is as good.
  if (ArrayBuffer.isView(source) && Object.prototype.toString.call(source) === TYPE_TAG) {
    return source;
  }
  throw badOptions('a plan or ledger must be a string or a Uint8Array');
}

const TYPE_TAG = '[object Uint8Array]';

function list(sources: readonly surface.Source[]): Uint8Array[] {
  if (!Array.isArray(sources)) {
    throw badOptions('the plans must be an array');
  }
  return sources.map(bytes);
}

/** The options of a check as the module takes them: one argument a field, missing ones undefined. */
function checkArguments(options: unknown): Tail<typeof raw.checkPlan> {
  const given = fields<CheckOptions>(options, CHECK_OPTIONS);
  return [
    flag(given.strict, 'strict'),
    count(given.max_steps, 'max_steps'),
    flag(given.contract, 'contract'),
    flag(given.require_approval, 'require_approval'),
  ];
}

/** Plans one behind the other, and where each ends: one array to hand over instead of many. */
function joined(sources: Uint8Array[]): [Uint8Array, Uint32Array] {
  let end = 0;
  const ends = Uint32Array.from(sources, ({ length }) => (end += length));
  const [first] = sources;
  if (first !== undefined && sources.length === 1) {
    return [first, ends];
  }
  const all = new Uint8Array(end);
  for (const [at, source] of sources.entries()) {
    all.set(source, at === 0 ? 0 : ends[at - 1]);
  }
  return [all, ends];
}

function requestArguments(request: unknown): Behind2<typeof raw.renderCheck> {
  const given = fields<CheckRequest>(request, CHECK_REQUEST);
  const paths = given.paths ?? [];
  if (!(Array.isArray(paths) && paths.every((path) => typeof path === 'string'))) {
    throw badOptions('paths must be an array of strings');
  }
  return [
    // A path with a NUL names no file anywhere.
    paths.map((path) => `${path.replaceAll('\0', '')}\0`).join(''),
    text(given.format, 'format') ?? 'text',
    flag(given.color, 'color') ?? false,
    ...checkArguments(given.options),
  ];
}

type Tail<F extends (...all: never[]) => unknown> =
  Parameters<F> extends [unknown, ...infer T] ? T : never;

type Behind2<F extends (...all: never[]) => unknown> =
  Parameters<F> extends [unknown, unknown, ...infer T] ? T : never;

/** The fields there are; the compiler sees to it that none is missing here. */
const CHECK_OPTIONS: Record<keyof CheckOptions, true> = {
  strict: true,
  max_steps: true,
  contract: true,
  require_approval: true,
};

const CHECK_REQUEST: Record<keyof CheckRequest, true> = {
  options: true,
  format: true,
  color: true,
  paths: true,
};

/** An object with no other fields than these, so that a misspelt one never goes unnoticed. */
function fields<T>(value: unknown, known: Record<keyof T, true>): { [K in keyof T]?: unknown } {
  if (value === undefined || value === null) {
    return {};
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badOptions('options must be an object');
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known).join('`, `');
      throw badOptions(`unknown field \`${name}\`, expected one of \`${names}\``);
    }
  }
  return value;
}

function flag(value: unknown, name: string): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') {
    throw badOptions(`${name} must be true or false`);
  }
  return value;
}

function count(value: unknown, name: string): number | undefined {
  const whole = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 0xffffffff;
  if (value !== undefined && !whole) {
    throw badOptions(`${name} must be a whole number of at least 1`);
  }
  return value as number | undefined;
}

function text(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== 'string') {
    throw badOptions(`${name} must be a string`);
  }
  return value;
}

function needed(value: unknown, name: string): string {
  const given = text(value, name);
  if (given === undefined) {
    throw badOptions(`${name} must be a string`);
  }
  return given;
}

/** Facts and requests as the module takes them; it says which field is unknown or of a wrong type. */
function json(value: object): string {
  return JSON.stringify(value ?? {});
}

function badOptions(reason: string): OkstraError {
  const message = `bad options: ${reason}`;
  return new OkstraError({
    code: 'bad-options',
    message,
    help: null,
    exit_code: 2,
    details: { reason },
  });
}

/** What a call threw, as the one error class: an argument of ours, or a trap of the module. */
function translate(thrown: unknown): OkstraError {
  return thrown instanceof OkstraError ? thrown : recover(thrown);
}

/**
 * A trap: the core panicked, or ran out of stack or memory. The instance may be broken in any
 * way, so it is replaced by a fresh one of the same module.
 */
function recover(trap: unknown): OkstraError {
  let panic: { message: string; location: string | null } | undefined;
  try {
    const text = raw.takePanic();
    panic = text === '' ? undefined : JSON.parse(text);
  } catch {
    // The instance cannot even say what happened; the trap itself has to do.
  }
  try {
    raw.__wbg_reset_state();
  } catch (thrown) {
    // No memory is left even for a fresh instance.
    return loadFailure(thrown, 'free some memory and start again');
  }
  const what = panic?.message ?? (trap instanceof Error ? trap.message : String(trap));
  const location = panic?.location ?? null;
  const message = `okstra has a fault: ${what}${location === null ? '' : ` (at ${location})`}`;
  const help = 'this is not a fault of the plan: please report it, with the plan if you can';
  const info: ErrorInfo = {
    code: 'panic',
    message,
    help,
    exit_code: 5,
    details: location === null ? { panic: what } : { panic: what, location },
  };
  return new OkstraError(info, { cause: trap });
}
