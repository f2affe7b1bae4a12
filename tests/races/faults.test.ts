/** The whole product where the world does not do what it should, and where its input is wrong. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { child, unshared } from '../host/children.js';
import {
  chains,
  evidence,
  free,
  IN_LAYOUT,
  type Outcome,
  offences,
  Place,
  quoted,
  Shell,
  until,
} from './support.js';

/** How a command ends that says only why it does nothing. */
function says(exit: number, message: RegExp) {
  return {
    exit,
    stdout: '',
    stderr: expect.stringMatching(message),
  };
}

/** A place whose project or home is a small disk of its own, seen by one shell only. */
class Disk {
  readonly place: Place;
  readonly shell: Shell;
  readonly folder: string;

  private constructor(place: Place, folder: string) {
    this.place = place;
    this.folder = folder;
    this.shell = new Shell(place.root, { OKSTRA_HOME: place.home }, unshared('-m'));
  }

  /** `options` are those of the mount; the disk holds the plan where it is the project's. */
  static async made(what: 'project' | 'home', options: string): Promise<Disk> {
    const place = new Place(chains(1, 3));
    const folder = join(place.root, what);
    mkdirSync(folder, { recursive: true });
    const disk = new Disk(place, folder);
    const at = quoted(folder);
    await disk.must(
      what === 'home'
        ? `mount -t tmpfs -o ${options} none ${at}`
        : `mkdir ${at}.kept && cp -r ${at}/. ${at}.kept/ && mount -t tmpfs -o ${options} none ${at} && cp -r ${at}.kept/. ${at}/`,
    );
    return disk;
  }

  /** A line that has to work. */
  async must(line: string): Promise<string> {
    const { exit, stdout, stderr } = await this.shell.line(line);
    expect({ line, exit, stderr }).toEqual({ line, exit: 0, stderr: '' });
    return stdout;
  }

  /** Takes all the room there is, but for so many bytes. */
  async fill(but = 0): Promise<void> {
    const fill = quoted(join(this.folder, 'fill'));
    await this.shell.line(`cat /dev/zero > ${fill}`);
    await this.must(`truncate -s -${but} ${fill}`);
  }

  /** Blank lines up to the end of a page: the next row needs another. */
  async padLedger(): Promise<void> {
    const ledger = quoted(this.place.ledger);
    const missing = `$((4096 - $(stat -c %s ${ledger})))`;
    await this.must(`head -c ${missing} /dev/zero | tr '\\0' '\\n' >> ${ledger}`);
  }

  async makeRoom(): Promise<void> {
    await this.must(`rm ${quoted(join(this.folder, 'fill'))}`);
  }

  /** The files on the disk with their sums, but for what fills it. */
  async files(): Promise<string> {
    return this.must(
      `cd ${quoted(this.folder)} && find . -type f ! -name fill -exec sha256sum {} + | sort -k2; cd /`,
    );
  }

