// Before the package is packed: the page people see first comes from the root of the checkout,
// and a package without its build is refused.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
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
copyFileSync(join(root, 'README.md'), join(folder, 'README.md'));
