/** GitHub's command line, where it is installed. */
import { HostError } from './host.js';
import { type Spawned, spawnProgram } from './spawn.js';

export interface Gh {
  /** Whether it can be started. */
  present(folder: string): Promise<boolean>;
  /**
   * Opens a pull request from a branch that was pushed before; answers its address.
   * @throws HostError `exists` with the address of the one that is open already
   */
  createPullRequest(request: PullRequest): Promise<string>;
}

export interface PullRequest {
  folder: string;
  /** The branch it is for. */
  base: string;
  /** The branch with the commits. */
  head: string;
  title: string;
  body: string;
  draft?: boolean;
}

const HELP = 'install it from https://cli.github.com, or open the pull request in the browser';

function run(folder: string, args: readonly string[], input?: string): Promise<Spawned> {
  // It asks nobody, writes no colours and keeps news about itself.
  const quiet = { GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
  const env = { ...process.env, ...quiet, GIT_TERMINAL_PROMPT: '0' };
  return spawnProgram('gh', args, { folder, env, input, help: HELP });
}

async function present(folder: string): Promise<boolean> {
  try {
    return (await run(folder, ['--version'])).status === 0;
  } catch (error) {
    // Only a program that is not there; a folder that is not is a fault.
    if (error instanceof HostError && error.path === 'gh') return false;
    throw error;
  }
}

async function createPullRequest({
  folder,
  base,
  head,
  title,
  body,
  draft = false,
}: PullRequest): Promise<string> {
  // As one word each, so that no text can be taken for an option. With `--head`, nothing is pushed.
  const words = [`--title=${title}`, `--base=${base}`, `--head=${head}`, '--body-file=-'];
  const ran = await run(folder, ['pr', 'create', ...words, ...(draft ? ['--draft'] : [])], body);
  const address = /https?:\/\/\S+/g;
  if (ran.status === 0) return ran.stdout.toString().match(address)?.at(-1) ?? '';
  const said = ran.stderr.trim().replace(/\s+/g, ' ');
  if (/already exists/.test(said)) {
    const open = said.match(address)?.at(-1) ?? 'one';
    throw new HostError('exists', head, `a pull request is open already: ${open}`, 'edit that one');
  }
  const help = ran.status === 4 ? 'log in: `gh auth login`' : 'mend what gh says and try again';
  throw new HostError('other', 'gh', said || `ended with ${ran.status ?? 'a signal'}`, help);
}

export const gh: Gh = { present, createPullRequest };
