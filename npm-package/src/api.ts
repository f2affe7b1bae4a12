import type { Arguments, Core, Name, NameWith } from './core.js';
import { notInitialised, OkstraError } from './error.js';
import type { CheckOptions, CheckRequest, ErrorInfo } from './generated/types.js';
import type * as surface from './index.js';
import { encoder } from './lowered.js';

/** The functions of the package that need a module. */
export type Api = Omit<typeof surface, 'OkstraError' | 'init'> & {
  /** Panics on purpose. For the tests of this package. @internal */
  __provokePanic(): never;
};

/**
 * The functions over a module.
 *
 * @param core what calls the functions of the module.
 */
export function createApi(core: Core): Api {
  function call<N extends Name, T>(name: N, args: () => Arguments<N>): T {
    core.ready(name);
    let text: string;
    try {
      text = core.call(name, args());
    } catch (thrown) {
      throw thrown instanceof OkstraError ? thrown : recover(core, thrown);
    }
    const answer: { ok: T } | { failure: ErrorInfo } = JSON.parse(text);
    if ('failure' in answer) {
      throw new OkstraError(answer.failure);
    }
    return answer.ok;
  }
  // Functions that take the same, in the order of what they take.
  const ofNothing =
    <T>(name: NameWith<[]>) =>
    (): T =>
      call(name, () => []);
  const ofBytes =
    <T>(name: NameWith<[Uint8Array]>) =>
    (source: surface.Source): T =>
      call(name, () => [bytes(source)]);
  const ofRequest =
    <T>(name: NameWith<[string]>) =>
    (request: object): T =>
      call(name, () => [json(request)]);
  const ofFacts =
    <T>(name: NameWith<[string, string]>) =>
    (facts: object, request: object): T =>
      call(name, () => [json(facts), json(request)]);
  const ofStages =
    <T>(name: NameWith<[Uint8Array, Uint8Array, string, string]>) =>
    (plan: surface.Source, ledger: surface.Source, facts: object, request: object): T =>
      call(name, () => [bytes(plan), bytes(ledger), json(facts), json(request)]);
  return {
    parsePlan: ofBytes('parsePlan'),
    checkPlan: (source, options) =>
      call('checkPlan', () => [bytes(source), ...checkArguments(options)]),
    planGraph: ofBytes('planGraph'),
    fixPlan: (source, options) =>
      call('fixPlan', () => [bytes(source), ...checkArguments(options)]),
    approvePlan: ofBytes('approvePlan'),
    renderCheck: (request, sources) =>
      call('renderCheck', () => [...joined(list(sources)), ...requestArguments(request)]),
    renderGraph: (source, format) =>
      call('renderGraph', () => [bytes(source), text(format, 'format') ?? 'json']),
    planLayout: (plan, projectRoot) =>
      call('planLayout', () => [needed(plan, 'plan'), text(projectRoot, 'projectRoot') ?? '']),
    lockName: (ledger) => call('lockName', () => [needed(ledger, 'ledger')]),
    taskFolder: (okstraRoot, taskKey) =>
      call('taskFolder', () => [needed(okstraRoot, 'okstraRoot'), needed(taskKey, 'taskKey')]),
    planCandidates: ofRequest('planCandidates'),
    stageNext: ofStages('stageNext'),
    stageClaim: ofStages('stageClaim'),
    stageDone: ofStages('stageDone'),
    stageRelease: ofStages('stageRelease'),
    stageVerify: ofStages('stageVerify'),
    stagePr: ofStages('stagePr'),
    stageList: (plan, ledger, facts) =>
      call('stageList', () => [bytes(plan), bytes(ledger), json(facts)]),
    stageShow: (plan, ledger, facts, stage) =>
      call('stageShow', () => [
        bytes(plan),
        bytes(ledger),
        json(facts),
        count(stage, 'stage') ?? 0,
      ]),
    previewPlan: ofRequest('previewPlan'),
    prepareRun: ofStages('prepareRun'),
    worktreePlaces: ofRequest('worktreePlaces'),
    stageBase: ofRequest('stageBase'),
    registryBegin: ofFacts('registryBegin'),
    registryActivate: ofFacts('registryActivate'),
    registryKeep: ofFacts('registryKeep'),
    registryForget: ofFacts('registryForget'),
    registryTaskWorktree: ofFacts('registryTaskWorktree'),
    registryBase: ofFacts('registryBase'),
    reservedStages: ofFacts('reservedStages'),
    repairWorktrees: ofFacts('repairWorktrees'),
    checkMerge: ofRequest('checkMerge'),
    readRegistry: ofRequest('readRegistry'),
    pruneWorktrees: ofFacts('pruneWorktrees'),
    removeWorktree: ofFacts('removeWorktree'),
    stageForecast: ofStages('stageForecast'),
    handOver: ofStages('handOver'),
    assembleHandOver: ofStages('assembleHandOver'),
    stageHistory: ofStages('stageHistory'),
    planDiff: (old, plan, ledger, facts) =>
      call('planDiff', () => [bytes(old), bytes(plan), bytes(ledger), json(facts)]),
    taskOutcome: ofStages('taskOutcome'),
    createTask: ofRequest('createTask'),
    reportPaths: ofRequest('reportPaths'),
    reportPair: (path) => call('reportPair', () => [needed(path, 'path')]),
    hookEvent: (event, plan, ledger, facts, request) =>
      call('hookEvent', () => [
        bytes(event),
        bytes(plan),
        bytes(ledger),
        json(facts),
        json(request),
      ]),
    readInstalled: ofRequest('readInstalled'),
    planInstall: ofFacts('planInstall'),
    planUninstall: ofFacts('planUninstall'),
    diagnose: ofRequest('diagnose'),
    containerPlace: ofRequest('containerPlace'),
    containerEngine: ofRequest('containerEngine'),
    containerUp: ofFacts('containerUp'),
    containerDown: ofFacts('containerDown'),
    containerShow: ofFacts('containerShow'),
    listPanes: ofRequest('listPanes'),
    reapPanes: ofRequest('reapPanes'),
    paneTags: ofRequest('paneTags'),
    reconcileTeam: ofRequest('reconcileTeam'),
    wrapUp: ofFacts('wrapUp'),
    reportProgress: ofRequest('reportProgress'),
    dispatchHeaders: (source, name) =>
      call('dispatchHeaders', () => [bytes(source), needed(name, 'name')]),
    planDispatch: (source, request) => call('planDispatch', () => [bytes(source), json(request)]),
    judgeDispatch: ofRequest('judgeDispatch'),
    readUsage: ofBytes('readUsage'),
    tokenReport: ofRequest('tokenReport'),
    askWizard: ofFacts('askWizard'),
    showLedger: ofBytes('showLedger'),
    checkLedger: ofBytes('checkLedger'),
    repairLedger: ofBytes('repairLedger'),
    rules: ofNothing('rules'),
    version: ofNothing('version'),
    __provokePanic: () => call('provokePanic', () => []),
  };
}

