/* tslint:disable */
/* eslint-disable */

export function __wbg_reset_state(): void;

/**
 * Ticks the approval line.
 */
export function approvePlan(source: Uint8Array | number[]): any;

/**
 * The next question of the wizard.
 */
export function askWizard(facts: string, request: string): any;

/**
 * What to merge into the collector branch.
 */
export function assembleHandOver(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * What is wrong with a ledger.
 */
export function checkLedger(source: Uint8Array | number[]): any;

/**
 * Refuses a stage whose dependencies cannot be merged.
 */
export function checkMerge(request: string): any;

/**
 * Checks a plan against every rule.
 */
export function checkPlan(source: Uint8Array | number[], strict: number, max_steps: number, contract: number, require_approval: number): any;

/**
 * What stops the containers of a task.
 */
export function containerDown(facts: string, request: string): any;

/**
 * The engine to use, or the one to ask for next.
 */
export function containerEngine(request: string): any;

/**
 * Where the containers of a task are known.
 */
export function containerPlace(facts: string): any;

/**
 * What is up of a task.
 */
export function containerShow(facts: string, request: string): any;

/**
 * What starts the containers of a task.
 */
export function containerUp(facts: string, request: string): any;

/**
 * Makes a task.
 */
export function createTask(request: string): any;

/**
 * What is wrong with okstra on this machine.
 */
export function diagnose(facts: string): any;

/**
 * What a prompt says of itself.
 */
export function dispatchHeaders(source: Uint8Array | number[], name: string): any;

/**
 * Applies every repair the findings carry.
 */
export function fixPlan(source: Uint8Array | number[], strict: number, max_steps: number, contract: number, require_approval: number): any;

/**
 * Which stages can be handed over, and why others cannot.
 */
export function handOver(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * What a hook answers to an event of a session.
 */
export function hookEvent(event: Uint8Array | number[], plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * What has become of a dispatch.
 */
export function judgeDispatch(event: string): any;

/**
 * The panes of a run that are left.
 */
export function listPanes(facts: string): any;

/**
 * The name of a ledger's lock.
 */
export function lockName(ledger: string): any;

/**
 * The options that tag a pane.
 */
export function paneTags(request: string): any;

/**
 * Reads a plan without judging it.
 */
export function parsePlan(source: Uint8Array | number[]): any;

/**
 * Where the plan of a task may lie.
 */
export function planCandidates(task: string): any;

/**
 * Compares two plans by stage.
 */
export function planDiff(old: Uint8Array | number[], _new: Uint8Array | number[], ledger: Uint8Array | number[], facts: string): any;

/**
 * How a prompt is worked on.
 */
export function planDispatch(source: Uint8Array | number[], request: string): any;

/**
 * The graph of a plan.
 */
export function planGraph(source: Uint8Array | number[]): any;

/**
 * What to write so that okstra is installed.
 */
export function planInstall(facts: string, request: string): any;

/**
 * Where the things around a plan lie. An empty `project_root` says that none is known.
 */
export function planLayout(plan: string, project_root: string): any;

/**
 * What to take away again.
 */
export function planUninstall(facts: string, request: string): any;

/**
 * Prepares a run.
 */
export function prepareRun(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * Everything a preview shows.
 */
export function previewPlan(facts: string): any;

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
export function pruneWorktrees(entries: string, request: string): any;

/**
 * What is installed.
 */
export function readInstalled(facts: string): any;

/**
 * The registry of worktrees.
 */
export function readRegistry(facts: string): any;

/**
 * What lines of a session file say of usage.
 */
export function readUsage(lines: Uint8Array | number[]): any;

/**
 * The trace panes of a session.
 */
export function reapPanes(facts: string): any;

/**
 * Marks the members of a team whose panes are gone.
 */
export function reconcileTeam(facts: string): any;

/**
 * Notes that a worktree is made and a claim works in it.
 */
export function registryActivate(facts: string, request: string): any;

/**
 * Fixes the commit that a task starts from, once.
 */
export function registryBase(facts: string, request: string): any;

/**
 * Writes a worktree down before it is made.
 */
export function registryBegin(facts: string, request: string): any;

/**
 * Takes a worktree out of the registry.
 */
export function registryForget(facts: string, request: string): any;

/**
 * Notes that nobody works in a worktree any more.
 */
export function registryKeep(facts: string, request: string): any;

/**
 * Writes the worktree of a task down.
 */
export function registryTaskWorktree(facts: string, request: string): any;

/**
 * Whether one worktree may be removed.
 */
export function removeWorktree(entry: string, request: string): any;

/**
 * Checks plans and writes what was found, as text.
 *
 * `sources` holds the plans one behind the other, `ends` where each ends, and `paths` their
 * names with a NUL behind each.
 */
export function renderCheck(sources: Uint8Array | number[], ends: Uint32Array | number[], paths: string, format: string, color: number, strict: number, max_steps: number, contract: number, require_approval: number): any;

/**
 * Writes the graph of a plan, as text.
 */
export function renderGraph(source: Uint8Array | number[], format: string): any;

/**
 * A ledger without its bad lines.
 */
export function repairLedger(source: Uint8Array | number[]): any;

/**
 * Where registry, git, disk and ledgers disagree, and what mends it.
 */
export function repairWorktrees(facts: string, request: string): any;

/**
 * The two files of a report, by the path of either.
 */
export function reportPair(path: string): any;

/**
 * Where the reports of a phase lie.
 */
export function reportPaths(request: string): any;

/**
 * A progress line and its row.
 */
export function reportProgress(request: string): any;

/**
 * The stages that somebody is about to build.
 */
export function reservedStages(facts: string, request: string): any;

/**
 * The table of rules.
 */
export function rules(): any;

/**
 * The rows of a ledger.
 */
export function showLedger(source: Uint8Array | number[]): any;

/**
 * The commit a stage starts from, or the merge to make in its worktree.
 */
export function stageBase(request: string): any;

/**
 * Claims a stage.
 */
export function stageClaim(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * Finishes a stage.
 */
export function stageDone(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * Which stages will conflict.
 */
export function stageForecast(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * What became of the commits of done stages whose history was rewritten.
 */
export function stageHistory(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * The stages with their states.
 */
export function stageList(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string): any;

/**
 * Which stage would be given now.
 */
export function stageNext(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * Makes the text of a pull request, and records it.
 */
export function stagePr(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * Gives a stage back.
 */
export function stageRelease(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * One stage in full.
 */
export function stageShow(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, number: number): any;

/**
 * Records the verification of a stage.
 */
export function stageVerify(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * Runs once for each instance, before any call.
 */
export function start(): void;

/**
 * The last panic as the JSON text of `{ message, location }`, once; empty where none happened.
 */
export function takePanic(): any;

/**
 * The folder of a task.
 */
export function taskFolder(okstra_root: string, task_key: string): any;

/**
 * Whether an implementation is complete.
 */
export function taskOutcome(plan: Uint8Array | number[], ledger: Uint8Array | number[], facts: string, request: string): any;

/**
 * The tokens of a run and what they cost.
 */
export function tokenReport(request: string): any;

/**
 * The version of the core.
 */
export function version(): any;

/**
 * Where the worktree of a stage lies, and what its branch is called.
 */
export function worktreePlaces(request: string): any;

/**
 * What is left of a run, and what to do about it.
 */
export function wrapUp(facts: string, request: string): any;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly approvePlan: (a: number, b: number) => any;
    readonly askWizard: (a: number, b: number, c: number, d: number) => any;
    readonly assembleHandOver: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly checkLedger: (a: number, b: number) => any;
    readonly checkMerge: (a: number, b: number) => any;
    readonly checkPlan: (a: number, b: number, c: number, d: number, e: number, f: number) => any;
    readonly containerDown: (a: number, b: number, c: number, d: number) => any;
    readonly containerEngine: (a: number, b: number) => any;
    readonly containerPlace: (a: number, b: number) => any;
    readonly containerShow: (a: number, b: number, c: number, d: number) => any;
    readonly containerUp: (a: number, b: number, c: number, d: number) => any;
    readonly createTask: (a: number, b: number) => any;
    readonly diagnose: (a: number, b: number) => any;
    readonly dispatchHeaders: (a: number, b: number, c: number, d: number) => any;
    readonly fixPlan: (a: number, b: number, c: number, d: number, e: number, f: number) => any;
    readonly handOver: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly hookEvent: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number) => any;
    readonly judgeDispatch: (a: number, b: number) => any;
    readonly listPanes: (a: number, b: number) => any;
    readonly lockName: (a: number, b: number) => any;
    readonly paneTags: (a: number, b: number) => any;
    readonly parsePlan: (a: number, b: number) => any;
    readonly planCandidates: (a: number, b: number) => any;
    readonly planDiff: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly planDispatch: (a: number, b: number, c: number, d: number) => any;
    readonly planGraph: (a: number, b: number) => any;
    readonly planInstall: (a: number, b: number, c: number, d: number) => any;
    readonly planLayout: (a: number, b: number, c: number, d: number) => any;
    readonly planUninstall: (a: number, b: number, c: number, d: number) => any;
    readonly prepareRun: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly previewPlan: (a: number, b: number) => any;
    readonly provokePanic: () => void;
    readonly pruneWorktrees: (a: number, b: number, c: number, d: number) => any;
    readonly readInstalled: (a: number, b: number) => any;
    readonly readRegistry: (a: number, b: number) => any;
    readonly readUsage: (a: number, b: number) => any;
    readonly reapPanes: (a: number, b: number) => any;
    readonly reconcileTeam: (a: number, b: number) => any;
    readonly registryActivate: (a: number, b: number, c: number, d: number) => any;
    readonly registryBase: (a: number, b: number, c: number, d: number) => any;
    readonly registryBegin: (a: number, b: number, c: number, d: number) => any;
    readonly registryForget: (a: number, b: number, c: number, d: number) => any;
    readonly registryKeep: (a: number, b: number, c: number, d: number) => any;
    readonly registryTaskWorktree: (a: number, b: number, c: number, d: number) => any;
    readonly removeWorktree: (a: number, b: number, c: number, d: number) => any;
    readonly renderCheck: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number) => any;
    readonly renderGraph: (a: number, b: number, c: number, d: number) => any;
    readonly repairLedger: (a: number, b: number) => any;
    readonly repairWorktrees: (a: number, b: number, c: number, d: number) => any;
    readonly reportPair: (a: number, b: number) => any;
    readonly reportPaths: (a: number, b: number) => any;
    readonly reportProgress: (a: number, b: number) => any;
    readonly reservedStages: (a: number, b: number, c: number, d: number) => any;
    readonly rules: () => any;
    readonly showLedger: (a: number, b: number) => any;
    readonly stageBase: (a: number, b: number) => any;
    readonly stageClaim: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stageDone: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stageForecast: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stageHistory: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stageList: (a: number, b: number, c: number, d: number, e: number, f: number) => any;
    readonly stageNext: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stagePr: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stageRelease: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly stageShow: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => any;
    readonly stageVerify: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly start: () => void;
    readonly takePanic: () => any;
    readonly taskFolder: (a: number, b: number, c: number, d: number) => any;
    readonly taskOutcome: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => any;
    readonly tokenReport: (a: number, b: number) => any;
    readonly version: () => any;
    readonly worktreePlaces: (a: number, b: number) => any;
    readonly wrapUp: (a: number, b: number, c: number, d: number) => any;
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

/** Makes an instance of a module or a part of it, which all functions here use from now on. */
export function useModule(module: WebAssembly.Module): InitOutput;
