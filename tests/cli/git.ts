/** A repository in memory: commits with parents, branches, worktrees, and what goes wrong. */
import type {
  Added,
  Branch,
  Cleaned,
  Collected,
  Collector,
  Forecast,
  Found,
  Git,
  GitRun,
  Linked,
  Merge,
  Merged,
  NewWorktree,
  OldWorktree,
  Pair,
  PatchId,
  Push,
  Range,
  Removed,
  Repository,
  Status,
  Worktree,
} from '../../cli-js/src/host/git/git.js';
import { HostError } from '../../cli-js/src/host/host.js';

const CLEAN: Status = {
  clean: true,
  staged: [],
  changed: [],
  untracked: [],
  conflicted: [],
  submodules: [],
};

export class GitWorld implements Git {
  /** `undefined`: the project is in no repository. */
  at: Repository | undefined;
  /** The parents of every commit. */
  readonly parents = new Map<string, string[]>();
  readonly refs = new Map<string, string>();
  trees: Worktree[] = [];
  /** What is not committed, by folder. */
  readonly dirt = new Map<string, Partial<Status>>();
  /** Which commits cannot be merged, and over which files. */
  readonly conflicts: { one: string; other: string; files: string[] }[] = [];
  /** What became of commits whose history was rewritten. */
  readonly rewritten = new Map<string, Found[]>();
  /** Folders of worktrees and what was linked into them. */
  readonly links = new Map<string, string[]>();
  /** The branches that remotes have. */
  readonly remote = new Map<string, string>();
  /** What the next call of a function throws. */
  readonly faults = new Map<keyof Git, Error>();
  /** Every call that changes something. */
  readonly calls: [name: keyof Git, argument: unknown][] = [];
  #made = 0;

  /** A new commit. */
  commit(...parents: string[]): string {
    this.#made += 1;
    const id = this.#made.toString(16).padStart(40, 'c');
    this.parents.set(id, parents);
    return id;
  }

  /** A repository with one commit on `main`, in which the project lies. */
  init(topLevel = '/desk'): string {
    const first = this.commit();
    this.refs.set('main', first);
    this.trees = [this.#tree(topLevel, 'main')];
    this.at = {
      commonDir: `${topLevel}/.git`,
      topLevel,
      prefix: '',
      bare: false,
      shallow: false,
      head: { commit: first, branch: 'main' },
      unborn: false,
    };
    return first;
  }

  #tree(path: string, branch: string): Worktree {
    const head = this.refs.get(branch);
    return { path, head, branch, bare: false, locked: undefined, prunable: undefined };
  }

