// Shows what okstra does: checks and draws a good plan, then reports the faults of a broken one.
// On a fresh clone it sets up and builds first.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib.mjs';

const bin = join(root, 'npm-package/bin/okstra.js');
const good = 'fixtures/plans/valid_three_stage_parallel.md';
const broken = 'fixtures/plans/invalid_depends_on_cycle.md';

/** What to show: the words before it, and the command line. */
const SCENES = [
  ['A plan in which two stages can be built at the same time. Is it sound?', ['check', good]],
  ['It is. What can be built when?', ['graph', good]],
  ['What does its second stage do?', ['show', '--stage', '2', good]],
  ['A broken plan: every fault at its place.', ['check', '--format', 'pretty', broken]],
];

if (!existsSync(join(root, 'npm-package/dist/cli.cjs'))) {
  const { setUp } = await import('./setup.mjs');
  await setUp();
}

for (const [words, args] of SCENES) {
  process.stdout.write(`\n# ${words}\n$ okstra plan ${args.join(' ')}\n`);
  const { status, error } = spawnSync(process.execPath, [bin, 'plan', ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (error) {
    throw error;
  }
  process.stdout.write(`(exit status ${status})\n`);
  // The broken plan is meant to be broken; anything else is a fault of the demo.
  if (status !== (args.includes(broken) ? 1 : 0)) {
    process.exitCode = 1;
  }
}
