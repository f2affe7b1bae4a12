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
  AssembleAnswer,
  BaseAnswer,
  BaseFixRequest,
  BaseRequest,
  BeginRequest,
  CheckOptions,
  CheckReport,
  CheckRequest,
  ClaimAnswer,
  ClaimRequest,
  CommandOutput,
  ContainerFacts,
  ContainerPlace,
  ContainerView,
  CreateAnswer,
  CreateRequest,
  Decision,
  DiffAnswer,
  DispatchAnswer,
  DispatchEvent,
  DispatchHeaders,
  DispatchLaunch,
  DispatchRequest,
  DoctorFacts,
  DoctorReport,
  DoneAnswer,
  DoneRequest,
  DownAnswer,
  DownRequest,
  EngineAnswer,
  EngineRequest,
  EntryRequest,
  Facts,
  FixResult,
  Forecast,
  ForecastRequest,
  Graph,
  GraphFormat,
  HandoffAnswer,
  HandoffRequest,
  HistoryAnswer,
  HistoryRequest,
  HookAnswer,
  HookRequest,
  InstallAnswer,
  Installed,
  InstallFacts,
  InstallRequest,
  LeadFacts,
  LedgerRepair,
  LedgerReport,
  LedgerView,
  MergeCheck,
  NextAnswer,
  NextRequest,
  OutcomeAnswer,
  OutcomeRequest,
  PanesAnswer,
  PaneTags,
  Places,
  PlacesRequest,
  Plan,
  PlanLayout,
  Preview,
  PreviewFacts,
  ProgressAnswer,
  ProgressRequest,
  PrRequest,
  PruneEntry,
  PruneLine,
  PrunePlan,
  PruneRequest,
  Recorded,
  RecordFacts,
  Registry,
  RegistryAnswer,
  RegistryFacts,
  ReleaseRequest,
  RepairFacts,
  RepairReport,
  RepairRequest,
  ReportAnswer,
  ReportPair,
  ReportRequest,
  Reserved,
  ReservedRequest,
  Rule,
  RunAnswer,
  RunInputs,
  RunRequest,
  ShowAnswer,
  ShowRequest,
  StageList,
  TagRequest,
  TaskFacts,
  TaskWorktreeRequest,
  TeamAnswer,
  TokenReport,
  TokenRequest,
  UninstallFacts,
  UninstallRequest,
  UpAnswer,
  UpRequest,
  UsageBatch,
  VerifyRequest,
  WizardAnswer,
  WizardFacts,
  WizardRequest,
  WrapUpAnswer,
  WrapUpRequest,
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

