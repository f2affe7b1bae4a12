/** `okstra progress`: the checkpoints of a run. */
import type { Checkpoint, ProgressRequest } from '../../../npm-package/src/index.js';
import type { Context } from '../cli/context.js';
import { command, type Noun } from '../cli/define.js';
import { OK, UsageError } from '../cli/exit.js';
import { leadOptions, openRun, withLog } from '../cli/lead.js';
import { slashes } from '../cli/paths.js';
import { projectRootOf } from '../cli/project.js';
import { printable, printableJson, say } from '../cli/talk.js';
import { carryOut } from '../host/effects.js';

const { runDir, json, dryRun } = leadOptions;
const options = { runDir, json, dryRun } as const;

interface Values {
  runDir: string | undefined;
  json: boolean;
  dryRun: boolean;
}

type More = Pick<ProgressRequest, 'panes' | 'teammates' | 'final_report'>;

const DETAILS =
  "Prints one line and appends it to 'logs/lead-events.jsonl' of the run. The order is batch-cleanup (any number of times), synthesis, persist, teardown (where the team is dismissed), complete; what comes at the wrong time is refused.";

async function report(
  checkpoint: Checkpoint,
  values: Values,
  context: Context,
  more: More,
  reportExists = false,
): Promise<number> {
  const { host } = context;
  const run = openRun(host, values);
  const answer = await withLog(context, run, `progress ${checkpoint}`, (log) => {
    const decision = context.api(0).reportProgress({
      checkpoint,
      run: run.folder,
      now: host.now(),
      ...more,
      report_exists: reportExists,
      ...(log === undefined ? {} : { log }),
      ...(run.sequence === undefined ? {} : { sequence: run.sequence }),
    });
    if (decision.kind === 'needs') throw new Error('a progress line needs no facts');
    if (!values.dryRun) carryOut(decision.effects, host);
    return decision.answer;
  });
  if (values.json) {
    host.write(1, `${printableJson({ ...answer, dry_run: values.dryRun })}\n`);
  } else host.write(1, `${printable(answer.line)}\n`);
  if (!answer.new) say(host, 'reported before; the log stays as it is');
  return OK;
}

const batchCleanup = command({
  summary: 'Report that what a batch of workers has left behind was cleared away',
  details: DETAILS,
  examples: [
    ['okstra progress batch-cleanup --run-dir RUN --panes 2 --teammates 1', 'with its counts'],
  ],
  options: {
    ...options,
    panes: { kind: 'integer', value: 'N', min: 0, text: 'how many panes were closed', default: 0 },
    teammates: {
      kind: 'integer',
      value: 'N',
      min: 0,
      text: 'how many teammates were dismissed',
      default: 0,
    },
  },
  run: (_args, { panes = 0, teammates = 0, ...values }, context) =>
    report('batch-cleanup', values, context, { panes, teammates }),
});

function plain(checkpoint: Checkpoint, summary: string) {
  return command({
    summary,
    details: DETAILS,
    examples: [[`okstra progress ${checkpoint} --run-dir RUN`, 'print and record it']],
    options,
    run: (_args, values, context) => report(checkpoint, values, context, {}),
  });
}

const complete = command({
  summary: 'Report that the run is over',
  details: `${DETAILS} The final report has to be there.`,
  examples: [
    ['okstra progress complete --run-dir RUN --final-report reports/final.md', 'the last line'],
  ],
  options: {
    ...options,
    finalReport: {
      kind: 'file',
      value: 'FILE',
      text: 'the final report, relative to the project or absolute',
    },
  },
  run(_args, { finalReport, ...values }, context) {
    const { host } = context;
    if (finalReport === undefined) {
      throw new UsageError('which report? give --final-report FILE');
    }
    const { folder } = openRun(host, values);
    const root = projectRootOf(host, `${folder}/.`) ?? folder;
    const start = root.endsWith('/') ? root : `${root}/`;
    const given = slashes(finalReport);
    const path = given.startsWith(start) ? given.slice(start.length) : given;
    // A link must not lead out of the project either.
    const real = slashes(host.realPath(`${start}${path}`));
    const exists = real.startsWith(start) && host.isFile(real);
    return report('complete', values, context, { final_report: path }, exists);
  },
});

export const progress: Noun = {
  summary: 'Report the checkpoints of a run',
  verbs: {
    'batch-cleanup': batchCleanup,
    synthesis: plain('synthesis', 'Report that the final report is about to be written'),
    persist: plain('persist', 'Report that the records are about to be updated'),
    teardown: plain('teardown', 'Report that the teammates are about to be dismissed'),
    complete,
  },
};
