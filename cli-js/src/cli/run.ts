/** One command line from its words to its exit status. */
import { version } from '../../../npm-package/package.json';
import type { Context } from './context.js';
import { loadAll } from './define.js';
import { OK } from './exit.js';
import { parseFast } from './parse.js';
import { explain } from './talk.js';

/** Runs a command line (without the program's name) and answers its exit status. */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  try {
    if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
      context.host.write(1, `${version}\n`);
      return OK;
    }
    const { commands, host } = context;
    const [name = ''] = argv;
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
    let parsed = load === undefined ? undefined : parseFast({ [name]: await load() }, argv);
    if (parsed === undefined) {
      const { parseFully } = await import('../lazy/usage.js');
      const answer = parseFully(argv, { host, entries: await loadAll(commands) }, version);
      if (typeof answer === 'number') return answer;
      parsed = answer;
    }
    return await parsed.command.run(parsed.args, parsed.values as never, context);
  } catch (error) {
    return explain(context.host, error);
  }
}
