/** Programs that are run while nothing else is done, against those that are listened to. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { spawnProgram, spawnProgramNow } from '../../cli-js/src/host/spawn.js';

const folder = mkdtempSync(join(tmpdir(), 'okstra spawn 한 '));
afterAll(() => rmSync(folder, { recursive: true }));

const { PATH } = process.env;
const node = (script: string) => [process.execPath, '-e', script] as const;

it.each<[what: string, words: readonly [string, ...string[]], more?: object]>([
  ['a word', ['printf', '%s', '한글 * $HOME']],
  ['no word', ['true']],
  ['a status and a complaint', ['sh', '-c', 'echo no >&2; exit 3']],
  ['a signal', ['sh', '-c', 'kill -TERM $$']],
  ['what it reads', ['cat'], { input: '하나\n둘\n' }],
  ['what it reads in bytes', ['cat'], { input: new Uint8Array([0, 255, 10]) }],
  ['nothing, where it reads nothing', ['cat']],
  ['its end, where it does not read all', ['true'], { input: 'x'.repeat(3_000_000) }],
  ['much', node('process.stdout.write("x".repeat(5e6))')],
  ['its folder', ['pwd', '-P']],
  ['its variables and no others', ['env'], { env: { PATH, A: 'b=c', B: undefined, 한: '글' } }],
  ['no such program', ['okstra-none']],
  ['no program', ['/']],
  ['no such folder', ['true'], { folder: '/okstra-none' }],
  ['no folder', ['true'], { folder: '/dev/null' }],
])('answers %s', async (_, [program, ...args], more) => {
  const options = { folder, env: { PATH }, help: 'install it', ...more };
  const heard = await spawnProgram(program, args, options).catch((error: unknown) => error);
  let seen: unknown;
  try {
    seen = spawnProgramNow(program, args, options);
  } catch (error) {
    seen = error;
  }
  expect(seen).toEqual(heard);
});

it.each([
  ['program', ['tr\0ue'], {}],
  ['arguments', ['echo', 'a\0b'], {}],
  ['variables', ['true'], { env: { PATH, A: 'a\0b' } }],
  ['folder', ['true'], { folder: `${folder}\0/` }],
] as const)('takes no part of its %s for the whole', (_, [program, ...args], more) => {
  const options = { folder, env: { PATH }, help: 'install it', ...more };
  expect(() => spawnProgramNow(program, args, options)).toThrow(/null bytes/);
});
