import { describe, expect, it } from 'vitest';
import { HostError, type Stream } from '../../cli-js/src/host/host.js';
import { FAULTY, GOOD, REPAIRABLE } from './plans.js';
import { okstra, World } from './world.js';

const check = (files: ConstructorParameters<typeof World>[0], ...args: string[]) =>
  okstra(files ?? {}, 'plan', 'check', ...args);

describe('the formats', () => {
  it('text: one line an error on standard error, the sum on standard output', async () => {
    expect(await check({ 'p.md': FAULTY }, 'p.md')).toMatchInlineSnapshot(`
      {
        "exit": 1,
        "files": {},
        "stderr": "S7 stage=1: Stage Map step-count=5 but real count=2
      S6 stage=2: depends-on 7 does not exist
      ",
        "stdout": "p.md: 2 errors, 0 warnings; 2 stages in 1 wave
      ",
      }
    `);
  });

  it('text: the sum alone for a good plan', async () => {
    expect(await check({ 'p.md': GOOD }, 'p.md')).toEqual({
      exit: 0,
      stdout: 'p.md: 0 errors, 0 warnings; 3 stages in 2 waves\n',
      stderr: '',
      files: {},
    });
  });

  it('pretty', async () => {
    expect(await check({ 'p.md': FAULTY }, '--format', 'pretty', 'p.md')).toMatchSnapshot();
  });

  it('json: one document with every plan', async () => {
    const { stdout, stderr, exit } = await check(
      { 'a.md': GOOD, 'b.md': FAULTY },
      '--format=json',
      'a.md',
      'b.md',
    );
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 1 });
    const { plans } = JSON.parse(stdout);
    expect(plans.map(({ path }: { path: string }) => path)).toEqual(['a.md', 'b.md']);
    expect(plans[0].findings).toEqual([]);
    expect(plans[0].graph.waves).toEqual([[1], [2, 3]]);
    expect(plans[1].findings.map(({ code }: { code: string }) => code)).toEqual(['S7', 'S6']);
    expect(plans[1].findings[0].range.start).toMatchObject({ line: 7, column: 25 });
  });

  it('sarif: a log of version 2.1.0', async () => {
    const { stdout, exit } = await check({ 'p.md': FAULTY }, '--format', 'sarif', 'p.md');
    const log = JSON.parse(stdout);
    expect(exit).toBe(1);
    expect(log.version).toBe('2.1.0');
    expect(log.runs[0].results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual([
      'S7',
      'S6',
    ]);
  });

  it('github: an annotation an error', async () => {
    const { stdout, exit } = await check({ 'p.md': FAULTY }, '--format', 'github', 'p.md');
    expect(exit).toBe(1);
    expect(stdout).toMatch(/^::error file=p\.md,line=7,.*title=S7 stage=1::/);
  });
});

describe('the options reach the rules', () => {
  it.each([
    [['--max-steps', '2'], 'S5 stage=2'],
    [['--require-approval'], 'A1 stage=0'],
    [['--contract'], 'C1 stage=0'],
  ])('%j', async (options, finding) => {
    expect((await check({ 'p.md': GOOD }, 'p.md')).exit).toBe(0);
    const { exit, stderr } = await check({ 'p.md': GOOD }, ...options, 'p.md');
    expect(exit).toBe(1);
    expect(stderr).toContain(finding);
  });

  it('--strict makes an error of a shared file', async () => {
    const shared = GOOD.replace('`src/part3/1.rs`', '`src/part2/1.rs`');
    const lax = await check({ 'p.md': shared }, 'p.md');
    expect(lax.exit).toBe(0);
    expect(lax.stderr).toContain('S9');
    expect((await check({ 'p.md': shared }, '--strict', 'p.md')).exit).toBe(1);
  });
});

describe('what cannot be read', () => {
  const unreadable = {
    'missing.md': undefined,
    'folder.md': new HostError('directory', 'folder.md', 'a folder', 'give a Markdown file in it'),
    'secret.md': new HostError('denied', 'secret.md', 'permission denied', 'check the rights'),
    'binary.md': Uint8Array.of(0x61, 0, 0x62),
    'latin1.md': Uint8Array.of(0x61, 0x0a, 0xe4, 0x62),
  };

  it.each(Object.entries(unreadable))(
    '%s: exit 2, one line with the remedy',
    async (name, content) => {
      const files = content === undefined ? {} : { [name]: content };
      for (const command of ['check', 'graph', 'show', 'approve']) {
        const { exit, stdout, stderr } = await okstra(files, 'plan', command, name);
        expect(exit).toBe(2);
        expect(stdout).toBe('');
        expect(stderr).toMatch(new RegExp(`^${name}: [^\\n]+; [^\\n]+\\n$`));
      }
    },
  );

  it('does not keep the other plans from being checked', async () => {
    const files: Record<string, string | Uint8Array | HostError> = { 'faulty.md': FAULTY };
    for (const [name, content] of Object.entries(unreadable)) if (content) files[name] = content;
    const outcome = await check(files, ...Object.keys(unreadable), 'faulty.md');
    expect(outcome).toMatchSnapshot();
  });

  it('leaves a machine-readable report well-formed', async () => {
    const { exit, stdout } = await check({}, '--format', 'json', 'missing.md');
    expect(exit).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ plans: [] });
  });
});

