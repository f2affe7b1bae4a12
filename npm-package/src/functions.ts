// The functions of every entry. An entry says with `useLoader` how the module is made ready.
import { createApi } from './api.js';
import type { Core } from './core.js';
import * as raw from './generated/raw.js';
import { makeReady } from './slot.js';

/** The whole module, called through its generated glue. */
const core: Core = {
  ready: makeReady,
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: all of them are in use
  call: (name, args) => (raw[name] as (...all: readonly unknown[]) => string)(...args),
  takePanic: raw.takePanic,
  renew: raw.__wbg_reset_state,
};

export const {
  parsePlan,
  checkPlan,
  planGraph,
  fixPlan,
  approvePlan,
  renderCheck,
  renderGraph,
  planLayout,
  lockName,
  taskFolder,
  planCandidates,
  stageNext,
  stageClaim,
  stageDone,
  stageRelease,
  stageVerify,
  stagePr,
  stageList,
  stageShow,
  prepareRun,
  showLedger,
  checkLedger,
  repairLedger,
  worktreePlaces,
  stageBase,
  registryBegin,
  registryActivate,
  registryKeep,
  registryForget,
  registryTaskWorktree,
  registryBase,
  reservedStages,
  repairWorktrees,
  checkMerge,
  readRegistry,
  pruneWorktrees,
  removeWorktree,
  stageForecast,
  handOver,
  assembleHandOver,
  stageHistory,
  planDiff,
  taskOutcome,
  createTask,
  reportPaths,
  reportPair,
  hookEvent,
  rules,
  version,
  __provokePanic,
} = createApi(core);
