/** Tokens from session files: the client's own, made-up ones, and one as large as they get. */
import { spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { World } from '../cli/world.js';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));
const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/sessions/${name}`, import.meta.url), 'utf8');

const LEAD = 'ded2b5f6-9f26-423e-8a31-1fc6ea441c29';
const PROJECT = '/home/claude/projects/-project';
const session = ['tokens', '--session', LEAD, '--json'];

async function report(files: Record<string, string>, ...more: string[]) {
  const ended = await new World(files).run(...session, ...more);
  expect(ended.exit).toBe(0);
  return { ...JSON.parse(ended.stdout), said: ended.stderr };
}

/** A line of a message. */
function line(id: string, usage: Record<string, unknown>, more = {}) {
  const message = { id, model: 'claude-sonnet-4-5-20250929', usage };
  return `${JSON.stringify({ type: 'assistant', uuid: 'u', ...more, message })}\n`;
}

const sum = (input: number, output: number, messages: number, read = 0, write = 0) => ({
  ...{ messages, input, output, cache_read: read, cache_write: write },
});

describe('okstra tokens', () => {
  it("counts the client's own files", async () => {
    const { agents, tokens, cost, unpriced } = await report({
      [`${PROJECT}/${LEAD}.jsonl`]: fixture('session.jsonl'),
      [`${PROJECT}/${LEAD}/subagents/agent-afd73c2833526476e.jsonl`]: fixture(
        'subagents/agent-afd73c2833526476e.jsonl',
      ),
    });
    expect(agents).toMatchObject([
      { agent: 'lead', role: 'lead', status: 'counted', tokens: sum(200, 40, 2) },
      { agent: 'general-purpose afd73c28', role: 'worker', tokens: sum(200, 40, 2) },
    ]);
    expect(tokens).toEqual(sum(400, 80, 4));
    // A model that the price list does not know.
    expect({ cost, unpriced }).toEqual({ cost: null, unpriced: ['claude-opus-5-5'] });
  });

  it('counts a message once, with the most that was said of it', async () => {
    const usage = (output: number) => ({
      ...{ input_tokens: 3, output_tokens: output, cache_read_input_tokens: 1_000_000 },
      ...{ cache_creation_input_tokens: 1_000_000 },
      cache_creation: { ephemeral_1h_input_tokens: 400_000 },
    });
    const { agents, cost, said } = await report({
      [`${PROJECT}/${LEAD}.jsonl`]: [
        line('a', usage(1)),
        line('a', usage(500_000)),
        line('b', { input_tokens: 5, output_tokens: 7 }),
        line('a', usage(20)),
        '{"type":"assistant","message":{"id":"torn","usage":{"input_to',
      ].join(''),
      // A session continued elsewhere repeats what came before.
      [`/home/claude/projects/-other/${LEAD}.jsonl`]: line('a', usage(500_000)),
    });
    expect(agents[0].tokens).toEqual(sum(8, 500_007, 2, 1_000_000, 1_000_000));
    expect(cost).toBeCloseTo(8 * 3e-6 + 500_007 * 15e-6 + 0.3 + 0.6 * 3.75 + 0.4 * 6, 3);
    expect(said).toContain('1 line could not be read');
  });

  it('knows workers by their names, and never calls zero what it cannot find', async () => {
    const config = {
      ...{ name: 'session-ded2b5f6', leadSessionId: LEAD, leadAgentId: 'team-lead@t' },
      members: [
        { name: 'team-lead', agentId: 'team-lead@t', tmuxPaneId: 'leader' },
        { name: 'inner', agentId: 'inner@t', tmuxPaneId: 'in-process', cwd: '/project' },
        { name: 'pane', agentId: 'pane@t', tmuxPaneId: '%1', cwd: '/project/.wt' },
        { name: 'lost', agentId: 'lost@t', tmuxPaneId: '%2', cwd: '/project' },
        { name: 'named', agentId: 'named@t', tmuxPaneId: '%3', cwd: '/project' },
      ],
    };
    const one = (id: string, more = {}) => line(id, { input_tokens: 1, output_tokens: 1 }, more);
    const of = (agentName: string, teamName = 'session-ded2b5f6') => ({ agentName, teamName });
    const { agents, unavailable, cost, known_cost } = await report(
      {
        '/home/claude/teams/session-ded2b5f6/config.json': JSON.stringify(config),
        [`${PROJECT}/${LEAD}.jsonl`]: one('a'),
        [`${PROJECT}/${LEAD}/subagents/agent-ainner-0123abcd.jsonl`]: one('b'),
        [`${PROJECT}/${LEAD}/subagents/agent-ainner-4567.jsonl`]: one('c'),
        '/home/claude/projects/-project--wt/p1.jsonl': one('d', of('pane')),
        '/home/claude/projects/-project--wt/p2.jsonl': one('e', of('pane', 'session-other')),
        [`${PROJECT}/own.jsonl`]: one('f'),
        [`${PROJECT}/person.jsonl`]: one('g', { agentName: 'lost' }),
      },
      ...['--worker', 'named=own'],
    );
    expect(agents.map((it: { agent: string; tokens: unknown }) => [it.agent, it.tokens])).toEqual([
      ['lead', sum(1, 1, 1)],
      ['inner', sum(2, 2, 2)],
      ['named', sum(1, 1, 1)],
      ['pane', sum(1, 1, 1)],
      ['lost', null],
    ]);
    expect(unavailable).toEqual(['lost']);
    expect(cost).toBeNull();
    expect(known_cost).toBeCloseTo(5 * 18e-6, 9);
  });

  it('says who is unavailable, as a table', async () => {
    const ended = await new World().run('tokens', '--session', LEAD);
    expect(ended.stdout).toContain('unavailable');
    expect(ended.stdout).toContain(`lead: unavailable, no session file ${LEAD}.jsonl`);
    expect(ended.stdout).toContain('prices of 2026-');
    expect(ended.stdout).not.toMatch(/\b0\b/);
  });

  it.each([
    [['tokens'], 'okstra: whose tokens? give --run-dir FOLDER or --session ID\n'],
    [
      ['tokens', '--session', LEAD, '--worker', 'x=../y'],
      "okstra: a worker is NAME=ID with the id of its session, got 'x=../y'\n",
    ],
    [['tokens', '--session', LEAD, '--prices', 'no'], 'okstra: there is no price list no\n'],
  ])('%j is wrong', async (words, stderr) => {
    expect(await new World().run(...words)).toMatchObject({ exit: 2, stdout: '', stderr });
  });

  it('takes another price list, and says what is wrong with one', async () => {
    const price = { input: 1e6, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };
    const list = { as_of: '2030-01-01', currency: 'EUR', models: [{ model: 'm', ...price }] };
    const files = {
      [`${PROJECT}/${LEAD}.jsonl`]: line('a', { input_tokens: 2 }).replace(/claude-[\w-]+/, 'm'),
      'list.json': JSON.stringify(list),
      'bad.json': '{"as_of":"x"}',
    };
    const { cost, currency, prices_as_of } = await report(files, '--prices', 'list.json');
    expect({ cost, currency, prices_as_of }).toEqual({
      ...{ cost: 2, currency: 'EUR', prices_as_of: '2030-01-01' },
    });
    const ended = await new World(files).run(...session, '--prices', 'bad.json');
    expect(ended).toMatchObject({ exit: 2, stdout: '' });
    expect(ended.stderr).toContain("bad.json: a price list without 'currency'");
  });
});

/** Runs okstra on a real disk; answers what it printed and the most memory it ever had, in MB. */
function measured(folder: string): Promise<{ report: { tokens: unknown }; memory: number }> {
  const hook = join(folder, 'peak.cjs');
  const source = `process.on('exit', () => require('node:fs').writeSync(2, 'peak ' + process.resourceUsage().maxRSS + '\\n'));`;
  writeFileSync(hook, source);
  const child = spawn(process.execPath, ['--require', hook, BIN, ...session], {
    env: { PATH: process.env.PATH, CLAUDE_CONFIG_DIR: folder, OKSTRA_HOME: folder },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      const peak = Number(/peak (\d+)/.exec(stderr)?.[1] ?? Number.NaN);
      resolve({ report: JSON.parse(stdout), memory: peak / 1024 });
    });
  });
}

/** A session file of so many megabytes: answers how many messages it has. */
function generate(path: string, megabytes: number): number {
  const file = openSync(path, 'w');
  const text = 'what the model wrote and a tool has answered, '.repeat(100);
  let messages = 0;
  for (let written = 0; written < megabytes * 1e6; ) {
    const lines: string[] = [];
    for (let at = 0; at < 200; at += 1) {
      messages += 1;
      const usage = { input_tokens: 2, output_tokens: 3 };
      const content = [{ type: 'text', text }];
      const message = { id: `msg_${messages}`, model: 'claude-sonnet-4-5', content, usage };
      const answer = { type: 'user', message: { role: 'user', content: text } };
      lines.push(JSON.stringify({ type: 'assistant', message }));
      lines.push(JSON.stringify({ type: 'assistant', message }));
      for (let user = 0; user < 4; user += 1) lines.push(JSON.stringify(answer));
    }
    written += writeSync(file, `${lines.join('\n')}\n`);
  }
  closeSync(file);
  return messages;
}

it('reads a gigabyte in the memory of ten megabytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'okstra-tokens-'));
  try {
    const project = join(folder, 'projects', '-project');
    mkdirSync(project, { recursive: true });
    const path = join(project, `${LEAD}.jsonl`);
    const few = generate(path, 10);
    const small = await measured(folder);
    expect(small.report.tokens).toEqual(sum(few * 2, few * 3, few));
    const many = generate(path, 1000);
    const large = await measured(folder);
    expect(large.report.tokens).toEqual(sum(many * 2, many * 3, many));
    console.log(`10 MB: ${small.memory.toFixed(0)} MB, 1 GB: ${large.memory.toFixed(0)} MB`);
    expect(large.memory).toBeLessThan(small.memory + 96);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
