import { describe, expect, it } from 'vitest';
import { printable } from '../../cli-js/src/cli/talk.js';
import { FAULTY, GOOD, planText, withApproval } from './plans.js';
import { okstra, World } from './world.js';

describe('plan graph', () => {
  const graph = (...args: string[]) => okstra({ 'p.md': GOOD }, 'plan', 'graph', ...args, 'p.md');

  it('draws in the terminal', async () => {
    const { exit, stdout, stderr } = await graph();
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    for (const text of ['wave 1', 'wave 2', 'Parse the input', 'Serve the page', 'critical path']) {
      expect(stdout).toContain(text);
    }
    expect(stdout).not.toContain('\u001b');
    expect(stdout.endsWith('\n') && !stdout.endsWith('\n\n')).toBe(true);
  });

  it('keeps to the width and to the wish for colour', async () => {
    const world = new World({ 'p.md': GOOD });
    world.columns = 44;
    world.terminals.add(1);
    const { stdout } = await world.run('plan', 'graph', '--no-color', 'p.md');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(44);
    expect((await graph('--color')).stdout).toContain('\u001b[');
  });

  it.each([
    ['mermaid', /^flowchart /],
    ['dot', /^digraph /],
    ['svg', /^<svg [^>]*xmlns=/],
  ])('prints %s', async (format, start) => {
    const { exit, stdout } = await graph('--format', format);
    expect(exit).toBe(0);
    expect(stdout).toMatch(start);
    expect(stdout).toContain('Write the report');
    expect(stdout.endsWith('\n')).toBe(true);
  });

  it('says which stages wait for nobody knows what', async () => {
    const world = new World({ 'p.md': GOOD.replace(/\| \(none\) \|/, '| TBD |') });
    const why = 'depends-on cannot be read: 1';
    for (const format of ['terminal', 'svg']) {
      const { stdout } = await world.run('plan', 'graph', '--format', format, 'p.md');
      expect(stdout).toContain(why);
      expect(stdout).toContain('in no wave');
    }
    expect((await world.run('plan', 'show', '--stage', '1', 'p.md')).stdout).toContain(
      'depends on: ?',
    );
  });

  it('never replaces the plan with its picture', async () => {
    const { exit, stderr, files } = await graph('-o', 'p.md');
    expect(exit).toBe(2);
    expect(stderr).toContain('would replace the plan itself');
    expect(files).toEqual({});
  });

  it('prints json', async () => {
    const { stdout } = await graph('--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ waves: [[1], [2, 3]], critical_path: { steps: 5 } });
  });

  it('writes to a file, never in colour', async () => {
    const { stdout, files } = await graph('-o', 'out.svg', '--format', 'svg');
    expect(stdout).toBe('');
    expect(files['out.svg']).toMatch(/^<svg /);
    const world = new World({ 'p.md': GOOD });
    world.terminals.add(1);
    expect(
      (await world.run('plan', 'graph', '-o', 'out.txt', 'p.md')).files['out.txt'],
    ).not.toContain('\u001b');
  });

  it('draws what can be read of a faulty plan, and says so', async () => {
    const { exit, stdout, stderr } = await okstra({ 'p.md': FAULTY }, 'plan', 'graph', 'p.md');
    expect(exit).toBe(1);
    expect(stdout).toContain('Part 2');
    expect(stderr).toBe("p.md: 2 errors; see 'okstra plan check p.md'\n");
  });
});

describe('plan show', () => {
  const wide = planText([
    { title: '計画を読むところを直す長い題名です。とても長いのでここで折り返します', steps: 2 },
    {
      title: 'A title with an emoji 👩‍👩‍👧 and é',
      after: '1',
      files: '`src/とても/長い/道/ファイル.rs`, `b.rs`',
    },
  ]);

  it('shows stages and steps', async () => {
    expect(await okstra({ 'p.md': GOOD }, 'plan', 'show', 'p.md')).toMatchSnapshot();
  });

  it('shows one stage in full', async () => {
    expect(
      await okstra({ 'p.md': GOOD }, 'plan', 'show', '--stage', '2', 'p.md'),
    ).toMatchSnapshot();
  });

  it.each([40, 60, 100])('aligns wide characters within %i columns', async (columns) => {
    const world = new World({ 'p.md': wide });
    world.columns = columns;
    const { stdout } = await world.run('plan', 'show', 'p.md');
    expect(stdout).toMatchSnapshot();
    const { default: stringWidth } = await import('string-width');
    for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  it('prints the plan, or one stage of it, as JSON', async () => {
    const all = await okstra({ 'p.md': GOOD }, 'plan', 'show', '--json', 'p.md');
    expect(JSON.parse(all.stdout).stages).toHaveLength(3);
    const one = await okstra({ 'p.md': GOOD }, 'plan', 'show', '--json', '--stage', '3', 'p.md');
    expect(JSON.parse(one.stdout)).toMatchObject({ stage_number: 3, title: 'Serve the page' });
  });

  it('says which stages there are', async () => {
    expect(await okstra({ 'p.md': GOOD }, 'plan', 'show', '--stage', '4', 'p.md')).toEqual({
      exit: 2,
      stdout: '',
      stderr: 'p.md: no stage 4; there are: 1, 2, 3\n',
      files: {},
    });
  });

  it('shows what can be read of a plan without stages', async () => {
    const { exit, stdout, stderr } = await okstra(
      { 'p.md': '# Nothing\n' },
      'plan',
      'show',
      'p.md',
    );
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: 'no stages\n' });
    expect(stderr).toBe("p.md: 1 error; see 'okstra plan check p.md'\n");
  });
});

describe('plan approve', () => {
  it('ticks the line', async () => {
    expect(await okstra({ 'p.md': withApproval(' ') }, 'plan', 'approve', 'p.md')).toEqual({
      exit: 0,
      stdout: '',
      stderr: 'p.md: approved\n',
      files: { 'p.md': withApproval('x') },
    });
  });

  it('leaves an approved plan as it is', async () => {
    expect(await okstra({ 'p.md': withApproval('x') }, 'plan', 'approve', 'p.md')).toEqual({
      exit: 0,
      stdout: '',
      stderr: 'p.md: approved already\n',
      files: {},
    });
  });

  it('is refused while a clarification blocks it', async () => {
    const { exit, stdout, stderr, files } = await okstra(
      { 'p.md': withApproval(' ', 'open') },
      'plan',
      'approve',
      'p.md',
    );
    expect({ exit, stdout, files }).toEqual({ exit: 3, stdout: '', files: {} });
    expect(stderr).toMatch(/^p\.md:\d+:\d+: A2 .*C-1/);
    const resolved = withApproval(' ', 'resolved');
    expect((await okstra({ 'p.md': resolved }, 'plan', 'approve', 'p.md')).exit).toBe(0);
  });

  it('prints with --dry-run and for -, and writes nothing', async () => {
    const dry = await okstra({ 'p.md': withApproval(' ') }, 'plan', 'approve', '--dry-run', 'p.md');
    expect(dry).toEqual({
      exit: 0,
      stdout: withApproval('x'),
      stderr: 'p.md: would be approved; nothing was written\n',
      files: {},
    });
    const world = new World();
    world.stdin = withApproval(' ');
    expect(await world.run('plan', 'approve', '-')).toEqual({
      exit: 0,
      stdout: withApproval('x'),
      stderr: '<stdin>: approved\n',
      files: {},
    });
  });

  it('is refused where the file has changed meanwhile', async () => {
    const world = new World({ 'p.md': withApproval(' ') });
    world.meanwhile = () => world.put('p.md', 'other');
    const { exit, files } = await world.run('plan', 'approve', 'p.md');
    expect({ exit, files }).toEqual({ exit: 3, files: { 'p.md': 'other' } });
  });
});

describe('what a plan or a file name holds', () => {
  it('is refused an approval that would be text, and says where', async () => {
    const open = `${GOOD}\n## User Approval Request\n\n\`\`\`\ncode\n`;
    const { exit, stderr, files } = await okstra({ 'p.md': open }, 'plan', 'approve', 'p.md');
    expect({ exit, files }).toEqual({ exit: 3, files: {} });
    expect(stderr).toMatch(/^p\.md: cannot be approved: line \d+ .*; close /);
  });

  it('is refused an approval where it is no plan, and told of its errors where it is one', async () => {
    const list = await okstra({ 'p.md': '# Shopping list\n' }, 'plan', 'approve', 'p.md');
    expect(list).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('p.md: no plan: it has no Stage Map; '),
      files: {},
    });
    const faulty = { 'p.md': withApproval(' ').replace('(none)', '7') };
    expect(await okstra(faulty, 'plan', 'approve', 'p.md')).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^p\.md: approved\np\.md: \d+ errors?; see 'okstra plan check p\.md'\n$/,
      ),
    });
  });

  it('cannot steer the terminal through any output, the same set in core and command line', async () => {
    const steering: string[] = [];
    for (let code = 0; code < 0x3000; code++) {
      const char = String.fromCharCode(code);
      if (printable(char) === '') steering.push(char);
    }
    expect(steering).toHaveLength(32 + 33 + 3 + 7 + 4);
    // A pipe, a line end and a NUL would be something else in a table.
    const inCells = steering.filter((char) => !'\0\n\r\u2028\u2029'.includes(char)).join('');
    const plan = GOOD.replace('Parse the input', `Parse${inCells} the input`);
    for (const verb of [
      ['check'],
      ['check', '--format', 'pretty'],
      ['check', '--format', 'json'],
      ['check', '--format', 'sarif'],
      ['check', '--format', 'github'],
      ['graph'],
      ['graph', '--format', 'json'],
      ['graph', '--format', 'mermaid'],
      ['graph', '--format', 'dot'],
      ['graph', '--format', 'svg'],
      ['show'],
      ['show', '--json'],
    ]) {
      const { stdout, stderr } = await okstra({ 'p.md': plan }, 'plan', ...verb, 'p.md');
      const shown = `${stdout}${stderr}`.replaceAll('\n', '');
      expect(printable(shown), verb.join(' ')).toBe(shown);
    }
  });

  it('cannot be a command to a workflow runner', async () => {
    const name = '::error::x.md';
    const { stdout, stderr } = await okstra(
      { [name]: FAULTY, 'p.md': GOOD },
      'plan',
      'check',
      name,
      'p.md',
      'gone.md',
    );
    for (const line of `${stdout}${stderr}`.split('\n')) expect(line).not.toMatch(/^::/);
  });
});

describe('a fault of okstra', () => {
  it('is one line that asks for a report, exit 5', async () => {
    const world = new World({ 'p.md': GOOD });
    world.isTerminal = () => {
      throw new Error('boom\u001b');
    };
    const { exit, stderr } = await world.run('plan', 'graph', 'p.md');
    expect(exit).toBe(5);
    expect(stderr).toBe(
      'okstra: unexpected fault: boom; please report it, with the plan if you can\n',
    );
  });
});
