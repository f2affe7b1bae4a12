/** Claims that live and die: whose they are, who may take them, and whom the fence keeps out. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  BIN,
  free,
  IN_LAYOUT,
  type Listed,
  type Outcome,
  offences,
  Place,
  type Row,
  Shell,
  start,
  together,
} from './support.js';

/** A session: a process that stays, and starts one command after the other. */
class Session extends Shell {
  readonly #place: Place;
  readonly #name: string;

  constructor(place: Place, name: string) {
    super(place.root, { OKSTRA_HOME: place.home });
    this.#place = place;
    this.#name = name;
  }

  claim(...more: string[]): Promise<Outcome> {
    return this.run(this.#place.words('claim', this.#name, '--json', ...more));
  }
}

/** Runs a line in a shell that knows the command by its name. */
function shell(place: Place, line: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const folder = join(place.root, 'bin');
  if (!existsSync(folder)) {
    mkdirSync(folder);
    symlinkSync(BIN, join(folder, 'okstra'));
  }
  const path = `${folder}:${dirname(process.execPath)}:${process.env.PATH}`;
  return start('sh', ['-c', line], {
    cwd: '/',
    env: { OKSTRA_HOME: place.home, PATH: path, ...env },
  }).end;
}

/** A stage as it is listed. */
async function listed(place: Place, stage = 1): Promise<Listed> {
  const found = (await place.list()).find((it) => it.stage === stage);
  if (found === undefined) throw new Error(`stage ${stage} is not listed`);
  return found;
}

async function lifeOf(place: Place, stage = 1): Promise<string | undefined> {
  return (await listed(place, stage)).claim?.life;
}

/** A time so many minutes ago. */
function minutesAgo(minutes: number): Date {
  return new Date(Date.now() - minutes * 60_000);
}

/** Claims stage 1 and changes what the ledger says of it. */
async function claimedAs(place: Place, change: Partial<Row>, as = 'old'): Promise<Row> {
  expect(await place.claim(as, '--stage', '1')).toMatchObject({ exit: 0 });
  const [row] = place.rows();
  const changed = { ...row, ...change } as Row;
  writeFileSync(place.ledger, `${JSON.stringify(changed)}\n`);
  // The claim itself was a sign of life.
  rmSync(join(place.home, 'sessions'), { recursive: true, force: true });
  return changed;
}

/** The command is refused for the reason, and no file is another than before. */
async function refused(place: Place, command: () => Promise<Outcome>, why: RegExp): Promise<void> {
  const before = place.state();
  const { exit, stdout, stderr } = await command();
  expect({ exit, stdout, stderr }).toEqual({
    exit: 3,
    stdout: '',
    stderr: expect.stringMatching(why),
  });
  expect(place.state()).toEqual(before);
}

/** The number of no process: the highest there is. */
const NOBODY = 2 ** 22;

describe('a session that was killed', () => {
  it.each(['plan.md', IN_LAYOUT, 'it\'s my "plan" $HOME `id` \\ & ü.md', '-rf; echo #*?.md'])(
    'is shown as dead with the command that frees its stage: %s',
    async (name) => {
      const place = new Place(free(2), { name });
      const session = new Session(place, 'old');
      expect(await session.claim()).toMatchObject({ exit: 0, stderr: '' });
      expect(place.rows()).toMatchObject([{ stage: 1, session: 'old', pid: session.pid }]);
      expect(await listed(place)).toMatchObject({
        state: 'running',
        claim: { session: 'old', life: 'live', free_with: null },
      });
      await session.kill();
      const { state, claim } = await listed(place);
      expect({ state, life: claim?.life }).toEqual({ state: 'running', life: 'dead' });

      const freed = await shell(place, claim?.free_with ?? '', { OKSTRA_SESSION: 'new' });
      expect(freed).toMatchObject({ exit: 0 });
      expect(freed.stdout).toMatch(/^selected stage: 1\n/);
      const rows = place.rows();
      expect(rows).toMatchObject([
        { status: 'started', session: 'old' },
        {
          status: 'released',
          claim_id: claim?.claim_id,
          reason: expect.stringMatching(/old.*gone/),
        },
        { status: 'started', session: 'new' },
      ]);
      expect(offences(rows, place.graph)).toEqual([]);
      expect(await listed(place)).toMatchObject({ claim: { session: 'new', life: 'live' } });
    },
  );

  it('is told to who is refused, with the command that frees its stage', async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    await session.claim();
    await session.kill();
    const free_with = (await listed(place)).claim?.free_with ?? 'none';
    const { stderr, exit } = await place.claim('new');
    expect(exit).toBe(3);
    expect(stderr).toMatch(/session old on .* is dead/);
    expect(stderr).toContain(free_with);
  });

  it('loses its stage to one of many', { timeout: 120_000 }, async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    await session.claim();
    await session.kill();
    const outcomes = await together(16, (n) => place.claim(`s${n}`, '--reclaim'));
    expect(outcomes.filter(({ exit }) => exit === 0)).toHaveLength(1);
    expect(outcomes.filter(({ exit }) => exit === 3)).toHaveLength(15);
    const rows = place.rows();
    expect(rows.map((row) => row.status)).toEqual(['started', 'released', 'started']);
    expect(offences(rows, place.graph)).toEqual([]);
  });

