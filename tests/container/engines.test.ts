/** Engines that are not there or do not answer, and starts that fail or are killed. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLAN } from '../scenarios/project.js';
import { KEY, RUNNING, type Started, until, type View, Yard } from './support.js';

describe('container engines', () => {
  it('says of every engine why it cannot be used', async () => {
    const yard = new Yard(['']);
    yard.done(1);
    const refs = yard.shop.refs();
    const none = async () => {
      const { exit, stdout, stderr } = await yard.container('up', '--engine-timeout', '1');
      expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' });
      expect(yard.shop.refs()).toBe(refs);
      expect(yard.calls()).toEqual([]);
      return stderr.split('\n').slice(0, -1);
    };
    expect(await none()).toEqual([
      'okstra: no container engine',
      'docker: it is not on the PATH',
      'docker-compose: it is not on the PATH',
      'podman: it is not on the PATH',
      'podman-compose: it is not on the PATH',
      'okstra: install Docker or Podman with compose, or start its daemon',
    ]);

    yard.engines('docker');
    yard.rules({
      program: 'docker',
      words: ['--format'],
      exit: 1,
      stderr: 'Cannot connect to the \u001b[31mDocker daemon at unix:///x. Is it running?\n',
    });
    expect((await none())[1]).toBe(
      'docker: its daemon cannot be reached: Cannot connect to the [31mDocker daemon at unix:///x. Is it running?',
    );

    yard.rules({
      program: 'docker',
      words: ['compose'],
      exit: 1,
      stderr: "docker: 'compose' is not a docker command.\nSee 'docker --help'\n",
    });
    expect((await none())[1]).toBe(
      "docker: it has no compose plugin: docker: 'compose' is not a docker command.",
    );

    yard.engines('docker', 'podman');
    yard.rules(
      { program: 'docker', words: ['version'], hang: true },
      {
        program: 'podman',
        words: ['compose'],
        exit: 125,
        stderr: 'Error: looking up compose provider failed\n',
      },
    );
    const lines = await none();
    expect(lines[1]).toBe('docker: `docker compose version` did not answer within 1 s');
    expect(lines[3]).toBe(
      'podman: it has no compose provider: Error: looking up compose provider failed',
    );
    // What hung has been ended.
    for (const { pid } of yard.calls(true)) expect(() => process.kill(pid, 0)).toThrow('ESRCH');

    // A program that is there and is none.
    yard.engines();
    writeFileSync(join(yard.shop.folder, 'bin/docker'), 'x', { mode: 0o644 });
    expect((await none())[1]).toBe('docker: `docker compose version` cannot be started (EACCES)');
  }, 60_000);

  it.each([
    ['docker-compose', ['docker-compose'], 'docker-compose'],
    ['podman', ['podman', 'podman-compose'], 'podman compose'],
  ])(
    'uses %s where there is nothing else',
    async (_name, there, program) => {
      const yard = new Yard(['']).engines(...there);
      yard.done(1);
      const { command, engine } = await yard.json<Started>('up');
      expect(engine).toBe(there[0]);
      expect(command.join(' ')).toMatch(new RegExp(`^${program} -p okstra-web-login-`));
      expect(await yard.json('down')).toMatchObject({ stopped: true, worktree: 'kept' });
    },
    60_000,
  );

  it('shows what is recorded where the engine is gone', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    await yard.json('up');
    // The containers were taken away behind okstra's back.
    const gone = await yard.json<View>('show');
    expect(gone.health).toBe('gone');
    yard.rules({ words: ['ps'], exit: 1, stderr: 'no such project\n' });
    const unsaid = await yard.container('show');
    expect(unsaid.exit).toBe(5);
    expect(unsaid.stderr).toBe(
      'okstra: docker compose ps does not say how it stands: no such project\n',
    );
    yard.engines();
    for (const verb of ['show', 'down', 'up']) {
      const { exit, stderr } = await yard.container(verb);
      expect(exit).toBe(5);
      expect(stderr).toContain('docker: it is not on the PATH\n');
      expect(stderr).not.toContain('podman');
    }
    const shown = await yard.container('show', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ health: 'unknown', record: { state: 'up' } });
    // The worktree may go as well.
    rmSync(yard.worktree, { recursive: true });
    const { stale } = JSON.parse((await yard.container('show', '--json')).stdout) as View;
    expect(stale).toEqual(['its worktree is gone']);
    yard.engines('docker');
    yard.calls();
    expect((await yard.container('down')).exit).toBe(0);
    const [{ words, folder } = { words: [], folder: '' }] = yard.calls();
    expect(words.slice(3)).toEqual(['down', '--remove-orphans']);
    expect(folder).toBe(yard.shop.root);
  }, 60_000);
});

describe('what is gone since', () => {
  it('is not named, and what is up can be shown and stopped', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    yard.shop.write('.env', 'A=1\n');
    const { project } = await yard.json<Started>('up', '--compose-env', '.env');
    yard.rules({ words: ['ps'], stdout: RUNNING });
    rmSync(join(yard.shop.root, '.env'));
    // Nobody can read the plan any more.
    writeFileSync(join(yard.shop.root, PLAN), '{');
    yard.calls();
    const shown = await yard.container('show');
    expect(shown).toMatchObject({ exit: 0, stdout: expect.stringContaining(`${KEY}: up (docker`) });
    expect(shown.stderr).toContain('warning: what is finished cannot be told: ');
    const file = `${yard.worktree}/compose.yaml`;
    const begin = ['-p', project, '-f', file, '--project-directory', yard.worktree];
    expect(yard.calls()[0]?.words.slice(1)).toEqual([...begin, 'ps', '--all', '--format', 'json']);
    rmSync(yard.worktree, { recursive: true });
    await yard.container('show');
    const bare = ['-p', project, 'ps', '--all', '--format', 'json'];
    expect(yard.calls()[0]?.words.slice(1)).toEqual(bare);
    expect(await yard.json('down')).toMatchObject({ stopped: true });
  }, 60_000);
});

describe('what goes wrong half-way', () => {
  it('says how compose failed, and works the next time', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    yard.rules({
      words: ['up'],
      exit: 17,
      stderr: 'pulling\n\u001b[31mno such image: x\n',
      lingers: true,
    });
    const { exit, stdout, stderr } = await yard.container('up');
    expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' });
    expect(stderr).toBe(
      `pulling\n[31mno such image: x\ndocker compose: up ended with 17: pulling [31mno such image: x; mend that and run it again; what it has started, 'okstra container down ${KEY}' stops\n`,
    );
    expect((await yard.container('show')).stdout).toContain(
      `${KEY}: compose failed with 17 (docker, `,
    );
    yard.rules({ words: ['down'], exit: 3, stderr: 'busy\n' });
    const busy = await yard.container('down');
    expect(busy.exit).toBe(5);
    expect(busy.stderr).toContain(
      'docker compose: down ended with 3: busy; mend that and run it again\n',
    );
    expect((await yard.json<View>('show')).record?.state).toBe('failed');
    yard.rules({ words: ['ps'], stdout: RUNNING });
    expect(await yard.json('up')).toMatchObject({ health: 'up' });
    yard.rules({ words: ['ps'], stdout: RUNNING.replace('running', 'restarting') });
    expect(await yard.json<View>('show')).toMatchObject({ health: 'partly' });
  }, 60_000);

  it('one at a time, and a kill leaves what can be stopped and started', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    yard.rules({ words: ['up'], hang: true });
    const first = yard.begin('up');
    const compose = () => yard.calls(true).find(({ words }) => words.includes('up'));
    const isRecorded = (pid: number) => {
      const folder = join(yard.home, 'containers');
      const [name] = existsSync(folder)
        ? readdirSync(folder).filter((it) => it.endsWith('.json'))
        : [];
      return (
        name !== undefined && readFileSync(join(folder, name), 'utf8').includes(`"pid": ${pid}`)
      );
    };
    await until(() => compose() !== undefined && isRecorded(compose()?.pid ?? 0));
    const pid = compose()?.pid ?? 0;
    for (const verb of ['up', 'down']) {
      const { exit, stderr } = await yard.container(verb);
      expect(exit).toBe(5);
      expect(stderr).toMatch(/locked by okstra container up \(process \d+ on .*\); try again/);
    }
    expect((await yard.json<View>('show')).health).toBe('starting');

    first.kill('SIGKILL');
    await until(() => first.signalCode !== null);
    // Compose goes on without whoever started it.
    for (const verb of ['up', 'down']) {
      const { exit, stderr } = await yard.container(verb);
      expect(exit).toBe(5);
      expect(stderr).toContain(`compose is still starting it (process ${pid}); wait for it`);
    }
    process.kill(pid, 'SIGKILL');
    await until(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
    expect((await yard.json<View>('show')).health).toBe('interrupted');
    yard.rules({ words: ['ps'], stdout: RUNNING });
    expect(await yard.json('up')).toMatchObject({ health: 'up' });
    expect(await yard.json('down')).toMatchObject({ stopped: true });
  }, 60_000);

  it('passes on the wish to stop', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    // A program that ends when it is asked to.
    writeFileSync(
      join(yard.shop.folder, 'bin/docker'),
      `#!/bin/sh\ncase "$*" in *' up '*) : > '${yard.shop.folder}/at-work'; while :; do /bin/sleep 0.05; done;; esac\n`,
      { mode: 0o755 },
    );
    const child = yard.begin('up');
    await until(() => existsSync(join(yard.shop.folder, 'at-work')));
    child.kill('SIGTERM');
    await until(() => child.exitCode !== null);
    expect(child.exitCode).toBe(5);
    expect((await yard.json<View>('show')).health).toBe('failed');
  }, 60_000);

  it('leaves a record alone that it cannot read', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    const { project } = await yard.json<Started>('up');
    const path = join(yard.home, 'containers', `${project}.json`);
    for (const text of ['{', '{"schema_version": 2}', '{"schema_version": 1, "container": {}}']) {
      writeFileSync(path, text);
      for (const verb of ['up', 'down', 'show']) {
        const { exit, stderr } = await yard.container(verb);
        expect(exit).toBe(2);
        expect(stderr).toContain(path);
      }
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
  }, 60_000);
});