  /** The rows of the ledger as this shell sees them. */
  async rows(): Promise<{ status: string; stage: number }[]> {
    const text = await this.must(`cat ${quoted(this.place.ledger)}`);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  claim(as: string): Promise<Outcome> {
    return this.shell.run(this.place.words('claim', as, '--json'));
  }

  done(as: string, stage: number): Promise<Outcome> {
    const given = ['--stage', `${stage}`, '--evidence', this.place.evidence(stage)];
    return this.shell.run(this.place.words('done', as, ...given));
  }

  async states(): Promise<string[]> {
    const { stdout } = await this.shell.run(this.place.words('list', '', '--json'));
    return JSON.parse(stdout).stages.map((it: { state: string }) => it.state);
  }
}

const FULL = /no space left on the disk; (nothing was written; )?make room\n$/;

describe('a full disk', () => {
  it('a claim writes nothing and works once there is room', async () => {
    const disk = await Disk.made('project', 'size=128k');
    await disk.fill();
    const before = await disk.files();
    expect(await disk.claim('s')).toEqual(says(5, FULL));
    expect(await disk.files()).toBe(before);
    await disk.makeRoom();
    expect(await disk.claim('s')).toMatchObject({ exit: 0, stderr: '' });
    expect(await disk.rows()).toMatchObject([{ stage: 1, status: 'started' }]);
  });

  it('a claim that no longer fits keeps the rows there are', async () => {
    const disk = await Disk.made('project', 'size=128k');
    expect(await disk.claim('s')).toMatchObject({ exit: 0 });
    await disk.padLedger();
    await disk.fill();
    const before = await disk.files();
    expect(await disk.shell.run(disk.place.words('release', 's'))).toEqual(says(5, FULL));
    expect(await disk.files()).toBe(before);
    await disk.makeRoom();
    expect(await disk.shell.run(disk.place.words('release', 's'))).toMatchObject({ exit: 0 });
  });

  it('done writes neither evidence nor row, and works once there is room', async () => {
    const disk = await Disk.made('project', 'size=128k');
    expect(await disk.claim('s')).toMatchObject({ exit: 0 });
    await disk.fill();
    const before = await disk.files();
    expect(await disk.done('s', 1)).toEqual(says(5, FULL));
    expect(await disk.files()).toBe(before);
    expect(await disk.states()).toEqual(['running', 'waiting', 'waiting']);
    await disk.makeRoom();
    expect(await disk.done('s', 1)).toMatchObject({ exit: 0, stdout: 'stage 1 is done\n' });
    expect(await disk.states()).toEqual(['done', 'ready', 'waiting']);
  });

  it('that has room for the evidence, but not for the row, loses no finished stage', async () => {
    const disk = await Disk.made('project', 'size=128k');
    expect(await disk.claim('s')).toMatchObject({ exit: 0 });
    const { ledger, carry } = disk.place;
    await disk.must(`mkdir ${quoted(carry)}`);
    await disk.padLedger();
    await disk.fill(4096);
    const before = await disk.must(`sha256sum ${quoted(ledger)}`);
    expect(await disk.done('s', 1)).toEqual(says(5, FULL));
    expect(await disk.must(`sha256sum ${quoted(ledger)}`)).toBe(before);
    expect(await disk.must(`ls -A ${quoted(carry)}`)).toBe('stage-1.json\n');
    expect(await disk.must(`cat ${quoted(join(carry, 'stage-1.json'))}`)).toBe(
      readFileSync(disk.place.evidence(1), 'utf8'),
    );
    await disk.makeRoom();
    expect(await disk.done('s', 1)).toMatchObject({
      exit: 0,
      stdout: 'stage 1 was done already\n',
    });
    const rows = await disk.rows();
    expect(rows).toMatchObject([{ status: 'started' }, { status: 'done', stage: 1 }]);
    expect(await disk.states()).toEqual(['done', 'ready', 'waiting']);
  });

  it('for locks is told before anything is written, and enough where the lock is there', async () => {
    const disk = await Disk.made('home', 'size=64k,nr_inodes=2');
    const before = disk.place.state();
    expect(await disk.claim('s')).toEqual(says(5, /no space left on the disk/));
    expect(disk.place.state()).toMatchObject(before);
    expect(existsSync(disk.place.ledger)).toBe(false);
    await disk.must(`mount -o remount,nr_inodes=100 none ${quoted(disk.folder)}`);
    await disk.fill();
    // The notes of who holds the lock and of the session do not fit; the claim holds without them.
    expect(await disk.claim('s')).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^[^\n]*hooks will not know of the claim: no space left[^\n]*\n$/,
      ),
    });
    expect(await disk.done('s', 1)).toMatchObject({ exit: 0 });
    expect(offences(disk.place.rows(), disk.place.graph)).toEqual([]);
  });
});