describe('standard input', () => {
  it('is read for -', async () => {
    const world = new World();
    world.stdin = FAULTY;
    const { exit, stdout } = await world.run('plan', 'check', '--format', 'json', '-');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).plans[0].path).toBe('<stdin>');
  });
});

describe('--fix', () => {
  it('repairs, tells what, and checks the result', async () => {
    const outcome = await check({ 'p.md': REPAIRABLE }, '--fix', 'p.md');
    expect(outcome).toEqual({
      exit: 0,
      stdout: 'p.md: 0 errors, 0 warnings; 2 stages in 2 waves\n',
      stderr:
        'p.md:7:25: fixed S7 stage=1: write the real count, 2 (Stage Map step-count=5 but real count=2)\n',
      files: { 'p.md': REPAIRABLE.replace('| 5 |', '| 2 |') },
    });
  });

  it('reports what cannot be repaired', async () => {
    const { exit, stderr, files } = await check({ 'p.md': FAULTY }, '--fix', 'p.md');
    expect(exit).toBe(1);
    expect(stderr).toMatch(/fixed S7 stage=1: .*\nS6 stage=2: depends-on 7 does not exist\n$/);
    expect(Object.keys(files)).toEqual(['p.md']);
  });

  it('touches nothing where nothing is to be repaired', async () => {
    const { files, exit } = await check({ 'p.md': GOOD }, '--fix', 'p.md');
    expect({ files, exit }).toEqual({ files: {}, exit: 0 });
  });

  it('keeps every other byte: a byte order mark, CRLF, trailing blanks', async () => {
    const odd = `\u{feff}${REPAIRABLE.replaceAll('\n', '  \r\n')}`;
    const { files } = await check({ 'p.md': odd }, '--fix', 'p.md');
    expect(files['p.md']).toBe(odd.replace('| 5 |', '| 2 |'));
  });

  it('prints the repaired plan for -, and the report on standard error', async () => {
    for (const format of ['text', 'json']) {
      const world = new World();
      world.stdin = FAULTY;
      const { stdout, stderr, exit } = await world.run(
        'plan',
        'check',
        '--fix',
        '--format',
        format,
        '-',
      );
      expect(stdout).toBe(FAULTY.replace('| 5 |', '| 2 |'));
      expect(stderr).toContain('depends-on 7 does not exist');
      expect(exit).toBe(1);
    }
  });

  it('is refused where the file has changed meanwhile; the other plans are repaired', async () => {
    const world = new World({ 'a.md': REPAIRABLE, 'b.md': REPAIRABLE });
    const theirs = `${REPAIRABLE}\nMore.\n`;
    world.meanwhile = () => {
      world.put('a.md', theirs);
      world.meanwhile = () => {};
    };
    const { exit, stderr, files } = await world.run('plan', 'check', '--fix', 'a.md', 'b.md');
    expect(exit).toBe(3);
    expect(stderr).toContain('a.md: changed while okstra worked on it');
    expect(files).toEqual({ 'a.md': theirs, 'b.md': REPAIRABLE.replace('| 5 |', '| 2 |') });
  });

  it('says of a file that is no text only that', async () => {
    const outcome = await check({ 'p.md': Uint8Array.of(0xff) }, '--fix', 'p.md');
    expect(outcome.exit).toBe(2);
    expect(outcome.stderr.match(/not UTF-8/g)).toHaveLength(1);
    expect(outcome.files).toEqual({});
  });
});