/** What to prepare; what is missing has its default. */
export type RunRequestInput = Partial<Omit<RunRequest, 'claim' | 'inputs'>> & {
  /** What to claim. */
  claim: Partial<ClaimRequest>;
  /** What the person decided about the run. */
  inputs?: Partial<RunInputs>;
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

/** Facts about the world outside; what is missing has its default. */
export type FactsInput = Partial<Facts> & Pick<Facts, 'plan' | 'now'>;

/**
 * Where the things around a plan lie: its ledger, its evidence, its task, the name of its lock.
 *
 * @param plan the real absolute path of the plan, with `/`.
 * @param projectRoot the real absolute path of the project's folder, where it is known.
 */
export declare function planLayout(plan: string, projectRoot?: string): PlanLayout;

/** The name of the lock of a ledger, by its real absolute path. */
export declare function lockName(ledger: string): string;

/**
 * The folder of a task in a folder of okstra. No key can lead out of it.
 *
 * @throws {OkstraError} `bad-options` for a key that is not `project:group:id`.
 */
export declare function taskFolder(okstraRoot: string, taskKey: string): string;

/** The absolute paths at which the plan of a task may lie, best first. */
export declare function planCandidates(task: TaskFacts): string[];

/**
 * Which stage a claim would give now. Nothing is reserved.
 *
 * This and the next functions take the plan, its ledger as it is (empty where there is none) and
 * the facts a host has gathered, and answer with a decision: facts that are needed first, or the
 * effects to carry out in order and the answer. A refusal is thrown and has no effects. Whoever
 * carries effects out holds the ledger's lock from reading it until the last effect is done.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageNext(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<NextRequest>,
): Decision<NextAnswer>;

/**
 * Claims a stage: the one the caller's session holds already, or the one that is chosen.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageClaim(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<ClaimRequest>,
): Decision<ClaimAnswer>;

/**
 * Finishes a stage: checks its evidence, writes it and appends the row.
 *
 * @throws {OkstraError} `contract-violated` for evidence that is missing or wrong; else with the
 *   reason of the refusal as its `code`.
 */
export declare function stageDone(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<DoneRequest>,
): Decision<DoneAnswer>;

/**
 * Gives a claimed stage back.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageRelease(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<ReleaseRequest>,
): Decision<Recorded>;

/**
 * Records the verification of a done stage.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageVerify(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<VerifyRequest>,
): Decision<Recorded>;

/**
 * Makes the text of the pull request of done stages and, where its address or number is given,
 * records it.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stagePr(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<PrRequest>,
): Decision<Recorded>;

/**
 * The stages of a plan with their states, as far as the plan can be read.
 *
 * @throws {OkstraError} `plan-invalid` for a plan without a Stage Map.
 */
export declare function stageList(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
): Decision<StageList>;

/**
 * One stage in full.
 *
 * @throws {OkstraError} `not-in-map` where there is no such stage.
 */
export declare function stageShow(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  stage: number,
): Decision<ShowAnswer>;

/**
 * Everything a preview shows of a plan, its ledger and its evidence. Nothing is asked for and
 * nothing is written.
 */
export declare function previewPlan(facts: Partial<PreviewFacts>): Preview;

/**
 * Prepares a run: checks the plan, claims the stage, renders the task bundle and updates the
 * records of the task. The plan is empty for a phase that has none.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function prepareRun(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: RunRequestInput,
): Decision<RunAnswer>;

/**
 * Where the worktree of a stage lies, and what its branch is called.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function worktreePlaces(request: Partial<PlacesRequest>): Places;

/**
 * The commit a stage starts from, or the merge to make in its worktree.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageBase(request: Partial<BaseRequest>): BaseAnswer;

/**
 * Writes a worktree down before it is made.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function registryBegin(
  facts: Partial<RegistryFacts>,
  request: Partial<BeginRequest>,
): Decision<RegistryAnswer>;

/**
 * Notes that a worktree is made and a claim works in it.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function registryActivate(
  facts: Partial<RegistryFacts>,
  request: Partial<EntryRequest>,
): Decision<RegistryAnswer>;

/**
 * Notes that nobody works in a worktree any more.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function registryKeep(
  facts: Partial<RegistryFacts>,
  request: Partial<EntryRequest>,
): Decision<RegistryAnswer>;

/**
 * Takes a worktree out of the registry.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function registryForget(
  facts: Partial<RegistryFacts>,
  request: Partial<EntryRequest>,
): Decision<RegistryAnswer>;

/**
 * Writes the worktree of a task down.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function registryTaskWorktree(
  facts: Partial<RegistryFacts>,
  request: Partial<TaskWorktreeRequest>,
): Decision<RegistryAnswer>;

/**
 * Fixes the commit that a task starts from, once.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function registryBase(
  facts: Partial<RegistryFacts>,
  request: Partial<BaseFixRequest>,
): Decision<RegistryAnswer>;

/**
 * The stages that somebody is about to build.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function reservedStages(
  facts: Partial<RegistryFacts>,
  request: Partial<ReservedRequest>,
): Decision<Reserved>;

/**
 * Where registry, git, disk and ledgers disagree, and what mends it.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function repairWorktrees(
  facts: Partial<RepairFacts>,
  request: Partial<RepairRequest>,
): Decision<RepairReport>;

/**
 * Refuses a stage whose dependencies cannot be merged without conflicts.
 *
 * @throws {OkstraError} `merge-conflict` with the files and the two stages.
 */
export declare function checkMerge(request: MergeCheck): void;

/**
 * The registry of worktrees, as far as it can be read.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function readRegistry(facts: Partial<RegistryFacts>): Registry;

/**
 * Which worktrees may be removed, and what would be lost with the others.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function pruneWorktrees(
  entries: readonly Partial<PruneEntry>[],
  request: Partial<PruneRequest>,
): PrunePlan;

/**
 * Whether one worktree may be removed.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function removeWorktree(
  entry: Partial<PruneEntry>,
  request: Partial<PruneRequest>,
): PruneLine;

/**
 * Which stages will conflict when they are merged.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageForecast(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<ForecastRequest>,
): Decision<Forecast>;

/**
 * Which stages can be handed over, and why others cannot.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function handOver(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<HandoffRequest>,
): Decision<HandoffAnswer>;

/**
 * What to merge into the collector branch, and the text of its pull request.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function assembleHandOver(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<HandoffRequest>,
): Decision<AssembleAnswer>;

/**
 * What became of the commits of done stages after history was rewritten; what is certain is corrected.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function stageHistory(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<HistoryRequest>,
): Decision<HistoryAnswer>;

/**
 * Compares two plans by stage and says which claims, worktrees and finished stages each change
 * touches. The ledger is that of the old plan and may be empty; nothing is written.
 *
 * @throws {OkstraError} for a plan that cannot be read.
 */
export declare function planDiff(
  old: Source,
  plan: Source,
  ledger: Source,
  facts: FactsInput,
): Decision<DiffAnswer>;

/**
 * Whether an implementation is complete, why not, and what its records have to say then. The plan
 * is empty where none was found.
 *
 * @throws {OkstraError} for a plan or a record that cannot be read.
 */
export declare function taskOutcome(
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<OutcomeRequest>,
): Decision<OutcomeAnswer>;

/**
 * Makes a task: its manifest, its entry in the catalog, and the note of the latest task.
 *
 * @throws {OkstraError} for records that cannot be read, and for an unknown phase.
 */
export declare function createTask(request: Partial<CreateRequest>): Decision<CreateAnswer>;

/**
 * Where the latest and the next report of a phase lie.
 *
 * @throws {OkstraError} for an unknown phase.
 */
export declare function reportPaths(request: Partial<ReportRequest>): ReportAnswer;

/** The two files of a report, by the path of either. */
export declare function reportPair(path: string): ReportPair;

/**
 * What okstra answers to an event of a coding agent's session.
 *
 * @param event what the client wrote to the hook's standard input.
 * @param plan the plan the event concerns; the plan that was written, for `PostToolUse`.
 * @throws {OkstraError} where the event is no JSON object or the plan cannot be worked with.
 */
export declare function hookEvent(
  event: Source,
  plan: Source,
  ledger: Source,
  facts: FactsInput,
  request: Partial<HookRequest>,
): Decision<HookAnswer>;

/**
 * Where the containers of a task are known: the name of the compose project, the record, and the
 * compose files to look for.
 *
 * @throws {OkstraError} for a record that cannot be read.
 */
export declare function containerPlace(facts: Partial<ContainerFacts>): ContainerPlace;

/**
 * The container engine to use, or the one to ask for next.
 *
 * @throws {OkstraError} `no-engine` with the reason of each in `details.lines`.
 */
export declare function containerEngine(request: EngineRequest): EngineAnswer;

/**
 * What starts the containers of a task, and what is recorded of it.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function containerUp(
  facts: Partial<ContainerFacts>,
  request: UpRequest,
): Decision<UpAnswer>;

/**
 * What stops the containers of a task; the effects are for when they are stopped.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function containerDown(
  facts: Partial<ContainerFacts>,
  request: Partial<DownRequest>,
): Decision<DownAnswer>;

/**
 * What is up of a task, and whether it is what is finished now.
 *
 * @throws {OkstraError} for a record that cannot be read.
 */
export declare function containerShow(
  facts: Partial<ContainerFacts>,
  request: Partial<ShowRequest>,
): ContainerView;

/**
 * The panes of a run that are left: never the lead's, nor a person's.
 *
 * @throws {OkstraError} for a team config that cannot be read.
 */
export declare function listPanes(facts: Partial<LeadFacts>): PanesAnswer;

/** The trace panes of a session: what goes when it ends. */
export declare function reapPanes(facts: Partial<LeadFacts>): PanesAnswer;

/** The user options of tmux that tag a pane as one of a run. */
export declare function paneTags(request: TagRequest): PaneTags;

/**
 * Marks the members of a team whose panes are gone as inactive.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function reconcileTeam(facts: Partial<LeadFacts>): Decision<TeamAnswer>;

/**
 * What is left of a run: the one question about it, or what follows from its answer.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function wrapUp(
  facts: Partial<LeadFacts>,
  request: Partial<WrapUpRequest>,
): WrapUpAnswer;

/**
 * The line of a checkpoint and its row in the event log.
 *
 * @throws {OkstraError} `out-of-order` for one that comes at the wrong time.
 */
export declare function reportProgress(
  request: Partial<ProgressRequest> & Pick<ProgressRequest, 'checkpoint' | 'run' | 'now'>,
): Decision<ProgressAnswer>;

/**
 * What the headers of a prompt say: the project, the result, the model, the worktree. `name` is
 * the prompt's name in messages.
 *
 * @throws {OkstraError} `bad-prompt` with every fault and its line.
 */
export declare function dispatchHeaders(source: Source, name: string): DispatchHeaders;

/**
 * How a prompt is worked on: the command of its worker as a list of words, its limits, what has to
 * be there in the end. Nothing is started.
 *
 * @throws {OkstraError} where the prompt or a setting is wrong.
 */
export declare function planDispatch(
  source: Source,
  request: Partial<DispatchRequest>,
): DispatchLaunch;

/**
 * What an event makes of a dispatch: its status file, the rows of the run's event log, and how it
 * has ended.
 *
 * @throws {OkstraError} with the reason of the refusal as its `code`.
 */
export declare function judgeDispatch(
  event: Partial<DispatchEvent> & Pick<DispatchEvent, 'kind' | 'path' | 'now'>,
): Decision<DispatchAnswer>;

/** What lines of a session file of Claude Code say of usage. */
export declare function readUsage(lines: Source): UsageBatch;

/** Sums what was counted of agents, and prices it. */
export declare function tokenReport(request: TokenRequest): TokenReport;

/**
 * Takes an answer of the wizard, or goes back, and says what to ask next. Where it has to know
 * something first, it says so (`needs`): look at it, add it to the facts, and ask the same again. A
 * wrong answer is no failure: the question is asked again, with what is wrong in its `error`.
 *
 * @throws {OkstraError} `wizard-state` for a state that it cannot go on from.
 */
export declare function askWizard(
  facts: Partial<WizardFacts>,
  request: Partial<WizardRequest>,
): WizardAnswer;

/** The rows of a ledger, and the lines that are none. */
export declare function showLedger(ledger: Source): LedgerView;

/** What is wrong with a ledger. */
export declare function checkLedger(ledger: Source): LedgerReport;

/** A ledger without its bad lines, and these. Nothing is written to disk. */
export declare function repairLedger(ledger: Source): LedgerRepair;

/**
 * What is installed where, as the record says.
 *
 * @throws {OkstraError} where the record cannot be read; it is left as it is.
 */
export declare function readInstalled(facts: Partial<RecordFacts>): Installed;

/**
 * What to write so that Claude Code knows okstra. Where it does already, there is nothing to do.
 *
 * @throws {OkstraError} where the settings cannot be read, or files of others are in the way.
 */
export declare function planInstall(
  facts: Partial<InstallFacts>,
  request: Partial<InstallRequest>,
): Decision<InstallAnswer>;

/**
 * What to take away again. What somebody has changed since stays and is named.
 *
 * @throws {OkstraError} where the settings or the record cannot be read.
 */
export declare function planUninstall(
  facts: Partial<UninstallFacts>,
  request: Partial<UninstallRequest>,
): Decision<InstallAnswer>;

/** What is wrong with okstra on this machine, and how to mend it. */
export declare function diagnose(facts: Partial<DoctorFacts>): DoctorReport;

/** Every rule, in the order of its code. */
export declare function rules(): Rule[];

/** The version of the core, which is the version of the package. */
export declare function version(): string;
