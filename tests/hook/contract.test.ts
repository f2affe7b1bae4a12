/** Whatever a client sends: one document in its contract, exit status 0. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as okstra from '../../npm-package/dist/node.js';
import type { Decision, FactsInput, HookAnswer } from '../../npm-package/src/index.js';
import { Shop } from '../worktrees/support.js';
import {
  BIN,
  below,
  FIXTURES,
  fixture,
  hook,
  type Json,
  offences,
  RECORDED,
  recorded,
  SESSION,
  until,
} from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'okstra-hook-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const home = join(folder, 'home');
const nowhere = join(folder, 'nowhere');
const env = { PATH: process.env.PATH, HOME: folder, OKSTRA_HOME: home };

beforeAll(() => mkdirSync(nowhere));

describe('the table', () => {
  interface Case extends Json {
    name: string;
    ledger: string;
    recorded?: string;
    with?: Json;
    event?: unknown;
    plan?: Record<string, string>;
    facts?: Json;
    request?: Json;
    answer: Json;
  }
  const table = fixture<{ facts: Json; ledgers: Record<string, Json[]>; cases: Case[] }>(
    'cases.json',
  );

  /** The answer of the package as the table writes it. */
  function answerOf(it: Case): Json {
    const event =
      it.recorded === undefined
        ? it.event
        : { ...fixture(`recorded/${it.recorded}`), ...(it.with ?? {}) };
    let plan = readFileSync(join(FIXTURES, 'plan.md'), 'utf8');
    for (const [from, to] of Object.entries(it.plan ?? {})) plan = plan.replaceAll(from, to);
    const ledger = (table.ledgers[it.ledger] ?? []).map((row) => `${JSON.stringify(row)}\n`);
    const facts = { ...table.facts, ...it.facts } as FactsInput;
    try {
      const decision: Decision<HookAnswer> = okstra.hookEvent(
        JSON.stringify(event),
        plan,
        ledger.join(''),
        facts,
        it.request ?? {},
      );
      if (decision.kind === 'needs') return { needs: decision.needs };
      const effects = decision.effects.map((effect) => {
        if (effect.kind !== 'append') return `write ${effect.path.split('/').at(-1)}`;
        const { status, stage } = JSON.parse(effect.line);
        return `append ${status} ${stage}`;
      });
      return { ...decision.answer, effects };
    } catch (error) {
      return { failure: (error as Error).message };
    }
  }

  it.each(table.cases)('$name', (it) => {
    expect(answerOf(it)).toEqual(it.answer);
  });
});

describe('recorded events', () => {
  it.each(RECORDED)('%s, where okstra has nothing to do', (name) => {
    const event = recorded(name, nowhere);
    const answered = hook(event, { cwd: nowhere, env });
    expect(offences(String(event.hook_event_name), answered)).toEqual([]);
    expect(answered).toMatchObject({ stdout: '{}\n', stderr: '' });
    // Nothing of such a session is kept.
    expect(() => below(home)).toThrow('ENOENT');
  });

  it('where the session holds a stage', { timeout: 300_000 }, async () => {
    const shop = new Shop({ graph: ['', '1'] });
    await shop.claimed(1, '--session', SESSION);
    const ends = RECORDED.filter((name) => name.startsWith('SessionEnd'));
    const said: Record<string, string[]> = {};
    for (const name of [...RECORDED.filter((it) => !ends.includes(it)), ...ends]) {
      const event = recorded(name, shop.root);
      const answered = hook(event, { cwd: shop.root, env: shop.env });
      const of = String(event.hook_event_name);
      expect(offences(of, answered), name).toEqual([]);
      expect(answered.stderr, name).toBe('');
      if (Object.keys(answered.output).length > 0) {
        said[of] = [...(said[of] ?? []), name.replace(/\.json$/, '')];
      }
    }
    await until(() => shop.rows().some(({ status }) => status === 'released'), 'the end');
    expect(said).toEqual({
      PreToolUse: ['PreToolUse.Edit', 'PreToolUse.Write'],
      SessionStart: RECORDED.filter((name) => name.startsWith('SessionStart')).map((name) =>
        name.replace(/\.json$/, ''),
      ),
      // Once; then it was said.
      Stop: ['Stop'],
    });
  });
});