  it('may have its stage released by anybody', async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    await session.claim();
    await session.kill();
    expect(await place.run(place.words('release', 'new', '--stage', '1'))).toMatchObject({
      exit: 0,
    });
    expect(place.rows()[1]).toMatchObject({
      status: 'released',
      reason: expect.stringMatching(/old.*dead/),
    });
    expect(await place.claim('new')).toMatchObject({ exit: 0 });
  });
});

describe('a session that lives', () => {
  it('keeps its stage: no claim, no release and no done of others touches it', async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    await session.claim();
    const id = place.rows()[0]?.claim_id ?? '';
    const others = [['new'], ['', '--claim-id', 'aaaaaaaaaaaa']] as const;
    for (const [as, ...more] of others) {
      await refused(place, () => place.claim(as, ...more), /no stage is ready/);
      await refused(place, () => place.claim(as, ...more, '--reclaim'), /no stage is ready/);
      const wish = ['--stage', '1', '--reclaim'];
      await refused(place, () => place.claim(as, ...more, ...wish), /already started by/);
      for (const force of [[], ['--force']]) {
        const words = place.words('release', as, '--stage', '1', ...more, ...force);
        await refused(place, () => place.run(words), /session old on .* is live/);
      }
      await refused(place, () => place.done(as, 1, ...more), /session old on .* holds it now/);
    }
    // Whoever says nothing of itself and is another process is asked who it is.
    await refused(place, () => place.done('', 1), /claimed by session old .* that this is you/);
    expect(await place.done('', 1, '--claim-id', id)).toMatchObject({ exit: 0 });
  });

  it('may be stopped for a while', async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    await session.claim();
    process.kill(session.pid, 'SIGSTOP');
    expect(await lifeOf(place)).toBe('live');
    await refused(place, () => place.claim('new', '--reclaim'), /no stage is ready/);
    process.kill(session.pid, 'SIGCONT');
  });

  it('is answered with the claim it holds, whichever way it is named', async () => {
    const place = new Place(free(3));
    const first = JSON.parse((await place.claim('s')).stdout);
    expect(first).toMatchObject({ stage: 1, already_held: false });
    const words = place.words('claim', '', '--json');
    const ways = [
      place.claim('s'),
      place.claim('s', '--stage', '1'),
      place.claim('s', '--order', 'critical-path'),
      place.claim('s', '--reclaim'),
      place.run(words, { OKSTRA_SESSION: 's' }),
      place.run(words, { CLAUDE_CODE_SESSION_ID: 's' }),
      place.run(words, { OKSTRA_SESSION: 's', CLAUDE_CODE_SESSION_ID: 'other' }),
      place.run(place.words('claim', 's', '--json'), { OKSTRA_SESSION: 'other' }),
    ];
    for (const outcome of await Promise.all(ways)) {
      expect(JSON.parse(outcome.stdout)).toMatchObject({
        stage: 1,
        claim_id: first.claim_id,
        already_held: true,
      });
    }
    expect(place.rows()).toHaveLength(1);
    // A second stage has to be asked for by its number.
    expect(JSON.parse((await place.claim('s', '--stage', '3')).stdout)).toMatchObject({ stage: 3 });
    expect(await place.run(place.words('release', 's'))).toMatchObject({ exit: 2 });
    expect(place.rows()).toHaveLength(2);
  });

  it('without a name is another one with every claim', async () => {
    const place = new Place(free(3));
    const outcomes = [await place.claim(''), await place.claim(''), await place.claim('')];
    expect(outcomes.map(({ stdout }) => JSON.parse(stdout).stage)).toEqual([1, 2, 3]);
  });

  it('may finish and release by the name or the claim in its environment', async () => {
    const place = new Place(free(3));
    const claim = await place.run(place.words('claim', '', '--json'), { OKSTRA_SESSION: 's' });
    expect(place.rows()).toMatchObject([{ stage: 1, session: 's' }]);
    const done = place.words('done', '', '--evidence', place.evidence(1));
    expect(claim.exit).toBe(0);
    expect(await place.run(done, { OKSTRA_SESSION: 's' })).toMatchObject({
      exit: 0,
      stdout: 'stage 1 is done\n',
    });
    const { claim_id } = JSON.parse((await place.claim('')).stdout);
    const release = place.words('release');
    expect(await place.run(release, { OKSTRA_CLAIM_ID: claim_id })).toMatchObject({
      exit: 0,
      stdout: 'stage 2: released\n',
    });
  });
});

