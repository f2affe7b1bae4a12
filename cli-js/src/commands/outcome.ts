/** `okstra outcome`: whether an implementation is complete. */
import { boardOptions } from '../cli/board.js';
import { colorOption, wantsColor } from '../cli/color.js';
import { command, type Noun } from '../cli/define.js';
import { FINDINGS, OK } from '../cli/exit.js';
import { printableJson, say } from '../cli/talk.js';

const { plan, taskKey, implKey, json, dryRun } = boardOptions;

const options = { plan, taskKey, implKey, json, dryRun, color: colorOption } as const;

/** What the commands about stages ask for beyond these. */
const NOBODY = { session: undefined, claimId: undefined } as const;

const CONDITIONS =
  'It is complete when the task is in its implementation, every stage that is not cancelled is done, and every one of them has pass-grade evidence. A plan outside of a task has no phases: there its stages alone count.';

const show = command({
  summary: 'Say whether an implementation is complete, and what each stage lacks',
  details: `${CONDITIONS} Exit status: 1 while it is not complete.`,
  examples: [
    ['okstra outcome show --task-key shop:web:login', 'of a task, found from the current folder'],
    ['okstra outcome show --plan plan.md --json', 'for a program'],
  ],
  options: { ...options, dryRun: { ...dryRun, text: 'restore no rows that a crash lost' } },
  async run(_args, values, context) {
    const { host } = context;
    const { deriveOutcome, openTask, showOutcome } = await import('../lazy/outcome.js');
    const outcome = await deriveOutcome(openTask({ ...NOBODY, ...values }, context), values);
    for (const warning of outcome.warnings) say(host, `warning: ${warning}`);
    if (values.json) host.write(1, `${printableJson(outcome)}\n`);
    else {
      const style = { width: host.width(), color: wantsColor(host, 1, values.color) };
      host.write(1, await showOutcome(outcome, style));
    }
    return outcome.completed ? OK : FINDINGS;
  },
});

const reconcile = command({
  summary: "Record a complete implementation in the task's manifest and the catalog",
  details: `${CONDITIONS} Only then is anything recorded, and only where it is new; everything else in the two files stays as it is. Exit status: 1 while it is not complete.`,
  examples: [
    ['okstra outcome reconcile --task-key shop:web:login', 'record it'],
    ['okstra outcome reconcile --task-key shop:web:login --dry-run', 'say what would be recorded'],
  ],
  options,
  async run(_args, values, context) {
    const { host } = context;
    const { openTask, reconcileOutcome, showOutcome } = await import('../lazy/outcome.js');
    const outcome = await reconcileOutcome(openTask({ ...NOBODY, ...values }, context), values);
    for (const warning of outcome.warnings) say(host, `warning: ${warning}`);
    if (values.json) {
      host.write(1, `${printableJson({ ...outcome, dry_run: values.dryRun })}\n`);
    } else {
      const style = { width: host.width(), color: wantsColor(host, 1, values.color) };
      host.write(1, await showOutcome(outcome, style));
      if (outcome.completed) {
        const recorded = values.dryRun ? 'would be recorded' : 'recorded';
        say(host, outcome.recorded ? recorded : 'nothing to record');
      }
    }
    return outcome.completed ? OK : FINDINGS;
  },
});

export const outcome: Noun = {
  summary: 'Say whether an implementation is complete, and record it',
  verbs: { show, reconcile },
};
