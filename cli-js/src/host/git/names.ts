/** What may stand where git expects a commit or the name of a branch or a remote. */
import { HostError } from '../host.js';

/** Whether a text is the full id of an object. */
export function isCommit(text: string): boolean {
  return /^(?:[\da-f]{40}|[\da-f]{64})$/.test(text);
}

/**
 * Only full ids go to git as commits: they are no options, name one thing only, and mean the same
 * when a branch has moved on.
 * @throws HostError
 */
export function checkCommits(...ids: readonly string[]): void {
  for (const id of ids) {
    if (!isCommit(id)) {
      throw new HostError('other', id, 'not the full id of a commit', 'give all of its digits');
    }
  }
}

/** What no branch may be called: git's own rules, and what git would take for something else. */
const NO_BRANCH = [
  /^$|^-|^refs\/|^HEAD$|^@$/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused; `\p{Cc}` takes 0.3 ms
  /[\u0000-\u001f\u007f-\u009f ~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$/,
  /\.lock(?:\/|$)|(?:^|\/)\.|\.$/,
];

/** @throws HostError */
export function checkBranch(name: string): void {
  if (NO_BRANCH.some((rule) => rule.test(name))) {
    throw new HostError('other', name, 'no name for a branch', 'use letters, digits, - and /');
  }
}

/** @throws HostError for what is no plain name of a remote: options, URLs, paths. */
export function checkRemote(name: string): void {
  if (!/^[\w][\w./-]*$/.test(name) || name.includes('..')) {
    throw new HostError('other', name, 'no name of a remote', 'see `git remote`');
  }
}
