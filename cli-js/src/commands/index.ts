/** Every command by its name. A new noun is one file in this folder and one line here. */
import type { Entry } from '../cli/define.js';
import { completion } from './completion.js';
import { plan } from './plan.js';

export const entries: Readonly<Record<string, Entry>> = {
  plan,
  completion,
};
