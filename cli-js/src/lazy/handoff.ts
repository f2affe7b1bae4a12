/** Handing finished stages over: what may go, the collector branch, the pull request. */
import type {
  AssembleAnswer,
  AssemblePlan,
  HandoffAnswer,
  HandoffRequest,
  HandoffStage,
  ReportFile,
} from '../../../npm-package/src/index.js';
import { type Board, decide, look, registryKey, slashes } from '../cli/board.js';
import { UsageError } from '../cli/exit.js';
import { readFolder } from '../cli/project.js';
import { about, printable } from '../cli/talk.js';
import type { Collected, Git } from '../host/git/git.js';
import { HostError } from '../host/host.js';
import type { Style } from './stage.js';

/** What is handed over and where to. */
export interface HandOver {
  stages: readonly number[];
  /** Whether also stages go that are in a pull request. */
  again: boolean;
  /** The branch that the pull request goes to. */
  baseBranch: string | undefined;
  remote: string;
}

/** Instead of a hand-over: everything that is finished, put together on the task's own branch. */
export const FINISHED = { finished: true } as const;

/** Everything that is known before anything is done. */
export interface Prepared {
  git: Git;
  folder: string;
  base: string;
  baseBranch: string;
  remote: string;
  again: boolean;
  answer: AssembleAnswer;
  plan: AssemblePlan;
  /** The stages of every commit that is merged. */
  stagesOf: Map<string, number[]>;
}

/** Which stages may be handed over. */
export async function eligible(board: Board, again: boolean): Promise<HandoffAnswer> {
  const request = { again, reports: reportsOf(board) };
  const { answer } = await look(
    board,
    (ledger, facts) =>
      about(board.name, () => board.api.handOver(board.bytes, ledger, facts, request)),
    { dryRun: true, what: 'handoff show' },
  );
  return answer;
}

/** The finished stages with the commits that they ended with; rows lost in a crash are restored. */
export async function finishedStages(board: Board, dryRun: boolean): Promise<HandoffStage[]> {
  const { answer } = await look(
    board,
    (ledger, facts) =>
      about(board.name, () => board.api.handOver(board.bytes, ledger, facts, FINISHED)),
    { dryRun, what: 'container' },
  );
  return answer.stages.filter(({ reason }) => reason === null);
}

/** How the chosen stages are put together; nothing is changed. */
export async function prepare(board: Board, meant: HandOver | typeof FINISHED): Promise<Prepared> {
  const finished = 'finished' in meant;
  const wanted = finished ? { stages: [], again: true, baseBranch: '', remote: '' } : meant;
  const { host } = board.context;
  const git = await host.git();
  const folder = board.facts.project_root;
  const head = folder === undefined ? undefined : (await git.repository(folder))?.head;
  if (folder === undefined || head === undefined) {
    const help = 'commits are handed over, so make it one and commit';
    throw new HostError('refused', folder ?? board.name, 'no git repository', help);
  }
  const { prefix, base: begun } = await begunAt(board, git, folder);
  // What nothing was started of begins where the project is.
  const started = begun ?? (finished ? head.commit : undefined);
  const baseBranch = wanted.baseBranch ?? (await defaultBranch(git, folder, wanted.remote));
  const request: Partial<HandoffRequest> = {
    stages: [...wanted.stages],
    again: wanted.again,
    finished,
    reports: finished ? [] : reportsOf(board),
    prefix,
    base_branch: baseBranch,
    ...(started === undefined ? {} : { implementation_base: started }),
  };
  const commits = new Map<string, string>();
  for (let round = 0; round < 3; round += 1) {
    const { answer } = await look(
      board,
      (ledger, facts) =>
        about(board.name, () => board.api.assembleHandOver(board.bytes, ledger, facts, request)),
      { dryRun: true, what: 'handoff assemble' },
    );
    const { assembling } = answer;
    if (assembling.kind === 'plan') {
      const { plan } = assembling;
      const base = await fullId(git, folder, plan.base, 'the commit that the task started from');
      const stagesOf = new Map<string, number[]>();
      for (const { commit, stages } of plan.merges) {
        stagesOf.set(await full(commit, `the commit of ${namesOf(stages)}`), stages);
      }
      const { remote, again } = wanted;
      return { git, folder, base, baseBranch, remote, again, answer, plan, stagesOf };
    }
    const pairs = [];
    for (const { older, newer } of assembling.ancestry) {
      pairs.push({ older: await full(older), newer: await full(newer) });
    }
    const contained = await git.ancestors(folder, pairs);
    request.ancestry = assembling.ancestry.map((pair, at) => ({
      ...pair,
      contained: contained[at] ?? false,
    }));
  }
  throw new Error('the core asks for the same history twice');

  async function full(commit: string, what = 'the commit of a stage'): Promise<string> {
    const known = commits.get(commit);
    if (known !== undefined) return known;
    const id = await fullId(git, folder ?? '', commit, what);
    commits.set(commit, id);
    return id;
  }
}

