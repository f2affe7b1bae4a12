/** The wizard: what it has to know, its state in a file, and its questions in a terminal. */
import type {
  Question,
  WizardAnswer,
  WizardFacts,
  WizardNeed,
  WizardPlan,
  WizardRequest,
  WizardStage,
} from '../../../npm-package/src/index.js';
import { type Board, look, openBoard, withoutPlan } from '../cli/board.js';
import type { Context } from '../cli/context.js';
import { OK, UsageError } from '../cli/exit.js';
import type { Language } from '../cli/language.js';
import { parseFast } from '../cli/parse.js';
import { slashes } from '../cli/paths.js';
import {
  namesIn,
  okstraFolder,
  projectId,
  projectRootOf,
  readFolder,
  readObject,
} from '../cli/project.js';
import { about, explain, isNoText, isPlanError, printable, say } from '../cli/talk.js';
import { HostError } from '../host/host.js';
import type { Prompted } from '../host/prompts.js';
import { eligible } from './handoff.js';
import { listTasks } from './outcome.js';
import { readRegistry } from './provision.js';

/** A question with everything around it. */
export type Asked = Extract<WizardAnswer, { kind: 'asked' }>;

/** So often the wizard may ask for facts behind one answer. */
const MOST_ROUNDS = 1000;

/** A wizard with what it has seen so far. */
export class Wizard {
  readonly #context: Context;
  #facts: WizardFacts = nothing();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Asks the machine; looks at what it has to know. */
  async ask(request: Partial<WizardRequest>): Promise<Asked> {
    const api = this.#context.api(Number.POSITIVE_INFINITY);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const answer = api.askWizard(this.#facts, request);
      if (answer.kind === 'asked') return answer;
      await see(this.#context, this.#facts, answer.need);
    }
    throw new Error('the wizard asks for the same facts again and again');
  }

  /** Takes what was seen as old. */
  forget(): void {
    this.#facts = nothing();
  }
}

function nothing(): WizardFacts {
  return { projects: [], tasks: [], branches: [], plans: [], stages: [], files: [] };
}

/** Looks at one thing that the machine has to know. */
async function see(context: Context, facts: WizardFacts, need: WizardNeed): Promise<void> {
  const { kind, root, about: asked } = need;
  switch (kind) {
    case 'project':
      if (asked === '') facts.projects.push(...proposed(context));
      else facts.projects.push(folder(context, asked));
      return;
    case 'tasks':
      facts.tasks.push({ root, tasks: tasksOf(context, root) });
      return;
    case 'branches':
      facts.branches.push(await branchesOf(context, root, asked));
      return;
    case 'plans':
      facts.plans.push({ root, about: asked, plans: plansOf(context, root, asked) });
      return;
    case 'plan':
      facts.plans.push({ root, about: asked, plans: planAt(context, root, asked) });
      return;
    case 'stages':
      facts.stages.push(await stagesOf(context, need));
      return;
    case 'file':
      facts.files.push({ root, about: asked, there: context.host.isFile(below(root, asked)) });
  }
}

/** A path of a project; one that is absolute stays as it is. */
function below(root: string, path: string): string {
  return path.startsWith('/') || /^[a-z]:/i.test(path) ? path : `${root}/${path}`;
}

