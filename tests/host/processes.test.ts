/** Telling the live from the dead, with real processes. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locksFolder, okstraHome, sessionFile, signOfLife } from '../../cli-js/src/host/home.js';
import { newId } from '../../cli-js/src/host/id.js';
import { hostName, startOf, stateOf, statOf } from '../../cli-js/src/host/processes.js';
import { firstLasting, isPassing, parsePs } from '../../cli-js/src/host/session.js';
import { answerOf, Child, child, command, unshared } from './children.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'okstra-processes-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

interface Started {
  pid: number;
  start: string | null;
}

/** The start of this process with some parts changed: machine, boot, namespace, ticks. */
function changed(parts: Record<number, string>): string {
  const own = (startOf(process.pid) ?? '').split('.');
  return own.map((part, i) => parts[i] ?? part).join('.');
}

/** A number no process has: the highest there is. */
const NOBODY = 2 ** 22;

describe('a process', () => {
  it('is known by machine, boot, namespace and ticks', () => {
    expect(startOf(process.pid)).toMatch(/^(?:[\da-f]{8}|-)\.[\da-f]{8}\.\d+\.\d+$/);
    expect(startOf(NOBODY)).toBeUndefined();
    expect(hostName()).toBe(hostname());
  });

  it('that runs is alive, whose ever it is', () => {
    expect(stateOf(process.pid, startOf(process.pid))).toBe('alive');
    expect(stateOf(1, startOf(1))).toBe('alive');
  });

  it('that has ended is gone', async () => {
    const other = child('start');
    const { pid, start } = await other.answer<Started>();
    await other.end();
    expect(start).not.toBeNull();
    expect(stateOf(pid, start ?? '')).toBe('gone');
  });

  it('with the number of an earlier one is not that one', () => {
    expect(stateOf(process.pid, changed({ 3: '1' }))).toBe('gone');
  });

  it('of an earlier boot is gone, of another machine or namespace unknown', () => {
    expect(stateOf(process.pid, changed({ 1: '00000000' }))).toBe('gone');
    expect(stateOf(NOBODY, changed({ 0: '00000000' }))).toBe('unknown');
    expect(stateOf(NOBODY, changed({ 0: '00000000', 1: '00000000' }))).toBe('unknown');
    expect(stateOf(NOBODY, changed({ 2: '1' }))).toBe('unknown');
    expect(stateOf(NOBODY, 'macos.box.local.Fri_Jan__2_10_00_00_2026')).toBe('unknown');
  });

  it.each([undefined, '', 'x', '1.2.3', 'a.b.c.d.e'])('with the start %j', (start) => {
    expect(stateOf(process.pid, start)).toBe('unknown');
    expect(stateOf(1, start)).toBe('unknown');
    expect(stateOf(NOBODY, start)).toBe('gone');
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 40])('cannot have the number %d', (pid) => {
    expect(startOf(pid)).toBeUndefined();
    expect(stateOf(pid, undefined)).toBe('unknown');
    expect(stateOf(pid, startOf(process.pid))).toBe('unknown');
  });

  it('that is a zombie is gone', async () => {
    // The program that takes the shell's place, before the child ends, does not know of it.
    const parent = new Child('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60']);
    const pid = Number(await parent.line());
    const start = startOf(pid);
    while (!statOf(pid)?.isDead) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(start).toBe(startOf(pid));
    expect(stateOf(pid, start)).toBe('gone');
  });

  it.each([') (', 'a) S 1 (b', '((', ' ) '])('may be called %j', (name) => {
    const program = join(folder, name);
    copyFileSync('/bin/sleep', program);
    const { pid } = new Child(program, ['60'], { argv0: 'sleep' });
    const stat = statOf(pid);
    expect(stat).toMatchObject({ parent: process.pid, isDead: false });
    expect(Number(stat?.ticks)).toBeGreaterThanOrEqual(Number(statOf(process.pid)?.ticks));
    expect(stateOf(pid, startOf(pid))).toBe('alive');
  });

  it('of another namespace is unknown, whoever has its number here', () => {
    const inside = answerOf<Started>(...unshared('-p', '-f', '--mount-proc'), ...command('start'));
    expect(inside.pid).toBe(1);
    expect(inside.start).toMatch(/\.\d+\.\d+$/);
    expect(stateOf(inside.pid, inside.start ?? '')).toBe('unknown');
    expect(stateOf(NOBODY, inside.start ?? '')).toBe('unknown');
  });

  it('is not looked up in the /proc of another namespace', () => {
    const inside = answerOf<Started>(...unshared('-p', '-f'), ...command('start'));
    expect(inside).toEqual({ pid: 1, start: null });
  });
});