/** Makes the collector branch, or says what would come of it. */
export async function assemble(
  board: Board,
  { git, folder, base, again, plan, stagesOf }: Prepared,
  dryRun: boolean,
): Promise<Exclude<Collected, { kind: 'conflict' }>> {
  const heads = [...stagesOf.keys()];
  const collected = await git.collect(folder, {
    branch: plan.branch,
    base,
    heads,
    message: (head) => `Merge ${namesOf(stagesOf.get(head) ?? [])} into ${plan.branch}`,
    again,
    dryRun,
  });
  if (collected.kind !== 'conflict') return collected;
  const { against } = collected;
  // With all of them at once it may be none of them alone; then the first stands for all.
  let other = collected.with;
  if (other === undefined || !stagesOf.has(other)) {
    other = heads[0];
    for (const head of heads.slice(0, heads.indexOf(against))) {
      if ((await git.mergeForecast(folder, head, [against])).clean) continue;
      other = head;
      break;
    }
  }
  const files = collected.files.length > 0 ? collected.files : ['(no common history)'];
  const [first = 0, second = 0] = [other ?? '', against].map((it) => stagesOf.get(it)?.[0]);
  about(board.name, () => board.api.checkMerge({ stage: 0, conflict: { first, second, files } }));
  throw new Error('a conflict was not refused');
}

/** What became of a pull request. */
export interface Opened {
  pushed: boolean;
  url: string;
  /** Whether it was open before. */
  before: boolean;
}

/** Pushes the collector branch, opens its pull request and records it. */
export async function open(
  board: Board,
  { git, folder, baseBranch, remote, again, answer, plan }: Prepared,
  draft: boolean,
): Promise<Opened> {
  const { host } = board.context;
  const { branch } = plan;
  const { pushed } = await git.pushNew({ folder, remote, branch, base: [baseBranch] });
  const gh = await host.gh();
  let url: string | undefined;
  let before = false;
  try {
    const { title, body } = answer.pull_request;
    url = await gh.createPullRequest({
      folder,
      base: baseBranch,
      head: branch,
      title,
      body,
      draft,
    });
  } catch (error) {
    // Opened by a run that was killed before it could record it, or by hand.
    const known = error instanceof HostError && error.reason === 'exists';
    url = known ? /https?:\/\/\S+/.exec(error.message)?.[0] : undefined;
    if (url === undefined) throw error;
    before = true;
  }
  const number = /\/(?:pull|merge_requests)\/(\d{1,9})\b/.exec(url)?.[1];
  if (url === '' && number === undefined) {
    const help = `record it: okstra stage pr --stages ${answer.stages.join(',')} --url ADDRESS`;
    throw new HostError('other', 'gh', 'opened a pull request and named no address', help);
  }
  const request = {
    stages: answer.stages,
    pr_url: url,
    ...(number === undefined ? {} : { pr_number: Number(number) }),
    force_reappend: again,
  };
  await decide(
    board,
    (ledger, facts) =>
      about(board.name, () => board.api.stagePr(board.bytes, ledger, facts, request)),
    { dryRun: false, what: 'handoff pr' },
  );
  return { pushed, url, before };
}

/** The command line with which the same hand-over is asked for again. */
export interface Words {
  /** What names the task. */
  task: readonly string[];
  /** What else was given. */
  more: readonly string[];
}

/** The commands with which a person does the same. */
export function byHand(
  { plan, baseBranch, remote, answer }: Prepared,
  { task, more }: Words,
  draft: boolean,
): string[] {
  const line = (...words: string[]) => words.map(quoted).join(' ');
  const what = [`--title=${answer.pull_request.title}`, `--base=${baseBranch}`];
  const how = [`--head=${plan.branch}`, ...(draft ? ['--draft'] : []), '--body-file=-'];
  const text = `${line('okstra', 'handoff', 'pr', ...task, ...more)} | tail -n +3`;
  return [
    line('git', 'push', remote, plan.refspec),
    `${text} | ${line('gh', 'pr', 'create', ...what, ...how)}`,
    `${line('okstra', 'stage', 'pr', ...task, '--stages', answer.stages.join(','))} --url ADDRESS`,
  ];
}

