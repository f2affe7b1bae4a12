/** Carrying out what the core has decided. */
import type { Effect } from '../../../npm-package/src/index.js';
import type { Host } from './host.js';

/**
 * Carries out effects in their order and stops at the first that fails, so that what comes later
 * may rely on what comes before.
 * @throws HostError
 */
export function carryOut(
  effects: readonly Effect[],
  host: Pick<Host, 'append' | 'writeNew' | 'replaceFile' | 'removeFile' | 'removeFolder'>,
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
        if (effect.if_unchanged === null) host.writeNew(effect.path, effect.text);
        else host.replaceFile(effect.path, Buffer.from(effect.if_unchanged), effect.text);
        break;
      case 'remove':
        host.removeFile(effect.path, Buffer.from(effect.if_unchanged));
        break;
      case 'remove-folder':
        host.removeFolder(effect.path);
        break;
    }
  }
}
