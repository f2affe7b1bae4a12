/** `okstra stage list --watch`: the table again after every change. */
import type { Board } from '../cli/board.js';
import type { Context } from '../cli/context.js';
import { OK } from '../cli/exit.js';
import { explain, say } from '../cli/talk.js';

/** Empties the screen and the lines above it. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H';

/** How many sidecars are followed by name; the stages of a plan are rarely more. */
const MOST_STAGES = 1000;

/** Shows now and after every change of plan, ledger or evidence, until the person stops it. */
export async function watchStages(show: () => Promise<Board>, context: Context): Promise<number> {
  const { host } = context;
  const stopped = new Promise<void>((resolve) => host.onInterrupt(resolve));
  let board = await show();
  say(host, 'watching; Ctrl-C ends');
  const { ledger, carry_folder } = board.layout;
  const sidecars = Array.from(
    { length: MOST_STAGES },
    (_, at) => `${carry_folder}/stage-${at + 1}.json`,
  );
  let running: Promise<void> = Promise.resolve();
  const again = async () => {
    if (host.isTerminal(1)) host.write(1, CLEAR);
    try {
      board = await show();
    } catch (error) {
      // The plan may be half saved; the next change shows more.
      explain(host, error);
    }
  };
  const watcher = await host.watchFiles([board.name, ledger, ...sidecars], () => {
    running = running.then(again);
  });
  await stopped;
  await watcher.close();
  await running;
  return OK;
}