/** What loading threw, as the one error class. */
export function loadFailure(thrown: unknown, help: string, file = 'okstra.wasm'): OkstraError {
  if (thrown instanceof OkstraError) {
    return thrown;
  }
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return notInitialised(`${file} cannot be loaded: ${reason}`, help, thrown);
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

/** The options of a check as the module takes them: a number a field. */
function checkArguments(options: unknown): Tail<Arguments<'checkPlan'>> {
  const given = fields<CheckOptions>(options, CHECK_OPTIONS);
  return [
    flag(given.strict, 'strict'),
    // No plan is held to 0 steps: the number says that there is none.
    count(given.max_steps, 'max_steps') ?? 0,
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

function requestArguments(request: unknown): Behind2<Arguments<'renderCheck'>> {
  const given = fields<CheckRequest>(request, CHECK_REQUEST);
  const paths = given.paths ?? [];
  if (!(Array.isArray(paths) && paths.every((path) => typeof path === 'string'))) {
    throw badOptions('paths must be an array of strings');
  }
  return [
    // A path with a NUL names no file anywhere.
    paths.map((path) => `${path.replaceAll('\0', '')}\0`).join(''),
    text(given.format, 'format') ?? 'text',
    flag(given.color, 'color'),
    ...checkArguments(given.options),
  ];
}

type Tail<A extends readonly unknown[]> = A extends readonly [unknown, ...infer T] ? T : never;

type Behind2<A extends readonly unknown[]> = Tail<Tail<A>>;

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

/** A flag as the module takes it; one that is not given is neither 1 nor 0. */
function flag(value: unknown, name: string): number {
  if (value !== undefined && typeof value !== 'boolean') {
    throw badOptions(`${name} must be true or false`);
  }
  return value === undefined ? NOT_GIVEN : Number(value);
}

const NOT_GIVEN = 2;

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

/**
 * A trap: the core panicked, or ran out of stack or memory. The instance may be broken in any
 * way, so it is replaced by a fresh one of the same module.
 */
function recover(core: Core, trap: unknown): OkstraError {
  let panic: { message: string; location: string | null } | undefined;
  try {
    const text = core.takePanic();
    panic = text === '' ? undefined : JSON.parse(text);
  } catch {
    // The instance cannot even say what happened; the trap itself has to do.
  }
  try {
    core.renew();
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
