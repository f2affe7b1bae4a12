/** Many processes at the same moment: no stage is taken twice, none is lost. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { child } from '../host/children.js';
import {
  chains,
  diamonds,
  free,
  type Graph,
  IN_LAYOUT,
  type Outcome,
  offences,
  Place,
  stagesOf,
  together,
  until,
  upTo,
} from './support.js';

const MANY = 32;

/** A race may take long on a machine that has other things to do. */
const LONG = { timeout: 240_000 };

/**
 * Does something once `count` commands wait for the ledger's lock, so that all of them go on at
 * the same moment.
 */
async function atOnce<T>(place: Place, count: number, starting: () => Promise<T>): Promise<T> {
  const lock = await place.lock();
  const holder = child('hold', lock, 'the gate');
  expect(await holder.answer()).toBe('held');
  const { ino } = statSync(lock);
  const waiting = new RegExp(`-> .*:${ino} `, 'g');
  const all = starting();
  await until(() => (readFileSync('/proc/locks', 'utf8').match(waiting) ?? []).length === count);
  await holder.kill();
  return all;
}

/** The stages that were given, in order; every other process has to be refused without a trace. */
function given(place: Place, outcomes: readonly Outcome[]): number[] {
  const rows = place.rows();
  const ids = new Set(rows.map((row) => row.claim_id));
  const stages = outcomes.flatMap(({ exit, stdout, stderr }) => {
    if (exit === 0) {
      const { stage, claim_id, already_held } = JSON.parse(stdout);
      expect({ already_held, isWritten: ids.delete(claim_id), stderr }).toEqual({
        already_held: false,
        isWritten: true,
        stderr: '',
      });
      return [stage as number];
    }
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' });
    expect(stderr).toMatch(/no stage is ready|--stage \d+ (waits for|already started by)/);
    return [];
  });
  expect(ids).toEqual(new Set());
  expect(rows).toHaveLength(stages.length);
  expect(offences(rows, place.graph)).toEqual([]);
  return stages.sort((a, b) => a - b);
}

/** The stages that wait for nothing. */
function heads(graph: Graph): number[] {
  return upTo(graph.length).filter((stage) => graph[stage - 1]?.length === 0);
}

/** Claims as a session that is named in one of the ways there are, or not at all. */
function claimSomehow(place: Place, n: number, ...more: string[]): Promise<Outcome> {
  const order = n % 4 === 0 ? ['--order', 'critical-path'] : [];
  const words = place.words('claim', n % 3 === 0 ? `s${n}` : '', '--json', ...order, ...more);
  return place.run(words, n % 3 === 1 ? { OKSTRA_SESSION: `s${n}` } : {});
}

describe('32 processes that claim at the same moment', () => {
  // Fifty rounds: 24 on free stages, 18 on chains, 8 for the same stage.
  it('get a different stage each, where 32 are free (24 rounds)', LONG, async () => {
    for (const round of upTo(24)) {
      const place = new Place(free(MANY), round % 2 === 0 ? { name: IN_LAYOUT } : {});
      const start = () => together(MANY, (n) => claimSomehow(place, n));
      const outcomes = round % 4 === 0 ? await atOnce(place, MANY, start) : await start();
      expect(given(place, outcomes)).toEqual(upTo(MANY));
    }
  });

  const shapes = { '8 × 4': chains(8, 4), '4 × 8': chains(4, 8), '8 diamonds': diamonds(8) };

  it.each(Object.entries(shapes))(
    'get the first stages only, where the others wait: %s (6 rounds)',
    LONG,
    async (_name, graph) => {
      for (const round of upTo(6)) {
        const place = new Place(graph);
        const asked = (n: number) => (round % 3 === 0 ? ['--stage', `${n}`] : []);
        const start = () => together(MANY, (n) => claimSomehow(place, n, ...asked(n)));
        const outcomes = round % 2 === 0 ? await atOnce(place, MANY, start) : await start();
        expect(given(place, outcomes)).toEqual(heads(graph));
      }
    },
  );

  it('for one stage have one winner (8 rounds)', LONG, async () => {
    for (const round of upTo(8)) {
      const place = new Place(free(2));
      const start = () => together(MANY, (n) => claimSomehow(place, n, '--stage', '2'));
      const outcomes = round % 2 === 0 ? await atOnce(place, MANY, start) : await start();
      expect(given(place, outcomes)).toEqual([2]);
    }
  });
});

