/** The terminal's front without a terminal: what is asked, and what comes of the answers. */
import { describe, expect, it } from 'vitest';
import type { Prompted } from '../../cli-js/src/host/prompts.js';
import { KEY, project, TASK } from '../cli/stages.js';
import type { World } from '../cli/world.js';

const take = (...values: string[]): Prompted => ({ kind: 'answer', values });
const OTHER = '\0other';

function person(world: World, ...did: Prompted[]): World {
  world.terminals.add(1).add(2);
  world.person.push(...did);
  return world;
}

const asked = (world: World) =>
  world.questions as { label: string; initial: string | string[]; error?: string }[];

describe('okstra wizard', () => {
  it('asks, lets an answer be written by hand, and runs', async () => {
    const world = person(
      project({ 'wishes.md': '# Wishes\n' }),
      take('/desk'),
      take('web'),
      take('pay'),
      take('error-analysis'),
      take(OTHER),
      { kind: 'back' },
      take(OTHER),
      take('wishes.md'),
      // Back to what was written: it is proposed again.
      { kind: 'back' },
      take(OTHER),
      take('wishes.md'),
      take('claude', 'codex'),
      take('none'),
      take(''),
      take('start'),
    );
    const { exit, stdout, stderr, files } = await world.run('wizard', '--language', 'en');
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: ['manifests/run-manifest', 'prompts/launch-prompt']
        .map((name) => `/desk/.okstra/tasks/web/pay/runs/error-analysis/${name}-error-analysis-001`)
        .map((path, at) => `${path}${at === 0 ? '.json' : '.md'}\n`)
        .join(''),
    });
    expect(stderr).toBe(
      'okstra: okstra run --task-type error-analysis --task-group web --task-id pay --project-root /desk --project-id shop --brief /desk/wishes.md --workers claude,codex\n',
    );
    expect(Object.keys(files).some((path) => path.includes('/pay/'))).toBe(true);
    const initial = asked(world)
      .filter(({ label }) => label.startsWith('Is there a brief'))
      .map((question) => question.initial);
    expect(initial).toEqual([['none'], '', ['none'], '', [OTHER], 'wishes.md']);
    expect(world.person).toEqual([]);
  });

  it.each([
    ['at the first question', []],
    ['in the middle', [take('/desk'), take('web')]],
    [
      'at the summary',
      [
        ...['/desk', 'web', 'pay', 'error-analysis', 'none', 'claude', 'none', ''].map((it) =>
          take(it),
        ),
        take('change'),
        { kind: 'back' } as const,
        take('stop'),
      ],
    ],
  ])('stops %s and leaves nothing', async (_where, did) => {
    const world = person(project(), ...did);
    expect(await world.run('wizard', '--language', 'ko')).toEqual({
      exit: 130,
      stdout: '',
      stderr: 'okstra: 중단했습니다. 아무것도 시작하거나 쓰지 않았습니다\n',
      files: {},
    });
    expect(world.person).toEqual([]);
  });

  it('says what is wrong with an answer, safe to show', async () => {
    const manifest = { taskKey: KEY, title: '\u001b[2JLog in', updatedAt: 'never' };
    const world = person(
      project({ [`${TASK}/task-manifest.json`]: JSON.stringify(manifest) }),
      take('/desk'),
      take('new'),
      take('we:b'),
      take('web\u001b'),
      take('web'),
      take('login'),
    );
    expect((await world.run('wizard')).exit).toBe(130);
    const errors = asked(world).flatMap(({ error }) => error ?? []);
    expect(errors).toEqual([
      "it must be without ':'",
      'control characters are not allowed',
      `the task ${KEY} is there already; go back and choose it`,
    ]);
    expect(JSON.stringify(world.questions)).not.toContain('\\u001b');
  });

  it('needs a terminal on both sides', async () => {
    const world = project();
    world.terminals.add(1);
    const { exit, stderr, files } = await world.run('wizard');
    expect({ exit, files }).toEqual({ exit: 2, files: {} });
    expect(stderr).toContain('okstra wizard init --state-file FILE');
  });
});
