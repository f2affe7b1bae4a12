/** `okstra ledger`: the record itself. */
import { boardOptions, openBoard, withLedger } from '../cli/board.js';
import { command, type Noun } from '../cli/define.js';
import { FINDINGS, OK } from '../cli/exit.js';
import { printableJson, say, sayOf } from '../cli/talk.js';

const { plan, taskKey, json, dryRun } = boardOptions;

/** The options of every command here. */
const options = {
  plan,
  taskKey,
  // Scripts give it to every command; a line that cannot be read has no key to go by.
  implKey: { ...boardOptions.implKey, text: 'taken as everywhere; all lines are looked at' },
  json,
  dryRun,
} as const;

/** What the commands about stages ask for beyond these. */
const NOBODY = { session: undefined, claimId: undefined } as const;

const NOTHING = new Uint8Array();

const show = command({
  summary: 'Print the rows of a ledger',
  examples: [['okstra ledger show --plan plan.md', 'what happened so far']],
  options: { ...options, implKey: { ...options.implKey, text: 'only the rows of this key' } },
  async run(_args, values, context) {
    const { host } = context;
    const board = openBoard({ ...NOBODY, ...values }, context);
    const all = board.api.showLedger(host.readIfThere(board.layout.ledger) ?? NOTHING);
    const { implKey } = values;
    const ofKey = all.rows.filter((row) => implKey === undefined || row.impl_task_key === implKey);
    const view = { ...all, rows: ofKey };
    for (const { line, reason } of view.bad) sayOf(host, `${board.layout.ledger}:${line}`, reason);
    if (values.json) host.write(1, `${printableJson(view)}\n`);
    else {
      const { showRows } = await import('../lazy/stage.js');
      host.write(1, await showRows(view.rows, host.width()));
    }
    return OK;
  },
});

const check = command({
  summary: 'List what is wrong with a ledger',
  details: 'Exit status: 1 when a line cannot be used.',
  examples: [['okstra ledger check --plan plan.md', 'every line that cannot be used']],
  options,
  async run(_args, values, context) {
    const { host } = context;
    const board = openBoard({ ...NOBODY, ...values }, context);
    const report = board.api.checkLedger(host.readIfThere(board.layout.ledger) ?? NOTHING);
    const { rows, bad, notes } = report;
    if (values.json) host.write(1, `${printableJson(report)}\n`);
    else {
      const { ledger } = board.layout;
      for (const { line, reason } of bad) sayOf(host, `${ledger}:${line}`, `error: ${reason}`);
      for (const { line, note } of notes) sayOf(host, `${ledger}:${line}`, `note: ${note}`);
      const total = counted(rows, 'row');
      sayOf(
        host,
        ledger,
        bad.length > 0
          ? `${total}; ${counted(bad.length, 'line')} cannot be used: 'okstra ledger repair' moves them away`
          : rows === 0
            ? 'no rows yet'
            : `${total}, nothing wrong`,
      );
    }
    return bad.length === 0 ? OK : FINDINGS;
  },
});

const repair = command({
  summary: "Move the lines of a ledger that cannot be used to '<ledger>.rejected'",
  details: 'No line is lost: the bad ones are appended there before the ledger is replaced.',
  examples: [
    ['okstra ledger repair --plan plan.md', 'repair it'],
    ['okstra ledger repair --plan plan.md --dry-run', 'say what would be moved'],
  ],
  options,
  async run(_args, values, context) {
    const { host } = context;
    const board = openBoard({ ...NOBODY, ...values }, context);
    const { ledger } = board.layout;
    const result = await withLedger(board, 'ledger repair', (before) => {
      const result = board.api.repairLedger(before);
      if (result.changed && !values.dryRun) {
        // Appended before the ledger loses them: killed in between, they stand in both.
        for (const line of result.rejected.split('\n').slice(0, -1)) {
          host.append(`${ledger}.rejected`, line);
        }
        host.replaceFile(ledger, before, result.text);
      }
      return result;
    });
    const { bad, changed } = result;
    if (values.json) {
      host.write(1, `${printableJson({ changed, bad, dry_run: values.dryRun })}\n`);
      return OK;
    }
    for (const { line, reason } of bad) sayOf(host, `${ledger}:${line}`, reason);
    const lines = counted(bad.length, 'line');
    const moved = values.dryRun ? `${lines} would be moved` : `${lines} moved`;
    say(host, changed ? `${moved} to ${ledger}.rejected` : 'nothing to repair');
    return OK;
  },
});

const heads = command({
  summary: 'Look whether the commits of finished stages are still there',
  details:
    'After a rebase, a squash or an amend a recorded commit is in no branch any more. The one with the same tree or the same patch takes its place, where there is exactly one. Exit status: 1 when one is lost, or several could be it.',
  examples: [
    ['okstra ledger heads --plan plan.md', 'what became of every commit'],
    ['okstra ledger heads --plan plan.md --yes', 'correct what is certain'],
  ],
  options: {
    ...options,
    yes: { kind: 'flag', text: 'record the commits that are certain' },
  },
  async run(_args, values, context) {
    const { host } = context;
    const board = openBoard({ ...NOBODY, ...values }, context);
    const write = values.yes && !values.dryRun;
    const { heads, showHeads } = await import('../lazy/history.js');
    const answer = await heads(board, write);
    const kinds = answer.stages.map(({ fate }) => fate.kind);
    if (values.json) host.write(1, `${printableJson({ ...answer, written: write })}\n`);
    else {
      host.write(1, showHeads(answer, write));
      if (!write && kinds.includes('corrected')) say(host, "'--yes' records it");
      if (kinds.includes('ambiguous')) say(host, "'okstra stage done --force-reappend' says which");
    }
    return kinds.includes('lost') || kinds.includes('ambiguous') ? FINDINGS : OK;
  },
});

/** `1 row`, `2 rows`. */
function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

export const ledger: Noun = {
  summary: 'Look at the record of a plan and mend it',
  verbs: { show, check, repair, heads },
};
