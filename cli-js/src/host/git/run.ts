/** Running git: its arguments are an array, never a line for a shell. */
import { HostError } from '../host.js';
import { type Spawned, spawnProgram, spawnProgramNow } from '../spawn.js';
import type { GitOptions, GitRun } from './git.js';

/**
 * Variables of git that stay: whose commits they are, how servers are reached, the person's own
 * settings and what is traced. All others say where a repository, its index or its objects lie, or
 * how to read paths, and are inherited from a hook or from another repository.
 */
const KEPT =
  /^GIT_(?:AUTHOR_|COMMITTER_|SSH|SSL_|HTTP_|PROXY|ASKPASS$|ALLOW_PROTOCOL$|PROTOCOL|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_|VALUE_)|CEILING_DIRECTORIES$|DISCOVERY_ACROSS_FILESYSTEM$|EXEC_PATH$|TEMPLATE_DIR$|TRACE)/;

/** The environment that git gets. */
function environment(more: GitOptions['env'] = {}): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GIT_') || KEPT.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    // What git says is read; nobody is there to be asked; looking at a tree never locks it.
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_MERGE_AUTOEDIT: 'no',
    ...more,
  };
}

/** What sends something to another repository: only `push.ts` may, past its guard. */
const SENDS = ['push', 'send-pack', 'http-push'];

/** See {@link Git.run}. */
export async function run(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitRun> {
  const command = commandOf(args);
  if (SENDS.includes(command)) {
    const help = 'only a new branch is pushed, by `pushNew`';
    throw new HostError('refused', 'git', `\`git ${command}\` is not for everyone`, help);
  }
  return launch(folder, args, options);
}

/** The command among the arguments, after the options of git itself. */
function commandOf(args: readonly string[]): string {
  const at = args.findIndex(
    (word, i) => !word.startsWith('-') && !/^-[cC]$/.test(args[i - 1] ?? ''),
  );
  return args[at] ?? '';
}

/** Runs git without a look at what it is asked to do. */
export async function launch(
  folder: string,
  args: readonly string[],
  { env, input, alone }: GitOptions = {},
): Promise<Spawned> {
  const help = 'install git 2.38 or newer and make sure that it is in PATH';
  const spawned = alone === true ? spawnProgramNow : spawnProgram;
  return spawned('git', args, { folder, env: environment(env), input, help });
}

/**
 * What git prints.
 * @throws HostError with git's own words where it fails
 */
export async function ask(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  const ran = await run(folder, args, options);
  if (ran.status !== 0) throw failed(folder, args, ran);
  return ran.stdout.toString();
}

/** The NUL-terminated or NUL-separated parts of what git prints. */
export function parts(text: string): string[] {
  const all = text.split('\0');
  if (all.at(-1) === '') all.pop();
  return all;
}

/** Git's own words about what it could not do. */
export function failed(folder: string, args: readonly string[], ran: GitRun): HostError {
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 2);
  return new HostError('other', folder, `git ${words.join(' ')}: ${said(ran)}`, helpOf(ran));
}

/** The lines that say what is wrong, as one. */
function said({ stderr, status }: GitRun): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const told = lines.filter((line) => /^(?:fatal|error):/.test(line));
  const text = (told.length > 0 ? told : lines).join('; ').replace(/^(?:fatal|error): /, '');
  return text === '' ? `ended with ${status ?? 'a signal'}` : text.replaceAll('\n', ' ');
}

function helpOf({ stderr, status }: GitRun): string {
  if (stderr.includes('dubious ownership')) {
    return 'if the folder is yours, say so: `git config --global --add safe.directory <folder>`';
  }
  if (status === 129) return 'git 2.38 or newer is needed; see `git --version`';
  return 'mend what git says and run the command again';
}

/** Milliseconds before the tries after the first, which a lock of another git has to outlast. */
const PAUSES = [20, 40, 80, 160, 320, 640, 1280, 2000];

/** Runs git again while another git is in the middle of what it needs, and only then. */
export async function insist(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitRun> {
  for (const pause of PAUSES) {
    const ran = await run(folder, args, options);
    if (ran.status === 0 || (lockIn(ran) === undefined && !vanished(ran))) return ran;
    // Not all at the same moment again.
    await sleep(pause * (0.5 + Math.random()));
  }
  const ran = await run(folder, args, options);
  const lock = ran.status === 0 ? undefined : lockIn(ran);
  if (lock === undefined) return ran;
  const help = 'wait until that git has ended; if none runs any more: `okstra worktree repair`';
  throw new HostError('locked', lock, 'held by another git', help);
}

/** Whether another git took its entry away while this one went through all of them. */
function vanished({ stderr }: GitRun): boolean {
  return /Invalid path '.+[/\\]worktrees[/\\][^']+': No such file/.test(stderr);
}

/** The lock file that was in the way. */
function lockIn({ stderr }: GitRun): string | undefined {
  const unable = /Unable to create '(.+\.lock)': File exists/.exec(stderr);
  const config = /could not lock config file (.+): File exists/.exec(stderr);
  // Made and not yet written, by a git that makes a worktree or was killed at it.
  const half = /failed to read (.+commondir)/.exec(stderr);
  if (half !== null) return half[1];
  return unable?.[1] ?? (config === null ? undefined : `${config[1]}.lock`);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
