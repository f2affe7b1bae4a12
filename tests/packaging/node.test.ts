// The installed package in Node: imported, required, bundled.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { consumer, copyWasm, folder, installed, node, version } from './consumer.js';
import { EXERCISE, expected } from './exercise.js';

const PRINT = 'process.stdout.write(JSON.stringify(exercise(okstra)));';

test('the locks that come with the package load where it looks for them', async () => {
  const cwd = folder('locks', {
    'main.cjs': `const { createRequire } = require('node:module');
      const load = createRequire(process.argv[2]);
      const path = \`prebuilds/\${process.platform}-\${process.arch}/fs-native-extensions.node\`;
      const direct = load(\`fs-native-extensions/\${path}\`);
      const found = load('fs-native-extensions/binding.js');
      process.stdout.write(JSON.stringify([direct, found].map((lock) =>
        typeof lock.tryLock + ' ' + typeof lock.waitForLock)));`,
  });
  const command = join(installed, 'dist/cli.cjs');
  const functions = 'function function';
  expect(await node(cwd, 'main.cjs', command)).toEqual([functions, functions]);
});

describe('Node', () => {
  test.each(['okstra', 'okstra/inline'])('imports %s', async (entry) => {
    const cwd = folder('import', {
      'main.mjs': `import * as okstra from '${entry}';${EXERCISE}${PRINT}`,
    });
    expect(await node(cwd, 'main.mjs')).toEqual(expected(version));
  });

  test.each(['okstra', 'okstra/inline'])('requires %s', async (entry) => {
    const cwd = folder('require', {
      'main.cjs': `const okstra = require('${entry}');${EXERCISE}${PRINT}`,
    });
    expect(await node(cwd, 'main.cjs')).toEqual(expected(version));
  });

  test('init() is allowed, and makes a given module ready', async () => {
    const cwd = folder('init', {
      'main.mjs': `import { init, version } from 'okstra';
        import { readFile } from 'node:fs/promises';
        import { createRequire } from 'node:module';
        const path = createRequire(import.meta.url).resolve('okstra/okstra.wasm');
        await init(readFile(path));
        await init();
        process.stdout.write(JSON.stringify(version()));`,
    });
    expect(await node(cwd, 'main.mjs')).toBe(version);
  });

  test('an option that is misspelt or of a wrong type is an error that names it', async () => {
    const options = [
      { stric: true },
      { max_steps: -1 },
      { max_steps: 1.5 },
      { strict: 'yes' },
      [1],
    ];
    const cwd = folder('options', {
      'main.mjs': `import * as okstra from 'okstra';${EXERCISE}
        const all = ${JSON.stringify(options)};
        const check = (o) => failure(okstra, () => okstra.checkPlan(PLAN, o));
        const render = (o) => failure(okstra, () => okstra.renderCheck({ options: o }, [PLAN]));
        process.stdout.write(JSON.stringify(all.flatMap((o) => [check(o), render(o)])));`,
    });
    const failures = (await node(cwd, 'main.mjs')) as { code: string; message: string }[];
    const names = ['stric', 'max_steps', 'max_steps', 'strict', 'options'].flatMap((n) => [n, n]);
    expect(failures).toHaveLength(names.length);
    for (const [index, name] of names.entries()) {
      expect(failures[index]).toMatchObject({
        known: true,
        code: 'bad-options',
        message: expect.stringContaining(name),
      });
    }
  });

  test('importing reads nothing: a missing module is told at the first call', async () => {
    const cwd = folder('missing', {});
    await build({
      ...{ stdin: { contents: `export * from 'okstra'`, resolveDir: cwd }, bundle: true },
      ...{ format: 'esm', platform: 'node', outfile: join(cwd, 'okstra.mjs') },
    });
    writeFileSync(
      join(cwd, 'main.mjs'),
      `import * as okstra from './okstra.mjs';${EXERCISE}
        process.stdout.write(JSON.stringify(failure(okstra, () => okstra.version())));`,
    );
    rmSync(join(cwd, 'okstra.wasm'), { force: true });
    expect(await node(cwd, 'main.mjs')).toMatchObject({
      known: true,
      code: 'not-initialised',
      message: expect.stringContaining('okstra.wasm cannot be loaded: ENOENT'),
      help: expect.stringContaining('okstra/inline'),
    });
  });

  test.each(['esm', 'cjs'] as const)('bundled by esbuild as %s, inline', async (format) => {
    const cwd = folder('esbuild-inline', {});
    const outfile = join(cwd, format === 'esm' ? 'main.mjs' : 'main.cjs');
    const contents = `import * as okstra from 'okstra/inline';${EXERCISE}${PRINT}`;
    await build({
      ...{ stdin: { contents, resolveDir: cwd }, bundle: true, format, outfile },
      ...{ platform: 'node', target: 'node20' },
    });
    expect(await node(cwd, outfile)).toEqual(expected(version));
  });

  test('bundled by esbuild with the module copied beside the bundle', async () => {
    const cwd = folder('esbuild-file', {});
    const outfile = join(cwd, 'main.mjs');
    const contents = `import * as okstra from 'okstra';${EXERCISE}${PRINT}`;
    await build({
      ...{ stdin: { contents, resolveDir: cwd }, bundle: true, format: 'esm', outfile },
      ...{ platform: 'node', target: 'node20' },
    });
    copyWasm(cwd);
    expect(await node(cwd, outfile)).toEqual(expected(version));
  });

  test('the entry for Workers takes the module the platform compiled', async () => {
    const cwd = folder('workerd', {});
    const outfile = join(cwd, 'main.mjs');
    const contents = `import * as okstra from 'okstra';${EXERCISE}${PRINT}`;
    // In place of the platform: a module that is compiled when the script starts.
    const platform = `import { readFileSync } from 'node:fs';
      export default new WebAssembly.Module(readFileSync(${JSON.stringify(join(installed, 'dist/okstra.wasm'))}));`;
    await build({
      ...{ stdin: { contents, resolveDir: cwd }, bundle: true, format: 'esm', outfile },
      ...{ conditions: ['workerd'], platform: 'neutral', external: ['node:fs'] },
      plugins: [
        {
          name: 'platform',
          setup(build) {
            build.onLoad({ filter: /\.wasm$/ }, () => ({ contents: platform, loader: 'js' }));
          },
        },
      ],
    });
    expect(await node(cwd, outfile)).toEqual(expected(version));
  });

  test('the command of the package starts', () => {
    const bin = join(consumer, 'node_modules/.bin/okstra');
    const { stdout, status } = spawnSync(bin, ['--version'], { encoding: 'utf8' });
    expect(stdout).toContain(version);
    expect(status).toBe(0);
  });
});
