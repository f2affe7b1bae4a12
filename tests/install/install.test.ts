// Installing into real home folders: nothing of the person's changes, nothing of okstra's stays.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Home } from './home.js';

const AUDIT = { hooks: [{ type: 'command', command: 'audit "é" 😀' }] };

/** Settings as people have them. */
const SETTINGS: readonly (readonly [what: string, text: string | undefined])[] = [
  ['no settings', undefined],
  ['an empty file', ''],
  ['an empty object on one line', '{}'],
  ['an empty object with blanks', '{ \n }\n'],
  ['settings without hooks', '{\n  "model": "opus",\n  "env": { "A": "1" }\n}\n'],
  ['a byte order mark and no last line end', '\ufeff{\n  "model": "opus"\n}'],
  ['CRLF and tabs', '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t}\r\n}\r\n'],
  ['numbers in odd spellings', '{"a": 1.50e+1, "b":[1 ,2],"model" : "x"}'],
  [
    'hooks of others on the same events',
    JSON.stringify({ hooks: { Stop: [AUDIT], PreToolUse: [] } }),
  ],
  [
    'the same, indented by four',
    JSON.stringify({ z: 1, hooks: { SessionEnd: [AUDIT], Stop: [AUDIT] }, a: 2 }, null, 4),
  ],
  [
    'hooks of others on other events',
    JSON.stringify({ hooks: { Notification: [AUDIT] } }, null, 2),
  ],
];

/** Where a program of this machine lies. */
function programOf(name: string): string {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return realpathSync(files.find((file) => existsSync(file)) ?? `/usr/bin/${name}`);
}

function homeWith(settings: string | undefined): Home {
  const home = new Home();
  // A person with something of their own in every folder.
  home.put('.claude/agents/mine.md', 'mine\n');
  if (settings !== undefined) home.put('.claude/settings.json', settings);
  return home;
}

describe('install and uninstall', () => {
  it.each(SETTINGS)('%s: leaves the home byte for byte', (_what, text) => {
    const home = homeWith(text);
    const before = home.tree();
    expect(home.run('install', '--dry-run')).toMatchObject({ exit: 0 });
    expect(home.tree()).toEqual(before);
    expect(home.run('install')).toMatchObject({ exit: 0, stdout: '' });
    const after = home.tree();
    const settings = JSON.parse(readFileSync(home.settings, 'utf8').replace('\ufeff', ''));
    expect(Object.keys(settings.hooks)).toEqual(
      expect.arrayContaining([
        'SessionStart',
        'PreToolUse',
        'PostToolUse',
        'SubagentStop',
        'Stop',
        'SessionEnd',
      ]),
    );
    const again = home.run('install', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ changes: [], kept: [] });
    expect(home.tree()).toEqual(after);
    expect(home.run('uninstall')).toMatchObject({ exit: 0, stdout: '' });
    expect(home.tree()).toEqual(before);
    expect(home.run('uninstall').stderr).toContain('not installed');
  });

  it('leaves nothing in a home where nothing was', () => {
    const home = new Home();
    expect(home.run('install').exit).toBe(0);
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual({});
  });

  it('keeps what the person changed meanwhile, in settings and in files', () => {
    const home = homeWith('{\n  "model": "opus"\n}\n');
    home.run('install');
    const settings = JSON.parse(readFileSync(home.settings, 'utf8'));
    settings.hooks.Stop.unshift(AUDIT);
    settings.theme = 'dark';
    writeFileSync(home.settings, JSON.stringify(settings));
    const skill = home.put('.claude/skills/okstra-run/SKILL.md', 'my own words\n');
    home.put('.claude/skills/okstra-run/notes.md', 'notes\n');
    const again = home.run('install');
    expect(again.stderr).toContain(`${skill} was changed since it was installed; it stays`);
    expect(readFileSync(skill, 'utf8')).toBe('my own words\n');
    const out = home.run('uninstall');
    expect(out.exit).toBe(0);
    expect(out.stderr).toContain(skill);
    expect(JSON.parse(readFileSync(home.settings, 'utf8'))).toEqual({
      model: 'opus',
      theme: 'dark',
      hooks: { Stop: [AUDIT] },
    });
    expect(readFileSync(skill, 'utf8')).toBe('my own words\n');
    expect(home.run('uninstall', '--force').exit).toBe(0);
    expect(existsSync(skill)).toBe(false);
    expect(existsSync(join(home.folder, '.claude/skills/okstra-run/notes.md'))).toBe(true);
    expect(existsSync(home.record)).toBe(false);
  });

  it('writes through a link to the settings and keeps it a link', () => {
    const home = homeWith(undefined);
    const real = home.put('dotfiles/settings.json', '{ "model": "opus" }\n');
    symlinkSync('../dotfiles/settings.json', home.settings);
    const before = home.tree();
    expect(home.run('install').exit).toBe(0);
    expect(lstatSync(home.settings).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toContain('okstra/hook.cjs');
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual(before);
  });

  it('follows a link to the whole folder, and CLAUDE_CONFIG_DIR and OKSTRA_HOME', () => {
    const home = new Home();
    mkdirSync(join(home.folder, 'dot/claude'), { recursive: true });
    symlinkSync('dot/claude', join(home.folder, '.claude'));
    const before = home.tree();
    home.run('install');
    expect(existsSync(join(home.folder, 'dot/claude/okstra/hook.cjs'))).toBe(true);
    home.run('uninstall');
    expect(home.tree()).toEqual(before);
    home.env = {
      CLAUDE_CONFIG_DIR: join(home.folder, 'conf'),
      OKSTRA_HOME: join(home.folder, 'ok'),
    };
    home.run('install');
    expect(readdirSync(home.folder).sort()).toEqual(['.claude', 'conf', 'dot', 'ok']);
    expect(readFileSync(join(home.folder, 'conf/settings.json'), 'utf8')).toContain(
      join(home.folder, 'conf/okstra/hook.cjs'),
    );
    home.run('uninstall');
    expect(home.tree()).toEqual(before);
  });

  it('puts a path into the settings of a project that holds wherever it is', () => {
    const home = new Home();
    mkdirSync(join(home.folder, 'shop/.git'), { recursive: true });
    mkdirSync(join(home.folder, 'shop/src'));
    home.cwd = join(home.folder, 'shop/src');
    const before = home.tree();
    expect(home.run('install').exit).toBe(0);
    expect(home.run('install', '--scope', 'project').exit).toBe(0);
    const settings = readFileSync(join(home.folder, 'shop/.claude/settings.json'), 'utf8');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
    expect(settings).toContain('"${CLAUDE_PROJECT_DIR}/.claude/okstra/hook.cjs"');
    expect(settings).not.toContain(home.folder);
    const { installations } = JSON.parse(readFileSync(home.record, 'utf8'));
    expect(installations.map(({ scope }: { scope: string }) => scope)).toEqual(['user', 'project']);
    expect(home.run('uninstall').exit).toBe(0);
    expect(existsSync(home.settings)).toBe(false);
    expect(home.run('uninstall', '--scope', 'project').exit).toBe(0);
    expect(home.tree()).toEqual(before);
  });
});

