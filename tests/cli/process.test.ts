/** The built command as a process: pipes, signals, paths, terminals, files, watching. */
import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FAULTY, GOOD, planText, REPAIRABLE } from './plans.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(root, 'npm-package/bin/okstra.js');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'okstra-cli-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, name), content);
}

/** The environment without what colours output. */
function environment(): NodeJS.ProcessEnv {
  const { NO_COLOR: _no, FORCE_COLOR: _force, COLUMNS: _columns, ...env } = process.env;
  return env;
}

function okstra(args: string[], input: string | Uint8Array = '') {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: environment(),
    input,
    maxBuffer: 1 << 30,
  });
  return { exit: status ?? signal, stdout, stderr };
}

/** Runs a line in a shell, with `$okstra` for the command. */
function shell(line: string) {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...environment(), okstra: `${process.execPath} ${BIN}` },
    maxBuffer: 1 << 30,
  });
  return { exit: status, stdout, stderr };
}

describe('exit status and streams', () => {
  it.each([
    [['--version'], 0],
    [['plan', 'check', 'good.md'], 0],
    [['plan', 'check', 'faulty.md'], 1],
    [['plan', 'check', 'gone.md'], 2],
    [['plan', 'check', '.'], 2],
    [['plan', 'check', '--nope'], 2],
    [['plan', 'graph', 'good.md'], 0],
    [['plan', 'show', 'good.md'], 0],
  ])('%j: %i', (args, exit) => {
    write('good.md', GOOD);
    write('faulty.md', FAULTY);
    const outcome = okstra(args);
    expect(outcome.exit).toBe(exit);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
    expect(outcome.stderr === '').toBe(exit === 0);
  });

  it('reads standard input, also when it comes in pieces', () => {
    write('p.md', FAULTY);
    const outcome = shell('(head -c 90 p.md; sleep 0.2; tail -c +91 p.md) | $okstra plan check -');
    expect(outcome).toEqual({
      exit: 1,
      stdout: '<stdin>: 2 errors, 0 warnings; 2 stages in 1 wave\n',
      stderr:
        'S7 stage=1: Stage Map step-count=5 but real count=2\nS6 stage=2: depends-on 7 does not exist\n',
    });
  });

  it('a closed standard input is an empty plan', () => {
    expect(shell('$okstra plan check - <&-').exit).toBeGreaterThan(0);
  });

  it.each(['binary', 'latin1'])('%s input: exit 2, one line', (kind) => {
    write(
      'p.md',
      kind === 'binary' ? readFileSync(process.execPath).subarray(0, 4096) : Uint8Array.of(0xe4),
    );
    const { exit, stdout, stderr } = okstra(['plan', 'check', 'p.md']);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toMatch(/^p\.md: [^\n]+\n$/);
  });
});

describe('pipes', () => {
  const many = () =>
    planText(Array.from({ length: 3000 }, (_, n) => ({ after: n > 0 ? `${n}` : '' })));

  it('gets all of a large report', () => {
    write('p.md', many());
    const { stdout, exit } = shell('$okstra plan check --format json p.md | (sleep 0.5; cat)');
    expect(exit).toBe(0);
    expect(stdout.length).toBeGreaterThan(1_000_000);
    expect(JSON.parse(stdout).plans[0].stages).toHaveLength(3000);
  });

  /** Starts a command with a stream set to answer at once instead of waiting. */
  const impatient = (stream: string) =>
    `perl -MFcntl -e 'fcntl(${stream}, F_SETFL, O_NONBLOCK | fcntl(${stream}, F_GETFL, 0)); exec @ARGV' --`;

  it('gets all of it through a pipe that does not block', () => {
    write('p.md', many());
    const line = `${impatient('STDOUT')} $okstra plan check --format json p.md | (sleep 0.5; cat)`;
    const { stdout, stderr } = shell(line);
    expect(stderr).toBe('');
    expect(stdout).toBe(okstra(['plan', 'check', '--format', 'json', 'p.md']).stdout);
  });

  it('reads all of an input that does not block', () => {
    write('p.md', FAULTY);
    const { stderr } = shell(`(sleep 0.3; cat p.md) | ${impatient('STDIN')} $okstra plan check -`);
    expect(stderr).toBe(okstra(['plan', 'check', 'p.md']).stderr);
  });

  it('is silent when the reader goes away', () => {
    write('p.md', many());
    const { stdout, stderr } = shell('$okstra plan check --format json p.md | head -c 10');
    expect({ stdout, stderr }).toEqual({ stdout: '{"plans":[', stderr: '' });
    expect(shell('$okstra plan --help | true').stderr).toBe('');
  });

  it('says when the output cannot be written', () => {
    write('p.md', GOOD);
    expect(shell('$okstra plan graph p.md > /dev/full')).toEqual({
      exit: 5,
      stdout: '',
      stderr: 'standard output: no space left on the disk; check where the output goes\n',
    });
  });
});