describe('a project that cannot be written', () => {
  const READ_ONLY = /: the file system is read-only; .*\n$/;

  it('mounted read-only is told, and can be looked at', async () => {
    const disk = await Disk.made('project', 'size=128k');
    expect(await disk.claim('s')).toMatchObject({ exit: 0 });
    await disk.must(`mount -o remount,ro none ${quoted(disk.folder)}`);
    const before = await disk.files();
    expect(await disk.shell.run(disk.place.words('release', 's'))).toEqual(says(2, READ_ONLY));
    expect(await disk.done('s', 1)).toEqual(says(2, READ_ONLY));
    expect(await disk.states()).toEqual(['running', 'waiting', 'waiting']);
    expect(await disk.files()).toBe(before);
    await disk.must(`mount -o remount,rw none ${quoted(disk.folder)}`);
    expect(await disk.done('s', 1)).toMatchObject({ exit: 0 });
  });

  it('shows a finished stage whose row was lost, though the row cannot be restored', async () => {
    const disk = await Disk.made('project', 'size=128k');
    expect(await disk.claim('s')).toMatchObject({ exit: 0 });
    const { carry } = disk.place;
    const kept = quoted(join(carry, 'stage-1.json'));
    await disk.must(`mkdir ${quoted(carry)} && cp ${quoted(disk.place.evidence(1))} ${kept}`);
    await disk.must(`mount -o remount,ro none ${quoted(disk.folder)}`);
    const before = await disk.files();
    const list = await disk.shell.run(disk.place.words('list', '', '--json'));
    expect(list).toMatchObject({ exit: 0, stderr: expect.stringMatching(/read-only/) });
    expect(await disk.states()).toEqual(['done', 'ready', 'waiting']);
    expect(await disk.files()).toBe(before);
    await disk.must(`mount -o remount,rw none ${quoted(disk.folder)}`);
    expect(await disk.states()).toEqual(['done', 'ready', 'waiting']);
    expect(await disk.rows()).toMatchObject([{ status: 'started' }, { status: 'done' }]);
  });

  it('mounted read-only is told by the first claim', async () => {
    const disk = await Disk.made('project', 'size=128k');
    await disk.must(`mount -o remount,ro none ${quoted(disk.folder)}`);
    const before = await disk.files();
    expect(await disk.claim('s')).toEqual(says(2, READ_ONLY));
    expect(await disk.files()).toBe(before);
  });
});