describe('nothing is written', () => {
  it.each([
    ['a comment', '{\n  // mine\n  "model": "opus"\n}\n', '2: the settings have a comment'],
    ['a trailing comma', '{\n  "model": "opus",\n}\n', '3:1: not usable as JSON'],
    ['no JSON at all', 'model = opus\n', '1:1: not usable as JSON'],
    ['hooks that are a list', '{\n  "hooks": []\n}\n', '2:12: not usable as JSON: not an object'],
    [
      'an event that is an object',
      '{"hooks":{\n"Stop":{}}}',
      '2:8: not usable as JSON: not an array',
    ],
  ])('%s', (_what, text, said) => {
    const home = homeWith(text);
    const before = home.tree();
    const { exit, stdout, stderr } = home.run('install');
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(`${home.settings}:${said}`);
    expect(stderr).toContain('nothing was written');
    expect(home.tree()).toEqual(before);
  });

  it('settings that are no UTF-8', () => {
    const home = homeWith('');
    writeFileSync(home.settings, Buffer.from('{"a":"\xff"}', 'latin1'));
    const before = home.tree();
    expect(home.run('install')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('not UTF-8'),
    });
    expect(home.tree()).toEqual(before);
  });

  it('a file of somebody else in the way, unless forced', () => {
    const home = new Home();
    const file = home.put('.claude/agents/okstra-claude-worker.md', 'theirs\n');
    const before = home.tree();
    const { exit, stderr } = home.run('install');
    expect(exit).toBe(3);
    expect(stderr).toContain(file);
    expect(home.tree()).toEqual(before);
    expect(home.run('install', '--force').exit).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('name: okstra-claude-worker');
  });

  it('settings that are set to read-only', () => {
    const home = homeWith('{ "model": "opus" }\n');
    chmodSync(home.settings, 0o444);
    const root = process.getuid?.() === 0;
    const before = home.tree();
    const { exit, stderr } = root ? home.runBare('install') : home.run('install');
    expect(stderr).toContain(home.settings);
    expect(exit).toBe(2);
    expect(home.tree()).toEqual(before);
  });
});

