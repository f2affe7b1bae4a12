/** Showing an address in the person's browser. Programs get words, never a line for a shell. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import open from 'open';
import { codeOf } from '../fault.js';

/** Milliseconds within which a program that cannot show anything says so. */
const PATIENCE = 1500;

/** See {@link Serving.show}. */
export async function show(url: string, words: string | undefined): Promise<string | undefined> {
  try {
    const child = words === undefined ? await open(url) : await start(wordsOf(words, url));
    return await failed(child);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return 'no program for it was found';
    return code === '' ? String(error) : `the system says ${code}`;
  }
}

/**
 * The words of the first browser that `$BROWSER` names: a program, or a program with options, in
 * which `%s` stands for the address.
 */
function wordsOf(said: string, url: string): string[] {
  const [first = ''] = existsSync(said) ? [said] : said.split(delimiter);
  const words = existsSync(first) ? [first] : first.trim().split(/\s+/);
  const filled = words.map((word) => word.replaceAll('%s', url));
  return filled.some((word, at) => word !== words[at]) ? filled : [...filled, url];
}

function start([program = '', ...args]: string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { detached: true, stdio: 'ignore', windowsHide: true });
  child.unref();
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child));
  });
}

/** Waits a little for a program that fails; one that goes on is a browser. */
function failed(child: ChildProcess): Promise<string | undefined> {
  const told = (status: number | null) =>
    status === 0 || status === null ? undefined : `the program for it ended with ${status}`;
  if (child.exitCode !== null) return Promise.resolve(told(child.exitCode));
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), PATIENCE);
    child.once('exit', (status) => {
      clearTimeout(timer);
      resolve(told(status));
    });
    child.once('error', () => {});
  });
}
