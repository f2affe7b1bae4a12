/** A worker that writes more than fits anywhere. */
import { rmSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bench } from './support.js';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.close());

it('floods a gigabyte, in constant memory', async () => {
  const prompt = bench.prompt('one');
  const hook = bench.write(
    'peak.cjs',
    `process.on('exit', () => { if (process.argv[2] === 'dispatch') require('node:fs').writeSync(2, 'peak ' + process.resourceUsage().maxRSS + '\\n'); });`,
  );
  const peakOf = (text: string) => Number(/peak (\d+)/.exec(text)?.[1] ?? Number.NaN) / 1024;
  const env = { NODE_OPTIONS: `--require ${hook}` };
  // What an idle one takes is measured as well.
  const idle = await bench.begin(['dispatch', 'start', bench.prompt('two'), '--cli', 'slow'], env)
    .ended;
  const flooded = await bench.begin(
    ['dispatch', 'start', prompt, '--cli', 'floods', '--follow'],
    env,
  ).ended;
  expect(flooded.exit).toBe(0);
  expect(statSync(`${prompt}.log`).size).toBe(2 ** 30);
  const supervisor = Number(bench.readResult('one')) / 1024;
  const parent = peakOf(flooded.stderr);
  console.log(
    `start: ${parent.toFixed(0)} MB (idle ${peakOf(idle.stderr).toFixed(0)} MB), supervisor: ${supervisor.toFixed(0)} MB`,
  );
  expect(parent).toBeLessThan(peakOf(idle.stderr) + 48);
  expect(supervisor).toBeLessThan(peakOf(idle.stderr) + 48);
  rmSync(`${prompt}.log`);
}, 120_000);
