/* tslint:disable */
/* eslint-disable */

export function __wbg_reset_state(): void;

/**
 * Ticks the approval line.
 */
export function approvePlan(source: Uint8Array | number[]): number;

/**
 * The next question of the wizard.
 */
export function askWizard(facts: string, request: string): number;

/**
 * What to merge into the collector branch.
 */
export function assembleHandOver(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * What is wrong with a ledger.
 */
export function checkLedger(source: Uint8Array | number[]): number;

/**
 * Refuses a stage whose dependencies cannot be merged.
 */
export function checkMerge(request: string): number;

/**
 * Checks a plan against every rule.
 */
export function checkPlan(source: Uint8Array | number[], strict: number, max_steps: number, contract: number, require_approval: number): number;

/**
 * What stops the containers of a task.
 */
export function containerDown(facts: string, request: string): number;

/**
 * The engine to use, or the one to ask for next.
 */
export function containerEngine(request: string): number;

/**
 * Where the containers of a task are known.
 */
export function containerPlace(facts: string): number;

/**
 * What is up of a task.
 */
export function containerShow(facts: string, request: string): number;

/**
 * What starts the containers of a task.
 */
export function containerUp(facts: string, request: string): number;

/**
 * Makes a task.
 */
export function createTask(request: string): number;

/**
 * What is wrong with okstra on this machine.
 */
export function diagnose(facts: string): number;

/**
 * What a prompt says of itself.
 */
export function dispatchHeaders(source: Uint8Array | number[], name: string): number;

/**
 * Applies every repair the findings carry.
 */
export function fixPlan(source: Uint8Array | number[], strict: number, max_steps: number, contract: number, require_approval: number): number;

/**
 * Which stages can be handed over, and why others cannot.
 */
export function handOver(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * What a hook answers to an event of a session.
 */
export function hookEvent(event: Uint8Array | number[], plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * What has become of a dispatch.
 */
export function judgeDispatch(event: string): number;

/**
 * The panes of a run that are left.
 */
export function listPanes(facts: string): number;

/**
 * The name of a ledger's lock.
 */
export function lockName(ledger: string): number;

/**
 * The options that tag a pane.
 */
export function paneTags(request: string): number;

/**
 * Reads a plan without judging it.
 */
export function parsePlan(source: Uint8Array | number[]): number;

/**
 * Where the plan of a task may lie.
 */
export function planCandidates(task: string): number;

/**
 * Compares two plans by stage.
 */
export function planDiff(old: Uint8Array | number[], _new: Uint8Array | number[], ledger: Uint8Array | number[], facts: string): number;

/**
 * How a prompt is worked on.
 */
export function planDispatch(source: Uint8Array | number[], request: string): number;

/**
 * The graph of a plan.
 */
export function planGraph(source: Uint8Array | number[]): number;

/**
 * What to write so that okstra is installed.
 */
export function planInstall(facts: string, request: string): number;

/**
 * Where the things around a plan lie. An empty `project_root` says that none is known.
 */
export function planLayout(plan: string, project_root: string): number;

/**
 * What to take away again.
 */
export function planUninstall(facts: string, request: string): number;

/**
 * Prepares a run.
 */
export function prepareRun(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * Everything a preview shows.
 */
export function previewPlan(facts: string): number;

/**
 * Panics on purpose, so that tests of the package can see what a caller gets.
 *
 * # Panics
 *
 * Always.
 */
export function provokePanic(): void;

/**
 * Which worktrees may be removed.
 */
export function pruneWorktrees(entries: string, request: string): number;

/**
 * What is installed.
 */
export function readInstalled(facts: string): number;

/**
 * The registry of worktrees.
 */
export function readRegistry(facts: string): number;

/**
 * What lines of a session file say of usage.
 */
export function readUsage(lines: Uint8Array | number[]): number;

/**
 * The trace panes of a session.
 */
export function reapPanes(facts: string): number;

/**
 * Marks the members of a team whose panes are gone.
 */
export function reconcileTeam(facts: string): number;

/**
 * Notes that a worktree is made and a claim works in it.
 */
export function registryActivate(facts: string, request: string): number;

/**
 * Fixes the commit that a task starts from, once.
 */
export function registryBase(facts: string, request: string): number;

/**
 * Writes a worktree down before it is made.
 */
export function registryBegin(facts: string, request: string): number;

/**
 * Takes a worktree out of the registry.
 */
export function registryForget(facts: string, request: string): number;

/**
 * Notes that nobody works in a worktree any more.
 */
export function registryKeep(facts: string, request: string): number;

/**
 * Writes the worktree of a task down.
 */
export function registryTaskWorktree(facts: string, request: string): number;

/**
 * Whether one worktree may be removed.
 */
export function removeWorktree(entry: string, request: string): number;

/**
 * Checks plans and writes what was found, as text.
 *
 * `sources` holds the plans one behind the other, `ends` where each ends, and `paths` their
 * names with a NUL behind each.
 */
export function renderCheck(sources: Uint8Array | number[], ends: Uint32Array | number[], paths: string, format: string, color: number, strict: number, max_steps: number, contract: number, require_approval: number): number;

/**
 * Writes the graph of a plan, as text.
 */
export function renderGraph(source: Uint8Array | number[], format: string): number;

/**
 * A ledger without its bad lines.
 */
export function repairLedger(source: Uint8Array | number[]): number;

/**
 * Where registry, git, disk and ledgers disagree, and what mends it.
 */
export function repairWorktrees(facts: string, request: string): number;

/**
 * The two files of a report, by the path of either.
 */
export function reportPair(path: string): number;

/**
 * Where the reports of a phase lie.
 */
export function reportPaths(request: string): number;

/**
 * A progress line and its row.
 */
export function reportProgress(request: string): number;

/**
 * The stages that somebody is about to build.
 */
export function reservedStages(facts: string, request: string): number;

/**
 * The table of rules.
 */
export function rules(): number;

/**
 * The rows of a ledger.
 */
export function showLedger(source: Uint8Array | number[]): number;

/**
 * The commit a stage starts from, or the merge to make in its worktree.
 */
export function stageBase(request: string): number;

/**
 * Claims a stage.
 */
export function stageClaim(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * Finishes a stage.
 */
export function stageDone(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * Which stages will conflict.
 */
export function stageForecast(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * What became of the commits of done stages whose history was rewritten.
 */
export function stageHistory(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * The stages with their states.
 */
export function stageList(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string): number;

/**
 * Which stage would be given now.
 */
export function stageNext(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * Makes the text of a pull request, and records it.
 */
export function stagePr(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * Gives a stage back.
 */
export function stageRelease(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * One stage in full.
 */
export function stageShow(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, number: number): number;

/**
 * Records the verification of a stage.
 */
export function stageVerify(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * Runs once for each instance, before any call.
 */
export function start(): void;

/**
 * The last panic as the JSON text of `{ message, location }`, once; empty where none happened.
 */
export function takePanic(): number;

/**
 * The folder of a task.
 */
export function taskFolder(okstra_root: string, task_key: string): number;

/**
 * Whether an implementation is complete.
 */
export function taskOutcome(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): number;

/**
 * The tokens of a run and what they cost.
 */
export function tokenReport(request: string): number;

/**
 * The version of the core.
 */
export function version(): number;

/**
 * Where the worktree of a stage lies, and what its branch is called.
 */
export function worktreePlaces(request: string): number;

/**
 * What is left of a run, and what to do about it.
 */
export function wrapUp(facts: string, request: string): number;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly approvePlan: (a: number, b: number) => number;
    readonly askWizard: (a: number, b: number, c: number, d: number) => number;
    readonly assembleHandOver: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly checkLedger: (a: number, b: number) => number;
    readonly checkMerge: (a: number, b: number) => number;
    readonly checkPlan: (a: number, b: number, c: number, d: number, e: number, f: number) => number;
    readonly containerDown: (a: number, b: number, c: number, d: number) => number;
    readonly containerEngine: (a: number, b: number) => number;
    readonly containerPlace: (a: number, b: number) => number;
    readonly containerShow: (a: number, b: number, c: number, d: number) => number;
    readonly containerUp: (a: number, b: number, c: number, d: number) => number;
    readonly createTask: (a: number, b: number) => number;
    readonly diagnose: (a: number, b: number) => number;
    readonly dispatchHeaders: (a: number, b: number, c: number, d: number) => number;
    readonly fixPlan: (a: number, b: number, c: number, d: number, e: number, f: number) => number;
    readonly handOver: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly hookEvent: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number) => number;
    readonly judgeDispatch: (a: number, b: number) => number;
    readonly listPanes: (a: number, b: number) => number;
    readonly lockName: (a: number, b: number) => number;
    readonly paneTags: (a: number, b: number) => number;
    readonly parsePlan: (a: number, b: number) => number;
    readonly planCandidates: (a: number, b: number) => number;
    readonly planDiff: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly planDispatch: (a: number, b: number, c: number, d: number) => number;
    readonly planGraph: (a: number, b: number) => number;
    readonly planInstall: (a: number, b: number, c: number, d: number) => number;
    readonly planLayout: (a: number, b: number, c: number, d: number) => number;
    readonly planUninstall: (a: number, b: number, c: number, d: number) => number;
    readonly prepareRun: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly previewPlan: (a: number, b: number) => number;
    readonly provokePanic: () => void;
    readonly pruneWorktrees: (a: number, b: number, c: number, d: number) => number;
    readonly readInstalled: (a: number, b: number) => number;
    readonly readRegistry: (a: number, b: number) => number;
    readonly readUsage: (a: number, b: number) => number;
    readonly reapPanes: (a: number, b: number) => number;
    readonly reconcileTeam: (a: number, b: number) => number;
    readonly registryActivate: (a: number, b: number, c: number, d: number) => number;
    readonly registryBase: (a: number, b: number, c: number, d: number) => number;
    readonly registryBegin: (a: number, b: number, c: number, d: number) => number;
    readonly registryForget: (a: number, b: number, c: number, d: number) => number;
    readonly registryKeep: (a: number, b: number, c: number, d: number) => number;
    readonly registryTaskWorktree: (a: number, b: number, c: number, d: number) => number;
    readonly removeWorktree: (a: number, b: number, c: number, d: number) => number;
    readonly renderCheck: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number) => number;
    readonly renderGraph: (a: number, b: number, c: number, d: number) => number;
    readonly repairLedger: (a: number, b: number) => number;
    readonly repairWorktrees: (a: number, b: number, c: number, d: number) => number;
    readonly reportPair: (a: number, b: number) => number;
    readonly reportPaths: (a: number, b: number) => number;
    readonly reportProgress: (a: number, b: number) => number;
    readonly reservedStages: (a: number, b: number, c: number, d: number) => number;
    readonly rules: () => number;
    readonly showLedger: (a: number, b: number) => number;
    readonly stageBase: (a: number, b: number) => number;
    readonly stageClaim: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stageDone: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stageForecast: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stageHistory: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stageList: (a: number, b: number, c: number, d: number, e: number, f: number) => number;
    readonly stageNext: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stagePr: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stageRelease: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly stageShow: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => number;
    readonly stageVerify: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly start: () => void;
    readonly takePanic: () => number;
    readonly taskFolder: (a: number, b: number, c: number, d: number) => number;
    readonly taskOutcome: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => number;
    readonly tokenReport: (a: number, b: number) => number;
    readonly version: () => number;
    readonly worktreePlaces: (a: number, b: number) => number;
    readonly wrapUp: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;

/** The memory of the instance that all functions here use. */
export function memory(): WebAssembly.Memory;
