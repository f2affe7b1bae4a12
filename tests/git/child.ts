/** Makes a worktree in a process of its own: answers one line of JSON. */
import { writeFileSync } from 'node:fs';
import { git } from '../../cli-js/src/host/git/index.js';
import { HostError } from '../../cli-js/src/host/host.js';

const wanted = JSON.parse(process.argv[2] ?? '');

async function attempt(): Promise<unknown> {
  try {
    return await git.addWorktree(wanted);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { reason: error.reason, path: error.path, message: error.message };
  }
}

// Tells that it begins, so that whoever kills it knows from when on.
writeFileSync(1, '"begin"\n');
void attempt().then((answer) => {
  writeFileSync(1, `${JSON.stringify(answer)}\n`);
  process.exit(0);
});
