/**
 * The vocabulary in which commands are described. One description serves the fast parser, the
 * help, the error messages and the completion scripts, so that they cannot disagree.
 */
import type { Context } from './context.js';

/** An option of a command. Its key in camelCase is its long name: `maxSteps` is `--max-steps`. */
export type OptionSpec =
  /** Present or absent. */
  | { kind: 'flag'; text: string }
  /** `--name` is true, `--no-name` is false, neither is undefined. */
  | { kind: 'switch'; text: string; off: string }
  /** One of a fixed set of words. */
  | { kind: 'choice'; text: string; choices: readonly string[]; default: string }
  /** A whole number of at least `min`. */
  | { kind: 'integer'; text: string; value: string; min: number; default?: number }
  /** A path. */
  | { kind: 'file'; text: string; value: string; short?: string }
  /** Free text. */
  | { kind: 'text'; text: string; value: string };

/** The options of a command by key. */
export type Options = Record<string, OptionSpec>;

/** What follows the command's name. */
interface ArgumentSpec {
  /** As it stands in the help: `PLAN`. */
  name: string;
  /** What it is, for the help. */
  text: string;
  /** Whether it may be given several times. */
  many?: boolean;
  /** Whether it may be missing. */
  optional?: boolean;
  /** The words it can be; without them it is a Markdown file. */
  choices?: readonly string[];
  /** Whether it is any word, which completion cannot know. */
  free?: boolean;
}

/** The value an option has after parsing. */
type ValueOf<T extends OptionSpec> = T extends { kind: 'flag' }
  ? boolean
  : T extends { kind: 'switch' }
    ? boolean | undefined
    : T extends { kind: 'choice'; choices: readonly (infer C)[] }
      ? C
      : T extends { kind: 'integer' }
        ? number | undefined
        : string | undefined;

/** The values of all options of a command. */
export type Values<T extends Options> = { [K in keyof T]: ValueOf<T[K]> };

/** A command: what it is called with and what it does. */
export interface Command<T extends Options = Options> {
  /** What it does, in one line. */
  summary: string;
  /** What one should know beyond that. */
  details?: string;
  /** Complete command lines with what they do. */
  examples: readonly (readonly [line: string, what: string])[];
  /** What has to follow the options; nothing may where it is missing. */
  argument?: ArgumentSpec;
  options: T;
  /** Does it; the number is the exit status. */
  run(args: readonly string[], values: Values<T>, context: Context): number | Promise<number>;
}

/** A thing the tool deals with, and what can be done with it. */
export interface Noun {
  summary: string;
  /** What the noun does without a verb; most do nothing. It takes options only. */
  alone?: Command;
  verbs: Readonly<Record<string, Command>>;
}

/** What stands at the first place of the command line. */
export type Entry = Noun | Command;

/** What can stand at the first place, by its name. */
export type Entries = Readonly<Record<string, Entry>>;

/** The same, each loaded when it is asked for. */
export type Commands = Readonly<Record<string, () => Promise<Entry>>>;

/** Loads every command, for what describes them. */
export async function loadAll(commands: Commands): Promise<Entries> {
  const loaded = Object.entries(commands).map(
    async ([name, load]) => [name, await load()] as const,
  );
  return Object.fromEntries(await Promise.all(loaded));
}

/** Keeps the literal types of the options, so that `run` sees exact values. */
export function command<const T extends Options>(definition: Command<T>): Command {
  return definition as unknown as Command;
}

/** Whether an entry has verbs. */
export function isNoun(entry: Entry): entry is Noun {
  return 'verbs' in entry;
}

/** The long name of an option: `maxSteps` is `max-steps`. */
export function longName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A whole number of at least `min`, or `undefined` where the text is none. */
export function readInteger(text: string, min: number): number | undefined {
  const number = Number(text);
  return /^\d{1,9}$/.test(text) && number >= min ? number : undefined;
}

/** The value of an option that was not given. */
export function absent(spec: OptionSpec): boolean | string | number | undefined {
  if (spec.kind === 'flag') return false;
  return spec.kind === 'choice' || spec.kind === 'integer' ? spec.default : undefined;
}
