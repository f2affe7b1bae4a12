/** `okstra plan check`: once, with repairs, or again after every change. */
import type { CheckOptionsInput } from '../../../npm-package/src/index.js';
import { colorOption, wantsColor } from '../cli/color.js';
import type { Api, Context } from '../cli/context.js';
import type { Options, Values } from '../cli/define.js';
import { OK, UsageError } from '../cli/exit.js';
import { type Input, readInputs, sizeOf } from '../cli/input.js';
import { explain, isNoText, say, sayOf } from '../cli/talk.js';

export const checkOptions = {
  format: {
    kind: 'choice',
    text: 'how to report',
    choices: ['text', 'pretty', 'json', 'sarif', 'github'],
    default: 'text',
  },
  strict: { kind: 'flag', text: 'stages that may run in parallel must not share a file (S9)' },
  maxSteps: {
    kind: 'integer',
    value: 'N',
    min: 1,
    default: 6,
    text: 'the most steps of a stage (S5)',
  },
  contract: { kind: 'flag', text: 'require the headings of a planning report (C1)' },
  requireApproval: { kind: 'flag', text: 'require the approval (A1, A2)' },
  fix: { kind: 'flag', text: "repair the plans first; with '-' the repaired plan is printed" },
  watch: { kind: 'flag', text: 'check again after every change, until Ctrl-C' },
  color: colorOption,
} as const satisfies Options;

type CheckValues = Values<typeof checkOptions>;

/** What a check has seen, so that a watch can tell a change from a touch. */
interface Checked {
  status: number;
  seen: ReadonlyMap<string, Uint8Array>;
}

/** Reads, repairs where asked, checks, reports. */
export function checkOnce(
  paths: readonly string[],
  values: CheckValues,
  context: Context,
): Checked {
  const { host } = context;
  let { inputs, status } = readInputs(host, paths);
  const api = context.api(sizeOf(inputs));
  const options: CheckOptionsInput = {
    strict: values.strict,
    max_steps: values.maxSteps ?? checkOptions.maxSteps.default,
    contract: values.contract,
    require_approval: values.requireApproval,
  };
  let toScreen = true;
  if (values.fix) {
    // The repaired plan takes standard output; the report has to make room.
    toScreen = inputs.every(({ path }) => path !== null);
    // A plan named twice is repaired once.
    const done = new Map<string | null, ReturnType<typeof repair>>();
    const repaired = inputs.map((input) => {
      const one = done.get(input.path) ?? repair(input, options, api, context);
      done.set(input.path, one);
      return one;
    });
    inputs = repaired.map(({ input }) => input);
    status = Math.max(status, ...repaired.map((one) => one.status));
  }
  const report = api.renderCheck(
    {
      options,
      format: values.format,
      color: values.format === 'pretty' && wantsColor(host, 2, values.color),
      paths: inputs.map(({ name }) => name),
    },
    inputs.map(({ bytes }) => bytes),
  );
  // The findings before their sum, as they are read on a screen.
  host.write(2, report.stderr);
  host.write(toScreen ? 1 : 2, report.stdout);
  return {
    status: Math.max(status, report.exit_code),
    seen: new Map(inputs.map(({ name, bytes }) => [name, bytes])),
  };
}

/** Applies every repair to one plan and writes it back; answers the plan as it is now. */
function repair(
  input: Input,
  options: CheckOptionsInput,
  api: Api,
  { host }: Context,
): { input: Input; status: number } {
  let result: ReturnType<Api['fixPlan']>;
  try {
    result = api.fixPlan(input.bytes, options);
  } catch (error) {
    if (!isNoText(error)) throw error;
    // The check that follows says so.
    return { input, status: OK };
  }
  const { text, changed, applied } = result;
  try {
    if (input.path === null) host.write(1, text);
    else if (changed) host.replaceFile(input.path, input.bytes, text);
  } catch (error) {
    return { input, status: explain(host, error) };
  }
  for (const { code, stage, message, range, fix } of applied) {
    const { line, column } = range.start;
    const what = fix === null ? message : `${fix.title} (${message})`;
    sayOf(host, `${input.name}:${line}:${column}`, `fixed ${code} stage=${stage}: ${what}`);
  }
  return { input: { ...input, bytes: new TextEncoder().encode(text) }, status: OK };
}

/** Checks now and after every change, until the person stops it; ends with the last status. */
export async function watchAndCheck(
  paths: readonly string[],
  values: CheckValues,
  context: Context,
): Promise<number> {
  const { host } = context;
  if (paths.includes('-')) {
    throw new UsageError("--watch cannot follow standard input ('-'); give a file");
  }
  // Loaded for long: the core may take its time to become fast.
  context.api(Number.POSITIVE_INFINITY);
  const check = () => {
    if (host.isTerminal(1)) host.write(1, CLEAR);
    const checked = checkOnce(paths, values, context);
    say(host, `watching ${paths.length === 1 ? paths[0] : `${paths.length} plans`}; Ctrl-C ends`);
    return checked;
  };
  const stopped = new Promise<void>((resolve) => host.onInterrupt(resolve));
  let last = check();
  const update = () => {
    if (hasChanged(paths, last.seen, context)) last = check();
  };
  const watcher = await host.watchFiles(paths, update);
  // What happened before the watch had begun.
  update();
  await stopped;
  await watcher.close();
  return last.status;
}

/** Empties the screen and the lines above it. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H';

/** Whether any plan reads otherwise than it did. */
function hasChanged(
  paths: readonly string[],
  seen: ReadonlyMap<string, Uint8Array>,
  { host }: Context,
): boolean {
  return paths.some((path) => {
    const before = seen.get(path);
    try {
      const now = host.readFile(path);
      return before === undefined || Buffer.compare(now, before) !== 0;
    } catch {
      return before !== undefined;
    }
  });
}
