// The launcher of the hooks, copied to a place of its own: what it finds, and that it never blocks.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const plugin = fileURLToPath(new URL('../../npm-package/plugin/', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-launcher-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Nothing of this machine is found: node is a link in a folder of its own. */
const node = join(folder, 'alone/bin/node');
mkdirSync(dirname(node), { recursive: true });
cpSync(realpathSync(process.execPath), node);

/** The launcher as the client's cache has it. */
const cached = join(folder, 'cache/okstra/0.1.0');
cpSync(plugin, cached, { recursive: true });

/** A package that answers with its name and what it was given. */
function fake(at: string, name: string): string {
  mkdirSync(join(at, 'dist'), { recursive: true });
  mkdirSync(join(at, 'bin'), { recursive: true });
  const answer = `process.stdout.write(JSON.stringify({ name: ${JSON.stringify(name)}, argv: process.argv.slice(2), stdin: require('fs').readFileSync(0, 'utf8') }));`;
  writeFileSync(join(at, 'dist/hook.cjs'), answer);
  writeFileSync(join(at, 'bin/okstra.js'), '');
  return at;
}

function launch(script: string, env: Record<string, string>, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(node, [script, ...args], {
    cwd: folder,
    env: { PATH: '', HOME: join(folder, 'nobody'), ...env },
    input: '{"hook_event_name":"Stop"}',
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const launcher = join(cached, 'okstra/hook.cjs');

describe('the launcher', () => {
  it('lets the session go on where there is no okstra', () => {
    const { status, stdout, stderr } = launch(launcher, {}, 'hook');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '{}\n' });
    expect(stderr).toBe('okstra hook: no okstra found; npm install --global okstra\n');
    expect(launch(launcher, {}, '--where')).toMatchObject({ status: 1, stdout: '' });
  });

  it('finds the command on the PATH through its link, and no relative place', () => {
    const bin = join(folder, 'prefix/bin');
    mkdirSync(bin, { recursive: true });
    const at = fake(join(folder, 'prefix/lib/node_modules/okstra'), 'path');
    symlinkSync('../lib/node_modules/okstra/bin/okstra.js', join(bin, 'okstra'));
    const { status, stdout } = launch(launcher, { PATH: `/nowhere:${bin}` }, 'hook');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      name: 'path',
      argv: ['hook'],
      stdin: '{"hook_event_name":"Stop"}',
    });
    expect(launch(launcher, { PATH: bin }, '--where').stdout).toBe(`${at}\n`);
    expect(launch(launcher, { PATH: 'prefix/bin:.' }, '--where').status).toBe(1);
  });

  it('finds what the record names, and is not troubled by a broken one', () => {
    const at = fake(join(folder, 'recorded'), 'record');
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    for (const [text, status] of [
      [JSON.stringify({ package: at }), 0],
      [JSON.stringify({ package: 7 }), 1],
      ['{"package": "', 1],
      ['null', 1],
    ] as const) {
      writeFileSync(join(home, 'installed.json'), text);
      expect(launch(launcher, { OKSTRA_HOME: home }, '--where').status, text).toBe(status);
    }
  });

  it('finds the package it lies in', () => {
    const at = fake(join(folder, 'whole'), 'beside');
    cpSync(plugin, join(at, 'plugin'), { recursive: true });
    expect(launch(join(at, 'plugin/okstra/hook.cjs'), {}, '--where').stdout).toBe(`${at}\n`);
  });

  it('finds what npm installed globally beside node', () => {
    const at = fake(join(folder, 'alone/lib/node_modules/okstra'), 'global');
    expect(launch(launcher, {}, '--where').stdout).toBe(`${at}\n`);
    rmSync(at, { recursive: true });
  });

  it('blocks nothing when it is lost itself', () => {
    // 2 would block; Node ends with 1.
    expect(launch(join(folder, 'missing.cjs'), {}, 'hook').status).toBe(1);
  });
});
