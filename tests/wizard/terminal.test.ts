/** The wizard in a real terminal: keys are pressed and the screen is read. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import stringWidth from 'string-width';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../scenarios/project.js';
import { LEDGER, PLAN, shop, Terminal } from './support.js';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));
const WIZARD = `'${process.execPath}' '${BIN}' wizard`;

let project: Project;
let terminal: Terminal | undefined;
beforeEach(() => {
  project = shop();
});
afterEach(() => {
  terminal?.close();
  project.remove();
});

function open(columns: number, args = '--language en'): Terminal {
  terminal = new Terminal(project, columns, `${WIZARD} ${args}`);
  return terminal;
}

/** What is on the disk beside the repository itself. */
const everything = () =>
  readdirSync(project.folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('shop/.git/'))
    .sort();

/** Presses Enter and waits for the next question. */
async function enter(on: Terminal, next: string): Promise<string> {
  on.keys('Enter');
  return on.asks(next);
}

/** No line is wider than the terminal, and no letter is cut in two. */
function fits(screen: string, columns: number): void {
  for (const line of screen.split('\n')) {
    expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    expect(line).not.toContain('\ufffd');
  }
}

describe.each([80, 40])('okstra wizard in %i columns', (columns) => {
  it('goes from the project to the run with a few keys', async () => {
    const on = open(columns);
    await on.until('Which project?');
    await enter(on, 'Which task?');
    // The search finds letters of any width.
    on.type('로그인');
    fits(await on.until('(1/3)'), columns);
    await enter(on, 'What is to be done?');
    await enter(on, 'Which branch does the task start');
    await enter(on, 'Which plan?');
    await enter(on, 'Approve it now?');
    const stages = await enter(on, 'Which stage is to be built?');
    fits(stages, columns);
    const flat = stages.replace(/\s+/g, '');
    for (const part of [
      '●auto:',
      '1:Parsetheinput[depends-on:(none)|steps:2]',
      '-2:Writethereport',
      '(waitsfor1)',
      '한글제목과이모지🔑을함께쓰는스테이지',
      'Nastyverylong',
    ]) {
      expect(flat).toContain(part);
    }
    // What cannot be chosen is passed over by the arrows.
    on.keys('Down', 'Down');
    const down = await on.until('● 3:');
    fits(down, columns);
    await enter(on, 'Which program builds');
    on.type('gem');
    await on.until('(1/3)');
    await enter(on, 'Which program reviews');
    await enter(on, 'Which models?');
    on.type('gemini=pro');
    await on.until('gemini=pro');
    await enter(on, 'Which other tasks');
    on.keys('Tab');
    await on.until('◼ shop:web:logout');
    const summary = await enter(on, 'Start this run?');
    fits(summary, columns);
    expect(summary).toContain('Stage: 3');
    expect(everything().filter((path) => path.startsWith('home'))).toEqual([]);
    on.keys('Enter');
    const ran = await on.until('exit 0');
    expect(ran.replace(/\n/g, '')).toContain('selected stage: 3');
    // The terminal is as it was.
    expect(await on.until('icanon')).not.toContain('-icanon');
    const rows = project.rows();
    expect(rows).toMatchObject([{ stage: 3, status: 'started' }]);
    const manifest = project.json<{ inputs: object }>(
      '.okstra/tasks/web/login/runs/implementation/stage-3/manifests/run-manifest-implementation-001.json',
    );
    expect(manifest.inputs).toEqual({
      executor: 'gemini',
      models: { gemini: 'pro' },
      relatedTasks: ['shop:web:logout'],
    });
  });

  it('stops at Ctrl-C and leaves nothing behind', async () => {
    const before = everything();
    const on = open(columns, '--language ko');
    await on.until('어느 프로젝트인가요?');
    await enter(on, '어느 작업인가요?');
    fits(on.screen(), columns);
    on.keys('C-c');
    const screen = await on.until('exit 130');
    expect(screen.replace(/\s/g, '')).toContain('아무것도시작하거나쓰지않았습니다');
    expect(await on.until('icanon')).not.toContain('-icanon');
    expect(everything()).toEqual(before);
  });
});

