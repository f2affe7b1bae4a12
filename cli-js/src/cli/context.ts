/** What a command works with: the core and the world outside, both replaceable. */
import type { Api } from '../../../npm-package/src/api.js';
import type { Host } from '../host/host.js';
import type { Commands } from './define.js';

export type { Api };

export interface Context {
  /**
   * The core. The first call loads it, with the settings that suit `inputBytes` of plans; whoever
   * will use it for long says `Infinity`.
   */
  api(inputBytes: number): Api;
  host: Host;
  /** Every command, for what describes them. */
  commands: Commands;
}
