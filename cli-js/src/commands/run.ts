/** `okstra run`: everything a session begins with. */
import type {
  ClaimRequest,
  FactsInput,
  RunInputs,
  RunRequestInput,
} from '../../../npm-package/src/index.js';
import { type Board, boardOptions, decide, openBoard, slashes, withoutPlan } from '../cli/board.js';
import type { Context } from '../cli/context.js';
import { command, readInteger } from '../cli/define.js';
import { OK, REFUSED, UsageError } from '../cli/exit.js';
import { readList } from '../cli/list.js';
import { okstraFolder } from '../cli/project.js';
import { changeRecords, knownRuns, readRecords } from '../cli/records.js';
import { about, printableJson, say, sayOf } from '../cli/talk.js';
import type { GitHead } from '../host/host.js';

export const run = command({
  summary: 'Prepare a run: check the plan, claim the stage, write what the session begins with',
  details:
    'Exit status: 1 when the plan has errors or is not approved, 3 when the stage is refused.',
  examples: [
    [
      'okstra run --task-type implementation --task-group web --task-id login --project-id shop --approved-plan plan.md',
      'the next stage',
    ],
    [
      'okstra run --task-type implementation --task-group web --task-id login --project-id shop --approved-plan plan.md --stage 2 --render-only',
      'look at what stage 2 would begin with',
    ],
  ],
  options: {
    taskType: { kind: 'text', value: 'PHASE', text: 'the phase of the task' },
    taskGroup: { kind: 'text', value: 'GROUP', text: 'the group of the task' },
    taskId: { kind: 'text', value: 'ID', text: 'the id of the task' },
    projectRoot: { kind: 'file', value: 'FOLDER', text: "the project's folder; default: this one" },
    projectId: { kind: 'text', value: 'ID', text: 'the id of the project' },
    approvedPlan: { kind: 'file', value: 'PLAN', text: 'the plan of an implementation' },
    approve: { kind: 'flag', text: 'tick the approval of the plan first' },
    stage: { kind: 'text', value: 'N', text: "the stage: a number, or 'auto' (the default)" },
    order: {
      kind: 'choice',
      text: 'which of several ready stages comes first',
      choices: ['number', 'critical-path'],
      default: 'number',
    },
    reclaim: { kind: 'flag', text: 'take a stage whose session is dead' },
    worktree: {
      kind: 'switch',
      text: 'make a worktree for the stage (the default where there is git)',
      off: 'work in the project folder itself',
    },
    renderOnly: { kind: 'flag', text: 'choose and print; claim nothing and write nothing' },
    brief: { kind: 'file', value: 'FILE', text: 'what is wanted, for a phase before the plan' },
    baseBranch: {
      kind: 'text',
      value: 'BRANCH',
      text: 'the branch that the first stage starts from, or that is handed over to',
    },
    executor: {
      kind: 'text',
      value: 'PROGRAM',
      text: 'what builds the stage: claude, codex, gemini',
    },
    workers: {
      kind: 'text',
      value: 'LIST',
      text: 'what works on another phase, with commas between',
    },
    critic: { kind: 'text', value: 'PROGRAM', text: 'what reviews the result' },
    models: { kind: 'text', value: 'LIST', text: 'program=model, with commas between' },
    relatedTasks: { kind: 'text', value: 'LIST', text: 'keys of tasks that have to do with it' },
    stages: { kind: 'text', value: 'LIST', text: 'the stages of a release-handoff' },
    implKey: boardOptions.implKey,
    session: boardOptions.session,
    json: boardOptions.json,
    dryRun: { kind: 'flag', text: 'the same as --render-only' },
  },
  async run(_args, values, context) {
    const { host } = context;
    const { taskType, taskGroup, taskId, projectId } = values;
    for (const [name, value] of Object.entries({
      'task-type': taskType,
      'task-group': taskGroup,
      'task-id': taskId,
      'project-id': projectId,
    })) {
      if (value === undefined || value === '') {
        throw new UsageError(`--${name} is missing; see 'okstra run --help'`);
      }
    }
    for (const [name, value] of Object.entries({
      'task-group': taskGroup,
      'project-id': projectId,
    })) {
      // The key joins the three with colons; only the last may hold more of them.
      if (value?.includes(':'))
        throw new UsageError(`--${name} must be without ':', got '${value}'`);
    }
    if (taskType === 'implementation' && values.approvedPlan === undefined) {
      throw new UsageError(
        '--task-type implementation needs an approved plan; give --approved-plan PLAN',
      );
    }
    const root = slashes(host.realPath(values.projectRoot ?? host.cwd()));
    if (values.projectRoot !== undefined && host.list(root).length === 0) {
      throw new UsageError(
        `there is nothing in the project's folder ${values.projectRoot}; check --project-root`,
      );
    }
    const preview = values.renderOnly || values.dryRun;
    const inputs = inputsOf(values, root, context);
    const start = await startOf(values, root, context);
    const board = openRun(values, root, preview, context);
    if (board === undefined) return REFUSED;
    if (start !== undefined) {
      board.start = start.commit;
      if (preview) board.head = Promise.resolve(start);
    }
    const okstra = okstraFolder(host, root);
    const { api } = board;
    const task = api.taskFolder(okstra, `${projectId}:${taskGroup}:${taskId}`);
    const records = () => {
      const { project: _, ...texts } = readRecords(host, { root, okstra, task });
      return texts;
    };
    const request = (): RunRequestInput => ({
      task_type: taskType ?? '',
      task_group: taskGroup ?? '',
      task_id: taskId ?? '',
      project_id: projectId ?? '',
      project_root: root,
      okstra_root: okstra,
      claim: {
        stage: values.stage ?? 'auto',
        order: values.order,
        reclaim: values.reclaim,
        claim_id: claimId,
      },
      render_only: preview,
      own_worktree: values.worktree !== false,
      inputs,
      known: knownRuns(host, task, taskType ?? ''),
      ...records(),
    });
    const claimId = host.newId();
    const ask = (ledger: Uint8Array, facts: FactsInput) =>
      about(board.name, () => api.prepareRun(board.bytes, ledger, facts, request()));
    if (taskType === 'implementation' && values.worktree !== false && !preview) {
      await claimFirst(board, ask, { ...request().claim, claim_id: claimId });
    }
    const once = () => decide(board, ask, { dryRun: preview, what: 'run' });
    const { answer } = preview
      ? await once()
      : await changeRecords(context, api, okstra, {
          what: 'run',
          once: async () => {
            try {
              return await once();
            } catch (error) {
              // The claim stands by now; asking with its id answers with the same one.
              board.facts.caller = { ...board.facts.caller, claim_id: claimId };
              throw error;
            }
          },
        }).catch((error: unknown) => {
          sayOfClaim(board, claimId);
          throw error;
        });
    if (values.json) {
      host.write(1, `${printableJson(preview ? { ...answer, dry_run: true } : answer)}\n`);
      return OK;
    }
    for (const warning of answer.warnings) say(host, `warning: ${warning}`);
    if (answer.stage !== null) host.write(1, `selected stage: ${answer.stage}\n`);
    if (preview) {
      const prompt = answer.bundle.files.find(({ path }) => path.endsWith('.md'));
      const { plainText } = await import('../lazy/stage.js');
      host.write(1, plainText(prompt?.text ?? ''));
      say(host, 'a preview: nothing was claimed and nothing written');
    } else {
      for (const { path } of answer.bundle.files) host.write(1, `${path}\n`);
    }
    return OK;
  },
});

