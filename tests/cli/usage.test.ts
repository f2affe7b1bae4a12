import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isNoun, loadAll } from '../../cli-js/src/cli/define.js';
import { parseFast } from '../../cli-js/src/cli/parse.js';
import { commands } from '../../cli-js/src/commands/index.js';
import { parseFully } from '../../cli-js/src/lazy/usage.js';
import packageJson from '../../npm-package/package.json' with { type: 'json' };
import { okstra, World } from './world.js';

const entries = await loadAll(commands);

/** Every command line that leads to a help page. */
const PAGES = [
  [],
  ...Object.entries(entries).flatMap(([name, entry]) =>
    isNoun(entry) ? [[name], ...Object.keys(entry.verbs).map((verb) => [name, verb])] : [[name]],
  ),
];

describe('help', () => {
  it.each(PAGES.map((path) => [['okstra', ...path].join(' '), path]))('%s', async (_name, path) => {
    const asked = await okstra({}, ...path, '--help');
    expect(asked.exit).toBe(0);
    expect(asked.stderr).toBe('');
    expect(asked.stdout).toMatchSnapshot();
    expect(asked.stdout).toContain('Examples:');
    expect(await okstra({}, 'help', ...path)).toEqual(asked);
    expect(await okstra({}, ...path, '-h')).toEqual(asked);
  });

  it('is what okstra alone prints', async () => {
    expect(await okstra({})).toEqual(await okstra({}, '--help'));
  });

  it('keeps to the width of the terminal and is coloured there only', async () => {
    const world = new World();
    world.columns = 60;
    world.terminals.add(1);
    const { stdout } = await world.run('plan', 'graph', '--help');
    expect(stdout).toContain('\u001b[1mUsage:');
    // Examples are command lines and stay whole.
    const [text = ''] = stdout.split('Examples:');
    for (const line of text.split('\n')) {
      expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(60);
    }
    const plain = new World();
    plain.terminals.add(1);
    plain.env = { NO_COLOR: '1' };
    expect((await plain.run('--help')).stdout).not.toContain('\u001b');
  });
});

it.each(['--version', '-V'])('%s prints the version of the package', async (flag) => {
  expect(await okstra({}, flag)).toEqual({
    exit: 0,
    stdout: `${packageJson.version}\n`,
    stderr: '',
    files: {},
  });
});

describe('what is wrong with a command line is one line with the remedy', () => {
  it.each([
    ['pln', "unknown command 'pln' (did you mean plan?); see 'okstra --help'"],
    ['plan', "'plan' needs a command: check, graph, show, diff, approve; see 'okstra plan --help'"],
    ['plan chekc x.md', "unknown command 'chekc' (did you mean check?); see 'okstra plan --help'"],
    ['help plna', "unknown command 'plna' (did you mean plan?); see 'okstra --help'"],
    ['plan grph --help', "unknown command 'grph' (did you mean graph?); see 'okstra plan --help'"],
    ['plan check', "missing required argument 'PLAN'; see 'okstra plan check --help'"],
    [
      'plan check --formt json x.md',
      "unknown option '--formt' (did you mean --format?); see 'okstra plan check --help'",
    ],
    [
      'plan check --format jsno x.md',
      "option '--format <format>' argument 'jsno' is invalid; allowed choices are text, pretty, json, sarif, github; see 'okstra plan check --help'",
    ],
    [
      'plan check --max-steps 0 x.md',
      "option '--max-steps <N>' argument '0' is invalid; it must be a whole number from 1 on; see 'okstra plan check --help'",
    ],
    [
      'plan check --max-steps',
      "option '--max-steps <N>' argument missing; see 'okstra plan check --help'",
    ],
    [
      'plan show a.md b.md',
      "too many arguments for 'show'; expected 1 argument but got 2; see 'okstra plan show --help'",
    ],
    [
      'stage claim plan.md',
      "too many arguments for 'claim'; expected 0 arguments but got 1; name the plan with --plan; see 'okstra stage claim --help'",
    ],
    [
      'completion tcsh',
      "command-argument value 'tcsh' is invalid for argument 'SHELL'; allowed choices are bash, zsh, fish; see 'okstra completion --help'",
    ],
    ['plan check - -', "'-' (standard input) can be given once only; remove the other one"],
    ['plan check --watch -', "--watch cannot follow standard input ('-'); give a file"],
    ['__proto__', "unknown command '__proto__'; see 'okstra --help'"],
    ['plan constructor', "unknown command 'constructor'; see 'okstra plan --help'"],
  ])('okstra %s', async (line, message) => {
    expect(await okstra({}, ...line.split(' '))).toEqual({
      exit: 2,
      stdout: '',
      stderr: `okstra: ${message}\n`,
      files: {},
    });
  });

  it('control characters in it do not reach the terminal', async () => {
    const { stderr } = await okstra({}, 'plan', 'check', '--\u001b[31mred\u0007', 'x.md');
    expect(stderr).toMatch(/^okstra: unknown option '--\[31mred'/);
  });
});

describe('both readers of the command line agree', () => {
  const words = [
    'plan',
    'check',
    'graph',
    'show',
    'approve',
    'completion',
    'bash',
    'a.md',
    'b c.md',
    '-',
    '--',
    '--format',
    '--format=json',
    'json',
    'svg',
    '--max-steps',
    '--max-steps=3',
    '7',
    '-1',
    '--strict',
    '--fix',
    '--watch',
    '--color',
    '--no-color',
    '--no-strict',
    '-o',
    '-oout',
    '--output=x',
    '--stage',
    '2',
    '--json',
    '--dry-run',
    '',
    '-x',
  ];

  it('whatever the fast one accepts, the full one reads the same', () => {
    const random = generator(20);
    const context = { api: () => expect.unreachable(), host: new World(), entries };
    let accepted = 0;
    for (let round = 0; round < 4000; round += 1) {
      const argv = Array.from({ length: 1 + random(5) }, () => words[random(words.length)] ?? '');
      // Two thirds begin with a command, so that enough of them are correct.
      if (round % 3 > 0)
        argv.unshift('plan', ['check', 'graph', 'show', 'approve'][random(4)] ?? '');
      const fast = parseFast(entries, argv);
      if (fast === undefined) continue;
      accepted += 1;
      expect(parseFully(argv, context, '0'), JSON.stringify(argv)).toEqual(fast);
    }
    expect(accepted).toBeGreaterThan(400);
  });

  it('the full one reads spellings the fast one leaves to it', async () => {
    // The last word on colour counts.
    expect(parseFast(entries, ['plan', 'check', '--color', '--no-color', 'a.md'])).toBeUndefined();
    const context = { api: () => expect.unreachable(), host: new World(), entries };
    expect(
      parseFully(['plan', 'check', '--no-color', '--color', 'a.md'], context, '0'),
    ).toMatchObject({ values: { color: true }, args: ['a.md'] });
  });
});

/** A small generator of reproducible numbers below a limit (xorshift). */
function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}
