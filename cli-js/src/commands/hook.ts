/**
 * `okstra hook`: for the help and the completion alone. The program itself starts another bundle
 * for it, see `../hook.ts`.
 */
import { command } from '../cli/define.js';
import { OK } from '../cli/exit.js';

export const hook = command({
  summary: 'Answer an event of a Claude Code session; for its settings',
  details:
    "The event is read on standard input, the answer is one JSON document on standard output, and the exit status is always 0. What an edit outside a stage leads to is the setting 'guard' (off, warn, ask, deny; by default warn) in project.json or in config.json.",
  examples: [['okstra hook < event.json', 'what a session would be told']],
  options: {},
  run: () => OK,
});
