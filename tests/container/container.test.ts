/** Starting and stopping what the finished stages make: real repositories, a stand-in for engines. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPOSE, KEY, RUNNING, type Started, type View, Yard } from './support.js';

/** Everything that could be changed outside git's objects. */
function snapshot(yard: Yard): unknown {
  const home = existsSync(yard.home)
    ? readdirSync(yard.home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('/.git'))
        .map((entry) => {
          const path = join(entry.parentPath, entry.name);
          return `${path}: ${readFileSync(path, 'utf8')}`;
        })
        .sort()
    : [];
  return { files: yard.shop.files(), refs: yard.shop.refs(), home };
}

describe('container up', () => {
  it('assembles what is finished and starts it, again and again, and stops it', async () => {
    const yard = new Yard(['', '', '1, 2']).engines('docker');
    yard.rules({ words: ['ps'], stdout: RUNNING });
    const one = await yard.shop.stage(1);
    const two = await yard.shop.stage(2);

    // First only what would happen.
    const before = snapshot(yard);
    const dry = await yard.container('up', '--dry-run');
    expect(dry.exit).toBe(0);
    expect(dry.stdout).toContain(`worktree  ${yard.worktree} (would be made)\n`);
    expect(dry.stdout).toMatch(/\nengine {4}docker \(Docker Compose version v2\.29\.1\)\n/);
    expect(dry.stdout).toContain(' up --detach --build --remove-orphans\n');
    expect(dry.stdout).toContain('\n  OKSTRA_STAGES=1,2\n');
    expect(dry.stderr).toBe('okstra: dry run: nothing was assembled, started or recorded\n');
    expect(yard.calls()).toEqual([]);
    expect(snapshot(yard)).toEqual(before);
    expect(await yard.json<View>('show')).toMatchObject({ health: 'down', record: null });

    const up = await yard.json<Started>('up');
    const { project, worktree, head, base } = up;
    expect(project).toMatch(/^okstra-web-login-[\da-f]{12}$/);
    expect(up).toMatchObject({
      engine: 'docker',
      worktree: yard.worktree,
      files: ['compose.yaml'],
    });
    expect(up.stages).toEqual([
      { stage: 1, head: one.head },
      { stage: 2, head: two.head },
    ]);
    expect(yard.shop.in(worktree, 'rev-parse', 'HEAD')).toBe(head);
    for (const part of [1, 2]) expect(existsSync(`${worktree}/src/part${part}/1.rs`)).toBe(true);
    const file = `${worktree}/compose.yaml`;
    const begin = ['compose', '-p', project, '-f', file, '--project-directory', worktree];
    const [started, asked, ...more] = yard.calls();
    expect(more).toEqual([]);
    expect(started).toMatchObject({
      program: 'docker',
      words: [...begin, 'up', '--detach', '--build', '--remove-orphans'],
      folder: worktree,
      env: {
        OKSTRA_TASK_KEY: KEY,
        OKSTRA_PROJECT_ROOT: yard.shop.root,
        OKSTRA_WORKTREE: worktree,
        OKSTRA_BASE: base,
        OKSTRA_HEAD: head,
        OKSTRA_STAGES: '1,2',
      },
    });
    expect(asked?.words).toEqual([...begin, 'ps', '--all', '--format', 'json']);
    expect(up.command).toEqual(['docker', ...(started?.words ?? [])]);

    // Nothing new: the same again.
    const again = await yard.json<Started>('up');
    expect(again).toMatchObject({ head, project });
    const shown = await yard.container('show');
    expect({ exit: shown.exit, stderr: shown.stderr }).toEqual({ exit: 0, stderr: '' });
    expect(shown.stdout).toContain(`${KEY}: up (docker, `);
    expect(shown.stdout).toContain(`stages    1 (${one.head.slice(0, 7)}), 2 (`);
    expect(shown.stdout).toMatch(/\nweb +running +healthy +8080->80\/tcp +x-web-1\n/);
    expect(shown.stdout).toMatch(/\nmigrate +exited \(0\)/);

    // What is finished since is said, and taken in by the next start.
    const three = await yard.shop.stage(3);
    const stale = await yard.container('show');
    expect(stale.stdout).toContain(
      `stale: stage 3 is finished since\n'okstra container up ${KEY}'`,
    );
    yard.calls();
    const third = await yard.json<Started>('up');
    expect(third.stages.map(({ stage }) => stage)).toEqual([1, 2, 3]);
    expect(existsSync(`${worktree}/src/part3/1.rs`)).toBe(true);
    expect(yard.shop.in(worktree, 'merge-base', '--is-ancestor', three.head, 'HEAD')).toBe('');
    expect(yard.calls()[0]?.env.OKSTRA_STAGES).toBe('1,2,3');
    expect((await yard.json<View>('show')).stale).toEqual([]);

    // The folder stays while containers are in it, and with what is not committed.
    const refused = await yard.shop.okstra('worktree', 'remove', '--task-key', KEY, '--task');
    expect(refused.exit).toBe(3);
    expect(refused.stderr).toContain(
      `containers were started in it; stop them: 'okstra container down ${KEY}'`,
    );
    writeFileSync(`${worktree}/notes.txt`, 'mine');
    const dryDown = await yard.container('down', '--dry-run', '--volumes');
    expect(dryDown.stdout).toContain(' down --remove-orphans --volumes\n');
    yard.calls();
    const kept = await yard.container('down', '--remove-worktree');
    expect(kept.exit).toBe(3);
    expect(kept.stdout).toBe(`${project} is down\n`);
    expect(readFileSync(`${worktree}/notes.txt`, 'utf8')).toBe('mine');
    expect(yard.calls().map(({ words }) => words)).toEqual([
      [...begin, 'down', '--remove-orphans'],
    ]);
    expect(yard.record(project)).toBeUndefined();
    rmSync(`${worktree}/notes.txt`);
    // Merges of finished stages are nowhere else, which is for a person to decide.
    await yard.shop.ok('worktree', 'remove', '--task-key', KEY, '--task', '--force');
    expect(existsSync(worktree)).toBe(false);
    const nothing = await yard.container('down');
    expect(nothing).toMatchObject({ exit: 0, stdout: '', stderr: 'okstra: nothing is up\n' });
    expect(yard.calls()).toEqual([]);
  }, 60_000);

  it('of one stage, with all that can be named, and removes its worktree', async () => {
    const yard = new Yard([''], { 'deploy/app.yaml': COMPOSE }).engines('podman-compose', 'podman');
    yard.rules({ program: 'podman', words: ['compose'], exit: 125, stderr: 'Error: looking up\n' });
    yard.done(1);
    yard.shop.write('.env', 'A=1\n');
    const warned = await yard.container('up', '--file', 'deploy/app.yaml');
    expect(warned.exit).toBe(0);
    expect(warned.stderr).toContain(
      `warning: the worktree has no .env; '--compose-env ${yard.shop.root}/.env'`,
    );
    const file = `${yard.worktree}/deploy/app.yaml`;
    const [started] = yard.calls();
    expect(started?.program).toBe('podman-compose');
    expect(started?.words.slice(2)).toEqual([
      '-f',
      file,
      'up',
      '--detach',
      '--build',
      '--remove-orphans',
    ]);
    const path = join(yard.shop.root, 'deploy/app.yaml');
    const named = await yard.json<Started>('up', '--file', path, '--compose-env', '.env');
    expect(named.command.slice(3, 7)).toEqual(['-f', file, '--env-file', `${yard.shop.root}/.env`]);
    const missing = await yard.container(
      'up',
      '--file',
      'deploy/app.yaml',
      '--compose-env',
      'none',
    );
    expect(missing).toMatchObject({ exit: 2, stderr: 'none: no such file; check it\n' });
    const other = await yard.container('up', '--file', 'deploy/app.yaml', '--engine', 'docker');
    expect(other.exit).toBe(3);
    expect(other.stderr).toContain(
      'it was started with podman-compose, not with docker; stop it first',
    );

    // Podman's program knows nothing without the file.
    rmSync(file);
    const gone = await yard.container('down');
    expect(gone.exit).toBe(3);
    expect(gone.stderr).toContain(
      'deploy/app.yaml is gone, and podman-compose cannot stop anything',
    );
    yard.shop.in(yard.worktree, 'checkout', '--', 'deploy/app.yaml');
    const foreseen = await yard.shop.ok('worktree', 'prune');
    expect(foreseen.stdout).toContain('would not be removed: containers were started in it; stop');
    expect(foreseen.stderr).not.toContain('--yes');
    const dry = await yard.container('down', '--dry-run', '--remove-worktree');
    expect(dry.exit).toBe(0);
    expect(dry.stdout).toContain(`\nworktree  ${yard.worktree} (would be removed: `);
    expect(existsSync(file)).toBe(true);
    const down = await yard.json('down', '--remove-worktree', '--volumes');
    expect(down).toMatchObject({ stopped: true, worktree: 'removed' });
    expect(existsSync(yard.worktree)).toBe(false);
  }, 60_000);

  it('is refused before anything is made where it is not clear what to start', async () => {
    const yard = new Yard([''], {}).engines('docker');
    const early = await yard.container('up');
    expect(early).toMatchObject({
      exit: 3,
      stderr: `okstra: no stage is finished yet, so there is nothing to start; see 'okstra stage list'\n`,
    });
    yard.done(1);
    const refs = yard.shop.refs();
    const refused = async (says: string, ...more: string[]) => {
      const { exit, stderr } = await yard.container('up', ...more);
      expect(stderr).toContain(says);
      expect(exit).toBe(3);
      expect(yard.calls()).toEqual([]);
      expect(yard.shop.refs()).toBe(refs);
      expect(existsSync(join(yard.home, 'containers'))).toBe(false);
    };
    await refused('no compose file in the finished stages; commit one in a stage');
    await refused('no compose file x.yaml in the finished stages', '--file', 'x.yaml');
    for (const out of ['../x.yaml', '/etc/x.yaml']) {
      await refused(`the compose file ${out} leads out of the worktree`, '--file', out);
    }
  }, 60_000);

  it.each([
    [
      'two files',
      { 'compose.yml': COMPOSE, 'docker-compose.yml': COMPOSE },
      undefined,
      'several compose files: compose.yml, docker-compose.yml; name one with --file',
    ],
    [
      'a link that climbs out',
      {},
      '../../outside.yaml',
      'the compose file compose.yaml leads out of the worktree, to ../../outside.yaml',
    ],
    ['an absolute link', {}, '/etc/hosts', 'leads out of the worktree, to /etc/hosts'],
    [
      'a link into a folder that is shared',
      {},
      'shared/compose.yaml',
      'leads out of the worktree, to ',
    ],
  ])(
    'takes no file that is not certain: %s',
    async (what, files: Record<string, string>, link, says) => {
      const yard = new Yard([''], files).engines('docker');
      if (link !== undefined) {
        if (link.startsWith('shared/')) {
          // What worktrees share with the project is not what the stages contain.
          yard.shop.write('.gitignore', 'shared\n');
          yard.shop.write(
            '.okstra/project.json',
            '{"projectId":"shop","worktreeSyncDirs":["shared"]}',
          );
          yard.shop.write('shared/compose.yaml', COMPOSE);
        }
        symlinkSync(link, join(yard.shop.root, 'compose.yaml'));
        yard.shop.commit(what);
      }
      yard.done(1);
      const { exit, stderr } = await yard.container('up');
      expect(stderr).toContain(says);
      expect(exit).toBe(3);
      expect(yard.calls()).toEqual([]);
      expect(existsSync(join(yard.home, 'containers'))).toBe(false);
    },
    60_000,
  );

  it('starts where the folder of all worktrees is a link', async () => {
    const yard = new Yard(['']).engines('docker');
    yard.done(1);
    const disk = join(yard.shop.folder, 'disk');
    mkdirSync(disk);
    mkdirSync(yard.home, { recursive: true });
    rmSync(join(yard.home, 'worktrees'), { recursive: true, force: true });
    symlinkSync(disk, join(yard.home, 'worktrees'));
    const up = await yard.json<Started>('up');
    expect(up).toMatchObject({ worktree: yard.worktree, files: ['compose.yaml'] });
    expect(await yard.json('down')).toMatchObject({ stopped: true });
  }, 60_000);

  it('names the stages that do not go together', async () => {
    const yard = new Yard(['', '']).engines('docker');
    await yard.shop.stage(1, { 'a.txt': 'one\n' });
    await yard.shop.stage(2, { 'a.txt': 'two\n' });
    const refs = yard.shop.refs();
    for (const more of [['--dry-run'], []]) {
      const { exit, stderr } = await yard.container('up', ...more);
      expect(stderr).toContain('stage 1 and stage 2 conflict in a.txt');
      expect(exit).toBe(3);
      expect(yard.shop.refs()).toBe(refs);
    }
    expect(yard.calls()).toEqual([]);
  }, 60_000);
});