describe('paths', () => {
  it.each(['with space.md', '計画 – ünïcode 🙂.md', "it's $HOME `x`.md", 'a:b.md'])(
    '%s',
    (name) => {
      write(name, FAULTY);
      const { exit, stdout } = okstra(['plan', 'check', '--format', 'json', name]);
      expect(exit).toBe(1);
      expect(JSON.parse(stdout).plans[0].path).toBe(name);
    },
  );

  it('that begin with a dash, behind --', () => {
    write('-p.md', FAULTY);
    expect(okstra(['plan', 'check', '-p.md']).exit).toBe(2);
    expect(okstra(['plan', 'check', '--', '-p.md']).exit).toBe(1);
    expect(okstra(['plan', 'graph', '--format', 'json', '--', '-p.md']).stdout).toContain(
      '"waves"',
    );
  });

  it('that are relative to the folder one is in', () => {
    mkdirSync(join(folder, 'in'));
    write('in/p.md', GOOD);
    expect(okstra(['plan', 'check', './in/../in/p.md']).exit).toBe(0);
  });
});

describe('files', () => {
  it('--fix repairs in place', () => {
    write('p.md', REPAIRABLE);
    expect(okstra(['plan', 'check', '--fix', 'p.md']).exit).toBe(0);
    expect(readFileSync(join(folder, 'p.md'), 'utf8')).toBe(REPAIRABLE.replace('| 5 |', '| 2 |'));
    expect(readdirSync(folder)).toEqual(['p.md']);
  });

  it('-o writes a drawing', () => {
    write('p.md', GOOD);
    expect(okstra(['plan', 'graph', '--format', 'svg', '-o', 'p.svg', 'p.md'])).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    });
    expect(readFileSync(join(folder, 'p.svg'), 'utf8')).toContain('</svg>');
  });

  it('-o /dev/stdout is a stream, not a file to replace', () => {
    write('p.md', GOOD);
    expect(shell('$okstra plan graph -o /dev/stdout p.md | cat').stdout).toContain('wave 1');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    okstra(['plan', 'graph', '-o', '/dev/null', 'p.md']);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it.each([
    ['folder', 'folder: a folder; name a file in it\n'],
    ['none/p.svg', 'none/p.svg: there is no such folder; make it first\n'],
  ])('into %s is refused with what to do', (output, stderr) => {
    write('p.md', GOOD);
    mkdirSync(join(folder, 'folder'), { recursive: true });
    expect(okstra(['plan', 'graph', '-o', output, 'p.md'])).toEqual({
      exit: 2,
      stdout: '',
      stderr,
    });
  });
});

describe('in a terminal', () => {
  const inTerminal = (line: string, columns: number) =>
    shell(`script -qec 'stty cols ${columns}; ${line}' /dev/null < /dev/null`);

  it('there is colour, and the width is that of the terminal', () => {
    write('p.md', GOOD);
    const { stdout } = inTerminal('$okstra plan graph p.md', 47);
    expect(stdout).toContain('\u001b[');
    for (const line of stdout.split('\r\n')) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no width
      expect(line.replace(/\u001b\[[\d;]*m/g, '').length).toBeLessThanOrEqual(47);
    }
    expect(inTerminal('NO_COLOR=1 $okstra plan graph p.md', 47).stdout).not.toContain('\u001b[');
  });
});