describe('a ledger with lines that cannot be used', () => {
  it('torn at its end is appended to on a new line', async () => {
    const place = new Place(free(3));
    await place.claim('s1');
    const whole = readFileSync(place.ledger, 'utf8');
    const second = whole.replace('"stage":1', '"stage":2');
    // Cut at every tenth place, also inside of a character.
    const bytes = Buffer.from(second.replace('"s1"', '"ü"'));
    const cuts = [1, bytes.indexOf(0xc3) + 1, ...Array(5).keys()].map((at, i) =>
      i < 2 ? at : Math.floor((bytes.length * (at + 1)) / 6),
    );
    for (const cut of cuts) {
      const torn = Buffer.concat([Buffer.from(whole), bytes.subarray(0, cut)]);
      writeFileSync(place.ledger, torn);
      const { exit, stdout, stderr } = await place.run(place.words('claim', 'new'));
      expect({ exit, stderr }).toEqual({
        exit: 0,
        stderr: expect.stringMatching(/warning: .*consumers\.jsonl:2: /),
      });
      // Nothing of the torn row counts: its stage is free.
      expect(stdout).toMatch(/^selected stage: 2\n/);
      const now = readFileSync(place.ledger);
      expect(now.subarray(0, torn.length)).toEqual(torn);
      expect(JSON.parse(now.subarray(torn.length).toString())).toMatchObject({ session: 'new' });
    }
  });

  it('that only lacks its last line feed is whole', async () => {
    const place = new Place(free(2));
    await place.claim('s1');
    writeFileSync(place.ledger, readFileSync(place.ledger, 'utf8').trimEnd());
    const { stdout, stderr } = await place.claim('s2');
    expect({ stage: JSON.parse(stdout).stage, stderr }).toEqual({ stage: 2, stderr: '' });
    expect(place.rows()).toHaveLength(2);
  });

  /** Lines of many kinds that are no rows. */
  const BAD = [
    'no json',
    '{"impl_task_key":"p","stage":0,"status":"started"}',
    '{"impl_task_key":"p","stage":"1","status":"done"}',
    '[1]',
    'a\rb',
    '\u0000\u0001\u001b[31m',
    '\ufeff{',
    'x'.repeat(70_000),
  ];

  /** Three stages are claimed; between and behind their rows are bad lines. */
  async function spoiled() {
    const place = new Place(free(5));
    for (const as of ['s1', 's2', 's3']) await place.claim(as);
    const good = readFileSync(place.ledger, 'utf8').trimEnd().split('\n');
    const lines = [BAD[0], good[0], ...BAD.slice(1, 5), good[1], ...BAD.slice(5), good[2]];
    writeFileSync(place.ledger, `${lines.join('\n')}\n`);
    const numbers = lines.flatMap((line, at) => (good.includes(line ?? '') ? [] : [at + 1]));
    return { place, good, numbers };
  }

  it('is read and appended to; every bad line is told by its number and stays', async () => {
    const { place, numbers } = await spoiled();
    const before = readFileSync(place.ledger, 'utf8');
    const list = await place.run(place.words('list', '', '--json'));
    const { stages, warnings } = JSON.parse(list.stdout);
    expect(stages.map((it: { state: string }) => it.state)).toEqual([
      ...Array(3).fill('running'),
      ...Array(2).fill('ready'),
    ]);
    const told = (warnings as string[]).map((it) =>
      Number(/consumers\.jsonl:(\d+): /.exec(it)?.[1]),
    );
    expect(told).toEqual(numbers);
    expect(readFileSync(place.ledger, 'utf8')).toBe(before);

    const check = await place.run(['ledger', 'check', '--plan', place.plan]);
    expect(check.exit).toBe(1);
    const checked = [...check.stderr.matchAll(/consumers\.jsonl:(\d+): error/g)];
    expect(checked.map((it) => Number(it[1]))).toEqual(numbers);

    expect(JSON.parse((await place.claim('s4')).stdout)).toMatchObject({ stage: 4 });
    const after = readFileSync(place.ledger, 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(JSON.parse(after.slice(before.length))).toMatchObject({ session: 's4', stage: 4 });
  });

  it('is repaired: the bad lines move away and none is lost', async () => {
    const { place, good } = await spoiled();
    const rejected = `${place.ledger}.rejected`;
    writeFileSync(rejected, 'earlier\n');
    const repair = ['ledger', 'repair', '--plan', place.plan];
    const before = place.state();
    expect(await place.run([...repair, '--dry-run'])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(`${BAD.length} lines would be moved`),
    });
    expect(place.state()).toEqual(before);
    expect(await place.run(repair)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(`${BAD.length} lines moved`),
    });
    expect(readFileSync(place.ledger, 'utf8')).toBe(`${good.join('\n')}\n`);
    expect(readFileSync(rejected, 'utf8').split('\n')).toEqual(['earlier', ...BAD, '']);
    const repaired = place.state();
    expect(await place.run(repair)).toMatchObject({ exit: 0 });
    expect(place.state()).toEqual(repaired);
  });

  it('is repaired while others append: no row is lost', async () => {
    const { place, good } = await spoiled();
    const repair = ['ledger', 'repair', '--plan', place.plan];
    const outcomes = await Promise.all([
      place.run(repair),
      place.claim('s4'),
      place.run(repair),
      place.claim('s5'),
    ]);
    expect(outcomes.map(({ exit }) => exit)).toEqual([0, 0, 0, 0]);
    expect(place.rows()).toHaveLength(good.length + 2);
    expect(offences(place.rows(), place.graph)).toEqual([]);
    expect(readFileSync(`${place.ledger}.rejected`, 'utf8').split('\n')).toEqual([...BAD, '']);
  });
});