describe('a kill at any moment', () => {
  const whole = () => {
    const home = homeWith('{\n  "model": "opus"\n}\n');
    const before = home.tree();
    return { home, before };
  };

  /** Kills a command as soon as a file is there, or gone. */
  async function killWhen(
    home: Home,
    command: string,
    file: string,
    there: boolean,
  ): Promise<void> {
    const child = home.start(command);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    while (child.exitCode === null && existsSync(file) !== there) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill('SIGKILL');
    await ended;
  }

  const MOMENTS = [
    '.okstra/installed.json',
    '.claude/agents/okstra-claude-worker.md',
    '.claude/okstra/hook.cjs',
    '.claude/skills/okstra-handoff/SKILL.md',
    '.claude/skills/okstra-status/SKILL.md',
  ];

  it.each(MOMENTS)('of install, once %s is there', async (file) => {
    const { home, before } = whole();
    await killWhen(home, 'install', join(home.folder, file), true);
    expect(home.run('install').exit).toBe(0);
    const other = whole().home;
    other.run('install');
    const strip = (of: Home) => JSON.stringify(of.tree()).replaceAll(of.folder, '');
    expect(Object.keys(home.tree())).toEqual(Object.keys(other.tree()));
    const digests = (text: string) => text.replace(/[\da-f]{64}/g, '');
    expect(digests(strip(home))).toBe(digests(strip(other)));
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual(before);
    await killWhen(home, 'install', join(home.folder, file), true);
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual(before);
  });

  it.each(MOMENTS)('of uninstall, once %s is gone', async (file) => {
    const { home, before } = whole();
    home.run('install');
    await killWhen(home, 'uninstall', join(home.folder, file), false);
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual(before);
  });

  it('sweeps what a killed process had begun to write', () => {
    const { home, before } = whole();
    home.run('install');
    home.put('.claude/skills/okstra-run/.SKILL.md.4194305-abc.tmp', 'half');
    home.put('.claude/.settings.json.4194305-abc.tmp', 'half');
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual(before);
  });

  it('several at once', async () => {
    const { home, before } = whole();
    const children = [1, 2, 3, 4].map(() => home.start('install'));
    const exits = await Promise.all(
      children.map((child) => new Promise((resolve) => child.once('exit', resolve))),
    );
    expect(exits).toEqual([0, 0, 0, 0]);
    expect(readFileSync(home.settings, 'utf8').split('/okstra/hook.cjs').length - 1).toBe(6);
    expect(home.run('uninstall').exit).toBe(0);
    expect(home.tree()).toEqual(before);
  });
});

