/** The command line: the real world, the real core, and the commands. */
import { createCliApi } from '../../npm-package/src/cli-loader.js';
import type { Api } from './cli/context.js';
import { run } from './cli/run.js';
import { commands } from './commands/index.js';
import { nodeHost } from './host/node.js';

let api: Api | undefined;

void run(process.argv.slice(2), {
  api: (inputBytes) => {
    api ??= createCliApi(__dirname, inputBytes);
    return api;
  },
  host: nodeHost,
  commands,
}).then((status) => {
  // Every write is done; leaving at once spares the tear-down of the engine (0.5 ms).
  process.exit(status);
});