/** The same the other way: relative to the project where it is inside. */
function shortOf(root: string, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/**
 * The project of the current folder first, then those that have worktrees. One whose files cannot
 * be read is left out and named: it must not stop the work in another.
 */
function proposed(context: Context): WizardFacts['projects'] {
  const { host } = context;
  const here = slashes(host.realPath(host.cwd()));
  const root = projectRootOf(host, `${here}/.`) ?? here;
  const known = registry(context, root).map(({ project_root }) => project_root);
  return [...new Set([root, ...known])].map((path) => {
    try {
      return { ...folder(context, path), asked: '' };
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      say(host, `a project is left out: ${told(error)}`);
      // Nobody can mean it by this name: its own path is looked at anew.
      return { asked: '', root: '', there: false, okstra_root: '' };
    }
  });
}

/** An error in one line, as it is said at the end of a process. */
function told(error: unknown): string {
  let text = '';
  explain({ write: (_, line) => (text += line) }, error);
  return text.trim().split('\n').join('; ');
}

function registry(context: Context, root: string) {
  const home = slashes(context.host.realPath(context.host.home()));
  return readRegistry(withoutPlan(root, '', context), home).tasks;
}

/** A folder that may be a project. */
function folder({ host }: Context, asked: string): WizardFacts['projects'][number] {
  const home = host.env.HOME;
  const path = asked.startsWith('~/') && home !== undefined ? home + asked.slice(1) : asked;
  const root = slashes(host.realPath(path));
  const there = host.exists(root) && !host.isFile(root);
  const okstra_root = okstraFolder(host, root);
  const id = there ? projectId(host, okstra_root) : undefined;
  return { asked, root, there, okstra_root, ...(id === undefined ? {} : { id }) };
}

function tasksOf(context: Context, root: string): WizardFacts['tasks'][number]['tasks'] {
  const { tasks } = listTasks({ root, okstra: okstraFolder(context.host, root) }, context);
  return tasks
    .filter(({ task_key }) => /^[^:]+:[^:]+:./s.test(task_key))
    .map((task) => ({
      task_key: task.task_key,
      ...given('title', task.title),
      ...given('phase', task.phase),
      ...given('next_phase', task.next_phase),
      ...given('latest_report', task.latest_report),
      ...given('updated_at', task.updated_at),
    }));
}

function given<K extends string>(name: K, value: string | null): { [key in K]?: string } {
  return value === null ? {} : ({ [name]: value } as { [key in K]?: string });
}

async function branchesOf(
  context: Context,
  root: string,
  key: string,
): Promise<WizardFacts['branches'][number]> {
  const { host } = context;
  const head = await host.gitHead(root);
  if (head === undefined) return { root, about: key, branches: [], fixed: false };
  const git = await host.git();
  const words = ['--sort=-committerdate', '--format=%(refname:lstrip=2)', 'refs/heads/'];
  const { status, stdout } = await git.run(root, ['for-each-ref', ...words]);
  const branches = status === 0 ? stdout.toString().split('\n').filter(Boolean) : [];
  const task = registry(context, root).find(({ task_key }) => task_key === key);
  const fixed = task?.implementation_base != null;
  return { root, about: key, branches, fixed, ...given('current', head.branch) };
}

/** The plans of a task: its planning reports from the newest, then what else it was built by. */
function plansOf(context: Context, root: string, key: string): WizardPlan[] {
  const { host } = context;
  const api = context.api(Number.POSITIVE_INFINITY);
  const task = api.taskFolder(okstraFolder(host, root), key);
  const places = { project_root: root, task_root: task };
  const reports = namesIn(host, `${task}/runs/implementation-planning/reports`);
  const newest = api.planCandidates({ ...places, evidence: [], latest_report_path: '', reports });
  const latest = readObject(host, `${task}/task-manifest.json`)?.latestReportPath;
  const others = api.planCandidates({
    ...places,
    evidence: readFolder(host, `${task}/runs/implementation/carry`),
    latest_report_path: typeof latest === 'string' ? latest : '',
    reports: [],
  });
  return [...new Set([...newest, ...others])].flatMap((path) => planAt(context, root, path));
}

/** A plan with what the rules say of it; nothing where there is no such file. */
function planAt(context: Context, root: string, path: string): WizardPlan[] {
  const { host } = context;
  const full = slashes(host.realPath(below(root, path)));
  if (!host.isFile(full)) return [];
  const api = context.api(Number.POSITIVE_INFINITY);
  const plan = {
    ...{ path: shortOf(root, full), approved: false, held: false, errors: 1 },
    ...given('task_root', api.planLayout(full).task_root),
  };
  const bytes = host.readFile(full);
  try {
    const { findings } = api.checkPlan(bytes, { require_approval: true });
    const codes = findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
    plan.errors = codes.filter((code) => code !== 'A1' && code !== 'A2').length;
    plan.held = codes.includes('A2');
    plan.approved = plan.errors === codes.length;
  } catch (error) {
    if (!isNoText(error)) throw error;
  }
  return [plan];
}

/** The stages of a plan with their states, and which of them can be handed over. */
async function stagesOf(
  context: Context,
  need: WizardNeed,
): Promise<WizardFacts['stages'][number]> {
  const { root, about: path, task_key } = need;
  const plan = below(root, path);
  const values = {
    ...{ plan, taskKey: undefined, implKey: undefined, session: undefined, claimId: undefined },
    ...{ json: false, dryRun: true },
  };
  const board: Board = openBoard(values, context, { root, taskKey: task_key });
  const { api, bytes, name } = board;
  const { answer } = await look(
    board,
    (ledger, facts) => about(name, () => api.stageList(bytes, ledger, facts)),
    { dryRun: true, what: 'wizard' },
  );
  const handOver = new Map((await eligible(board, false)).stages.map((it) => [it.stage, it.why]));
  const rows = new Map(api.parsePlan(bytes).stages.map((row) => [row.stage_number, row]));
  const stages = answer.stages.map((it): WizardStage => {
    const { stage, title, steps, state, waits_for } = it;
    const depends_on = rows.get(stage)?.depends_on ?? [];
    const line = { stage, title, depends_on, steps, state, waits_for };
    return { ...line, ...given('not_eligible', handOver.get(stage) ?? null) };
  });
  return { root, about: path, task_key, stages };
}

// ---- in a terminal

/** The option that leads to a text of one's own. It is no value that a question has. */
const OTHER = '\0other';

/** How the process ends when the person stops it, as for a signal. */
const STOPPED = 130;

/** What the person is asked at the beginning. */
interface Beginning {
  language: Language;
  project_root?: string;
  project_id?: string;
}

/** Asks question after question, then starts the run or prints its command. */
export async function inTerminal(context: Context, beginning: Beginning): Promise<number> {
  const { host } = context;
  const wizard = new Wizard(context);
  let now = await wizard.ask(beginning);
  /** The next question; the same one where something could not be read: no answer is lost. */
  const next = async (request: Partial<WizardRequest>): Promise<Asked> => {
    try {
      return await wizard.ask({ state: now.state, ...request });
    } catch (error) {
      if (!(error instanceof HostError || isPlanError(error))) throw error;
      // Once it is put right, it is to be looked at again.
      wizard.forget();
      return { ...now, run: null, question: { ...now.question, error: told(error) } };
    }
  };
  for (;;) {
    const { question, run } = now;
    let request: Partial<WizardRequest> = {};
    if (run !== null) {
      // What others did while the questions were answered is seen here, before anything starts.
      wizard.forget();
      const sure = await next({});
      if (sure.run !== null) return start(context, sure.run);
      now = sure;
      continue;
    }
    if (question.step === 'confirmation') {
      const did = await choose(context, now, endings(now), []);
      const wish = did.kind === 'answer' ? did.values[0] : did.kind;
      if (wish === 'stop') return stopped(context, now);
      if (wish === 'back') request = { back: true };
      else if (wish === 'change') {
        const to = await whichAnswer(context, now);
        if (to === 'stop') return stopped(context, now);
        if (to !== 'back') request = { to: to.step };
      } else {
        const confirmed = await next({ answer: ['yes'] });
        if (wish === 'print' && confirmed.run !== null) {
          host.write(1, `${confirmed.run.command}\n`);
          return OK;
        }
        now = confirmed;
        continue;
      }
    } else {
      const did = await answer(context, now);
      if (did.kind === 'stop') return stopped(context, now);
      request = did.kind === 'back' ? { back: true } : { step: question.step, answer: did.values };
    }
    now = await next(request);
  }
}

/** Asks which answer is to be changed. */
async function whichAnswer(
  context: Context,
  now: Asked,
): Promise<{ step: string } | 'back' | 'stop'> {
  const lines = now.summary.map(({ step, label, value }) => ({
    value: step,
    label: `${label}: ${value}`,
  }));
  const question = { ...now.question, label: now.words.which_change };
  const did = await choose(context, { ...now, question }, lines, []);
  return did.kind === 'answer' ? { step: did.values[0] ?? '' } : did.kind;
}

/** What can be done once everything is answered. */
function endings({ words }: Asked): { value: string; label: string }[] {
  return [
    { value: 'start', label: words.start },
    { value: 'print', label: words.print },
    { value: 'change', label: words.change },
    { value: 'stop', label: words.stop },
  ];
}

function stopped({ host }: Context, { words }: Asked): number {
  say(host, words.stopped);
  return STOPPED;
}

/** Asks one question in the way of its kind. */
async function answer(context: Context, asked: Asked): Promise<Prompted> {
  const { question, words } = asked;
  const { kind, options, other } = question;
  if (kind === 'text' || (other && options.length === 0)) return write(context, asked, false);
  const shown = other ? [...options, { value: OTHER, label: words.other }] : options;
  // An answer that was written by hand is none of the options.
  const own = question.default.some((value) => options.every((option) => option.value !== value));
  const did = await choose(context, asked, shown, own && other ? [OTHER] : question.default);
  if (did.kind !== 'answer' || did.values[0] !== OTHER) return did;
  const written = await write(context, asked, !own);
  return written.kind === 'back' ? answer(context, asked) : written;
}

async function choose(
  { host }: Context,
  { question, words }: Asked,
  options: Question['options'],
  initial: readonly string[],
): Promise<Prompted> {
  const prompts = await host.prompts();
  const multi = question.kind === 'multi';
  return prompts.choose({
    ...safe(question),
    multi,
    options,
    initial,
    hint: multi ? words.multi_hint : words.pick_hint,
    search: words.search,
    noMatch: words.no_match,
  });
}

async function write({ host }: Context, asked: Asked, empty: boolean): Promise<Prompted> {
  const { question, words } = asked;
  const initial = empty ? '' : printable(question.default[0] ?? '');
  const prompts = await host.prompts();
  return prompts.write({ ...safe(question), hint: words.text_hint, initial });
}

/** The words of a question. The core has cleaned them; an error may quote what a system says. */
function safe({ label, error }: Question): { label: string; error: string | undefined } {
  return {
    label: label.split('\n').map(printable).join('\n'),
    error: error === undefined ? undefined : printable(error),
  };
}

/** Starts the run as its command would. */
async function start(context: Context, run: NonNullable<Asked['run']>): Promise<number> {
  say(context.host, run.command);
  const load = context.commands.run;
  const parsed = load === undefined ? undefined : parseFast({ run: await load() }, run.argv);
  if (parsed === undefined) throw new UsageError(`'${run.command}' cannot be read`);
  return parsed.command.run(parsed.args, parsed.values as never, context);
}

// ---- with the state in a file

/** Begins a wizard whose state is kept in a file that is not there yet. */
export async function begin(
  context: Context,
  stateFile: string,
  beginning: Beginning,
): Promise<Asked> {
  const { host } = context;
  const asked = await new Wizard(context).ask(beginning);
  try {
    host.writeNew(stateFile, asked.state);
  } catch (error) {
    if (!(error instanceof HostError) || error.reason !== 'exists') throw error;
    const help = "go on with 'okstra wizard step', or give another file";
    throw new HostError('exists', stateFile, 'there is a state of a wizard already', help);
  }
  return asked;
}

/**
 * Goes on from the state in a file, which is replaced as a whole. Nobody waits: of two that go on
 * at the same moment one is refused, since its answer is for a question that is answered now.
 */
export async function goOn(
  context: Context,
  stateFile: string,
  request: (asked: Asked) => Partial<WizardRequest>,
): Promise<Asked> {
  const { host } = context;
  const real = slashes(host.realPath(stateFile));
  const api = context.api(Number.POSITIVE_INFINITY);
  const lock = `${host.home()}/locks/${api.lockName(real)}`;
  const step = async () => {
    const bytes = host.readFile(stateFile);
    const wizard = new Wizard(context);
    const state = stateOf(bytes, stateFile);
    const shown = await aboutState(stateFile, () => wizard.ask({ state }));
    const asked = await wizard.ask({ state, ...request(shown) });
    // What was asked for is a question that does not stand any more: what is wrong is said first.
    const answer = shown.question.error === undefined ? asked : shown;
    if (answer.state !== state) host.replaceFile(stateFile, bytes, answer.state);
    return answer;
  };
  return host.withLock(lock, 'okstra wizard step', 0, step).catch((error: unknown) => {
    if (!(error instanceof HostError) || error.reason !== 'locked') throw error;
    const help = 'ask for the question again when that has ended';
    throw new HostError('locked', stateFile, 'another step of this wizard is under way', help);
  });
}

/** Reads the state in a file and changes nothing. */
export async function readState(
  context: Context,
  stateFile: string,
  request: Partial<WizardRequest>,
): Promise<Asked> {
  const state = stateOf(context.host.readFile(stateFile), stateFile);
  return aboutState(stateFile, () => new Wizard(context).ask({ state, ...request }));
}

function stateOf(bytes: Uint8Array, stateFile: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const help = 'begin again with another file';
    throw new HostError('unreadable', stateFile, 'not UTF-8, so no state of a wizard', help);
  }
}

/** Does what fails for a state that cannot be used, so that the file is named. */
async function aboutState<T>(stateFile: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return about(stateFile, () => {
      throw error;
    });
  }
}
