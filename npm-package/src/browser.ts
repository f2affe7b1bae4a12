// Browsers: `await init()` first, which streams and compiles the module off the main thread.
import { createApi } from './api.js';
import { createLoader } from './load.js';

const { ready, init } = createLoader({
  // Bundlers know this form, and take the file along.
  later: () => new URL('./okstra.wasm', import.meta.url),
  help: "serve okstra.wasm beside the script or pass its address to init(); a page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'",
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
