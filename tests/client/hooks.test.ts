// The plugin and the settings under real clients: it loads, and each hook is started.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Desk, events, packageFolder, recorder, WAYS } from './desk.js';
import { reached, textIn } from './service.js';

const clients: [string, string][] = Object.entries(JSON.parse(process.env.OKSTRA_CLIENTS ?? '{}'));

it('there are clients to try', () => {
  expect(clients).toHaveLength(2);
});

describe.each(clients)('Claude Code %s', (version, client) => {
  it('is that version', () => {
    expect(execFileSync(client, ['--version'], { encoding: 'utf8' })).toContain(version);
  });

  it.each(['plugin', '.'])('finds nothing wrong with %s', (folder) => {
    const desk = new Desk(client, packageFolder);
    const args = ['plugin', 'validate', '--strict', join(packageFolder, folder)];
    const said = execFileSync(client, args, { env: desk.env, encoding: 'utf8' });
    expect(said).toContain('Validation passed');
  });

  const fakes = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-recorder-')));
  afterAll(() => rmSync(fakes, { recursive: true, force: true }));

  it.each(WAYS)('starts each hook, by the %s', async (via) => {
    const folder = mkdtempSync(join(fakes, 'run-'));
    const desk = new Desk(client, recorder(folder));
    const args = desk.setUp(via);
    const isPlugin = via === 'plugin folder' || via === 'marketplace';
    const agent = isPlugin ? 'okstra:okstra-claude-worker' : 'okstra-claude-worker';
    const file = join(desk.project, 'a.txt');
    const { exit, stderr, asked } = await desk.run(args, (turn, asked) => {
      if (textIn(asked.messages?.[0]).includes('SUBAGENT')) return ['The worker is done.'];
      if (turn === 0) return [{ tool: 'Write', input: { file_path: file, content: 'a\n' } }];
      if (turn === 1) {
        const input = {
          description: 'build',
          prompt: 'SUBAGENT: build it',
          subagent_type: agent,
        };
        return [{ tool: 'Agent', input: { ...input, run_in_background: false } }];
      }
      return ['Done.'];
    });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(existsSync(file)).toBe(true);
    const first = textIn(asked[0]);
    for (const skill of [
      'okstra-run',
      'okstra-plan',
      'okstra-status',
      'okstra-handoff',
      'okstra-wizard',
    ]) {
      reached(first, skill);
    }
    // The worker has its page.
    const workers = asked.filter(({ messages }) => textIn(messages?.[0]).includes('SUBAGENT'));
    expect(workers.map(({ system }) => textIn(system).includes('Stage Carry Evidence'))).toContain(
      true,
    );
    const seen = events(folder);
    const names = seen.map((event) => event.hook_event_name);
    expect(names[0]).toBe('SessionStart');
    expect(names.at(-1)).toBe('SessionEnd');
    expect([...new Set(names)].sort()).toEqual([
      'PostToolUse',
      'PreToolUse',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'SubagentStop',
    ]);
    const edits = seen.filter((event) => event.hook_event_name === 'PreToolUse');
    expect(edits.map((event) => event.tool_name)).toEqual(['Write']);
    expect(names.filter((name) => name === 'Stop')).toEqual(['Stop']);
  });

  it('goes on where there is no okstra any more', async () => {
    const desk = new Desk(client, packageFolder);
    const args = desk.setUp('settings of the person');
    unlinkSync(join(desk.bin, 'okstra'));
    rmSync(join(desk.home, '.okstra'), { recursive: true });
    rmSync(join(desk.home, '.claude/okstra/hook.cjs'));
    const file = join(desk.project, 'a.txt');
    const { exit } = await desk.run(args, (turn) =>
      turn === 0 ? [{ tool: 'Write', input: { file_path: file, content: 'a\n' } }] : ['Done.'],
    );
    expect(exit).toBe(0);
    expect(existsSync(file)).toBe(true);
  });

  it('is rid of the plugin again', () => {
    const desk = new Desk(client, packageFolder);
    const list = () =>
      execFileSync(client, ['plugin', 'list'], { env: desk.env, encoding: 'utf8' });
    desk.okstra('install', '--plugin');
    expect(list()).toContain('okstra@okstra');
    expect(desk.okstra('install', '--plugin', '--json')).toContain('"changes": []');
    desk.okstra('uninstall', '--plugin');
    expect(list()).not.toContain('okstra@okstra');
    expect(existsSync(join(desk.home, '.okstra'))).toBe(false);
  });
});