describe('the process of a session', () => {
  const own = () => ({ pid: process.pid, pid_start: startOf(process.pid) });

  it('is behind the shell that runs one command', () => {
    const script = '"$@"; true';
    const run = ['-c', script, 'x', ...command('session')];
    expect(answerOf('sh', ...run)).toEqual(own());
    expect(answerOf('bash', '-l', ...run)).toEqual(own());
    expect(answerOf('bash', '--norc', '-o', 'pipefail', ...run)).toEqual(own());
    expect(answerOf('timeout', '20', 'env', 'A=b', 'sh', ...run)).toEqual(own());
  });

  it('is behind npm', () => {
    const line = command('session')
      .map((word) => `"${word}"`)
      .join(' ');
    expect(answerOf('npm', 'exec', '--offline', '--call', line)).toEqual(own());
  });

  it('is a script that runs several commands', async () => {
    const script = join(folder, 'agent.sh');
    writeFileSync(script, '"$@"\nread line\n');
    const agent = new Child('bash', [script, ...command('session')]);
    expect(await agent.answer()).toMatchObject({ pid: agent.pid });
  });

  it('is the first of a container where there is no other, and none outside of it', () => {
    const container = [...unshared('-p', '-f', '--mount-proc')] as const;
    const [program, ...args] = container;
    const run = ['sh', '-c', '"$@"; true', 'x', ...command('session')];
    expect(answerOf(program, ...args, ...run)).toMatchObject({ pid: 1 });
    expect(answerOf(program, ...args, ...command('session'))).toBeNull();
  });

  it.each([
    'sh -c okstra',
    '-zsh -c okstra',
    '/bin/bash -lc okstra',
    '/bin/zsh -c -l okstra',
    'bash --norc -o pipefail -c okstra',
    'fish --command=okstra',
    'busybox sh -c okstra',
    'busybox timeout 5 okstra',
    'node /usr/lib/node_modules/npm/bin/npx-cli.js okstra',
    'node --no-warnings -r x /usr/bin/npm exec okstra',
    'node /app/.yarn/releases/yarn-4.9.2.cjs okstra',
    'node pnpm.cjs exec okstra',
    '/usr/bin/sudo okstra',
    'bun run build',
    'bunx okstra',
  ])('is not %j', (line) => {
    expect(isPassing(line.split(' '))).toBe(true);
  });

  it('is not a runner that has given itself a title', () => {
    expect(isPassing(['npm exec okstra'])).toBe(true);
    expect(isPassing(['npm run build'])).toBe(true);
  });

  it.each([
    'claude',
    'node /usr/bin/claude -c',
    'node /home/u/npm-agent/cli.js',
    'bash',
    '-bash',
    'bash agent.sh -c',
    'bash -- -c',
    'zsh -i',
    'bun run agent.ts',
    'bun agent.ts',
    'python3 -c x',
    'tmux',
    'node',
    '',
  ])('may be %j', (line) => {
    expect(isPassing(line.split(' '))).toBe(false);
  });

  it('is none where only orphans are looked after or something cannot be read', () => {
    const all = parsePs(
      [
        '    1     0 /sbin/launchd',
        '  400     1 /bin/zsh -c okstra stage claim',
        '  500   499 -zsh -c okstra',
        '  600   601 sh -c okstra',
        '  601   600 sh -c okstra',
        '  700     1 /Applications/Agent.app/agent --x',
        '  701   700 /bin/sh -c okstra',
        'nothing',
      ].join('\n'),
    );
    const look = (pid: number) => all.get(pid);
    expect(firstLasting(400, look)).toBeUndefined();
    expect(firstLasting(500, look)).toBeUndefined();
    expect(firstLasting(600, look)).toBeUndefined();
    expect(firstLasting(0, look)).toBeUndefined();
    expect(firstLasting(701, look)).toBe(700);
  });
});

describe('the folder of okstra', () => {
  it('is what OKSTRA_HOME says, else below the home folder', () => {
    expect(okstraHome({ OKSTRA_HOME: '/a/b/' })).toBe('/a/b');
    expect(okstraHome({ OKSTRA_HOME: 'a' })).toBe(join(process.cwd(), 'a'));
    expect(okstraHome({ OKSTRA_HOME: '' })).toBe(join(homedir(), '.okstra'));
    expect(okstraHome({})).toBe(join(homedir(), '.okstra'));
    expect(locksFolder({ OKSTRA_HOME: '/a' })).toBe('/a/locks');
  });

  it.each([
    ['abc-1', 'abc-1'],
    ['../../etc/passwd', '---..-etc-passwd'],
    ['..', '--'],
    ['.hidden', '-hidden'],
    ['C:\\x\u0000\n\u0085', 'C--x---'],
    ['', '-'],
  ])('no session leads out of it: %j', (session, name) => {
    expect(sessionFile({ OKSTRA_HOME: '/a' }, session)).toBe(`/a/sessions/${name}`);
  });

  it('holds when sessions were last heard of', () => {
    const env = { OKSTRA_HOME: folder };
    mkdirSync(join(folder, 'sessions'));
    writeFileSync(join(folder, 'sessions/a-b'), '');
    utimesSync(join(folder, 'sessions/a-b'), 1_700_000_000.5, 1_700_000_000.5);
    expect(signOfLife(env, 'a/b')).toBe('2023-11-14T22:13:20.500Z');
    expect(signOfLife(env, 'other')).toBeUndefined();
    expect(signOfLife(env, 'x'.repeat(1000))).toBeUndefined();
  });
});

it('names of claims are twelve small letters and digits, each time others', () => {
  const ids = Array.from({ length: 1000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-z]{12}$/);
  expect(new Set(ids).size).toBe(1000);
});