describe('--watch', () => {
  /** Starts a watch; `seen` waits until the talk holds a text for the so-manieth time. */
  function watch(...args: string[]) {
    return watching('plan', 'check', '--watch', ...args);
  }

  function watching(...words: string[]) {
    const child = spawn(process.execPath, [BIN, ...words], {
      cwd: folder,
      env: { ...environment(), OKSTRA_HOME: join(folder, 'home') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let talk = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      talk += chunk;
    });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      shown += chunk;
    });
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
      child.on('close', (code, signal) => resolve(code ?? signal));
    });
    return {
      child,
      ended,
      talk: () => talk,
      shown: () => shown,
      async seen(text: string, times = 1) {
        while (talk.split(text).length <= times) {
          if (child.exitCode !== null) throw new Error(`ended early: ${talk}`);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      },
    };
  }

  it('follows writes, renames over the file, removal and return; Ctrl-C ends with the last status', async () => {
    write('p.md', FAULTY);
    const { child, ended, talk, seen } = watch('p.md');
    try {
      await seen('watching', 1);
      write('p.md', GOOD);
      await seen('watching', 2);
      write('p.new', FAULTY);
      renameSync(join(folder, 'p.new'), join(folder, 'p.md'));
      await seen('depends-on 7', 2);
      await seen('watching', 3);
      rmSync(join(folder, 'p.md'));
      await seen('no such file', 1);
      await seen('watching', 4);
      write('p.md', GOOD);
      await seen('watching', 5);
      write('other.md', FAULTY);
      write('p.md', FAULTY);
      await seen('watching', 6);
      child.kill('SIGINT');
      expect(await ended).toBe(1);
      expect(talk()).not.toContain('other.md');
      expect(readdirSync(folder).sort()).toEqual(['other.md', 'p.md']);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('of the stages sees a ledger and evidence in folders that are not there yet', async () => {
    write('p.md', `${GOOD}\n## User Approval Request\n\n- [x] Approved\n`);
    const { child, ended, shown, seen } = watching('stage', 'list', '--plan', 'p.md', '--watch');
    const until = async (text: string) => {
      while (!shown().includes(text)) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    try {
      await seen('watching', 1);
      // The watch itself begins a moment later.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      mkdirSync(join(folder, 'p.md.okstra'));
      const row = { impl_task_key: 'k', stage: 1, started_at: '2026-01-01T00:00:00Z' };
      const started = JSON.stringify({
        ...row,
        status: 'started',
        session: 'ada',
        head_commit: '',
      });
      write('p.md.okstra/consumers.jsonl', `${started}\n`);
      await until('session ada');
      mkdirSync(join(folder, 'p.md.okstra/carry'));
      write('p.md.okstra/carry/stage-1.json', '{"stageNumber": 1, "head": "1234567890"}\n');
      await until('✓ done');
      child.kill('SIGINT');
      expect(await ended).toBe(0);
      expect(readFileSync(join(folder, 'p.md.okstra/consumers.jsonl'), 'utf8')).toContain('"done"');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('waits for a file that is not there yet, and ends on SIGTERM', async () => {
    const { child, ended, seen } = watch('later.md');
    try {
      await seen('watching', 1);
      write('later.md', GOOD);
      await seen('watching', 2);
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('Ctrl-C', () => {
  it('ends a command that waits for input, by the signal', async () => {
    const child = spawn(process.execPath, [BIN, 'plan', 'check', '-'], {
      env: environment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let talk = '';
    child.stderr.on('data', (chunk) => {
      talk += chunk;
    });
    const ended = new Promise((resolve) =>
      child.on('close', (code, signal) => resolve([code, signal])),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.kill('SIGINT');
    expect(await ended).toEqual([null, 'SIGINT']);
    expect(talk).toBe('');
  });
});

describe('start', () => {
  /** What a command loads: Node's own modules, and the files of this package. */
  function loaded(...words: string[]): { native: string[]; own: string[] } {
    write(
      'list.cjs',
      `
const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const native = process.moduleLoadList
    .filter((name) => name.startsWith('NativeModule ') && !before.has(name))
    .map((name) => name.slice(13));
  const files = (it) => [it.filename, ...it.children.flatMap(files)];
  require('node:fs').writeSync(1, '#' + JSON.stringify({ native, files: files(module) }));
});
process.argv.splice(1, 1);
require(process.argv[1]);
`,
    );
    const env = { ...environment(), OKSTRA_HOME: join(folder, 'home') };
    const { stdout } = spawnSync(
      process.execPath,
      ['list.cjs', BIN, ...words],
      // Without kept code each bundle is a module that knows who loaded it.
      { cwd: folder, encoding: 'utf8', env: { ...env, NODE_DISABLE_COMPILE_CACHE: '1' } },
    );
    const { native, files } = JSON.parse(stdout.slice(stdout.lastIndexOf('#') + 1)) as {
      native: string[];
      files: string[];
    };
    const own = files.filter((file) => file.startsWith(root));
    return { native, own: own.map((file) => file.slice(root.length)) };
  }

  it('of a check loads nothing it does not need', () => {
    write('p.md', GOOD);
    const { native, own } = loaded('plan', 'check', join(folder, 'p.md'));
    for (const name of ['tty', 'net', 'child_process', 'url', 'worker_threads', 'assert', 'zlib']) {
      expect(native).not.toContain(name);
    }
    expect(own).toEqual([
      'npm-package/bin/okstra.js',
      'npm-package/dist/cli.cjs',
      'npm-package/dist/main.cjs',
      'npm-package/dist/command-plan.cjs',
    ]);
  });

  it('of a claim with a worktree does without what takes longest to load', () => {
    write('p.md', `${GOOD}\n- [x] Approved\n`);
    write('.gitignore', 'home\n*.okstra\nlist.cjs\n');
    const git = (...words: string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
        cwd: folder,
      });
    for (const words of ['init -q', 'add -A', 'commit -qm first']) git(...words.split(' '));
    const { native, own } = loaded('stage', 'claim', '--plan', 'p.md', '--session', 'a');
    expect(own).toContain('npm-package/dist/git.cjs');
    expect(git('worktree', 'list').stdout.toString().split('\n')).toHaveLength(3);
    // In other versions of Node it is needed.
    const isKnown = ['20', '22', '24'].includes(process.versions.node.split('.')[0] ?? '');
    expect(native.includes('child_process')).toBe(!isKnown);
  });
});
