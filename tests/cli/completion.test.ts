/** The completion scripts in the shells themselves. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { okstra } from './world.js';

let folder: string;
let home: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'okstra-completion-'));
  home = mkdtempSync(join(tmpdir(), 'okstra-home-'));
  mkdirSync(join(folder, 'docs'));
  for (const name of ['plan one.md', 'notes.txt', 'docs/deep.md', 'planning.markdown']) {
    writeFileSync(join(folder, name), '');
  }
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, exit } = await okstra({}, 'completion', shell);
    expect(exit).toBe(0);
    writeFileSync(join(folder, `.script.${shell}`), stdout);
  }
});

afterAll(() => {
  for (const path of [folder, home]) rmSync(path, { recursive: true });
});

function run(command: string, args: string[], input = ''): string {
  const { stdout, stderr, error, status } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    input,
    timeout: 30_000,
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, LC_ALL: 'C.UTF-8' },
  });
  expect(error).toBeUndefined();
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

/** What bash offers for words, the last of which is being typed. */
function bash(...words: string[]): string[] {
  const out = run('bash', [
    '--norc',
    '-c',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash reads it
    'source .script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _okstra; printf "%s\\n" "${COMPREPLY[@]}"',
    'bash',
    'okstra',
    ...words,
  ]);
  return out.split('\n').filter((line) => line !== '');
}

/** What fish offers for a line. */
function fish(line: string): string[] {
  const out = run('fish', ['--no-config', '-c', `source .script.fish; complete -C '${line}'`]);
  return out
    .split('\n')
    .filter((entry) => entry !== '')
    .map((entry) => entry.split('\t')[0] ?? '');
}

/** What zsh offers for a line, read from the list it shows in a terminal of its own. */
function zsh(line: string): string {
  const script = String.raw`
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; autoload -Uz compinit; compinit -D -u; source ./.script.zsh"
zpty -w z "zstyle ':completion:*' list-prompt ''; zstyle ':completion:*' menu no; LISTMAX=1000"
zpty -w z "bindkey '^I' list-choices; stty -echo rows 60; LINES=60; print -r -- READY''NOW"
zpty -r z seen '*READYNOW*'
zpty -w -n z "$1"$'\t'
# The list has come when more than the typed line is there and nothing follows for a while.
local out= part= quiet=0 rounds=0
while (( quiet < 6 && rounds++ < 150 )); do
  if zpty -r -t z part; then
    out+=$part quiet=0
  else
    (( $#out > 3 * $#1 )) && (( quiet++ ))
    sleep 0.1
  fi
done
print -r -- "$out"
zpty -d z
`;
  return stripVTControlCharacters(run('zsh', ['-f', '-c', script, 'zsh', line]));
}

/** What stands at the first place of a command line. */
const NAMES = [
  ...['plan', 'stage', 'ledger', 'worktree', 'handoff', 'hook', 'run', 'wizard'],
  ...[
    'outcome',
    'task',
    'report',
    'install',
    'uninstall',
    'doctor',
    'progress',
    'panes',
    'team',
    'wrap-up',
    'dispatch',
    'tokens',
    'container',
    'preview',
  ],
  'completion',
];

describe('bash', () => {
  it.each([
    [[''], [...NAMES, 'help']],
    [['pl'], ['plan']],
    [
      ['stage', ''],
      ['next', 'claim', 'done', 'release', 'verify', 'pr', 'list', 'show'],
    ],
    [
      ['ledger', ''],
      ['show', 'check', 'repair', 'heads'],
    ],
    [['stage', 'claim', '--no-w'], ['--no-worktree']],
    [
      ['stage', 'verify', '--verdict', ''],
      ['accepted', 'conditional-accept', 'blocked'],
    ],
    [['stage', 'next', '--order', 'c'], ['critical-path']],
    [
      ['run', '--ap'],
      ['--approve', '--approved-plan'],
    ],
    [['--'], ['--help', '--version']],
    [
      ['plan', ''],
      ['check', 'graph', 'show', 'diff', 'approve'],
    ],
    [
      ['help', ''],
      [...NAMES, 'help'],
    ],
    [['help', 'plan', 'g'], ['graph']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['plan', 'check', '--ma'], ['--max-steps']],
    [
      ['plan', 'check', '--format', ''],
      ['text', 'pretty', 'json', 'sarif', 'github'],
    ],
    [['plan', 'graph', '--format', '=', 's'], ['svg']],
    [
      ['plan', 'graph', '--format', '='],
      ['terminal', 'mermaid', 'dot', 'json', 'svg'],
    ],
    [['plan', 'check', '--max-steps', ''], []],
    [
      ['plan', 'check', 'pl'],
      ['plan one.md', 'planning.markdown'],
    ],
    [['plan', 'check', '--strict', 'docs/'], ['docs/deep.md']],
    [['plan', 'graph', '-o', 'no'], ['notes.txt']],
  ])('okstra %j', (words, wanted) => {
    expect(bash(...words).sort()).toEqual([...wanted].sort());
  });

  it('offers folders and Markdown files for a plan, nothing else', () => {
    expect(bash('plan', 'show', '').sort()).toEqual(['docs', 'plan one.md', 'planning.markdown']);
  });
});

describe('fish', () => {
  it.each([
    ['okstra ', [...NAMES, 'help']],
    ['okstra pl', ['plan']],
    ['okstra stage ', ['next', 'claim', 'done', 'release', 'verify', 'pr', 'list', 'show']],
    ['okstra stage next --order ', ['number', 'critical-path']],
    ['okstra run --render', ['--render-only']],
    ['okstra plan ', ['check', 'graph', 'show', 'diff', 'approve']],
    ['okstra help ', NAMES],
    ['okstra help plan g', ['graph']],
    ['okstra completion ', ['bash', 'zsh', 'fish']],
    ['okstra plan check --ma', ['--max-steps']],
    ['okstra plan check --format ', ['text', 'pretty', 'json', 'sarif', 'github']],
    ['okstra plan graph --format=s', ['--format=svg']],
    ['okstra plan graph -o no', ['notes.txt']],
  ])('%s', (line, wanted) => {
    expect(fish(line).sort()).toEqual([...wanted].sort());
  });

  it('offers Markdown files first', () => {
    expect(fish('okstra plan check p')[0]).toBe('plan one.md');
  });
});

describe('zsh', () => {
  it.each([
    ['okstra ', [...NAMES, 'Check, draw, show, compare and approve plans']],
    ['okstra ledger ', ['show', 'check', 'repair', 'heads', 'List what is wrong with a ledger']],
    ['okstra stage claim --', ['--task-key', '--no-worktree', '--reclaim']],
    ['okstra plan ', ['check', 'graph', 'show', 'diff', 'approve']],
    ['okstra help plan ', ['check', 'graph', 'show', 'diff', 'approve']],
    ['okstra completion ', ['bash', 'zsh', 'fish']],
    ['okstra plan check --', ['--max-steps', '--no-color', 'use no colour', '--require-approval']],
    ['okstra plan check --format ', ['text', 'pretty', 'json', 'sarif', 'github']],
    ['okstra plan graph --format=', ['terminal', 'mermaid', 'dot', 'json', 'svg']],
    ['okstra plan check --strict ', ['docs/', 'plan\\ one.md', 'planning.markdown']],
  ])('%s', (line, wanted) => {
    const shown = zsh(line);
    for (const word of wanted) expect(shown).toContain(word);
    expect(shown).not.toContain('notes.txt');
  });
});