describe('what a task is called', () => {
  it('is a name that compose takes', async () => {
    const yard = new Yard(['']).engines('docker');
    // Another task of the same plan's text, with a key in capitals and another script.
    const key = 'shop:Web:로그인 A';
    const task = join(
      yard.shop.root,
      '.okstra/tasks/Web/로그인 A/runs/implementation-planning/reports',
    );
    mkdirSync(task, { recursive: true });
    const plan = readdirSync(
      join(yard.shop.root, '.okstra/tasks/web/login/runs/implementation-planning/reports'),
    );
    for (const name of plan) {
      writeFileSync(
        join(task, name),
        readFileSync(
          join(
            yard.shop.root,
            '.okstra/tasks/web/login/runs/implementation-planning/reports',
            name,
          ),
        ),
      );
    }
    const claimed = JSON.parse(
      (await yard.shop.ok('stage', 'claim', '--task-key', key, '--json')).stdout,
    ) as { worktree: string; claim_id: string; base_commit: string };
    const head = yard.shop.commitIn(claimed.worktree, 'one', { 'src/part1/1.rs': 'x\n' });
    const result = join(yard.shop.folder, 'e.json');
    const evidence = {
      ...{ schemaVersion: 1, sourcePlanPath: join(task, plan[0] ?? ''), stageNumber: 1 },
      ...{ stageTitle: 'Part 1', completedAt: '2026-01-02T03:04:05Z' },
      stageCommitRange: { base: claimed.base_commit, head },
      ...{ filesChanged: ['src/part1/1.rs'], newIdentifiers: [], validationsPassed: [], notes: [] },
      stepResults: [{ step: 1, status: 'done', commit: head }],
    };
    writeFileSync(result, JSON.stringify(evidence));
    const done = ['--claim-id', claimed.claim_id, '--evidence', result];
    await yard.shop.ok('stage', 'done', '--task-key', key, '--stage', '1', ...done);
    const { exit, stdout } = await yard.shop.okstra('container', 'up', key, '--json');
    expect(exit).toBe(0);
    const { project } = JSON.parse(stdout) as Started;
    expect(project).toMatch(/^okstra-web-a-[\da-f]{12}$/);
    expect(yard.calls()[0]?.env.OKSTRA_TASK_KEY).toBe(key);
  }, 60_000);

  it('has to be a key', async () => {
    const yard = new Yard(['']).engines('docker');
    const bad = await yard.shop.okstra('container', 'show', 'login');
    expect(bad).toMatchObject({ exit: 2 });
    expect(bad.stderr).toContain("a task key is 'project:group:id', got 'login'");
    const none = await yard.shop.okstra('container', 'up');
    expect(none.exit).toBe(2);
  }, 60_000);
});
