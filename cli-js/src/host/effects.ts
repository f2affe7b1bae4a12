/** Carrying out what the core has decided. */
import type { Host } from './host.js';

/** One change to the world outside. */
export type Effect =
  /** Adds a row to a ledger; the caller holds its lock. */
  | { kind: 'append'; path: string; line: string }
  /** Makes a file that must not be there yet. */
  | { kind: 'write-new'; path: string; text: string }
  /** Replaces a file that must still hold `if_unchanged`. */
  | { kind: 'replace'; path: string; text: string; if_unchanged: string };

/**
 * Carries out effects in their order and stops at the first that fails, so that what comes later
 * may rely on what comes before.
 * @throws HostError
 */
export function carryOut(
  effects: readonly Effect[],
  host: Pick<Host, 'append' | 'writeNew' | 'replaceFile'>,
): void {
  for (const effect of effects) {
    switch (effect.kind) {
      case 'append':
        host.append(effect.path, effect.line);
        break;
      case 'write-new':
        host.writeNew(effect.path, effect.text);
        break;
      case 'replace':
        host.replaceFile(effect.path, new TextEncoder().encode(effect.if_unchanged), effect.text);
        break;
    }
  }
}