describe('sessions that claim and finish at once, until nothing is left', () => {
  const WORKERS = 8;

  it.each([
    ['8 chains of 4', chains(8, 4)],
    ['2 chains of 12', chains(2, 12)],
    ['8 diamonds', diamonds(8)],
  ])('build every stage once and after what it depends on: %s', LONG, async (_name, graph) => {
    const place = new Place(graph);
    const built = await together(WORKERS, async (n) => {
      const order = n % 2 === 0 ? 'critical-path' : 'number';
      const stages: number[] = [];
      for (;;) {
        const before = place.rows().length;
        const { exit, stdout, stderr } = await place.claim(`s${n}`, '--order', order);
        if (exit === 0) {
          const { stage } = JSON.parse(stdout);
          stages.push(stage);
          expect(await place.done(`s${n}`, stage)).toMatchObject({ exit: 0 });
        } else if (/every stage is already done/.test(stderr)) {
          return stages;
        } else {
          expect({ exit, stderr }).toEqual({
            exit: 3,
            stderr: expect.stringContaining('no stage is ready'),
          });
          await until(() => place.rows().length !== before);
        }
      }
    });
    const all = upTo(graph.length);
    expect(built.flat().sort((a, b) => a - b)).toEqual(all);
    const rows = place.rows();
    expect(offences(rows, graph)).toEqual([]);
    expect(rows).toHaveLength(2 * graph.length);
    expect(stagesOf(rows, 'done')).toEqual(all);
    expect(readdirSync(place.carry).sort()).toEqual(all.map((n) => `stage-${n}.json`).sort());
    expect((await place.list()).map((it) => it.state)).toEqual(all.map(() => 'done'));
  });
});

describe('paths that lead to one plan', () => {
  it.each(['p.md', IN_LAYOUT])('are one lock and one ledger: %s', LONG, async (name) => {
    const place = new Place(free(MANY), { name });
    const links = [
      join(place.root, 'linked', name),
      join(place.root, 'linked file.md'),
      join(place.root, 'project', '..', 'linked', '..', 'project', name),
    ];
    symlinkSync('project', join(place.root, 'linked'));
    symlinkSync(place.plan, join(place.root, 'linked file.md'));
    const ways = [place.plan, ...links];
    const outcomes = await together(MANY, (n) => {
      const plan = ways[n % ways.length] ?? '';
      return place.run(['stage', 'claim', '--plan', plan, '--no-worktree', '--json']);
    });
    expect(given(place, outcomes)).toEqual(upTo(MANY));
    expect(readdirSync(join(place.home, 'locks'))).toHaveLength(1);
    const ledgers = readdirSync(join(place.root, 'project'), { recursive: true }) as string[];
    expect(ledgers.filter((path) => basename(path) === 'consumers.jsonl')).toHaveLength(1);
  });

  it('are one lock also for sessions with folders of okstra of their own', LONG, async () => {
    const place = new Place(free(16));
    const outcomes = await together(MANY, (n) =>
      place.run(['stage', 'claim', '--plan', place.plan, '--no-worktree', '--json'], {
        OKSTRA_HOME: join(place.root, `home ${n}`),
      }),
    );
    expect(given(place, outcomes)).toEqual(upTo(16));
  });

  it('are one lock also where the ledger itself is a link', LONG, async () => {
    const place = new Place(free(16));
    const other = join(place.root, 'project', 'copy.md');
    writeFileSync(other, readFileSync(place.plan));
    writeFileSync(join(place.root, 'project', 'rows.jsonl'), '');
    for (const plan of [place.plan, other]) {
      mkdirSync(`${plan}.okstra`);
      symlinkSync(join(place.root, 'project', 'rows.jsonl'), `${plan}.okstra/consumers.jsonl`);
    }
    const outcomes = await together(16, (n) => {
      const plan = n % 2 === 0 ? other : place.plan;
      return place.run(['stage', 'claim', '--plan', plan, '--no-worktree', '--json']);
    });
    expect(given(place, outcomes)).toEqual(upTo(16));
    expect(readdirSync(join(place.home, 'locks'))).toHaveLength(1);
  });
});