/** What the person decided about the run. The core says which phase has a use for what. */
function inputsOf(
  values: {
    brief: string | undefined;
    baseBranch: string | undefined;
    executor: string | undefined;
    workers: string | undefined;
    critic: string | undefined;
    models: string | undefined;
    relatedTasks: string | undefined;
    stages: string | undefined;
  },
  root: string,
  { host }: Context,
): Partial<RunInputs> {
  const inputs: Partial<RunInputs> = {};
  const { brief, baseBranch, executor, workers, critic, models, relatedTasks, stages } = values;
  if (brief !== undefined) {
    const path = slashes(host.realPath(brief));
    if (!host.isFile(path)) throw new UsageError(`there is no file ${brief}; check --brief`);
    inputs.brief = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  }
  if (baseBranch !== undefined) inputs.base_branch = baseBranch;
  if (executor !== undefined) inputs.executor = executor;
  if (workers !== undefined) inputs.workers = readList(workers, 'workers');
  if (critic !== undefined) inputs.critic = critic;
  if (models !== undefined) inputs.models = readList(models, 'models');
  if (relatedTasks !== undefined) inputs.related_tasks = readList(relatedTasks, 'related-tasks');
  if (stages !== undefined) {
    inputs.handoff_stages = readList(stages, 'stages').map((text) => {
      const number = readInteger(text, 1);
      if (number !== undefined) return number;
      throw new UsageError(`--stages takes numbers with commas between, got '${stages}'`);
    });
  }
  return inputs;
}

