// Compares ways to build the module: size, and the time of a whole `plan check` process. This is
// how the release profile and the wasm-opt flags were chosen; it takes some minutes.
//
//   node scripts/measure-wasm.mjs [runs]     the default is 21 runs of each, interleaved
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileWasm, cutParts, MEMORY, OPTIMISE, wasmOpt, xtask } from './build.mjs';
import { root, stop } from './lib.mjs';
import { setUp } from './setup.mjs';
import { compressed } from './sizes.mjs';

const work = join(root, 'target/measure');
const dist = join(root, 'npm-package/dist');
const runs = Number(process.argv[2] ?? 21);

/** Name and flags; `undefined` is without wasm-opt. */
const OPTIMISERS = [
  ['none', undefined],
  ['-Oz', ['-Oz']],
  ['-Oz, inlining off', OPTIMISE],
  ['-O3', ['-O3']],
];

/** A plan of so many stages, each waiting for the two before it. */
function plan(stages) {
  const numbers = Array.from({ length: stages }, (_, index) => index + 1);
  const dependencies = (n) => [n - 2, n - 1].filter((d) => d > 0).join(', ') || '(none)';
  const row = (n) => `| ${n} | Part ${n} | ${dependencies(n)} | 2 | part ${n} answers |`;
  const section = (n) => `## 4.5.${n} Stage ${n}: Part ${n}

### Carry-In

What the stages before it left behind.

### Stepwise Execution Order

| step | action | files | command | expected |
| --- | --- | --- | --- | --- |
| 1 | write \`part_${n}\` | \`src/part_${n}.rs\`, \`src/lib.rs\` | cargo check | compiles |
| 2 | test it | \`tests/part_${n}.rs\` | cargo test part_${n} | passes |

### Stage Exit Contract

\`part_${n}\` is public and answers.

### Stage Validation

cargo test
`;
  return `# Plan

## 4.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
| --- | --- | --- | --- | --- |
${numbers.map(row).join('\n')}

${numbers.map(section).join('\n')}`;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Milliseconds of one whole process. Extra certificates make each start of Node 20 slower. */
function time(args) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const took = performance.now() - start;
  if (status !== 0 && status !== 1) {
    stop(`${args.join(' ')}: exit ${status}\n${stderr}`);
  }
  return took;
}

/** One folder a variant: the command line as it is shipped, beside this variant's module. */
function variants() {
  const made = [];
  for (const level of ['s', 'z', '3']) {
    const glue = join(work, `glue-${level}`);
    const input = compileWasm({ CARGO_PROFILE_RELEASE_OPT_LEVEL: level, CARGO_TARGET_DIR: work });
    xtask('bindgen', join(work, 'wasm32-unknown-unknown/release/okstra_wasm.wasm'), glue);
    if (!sameGlue(glue)) {
      stop(`opt-level ${level} needs other glue than ${input}; the comparison would be wrong`);
    }
    for (const [name, flags] of OPTIMISERS) {
      const folder = join(work, `${level}-${made.length}`);
      mkdirSync(folder, { recursive: true });
      for (const file of readdirSync(dist).filter((each) => each.endsWith('.cjs'))) {
        copyFileSync(join(dist, file), join(folder, file));
      }
      const output = join(folder, 'okstra.wasm');
      if (flags === undefined) {
        copyFileSync(join(glue, 'okstra_bg.wasm'), output);
      } else {
        wasmOpt(join(glue, 'okstra_bg.wasm'), output, flags);
      }
      cutParts(output, folder);
      made.push({ name: `${level}, ${name}`, cli: join(folder, 'cli.cjs'), output });
    }
  }
  return made;
}

function sameGlue(folder) {
  const read = (path) => readFileSync(path, 'utf8');
  const shipped = read(join(root, 'npm-package/src/generated/raw.js'));
  return read(join(folder, 'okstra.js')) + MEMORY.js === shipped;
}

await setUp();
mkdirSync(work, { recursive: true });
const plans = [3, 1_000, 10_000].map((stages) => {
  const path = join(work, `plan-${stages}.md`);
  writeFileSync(path, plan(stages));
  return { stages, path };
});
const all = variants();
const times = new Map();
for (let run = 0; run < runs; run += 1) {
  const jobs = [['floor', ['-e', '0']]];
  for (const { name, cli } of all) {
    for (const { stages, path } of plans) {
      jobs.push([`${name}/${stages}`, [cli, 'plan', 'check', path]]);
    }
  }
  for (const [key, args] of jobs.sort(() => Math.random() - 0.5)) {
    times.set(key, [...(times.get(key) ?? []), time(args)]);
  }
}

const of = (key) => median(times.get(key)).toFixed(1);
const lines = [
  `median of ${runs} interleaved whole processes, ms; \`node -e 0\` takes ${of('floor')}`,
  '',
  `| build | raw | gzip | brotli | ${plans.map(({ stages }) => `${stages} stages`).join(' | ')} |`,
  `| --- | --- | --- | --- |${plans.map(() => ' --- |').join('')}`,
  ...all.map(({ name, output }) => {
    const { raw, gzip, brotli } = compressed(readFileSync(output));
    const each = plans.map(({ stages }) => of(`${name}/${stages}`));
    return `| ${[name, raw, gzip, brotli, ...each].join(' | ')} |`;
  }),
];
process.stdout.write(`${lines.join('\n')}\n`);
