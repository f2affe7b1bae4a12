/** What git says. Its arguments are an array, never a line for a shell. */
import type { GitHead } from './host.js';

/** See {@link Host.gitHead}. */
export function gitHead(folder: string): Promise<GitHead | undefined> {
  // Not an import: loading it costs 3 ms, which commands without git can spare.
  const { execFile } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    execFile(
      'git',
      ['rev-parse', 'HEAD', '--abbrev-ref', 'HEAD'],
      { cwd: folder, encoding: 'utf8', windowsHide: true },
      (error, stdout) => {
        const [commit = '', branch = ''] = stdout.split('\n');
        // No git, no repository, no commit: all of them mean that there is nothing to record.
        if (error !== null || !/^[\da-f]{40,64}$/.test(commit)) resolve(undefined);
        else resolve({ commit, branch: branch === 'HEAD' || branch === '' ? null : branch });
      },
    );
  });
}