describe('a session that goes on in a new process', () => {
  it('keeps the stage it claims again, though its old process is gone', async () => {
    const place = new Place(free(1));
    const before = new Session(place, 'old');
    await before.claim();
    await before.kill();
    expect(await lifeOf(place)).toBe('dead');
    const after = new Session(place, 'old');
    const { stdout } = await after.claim();
    expect(JSON.parse(stdout)).toMatchObject({ stage: 1, already_held: true });
    expect(await lifeOf(place)).toBe('live');
    expect(offences(place.rows(), place.graph)).toEqual([]);
    await refused(place, () => place.claim('new', '--reclaim'), /no stage is ready/);
    expect(await place.done('old', 1)).toMatchObject({ exit: 0 });
  });
});

describe('the number of a process', () => {
  /** The start of a process a little earlier or later. */
  const other = (start: unknown) =>
    String(start).replace(/\d+$/, (ticks) => `${Number(ticks) - 1}`);

  it('that belongs to another program by now is no sign of life', async () => {
    const place = new Place(free(1));
    const row = await claimedAs(place, {});
    expect(await lifeOf(place)).toBe('live');
    writeFileSync(place.ledger, `${JSON.stringify({ ...row, pid_start: other(row.pid_start) })}\n`);
    expect(await lifeOf(place)).toBe('dead');
    expect(await place.claim('new', '--reclaim')).toMatchObject({ exit: 0 });
  });

  it('of a living stranger with the start of the session is dead', async () => {
    const place = new Place(free(1));
    const stranger = new Session(place, 'stranger');
    const row = await claimedAs(place, { pid: stranger.pid });
    expect(row.pid).not.toBe(process.pid);
    expect(await lifeOf(place)).toBe('dead');
  });

  it('of nobody is dead, without a start as well', async () => {
    const place = new Place(free(1));
    const row = await claimedAs(place, { pid: NOBODY });
    expect(await lifeOf(place)).toBe('dead');
    const { pid_start: _, ...bare } = row;
    writeFileSync(place.ledger, `${JSON.stringify(bare)}\n`);
    expect(await lifeOf(place)).toBe('dead');
  });
});

