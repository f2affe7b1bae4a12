/** How a preview begins, what it says, how a browser is opened, and how it ends. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { carry, evidence, KEY, LEDGER, PLAN, started, TASK } from '../cli/stages.js';
import {
  exchange,
  Follower,
  installedWith,
  launchIn,
  newFolder,
  okstra,
  PAGE,
  Project,
  serve,
  stop,
  until,
} from './support.js';

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends it: a farewell, status 0, and the port is free',
  async (signal) => {
    const server = await serve(new Project());
    const followers = [new Follower(server.url), new Follower(server.url)];
    for (const follower of followers) await follower.begun();
    server.child.kill(signal);
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await until(() => followers.every(({ isOver }) => isOver), 'the ends');
    expect(followers.map(({ events }) => events)).toEqual([['closed'], ['closed']]);
    expect(await exchange(server.port, 'GET / HTTP/1.1\r\n\r\n')).toBe('');
    const again = await serve(new Project(), [PLAN, '--port', String(server.port)]);
    expect(again.token).not.toBe(server.token);
    await stop(again);
  },
);

it('killed, it leaves nothing behind that keeps the next one from its port', async () => {
  const project = new Project();
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  const before = execFileSync('find', [project.folder], { encoding: 'utf8' });
  server.child.kill('SIGKILL');
  await server.ended;
  await until(() => follower.isOver, 'the end');
  expect(follower.events).toEqual([]);
  const again = await serve(project, [PLAN, '--port', String(server.port)]);
  await stop(again);
  // Nothing is written, by neither.
  expect(execFileSync('find', [project.folder], { encoding: 'utf8' })).toBe(before);
});

it('two at once know nothing of each other', async () => {
  const project = new Project();
  const [one, other] = await Promise.all([serve(project), serve(project)]);
  expect(one.port).not.toBe(other.port);
  const crossed = await fetch(`http://127.0.0.1:${other.port}/${one.token}/`);
  expect(crossed.status).toBe(404);
  const followers = [await new Follower(one.url).begun(), await new Follower(other.url).begun()];
  project.write(LEDGER, started(1));
  await until(() => followers.every(({ last }) => last?.ledger?.path === LEDGER), 'the row');
  await stop(one);
  expect((await fetch(other.url)).status).toBe(200);
  await stop(other);
});

it('nobody but this machine can reach it, and by its own loopback address alone', async () => {
  const server = await serve(new Project());
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, address }) => family === 'IPv4' && address !== '127.0.0.1')
    .map(({ address }) => address);
  for (const address of ['127.0.0.2', ...others]) {
    await expect(fetch(`http://${address}:${server.port}/${server.token}/`)).rejects.toThrow();
  }
  await stop(server);
});

it('says where it is, what it follows and how to end it', async () => {
  const project = new Project({
    [LEDGER]: started(1),
    [carry(1)]: evidence(1, 'Parse the input'),
  });
  const server = await serve(project);
  await until(() => server.output.stderr.includes('Ctrl-C'), 'the words');
  expect(server.output).toEqual({
    stdout: `${server.url}\n`,
    stderr: `${PLAN}: shown at this address, on this machine only, to whoever knows the address\nokstra: following the plan, its ledger and its evidence (of 1 stage); Ctrl-C ends\n`,
  });
  await stop(server);
});

it('--json prints one document, and then it runs', async () => {
  const project = new Project();
  const server = await serve(project, ['--task-key', KEY, '--json']);
  expect(JSON.parse(server.output.stdout)).toEqual({
    url: server.url,
    port: server.port,
    plan: PLAN,
    ledger: project.at(LEDGER),
    carry_folder: project.at(`${TASK}/runs/implementation/carry`),
  });
  const facts = (await (await fetch(`${server.url}facts`)).json()) as { plan: { path: string } };
  expect(facts.plan.path).toBe(PLAN);
  await stop(server);
  expect(server.output.stderr).toBe('');
});

it('faults of the files are said, and it runs', async () => {
  const project = new Project({ 'bad.md': '' });
  writeFileSync(project.at('bad.md'), Buffer.from([0x23, 0xff, 0x0a]));
  mkdirSync(project.at('bad.md.okstra/consumers.jsonl'), { recursive: true });
  const server = await serve(project, ['bad.md']);
  const follower = await new Follower(server.url).begun();
  expect(follower.last).toMatchObject({ plan: null, ledger: null });
  expect(follower.last?.fault?.split('\n')).toEqual([
    'bad.md.okstra/consumers.jsonl: a folder; a file belongs there; move the folder away',
    'bad.md: not UTF-8; save it as UTF-8',
  ]);
  expect(server.output.stderr).toContain('warning: bad.md: not UTF-8; save it as UTF-8\n');
  await stop(server);
});

it('pipes in the place of files are not waited for', async () => {
  const project = new Project({ [carry(2)]: evidence(2, 'Write the report') });
  execFileSync('mkfifo', [project.at(LEDGER), project.at(carry(1))]);
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  expect(follower.last?.evidence.map(({ path }) => path)).toEqual([carry(2)]);
  expect(follower.last?.fault?.split('\n')).toEqual([
    `${LEDGER}: not a regular file; a file belongs there`,
    `${carry(1)}: not a regular file; a file belongs there`,
  ]);
  await stop(server);
});

it('files that are too large are not shown, and named', async () => {
  const project = new Project({ [carry(1)]: 'x'.repeat((4 << 20) + 1) });
  const server = await serve(project);
  const follower = await new Follower(server.url).begun();
  expect(follower.last).toMatchObject({
    evidence: [],
    fault: `${carry(1)}: larger than 4 MiB; it is not shown`,
  });
  await stop(server);
});

const port = 'PORT';

it.each<[string, string[], number, string]>([
  ['no plan', [], 2, 'okstra: which plan? give PLAN or --task-key KEY'],
  ['a plan twice', [PLAN, '--plan', PLAN], 2, 'okstra: the plan is given twice; leave --plan out'],
  [
    'a plan and a task',
    [PLAN, '--task-key', KEY],
    2,
    'okstra: give either --plan or --task-key, not both',
  ],
  ['standard input', ['-'], 2, "okstra: a preview follows a file; '-' cannot be followed"],
  ['no such plan', ['none.md'], 2, 'none.md: no such file; check the path'],
  ['a folder', ['.okstra'], 2, '.okstra: not a regular file; give a Markdown file'],
  ['a pipe', ['pipe.md'], 2, 'pipe.md: not a regular file; give a Markdown file'],
  [
    'no such task',
    ['--task-key', 'shop:web:other'],
    2,
    "okstra: there is no task shop:web:other in FOLDER; 'okstra task list' shows those there are",
  ],
  [
    'a port beyond all',
    [PLAN, '--port', '70000'],
    2,
    'okstra: --port takes a number up to 65535, got 70000',
  ],
  [
    'a port that is taken',
    [PLAN, '--port', port],
    5,
    '127.0.0.1:PORT: the port is taken by another program; give another --port, or none for a free one',
  ],
])('%s is told in a line', async (_name, args, wanted, line) => {
  const project = new Project();
  execFileSync('mkfifo', [project.at('pipe.md')]);
  const taken = args.includes(port) ? await serve(project) : undefined;
  const filled = (text: string) =>
    text.replace(port, String(taken?.port)).replace('FOLDER', project.folder);
  const { ended, output } = launchIn(project, args.map(filled));
  expect(await ended).toEqual({ code: wanted, signal: null });
  expect(output).toEqual({ stdout: '', stderr: `${filled(line)}\n` });
  if (taken !== undefined) await stop(taken);
});

it.each([
  ['no page', undefined, 'the page cannot be read'],
  ['a page of something else', '<p>hello', 'not the page that belongs to this version'],
])('an installation with %s is not whole', async (_name, page, reason) => {
  const program = installedWith(page);
  const { ended, output } = launchIn(new Project(), [PLAN], { program });
  expect((await ended).code).toBe(5);
  expect(output.stderr).toContain(`preview.html: ${reason}; install okstra again`);
});

/** A program that writes down its words and ends with a status. */
function recorder(name: string, status = 0): { folder: string; program: string; words(): string } {
  const folder = newFolder();
  const program = join(folder, name);
  const file = join(folder, 'words');
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${file}.part'\nmv '${file}.part' '${file}'\nexit ${status}\n`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  const words = () => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  return { folder, program, words };
}