describe('something else where a file belongs', () => {
  it('a folder in the place of the ledger is told, whoever asks', async () => {
    const place = new Place(free(2));
    mkdirSync(place.ledger, { recursive: true });
    const before = place.state();
    const folder = says(
      2,
      /consumers\.jsonl: a folder; a file belongs there; move the folder away\n$/,
    );
    expect(await place.claim('s')).toEqual(folder);
    expect(await place.done('s', 1)).toEqual(folder);
    expect(await place.run(place.words('list'))).toEqual(folder);
    expect(await place.run(['ledger', 'check', '--plan', place.plan])).toEqual(folder);
    expect(await place.run(['ledger', 'repair', '--plan', place.plan])).toEqual(folder);
    expect(place.state()).toEqual(before);
    rmSync(place.ledger, { recursive: true });
    expect(await place.claim('s')).toMatchObject({ exit: 0 });
  });

  it('a folder or a broken file in the place of the evidence is told; nothing is written', async () => {
    for (const make of [
      (path: string) => mkdirSync(path),
      (path: string) => writeFileSync(path, '{"cut'),
      (path: string) => writeFileSync(path, evidence('p.md', 2)),
      (path: string) => symlinkSync('nowhere', path),
    ]) {
      const place = new Place(free(2));
      await place.claim('s');
      mkdirSync(place.carry);
      make(place.sidecar(1));
      const before = place.state();
      const { exit, stdout, stderr } = await place.done('s', 1);
      expect([2, 3]).toContain(exit);
      expect({ stdout, stderr }).toEqual({
        stdout: '',
        stderr: expect.stringContaining('stage-1.json'),
      });
      expect(place.state()).toEqual(before);
      rmSync(place.sidecar(1), { recursive: true });
      expect(await place.done('s', 1)).toMatchObject({ exit: 0 });
    }
  });
});

describe('a clock that went backwards', () => {
  it('makes nothing older than now, and nothing quiet or dead', async () => {
    const place = new Place(free(2));
    await place.claim('s');
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const [row] = place.rows();
    writeFileSync(place.ledger, `${JSON.stringify({ ...row, started_at: ahead })}\n`);
    const sign = join(place.home, 'sessions', 's');
    for (const signs of [false, true]) {
      if (signs) {
        mkdirSync(dirname(sign), { recursive: true });
        writeFileSync(sign, '');
        utimesSync(sign, new Date(ahead), new Date(ahead));
      }
      expect((await place.list())[0]).toMatchObject({
        state: 'running',
        age_ms: 0,
        claim: { life: 'live', age_ms: 0, quiet_ms: 0 },
      });
      expect((await place.run(place.words('list'))).stdout).not.toMatch(/-\d/);
    }
    expect(await place.claim('t', '--stage', '1', '--reclaim')).toMatchObject({ exit: 3 });
    expect(await place.done('s', 1)).toMatchObject({ exit: 0 });
    const later = place.rows().map((it) => ({ ...it, completed_at: it.completed_at && ahead }));
    writeFileSync(place.ledger, later.map((it) => `${JSON.stringify(it)}\n`).join(''));
    expect((await place.list())[0]).toMatchObject({ state: 'done', age_ms: 0 });
    expect(offences(place.rows(), place.graph)).toEqual([]);
  });
});

describe('the folder of okstra itself', () => {
  it('is made where it is missing, for this user alone', async () => {
    const place = new Place(free(1));
    const home = join(place.root, 'not', 'there', 'yet');
    expect(await place.run(place.words('claim'), { OKSTRA_HOME: home })).toMatchObject({ exit: 0 });
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home, 'locks'))).toHaveLength(1);
  });

  it('is .okstra in the home folder where nothing is said', async () => {
    const place = new Place(free(1));
    const env = { OKSTRA_HOME: '', HOME: join(place.root, 'user') };
    expect(await place.run(place.words('claim'), env)).toMatchObject({ exit: 0 });
    expect(readdirSync(join(place.root, 'user', '.okstra', 'locks'))).toHaveLength(1);
  });

  it('that cannot be made is told before anything is written', async () => {
    const place = new Place(free(1));
    const file = join(place.root, 'file');
    writeFileSync(file, '');
    symlinkSync('circle', join(place.root, 'circle'));
    mkdirSync(join(place.root, 'full', 'locks'), { recursive: true });
    writeFileSync(join(place.root, 'other'), '');
    const before = place.state();
    for (const home of [file, join(file, 'below'), join(place.root, 'circle'), '/proc/okstra']) {
      const { exit, stdout, stderr } = await place.run(place.words('claim'), { OKSTRA_HOME: home });
      expect([2, 5]).toContain(exit);
      expect({ stdout, stderr }).toEqual({ stdout: '', stderr: expect.stringContaining(home) });
      expect(stderr.split('\n')).toHaveLength(2);
      expect(place.state()).toEqual(before);
    }
    expect(await place.claim('s')).toMatchObject({ exit: 0 });
  });

  it('is not needed to look at a plan', async () => {
    const place = new Place(free(1));
    const gone = { OKSTRA_HOME: '/proc/okstra' };
    for (const verb of ['list', 'next']) {
      expect(await place.run(place.words(verb), gone)).toMatchObject({ exit: 0 });
    }
    const dry = await place.run(place.words('claim', 's', '--dry-run'), gone);
    expect(dry).toMatchObject({ exit: 0 });
    expect(Object.keys(place.state()).filter((path) => path.includes('.okstra'))).toEqual([]);
  });
});