/** Where the base branch of an implementation is. */
async function startOf(
  values: {
    baseBranch: string | undefined;
    taskType: string | undefined;
    worktree: boolean | undefined;
  },
  root: string,
  { host }: Context,
): Promise<GitHead | undefined> {
  const { baseBranch: name } = values;
  if (name === undefined || values.taskType !== 'implementation') return undefined;
  if (values.worktree === false) {
    throw new UsageError('--base-branch is for a worktree; leave it or --no-worktree out');
  }
  const git = await host.git();
  const repository = await git.repository(root);
  const found = repository && (await git.branches(root, name)).find((it) => it.name === name);
  if (found) return { commit: found.commit, branch: name };
  throw new UsageError(`there is no branch '${name}' in ${root}; check --base-branch`);
}

/**
 * Claims the stage with a worktree of its own before the rest, once it is known that the rest can
 * be done. A project without a commit has no worktrees: then all is done in its folder.
 */
async function claimFirst(
  board: Board,
  ask: (ledger: Uint8Array, facts: FactsInput) => ReturnType<Board['api']['prepareRun']>,
  request: Partial<ClaimRequest> & { claim_id: string },
): Promise<void> {
  if (board.facts.plan === '') return;
  await decide(board, ask, { dryRun: true, what: 'run' });
  if ((await board.head) === undefined) {
    say(board.context.host, 'no commit of git here, so the stage has no worktree of its own');
    return;
  }
  const { claimInWorktree } = await import('../lazy/provision.js');
  const { answer } = await claimInWorktree(board, { request, resolve: false });
  const claim_id = answer.claim_id ?? request.claim_id;
  board.facts.caller = { ...board.facts.caller, claim_id };
}

/** A run that fails behind its claim says how to go on with it. */
function sayOfClaim({ context: { host }, layout, name }: Board, claimId: string): void {
  const rows = host.readIfThere(layout.ledger);
  if (rows === undefined || !Buffer.from(rows).includes(claimId)) return;
  sayOf(
    host,
    name,
    `the stage stays claimed; run it again with OKSTRA_CLAIM_ID=${claimId}, or give it back with 'okstra stage release --claim-id ${claimId}'`,
  );
}

/** The plan of the run with what is known about it; `undefined` where its approval is held back. */
function openRun(
  values: {
    approvedPlan: string | undefined;
    approve: boolean;
    implKey: string | undefined;
    session: string | undefined;
    projectId: string | undefined;
    taskGroup: string | undefined;
    taskId: string | undefined;
    taskType: string | undefined;
  },
  root: string,
  preview: boolean,
  context: Context,
): Board | undefined {
  const { host } = context;
  const { approvedPlan: plan } = values;
  const options = {
    plan,
    taskKey: undefined,
    implKey: values.implKey,
    session: values.session,
    claimId: undefined,
    json: false,
    dryRun: preview,
  };
  const taskKey = `${values.projectId}:${values.taskGroup}:${values.taskId}`;
  if (plan === undefined) return withoutPlan(root, taskKey, context);
  let approved: string | undefined;
  if (values.approve) {
    const bytes = host.readFile(plan);
    const answer = about(plan, () => context.api(bytes.length).approvePlan(bytes));
    if (answer.held_by.length > 0) {
      for (const { code, message, range } of answer.held_by) {
        sayOf(host, `${plan}:${range.start.line}`, `${code} ${message}`);
      }
      sayOf(host, plan, 'not approved; answer what is open, then approve again');
      return undefined;
    }
    if (preview) approved = answer.text;
    else if (answer.changed) host.replaceFile(plan, bytes, answer.text);
  }
  return openBoard(options, context, {
    acts: true,
    git: true,
    root,
    taskKey,
    ...(approved === undefined ? {} : { text: approved }),
  });
}
