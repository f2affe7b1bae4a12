// Builds everything a user gets: the wasm module, the library entries, the command line and the
// type declarations, all into npm-package/dist. Steps whose inputs have not changed are skipped.
//
//   node scripts/build.mjs            all steps
//   node scripts/build.mjs --force    all steps, also where nothing changed
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hashFiles, isMain, root, run, step } from './lib.mjs';
import { notices } from './licences.mjs';
import { previewer } from './previewer.mjs';

const dist = join(root, 'npm-package/dist');
const generated = join(root, 'npm-package/src/generated');
const work = join(root, 'target/wasm');
const raw = join(root, 'target/wasm32-unknown-unknown/release/okstra_wasm.wasm');

/** What rustc may use: the wasm features of every browser and Node that the package supports. */
const FEATURES = [
  'bulk-memory',
  'bulk-memory-opt',
  'call-indirect-overlong',
  'multivalue',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'sign-ext',
];

/**
 * Smallest code with little inlining. Inlining freely makes one giant function of the parser, and
 * a process cannot end before V8 has optimised a function it began with; inlining what is small
 * or called once spares V8 a third of the functions that it compiles one by one.
 */
export const OPTIMISE = ['-Oz', '-aimfs', '6', '-ocimfs', '100', '-fimfs', '10'];

/**
 * Paths of this machine never get into the module: panics name `registry/…`, not a home folder.
 * SHA-256 is a loop instead of its 64 rounds written out, which V8 would compile in every process
 * that takes a digest.
 */
function rustflags() {
  const home = process.env.CARGO_HOME ?? join(process.env.HOME ?? '', '.cargo');
  return [
    `--remap-path-prefix=${join(home, 'registry/src')}=registry`,
    `--remap-path-prefix=${root}/=`,
    '--cfg=sha2_backend_soft="compact"',
  ].join(' ');
}

/** Compiles the bindings for the given profile settings; answers the path of the raw module. */
export function compileWasm(env = {}) {
  run(
    'cargo',
    ['build', '--release', '--quiet', '--target', 'wasm32-unknown-unknown', '-p', 'okstra-wasm'],
    {
      env: { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: rustflags(), ...env },
    },
  );
  return raw;
}

/**
 * Runs a verb of the Rust build tool. Chosen as a program, not as a package: so Cargo settles the
 * features of the whole workspace, as for the tests, and compiles nothing a second time.
 */
export function xtask(...args) {
  run('cargo', ['run', '--quiet', '--bin', 'xtask', '--', ...args]);
}

/** Runs a pinned tool of Binaryen. */
function binaryen(tool, ...args) {
  const features = FEATURES.map((name) => `--enable-${name}`);
  const path = join(root, 'node_modules/binaryen/bin', tool);
  // The metadce tool lists everything it takes out.
  run(process.execPath, [path, '--mvp-features', ...features, ...args], { quiet: true });
}

/**
 * The one import: it fills a table for JavaScript's values, of which the module has none. V8 would
 * compile an adapter for it in every process.
 */
const UNUSED_IMPORTS = ['__wbindgen_init_externref_table'];

/** Optimises a module with wasm-opt. */
export function wasmOpt(input, output, flags = OPTIMISE) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(input)));
  const used = imports.map(({ name }) => name).filter((name) => !UNUSED_IMPORTS.includes(name));
  if (used.length > 0) throw new Error(`the module imports ${used.join(', ')}`);
  const strip = ['--strip-producers', '--strip-target-features'];
  binaryen('wasm-opt', '--remove-imports', ...flags, ...strip, input, '-o', output);
}

/** The parts of the module that the command line loads, each with its functions. */
const PARTS = JSON.parse(readFileSync(join(root, 'npm-package/src/parts.json'), 'utf8'));

/** What every part exports beside its functions: what the glue calls. */
const GLUE = ['__wbindgen_malloc', '__wbindgen_start', 'memory', 'start', 'takePanic'];

/** The file of a part. */
const partFile = (part) => `okstra-${part}.wasm`;

/** The files of all parts. */
export const partFiles = () => Object.keys(PARTS).map(partFile);

/** Makes the parts of a module: of each what its functions reach, into the given folder. */
export function cutParts(whole, folder) {
  for (const [part, functions] of Object.entries(PARTS)) {
    cutPart(whole, part, functions, join(folder, partFile(part)));
  }
}

