/** `okstra task`: the tasks of a project. */
import { boardOptions } from '../cli/board.js';
import { colorOption, wantsColor } from '../cli/color.js';
import type { Context } from '../cli/context.js';
import { command, type Noun } from '../cli/define.js';
import { FINDINGS, OK, UsageError } from '../cli/exit.js';
import { slashes } from '../cli/paths.js';
import { okstraFolder, projectHere, projectId, projectRootOf } from '../cli/project.js';
import { changeRecords, readRecords } from '../cli/records.js';
import { printableJson, say } from '../cli/talk.js';
import { carryOut } from '../host/effects.js';
import type { Host } from '../host/host.js';

const json = { kind: 'flag', text: 'print one JSON document' } as const;

/** How to draw for the person who looks. */
function styleOf(host: Host, color: boolean | undefined) {
  return { width: host.width(), color: wantsColor(host, 1, color) };
}

const list = command({
  summary: 'List the tasks of the project',
  details: 'Exit status: 1 when a manifest cannot be read.',
  examples: [['okstra task list', 'every task with its phase']],
  options: { json, color: colorOption },
  async run(_args, { json, color }, context) {
    const { host } = context;
    const { listTasks, showTasks } = await import('../lazy/outcome.js');
    const { tasks, broken } = listTasks(projectHere(host), context);
    if (json) host.write(1, `${printableJson({ tasks })}\n`);
    else host.write(1, await showTasks(tasks, styleOf(host, color)));
    return broken === 0 ? OK : FINDINGS;
  },
});

const show = command({
  summary: 'Show a task: its phase, its latest report and its outcome',
  examples: [['okstra task show --task-key shop:web:login', 'one task']],
  options: { taskKey: boardOptions.taskKey, json, color: colorOption },
  async run(_args, { taskKey, json, color }, context) {
    const { host } = context;
    if (taskKey === undefined) throw new UsageError('which task? give --task-key KEY');
    const lazy = await import('../lazy/outcome.js');
    const nobody = { implKey: undefined, session: undefined, claimId: undefined };
    const named = { ...nobody, plan: undefined, taskKey, json, dryRun: true };
    const opened = lazy.openTask(named, context);
    const outcome = await lazy.deriveOutcome(opened, { dryRun: true });
    const line = lazy.lineOfTask(opened, context);
    if (line === undefined) {
      throw new UsageError(`the task ${taskKey} has no manifest; 'okstra task create' makes one`);
    }
    if (json) host.write(1, `${printableJson({ ...line, outcome })}\n`);
    else {
      for (const warning of outcome.warnings) say(host, `warning: ${warning}`);
      host.write(1, await lazy.showTask(line, outcome, styleOf(host, color)));
    }
    return OK;
  },
});

const create = command({
  summary: 'Make a task: its manifest and its entry in the catalog',
  details:
    'A task that is there keeps its manifest; only a missing entry in the catalog is added. In a project without a project.json one is made.',
  examples: [
    ['okstra task create --task-group web --task-id login --title "Log in by mail"', 'a new task'],
  ],
  options: {
    taskGroup: { kind: 'text', value: 'GROUP', text: 'the group of the task' },
    taskId: { kind: 'text', value: 'ID', text: 'the id of the task' },
    taskType: { kind: 'text', value: 'PHASE', text: 'the phase it begins with' },
    title: { kind: 'text', value: 'TEXT', text: 'what it is about, in one line' },
    workCategory: {
      kind: 'text',
      value: 'WORD',
      text: 'feat, fix, refactor, ops or improve: its branches begin with it',
    },
    projectId: { kind: 'text', value: 'ID', text: "the project's id, where project.json has none" },
    projectRoot: { kind: 'file', value: 'FOLDER', text: "the project's folder; default: this one" },
    json,
    dryRun: { kind: 'flag', text: 'say what would happen and write nothing' },
  },
  async run(_args, values, context) {
    const { host } = context;
    const { root, okstra } = placeOf(values.projectRoot, host);
    const id = projectId(host, okstra);
    if (id !== undefined && values.projectId !== undefined && id !== values.projectId) {
      throw new UsageError(`this project is ${id}, not ${values.projectId}`);
    }
    const project = id ?? values.projectId;
    if (project === undefined) throw new UsageError('give --project-id: the project has none yet');
    const { taskGroup: group, taskId } = values;
    if (!group || !taskId) throw new UsageError('give --task-group and --task-id');
    for (const [name, value] of [
      ['project-id', project],
      ['task-group', group],
    ]) {
      if (value?.includes(':'))
        throw new UsageError(`--${name} must be without ':', got '${value}'`);
    }
    const api = context.api(0);
    const task = api.taskFolder(okstra, `${project}:${group}:${taskId}`);
    const once = async () => {
      const decision = api.createTask({
        ...readRecords(host, { root, okstra, task }),
        project_id: project,
        task_group: group,
        task_id: taskId,
        project_root: root,
        okstra_root: okstra,
        now: host.now(),
        ...(values.taskType === undefined ? {} : { task_type: values.taskType }),
        ...(values.title === undefined ? {} : { title: values.title }),
        ...(values.workCategory === undefined ? {} : { work_category: values.workCategory }),
      });
      if (decision.kind === 'needs') throw new Error('a new task needs no facts');
      if (!values.dryRun) carryOut(decision.effects, host);
      return decision.answer;
    };
    const answer = values.dryRun
      ? await once()
      : await changeRecords(context, api, okstra, { what: 'task create', once });
    if (values.json) {
      host.write(1, `${printableJson({ ...answer, dry_run: values.dryRun })}\n`);
      return OK;
    }
    for (const warning of answer.warnings) say(host, `warning: ${warning}`);
    const { showCreated } = await import('../lazy/outcome.js');
    host.write(1, showCreated(answer));
    return OK;
  },
});

/** The project that a person names, or that of the current folder, or the folder itself. */
function placeOf(named: string | undefined, host: Context['host']) {
  const here = slashes(host.realPath(named ?? host.cwd()));
  if (named !== undefined && !host.exists(here)) {
    throw new UsageError(`there is no folder ${named}; check --project-root`);
  }
  const root = named === undefined ? (projectRootOf(host, `${here}/.`) ?? here) : here;
  return { root, okstra: okstraFolder(host, root) };
}

export const task: Noun = {
  summary: 'List, show and make the tasks of a project',
  verbs: { list, show, create },
};
