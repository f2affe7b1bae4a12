/** `okstra stage list --watch`: the table again after every change. */
import type { Board } from '../cli/board.js';
import type { Context } from '../cli/context.js';
import { OK } from '../cli/exit.js';
import { explain, say } from '../cli/talk.js';

/** Empties the screen and the lines above it. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H';

/** Shows the stages, unless the text is the one from before; `clear` is written in front of it. */
type Show = (before?: string, clear?: string) => Promise<{ board: Board; text: string }>;

/** Shows now and after every change of plan, ledger or evidence, until the person stops it. */
export async function watchStages(show: Show, context: Context): Promise<number> {
  const { host } = context;
  const stopped = new Promise<void>((resolve) => host.onInterrupt(resolve));
  const { board, text } = await show();
  let last: string | undefined = text;
  say(host, 'watching; Ctrl-C ends');
  const { ledger, carry_folder } = board.layout;
  let running: Promise<void> = Promise.resolve();
  const again = async () => {
    const clear = host.isTerminal(1) ? CLEAR : '';
    try {
      last = (await show(last, clear)).text;
    } catch (error) {
      host.write(1, clear);
      last = undefined;
      // The plan may be half saved; the next change shows more.
      explain(host, error);
    }
  };
  const update = () => {
    running = running.then(again);
  };
  const watcher = await host.watchFiles([board.name, ledger, `${carry_folder}/`], update);
  // What happened before the watch had begun.
  update();
  await stopped;
  await watcher.close();
  await running;
  return OK;
}