describe('what is no event', () => {
  const stop = { hook_event_name: 'Stop', session_id: SESSION, cwd: nowhere };
  const cases: [name: string, input: string | Uint8Array, said: RegExp][] = [
    ['nothing', '', /standard input is empty/],
    ['blanks', ' \n', /no JSON/],
    ['half of it', '{"hook_event_name": "Stop"', /no JSON/],
    ['two documents', `${JSON.stringify(stop)}${JSON.stringify(stop)}`, /no JSON/],
    ['a list', '[]', /no JSON object/],
    ['null', 'null', /no JSON object/],
    ['a text', '"Stop"', /no JSON object/],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x7b), /no JSON/],
    ['deep nesting', '['.repeat(200_000), /no JSON/],
    ['no name', '{"session_id": "a"}', /no hook_event_name/],
    ['a name of another type', '{"hook_event_name": 7, "session_id": "a"}', /no hook_event_name/],
    ['a name nobody knows', '{"hook_event_name": "To\\u001b[2Jday"}', /no event 'To \[2Jday'/],
    ['no session', '{"hook_event_name": "Stop"}', /no session_id/],
    ['much that is no JSON', 'x'.repeat(100_000_000), /no JSON/],
  ];
  it.each(cases)('%s', (_name, input, said) => {
    const { status, stdout, stderr } = hook(input, { cwd: nowhere, env });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '{}\n' });
    expect(stderr).toMatch(said);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(() => below(home)).toThrow('ENOENT');
  });

  it('an event of 100 MB is one', () => {
    const event = { ...recorded('PreToolUse.Write.json', nowhere) };
    event.tool_input = { file_path: join(nowhere, 'a.txt'), content: 'x'.repeat(100_000_000) };
    expect(hook(event, { cwd: nowhere, env })).toMatchObject({
      status: 0,
      stdout: '{}\n',
      stderr: '',
    });
  });

  it('names that lead elsewhere stay in their folder', () => {
    const project = join(folder, 'project');
    mkdirSync(join(project, '.okstra'), { recursive: true });
    const own = { ...env, OKSTRA_HOME: join(folder, 'own') };
    for (const session_id of ['../../../away', '/away', '..', 'a\nb', 'x'.repeat(5_000)]) {
      const event = { ...recorded('Stop.json', project), session_id };
      expect(hook(event, { cwd: project, env: own }).output).toEqual({});
    }
    const names = Object.keys(below(own.OKSTRA_HOME)).sort();
    expect(names).toEqual([
      'sessions/--',
      'sessions/---..-..-away',
      'sessions/-away',
      'sessions/a-b',
    ]);
  });
});

describe('faults of ours', () => {
  it('a home that cannot be written is told', () => {
    const project = join(folder, 'readonly');
    mkdirSync(join(project, '.okstra'), { recursive: true });
    writeFileSync(join(folder, 'file'), '');
    const own = { ...env, OKSTRA_HOME: join(folder, 'file', 'home') };
    const answered = hook(recorded('Stop.json', project), { cwd: project, env: own });
    expect(answered).toMatchObject({ status: 0, stdout: '{}\n' });
    expect(answered.stderr).toMatch(/^okstra hook: .*no folder.*\n$/);
  });

  it('a package without its module is told', async () => {
    const shop = new Shop({ graph: [''] });
    const { worktree } = await shop.claimed(1, '--session', SESSION);
    const lost = join(shop.folder, 'package');
    const from = dirname(dirname(BIN));
    cpSync(from, lost, {
      recursive: true,
      filter: (path) => !path.includes('node_modules') && !path.endsWith('.wasm'),
    });
    const event = recorded('PreToolUse.Edit.json', worktree);
    const bin = join(lost, 'bin/okstra.js');
    const answered = hook(event, { cwd: shop.root, env: shop.env, bin });
    expect(answered).toMatchObject({ status: 0, stdout: '{}\n' });
    expect(answered.stderr).toContain('okstra-hook.wasm');
  });

  it.each([
    ['settings that cannot be read', 'config.json', '{'],
    ['a guard nobody knows', 'config.json', '{"guard": "maybe"}'],
  ])('%s are told', async (_name, file, text) => {
    const shop = new Shop({ graph: [''] });
    const { worktree } = await shop.claimed(1, '--session', SESSION);
    writeFileSync(join(shop.home, file), text);
    const answered = hook(recorded('PreToolUse.Edit.json', worktree), {
      cwd: shop.root,
      env: shop.env,
    });
    expect(answered).toMatchObject({ status: 0, stdout: '{}\n' });
    expect(answered.stderr).toContain(file);
    // It is looked at for several plans and reasons, and said once.
    for (const event of ['Stop.json', 'SessionStart.clear.json']) {
      const { stderr } = hook(recorded(event, worktree), { cwd: shop.root, env: shop.env });
      expect(stderr.match(/config\.json/g), event).toHaveLength(1);
    }
  });

  it('a plan that is gone is told', async () => {
    const shop = new Shop({ graph: [''] });
    await shop.claimed(1, '--session', SESSION);
    rmSync(join(shop.root, shop.plan));
    const answered = hook(recorded('Stop.json', shop.root), { cwd: shop.root, env: shop.env });
    expect(answered).toMatchObject({ status: 0, stdout: '{}\n' });
    expect(answered.stderr).toContain('no such file');
  });
});
