/** See {@link Git}. */
import { addWorktree } from './add.js';
import { cleanHalf } from './clean.js';
import { collect, collectors } from './collect.js';
import { mergeCommits, mergeForecast } from './forecast.js';
import type { Git } from './git.js';
import { mergeInto } from './merge.js';
import { pushNew } from './push.js';
import { removeWorktree } from './remove.js';
import { ancestor, ancestors, branches, existing, exists, repository } from './repository.js';
import { findRewritten, patchIds, treeOf } from './rewritten.js';
import { run } from './run.js';
import { status } from './status.js';
import { linkSyncDirs, unlinkSyncDirs } from './sync.js';
import { worktrees } from './worktrees.js';

export const git: Git = {
  run,
  repository,
  ancestor,
  ancestors,
  exists,
  existing,
  branches,
  worktrees,
  status,
  addWorktree,
  removeWorktree,
  cleanHalf,
  mergeForecast,
  mergeCommits,
  mergeInto,
  collect,
  collectors,
  linkSyncDirs,
  unlinkSyncDirs,
  treeOf,
  patchIds,
  findRewritten,
  pushNew,
};
