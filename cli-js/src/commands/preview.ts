/** `okstra preview`: a plan and what becomes of it, live in a browser. */
import type { PlanLayout } from '../../../npm-package/src/index.js';
import { boardOptions, findPlan, slashes } from '../cli/board.js';
import type { Context } from '../cli/context.js';
import { command } from '../cli/define.js';
import { OK, UsageError } from '../cli/exit.js';
import { projectRootOf } from '../cli/project.js';
import { explain, printableJson, say, sayOf } from '../cli/talk.js';
import { type Host, HostError } from '../host/host.js';
import type { Served, Serving } from '../host/serving/serving.js';
import { LiveFacts } from './preview-facts.js';

const { plan: planOption, taskKey, json } = boardOptions;

/** The highest number of a port. */
const MOST_PORT = 65_535;

/**
 * Milliseconds between two looks at the files. Not every system tells of changes, and those in a
 * folder that is just made, or made anew, may come before anybody follows it.
 */
const LOOK = 250;

export const preview = command({
  summary: 'Show a plan and its stages in a browser, live',
  details:
    'A page on this machine only, under an address that nobody can guess: the graph, the states, the findings, the evidence. It follows every change of plan, ledger and evidence, and shows no other file. Ctrl-C ends it. The browser is $BROWSER or that of the system; where there is no screen, or nobody looks at the output, only the address is printed. Exit status: 5 when the port is taken.',
  examples: [
    ['okstra preview plan.md', 'show a plan'],
    ['okstra preview --task-key shop:web:login', 'the plan of a task'],
    ['okstra preview plan.md --no-open --port 8123', 'only print the address'],
  ],
  argument: { name: 'PLAN', text: 'the plan', optional: true },
  options: {
    plan: planOption,
    taskKey,
    port: { kind: 'integer', value: 'N', min: 1, text: 'the port; default: a free one' },
    open: {
      kind: 'switch',
      text: 'open a browser, also where nobody seems to look',
      off: 'only print the address',
    },
    json: { ...json, text: 'print the address in one JSON document, then go on' },
  },
  async run([given], values, context) {
    const { host } = context;
    if (given !== undefined && values.plan !== undefined) {
      throw new UsageError('the plan is given twice; leave --plan out');
    }
    const plan = given ?? values.plan;
    if (plan === undefined && values.taskKey === undefined) {
      throw new UsageError('which plan? give PLAN or --task-key KEY');
    }
    if (plan === '-') throw new UsageError("a preview follows a file; '-' cannot be followed");
    if ((values.port ?? 0) > MOST_PORT) {
      throw new UsageError(`--port takes a number up to ${MOST_PORT}, got ${values.port}`);
    }
    const stopped = new Promise<void>((resolve) => host.onInterrupt(resolve));
    const serving = await host.serving();
    const { name, layout, facts } = await open({ plan, taskKey: values.taskKey }, context);
    let served: Served | undefined;
    const follow = inTurn(async () => {
      try {
        if (await facts.refresh()) served?.changed();
      } catch (error) {
        explain(host, error);
      }
    });
    served = await serving.serve({
      port: values.port,
      page: serving.page(),
      async facts() {
        if (!facts.isCurrent()) await follow();
        return facts.json();
      },
    });
    const files = [facts.plan, layout.ledger, `${layout.carry_folder}/`];
    const watcher = await host.watchFiles(files, follow).catch(() => undefined);
    const timer = setInterval(() => {
      if (!facts.isCurrent()) void follow();
    }, LOOK);
    // What happened before the watch had begun.
    void follow();
    if (values.json) {
      const { plan_path, ledger, carry_folder } = layout;
      const { url, port } = served;
      host.write(1, `${printableJson({ url, port, plan: plan_path, ledger, carry_folder })}\n`);
    } else {
      host.write(1, `${served.url}\n`);
      describe(name, facts, host);
    }
    const reason =
      values.json && values.open !== true ? 'unasked' : whyNot(values.open, serving, host);
    if (reason === undefined) void show(served, serving, host);
    else if (reason === 'remote') {
      const { port } = served;
      say(
        host,
        `no screen here; on yours run 'ssh -N -L ${port}:127.0.0.1:${port} ${host.hostName()}' and open the address there`,
      );
    }
    await stopped;
    clearInterval(timer);
    await watcher?.close();
    await served.close();
    return OK;
  },
});

/** Finds the plan and reads everything once. */
async function open(
  wanted: { plan: string | undefined; taskKey: string | undefined },
  context: Context,
): Promise<{ name: string; layout: PlanLayout; facts: LiveFacts }> {
  const { host } = context;
  const { name, root } = findPlan(wanted, context);
  const plan = slashes(host.realPath(name));
  if (!host.exists(plan)) throw new HostError('missing', name, 'no such file', 'check the path');
  if (!host.isFile(plan)) {
    throw new HostError('unreadable', name, 'not a regular file', 'give a Markdown file');
  }
  const layout = context.api(0).planLayout(plan, root ?? projectRootOf(host, plan));
  const facts = new LiveFacts(host, await host.serving(), plan, layout);
  await facts.refresh();
  return { name, layout, facts };
}

/** Says what is shown and what is followed. */
function describe(name: string, { facts }: LiveFacts, host: Host): void {
  sayOf(host, name, 'shown at this address, on this machine only, to whoever knows the address');
  const ledger = facts.ledger === null ? 'its ledger (none yet)' : 'its ledger';
  const { length } = facts.evidence;
  const of = length === 0 ? 'none yet' : `of ${length} ${length === 1 ? 'stage' : 'stages'}`;
  say(host, `following the plan, ${ledger} and its evidence (${of}); Ctrl-C ends`);
  for (const line of facts.fault?.split('\n') ?? []) say(host, `warning: ${line}`);
}

/** Does a piece of work, and once more where it was asked for meanwhile; never two at a time. */
function inTurn(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isAsked = false;
  const all = async () => {
    while (isAsked) {
      isAsked = false;
      await work();
    }
    running = undefined;
  };
  return () => {
    isAsked = true;
    running ??= all();
    return running;
  };
}

/** Why no browser is to be opened; `remote` where there is no screen for one. */
function whyNot(
  asked: boolean | undefined,
  serving: Serving,
  host: Host,
): 'unasked' | 'remote' | undefined {
  if (asked !== undefined) return asked ? undefined : 'unasked';
  const { BROWSER = '', CI = '' } = host.env;
  if (CI !== '' || BROWSER === 'none' || !host.isTerminal(1)) return 'unasked';
  return BROWSER !== '' || serving.hasScreen() ? undefined : 'remote';
}

async function show(served: Served, serving: Serving, host: Host): Promise<void> {
  const { BROWSER } = host.env;
  const failed = await serving.show(served.once(), BROWSER === '' ? undefined : BROWSER);
  if (failed !== undefined) say(host, `no browser was opened (${failed}); open the address`);
}