describe('16 processes that append at the same moment', () => {
  const SIXTEEN = 16;

  /** What they answered: so many times each. */
  function counted(outcomes: readonly Outcome[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { exit, stdout } of outcomes) {
      const key = `${exit} ${stdout.split('\n', 1)[0]}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  it('lose no row and tear none: claim, done, release, verify and pr', LONG, async () => {
    for (const round of upTo(2)) {
      const place = new Place(free(SIXTEEN));
      const report = join(place.root, 'project', 'report.md');
      writeFileSync(report, 'accepted\n');
      // Stages 1 to 8 are taken by sessions of their number, 5 to 8 are done.
      await together(8, (n) => place.claim(`s${n}`, '--stage', `${n}`));
      await together(4, (n) => place.done(`s${n + 4}`, n + 4));
      expect(place.rows()).toHaveLength(12);
      const work = (n: number): Promise<Outcome> => {
        if (n <= 2) return place.run(place.words('release', `s${n}`, '--reason', 'ö\n"x"'));
        if (n <= 4) return place.done(`s${n}`, n);
        const stage = ['--stage', `${5 + (n % 4)}`];
        if (n <= 8) return place.run(place.words('verify', '', ...stage, '--report', report));
        if (n <= 12) return place.run(place.words('pr', '', ...stage, '--number', `${n}`));
        return place.claim(`t${n}`, '--stage', `${n}`);
      };
      const start = () => together(SIXTEEN, work);
      const outcomes = round % 2 === 0 ? await atOnce(place, SIXTEEN, start) : await start();
      expect(outcomes.map(({ exit, stderr }) => (exit === 0 ? 0 : stderr))).toEqual(
        Array(SIXTEEN).fill(0),
      );
      const rows = place.rows();
      expect(offences(rows, place.graph)).toEqual([]);
      expect(rows).toHaveLength(12 + SIXTEEN);
      expect(stagesOf(rows, 'started')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 16]);
      expect(stagesOf(rows, 'done')).toEqual([3, 4, 5, 6, 7, 8]);
      expect(stagesOf(rows, 'released')).toEqual([1, 2]);
      expect(stagesOf(rows, 'verified')).toEqual([5, 6, 7, 8]);
      expect(stagesOf(rows, 'pr')).toEqual([5, 6, 7, 8]);
    }
  });

  it('of one session hold one claim', LONG, async () => {
    const place = new Place(free(SIXTEEN));
    const outcomes = await atOnce(place, SIXTEEN, () => together(SIXTEEN, () => place.claim('s')));
    const answers = outcomes.map(({ stdout }) => JSON.parse(stdout));
    expect(new Set(answers.map(({ stage, claim_id }) => `${stage} ${claim_id}`)).size).toBe(1);
    expect(answers.filter((it) => !it.already_held)).toHaveLength(1);
    expect(place.rows()).toHaveLength(1);
  });

  it('say the same thing once', LONG, async () => {
    const place = new Place(free(2));
    await place.claim('s');
    const all = (work: () => Promise<Outcome>) =>
      atOnce(place, SIXTEEN, () => together(SIXTEEN, work));
    expect(counted(await all(() => place.done('s', 1)))).toEqual({
      '0 stage 1 is done': 1,
      '0 stage 1 was done already': SIXTEEN - 1,
    });
    const report = join(dirname(place.plan), 'report.md');
    writeFileSync(report, 'accepted\n');
    const verify = place.words('verify', '', '--stage', '1', '--report', report);
    expect(counted(await all(() => place.run(verify)))).toEqual({
      '0 stage 1: accepted': 1,
      '0 stage 1: accepted already': SIXTEEN - 1,
    });
    await place.claim('s');
    expect(
      counted(await all(() => place.run(place.words('release', 's', '--stage', '2')))),
    ).toEqual({ '0 stage 2: released': 1, '3 ': SIXTEEN - 1 });
    const statuses = place.rows().map((row) => row.status);
    expect(statuses).toEqual(['started', 'done', 'verified', 'started', 'released']);
  });
});
