/** Opening pull requests, on the built command, a bare remote and a stand-in for gh. */
import { describe, expect, it } from 'vitest';
import { KEY, LEDGER } from '../scenarios/project.js';
import { ADDRESS, acceptedShop, type Shop } from './shop.js';

const BRANCH = 'feat-login-collect';

async function twoStages(): Promise<Shop> {
  const shop = acceptedShop('', '');
  await shop.stage(1);
  await shop.stage(2);
  return shop;
}

describe('handoff pr', () => {
  it('prints title and body, and does nothing', async () => {
    const shop = await twoStages();
    const refs = shop.refs();
    const { exit, stdout, stderr } = await shop.handoff('pr');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(
      /^login: all stages\n\n## Stages\n\n- 1: Part 1 \([\da-f]{7}\)\n- 2: Part 2 \([\da-f]{7}\)\n\n## Verification\n\nAccepted: `.*\.md`\n$/,
    );
    const one = await shop.handoff('pr', '--stages', '2', '--json');
    expect(JSON.parse(one.stdout)).toMatchObject({
      title: 'login: stage 2, Part 2',
      branch: `${BRANCH}-s2`,
      base_branch: 'main',
    });
    expect(shop.refs()).toBe(refs);
  });

  it('pushes the branch, opens the pull request and records it', async () => {
    const shop = await twoStages();
    shop.gh();
    const dry = await shop.handoff('pr', '--create', '--dry-run');
    expect(dry.exit).toBe(0);
    expect(dry.stdout).toContain(`refs/heads/${BRANCH}:refs/heads/${BRANCH} would be pushed to`);
    expect({ pushed: shop.pushed(), asked: shop.asked() }).toEqual({ pushed: ['main'], asked: [] });

    const made = await shop.handoff('pr', '--create', '--draft');
    expect(made).toEqual({
      exit: 0,
      stdout: `${ADDRESS}\n`,
      stderr: `okstra: ${BRANCH} is pushed to origin\n`,
    });
    expect(shop.pushed()).toEqual([BRANCH, 'main']);
    expect(shop.in(shop.remote, 'rev-parse', BRANCH)).toBe(shop.git('rev-parse', BRANCH));
    expect(shop.asked().slice(0, 9)).toEqual([
      'pr',
      'create',
      '--title=login: all stages',
      '--base=main',
      `--head=${BRANCH}`,
      '--body-file=-',
      '--draft',
      '> ## Stages',
      '> ',
    ]);
    expect(shop.rows().at(-1)).toMatchObject({
      stages: [1, 2],
      status: 'pr',
      pr_url: ADDRESS,
      pr_number: 17,
    });
    // They are on their way now.
    const again = await shop.handoff('pr', '--create');
    expect(again.exit).toBe(3);
    expect(again.stderr).toContain('stage 1: it is in pull request #17');
  });

  it('records a pull request that is open already', async () => {
    const shop = await twoStages();
    shop.gh(`echo 'a pull request for branch "x" already exists: ${ADDRESS}' >&2; exit 1`);
    const made = await shop.handoff('pr', '--create');
    expect(made).toMatchObject({ exit: 0, stdout: `${ADDRESS}\n` });
    expect(made.stderr).toContain('was open already; it is recorded now');
    expect(shop.read(LEDGER)).toContain('"pr_number":17');
  });

  it('records nothing where gh fails, and goes on from there', async () => {
    const shop = await twoStages();
    shop.gh('echo "To get started with GitHub CLI, please run: gh auth login" >&2; exit 4');
    const failed = await shop.handoff('pr', '--create');
    expect(failed).toMatchObject({ exit: 5, stdout: '' });
    expect(failed.stderr).toContain('gh auth login');
    expect(shop.read(LEDGER)).not.toContain('"pr"');
    shop.gh();
    const made = await shop.handoff('pr', '--create');
    expect(made).toMatchObject({ exit: 0, stderr: `okstra: origin has ${BRANCH}\n` });
  });

  it('says the commands where there is no gh', async () => {
    const shop = await twoStages();
    const { exit, stdout, stderr } = await shop.handoff('pr', '--create');
    expect(exit).toBe(5);
    expect(stdout).toMatch(/^login: all stages\n\n## Stages\n/);
    expect(stderr.split('\n')).toEqual([
      'gh: no such program, so nothing was pushed; this does it by hand:',
      `git push origin refs/heads/${BRANCH}:refs/heads/${BRANCH}`,
      `okstra handoff pr --task-key ${KEY} | tail -n +3 | gh pr create '--title=login: all stages' --base=main --head=${BRANCH} --body-file=-`,
      `okstra stage pr --task-key ${KEY} --stages 1,2 --url ADDRESS`,
      '',
    ]);
    expect(shop.pushed()).toEqual(['main']);
    // The first of them works as it is said.
    shop.git(...(stderr.split('\n')[1] ?? '').split(' ').slice(1));
    expect(shop.pushed()).toEqual([BRANCH, 'main']);
  });

  it('never pushes to the base branch, and never with force', async () => {
    const shop = await twoStages();
    shop.gh();
    const main = shop.in(shop.remote, 'rev-parse', 'main');
    for (const name of [BRANCH, BRANCH.toUpperCase(), `refs/heads/${BRANCH}`]) {
      const made = await shop.handoff('pr', '--create', '--base-branch', name);
      expect(made).toMatchObject({ exit: 3, stdout: '' });
    }
    expect(shop.pushed()).toEqual(['main']);

    // The remote's own default branch is one too, whatever was said.
    shop.git('push', '--quiet', 'origin', `main:${BRANCH}`);
    shop.in(shop.remote, 'symbolic-ref', 'HEAD', `refs/heads/${BRANCH}`);
    const def = await shop.handoff('pr', '--create');
    expect(def.exit).toBe(3);
    expect(def.stderr).toContain('is a base branch');
    shop.in(shop.remote, 'symbolic-ref', 'HEAD', 'refs/heads/main');

    // Somebody else has pushed something there.
    const theirs = shop.git('commit-tree', '-m', 'theirs', 'main^{tree}');
    shop.git('push', '--quiet', '--force', 'origin', `${theirs}:refs/heads/${BRANCH}`);
    const taken = await shop.handoff('pr', '--create');
    expect(taken.exit).toBe(3);
    expect(taken.stderr).toContain('origin has other commits in it; nothing was pushed');
    expect(shop.in(shop.remote, 'rev-parse', BRANCH)).toBe(theirs);
    expect(shop.in(shop.remote, 'rev-parse', 'main')).toBe(main);
    expect(shop.asked()).toEqual([]);
    expect(shop.read(LEDGER)).not.toContain('"pr"');
  });
});
