/** Parents and supervisors that die, and what is made of the workers they leave. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, isAlive, kill, until } from './support.js';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.close());

const start = (prompt: string, cli: string, ...more: string[]) =>
  bench.okstra('dispatch', 'start', prompt, '--cli', cli, ...more);

describe('a parent that dies', () => {
  it('leaves the worker, and another waits for it', async () => {
    const prompt = bench.prompt('one');
    const { child, ended } = bench.begin(['dispatch', 'start', prompt, '--cli', 'slow']);
    const { pids } = await bench.running(prompt);
    child.kill('SIGKILL');
    await ended;
    expect(isAlive(pids.worker)).toBe(true);
    const resumed = await bench.okstra('dispatch', 'resume', bench.run);
    expect(resumed).toMatchObject({ exit: 0, stdout: expect.stringContaining('complete after') });
    expect(bench.status(prompt)).toMatchObject({ state: 'complete', exit_code: 0 });
    expect(bench.events()).toHaveLength(2);
  });

  it('leaves the worker when it is interrupted', async () => {
    const prompt = bench.prompt('one');
    const { child, ended } = bench.begin(['dispatch', 'start', prompt, '--cli', 'hangs']);
    const { pids } = await bench.running(prompt);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ exit: 130, stderr: expect.stringContaining('go on') });
    expect(isAlive(pids.worker)).toBe(true);
    // It is there once only.
    expect(await start(prompt, 'slow')).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('is being worked on by hangs-worker'),
    });
    const stopped = await bench.okstra('dispatch', 'stop', prompt);
    expect(stopped).toMatchObject({ exit: 0, stdout: expect.stringContaining('stopped after') });
    expect([isAlive(pids.worker), isAlive(pids.supervisor)]).toEqual([false, false]);
    expect(bench.status(prompt)).toMatchObject({ state: 'stopped', stopped_by: 'request' });
    expect(await bench.okstra('dispatch', 'resume', prompt)).toMatchObject({ exit: 143 });
  });
});

it('a status file that is taken away is no success', async () => {
  const prompt = bench.prompt('one');
  const { ended } = bench.begin(['dispatch', 'start', prompt, '--cli', 'slow']);
  await bench.running(prompt);
  rmSync(`${prompt}.status.json`);
  expect(await ended).toMatchObject({
    exit: 5,
    stderr: expect.stringContaining('one.md.status.json: it was taken away'),
  });
});

describe('a supervisor that dies', () => {
  it('is replaced while the worker works on', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'slow', '--detach');
    const { pids } = await bench.running(prompt);
    kill(pids.supervisor);
    await until(() => !isAlive(pids.supervisor));
    const shown = await bench.okstra('dispatch', 'show', prompt);
    expect(shown).toMatchObject({ exit: 0, stdout: expect.stringContaining('orphaned') });
    expect(await start(prompt, 'slow')).toMatchObject({ exit: 3 });
    const resumed = await bench.okstra('dispatch', 'resume', prompt, '--json');
    expect(resumed.exit).toBe(0);
    const [dispatch] = JSON.parse(resumed.stdout).dispatches;
    expect(dispatch).toMatchObject({ state: 'complete', exit_code: null, exit_status: 0 });
    expect(dispatch.supervisor.pid).not.toBe(pids.supervisor);
    expect(dispatch.worker.pid).toBe(pids.worker);
  });

  it('is replaced under those who wait, and the time limit holds', async () => {
    const prompt = bench.prompt('one');
    const words = ['dispatch', 'start', prompt, '--cli', 'stubborn', '--time-limit', '3s'];
    const { ended } = bench.begin(words);
    const { pids } = await bench.running(prompt);
    kill(pids.supervisor);
    expect(await ended).toMatchObject({ exit: 124, stdout: expect.stringContaining('timed out') });
    expect(isAlive(pids.worker)).toBe(false);
  });

  it.each([
    ['slow', 0, 'complete', 'complete, by what it has left'],
    ['hangs', 5, 'lost', 'lost: nobody saw how it ended'],
  ])('with its worker: %s', async (mode, exit, state, words) => {
    const prompt = bench.prompt('one');
    await start(prompt, mode, '--detach');
    const { pids } = await bench.running(prompt);
    kill(pids.supervisor);
    if (mode === 'hangs') kill(pids.worker);
    await until(() => !isAlive(pids.worker) && !isAlive(pids.supervisor));
    const shown = await bench.okstra('dispatch', 'show', prompt);
    expect(shown.stdout).toContain('ended while nobody looked');
    const resumed = await bench.okstra('dispatch', 'resume', prompt);
    expect(resumed).toMatchObject({ exit, stdout: expect.stringContaining(words) });
    expect(bench.status(prompt).state).toBe(state);
    expect(bench.events().at(-1)).toMatchObject({ event: 'dispatch-ended', state });
  });

  it('before it could write down whom it had started', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'hangs', '--detach');
    const { pids, ...status } = await bench.running(prompt);
    kill(pids.supervisor);
    await until(() => !isAlive(pids.supervisor));
    const { pids: _, ...before } = { ...status, pids };
    const starting = { ...before, state: 'starting', worker: null, started_at: null };
    writeFileSync(`${prompt}.status.json`, JSON.stringify(starting));
    const stopped = await bench.okstra('dispatch', 'stop', prompt);
    expect(stopped).toMatchObject({ exit: 0, stdout: expect.stringContaining('stopped') });
    expect(isAlive(pids.worker)).toBe(false);
  });
});

describe('a start after a supervisor that died', () => {
  it('finds a worker that was never written down, and starts none beside it', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'hangs', '--detach');
    const { pids, ...status } = await bench.running(prompt);
    kill(pids.supervisor);
    await until(() => !isAlive(pids.supervisor));
    const starting = { ...status, state: 'starting', worker: null, started_at: null };
    writeFileSync(`${prompt}.status.json`, JSON.stringify(starting));
    expect(await start(prompt, 'writes')).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('is being worked on by hangs-worker'),
    });
    expect(bench.status(prompt)).toMatchObject({ id: status.id, worker: { pid: pids.worker } });
    expect(await bench.okstra('dispatch', 'stop', prompt)).toMatchObject({ exit: 0 });
    expect(isAlive(pids.worker)).toBe(false);
  });

  it('ends what its worker has left, and writes down how that ended', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'family', '--detach');
    const { pids, id } = await bench.running(prompt);
    const notes = `${bench.result('one')}.pids`;
    await until(() => existsSync(notes));
    const [, child = 0] = JSON.parse(readFileSync(notes, 'utf8'));
    kill(pids.supervisor);
    kill(pids.worker);
    await until(() => !isAlive(pids.worker) && !isAlive(pids.supervisor));
    expect(isAlive(child)).toBe(true);
    expect(await start(prompt, 'writes')).toMatchObject({ exit: 0 });
    expect(isAlive(child)).toBe(false);
    const now = bench.status(prompt);
    expect(now).toMatchObject({ state: 'complete', attempt: 2 });
    expect(bench.events().map(({ event, id: of }) => [event, of])).toEqual([
      ['dispatch-started', id],
      ['dispatch-ended', id],
      ['dispatch-started', now.id],
      ['dispatch-ended', now.id],
    ]);
  });

  it('takes what was complete all the same as complete', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'slow', '--detach');
    const { pids } = await bench.running(prompt);
    kill(pids.supervisor);
    await until(() => !isAlive(pids.worker) && !isAlive(pids.supervisor));
    expect(await start(prompt, 'nothing')).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('is complete since'),
    });
    expect(bench.status(prompt)).toMatchObject({ state: 'complete', attempt: 1 });
    expect(await start(prompt, 'nothing', '--again')).toMatchObject({ exit: 4 });
  });
});

describe('what goes wrong with one', () => {
  it('keeps nobody from looking after the others', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'slow', '--detach');
    const { pids } = await bench.running(prompt);
    kill(pids.supervisor);
    await until(() => !isAlive(pids.supervisor));
    writeFileSync(`${bench.prompt('bad')}.status.json`, '{');
    // The log of the run cannot be written either.
    const log = join(bench.run, 'logs/lead-events.jsonl');
    rmSync(log);
    mkdirSync(log);
    const resumed = await bench.okstra('dispatch', 'resume', bench.run);
    expect(resumed).toMatchObject({
      exit: 2,
      stdout: expect.stringMatching(/^slow-worker .*complete/),
      stderr: expect.stringContaining('bad.md.status.json: not usable'),
    });
    expect(resumed.stderr).toContain('lead-events.jsonl');
    expect(bench.status(prompt).state).toBe('complete');
  });

  it('while it is waited for', async () => {
    const [one, two] = [bench.prompt('one'), bench.prompt('two')];
    const { ended } = bench.begin(['dispatch', 'start', one, two, '--cli', 'slow']);
    await bench.running(one);
    await bench.running(two);
    writeFileSync(`${one}.status.json`, '{');
    const { exit, stdout, stderr } = await ended;
    expect({ exit, stdout }).toMatchObject({
      exit: 2,
      stdout: expect.stringMatching(/^slow-worker .*two\.md .*complete/),
    });
    expect(stderr.match(/not usable/g)).toHaveLength(1);
  });
});

describe('whoever is killed, and whenever', () => {
  it('two who resume share one worker', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'slow', '--detach');
    const { pids } = await bench.running(prompt);
    kill(pids.supervisor);
    const both = await Promise.all([1, 2].map(() => bench.okstra('dispatch', 'resume', prompt)));
    expect(both.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(bench.status(prompt)).toMatchObject({ state: 'complete', attempt: 1 });
    expect(bench.events()).toHaveLength(2);
  });

  it.each([0, 100, 200, 350])('a supervisor after %i ms', async (ms) => {
    const prompt = bench.prompt('one');
    const { ended } = bench.begin(['dispatch', 'start', prompt, '--cli', 'writes', '--detach']);
    await until(() => existsSync(`${prompt}.status.json`));
    await new Promise((resolve) => setTimeout(resolve, ms));
    kill(bench.status(prompt).supervisor?.pid ?? 0);
    await ended;
    const { exit } = await bench.okstra('dispatch', 'resume', prompt);
    const { state, worker, id } = bench.status(prompt);
    // What the worker has left decides; there may have been none.
    const isDone = existsSync(bench.result('one'));
    expect([state, exit]).toEqual(isDone ? ['complete', 0] : ['lost', 5]);
    const rows = bench.events().map(({ event, id: of }) => [event, of]);
    const begun = worker === null ? [] : [['dispatch-started', id]];
    expect(rows).toEqual([...begun, ['dispatch-ended', id]]);
  });
});

describe('another process with the number of a worker', () => {
  it('is neither waited for nor ended', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'nothing');
    const other = spawn('sleep', ['1000'], { detached: true });
    const pid = other.pid ?? 0;
    try {
      const { worker, ...status } = bench.status(prompt);
      const wrong = { pid, pid_start: worker?.pid_start?.replace(/\d+$/, '1') };
      const running = { ...status, state: 'running', ended_at: null, missing: [] };
      const text = JSON.stringify({ ...running, supervisor: wrong, worker: wrong });
      const path = `${prompt}.status.json`;
      writeFileSync(path, text);
      const shown = await bench.okstra('dispatch', 'show', prompt);
      expect(shown.stdout).toContain('ended while nobody looked');
      await bench.okstra('dispatch', 'stop', prompt);
      expect(bench.status(prompt).state).toBe('lost');
      writeFileSync(path, text);
      expect(await bench.okstra('dispatch', 'resume', prompt)).toMatchObject({ exit: 5 });
      writeFileSync(path, text);
      expect(await start(prompt, 'writes')).toMatchObject({ exit: 0 });
      expect(isAlive(pid)).toBe(true);
    } finally {
      other.kill('SIGKILL');
    }
  });
});
