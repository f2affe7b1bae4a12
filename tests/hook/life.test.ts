/** A session's life as its hooks see it: from its start to its end, with real git and processes. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Claimed, Shop } from '../worktrees/support.js';
import { type Answered, hook, type Json, recorded, SESSION, until } from './support.js';

function send(shop: Shop, name: string, more: Json = {}, cwd = shop.root): Answered {
  return hook({ ...recorded(`${name}.json`, cwd), ...more }, { cwd, env: shop.env });
}

/** A worker's last words with evidence in them. */
function words(shop: Shop, { stage, base_commit }: Claimed, head: string, more: Json = {}): string {
  const text = readFileSync(shop.evidence(stage, base_commit, head), 'utf8');
  const evidence = JSON.stringify({ ...JSON.parse(text), ...more });
  return `Built it.\n\n### Stage Carry Evidence\n\n\`\`\`json\n${evidence}\n\`\`\`\n`;
}

const sign = (shop: Shop, session = SESSION) => join(shop.home, 'sessions', session);

const statuses = (shop: Shop) => shop.rows().map(({ stage, status }) => `${status} ${stage}`);

describe('the start', () => {
  it('tells what is ready, what is held and what waits', async () => {
    const shop = new Shop({ graph: ['', '1', ''] });
    const told = (answered: Answered) => {
      expect(answered.stderr).toBe('');
      return answered.output.hookSpecificOutput?.additionalContext ?? '';
    };
    // A task that nobody began says nothing, unless it is the project's latest.
    expect(send(shop, 'SessionStart.startup.print').output).toEqual({});
    shop.write('.okstra/discovery/latest-task.json', '{"taskRoot": "tasks/web/login"}');
    const before = told(send(shop, 'SessionStart.startup.print'));
    expect(before).toContain("Ready: 1 'Part 1', 3 'Part 3'.\nWaiting: 2 for 1.");
    expect(before).toContain(`okstra stage claim --plan ${shop.root}/${shop.plan}`);
    const { worktree } = await shop.claimed(1, '--session', SESSION);
    const held = told(send(shop, 'SessionStart.resume'));
    expect(held).toContain(`You hold stage 1 'Part 1'; work in its worktree ${worktree}.`);
    expect(held).toContain("Ready: 3 'Part 3'.");
    // A worker that is started in the worktree, and anybody else.
    const worker = told(send(shop, 'SessionStart.teammate-pane', { session_id: 'b' }, worktree));
    expect(worker).toContain('This folder is the worktree of stage 1');
    expect(told(send(shop, 'SessionStart.startup.print', { session_id: 'c' }))).toContain(
      "Built by other sessions: 1 'Part 1'.",
    );
  });

  it('makes a resumed session live again', async () => {
    const shop = new Shop({ graph: [''] });
    await shop.claimed(1, '--session', SESSION);
    // The process of the claim is gone: it was that of a client that crashed.
    const gone = spawn(process.execPath, ['-e', '0']);
    await new Promise((resolve) => gone.once('exit', resolve));
    const text = readFileSync(shop.ledger, 'utf8');
    writeFileSync(shop.ledger, text.replace(/"pid":\d+/, `"pid":${gone.pid}`));
    const life = async () => {
      const { stdout } = await shop.okstra('stage', 'list', '--plan', shop.plan, '--json');
      return JSON.parse(stdout).stages[0].claim.life;
    };
    expect(await life()).toBe('dead');
    send(shop, 'SessionStart.resume');
    expect(await life()).toBe('live');
  });
});

it('notes the process of a session once, and does not look for it at the end of each turn', async () => {
  const shop = new Shop({ graph: [''] });
  await shop.claimed(1, '--session', SESSION);
  const processes = () => readFileSync(sign(shop), 'utf8').match(/"pid":\d+/g);
  expect(processes()).toBeNull();
  send(shop, 'SessionStart.resume');
  send(shop, 'SessionStart.resume');
  expect(processes()).toHaveLength(1);
  // What it hands in is recorded under its session, whatever process was noted.
  const file = sign(shop);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"pid":\d+/, '"pid":999999'));
  expect(send(shop, 'Stop').output.decision).toBe('block');
  send(shop, 'SessionStart.resume');
  expect(processes()).toHaveLength(2);
});

