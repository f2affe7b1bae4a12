// Node: synchronous. The first call reads and compiles the module; importing costs nothing.
import { readFileSync } from 'node:fs';
import { createApi } from './api.js';
import { createLoader } from './load.js';

const { ready, init } = createLoader({
  now: () => readFileSync(new URL('./okstra.wasm', import.meta.url)),
  help: "copy okstra.wasm beside the bundle, or import from 'okstra/inline'",
});

export { OkstraError } from './error.js';
export { init };
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
  rules,
  version,
  __provokePanic,
} = createApi(ready);