function cutPart(whole, part, functions, file) {
  const exports = [...GLUE, ...functions];
  const graph = [
    { name: 'outside', root: true, reaches: exports },
    ...exports.map((name) => ({ name, export: name })),
  ];
  const graphFile = join(work, `${part}.json`);
  writeFileSync(graphFile, JSON.stringify(graph));
  binaryen('wasm-metadce', whole, '-f', graphFile, '-o', file);
}

/** What the previewer calls. Its part is inside its scripts, packed, and no file of its own. */
const PREVIEW = ['previewPlan', 'planCandidates'];

const previewPart = join(work, 'okstra-preview.wasm.gz');

/** Makes the part of the previewer. Zopfli packs it in a sixteenth less than zlib. */
async function cutPreview(whole) {
  // Loaded late: set-up installs it.
  const { default: zopfli } = await import('@gfx/zopfli');
  const file = join(work, 'okstra-preview.wasm');
  cutPart(whole, 'preview', PREVIEW, file);
  const packed = await zopfli.gzipAsync(readFileSync(file), { numiterations: 5 });
  writeFileSync(previewPart, packed);
}

/** What the generated glue lacks: the memory, where answers are read. */
export const MEMORY = {
  js: `
export function memory() {
    return wasm.memory;
}
`,
  'd.ts': `
/** The memory of the instance that all functions here use. */
export function memory(): WebAssembly.Memory;
`,
};

async function wasm(force) {
  const stampFile = join(work, 'stamp');
  const inputs = [
    'Cargo.toml',
    'Cargo.lock',
    'core',
    'bindings',
    'scripts/xtask',
    'scripts/build.mjs',
    'npm-package/src/parts.json',
  ];
  const stamp = hashFiles(inputs);
  const outputs = [
    join(dist, 'okstra.wasm'),
    ...partFiles().map((name) => join(dist, name)),
    previewPart,
    join(generated, 'raw.js'),
  ];
  const known = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (known && outputs.every(existsSync) && !force) {
    return;
  }
  await step('wasm', async () => {
    mkdirSync(work, { recursive: true });
    mkdirSync(dist, { recursive: true });
    const input = compileWasm();
    xtask('bindgen', input, work);
    const whole = join(dist, 'okstra.wasm');
    wasmOpt(join(work, 'okstra_bg.wasm'), whole);
    cutParts(whole, dist);
    await cutPreview(whole);
    for (const [end, more] of Object.entries(MEMORY)) {
      writeFileSync(
        join(generated, `raw.${end}`),
        readFileSync(join(work, `okstra.${end}`), 'utf8') + more,
      );
    }
  });
  step('generated types and rules', () => {
    xtask('types', join(generated, 'types.ts'));
    run(join(root, 'node_modules/.bin/biome'), [
      ...['format', '--write', '--log-level=error', '--vcs-enabled=false'],
      join(generated, 'types.ts'),
    ]);
    mkdirSync(join(root, 'docs'), { recursive: true });
    xtask('rules', join(root, 'docs/rules.md'));
  });
  writeFileSync(stampFile, stamp);
}

async function bundles() {
  const { build } = await import('esbuild');
  const source = (name) => join(root, 'npm-package/src', name);
  const common = {
    absWorkingDir: root,
    bundle: true,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  };
  const library = { ...common, format: 'esm', target: 'es2022' };
  const wasmBytes = { '.wasm': 'binary' };
  const jobs = [
    build({
      ...library,
      entryPoints: [source('node.ts')],
      outfile: join(dist, 'node.js'),
      platform: 'node',
      target: 'node20',
    }),
    build({ ...library, entryPoints: [source('browser.ts')], outfile: join(dist, 'browser.js') }),
    build({
      ...library,
      entryPoints: [source('workerd.ts')],
      outfile: join(dist, 'workerd.js'),
      external: ['./okstra.wasm'],
    }),
    build({
      ...library,
      entryPoints: [source('inline.ts')],
      outfile: join(dist, 'inline.js'),
      alias: { 'okstra-wasm-bytes': join(dist, 'okstra.wasm') },
      loader: wasmBytes,
    }),
    build({
      ...library,
      format: 'iife',
      globalName: 'okstra',
      entryPoints: [source('inline.ts')],
      outfile: join(dist, 'inline.global.js'),
      alias: { 'okstra-wasm-bytes': join(dist, 'okstra.wasm') },
      loader: wasmBytes,
      // `var okstra` is a global in a classic script only; this holds in a wrapped one as well.
      footer: { js: 'globalThis.okstra = okstra;' },
    }),
  ];
  jobs.push(...(await previewer({ common, library, previewPart, dist })));
  const cli = commandLine();
  if (cli !== undefined) {
    jobs.push(
      build({
        ...common,
        entryPoints: cli,
        outdir: dist,
        outExtension: { '.js': '.cjs' },
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        // What asks for its own place as an ES module has none in a bundle.
        define: { 'import.meta.url': 'undefined' },
        // Compiled code; npm installs it beside the package.
        external: ['fs-native-extensions'],
        plugins: [lazyParts],
        // V8 takes two bytes for each character of a text that has a single one beyond Latin.
        charset: 'ascii',
        // A process reads and keeps all of a bundle's text. A thrown error prints its line.
        minify: true,
        lineLimit: 120,
        // `import()` becomes `require`: it spares the process the start of the ESM loader.
        supported: { 'dynamic-import': false },
      }),
    );
  }
  const inputs = [];
  for (const { status, value } of await Promise.allSettled(jobs)) {
    if (status === 'rejected') {
      // esbuild has told what and where.
      process.exitCode = 1;
    } else {
      inputs.push(...Object.keys(value.metafile.inputs));
    }
  }
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), notices(inputs));
  // What V8 made of the bundles of before.
  rmSync(join(root, 'npm-package/.cache'), { recursive: true, force: true });
}