describe('a session whose stage was taken while it slept', () => {
  /** Stage 1 is claimed by `old`, which dies, and reclaimed by `new`. */
  async function taken() {
    const place = new Place(free(2));
    const session = new Session(place, 'old');
    const { claim_id } = JSON.parse((await session.claim()).stdout);
    await session.kill();
    expect(await place.claim('new', '--stage', '1', '--reclaim')).toMatchObject({ exit: 0 });
    const done = place.words('done', '', '--stage', '1', '--evidence', place.evidence(1));
    /** The ways the old session may speak. */
    const ways: [string, () => Promise<Outcome>][] = [
      ['by session', () => place.done('old', 1)],
      ['by claim', () => place.done('', 1, '--claim-id', claim_id)],
      ['by both', () => place.done('old', 1, '--claim-id', claim_id)],
      ['by its session in the environment', () => place.run(done, { OKSTRA_SESSION: 'old' })],
      ['by its claim in the environment', () => place.run(done, { OKSTRA_CLAIM_ID: claim_id })],
      // A stale claim is not made good by the name of the new session.
      ['by its claim, as the new one', () => place.done('new', 1, '--claim-id', claim_id)],
    ];
    return { place, ways, claim_id };
  }

  it('cannot finish it: the new holder is named and nothing is written', async () => {
    const { place, ways } = await taken();
    for (const [, done] of ways) {
      await refused(place, done, /stage 1 is not yours any more: session new on .* holds it now/);
    }
    expect(existsSync(place.carry)).toBe(false);
    await refused(
      place,
      () => place.run(place.words('release', 'old', '--stage', '1')),
      /session new/,
    );
    await refused(place, () => place.claim('old', '--stage', '1'), /already started by/);
    expect(JSON.parse((await place.claim('old')).stdout)).toMatchObject({ stage: 2 });
    expect(await place.done('new', 1)).toMatchObject({ exit: 0 });
    expect(offences(place.rows(), place.graph)).toEqual([]);
  });

  it('cannot change it after the new one has finished', async () => {
    const { place, ways } = await taken();
    expect(await place.done('new', 1)).toMatchObject({ exit: 0 });
    for (const [, done] of ways.slice(0, 5)) {
      await refused(place, done, /not yours any more: .* finished the stage/);
    }
    expect(offences(place.rows(), place.graph)).toEqual([]);
  });

  it('is told so as well where nobody took it after it was freed', async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    const { claim_id } = JSON.parse((await session.claim()).stdout);
    await session.kill();
    await place.run(place.words('release', 'new', '--stage', '1', '--reason', 'it hung'));
    const why = /not yours any more: it was released at .*\(it hung\) and nobody holds the stage/;
    await refused(place, () => place.done('old', 1), why);
    await refused(place, () => place.done('', 1, '--claim-id', claim_id), why);
    await refused(place, () => place.done('third', 1), /stage 1 is not claimed/);
  });
});

