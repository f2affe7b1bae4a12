// Everything in one file: where no file can be kept beside the script. Synchronous.
import bytes from 'okstra-wasm-bytes';
import { createApi } from './api.js';
import { createLoader } from './load.js';

const { ready, init } = createLoader({
  now: () => bytes as BufferSource,
  help: "a page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'",
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
