/** Panes on real servers of tmux, which each test starts and ends. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planText } from '../cli/plans.js';
import { hook, recorded, until } from '../hook/support.js';
import { CONFIG, Desk, SESSION, teamConfig } from './support.js';

let desk: Desk;
let run: string;
beforeEach(() => {
  desk = new Desk();
  run = desk.run(1);
});
afterEach(() => desk.close());

async function tag(env: Record<string, string>, pane: string, role: string, of = run) {
  const words = ['panes', 'tag', '--run-dir', of, '--role', role];
  expect((await desk.okstra({ ...env, TMUX_PANE: pane }, ...words)).exit).toBe(0);
}

/** A lead, a person, and panes of two runs side by side. */
async function crowd() {
  const lead = desk.server('one');
  const person = desk.pane('one');
  const env = desk.inside('one', lead);
  const [worker = '', trace = '', other = ''] = [1, 2, 3].map(() => desk.pane('one'));
  await tag(env, lead, 'lead');
  await tag(env, worker, 'worker');
  await tag(env, trace, 'trace');
  await tag(env, other, 'worker', desk.run(2));
  return { lead, person, worker, trace, other, env };
}

describe('okstra panes', () => {
  it("lists and closes the run's panes and nobody else's", async () => {
    const { lead, person, worker, trace, other, env } = await crowd();
    desk.tmux('one', 'select-pane', '-t', worker, '-T', '검토 | 작업자 ✓');
    desk.tmux('one', 'select-pane', '-t', trace, '-T', 'codex-worker-12-trace');
    // What a person sets for the whole server is inherited by every pane, and tags none.
    desk.tmux('one', 'set-option', '-g', '@okstra_role', 'worker');
    const text = desk.tmux('one', 'show-options', '-p', '-v', '-t', worker, '@okstra_run');
    desk.tmux('one', 'set-option', '-g', '@okstra_run', text);
    const list = ['panes', 'list', '--run-dir', run];
    const wanted = `${worker}\t검토 | 작업자 ✓\n${trace}\tcodex-worker-12-trace\n`;
    expect(await desk.okstra(env, ...list)).toEqual({ exit: 0, stdout: wanted, stderr: '' });
    // Asked from another pane the lead is as safe.
    const elsewhere = { ...env, TMUX_PANE: person };
    expect(await desk.okstra(elsewhere, ...list)).toMatchObject({ stdout: wanted });
    const dry = await desk.okstra(env, 'panes', 'close', '--run-dir', run, '--dry-run');
    expect(dry).toMatchObject({ exit: 0, stdout: wanted });
    expect(await desk.okstra(elsewhere, 'panes', 'close', '--run-dir', run)).toEqual({
      exit: 0,
      stdout: '2\n',
      stderr: '',
    });
    expect(desk.panes('one').sort()).toEqual([lead, person, other].sort());
    expect(await desk.okstra(env, ...list)).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect((await desk.okstra(env, 'panes', 'close', '--run-dir', run)).stdout).toBe('0\n');
  });

  it('passes over what was closed by hand, and shows what died', async () => {
    const { worker, trace, env } = await crowd();
    desk.tmux('one', 'kill-pane', '-t', worker);
    desk.tmux('one', 'set-option', '-g', 'remain-on-exit', 'on');
    const dead = desk.pane('one', 'exit 3');
    await tag(env, dead, 'worker');
    const { stdout } = await desk.okstra(env, 'panes', 'list', '--run-dir', run, '--json');
    const { panes } = JSON.parse(stdout);
    expect(panes).toMatchObject([
      { pane_id: trace, role: 'trace', dead: false },
      { pane_id: dead, role: 'worker', dead: true },
    ]);
    expect((await desk.okstra(env, 'panes', 'close', '--run-dir', run)).stdout).toBe('2\n');
    expect(desk.panes('one')).not.toContain(dead);
  });

  it('closes the pane of a process, never a later one of its id', async () => {
    const { worker, env } = await crowd();
    // Between looking and closing the pane got another process.
    const { tmux } = await import('../../cli-js/src/host/tmux.js');
    const server = env.TMUX?.split(',')[0] ?? '';
    const later = [{ server, pane_id: worker, pid: 1 }];
    expect(await tmux.close(later)).toEqual([]);
    expect(desk.panes('one')).toContain(worker);
  });

  it('closes many, and the last of a server', async () => {
    const lead = desk.server('many');
    const env = desk.inside('many', lead);
    const panes = Array.from({ length: 45 }, () => desk.pane('many'));
    await tag(env, lead, 'worker');
    // From another terminal: the first pane of the server is the run's as well.
    const { TMUX = '' } = env;
    for (const pane of panes) await tag(env, pane, 'trace');
    const words = ['panes', 'close', '--run-dir', run, '--tmux-server', TMUX.split(',')[0] ?? ''];
    expect((await desk.okstra({}, ...words)).stdout).toBe('46\n');
    const list = ['panes', 'list', '--run-dir', run];
    expect(await desk.okstra(env, ...list)).toEqual({ exit: 0, stdout: '', stderr: '' });
  });

  it('reaps the traces of a session, of every run, and nothing else', async () => {
    const { lead, person, worker, trace, other, env } = await crowd();
    const second = desk.pane('one');
    await tag(env, second, 'trace', desk.run(2));
    const foreign = desk.pane('one');
    const words = ['panes', 'tag', '--run-dir', run, '--role', 'trace', '--session', 'another'];
    await desk.okstra({ ...env, TMUX_PANE: foreign }, ...words);
    const ended = await desk.okstra({ ...env, CLAUDE_CODE_SESSION_ID: SESSION }, 'panes', 'reap');
    expect(ended).toEqual({ exit: 0, stdout: '2\n', stderr: '' });
    expect(desk.panes('one').sort()).toEqual([lead, person, worker, other, foreign].sort());
    expect(desk.panes('one')).not.toContain(trace);
    expect(await desk.okstra(env, 'panes', 'reap')).toMatchObject({ exit: 2, stdout: '' });
  });

  it('a session that ends leaves no traces behind', async () => {
    const { lead, person, worker, trace, other, env } = await crowd();
    desk.write('project/plan.md', planText([{}], '\n- [x] Approved\n'));
    const claim = ['stage', 'claim', '--plan', 'project/plan.md', '--no-worktree'];
    const claimed = await desk.okstra(env, ...claim, '--session', SESSION);
    expect(claimed.stderr).toBe('');
    const project = join(desk.folder, 'project');
    const event = recorded('SessionEnd.other.json', project);
    const ended = hook(event, { cwd: project, env: { ...desk.env, ...env } });
    expect(ended).toMatchObject({ status: 0, stdout: '{}\n', stderr: '' });
    await until(() => !desk.panes('one').includes(trace), 'the trace is closed');
    expect(desk.panes('one').sort()).toEqual([lead, person, worker, other].sort());
  });

  it("knows a teammate's pane by what was started in it", async () => {
    desk.write(CONFIG, teamConfig('config.4.json'));
    const lead = desk.server('one');
    const env = desk.inside('one', lead);
    const list = ['panes', 'list', '--run-dir', run];
    // The id that the config names, and a person in it.
    const person = desk.pane('one');
    expect(person).toBe('%1');
    expect((await desk.okstra(env, ...list)).stdout).toBe('');
    const agent = `exec sh -c 'exec sleep 1000' claude --agent-id scout@session-00000001 --agent-name scout`;
    desk.tmux('one', 'respawn-pane', '-k', '-t', person, agent);
    expect((await desk.okstra(env, ...list)).stdout).toMatch(/^%1\t/);
  });

  it.each([
    ['outside tmux', {}],
    ['on a server that is dead', { TMUX: '/nowhere/tmux-1/default,1,0', TMUX_PANE: '%0' }],
    ['without tmux', { TMUX: '/nowhere/x,1,0', PATH: '/nowhere' }],
  ])('finds nothing %s', async (_what, env) => {
    for (const [words, stdout] of [
      [['panes', 'list', '--run-dir', run], ''],
      [['panes', 'close', '--run-dir', run], '0\n'],
      [['panes', 'reap', '--session', SESSION], '0\n'],
    ] as const) {
      expect(await desk.okstra(env, ...words)).toEqual({ exit: 0, stdout, stderr: '' });
    }
  });

  it('finds nothing on a server that has died since', async () => {
    const env = desk.inside('one', desk.server('one'));
    desk.tmux('one', 'kill-server');
    const ended = await desk.okstra(env, 'panes', 'list', '--run-dir', run);
    expect(ended).toEqual({ exit: 0, stdout: '', stderr: '' });
  });

  it('says what is wrong with its arguments', async () => {
    for (const [words, said] of [
      [['panes', 'list'], 'okstra: which run? give --run-dir FOLDER\n'],
      [['panes', 'list', '--run-dir', 'no'], "no: no such folder; give the run's folder\n"],
      [
        ['panes', 'tag', '--run-dir', run],
        'okstra: which pane? run it inside tmux, or give --tmux-server and --pane\n',
      ],
      [
        ['panes', 'tag', '--run-dir', run, '--tmux-server', 'x', '--pane', '3;kill-server'],
        'okstra: bad options: the id of a pane is % and a number, such as %3\n',
      ],
    ] as const) {
      expect(await desk.okstra({}, ...words)).toEqual({ exit: 2, stdout: '', stderr: said });
    }
  });
});