const pathWith = (folder: string) => ({ PATH: `${folder}:${process.env.PATH}` });

it.each<[string, (it: ReturnType<typeof recorder>) => Record<string, string>, string[]]>([
  ['$BROWSER', ({ program }) => ({ BROWSER: program }), ['URL']],
  [
    '$BROWSER with options',
    ({ program }) => ({ BROWSER: `${program} --new %s --end:other` }),
    ['--new', 'URL', '--end'],
  ],
  ["the system's browser", ({ folder }) => pathWith(folder), ['URL']],
])('--open: %s is shown an address that is good for once', async (_name, env, wanted) => {
  const browser = recorder('xdg-open');
  const server = await serve(new Project(), ['--open', PLAN], { env: env(browser) });
  const words = (await until(() => browser.words() || undefined, 'a browser')).trim().split('\n');
  const at = wanted.indexOf('URL');
  const address = words[at] ?? '';
  expect(words).toEqual(wanted.map((word) => (word === 'URL' ? address : word)));
  // What others can read in the list of processes is of no use to them later.
  expect(address).not.toContain(server.token);
  const page = await fetch(address);
  expect(page.url).toBe(server.url);
  expect(await page.text()).toContain('okstra-live');
  expect((await fetch(address)).status).toBe(404);
  await stop(server);
});

