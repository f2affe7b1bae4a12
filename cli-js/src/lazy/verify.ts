/**
 * `stage done --verify`: runs the stage's own `post` commands and notes what was seen.
 *
 * The commands come from the plan, so they run on this explicit word only, are shown before they
 * run, and never go through a shell: their words are taken apart here.
 */
import { type ParseEntry, parse } from 'shell-quote';
import type { ShowAnswer } from '../../../npm-package/src/index.js';
import { say, sayOf } from '../cli/talk.js';
import { type Host, HostError, type Ran } from '../host/host.js';

/** What was seen of the stage's commands, as the evidence keeps it. */
export interface Observed {
  /** When it was run, ISO 8601. */
  at: string;
  commands: Saw[];
}

/** What one command did and what it saw. */
interface Saw {
  command: string;
  exit_code: number | null;
  duration_ms: number;
  /** The id of the committed tree it saw; `null` without git. */
  tree: string | null;
  /** Whether nothing was changed beyond it; `null` without git. */
  clean: boolean | null;
}

/** A command line as programs to run one behind the other. */
type Program = { env: Record<string, string>; words: [string, ...string[]] };

/**
 * Runs the `post` commands of a stage in a folder, one behind the other, and stops at the first
 * that fails. `undefined` where one failed or cannot be run.
 */
export async function runPost(
  host: Host,
  { stage, validation_commands }: ShowAnswer,
  folder: string,
): Promise<Observed | undefined> {
  const commands = validation_commands.filter(({ when }) => when === 'post');
  if (commands.length === 0) {
    say(host, `stage ${stage} names no post command in its Stage Validation; nothing to run`);
    return undefined;
  }
  const programs = commands.map(({ command }) => programsOf(command));
  for (const [at, program] of programs.entries()) {
    if (typeof program !== 'string') continue;
    const line = commands[at]?.command ?? '';
    sayOf(host, `stage ${stage}`, `cannot run '${line}': ${program}; put it into a script`);
    return undefined;
  }
  const observed: Observed = { at: host.now(), commands: [] };
  for (const [at, { command }] of commands.entries()) {
    say(host, `runs: ${command}`);
    // A command may change what the next one sees.
    const { tree, clean } = (await host.gitTree(folder)) ?? { tree: null, clean: null };
    const { exit_code, duration_ms } = await runAll(host, programs[at] as Program[], folder);
    observed.commands.push({ command, exit_code, duration_ms, tree, clean });
    if (exit_code !== 0) {
      const how = exit_code === null ? 'was ended by a signal' : `ended with ${exit_code}`;
      sayOf(host, `stage ${stage}`, `'${command}' ${how}; the stage is not done`);
      return undefined;
    }
  }
  return observed;
}

async function runAll(host: Host, programs: readonly Program[], folder: string): Promise<Ran> {
  let duration_ms = 0;
  for (const { env, words } of programs) {
    let ran: Ran;
    try {
      ran = await host.runProgram(words, { folder, env });
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      sayOf(host, words[0], `${error.message}; ${error.help}`);
      // What a shell answers with for a program that is not there.
      return { exit_code: 127, duration_ms };
    }
    duration_ms += ran.duration_ms;
    if (ran.exit_code !== 0) return { ...ran, duration_ms };
  }
  return { exit_code: 0, duration_ms };
}

/** Takes a command line apart; answers what a shell would be needed for where that cannot be. */
export function programsOf(line: string): Program[] | string {
  let entries: ParseEntry[];
  try {
    // What would be looked up in the environment is kept to be seen, not replaced.
    entries = parse(line, (name) => ({ op: `$${name}` }) as unknown as string);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const programs: Program[] = [];
  let env: Record<string, string> = {};
  let words: string[] = [];
  const close = () => {
    const [first, ...rest] = words;
    if (first !== undefined) programs.push({ env, words: [first, ...rest] });
    const empty = first === undefined;
    env = {};
    words = [];
    return empty;
  };
  for (const entry of entries) {
    if (typeof entry === 'string') {
      if (/^~|`/.test(entry)) return `'${entry}' needs a shell`;
      const setting = words.length === 0 ? /^([A-Za-z_]\w*)=(.*)$/s.exec(entry) : null;
      if (setting === null) words.push(entry);
      else env[setting[1] ?? ''] = setting[2] ?? '';
    } else if ('comment' in entry) {
      break;
    } else if ('pattern' in entry) {
      return `'${entry.pattern}' needs a shell`;
    } else if (entry.op === '&&') {
      if (close()) return "there is nothing before '&&'";
    } else {
      return `'${entry.op}' needs a shell`;
    }
  }
  return close() ? 'there is no program in it' : programs;
}
