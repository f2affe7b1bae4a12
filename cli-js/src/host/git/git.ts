/**
 * Git as the commands see it. All paths are absolute, all commits are full ids. What git cannot do
 * is a HostError with git's own words; what is a matter of course (a conflict, no repository) is
 * an answer.
 *
 * Paths that are not UTF-8 lose what cannot be read of them.
 */
import type { GitHead } from '../host.js';
import type { Spawned } from '../spawn.js';

export interface Git {
  /**
   * Runs git in a folder. Variables that lead it elsewhere (GIT_DIR and the like) are not handed
   * on, it asks nobody, speaks English and takes no lock just to look. Nothing is ever pushed by
   * this; see {@link Git.pushNew}.
   * @throws HostError where git or the folder is missing
   */
  run(folder: string, args: readonly string[], options?: GitOptions): Promise<GitRun>;

  /**
   * The repository a folder is in; `undefined` where it is in none.
   * @throws HostError where there is one and git is missing or refuses to read it
   */
  repository(folder: string): Promise<Repository | undefined>;
  /** Whether `newer` contains `older`. A commit that is not there contains nothing. */
  ancestor(folder: string, older: string, newer: string): Promise<boolean>;
  /** The same for many pairs: one process for each different `newer`, at most four at a time. */
  ancestors(folder: string, pairs: readonly Pair[]): Promise<boolean[]>;
  /** Whether a commit is in the repository. */
  exists(folder: string, commit: string): Promise<boolean>;
  /** The same for many, in one process. */
  existing(folder: string, commits: readonly string[]): Promise<boolean[]>;
  /** The local branches whose names begin so. */
  branches(folder: string, prefix: string): Promise<Branch[]>;
  /** All worktrees of the repository, the main one first. */
  worktrees(folder: string): Promise<Worktree[]>;
  /**
   * What is not committed in the tree that a folder is in. `ignore` are paths relative to the
   * folder that do not count: okstra's own and those linked in.
   */
  status(folder: string, ignore?: readonly string[]): Promise<Status>;

  /**
   * Makes a branch at `base` and a worktree on it, then does `work`; where any of it fails, all is
   * undone: worktree, branch, folder and git's entry. Waits for others only where git's lock files
   * are in the way. Submodules are as git leaves them: empty folders, until somebody runs
   * `git submodule update --init` in the worktree. A shallow clone works where it has `base`.
   *
   * A worktree that is there already on that branch and contains `base` is answered as it is,
   * without `work`.
   * @throws HostError `exists` where branch or folder are something else; `missing` without `base`
   */
  addWorktree(wanted: NewWorktree, work?: () => Promise<void>): Promise<Added>;
  /**
   * Takes away a worktree and, where it is named, the branch made with it. Nothing is lost without
   * `force`: neither changes nor commits that no other branch or tag contains. What is gone
   * already is no fault. Only git deletes folders, after the links of okstra are taken out.
   * @throws HostError `refused` with what would be lost, or where the current folder is inside
   */
  removeWorktree(what: OldWorktree): Promise<Removed>;
  /**
   * Takes away what {@link Git.addWorktree} left behind when it was killed. Without `force` what
   * somebody may have worked in stays: a finished worktree with changes, a branch that is not at
   * `base` any more.
   * @throws HostError `locked` where that git still runs
   */
  cleanHalf(half: NewWorktree & { force?: boolean }): Promise<Cleaned>;