it.each([
  ['that is not there', '/none/such', 'no program for it was found'],
  ['that fails', 'FAILS', 'the program for it ended with 3'],
])('a browser %s is told, and it runs on', async (_name, program, reason) => {
  const env = { BROWSER: program === 'FAILS' ? recorder('fails', 3).program : program };
  const server = await serve(new Project(), ['--open', PLAN], { env });
  const line = `okstra: no browser was opened (${reason}); open the address\n`;
  await until(() => server.output.stderr.includes(line), 'the reason');
  expect((await fetch(server.url)).status).toBe(200);
  await stop(server);
});

it.each<[string, Record<string, string>, 'browser' | 'words' | 'nothing']>([
  ['with a screen', { DISPLAY: ':0' }, 'browser'],
  ['without a screen', {}, 'words'],
  ['in CI', { DISPLAY: ':0', CI: 'true' }, 'nothing'],
  ['where BROWSER is none', { DISPLAY: ':0', BROWSER: 'none' }, 'nothing'],
])('in a terminal %s', async (_name, env, wanted) => {
  const project = new Project();
  const browser = recorder('xdg-open');
  // `script` gives it a terminal, and prints what it prints.
  const line = `exec '${process.execPath}' '${okstra()}' preview '${PLAN}'`;
  const wrapper = join(newFolder(), 'okstra.cjs');
  writeFileSync(
    wrapper,
    `const child = require('node:child_process').spawn('script', ['-qfec', ${JSON.stringify(line)}, '/dev/null'], { stdio: ['pipe', 'inherit', 'inherit'] });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.stdin.write('\\x03'));
child.on('exit', (code) => process.exit(code));`,
  );
  const { child, ended, output } = launchIn(project, [], {
    program: wrapper,
    env: { ...pathWith(browser.folder), ...env },
  });
  await until(() => output.stdout.includes('Ctrl-C ends'), 'the words');
  if (wanted === 'browser') {
    expect(await until(() => browser.words() || undefined, 'a browser')).toMatch(/^http:/);
  } else {
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(browser.words()).toBe('');
  }
  const hint = /no screen here; on yours run 'ssh -N -L (\d+):127\.0\.0\.1:\1 /;
  expect(hint.test(output.stdout)).toBe(wanted === 'words');
  // Ctrl-C, as the terminal sends it.
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

it('the page of a server is the one beside it', async () => {
  const program = installedWith(PAGE.replace('stand-in', 'another one'));
  const server = await serve(new Project(), [PLAN], { program });
  expect(await (await fetch(server.url)).text()).toContain('another one');
  await stop(server);
});