/** A word for a shell. */
function quoted(word: string): string {
  const safe = printable(word);
  return /^[\w@%+=:,./-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}

/** The stages with whether they may go, as a person reads them. */
export async function showEligible(answer: HandoffAnswer, style: Style): Promise<string> {
  const { table } = await import('../lazy/stage.js');
  const rows = answer.stages.map(({ stage, title, head, why }) => [
    String(stage),
    printable(title),
    why === null ? '✓ yes' : `· no: ${printable(why)}`,
    printable(head).slice(0, 7),
  ]);
  const shown = await table(['stage', 'title', 'can go', 'head'], rows, ['title', 'can go'], style);
  const { whole_task: whole } = answer;
  const verdict = whole === null ? 'none' : (whole.verdict ?? 'of an unknown word');
  const report = whole === null ? '' : ` (${printable(whole.report_path)})`;
  const count = answer.eligible.length;
  const said = count === 0 ? 'nothing can be handed over' : `${namesOf(answer.eligible)} can go`;
  return `${shown}\nverification of the whole task: ${verdict}${report}\n${said}\n`;
}

/** What was merged, or would be. */
export function showCollected(
  collected: Exclude<Collected, { kind: 'conflict' }>,
  { plan, stagesOf, base }: Prepared,
  dryRun: boolean,
): string {
  const { kind, start, merges, commit } = collected;
  const of = (head: string) => `${head.slice(0, 7)} (${namesOf(stagesOf.get(head) ?? [])})`;
  const from = stagesOf.has(start)
    ? of(start)
    : `${start.slice(0, 7)} (${start === base ? 'where the task started' : 'the branch as it was'})`;
  const dropped = plan.dropped.length === 0 ? [] : [`contained: ${namesOf(plan.dropped)}`];
  if (kind === 'unchanged') {
    return `${plan.branch} is as it should be, at ${start.slice(0, 7)}\n`;
  }
  const verb = { new: 'made', extended: 'extended', rebuilt: 'made anew' }[kind];
  const head = dryRun
    ? `${plan.branch} would be ${verb}`
    : `${plan.branch} is ${verb}, at ${commit?.slice(0, 7)}`;
  const lines = [`from ${from}`, ...merges.map((merge) => `merge ${of(merge)}`), ...dropped];
  return `${[head, ...lines.map((line) => `  ${line}`)].join('\n')}\n`;
}

/** `stage 1`, `stages 1, 2`. */
function namesOf(stages: readonly number[]): string {
  return `stage${stages.length === 1 ? '' : 's'} ${stages.join(', ')}`;
}

/** The verification reports of the task. */
function reportsOf(board: Board): ReportFile[] {
  const { task_root: task } = board.layout;
  if (task === null) return [];
  const folder = `${task}/runs/final-verification/reports`;
  const root = board.facts.project_root;
  const inside = root !== undefined && folder.startsWith(`${root}/`);
  const path = inside ? folder.slice(root.length + 1) : folder;
  return readFolder(board.context.host, folder)
    .filter(({ name }) => name.endsWith('.data.json'))
    .map(({ name, text }) => ({ path: `${path}/${name}`, text }));
}

/** The prefix of the task's branches, and the commit that its first stage started from. */
async function begunAt(
  board: Board,
  git: Git,
  folder: string,
): Promise<{ prefix: string; base: string | undefined }> {
  const { host } = board.context;
  const { readRegistry, settingsOf } = await import('../lazy/provision.js');
  const home = slashes(host.realPath(host.home()));
  const key = registryKey(board);
  const registered = readRegistry(board, home).tasks.find(({ task_key }) => task_key === key);
  const { category } = settingsOf(board, folder);
  const { prefix } = board.api.worktreePlaces({
    home,
    task_key: key,
    project_root: folder,
    stage: 0,
    ...(category === undefined ? {} : { category }),
    ...(registered === undefined ? {} : { prefix: registered.prefix }),
  });
  const known = registered?.implementation_base;
  if (known != null) return { prefix, base: known };
  // Stages that were built in the project's own folder.
  const { basesOf } = await import('../lazy/history.js');
  const bases = [...basesOf(board).values()];
  const [there = []] = [await git.existing(folder, bases)];
  return { prefix, base: bases.find((_, at) => there[at]) };
}

/** The branch that pull requests go to, where nobody says it. */
async function defaultBranch(git: Git, folder: string, remote: string): Promise<string> {
  const ref = `refs/remotes/${remote}/HEAD`;
  const ran = await git.run(folder, ['symbolic-ref', '--quiet', ref]);
  const start = `refs/remotes/${remote}/`;
  const named = ran.stdout.toString().trim();
  if (ran.status === 0 && named.startsWith(start)) return named.slice(start.length);
  const names = (await git.branches(folder, 'ma')).map(({ name }) => name);
  const found = ['main', 'master'].find((name) => names.includes(name));
  if (found !== undefined) return found;
  throw new UsageError('to which branch does the pull request go? give --base-branch BRANCH');
}

async function fullId(git: Git, folder: string, commit: string, what: string): Promise<string> {
  const found = await resolved(git, folder, commit);
  if (found !== undefined) return found;
  const help = "fetch it; if history was rewritten, 'okstra ledger heads' finds it";
  throw new HostError('refused', folder, `${what} (${commit}) is not in this repository`, help);
}

/** The full id of a commit that a ledger names; `undefined` where it is not there. */
export async function resolved(
  git: Git,
  folder: string,
  commit: string,
): Promise<string | undefined> {
  if (/^[\da-f]{40}$|^[\da-f]{64}$/.test(commit)) {
    return (await git.exists(folder, commit)) ? commit : undefined;
  }
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`];
  const { status, stdout } = await git.run(folder, words);
  return status === 0 ? stdout.toString().trim() || undefined : undefined;
}
