/** Workers that write, fail, hang, die and ignore signals, and prompts that are refused. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
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

describe('how a worker ends', () => {
  it.each([
    ['writes', [], 0, 'complete', /complete after \d+ s$/],
    ['fails', [], 7, 'failed', /failed: it ended with 7 after \d+ s$/],
    ['nothing', [], 4, 'incomplete', /ended with 0 after \d+ s; results\/one.md is missing$/],
    ['empty', [], 4, 'incomplete', /ended with 0 after \d+ s; results\/one.md is empty$/],
    ['dies', [], 139, 'killed', /killed by SIGSEGV after \d+ s$/],
    ['signals', [], 128 + constants.signals.SIGUSR2, 'killed', /killed by SIGUSR2 after \d+ s$/],
    ['hangs', ['--time-limit', '1s'], 124, 'timed-out', /timed out after \d+ s; .* is missing$/],
    ['stubborn', ['--time-limit', '1s'], 124, 'timed-out', /timed out after \d+ s; .* is missing$/],
    ['obeys', ['--time-limit', '1s'], 124, 'timed-out', /timed out after \d+ s$/],
  ])('%s', async (mode, more, exit, state, words) => {
    const prompt = bench.prompt('one');
    const ended = await start(prompt, mode, ...more);
    expect({ ...ended, stdout: ended.stdout.trim() }).toMatchObject({
      exit,
      stdout: expect.stringMatching(words),
    });
    // One that ends at once may have ended before anybody looked.
    const running = `okstra: ${mode}-worker  ${prompt}  running\n`;
    if (more.length > 0 || ended.stderr !== '') expect(ended.stderr).toContain(running);
    const status = bench.status(prompt);
    expect(status).toMatchObject({ state, attempt: 1, left: [], run: bench.run, sequence: 3 });
    expect(isAlive(status.worker?.pid ?? 0)).toBe(false);
    if (mode === 'stubborn') expect(existsSync(`${bench.result('one')}.asked`)).toBe(true);
    // Who leads the run sees it as well.
    expect(bench.events()).toMatchObject([
      { event: 'dispatch-started', cli: mode, role: 'worker', sequence: 3, id: status.id },
      { event: 'dispatch-ended', state, exit_code: status.exit_code, id: status.id },
    ]);
  });

  it('reads its prompt, works in its folder, and speaks for nobody else', async () => {
    mkdirSync(join(bench.project, 'tree'));
    const model = '$(touch pwned) {project} "x';
    const prompt = bench.prompt('one', { model, worktree: 'tree' });
    const env = {
      ...{ OKSTRA_SESSION: 's', OKSTRA_CLAIM_ID: 'c', CLAUDECODE: '1', TMUX_PANE: '%1' },
      ...{ CLAUDE_CODE_SESSION_ID: 'x', KEPT: 'yes' },
    };
    const words = ['dispatch', 'start', prompt, '--cli', 'writes', '--role', 'executor'];
    expect(await bench.begin(words, env).ended).toMatchObject({ exit: 0 });
    const seen = JSON.parse(bench.readResult('one'));
    expect(seen.words).toEqual(['--model', model]);
    expect(seen.prompt).toBe(readFileSync(prompt, 'utf8'));
    expect(seen.cwd).toBe(join(bench.project, 'tree'));
    const { id, role } = bench.status(prompt);
    expect(role).toBe('executor');
    expect(seen.env).toMatchObject({ KEPT: 'yes', OKSTRA_DISPATCH: id });
    for (const name of Object.keys(env).slice(0, 5)) expect(seen.env).not.toHaveProperty(name);
  });

  it.each(['home', './x/../home'])('with a folder of okstra that is named %s', async (home) => {
    const prompt = bench.prompt('one');
    const words = ['dispatch', 'start', prompt, '--cli', 'writes'];
    mkdirSync(join(bench.folder, 'x'));
    const ended = await bench.begin(words, { OKSTRA_HOME: home }).ended;
    expect(ended).toMatchObject({ exit: 0 });
    expect(JSON.parse(bench.readResult('one')).env.OKSTRA_HOME).toBe(join(bench.folder, 'home'));
  });

  it('is looked for where its own settings say', async () => {
    mkdirSync(join(bench.folder, 'tools'));
    symlinkSync(join(bench.folder, 'worker.cjs'), join(bench.folder, 'tools/tool'));
    const environment = { PATH: `${bench.folder}/tools:${process.env.PATH}` };
    const mine = { command: ['tool', 'writes', '{result}'], environment };
    bench.write('home/config.json', JSON.stringify({ workers: { mine } }));
    expect(await start(bench.prompt('one'), 'mine')).toMatchObject({ exit: 0 });
  });

  it('leaves its output as it was in the log, and harmless on the screen', async () => {
    const prompt = bench.prompt('one');
    const { stderr } = await start(prompt, 'garbage', '--follow');
    const log = readFileSync(`${prompt}.log`);
    expect(log).toEqual(
      Buffer.concat([
        Buffer.from([0xff, 0xfe, 0x41, 0x0d, 0x0a, 0xc3]),
        Buffer.from('\u001b[2Jend'),
      ]),
    );
    expect(stderr).toContain('\ufffd\ufffdA\n');
    expect(stderr).toContain('\ufffdend\n');
    const writes = bench.prompt('two');
    await start(writes, 'writes');
    const { stdout } = await bench.okstra('dispatch', 'follow', writes);
    expect(stdout).toBe(`red done evil\nwrites-worker  ${writes}  ${'complete after 0 s'}\n`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stderr + stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('shows a last line without its end, and a letter cut short', async () => {
    const prompt = bench.prompt('one');
    const { stderr } = await start(prompt, 'partial', '--follow');
    expect(stderr).toContain('end\ufffd\n');
    const { stdout } = await bench.okstra('dispatch', 'follow', prompt);
    expect(stdout).toMatch(/^end\ufffd\npartial-worker /);
  });

  it('leaves no result of an earlier worker for its own', async () => {
    const prompt = bench.prompt('one');
    bench.write('project/results/one.md', 'from before');
    const ended = await start(prompt, 'nothing');
    expect(ended).toMatchObject({ exit: 4 });
    expect(ended.stdout).toContain('results/one.md is as it was before the start');
    expect(await start(prompt, 'writes')).toMatchObject({ exit: 0 });
    expect(bench.status(prompt).attempt).toBe(2);
    // Nothing of the first is lost.
    expect(existsSync(`${prompt}.log.1`)).toBe(true);
    expect(await start(prompt, 'writes')).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('is complete since'),
    });
    expect(await start(prompt, 'writes', '--again')).toMatchObject({ exit: 0 });
    expect(bench.events().filter(({ event }) => event === 'dispatch-ended')).toHaveLength(3);
  });

  it('has more files to leave than its result', async () => {
    const more = '**Completion Path:** results/one.data.json\n';
    const prompt = bench.prompt('one', { more });
    const ended = await start(prompt, 'writes');
    expect(ended).toMatchObject({ exit: 4 });
    expect(ended.stdout).toContain('; results/one.data.json is missing');
  });
});

describe('what it has started', () => {
  const pids = (): number[] => JSON.parse(readFileSync(`${bench.result('one')}.pids`, 'utf8'));

  it('ends with it when its time is up, wherever it has gone', async () => {
    const prompt = bench.prompt('one');
    expect(await start(prompt, 'family', '--time-limit', '1s')).toMatchObject({ exit: 124 });
    expect(pids()).toHaveLength(3);
    for (const pid of pids()) expect(isAlive(pid)).toBe(false);
  });

  it('ends when it has ended, but for what has left its session', async () => {
    const prompt = bench.prompt('one');
    expect(await start(prompt, 'leaves')).toMatchObject({ exit: 0 });
    const [inGroup = 0, daemon = 0] = pids();
    expect([isAlive(inGroup), isAlive(daemon)]).toEqual([false, true]);
    kill(daemon);
  });
});

describe('several', () => {
  it('work at once', async () => {
    const prompts = ['one', 'two', 'three'].map((name) => bench.prompt(name));
    const ended = await bench.okstra('dispatch', 'start', ...prompts, '--cli', 'slow', '--json');
    expect(ended.exit).toBe(0);
    expect(JSON.parse(ended.stdout).dispatches).toMatchObject(
      prompts.map((prompt) => ({ prompt, state: 'complete', standing: 'ended', exit_status: 0 })),
    );
    const time = (name: string, what: string) =>
      Number(readFileSync(`${bench.result(name)}.${what}`, 'utf8'));
    const names = ['one', 'two', 'three'];
    const lastBegan = Math.max(...names.map((name) => time(name, 'began')));
    const firstEnded = Math.min(...names.map((name) => time(name, 'ended')));
    expect(lastBegan).toBeLessThan(firstEnded);
    expect(bench.events()).toHaveLength(6);
  });

  it('with workers of their own, of which one fails', async () => {
    const of = (cli: string) => bench.prompt(cli, { more: `**CLI:** ${cli}\n` });
    const ended = await bench.okstra('dispatch', 'start', of('writes'), of('fails'));
    expect(ended).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(
        /^writes-worker .*complete.*\nfails-worker .*ended with 7.*\n$/,
      ),
    });
  });

  it('who ask for the same prompt get one worker', async () => {
    const prompt = bench.prompt('one');
    const all = await Promise.all([1, 2, 3, 4].map(() => start(prompt, 'slow')));
    expect(all.map(({ exit }) => exit).sort()).toEqual([0, 3, 3, 3]);
    expect(bench.status(prompt).attempt).toBe(1);
    expect(bench.events()).toHaveLength(2);
  });
});

describe('nothing is started', () => {
  it.each([
    [{ result: '../out.md' }, /one\.md:2: '.*\/\.\.\/out\.md' lies outside of the project/],
    [{ result: '/etc/passwd' }, /one\.md:2: '\/etc\/passwd' lies outside of the project/],
    [{ result: 'link/out.md' }, /one\.md:2: '.*link\/out\.md' lies outside of the project/],
    [{ worktree: 'link' }, /one\.md:4: '.*link' lies outside of the project/],
    [{ worktree: 'none' }, /one\.md:4: '.*none' is no folder/],
    [{ root: 'project' }, /one\.md:1: 'project' is no absolute path/],
    [{ model: '--dangerously-skip-permissions' }, /one\.md:3: .* is no name of a model/],
    [{ model: 'a\u001b[2J' }, /one\.md:3: '\*\*Model:\*\*' has control characters in it/],
    [{ more: '**Worktree:** /etc\n' }, /one\.md:5: .* was given in line 4 already/],
  ])('%j', async (headers, fault) => {
    const elsewhere = join(bench.folder, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(bench.project, 'link'));
    const prompt = bench.prompt('one', headers);
    const good = bench.prompt('two');
    const ended = await bench.okstra('dispatch', 'start', good, prompt, '--cli', 'writes');
    expect(ended).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringMatching(fault) });
    expect(ended.stderr).not.toContain('\u001b');
    for (const it of [prompt, good]) {
      expect([existsSync(`${it}.log`), existsSync(`${it}.status.json`)]).toEqual([false, false]);
    }
  });

  it('where the result becomes a link meanwhile, it does not count', async () => {
    const prompt = bench.prompt('one');
    const { ended } = bench.begin(['dispatch', 'start', prompt, '--cli', 'obeys']);
    const { pids } = await bench.running(prompt);
    const other = bench.write('elsewhere.md', 'of somebody else');
    symlinkSync(other, bench.result('one'));
    await until(() => existsSync(`${bench.result('one')}.ready`));
    kill(pids.worker, 'SIGTERM');
    const { stdout, exit } = await ended;
    expect({ stdout, exit }).toMatchObject({
      exit: 4,
      stdout: expect.stringContaining('leads to another file'),
    });
  });

  it.each([
    [
      ['--cli', 'codex'],
      5,
      'codex: no such program; install it, or name another command as workers.codex.command in ',
    ],
    [
      ['--cli', 'nobody'],
      2,
      "okstra: there is no worker 'nobody'; there is claude, codex, gemini, antigravity, ",
    ],
    [['--time-limit', 'soon'], 2, 'the time limit must be a time such as 90s'],
    [['--role', 'a b'], 2, "the role 'a b' is no name"],
  ])('%j', async (more, exit, said) => {
    const prompt = bench.prompt('one');
    const path = { PATH: join(process.execPath, '..') };
    const cli = more[0] === '--cli' ? [] : ['--cli', 'writes'];
    const ended = await bench.begin(['dispatch', 'start', prompt, ...cli, ...more], path).ended;
    expect(ended).toMatchObject({ exit, stdout: '', stderr: expect.stringContaining(said) });
    expect(existsSync(`${prompt}.status.json`)).toBe(false);
  });

  it('with settings that are wrong', async () => {
    bench.write('home/config.json', '{"workers":{"mine":{"command":"rm -rf"}}}');
    expect(await start(bench.prompt('one'), 'mine')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(
        'config.json: workers.mine: command must be a list; mend the file',
      ),
    });
  });

  it('in a dry run', async () => {
    const prompt = bench.prompt('one', { model: 'o3' });
    const { exit, stdout } = await start(prompt, 'writes', '--dry-run');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      join(bench.folder, 'worker.cjs'),
      ...['writes', bench.result('one'), '--model', 'o3'],
    ]);
    expect(existsSync(`${prompt}.status.json`)).toBe(false);
  });

  it('nor stopped in a dry run of stop', async () => {
    const prompt = bench.prompt('one');
    await start(prompt, 'hangs', '--detach');
    const { pids } = await bench.running(prompt);
    await until(() => bench.events().length === 1);
    rmSync(join(bench.run, 'logs/lead-events.jsonl'));
    const dry = await bench.okstra('dispatch', 'stop', prompt, '--dry-run');
    expect(dry).toMatchObject({
      exit: 0,
      stdout: `would be stopped: hangs-worker  ${prompt}  running\n`,
      stderr: 'okstra: dry run: nothing was stopped\n',
    });
    expect([isAlive(pids.worker), bench.events()]).toEqual([true, []]);
    const json = await bench.okstra('dispatch', 'stop', prompt, '--dry-run', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      dry_run: true,
      dispatches: [{ standing: 'running' }],
    });
  });

  it('and a status that cannot be read keeps nobody from the others of its folder', async () => {
    const [prompt, broken] = [bench.prompt('one'), bench.prompt('a-broken')];
    await start(prompt, 'hangs', '--detach');
    const { pids } = await bench.running(prompt);
    writeFileSync(`${broken}.status.json`, '{"state":');
    const about = (verb: string, ...more: string[]) =>
      bench.okstra('dispatch', verb, bench.run, ...more);
    const complaint = expect.stringContaining(`${broken}.status.json`);
    const shown = await about('show', '--json');
    expect(shown).toMatchObject({ exit: 2, stderr: complaint });
    expect(JSON.parse(shown.stdout)).toMatchObject({ dispatches: [{ standing: 'running' }] });
    expect(await about('stop', '--dry-run')).toMatchObject({
      exit: 2,
      stdout: expect.stringContaining('would be stopped: hangs-worker'),
      stderr: complaint,
    });
    expect(await about('stop')).toMatchObject({
      exit: 2,
      stdout: expect.stringContaining('hangs-worker'),
      stderr: complaint,
    });
    expect(isAlive(pids.worker)).toBe(false);
    expect(await about('resume')).toMatchObject({ exit: 2, stderr: complaint });
  });

  it('where nothing was dispatched, each command says so', async () => {
    const prompt = bench.prompt('one');
    for (const verb of ['resume', 'show', 'follow', 'stop']) {
      expect(await bench.okstra('dispatch', verb, prompt)).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('the prompt was never dispatched'),
      });
    }
    expect(await bench.okstra('dispatch', 'show', bench.run)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('nothing was dispatched in'),
    });
  });
});