/**
 * `import('../lazy/graph.js')` loads the bundle `graph.cjs`, which lies beside this one, and
 * `import('./plan.js')` in the list of commands loads `command-plan.cjs`.
 */
const lazyParts = {
  name: 'lazy parts',
  setup(build) {
    build.onResolve({ filter: /\.js$/ }, ({ importer, kind, path }) => {
      if (kind !== 'dynamic-import') {
        return undefined;
      }
      const name = basename(path, '.js');
      const isCommand = importer === join(commands, 'index.ts');
      return { path: `./${isCommand ? commandBundle(name) : name}.cjs`, external: true };
    });
  },
};

const commands = join(root, 'cli-js/src/commands');

/** The name of the bundle of a command. */
function commandBundle(name) {
  return `command-${name}`;
}

/** The names of the commands: the files that the list of commands loads. */
function commandNames() {
  const list = readFileSync(join(commands, 'index.ts'), 'utf8');
  // A file may hold several commands.
  const names = [...list.matchAll(/import\('\.\/([\w-]+)\.js'\)/g)].map(([, name]) => name);
  return [...new Set(names)];
}

/** The entry of the command line and the parts it loads only when a command needs them. */
function commandLine() {
  const start = join(root, 'cli-js/src/start.ts');
  if (!existsSync(start)) {
    return undefined;
  }
  const lazy = join(root, 'cli-js/src/lazy');
  const parts = existsSync(lazy) ? readdirSync(lazy).filter((name) => name.endsWith('.ts')) : [];
  return [
    { in: start, out: 'cli' },
    { in: join(root, 'cli-js/src/main.ts'), out: 'main' },
    { in: join(root, 'cli-js/src/hook.ts'), out: 'hook' },
    { in: join(root, 'cli-js/src/supervisor.ts'), out: 'supervisor' },
    ...parts.map((name) => ({ in: join(lazy, name), out: name.slice(0, -3) })),
    ...commandNames().map((name) => ({
      in: join(commands, `${name}.ts`),
      out: commandBundle(name),
    })),
  ];
}

function declarations() {
  const inputs = ['npm-package/src', 'npm-package/tsconfig.build.json'];
  const stampFile = join(work, 'declarations');
  const stamp = hashFiles(inputs, (name) => !name.endsWith('raw.js'));
  const known = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (known && existsSync(join(dist, 'index.d.ts'))) {
    return;
  }
  step('declarations', () => {
    run(process.execPath, [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      join(root, 'npm-package/tsconfig.build.json'),
    ]);
    writeFileSync(stampFile, stamp);
  });
}

/** Builds what is out of date. */
export async function buildAll({ force = false } = {}) {
  if (force) {
    rmSync(dist, { recursive: true, force: true });
  }
  await wasm(force);
  declarations();
  await step('bundles', bundles);
}

if (isMain(import.meta.url)) {
  // Not awaited: set-up imports this module, which has to have ended by then.
  import('./setup.mjs').then(({ setUp }) => setUp({ force: process.argv.includes('--force') }));
}
