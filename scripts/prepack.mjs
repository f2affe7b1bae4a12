// Before the package is packed: the page people see first comes from the root of the checkout,
// and a package without its build is refused.
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, stop } from './lib.mjs';

const folder = join(root, 'npm-package');
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function* paths(value) {
  if (typeof value === 'string') {
    yield value;
  } else {
    for (const inner of Object.values(value)) {
      yield* paths(inner);
    }
  }
}

for (const path of paths([manifest.exports, manifest.bin])) {
  if (!existsSync(join(folder, path))) {
    stop(`npm-package/${path} is missing: run \`npm run build\` first`);
  }
}
// The last section is for those who work on okstra; its links lead into the checkout.
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const [page, rest] = readme.split(/^## Working on okstra$/m);
if (rest === undefined) {
  stop('README.md has no section "Working on okstra" to leave out');
}
writeFileSync(join(folder, 'README.md'), `${page}MIT licence.\n`);
// What the page links to and shows.
cpSync(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
