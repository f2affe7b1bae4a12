/** Recorded heads of finished stages after somebody rewrote history. */

import type { HeadFact, HistoryAnswer } from '../../../npm-package/src/index.js';
import { answered, type Board, decide, settle } from '../cli/board.js';
import { about, printable } from '../cli/talk.js';
import { utf8Of } from '../cli/text.js';
import type { Found, Git } from '../host/git/git.js';
import { HostError } from '../host/host.js';

/** What became of the heads; with `write` those that are certain are corrected. */
export async function heads(board: Board, write: boolean): Promise<HistoryAnswer> {
  const { host } = board.context;
  const git = await host.git();
  const folder = board.facts.project_root;
  if (folder === undefined || (await git.repository(folder)) === undefined) {
    throw new HostError('refused', folder ?? board.name, 'no git repository', 'make it one');
  }
  await settle(board);
  const facts = await factsOf(board, git, folder);
  const { answer } = await decide(
    board,
    (ledger, given) =>
      about(board.name, () => board.api.stageHistory(board.bytes, ledger, given, { heads: facts })),
    { dryRun: !write, what: 'ledger heads' },
  );
  return answer;
}

/** What git says of every recorded head. */
async function factsOf(board: Board, git: Git, folder: string): Promise<HeadFact[]> {
  const { answer } = await answered(board, (ledger, facts) =>
    about(board.name, () => board.api.stageList(board.bytes, ledger, facts)),
  );
  const { resolved } = await import('../lazy/handoff.js');
  const { stages, collectors } = await tipsOf(git, folder);
  const bases = basesOf(board);
  const facts: HeadFact[] = [];
  for (const { stage, head } of answer.stages) {
    if (head === null || head === '') continue;
    const commit = await resolved(git, folder, head);
    if (commit === undefined) {
      facts.push({ stage, head, reachable: false, candidates: [] });
      continue;
    }
    const range = { head: commit, base: bases.get(stage) ?? commit };
    let found = await git.findRewritten(folder, range, stages);
    // What okstra collected keeps an old head alive, but a new one counts for more.
    if (found.length === 0) found = await git.findRewritten(folder, range, collectors);
    const reachable = found[0]?.by === 'reachable';
    facts.push({ stage, head, reachable, candidates: reachable ? [] : found.map(candidate) });
  }
  return facts;
}

function candidate({ commit, by }: Found): HeadFact['candidates'][number] {
  return { commit, same: by === 'tree' ? 'tree' : 'patch' };
}

/** What branches, remotes and worktrees are at; apart from these the branches of okstra's own. */
async function tipsOf(git: Git, folder: string) {
  const own = new Set(await git.collectors(folder));
  const stages = new Set<string>();
  const collectors = new Set<string>();
  for (const { name, commit } of await git.branches(folder, '')) {
    (own.has(name) ? collectors : stages).add(commit);
  }
  for (const { head, branch } of await git.worktrees(folder)) {
    if (head !== undefined && branch === null) stages.add(head);
  }
  const format = '--format=%(objectname) %(refname:lstrip=3)';
  const { stdout } = await git.run(folder, ['for-each-ref', format, 'refs/remotes/']);
  for (const line of stdout.toString().split('\n')) {
    const [commit = '', name = ''] = line.split(' ');
    if (commit !== '') (own.has(name) ? collectors : stages).add(commit);
  }
  return { stages: [...stages], collectors: [...collectors] };
}

/** The commits that stages started from, as the rows of their claims say, in the rows' order. */
export function basesOf(board: Board): Map<number, string> {
  const { host } = board.context;
  const bases = new Map<number, string>();
  const bytes = host.readIfThere(board.layout.ledger) ?? new Uint8Array();
  for (const line of utf8Of(bytes).split('\n')) {
    if (!line.includes('base_commit')) continue;
    try {
      const row: unknown = JSON.parse(line);
      const { stage, base_commit: base } = row as { stage?: unknown; base_commit?: unknown };
      if (typeof stage !== 'number' || typeof base !== 'string') continue;
      if (/^[\da-f]{40}$|^[\da-f]{64}$/.test(base)) bases.set(stage, base);
    } catch {
      // What is wrong with a line, 'ledger check' says.
    }
  }
  return bases;
}

/** What became of the heads, as a person reads it. */
export function showHeads({ stages }: HistoryAnswer, write: boolean): string {
  const short = (commit: string) => printable(commit).slice(0, 7);
  const lines = stages.map(({ stage, head, fate }) => {
    const at = `stage ${stage}: ${short(head)}`;
    if (fate.kind === 'intact') return `${at} is there`;
    if (fate.kind === 'lost') return `${at} is lost: no commit has its tree or its patch`;
    if (fate.kind === 'ambiguous') {
      return `${at} could be any of ${fate.commits.map(short).join(', ')}`;
    }
    const verb = write ? 'is corrected to' : 'would be corrected to';
    return `${at} ${verb} ${short(fate.commit)}, which has the same ${fate.same}`;
  });
  return `${(lines.length === 0 ? ['no finished stages'] : lines).join('\n')}\n`;
}
