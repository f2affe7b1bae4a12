// The sizes people download. `sizes.json` holds the agreed ones; a test compares.
//
//   node scripts/sizes.mjs            print the sizes of the build
//   node scripts/sizes.mjs --write    agree on them
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { partFiles } from './build.mjs';
import { isMain, root } from './lib.mjs';

const dist = join(root, 'npm-package/dist');

/** Bytes of a file or buffer: as it is, and as servers send it. */
export function compressed(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, { params }).length,
  };
}

/** The sizes of the build that is there, in bytes. */
export function measure() {
  const file = (name) => readFileSync(join(dist, name));
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--loglevel=error'], {
    cwd: join(root, 'npm-package'),
    encoding: 'utf8',
  });
  const [{ size }] = JSON.parse(report);
  return {
    'okstra.wasm': compressed(file('okstra.wasm')),
    ...Object.fromEntries(partFiles().map((name) => [name, file(name).length])),
    'cli.cjs': file('cli.cjs').length,
    'main.cjs': file('main.cjs').length,
    'hook.cjs': file('hook.cjs').length,
    'node.js': file('node.js').length,
    'browser.js': file('browser.js').length,
    'inline.js': file('inline.js').length,
    'previewer.js': file('previewer.js').length,
    'preview.html': compressed(file('preview.html')),
    tarball: size,
  };
}

if (isMain(import.meta.url)) {
  const text = `${JSON.stringify(measure(), null, 2)}\n`;
  process.stdout.write(text);
  if (process.argv.includes('--write')) {
    writeFileSync(join(root, 'sizes.json'), text);
  }
}
