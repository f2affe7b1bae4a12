// Builds the previewer: the custom element, and the page that has everything inside.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib.mjs';

/** The custom element as a module of its own, and the page with everything inside. */
export async function previewer({ common, library, previewPart, dist }) {
  // Loaded late: set-up installs it.
  const { build, transform } = await import('esbuild');
  const folder = join(root, 'npm-package/previewer');
  const inside = {
    alias: { 'okstra-preview-module': previewPart },
    loader: { '.gz': 'base64' },
    plugins: [sheets(transform)],
  };
  const element = build({
    ...{ ...library, ...inside },
    entryPoints: [join(folder, 'index.ts')],
    outfile: join(dist, 'previewer.js'),
  });
  const page = build({
    ...{ ...common, ...inside, format: 'iife', target: 'es2022', minify: true },
    entryPoints: [join(folder, 'page.ts')],
    outfile: join(dist, 'preview.js'),
    write: false,
  });
  copyDeclarations(folder, dist);
  return [element, page.then((result) => writePage({ folder, dist, transform, result }))];
}

/** A sheet as the text that a script takes. */
const sheets = (transform) => ({
  name: 'sheets',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: await minifiedSheet(transform, path),
      loader: 'text',
    }));
  },
});

async function minifiedSheet(transform, path) {
  const css = readFileSync(path, 'utf8');
  return (await transform(css, { loader: 'css', minify: true })).code.trim();
}

/** Puts the page together; its policy names what it has inside by digest, and allows nothing else. */
async function writePage({ folder, dist, transform, result }) {
  const digest = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
  const script = result.outputFiles[0].text.trim();
  const style = await minifiedSheet(transform, join(folder, 'page.css'));
  const icon = encodeURIComponent(readFileSync(join(folder, 'icon.svg'), 'utf8').trim());
  const parts = {
    '(script)': digest(script),
    '(style)': digest(style),
    '(icon)': icon,
    '/* the sheet */': style,
    '// the script': script,
  };
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  writeFileSync(
    join(dist, 'preview.html'),
    Object.entries(parts).reduce((text, [name, part]) => text.replace(name, () => part), page),
  );
  return result;
}

/** The declarations of the previewer lie beside those of the package. */
function copyDeclarations(folder, dist) {
  const text = readFileSync(join(folder, 'surface.d.ts'), 'utf8');
  writeFileSync(join(dist, 'previewer.d.ts'), text.replaceAll('../src/index.js', './index.js'));
}
