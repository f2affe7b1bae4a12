/** `okstra report`: where final reports lie. */
import { command, type Noun } from '../cli/define.js';
import { FINDINGS, OK, UsageError } from '../cli/exit.js';
import { placeTask } from '../cli/project.js';
import { knownRuns } from '../cli/records.js';
import { printable, printableJson, say } from '../cli/talk.js';

const path = command({
  summary: 'Print where the latest report of a phase lies, or the next one will',
  details:
    'A report is a pair: the Markdown and its data, each on a line. Exit status: 1 when there is none.',
  examples: [
    ['okstra report path --task-key shop:web:login --task-type implementation', 'the latest one'],
    [
      'okstra report path --task-key shop:web:login --task-type implementation --stage 2 --next',
      'the one that a run beginning now writes',
    ],
    ['okstra report path --of reports/final-report-x-001.md', 'the pair that a file belongs to'],
  ],
  options: {
    taskKey: { kind: 'text', value: 'KEY', text: 'the task (project:group:id)' },
    taskType: { kind: 'text', value: 'PHASE', text: 'the phase' },
    stage: { kind: 'integer', value: 'N', min: 1, text: 'the stage of an implementation' },
    next: { kind: 'flag', text: 'the next one instead of the latest' },
    of: {
      kind: 'file',
      value: 'FILE',
      text: 'the pair of this file instead; nothing is looked up',
    },
    json: { kind: 'flag', text: 'print one JSON document' },
  },
  run(_args, { taskKey, taskType, stage, next, of, json }, context) {
    const { host } = context;
    const api = context.api(0);
    if (of !== undefined && (taskKey !== undefined || taskType !== undefined)) {
      throw new UsageError('give either --of or a task and a phase');
    }
    if (of === undefined && (taskKey === undefined || taskType === undefined)) {
      throw new UsageError('which report? give --task-key and --task-type, or --of FILE');
    }
    let pair = of === undefined ? null : api.reportPair(of);
    if (taskKey !== undefined && taskType !== undefined) {
      const { task } = placeTask(host, taskKey, context);
      const paths = api.reportPaths({
        task_root: task,
        task_type: taskType,
        known: knownRuns(host, task, taskType),
        ...(stage === undefined ? {} : { stage }),
      });
      if (next && paths.next === null) {
        throw new UsageError('the report of which stage? give --stage');
      }
      pair = next ? paths.next : paths.latest;
    }
    if (json) host.write(1, `${printableJson(pair)}\n`);
    else if (pair !== null) host.write(1, `${printable(pair.markdown)}\n${printable(pair.data)}\n`);
    else say(host, 'there is no report yet');
    return pair === null ? FINDINGS : OK;
  },
});

export const report: Noun = {
  summary: 'Find the final reports of a task',
  verbs: { path },
};