describe('signs of life', () => {
  it('are one small write an event', async () => {
    const shop = new Shop({ graph: [''] });
    await shop.claimed(1, '--session', SESSION);
    const file = sign(shop);
    const text = readFileSync(file, 'utf8');
    const { root, ledger } = shop;
    expect(text).toBe(`${JSON.stringify({ plan: `${root}/${shop.plan}`, root, ledger })}\n`);
    for (const name of [
      'PreToolUse.Bash',
      'PostToolUse.Write',
      'UserPromptSubmit',
      'Notification.idle_prompt',
    ]) {
      utimesSync(file, 1, 1);
      expect(send(shop, name)).toMatchObject({ stdout: '{}\n', stderr: '' });
      expect(Date.now() - statSync(file).mtimeMs, name).toBeLessThan(60_000);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
    // A session in the project that has claimed nothing has one too; elsewhere none.
    send(shop, 'UserPromptSubmit', { session_id: 'b' });
    send(shop, 'UserPromptSubmit', { session_id: 'c' }, shop.folder);
    expect([existsSync(sign(shop, 'b')), existsSync(sign(shop, 'c'))]).toEqual([true, false]);
  });

  it('carry the name that claims are made under', async () => {
    const shop = new Shop({ graph: [''] });
    shop.env.OKSTRA_SESSION = 'mine';
    await shop.claimed(1);
    expect(send(shop, 'Stop').output.decision).toBe('block');
    expect(existsSync(sign(shop, 'mine'))).toBe(true);
  });
});

describe('a plan that is written', () => {
  it('comes back with its findings', () => {
    const shop = new Shop({ graph: ['', '1'] });
    const path = join(shop.root, shop.plan);
    const written = () => send(shop, 'PostToolUse.Edit', { tool_input: { file_path: path } });
    expect(written()).toMatchObject({ stdout: '{}\n', stderr: '' });
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('| Part 2 | 1 | 1 |', '| Part 2 | 7 | 4 |'),
    );
    const { output } = written();
    expect(output.hookSpecificOutput?.hookEventName).toBe('PostToolUse');
    const text = output.hookSpecificOutput?.additionalContext;
    expect(text).toContain(`2 errors and 0 warnings in ${path}\n`);
    expect(text).toContain('S6 stage=2: depends-on 7 does not exist (line 8;');
    expect(text).toContain('S7 stage=2: Stage Map step-count=4 but real count=1 (line 8)');
    // Elsewhere a plan is known by its heading; other documents are nobody's business.
    const other = join(shop.folder, 'notes.md');
    const answer = (content: string) => {
      writeFileSync(other, content);
      return send(shop, 'PostToolUse.Write', { tool_input: { file_path: other, content } }).output;
    };
    expect(answer('# Notes\n\nabout the Stage Map\n')).toEqual({});
    expect(answer('# Plan\n\n## 4.5 Stage Map\n').hookSpecificOutput?.additionalContext).toContain(
      'S1 stage=0',
    );
  });

  it('with thousands of faults fits into what the client keeps', () => {
    const shop = new Shop({ graph: Array.from({ length: 800 }, () => '9999') });
    const path = join(shop.root, shop.plan);
    const { output } = send(shop, 'PostToolUse.Edit', { tool_input: { file_path: path } });
    const text = output.hookSpecificOutput?.additionalContext ?? '';
    expect(text.length).toBeLessThan(10_000);
    expect(text).toMatch(/… and 770 more: okstra plan check /);
  });
});

