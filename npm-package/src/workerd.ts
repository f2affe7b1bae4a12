// Workers: code cannot be compiled at run time, so the platform brings the compiled module.

import { createApi } from './api.js';
import { createLoader } from './load.js';
import module from './okstra.wasm';

const { ready, init } = createLoader({
  now: () => module,
  help: 'the bundler has to hand over okstra.wasm as a WebAssembly.Module',
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
