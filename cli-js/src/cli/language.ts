/** The language of what people are asked. */
import type { OptionSpec } from './define.js';

export type Language = 'en' | 'ko';

/** The option that chooses it. */
export const languageOption = {
  kind: 'choice',
  text: 'the language of the question; auto is that of the terminal',
  choices: ['auto', 'en', 'ko'],
  default: 'auto',
} as const satisfies OptionSpec;

/** The language that is meant. */
export function languageOf(
  asked: 'auto' | Language,
  env: Readonly<Record<string, string | undefined>>,
): Language {
  if (asked !== 'auto') return asked;
  return /^ko\b|^ko_/i.test(env.LC_ALL || env.LC_MESSAGES || env.LANG || '') ? 'ko' : 'en';
}
