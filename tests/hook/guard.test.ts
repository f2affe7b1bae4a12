/** Edits in real worktrees: which the stage of a session covers. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Shop } from '../worktrees/support.js';
import { type Answered, hook, recorded, SESSION } from './support.js';

/** A session that edits a file, as its client tells it. */
function edit(
  shop: Shop,
  file: string,
  more: { cwd?: string; session?: string; tool?: string } = {},
): Answered {
  const cwd = more.cwd ?? shop.root;
  const event = {
    ...recorded('PreToolUse.Edit.json', cwd),
    session_id: more.session ?? SESSION,
    tool_name: more.tool ?? 'Edit',
    tool_input:
      more.tool === 'NotebookEdit' ? { notebook_path: file, new_source: '' } : { file_path: file },
  };
  return hook(event, { cwd, env: shop.env });
}

/** What is told, in a word. */
function verdict({ output, stderr }: Answered): string {
  expect(stderr).toBe('');
  const own = output.hookSpecificOutput;
  const text = own?.additionalContext ?? own?.permissionDecisionReason;
  const why = /is (not among the files|outside the worktree|kept by okstra)|(nobody has claimed)/;
  const found = text === undefined ? null : why.exec(text);
  const kind = text === undefined ? 'fine' : (found?.[1] ?? found?.[2] ?? text);
  return own?.permissionDecision === undefined ? kind : `${own.permissionDecision}: ${kind}`;
}

describe('a session with a stage', () => {
  it('is held to the files of the stage and to its worktree', { timeout: 120_000 }, async () => {
    const shop = new Shop({ graph: ['', ''] });
    const { worktree } = await shop.claimed(1, '--session', SESSION);
    mkdirSync(join(worktree, 'src/part1'), { recursive: true });
    writeFileSync(join(worktree, 'src/part1/1.rs'), '');
    mkdirSync(join(shop.root, 'src'), { recursive: true });
    // Links: out of the worktree, into it, and to a file that is not there yet.
    symlinkSync(join(shop.root, 'src'), join(worktree, 'out'));
    symlinkSync(worktree, join(shop.folder, 'in'));
    symlinkSync(join(worktree, 'src/part1/1.rs'), join(worktree, 'same.rs'));
    symlinkSync(join(shop.root, 'later.rs'), join(worktree, 'src/part1/later.rs'));
    const isCaseBlind = existsSync(join(worktree, 'SRC/PART1/1.RS'));
    const table: [file: string, wanted: string][] = [
      [`${worktree}/src/part1/1.rs`, 'fine'],
      [`${worktree}/src/part1/2.rs`, 'not among the files'],
      [`${worktree}/src/part1/../part1/./1.rs`, 'fine'],
      [`${worktree}/src/part1/../../../stage-1/src/part1/1.rs`, 'fine'],
      [`${worktree}/src/part1/../../../../../../../shop/a.rs`, 'outside the worktree'],
      [`${worktree}/SRC/part1/1.rs`, isCaseBlind ? 'fine' : 'not among the files'],
      [`${worktree}/out/part1/1.rs`, 'outside the worktree'],
      [`${worktree}/same.rs`, 'fine'],
      [`${worktree}/src/part1/later.rs`, 'outside the worktree'],
      [`${shop.folder}/in/src/part1/1.rs`, 'fine'],
      [`${shop.root}/src/part1/1.rs`, 'outside the worktree'],
      [`${worktree}-more/src/part1/1.rs`, 'outside the worktree'],
      [shop.ledger, 'kept by okstra'],
      [`${shop.root}/.okstra/tasks/web/login/runs/implementation/stage-1/reports/a.md`, 'fine'],
      ['/', 'outside the worktree'],
      [`${worktree}/a\nb\u0000c`, 'not among the files'],
    ];
    for (const [file, wanted] of table.slice(0, -1)) {
      expect(verdict(edit(shop, file)), file).toBe(wanted);
    }
    // A name that no system takes is told and stops nothing.
    const [odd = ''] = table.at(-1) ?? [];
    expect(edit(shop, odd)).toMatchObject({ status: 0, stdout: '{}\n' });
    for (const tool of ['Write', 'MultiEdit', 'NotebookEdit']) {
      expect(verdict(edit(shop, `${worktree}/x`, { tool })), tool).toBe('not among the files');
    }
    for (const tool of ['Read', 'Bash', 'edit']) {
      expect(verdict(edit(shop, `${worktree}/x`, { tool })), tool).toBe('fine');
    }
    // Another session in that worktree builds the same stage; elsewhere it is free.
    const session = 'another';
    expect(verdict(edit(shop, `${worktree}/x`, { session }))).toBe('not among the files');
    expect(verdict(edit(shop, `${shop.root}/x`, { session }))).toBe('fine');
    expect(verdict(edit(shop, `${shop.root}/x`, { session, cwd: worktree }))).toBe(
      'outside the worktree',
    );
    // The stage is given back: its worktree stays, and nobody is to work in it.
    const ended = await shop.okstra(
      ...['stage', 'release', '--plan', shop.plan, '--stage', '1', '--session', SESSION],
    );
    expect(ended.exit).toBe(0);
    expect(verdict(edit(shop, `${worktree}/src/part1/1.rs`))).toBe('nobody has claimed');
    expect(verdict(edit(shop, `${shop.root}/src/part1/1.rs`))).toBe('fine');
  });

  it('is warned, asked or denied as the project and the person say', async () => {
    const shop = new Shop({ graph: [''] });
    const { worktree } = await shop.claimed(1, '--session', SESSION);
    const file = `${worktree}/x`;
    const person = (guard: string) =>
      writeFileSync(join(shop.home, 'config.json'), JSON.stringify({ guard }));
    const project = (guard: string) =>
      shop.write('.okstra/project.json', JSON.stringify({ projectId: 'shop', guard }));
    expect(verdict(edit(shop, file))).toBe('not among the files');
    person('deny');
    expect(verdict(edit(shop, file))).toBe('deny: not among the files');
    expect(verdict(edit(shop, `${worktree}/src/part1/1.rs`))).toBe('fine');
    project('ask');
    expect(verdict(edit(shop, file))).toBe('ask: not among the files');
    project('off');
    expect(verdict(edit(shop, file))).toBe('fine');
  });

  it('in a worktree inside the project is held to the worktree', async () => {
    const shop = new Shop({ graph: ['', ''] });
    shop.env.OKSTRA_HOME = join(shop.root, '.trees');
    const { worktree } = await shop.claimed(1, '--session', SESSION);
    expect(worktree.startsWith(`${shop.root}/`)).toBe(true);
    expect(verdict(edit(shop, `${worktree}/src/part1/1.rs`))).toBe('fine');
    expect(verdict(edit(shop, `${worktree}/README.md`))).toBe('not among the files');
    expect(verdict(edit(shop, `${shop.root}/src/part1/1.rs`))).toBe('outside the worktree');
  });

  it('that builds two stages is held to the one whose worktree it is', async () => {
    const shop = new Shop({ graph: ['', ''] });
    const first = await shop.claimed(1, '--session', SESSION);
    // A claim again is the same claim: the second is another session's, with this one's id.
    const second = await shop.claimed(2, '--session', 'worker');
    expect(verdict(edit(shop, `${first.worktree}/src/part2/1.rs`))).toBe('not among the files');
    expect(verdict(edit(shop, `${second.worktree}/src/part2/1.rs`))).toBe('fine');
    expect(verdict(edit(shop, `${second.worktree}/src/part1/1.rs`))).toBe('not among the files');
  });
});
