/** What a person sees in tmux: live lines, and trace panes that are the run's. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bench, until } from './support.js';

const SERVER = 'okstra-dispatch';

let bench: Bench;
let lead: string;
beforeEach(() => {
  bench = new Bench();
  const size = ['-x', '120', '-y', '60'];
  const words = ['new-session', '-d', ...size, '-P', '-F', '#{pane_id}', 'exec sleep 1000'];
  lead = bench.tmux(SERVER, ...words);
});
afterEach(() => bench.close());

/** The environment of a command that runs in the lead's pane. */
function inside(): Record<string, string> {
  const TMUX = bench.tmux(SERVER, 'display-message', '-p', '#{socket_path},#{pid},0');
  return { TMUX, TMUX_PANE: lead };
}

const panes = () =>
  bench
    .tmux(
      SERVER,
      'list-panes',
      '-a',
      '-F',
      '#{pane_id} #{pane_title} #{window_active}#{pane_active}',
    )
    .split('\n')
    .filter((line) => !line.startsWith(`${lead} `))
    .sort((one, other) => Number.parseInt(one.slice(1), 10) - Number.parseInt(other.slice(1), 10));

const screen = (pane: string) =>
  bench.tmux(SERVER, 'capture-pane', '-p', '-J', '-S', '-', '-t', pane);

it('each worker has a trace pane that is known, shows its output, and is closed', async () => {
  const prompts = ['one', 'two'].map((name) => bench.prompt(name));
  const { ended } = bench.begin(['dispatch', 'start', ...prompts, '--cli', 'writes'], inside());
  expect(await ended).toMatchObject({ exit: 0, stderr: expect.not.stringContaining('no trace') });
  const pids = prompts.map((prompt) => bench.status(prompt).worker?.pid);
  const found = panes();
  // The pane that people look at stays the lead's.
  expect(found.map((line) => line.split(' ').slice(1))).toEqual(
    pids.map((pid) => [`writes-worker-${pid}-trace`, '10']),
  );
  for (const line of found) {
    const [pane = ''] = line.split(' ');
    await until(() => screen(pane).includes('complete after'));
    expect(screen(pane)).toMatch(/^red done evil\n/);
  }
  const listed = await bench.begin(['panes', 'list', '--run-dir', bench.run], inside()).ended;
  expect(listed.stdout.trim().split('\n')).toEqual(
    found.map((line) => line.split(' ').slice(0, 2).join('\t')),
  );
  const reaped = ['panes', 'reap', '--session', 'lead-session', '--dry-run'];
  expect((await bench.begin(reaped, inside()).ended).stdout.trim().split('\n')).toHaveLength(2);
  const closed = await bench.begin(['panes', 'close', '--run-dir', bench.run], inside()).ended;
  expect(closed.stdout).toBe('2\n');
  expect(panes()).toEqual([]);
});

it('a window without room gets another', async () => {
  bench.tmux(SERVER, 'resize-window', '-x', '20', '-y', '2');
  const words = ['dispatch', 'start', bench.prompt('one'), '--cli', 'writes'];
  expect(await bench.begin(words, inside()).ended).toMatchObject({ exit: 0 });
  expect(panes()).toHaveLength(1);
});

it('no pane is opened where none is wanted, and none is missed where there is no tmux', async () => {
  const words = ['dispatch', 'start', bench.prompt('one'), '--cli', 'writes'];
  const none = await bench.begin([...words, '--no-trace'], inside()).ended;
  expect(none).toMatchObject({ exit: 0, stderr: expect.not.stringContaining('trace') });
  expect(panes()).toEqual([]);
  const gone = { TMUX: `${bench.folder}/none,1,0`, TMUX_PANE: '%1' };
  const lost = await bench.begin([...words, '--again'], gone).ended;
  expect(lost).toMatchObject({ exit: 0, stderr: expect.stringContaining('no trace pane: ') });
});

/** Starts prompts in a pane of its own. */
function inPane(size: readonly string[], ...more: string[]): string {
  const words = [...bench.words, 'dispatch', 'start', ...more, '--cli', 'hangs', '--no-trace'];
  const environment = Object.entries(bench.env).flatMap(([name, value]) => [
    '-e',
    `${name}=${value}`,
  ]);
  const options = ['-d', '-P', '-F', '#{pane_id}', ...size, ...environment, '-c', bench.folder];
  const pane = bench.tmux(SERVER, 'split-window', ...options, '--', ...words);
  bench.tmux(SERVER, 'set-option', '-p', '-t', pane, 'remain-on-exit', 'on');
  return pane;
}

it('on a terminal with less rows than workers each line is drawn once', async () => {
  const prompts = ['1', '2', '3', '4', '5', '6'].map((name) => bench.prompt(name));
  const pane = inPane(['-l', '5'], ...prompts, '--time-limit', '5s');
  const lines = (word: string) =>
    screen(pane)
      .split('\n')
      .filter((line) => line.includes(word));
  await until(() => lines('running 0:02').length === 3);
  expect(lines('running')).toHaveLength(3);
  expect(lines('… and 3 more')).toHaveLength(1);
  await until(() => lines('timed out').length === 6);
  expect(lines('running')).toEqual([]);
});

it('on a terminal one line for each worker changes in its place', async () => {
  const prompts = ['one', 'two'].map((name) => bench.prompt(name));
  const pane = inPane([], ...prompts, '--time-limit', '4s');
  const lines = (word: string) =>
    screen(pane)
      .split('\n')
      .filter((line) => line.includes(word));
  await until(
    () =>
      lines('running').length === 2 &&
      lines('running').every((line) => line.endsWith('0:02  I hang')),
  );
  // Each has one line, however often it was drawn.
  expect(lines('running').sort()).toEqual([
    'hangs-worker  one.md  running 0:02  I hang',
    'hangs-worker  two.md  running 0:02  I hang',
  ]);
  await until(() => lines('timed out').length === 2);
  expect(lines('running')).toEqual([]);
});
