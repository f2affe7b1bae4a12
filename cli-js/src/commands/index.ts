/**
 * Every command by its name. A new noun is one file in this folder and one line here; each is a
 * bundle of its own, which is loaded only for its command, for the help and for completion.
 */
import type { Commands } from '../cli/define.js';

export const commands: Commands = {
  plan: async () => (await import('./plan.js')).plan,
  stage: async () => (await import('./stage.js')).stage,
  ledger: async () => (await import('./ledger.js')).ledger,
  worktree: async () => (await import('./worktree.js')).worktree,
  handoff: async () => (await import('./handoff.js')).handoff,
  run: async () => (await import('./run.js')).run,
  wizard: async () => (await import('./wizard.js')).wizard,
  outcome: async () => (await import('./outcome.js')).outcome,
  task: async () => (await import('./task.js')).task,
  report: async () => (await import('./report.js')).report,
  hook: async () => (await import('./hook.js')).hook,
  install: async () => (await import('./install.js')).install,
  uninstall: async () => (await import('./install.js')).uninstall,
  doctor: async () => (await import('./install.js')).doctor,
  progress: async () => (await import('./progress.js')).progress,
  panes: async () => (await import('./panes.js')).panes,
  team: async () => (await import('./team.js')).team,
  'wrap-up': async () => (await import('./wrap-up.js')).wrapUp,
  dispatch: async () => (await import('./dispatch.js')).dispatch,
  tokens: async () => (await import('./tokens.js')).tokens,
  container: async () => (await import('./container.js')).container,
  preview: async () => (await import('./preview.js')).preview,
  completion: async () => (await import('./completion.js')).completion,
};
