/** `okstra panes`: the panes of tmux that belong to a run. */
import type { Pane } from '../../../npm-package/src/index.js';
import type { Context } from '../cli/context.js';
import { command, type Noun } from '../cli/define.js';
import { OK, UsageError } from '../cli/exit.js';
import { gather, leadOptions, openRun, ownServer, tracesOf, whileRewritten } from '../cli/lead.js';
import { printableJson, say } from '../cli/talk.js';
import type { Host } from '../host/host.js';

const { runDir, session, tmuxServer, json, dryRun } = leadOptions;

const WHICH =
  "A pane is the run's when okstra has tagged it for the run, or when it was started as an agent of the team that the run's session leads. The lead's own pane and those of people are never among them.";

/** The panes of a run. */
function panesOf(
  values: {
    runDir: string | undefined;
    session: string | undefined;
    tmuxServer: string | undefined;
  },
  context: Context,
): Promise<Pane[]> {
  const run = openRun(context.host, values);
  return whileRewritten(async () => {
    const facts = await gather(context, run, values);
    // Outside tmux there is nothing to decide.
    return facts.servers.length === 0 ? [] : context.api(0).listPanes(facts).panes;
  });
}

/** Closes panes and prints how many they were. */
async function closeAll(
  host: Host,
  panes: readonly Pane[],
  values: { json: boolean; dryRun: boolean },
): Promise<number> {
  const closed = values.dryRun || panes.length === 0 ? [] : await (await host.tmux()).close(panes);
  if (values.json) {
    const left = panes.filter((pane) => !closed.includes(pane));
    host.write(1, `${printableJson({ closed, left, dry_run: values.dryRun })}\n`);
  } else if (values.dryRun) host.write(1, lines(panes));
  else host.write(1, `${closed.length}\n`);
  return OK;
}

function lines(panes: readonly Pane[]): string {
  return panes.map(({ pane_id, title }) => `${pane_id}\t${title}\n`).join('');
}

const list = command({
  summary: 'List the panes of a run that are left',
  details: `${WHICH} A line is the pane's id, a tab and its title. Outside tmux nothing is printed.`,
  examples: [['okstra panes list --run-dir RUN', 'what is left']],
  options: { runDir, session, tmuxServer, json },
  async run(_args, values, context) {
    const panes = await panesOf(values, context);
    if (values.json) context.host.write(1, `${printableJson({ panes })}\n`);
    else if (panes.length > 0) context.host.write(1, lines(panes));
    return OK;
  },
});

const close = command({
  summary: 'Close the panes that list shows, and print how many they were',
  details: WHICH,
  examples: [
    ['okstra panes close --run-dir RUN', 'close them'],
    ['okstra panes close --run-dir RUN --dry-run', 'say which'],
  ],
  options: { runDir, session, tmuxServer, json, dryRun },
  async run(_args, values, context) {
    return closeAll(context.host, await panesOf(values, context), values);
  },
});

const reap = command({
  summary: 'Close the trace panes of a session, and print how many they were',
  details:
    'Only panes that okstra has tagged as traces of this session, of whatever run. It is what happens when a session ends.',
  examples: [['okstra panes reap', 'those of the current session']],
  options: { session: { ...session, text: 'the session' }, tmuxServer, json, dryRun },
  async run(_args, values, context) {
    const { host } = context;
    const ended = values.session ?? host.env.CLAUDE_CODE_SESSION_ID ?? host.env.OKSTRA_SESSION;
    if (ended === undefined || ended === '') {
      throw new UsageError('which session? give --session ID');
    }
    return closeAll(host, await tracesOf(context, ended, values), values);
  },
});

const tag = command({
  summary: 'Tag a pane as one of a run',
  details:
    'Sets four user options of the pane: @okstra_role, @okstra_session, @okstra_run and @okstra_pane. From then on list shows it, and close closes it; a pane tagged as the lead is safe from both.',
  examples: [['okstra panes tag --run-dir RUN --role trace', 'the pane that this runs in']],
  options: {
    runDir,
    session,
    tmuxServer,
    role: {
      kind: 'choice',
      text: 'what it is for',
      choices: ['worker', 'trace', 'lead'],
      default: 'worker',
    },
    pane: { kind: 'text', value: 'ID', text: 'the pane, such as %3; default: this one' },
  },
  async run(_args, values, context) {
    const { host } = context;
    const run = openRun(host, values);
    const server = values.tmuxServer ?? ownServer(host);
    const pane = values.pane ?? (values.tmuxServer === undefined ? host.env.TMUX_PANE : undefined);
    if (server === undefined || pane === undefined) {
      throw new UsageError('which pane? run it inside tmux, or give --tmux-server and --pane');
    }
    const { options } = context.api(0).paneTags({
      run: run.folder,
      role: values.role,
      pane_id: pane,
      ...(run.session === undefined ? {} : { session: run.session }),
    });
    await (await host.tmux()).tag(server, pane, options);
    say(host, `${pane} is tagged`);
    return OK;
  },
});

export const panes: Noun = {
  summary: 'List, close and tag the panes of a run',
  verbs: { list, close, reap, tag },
};
