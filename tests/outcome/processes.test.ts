/** Outcomes recorded by real processes on a real disk: at once, killed, and through links. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { CATALOG, filesOf, KEY, MANIFEST } from './support.js';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

let folder = '';

function project(files: Record<string, string>): void {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-outcome-')));
  write(files);
}

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(...args: string[]) {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, OKSTRA_HOME: join(folder, 'home') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdout.resume();
  const end = new Promise<{ exit: number | null; stderr: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => resolve({ exit, stderr }));
  });
  return { child, end };
}

const json = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));

const COMPLETED = { phaseOutcome: { implementation: { state: 'completed', stages: [1, 2] } } };

/** The files of the task under another id, in the same project. */
function another(id: string): Record<string, string> {
  const rename = (text: string) =>
    text.replaceAll('web/login', `web/${id}`).replaceAll('web:login', `web:${id}`);
  const own = Object.entries(filesOf()).filter(([path]) => path.includes('web/login'));
  return Object.fromEntries(own.map(([path, text]) => [rename(path), rename(text)]));
}

it('many at once, of one task and of several, lose nothing', async () => {
  const ids = ['login', 'a', 'b', 'c'];
  project(filesOf());
  for (const id of ids.slice(1)) write(another(id));
  const tasks = ids.map((id) => ({ taskKey: `shop:web:${id}`, kept: id }));
  write({ [CATALOG]: JSON.stringify({ tasks }) });
  const started = [...ids, ...ids].map((id) =>
    start('outcome', 'reconcile', '--task-key', `shop:web:${id}`),
  );
  for (const { end } of started) expect(await end).toMatchObject({ exit: 0 });
  for (const id of ids) expect(json(MANIFEST.replace('login', id))).toMatchObject(COMPLETED);
  const entries = json(CATALOG).tasks;
  expect(entries).toHaveLength(ids.length);
  for (const [at, id] of ids.entries())
    expect(entries[at]).toMatchObject({ ...COMPLETED, kept: id });
}, 60_000);

it('killed at any moment it leaves whole files, and the next one finishes', async () => {
  project(filesOf());
  const first = [
    readFileSync(join(folder, MANIFEST), 'utf8'),
    readFileSync(join(folder, CATALOG), 'utf8'),
  ];
  const seen = new Set<string>();
  for (let round = 0; round < 40; round += 1) {
    write({ [MANIFEST]: first[0] ?? '', [CATALOG]: first[1] ?? '' });
    const { child, end } = start('outcome', 'reconcile', ...KEY);
    await sleep(20 + round * 2);
    child.kill('SIGKILL');
    await end;
    const [manifest, catalog] = [json(MANIFEST), json(CATALOG)];
    // The catalog never runs ahead of the manifest.
    const recorded = [manifest, catalog.tasks[1]].map((it) => it.phaseOutcome !== undefined);
    expect(recorded).not.toEqual([false, true]);
    seen.add(recorded.join());
  }
  // The first are killed before they write anything.
  expect(seen).toContain('false,false');
  const last = await start('outcome', 'reconcile', ...KEY).end;
  expect(last.exit).toBe(0);
  expect(json(MANIFEST)).toMatchObject(COMPLETED);
  expect(json(CATALOG).tasks[1]).toMatchObject(COMPLETED);
}, 120_000);

it('a record that is a link out of the project is not followed', async () => {
  project(filesOf());
  const outside = join(folder, '..', `${folder.split('/').at(-1)}-outside.json`);
  renameSync(join(folder, MANIFEST), outside);
  symlinkSync(outside, join(folder, MANIFEST));
  const before = readFileSync(outside, 'utf8');
  const { exit, stderr } = await start('outcome', 'reconcile', ...KEY).end;
  expect(exit).toBe(3);
  expect(stderr).toContain('a link that leaves the project');
  expect(readFileSync(outside, 'utf8')).toBe(before);
  expect(existsSync(join(folder, 'home', 'locks'))).toBe(true);
  rmSync(outside);
});

it('nothing is made through a folder that leads out of the project', async () => {
  project({ '.okstra/project.json': '{"projectId":"shop"}', 'outside/keep.txt': '' });
  const inside = join(folder, 'project');
  mkdirSync(join(inside, '.okstra/tasks'), { recursive: true });
  writeFileSync(join(inside, '.okstra/project.json'), '{"projectId":"shop"}');
  symlinkSync(join(folder, 'outside'), join(inside, '.okstra/tasks/web'));
  const create = ['task', 'create', '--task-group', 'web', '--task-id', 'x'];
  const { exit, stderr } = await start(...create, '--project-root', inside).end;
  expect(exit).toBe(3);
  expect(stderr).toContain('a link that leaves the project');
  expect(readdirSync(join(folder, 'outside'))).toEqual(['keep.txt']);
});