  /**
   * What merging `theirs` into `ours`, one after the other, would come to. Touches no branch, no
   * index and no worktree; objects it makes are nobody's and go with git's next clean-up.
   * @throws HostError `missing` without one of the commits; where git is older than 2.38
   */
  mergeForecast(folder: string, ours: string, theirs: readonly string[]): Promise<Forecast>;
  /**
   * Merges `theirs` into `ours`, one after the other, each as a commit of its own that no branch
   * has yet. Touches no branch, no index and no worktree. Of a conflict the answer is what came
   * before it.
   * @throws HostError as {@link Git.mergeForecast}
   */
  mergeCommits(
    folder: string,
    ours: string,
    theirs: readonly string[],
    message: (commit: string) => string,
  ): Promise<MergedCommits>;
  /**
   * Merges commits into a worktree without changes, one after the other, each as a commit of its
   * own; those that are contained already are left out. Where the person has no name in git,
   * okstra's is used. The person's hooks run.
   *
   * A conflict is answered: without `leaveOpen` all is as it was before, with it the merge with
   * the conflict waits to be finished.
   */
  mergeInto(worktree: string, merge: Merge): Promise<Merged>;

  /**
   * Merges heads one after the other into a branch that is okstra's own. Touches no worktree and no
   * index. Where the branch is there already, what is missing is merged on top; only what okstra
   * made itself and nobody added to is made anew, and only with `again`. A conflict is an answer,
   * and nothing is left behind.
   * @throws HostError `exists` where the branch is somebody else's; `refused`
   */
  collect(folder: string, collector: Collector): Promise<Collected>;
  /** The branches that {@link Git.collect} made. */
  collectors(folder: string): Promise<string[]>;

  /**
   * Links folders of the project (its `worktreeSyncDirs`) into a worktree. `worktree` is the folder
   * in the worktree that stands for the project's. What is there stays.
   *
   * A link must not be committed by `git add .`, and `.gitignore` often says `name/`, which means
   * no link. Git has one exclude file for all worktrees. So a link that git would see is excluded
   * there only if the folder is ignored in the project already: then nothing changes for whoever
   * looks at the project. For all others the warning says that it is to be ignored.
   */
  linkSyncDirs(project: string, worktree: string, dirs: readonly string[]): Promise<Linked>;
  /** Takes out the links that {@link Git.linkSyncDirs} made, and nothing else; answers which. */
  unlinkSyncDirs(project: string, worktree: string, dirs: readonly string[]): string[];

  /** The tree of a commit; `undefined` where it is not there. */
  treeOf(folder: string, commit: string): Promise<string | undefined>;
  /** What each commit of a range changes, by git's stable patch id; the newest first. */
  patchIds(folder: string, range: Range): Promise<PatchId[]>;
  /**
   * Which commits now could be what `head` was before history was rewritten: the same tree, else the
   * same change as the whole range from `base` (a squash), else the same change as `head` alone.
   * Looked for in what the tips contain. Only where there is exactly one it is certain.
   */
  findRewritten(folder: string, recorded: Range, tips: readonly string[]): Promise<Found[]>;

  /**
   * Pushes a branch that is new to the remote, or adds to what it has of it. Never with force,
   * never to one of the `base` branches or the remote's own default branch.
   * @throws HostError `refused`
   */
  pushNew(push: Push): Promise<{ pushed: boolean }>;
}

export interface GitOptions {
  /** Variables on top of the environment. */
  env?: Readonly<Record<string, string>>;
  /** What git reads on standard input. */
  input?: string | Uint8Array;
  /** Nothing else is done until it has ended: for a command that has nothing else to do. */
  alone?: boolean;
}

export type GitRun = Spawned;

export interface Repository {
  /** The folder that all worktrees share. */
  commonDir: string;
  /** The top folder of this worktree; `undefined` in a bare repository. */
  topLevel: string | undefined;
  /** The folder that was asked about, from the top: `''` or `packages/app/`. */
  prefix: string;
  bare: boolean;
  shallow: boolean;
  /** `undefined` where there is no commit yet. */
  head: GitHead | undefined;
  /** Whether there is no commit yet. */
  unborn: boolean;
}

export interface Pair {
  older: string;
  newer: string;
}

export interface Branch {
  /** Without `refs/heads/`. */
  name: string;
  commit: string;
}