describe('the stop', () => {
  it('keeps evidence as the command does, with every check', { timeout: 120_000 }, async () => {
    const shop = new Shop({ graph: ['', '1'] });
    const claim = await shop.claimed(1, '--session', SESSION);
    const base = shop.gitIn(claim.worktree, 'rev-parse', 'HEAD');
    // Nothing is handed in: it is pointed out once.
    const first = send(shop, 'Stop');
    expect(first.output.decision).toBe('block');
    expect(first.output.reason).toContain("you hold stage 1 'Part 1'");
    expect(send(shop, 'Stop').output).toEqual({});
    // Work that is in no commit.
    writeFileSync(join(claim.worktree, 'new.rs'), 'new\n');
    const said = (more: Json = {}, name = 'Stop') => {
      const answered = send(shop, name, more);
      expect(answered.stderr).toBe('');
      return answered.output;
    };
    const dirty = said({ last_assistant_message: words(shop, claim, base) });
    expect(dirty.decision).toBe('block');
    expect(dirty.reason).toContain('stage 1 has uncommitted changes');
    // Committed, but the evidence names another commit; the second time only the person is told.
    const head = shop.put(claim.worktree, 'src/part1/1.rs', 'done\n');
    const stale = said({ last_assistant_message: words(shop, claim, base) }, 'Stop.active');
    expect(stale).toEqual({ systemMessage: expect.stringContaining(head) });
    expect(statuses(shop)).toEqual(['started 1']);
    // As it should be, from a subagent.
    const good = { last_assistant_message: words(shop, claim, head) };
    expect(said(good, 'SubagentStop')).toEqual({
      systemMessage: "okstra: stage 1 'Part 1' is done; ready now: 2",
    });
    expect(statuses(shop)).toEqual(['started 1', 'done 1']);
    expect(shop.registered()).toMatchObject([{ stage: 1, state: 'kept' }]);
    const kept = join(shop.root, '.okstra/tasks/web/login/runs/implementation/carry/stage-1.json');
    expect(JSON.parse(readFileSync(kept, 'utf8')).stageCommitRange.head).toBe(head);
    // The same words again, as a lead repeats its worker's: nothing more is written.
    expect(said(good)).toEqual({});
    expect(statuses(shop)).toEqual(['started 1', 'done 1']);
  });

  it('keeps the evidence of several stages in one message', { timeout: 120_000 }, async () => {
    const shop = new Shop({ graph: ['', ''] });
    // A lead that claimed for its teammates: their claims carry its session.
    const claims = [
      await shop.claimed(1, '--session', 'x'),
      await shop.claimed(2, '--session', 'y'),
    ];
    const text = readFileSync(shop.ledger, 'utf8').replace(
      /"session":"[xy]"/g,
      `"session":"${SESSION}"`,
    );
    writeFileSync(shop.ledger, text);
    writeFileSync(sign(shop), `${JSON.stringify({ plan: `${shop.root}/${shop.plan}` })}\n`);
    const blocks = claims.map((claim) => {
      const head = shop.put(claim.worktree, `src/part${claim.stage}/1.rs`, 'x\n');
      return words(shop, claim, head).split('### Stage Carry Evidence')[1];
    });
    const message = `### Stage Carry Evidence\n${blocks.join('\n')}`;
    const { output, stderr } = send(shop, 'Stop', { last_assistant_message: message });
    expect(stderr).toBe('');
    expect(output.systemMessage).toMatch(/stage 1 .* is done.*\n.*stage 2 .* is done/);
    expect(statuses(shop).filter((it) => it.startsWith('done'))).toEqual(['done 1', 'done 2']);
  });

  it('never writes for a session that lost its claim', async () => {
    const shop = new Shop({ graph: [''] });
    const claim = await shop.claimed(1, '--session', SESSION);
    const head = shop.put(claim.worktree, 'src/part1/1.rs', 'done\n');
    const given = ['stage', 'release', '--plan', shop.plan, '--stage', '1'];
    await shop.okstra(...given, '--session', SESSION);
    await shop.claimed(1, '--session', 'successor');
    const last_assistant_message = words(shop, claim, head);
    expect(send(shop, 'Stop', { last_assistant_message }).output).toEqual({});
    expect(statuses(shop)).toEqual(['started 1', 'released 1', 'started 1']);
  });
});

