/** The team and the end of a run, with real tmux and the client's own configs. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, Desk, SESSION, teamConfig } from './support.js';

let desk: Desk;
let run: string;
beforeEach(() => {
  desk = new Desk();
  run = desk.run(1);
});
afterEach(() => desk.close());

const reconcile = () => ['team', 'reconcile', '--run-dir', run];
const LEAD = { CLAUDE_CODE_SESSION_ID: SESSION };
const AGENT =
  "exec sh -c 'exec sleep 1000' claude --agent-id scout@session-00000001 --agent-name scout";

describe('okstra team reconcile', () => {
  it.each([
    ['config.1.json', 'no member', undefined],
    [
      'config.2.json',
      'a member in its first turn',
      '"backendType": "tmux",\n      "isActive": false',
    ],
    ['config.3.json', 'an active member', '"isActive": false'],
    ['config.4.json', 'an idle member', undefined],
    ['config.in-process.json', 'a member in the process', undefined],
    ['config.6.json', 'a member that was dismissed', undefined],
  ])('%s: %s, whose pane is gone', async (name, _what, changed) => {
    const text = teamConfig(name);
    desk.write(CONFIG, text);
    const env = { ...desk.inside('one', desk.server('one')), ...LEAD };
    const ended = await desk.okstra(env, ...reconcile(), '--json');
    expect(ended).toMatchObject({ exit: 0, stderr: '' });
    expect(JSON.parse(ended.stdout).marked).toEqual(changed === undefined ? [] : ['scout']);
    const after = desk.read(CONFIG);
    if (changed === undefined) expect(after).toBe(text);
    else {
      expect(after).toContain(changed);
      const member = JSON.parse(after).members[1];
      expect(JSON.parse(text).members[1]).toEqual({
        ...member,
        isActive: JSON.parse(text).members[1].isActive,
      });
      // Once: the second time nothing is left to mark.
      const again = await desk.okstra(env, ...reconcile(), '--json');
      expect(JSON.parse(again.stdout).marked).toEqual([]);
      expect(desk.read(CONFIG)).toBe(after);
    }
  });

  it('changes nothing where it cannot be told', async () => {
    const text = teamConfig('config.3.json');
    desk.write(CONFIG, text);
    const elsewhere = desk.inside('other', desk.server('other'));
    for (const env of [{}, LEAD, elsewhere, { ...LEAD, TMUX: '/nowhere/x,1,0' }]) {
      const ended = await desk.okstra(env, ...reconcile());
      expect(ended).toMatchObject({ exit: 0, stderr: '' });
      expect(ended.stdout).toContain('nothing to mark');
      expect(ended.stdout).toContain('cannot tell from here');
      expect(desk.read(CONFIG)).toBe(text);
    }
    // The person vouches for the server.
    const named = await desk.okstra({}, ...reconcile(), '--tmux-server', 'other');
    expect(named.stdout).toBe('marked as inactive: scout\n');
  });

  it("finds the team's own server, which is named after a lead outside of tmux", async () => {
    const text = teamConfig('config.lead-outside-tmux.json').replace(
      '"isActive": false',
      '"isActive": true',
    );
    desk.write(CONFIG, text);
    desk.server('claude-swarm-14253');
    desk.tmux('claude-swarm-14253', 'respawn-pane', '-k', '-t', '%0', AGENT);
    expect((await desk.okstra(LEAD, ...reconcile())).stdout).toBe('nothing to mark\n');
    const other = desk.pane('claude-swarm-14253');
    desk.tmux('claude-swarm-14253', 'kill-pane', '-t', '%0');
    expect(other).toBe('%1');
    expect((await desk.okstra(LEAD, ...reconcile())).stdout).toBe('marked as inactive: scout\n');
  });

  it('keeps unknown fields and knows its team among others', async () => {
    const text = teamConfig('config.3.json').replace(
      '"planModeRequired": false',
      '"planModeRequired": false,  "later":{"n":1.0, "e":1e3}',
    );
    desk.write(CONFIG, text);
    const others = teamConfig('config.3.json').replaceAll('00000001', '00000002');
    desk.write('claude/teams/session-00000002/config.json', others);
    desk.write('claude/teams/session-00000003/config.json', '{"lead');
    const env = { ...desk.inside('one', desk.server('one')), ...LEAD };
    expect((await desk.okstra(env, ...reconcile())).exit).toBe(0);
    expect(desk.read(CONFIG)).toBe(text.replace('"isActive": true', '"isActive": false'));
    expect(desk.read('claude/teams/session-00000002/config.json')).toBe(others);
  });

  it('loses nothing of a config that is rewritten meanwhile', async () => {
    const config = join(desk.folder, CONFIG);
    desk.write(CONFIG, teamConfig('config.3.json'));
    const env = { ...desk.inside('one', desk.server('one')), ...LEAD };
    let isOver = false;
    let turns = 0;
    // The client: reads, adds to what is there, replaces.
    const client = (async () => {
      while (!isOver) {
        turns += 1;
        const now = JSON.parse(readFileSync(config, 'utf8'));
        writeFileSync(`${config}.new`, JSON.stringify({ ...now, turns }, null, 2));
        renameSync(`${config}.new`, config);
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 250));
      }
    })();
    const ended = await Promise.all([1, 2, 3].map(() => desk.okstra(env, ...reconcile())));
    isOver = true;
    await client;
    const { members, turns: last } = JSON.parse(desk.read(CONFIG));
    // What the client wrote last is still there.
    expect(last).toBe(turns);
    expect(members).toHaveLength(2);
    // Whoever could not get through says so, and nobody has written half a file.
    for (const { exit } of ended) expect([0, 3]).toContain(exit);
    expect(ended.some(({ exit }) => exit === 0)).toBe(true);
  });

  it.each([
    ['a torn config', '{"leadSessionId": ', 2, 'not usable as JSON'],
    ['two configs of one session', undefined, 3, '2 team configs name the session'],
  ])('refuses %s', async (_what, text, exit, said) => {
    desk.write(CONFIG, text ?? teamConfig('config.3.json'));
    if (text === undefined) {
      desk.write('claude/teams/session-copy/config.json', teamConfig('config.3.json'));
    }
    const ended = await desk.okstra(LEAD, ...reconcile());
    expect(ended).toMatchObject({ exit, stdout: '' });
    expect(ended.stderr).toContain(said);
  });

  it('refuses a run that names no session', async () => {
    desk.write('plain/x', '');
    const words = ['team', 'reconcile', '--run-dir', join(desk.folder, 'plain')];
    const ended = await desk.okstra({}, ...words);
    expect(ended).toMatchObject({ exit: 3, stdout: '' });
    expect(ended.stderr).toContain('names no leading session; name the session with --session');
    expect((await desk.okstra(LEAD, ...words)).stdout).toBe('the session leads no team\n');
  });
});

describe('okstra wrap-up', () => {
  const wrapUp = (...more: string[]) => ['wrap-up', '--run-dir', run, ...more];
  const LOG = 'project/.okstra/tasks/web/login/runs/implementation/stage-1/logs/lead-events.jsonl';

  it('asks nothing where nothing is left', async () => {
    desk.write(CONFIG, teamConfig('config.1.json'));
    for (const more of [[], ['--answer', 'yes'], ['--answer', 'no']]) {
      const ended = await desk.okstra(LEAD, ...wrapUp(...more));
      expect(ended).toEqual({ exit: 0, stdout: '', stderr: 'okstra: nothing is left\n' });
    }
  });

  it('asks once, and carries a yes out', async () => {
    desk.write(CONFIG, teamConfig('config.5.json'));
    const lead = desk.server('one');
    const env = { ...desk.inside('one', lead), ...LEAD };
    const mate = desk.pane('one', AGENT);
    const trace = desk.pane('one');
    const tag = ['panes', 'tag', '--run-dir', run, '--role', 'trace'];
    await desk.okstra({ ...env, TMUX_PANE: trace }, ...tag);
    desk.tmux('one', 'select-pane', '-t', trace, '-T', 'codex');
    for (const checkpoint of ['synthesis', 'persist']) {
      expect((await desk.okstra(env, 'progress', checkpoint, '--run-dir', run)).exit).toBe(0);
    }
    const asked = await desk.okstra({ ...env, LC_ALL: 'ko_KR.UTF-8' }, ...wrapUp());
    expect(asked.stdout.split('\n')[0]).toBe(
      '실행이 끝났고 okstra pane 2개와 팀원 1명이 남아 있습니다. 모두 닫고 정리할까요?',
    );
    expect(asked.stdout).toContain(`> ${trace}\tcodex\n`);
    const refused = await desk.okstra(env, ...wrapUp('--answer', 'only codex'));
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    const kept = await desk.okstra(env, ...wrapUp('--answer', 'no'));
    expect(kept.stdout).toContain(`still open: 2 panes;`);
    expect(kept.stdout).toContain(
      `1 teammate; earlier through the Teams view (team session-00000001), or with: okstra wrap-up --run-dir ${run} --answer yes\n`,
    );
    const dry = await desk.okstra(env, ...wrapUp('--answer', 'yes', '--dry-run'));
    expect(dry.exit).toBe(0);
    expect(desk.panes('one')).toHaveLength(3);
    const done = await desk.okstra(env, ...wrapUp('--answer', 'yes'));
    expect(done).toEqual({
      exit: 0,
      stderr: '',
      stdout: [
        'PROGRESS: phase-7-teardown dismissing teammates',
        'closed 1 of 1 panes, marked 0 teammates as inactive',
        'send with SendMessage:',
        '{"to":"scout","message":{"type":"shutdown_request"}}',
        '',
      ].join('\n'),
    });
    // The teammate ends, and its pane with it, once the lead has sent the message.
    expect(desk.panes('one').sort()).toEqual([lead, mate].sort());
    const rows = desk.read(LOG).trim().split('\n');
    const events = rows.map((row) => JSON.parse(row)).map((row) => row.checkpoint ?? row.event);
    expect(events).toEqual(['synthesis', 'persist', 'tokens', 'teardown']);
    expect(JSON.parse(rows[2] ?? '')).toMatchObject({
      tokens: null,
      unavailable: ['lead', 'scout'],
    });
  });

  it('marks who is gone, and asks nobody who cannot answer', async () => {
    desk.write(CONFIG, teamConfig('config.5.json'));
    const env = { ...desk.inside('one', desk.server('one')), ...LEAD };
    const { stdout } = await desk.okstra(env, ...wrapUp('--answer', 'yes', '--json'));
    expect(JSON.parse(stdout)).toMatchObject({
      ask: true,
      agreed: true,
      marked: ['scout'],
      messages: [],
      progress: null,
    });
    expect(desk.read(CONFIG)).toContain('"isActive": false');
    const again = await desk.okstra(env, ...wrapUp('--json'));
    expect(JSON.parse(again.stdout)).toMatchObject({ ask: false, question: null });
  });
});

describe('okstra progress', () => {
  it('prints the lines and keeps them in order, however many report at once', async () => {
    const say = (...words: string[]) => desk.okstra({}, 'progress', ...words, '--run-dir', run);
    const many = await Promise.all(
      [1, 2, 3, 4].map((panes) => say('batch-cleanup', '--panes', String(panes))),
    );
    expect(many.map(({ stdout }) => stdout)).toEqual(
      [1, 2, 3, 4].map((n) => `PROGRESS: phase-batch-cleanup panes=${n} teammates=0\n`),
    );
    expect(await say('persist')).toEqual({
      exit: 3,
      stdout: '',
      stderr:
        'okstra: persist cannot be reported after batch-cleanup; what may come now: batch-cleanup, synthesis\n',
    });
    const once = await Promise.all([say('synthesis'), say('synthesis')]);
    expect(once.map(({ exit }) => exit)).toEqual([0, 0]);
    await say('persist');
    const report = '.okstra/tasks/web/login/report.md';
    const complete = ['complete', '--final-report'];
    expect(await say(...complete, report)).toMatchObject({ exit: 3, stdout: '' });
    expect(await say(...complete, '../outside.md')).toMatchObject({ exit: 3, stdout: '' });
    desk.write(`project/${report}`, '');
    const absolute = join(desk.folder, 'project', report);
    const line = `PROGRESS: complete final-report=${report}\n`;
    expect(await say(...complete, absolute)).toEqual({ exit: 0, stdout: line, stderr: '' });
    const rows = desk
      .read('project/.okstra/tasks/web/login/runs/implementation/stage-1/logs/lead-events.jsonl')
      .trim()
      .split('\n');
    expect(rows.map((row) => JSON.parse(row).checkpoint)).toEqual([
      ...Array(4).fill('batch-cleanup'),
      ...['synthesis', 'persist', 'complete'],
    ]);
  });
});