export interface Worktree {
  path: string;
  /** `undefined` for a bare repository and where git cannot read it. */
  head: string | undefined;
  /** `null` where the head is detached. */
  branch: string | null;
  bare: boolean;
  /** Why it is locked, which may be empty. `initializing` is git's own, while it makes one. */
  locked: string | undefined;
  /** Why git would forget it: as a rule, since its folder is gone. */
  prunable: string | undefined;
}

/** Paths are relative to the top of the worktree; one that is changed twice stands in two lists. */
export interface Status {
  clean: boolean;
  staged: string[];
  changed: string[];
  untracked: string[];
  conflicted: string[];
  /** Submodules with other commits, changes or new files; they stand in the lists above too. */
  submodules: string[];
}

export interface NewWorktree {
  /** Any folder of the repository. */
  repository: string;
  path: string;
  branch: string;
  base: string;
  /** What `work` links into it: taken out before git removes it again. */
  links?: Links | undefined;
}

export interface Added {
  /** `false` where it was there before. */
  created: boolean;
  /** What a hook of the project had against it; git makes the worktree all the same. */
  warning?: string;
}

export interface OldWorktree {
  /** A folder of the repository, not in the worktree. */
  repository: string;
  path: string;
  /** The branch that was made with it; without it, branches stay. */
  branch?: string | undefined;
  force?: boolean | undefined;
  /** What was linked into it. */
  links?: Links | undefined;
}

/** What {@link Git.linkSyncDirs} was told. */
export interface Links {
  project: string;
  worktree: string;
  dirs: readonly string[];
}

export interface Removed {
  worktree: boolean;
  /** The commit that the branch was at, where it was deleted. */
  branch: string | undefined;
}

export interface Cleaned {
  /** What was taken away. */
  removed: string[];
  /** What stays, and why. */
  kept: { what: string; why: string }[];
}

export type Forecast =
  | { clean: true; tree: string }
  | {
      clean: false;
      /** From the top of the repository; none where the histories have nothing in common. */
      files: string[];
      /** The one of `theirs` that does not go in. */
      against: string;
      /** Which of those before it is in its way; `undefined` where it is only all of them. */
      with: string | undefined;
      unrelated: boolean;
    };

export type MergedCommits =
  | { clean: true; commit: string }
  | (Omit<Extract<Forecast, { clean: false }>, 'unrelated'> & { commit: string });

export interface Merge {
  commits: readonly string[];
  message: (commit: string) => string;
  leaveOpen?: boolean;
}

export type Merged =
  | { merged: true; head: string }
  | {
      merged: false;
      files: string[];
      against: string;
      /** Whether the worktree is in the merging state now. */
      open: boolean;
      /** What is to be merged after `against`. */
      remaining: string[];
    };

export interface Collector {
  branch: string;
  base: string;
  /** None contains another. */
  heads: readonly string[];
  message: (head: string) => string;
  again: boolean;
  /** Whether to say only what would come of it. */
  dryRun: boolean;
}

export type Collected =
  | {
      kind: 'new' | 'extended' | 'rebuilt' | 'unchanged';
      /** What is merged into. */
      start: string;
      merges: string[];
      /** What the branch is at; `undefined` where it was only asked what would come of it. */
      commit: string | undefined;
    }
  | ({ kind: 'conflict'; start: string } & Omit<Extract<Forecast, { clean: false }>, 'clean'>);

export interface Linked {
  /** As they were given; also those that were there before. */
  linked: string[];
  /** What was not linked, or needs attention, and why. */
  warnings: string[];
}

export interface Range {
  head: string;
  base: string;
}

export interface PatchId {
  commit: string;
  id: string;
}

export interface Found {
  commit: string;
  by: 'reachable' | 'tree' | 'range' | 'last';
}

export interface Push {
  folder: string;
  remote: string;
  branch: string;
  /** The branches that pull requests go to. */
  base: readonly string[];
}
