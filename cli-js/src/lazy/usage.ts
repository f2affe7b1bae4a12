/**
 * Help, and explanations of what is wrong with a command line, by Commander. It is built from
 * the same definitions the fast parser reads, and loaded only when that one gives up.
 */
import {
  Argument,
  Command as Commander,
  CommanderError,
  InvalidArgumentError,
  Option,
} from 'commander';
import { paint, wantsColor } from '../cli/color.js';
import {
  type Command,
  type Entries,
  isNoun,
  longName,
  type OptionSpec,
  readInteger,
} from '../cli/define.js';
import { OK, USAGE } from '../cli/exit.js';
import type { Parsed } from '../cli/parse.js';
import { say } from '../cli/talk.js';
import type { Host } from '../host/host.js';

/** What a command line is explained with. */
interface Context {
  host: Host;
  entries: Entries;
}

const INTRO =
  'Checks Markdown plans, hands their stages to sessions that build them at the same time, and keeps the record.';

const EXAMPLES: Command['examples'] = [
  ['okstra plan check plan.md', 'every fault of a plan'],
  ['okstra plan graph plan.md', 'what can be built when'],
  ['okstra stage claim --plan plan.md', 'take the next stage'],
  ['okstra help plan check', 'the help of a command'],
];

/**
 * Reads a command line, with all the rare spellings. Prints the help, or one line on what is
 * wrong, and answers the exit status, where there is nothing to run.
 */
export function parseFully(
  argv: readonly string[],
  context: Context,
  version: string,
): Parsed | number {
  const { host } = context;
  let parsed: Parsed | undefined;
  const words = readHelp(argv, context);
  const program = describe(context, version, words, (found) => {
    parsed = found;
  });
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return OK;
    say(host, oneLine(error, argv, context));
    return USAGE;
  }
  return parsed ?? OK;
}

/**
 * `help plan check` asks for the same as `plan check --help`. Commander answers a question for
 * the help of an unknown command with the general help; without the question it says what is wrong.
 */
function readHelp(argv: readonly string[], { entries }: Context): string[] {
  if (argv.length === 0) return ['--help'];
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
  const [first = '', second = '--help'] = words;
  const entry = Object.hasOwn(entries, first) ? entries[first] : undefined;
  const known =
    entry === undefined
      ? first.startsWith('-')
      : !isNoun(entry) || second.startsWith('-') || Object.hasOwn(entry.verbs, second);
  return known ? words : words.filter((word) => word !== '--help' && word !== '-h');
}

function describe(
  context: Context,
  version: string,
  words: readonly string[],
  found: (parsed: Parsed) => void,
): Commander {
  const { host, entries } = context;
  const program = new Commander('okstra')
    .description(INTRO)
    .usage('<command> …')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', examples(EXAMPLES))
    .exitOverride()
    .configureHelp({
      minWidthToWrap: 20,
      styleTitle: (text) => paint('bold', text),
      styleCommandText: (text) => paint('bold', text),
    })
    .configureOutput({
      writeOut: (text) => host.write(1, text),
      // Errors are said in one line by the caller.
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(host.width(), 100),
      getOutHasColors: () => wantsColor(host, 1, undefined),
    });
  for (const [name, entry] of Object.entries(entries)) {
    if (isNoun(entry)) {
      const noun = program
        .command(name)
        .summary(entry.summary)
        .description(entry.summary)
        .usage('<command> …')
        .helpCommand(false);
      const first: [string, string][] = [];
      for (const [verb, command] of Object.entries(entry.verbs)) {
        fill(noun.command(verb), command, found);
        first.push(...command.examples.slice(0, 1).map(([l, w]): [string, string] => [l, w]));
      }
      // Behind a word that is no option the noun does not stand alone: it is a verb, or none.
      if (entry.alone === undefined || (words[0] === name && /^[^-]/.test(words[1] ?? '-'))) {
        noun.addHelpText('after', examples(first));
      } else {
        // Options of a verb are not those of the noun, although they may have the same name.
        noun.enablePositionalOptions().usage('[options] [command] …');
        fill(noun, { ...entry.alone, examples: [...entry.alone.examples, ...first] }, found);
        noun.summary(entry.summary);
      }
    } else {
      fill(program.command(name), entry, found);
    }
  }
  return program;
}

