// What stands in more than one place has to agree; what people download has an agreed size.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { measure } from '../../scripts/sizes.mjs';
import { folder, installed, node, version } from './consumer.js';
import { NAMES } from './exercise.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string) => readFileSync(join(root, path), 'utf8');

describe('versions', () => {
  const manifest = text('Cargo.toml');
  const pinned = (crate: string) =>
    new RegExp(`^${crate} = (?:\\{ version = )?"=([\\d.]+)"`, 'm').exec(manifest)?.[1];

  test('the package, the crates and the module have one version', async () => {
    const crates = /\[workspace\.package\]\nversion = "([^"]+)"/.exec(manifest)?.[1];
    const cwd = folder('version', {
      'main.mjs': `import { version } from 'okstra'; process.stdout.write(JSON.stringify(version()));`,
    });
    expect(crates).toBe(version);
    expect(JSON.parse(text('npm-package/package.json')).version).toBe(version);
    expect(await node(cwd, 'main.mjs')).toBe(version);
  });

  test('wasm-bindgen, its tool and its test runner have one version', () => {
    const crate = pinned('wasm-bindgen');
    expect(crate).toMatch(/^\d+\.\d+\.\d+$/);
    expect(pinned('wasm-bindgen-cli-support')).toBe(crate);
    expect(pinned('wasm-bindgen-cli')).toBe(crate);
    expect(text('Cargo.lock')).toContain(`name = "wasm-bindgen"\nversion = "${crate}"`);
  });

  test('every dependency is pinned', () => {
    for (const path of ['package.json', 'npm-package/package.json', 'cli-js/package.json']) {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(text(path));
      for (const range of Object.values({ ...dependencies, ...devDependencies })) {
        expect(range, path).toMatch(/^\d+\.\d+\.\d+$/);
      }
    }
    const section = manifest.slice(manifest.indexOf('[workspace.dependencies]'));
    const crates = section.slice(0, section.indexOf('\n['));
    for (const line of crates.split('\n').filter((line) => line.includes(' = '))) {
      expect(line).toMatch(/"=\d+\.\d+\.\d+"|path = /);
    }
  });
});

test('the generated files in the repository are those the build makes', () => {
  const paths = ['npm-package/src/generated', 'docs/rules.md'];
  const changed = execFileSync('git', ['diff', '--name-only', '--', ...paths], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(changed).toBe('');
});

describe('the tarball', () => {
  test('holds the build and the documents, and nothing else', () => {
    // The installed command line has run, and keeps the code it compiled.
    const names = readdirSync(installed).filter((name) => name !== '.cache');
    expect(names.sort()).toEqual([
      '.claude-plugin',
      'LICENSE',
      'README.md',
      'bin',
      'data',
      'dist',
      'docs',
      'package.json',
      'plugin',
    ]);
    // What is packed is what is in the checkout.
    const below = (folder: string) => readdirSync(folder, { recursive: true }).sort();
    for (const folder of ['.claude-plugin', 'plugin']) {
      expect(below(join(installed, folder))).toEqual(below(join(root, 'npm-package', folder)));
    }
    // Every picture and page that the page of the package leads to.
    const page = readFileSync(join(installed, 'README.md'), 'utf8');
    const links = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
    const foreign = readdirSync(join(installed, 'dist')).filter(
      (name) =>
        !/^[\w.-]+\.(?:c?js|wasm|d\.ts)$|^generated$|^preview\.html$|^THIRD-PARTY-LICENSES.txt$/.test(
          name,
        ),
    );
    expect(foreign).toEqual([]);
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const work of ['pulldown-cmark', 'codespan-reporting', 'commander', 'Unicode-3.0']) {
      expect(notices).toContain(work);
    }
  });

  test('declares the functions that every entry has', () => {
    const declared = readFileSync(join(installed, 'dist/index.d.ts'), 'utf8');
    const names = [...declared.matchAll(/^export declare function (\w+)/gm)].map(
      ([, name]) => name,
    );
    const hidden = ['OkstraError', '__provokePanic'];
    expect(names.sort()).toEqual(NAMES.filter((name) => !hidden.includes(name)));
  });

  test('names no folder of the machine it was built on', () => {
    for (const name of readdirSync(join(installed, 'dist'), { withFileTypes: true })) {
      if (name.isFile()) {
        const bytes = readFileSync(join(installed, 'dist', name.name), 'latin1');
        expect(bytes.includes(root) || bytes.includes('.cargo/'), name.name).toBe(false);
      }
    }
  });

  test('leaves the settings of V8 alone outside the command line', () => {
    for (const name of ['node.js', 'browser.js', 'inline.js', 'workerd.js']) {
      const source = readFileSync(join(installed, 'dist', name), 'utf8');
      expect(source, name).not.toContain('setFlagsFromString');
    }
  });
});

describe('sizes', () => {
  const actual = measure();
  const agreed: typeof actual = JSON.parse(text('sizes.json'));
  const flat = (sizes: object, prefix = ''): [string, number][] =>
    Object.entries(sizes).flatMap(([name, value]) =>
      typeof value === 'number' ? [[prefix + name, value]] : flat(value, `${name} `),
    );

  // Plans alone took less than 200 KB; ledgers, evidence, worktrees, hooks, teams, tokens, containers, workers and the wizard came since.
  test('the compressed module is under 640 KB', () => {
    expect(actual['okstra.wasm'].gzip).toBeLessThan(640_000);
    expect(actual['okstra.wasm'].brotli).toBeLessThan(500_000);
  });

  test.each(flat(agreed))(
    '%s has not grown by more than a fiftieth over %i bytes',
    (name, size) => {
      const now = Object.fromEntries(flat(actual))[name];
      expect(now, 'after a look at why: node scripts/sizes.mjs --write').toBeLessThan(size * 1.02);
    },
  );
});