describe('a claim made on another host', () => {
  const elsewhere = { host: `not-${hostname()}`, pid: NOBODY };

  it('is live for half an hour and then quiet, never dead, whatever its process', async () => {
    const place = new Place(free(1));
    for (const [minutes, life] of [
      [0, 'live'],
      [29, 'live'],
      [31, 'quiet'],
      [60 * 24 * 365, 'quiet'],
    ] as const) {
      const started_at = minutesAgo(minutes).toISOString();
      rmSync(place.ledger, { force: true });
      await claimedAs(place, { ...elsewhere, started_at });
      expect([minutes, await lifeOf(place)]).toEqual([minutes, life]);
      for (const wish of [[], ['--stage', '1']]) {
        const why = /already started by|no stage is ready/;
        await refused(place, () => place.claim('new', '--reclaim', ...wish), why);
      }
      await refused(
        place,
        () => place.run(place.words('release', 'new', '--stage', '1')),
        new RegExp(`session old on ${elsewhere.host} .* is ${life}`),
      );
    }
  });

  it('is not released by force while it is live, but where it is quiet', async () => {
    const place = new Place(free(1));
    await claimedAs(place, elsewhere);
    const force = () => place.run(place.words('release', 'new', '--stage', '1', '--force'));
    await refused(place, force, /is live/);
    writeFileSync(place.ledger, '');
    await claimedAs(place, { ...elsewhere, started_at: minutesAgo(31).toISOString() });
    expect(await force()).toMatchObject({ exit: 0, stdout: 'stage 1: released\n' });
    expect(offences(place.rows(), place.graph)).toEqual([]);
    expect(await place.claim('new')).toMatchObject({ exit: 0 });
    await refused(place, () => place.done('old', 1), /session new on .* holds it now/);
  });

  it.each(['p.md', 'it\'s quiet "now".md'])(
    'that is quiet is shown with the command that frees it: %s',
    async (name) => {
      const place = new Place(free(1), { name });
      await claimedAs(place, { ...elsewhere, started_at: minutesAgo(31).toISOString() });
      const { claim } = await listed(place);
      expect(await shell(place, claim?.free_with ?? '')).toMatchObject({
        exit: 0,
        stdout: 'stage 1: released\n',
      });
      expect(await place.claim('new')).toMatchObject({ exit: 0 });
    },
  );

  it('is not that of a session here with the same name', async () => {
    const place = new Place(free(2));
    await claimedAs(place, elsewhere, 'same');
    await refused(place, () => place.done('same', 1), /holds it now/);
    expect(JSON.parse((await place.claim('same')).stdout)).toMatchObject({
      stage: 2,
      already_held: false,
    });
  });
});

describe('a sign of life', () => {
  /** Leaves a sign of a session, so many minutes old. */
  function sign(place: Place, file: string, minutes: number): void {
    const path = join(place.home, 'sessions', file);
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, '');
    utimesSync(path, minutesAgo(minutes), minutesAgo(minutes));
  }

  it.each([
    ['here', {}],
    ['on another host', { host: 'elsewhere' }],
  ])('keeps an old claim %s live', async (_where, change) => {
    const place = new Place(free(1));
    await claimedAs(place, { ...change, started_at: minutesAgo(120).toISOString() }, 'a/b');
    expect(await lifeOf(place)).toBe('quiet');
    sign(place, 'another', 0);
    expect(await lifeOf(place)).toBe('quiet');
    sign(place, 'a-b', 31);
    expect(await lifeOf(place)).toBe('quiet');
    sign(place, 'a-b', 29);
    const { claim } = await listed(place);
    expect(claim).toMatchObject({ life: 'live', free_with: null });
    expect(claim?.quiet_ms).toBeGreaterThanOrEqual(29 * 60_000);
    expect(claim?.age_ms).toBeGreaterThanOrEqual(120 * 60_000);
    const force = place.words('release', 'new', '--stage', '1', '--force');
    await refused(place, () => place.run(force), /is live/);
    sign(place, 'a-b', 31);
    expect(await place.run(force)).toMatchObject({ exit: 0 });
  });

  it('that is older than the claim does not age it', async () => {
    const place = new Place(free(1));
    await claimedAs(place, {});
    sign(place, 'old', 600);
    expect(await lifeOf(place)).toBe('live');
  });

  it('does not keep a killed session alive', async () => {
    const place = new Place(free(1));
    const session = new Session(place, 'old');
    await session.claim();
    await session.kill();
    sign(place, 'old', 0);
    expect(await lifeOf(place)).toBe('dead');
  });
});