describe('colour', () => {
  it.each<[string, { terminals?: Stream[]; env?: World['env'] }, string[], boolean]>([
    ['not in a file or pipe', {}, [], false],
    ['in a terminal', { terminals: [1, 2] }, [], true],
    ['not where the report goes elsewhere', { terminals: [1] }, [], false],
    ['not in a dumb terminal', { terminals: [2], env: { TERM: 'dumb' } }, [], false],
    ['not with NO_COLOR', { terminals: [2], env: { NO_COLOR: '1' } }, [], false],
    ['empty NO_COLOR says nothing', { terminals: [2], env: { NO_COLOR: '' } }, [], true],
    ['with FORCE_COLOR', { env: { FORCE_COLOR: '1' } }, [], true],
    ['not with FORCE_COLOR=0', { terminals: [2], env: { FORCE_COLOR: '0' } }, [], false],
    ['NO_COLOR beats FORCE_COLOR', { env: { FORCE_COLOR: '1', NO_COLOR: '1' } }, [], false],
    ['--color beats all', { env: { NO_COLOR: '1' } }, ['--color'], true],
    ['--no-color beats all', { terminals: [2], env: { FORCE_COLOR: '1' } }, ['--no-color'], false],
  ])('%s', async (_name, { terminals = [], env = {} }, args, wanted) => {
    const world = new World({ 'p.md': FAULTY });
    world.terminals = new Set(terminals);
    world.env = env;
    const { stderr } = await world.run('plan', 'check', '--format', 'pretty', ...args, 'p.md');
    expect(stderr.includes('\u001b[')).toBe(wanted);
  });

  it('never in a format for programs', async () => {
    for (const format of ['text', 'json', 'sarif', 'github']) {
      const { stdout, stderr } = await check(
        { 'p.md': FAULTY },
        '--color',
        '--format',
        format,
        'p.md',
      );
      expect(stdout + stderr).not.toContain('\u001b');
    }
  });
});

describe('hostile plans', () => {
  const hostile = FAULTY.replace('Part 1', 'Part \u001b]0;pwned\u0007 \u009b31m\u202e 1');

  it.each(['text', 'pretty'])('steer no terminal: %s', async (format) => {
    const name = 'a\u001b[2J.md';
    const { stdout, stderr } = await check({ [name]: hostile }, '--format', format, name);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it.each(['graph', 'show'])('steer no terminal: plan %s', async (command) => {
    const { stdout, stderr } = await okstra({ 'p.md': hostile }, 'plan', command, 'p.md');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

describe('--watch', () => {
  it('checks again after a change, not after a touch, and ends with the last status', async () => {
    const world = new World({ 'p.md': FAULTY });
    const ended = world.run('plan', 'check', '--watch', 'p.md');
    await world.until('watching', 1);
    world.touch();
    world.put('p.md', GOOD);
    world.touch();
    await world.until('watching', 2);
    world.remove('p.md');
    world.touch();
    await world.until('watching', 3);
    world.put('p.md', FAULTY);
    world.touch();
    await world.until('watching', 4);
    world.interrupt();
    const { exit, stdout, stderr } = await ended;
    expect(exit).toBe(1);
    expect(world.closed).toBe(true);
    expect(stdout.match(/^p\.md: .*\n/gm)).toHaveLength(3);
    const said = 'okstra: watching p.md; Ctrl-C ends\n';
    const faults = (await check({ 'p.md': FAULTY }, 'p.md')).stderr;
    expect(stderr).toBe(
      `${faults}${said}${said}p.md: no such file; check the path\n${said}${faults}${said}`,
    );
  });

  it('sees a change that came before the watch had begun', async () => {
    const world = new World({ 'p.md': FAULTY });
    const { watchFiles } = world;
    world.watchFiles = async function (this: World, ...args) {
      this.put('p.md', GOOD);
      return watchFiles.apply(this, args);
    };
    const ended = world.run('plan', 'check', '--watch', 'p.md');
    await world.until('watching', 2);
    world.interrupt();
    expect((await ended).exit).toBe(0);
  });

  it('empties the screen of a terminal only', async () => {
    const world = new World({ 'p.md': GOOD });
    world.terminals.add(1);
    const ended = world.run('plan', 'check', '--watch', 'p.md');
    await world.until('watching', 1);
    world.interrupt();
    const { stdout } = await ended;
    expect(stdout.startsWith('\u001b[2J\u001b[3J\u001b[Hp.md: ')).toBe(true);
  });

  it('does not take its own repair for a change', async () => {
    const world = new World({ 'p.md': REPAIRABLE });
    const ended = world.run('plan', 'check', '--watch', '--fix', 'p.md');
    await world.until('watching', 1);
    world.touch();
    world.interrupt();
    const { exit, stderr } = await ended;
    expect(exit).toBe(0);
    expect(stderr.match(/watching/g)).toHaveLength(1);
  });
});