describe('okstra wizard in a terminal', () => {
  it('goes back, changes an answer from the summary, and only prints the command', async () => {
    const on = open(100, `--language en --project-root '${project.root}'`);
    await on.until('Which task?');
    on.type('logout');
    await on.until('(1/3)');
    await enter(on, 'What is to be done?');
    on.keys('Escape');
    await on.asks('Which task?');
    await enter(on, 'What is to be done?');
    on.type('error-an');
    await on.until('(1/7)');
    await enter(on, 'Is there a brief');
    on.type('written by hand');
    await on.until('(1/');
    on.keys('Enter');
    await on.gone('Search:');
    on.type('nothing.md');
    await on.until('nothing.md');
    await enter(on, 'there is no file nothing.md');
    on.type('written by hand');
    await on.until('(1/');
    on.keys('Enter');
    await on.gone('Search:');
    on.type('brief.md');
    await on.until('brief.md');
    await enter(on, 'Which programs work on it?');
    await enter(on, 'Which program reviews');
    await enter(on, 'Which models?');
    await enter(on, 'Which other tasks');
    await enter(on, 'Start this run?');
    on.type('change');
    await on.until('(1/4)');
    await enter(on, 'Which answer?');
    on.type('Critic');
    await on.until('(1/');
    await enter(on, 'Which program reviews');
    on.type('codex');
    await on.until('(1/4)');
    // The models depend on it.
    await enter(on, 'Which models?');
    const summary = await enter(on, 'Critic: codex');
    expect(summary).toContain('Brief: brief.md');
    on.type('only print');
    await on.until('(1/4)');
    on.keys('Enter');
    const screen = await on.until('exit 0');
    const printed = screen.replace(/\n/g, '');
    expect(printed).toContain(
      'okstra run --task-type error-analysis --task-group web --task-id logout',
    );
    expect(printed).toContain('--critic codex');
    expect(existsSync(join(project.root, dirname(LEDGER), 'consumers.jsonl'))).toBe(false);
    expect(project.read(PLAN)).toContain('- [ ] Approved');
  });

  it('asks anew what somebody else has taken meanwhile', async () => {
    await project.okstra('plan', 'approve', PLAN);
    const on = open(100, `--language en --project-root '${project.root}'`);
    await on.until('Which task?');
    await enter(on, 'What is to be done?');
    await enter(on, 'Which branch');
    await enter(on, 'Which plan?');
    await enter(on, 'Which stage');
    on.keys('Down');
    await on.until('● 1:');
    await enter(on, 'Which program builds');
    await enter(on, 'Which program reviews');
    await enter(on, 'Which models?');
    await enter(on, 'Which other tasks');
    await enter(on, 'Start this run?');
    const taken = await project.okstra(
      'stage',
      'claim',
      '--plan',
      PLAN,
      '--stage',
      '1',
      '--no-worktree',
    );
    expect(taken.exit).toBe(0);
    on.keys('Enter');
    const screen = await on.until('does not hold any more');
    expect(screen.replace(/\s+/g, ' ')).toContain("'1' cannot be chosen: running");
    on.keys('C-d');
    await on.until('exit 130');
    expect(project.rows()).toHaveLength(1);
  });

  it('keeps the answers when a file cannot be read, and asks again', async () => {
    const own = '.okstra/project.json';
    const id = project.read(own);
    project.write(own, '{');
    const on = open(100);
    const first = await on.until('Which project?');
    expect(first.replace(/\s+/g, ' ')).toMatch(/a project is left out: .*project\.json:1:2: /);
    project.write(own, id);
    on.type(project.root);
    await enter(on, 'Which task?');
    await enter(on, 'What is to be done?');
    await enter(on, 'Which branch');
    const manifest = '.okstra/tasks/web/login/task-manifest.json';
    const whole = project.read(manifest);
    project.write(manifest, '{');
    await enter(on, 'task-manifest.json');
    expect(await on.asks('Which branch')).not.toContain('exit ');
    project.write(manifest, whole);
    await enter(on, 'Which plan?');
    on.keys('C-d');
    await on.until('exit 130');
  });
});