  /** Notes a call, or fails as it was told to. */
  #call(name: keyof Git, argument: unknown): void {
    this.calls.push([name, argument]);
    const fault = this.faults.get(name);
    if (fault === undefined) return;
    this.faults.delete(name);
    throw fault;
  }

  async run(_folder: string, args: readonly string[]): Promise<GitRun> {
    this.#call('run', args);
    return { status: 0, stdout: Buffer.alloc(0), stderr: '' };
  }

  async repository(): Promise<Repository | undefined> {
    return this.at;
  }

  #contains(newer: string, older: string): boolean {
    if (newer === older) return this.parents.has(newer);
    return (this.parents.get(newer) ?? []).some((parent) => this.#contains(parent, older));
  }

  async ancestor(_folder: string, older: string, newer: string): Promise<boolean> {
    return this.#contains(newer, older);
  }

  async ancestors(_folder: string, pairs: readonly Pair[]): Promise<boolean[]> {
    return pairs.map(({ older, newer }) => this.#contains(newer, older));
  }

  async exists(_folder: string, commit: string): Promise<boolean> {
    return this.parents.has(commit);
  }

  async existing(_folder: string, commits: readonly string[]): Promise<boolean[]> {
    return commits.map((commit) => this.parents.has(commit));
  }

  async branches(_folder: string, prefix: string): Promise<Branch[]> {
    const all = [...this.refs].map(([name, commit]) => ({ name, commit }));
    return all.filter(({ name }) => name.startsWith(prefix));
  }

  async worktrees(): Promise<Worktree[]> {
    return this.trees.map((tree) => ({
      ...tree,
      head: tree.branch === null ? tree.head : this.refs.get(tree.branch),
    }));
  }

  async status(folder: string): Promise<Status> {
    const found = { ...CLEAN, ...this.dirt.get(folder) };
    return { ...found, clean: !this.dirt.has(folder) };
  }

  async addWorktree(
    { path, branch, base }: NewWorktree,
    work: () => Promise<void> = async () => {},
  ): Promise<Added> {
    this.#call('addWorktree', { path, branch, base });
    if (this.trees.some((tree) => tree.path === path && tree.branch === branch)) {
      return { created: false };
    }
    if (this.refs.has(branch)) {
      throw new HostError('exists', branch, 'there is a branch of that name', 'rename it');
    }
    if (this.trees.some((tree) => tree.path === path)) {
      throw new HostError('exists', path, 'something is here', 'move it away');
    }
    this.refs.set(branch, base);
    this.trees.push(this.#tree(path, branch));
    try {
      await work();
    } catch (error) {
      this.#forget(path, branch);
      throw error;
    }
    return { created: true };
  }

  #forget(path: string, branch: string | undefined): void {
    this.trees = this.trees.filter((tree) => tree.path !== path);
    if (branch !== undefined) this.refs.delete(branch);
  }

  async removeWorktree({ path, branch, force }: OldWorktree): Promise<Removed> {
    this.#call('removeWorktree', { path, branch, force });
    if (this.dirt.has(path) && force !== true) {
      throw new HostError('refused', path, 'not committed: something', 'commit it');
    }
    const worktree = this.trees.some((tree) => tree.path === path);
    const at = branch === undefined ? undefined : this.refs.get(branch);
    this.#forget(path, branch);
    return { worktree, branch: at };
  }

  async cleanHalf({ path, branch }: NewWorktree): Promise<Cleaned> {
    this.#call('cleanHalf', { path, branch });
    const removed = this.refs.has(branch) ? ['worktree', 'branch'] : [];
    this.#forget(path, branch);
    return { removed, kept: [] };
  }

  #conflict(one: string, other: string): string[] | undefined {
    const has = (commit: string, old: string) => this.#contains(commit, old);
    return this.conflicts.find(
      (each) =>
        (has(one, each.one) && has(other, each.other)) ||
        (has(one, each.other) && has(other, each.one)),
    )?.files;
  }

  async mergeCommits(folder: string, ours: string, theirs: readonly string[]) {
    const forecast = await this.mergeForecast(folder, ours, theirs);
    if (!forecast.clean) return { ...forecast, commit: ours };
    return {
      clean: true as const,
      commit: theirs.length === 0 ? ours : this.commit(ours, ...theirs),
    };
  }

  async mergeForecast(_folder: string, ours: string, theirs: readonly string[]): Promise<Forecast> {
    const before = [ours];
    for (const against of theirs) {
      for (const commit of before) {
        const files = this.#conflict(commit, against);
        if (files === undefined) continue;
        return { clean: false, files, against, with: commit, unrelated: false };
      }
      before.push(against);
    }
    return { clean: true, tree: 'e'.repeat(40) };
  }

  async mergeInto(worktree: string, { commits, leaveOpen = false }: Merge): Promise<Merged> {
    this.#call('mergeInto', { worktree, commits, leaveOpen });
    const branch = this.trees.find((tree) => tree.path === worktree)?.branch ?? 'main';
    let head = this.refs.get(branch) ?? '';
    for (const [i, against] of commits.entries()) {
      const files = this.#conflict(head, against);
      if (files !== undefined) {
        const remaining = commits.slice(i + 1);
        return { merged: false, files, against, open: leaveOpen, remaining };
      }
      if (!this.#contains(head, against)) head = this.commit(head, against);
    }
    this.refs.set(branch, head);
    return { merged: true, head };
  }

  async collect(folder: string, wanted: Collector): Promise<Collected> {
    const { branch, base, heads, dryRun } = wanted;
    if (!dryRun) this.#call('collect', { branch, base, heads });
    const [start = base, ...merges] = heads;
    const now = this.refs.get(branch);
    if (now !== undefined) return { kind: 'unchanged', start: now, merges: [], commit: now };
    const forecast = await this.mergeForecast(folder, start, merges);
    if (!forecast.clean) return { kind: 'conflict', start, ...forecast };
    if (dryRun) return { kind: 'new', start, merges, commit: undefined };
    const commit = merges.length === 0 ? start : this.commit(start, ...merges);
    this.refs.set(branch, commit);
    return { kind: 'new', start, merges, commit };
  }

  async collectors(): Promise<string[]> {
    return [...this.refs.keys()].filter((name) => name.includes('-collect'));
  }

  async linkSyncDirs(_project: string, worktree: string, dirs: readonly string[]): Promise<Linked> {
    this.#call('linkSyncDirs', { worktree, dirs });
    this.links.set(worktree, [...dirs]);
    return { linked: [...dirs], warnings: [] };
  }

  unlinkSyncDirs(_project: string, worktree: string, dirs: readonly string[]): string[] {
    this.#call('unlinkSyncDirs', { worktree, dirs });
    const linked = this.links.get(worktree) ?? [];
    this.links.delete(worktree);
    return linked;
  }

  async treeOf(_folder: string, commit: string): Promise<string | undefined> {
    return this.parents.has(commit) ? `e${commit.slice(1)}` : undefined;
  }

  async patchIds(_folder: string, { head }: Range): Promise<PatchId[]> {
    return [{ commit: head, id: `d${head.slice(1)}` }];
  }

  async findRewritten(folder: string, { head }: Range, tips: readonly string[]): Promise<Found[]> {
    const contained = await this.ancestors(
      folder,
      tips.map((newer) => ({ older: head, newer })),
    );
    if (contained.includes(true)) return [{ commit: head, by: 'reachable' }];
    return this.rewritten.get(head) ?? [];
  }

  async pushNew(push: Push): Promise<{ pushed: boolean }> {
    this.#call('pushNew', push);
    const commit = this.refs.get(push.branch);
    if (commit === undefined || push.base.includes(push.branch)) {
      throw new HostError('refused', push.branch, 'never pushed', 'name another branch');
    }
    const pushed = this.remote.get(push.branch) !== commit;
    this.remote.set(push.branch, commit);
    return { pushed };
  }
}
