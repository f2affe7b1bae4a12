// The licences of everything that is inside the package: what esbuild bundled and what cargo linked.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { root, stop } from './lib.mjs';

const NOTICE = /^(licen[cs]e|copying|notice|unlicense)/i;

/**
 * The text of the notices.
 *
 * @param {string[]} inputs the files that went into the bundles, from the root of the checkout.
 */
export function notices(inputs) {
  const parts = [...npmFolders(inputs), ...crateFolders()].map(({ name, licence, folder }) => {
    const texts = readdirSync(folder)
      .filter((file) => NOTICE.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return { name, text: [`${name} (${licence})`, ...texts].join('\n\n') };
  });
  // One package may lie in several folders of node_modules.
  const unique = [...new Map(parts.map((part) => [part.name, part])).values()];
  unique.sort((a, b) => (a.name < b.name ? -1 : 1));
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `okstra contains the following works.${rule}${unique.map(({ text }) => text).join(rule)}\n`;
}

/** The packages the bundled files belong to. */
function* npmFolders(inputs) {
  const marker = `${sep}node_modules${sep}`;
  const folders = new Set();
  for (const input of inputs) {
    const path = join(root, input);
    const at = path.lastIndexOf(marker);
    if (at >= 0) {
      const [first, second] = path.slice(at + marker.length).split(sep);
      const name = first.startsWith('@') ? join(first, second) : first;
      folders.add(join(path.slice(0, at + marker.length), name));
    }
  }
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    yield { name: `${name} ${version}`, licence: license, folder };
  }
}

/** The crates the module is linked from; tools that only run while it is built are none. */
function* crateFolders() {
  const { status, stdout } = spawnSync(
    'cargo',
    [
      ...['metadata', '--format-version', '1', '--locked', '--quiet'],
      ...['--filter-platform', 'wasm32-unknown-unknown'],
    ],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) {
    stop('cargo metadata failed');
  }
  const { packages, resolve } = JSON.parse(stdout);
  const byId = new Map(packages.map((each) => [each.id, each]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const open = packages.filter(({ name }) => name === 'okstra-wasm').map(({ id }) => id);
  const seen = new Set(open);
  for (const id of open) {
    const { name, version, license, manifest_path, source, targets } = byId.get(id);
    const isMacro = targets.some(({ kind }) => kind.includes('proc-macro'));
    if (isMacro) {
      continue;
    }
    if (source !== null) {
      const folder = dirname(manifest_path);
      yield { name: `${name} ${version}`, licence: license ?? basename(folder), folder };
    }
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      // Build dependencies count where their data ends up in the module.
      const linked = dep_kinds.some(({ kind }) => kind === null || kind === 'build');
      if (linked && !seen.has(pkg) && existsSync(byId.get(pkg).manifest_path)) {
        seen.add(pkg);
        open.push(pkg);
      }
    }
  }
}