describe('a lock that another process holds', () => {
  const LONG = { timeout: 120_000 };

  it('is waited for', LONG, async () => {
    const place = new Place(free(1));
    const lock = await place.lock();
    const holder = child('hold', lock, 'okstra stage done');
    expect(await holder.answer()).toBe('held');
    const { ino } = statSync(lock);
    const { child: waiting, end } = place.start(place.words('claim', 's', '--json'));
    await until(() => new RegExp(`-> .*:${ino} `).test(readFileSync('/proc/locks', 'utf8')));
    // Readers do not wait for it.
    expect((await place.list()).map((it) => it.state)).toEqual(['ready']);
    expect(waiting.exitCode).toBeNull();
    await holder.kill();
    expect(await end).toMatchObject({ exit: 0, stderr: '' });
  });

  it('for too long is told with who holds it, and nothing is written', LONG, async () => {
    const place = new Place(free(1));
    const lock = await place.lock();
    const holder = child('hold', lock, 'okstra stage done');
    expect(await holder.answer()).toBe('held');
    const before = place.state();
    const who = `locked by okstra stage done \\(process ${holder.pid} on .* since .*\\)`;
    expect(await place.claim('s')).toEqual(says(5, new RegExp(`${who}, also after waiting 30 s`)));
    expect(place.state()).toEqual(before);
    await holder.kill();
    expect(await place.claim('s')).toMatchObject({ exit: 0 });
  });
});

