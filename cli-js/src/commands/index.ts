/** Every command by its name. A new noun is one file in this folder and one line here. */
import type { Entry } from '../cli/define.js';
import { completion } from './completion.js';
import { handoff } from './handoff.js';
import { ledger } from './ledger.js';
import { outcome } from './outcome.js';
import { plan } from './plan.js';
import { report } from './report.js';
import { run } from './run.js';
import { stage } from './stage.js';
import { task } from './task.js';
import { worktree } from './worktree.js';

export const entries: Readonly<Record<string, Entry>> = {
  plan,
  stage,
  ledger,
  worktree,
  handoff,
  run,
  outcome,
  task,
  report,
  completion,
};