/** Gives a Commander command the properties of one of ours. */
function fill(target: Commander, command: Command, found: (parsed: Parsed) => void): void {
  const { argument, details, options } = command;
  target
    .summary(command.summary)
    .description(details === undefined ? command.summary : `${command.summary}.\n\n${details}`)
    .addHelpText('after', examples(command.examples));
  if (argument !== undefined) {
    const name = argument.many === true ? `${argument.name}...` : argument.name;
    const placeholder = argument.optional === true ? `[${name}]` : `<${name}>`;
    const positional = new Argument(placeholder, argument.text);
    target.addArgument(argument.choices ? positional.choices(argument.choices) : positional);
  }
  for (const [key, spec] of Object.entries(options)) addOption(target, longName(key), spec);
  target.action((given: unknown) => {
    const args = argument === undefined ? [] : ((given ?? []) as string | string[]);
    const chosen = target.opts<Record<string, unknown>>();
    const values: Record<string, unknown> = {};
    for (const [key, spec] of Object.entries(options)) {
      values[key] = spec.kind === 'flag' ? chosen[key] === true : chosen[key];
    }
    found({ command, args: [args].flat(), values });
  });
}

function addOption(target: Commander, name: string, spec: OptionSpec): void {
  if (spec.kind === 'flag') {
    target.addOption(new Option(`--${name}`, spec.text));
  } else if (spec.kind === 'switch') {
    target.addOption(new Option(`--${name}`, spec.text));
    target.addOption(new Option(`--no-${name}`, spec.off));
    // Commander takes `--no-x` to mean that x is on by default; neither is said here.
    target.setOptionValue(name, undefined);
  } else if (spec.kind === 'choice') {
    const option = new Option(`--${name} <${name}>`, spec.text);
    target.addOption(option.choices(spec.choices).default(spec.default, spec.default));
  } else if (spec.kind === 'integer') {
    const option = new Option(`--${name} <${spec.value}>`, spec.text).argParser((text) => {
      const number = readInteger(text, spec.min);
      if (number !== undefined) return number;
      throw new InvalidArgumentError(`it must be a whole number from ${spec.min} on.`);
    });
    target.addOption(spec.default === undefined ? option : option.default(spec.default));
  } else {
    const short = 'short' in spec && spec.short !== undefined ? `-${spec.short}, ` : '';
    target.addOption(new Option(`${short}--${name} <${spec.value}>`, spec.text));
  }
}

/** Example lines, each under what it does. */
function examples(lines: Command['examples']): string {
  return `\nExamples:\n${lines.map(([line, what]) => `  # ${what}\n  ${line}`).join('\n')}`;
}

/** What Commander says in several lines with `error:` before it, as one line with the remedy. */
function oneLine(error: CommanderError, argv: readonly string[], { entries }: Context): string {
  const path: string[] = [];
  const entry =
    argv[0] !== undefined && Object.hasOwn(entries, argv[0]) ? entries[argv[0]] : undefined;
  if (entry !== undefined && argv[0] !== undefined) {
    path.push(argv[0]);
    if (isNoun(entry) && argv[1] !== undefined && Object.hasOwn(entry.verbs, argv[1]))
      path.push(argv[1]);
  }
  const see = `see 'okstra ${[...path, '--help'].join(' ')}'`;
  if (error.code === 'commander.help' && entry !== undefined && isNoun(entry)) {
    return `'${path.join(' ')}' needs a command: ${Object.keys(entry.verbs).join(', ')}; ${see}`;
  }
  const said = error.message
    .replace(/^error: /, '')
    .replace(/\.?\s*\n\((.*)\)\s*$/s, (_all, hint: string) => ` (${hint.replace(/^Did/, 'did')})`)
    .replace(/\.$/, '')
    .replace(/\. (\w)/g, (_all, letter: string) => `; ${letter.toLowerCase()}`)
    .replace(/\s*\n\s*/g, ' ');
  const command = entry !== undefined && isNoun(entry) ? entry.verbs[path[1] ?? ''] : entry;
  const named = error.code === 'commander.excessArguments' && command?.options.plan !== undefined;
  return `${said}${named ? '; name the plan with --plan' : ''}; ${see}`;
}