describe('the end', () => {
  it('gives back what is not done, with the reason', async () => {
    const shop = new Shop({ graph: ['', ''] });
    await shop.claimed(1, '--session', SESSION);
    await shop.claimed(2, '--session', 'another');
    const answered = send(shop, 'SessionEnd.other');
    expect(answered).toMatchObject({ status: 0, stdout: '{}\n', stderr: '' });
    await until(() => statuses(shop).includes('released 1'), 'stage 1 is given back');
    expect(statuses(shop)).toEqual(['started 1', 'started 2', 'released 1']);
    expect(readFileSync(shop.ledger, 'utf8')).toContain('"reason":"the session ended (other)"');
    await until(() => shop.registered()[0]?.state === 'kept', 'the worktree is kept');
    const again = send(shop, 'SessionStart.resume').output.hookSpecificOutput?.additionalContext;
    expect(again).toContain(
      "You do not hold stage 1 'Part 1' any more (the session ended (other))",
    );
  });

  it('records a complete implementation', async () => {
    const shop = new Shop({ graph: [''] });
    const manifest = '.okstra/tasks/web/login/task-manifest.json';
    const phase = { currentPhase: 'implementation' };
    shop.write(manifest, JSON.stringify({ taskKey: 'shop:web:login', workflow: phase }));
    const claim = await shop.claimed(1, '--session', SESSION);
    const head = shop.put(claim.worktree, 'src/part1/1.rs', 'done\n');
    const { stderr } = send(shop, 'Stop', { last_assistant_message: words(shop, claim, head) });
    expect(stderr).toBe('');
    expect(send(shop, 'SessionEnd.other')).toMatchObject({ status: 0, stdout: '{}\n' });
    const read = () => JSON.parse(readFileSync(join(shop.root, manifest), 'utf8'));
    await until(() => read().phaseOutcome !== undefined, 'the outcome is recorded');
    const { state, headCommit } = read().phaseOutcome.implementation;
    expect([state, headCommit]).toEqual(['completed', head]);
  });

  it('outlives a client that kills its hooks, and waits for the lock', async () => {
    const shop = new Shop({ graph: [''] });
    await shop.claimed(1, '--session', SESSION);
    // Somebody holds the plan's lock for longer than a client waits.
    const lock = join(shop.home, 'locks');
    const { readdirSync } = await import('node:fs');
    const [name = ''] = readdirSync(lock).filter((it) => it.includes('login'));
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `const native = require(${JSON.stringify(nativePath())});
         const file = require('node:fs').openSync(${JSON.stringify(join(lock, name))}, 'r+');
         native.tryLock(file, 0, 0, true);
         console.log('held');
         setTimeout(() => {}, 3000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const start = Date.now();
    // The client kills the hook's whole process group.
    const client = spawn(process.execPath, [BINARY, 'hook'], {
      cwd: shop.root,
      env: shop.env,
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    client.stdin.end(JSON.stringify(recorded('SessionEnd.other.json', shop.root)));
    await new Promise((resolve) => client.once('exit', resolve));
    expect(Date.now() - start).toBeLessThan(1_500);
    try {
      process.kill(-(client.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing is left of the group.
    }
    expect(statuses(shop)).toEqual(['started 1']);
    await until(() => statuses(shop).includes('released 1'), 'stage 1 is given back');
    expect(Date.now() - start).toBeGreaterThan(1_500);
    holder.kill();
  });
});

const BINARY = join(import.meta.dirname, '../../npm-package/bin/okstra.js');

function nativePath(): string {
  const system = `${process.platform}-${process.arch}`;
  return join(
    import.meta.dirname,
    `../../node_modules/fs-native-extensions/prebuilds/${system}/fs-native-extensions.node`,
  );
}
