/** Whose commits okstra makes. */
import { run } from './run.js';

const NAME = 'okstra';
const EMAIL = 'okstra@localhost';

/** For objects that nobody keeps: always the same, so that the same question makes them once. */
export const NOBODY: Record<string, string> = {
  GIT_AUTHOR_NAME: NAME,
  GIT_AUTHOR_EMAIL: EMAIL,
  GIT_AUTHOR_DATE: '@1000000000 +0000',
  GIT_COMMITTER_NAME: NAME,
  GIT_COMMITTER_EMAIL: EMAIL,
  GIT_COMMITTER_DATE: '@1000000000 +0000',
};

/**
 * Variables that give commits a name where the person has set none. Git would make one up from
 * the names of user and machine, or refuse.
 */
export async function identity(folder: string): Promise<Record<string, string>> {
  const args = ['-c', 'user.useConfigOnly=true', 'var', 'GIT_COMMITTER_IDENT'];
  if ((await run(folder, args)).status === 0) return {};
  const own: Record<string, string> = {};
  for (const who of ['AUTHOR', 'COMMITTER']) {
    for (const [part, value] of [['NAME', NAME] as const, ['EMAIL', EMAIL] as const]) {
      own[`GIT_${who}_${part}`] = process.env[`GIT_${who}_${part}`] || value;
    }
  }
  return own;
}
