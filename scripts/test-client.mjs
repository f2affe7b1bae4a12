// The plugin under real clients, each driven offline: it speaks to a stand-in for its service and
// has an environment and a home of its own. Not part of `npm test`: the clients are 240 and 400 MB,
// proprietary, and come from the npm registry into a cache outside of the checkout.
//
//   node scripts/test-client.mjs [arguments for vitest]
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CLIENTS } from './client-versions.mjs';
import { root, run, step } from './lib.mjs';
import { setUp } from './setup.mjs';

const cache =
  process.env.OKSTRA_CLIENT_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'okstra-clients');

/** The program of a version; it is installed where it is missing. */
function clientOf(version) {
  const folder = join(cache, version);
  const platform = `claude-code-${process.platform}-${process.arch}`;
  const program = join(
    folder,
    'node_modules/@anthropic-ai',
    platform,
    process.platform === 'win32' ? 'claude.exe' : 'claude',
  );
  if (!existsSync(program)) {
    step(`client ${version}`, () => {
      mkdirSync(folder, { recursive: true });
      const what = [`@anthropic-ai/claude-code@${version}`, `@anthropic-ai/${platform}@${version}`];
      const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'];
      run('npm', ['install', '--prefix', folder, ...quiet, ...what]);
    });
  }
  return program;
}

await setUp({ tests: true });
const clients = Object.fromEntries(
  Object.values(CLIENTS).map((version) => [version, clientOf(version)]),
);
run(
  join(root, 'node_modules/.bin/vitest'),
  ['run', '--config', 'tests/client/vitest.config.ts', ...process.argv.slice(2)],
  { env: { OKSTRA_CLIENTS: JSON.stringify(clients) } },
);