describe('wrong evidence is refused with the reason, and nothing is written', () => {
  const range = { base: '1111111', head: '2222222' };
  const step = { step: 1, status: 'passed', commit: '2222222' };
  const wrong: [string, object, RegExp][] = [
    ['an unknown version', { schemaVersion: 2 }, /schemaVersion/],
    ['a version as a text', { schemaVersion: '1' }, /schemaVersion/],
    ['stage 0', { stageNumber: 0 }, /stageNumber: must be a whole number from 1 on, got 0/],
    [
      '"1" for 1',
      { stageNumber: '1' },
      /stageNumber: must be a whole number .* got "1" \(string\)/,
    ],
    ['half a stage', { stageNumber: 1.5 }, /stageNumber/],
    ['another stage', { stageNumber: 2 }, /stageNumber: is evidence for another stage: got 2/],
    ['another plan', { sourcePlanPath: 'q.md' }, /sourcePlanPath: names another plan: got "q.md"/],
    ['a plan outside', { sourcePlanPath: '../../p.md' }, /sourcePlanPath: leaves the project/],
    ['a failed stage', { status: 'failed' }, /status/],
    ['a blocked stage', { status: 'BLOCKED' }, /status/],
    ['a failed conformance', { conformance: { overall: 'FAIL' } }, /conformance/],
    ['something unverified', { unverified: ['tests'] }, /unverified/],
    ['a failed step', { stepResults: [{ ...step, status: 'failed' }] }, /stepResults\[0\]\.status/],
    ['a step without a status', { stepResults: [{ step: 1, commit: '' }] }, /status: is missing/],
    ['a status that is no text', { stepResults: [{ ...step, status: 1 }] }, /status: must be/],
    ['step 0', { stepResults: [{ ...step, step: 0 }] }, /stepResults\[0\]\.step: must be/],
    ['a time without a zone', { completedAt: '2026-03-04T05:06:07' }, /completedAt/],
    ['a commit that is none', { stageCommitRange: { ...range, head: 'HEAD' } }, /head: must be/],
    ['a file outside', { filesChanged: ['../x'] }, /filesChanged\[0\]: leaves the project/],
    ['an absolute file', { filesChanged: ['/etc/passwd'] }, /filesChanged\[0\]/],
    ['no notes', { notes: undefined }, /notes: is missing/],
  ];

  /** A plan with stage 1 claimed by `s`, and how `done` ends with this evidence. */
  async function handedIn(text: string | Uint8Array, name = 'given.json') {
    const place = new Place(free(2));
    await place.claim('s');
    writeFileSync(join(place.root, name), text);
    const before = place.state();
    const words = place.words('done', 's', '--stage', '1', '--evidence', join(place.root, name));
    const outcome = await place.run(words);
    expect(place.state()).toEqual(before);
    // The right evidence is taken afterwards.
    expect(await place.done('s', 1)).toMatchObject({ exit: 0 });
    return outcome;
  }

  it.each(wrong)('%s', async (_what, change, why) => {
    const place = new Place(free(2));
    expect(await handedIn(evidence('p.md', 1, change))).toEqual(says(4, why));
    expect(existsSync(place.carry)).toBe(false);
  });

  it.each([
    ['no JSON', '{"schemaVersion": 1,', 4],
    ['an empty file', '', 4],
    ['an array', '[]', 4],
    ['a key that stands twice', '{"notes":[],"notes":[]}', 4],
    ['no text', Uint8Array.of(0xff, 0xfe, 0x00), 4],
  ])('%s', async (_what, text, exit) => {
    expect(await handedIn(text)).toEqual(says(exit, /given\.json/));
  });

  it.each([
    ['without a block', '# Result\n\nAll done.\n'],
    ['with a block under another heading', '### Notes\n\n```json\n{}\n```\n'],
    ['with an open fence', `### Stage Carry Evidence\n\n\`\`\`json\n{"a": 1}\n`],
    ['with a block that is cut off', `### Stage Carry Evidence\n\n\`\`\`json\n{"a":\n\`\`\`\n`],
  ])('a worker result %s', async (_what, text) => {
    expect(await handedIn(text, 'given.md')).toEqual(says(4, /given\.md/));
  });

  it('two faults are told at once', async () => {
    const text = evidence('p.md', 1, { stageNumber: '1', completedAt: 'today' });
    const { exit, stderr } = await handedIn(text);
    expect(exit).toBe(4);
    expect(stderr).toMatch(/stageNumber/);
    expect(stderr).toMatch(/completedAt/);
  });

  it.each([
    ['0', 2],
    ['x', 2],
    ['1.5', 2],
    ['9', 3],
    ['2', 3],
  ])('for --stage %s', async (stage, exit) => {
    const place = new Place(free(2));
    await place.claim('s');
    const before = place.state();
    const words = place.words('done', 's', '--stage', stage, '--evidence', place.evidence(1));
    expect(await place.run(words)).toEqual(says(exit, /stage/));
    expect(place.state()).toEqual(before);
  });

  it.each([
    'verify --verdict perhaps --report x.md',
    'verify --report ../../outside.md',
    'verify --report /etc/passwd',
    'pr --url javascript:alert(1)',
    'release',
  ])('%s', async (line) => {
    const [verb = '', ...more] = line.split(' ');
    const place = new Place(free(1));
    await place.claim('s');
    await place.done('s', 1);
    const before = place.state();
    const { exit, stdout } = await place.run(place.words(verb, '', '--stage', '1', ...more));
    expect([2, 3]).toContain(exit);
    expect(stdout).toBe('');
    expect(place.state()).toEqual(before);
  });
});

