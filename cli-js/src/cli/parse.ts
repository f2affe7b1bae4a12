/**
 * The fast way through the command line: a correct one is read with `parseArgs` of Node alone.
 * Whatever is not plainly correct (help, typing errors, rare spellings) goes to `lazy/usage`,
 * which reads the same definitions with Commander and explains. Loading Commander costs about
 * 5 ms, reading with `parseArgs` about 1 ms; a check of a small plan takes 10 ms in all.
 */
import { parseArgs } from 'node:util';
import { absent, type Command, type Entries, isNoun, longName, readInteger } from './define.js';

/** A command line that was understood. */
export interface Parsed {
  command: Command;
  args: string[];
  values: Record<string, unknown>;
}

/** What `parseArgs` answers: options by long name, and the rest. */
interface Given {
  values: Record<string, string | boolean | undefined>;
  positionals: string[];
}

/** Reads a command line; `undefined` where it is not plainly correct. */
export function parseFast(entries: Entries, argv: readonly string[]): Parsed | undefined {
  const entry = own(entries, argv[0]);
  if (entry === undefined) return undefined;
  const isAlone = !isNoun(entry) || (entry.alone !== undefined && !/^[^-]/.test(argv[1] ?? '-'));
  const command = !isNoun(entry) ? entry : isAlone ? entry.alone : own(entry.verbs, argv[1]);
  if (command === undefined) return undefined;

  let given: Given;
  try {
    given = readGiven(command, argv.slice(isAlone ? 1 : 2));
  } catch {
    return undefined;
  }
  const values: Record<string, unknown> = {};
  for (const [key, spec] of Object.entries(command.options)) {
    const name = longName(key);
    const value = given.values[name];
    if (spec.kind === 'switch') {
      const off = given.values[`no-${name}`];
      if (value !== undefined && off !== undefined) return undefined;
      values[key] = off === undefined ? value : false;
    } else if (value === undefined) {
      values[key] = absent(spec);
    } else if (spec.kind === 'choice') {
      if (!spec.choices.includes(value as string)) return undefined;
      values[key] = value;
    } else if (spec.kind === 'integer') {
      values[key] = readInteger(value as string, spec.min);
      if (values[key] === undefined) return undefined;
    } else {
      values[key] = value;
    }
  }
  const args = given.positionals;
  if (command.argument === undefined) {
    return args.length === 0 ? { command, args, values } : undefined;
  }
  const { many, optional, choices } = command.argument;
  if ((args.length === 0 && optional !== true) || (args.length > 1 && many !== true))
    return undefined;
  if (choices !== undefined && !args.every((arg) => choices.includes(arg))) return undefined;
  return { command, args, values };
}

function readGiven(command: Command, args: string[]): Given {
  // Without any option there is nothing to read, and loading `parseArgs` is spared: 1 ms.
  if (args.every((arg) => arg === '-' || !arg.startsWith('-'))) {
    return { values: {}, positionals: args };
  }
  const options: Record<string, { type: 'boolean' | 'string'; short?: string }> = {};
  for (const [key, spec] of Object.entries(command.options)) {
    const name = longName(key);
    const type = spec.kind === 'flag' || spec.kind === 'switch' ? 'boolean' : 'string';
    options[name] =
      'short' in spec && spec.short !== undefined ? { type, short: spec.short } : { type };
    if (spec.kind === 'switch') options[`no-${name}`] = { type };
  }
  return parseArgs({ args, options, allowPositionals: true, strict: true }) as Given;
}

function own<T>(record: Readonly<Record<string, T>>, key: string | undefined): T | undefined {
  return key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
