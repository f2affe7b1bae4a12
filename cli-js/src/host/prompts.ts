/**
 * Questions in the terminal, by Clack: what it knows of keys and screens, with our own words and
 * without lines down the side, which a narrow terminal has no room for.
 *
 * What is asked goes to standard error, so that standard output stays for data.
 */
import { styleText } from 'node:util';
import { AutocompletePrompt, isCancel, TextPrompt } from '@clack/core';
import { limitOptions } from '@clack/prompts';
import stringWidth from 'string-width';

/** Something to choose; every text is safe to show. */
interface PromptOption {
  value: string;
  label: string;
  /** Why it cannot be chosen. */
  disabled?: string;
}

/** A question for a text. */
interface TextQuestion {
  label: string;
  /** What is wrong with the last answer. */
  error?: string | undefined;
  /** The keys that can be pressed. */
  hint: string;
  initial: string;
}

/** A question with options. */
interface ChoiceQuestion extends Omit<TextQuestion, 'initial'> {
  options: readonly PromptOption[];
  multi: boolean;
  /** What is chosen at the beginning. */
  initial: readonly string[];
  search: string;
  noMatch: string;
}

/** What the person did: answered, went back, or asked to stop. */
export type Prompted = { kind: 'answer'; values: string[] } | { kind: 'back' } | { kind: 'stop' };

export interface Prompts {
  choose(question: ChoiceQuestion): Promise<Prompted>;
  write(question: TextQuestion): Promise<Prompted>;
}

const output = process.stderr;

const MARK = { submit: '◇', cancel: '■', other: '◆' } as const;

/** The lines of a question without its answer. */
function head(state: string, { label, error }: { label: string; error?: string | undefined }) {
  const color = state === 'submit' ? 'green' : state === 'cancel' ? 'red' : 'cyan';
  const mark = state === 'submit' || state === 'cancel' ? MARK[state] : MARK.other;
  const [first = '', ...more] = label.split('\n');
  const lines = [`${styleText(color, mark)} ${first}`, ...more.map((line) => `  ${line}`)];
  const isOpen = state !== 'submit' && state !== 'cancel';
  return isOpen && error !== undefined ? [...lines, `  ${styleText('yellow', error)}`] : lines;
}

/** The rows that lines take in the terminal. */
function rowsOf(lines: readonly string[]): number {
  const columns = output.columns ?? 80;
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);
}

/** What is compared in a search: one form of each letter, small. */
const folded = (text: string) => text.normalize('NFC').toLowerCase();

function choose(question: ChoiceQuestion): Promise<Prompted> {
  const { multi, options, search, noMatch, hint } = question;
  const free = options.filter(({ disabled }) => disabled === undefined);
  const known = question.initial.filter((value) => free.some((option) => option.value === value));
  const initial = known.length > 0 || multi ? known : free.slice(0, 1).map(({ value }) => value);
  const shown = options.map(({ value, label, disabled }) => ({
    value,
    label,
    disabled: disabled !== undefined,
  }));
  return asked((signal) =>
    new AutocompletePrompt<(typeof shown)[number]>({
      options: shown,
      multiple: multi,
      ...(initial.length > 0 ? { initialValue: initial } : {}),
      filter: (text, { label, value }) =>
        [label, value].some((each) => folded(each).includes(folded(text))),
      signal,
      output,
      render() {
        const chosen = new Set(this.selectedValues);
        const lines = head(this.state, question);
        if (this.state === 'cancel') return lines.join('\n');
        if (this.state === 'submit') {
          const labels = shown.filter(({ value }) => chosen.has(value)).map(({ label }) => label);
          return [...lines, ...labels.map((label) => `  ${styleText('dim', label)}`)].join('\n');
        }
        const found = this.filteredOptions;
        const count = found.length < shown.length ? ` (${found.length}/${shown.length})` : '';
        const typed = this.isNavigating ? this.userInput : `${this.userInput}█`;
        lines.push(`  ${styleText('dim', `${search}:`)} ${typed}${styleText('dim', count)}`);
        const foot = [`  ${styleText('dim', hint)}`];
        if (found.length === 0) lines.push(`  ${styleText('yellow', noMatch)}`);
        const list = limitOptions({
          cursor: this.cursor,
          options: found,
          style: (option, active) => line(option, active, chosen.has(option.value), multi),
          columnPadding: 2,
          rowPadding: rowsOf([...lines, ...foot]) + 1,
          output,
        });
        return [...lines, ...list.map((text) => `  ${text}`), ...foot].join('\n');
      },
    }).prompt(),
  );
}

/** An option in its list. */
function line(
  { label, disabled }: { label: string; disabled: boolean },
  active: boolean,
  chosen: boolean,
  multi: boolean,
): string {
  if (disabled) return styleText('gray', `- ${label}`);
  const [on, off] = multi ? ['◼', '◻'] : ['●', '○'];
  const mark = (multi ? chosen : active) ? styleText('green', on) : styleText('dim', off);
  const pointer = multi && active ? styleText('cyan', '›') : '';
  return `${pointer}${mark} ${active ? label : styleText('dim', label)}`;
}

function write(question: TextQuestion): Promise<Prompted> {
  return asked((signal) =>
    new TextPrompt({
      initialValue: question.initial,
      signal,
      output,
      render() {
        const lines = head(this.state, question);
        if (this.state === 'cancel') return lines.join('\n');
        if (this.state === 'submit') {
          return [...lines, `  ${styleText('dim', this.userInput)}`].join('\n');
        }
        const foot = `  ${styleText('dim', question.hint)}`;
        return [...lines, `  ${this.userInputWithCursor}`, foot].join('\n');
      },
    }).prompt(),
  );
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Key {
  name?: string;
  ctrl?: boolean;
}

/**
 * Asks. Escape goes back, Ctrl-C and Ctrl-D stop, and so does the end of the input or a signal: the
 * terminal is left as it was.
 */
async function asked(prompt: (signal: AbortSignal) => Promise<unknown>): Promise<Prompted> {
  const stop = new AbortController();
  const end = () => stop.abort();
  let last: Key = {};
  const noted = (_text: string | undefined, key: Key | undefined) => {
    last = key ?? {};
    // Readline would close its input and nobody would ever answer.
    if (last.ctrl === true && last.name === 'd') end();
  };
  const { stdin } = process;
  stdin.on('keypress', noted);
  stdin.once('end', end);
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    const answer = await prompt(stop.signal);
    if (isCancel(answer))
      return { kind: last.name === 'escape' && !stop.signal.aborted ? 'back' : 'stop' };
    const values = Array.isArray(answer) ? answer : [answer];
    return { kind: 'answer', values: values.filter((value) => typeof value === 'string') };
  } finally {
    stdin.off('keypress', noted);
    stdin.off('end', end);
    for (const signal of SIGNALS) process.off(signal, end);
  }
}

export const prompts: Prompts = { choose, write };