describe('evidence that would lie outside of the project', () => {
  it.each([
    ['an empty folder', IN_LAYOUT, []],
    ['a folder with evidence', IN_LAYOUT, [1]],
    ['a folder that is not there yet', IN_LAYOUT, undefined],
  ])('through a link to %s is refused', async (_what, name, inside) => {
    const place = new Place(free(2), { name });
    const outside = join(place.root, 'outside');
    if (inside !== undefined) mkdirSync(outside);
    await place.claim('s');
    mkdirSync(dirname(place.carry), { recursive: true });
    symlinkSync(outside, place.carry);
    for (const stage of inside ?? []) {
      writeFileSync(join(outside, `stage-${stage}.json`), evidence(name, stage));
    }
    const before = place.state();
    const leaves = says(3, /outside leaves the project/);
    expect(await place.done('s', 1)).toEqual(leaves);
    expect(await place.claim('t')).toEqual(leaves);
    expect(place.state()).toEqual(before);
    rmSync(place.carry);
    expect(await place.done('s', 1)).toMatchObject({ exit: 0 });
  });

  it('is refused as well for a plan outside the layout', async () => {
    const place = new Place(free(2));
    await place.claim('s');
    mkdirSync(join(place.root, 'outside'));
    symlinkSync(join(place.root, 'outside'), place.carry);
    const before = place.state();
    expect(await place.done('s', 1)).toEqual(says(3, /outside leaves the project/));
    expect(place.state()).toEqual(before);
  });

  it('may lie behind a link inside of it', async () => {
    const place = new Place(free(2), { name: IN_LAYOUT });
    await place.claim('s');
    mkdirSync(dirname(place.carry), { recursive: true });
    mkdirSync(join(place.root, 'project', 'kept'));
    symlinkSync(join(place.root, 'project', 'kept'), place.carry);
    expect(await place.done('s', 1)).toMatchObject({ exit: 0 });
    expect(readdirSync(join(place.root, 'project', 'kept'))).toEqual(['stage-1.json']);
    expect((await place.list()).map((it) => it.state)).toEqual(['done', 'ready']);
  });
});

describe('what is refused changes no file', () => {
  it('claims of all kinds: content, times and names stay', async () => {
    const place = new Place(chains(1, 3));
    await place.claim('s');
    appendFileSync(place.ledger, '{"torn');
    const before = place.state();
    for (const wish of ['auto', '1', '2', '9', 'x', '0', '1.0', '-1', '']) {
      const { exit, stdout } = await place.claim('t', '--stage', wish, '--reclaim');
      expect([2, 3]).toContain(exit);
      expect(stdout).toBe('');
    }
    expect(place.state()).toEqual(before);
  });

  it('a claim of a plan that is not approved or has errors makes no ledger', async () => {
    for (const [from, to, exit] of [
      ['- [x] Approved', '- [ ] Approved', 1],
      ['## 4.5 Stage Map', '## 4.5 Stages', 1],
      ['| 1 | (none) |', '| 1 | 2 |', 1],
    ] as const) {
      const place = new Place(chains(1, 2));
      const text = readFileSync(place.plan, 'utf8').replace(from, to);
      writeFileSync(place.plan, from.startsWith('|') ? text.replace('(none)', '2') : text);
      const before = place.state();
      expect(await place.claim('s')).toMatchObject({ exit, stdout: '' });
      expect(place.state()).toEqual(before);
    }
  });

  it('a preview of a claim or of done writes nothing at all', async () => {
    const place = new Place(free(2));
    const untouched = place.tree();
    expect(await place.claim('s', '--dry-run')).toMatchObject({ exit: 0 });
    expect(place.tree()).toEqual(untouched);
    await place.claim('s');
    const before = place.tree();
    expect(await place.done('s', 1, '--dry-run')).toMatchObject({ exit: 0 });
    expect(await place.run(place.words('release', 's', '--dry-run'))).toMatchObject({ exit: 0 });
    expect(place.tree()).toEqual(before);
  });
});