describe('doctor', () => {
  it('names what is wrong, with the remedy', () => {
    const home = new Home();
    const fresh = home.run('doctor');
    expect(fresh.exit).toBe(1);
    expect(fresh.stdout).toContain('FAIL hooks: not installed; okstra install\n');
    expect(fresh.stdout).toMatch(/\nresult: \d FAIL\n$/);
    home.run('install');
    rmSync(join(home.folder, '.claude/skills/okstra-run/SKILL.md'));
    home.put('.claude/agents/okstra-claude-worker.md', 'x');
    const settings = JSON.parse(readFileSync(home.settings, 'utf8'));
    delete settings.hooks.Stop;
    writeFileSync(home.settings, JSON.stringify(settings));
    const { exit, stdout } = home.run('doctor', '--json');
    expect(exit).toBe(1);
    const { rows, ok } = JSON.parse(stdout);
    expect(ok).toBe(false);
    const row = (check: string, health: string, found: string) =>
      expect(rows).toContainEqual(
        expect.objectContaining({ check, health, found: expect.stringContaining(found) }),
      );
    row('wasm', 'OK', 'loads');
    row('node', 'OK', process.version);
    row('git', 'OK', 'git version');
    row('files', 'FAIL', '1 of 15 are missing');
    row('files', 'WARN', '1 of 15 were changed');
    row('hooks', 'FAIL', 'no hook for Stop');
    row('locks', 'OK', join(home.folder, '.okstra'));
  });

  it('has nothing against what is as it should be', () => {
    const home = new Home();
    // Its own programs: what this machine has must not matter.
    const bin = join(home.folder, 'bin');
    home.put('bin/claude', '#!/bin/sh\necho "2.1.197 (Claude Code)"\n');
    chmodSync(join(bin, 'claude'), 0o755);
    symlinkSync(process.execPath, join(bin, 'node'));
    symlinkSync(programOf('git'), join(bin, 'git'));
    home.env = { PATH: bin };
    expect(home.run('install')).toMatchObject({ exit: 0 });
    const fine = home.run('doctor');
    expect(fine.stderr).toBe('');
    // What is missing and not needed is said all the same.
    expect(fine.stdout).toContain('WARN tmux: not found; install tmux: ');
    expect(fine.stdout).toContain('OK   claude: 2.1.197 (Claude Code)\n');
    expect(fine.stdout).not.toContain('FAIL');
    expect(fine.stdout).toMatch(/\nresult: OK\n$/);
    expect(fine.exit).toBe(0);
    const { exit, stdout } = home.run('doctor', '--json');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    // One fault is enough.
    home.put('bin/claude', '#!/bin/sh\necho "2.1.196 (Claude Code)"\n');
    const old = home.run('doctor');
    expect(old.stdout).toMatch(/\nFAIL claude: 2\.1\.196 .*\n(.*\n)*result: 1 FAIL\n$/);
    expect(old.exit).toBe(1);
  });

  it('finds dead claims and broken ledgers of the project, and settings that switch hooks off', () => {
    const home = new Home();
    mkdirSync(join(home.folder, 'shop/.git'), { recursive: true });
    home.cwd = join(home.folder, 'shop');
    const plan = `# x

## 5.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|---|---|---|---|---|
| 1 | A | (none) | 1 | a |

## 5.5.1 Stage 1: A

### Carry-In

### Stepwise Execution Order

| step | action | files | command | expected |
|---|---|---|---|---|
| 1 | a | a.rs | true | ok |

### Stage Exit Contract

### Stage Validation

- [x] Approved
`;
    const runs = 'shop/.okstra/tasks/web/login/runs/implementation-planning';
    const path = home.put(`${runs}/reports/final-report-implementation-planning-001.md`, plan);
    const claimed = home.run(
      'stage',
      'claim',
      '--plan',
      path,
      '--no-worktree',
      '--session',
      'anna',
    );
    expect(claimed.stderr + claimed.stdout).toContain('selected stage: 1');
    // The session's process, as a claim knows it, is another one by now.
    const ledger = join(home.folder, runs, 'consumers.jsonl');
    const row = JSON.parse(readFileSync(ledger, 'utf8').trim());
    writeFileSync(
      ledger,
      `${JSON.stringify({ ...row, pid: 4194305, pid_start: 'gone' })}\n{ torn\n`,
    );
    home.run('install');
    const settings = JSON.parse(readFileSync(home.settings, 'utf8'));
    writeFileSync(home.settings, JSON.stringify({ ...settings, disableAllHooks: true }));
    const { exit, stdout } = home.run('doctor');
    expect(exit).toBe(1);
    expect(stdout).toContain('FAIL hooks: ');
    expect(stdout).toContain('disableAllHooks is set; remove it');
    expect(stdout).toMatch(
      /FAIL ledger: .*consumers\.jsonl: 1 unusable line; okstra ledger repair --plan /,
    );
    expect(stdout).toMatch(/(?:FAIL|WARN) claim: stage 1: .*; okstra stage /);
  });

  it('finds the ledgers of plans outside of tasks, and settings that cannot be used', () => {
    const home = new Home();
    mkdirSync(join(home.folder, 'shop/.git'), { recursive: true });
    home.cwd = join(home.folder, 'shop');
    home.put('shop/plan.md.okstra/consumers.jsonl', 'trash\n{"also": "trash"\n');
    home.put('shop/plan.md', '# A plan\n');
    const ledger =
      /FAIL ledger: .*shop\/plan\.md\.okstra\/consumers\.jsonl: 2 unusable lines; okstra ledger repair --plan \S*shop\/plan\.md\n/;
    const { stdout: first } = home.run('doctor');
    expect(first).toMatch(ledger);
    expect(first).toMatch(
      /FAIL ledger: \S*shop\/plan\.md: no claim can be judged: 'okstra plan check /,
    );
    home.put('.okstra/config.json', '{\n  "guard": maybe\n}');
    home.put('shop/.okstra/project.json', '{ "projectId": ');
    const { exit, stdout } = home.run('doctor');
    expect(exit).toBe(1);
    expect(stdout).toMatch(/FAIL settings: \S*\.okstra\/config\.json:2:\d+: .*; mend the file\n/);
    expect(stdout).toMatch(
      /FAIL settings: \S*shop\/\.okstra\/project\.json:1:\d+: .*; mend the file\n/,
    );
    expect(stdout).toMatch(ledger);
    home.put('.okstra/config.json', '{"guard": "maybe"}');
    expect(home.run('doctor').stdout).toMatch(
      /FAIL settings: \S*config\.json: guard must be off, warn, ask or deny; mend the file\n/,
    );
  });
});
